//! GitHub Copilot: `copilot --no-ask-user --output-format json`, the prompt on standard input. It echoes the prompt, and streams its own words
//! in deltas that a whole message repeats. Its tokens are not in the stream: it tells them at its end, in a file.

use jiff::Timestamp;
use serde_json::Value;

use super::event::{Decoder, End, Event, Known, Usage, at, number, text, tool_detail};
use super::words::judge;
use super::{Agent, Cumulative, Output, Program, Prompt, Session, Sign, Tested, UsageFile, words};

/// The agent.
pub const AGENT: Agent = Agent {
    name: "copilot",
    program: Program::Named("copilot"),
    arguments: |wish| {
        let base =
            words(&["--no-ask-user", "--output-format", "json"], [wish.model("--model"), wish.approve(&["--yolo"])]);
        [base, wish.session("--resume")].concat()
    },
    prompt: Prompt::Stdin,
    output: Output::JsonAndUsage(
        || Box::new(Copilot { streamed: false }),
        UsageFile { flag: "--usage-output-file", read: usage },
    ),
    session: Session::ById,
    cumulative: Cumulative::All,
    version: "1.0.102",
    login: &[Sign::Variable("GH_TOKEN"), Sign::Variable("GITHUB_TOKEN"), Sign::Variable("COPILOT_GITHUB_TOKEN")],
    tested: Tested::Recording,
};

struct Copilot {
    /// Whether this message has come in deltas already.
    streamed: bool,
}

impl Decoder for Copilot {
    fn decode(&mut self, value: &Value, events: &mut Vec<Event>) -> Known {
        let kind = text(value, &["type"]);
        match kind {
            "assistant.message_delta" => {
                self.streamed = true;
                events.push(Event::Delta(text(value, &["data", "deltaContent"]).to_owned()));
            }
            "assistant.message" => {
                if !std::mem::take(&mut self.streamed) {
                    events.push(Event::Said(text(value, &["data", "content"]).to_owned()));
                }
            }
            "tool.execution_start" => {
                let detail = at(value, &["data", "arguments"]).map(tool_detail).unwrap_or_default();
                events.push(Event::Tool(text(value, &["data", "toolName"]).to_owned(), detail));
            }
            "session.error" => {
                let status = at(value, &["data", "statusCode"]).and_then(Value::as_u64);
                events.push(judge(text(value, &["data", "message"]), status, Timestamp::now()));
            }
            "result" => {
                let session = [text(value, &["sessionId"]), text(value, &["data", "sessionId"])];
                events.extend(session.into_iter().map(|id| Event::Session(id.to_owned())));
                let code =
                    at(value, &["exitCode"]).or_else(|| at(value, &["data", "exitCode"])).and_then(Value::as_i64);
                events.push(Event::Ended(if code == Some(0) { End::Well } else { End::Badly }));
            }
            _ if kind.contains('.') && value.get("data").is_some() => {}
            _ => return Known::Foreign,
        }
        Known::Event
    }
}

/// Added over its models; its input has what was read from the cache and written to it.
fn usage(told: &Value) -> Usage {
    let models = at(told, &["modelMetrics"]).and_then(Value::as_object);
    let of = |model: &Value| {
        let [input, output, cache_read, cache_write] =
            ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"]
                .map(|field| number(model, &["usage", field]));
        let input = input.saturating_sub(cache_read).saturating_sub(cache_write);
        Usage { input, output, cache_read, cache_write, cost: None }
    };
    models.into_iter().flat_map(serde_json::Map::values).map(of).fold(Usage::default(), Usage::plus)
}
