//! `.claude/loop-state.json`: the state of a loop, in the format that other programs read.
//!
//! The file is a superset of what the shell tool of the same name wrote. It is read without loss: fields that this version
//! does not know survive a rewrite, missing ones get their defaults, and times are kept as the text they are. It is
//! written whole, one field and one iteration to a line, so that it can be read by eye and by `jq` alike. `status` is
//! one of six words and nothing else; detail is in `status_reason`.

mod history;

use std::fmt;
use std::io::{self, Write};
use std::path::Path;

use jiff::{Timestamp, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::files;
use crate::gates::Rejection;

pub use history::History;

/// The version of the format that this program writes.
pub const SCHEMA_VERSION: u64 = 1;

/// Where a loop stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Prepared; its terminal is being opened.
    Starting,
    /// An agent works, or is about to.
    Running,
    /// The completion was accepted.
    Done,
    /// A limit was reached without it.
    Stuck,
    /// No progress.
    Stalled,
    /// Ended by a person, a signal or a crash.
    #[default]
    Stopped,
}

impl Status {
    /// Whether the loop is over.
    pub const fn is_over(self) -> bool {
        !matches!(self, Status::Starting | Status::Running)
    }

    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Status::Starting => "starting",
            Status::Running => "running",
            Status::Done => "done",
            Status::Stuck => "stuck",
            Status::Stalled => "stalled",
            Status::Stopped => "stopped",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// How an iteration ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExitReason {
    /// The agent ended well.
    Completed,
    /// The agent failed.
    Failed,
    /// A deadline passed.
    TimedOut,
    /// A person or a signal ended it.
    Interrupted,
    /// The agent could not be started.
    NotStarted,
}

impl ExitReason {
    /// Whether it counts as a failure.
    pub const fn is_failure(self) -> bool {
        matches!(self, ExitReason::Failed | ExitReason::TimedOut | ExitReason::NotStarted)
    }

    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            ExitReason::Completed => "completed",
            ExitReason::Failed => "failed",
            ExitReason::TimedOut => "timed out",
            ExitReason::Interrupted => "interrupted",
            ExitReason::NotStarted => "not started",
        }
    }
}

/// A process that outlived its iteration because it could not be killed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftRunning {
    /// Its pid.
    pub pid: i32,
    /// Its name.
    pub name: String,
}

/// One iteration of the history.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Iteration {
    /// Its number, from 1.
    pub n: u64,
    /// When it began, ISO 8601.
    #[serde(deserialize_with = "or_default")]
    pub started: String,
    /// When its agent ended, ISO 8601.
    #[serde(deserialize_with = "or_default")]
    pub ended: String,
    /// The agent's exit code, 128 and the signal's number, or null where there is none.
    pub exit_code: Option<i32>,
    /// How it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_reason: Option<ExitReason>,
    /// Whether its claim of completion was accepted.
    #[serde(deserialize_with = "or_default")]
    pub done_check: bool,
    /// Whether the agent said the promise.
    #[serde(deserialize_with = "or_default")]
    pub promise_found: bool,
    /// Full hashes of the commits made, oldest first.
    #[serde(deserialize_with = "or_default")]
    pub commits: Vec<String>,
    /// How many files it changed, committed or not.
    #[serde(deserialize_with = "or_default")]
    pub files_changed: u64,
    /// Tokens that count against a budget: fresh input, cache writes and output.
    #[serde(deserialize_with = "or_default")]
    pub tokens_used: u64,
    /// Fresh input tokens.
    #[serde(deserialize_with = "or_default")]
    pub input_tokens: u64,
    /// Output tokens, reasoning included.
    #[serde(deserialize_with = "or_default")]
    pub output_tokens: u64,
    /// Tokens read from the agent's cache; shown, not counted.
    #[serde(deserialize_with = "or_default")]
    pub cache_read_tokens: u64,
    /// Tokens written to it.
    #[serde(deserialize_with = "or_default")]
    pub cache_write_tokens: u64,
    /// What it cost, or null where the agent does not say.
    pub cost_usd: Option<f64>,
    /// How often it was tried; more than once where a usage limit was waited out.
    #[serde(default = "one")]
    pub attempts: u64,
    /// The agent's own name for its session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Why its claim was not believed, where it made one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation: Option<Rejection>,
    /// Only where true: a deadline ended it.
    #[serde(skip_serializing_if = "is_false", deserialize_with = "or_default")]
    pub timed_out: bool,
    /// What could not be killed when it ended.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "or_default")]
    pub left_running: Vec<LeftRunning>,
    /// What other versions and tools wrote.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl Iteration {
    /// How long it took, where both times can be read.
    pub fn duration(&self) -> Option<std::time::Duration> {
        let span = moment(&self.ended)?.duration_since(moment(&self.started)?);
        std::time::Duration::try_from(span).ok()
    }
}

