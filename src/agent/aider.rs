//! Aider: no JSON and no tools; it edits files from the reply and commits them itself. The prompt goes into a file, because its standard
//! input is a dialogue. It writes `.aider*` files into the repository, as it does for everybody.

use super::{Agent, Cumulative, Output, Program, Prompt, Session, Sign, Tested, words};

/// The agent.
pub const AGENT: Agent = Agent {
    name: "aider",
    program: Program::Named("aider"),
    arguments: |wish| {
        let always = ["--no-pretty", "--no-stream", "--no-check-update", "--no-gitignore"];
        words(&always, [wish.model("--model"), wish.approve(&["--yes-always"])])
    },
    prompt: Prompt::File(&["--message-file"]),
    output: Output::Text,
    session: Session::None,
    cumulative: Cumulative::Nothing,
    version: "0.86.2",
    login: &[Sign::Variable("OPENAI_API_KEY"), Sign::Variable("ANTHROPIC_API_KEY")],
    tested: Tested::Recording,
};
