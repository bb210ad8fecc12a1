//! What the tests of this module share.

use proptest::prelude::*;

use super::{TaskStatus, Tasks};

/// Id (or nothing), name, status, line.
pub type Row = (&'static str, &'static str, TaskStatus, usize);

#[track_caller]
pub fn assert_tasks(text: &str, expected: &[Row]) {
    let tasks = Tasks::parse(text);
    let rows: Vec<_> = tasks
        .iter()
        .map(|task| (task.id.as_deref().unwrap_or(""), task.name.as_str(), task.status, task.line))
        .collect();
    assert_eq!(rows, expected, "in {text:?}");
}

/// Text without `\r`, of pieces that make every rule of the module likely to meet every other.
pub fn markdown() -> impl Strategy<Value = String> {
    let pieces = vec![
        "\n",
        "\n",
        "\n",
        "\n",
        "\n- [ ] a\n",
        "\n- [x] b\n",
        "\n  * [~] 1.1 c\n",
        "\n1) [-] d",
        "\n### Task 1.2: n\n",
        "\n- **Status**: [ ] pending\n",
        "**Status:** [>] in-progress",
        "\n## H\n",
        "# ",
        "- ",
        "[ ]",
        "[x]",
        "[`]",
        "[<]",
        "[--]",
        "[",
        "]",
        " ",
        "\t",
        "```",
        "\n```\n",
        "~~~",
        "`",
        "``",
        "\\",
        "<!--",
        "-->",
        "<!-- c -->",
        "<!",
        "--",
        ">",
        "---",
        "\n---\n",
        "---\n",
        "...\n",
        "\u{feff}",
        "é",
        "word",
        "**Status**:",
        "| [ ] |",
        "Task 1: x",
    ];
    prop::collection::vec(prop::sample::select(pieces), 0..24).prop_map(|pieces| pieces.concat())
}