/// The state of one loop.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct State {
    /// The version of this format; missing in files of the shell tool.
    #[serde(deserialize_with = "or_default")]
    pub schema_version: u64,
    /// Ties the state to the user's launch record.
    #[serde(deserialize_with = "or_default")]
    pub loop_id: String,
    /// The base name of the worktree's directory.
    #[serde(deserialize_with = "or_default")]
    pub worktree_name: String,
    /// The change worked on, or null.
    pub change_id: Option<String>,
    /// The module of the change, or null.
    pub module_id: Option<String>,
    /// The user's label, or null.
    pub label: Option<String>,
    /// The task.
    #[serde(deserialize_with = "or_default")]
    pub task: String,
    /// Where the loop stands.
    #[serde(deserialize_with = "or_default")]
    pub status: Status,
    /// Why, in words.
    pub status_reason: Option<String>,
    /// What the loop process exited with, once it is over.
    pub exit_code: Option<i32>,
    /// The iteration that runs or ran last, from 1; 0 before the first.
    #[serde(deserialize_with = "or_default")]
    pub current_iteration: u64,
    /// The configured maximum; 0 is unlimited.
    #[serde(default = "max_of_start", deserialize_with = "or_default")]
    pub max_iterations: u64,
    /// Before this many iterations no claim of completion counts.
    #[serde(default = "one")]
    pub min_iterations: u64,
    /// `tasks` or `manual`.
    #[serde(deserialize_with = "or_default")]
    pub done_criteria: String,
    /// The promise that counts, or null where none does.
    pub completion_promise: Option<String>,
    /// Iterations in a row without progress that end the loop; 0 is off.
    #[serde(default = "stall_of_start", deserialize_with = "or_default")]
    pub stall_threshold: u64,
    /// Minutes an iteration may take; 0 is off.
    #[serde(default = "minutes_of_start", deserialize_with = "or_default", serialize_with = "whole_where_it_is")]
    pub iteration_timeout_min: f64,
    /// The agent.
    #[serde(deserialize_with = "or_default")]
    pub harness: String,
    /// Its model, or null for the agent's own choice.
    pub model: Option<String>,
    /// When the loop began, ISO 8601.
    #[serde(deserialize_with = "or_default")]
    pub started_at: String,
    /// When this file was written, ISO 8601.
    #[serde(deserialize_with = "or_default")]
    pub updated_at: String,
    /// When the loop ended, or null.
    pub ended_at: Option<String>,
    /// Tokens over all iterations.
    #[serde(deserialize_with = "or_default")]
    pub total_tokens: u64,
    /// Cost over all iterations, where the agent reports one.
    #[serde(deserialize_with = "or_default")]
    pub total_cost_usd: f64,
    /// Until when a usage limit is waited out, or null.
    pub waiting_until: Option<String>,
    /// The usage limits that were waited out.
    #[serde(deserialize_with = "or_default")]
    pub waits: Vec<Value>,
    /// The pid of the loop process, or null.
    pub terminal_pid: Option<i32>,
    /// The machine.
    #[serde(deserialize_with = "or_default")]
    pub host: String,
    /// The history. Last in the file, because it grows.
    #[serde(deserialize_with = "or_default")]
    pub iterations: History,
    /// What other versions and tools wrote.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// What was found where the state should be.
