//! One iteration's work: the agent gets its prompt, and is tried again after every usage limit that was waited out.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::watch::{Budget, Tail, Watch};
use super::{Engine, story};
use crate::agent::event::{End, Event, Failure, Limit, Remedy, Usage};
use crate::agent::reader::{Reader, Reading};
use crate::agent::{Cumulative, Invocation, judge_stderr};
use crate::error::{Doing, Error, Result, reason};
use crate::files;
use crate::process::{Deadlines, Ended, Job, Report, supervise};
use crate::promise::{Promise, Scanner};
use crate::state::{ExitReason, now_text};
use crate::term::stage::Live;

/// How long an agent's tree may take to end after TERM.
const GRACE: Duration = Duration::from_secs(5);

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

    /// A failure that no retry mends, in the agent's own words, with the way out.
    pub fn unmendable(&self) -> Option<String> {
        if let Some(why) = &self.given_up {
            return Some(why.clone());
        }
        let failed = self.exit_reason() == ExitReason::Failed;
        match self.reading.failure.as_ref().filter(|_| failed)? {
            Failure { words, remedy: Remedy::User(way_out) } => Some(format!("{words}; {way_out}")),
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
        let file = self.prompt_file(prompt)?;
        let Invocation { program, args, input } =
            self.harness.invocation(self.spec, self.program.clone(), session.as_deref(), prompt, &file);
        let job = Job {
            program,
            args,
            env: self.agent_environment(),
            cwd: self.worktree.root.clone(),
            grace: GRACE,
            lock: self.worktree.guard_lock(),
            input: input.len(),
        };
        let deadlines = Deadlines { total: self.spec.iteration_timeout, idle: self.spec.idle_timeout };
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
        let report = supervise(&job, &input, deadlines, self.signals, &mut watch)
            .map_err(|error| Error::new(format!("cannot supervise the agent: {}", reason(&error))))?;
        let ended = now_text();
        let (reading, tail, stderr) = watch.finish();
        self.stage.end_stream();
        self.stage.set_live(None);
        if self.harness.wants_file() {
            let _ = files::remove(&file);
        }
        let reading = self.understood(reading, &report, &stderr.text());
        Ok(Work { started, ended, report, reading, tail, attempts: 1, given_up: None })
    }

    /// What the agent's words mean beside its exit code, its earlier sessions and its standard error.
    fn understood(&mut self, mut reading: Reading, report: &Report, stderr: &str) -> Reading {
        let failed = matches!(report.ended, Ended::Exited(code) if code != 0);
        // An agent that was asked for events and gave none has not begun: its standard error is its own.
        if failed && !reading.events && self.harness.decoder().is_some() {
            match judge_stderr(stderr) {
                Some(Event::Limit(limit)) => reading.limit = Some(limit),
                Some(Event::Failed(failure)) => reading.failure = Some(self.harness.with_version_wanted(failure)),
                _ => {}
            }
        }
        if matches!(report.ended, Ended::Exited(0)) && !reading.events && reading.silent {
            self.say(&story::warning("the agent ended well and said nothing at all"));
        }
        if reading.events && reading.end.is_none() && matches!(report.ended, Ended::Exited(0)) {
            reading.end = Some(End::Badly);
        }
        if self.spec.continue_session {
            reading.usage = self.since_last_session(reading.usage);
            self.session = reading.session.clone().or(self.session.take());
        }
        reading
    }

    /// Some agents count a resumed session from its beginning.
    fn since_last_session(&mut self, usage: Usage) -> Usage {
        let (before, now) = (self.session_usage, usage);
        self.session_usage = now;
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

    /// The private file of the prompt, for an agent that wants one.
    fn prompt_file(&self, prompt: &[u8]) -> Result<PathBuf> {
        let path = self.worktree.prompt_file();
        if self.harness.wants_file() {
            files::replace(&path, prompt).doing("write", &path)?;
        }
        Ok(path)
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
