//! GNU screen: a detached session for the worktree. It starts the program itself, without a shell.

use super::{Launch, Launched, Process, tame};
use crate::error::Result;

pub(super) fn launch(launch: &Launch) -> Result<Launched> {
    let session = format!("wt-loop-{}-{}", tame(&launch.worktree.project()), tame(&launch.worktree.name()));
    let args =
        ["-d".into(), "-m".into(), "-S".into(), session.clone().into(), launch.program.clone().into(), "run".into()];
    let (place, attach) = (format!("in the screen session {session}"), format!("screen -r {session}"));
    launch.open(&["screen"], &args, Process::HandsOver, place, Some(attach))
}
