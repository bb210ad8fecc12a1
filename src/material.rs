//! What a loop works from, as it is on disk now: its change, its tasks, the file of its context.

use std::path::{Path, PathBuf};

use crate::config::LoopSpec;
use crate::error::{Doing, Error, Result};
use crate::files;
use crate::layout::{self, Change, Layout};
use crate::tasks::Tasks;
use crate::worktree::Worktree;

/// The longest list of tasks that is read.
const LONGEST: u64 = 8 * 1024 * 1024;

/// The tasks file of a loop and what is in it.
pub struct TasksFound {
    /// Its path below the worktree's root.
    pub file: String,
    /// What is in it.
    pub tasks: Tasks,
}

/// The change that a loop works on.
pub fn change(worktree: &Worktree, layout: &'static Layout, id: Option<&str>) -> Option<Change> {
    layout.resolve(&worktree.root, id?).ok()
}

/// The tasks of the loop: those of its change, or without one those of the tasks.md found.
pub fn tasks(worktree: &Worktree, spec: &LoopSpec) -> Result<Option<TasksFound>> {
    let path = match &spec.change_id {
        Some(id) => change(worktree, spec.layout(), Some(id)).map(|change| change.tasks()),
        None => layout::find_tasks(&worktree.root),
    };
    let Some(path) = path else { return Ok(None) };
    let opened = layout::open_inside(&worktree.root, &path).map_err(|error| Error::new(error.to_string()))?;
    let Some(file) = opened else { return Ok(None) };
    let bytes = files::up_to(file, LONGEST + 1).doing("read", &path)?;
    // Half a list must not be judged, and none that is written by hand is as long as this.
    if bytes.len() as u64 > LONGEST {
        return Err(Error::new(format!(
            "{} is larger than 8 MiB, which is no list of tasks",
            below(&worktree.root, &path)
        )));
    }
    let tasks = Tasks::parse(&String::from_utf8_lossy(&bytes));
    Ok(Some(TasksFound { file: below(&worktree.root, &path), tasks }))
}

/// The file of the context that every iteration reloads.
pub fn context_file(worktree: &Worktree, layout: &'static Layout, change_id: Option<&str>) -> PathBuf {
    change(worktree, layout, change_id)
        .map_or_else(|| worktree.root.join(layout::LOOSE_CONTEXT), |change| change.context())
}

/// A path as one would write it at the worktree's root.
pub fn below(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}
