//! The prompt of the next iteration, gathered from what is on disk now.

use std::fs;
use std::path::Path;

use crate::config::LoopSpec;
use crate::error::{Doing, Error, Result};
use crate::gates::Rejection;
use crate::gates::tasks::{AtStart, unreadable, vanished};
use crate::layout::{self, Layout};
use crate::material::{self, TasksFound, below, change, context_file};
use crate::options::Done;
use crate::prompt::{Document, HowDone, PromptFacts, Template, fenced};
use crate::state::{ExitReason, Iteration, State};
use crate::term::human;
use crate::worktree::Worktree;

/// How many earlier iterations a prompt tells of.
const TOLD: usize = 5;
/// How many open tasks it lists.
const LISTED: usize = 50;

/// A prompt, and what could not be read for it.
pub struct Brief {
    /// The whole prompt.
    pub prompt: String,
    /// What is left out, and why.
    pub warnings: Vec<String>,
}

/// The texts of the repository that a prompt has. One that may not be read is left out and told, and ends no loop.
#[derive(Default)]
struct Texts {
    change: Option<(String, String)>,
    module: Option<(String, String)>,
    context: Option<String>,
    warnings: Vec<String>,
}

impl Texts {
    fn gather(worktree: &Worktree, spec: &LoopSpec) -> Self {
        let (root, layout) = (&worktree.root, spec.layout());
        let mut texts = Self::default();
        if let Some(change) = change(worktree, layout, spec.change_id.as_deref()) {
            let proposal = texts.read(root, &change.proposal(), IfMissing::Warn);
            texts.change = Some((change.id, proposal.unwrap_or_default()));
        }
        if let Some(module) = spec.module_id.as_deref().and_then(|id| layout.resolve_module(root, id).ok()) {
            let text = texts.read(root, &module.file(), IfMissing::Fine);
            texts.module = Some((module.id, text.unwrap_or_default()));
        }
        texts.context = texts.read(root, &context_file(worktree, layout, spec.change_id.as_deref()), IfMissing::Fine);
        texts
    }

