//! A sealed world for one test: a repository with a worktree, a home, a PATH of chosen tools and scripted agents.
//!
//! Nothing of the machine's configuration gets in, and nothing gets out: when a world is dropped, every process that was
//! started in it and still lives is killed. Tests wait on conditions with a deadline, never for a time to be right.

pub mod cast;
mod claims;
mod desktop;
mod loops;
pub mod model;
mod output;
mod processes;
pub mod real;
mod scribe;
mod snapshot;
mod terminal;
mod tmux;
mod world;

pub use cast::Cast;
pub use claims::{CHANGE, PROMISES, REJECTED, SILENT, assert_has};
pub use desktop::Manner;
pub use loops::{HOLDS, pid_in};
pub use output::Output;
pub use processes::{Process, Running, is_alive};
pub use scribe::SAYS_DONE;
pub use snapshot::snapshot;
pub use terminal::Terminal;
pub use world::{World, agents, run, serve, spawn};

use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The longest that any condition is waited for. Generous, because a loaded machine is no reason to fail.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The path of a program of the machine; where there is none, says so loudly. `scripts/test` lists what was left out.
pub fn program(name: &str) -> Option<PathBuf> {
    let found = which::which(name).ok();
    if found.is_none() {
        let test = std::thread::current().name().unwrap_or_default().to_owned();
        eprintln!("SKIPPED: {test}: {name} is not installed");
    }
    found
}

/// Waits until `condition` gives a value; panics with `what` when it has not in time.
#[track_caller]
pub fn wait_for<T>(what: &str, condition: impl FnMut() -> Option<T>) -> T {
    wait_within(PATIENCE, what, condition)
}

/// The same with another patience.
#[track_caller]
pub fn wait_within<T>(patience: Duration, what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + patience;
    loop {
        if let Some(value) = condition() {
            return value;
        }
        assert!(Instant::now() < deadline, "waited {patience:?} in vain for: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Waits until `condition` holds.
#[track_caller]
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    wait_for(what, || condition().then_some(()));
}
