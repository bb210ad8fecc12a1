//! Loops in real terminals: windows on an X server and a Wayland compositor of the test's own, tmux and screen; and what
//! happens where none opens.
//!
//! Pictures of the windows are kept below `target/tmp/terminals/`.

mod compositor;
mod desktop;
mod failures;
mod scripted;
mod sessions;
mod wayland;
mod windows;

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::support::World;

/// A name with everything that a shell or a terminal could stumble over.
const ODD: &str = "it's a \"ü\" $HOME dir";

/// One desktop at a time: a window must open within the ten seconds that `start` gives it, on a busy machine too.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where pictures go.
fn picture(name: &str) -> std::path::PathBuf {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("terminals");
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(format!("{name}.png"))
}

/// The loops of this world, and the windows' programs that have this name.
fn left_of(world: &World, program: &str) -> Vec<String> {
    let is_ours = |line: &String| {
        let mut words = line.split(' ').map(|word| word.rsplit('/').next().unwrap_or(word));
        words.clone().take(2).any(|word| word == program) || words.any(|word| word == "wt-loop" || word == "claude")
    };
    world.processes().into_iter().map(|process| process.command).filter(is_ours).collect()
}
