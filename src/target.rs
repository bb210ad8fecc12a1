//! Which loop is meant: the one of this worktree, or the one that a name leads to.
//!
//! A name is first a change of this worktree, then another worktree of the repository by directory name or branch, then a change
//! that a loop of another worktree works on. A name that fits two of the same kind is an error that lists them.

use std::path::{Path, PathBuf};

use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::layout::{Change, Layout, Module, ResolveError};
use crate::registry::{Record, Registry};
use crate::session;
use crate::view::View;
use crate::worktree::{Sibling, Worktree, gone};

/// A place to work in, and perhaps the change to work on.
#[derive(Clone, Debug)]
pub struct Target {
    /// The worktree.
    pub worktree: Worktree,
    /// The change; `None` where only a worktree was named.
    pub change_id: Option<String>,
}

/// Where a new loop is to run.
pub fn for_start(cwd: &Path, name: Option<&str>) -> Result<Target> {
    let here = Worktree::find(cwd)?;
    let Some(name) = name else { return Ok(Target { worktree: here, change_id: None }) };
    if let Some(change_id) = change_here(&here, name)? {
        return Ok(Target { worktree: here, change_id: Some(change_id) });
    }
    match sibling(&here, name)? {
        Some(root) => Ok(Target { worktree: Worktree::find(&root)?, change_id: None }),
        None => Err(unknown(&here, name)),
    }
}

/// The change of this worktree that `name` means, which must be one.
pub fn change(worktree: &Worktree, layout: &'static Layout, name: &str) -> Result<Change> {
    layout.resolve(&worktree.root, name).map_err(|error| told(&error))
}

/// The module that `name` means, which must be one.
pub fn module(worktree: &Worktree, layout: &'static Layout, name: &str) -> Result<Module> {
    layout.resolve_module(&worktree.root, name).map_err(|error| told(&error))
}

/// The loop that a reader means.
pub fn of_loop(cwd: &Path, env: &Environment, name: Option<&str>) -> Result<View> {
    let registry = Registry::of(env);
    let Some(name) = name else { return of_here(cwd, &registry) };
    let here = Worktree::find(cwd)?;
    let of = |worktree: &Worktree| trusted(View::of(worktree, &registry)?);
    let change_id = change_here(&here, name)?;
    if change_id.is_some()
        && let Some(view) = of(&here)?.filter(|view| view.state.change_id == change_id)
    {
        return Ok(view);
    }
    let sibling = sibling(&here, name)?;
    if let Some(root) = sibling.as_ref().filter(|root| root.is_dir()) {
        let there = Worktree::find(root)?;
        return of(&there)?.ok_or_else(|| no_loop(&there));
    }
    match (elsewhere(&here, &registry, change_id.as_deref().unwrap_or(name))?, sibling) {
        (Some(view), _) => Ok(view),
        (None, Some(root)) => Err(gone(&root)),
        (None, None) if change_id.is_some() => Err(Error::new(format!("no loop works on the change '{name}'"))
            .hint(format!("wt-loop start {name} \"what is to be done\""))),
        (None, None) => Err(unknown(&here, name)),
    }
}

/// The loop of the worktree that `cwd` is in. While git looks where that is, the loop is looked at that is on record here: nearly
/// always it is the one.
fn of_here(cwd: &Path, registry: &Registry) -> Result<View> {
    let mut likely = None;
    let here = Worktree::find_meanwhile(cwd, || {
        let record = cwd.ancestors().find_map(|dir| registry.load(dir));
        likely = record.and_then(|record| View::of_record(&record, registry).ok().flatten());
    })?;
    let view = match likely.filter(|view| view.worktree == here) {
        Some(view) => Some(view),
        None => View::of(&here, registry)?,
    };
    trusted(view)?.ok_or_else(|| no_loop(&here))
}

/// A state that no loop of the user's wrote is one of another tool's, or a trap: one that the repository ships is refused.
fn trusted(view: Option<View>) -> Result<Option<View>> {
    if let Some(view) = view.as_ref().filter(|view| view.holder.is_none())
        && view.record.is_none()
    {
        session::refuse_tracked(&view.worktree)?;
    }
    Ok(view)
}

