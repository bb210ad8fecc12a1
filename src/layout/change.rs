//! A change and a module: where their things lie, and how their ids belong together.

use std::path::PathBuf;

/// The name of every list of tasks.
pub const TASKS: &str = "tasks.md";

/// An active change, and where its things lie. The folder exists; the files may not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The whole id, which is the name of its folder.
    pub id: String,
    pub(super) folder: PathBuf,
    pub(super) state: PathBuf,
}

impl Change {
    /// What the change is about and why.
    pub fn proposal(&self) -> PathBuf {
        self.folder.join("proposal.md")
    }

    /// The change's own list of tasks.
    pub fn tasks(&self) -> PathBuf {
        self.folder.join(TASKS)
    }

    /// What a person added while the loop runs.
    pub fn context(&self) -> PathBuf {
        self.state.join("context.md")
    }

    /// The history of all loops on this change.
    pub fn state(&self) -> PathBuf {
        self.state.join("state.json")
    }

    /// The id of the module that the change belongs to, as its own id tells it.
    pub fn module_id(&self) -> Option<&str> {
        module_of(&self.id)
    }
}

/// A module: what a group of changes has in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    /// The number before the name: `002` of `002_name`.
    pub id: String,
    pub(super) folder: PathBuf,
}

impl Module {
    /// The description of the module.
    pub fn file(&self) -> PathBuf {
        self.folder.join("module.md")
    }
}

/// The module of a change id of the shape `NNN-NN_name`: `002` for `002-01_add-x`.
pub fn module_of(change_id: &str) -> Option<&str> {
    let (numbers, name) = change_id.split_once('_')?;
    let (module, change) = numbers.split_once('-')?;
    let well_formed = is_number(module, 3) && is_number(change, 2) && !name.is_empty();
    well_formed.then_some(module)
}

fn is_number(text: &str, digits: usize) -> bool {
    text.len() >= digits && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::super::Layout;
    use super::super::testing::tree;
    use super::*;

    #[test]
    fn every_layout_knows_where_the_things_of_a_change_lie() {
        let table = [
            ("ito", ".ito/changes/x", ".ito/.state/ralph/x"),
            ("spool", ".spool/changes/x", ".spool/.state/ralph/x"),
            ("openspec", "openspec/changes/x", ".claude/ralph/x"),
        ];
        for (name, folder, state) in table {
            let root = tree(&[&format!("{folder}/")]);
            let change = Layout::named(name).unwrap().resolve(root.path(), "x").unwrap();
            let (folder, state) = (root.path().join(folder), root.path().join(state));
            assert_eq!(change.proposal(), folder.join("proposal.md"));
            assert_eq!(change.tasks(), folder.join("tasks.md"));
            assert_eq!(change.context(), state.join("context.md"));
            assert_eq!(change.state(), state.join("state.json"));
        }
    }

    #[test]
    fn the_module_is_inferred_only_from_the_documented_shape() {
        let table = [
            ("002-01_add-ralph-loop", Some("002")),
            ("1234-567_x_y-z", Some("1234")),
            ("002-01", None),
            ("002-01_", None),
            ("02-01_x", None),
            ("002-1_x", None),
            ("002-_x", None),
            ("abc-01_x", None),
            ("002_x-01", None),
            ("add-x", None),
            ("", None),
        ];
        for (id, module) in table {
            assert_eq!(module_of(id), module, "{id}");
        }
    }
}
