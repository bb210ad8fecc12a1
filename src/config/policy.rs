//! The policies of a loop, each with a word of its own, so that a call reads as a sentence and not as `true, false, true`.

use serde::{Deserialize, Serialize};

/// Whether somebody who looks elsewhere is told that the loop is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Notify {
    /// Nobody.
    Nobody,
    /// The desktop, where there is one, and the terminal.
    User,
}

impl From<bool> for Notify {
    fn from(notify: bool) -> Self {
        if notify { Notify::User } else { Notify::Nobody }
    }
}

/// Who approves the agent's tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    /// The agent's own settings decide.
    Agent,
    /// Everything is approved.
    All,
}

impl From<bool> for Approval {
    fn from(all: bool) -> Self {
        if all { Approval::All } else { Approval::Agent }
    }
}

/// What a failing agent does to the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// It is recorded, and the loop goes on.
    GoOn,
    /// It ends the loop.
    End,
}

impl From<bool> for OnFailure {
    fn from(fail_fast: bool) -> Self {
        if fail_fast { OnFailure::End } else { OnFailure::GoOn }
    }
}

/// Whether a claim of completion is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Validation {
    /// By every gate.
    Checked,
    /// Not at all.
    Skipped,
}

impl Validation {
    /// What `--skip-validation` means.
    pub const fn from_skip(skip: bool) -> Self {
        if skip { Validation::Skipped } else { Validation::Checked }
    }
}

/// Where the agent's output goes beside the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Streaming {
    /// To the terminal, as it comes.
    Live,
    /// Nowhere.
    LogOnly,
}

impl Streaming {
    /// What `--no-stream` means.
    pub const fn from_no_stream(no_stream: bool) -> Self {
        if no_stream { Streaming::LogOnly } else { Streaming::Live }
    }
}
