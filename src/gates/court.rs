//! Where the gates are asked: it reads the tasks, and runs commands under the same supervision as an agent.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::capture::Capture;
use super::{Refusal, Rejection};
use crate::config::LoopSpec;
use crate::error::reason;
use crate::log::Log;
use crate::material;
use crate::process::{Deadlines, Ended, Errand, Guards, Program, Signals, Stream, Watcher, supervise};
use crate::tasks::Tasks;
use crate::term::filter::plain;
use crate::term::human;
use crate::term::stage::{Live, Stage};
use crate::worktree::Worktree;

/// What the gates need to see and to run things.
pub struct Court<'a> {
    /// Where.
    pub worktree: &'a Worktree,
    /// The loop whose claim it is.
    pub spec: &'a LoopSpec,
    /// The environment of the commands.
    pub env: Vec<(OsString, OsString)>,
    /// The signals that may come meanwhile.
    pub signals: &'a Signals,
    /// The guards under which they run.
    pub guards: &'a mut Guards,
    /// The lock that the guard of a command holds.
    pub lock: PathBuf,
    /// Where their output goes, if anywhere.
    pub log: Option<&'a mut Log>,
    /// Where it is shown.
    pub stage: &'a mut Stage,
    /// What held so far, in order: the gate and a line.
    pub held: Vec<(&'static str, String)>,
    /// What a person should know.
    pub notes: Vec<String>,
}

impl Court<'_> {
    /// The worktree's root.
    pub fn root(&self) -> &Path {
        &self.worktree.root
    }

    /// The tasks that the loop goes by.
    pub fn tasks(&self) -> Result<Option<Tasks>, String> {
        let found = material::tasks(self.worktree, self.spec).map_err(|error| error.to_string())?;
        Ok(found.map(|found| found.tasks))
    }

    /// Notes what a person should know.
    pub fn note(&mut self, what: &str) {
        self.notes.push(what.to_owned());
    }

    /// Runs commands one after the other, up to the first that fails.
    pub fn run_all(&mut self, gate: &'static str, commands: &[String]) -> Result<(), Refusal> {
        commands.iter().try_for_each(|command| {
            let line = self.run(gate, command)?;
            self.held.push((gate, line));
            Ok(())
        })
    }

    fn run(&mut self, gate: &str, command: &str) -> Result<String, Refusal> {
        if let Some(log) = &mut self.log {
            log.line(&format!("wt-loop: validating ({gate}): {}", plain(command)));
        }
        self.stage.set_live(Some(Live {
            what: format!("validating: {command}"),
            since: Some(Instant::now()),
            tokens: 0,
        }));
        let errand = Errand {
            program: Program {
                path: PathBuf::from("/bin/sh"),
                args: vec!["-c".into(), command.into()],
                env: self.env.clone(),
                cwd: self.worktree.root.clone(),
            },
            input: b"",
            lock: self.lock.clone(),
            deadlines: Deadlines { total: self.spec.validation_timeout, idle: None },
        };
        let began = Instant::now();
        let mut witness = Witness { log: self.log.as_deref_mut(), stage: self.stage, kept: Capture::default() };
        let report = supervise(&errand, self.guards, self.signals, &mut witness);
        let kept = witness.kept.text();
        self.stage.end_stream();
        self.stage.set_live(None);
        let took = began.elapsed();
        let reject = |exit_code, timed_out, detail| {
            let duration = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
            let command = Some(command.to_owned());
            Err(Refusal::Rejected(Rejection { gate: gate.to_owned(), command, exit_code, timed_out, duration, detail }))
        };
        match report {
            Err(error) => reject(None, false, reason(&error)),
            Ok(report) => match report.ended {
                Ended::Exited(0) => Ok(format!("`{command}` passed in {}", human::duration(took))),
                Ended::Interrupted | Ended::Enough => Err(Refusal::Interrupted),
                Ended::TimedOut(_) => reject(report.code, true, kept),
                Ended::NotStarted(why) => reject(None, false, why),
                Ended::Exited(_) | Ended::Signalled(_) | Ended::GuardLost => reject(report.code, false, kept),
            },
        }
    }
}

/// Sees what a command prints.
struct Witness<'a> {
    log: Option<&'a mut Log>,
    stage: &'a mut Stage,
    kept: Capture,
}

impl Watcher for Witness<'_> {
    fn output(&mut self, _: Stream, bytes: &[u8]) {
        if let Some(log) = &mut self.log {
            log.write(bytes);
        }
        self.kept.push(bytes);
        self.stage.note(bytes);
    }

    fn interval(&self) -> Option<Duration> {
        self.stage.interval()
    }

    fn tick(&mut self) {
        self.stage.tick();
    }

    fn suspending(&mut self) {
        self.stage.suspend();
    }

    fn resuming(&mut self) {
        self.stage.resume();
    }
}
