//! Cline: `cline --json`, with an argument that points to the prompt on standard input. It approves everything unless its own settings say
//! otherwise, and leaves a daemon running, which the guard takes down.

use jiff::Timestamp;
use serde_json::Value;

use super::event::{Decoder, End, Event, Known, Usage, at, number, text};
use super::words::judge;
use super::{Agent, Cumulative, Output, Program, Prompt, Session, Tested, words};

/// The agent.
pub const AGENT: Agent = Agent {
    name: "cline",
    program: Program::Named("cline"),
    arguments: |wish| [words(&["--json"], [wish.model("-m")]), wish.session("--id")].concat(),
    prompt: Prompt::StdinAnd("Follow the instructions on stdin"),
    output: Output::Json(|| Box::new(Cline)),
    session: Session::ById,
    cumulative: Cumulative::Nothing,
    version: "3.0.65",
    login: &[],
    tested: Tested::Recording,
};

struct Cline;

impl Decoder for Cline {
    fn decode(&mut self, value: &Value, events: &mut Vec<Event>) -> Known {
        match text(value, &["type"]) {
            "agent_event" => {
                if text(value, &["event", "type"]) == "content_start" && !text(value, &["event", "tool"]).is_empty() {
                    events.push(Event::Tool(text(value, &["event", "tool"]).to_owned(), String::new()));
                }
            }
            "run_result" => {
                events.push(Event::Said(text(value, &["text"]).to_owned()));
                events.push(Event::UsedInAll(Usage {
                    input: number(value, &["usage", "inputTokens"]),
                    output: number(value, &["usage", "outputTokens"]),
                    cache_read: number(value, &["usage", "cacheReadTokens"]),
                    cache_write: number(value, &["usage", "cacheWriteTokens"]),
                    cost: at(value, &["usage", "totalCost"]).and_then(Value::as_f64),
                }));
                let failed = text(value, &["finishReason"]) == "error";
                if failed {
                    events.push(judge(text(value, &["text"]), None, Timestamp::now()));
                }
                events.push(Event::Ended(if failed { End::Badly } else { End::Well }));
            }
            "hook_event" | "error" => {}
            _ => return Known::Foreign,
        }
        Known::Event
    }
}
