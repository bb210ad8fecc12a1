//! Opens a file of the worktree, and none that lies elsewhere.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use nix::fcntl::{OFlag, open, openat};
use nix::sys::stat::Mode;

use super::read_error::ReadError;
use crate::files::uninterrupted;

/// Opens a file of the worktree for reading: `None` where it is missing, an error where it is not a regular file
/// inside the worktree, or a symlink is on the way from `root` to it. `path` is below `root`, or relative to it.
pub fn open_inside(root: &Path, path: &Path) -> Result<Option<File>, ReadError> {
    let names = names_below(root, path)?;
    let Some((name, folders)) = names.split_last() else {
        return Err(ReadError::NotRegular(path.to_owned()));
    };
    let mut here = root.to_owned();
    let Some(mut folder) = opened(&here, || open(root, folder_flags(), Mode::empty()))? else {
        return Ok(None);
    };
    for name in folders {
        here.push(name);
        let next = || openat(&folder, *name, folder_flags() | OFlag::O_NOFOLLOW, Mode::empty());
        let Some(next) = opened(&here, next)? else {
            return Ok(None);
        };
        folder = next;
    }
    here.push(name);
    let file = || openat(&folder, *name, file_flags(), Mode::empty());
    opened(&here, file)?.map(|file| regular(file, &here)).transpose()
}

/// Where a file of the worktree is in truth: behind its links, if they lead to a place inside the worktree, or else where it is
/// named, for [`open_inside`] to refuse. For what people keep as a link on purpose.
pub fn behind_links(root: &Path, path: &Path) -> PathBuf {
    let real = path.canonicalize().ok().zip(root.canonicalize().ok());
    let inside = real.and_then(|(file, root)| file.strip_prefix(root).ok().map(Path::to_owned));
    inside.map_or_else(|| path.to_owned(), |inside| root.join(inside))
}

fn folder_flags() -> OFlag {
    OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC
}

/// Not blocking, because a pipe that lies where a file should be would make us wait for its writer.
fn file_flags() -> OFlag {
    OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC
}

fn names_below<'a>(root: &Path, path: &'a Path) -> Result<Vec<&'a OsStr>, ReadError> {
    path.strip_prefix(root)
        .unwrap_or(path)
        .components()
        .filter(|part| !matches!(part, Component::CurDir))
        .map(|part| match part {
            Component::Normal(name) => Ok(name),
            _ => Err(ReadError::Outside(path.to_owned())),
        })
        .collect()
}

fn opened(path: &Path, mut open: impl FnMut() -> nix::Result<OwnedFd>) -> Result<Option<OwnedFd>, ReadError> {
    match uninterrupted(|| Ok(open()?)) {
        Ok(fd) => Ok(Some(fd)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(refusal(path, error)),
    }
}

/// Systems disagree about the error number of a link that is not followed; so we look. It only words the message.
fn refusal(path: &Path, error: io::Error) -> ReadError {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_symlink() => ReadError::Symlink(path.to_owned()),
        Ok(meta) if !meta.is_file() && !meta.is_dir() => ReadError::NotRegular(path.to_owned()),
        _ => ReadError::unreadable(path, error),
    }
}

fn regular(fd: OwnedFd, path: &Path) -> Result<File, ReadError> {
    let file = File::from(fd);
    let meta = file.metadata().map_err(|source| ReadError::unreadable(path, source))?;
    if meta.is_file() { Ok(file) } else { Err(ReadError::NotRegular(path.to_owned())) }
}

#[cfg(test)]
mod tests;
