//! The options of a loop, as they can be typed, exported or written into a file.
//!
//! One definition serves all of them: a flag `--stall-threshold 3`, the variable `WT_LOOP_STALL_THRESHOLD=3` and the line
//! `stall_threshold = 3` in a file are parsed by the same parser into the same typed value. What each means when nobody
//! says anything is in `config.rs`.

use std::fmt;
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

/// What ends a loop well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Done {
    /// Every task of tasks.md is complete or shelved
    Tasks,
    /// A person stops it, or the agent keeps a promise that was asked for
    Manual,
}

impl Done {
    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Done::Tasks => "tasks",
            Done::Manual => "manual",
        }
    }
}

/// What counts as progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Progress {
    /// A new commit
    Commits,
    /// Any change of the work tree
    Changes,
}

/// A number that may be without limit; 0 says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "u64", into = "u64")]
pub enum Limit {
    /// No limit.
    #[default]
    Unlimited,
    /// This many.
    At(u64),
}

impl Limit {
    /// The number, where there is one.
    pub const fn number(self) -> Option<u64> {
        match self {
            Limit::Unlimited => None,
            Limit::At(n) => Some(n),
        }
    }

    /// Whether `n` reaches it.
    pub fn is_reached_by(self, n: u64) -> bool {
        self.number().is_some_and(|limit| n >= limit)
    }
}

impl From<u64> for Limit {
    fn from(n: u64) -> Self {
        if n == 0 { Limit::Unlimited } else { Limit::At(n) }
    }
}

impl From<Limit> for u64 {
    fn from(limit: Limit) -> Self {
        limit.number().unwrap_or(0)
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Unlimited => f.write_str("∞"),
            Limit::At(n) => n.fmt(f),
        }
    }
}

/// A span of time that may be off; 0 says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span(pub Option<Duration>);

/// The options that every way to run a loop has.
#[derive(Args, Clone, Debug, Default, PartialEq)]
#[command(next_help_heading = "Loop options")]
pub struct LoopOptions {
    /// Which agent works, such as claude, codex or rehearsal (wt-loop man agents)
    #[arg(long, value_name = "NAME", add = crate::complete::agents())]
    pub harness: Option<String>,

    /// The model, as the agent names it
    #[arg(long, value_name = "ID", value_parser = model)]
    pub model: Option<String>,

    /// Let the agent do everything without asking, by its own flag for that
    #[arg(long, visible_aliases = ["yolo", "dangerously-allow-all"], value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true)]
    pub allow_all: Option<bool>,

    /// An argument handed to the agent as it is; repeatable
    #[arg(long, value_name = "ARG", allow_hyphen_values = true)]
    pub agent_arg: Vec<String>,

    /// End the loop after this many iterations; 0 is unlimited
    #[arg(long, visible_alias = "max-iterations", value_name = "N", value_parser = limit, allow_negative_numbers = true)]
    pub max: Option<Limit>,

    /// Believe no claim of completion before this many iterations
    #[arg(long, visible_alias = "min-iterations", value_name = "N", value_parser = clap::value_parser!(u64).range(1..), allow_negative_numbers = true)]
    pub min: Option<u64>,

    /// What ends the loop well: every task of tasks.md, or a person
    #[arg(long, value_name = "CRITERION")]
    pub done: Option<Done>,

    /// The word that the agent says in a promise tag when it is done
    #[arg(long, value_name = "TOKEN", value_parser = token)]
    pub completion_promise: Option<String>,

    /// End the loop as stalled after this many iterations in a row without progress; 0 is off
    #[arg(long, value_name = "N", value_parser = limit, allow_negative_numbers = true)]
    pub stall_threshold: Option<Limit>,

    /// What counts as progress
    #[arg(long, value_name = "KIND")]
    pub progress: Option<Progress>,

    /// How long one iteration may take: minutes, or 90s, 15m, 2h; 0 is off
    #[arg(long, value_name = "T", value_parser = minutes_or_span)]
    pub iteration_timeout: Option<Span>,

