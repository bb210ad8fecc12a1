//! Gemini CLI: the prompt on standard input; the worktree is trusted because the user started a loop in it.

use super::{Agent, Program, words};

/// The agent.
pub const AGENT: Agent = Agent {
    name: "gemini",
    program: Program::Named("gemini"),
    arguments: |wish| words(&["--skip-trust"], [wish.model("-m"), wish.approve(&["-y"])]),
};
