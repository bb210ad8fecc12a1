//! Qwen Code: `qwen -o stream-json`, the prompt on standard input; events in the shape of Claude's, input with the cached tokens in it.

use super::shape_claude::{ClaudeShape, Input};
use super::{Agent, Cumulative, Output, Program, Prompt, Session, Sign, Tested, words};

/// The agent.
pub const AGENT: Agent = Agent {
    name: "qwen",
    program: Program::Named("qwen"),
    arguments: |wish| {
        let base = words(&["-o", "stream-json"], [wish.model("-m"), wish.approve(&["-y"])]);
        [base, wish.session("-r")].concat()
    },
    prompt: Prompt::Stdin,
    output: Output::Json(|| Box::new(ClaudeShape::new(Input::WithCached))),
    session: Session::ById,
    cumulative: Cumulative::All,
    version: "0.24.4",
    login: &[Sign::Variable("OPENAI_API_KEY"), Sign::File(".qwen/oauth_creds.json")],
    tested: Tested::Recording,
};
