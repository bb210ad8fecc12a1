//! Ticks a task in the text that it was read from.

use super::edit::apply;
use super::find::{Found, find};
use super::task::Task;

/// `text` with the box of `task` set to `[x]`, and on a status line its word to `complete`. Every other byte stays.
///
/// A task that is not in the text, on its line and by its id and name, changes nothing: the file was edited meanwhile,
/// and a tick on the wrong line is worse than none.
pub fn tick(text: &str, task: &Task) -> String {
    let same = |found: &Found| {
        let Task { id, name, line, .. } = &found.task;
        (id, name, line) == (&task.id, &task.name, &task.line)
    };
    let edits = find(text).into_iter().find(same).map_or_else(Vec::new, |found| found.tick);
    apply(text, edits)
}

#[cfg(test)]
mod tests {
    use super::super::Tasks;
    use super::*;

    #[test]
    fn tick_changes_the_box_and_nothing_else() {
        let table = [
            ("- [ ] a", "- [x] a"),
            ("\u{feff}x\r\n\t* [~] a \r\n\r\n", "\u{feff}x\r\n\t* [x] a \r\n\r\n"),
            ("1. []", "1. [x]"),
            ("- [✔\u{fe0f}] é", "- [x] é"),
            ("- [X] a", "- [x] a"),
            ("<!-- é --> - [-] a <!-- [ ] -->", "<!-- é --> - [x] a <!-- [ ] -->"),
            ("## Task 1: a\r- **Status**: [ ] pending, so far\r", "## Task 1: a\r- **Status**: [x] complete, so far\r"),
            ("## Task 1: a\n- **Status**: [>]  in-progress\n", "## Task 1: a\n- **Status**: [x]  complete\n"),
            ("## Task 1: a\n- **Status**: [ ]\n", "## Task 1: a\n- **Status**: [x] complete\n"),
        ];
        for (text, expected) in table {
            let tasks = Tasks::parse(text);
            assert_eq!(tasks.total(), 1, "{text:?}");
            assert_eq!(tick(text, tasks.iter().next().unwrap()), expected);
        }
    }

    #[test]
    fn tick_of_a_task_that_is_gone_changes_nothing() {
        let tasks = Tasks::parse("- [ ] a\n- [ ] b");
        for text in ["- [ ] a", "x\n- [ ] c", "- [ ] a\n```\n- [ ] b", ""] {
            assert_eq!(tick(text, tasks.iter().nth(1).unwrap()), text);
        }
    }
}
