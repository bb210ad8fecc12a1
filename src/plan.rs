//! From what was typed to a loop that could run: the task, the change, the criterion, the agent, all looked at once before
//! anything is written.

use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use nix::errno::Errno;

use crate::agent::{Harness, PrivateFiles};
use crate::config::{Config, Defaults, LoopSpec, TasksFile, Work, empty_task};
use crate::engine::brief;
use crate::environment::Environment;
use crate::error::{Doing, Error, Result};
use crate::gates::sources;
use crate::gates::tasks::AtStart;
use crate::launch::own::OwnTerminal;
use crate::layout::{self, Layout, ReadError, module_of};
use crate::material;
use crate::options::{Done, LaunchOptions, LoopOptions, WorkOptions};
use crate::rawtext;
use crate::shell;
use crate::state::State;
use crate::target;
use crate::term;
use crate::worktree::Worktree;

/// What was typed, apart from the place.
#[derive(Clone, Debug, Default)]
pub struct Typed<'a> {
    /// The task on the command line.
    pub task: Option<&'a str>,
    /// The change, already resolved.
    pub change_id: Option<String>,
    /// Where the repository keeps its changes; looked for where it is not said.
    pub layout: Option<&'static Layout>,
    /// Prompt file, label.
    pub work: WorkOptions,
    /// The options of the loop.
    pub options: LoopOptions,
    /// Where it is put.
    pub launch: LaunchOptions,
}

/// A loop that could run.
pub struct Plan {
    /// Every option of it.
    pub spec: LoopSpec,
    /// Where it is put.
    pub launch: LaunchOptions,
    /// The terminals that it could be put into beside those that we know.
    pub own_terminals: Vec<OwnTerminal>,
    /// Where the agent's program is.
    pub program: PathBuf,
}

/// Resolves everything, and warns of what a person may not have meant.
pub fn plan(worktree: &Worktree, env: &Environment, typed: Typed, defaults: &Defaults) -> Result<Plan> {
    let Typed { task, change_id, layout, work, options, launch } = typed;
    let layout = layout.unwrap_or_else(|| Layout::detect(&worktree.root));
    let module_id = module_id(worktree, layout, change_id.as_deref(), work.module.as_deref())?;
    brief::check_texts(worktree, layout, change_id.as_deref())?;
    let task = whole_task(&worktree.root, task, work.prompt_file.as_deref())?;
    let config = Config::load(&worktree.root, env, options, launch)?;
    let (asked, launch, own_terminals) = (config.options.done, config.launch.clone(), config.own_terminals.clone());
    let tasks = tasks_file(worktree, layout, change_id.as_deref())?;
    let skipped = config.options.skip_validation == Some(true);
    let project_validation = if skipped { None } else { sources::find(&worktree.root)? };
    let work = Work { task, change_id, module_id, layout, label: work.label, project_validation };
    let spec = config.resolve(work, tasks, defaults)?;
    let program = Harness::of(&spec)?.locate(env, &worktree.root)?;
    let is_linked = || spec.change_id.is_none() && layout::has_linked_tasks(&worktree.root);
    match (tasks, asked) {
        (TasksFile::Missing, None) if defaults.follows_tasks() && is_linked() => {
            term::warn("tasks.md is a symbolic link, so it is not read; using manual done criteria");
        }
        (TasksFile::Missing, None) if defaults.follows_tasks() => {
            term::warn("No tasks.md found, using manual done criteria");
        }
        (TasksFile::Missing, Some(Done::Tasks)) if is_linked() => {
            term::warn(
                "tasks.md is a symbolic link, so it is not read; the loop is done when a file is in its place and all its tasks are closed",
            );
        }
        (TasksFile::Missing, Some(Done::Tasks)) => {
            term::warn("no tasks.md found; the loop is done when there is one and all its tasks are closed");
        }
        _ => {}
    }
    Ok(Plan { spec, launch, own_terminals, program })
}

