//! The loop. [`Engine::iterate`] is the plot: prompt, agent, what changed, done?, go on?
//!
//! Decisions are pure functions of facts ([`mod@decide`]); what is read for the prompt is gathered in [`brief`]; the agent's
//! output goes its way in [`watch`]. An iteration is on disk when its agent has ended, before any gate is asked. The state in
//! memory is the truth while the loop runs: whatever the agent does to the file is written over.

pub mod brief;
mod claim;
pub mod decide;
mod record;
mod story;
mod wait;
mod watch;
mod work;

pub use claim::open_claim;

use std::fs::File;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::agent::Harness;
use crate::agent::event::Usage;
use crate::change_history::Chronicle;
use crate::config::{LoopSpec, Notify};
use crate::environment::Environment;
use crate::error::{Doing, Error, Exit, Result};
use crate::files;
use crate::log::{Log, Opening};
use crate::material;
use crate::notify;
use crate::process::{Guards, Interrupt, Signals};
use crate::rawtext;
use crate::registry::{Outcome, Record, Registry};
use crate::session::Running;
use crate::state::{State, Status, now_text};
use crate::tasks::Tasks;
use crate::term::stage::Stage;
use crate::term::title::{Title, Window};
use crate::worktree::Worktree;
use decide::{Ending, Facts, Next, Stop, decide, to_check};

/// A loop that has the right to run.
pub struct Engine<'a> {
    worktree: &'a Worktree,
    env: &'a Environment,
    spec: &'a LoopSpec,
    signals: &'a Signals,
    guards: Guards,
    harness: Harness,
    program: PathBuf,
    state: State,
    log: Log,
    opening: Opening,
    stage: Stage,
    began: Instant,
    failures: u64,
    idle: u64,
    last_failure: Option<String>,
    chronicle: Option<Chronicle>,
    warned: Vec<String>,
    raw: Option<File>,
    session: Option<String>,
    session_usage: Usage,
    waited: Duration,
    /// Held until the loop is over.
    running: Running,
}

impl<'a> Engine<'a> {
    /// Takes over a loop whose state is prepared and whose lock is held.
    pub fn new(
        worktree: &'a Worktree,
        env: &'a Environment,
        spec: &'a LoopSpec,
        signals: &'a Signals,
        state: State,
        opening: Opening,
        running: Running,
    ) -> Result<Self> {
        let harness = Harness::of(spec)?;
        let program = harness.locate(env, &worktree.root)?;
        let raw = if spec.raw { Some(files::append(&worktree.raw()).doing("open", &worktree.raw())?) } else { None };
        let session =
            state.iterations.last().and_then(|last| last.session_id.clone()).filter(|_| spec.continue_session);
        let session_usage = counted_in(session.as_deref(), &state);
        let log = Log::open(&worktree.log(), opening, spec.log_max_size).doing("open", &worktree.log())?;
        let last_failure = state.iterations.last().and_then(brief::failure_of);
        let chronicle = chronicle(worktree, spec, state.iterations.len())?;
        let (stage, began) = (Stage::new(), Instant::now());
        Ok(Self {
            worktree,
            env,
            spec,
            signals,
            guards: Guards::default(),
            harness,
            program,
            raw,
            session,
            session_usage,
            waited: Duration::ZERO,
            state,
            log,
            opening,
            stage,
            began,
            failures: 0,
            idle: 0,
            last_failure,
            chronicle,
            warned: Vec::new(),
            running,
        })
    }

    /// Runs the loop to its end and returns what the process is to exit with. `begun` is told once the state says that it
    /// runs, or why it does not, and can say why it is not to go on.
    pub fn run(mut self, begun: impl FnOnce(Result<(), &Error>) -> Result<()>) -> Result<Exit> {
        let beginning = self.begin();
        let word = begun(beginning.as_ref().copied());
        let (ending, outcome) = match beginning.and(word).and_then(|()| self.iterate()) {
            Ok(ending) => (ending.clone(), Ok(ending.exit)),
            Err(error) => (broken_off(&error), Err(error)),
        };
        let (ending, outcome) = match self.note_outcome(&ending) {
            Ok(()) => (ending, outcome),
            Err(error) => (broken_off(&error), outcome.and(Err(error))),
        };
        let written = self.end(&ending);
        self.tell_of_the_end(&ending);
        written.and(outcome)
    }

