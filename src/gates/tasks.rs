//! The tasks gate: every task is complete or shelved.

use serde::{Deserialize, Serialize};

use super::{Court, Gate, Refusal, Rejection};
use crate::tasks::Tasks;

/// Whether there had been tasks when the loop started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AtStart {
    /// There had been some: a file without any now is no proof.
    Some,
    /// There had been none.
    None,
}

/// The gate.
pub struct TasksGate {
    /// Whether there had been tasks when the loop started.
    pub at_start: AtStart,
}

impl Gate for TasksGate {
    fn name(&self) -> &'static str {
        "tasks"
    }

    fn looks_at(&self) -> Vec<String> {
        vec!["every task complete or shelved".to_owned()]
    }

    fn check(&self, court: &mut Court) -> Result<(), Refusal> {
        let reject = |detail| Refusal::Rejected(Rejection { gate: self.name().into(), detail, ..Rejection::default() });
        let tasks = court.tasks().map_err(|why| reject(unreadable(&why)))?;
        judge(tasks.as_ref(), self.at_start).map_err(reject)?;
        court.held.extend(
            tasks.map(|tasks| (self.name(), format!("{} of {} tasks are closed", tasks.done(), tasks.total()))),
        );
        Ok(())
    }
}

/// What became of the tasks that had been there when the loop started, where they vanished.
pub fn vanished(tasks: Option<&Tasks>, at_start: AtStart) -> Option<&'static str> {
    match (at_start, tasks) {
        (AtStart::Some, None) => Some("The tasks file is gone; it had tasks when this loop started."),
        (AtStart::Some, Some(tasks)) if tasks.is_empty() => {
            Some("The tasks file has no tasks any more; it had some when this loop started.")
        }
        _ => None,
    }
}

/// What is said of tasks that cannot be read.
pub fn unreadable(why: &str) -> String {
    format!("The tasks cannot be read: {why}.")
}

/// What is wrong with the tasks, if anything is.
fn judge(tasks: Option<&Tasks>, at_start: AtStart) -> Result<(), String> {
    match (vanished(tasks, at_start), tasks) {
        (Some(how), _) => Err(how.to_owned()),
        (None, Some(tasks)) if tasks.open().next().is_some() => Err(list(tasks)),
        (None, _) => Ok(()),
    }
}

fn list(tasks: &Tasks) -> String {
    let lines = tasks.open().map(|task| format!("- {task}"));
    let header = format!("{} of {} tasks are not complete:", tasks.open().count(), tasks.total());
    std::iter::once(header).chain(lines).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_tasks_are_listed_with_their_status() {
        let tasks = Tasks::parse("- [x] 1.1 a\n- [ ] 1.2 b\n- [~] c\n- [-] d\n");
        let said = judge(Some(&tasks), AtStart::Some).unwrap_err();
        assert_eq!(said, "2 of 4 tasks are not complete:\n- 1.2 b (pending)\n- c (in-progress)");
    }

    #[test]
    fn what_is_closed_passes_and_what_vanished_does_not() {
        let (closed, empty) = (Tasks::parse("- [x] a\n- [-] b\n"), Tasks::parse("nothing"));
        assert_eq!(judge(Some(&closed), AtStart::Some), Ok(()));
        assert_eq!(judge(None, AtStart::None), Ok(()));
        assert_eq!(judge(Some(&empty), AtStart::None), Ok(()));
        assert!(judge(Some(&empty), AtStart::Some).is_err());
        assert!(judge(None, AtStart::Some).is_err());
    }
}
