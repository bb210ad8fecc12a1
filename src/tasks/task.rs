//! What a task is to the rest of the program, and how tasks are counted.

use std::fmt;
use std::slice;

use super::find::find;

/// How far a task has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TaskStatus {
    /// Not begun.
    Pending,
    /// Begun and not finished.
    InProgress,
    /// Finished.
    Complete,
    /// Put aside on purpose: it no longer stands in the way of being done.
    Shelved,
}

impl TaskStatus {
    /// Whether there is still work to do.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::InProgress)
    }
}

impl fmt::Display for TaskStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Pending => "pending",
            Self::InProgress => "in-progress",
            Self::Complete => "complete",
            Self::Shelved => "shelved",
        })
    }
}

/// One task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// What the file calls it: `1.2`, `T12`.
    pub id: Option<String>,
    /// What it says after the id, on one line, white space collapsed; may be empty.
    pub name: String,
    /// What its box says.
    pub status: TaskStatus,
    /// The line its box is on, counted from 0.
    pub line: usize,
}

/// A line of a list: `1.2 name (pending)`.
impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(id) = &self.id {
            write!(f, "{id} ")?;
        }
        write!(f, "{} ({})", self.name, self.status)
    }
}

/// The tasks of one file, in its order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tasks(Vec<Task>);

impl Tasks {
    /// Reads a tasks.md; see the module's documentation for what counts. Any text will do.
    pub fn parse(text: &str) -> Self {
        Self(find(text).into_iter().map(|found| found.task).collect())
    }

    /// How many there are.
    pub fn total(&self) -> usize {
        self.0.len()
    }

    /// How many are complete or shelved.
    pub fn done(&self) -> usize {
        self.total() - self.open().count()
    }

    /// Those that are pending or in progress.
    pub fn open(&self) -> impl Iterator<Item = &Task> {
        self.iter().filter(|task| task.status.is_open())
    }

    /// Whether the file has no task at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them.
    pub fn iter(&self) -> slice::Iter<'_, Task> {
        self.0.iter()
    }

    /// Whether there is at least one task and none is open: a file without tasks proves nothing.
    pub fn all_closed(&self) -> bool {
        !self.is_empty() && self.open().next().is_none()
    }
}

impl<'a> IntoIterator for &'a Tasks {
    type Item = &'a Task;
    type IntoIter = slice::Iter<'a, Task>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::TaskStatus::{Complete, InProgress, Pending, Shelved};
    use super::*;

    #[test]
    fn counts() {
        let tasks = Tasks::parse("- [ ] a\n- [>] b\n- [x] c\n- [-] d\n");
        assert_eq!((tasks.total(), tasks.done(), tasks.open().count()), (4, 2, 2));
        let table =
            [("", true, false), ("- [ ] a", false, false), ("- [x] a\n- [-] b", false, true), ("text", true, false)];
        for (text, is_empty, all_closed) in table {
            let tasks = Tasks::parse(text);
            assert_eq!((tasks.is_empty(), tasks.all_closed()), (is_empty, all_closed), "{text:?}");
        }
    }

    #[test]
    fn statuses_have_names() {
        let names = [Pending, InProgress, Complete, Shelved].map(|status| format!("{status:<12}|"));
        assert_eq!(names, ["pending     |", "in-progress |", "complete    |", "shelved     |"]);
    }
}
