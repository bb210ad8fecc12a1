//! No terminal at all: a session of its own, so that a closed window does not end it.

use super::{Fullscreen, Launch, Launched, Launcher};
use crate::error::{Doing, Result};
use crate::files;
use crate::process::spawn_detached;

/// The launcher.
pub const LAUNCHER: Launcher = Launcher { name: "background", program: None, fullscreen: Fullscreen::Unknown, launch };

fn launch(launch: &Launch) -> Result<Launched> {
    files::replace(&launch.output, b"").doing("write", &launch.output)?;
    let output = files::append(&launch.output).doing("write", &launch.output)?;
    let child =
        spawn_detached(&launch.program, &["run"], &launch.worktree.root, output).doing("start", &launch.program)?;
    Ok(Launched { place: "in the background".into(), attach: None, child: Some(child) })
}
