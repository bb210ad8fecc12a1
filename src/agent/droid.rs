//! Factory's droid: `droid exec -o stream-json`, the prompt on standard input. It echoes the prompt as a message of the user.

use jiff::Timestamp;
use serde_json::Value;

use super::event::{Decoder, End, Event, Known, Usage, number, text, tool_detail};
use super::words::judge;
use super::{Agent, Cumulative, Output, Program, Prompt, Session, Sign, Tested, words};

/// The agent.
pub const AGENT: Agent = Agent {
    name: "droid",
    program: Program::Named("droid"),
    arguments: |wish| {
        let base =
            words(&["exec", "-o", "stream-json"], [wish.model("-m"), wish.approve(&["--skip-permissions-unsafe"])]);
        [base, wish.session("-s")].concat()
    },
    prompt: Prompt::Stdin,
    output: Output::Json(|| Box::new(Droid)),
    session: Session::ById,
    cumulative: Cumulative::Nothing,
    version: "0.215.0",
    login: &[Sign::Variable("FACTORY_API_KEY")],
    tested: Tested::Recording,
};

struct Droid;

impl Decoder for Droid {
    fn decode(&mut self, value: &Value, events: &mut Vec<Event>) -> Known {
        match text(value, &["type"]) {
            "system" => events.push(Event::Session(text(value, &["session_id"]).to_owned())),
            "message" if text(value, &["role"]) == "assistant" => {
                events.push(Event::Said(text(value, &["text"]).to_owned()));
            }
            "tool_call" => {
                let name =
                    [text(value, &["toolName"]), text(value, &["name"])].into_iter().find(|name| !name.is_empty());
                let input = value.get("parameters").or_else(|| value.get("input")).unwrap_or(&Value::Null);
                events.push(Event::Tool(name.unwrap_or("tool").to_owned(), tool_detail(input)));
            }
            "completion" => {
                events.push(Event::UsedInAll(Usage {
                    input: number(value, &["usage", "input_tokens"]),
                    output: number(value, &["usage", "output_tokens"]),
                    cache_read: number(value, &["usage", "cache_read_input_tokens"]),
                    cache_write: number(value, &["usage", "cache_creation_input_tokens"]),
                    cost: None,
                }));
                events.push(Event::Ended(End::Well));
            }
            "error" => {
                events.push(judge(text(value, &["message"]), None, Timestamp::now()));
                events.push(Event::Ended(End::Badly));
            }
            "message" | "tool_result" => {}
            _ => return Known::Foreign,
        }
        Known::Event
    }
}
