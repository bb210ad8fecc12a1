//! One iteration's work: the agent gets its prompt, and is tried again after every usage limit that was waited out.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use super::watch::{Budget, Tail, Watch};
use super::{Engine, story};
use crate::agent::event::{End, Event, Failure, Limit, Remedy, Usage};
use crate::agent::reader::{Reader, Reading, denied};
use crate::agent::{Cumulative, Invocation, PrivateFiles, judge_log, judge_stderr};
use crate::error::{Doing, Error, Result, reason};
use crate::files;
use crate::process::{Deadlines, Ended, Errand, Program, Report, supervise};
use crate::promise::{Promise, Scanner};
use crate::state::{ExitReason, now_text};
use crate::term::human;
use crate::term::stage::Live;
use crate::worktree::Changes;

/// What the system takes as one argument.
const LONGEST_ARGUMENT: usize = 128 * 1024;

/// What an agent did in one iteration, over all its tries.
pub struct Work {
    /// When the first try began.
    pub started: String,
    /// When the last one ended.
    pub ended: String,
    /// How the last one ended.
    pub report: Report,
    /// What the agent said in the last one; its usage is that of all.
    pub reading: Reading,
    /// The end of what it printed.
    pub tail: Tail,
    /// How often it was tried.
    pub attempts: u64,
    /// Why no further try was made, where a limit is in the way.
    pub given_up: Option<String>,
}

impl Work {
    /// How it ended: the agent's own end event and its exit code together.
    pub fn exit_reason(&self) -> ExitReason {
        match &self.report.ended {
            Ended::Exited(0) if self.reading.ended_well() => ExitReason::Completed,
            Ended::Exited(_) | Ended::Signalled(_) | Ended::GuardLost => ExitReason::Failed,
            Ended::TimedOut(_) => ExitReason::TimedOut,
            Ended::Interrupted | Ended::Enough => ExitReason::Interrupted,
            Ended::NotStarted(_) => ExitReason::NotStarted,
        }
    }

    /// What no retry mends, in the agent's own words, with the way out. A denied permission is such a thing where the iteration
    /// brought nothing else.
    pub fn unmendable(&self, changes: Option<&Changes>) -> Option<String> {
        let fruitless = changes.is_none_or(|changes| changes.commits.is_empty() && changes.files == 0);
        if let Some(tools) = self.reading.denied.as_ref().filter(|_| fruitless) {
            return Some(denied(tools));
        }
        if let Some(why) = &self.given_up {
            return Some(why.clone());
        }
        let failed = self.exit_reason() == ExitReason::Failed;
        match self.reading.failure.as_ref().filter(|_| failed)? {
            Failure { words, remedy: Remedy::User(way_out), .. } => Some(format!("{words}; {way_out}")),
            Failure { remedy: Remedy::Retry, .. } => None,
        }
    }

    /// The limit that stands in the way, if one does.
    fn limit(&self) -> Option<&Limit> {
        self.reading.limit.as_ref().filter(|_| self.exit_reason() == ExitReason::Failed)
    }
}

