//! pi: `pi -p`, the prompt on standard input. It asks for no approvals, so there are none to give.

use super::{Agent, Program, words};

/// The agent.
pub const AGENT: Agent = Agent {
    name: "pi",
    program: Program::Named("pi"),
    arguments: |wish| words(&["-p"], [wish.model("--model"), Vec::new()]),
};
