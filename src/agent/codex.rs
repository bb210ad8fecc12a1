//! Codex: `codex exec -`, the prompt on standard input.

use super::{Agent, Program, words};

/// The agent.
pub const AGENT: Agent = Agent {
    name: "codex",
    program: Program::Named("codex"),
    arguments: |wish| {
        words(&["exec", "-"], [wish.model("-m"), wish.approve(&["--dangerously-bypass-approvals-and-sandbox"])])
    },
};
