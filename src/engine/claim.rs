//! Whether completion is claimed after an iteration, and whether a claim is still open when a loop goes on.

use std::time::Duration;

use super::decide::{Claim, Completion, Facts, to_check};
use crate::config::LoopSpec;
use crate::material;
use crate::options::Done;
use crate::state::{ExitReason, State};
use crate::worktree::Worktree;

/// Whether completion is claimed: by the tasks, however the iteration ended, or by a promise in one that ended well.
pub fn claim(worktree: &Worktree, spec: &LoopSpec, promised: bool, ended: ExitReason) -> Option<Claim> {
    let by_tasks = spec.done == Done::Tasks && ended != ExitReason::Interrupted;
    // A tasks.md that the agent made unreadable claims nothing.
    let found = if by_tasks { material::tasks(worktree, spec).ok().flatten() } else { None };
    if found.is_some_and(|found| found.tasks.all_closed()) {
        return Some(Claim::Tasks);
    }
    promised.then_some(Claim::Promise)
}

/// The claim of the last iteration, where a stop or a crash came before the gates had spoken.
pub fn open_claim(worktree: &Worktree, spec: &LoopSpec, state: &State) -> Option<(Facts, Claim)> {
    let last = state.iterations.last().filter(|last| !last.done_check && last.validation.is_none())?;
    let (n, ended) = (last.n, last.exit_reason?);
    let promised = last.promise_found && ended == ExitReason::Completed;
    let completion = Completion::Claimed(claim(worktree, spec, promised, ended)?);
    let facts = Facts { n, ended, stop: None, completion, failures: 0, idle: 0, elapsed: Duration::ZERO };
    to_check(&facts, spec).map(|claim| (facts, claim))
}
