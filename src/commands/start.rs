//! `wt-loop start [CHANGE] "TASK"`: prepares a loop, puts it somewhere, and returns when it has reported in.

use super::Context;
use crate::config::START;
use crate::error::{Doing, Error, Exit, Result};
use crate::files;
use crate::launch::meeting::Host;
use crate::launch::{AUTO, Fullscreen, Launch, Launched, Launcher};
use crate::layout::Layout;
use crate::options::{LaunchOptions, LoopOptions, WorkOptions};
use crate::plan::{self, Plan, Typed};
use crate::registry::Registry;
use crate::session::{self, Starting};
use crate::state::{State, Status, now_text};
use crate::target::{self, Target};
use crate::term::{self, BOLD, filter::plain, paint};
use crate::view::View;

/// Arguments of `start`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A change of this worktree, or another worktree's name or branch; may be left out
    #[arg(value_name = "CHANGE", add = crate::complete::targets())]
    pub first: Option<String>,

    /// What is to be done
    #[arg(value_name = "TASK")]
    pub second: Option<String>,

    /// What it works on
    #[command(flatten)]
    pub work: WorkOptions,

    /// Where it is put
    #[command(flatten)]
    pub launch: LaunchOptions,

    /// How the loop runs
    #[command(flatten)]
    pub options: LoopOptions,
}

/// Runs `start`.
pub fn run(args: &Args, context: &Context) -> Result<Exit> {
    // One word alone is the task.
    let (name, task) = match (args.first.as_deref(), args.second.as_deref()) {
        (task, None) => (None, task),
        (name, task) => (name, task),
    };
    let Target { worktree, change_id } = target::for_start(&context.cwd, name)?;
    let change_id = one_change(&worktree, name, change_id, args.work.change.as_deref())?;
    let typed = Typed {
        task,
        change_id,
        layout: None,
        work: args.work.clone(),
        options: args.options.clone(),
        launch: args.launch.clone(),
    };
    let plan = plan::plan(&worktree, &context.env, typed, &START)?;
    if args.work.dry_run {
        term::answer(&plan::dry_run(&worktree, &plan, &State::default())?)?;
        return Ok(Exit::Done);
    }
    let name = plan.launch.launcher.clone().unwrap_or_else(|| AUTO.to_owned());
    let launcher = Launcher::named(&name, &context.env, &context.cwd)?;
    if plan.launch.fullscreen == Some(true) && launcher.fullscreen == Fullscreen::Unknown {
        term::narrate(&format!("wt-loop: {} has no full screen; starting all the same", launcher.name));
    }
    let registry = Registry::of(&context.env);
    if let Some(source) = &plan.spec.project_validation {
        term::whisper(&source.words());
    }
    let starting = Starting::begin(&worktree, &registry)?;
    if let Ok(Some(view)) = View::of(&worktree, &registry) {
        session::record_crash(&view)?;
    }
    let Plan { spec, .. } = plan;
    let (mut state, record) = session::prepare(&worktree, &context.env, spec)?;
    let host = Host::open(&worktree, &state.loop_id, &context.env)?;
    let output = registry.launch_output(&worktree.root);
    let program = std::env::current_exe().doing("find", "this program".as_ref())?;
    let launch = Launch { program, worktree: &worktree, env: &context.env, output };
    let reported = launcher.launch(&launch).and_then(|mut launched| {
        let pid = host.wait(launched.child.as_mut())?;
        Ok((launched, pid))
    });
    // From here on a terminal that opens late finds no door.
    drop(host);
    match reported {
        Ok((launched, pid)) => {
            drop(starting);
            let _ = files::remove(&launch.output);
            term::answer(&told(&record.spec.task, &worktree.name(), &launched, pid))?;
            Ok(Exit::Done)
        }
        Err(error) => {
            give_up(&mut state, &worktree, &error)?;
            Err(with_what_was_printed(error, &launch))
        }
    }
}

/// A change named twice must be the same.
fn one_change(
    worktree: &crate::worktree::Worktree,
    name: Option<&str>,
    positional: Option<String>,
    option: Option<&str>,
) -> Result<Option<String>> {
    let Some(option) = option else { return Ok(positional) };
    let option = target::change(worktree, Layout::detect(&worktree.root), option)?.id;
    match (name, positional) {
        (Some(name), Some(positional)) if positional != option => {
            Err(Error::usage(format!("two changes are named: '{name}' and --change {option}")).hint("name one of them"))
        }
        _ => Ok(Some(option)),
    }
}

fn told(task: &str, name: &str, launched: &Launched, pid: i32) -> String {
    let task = plain(task.lines().next().unwrap_or_default());
    let attach = launched.attach.as_ref().map(|attach| format!("  go there   {attach}\n")).unwrap_or_default();
    format!(
        "{} runs {} (pid {pid}): {task}\n  watch it   wt-loop monitor\n{attach}  end it     wt-loop stop\n",
        paint(BOLD, &plain(name)),
        launched.place
    )
}

/// Leaves no half-started state behind.
fn give_up(state: &mut State, worktree: &crate::worktree::Worktree, error: &Error) -> Result<()> {
    state.status = Status::Stopped;
    state.status_reason = Some(format!("not started: {error}"));
    state.exit_code = Some(i32::from(Exit::Error.code()));
    state.ended_at = Some(now_text());
    state.save(&worktree.state()).doing("write", &worktree.state())
}

fn with_what_was_printed(error: Error, launch: &Launch) -> Error {
    let printed = files::read(&launch.output).ok().flatten().unwrap_or_default();
    let text = plain(&String::from_utf8_lossy(&printed));
    let _ = files::remove(&launch.output);
    let error = if text.is_empty() { error } else { error.hint(format!("it printed: {text}")) };
    error.hint("run it here instead: wt-loop run \"…\", or another place: --launcher background")
}
