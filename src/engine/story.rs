//! The lines that tell of a loop, for the log and for a person: which iteration, how it ended, why the loop did.

use std::io;
use std::time::Duration;

use anstyle::Style;
use jiff::Timestamp;

use super::decide::{Completion, Ending, Facts};
use crate::config::LoopSpec;
use crate::error::reason;
use crate::gates::Rejection;
use crate::gates::sources::Source;
use crate::process::{Ended, Report, Timeout};
use crate::state::{ExitReason, Iteration, State, now_text};
use crate::tasks::Tasks;
use crate::term::filter::plain;
use crate::term::human::{self, Glyphs, plural};
use crate::term::{BAD, BOLD, DIM, WARN, paint, status_style};

/// One line, as the log has it and as a terminal shows it.
pub struct Line {
    /// For the log, and wherever there is no terminal.
    pub plain: String,
    symbol: &'static str,
    style: Style,
}

impl Line {
    fn new(symbol: &'static str, style: Style, text: &str) -> Self {
        // One line: what is told of a repository could otherwise look like a word of ours.
        Self { plain: format!("wt-loop: {}", plain(text)), symbol, style }
    }

    /// For a terminal: a symbol and colour in the place of our name.
    pub fn styled(&self, glyphs: Glyphs) -> String {
        match glyphs {
            Glyphs::Ascii => self.plain.clone(),
            Glyphs::Unicode => {
                let text = self.plain.strip_prefix("wt-loop: ").unwrap_or(&self.plain);
                paint(self.style, &format!("{} {text}", self.symbol))
            }
        }
    }
}

/// An iteration begins.
pub fn begins(n: u64, spec: &LoopSpec) -> Line {
    let agent = spec.model.as_ref().map_or_else(|| spec.harness.clone(), |model| format!("{} ({model})", spec.harness));
    Line::new("▶", BOLD, &format!("iteration {n}/{} · {agent} · {}", spec.max, now_text()))
}

/// An iteration is over.
pub fn ended(iteration: &Iteration, spec: &LoopSpec, tasks: Option<&Tasks>, facts: &Facts) -> Line {
    let how = iteration.exit_reason.map_or("ended", ExitReason::word);
    let code =
        iteration.exit_code.filter(|&code| code != 0).map(|code| format!(" (exit code {code})")).unwrap_or_default();
    let took = iteration.duration().map(|span| format!(" in {}", human::duration(span))).unwrap_or_default();
    let mut parts = vec![
        format!("iteration {}/{} {how}{code}{took}", iteration.n, spec.max),
        plural(iteration.commits.len() as u64, "commit"),
        format!("{} changed", plural(iteration.files_changed, "file")),
    ];
    parts.extend(tasks.map(|tasks| format!("tasks {}/{}", tasks.done(), tasks.total())));
    if iteration.tokens_used > 0 {
        parts.push(format!("{} tokens", human::count(iteration.tokens_used)));
    }
    parts.extend(iteration.cost_usd.map(|cost| format!("${cost:.2}")));
    if iteration.promise_found && facts.completion == Completion::Unclaimed {
        parts.push("its promise does not count".into());
    } else if matches!(facts.completion, Completion::Claimed(_)) && facts.n < spec.min {
        parts.push(format!("claimed before iteration {}, forgotten", spec.min));
    }
    let style = match iteration.exit_reason {
        Some(ExitReason::Completed) => DIM,
        Some(ExitReason::Interrupted) => WARN,
        _ => BAD,
    };
    Line::new("■", style, &parts.join(" · "))
}

/// Something a person should know, and the loop goes on.
pub fn warning(what: &str) -> Line {
    Line::new("!", WARN, &format!("warning: {what}"))
}

/// A gate let the claim pass.
pub fn held(gate: &str, line: &str) -> Line {
    Line::new("✔", DIM, &format!("{gate}: {line}"))
}

/// What the project has to say about its own validation.
pub fn checks(source: &Source) -> Line {
    Line::new("·", DIM, &source.words())
}

/// A claim was not believed.
pub fn rejected(rejection: &Rejection) -> Line {
    Line::new("✘", WARN, &format!("completion rejected by the {} gate: {}", rejection.gate, rejection.summary()))
}

/// A usage limit is waited out.
pub fn waits(until: Timestamp, words: &str) -> Line {
    Line::new(
        "…",
        WARN,
        &format!(
            "waiting until {} for a usage limit: {}",
            human::local(until),
            words.lines().next().unwrap_or_default()
        ),
    )
}

/// The loop waits before it tries again.
pub fn pauses(pause: Duration) -> Line {
    Line::new("…", DIM, &format!("waiting {} before the next try", human::duration(pause)))
}

/// The loop is over.
pub fn ends(ending: &Ending, state: &State, elapsed: Duration) -> Line {
    let symbol = if ending.exit.code() == 0 { "✔" } else { "✘" };
    let iterations = plural(state.iterations.len() as u64, "iteration");
    let text = format!("{}: {} ({iterations}, {})", ending.status, ending.reason, human::duration(elapsed));
    Line::new(symbol, status_style(ending.status).bold(), &text)
}

/// What went wrong in an iteration beside the agent's own exit code.
pub fn trouble(report: &Report, log: Option<io::Error>) -> Vec<Line> {
    let ended = match &report.ended {
        Ended::NotStarted(why) => Some(format!("the agent could not be started: {why}")),
        Ended::TimedOut(Timeout::Total) => Some("the iteration took too long; the agent was ended".to_owned()),
        Ended::TimedOut(Timeout::Idle) => Some("the agent was silent for too long and was ended".to_owned()),
        Ended::Signalled(signal) => Some(format!("the agent was killed by signal {signal}")),
        Ended::GuardLost => {
            Some("the agent's guard was killed; the agent and all it had started were ended".to_owned())
        }
        Ended::Enough => Some("the budget is spent; the agent was ended".to_owned()),
        Ended::Exited(_) | Ended::Interrupted => None,
    };
    let left = report
        .survivors
        .iter()
        .map(|left| format!("{} (pid {}) could not be killed and is left running", left.name, left.pid));
    let log = log.map(|error| format!("the log could not be written: {}", reason(&error)));
    ended.into_iter().chain(left).chain(log).map(|text| Line::new("!", BAD, &text)).collect()
}
