//! The loop. [`Engine::iterate`] is the plot: prompt, agent, what changed, done?, go on?
//!
//! Decisions are pure functions of facts ([`mod@decide`]); what is read for the prompt is gathered in [`brief`]; the agent's
//! output goes its way in [`watch`]. An iteration is on disk when its agent has ended, before any gate is asked. The state in
//! memory is the truth while the loop runs: whatever the agent does to the file is written over.

pub mod brief;
mod claim;
pub mod decide;
mod story;
mod watch;

use std::time::{Duration, Instant};

use crate::agent::{Agent, Invocation};
use crate::change_history::Chronicle;
use crate::config::{LoopSpec, Validation};
use crate::environment::Environment;
use crate::error::{Doing, Error, Exit, Result};
use crate::files;
use crate::gates::{self, Court, Refusal, Verdict};
use crate::log::{Log, Opening};
use crate::material;
use crate::options::{Done, Progress};
use crate::process::{Deadlines, Ended, Interrupt, Job, Report, Signals, supervise};
use crate::promise::{Promise, Scanner};
use crate::rawtext;
use crate::registry::Registry;
use crate::session::Running;
use crate::state::{ExitReason, Iteration, LeftRunning, State, Status, now_text};
use crate::term::stage::{Live, Stage};
use crate::term::title::Title;
use crate::worktree::{Changes, Snapshot, Worktree};
use claim::claim;
pub use claim::open_claim;
use decide::{Claim, Completion, Ending, Facts, Next, Stop, decide, to_check};
use watch::{Tail, Watch};

/// How long an agent's tree may take to end after TERM.
const GRACE: Duration = Duration::from_secs(5);

/// A loop that has the right to run.
pub struct Engine<'a> {
    worktree: &'a Worktree,
    env: &'a Environment,
    spec: &'a LoopSpec,
    signals: &'a Signals,
    agent: Invocation,
    state: State,
    log: Log,
    stage: Stage,
    began: Instant,
    failures: u64,
    idle: u64,
    last_failure: Option<String>,
    chronicle: Option<Chronicle>,
    warned: Vec<String>,
    /// Held until the loop is over.
    _running: Running,
}

/// What an agent did in one iteration.
struct Work {
    started: String,
    ended: String,
    report: Report,
    promised: bool,
    tail: Tail,
}

impl<'a> Engine<'a> {
    /// Takes over a loop whose state is prepared and whose lock is held.
    pub fn new(
        worktree: &'a Worktree,
        env: &'a Environment,
        spec: &'a LoopSpec,
        signals: &'a Signals,
        state: State,
        running: Running,
    ) -> Result<Self> {
        let agent = Agent::named(&spec.harness)?.invocation(spec, env, &worktree.root)?;
        let opening = if state.iterations.is_empty() { Opening::Fresh } else { Opening::GoOn };
        let log = Log::open(&worktree.log(), opening).doing("open", &worktree.log())?;
        let last_failure = state.iterations.last().and_then(brief::failure_of);
        let chronicle = chronicle(worktree, spec, state.iterations.len())?;
        let (stage, began) = (Stage::new(), Instant::now());
        Ok(Self {
            worktree,
            env,
            spec,
            signals,
            agent,
            state,
            log,
            stage,
            began,
            failures: 0,
            idle: 0,
            last_failure,
            chronicle,
            warned: Vec::new(),
            _running: running,
        })
    }

    /// Runs the loop to its end and returns what the process is to exit with. `begun` is told once the state says that it
    /// runs, or why it does not.
    pub fn run(mut self, begun: impl FnOnce(Result<(), &Error>)) -> Result<Exit> {
        let beginning = self.begin();
        begun(beginning.as_ref().copied());
        let ending = match beginning.and_then(|()| self.iterate()) {
            Ok(ending) => ending,
            Err(error) => {
                let reason = error.to_string();
                self.end(&Ending { status: Status::Stopped, exit: error.exit(), reason })?;
                return Err(error);
            }
        };
        self.end(&ending)?;
        Ok(ending.exit)
    }

    fn begin(&mut self) -> Result<()> {
        let pid = std::process::id();
        self.state.status = Status::Running;
        self.state.status_reason = None;
        self.state.exit_code = None;
        self.state.ended_at = None;
        self.state.terminal_pid = i32::try_from(pid).ok();
        self.state.current_iteration = self.state.last_recorded() + 1;
        self.save()?;
        let pid_file = self.worktree.pid_file();
        files::replace(&pid_file, format!("{pid}\n").as_bytes()).doing("write", &pid_file)
    }

