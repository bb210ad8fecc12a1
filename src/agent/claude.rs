//! Claude Code: `claude -p --output-format stream-json --verbose`, the prompt on standard input.
//!
//! As root it refuses to approve everything unless `IS_SANDBOX=1` says that it is in a container: that is the user's to say, and we
//! do not say it for them. The cost of a resumed session is that of the whole session.

use super::shape_claude::{ClaudeShape, Input};
use super::{Agent, Cumulative, Output, Program, Prompt, Session, Sign, Tested, words};

/// The agent.
pub const AGENT: Agent = Agent {
    name: "claude",
    program: Program::Named("claude"),
    arguments: |wish| {
        let base = words(
            &["-p", "--output-format", "stream-json", "--verbose"],
            [wish.model("--model"), wish.approve(&["--dangerously-skip-permissions"])],
        );
        [base, wish.session("--resume")].concat()
    },
    prompt: Prompt::Stdin,
    output: Output::Json(|| Box::new(ClaudeShape::new(Input::Fresh))),
    session: Session::ById,
    cumulative: Cumulative::Cost,
    version: "2.1.325",
    login: &[
        Sign::Variable("ANTHROPIC_API_KEY"),
        Sign::Variable("CLAUDE_CODE_OAUTH_TOKEN"),
        Sign::File(".claude/.credentials.json"),
    ],
    tested: Tested::RealProgram,
};
