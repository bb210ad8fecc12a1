//! Kimi Code: `kimi --output-format stream-json -p PROMPT`; it takes the prompt as an argument only, and its model from its own settings. It
//! reports no usage and has no end event, so its exit code has to do.

use serde_json::Value;

use super::event::{Decoder, End, Event, Known, list, text, tool_detail};
use super::{Agent, Cumulative, Output, Program, Prompt, Session, Tested, words};

/// The agent.
pub const AGENT: Agent = Agent {
    name: "kimi",
    program: Program::Named("kimi"),
    arguments: |_| words(&["--output-format", "stream-json"], []),
    prompt: Prompt::Argument(&["-p"]),
    output: Output::Json(|| Box::new(Kimi)),
    session: Session::None,
    cumulative: Cumulative::Nothing,
    version: "2.1.0",
    login: &[],
    tested: Tested::Recording,
};

struct Kimi;

impl Decoder for Kimi {
    fn decode(&mut self, value: &Value, events: &mut Vec<Event>) -> Known {
        match text(value, &["role"]) {
            "assistant" => {
                let said = text(value, &["content"]);
                let blocks = list(value, &["content"]).iter().filter(|block| text(block, &["type"]) == "text");
                events.extend((!said.is_empty()).then(|| Event::Said(said.to_owned())));
                events.extend(blocks.map(|block| Event::Said(text(block, &["text"]).to_owned())));
                for call in list(value, &["tool_calls"]) {
                    let name = text(call, &["function", "name"]).to_owned();
                    events.push(Event::Tool(name, tool_detail(call.get("function").unwrap_or(&Value::Null))));
                }
                events.push(Event::Ended(End::Well));
            }
            "tool" | "meta" | "user" => {}
            _ => return Known::Foreign,
        }
        Known::Event
    }
}
