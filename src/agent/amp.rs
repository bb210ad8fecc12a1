//! Amp: `amp -x --stream-json`, the prompt on standard input; events that its makers call compatible with Claude's. The model is Amp's
//! own choice.

use super::shape_claude::{ClaudeShape, Input};
use super::{Agent, Cumulative, Output, Program, Prompt, Session, Sign, Tested, words};

/// The agent.
pub const AGENT: Agent = Agent {
    name: "amp",
    program: Program::Named("amp"),
    arguments: |wish| words(&["-x", "--stream-json"], [wish.approve(&["--dangerously-allow-all"])]),
    prompt: Prompt::Stdin,
    output: Output::Json(|| Box::new(ClaudeShape::new(Input::Fresh))),
    session: Session::None,
    cumulative: Cumulative::Nothing,
    version: "0.0.1790142911",
    login: &[Sign::Variable("AMP_API_KEY")],
    tested: Tested::HelpOnly,
};
