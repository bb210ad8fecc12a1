//! The names that a template knows, and what is inserted for each.

use std::borrow::Cow;

use super::facts::{HowDone, PromptFacts};
use super::nested::nested;

/// A place in a template for one of the facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    Iteration,
    Worktree,
    ChangeId,
    Proposal,
    ModuleId,
    Module,
    TaskStatus,
    Task,
    Context,
    ValidationFailure,
    LastFailure,
    Previous,
    TasksFile,
    Promise,
    FirstClaim,
    Until,
}

/// How a template names them.
pub const SLOTS: [(&str, Slot); 16] = [
    ("iteration", Slot::Iteration),
    ("worktree", Slot::Worktree),
    ("change_id", Slot::ChangeId),
    ("proposal", Slot::Proposal),
    ("module_id", Slot::ModuleId),
    ("module", Slot::Module),
    ("task_status", Slot::TaskStatus),
    ("task", Slot::Task),
    ("context", Slot::Context),
    ("validation_failure", Slot::ValidationFailure),
    ("last_failure", Slot::LastFailure),
    ("previous", Slot::Previous),
    ("tasks_file", Slot::TasksFile),
    ("promise", Slot::Promise),
    ("first_claim", Slot::FirstClaim),
    ("until", Slot::Until),
];

impl Slot {
    /// The slot that a template calls `name`.
    pub fn named(name: &str) -> Option<Self> {
        SLOTS.iter().find(|(known, _)| *known == name).map(|(_, slot)| *slot)
    }

    /// What is inserted.
    pub fn value(self, facts: &PromptFacts<'_>) -> Option<String> {
        let raw = self.raw(facts)?;
        Some(if self.is_document() { nested(&raw) } else { one_line(&raw) })
    }

    /// The fact as it is, if there is one.
    pub fn raw<'a>(self, facts: &PromptFacts<'a>) -> Option<Cow<'a, str>> {
        let text = match self {
            Self::Iteration => return Some(iteration(facts)),
            Self::FirstClaim => return first_claim(facts),
            Self::Until => return until(facts),
            Self::Worktree => Some(facts.worktree),
            Self::ChangeId => facts.change.map(|change| change.id),
            Self::Proposal => facts.change.map(|change| change.text),
            Self::ModuleId => facts.module.map(|module| module.id),
            Self::Module => facts.module.map(|module| module.text),
            Self::TaskStatus => facts.task_status,
            Self::Task => Some(facts.task),
            Self::Context => facts.context,
            Self::ValidationFailure => facts.validation_failure,
            Self::LastFailure => facts.last_failure,
            Self::Previous => facts.previous,
            Self::TasksFile => facts.done.tasks_file(),
            Self::Promise => facts.done.token(),
        };
        text.filter(|text| !text.trim().is_empty()).map(Cow::Borrowed)
    }

    /// Whether it holds a text of many lines rather than a name or a number.
    fn is_document(self) -> bool {
        match self {
            Self::Proposal
            | Self::Module
            | Self::TaskStatus
            | Self::Task
            | Self::Context
            | Self::ValidationFailure
            | Self::LastFailure
            | Self::Previous => true,
            Self::Iteration
            | Self::Worktree
            | Self::ChangeId
            | Self::ModuleId
            | Self::TasksFile
            | Self::Promise
            | Self::FirstClaim
            | Self::Until => false,
        }
    }
}

fn iteration(facts: &PromptFacts<'_>) -> Cow<'static, str> {
    let number = facts.iteration;
    facts.max.map_or_else(|| number.to_string(), |max| format!("{number} of {max}")).into()
}

fn first_claim(facts: &PromptFacts<'_>) -> Option<Cow<'static, str>> {
    let too_early = facts.iteration < facts.min && facts.done != HowDone::Never;
    too_early.then(|| facts.min.to_string().into())
}

fn until(facts: &PromptFacts<'_>) -> Option<Cow<'static, str>> {
    match (facts.done, facts.max) {
        (HowDone::Never, None) => Some("a person stops it".into()),
        (HowDone::Never, Some(max)) => Some(format!("a person stops it or iteration {max} has ended").into()),
        (HowDone::Tasks { .. } | HowDone::Promise { .. } | HowDone::Either { .. }, _) => None,
    }
}

fn one_line(text: &str) -> String {
    text.trim().replace(char::is_control, " ")
}
