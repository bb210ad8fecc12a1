//! What follows an iteration: a pure function of facts, so that it can be read and tested as a table.
//!
//! When several ends meet, the first of these wins: a person's stop (no gates run), an accepted completion, fail-fast, a failure
//! that no retry mends, budget or time, error threshold, stall, max.

use std::time::Duration;

use crate::config::{LoopSpec, OnFailure};
use crate::error::Exit;
use crate::options::Limit;
use crate::state::{ExitReason, Status};
use crate::term::human::{self, plural};

/// The first pause between two failures.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// How a completion was claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Every task is closed.
    Tasks,
    /// The agent said the promise.
    Promise,
}

/// What became of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// None was made.
    Unclaimed,
    /// One was made; the gates have not been asked.
    Claimed(Claim),
    /// The gates passed.
    Accepted(Claim),
    /// A gate failed.
    Rejected,
}

/// Who asked the loop to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// `wt-loop stop`.
    Command,
    /// A signal of this name.
    Signal(&'static str),
}

/// What is known after an iteration.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// Its number.
    pub n: u64,
    /// How it ended.
    pub ended: ExitReason,
    /// Whether somebody asked the loop to end.
    pub stop: Option<Stop>,
    /// What became of its claim.
    pub completion: Completion,
    /// Failures in a row, this one included.
    pub failures: u64,
    /// Iterations in a row without progress, this one included.
    pub idle: u64,
    /// How long the loop has run.
    pub elapsed: Duration,
    /// A failure that no retry mends, in words.
    pub unmendable: Option<&'a str>,
    /// What the loop has spent: tokens and dollars.
    pub spent: (u64, f64),
}

impl Facts<'_> {
    /// An iteration of which nothing more is known.
    pub const fn plain(n: u64, ended: ExitReason) -> Self {
        Self {
            n,
            ended,
            stop: None,
            completion: Completion::Unclaimed,
            failures: 0,
            idle: 0,
            elapsed: Duration::ZERO,
            unmendable: None,
            spent: (0, 0.0),
        }
    }
}

/// What follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// The next iteration, after a pause.
    GoOn {
        /// How long to wait first.
        pause: Duration,
    },
    /// The end.
    End(Ending),
}

/// How a loop ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// The status it ends with.
    pub status: Status,
    /// The exit code.
    pub exit: Exit,
    /// Why, in words.
    pub reason: String,
}

/// The claim that the gates are to be asked about before anything is decided.
pub fn to_check(facts: &Facts, spec: &LoopSpec) -> Option<Claim> {
    match facts.completion {
        Completion::Claimed(claim) if facts.stop.is_none() && facts.n >= spec.min => Some(claim),
        _ => None,
    }
}

/// Decides what follows.
pub fn decide(facts: &Facts, spec: &LoopSpec) -> Next {
    let judged = facts.n >= spec.min;
    if let Some(stop) = facts.stop {
        return Next::End(stopped(stop));
    }
    if let Completion::Accepted(claim) = facts.completion {
        return end(Status::Done, Exit::Done, accepted(claim));
    }
    if facts.ended.is_failure() && spec.on_failure == OnFailure::End {
        return end(
            Status::Stuck,
            Exit::Error,
            format!("iteration {} {}, and --fail-fast is on", facts.n, facts.ended.word()),
        );
    }
    if let Some(why) = facts.unmendable {
        return end(Status::Stuck, Exit::Stuck, why.to_owned());
    }
    if let Some(why) = overspent(facts.spent, spec) {
        return end(Status::Stuck, Exit::Stuck, why);
    }
    if let Some(limit) = spec.max_time.filter(|limit| facts.elapsed >= *limit) {
        return end(Status::Stuck, Exit::Stuck, format!("the time limit of {} is reached", human::duration(limit)));
    }
    if spec.error_threshold.is_reached_by(facts.failures) {
        return end(Status::Stuck, Exit::Stuck, format!("{} in a row", plural(facts.failures, "failure")));
    }
    if judged && spec.stall_threshold.is_reached_by(facts.idle) {
        return end(
            Status::Stalled,
            Exit::Stalled,
            format!("{} in a row without progress", plural(facts.idle, "iteration")),
        );
    }
    if let Limit::At(max) = spec.max
        && facts.n >= max
    {
        return end(Status::Stuck, Exit::Stuck, format!("{} without completion", plural(max, "iteration")));
    }
    Next::GoOn { pause: pause(facts.failures) }
}