impl Engine<'_> {
    /// Lets the agent work, and waits out the limits that it meets: the same iteration is tried again.
    pub(super) fn let_agent_work(&mut self, prompt: &[u8]) -> Result<Work> {
        let mut work = self.attempt(prompt)?;
        while let Some(limit) = work.limit().cloned() {
            if let Some(why) = self.wait_out(&limit, work.attempts)? {
                work.given_up = Some(why);
                break;
            }
            if self.stop_asked().is_some() {
                work.report.ended = Ended::Interrupted;
                break;
            }
            let again = self.attempt(prompt)?;
            let usage = work.reading.usage.plus(again.reading.usage);
            let reading = Reading { usage, ..again.reading };
            work = Work { started: work.started, attempts: work.attempts + 1, reading, ..again };
        }
        Ok(work)
    }

    fn attempt(&mut self, prompt: &[u8]) -> Result<Work> {
        let session = self.session.clone();
        let files = self.private_files(prompt)?;
        let Invocation { program, args, input } =
            self.harness.invocation(self.spec, self.program.clone(), session.as_deref(), prompt, &files);
        refuse_long_argument(self.harness.name(), &args)?;
        let total = [self.spec.iteration_timeout, self.time_left()].into_iter().flatten().min();
        let errand = Errand {
            program: Program { path: program, args, env: self.agent_environment(), cwd: self.worktree.root.clone() },
            input: &input,
            lock: self.worktree.guard_lock(),
            deadlines: Deadlines { total, idle: self.spec.idle_timeout },
        };
        let what = format!("{}/{}", self.state.current_iteration, self.spec.max);
        let live = Live { what, since: Some(Instant::now()), tokens: self.state.total_tokens };
        self.stage.set_live(Some(live.clone()));
        let started = now_text();
        let scanner = self.spec.promise.as_deref().map(|token| Scanner::new(&Promise::new(token)));
        let mut watch = Watch {
            reader: Reader::new(self.harness.decoder(), scanner),
            log: &mut self.log,
            stage: &mut self.stage,
            raw: self.raw.as_mut(),
            streaming: self.spec.stream,
            live,
            budget: Budget { tokens: self.spec.budget_tokens, usd: self.spec.budget_usd },
            spent: Usage { input: self.state.total_tokens, cost: Some(self.state.total_cost_usd), ..Usage::default() },
            tail: Tail::default(),
            stderr: Tail::default(),
        };
        let report = supervise(&errand, &mut self.guards, self.signals, &mut watch)
            .map_err(|error| Error::new(format!("cannot supervise the agent: {}", reason(&error))))?;
        let ended = now_text();
        let (mut reading, tail, stderr) = watch.finish();
        self.stage.end_stream();
        self.stage.set_live(None);
        if let Some(usage) = files::read(&files.usage).ok().flatten().and_then(|told| self.harness.usage(&told)) {
            reading.usage = usage;
        }
        remove(&files);
        let reading = self.understood(reading, &report, &stderr.text());
        Ok(Work { started, ended, report, reading, tail, attempts: 1, given_up: None })
    }

    /// What the agent's words mean beside its exit code, its earlier sessions and its standard error.
    fn understood(&mut self, mut reading: Reading, report: &Report, stderr: &str) -> Reading {
        let failed = matches!(report.ended, Ended::Exited(code) if code != 0);
        // An agent that was asked for events and gave none has not begun: its standard error is its own.
        let never_began = failed && !reading.events && self.harness.decoder().is_some();
        let told = if never_began {
            judge_stderr(stderr)
        } else {
            reading.failure.as_ref().and_then(|failure| judge_log(failure, stderr))
        };
        match told {
            Some(Event::Limit(limit)) => reading.limit = Some(limit),
            Some(Event::Failed(failure)) => reading.failure = Some(self.harness.with_version_wanted(failure)),
            _ => {}
        }
        if matches!(report.ended, Ended::Exited(0)) && !reading.events && reading.silent {
            self.say(&story::warning("the agent ended well and said nothing at all"));
        }
        if reading.events && reading.end.is_none() && matches!(report.ended, Ended::Exited(0)) {
            reading.end = Some(End::Badly);
        }
        if self.spec.continue_session {
            reading.usage = self.since_last_session(&reading);
            self.keep_session(&reading, report);
        }
        reading
    }

    /// The session to go on in; one that could not be gone on in is given up.
    fn keep_session(&mut self, reading: &Reading, report: &Report) {
        let well = matches!(report.ended, Ended::Exited(0)) && reading.ended_well();
        if !well && self.session.take().is_some() {
            self.say(&story::warning("the agent failed in its earlier session; the next one is fresh"));
        } else {
            self.session = reading.session.clone().or(self.session.take());
        }
    }

    /// Some agents count a resumed session from its beginning.
    fn since_last_session(&mut self, reading: &Reading) -> Usage {
        let now = reading.usage;
        let same = self.session.is_some() && (reading.session.is_none() || reading.session == self.session);
        let before = if same { self.session_usage } else { Usage::default() };
        if now != Usage::default() {
            self.session_usage = now;
        }
        let cost = |cumulative| match (cumulative, now.cost, before.cost) {
            (true, Some(now), Some(before)) => Some((now - before).max(0.0)),
            _ => now.cost,
        };
        match self.harness.cumulative() {
            Cumulative::Nothing => now,
            Cumulative::Cost => Usage { cost: cost(true), ..now },
            Cumulative::All => Usage {
                input: now.input.saturating_sub(before.input),
                output: now.output.saturating_sub(before.output),
                cache_read: now.cache_read.saturating_sub(before.cache_read),
                cache_write: now.cache_write.saturating_sub(before.cache_write),
                cost: cost(true),
            },
        }
    }

    /// What is left of `--max-time`.
    pub(super) fn time_left(&self) -> Option<Duration> {
        self.spec.max_time.map(|most| most.saturating_sub(self.began.elapsed()))
    }

    /// The private files of a run: the prompt is in its own, for an agent that wants one, and nothing of an earlier run is left.
    fn private_files(&self, prompt: &[u8]) -> Result<PrivateFiles> {
        let files = PrivateFiles::of(self.worktree);
        remove(&files);
        if self.harness.wants_file() {
            files::replace(&files.prompt, prompt).doing("write", &files.prompt)?;
        }
        Ok(files)
    }

    /// The shell's environment with what the agent may want to know of the loop, and without what would disturb it.
    pub(super) fn agent_environment(&self) -> Vec<(OsString, OsString)> {
        let mut env = self.env.clone();
        env.remove("CLAUDECODE");
        env.set("WT_LOOP_RUN", "1");
        env.set("WT_LOOP_RUN_ITERATION", self.state.current_iteration.to_string());
        env.set("WT_LOOP_RUN_MAX", u64::from(self.spec.max).to_string());
        env.set("WT_LOOP_RUN_STATE", self.worktree.state());
        env.set("WT_LOOP_RUN_CHANGE", self.spec.change_id.clone().unwrap_or_default());
        env.set("PWD", &self.worktree.root);
        env.pairs().map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}

/// The files of a run are of no use after it.
fn remove(files: &PrivateFiles) {
    for file in [&files.prompt, &files.usage] {
        let _ = files::remove(file);
    }
}

/// No try could start a program with such an argument.
fn refuse_long_argument(agent: &str, args: &[OsString]) -> Result<()> {
    let Some(long) = args.iter().find(|arg| arg.len() >= LONGEST_ARGUMENT) else { return Ok(()) };
    let size = human::bytes(long.len() as u64);
    Err(Error::new(format!(
        "the prompt of {size} is too long for {agent}, which takes it as an argument of at most 128 KiB"
    ))
    .hint("a shorter prompt, or an agent that reads its standard input: wt-loop man agents"))
}