    /// Says that the window was opened for this loop, and has no other title to come back.
    #[must_use]
    pub fn in_its_own_window(mut self) -> Self {
        self.stage.set_window(Window::Loops);
        self
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
        if let Some(stop) = self.stop_asked() {
            return Ok(decide::stopped(stop));
        }
        self.tell_what_is_checked();
        if let Some(ending) = self.settle_open_claim()? {
            return Ok(ending);
        }
        let mut before = self.worktree.snapshot(|| self.guards.prepare())?;
        loop {
            let prompt = self.announce()?;
            let work = self.let_agent_work(&prompt)?;
            let changed = self.what_changed(&before);
            let changes = changed.as_ref().ok().map(|(_, changes)| changes);
            let unmendable = work.unmendable(changes);
            // A tasks.md that the agent made unreadable claims nothing.
            let tasks = material::tasks(self.worktree, self.spec).ok().flatten().map(|found| found.tasks);
            let facts = self.record(&work, unmendable.as_deref(), changes, tasks.as_ref())?;
            before = changed?.0;

            self.tell_of(&facts, tasks.as_ref());
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

    /// Says how the iteration ended.
    fn tell_of(&mut self, facts: &Facts, tasks: Option<&Tasks>) {
        if let Some(iteration) = self.state.iterations.last() {
            let line = story::ended(iteration, self.spec, tasks, facts);
            self.say(&line);
        }
    }

    /// One write for the iteration that ended and the one that begins.
    fn go_on(&mut self, pause: Duration) -> Result<()> {
        self.state.current_iteration += 1;
        self.save()?;
        if !pause.is_zero() {
            self.say(&story::pauses(pause));
            self.sleep(pause);
        }
        Ok(())
    }

    /// The user's own record says first how it ended: what stands in the worktree is believed only with it.
    fn note_outcome(&self, ending: &Ending) -> Result<()> {
        let outcome = if ending.status == Status::Done { Outcome::Done } else { Outcome::Over };
        let over = |record: Record| Record { outcome, ..record };
        Registry::of(self.env).note(&self.worktree.root, &self.state.loop_id, over)
    }

    /// Writes the end down, takes our files away and lets the next loop in.
    fn end(&mut self, ending: &Ending) -> Result<()> {
        self.guards.dismiss();
        // Once the state says that the loop is over nobody goes on with it, so the history of the change must be whole by then.
        let told = if self.chronicle.is_some() { self.write_down() } else { Ok(()) };
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
        saved.and(told)
    }

    /// Lets the next loop in, then tells whoever looks elsewhere: a desktop may take its time.
    fn tell_of_the_end(mut self, ending: &Ending) {
        let end = notify::End {
            name: &self.worktree.name(),
            label: self.spec.label.as_deref(),
            status: ending.status,
            exit: ending.exit,
            iterations: self.state.iterations.len(),
            reason: &ending.reason,
        };
        drop(self.running);
        let Some(notice) = notify::notice(&end).filter(|_| self.spec.notify == Notify::User) else { return };
        self.stage.ring(&notice.title, &notice.body);
        notify::tell_desktop(&notice, self.env);
    }

    fn write_down(&mut self) -> Result<()> {
        if !self.worktree.root.is_dir() {
            // Nobody who removed a worktree wants a folder of ours in its place.
            return Err(crate::worktree::gone(&self.worktree.root));
        }
        let path = self.worktree.state();
        self.state.save(&path).doing("write", &path)?;
        match &self.chronicle {
            _ if self.state.status.is_over() => Ok(()),
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

    /// Sleeps, with no guard kept ready, and with the terminal left to the user's shell while the loop is suspended.
    fn sleep(&mut self, at_most: Duration) {
        self.guards.dismiss();
        let (signals, stage) = (self.signals, &mut self.stage);
        signals.sleep(at_most, || {
            stage.suspend();
            signals.suspend();
            stage.resume();
        });
    }

    /// Who asked for the end: a request beside the signal tells `wt-loop stop` from a bare one.
    fn stop_asked(&self) -> Option<Stop> {
        let interrupt = self.signals.interrupt()?;
        let request = files::read(&self.worktree.stop_request()).ok().flatten();
        Some(match interrupt {
            Interrupt::Terminate if request.as_deref() == Some(self.state.loop_id.as_bytes()) => Stop::Command,
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
}

/// The end of a loop that an error broke off.
fn broken_off(error: &Error) -> Ending {
    Ending { status: Status::Stopped, exit: error.exit(), reason: error.to_string() }
}

/// What an agent's session has been counted with so far.
fn counted_in(session: Option<&str>, state: &State) -> Usage {
    let of_session =
        state.iterations.iter().filter(|iteration| session.is_some() && iteration.session_id.as_deref() == session);
    of_session.fold(Usage::default(), |sum, iteration| {
        sum.plus(Usage {
            input: iteration.input_tokens,
            output: iteration.output_tokens,
            cache_read: iteration.cache_read_tokens,
            cache_write: iteration.cache_write_tokens,
            cost: iteration.cost_usd,
        })
    })
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
