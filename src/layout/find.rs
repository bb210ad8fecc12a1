//! The `tasks.md` of a loop without a change.
//!
//! Listed with `read_dir` and not with walkdir, which opens every folder that it names, `node_modules` included.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::change::TASKS;

/// The `tasks.md` of a loop without a change: at the root, or else the first within two folders below it, shallowest
/// first, then by path.
///
/// Never looks into `archive`, `node_modules`, `.git` or another repository or worktree. Only a regular file counts.
/// What cannot be listed is passed over, as `find` does.
pub fn find_tasks(root: &Path) -> Option<PathBuf> {
    tasks_in(root).or_else(|| {
        let upper = searched_folders(root);
        upper.iter().find_map(|folder| own_tasks_in(folder)).or_else(|| {
            upper
                .iter()
                .filter(|folder| !is_repository(folder))
                .flat_map(|folder| searched_folders(folder))
                .find_map(|folder| own_tasks_in(&folder))
        })
    })
}

/// Whether the root has a `tasks.md` that is passed over because it is a symbolic link.
pub fn has_linked_tasks(root: &Path) -> bool {
    root.join(TASKS).is_symlink()
}

fn tasks_in(folder: &Path) -> Option<PathBuf> {
    let tasks = folder.join(TASKS);
    fs::symlink_metadata(&tasks).is_ok_and(|meta| meta.is_file()).then_some(tasks)
}

fn own_tasks_in(folder: &Path) -> Option<PathBuf> {
    // In this order, because a hit is rare and the second question costs as much as the first.
    tasks_in(folder).filter(|_| !is_repository(folder))
}

fn is_repository(folder: &Path) -> bool {
    fs::symlink_metadata(folder.join(".git")).is_ok()
}

fn searched_folders(folder: &Path) -> Vec<PathBuf> {
    const PASSED_OVER: [&str; 3] = ["archive", "node_modules", ".git"];
    let Ok(folders) = folders_in(folder) else {
        return Vec::new();
    };
    let mut names: Vec<OsString> = folders.filter(|name| !PASSED_OVER.iter().any(|passed| name == passed)).collect();
    names.sort_unstable();
    names.into_iter().map(|name| folder.join(name)).collect()
}

/// The names of the real directories in `folder`, by the types that the listing itself tells.
fn folders_in(folder: &Path) -> io::Result<impl Iterator<Item = OsString>> {
    let entries = fs::read_dir(folder)?.filter_map(Result::ok);
    Ok(entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.file_name()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::super::testing::tree;
    use super::*;

    #[test]
    fn tasks_are_found_shallowest_first_then_by_path() {
        let table: [(&[&str], Option<&str>); 9] = [
            (&["tasks.md", "a/tasks.md"], Some("tasks.md")),
            (&["a/b/tasks.md", "z/tasks.md"], Some("z/tasks.md")),
            (&["b/tasks.md", "a/tasks.md"], Some("a/tasks.md")),
            (&["a-b/c/tasks.md", "a/z/tasks.md"], Some("a/z/tasks.md")),
            (&["a/b/c/tasks.md"], None),
            (&["archive/tasks.md", "a/archive/tasks.md", "node_modules/tasks.md", ".git/tasks.md"], None),
            (&["a/tasks.md", "a/.git", "b/x/tasks.md", "b/.git/", "c/x/tasks.md", "c/x/.git"], None),
            (&["tasks.md/", "a/tasks.md"], Some("a/tasks.md")),
            (&[".git/", ".claude/tasks.md", "a/TASKS.md"], Some(".claude/tasks.md")),
        ];
        for (paths, expected) in table {
            let root = tree(paths);
            assert_eq!(find_tasks(root.path()), expected.map(|path| root.path().join(path)), "{paths:?}");
        }
    }

    #[test]
    fn tasks_are_neither_a_symlink_nor_behind_one() {
        let outside = tree(&["tasks.md"]);
        let root = tree(&["a/"]);
        symlink(outside.path().join("tasks.md"), root.path().join("tasks.md")).unwrap();
        symlink(outside.path().join("tasks.md"), root.path().join("a/tasks.md")).unwrap();
        symlink(outside.path(), root.path().join("b")).unwrap();
        assert_eq!(find_tasks(root.path()), None);
        assert!(has_linked_tasks(root.path()));
        assert!(!has_linked_tasks(outside.path()));
        assert_eq!(find_tasks(&root.path().join("missing")), None);
    }
}
