//! The shape of Claude Code's `stream-json`, which qwen, grok and amp speak too.
//!
//! What the agent says stands in `assistant` events, one per content block; a tool's result in `user` events. The last event is
//! `result`: its `is_error` tells the truth, its `subtype` does not. It has the usage of the whole run; until it comes, the input of each
//! message counts once, though each of its blocks repeats it.

use jiff::Timestamp;
use serde_json::Value;

use super::event::{Decoder, End, Event, Known, Limit, Usage, at, list, number, text, tool_detail};
use super::words::judge;

/// Whether `input_tokens` has the cached ones in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// It has not.
    Fresh,
    /// It has.
    WithCached,
}

/// The decoder.
pub struct ClaudeShape {
    input: Input,
    partial: bool,
    /// The message whose usage was counted last: each of its blocks repeats it.
    counted: String,
    /// What the messages so far have used, until the result tells it whole.
    so_far: Usage,
}

impl ClaudeShape {
    /// For an agent that counts its input like this.
    pub fn new(input: Input) -> Self {
        Self { input, partial: false, counted: String::new(), so_far: Usage::default() }
    }

    fn assistant(&mut self, value: &Value, events: &mut Vec<Event>) {
        // A message that the program made up itself is an error, not something said.
        let synthetic = text(value, &["message", "model"]) == "<synthetic>";
        let ours = is_ours(value) && !synthetic;
        for block in list(value, &["message", "content"]) {
            match text(block, &["type"]) {
                "text" if ours && !self.partial => events.push(Event::Said(text(block, &["text"]).to_owned())),
                "tool_use" => {
                    let detail = block.get("input").map(tool_detail).unwrap_or_default();
                    events.push(Event::Tool(text(block, &["name"]).to_owned(), detail));
                }
                _ => {}
            }
        }
        if ours {
            self.partial = false;
        }
        self.count(value, events);
    }

    /// Counts a message once, as far as it tells its usage: input and cache, for its output is not known yet.
    fn count(&mut self, value: &Value, events: &mut Vec<Event>) {
        let id = text(value, &["message", "id"]);
        let Some(message) = value.get("message").filter(|_| !id.is_empty() && id != self.counted) else { return };
        id.clone_into(&mut self.counted);
        self.so_far = self.so_far.plus(Usage { output: 0, cost: None, ..self.usage(message) });
        events.push(Event::UsedInAll(self.so_far));
    }

    fn result(&self, value: &Value, events: &mut Vec<Event>) {
        events.push(Event::UsedInAll(self.usage(value)));
        let denied = list(value, &["permission_denials"]).iter().map(|denial| text(denial, &["tool_name"]));
        let denied: Vec<&str> = denied.filter(|name| !name.is_empty()).collect();
        if !denied.is_empty() {
            events.push(Event::Denied(denied.join(", ")));
        }
        let failed = at(value, &["is_error"]).and_then(Value::as_bool).unwrap_or(true);
        if failed {
            let said = text(value, &["result"]);
            let errors: Vec<&str> = list(value, &["errors"]).iter().filter_map(Value::as_str).collect();
            let words = [said, text(value, &["error", "message"]), &errors.join("; "), text(value, &["subtype"])];
            let words = words.into_iter().find(|words| !words.is_empty()).unwrap_or("the agent reports an error");
            let status = at(value, &["api_error_status"]).and_then(Value::as_u64);
            events.push(judge(words, status, Timestamp::now()));
        }
        events.push(Event::Ended(if failed { End::Badly } else { End::Well }));
    }

    fn usage(&self, value: &Value) -> Usage {
        let cache_read = number(value, &["usage", "cache_read_input_tokens"]);
        let input = number(value, &["usage", "input_tokens"]);
        Usage {
            input: if self.input == Input::WithCached { input.saturating_sub(cache_read) } else { input },
            output: number(value, &["usage", "output_tokens"]),
            cache_read,
            cache_write: number(value, &["usage", "cache_creation_input_tokens"]),
            cost: at(value, &["total_cost_usd"]).and_then(Value::as_f64),
        }
    }
}

/// What a sub-agent says to its agent is not said to us.
fn is_ours(value: &Value) -> bool {
    at(value, &["parent_tool_use_id"]).is_none_or(Value::is_null)
}

impl Decoder for ClaudeShape {
    fn decode(&mut self, value: &Value, events: &mut Vec<Event>) -> Known {
        match text(value, &["type"]) {
            "system" => match text(value, &["subtype"]) {
                "init" => events.push(Event::Session(text(value, &["session_id"]).to_owned())),
                "api_retry" => {
                    let (attempt, of) = (number(value, &["attempt"]), number(value, &["max_retries"]));
                    events.push(Event::Note(format!("retrying ({attempt} of {of}): {}", text(value, &["error"]))));
                }
                _ => {}
            },
            "stream_event" => {
                if text(value, &["event", "delta", "type"]) == "text_delta" && is_ours(value) {
                    self.partial = true;
                    events.push(Event::Delta(text(value, &["event", "delta", "text"]).to_owned()));
                }
            }
            "assistant" => self.assistant(value, events),
            "result" => self.result(value, events),
            "rate_limit_event" => {
                let info = at(value, &["rate_limit_info"]).unwrap_or(value);
                if text(info, &["status"]) == "rejected" {
                    let until =
                        at(info, &["resetsAt"]).and_then(Value::as_i64).and_then(|at| Timestamp::from_second(at).ok());
                    events.push(Event::Limit(Limit {
                        words: format!("{} limit reached", text(info, &["rateLimitType"])),
                        until,
                    }));
                }
            }
            "user" => {}
            _ => return Known::Foreign,
        }
        Known::Event
    }
}
