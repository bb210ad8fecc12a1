//! pi: `pi -p --mode json`, the prompt on standard input. It asks for no approvals, so there are none to give.
//!
//! It exits with 0 on every API error: the `stopReason` of its last message tells the truth. Usage adds up over the assistant's
//! `message_end` events; `turn_end` repeats it.

use jiff::Timestamp;
use serde_json::Value;

use super::event::{Decoder, End, Event, Known, Usage, at, list, number, text, tool_detail};
use super::words::judge;
use super::{Agent, Cumulative, Output, Program, Prompt, Session, Sign, Tested, words};

/// The agent.
pub const AGENT: Agent = Agent {
    name: "pi",
    program: Program::Named("pi"),
    arguments: |wish| {
        let base = words(&["-p", "--mode", "json"], [wish.model("--model"), Vec::new()]);
        [base, wish.session("--session")].concat()
    },
    prompt: Prompt::Stdin,
    output: Output::Json(|| Box::new(Pi { streamed: false })),
    session: Session::ById,
    cumulative: Cumulative::Nothing,
    version: "0.73.1",
    login: &[Sign::Variable("ANTHROPIC_API_KEY"), Sign::Variable("OPENAI_API_KEY"), Sign::File(".pi/agent/auth.json")],
    tested: Tested::RealProgram,
};

struct Pi {
    /// Whether this message has come in deltas already.
    streamed: bool,
}

impl Decoder for Pi {
    fn decode(&mut self, value: &Value, events: &mut Vec<Event>) -> Known {
        match text(value, &["type"]) {
            "session" => events.push(Event::Session(text(value, &["id"]).to_owned())),
            "message_update" => {
                if text(value, &["assistantMessageEvent", "type"]) == "text_delta" {
                    self.streamed = true;
                    events.push(Event::Delta(text(value, &["assistantMessageEvent", "delta"]).to_owned()));
                }
            }
            "message_end" if text(value, &["message", "role"]) == "assistant" => self.message(value, events),
            "tool_execution_start" => {
                let detail = value.get("args").map(tool_detail).unwrap_or_default();
                events.push(Event::Tool(text(value, &["toolName"]).to_owned(), detail));
            }
            "auto_retry_start" => events.push(Event::Note(format!("retrying: {}", text(value, &["errorMessage"])))),
            "agent_start"
            | "turn_start"
            | "message_start"
            | "message_end"
            | "tool_execution_update"
            | "tool_execution_end"
            | "turn_end"
            | "agent_end"
            | "agent_settled"
            | "auto_retry_end" => {}
            _ => return Known::Foreign,
        }
        Known::Event
    }
}

impl Pi {
    fn message(&mut self, value: &Value, events: &mut Vec<Event>) {
        let Some(message) = value.get("message") else { return };
        if !std::mem::take(&mut self.streamed) {
            let texts = list(message, &["content"]).iter().filter(|block| text(block, &["type"]) == "text");
            events.extend(texts.map(|block| Event::Said(text(block, &["text"]).to_owned())));
        }
        events.push(Event::Used(Usage {
            input: number(message, &["usage", "input"]),
            output: number(message, &["usage", "output"]),
            cache_read: number(message, &["usage", "cacheRead"]),
            cache_write: number(message, &["usage", "cacheWrite"]),
            cost: at(message, &["usage", "cost", "total"]).and_then(Value::as_f64),
        }));
        match text(message, &["stopReason"]) {
            "stop" => events.push(Event::Ended(End::Well)),
            "error" | "aborted" => {
                let words = text(message, &["errorMessage"]);
                events.push(judge(words, status_of(words), Timestamp::now()));
                events.push(Event::Ended(End::Badly));
            }
            _ => events.push(Event::Ended(End::Badly)),
        }
    }
}

/// Its errors begin with the API's status: `401 Incorrect API key provided`.
fn status_of(words: &str) -> Option<u64> {
    words.split_whitespace().next().filter(|first| first.len() == 3)?.parse().ok()
}
