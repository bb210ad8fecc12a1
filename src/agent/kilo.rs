//! Kilo Code: a fork of OpenCode with the same words and events.

use super::opencode::{self, Opencode};
use super::{Agent, Output, Program, Tested};

/// The agent.
pub const AGENT: Agent = Agent {
    name: "kilo",
    program: Program::Named("kilo"),
    output: Output::Json(|| Box::new(Opencode)),
    version: "7.7.7",
    login: &[],
    tested: Tested::Recording,
    ..opencode::AGENT
};
