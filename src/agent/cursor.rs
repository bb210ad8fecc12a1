//! Cursor's agent: `cursor-agent -p --output-format stream-json`, the prompt on standard input; events in the shape of Claude's.

use super::shape_claude::{ClaudeShape, Input};
use super::{Agent, Cumulative, Output, Program, Prompt, Session, Sign, Tested, words};

/// The agent.
pub const AGENT: Agent = Agent {
    name: "cursor-agent",
    program: Program::Named("cursor-agent"),
    arguments: |wish| {
        words(&["-p", "--output-format", "stream-json"], [wish.model("--model"), wish.approve(&["--force"])])
    },
    prompt: Prompt::Stdin,
    output: Output::Json(|| Box::new(ClaudeShape::new(Input::Fresh))),
    session: Session::None,
    cumulative: Cumulative::Nothing,
    version: "",
    login: &[Sign::Variable("CURSOR_API_KEY")],
    tested: Tested::HelpOnly,
};
