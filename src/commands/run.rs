//! `wt-loop run`: takes up the loop that `start` prepared, or with a task prepares one itself and runs it here.

use std::os::fd::AsFd;

use super::Context;
use crate::config::START;
use crate::engine::Engine;
use crate::environment::Environment;
use crate::error::{Error, Exit, Result};
use crate::foreground;
use crate::launch::AtEnd;
use crate::launch::meeting::Guest;
use crate::layout::Layout;
use crate::lock::Lock;
use crate::log::Opening;
use crate::options::{LaunchOptions, LoopOptions, WorkOptions};
use crate::plan::{self, Typed};
use crate::process::{Interrupt, Signals};
use crate::registry::{Record, Registry};
use crate::session::Running;
use crate::state::{Found, State};
use crate::target;
use crate::term::{self, key::wait_for_key};
use crate::view::View;
use crate::worktree::Worktree;

/// Arguments of `run`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The task; without one, the loop that start prepared is taken up
    #[arg(value_name = "TASK")]
    pub task: Option<String>,

    /// What it works on
    #[command(flatten)]
    pub work: WorkOptions,

    /// How the loop runs
    #[command(flatten)]
    pub options: LoopOptions,
}

/// Runs `run`.
pub fn run(args: &Args, context: &Context) -> Result<Exit> {
    let worktree = Worktree::find(&context.cwd)?;
    let has_task = args.task.is_some() || args.work.prompt_file.is_some() || args.work.change.is_some();
    if has_task {
        return run_here(args, context, &worktree);
    }
    if args.options != LoopOptions::default() || args.work != WorkOptions::default() {
        return Err(Error::usage("options without a task; what start prepared has its own")
            .hint("wt-loop run \"what is to be done\" with these options"));
    }
    take_up(&worktree, &Registry::of(&context.env))
}

fn run_here(args: &Args, context: &Context, worktree: &Worktree) -> Result<Exit> {
    let layout = Layout::detect(&worktree.root);
    let change = args.work.change.as_deref().map(|name| target::change(worktree, layout, name)).transpose()?;
    let change_id = change.map(|change| change.id);
    let typed = Typed {
        task: args.task.as_deref(),
        change_id,
        layout: Some(layout),
        work: args.work.clone(),
        options: args.options.clone(),
        launch: LaunchOptions::default(),
    };
    let plan = plan::plan(worktree, &context.env, typed, &START)?;
    if args.work.dry_run {
        term::answer(&plan::dry_run(worktree, &plan, &State::default())?)?;
        return Ok(Exit::Done);
    }
    let signals = Signals::install()?;
    foreground::run(worktree, &context.env, plan.spec, &signals)
}

/// What the terminal runs.
fn take_up(worktree: &Worktree, registry: &Registry) -> Result<Exit> {
    let Some(guest) = Guest::arrive(worktree)? else { return Err(nothing_prepared(worktree, registry)) };
    let signals = Signals::install()?;
    let prepared = prepared(worktree, &guest.env, &guest.loop_id);
    // With the lock in hand nobody prepares another loop, so what is written from here on is over no other's state.
    let (record, state, running) = match prepared.and_then(|prepared| guest.ensure_awaited(&signals).map(|()| prepared))
    {
        Ok(prepared) => prepared,
        Err(error) => {
            guest.report_failure(&error);
            return Err(error);
        }
    };
    let engine = match Engine::new(worktree, &guest.env, &record.spec, &signals, state, Opening::Fresh, running) {
        Ok(engine) => engine,
        Err(error) => {
            guest.report_failure(&error);
            return Err(error);
        }
    };
    let outcome = engine.in_its_own_window().run(|begun| match begun {
        Ok(()) => guest.report_running(&signals),
        Err(error) => {
            guest.report_failure(error);
            Ok(())
        }
    });
    // Lock and pid file are released: whoever waits here stands in no loop's way.
    linger(worktree, guest.at_end, &signals, outcome)
}

/// Keeps the window with the outcome in it, where it would close otherwise. Who closed it, stopped the loop by a command or shuts
/// the machine down does not wait to read it.
fn linger(worktree: &Worktree, at_end: AtEnd, signals: &Signals, outcome: Result<Exit>) -> Result<Exit> {
    let sent_away = matches!(signals.interrupt(), Some(Interrupt::HangUp | Interrupt::Terminate));
    if at_end == AtEnd::Leave || sent_away {
        return outcome;
    }
    let exit = outcome.unwrap_or_else(|error| {
        term::error(&error);
        error.exit()
    });
    let next_loop = || Lock::is_held(&worktree.loop_lock()).unwrap_or(false);
    signals.settle();
    wait_for_key(signals.as_fd(), || at_end == AtEnd::WaitForKeyOrNextLoop && next_loop());
    Ok(exit)
}

fn prepared(worktree: &Worktree, env: &Environment, loop_id: &str) -> Result<(Record, State, Running)> {
    let registry = Registry::of(env);
    let record = registry.load(&worktree.root).filter(|record| record.loop_id == loop_id);
    let state = match State::load(&worktree.state()) {
        Ok(Found::State(state)) if state.loop_id == loop_id => Some(*state),
        _ => None,
    };
    let (Some(record), Some(state)) = (record, state) else {
        return Err(nothing_prepared(worktree, &registry));
    };
    let running = Running::begin(worktree, &registry, loop_id)?;
    Ok((record, state, running))
}

fn nothing_prepared(worktree: &Worktree, registry: &Registry) -> Error {
    let error = Error::specified("No loop state found. Use 'wt-loop start' first.");
    match View::of(worktree, registry) {
        Ok(Some(view)) if !view.is_active() => error.hint("wt-loop resume goes on with the last loop"),
        _ => error,
    }
}