fn change_here(here: &Worktree, name: &str) -> Result<Option<String>> {
    match Layout::detect(&here.root).resolve(&here.root, name) {
        Ok(change) => Ok(Some(change.id)),
        Err(ResolveError::Unknown { .. } | ResolveError::Invalid { .. }) => Ok(None),
        Err(error) => Err(told(&error)),
    }
}

fn sibling(here: &Worktree, name: &str) -> Result<Option<PathBuf>> {
    let siblings = here.siblings()?;
    let named = |sibling: &&Sibling| sibling.root.file_name().is_some_and(|found| found == name);
    let on_branch = |sibling: &&Sibling| sibling.branch.as_deref() == Some(name);
    let mut found: Vec<PathBuf> = siblings.iter().filter(named).map(|sibling| sibling.root.clone()).collect();
    if found.is_empty() {
        found = siblings.iter().filter(on_branch).map(|sibling| sibling.root.clone()).collect();
    }
    one(name, "worktree", found, |root| root.display().to_string())
}

fn elsewhere(here: &Worktree, registry: &Registry, name: &str) -> Result<Option<View>> {
    let ours = |record: &Record| record.common_dir == here.common_dir && record.root != here.root;
    let works_on = |view: &View| view.state.change_id.as_deref().is_some_and(|id| id == name || id.starts_with(name));
    // A worktree that was removed under its loop is none that git knows, and the loop is there all the same.
    let runs_nowhere = |view: &View| {
        let root = &view.worktree.root;
        view.is_active() && !root.is_dir() && root.file_name().is_some_and(|found| found == name)
    };
    let records = registry.all().into_iter().filter(ours);
    let views = records.filter_map(|record| View::of_record(&record, registry).ok().flatten());
    let views = views.filter(|view| works_on(view) || runs_nowhere(view)).collect();
    one(name, "loop", views, |view: &View| view.worktree.root.display().to_string())
}

/// The only one of its kind, or an error that lists them.
fn one<T>(name: &str, kind: &str, mut found: Vec<T>, show: impl Fn(&T) -> String) -> Result<Option<T>> {
    if found.len() > 1 {
        let all: Vec<String> = found.iter().map(show).collect();
        return Err(Error::usage(format!("'{name}' fits more than one {kind}: {}", all.join(", "))));
    }
    Ok(found.pop())
}

fn no_loop(worktree: &Worktree) -> Error {
    Error::new(format!("no loop has run in {}", worktree.root.display())).hint("wt-loop start \"what is to be done\"")
}

fn unknown(here: &Worktree, name: &str) -> Error {
    let changes = Layout::detect(&here.root).changes(&here.root).unwrap_or_default();
    let siblings = here.siblings().unwrap_or_default();
    let worktrees =
        siblings.iter().filter_map(|sibling| sibling.root.file_name()).map(|name| name.to_string_lossy().into_owned());
    let known: Vec<String> = changes.into_iter().chain(worktrees).collect();
    let error = Error::usage(format!("no change and no worktree called '{name}'; found: {}", known.join(", ")));
    match crate::nearest::nearest(name, known.iter().map(String::as_str)) {
        Some(near) => error.hint(format!("did you mean {near}?")),
        None => error.hint("git worktree list shows the worktrees"),
    }
}

fn told(error: &ResolveError) -> Error {
    let told = Error::usage(error.to_string());
    match error {
        ResolveError::Unknown { nearest: Some(near), .. } => told.hint(format!("did you mean {near}?")),
        ResolveError::Unknown { kind, candidates, .. } | ResolveError::Ambiguous { kind, candidates, .. } => {
            told.hint(match candidates.first() {
                Some(first) => format!("--{kind} {first}"),
                None => format!("without --{kind} the loop works on the task alone"),
            })
        }
        // Nobody has typed anything wrong.
        ResolveError::Unreadable { .. } => Error::new(error.to_string()),
        ResolveError::Invalid { .. } => told,
    }
}
