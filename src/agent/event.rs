//! What an agent's machine-readable output comes to, whichever agent it is.
//!
//! A [`Decoder`] turns one JSON value of the agent's output into events. It never trusts: a field that is missing or of another
//! type is as if nothing had been said, and an event that it does not know goes to the log alone.

use jiff::Timestamp;
use serde_json::Value;

/// One thing that an agent's output says.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A whole piece of what the agent says.
    Said(String),
    /// A part of it, joined to the part before.
    Delta(String),
    /// The agent uses a tool: its name and what for.
    Tool(String, String),
    /// Something that the user may want to know while waiting.
    Note(String),
    /// Tokens and cost since the last such event.
    Used(Usage),
    /// Tokens and cost of the whole run so far: it replaces what was counted.
    UsedInAll(Usage),
    /// The agent's own name for its session.
    Session(String),
    /// A usage or rate limit was reached.
    Limit(Limit),
    /// The agent was not allowed to use these tools.
    Denied(String),
    /// The agent's own error.
    Failed(Failure),
    /// The run is over, as the agent sees it.
    Ended(End),
}

/// Tokens and cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// Fresh input.
    pub input: u64,
    /// Output, reasoning included.
    pub output: u64,
    /// Read from the cache: shown, not counted.
    pub cache_read: u64,
    /// Written to it.
    pub cache_write: u64,
    /// Dollars, where the agent says.
    pub cost: Option<f64>,
}

impl Usage {
    /// What counts against a budget.
    pub fn counted(&self) -> u64 {
        self.input.saturating_add(self.output).saturating_add(self.cache_write)
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write: self.cache_write.saturating_add(other.cache_write),
            cost: match (self.cost, other.cost) {
                (None, None) => None,
                (a, b) => Some(a.unwrap_or(0.0) + b.unwrap_or(0.0)),
            },
        }
    }
}

/// A limit that was reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The agent's own words.
    pub words: String,
    /// When it is over, where the agent says.
    pub until: Option<Timestamp>,
}

/// An error of the agent's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The agent's own words.
    pub words: String,
    /// Whether another try could mend it.
    pub remedy: Remedy,
    /// The mark under which the agent's log, on its standard error, tells more.
    pub in_log: Option<String>,
}

/// What could mend a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Another try.
    Retry,
    /// Nothing but the user, in this way.
    User(&'static str),
}

/// How a run ended, as the agent sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Well.
    Well,
    /// Not well.
    Badly,
}

/// Whether a value is an event of the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// It is, understood or not.
    Event,
    /// It is something else: text that happens to be JSON.
    Foreign,
}

/// Understands one agent's output, a JSON value at a time.
pub trait Decoder {
    /// Adds what `value` says to `events`.
    fn decode(&mut self, value: &Value, events: &mut Vec<Event>) -> Known;
}

/// A whole number at a path of keys; 0 where there is none.
pub fn number(value: &Value, path: &[&str]) -> u64 {
    at(value, path).and_then(Value::as_u64).unwrap_or(0)
}

/// A text at a path of keys; empty where there is none.
pub fn text<'a>(value: &'a Value, path: &[&str]) -> &'a str {
    at(value, path).and_then(Value::as_str).unwrap_or_default()
}

/// A value at a path of keys.
pub fn at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(value, |at, key| at.get(key))
}

/// The elements of a list at a path; none where there is no list.
pub fn list<'a>(value: &'a Value, path: &[&str]) -> &'a [Value] {
    at(value, path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// What a tool was called with, in one line: its command, its file, or the first text among its arguments.
pub fn tool_detail(input: &Value) -> String {
    const TELLING: [&str; 8] = ["command", "cmd", "file_path", "filePath", "path", "pattern", "query", "url"];
    let telling = TELLING.iter().find_map(|key| input.get(key).and_then(Value::as_str));
    let any = || input.as_object().and_then(|all| all.values().find_map(Value::as_str));
    let text = input.as_str().or(telling).or_else(any).unwrap_or_default();
    text.lines().next().unwrap_or_default().chars().take(200).collect()
}
