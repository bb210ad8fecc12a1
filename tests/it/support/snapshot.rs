//! A folder and everything in it at one moment, to prove that nothing was written.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Every path below `folder` with its inode, mode and time of change. Whatever is written or replaced differs in one.
pub fn snapshot(folder: &Path) -> BTreeMap<PathBuf, (u64, u32, i64, i64)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let meta = entry.path().symlink_metadata().unwrap();
            found.insert(entry.path(), (meta.ino(), meta.mode(), meta.mtime(), meta.mtime_nsec()));
            if meta.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    found
}