#[derive(Debug)]
pub enum Found {
    /// No file.
    Nothing,
    /// A state.
    State(Box<State>),
    /// A file that is no state, and why.
    Broken(String),
}

impl State {
    /// Reads the state at `path`, writing nothing.
    pub fn load(path: &Path) -> io::Result<Found> {
        Ok(match files::read(path)? {
            None => Found::Nothing,
            Some(bytes) => match serde_json::from_slice(&bytes) {
                Ok(state) => Found::State(Box::new(state)),
                Err(error) => Found::Broken(error.to_string()),
            },
        })
    }

    /// Replaces the file at `path` by this state.
    pub fn save(&mut self, path: &Path) -> io::Result<()> {
        self.updated_at = now_text();
        files::replace_by(path, |file| self.write(file))
    }

    /// The file's content.
    pub fn to_bytes(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.write(&mut bytes)?;
        Ok(bytes)
    }

    /// Writes the file's content: every field a line, every iteration a line.
    fn write(&mut self, to: &mut impl Write) -> io::Result<()> {
        // The history is what grows: it is never copied.
        let history = std::mem::take(&mut self.iterations);
        let head = serde_json::to_value(&*self);
        self.iterations = history;
        let Value::Object(fields) = head? else { return Err(io::ErrorKind::InvalidData.into()) };
        let mut out = b"{\n".to_vec();
        for (name, value) in fields.iter().filter(|(name, _)| *name != "iterations") {
            out.extend_from_slice(b"  ");
            serde_json::to_writer(&mut out, name)?;
            out.extend_from_slice(b": ");
            serde_json::to_writer(&mut out, value)?;
            out.extend_from_slice(b",\n");
        }
        out.extend_from_slice(b"  \"iterations\": [");
        let [settled, last] = self.iterations.text()?;
        let end: &[u8] = if last.is_empty() { b"]\n}\n" } else { b"\n  ]\n}\n" };
        to.write_all(&out)?;
        to.write_all(settled)?;
        to.write_all(&[last, end].concat())
    }

    /// The number of the last iteration that was recorded.
    pub fn last_recorded(&self) -> u64 {
        self.iterations.iter().map(|iteration| iteration.n).max().unwrap_or(0)
    }
}

/// A time that a file has, where it can be read as one.
pub fn moment(text: &str) -> Option<Timestamp> {
    text.parse().ok()
}

/// Now, as the files have it: UTC, milliseconds.
pub fn now_text() -> String {
    let now = Timestamp::now();
    format!("{:.3}", now.round(Unit::Millisecond).unwrap_or(now))
}

/// Other writers put null where this format has a value.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(from: D) -> Result<T, D::Error> {
    Option::deserialize(from).map(Option::unwrap_or_default)
}

/// Shell scripts compare whole numbers: 45, not 45.0.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn whole_where_it_is<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be whole and small")]
    if value.fract() == 0.0 && (0.0..1e15).contains(value) {
        to.serialize_u64(*value as u64)
    } else {
        to.serialize_f64(*value)
    }
}

/// Where a file says nothing of a limit, it is the one that `start` would set.
fn max_of_start() -> u64 {
    crate::config::START.max.into()
}

fn stall_of_start() -> u64 {
    crate::config::START.stall_threshold.into()
}

fn minutes_of_start() -> f64 {
    crate::config::START.iteration_timeout.map_or(0.0, |span| span.as_secs_f64() / 60.0)
}

