//! An iteration goes into the history, and is counted.

use super::Engine;
use super::brief;
use super::claim::claim;
use super::decide::{Completion, Facts, to_check};
use super::story;
use super::work::Work;
use crate::error::Result;
use crate::options::{Limit, Progress};
use crate::registry::{Record, Registry};
use crate::state::{ExitReason, Iteration, LeftRunning};
use crate::tasks::Tasks;
use crate::worktree::{Changes, Snapshot};

impl Engine<'_> {
    /// What the iteration brought: one look at head and work tree, one more where the head has moved. The guard of the next agent
    /// gets ready meanwhile.
    pub(super) fn what_changed(&mut self, before: &Snapshot) -> Result<(Snapshot, Changes)> {
        let last = matches!(self.spec.max, Limit::At(max) if self.state.current_iteration >= max);
        let another = !last && self.stop_asked().is_none();
        let after = self.worktree.snapshot(|| {
            if another {
                self.guards.prepare();
            }
        })?;
        let changes = self.worktree.changes(before, &after)?;
        Ok((after, changes))
    }

    /// Puts the iteration into the history, on disk where a gate or an end may come before the next one, and counts.
    pub(super) fn record<'w>(
        &mut self,
        work: &Work,
        unmendable: Option<&'w str>,
        changes: Option<&Changes>,
        tasks: Option<&Tasks>,
    ) -> Result<Facts<'w>> {
        let ended = work.exit_reason();
        let changes = changes.cloned().unwrap_or_default();
        let progress = match self.spec.progress {
            Progress::Commits => !changes.commits.is_empty(),
            Progress::Changes => !changes.commits.is_empty() || changes.files > 0,
        };
        let n = self.state.current_iteration;
        let usage = work.reading.usage;
        let iteration = Iteration {
            n,
            started: work.started.clone(),
            ended: work.ended.clone(),
            exit_code: work.report.code,
            exit_reason: Some(ended),
            promise_found: work.reading.promised,
            commits: changes.commits,
            files_changed: changes.files,
            tokens_used: usage.counted(),
            input_tokens: usage.input,
            output_tokens: usage.output,
            cache_read_tokens: usage.cache_read,
            cache_write_tokens: usage.cache_write,
            cost_usd: usage.cost,
            attempts: work.attempts,
            session_id: work.reading.session.clone(),
            timed_out: ended == ExitReason::TimedOut,
            left_running: work
                .report
                .survivors
                .iter()
                .map(|s| LeftRunning { pid: s.pid, name: s.name.clone() })
                .collect(),
            ..Iteration::default()
        };
        self.last_failure = brief::failure_with_output(&iteration, &work.tail.text());
        self.failures = if ended.is_failure() { self.failures + 1 } else { 0 };
        self.idle = match (progress, ended) {
            (true, _) => 0,
            (false, ExitReason::NotStarted) => self.idle,
            (false, _) => self.idle + 1,
        };
        for line in story::trouble(&work.report, self.log.trouble()) {
            self.say(&line);
        }
        self.state.total_tokens = self.state.total_tokens.saturating_add(usage.counted());
        self.state.total_cost_usd += usage.cost.unwrap_or(0.0);
        self.state.iterations.push(iteration);
        let stop = self.stop_asked();
        let promised = work.reading.promised && ended == ExitReason::Completed;
        let completion = claim(self.spec, tasks, promised, stop).map_or(Completion::Unclaimed, Completion::Claimed);
        let elapsed = self.began.elapsed();
        let spent = (self.state.total_tokens, self.state.total_cost_usd);
        let (failures, idle) = (self.failures, self.idle);
        let facts = Facts { n, ended, stop, completion, failures, idle, elapsed, unmendable, spent };
        if to_check(&facts, self.spec).is_some() {
            let claimed = |record: Record| Record { claim: Some(n), ..record };
            Registry::of(self.env).note(&self.worktree.root, &self.state.loop_id, claimed)?;
            self.save()?;
        }
        Ok(facts)
    }
}
