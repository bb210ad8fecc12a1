//! A loop as a reader sees it: the state on disk and whether its process lives. Reading writes nothing.
//!
//! Of a loop that died without a word the file still says `running`; the lock says otherwise, and the lock is believed. An agent can
//! write into that file, remove it, or remove the whole repository under its loop: so a loop that holds its lock runs, whatever the file
//! says, and `done` is believed of a loop of the user's only where the user's own record has it.

use std::path::PathBuf;

use crate::error::{Doing, Error, Result};
use crate::lock::Lock;
use crate::registry::{Outcome, Record, Registry};
use crate::session::{Holder, describe, leaves};
use crate::state::{Found, State, Status};
use crate::worktree::Worktree;

/// How a loop that died without a word was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Crash {
    /// Its state is as it left it.
    AsItWas,
    /// Its state is gone.
    StateGone,
    /// A state is there that it did not write.
    StateReplaced,
}

impl Crash {
    /// The reason that readers give.
    const fn words(self) -> &'static str {
        match self {
            Crash::AsItWas => "crashed",
            Crash::StateGone => "crashed, and its state file is missing",
            Crash::StateReplaced => "crashed, and its state file is not the one that it wrote",
        }
    }
}

/// A loop and the one who runs it.
#[derive(Clone, Debug)]
pub struct View {
    /// Where it is.
    pub worktree: Worktree,
    /// What the file says.
    pub state: State,
    /// Who runs it, if somebody does.
    pub holder: Option<Holder>,
    /// The lock that proves it.
    pub lock: PathBuf,
    /// The user's own record of this very loop.
    pub record: Option<Record>,
    crash: Option<Crash>,
}

impl View {
    /// The loop of `worktree`; `None` where there never was one.
    pub fn of(worktree: &Worktree, registry: &Registry) -> Result<Option<Self>> {
        Self::seen(worktree, registry, || registry.load(&worktree.root))
    }

    /// The loop that a record speaks of.
    pub fn of_record(record: &Record, registry: &Registry) -> Result<Option<Self>> {
        Self::seen(&record.worktree(), registry, || Some(record.clone()))
    }

    fn seen(worktree: &Worktree, registry: &Registry, record: impl FnOnce() -> Option<Record>) -> Result<Option<Self>> {
        let mut found = read(worktree);
        let mut hands = Hands::on(worktree, registry)?;
        if hands == Hands::None && matches!(&found, Ok(Some(state)) if !state.status.is_over()) {
            // It may have ended between the two looks.
            found = read(worktree);
            hands = Hands::on(worktree, registry)?;
        }
        let abandoned = hands == Hands::None;
        let (mut holder, lock) = match hands {
            Hands::Holder(holder, lock) => (Some(holder), lock),
            Hands::None | Hands::Somebody => (None, worktree.loop_lock()),
        };
        let record = record();
        let is_stand_in = matches!(found, Ok(None));
        // The user's own record of a loop that has not told its end, where nobody runs it any more.
        let unfinished = record.as_ref().filter(|record| abandoned && is_open(record, registry));
        let mut state = match (found, &holder, unfinished) {
            (Ok(Some(state)), ..) => state,
            // The lock decides: a loop whose file was taken away is a loop, and can be stopped.
            (Ok(None) | Err(_), Some(holder), _) => stand_in(worktree, &holder.loop_id),
            (Ok(None), None, Some(record)) if worktree.root.is_dir() => {
                let mut state = stand_in(worktree, &record.loop_id);
                describe(&mut state, &record.spec);
                state
            }
            (Ok(None), None, _) => return Ok(None),
            (Err(error), None, _) => return Err(error),
        };
        if holder.is_some() && state.status.is_over() {
            if leaves(&lock) {
                holder = None;
            } else {
                let claimed = state.status;
                state.status = Status::Running;
                state.status_reason = Some(format!("its state file says {claimed}, but the loop runs"));
            }
        }
        let crash = match unfinished {
            Some(record) if record.loop_id != state.loop_id => {
                state.loop_id.clone_from(&record.loop_id);
                Some(Crash::StateReplaced)
            }
            Some(_) if state.status == Status::Done => Some(Crash::StateReplaced),
            _ if !abandoned || state.status.is_over() => None,
            _ if is_stand_in => Some(Crash::StateGone),
            _ => Some(Crash::AsItWas),
        };
        let record = record.filter(|record| record.loop_id == state.loop_id);
        Ok(Some(Self { worktree: worktree.clone(), state, holder, lock, record, crash }))
    }