    /// How long the agent may be silent: 90s, 15m, 2h; 0 is off
    #[arg(long, visible_alias = "timeout", value_name = "T", value_parser = span)]
    pub idle_timeout: Option<Span>,

    /// End the loop as stuck after this long: 90m, 8h; 0 is off
    #[arg(long, value_name = "T", value_parser = span)]
    pub max_time: Option<Span>,

    /// End the loop as stuck when this many tokens are spent; 0 is off
    #[arg(long, value_name = "N", value_parser = limit, allow_negative_numbers = true)]
    pub budget_tokens: Option<Limit>,

    /// End the loop as stuck when this many dollars are spent, as the agent reports them
    #[arg(long, value_name = "X", value_parser = dollars, allow_negative_numbers = true)]
    pub budget_usd: Option<f64>,

    /// How long usage limits are waited out in all: 30m, 6h; 0 is without end
    #[arg(long, value_name = "T", value_parser = span)]
    pub limit_wait: Option<Span>,

    /// Go on in the agent's own session instead of a fresh one
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true)]
    pub continue_session: Option<bool>,

    /// Keep the agent's JSON lines in .claude/ralph-raw.jsonl
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true)]
    pub raw: Option<bool>,

    /// Begin a new log when the log has this size, keeping three old ones: 500k, 100M, 2G; 0 is off
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub log_max_size: Option<Limit>,

    /// End the loop when the agent fails, with exit code 1
    #[arg(long, visible_alias = "exit-on-error", value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true)]
    pub fail_fast: Option<bool>,

    /// End the loop as stuck after this many failures in a row; 0 is off
    #[arg(long, value_name = "N", value_parser = limit, allow_negative_numbers = true)]
    pub error_threshold: Option<Limit>,

    /// A command that must succeed before the work counts as done, after the project's own; repeatable
    #[arg(long, value_name = "CMD", value_parser = command_line)]
    pub validation_command: Vec<String>,

    /// Believe a claim of completion without any check
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true)]
    pub skip_validation: Option<bool>,

    /// How long one validation command may take: 90s, 15m; 0 is off
    #[arg(long, value_name = "T", value_parser = span)]
    pub validation_timeout: Option<Span>,

    /// Send the agent's output to the log only
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true)]
    pub no_stream: Option<bool>,

    /// Tell the desktop and ring the terminal's bell when the loop ends and nobody asked it to
    #[arg(long, overrides_with = "no_notify", value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true)]
    pub notify: Option<bool>,

    /// Tell nobody that the loop has ended
    #[arg(long, overrides_with = "notify")]
    pub no_notify: bool,
}

impl LoopOptions {
    /// Whether somebody is to be told of the end; the two flags are one option.
    pub fn notifies(&self) -> Option<bool> {
        if self.no_notify { Some(false) } else { self.notify }
    }

    /// These options, and where they say nothing, `lower`'s.
    #[must_use]
    pub fn or(self, lower: Self) -> Self {
        Self {
            notify: self.notifies().or(lower.notifies()),
            no_notify: false,
            harness: self.harness.or(lower.harness),
            model: self.model.or(lower.model),
            allow_all: self.allow_all.or(lower.allow_all),
            agent_arg: if self.agent_arg.is_empty() { lower.agent_arg } else { self.agent_arg },
            max: self.max.or(lower.max),
            min: self.min.or(lower.min),
            done: self.done.or(lower.done),
            completion_promise: self.completion_promise.or(lower.completion_promise),
            stall_threshold: self.stall_threshold.or(lower.stall_threshold),
            progress: self.progress.or(lower.progress),
            iteration_timeout: self.iteration_timeout.or(lower.iteration_timeout),
            idle_timeout: self.idle_timeout.or(lower.idle_timeout),
            max_time: self.max_time.or(lower.max_time),
            budget_tokens: self.budget_tokens.or(lower.budget_tokens),
            budget_usd: self.budget_usd.or(lower.budget_usd),
            limit_wait: self.limit_wait.or(lower.limit_wait),
            continue_session: self.continue_session.or(lower.continue_session),
            raw: self.raw.or(lower.raw),
            log_max_size: self.log_max_size.or(lower.log_max_size),
            fail_fast: self.fail_fast.or(lower.fail_fast),
            error_threshold: self.error_threshold.or(lower.error_threshold),
            validation_command: if self.validation_command.is_empty() {
                lower.validation_command
            } else {
                self.validation_command
            },
            skip_validation: self.skip_validation.or(lower.skip_validation),
            validation_timeout: self.validation_timeout.or(lower.validation_timeout),
            no_stream: self.no_stream.or(lower.no_stream),
        }
    }
}