/// The next prompt and the exact command line, without running or writing anything.
pub fn dry_run(worktree: &Worktree, plan: &Plan, state: &State) -> Result<String> {
    let n = state.last_recorded() + 1;
    let failure = state.iterations.last().and_then(brief::failure_of);
    let brief = brief::brief(worktree, &plan.spec, state, n, failure.as_deref())?;
    brief.warnings.iter().for_each(|warning| term::warn(warning));
    let prompt = rawtext::to_bytes(&brief.prompt);
    let harness = Harness::of(&plan.spec)?;
    let called = harness.invocation(&plan.spec, plan.program.clone(), None, &prompt, &PrivateFiles::of(worktree));
    let words =
        std::iter::once(called.program.as_os_str()).chain(called.args.iter().map(std::ffi::OsString::as_os_str));
    let line: Vec<String> = words.map(|word| shell::word(&word.to_string_lossy())).collect();
    let heading = if called.input.is_empty() { "The prompt:" } else { "The prompt on its standard input:" };
    Ok(format!("{}\n\n{heading}\n\n{}", line.join(" "), rawtext::for_showing(&brief.prompt)))
}

/// The module that was named, or the one that the change's id tells.
fn module_id(
    worktree: &Worktree,
    layout: &'static Layout,
    change: Option<&str>,
    named: Option<&str>,
) -> Result<Option<String>> {
    match named {
        Some(name) => target::module(worktree, layout, name).map(|module| Some(module.id)),
        None => Ok(change.and_then(module_of).map(str::to_owned)),
    }
}

/// The task from a file, from the command line, or from both: file first, then what was typed.
pub fn whole_task(root: &Path, typed: Option<&str>, file: Option<&str>) -> Result<String> {
    if typed.is_some_and(|typed| typed.trim().is_empty()) {
        return Err(empty_task());
    }
    let read = file.map(|file| prompt_file(root, file)).transpose()?;
    Ok(match (read, typed) {
        (Some(read), Some(typed)) => format!("{}\n\n{typed}", read.trim_end()),
        (Some(read), None) => read,
        (None, typed) => typed.unwrap_or_default().to_owned(),
    })
}

fn prompt_file(root: &Path, name: &str) -> Result<String> {
    let mut bytes = Vec::new();
    let read = match (name, inside(root, Path::new(name))) {
        ("-", _) => io::stdin().read_to_end(&mut bytes),
        // Whoever wrote the repository must not choose, by a link, what of this machine an agent is told.
        (_, Some(path)) => match layout::open_inside(root, &layout::behind_links(root, &path)) {
            Ok(Some(mut file)) => file.read_to_end(&mut bytes),
            Ok(None) => Err(Errno::ENOENT.into()),
            Err(ReadError::NotRegular(path)) if path.is_dir() => Err(Errno::EISDIR.into()),
            Err(error @ ReadError::Symlink(_)) => {
                return Err(Error::new(error.to_string()).hint("name the file that it leads to, if you mean that"));
            }
            Err(error) => return Err(Error::new(error.to_string())),
        },
        (_, None) => fs::File::open(name).and_then(|mut file| file.read_to_end(&mut bytes)),
    };
    read.doing("read the prompt file", Path::new(name))
        .map_err(|error| error.hint("--prompt-file takes the path of a text, or - for standard input"))?;
    let text = rawtext::from_bytes(&bytes);
    match (text.trim().is_empty(), name) {
        (false, _) => Ok(text),
        (true, "-") => Err(Error::usage("there is no prompt on standard input")
            .hint("echo \"what is to be done\" | wt-loop ralph --prompt-file -")),
        (true, _) => Err(Error::usage(format!("the prompt file {name} is empty"))
            .hint(format!("write what is to be done into {name}, or: wt-loop start \"what is to be done\""))),
    }
}

/// The path of a file that is named as one of the worktree; `None` for one that is elsewhere.
fn inside(root: &Path, name: &Path) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for part in std::path::absolute(name).ok()?.components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            part => path.push(part),
        }
    }
    path.starts_with(root).then_some(path)
}

fn tasks_file(worktree: &Worktree, layout: &'static Layout, change_id: Option<&str>) -> Result<TasksFile> {
    let path: Option<PathBuf> = match change_id {
        Some(_) => material::change(worktree, layout, change_id).map(|change| change.tasks()),
        None => layout::find_tasks(&worktree.root),
    };
    let Some(path) = path else { return Ok(TasksFile::Missing) };
    let text = layout::read_inside(&worktree.root, &path).map_err(|error| Error::new(error.to_string()))?;
    Ok(match text.map(|text| crate::tasks::Tasks::parse(&text)) {
        None => TasksFile::Missing,
        Some(tasks) if tasks.is_empty() => TasksFile::Present(AtStart::None),
        Some(_) => TasksFile::Present(AtStart::Some),
    })
}
