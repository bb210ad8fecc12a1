//! A claim of completion: made by the tasks or by a promise, and believed only when every gate has let it pass.

use super::decide::{Claim, Completion, Ending, Facts, Next, Stop, decide, to_check};
use super::{Engine, story};
use crate::agent::Session;
use crate::config::{LoopSpec, Validation};
use crate::error::Result;
use crate::gates::{self, Court, Refusal, Verdict};
use crate::log::Opening;
use crate::material;
use crate::options::Done;
use crate::registry::{Record, Registry};
use crate::state::{ExitReason, State};
use crate::tasks::Tasks;
use crate::worktree::Worktree;

impl Engine<'_> {
    /// Asks the gates and writes down what they said. The iteration is on disk; what comes now can only add to it.
    pub(super) fn ask_the_gates(&mut self, claim: Claim) -> Completion {
        if self.spec.validation == Validation::Skipped {
            self.say(&story::warning("validation was skipped (--skip-validation); the claim is believed unchecked"));
        }
        let verdict = self.verdict();
        for (gate, line) in &verdict.held {
            self.say(&story::held(gate, line));
        }
        let Some(iteration) = self.state.iterations.last_mut() else { return Completion::Claimed(claim) };
        match verdict.refusal {
            None => {
                iteration.done_check = true;
                Completion::Accepted(claim)
            }
            Some(Refusal::Rejected(rejection)) => {
                let line = story::rejected(&rejection);
                iteration.done_check = false;
                iteration.validation = Some(rejection);
                self.say(&line);
                Completion::Rejected
            }
            Some(Refusal::Interrupted) => Completion::Claimed(claim),
        }
    }

    fn verdict(&mut self) -> Verdict {
        let mut court = Court {
            worktree: self.worktree,
            spec: self.spec,
            env: self.agent_environment(),
            signals: self.signals,
            guards: &mut self.guards,
            lock: self.worktree.guard_lock(),
            log: Some(&mut self.log),
            stage: &mut self.stage,
            held: Vec::new(),
            notes: Vec::new(),
        };
        let verdict = gates::ask(&gates::of(self.spec), &mut court);
        for note in std::mem::take(&mut court.notes) {
            self.warn_once(note);
        }
        verdict
    }

    /// A claim that a stop or a crash left open is settled before another agent is started.
    pub(super) fn settle_open_claim(&mut self) -> Result<Option<Ending>> {
        if self.opening == Opening::Adopt {
            return Ok(None);
        }
        let record = Registry::of(self.env).load(&self.worktree.root);
        let Some((facts, claim)) = open_claim(self.worktree, self.spec, &self.state, record.as_ref()) else {
            return Ok(None);
        };
        // The commands are to be told of the iteration whose claim it is.
        self.state.current_iteration = facts.n;
        let completion = self.ask_the_gates(claim);
        self.state.current_iteration = facts.n + 1;
        self.save()?;
        // A failure from before is no reason to end now; the maximum still is one.
        let facts = Facts { completion, stop: self.stop_asked(), ended: ExitReason::Completed, ..facts };
        Ok(match decide(&facts, self.spec) {
            Next::End(ending) => Some(ending),
            Next::GoOn { .. } => None,
        })
    }

    /// Tells once what the loop will check, and warns where that is nothing.
    pub(super) fn tell_what_is_checked(&mut self) {
        if self.spec.continue_session && self.harness.session() == Session::None {
            self.warn_once(format!(
                "{} cannot go on in a session of its own; each iteration is a fresh one",
                self.harness.name()
            ));
        }
        match &self.spec.project_validation {
            _ if self.spec.validation == Validation::Skipped => {}
            Some(source) => {
                let line = story::checks(source);
                self.say(&line);
            }
            None if self.spec.promise.is_none() && self.spec.done == Done::Manual => {}
            None => self.warn_once(format!(
                "no validation is configured for this project; add to {}: {}",
                crate::config::REPOSITORY_FILE,
                gates::sources::TO_ADD
            )),
        }
    }
}

/// Whether completion is claimed: by the tasks, however the iteration ended, or by a promise in one that ended well.
pub(super) fn claim(spec: &LoopSpec, tasks: Option<&Tasks>, promised: bool, stop: Option<Stop>) -> Option<Claim> {
    let by_tasks = spec.done == Done::Tasks && stop.is_none();
    if by_tasks && tasks.is_some_and(Tasks::all_closed) {
        return Some(Claim::Tasks);
    }
    promised.then_some(Claim::Promise)
}

/// The claim of the last iteration of a loop that is not done, where a stop or a crash came before the gates had spoken, or
/// before what they said could end it. That the agent promised is for the user's own record to say: a state can be edited.
pub fn open_claim(
    worktree: &Worktree,
    spec: &LoopSpec,
    state: &State,
    record: Option<&Record>,
) -> Option<(Facts<'static>, Claim)> {
    let last = state.iterations.last().filter(|last| last.validation.is_none())?;
    let (n, ended) = (last.n, last.exit_reason?);
    let on_record = record.is_some_and(|record| record.loop_id == state.loop_id && record.claim == Some(n));
    let promised = on_record && last.promise_found && ended == ExitReason::Completed && spec.promise.is_some();
    // An iteration that was interrupted claimed nothing then, and claims nothing now.
    let stop = (ended == ExitReason::Interrupted).then_some(Stop::Command);
    let found = material::tasks(worktree, spec).ok().flatten();
    let completion = Completion::Claimed(claim(spec, found.as_ref().map(|found| &found.tasks), promised, stop)?);
    let facts = Facts { completion, ..Facts::plain(n, ended) };
    to_check(&facts, spec).map(|claim| (facts, claim))
}
