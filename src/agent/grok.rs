//! Grok: `grok --output-format streaming-messages-json --prompt-file FILE`; events in the shape of Claude's.

use super::shape_claude::{ClaudeShape, Input};
use super::{Agent, Cumulative, Output, Program, Prompt, Session, Sign, Tested, words};

/// The agent.
pub const AGENT: Agent = Agent {
    name: "grok",
    program: Program::Named("grok"),
    arguments: |wish| {
        let always = ["--output-format", "streaming-messages-json"];
        words(&always, [wish.model("-m"), wish.approve(&["--always-approve"])])
    },
    prompt: Prompt::File(&["--prompt-file"]),
    output: Output::Json(|| Box::new(ClaudeShape::new(Input::Fresh))),
    session: Session::None,
    cumulative: Cumulative::Nothing,
    version: "1.0.41",
    login: &[Sign::Variable("XAI_API_KEY")],
    tested: Tested::Recording,
};