    fn iterate(&mut self) -> Result<Ending> {
        self.tell_what_is_checked();
        if let Some(ending) = self.settle_open_claim()? {
            return Ok(ending);
        }
        let mut before = self.worktree.snapshot()?;
        loop {
            let prompt = self.announce()?;
            let work = self.let_agent_work(&prompt)?;
            let changed = self.what_changed(&before);
            let facts = self.record(&work, changed.as_ref().ok().map(|(_, changes)| changes))?;
            before = changed?.0;

            self.tell_of(&facts);
            let facts = match to_check(&facts, self.spec) {
                Some(claim) => Facts { completion: self.ask_the_gates(claim), stop: self.stop_asked(), ..facts },
                None => facts,
            };
            match decide(&facts, self.spec) {
                Next::End(ending) => return Ok(ending),
                Next::GoOn { pause } => self.go_on(pause)?,
            }
            if let Some(stop) = self.stop_asked() {
                return Ok(decide::stopped(stop));
            }
        }
    }

    /// Says which iteration begins, and returns its prompt.
    fn announce(&mut self) -> Result<Vec<u8>> {
        let n = self.state.current_iteration;
        self.log.keep_in_place().doing("open", &self.worktree.log())?;
        self.stage.set_title(
            &self.worktree.name(),
            self.spec.label.as_deref(),
            Title::Iteration { n, max: self.spec.max.number() },
        );
        self.say(&story::begins(n, self.spec));
        let brief = brief::brief(self.worktree, self.spec, &self.state, n, self.last_failure.as_deref())?;
        for warning in brief.warnings {
            self.warn_once(warning);
        }
        Ok(rawtext::to_bytes(&brief.prompt))
    }

    fn let_agent_work(&mut self, prompt: &[u8]) -> Result<Work> {
        let job = Job {
            program: self.agent.program.clone(),
            args: self.agent.args.clone(),
            env: self.agent_environment(),
            cwd: self.worktree.root.clone(),
            grace: GRACE,
            lock: self.worktree.guard_lock(),
            input: prompt.len(),
        };
        let deadlines = Deadlines { total: self.spec.iteration_timeout, idle: self.spec.idle_timeout };
        let what = format!("{}/{}", self.state.current_iteration, self.spec.max);
        self.stage.set_live(Some(Live { what, since: Some(Instant::now()), tokens: 0 }));
        let scanner = self.spec.promise.as_deref().map(|token| Scanner::new(&Promise::new(token)));
        let started = now_text();
        let (log, stage) = (&mut self.log, &mut self.stage);
        let mut watch = Watch { log, stage, streaming: self.spec.stream, scanner, tail: Tail::default() };
        let report = supervise(&job, prompt, deadlines, self.signals, &mut watch)
            .map_err(|error| Error::new(format!("cannot supervise the agent: {}", crate::error::reason(&error))))?;
        let ended = now_text();
        let (promised, tail) = (watch.scanner.is_some_and(|scanner| scanner.found()), watch.tail);
        self.stage.end_stream();
        self.stage.set_live(None);
        Ok(Work { started, ended, report, promised, tail })
    }

    fn what_changed(&self, before: &Snapshot) -> Result<(Snapshot, Changes)> {
        let after = self.worktree.snapshot()?;
        let changes = self.worktree.changes(before, &after)?;
        Ok((after, changes))
    }

