//! Gemini CLI: `gemini -o stream-json`, the prompt on standard input; the worktree is trusted because the user started a loop in it.
//!
//! It echoes the prompt as a message of the user and streams its own words in deltas. Its exit code is an HTTP status modulo 256; the
//! `result` event tells the truth. Its output leaves the thoughts out, so what counts is total without cached.

use jiff::Timestamp;
use serde_json::Value;

use super::event::{Decoder, End, Event, Known, Usage, number, text, tool_detail};
use super::words::judge;
use super::{Agent, Cumulative, Output, Program, Prompt, Session, Sign, Tested, words};

/// The agent.
pub const AGENT: Agent = Agent {
    name: "gemini",
    program: Program::Named("gemini"),
    arguments: |wish| {
        let base = words(&["--skip-trust", "-o", "stream-json"], [wish.model("-m"), wish.approve(&["-y"])]);
        [base, wish.last_session(&["-r", "latest"])].concat()
    },
    prompt: Prompt::Stdin,
    output: Output::Json(|| Box::new(Gemini)),
    session: Session::Last,
    cumulative: Cumulative::Nothing,
    version: "0.61.0",
    login: &[
        Sign::Variable("GEMINI_API_KEY"),
        Sign::Variable("GOOGLE_API_KEY"),
        Sign::File(".gemini/oauth_creds.json"),
    ],
    tested: Tested::RealProgram,
};

struct Gemini;

impl Decoder for Gemini {
    fn decode(&mut self, value: &Value, events: &mut Vec<Event>) -> Known {
        match text(value, &["type"]) {
            "init" => events.push(Event::Session(text(value, &["session_id"]).to_owned())),
            "message" if text(value, &["role"]) == "assistant" => {
                events.push(Event::Delta(text(value, &["content"]).to_owned()));
            }
            "tool_use" => {
                let detail = value.get("parameters").map(tool_detail).unwrap_or_default();
                events.push(Event::Tool(text(value, &["tool_name"]).to_owned(), detail));
            }
            "result" => {
                let total = number(value, &["stats", "total_tokens"]);
                let (cached, input) = (number(value, &["stats", "cached"]), number(value, &["stats", "input"]));
                events.push(Event::UsedInAll(Usage {
                    input,
                    output: total.saturating_sub(cached).saturating_sub(input),
                    cache_read: cached,
                    cache_write: 0,
                    cost: None,
                }));
                let well = text(value, &["status"]) == "success";
                if !well {
                    let message = text(value, &["error", "message"]);
                    events.push(judge(message, status_in(message), Timestamp::now()));
                }
                events.push(Event::Ended(if well { End::Well } else { End::Badly }));
            }
            "message" | "tool_result" | "error" => {}
            _ => return Known::Foreign,
        }
        Known::Event
    }
}

/// The message quotes the API's answer (`"code":401`), or gives the advice that only a limit gets.
fn status_in(message: &str) -> Option<u64> {
    if message.contains("Please wait and try again later. To increase your limits") {
        return Some(429);
    }
    let after = message.split_once("\"code\":")?.1;
    after.trim_start().chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok()
}
