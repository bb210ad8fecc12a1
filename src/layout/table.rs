//! The table of layouts, which of them a worktree has, and what its folders hold.

use std::io;
use std::path::Path;

use super::names::names_in;

/// The layouts that have changes, in the order in which they are looked for.
pub static LAYOUTS: [Layout; 3] = [
    Layout {
        name: "ito",
        marker: ".ito",
        changes: Some(".ito/changes"),
        archive: "archive",
        modules: Some(".ito/modules"),
        states: ".ito/.state/ralph",
    },
    Layout {
        name: "spool",
        marker: ".spool",
        changes: Some(".spool/changes"),
        archive: "archive",
        modules: Some(".spool/modules"),
        states: ".spool/.state/ralph",
    },
    Layout {
        name: "openspec",
        marker: "openspec",
        changes: Some("openspec/changes"),
        archive: "archive",
        modules: None,
        states: ".claude/ralph",
    },
];

/// The layout of a repository that keeps no changes.
pub static PLAIN: Layout =
    Layout { name: "plain", marker: ".", changes: None, archive: "archive", modules: None, states: ".claude/ralph" };

/// The context of a loop without a change, below the worktree's root.
pub const LOOSE_CONTEXT: &str = ".claude/ralph-context.md";

/// One way to keep changes in a repository. All paths are relative to the worktree's root.
#[derive(Debug, PartialEq, Eq)]
pub struct Layout {
    /// What a person calls it.
    pub name: &'static str,
    marker: &'static str,
    pub(super) changes: Option<&'static str>,
    /// The folder among the changes that holds those which are over.
    archive: &'static str,
    pub(super) modules: Option<&'static str>,
    /// Holds one folder per change, with the state and the context of its loops.
    pub(super) states: &'static str,
}

impl Layout {
    /// The layout that the worktree at `root` uses.
    pub fn detect(root: &Path) -> &'static Self {
        LAYOUTS.iter().find(|layout| root.join(layout.marker).is_dir()).unwrap_or(&PLAIN)
    }

    /// The layout called `name`, whether or not a repository has it.
    pub fn named(name: &str) -> Option<&'static Self> {
        LAYOUTS.iter().chain([&PLAIN]).find(|layout| layout.name == name)
    }

    /// The ids of the active changes, sorted. No folder for changes is no changes.
    pub fn changes(&self, root: &Path) -> io::Result<Vec<String>> {
        let mut ids = names_in(root, self.changes)?;
        ids.retain(|id| id != self.archive);
        Ok(ids)
    }

    /// The names of the modules' folders (`002_name`), sorted.
    pub fn modules(&self, root: &Path) -> io::Result<Vec<String>> {
        names_in(root, self.modules)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::super::testing::{ito, tree};
    use super::*;

    #[test]
    fn the_first_marker_that_is_a_directory_decides() {
        let table: [(&[&str], &str); 6] = [
            (&["openspec/", ".spool/", ".ito/"], "ito"),
            (&["openspec/", ".spool/"], "spool"),
            (&["openspec/"], "openspec"),
            (&[".ito", "openspec/"], "openspec"),
            (&["src/"], "plain"),
            (&[], "plain"),
        ];
        for (paths, name) in table {
            assert_eq!(Layout::detect(tree(paths).path()).name, name, "{paths:?}");
        }
    }

    #[test]
    fn a_layout_can_be_asked_for_by_name() {
        for name in ["ito", "spool", "openspec", "plain"] {
            assert_eq!(Layout::named(name).unwrap().name, name);
        }
        assert_eq!(Layout::named("Ito"), None);
    }

    #[test]
    fn active_changes_are_sorted_real_folders_outside_the_archive() {
        let root = tree(&[
            ".ito/changes/b/",
            ".ito/changes/a/",
            ".ito/changes/archive/old/",
            ".ito/changes/.hidden/",
            ".ito/changes/-option/",
            ".ito/changes/new\nline/",
            ".ito/changes/file",
        ]);
        symlink(root.path(), root.path().join(".ito/changes/link")).unwrap();
        assert_eq!(ito().changes(root.path()).unwrap(), ["a", "b"]);
        assert_eq!(PLAIN.changes(root.path()).unwrap(), [""; 0]);
    }
}