    /// Puts the iteration into the history, on disk where a gate or an end may come before the next one, and counts.
    fn record(&mut self, work: &Work, changes: Option<&Changes>) -> Result<Facts> {
        let ended = reason_of(&work.report.ended);
        let changes = changes.cloned().unwrap_or_default();
        let progress = match self.spec.progress {
            Progress::Commits => !changes.commits.is_empty(),
            Progress::Changes => !changes.commits.is_empty() || changes.files > 0,
        };
        let n = self.state.current_iteration;
        let iteration = Iteration {
            n,
            started: work.started.clone(),
            ended: work.ended.clone(),
            exit_code: work.report.code,
            exit_reason: Some(ended),
            promise_found: work.promised,
            commits: changes.commits,
            files_changed: changes.files,
            attempts: 1,
            timed_out: ended == ExitReason::TimedOut,
            left_running: work
                .report
                .survivors
                .iter()
                .map(|s| LeftRunning { pid: s.pid, name: s.name.clone() })
                .collect(),
            ..Iteration::default()
        };
        self.last_failure = brief::failure_with_output(&iteration, &work.tail.text());
        self.failures = if ended.is_failure() { self.failures + 1 } else { 0 };
        self.idle = match (progress, ended) {
            (true, _) => 0,
            (false, ExitReason::NotStarted) => self.idle,
            (false, _) => self.idle + 1,
        };
        for line in story::trouble(&work.report, self.log.trouble()) {
            self.say(&line);
        }
        self.state.iterations.push(iteration);
        let promised = work.promised && ended == ExitReason::Completed;
        let completion =
            claim(self.worktree, self.spec, promised, ended).map_or(Completion::Unclaimed, Completion::Claimed);
        let stop = self.stop_asked();
        let elapsed = self.began.elapsed();
        let facts = Facts { n, ended, stop, completion, failures: self.failures, idle: self.idle, elapsed };
        if to_check(&facts, self.spec).is_some() {
            self.save()?;
        }
        Ok(facts)
    }

    /// Asks the gates and writes down what they said. The iteration is on disk; what comes now can only add to it.
    fn ask_the_gates(&mut self, claim: Claim) -> Completion {
        if self.spec.validation == Validation::Skipped {
            self.say(&story::warning("validation was skipped (--skip-validation); the claim is believed unchecked"));
        }
        let verdict = self.verdict();
        for (gate, line) in &verdict.held {
            self.say(&story::held(gate, line));
        }
        let Some(iteration) = self.state.iterations.last_mut() else { return Completion::Claimed(claim) };
        match verdict.refusal {
            None => {
                iteration.done_check = true;
                Completion::Accepted(claim)
            }
            Some(Refusal::Rejected(rejection)) => {
                let line = story::rejected(&rejection);
                iteration.validation = Some(rejection);
                self.say(&line);
                Completion::Rejected
            }
            Some(Refusal::Interrupted) => Completion::Claimed(claim),
        }
    }

    fn verdict(&mut self) -> Verdict {
        let mut court = Court {
            worktree: self.worktree,
            spec: self.spec,
            env: self.agent_environment(),
            signals: self.signals,
            lock: self.worktree.guard_lock(),
            log: Some(&mut self.log),
            stage: &mut self.stage,
            held: Vec::new(),
            notes: Vec::new(),
        };
        let verdict = gates::ask(&gates::of(self.spec), &mut court);
        for note in std::mem::take(&mut court.notes) {
            self.warn_once(note);
        }
        verdict
    }

    /// A claim that a stop or a crash left open is settled before another agent is started.
    fn settle_open_claim(&mut self) -> Result<Option<Ending>> {
        let Some((facts, claim)) = open_claim(self.worktree, self.spec, &self.state) else { return Ok(None) };
        // The commands are to be told of the iteration whose claim it is.
        self.state.current_iteration = facts.n;
        let completion = self.ask_the_gates(claim);
        self.state.current_iteration = facts.n + 1;
        self.save()?;
        // A failure from before is no reason to end now; the maximum still is one.
        let facts = Facts { completion, stop: self.stop_asked(), ended: ExitReason::Completed, ..facts };
        Ok(match decide(&facts, self.spec) {
            Next::End(ending) => Some(ending),
            Next::GoOn { .. } => None,
        })
    }

    /// Tells once what the loop will check, and warns where that is nothing.
    fn tell_what_is_checked(&mut self) {
        match &self.spec.project_validation {
            _ if self.spec.validation == Validation::Skipped => {}
            Some(source) => {
                let line = story::checks(source);
                self.say(&line);
            }
            None if self.spec.promise.is_none() && self.spec.done == Done::Manual => {}
            None => self.warn_once(format!(
                "no validation is configured for this project; add to {}: {}",
                crate::config::REPOSITORY_FILE,
                gates::sources::TO_ADD
            )),
        }
    }

    /// Says how the iteration ended.
    fn tell_of(&mut self, facts: &Facts) {
        let tasks = material::tasks(self.worktree, self.spec).ok().flatten();
        if let Some(iteration) = self.state.iterations.last() {
            let line = story::ended(iteration, self.spec, tasks.as_ref().map(|found| &found.tasks), facts);
            self.say(&line);
        }
    }

