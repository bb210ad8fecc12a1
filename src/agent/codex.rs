//! Codex: `codex exec --json -`, the prompt on standard input.
//!
//! Its `error` events are told for every reconnect, and items of type `error` are mere warnings: only `turn.failed` is failure. Its
//! input has the cached tokens in it. It reports no cost.

use jiff::Timestamp;
use serde_json::Value;

use super::event::{Decoder, End, Event, Known, Usage, number, text, tool_detail};
use super::words::judge;
use super::{Agent, Cumulative, Output, Program, Prompt, Session, Sign, Tested, words};

/// The agent.
pub const AGENT: Agent = Agent {
    name: "codex",
    program: Program::Named("codex"),
    arguments: |wish| {
        let resume: &[&str] = if wish.session.is_some() { &["resume"] } else { &[] };
        let session: Vec<_> = wish.session.map(std::ffi::OsString::from).into_iter().collect();
        let options =
            words(&["--json"], [wish.model("-m"), wish.approve(&["--dangerously-bypass-approvals-and-sandbox"])]);
        [words(&["exec"], [words(resume, []), options]), session].concat()
    },
    prompt: Prompt::StdinAnd("-"),
    output: Output::Json(|| Box::new(Codex)),
    session: Session::ById,
    cumulative: Cumulative::All,
    version: "0.166.0",
    login: &[Sign::Variable("OPENAI_API_KEY"), Sign::Variable("CODEX_API_KEY"), Sign::File(".codex/auth.json")],
    tested: Tested::RealProgram,
};

struct Codex;

impl Decoder for Codex {
    fn decode(&mut self, value: &Value, events: &mut Vec<Event>) -> Known {
        match text(value, &["type"]) {
            "thread.started" => events.push(Event::Session(text(value, &["thread_id"]).to_owned())),
            "item.started" | "item.updated" | "item.completed" => item(value, events),
            "turn.completed" => {
                let cached = number(value, &["usage", "cached_input_tokens"]);
                events.push(Event::UsedInAll(Usage {
                    input: number(value, &["usage", "input_tokens"]).saturating_sub(cached),
                    output: number(value, &["usage", "output_tokens"]),
                    cache_read: cached,
                    cache_write: number(value, &["usage", "cache_write_input_tokens"]),
                    cost: None,
                }));
                events.push(Event::Ended(End::Well));
            }
            "turn.failed" => {
                events.push(judge(text(value, &["error", "message"]), None, Timestamp::now()));
                events.push(Event::Ended(End::Badly));
            }
            // The last one is repeated by `turn.failed`.
            "error" if text(value, &["message"]).starts_with("Reconnecting") => {
                events.push(Event::Note(text(value, &["message"]).to_owned()));
            }
            "error" | "turn.started" => {}
            _ => return Known::Foreign,
        }
        Known::Event
    }
}

fn item(value: &Value, events: &mut Vec<Event>) {
    let (Some(item), begun) = (value.get("item"), text(value, &["type"]) == "item.started") else { return };
    let done = text(value, &["type"]) == "item.completed";
    match text(item, &["type"]) {
        "agent_message" if done => events.push(Event::Said(text(item, &["text"]).to_owned())),
        "command_execution" if begun => events.push(Event::Tool("shell".into(), tool_detail(item))),
        "error" if done => events.push(Event::Note(text(item, &["message"]).to_owned())),
        "agent_message" | "command_execution" | "error" | "reasoning" | "todo_list" => {}
        other if done => events.push(Event::Tool(other.to_owned(), tool_detail(item))),
        _ => {}
    }
}
