//! What touches files: the only place that replaces one.
//!
//! A file is replaced whole (write, fsync, rename, fsync of the directory) or appended to; a reader never sees
//! half of one. Files that we make are 0600 and directories 0700, less what a stricter umask takes away. Nothing is written or
//! read through a symbolic link: the last component is opened with `O_NOFOLLOW`, and of the folders above it none may be one, up to
//! and with the folder of ours that they are in. What lies above that is the user's to arrange. A named pipe, a device or anything
//! else that is no regular file is refused without waiting for it.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::libc::{O_NOFOLLOW, O_NONBLOCK};

/// The folders of a worktree that have files of ours in them. The name of a change never is one of these: it has no dot before it.
const OURS: [&str; 3] = [".claude", ".ito", ".spool"];

/// More than any file of ours will ever have: the state of a loop of a hundred thousand iterations has less.
const LONGEST: u64 = 64 * 1024 * 1024;

/// The suffix of a file that is being written and not yet in its place.
const UNFINISHED: &str = ".tmp";

/// Puts `bytes` in the place of `path`, so that a reader finds the old content or the new and a crash loses neither.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_by(path, |file| file.write_all(bytes))
}

/// The same for a content that is written piece by piece.
pub fn replace_by(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let dir = parent(path)?;
    private_dir(dir)?;
    refuse_link(path)?;
    let mut prefix = path.file_name().unwrap_or_default().to_os_string();
    prefix.push(".");
    let mut unfinished = tempfile::Builder::new().prefix(&prefix).suffix(UNFINISHED).tempfile_in(dir)?;
    write(unfinished.as_file_mut())?;
    unfinished.as_file().sync_all()?;
    unfinished.persist(path).map_err(|error| error.error)?;
    sync_dir(dir)
}

/// Opens `path` for appending, made if missing.
pub fn append(path: &Path) -> io::Result<File> {
    private_dir(parent(path)?)?;
    regular(OpenOptions::new().append(true).create(true).mode(0o600).custom_flags(UNFOLLOWED).open(path)?)
}

/// Appends `text` as a paragraph of its own, in one write, so that two who append at once do not mix.
pub fn append_paragraph(path: &Path, text: &str) -> io::Result<()> {
    let mut file = append(path)?;
    let gap = if file.metadata()?.len() > 0 { "\n" } else { "" };
    file.write_all(format!("{gap}{}\n", text.trim()).as_bytes())?;
    file.sync_all()
}

/// Opens an existing regular file for reading; `None` where there is none.
pub fn open(path: &Path) -> io::Result<Option<File>> {
    refuse_linked_folders(parent(path)?)?;
    opened(OpenOptions::new().read(true).custom_flags(UNFOLLOWED).open(path))
}

/// The whole content of `path`; `None` where there is no such file.
pub fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    open(path)?.map(whole).transpose()
}

/// The same of a file that is the user's own and may lie behind a link of the user's, as settings often do.
pub fn read_users_own(path: &Path) -> io::Result<Option<Vec<u8>>> {
    opened(OpenOptions::new().read(true).custom_flags(O_NONBLOCK).open(path))?.map(whole).transpose()
}

/// Removes `path`; that it is gone already is no error.
pub fn remove(path: &Path) -> io::Result<()> {
    refuse_linked_folders(parent(path)?)?;
    match fs::remove_file(path) {
        Err(error) if !is_absent(&error) => Err(error),
        _ => Ok(()),
    }
}

/// Makes `dir` and what is missing above it, private to the user; a symbolic link in its place is refused.
pub fn private_dir(dir: &Path) -> io::Result<()> {
    refuse_linked_folders(dir)?;
    match fs::symlink_metadata(dir) {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err(io::Error::new(io::ErrorKind::NotADirectory, format!("{} is not a directory", dir.display()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            DirBuilder::new().recursive(true).mode(0o700).create(dir)
        }
        Err(error) => Err(error),
    }
}

/// Moves a file that cannot be understood out of the way, under a name that says so, and returns that name.
pub fn set_aside(path: &Path) -> io::Result<PathBuf> {
    refuse_linked_folders(parent(path)?)?;
    let stamp = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%S%3fZ").to_string();
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".broken-{stamp}"));
    let aside = path.with_file_name(name);
    fs::rename(path, &aside)?;
    sync_dir(parent(path)?)?;
    Ok(aside)
}

/// Turns `path` into `path.1`, `path.1` into `path.2` and so on; `keep` of them stay.
pub fn rotate(path: &Path, keep: u32) -> io::Result<()> {
    refuse_linked_folders(parent(path)?)?;
    if fs::symlink_metadata(path).is_err_and(|error| is_absent(&error)) {
        return Ok(());
    }
    for n in (1..keep).rev() {
        match fs::rename(numbered(path, n), numbered(path, n + 1)) {
            Err(error) if !is_absent(&error) => return Err(error),
            _ => {}
        }
    }
    fs::rename(path, numbered(path, 1))
}

/// Removes what writers that died left unfinished beside `path`.
pub fn sweep_unfinished(path: &Path) -> io::Result<()> {
    let (dir, name) = (parent(path)?, path.file_name().unwrap_or_default().to_string_lossy().into_owned());
    refuse_linked_folders(dir)?;
    let entries = match uninterrupted(|| fs::read_dir(dir)) {
        Err(error) if is_absent(&error) => return Ok(()),
        entries => entries?,
    };
    for entry in entries.flatten() {
        let found = entry.file_name().to_string_lossy().into_owned();
        if found.starts_with(&format!("{name}.")) && found.ends_with(UNFINISHED) {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

/// Makes a call again that a signal has interrupted.
pub fn uninterrupted<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            answered => return answered,
        }
    }
}