    /// Whether the loop died without a word.
    pub fn is_crashed(&self) -> bool {
        self.crash.is_some()
    }

    /// Whether it is not over.
    pub fn is_active(&self) -> bool {
        !self.status().is_over()
    }

    /// The status as it is, not as a dead loop left it.
    pub fn status(&self) -> Status {
        if self.is_crashed() { Status::Stopped } else { self.state.status }
    }

    /// Whether it runs, and stands still after Ctrl-Z.
    pub fn is_paused(&self) -> bool {
        self.is_active() && self.holder.as_ref().is_some_and(|holder| holder.process.is_suspended())
    }

    /// The status for a person: `running`, `running (paused)`, `done`.
    pub fn status_words(&self) -> String {
        let paused = if self.is_paused() { " (paused)" } else { "" };
        format!("{}{paused}", self.status())
    }

    /// The reason for the status.
    pub fn reason(&self) -> Option<&str> {
        self.crash.map(Crash::words).or(self.state.status_reason.as_deref())
    }

    /// The state with what is known about its process put in.
    pub fn truth(&self) -> State {
        let mut state = self.state.clone();
        state.status = self.status();
        state.status_reason = self.reason().map(str::to_owned);
        state
    }
}

/// In whose hands a worktree's loop is.
#[derive(PartialEq)]
enum Hands {
    None,
    /// A loop that is being started is alive too, and so is one whose holder cannot be told.
    Somebody,
    /// With the lock that says so: the one in the worktree's git directory, or the user's own where that is gone.
    Holder(Holder, PathBuf),
}

impl Hands {
    fn on(worktree: &Worktree, registry: &Registry) -> Result<Self> {
        let held = |path: &PathBuf| Lock::is_held(path).doing("ask for the lock", path);
        for lock in [worktree.loop_lock(), registry.loop_lock(&worktree.root)] {
            if held(&lock)? {
                return Ok(Holder::of(&lock).map_or(Self::Somebody, |holder| Self::Holder(holder, lock)));
            }
        }
        Ok(if held(&worktree.start_lock())? { Self::Somebody } else { Self::None })
    }
}

/// Whether a loop has not told its end. The record at hand may have been read before it did.
fn is_open(record: &Record, registry: &Registry) -> bool {
    let now = || registry.load(&record.root).filter(|now| now.loop_id == record.loop_id);
    record.outcome == Outcome::Open && now().is_some_and(|now| now.outcome == Outcome::Open)
}

/// What can be said of a loop whose state file was removed or broken while it runs.
fn stand_in(worktree: &Worktree, loop_id: &str) -> State {
    let why = if worktree.root.is_dir() {
        "its state file is missing or broken, and is written again when the iteration ends"
    } else {
        "its worktree was removed under it"
    };
    State {
        loop_id: loop_id.to_owned(),
        worktree_name: worktree.name(),
        status: Status::Running,
        status_reason: Some(why.into()),
        ..State::default()
    }
}

fn read(worktree: &Worktree) -> Result<Option<State>> {
    let path = worktree.state();
    match State::load(&path).doing("read", &path)? {
        Found::Nothing => Ok(None),
        Found::State(state) => Ok(Some(*state)),
        Found::Broken(why) => Err(Error::new(format!("{} is broken: {why}", path.display()))
            .hint("the next wt-loop start sets it aside; nothing of it is lost")),
    }
}