const fn one() -> u64 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The name of a field, known or not.
    fn field() -> impl Strategy<Value = String> {
        prop::sample::select(vec![
            "n",
            "started",
            "ended",
            "exit_code",
            "exit_reason",
            "commits",
            "tokens_used",
            "cost_usd",
            "validation",
            "status",
            "task",
            "change_id",
            "max_iterations",
            "iteration_timeout_min",
            "waits",
            "total_cost_usd",
            "other",
        ])
        .prop_map(str::to_owned)
    }

    /// What could stand in one, in JSON.
    fn value() -> impl Strategy<Value = String> {
        prop_oneof![
            any::<f64>().prop_filter("JSON has finite numbers", |n| n.is_finite()).prop_map(|n| n.to_string()),
            any::<i64>().prop_map(|n| n.to_string()),
            any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap()),
            prop::sample::select(vec![
                "null",
                "true",
                "[]",
                "[\"a\"]",
                "{}",
                "\"running\"",
                "\"timed_out\"",
                "\"2026-01-02T03:04:05Z\"",
                "1e400",
                "{\"gate\": \"\\u001b[31m\", \"reason\": \"\\u202e\"}",
            ])
            .prop_map(str::to_owned),
        ]
    }

    fn read(text: &str) -> State {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn what_others_wrote_survives_a_rewrite() {
        let text = r#"{"worktree_name":"w","status":"running","terminal_pid":null,"total_tokens":null,
            "token_budget":{"deep":[1,2]},"iterations":[{"n":1,"started":"2026-01-02T03:04:05+01:00","resumed":true}]}"#;
        let mut state = read(text);
        assert_eq!((state.status, state.total_tokens, state.min_iterations), (Status::Running, 0, 1));
        assert_eq!((state.max_iterations, state.stall_threshold), (10, 2), "what is missing is what start would set");
        let again = read(std::str::from_utf8(&state.to_bytes().unwrap()).unwrap());
        assert_eq!(again, state);
        assert_eq!(again.other["token_budget"]["deep"][1], 2);
        assert_eq!(again.iterations[0].other["resumed"], true);
        assert_eq!(again.iterations[0].started, "2026-01-02T03:04:05+01:00");
    }

    #[test]
    fn a_file_is_read_by_eye_too() {
        let mut state = State { task: "do \"it\"".into(), ..State::default() };
        state.iterations = (1..=2).map(|n| Iteration { n, ..Iteration::default() }).collect();
        let text = String::from_utf8(state.to_bytes().unwrap()).unwrap();
        assert!(text.contains("\n  \"task\": \"do \\\"it\\\"\",\n"), "{text}");
        assert_eq!(text.lines().filter(|line| line.starts_with("    {\"n\":")).count(), 2);
        assert!(!text.contains("timed_out"), "only when true");
    }

    #[test]
    fn times_are_utc_with_milliseconds() {
        let text = now_text();
        assert!(
            moment(&text).is_some() && text.ends_with('Z') && text.len() == "2026-11-16T02:30:07.123Z".len(),
            "{text}"
        );
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_state_or_broken_and_never_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            crate::fuzzing::state(&bytes);
        }

        #[test]
        fn whatever_stands_in_a_field_is_kept_and_shown_safely(
            fields in proptest::collection::vec((field(), value()), 0..6), iteration in proptest::collection::vec((field(), value()), 0..6),
        ) {
            let object = |fields: Vec<(String, String)>| {
                let lines: Vec<String> = fields.iter().map(|(name, value)| format!("{name:?}: {value}")).collect();
                lines.join(", ")
            };
            let (fields, iteration) = (object(fields), object(iteration));
            let gap = if fields.is_empty() { "" } else { ", " };
            crate::fuzzing::state(format!("{{{fields}{gap}\"iterations\": [{{{iteration}}}]}}").as_bytes());
        }

        #[test]
        fn a_state_reads_back_as_it_was_written(
            task in ".*", n in 0_u64..1_000_000, reason in proptest::option::of(".*"), hashes in proptest::collection::vec("[0-9a-f]{40}", 0..4),
        ) {
            let mut state = State { task, current_iteration: n, status_reason: reason, ..State::default() };
            state.iterations.push(Iteration { n, commits: hashes, ..Iteration::default() });
            let bytes = state.to_bytes().unwrap();
            prop_assert_eq!(serde_json::from_slice::<State>(&bytes).unwrap(), state);
        }
    }
}
