//! What the tests of this module share.

use super::{HowDone, PromptFacts, Template};

/// A task, and nothing else to tell.
pub fn facts() -> PromptFacts<'static> {
    PromptFacts {
        worktree: "my-tree",
        iteration: 3,
        max: Some(10),
        min: 1,
        change: None,
        module: None,
        task_status: None,
        task: "Make it fast.",
        context: None,
        validation_failure: None,
        last_failure: None,
        previous: None,
        done: HowDone::Tasks { file: "tasks.md" },
    }
}

pub fn rendered(template: &str, facts: &PromptFacts<'_>) -> String {
    Template::parse(template).unwrap().render(facts)
}
