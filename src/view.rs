//! A loop as a reader sees it: the state on disk and whether its process lives. Reading writes nothing.
//!
//! Of a loop that died without a word the file still says `running`; the lock says otherwise, and the lock is believed.

use std::path::PathBuf;

use crate::error::{Doing, Error, Result};
use crate::lock::Lock;
use crate::session::Holder;
use crate::state::{Found, State, Status};
use crate::worktree::Worktree;

/// The reason that readers give for a loop that died without a word.
pub const CRASHED: &str = "crashed";

/// A loop and the one who runs it.
#[derive(Clone, Debug)]
pub struct View {
    /// Where it is.
    pub worktree: Worktree,
    /// What the file says.
    pub state: State,
    /// Who runs it, if somebody does.
    pub holder: Option<Holder>,
    crashed: bool,
}

impl View {
    /// The loop of `worktree`; `None` where there never was one.
    pub fn of(worktree: &Worktree) -> Result<Option<Self>> {
        let mut found = read(worktree);
        let mut hands = Hands::on(worktree)?;
        if hands == Hands::None && matches!(&found, Ok(Some(state)) if !state.status.is_over()) {
            // It may have ended between the two looks.
            found = read(worktree);
            hands = Hands::on(worktree)?;
        }
        let holder = hands.holder();
        let state = match (found, &holder) {
            (Ok(Some(state)), _) => state,
            // The lock decides: a loop whose file was taken away is a loop, and can be stopped.
            (Ok(None) | Err(_), Some(holder)) => stand_in(worktree, holder),
            (Ok(None), None) => return Ok(None),
            (Err(error), None) => return Err(error),
        };
        let crashed = hands == Hands::None && !state.status.is_over();
        Ok(Some(Self { worktree: worktree.clone(), state, holder, crashed }))
    }

    /// Whether the loop died without a word.
    pub fn is_crashed(&self) -> bool {
        self.crashed
    }

    /// Whether it is not over.
    pub fn is_active(&self) -> bool {
        !self.status().is_over()
    }

    /// The status as it is, not as a dead loop left it.
    pub fn status(&self) -> Status {
        if self.crashed { Status::Stopped } else { self.state.status }
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
        if self.crashed { Some(CRASHED) } else { self.state.status_reason.as_deref() }
    }

    /// The state with what is known about its process put in.
    pub fn truth(&self) -> State {
        let mut state = self.state.clone();
        state.status = self.status();
        state.status_reason = self.reason().map(str::to_owned);
        state
    }
}

/// What can be said of a loop whose state file was removed or broken while it runs.
fn stand_in(worktree: &Worktree, holder: &Holder) -> State {
    State {
        loop_id: holder.loop_id.clone(),
        worktree_name: worktree.name(),
        status: Status::Running,
        status_reason: Some("its state file is missing or broken, and is written again when the iteration ends".into()),
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

/// In whose hands a worktree's loop is.
#[derive(PartialEq)]
enum Hands {
    None,
    /// A loop that is being started is alive too, and so is one whose holder cannot be told.
    Somebody,
    Holder(Holder),
}

impl Hands {
    fn on(worktree: &Worktree) -> Result<Self> {
        let held = |path: PathBuf| Lock::is_held(&path).doing("ask for the lock", &path);
        if held(worktree.loop_lock())? {
            Ok(Holder::of(&worktree.loop_lock()).map_or(Self::Somebody, Self::Holder))
        } else if held(worktree.start_lock())? {
            Ok(Self::Somebody)
        } else {
            Ok(Self::None)
        }
    }

    fn holder(&self) -> Option<Holder> {
        if let Self::Holder(holder) = self { Some(holder.clone()) } else { None }
    }
}