fn end(status: Status, exit: Exit, reason: String) -> Next {
    Next::End(Ending { status, exit, reason })
}

/// Which budget is spent, if one is.
fn overspent((tokens, usd): (u64, f64), spec: &LoopSpec) -> Option<String> {
    if spec.budget_tokens.is_reached_by(tokens) {
        return Some(format!("the budget of {} tokens is spent", spec.budget_tokens));
    }
    spec.budget_usd.filter(|most| usd >= *most).map(|most| format!("the budget of ${most} is spent"))
}

/// The ending that a person or a signal asked for.
pub fn stopped(stop: Stop) -> Ending {
    let (exit, reason) = match stop {
        Stop::Command => (Exit::Stopped, "ended by wt-loop stop".to_owned()),
        Stop::Signal(name) => (Exit::Interrupted, format!("interrupted by {name}")),
    };
    Ending { status: Status::Stopped, exit, reason }
}

fn accepted(claim: Claim) -> String {
    match claim {
        Claim::Tasks => "every task is complete or shelved".to_owned(),
        Claim::Promise => "the agent's promise was accepted".to_owned(),
    }
}

/// One failure may be bad luck; from the second in a row on the loop waits, twice as long each time.
fn pause(failures: u64) -> Duration {
    match failures {
        0 | 1 => Duration::ZERO,
        n => FIRST_PAUSE
            .saturating_mul(2_u32.saturating_pow(u32::try_from(n - 2).unwrap_or(u32::MAX)))
            .min(LONGEST_PAUSE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, START, TasksFile, Work};
    use crate::options::LoopOptions;

    fn spec(options: LoopOptions) -> LoopSpec {
        let work = Work {
            task: "t".into(),
            change_id: None,
            module_id: None,
            layout: &crate::layout::PLAIN,
            label: None,
            project_validation: None,
        };
        Config { options, ..Config::default() }.resolve(work, TasksFile::Missing, &START).unwrap()
    }

    fn facts(n: u64) -> Facts<'static> {
        Facts::plain(n, ExitReason::Completed)
    }

    fn outcome(facts: &Facts, options: LoopOptions) -> (Option<Status>, Option<u8>) {
        match decide(facts, &spec(options)) {
            Next::End(ending) => (Some(ending.status), Some(ending.exit.code())),
            Next::GoOn { .. } => (None, None),
        }
    }

    #[test]
    fn what_follows_an_iteration() {
        let failed = Facts { ended: ExitReason::Failed, failures: 1, ..facts(3) };
        let fail_fast = || LoopOptions { fail_fast: Some(true), ..LoopOptions::default() };
        let hour = || LoopOptions {
            max_time: Some(crate::options::Span(Some(Duration::from_secs(3600)))),
            ..LoopOptions::default()
        };
        let plain = LoopOptions::default;
        let tasks = Claim::Tasks;
        let end = |status, code| (Some(status), Some(code));
        let table = [
            ("an ordinary one goes on", facts(3), plain(), (None, None)),
            ("a stop ends it", Facts { stop: Some(Stop::Command), ..facts(3) }, plain(), end(Status::Stopped, 5)),
            (
                "a signal ends it",
                Facts { stop: Some(Stop::Signal("Ctrl-C")), ..facts(3) },
                plain(),
                end(Status::Stopped, 130),
            ),
            (
                "a stop beats a claim: no gates run",
                Facts { stop: Some(Stop::Command), completion: Completion::Claimed(tasks), ..facts(3) },
                plain(),
                end(Status::Stopped, 5),
            ),
            ("done", Facts { completion: Completion::Accepted(tasks), ..facts(3) }, plain(), end(Status::Done, 0)),
            (
                "done on the last one is done",
                Facts { completion: Completion::Accepted(tasks), ..facts(10) },
                plain(),
                end(Status::Done, 0),
            ),
            (
                "done beats fail-fast",
                Facts { completion: Completion::Accepted(tasks), ..failed },
                fail_fast(),
                end(Status::Done, 0),
            ),
            ("a rejected claim goes on", Facts { completion: Completion::Rejected, ..facts(3) }, plain(), (None, None)),
            (
                "a rejected claim on the last one is stuck",
                Facts { completion: Completion::Rejected, ..facts(10) },
                plain(),
                end(Status::Stuck, 3),
            ),
            ("a failure goes on", failed, plain(), (None, None)),
            ("fail-fast", failed, fail_fast(), end(Status::Stuck, 1)),
            (
                "fail-fast beats time",
                Facts { elapsed: Duration::from_secs(7200), ..failed },
                fail_fast(),
                end(Status::Stuck, 1),
            ),
            (
                "a failure that no retry mends",
                Facts { unmendable: Some("log in"), ..failed },
                plain(),
                end(Status::Stuck, 3),
            ),
            ("fail-fast beats it", Facts { unmendable: Some("log in"), ..failed }, fail_fast(), end(Status::Stuck, 1)),
            (
                "budget of tokens",
                Facts { spent: (100, 0.0), ..facts(3) },
                LoopOptions { budget_tokens: Some(Limit::At(100)), ..plain() },
                end(Status::Stuck, 3),
            ),
            (
                "budget of dollars",
                Facts { spent: (0, 2.5), ..facts(3) },
                LoopOptions { budget_usd: Some(2.5), ..plain() },
                end(Status::Stuck, 3),
            ),
            ("time", Facts { elapsed: Duration::from_secs(3600), ..facts(3) }, hour(), end(Status::Stuck, 3)),
            ("error threshold", Facts { failures: 10, ..failed }, plain(), end(Status::Stuck, 3)),
            ("error threshold beats stall", Facts { failures: 10, idle: 10, ..failed }, plain(), end(Status::Stuck, 3)),
            ("stall", Facts { idle: 2, ..facts(3) }, plain(), end(Status::Stalled, 4)),
            ("stall beats max", Facts { idle: 2, ..facts(10) }, plain(), end(Status::Stalled, 4)),
            ("max", facts(10), plain(), end(Status::Stuck, 3)),
            ("unlimited", facts(10_000), LoopOptions { max: Some(Limit::Unlimited), ..plain() }, (None, None)),
            (
                "no stall is judged before min",
                Facts { idle: 2, ..facts(2) },
                LoopOptions { min: Some(3), ..plain() },
                (None, None),
            ),
        ];
        for (name, facts, options, expected) in table {
            assert_eq!(outcome(&facts, options), expected, "{name}");
        }
    }

    #[test]
    fn a_claim_is_checked_from_min_on_and_forgotten_before() {
        let min3 = spec(LoopOptions { min: Some(3), ..LoopOptions::default() });
        let claimed = |n| Facts { completion: Completion::Claimed(Claim::Promise), ..facts(n) };
        assert_eq!(to_check(&claimed(2), &min3), None);
        assert_eq!(decide(&claimed(2), &min3), Next::GoOn { pause: Duration::ZERO });
        assert_eq!(to_check(&claimed(3), &min3), Some(Claim::Promise));
        assert_eq!(to_check(&Facts { stop: Some(Stop::Command), ..claimed(3) }, &min3), None, "a stop runs no gates");
    }

    #[test]
    fn pauses_grow_from_the_second_failure_to_a_minute() {
        let seconds: Vec<u64> = (0..10).map(|failures| pause(failures).as_secs()).collect();
        assert_eq!(seconds, [0, 0, 1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(pause(u64::MAX), LONGEST_PAUSE);
    }
}
