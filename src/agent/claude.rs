//! Claude Code: `claude -p`, the prompt on standard input.

use super::{Agent, Program, words};

/// The agent.
pub const AGENT: Agent = Agent {
    name: "claude",
    program: Program::Named("claude"),
    arguments: |wish| words(&["-p"], [wish.model("--model"), wish.approve(&["--dangerously-skip-permissions"])]),
};
