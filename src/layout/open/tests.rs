//! What is opened, and what never is.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;

use proptest::prelude::*;

use super::super::read_inside;
use super::super::testing::tree;
use super::*;

#[test]
fn a_regular_file_of_the_worktree_is_read_by_either_kind_of_path() {
    let root = tree(&["a/b.md"]);
    for path in [Path::new("a/b.md"), Path::new("./a/b.md"), &root.path().join("a/b.md")] {
        assert_eq!(read_inside(root.path(), path).unwrap().unwrap(), "a/b.md", "{}", path.display());
    }
}

#[test]
fn a_missing_file_is_none() {
    let root = tree(&["a/"]);
    for path in ["x", "a/x", "x/y/z"] {
        assert_eq!(read_inside(root.path(), Path::new(path)).unwrap(), None, "{path}");
    }
}

#[test]
fn nothing_is_read_through_a_symlink_or_from_outside() {
    let outside = tree(&["secret"]);
    let root = tree(&["real/x"]);
    let at = |name: &str| root.path().join(name);
    symlink(outside.path().join("secret"), at("file")).unwrap();
    symlink(outside.path(), at("folder")).unwrap();
    symlink(at("real/x"), at("inner")).unwrap();
    symlink("nowhere", at("dangling")).unwrap();
    for (path, culprit) in [("file", "file"), ("folder/secret", "folder"), ("inner", "inner"), ("dangling", "dangling")]
    {
        let error = read_inside(root.path(), Path::new(path)).unwrap_err();
        assert!(matches!(&error, ReadError::Symlink(named) if *named == at(culprit)), "{path}: {error}");
    }
    for path in [Path::new("../secret"), Path::new("real/../real/x"), &outside.path().join("secret")] {
        let error = read_inside(root.path(), path).unwrap_err();
        assert!(matches!(error, ReadError::Outside(_)), "{error}");
    }
}

#[test]
fn what_is_no_regular_file_is_an_error_and_never_waited_for() {
    let root = tree(&["folder/", "file"]);
    nix::unistd::mkfifo(&root.path().join("pipe"), Mode::S_IRWXU).unwrap();
    let _socket = UnixListener::bind(root.path().join("socket")).unwrap();
    for path in ["folder", "pipe", "socket", "", "."] {
        let error = read_inside(root.path(), Path::new(path)).unwrap_err();
        assert!(matches!(error, ReadError::NotRegular(_)), "{path}: {error}");
    }
    let error = read_inside(root.path(), Path::new("file/below")).unwrap_err();
    assert!(matches!(error, ReadError::Unreadable { .. }), "{error}");
}

#[test]
fn an_unreadable_file_is_an_error_that_names_it() {
    let root = tree(&["closed"]);
    let path = root.path().join("closed");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    if File::open(&path).is_ok() {
        return; // root reads everything
    }
    let error = read_inside(root.path(), &path).unwrap_err();
    assert!(error.to_string().starts_with(&format!("cannot read {}", path.display())), "{error}");
}

#[test]
fn no_path_reads_outside_the_worktree() {
    let home = tree(&["secret", "root/a/a"]);
    let root = home.path().join("root");
    symlink(home.path(), root.join("link")).unwrap();
    proptest!(|(path in "(\\.\\.|\\.|/|a|link|secret){0,8}")| {
        if let Ok(Some(text)) = read_inside(&root, Path::new(&path)) {
            prop_assert_eq!(text, "root/a/a");
        }
    });
}