/// The options of `start` alone: where the loop is put.
#[derive(Args, Clone, Debug, Default, PartialEq)]
#[command(next_help_heading = "Terminal options")]
pub struct LaunchOptions {
    /// Where the loop runs: auto, terminal, a terminal by its name, tmux, screen, systemd, background
    #[arg(long, value_name = "NAME", add = crate::complete::launchers())]
    pub launcher: Option<String>,

    /// Open the terminal in full screen
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true)]
    pub fullscreen: Option<bool>,

    /// Close the terminal when the loop ends, instead of waiting for a key
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true)]
    pub close: Option<bool>,
}

impl LaunchOptions {
    /// These options, and where they say nothing, `lower`'s.
    #[must_use]
    pub fn or(self, lower: Self) -> Self {
        Self {
            launcher: self.launcher.or(lower.launcher),
            fullscreen: self.fullscreen.or(lower.fullscreen),
            close: self.close.or(lower.close),
        }
    }
}

/// What the loop is to do.
#[derive(Args, Clone, Debug, Default, PartialEq)]
pub struct WorkOptions {
    /// The change to work on, or a unique prefix of its id
    #[arg(short, long, value_name = "ID", add = crate::complete::changes())]
    pub change: Option<String>,

    /// The module to work in; a change names its own
    #[arg(short, long, value_name = "ID")]
    pub module: Option<String>,

    /// Work on no change, just the task
    #[arg(long, conflicts_with_all = ["change", "module"])]
    pub no_change: bool,

    /// Read the task from a file, or - for standard input; a task that is typed as well comes after it
    #[arg(long, visible_alias = "file", value_name = "PATH", value_hint = clap::ValueHint::FilePath)]
    pub prompt_file: Option<String>,

    /// Words of your own beside the worktree's name, in the title and in lists
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,

    /// Print the next prompt and the exact command line; run and write nothing
    #[arg(long)]
    pub dry_run: bool,
}

fn limit(text: &str) -> Result<Limit, String> {
    text.parse::<u64>().map(Limit::from).map_err(|_| format!("'{text}' is no whole number; 0 is unlimited"))
}

/// `500k`, `100M`, `2G`, or plain bytes; 0 is unlimited.
fn size(text: &str) -> Result<Limit, String> {
    let wrong = || format!("'{text}' is no size; write it as 500k, 100M or 2G, 0 for off");
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..digits].parse().map_err(|_| wrong())?;
    let unit = match text[digits..].to_ascii_lowercase().trim_end_matches("ib").trim_end_matches('b') {
        "" => 1,
        "k" => 1 << 10,
        "m" => 1 << 20,
        "g" => 1 << 30,
        _ => return Err(wrong()),
    };
    number.checked_mul(unit).map(Limit::from).ok_or_else(wrong)
}

/// A repository may name a model, and some agents would take one that begins like an option for an option.
fn model(text: &str) -> Result<String, String> {
    if text.starts_with('-') {
        return Err(
            "the name of a model does not begin with '-'; an argument for the agent is an --agent-arg".to_owned()
        );
    }
    if text.trim().is_empty() { Err("a model needs a name".to_owned()) } else { Ok(text.to_owned()) }
}

fn token(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("a promise needs a word, such as COMPLETE".to_owned()),
        word => Ok(word.to_owned()),
    }
}