    /// One write for the iteration that ended and the one that begins.
    fn go_on(&mut self, pause: Duration) -> Result<()> {
        self.state.current_iteration += 1;
        self.save()?;
        if !pause.is_zero() {
            self.say(&story::pauses(pause));
            self.signals.sleep(pause);
        }
        Ok(())
    }

    /// Writes the end down, takes our files away and lets the next loop in.
    fn end(&mut self, ending: &Ending) -> Result<()> {
        self.state.status = ending.status;
        self.state.status_reason = Some(ending.reason.clone());
        self.state.exit_code = Some(i32::from(ending.exit.code()));
        self.state.ended_at = Some(now_text());
        self.state.current_iteration = self.state.last_recorded();
        let title = Title::Ended { status: ending.status.word() };
        self.stage.set_title(&self.worktree.name(), self.spec.label.as_deref(), title);
        self.say(&story::ends(ending, &self.state, self.began.elapsed()));
        let saved = self.save();
        let _ = files::remove(&self.worktree.stop_request());
        let _ = files::remove(&self.worktree.pid_file());
        saved
    }

    fn write_down(&mut self) -> Result<()> {
        if !self.worktree.root.is_dir() {
            // Nobody who removed a worktree wants a folder of ours in its place.
            return Err(crate::worktree::gone(&self.worktree.root));
        }
        let path = self.worktree.state();
        self.state.save(&path).doing("write", &path)?;
        match &self.chronicle {
            Some(chronicle) => {
                chronicle.save(&self.state.iterations, self.last_failure.as_deref()).doing("write", chronicle.path())
            }
            None => Ok(()),
        }
    }

    /// Writes the state; where the worktree cannot take it, the user's own folder keeps it.
    fn save(&mut self) -> Result<()> {
        let Err(error) = self.write_down() else { return Ok(()) };
        match Registry::of(self.env).rescue(&self.worktree.root, &mut self.state) {
            Ok(kept) => Err(error.hint(format!("the whole state is kept in {}", kept.display()))),
            Err(_) => Err(error),
        }
    }

    /// Who asked for the end: a request beside the signal tells `wt-loop stop` from a bare one.
    fn stop_asked(&self) -> Option<Stop> {
        let interrupt = self.signals.interrupt()?;
        let request = files::read(&self.worktree.stop_request()).ok().flatten().unwrap_or_default();
        Some(match interrupt {
            Interrupt::Terminate if request == self.state.loop_id.as_bytes() => Stop::Command,
            other => Stop::Signal(other.name()),
        })
    }

    /// Says something that a person should know, the first time.
    fn warn_once(&mut self, warning: String) {
        if !self.warned.contains(&warning) {
            self.say(&story::warning(&warning));
            self.warned.push(warning);
        }
    }

    /// A line for the log and for whoever watches.
    fn say(&mut self, line: &story::Line) {
        self.log.line(&line.plain);
        let styled = line.styled(self.stage.glyphs());
        self.stage.narrate(&styled);
    }

    /// The shell's environment with what the agent may want to know of the loop, and without what would disturb it.
    fn agent_environment(&self) -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
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

/// The history of the change, if there is one. A file that cannot be understood is set aside and told.
fn chronicle(worktree: &Worktree, spec: &LoopSpec, told: usize) -> Result<Option<Chronicle>> {
    let Some(change) = material::change(worktree, spec.layout(), spec.change_id.as_deref()) else { return Ok(None) };
    let (path, context) = (change.state(), change.context());
    let open = || Chronicle::open(&path, &change.id, &context, &worktree.root, told);
    match open() {
        Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
            let aside = files::set_aside(&path).doing("set aside", &path)?;
            crate::term::warn(&format!(
                "{} cannot be read ({error}); it is kept as {}",
                path.display(),
                aside.display()
            ));
            open().doing("read", &path).map(Some)
        }
        opened => opened.doing("read", &path).map(Some),
    }
}

fn reason_of(ended: &Ended) -> ExitReason {
    match ended {
        Ended::Exited(0) => ExitReason::Completed,
        Ended::Exited(_) | Ended::Signalled(_) | Ended::GuardLost => ExitReason::Failed,
        Ended::TimedOut(_) => ExitReason::TimedOut,
        Ended::Interrupted => ExitReason::Interrupted,
        Ended::NotStarted(_) => ExitReason::NotStarted,
    }
}
