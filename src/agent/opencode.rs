//! OpenCode: `opencode run --format json`, the prompt on standard input. kilo, its fork, is driven alike.
//!
//! There is no end event: the end is the last `step_finish` with the reason `stop`. Usage adds up over the steps. What goes wrong in its
//! server, an unknown model for one, stands only in its log, under the mark that its error names: so it is asked for the errors in it.

use jiff::Timestamp;
use serde_json::Value;

use super::event::{Decoder, End, Event, Failure, Known, Remedy, Usage, at, number, text, tool_detail};
use super::words::judge;
use super::{Agent, Cumulative, Output, Program, Prompt, Session, Sign, Tested, words};

/// The agent.
pub const AGENT: Agent = Agent {
    name: "opencode",
    program: Program::Named("opencode"),
    arguments: |wish| {
        let always = ["run", "--format", "json", "--print-logs", "--log-level", "ERROR"];
        let base = words(&always, [wish.model("-m"), wish.approve(&["--auto"])]);
        [base, wish.session("-s")].concat()
    },
    prompt: Prompt::Stdin,
    output: Output::Json(|| Box::new(Opencode)),
    session: Session::ById,
    cumulative: Cumulative::Nothing,
    version: "1.18.33",
    login: &[
        Sign::File(".local/share/opencode/auth.json"),
        Sign::Variable("ANTHROPIC_API_KEY"),
        Sign::Variable("OPENAI_API_KEY"),
    ],
    tested: Tested::RealProgram,
};

/// The decoder, for its forks too.
pub struct Opencode;

impl Decoder for Opencode {
    fn decode(&mut self, value: &Value, events: &mut Vec<Event>) -> Known {
        let known = matches!(
            text(value, &["type"]),
            "step_start" | "text" | "tool_use" | "step_finish" | "error" | "reasoning"
        );
        if !known || value.get("sessionID").is_none() {
            return Known::Foreign;
        }
        let part = value.get("part").unwrap_or(&Value::Null);
        match text(value, &["type"]) {
            "step_start" => {
                events.push(Event::Session(text(value, &["sessionID"]).to_owned()));
                events.push(Event::Ended(End::Badly));
            }
            "text" => events.push(Event::Said(text(part, &["text"]).to_owned())),
            "tool_use" => {
                let detail = at(part, &["state", "input"]).map(tool_detail).unwrap_or_default();
                events.push(Event::Tool(text(part, &["tool"]).to_owned(), detail));
                let error = text(part, &["state", "error"]);
                if error.contains("rejected permission") {
                    // It rejects by itself what it would have to ask for, and gives up: so will every further try.
                    let remedy = Remedy::User("--allow-all would allow it, or a rule in the agent's own settings");
                    events.push(Event::Failed(Failure {
                        words: error.trim_end_matches('.').to_owned(),
                        remedy,
                        in_log: None,
                    }));
                }
            }
            "step_finish" => {
                events.push(Event::Used(usage(part)));
                let end = if text(part, &["reason"]) == "stop" { End::Well } else { End::Badly };
                events.push(Event::Ended(end));
            }
            "error" => {
                let message = text(value, &["error", "data", "message"]);
                let words = if message.is_empty() { text(value, &["error", "name"]) } else { message };
                let status = at(value, &["error", "data", "statusCode"]).and_then(Value::as_u64);
                let retry_after = text(value, &["error", "data", "responseHeaders", "retry-after"]);
                let words = if retry_after.is_empty() {
                    words.to_owned()
                } else {
                    format!("{words}, retry after {retry_after}s")
                };
                let mark = text(value, &["error", "data", "ref"]);
                events.push(match judge(&words, status, Timestamp::now()) {
                    Event::Failed(failure) if !mark.is_empty() => {
                        Event::Failed(Failure { in_log: Some(mark.to_owned()), ..failure })
                    }
                    judged => judged,
                });
                events.push(Event::Ended(End::Badly));
            }
            _ => {}
        }
        Known::Event
    }
}

fn usage(part: &Value) -> Usage {
    Usage {
        input: number(part, &["tokens", "input"]),
        output: number(part, &["tokens", "output"]).saturating_add(number(part, &["tokens", "reasoning"])),
        cache_read: number(part, &["tokens", "cache", "read"]),
        cache_write: number(part, &["tokens", "cache", "write"]),
        cost: at(part, &["cost"]).and_then(Value::as_f64),
    }
}
