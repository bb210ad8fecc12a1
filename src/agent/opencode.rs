//! OpenCode: `opencode run`, the prompt on standard input.

use super::{Agent, Program, words};

/// The agent.
pub const AGENT: Agent = Agent {
    name: "opencode",
    program: Program::Named("opencode"),
    arguments: |wish| words(&["run"], [wish.model("-m"), wish.approve(&["--auto"])]),
};
