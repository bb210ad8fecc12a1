//! A loop in the terminal at hand: prepared, locked and run in this process.

use crate::config::LoopSpec;
use crate::engine::Engine;
use crate::environment::Environment;
use crate::error::{Exit, Result};
use crate::log::Opening;
use crate::process::Signals;
use crate::registry::{Record, Registry};
use crate::session::{self, Running, Starting};
use crate::state::State;
use crate::worktree::Worktree;

/// Runs a new loop here.
pub fn run(worktree: &Worktree, env: &Environment, spec: LoopSpec, signals: &Signals) -> Result<Exit> {
    let starting = Starting::begin(worktree, &Registry::of(env))?;
    let (state, record) = session::prepare(worktree, env, spec)?;
    go(worktree, env, &record, (state, Opening::Fresh), starting, signals)
}

/// Runs a loop that is prepared, and lets go of the start.
pub fn go(
    worktree: &Worktree,
    env: &Environment,
    record: &Record,
    (state, opening): (State, Opening),
    starting: Starting,
    signals: &Signals,
) -> Result<Exit> {
    let running = Running::begin(worktree, &Registry::of(env), &state.loop_id)?;
    drop(starting);
    Engine::new(worktree, env, &record.spec, signals, state, opening, running)?.run(|_| Ok(()))
}