fn numbered(path: &Path, n: u32) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(format!(".{n}"));
    PathBuf::from(name)
}

/// Neither through a link nor, as a named pipe would have it, after a wait for whoever is at its other end.
const UNFOLLOWED: i32 = O_NOFOLLOW | O_NONBLOCK;

fn opened(result: io::Result<File>) -> io::Result<Option<File>> {
    match result {
        Err(error) if is_absent(&error) => Ok(None),
        result => regular(result?).map(Some),
    }
}

fn regular(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() { Ok(file) } else { Err(invalid("not a regular file")) }
}

fn whole(file: File) -> io::Result<Vec<u8>> {
    let bytes = up_to(file, LONGEST + 1)?;
    if bytes.len() as u64 > LONGEST { Err(invalid("it is larger than 64 MiB")) } else { Ok(bytes) }
}

/// The first `limit` bytes of a file. Most files are small, and are read with one call.
pub fn up_to(file: File, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(4096);
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn invalid(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

/// Refuses a folder that is a link or lies behind one, as far up as the folder of ours that it is in.
fn refuse_linked_folders(dir: &Path) -> io::Result<()> {
    let is_ours = |folder: &&Path| OURS.iter().any(|name| folder.file_name().is_some_and(|found| found == *name));
    let top = dir.ancestors().find(is_ours).unwrap_or(dir);
    for folder in dir.ancestors().take_while(|folder| folder.starts_with(top)) {
        if fs::symlink_metadata(folder).is_ok_and(|found| found.is_symlink()) {
            let why = format!("{} is not a directory but a symbolic link", folder.display());
            return Err(io::Error::new(io::ErrorKind::NotADirectory, why));
        }
    }
    Ok(())
}

fn refuse_link(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => Err(invalid("it is a symbolic link, and those are not followed")),
        _ => Ok(()),
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn parent(path: &Path) -> io::Result<&Path> {
    path.parent().ok_or_else(|| invalid("a file needs a directory"))
}

fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_replaced_file_is_whole_and_private() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sub/state.json");
        replace(&path, b"one").unwrap();
        replace(&path, b"two").unwrap();
        assert_eq!(read(&path).unwrap().unwrap(), b"two");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing unfinished is left");
    }

    #[test]
    fn links_are_neither_written_nor_read_through() {
        let dir = tempfile::tempdir().unwrap();
        let (secret, link) = (dir.path().join("secret"), dir.path().join("link"));
        fs::write(&secret, "s").unwrap();
        symlink(&secret, &link).unwrap();
        assert!(replace(&link, b"x").is_err());
        assert!(append(&link).is_err());
        assert!(read(&link).is_err());
        symlink(dir.path(), dir.path().join("linked")).unwrap();
        assert!(replace(&dir.path().join("linked/file"), b"x").is_err());
        assert_eq!(fs::read(&secret).unwrap(), b"s");
    }

    #[test]
    fn no_folder_between_ours_and_the_file_may_be_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let (outside, root) = (dir.path().join("outside"), dir.path().join("root"));
        fs::create_dir_all(outside.join("ralph/x")).unwrap();
        fs::write(outside.join("ralph/x/state.json"), "theirs").unwrap();
        // What lies above the folder of ours is the user's to arrange.
        fs::create_dir_all(dir.path().join("real/.ito/.state/ralph/x")).unwrap();
        symlink(dir.path().join("real"), &root).unwrap();
        let path = root.join(".ito/.state/ralph/x/state.json");
        replace(&path, b"ours").unwrap();
        assert_eq!(read(&path).unwrap().unwrap(), b"ours");
        fs::remove_dir_all(root.join(".ito/.state")).unwrap();
        symlink(&outside, root.join(".ito/.state")).unwrap();
        let new = root.join(".ito/.state/ralph/y/state.json");
        let refused = [
            replace(&path, b"x"),
            replace(&new, b"x"),
            append(&path).map(drop),
            read(&path).map(drop),
            remove(&path),
            rotate(&path, 3),
            set_aside(&path).map(drop),
            sweep_unfinished(&path),
        ];
        for (n, result) in refused.into_iter().enumerate() {
            assert!(result.is_err_and(|error| error.to_string().contains("symbolic link")), "{n}");
        }
        assert_eq!(fs::read(outside.join("ralph/x/state.json")).unwrap(), b"theirs");
        assert_eq!(fs::read_dir(outside.join("ralph")).unwrap().count(), 1);
    }

    #[test]
    fn the_users_own_file_may_lie_behind_a_link() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("dotfiles"), "max = 3").unwrap();
        symlink("dotfiles", dir.path().join("config.toml")).unwrap();
        assert_eq!(read_users_own(&dir.path().join("config.toml")).unwrap().unwrap(), b"max = 3");
        assert_eq!(read_users_own(&dir.path().join("none")).unwrap(), None);
    }

    #[test]
    fn a_file_without_end_is_not_read_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.json");
        File::create(&path).unwrap().set_len(1 << 40).unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("larger than 64 MiB"));
    }

    #[test]
    fn rotation_keeps_as_many_as_asked() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        for n in 0..6 {
            rotate(&path, 3).unwrap();
            fs::write(&path, n.to_string()).unwrap();
        }
        let read = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
        assert_eq!([read("log"), read("log.1"), read("log.2"), read("log.3")], ["5", "4", "3", "2"]);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 4);
    }

    #[test]
    fn a_named_pipe_in_a_files_place_is_refused_without_waiting() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pipe");
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert!(read(&path).is_err());
        assert!(read_users_own(&path).is_err());
        assert!(append(&path).is_err());
        assert!(read(Path::new("/dev/zero")).is_err());
    }
}
