//! The tasks gate: every task is complete or shelved.

use serde::{Deserialize, Serialize};

use super::Rejection;
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

/// Passes, or says which tasks are open.
pub fn check(tasks: Option<&Tasks>, at_start: AtStart) -> Result<(), Rejection> {
    let reject = |detail: String| Err(Rejection { gate: "tasks".into(), detail });
    match tasks {
        None if at_start == AtStart::Some => {
            reject("The tasks file is gone; it had tasks when this loop started.".into())
        }
        Some(tasks) if tasks.is_empty() && at_start == AtStart::Some => {
            reject("The tasks file has no tasks any more; it had some when this loop started.".into())
        }
        Some(tasks) if tasks.open().next().is_some() => reject(list(tasks)),
        _ => Ok(()),
    }
}

fn list(tasks: &Tasks) -> String {
    let lines = tasks.open().map(|task| {
        let id = task.id.as_ref().map(|id| format!("{id} ")).unwrap_or_default();
        format!("- {id}{} ({})", task.name, task.status)
    });
    let header = format!("{} of {} tasks are not complete:", tasks.open().count(), tasks.total());
    std::iter::once(header).chain(lines).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_tasks_are_listed_with_their_status() {
        let tasks = Tasks::parse("- [x] 1.1 a\n- [ ] 1.2 b\n- [~] c\n- [-] d\n");
        let rejected = check(Some(&tasks), AtStart::Some).unwrap_err();
        assert_eq!(rejected.detail, "2 of 4 tasks are not complete:\n- 1.2 b (pending)\n- c (in-progress)");
    }

    #[test]
    fn what_is_closed_passes_and_what_vanished_does_not() {
        let (closed, empty) = (Tasks::parse("- [x] a\n- [-] b\n"), Tasks::parse("nothing"));
        assert_eq!(check(Some(&closed), AtStart::Some), Ok(()));
        assert_eq!(check(None, AtStart::None), Ok(()));
        assert_eq!(check(Some(&empty), AtStart::None), Ok(()));
        assert!(check(Some(&empty), AtStart::Some).is_err());
        assert!(check(None, AtStart::Some).is_err());
    }
}
