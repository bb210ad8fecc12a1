//! The prompt of the next iteration, gathered from what is on disk now.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::config::LoopSpec;
use crate::error::{Doing, Error, Result};
use crate::layout::{self, Change, Layout};
use crate::options::Done;
use crate::prompt::{Document, HowDone, PromptFacts, Template, fenced};
use crate::state::{ExitReason, Iteration, State};
use crate::tasks::Tasks;
use crate::term::human;
use crate::worktree::Worktree;

/// How many earlier iterations a prompt tells of.
const TOLD: usize = 5;
/// How many open tasks it lists.
const LISTED: usize = 50;

/// The tasks file of a loop and what is in it.
pub struct TasksFound {
    /// Its path below the worktree's root.
    pub file: String,
    /// What is in it.
    pub tasks: Tasks,
}

/// The change that a loop works on.
pub fn change(worktree: &Worktree, id: Option<&str>) -> Option<Change> {
    let id = id?;
    Layout::detect(&worktree.root).resolve(&worktree.root, id).ok()
}

/// The tasks of the loop: those of its change, or without one those of the tasks.md found.
pub fn tasks(worktree: &Worktree, spec: &LoopSpec) -> Result<Option<TasksFound>> {
    let path = match &spec.change_id {
        Some(id) => change(worktree, Some(id)).map(|change| change.tasks()),
        None => layout::find_tasks(&worktree.root),
    };
    let Some(path) = path else { return Ok(None) };
    let opened = layout::open_inside(&worktree.root, &path).map_err(|error| Error::new(error.to_string()))?;
    let Some(mut file) = opened else { return Ok(None) };
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).doing("read", &path)?;
    let tasks = Tasks::parse(&String::from_utf8_lossy(&bytes));
    Ok(Some(TasksFound { file: below(&worktree.root, &path), tasks }))
}

/// The file of the context that every iteration reloads.
pub fn context_file(worktree: &Worktree, change_id: Option<&str>) -> PathBuf {
    change(worktree, change_id).map_or_else(|| worktree.root.join(layout::LOOSE_CONTEXT), |change| change.context())
}

/// The whole prompt of iteration `n`.
pub fn prompt(
    worktree: &Worktree,
    spec: &LoopSpec,
    state: &State,
    n: u64,
    last_failure: Option<&str>,
) -> Result<String> {
    let root = &worktree.root;
    let template = template(spec)?;
    let inside = |path: PathBuf| layout::read_inside(root, &path).map_err(|error| Error::new(error.to_string()));
    let change = change(worktree, spec.change_id.as_deref());
    let proposal = change.as_ref().map(|change| inside(change.proposal())).transpose()?.flatten();
    let module = match change.as_ref().and_then(|change| change.module_id()) {
        Some(id) => Layout::detect(root).resolve_module(root, id).ok(),
        None => None,
    };
    let module_text = module.as_ref().map(|module| inside(module.file())).transpose()?.flatten();
    let tasks = tasks(worktree, spec)?;
    let context = inside(context_file(worktree, spec.change_id.as_deref()))?;
    let status = tasks.as_ref().map(task_status);
    let rejected = rejected(state);
    let previous = previous(&state.iterations);
    let document = |id: &'_ str, text: &'_ Option<String>| -> (String, String) {
        (id.to_owned(), text.clone().unwrap_or_default())
    };
    let change_text = change.as_ref().map(|change| document(&change.id, &proposal));
    let module_text = module.as_ref().map(|module| document(&module.id, &module_text));
    Ok(template.render(&PromptFacts {
        worktree: &worktree.name(),
        iteration: n,
        max: spec.max.number(),
        min: spec.min,
        change: change_text.as_ref().map(|(id, text)| Document { id, text }),
        module: module_text.as_ref().map(|(id, text)| Document { id, text }),
        task_status: status.as_deref(),
        task: &spec.task,
        context: context.as_deref(),
        validation_failure: rejected.as_deref(),
        last_failure,
        previous: previous.as_deref(),
        done: how_done(spec, tasks.as_ref()),
    }))
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

fn task_status(found: &TasksFound) -> String {
    let TasksFound { file, tasks } = found;
    let open: Vec<String> = tasks
        .open()
        .take(LISTED)
        .map(|task| {
            let id = task.id.as_ref().map(|id| format!("{id} ")).unwrap_or_default();
            format!("- {id}{} ({})", task.name, task.status)
        })
        .collect();
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
    claimed.validation.as_ref().map(|rejection| rejection.detail.clone())
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

fn below(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}
