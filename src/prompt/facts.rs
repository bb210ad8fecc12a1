//! What a prompt is made of.

/// Everything that a prompt is made of. Blank texts count as absent.
#[derive(Debug, Clone)]
pub struct PromptFacts<'a> {
    /// The name of the worktree.
    pub worktree: &'a str,
    /// The number of this iteration, from 1.
    pub iteration: u64,
    /// The last iteration that may run; `None` is unlimited.
    pub max: Option<u64>,
    /// The first iteration whose claim of completion counts.
    pub min: u64,
    /// The change and its proposal.
    pub change: Option<Document<'a>>,
    /// The module and its description.
    pub module: Option<Document<'a>>,
    /// How far the tasks are.
    pub task_status: Option<&'a str>,
    /// What the user asked for; blank where the change says it all.
    pub task: &'a str,
    /// What the user added since.
    pub context: Option<&'a str>,
    /// Why the last claim of completion was rejected.
    pub validation_failure: Option<&'a str>,
    /// How the iteration just before failed.
    pub last_failure: Option<&'a str>,
    /// One line for each iteration that is worth telling.
    pub previous: Option<&'a str>,
    /// What ends the loop.
    pub done: HowDone<'a>,
}

/// A text of the repository and the id of what it describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Document<'a> {
    /// The id.
    pub id: &'a str,
    /// The text; blank where the file is missing.
    pub text: &'a str,
}

/// What ends a loop, as far as the agent has a part in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HowDone<'a> {
    /// No open task is left in this file.
    Tasks {
        /// The file, as the agent would write its path.
        file: &'a str,
    },
    /// The agent says the promise with this token.
    Promise {
        /// The token.
        token: &'a str,
    },
    /// The one or the other.
    Either {
        /// The file of tasks.
        file: &'a str,
        /// The token of the promise.
        token: &'a str,
    },
    /// Only a person or the maximum does.
    Never,
}

impl<'a> HowDone<'a> {
    pub(super) fn tasks_file(self) -> Option<&'a str> {
        match self {
            Self::Tasks { file } | Self::Either { file, .. } => Some(file),
            Self::Promise { .. } | Self::Never => None,
        }
    }

    pub(super) fn token(self) -> Option<&'a str> {
        match self {
            Self::Promise { token } | Self::Either { token, .. } => Some(token),
            Self::Tasks { .. } | Self::Never => None,
        }
    }
}
