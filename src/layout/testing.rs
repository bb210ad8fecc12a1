//! What the tests of this module share.

use std::fs;

use tempfile::TempDir;

use super::Layout;

/// A worktree with these files, or folders where the path ends in a slash.
pub fn tree(paths: &[&str]) -> TempDir {
    let root = TempDir::new().unwrap();
    for path in paths {
        let full = root.path().join(path);
        if path.ends_with('/') {
            fs::create_dir_all(full).unwrap();
        } else {
            fs::create_dir_all(full.parent().unwrap()).unwrap();
            fs::write(full, path).unwrap();
        }
    }
    root
}

/// A layout that has everything.
pub fn ito() -> &'static Layout {
    Layout::named("ito").unwrap()
}
