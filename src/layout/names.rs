//! The names that count in a folder of changes or modules: those of real directories that [`is_name`] accepts.

use std::io;
use std::path::Path;

use walkdir::{DirEntry, WalkDir};

use crate::files::uninterrupted;
use crate::term::filter::is_plain;

/// Whether `text` can be nothing but the name of a direct child.
pub fn is_name(text: &str) -> bool {
    !text.is_empty() && !text.starts_with(['.', '-']) && !text.contains(['/', '\\']) && is_plain(text)
}

/// The names of the real directories in `folder` below `root`, sorted. No folder is no names.
pub fn names_in(root: &Path, folder: Option<&str>) -> io::Result<Vec<String>> {
    let Some(folder) = folder else {
        return Ok(Vec::new());
    };
    // With a slash at its end, as a walk that starts at a file is no error by itself, only empty.
    let folder = root.join(folder).join("");
    uninterrupted(|| listed(&folder))
}

fn listed(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in WalkDir::new(folder).min_depth(1).max_depth(1).sort_by_file_name() {
        match entry {
            Ok(entry) if entry.file_type().is_dir() => names.extend(name_of(&entry)),
            Ok(_) => {}
            Err(error) if is_gone(&error) || is_missing(&error) => {}
            Err(error) => return Err(cause(error)),
        }
    }
    Ok(names)
}

fn name_of(entry: &DirEntry) -> Option<String> {
    entry.file_name().to_str().filter(|name| is_name(name)).map(str::to_owned)
}

/// Whether it tells of one entry; that the list itself breaks off has no path.
fn is_gone(error: &walkdir::Error) -> bool {
    error.depth() > 0 && error.path().is_some()
}

fn is_missing(error: &walkdir::Error) -> bool {
    error.io_error().is_some_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// What the system said, without the path: whoever reports it names the folder.
fn cause(error: walkdir::Error) -> io::Error {
    error.into_io_error().unwrap_or_else(|| io::ErrorKind::Other.into())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Component;

    use proptest::prelude::*;

    use super::super::testing::tree;
    use super::*;

    #[test]
    fn a_folder_that_is_missing_has_no_names_and_one_that_is_none_is_an_error() {
        let root = tree(&["real/b/x", "real/a/", "file"]);
        let at = |name: &str| root.path().join(name);
        symlink(at("real"), at("link")).unwrap();
        symlink(at("file"), at("link-to-file")).unwrap();
        symlink("nowhere", at("dangling")).unwrap();
        for (folder, names) in
            [("real", vec!["a", "b"]), ("link", vec!["a", "b"]), ("dangling", vec![]), ("missing/below", vec![])]
        {
            assert_eq!(names_in(root.path(), Some(folder)).unwrap(), names, "{folder}");
        }
        for folder in ["file", "file/below", "link-to-file"] {
            let error = names_in(root.path(), Some(folder)).unwrap_err();
            assert_eq!(error.to_string(), "Not a directory (os error 20)", "{folder}");
        }
    }

    #[test]
    fn a_folder_need_not_be_readable_to_be_named() {
        let root = tree(&["all/closed/", "all/open/"]);
        let closed = root.path().join("all/closed");
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
        assert_eq!(names_in(root.path(), Some("all")).unwrap(), ["closed", "open"]);
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    }

    proptest! {
        #[test]
        fn a_name_is_always_one_normal_component(text in any::<String>()) {
            if is_name(&text) {
                let parts: Vec<_> = Path::new(&text).components().collect();
                prop_assert_eq!(parts, [Component::Normal(OsStr::new(&text))]);
            }
        }
    }
}