    fn read(&mut self, root: &Path, path: &Path, missing: IfMissing) -> Option<String> {
        match layout::read_inside(root, path) {
            Ok(None) if missing == IfMissing::Warn => self.warnings.push(format!("{} is missing", below(root, path))),
            Ok(text) => return text,
            Err(error) => self.warnings.push(error.to_string()),
        }
        None
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum IfMissing {
    Warn,
    Fine,
}

/// What is written about iteration `n` into its prompt.
pub fn brief(worktree: &Worktree, spec: &LoopSpec, state: &State, n: u64, last_failure: Option<&str>) -> Result<Brief> {
    let template = template(spec)?;
    let mut texts = Texts::gather(worktree, spec);
    let tasks = material::tasks(worktree, spec).map_err(|error| error.to_string());
    texts.warnings.extend(tasks.as_ref().err().cloned());
    let status = task_status(&tasks, spec.tasks_at_start);
    let tasks = tasks.ok().flatten();
    let prompt = template.render(&PromptFacts {
        worktree: &worktree.name(),
        iteration: n,
        max: spec.max.number(),
        min: spec.min,
        change: texts.change.as_ref().map(|(id, text)| Document { id, text }),
        module: texts.module.as_ref().map(|(id, text)| Document { id, text }),
        task_status: status.as_deref(),
        task: &spec.task,
        context: texts.context.as_deref(),
        validation_failure: rejected(state).as_deref(),
        last_failure,
        previous: previous(&state.iterations).as_deref(),
        done: how_done(spec, tasks.as_ref()),
    });
    Ok(Brief { prompt, warnings: texts.warnings })
}

/// Refuses to begin where a text that is there may not be read; one that is missing is no reason not to.
pub fn check_texts(worktree: &Worktree, layout: &'static Layout, change_id: Option<&str>) -> Result<()> {
    let Some(change) = change(worktree, layout, change_id) else { return Ok(()) };
    let read = layout::read_inside(&worktree.root, &change.proposal());
    read.map(drop)
        .map_err(|error| Error::new(error.to_string()).hint("wt-loop reads only regular files inside the worktree"))
}

/// The last failure of a loop that goes on after it was ended.
pub fn failure_of(iteration: &Iteration) -> Option<String> {
    match iteration.exit_reason? {
        ExitReason::Failed => Some(match iteration.exit_code {
            Some(code) => format!("The agent of iteration {} ended with exit code {code}.", iteration.n),
            None => format!("The agent of iteration {} was killed.", iteration.n),
        }),
        ExitReason::TimedOut => Some(format!("Iteration {} took too long and was ended by the runner.", iteration.n)),
        ExitReason::NotStarted => Some(format!("The agent of iteration {} could not be started.", iteration.n)),
        ExitReason::Completed | ExitReason::Interrupted => None,
    }
}

/// The same with the end of what the agent printed.
pub fn failure_with_output(iteration: &Iteration, tail: &str) -> Option<String> {
    let what = failure_of(iteration)?;
    Some(if tail.is_empty() { what } else { format!("{what} The end of its output:\n\n{}", fenced(tail)) })
}

fn template(spec: &LoopSpec) -> Result<Template> {
    let Some(path) = &spec.prompt_template else { return Ok(Template::builtin()) };
    let text = fs::read_to_string(path).doing("read the prompt template", path)?;
    Template::parse(&text).map_err(|error| Error::usage(format!("{}: {error}", path.display())))
}

fn how_done<'a>(spec: &'a LoopSpec, tasks: Option<&'a TasksFound>) -> HowDone<'a> {
    let file = tasks.map_or("tasks.md", |found| &found.file);
    match (spec.done, &spec.promise) {
        (Done::Tasks, Some(token)) => HowDone::Either { file, token },
        (Done::Tasks, None) => HowDone::Tasks { file },
        (Done::Manual, Some(token)) => HowDone::Promise { token },
        (Done::Manual, None) => HowDone::Never,
    }
}

/// How far the tasks are. Whatever became of their file is told as well: the agent is the one who can mend it.
fn task_status(tasks: &Result<Option<TasksFound>, String>, at_start: AtStart) -> Option<String> {
    let found = match tasks {
        Err(why) => return Some(unreadable(why)),
        Ok(found) => found.as_ref(),
    };
    match vanished(found.map(|found| &found.tasks), at_start) {
        Some(how) => Some(how.to_owned()),
        None => found.map(progress),
    }
}

fn progress(found: &TasksFound) -> String {
    let TasksFound { file, tasks } = found;
    let open: Vec<String> = tasks.open().take(LISTED).map(|task| format!("- {task}")).collect();
    let heading = format!("{} of {} tasks in `{file}` are done.", tasks.done(), tasks.total());
    let heading = if open.is_empty() { heading } else { format!("{heading} Open:\n") };
    let more = tasks.open().count().saturating_sub(LISTED);
    let more = (more > 0).then(|| format!("- … and {more} more"));
    std::iter::once(heading).chain(open).chain(more).collect::<Vec<_>>().join("\n")
}

/// Why the last claim was not believed, as long as none was believed since.
fn rejected(state: &State) -> Option<String> {
    let claimed =
        state.iterations.iter().rev().find(|iteration| iteration.validation.is_some() || iteration.done_check)?;
    claimed.validation.as_ref().map(Rejection::for_the_agent)
}

fn previous(iterations: &[Iteration]) -> Option<String> {
    let told = &iterations[iterations.len().saturating_sub(TOLD)..];
    let lines = told.iter().map(|iteration| {
        let how = iteration.exit_reason.map_or("ended", ExitReason::word);
        let took = iteration.duration().map(|span| format!(" in {}", human::duration(span))).unwrap_or_default();
        let commits = human::plural(iteration.commits.len() as u64, "commit");
        let files = human::plural(iteration.files_changed, "file");
        format!("- {}: {how}{took}, {commits}, {files} changed", iteration.n)
    });
    Some(lines.collect::<Vec<_>>().join("\n")).filter(|text| !text.is_empty())
}
