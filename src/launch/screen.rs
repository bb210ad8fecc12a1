//! GNU screen: a detached session for the worktree. It starts the program itself, without a shell.

use super::{Launch, Launched, Process, tame, unique};
use crate::error::Result;

/// What screen takes for a session's name, with room for the pid and the dot that it puts before.
const LONGEST: usize = 72;

pub(super) fn launch(launch: &Launch) -> Result<Launched> {
    let name = format!("wt-loop-{}-{}", tame(&launch.worktree.project()), tame(&launch.worktree.name()));
    let session = unique(&name, &launch.worktree.root, LONGEST);
    let args =
        ["-d".into(), "-m".into(), "-S".into(), session.clone().into(), launch.program.clone().into(), "run".into()];
    let (place, attach) = (format!("in the screen session {session}"), format!("screen -r {session}"));
    launch.open(&["screen"], &args, Process::HandsOver, place, Some(attach))
}