fn dollars(text: &str) -> Result<f64, String> {
    let number = text.trim_start_matches('$').parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| format!("'{text}' is no sum of dollars; write it as 5 or 2.50"))
}

/// A command for the shell, which would pass if it were empty.
pub fn command_line(text: &str) -> Result<String, String> {
    if text.trim().is_empty() { Err("a validation command cannot be empty".to_owned()) } else { Ok(text.to_owned()) }
}

fn minutes_or_span(text: &str) -> Result<Span, String> {
    match text.parse::<u64>() {
        Ok(minutes) => span(&format!("{minutes}m")),
        Err(_) => span(text),
    }
}

/// `90s`, `15m`, `2h`, `1h30m`; 0 is off.
pub fn span(text: &str) -> Result<Span, String> {
    let wrong = || format!("'{text}' is no duration; write it as 90s, 15m or 2h, 0 for off");
    let mut total = Duration::ZERO;
    let mut rest = text.trim();
    if rest == "0" {
        return Ok(Span(None));
    }
    if rest.is_empty() {
        return Err(wrong());
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
        let number: u64 = rest[..digits].parse().map_err(|_| wrong())?;
        let unit_end = rest[digits..].find(|c: char| c.is_ascii_digit()).map_or(rest.len(), |at| at + digits);
        let seconds = match &rest[digits..unit_end] {
            "s" => 1,
            "m" => 60,
            "h" => 3600,
            "d" => 86_400,
            _ => return Err(wrong()),
        };
        let part = number.checked_mul(seconds).ok_or_else(wrong)?;
        total = total.checked_add(Duration::from_secs(part)).ok_or_else(wrong)?;
        rest = &rest[unit_end..];
    }
    // A hundred years are as good as no limit, and clocks can still count them.
    let longest = Duration::from_secs(100 * 365 * 86_400);
    if total > longest {
        return Err(wrong());
    }
    Ok(Span((!total.is_zero()).then_some(total)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_need_a_unit_except_where_minutes_are_meant() {
        let seconds = |text| span(text).map(|span| span.0.map(|span| span.as_secs()));
        for (text, expected) in [
            ("90s", Some(90)),
            ("15m", Some(900)),
            ("2h", Some(7200)),
            ("1h30m", Some(5400)),
            ("0", None),
            ("0s", None),
        ] {
            assert_eq!(seconds(text), Ok(expected), "{text}");
        }
        for text in ["", "5", "m", "5x", "-5m", "1.5h", "99999999999999999999h", "999999999999999999h"] {
            assert!(span(text).is_err(), "{text}");
        }
        assert_eq!(minutes_or_span("45").unwrap().0, Some(Duration::from_secs(2700)));
        assert_eq!(minutes_or_span("90s").unwrap().0, Some(Duration::from_secs(90)));
        assert_eq!(minutes_or_span("0").unwrap().0, None);
    }

    #[test]
    fn zero_is_unlimited() {
        assert_eq!(limit("0"), Ok(Limit::Unlimited));
        assert!(Limit::At(3).is_reached_by(3) && !Limit::At(3).is_reached_by(2) && !Limit::Unlimited.is_reached_by(9));
        assert!(limit("-1").is_err() && limit("ten").is_err());
    }

    #[test]
    fn sizes_have_units() {
        for (text, bytes) in [("10", 10), ("500k", 500 << 10), ("100M", 100 << 20), ("2GB", 2 << 30), ("1MiB", 1 << 20)]
        {
            assert_eq!(size(text), Ok(Limit::At(bytes)), "{text}");
        }
        assert_eq!(size("0"), Ok(Limit::Unlimited));
        for text in ["", "M", "-1", "1.5M", "5x", "99999999999999G"] {
            assert!(size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_was_said_first_wins() {
        let high = LoopOptions { max: Some(Limit::At(3)), ..LoopOptions::default() };
        let low = LoopOptions { max: Some(Limit::At(9)), min: Some(2), ..LoopOptions::default() };
        let both = high.or(low);
        assert_eq!((both.max, both.min), (Some(Limit::At(3)), Some(2)));
    }
}
