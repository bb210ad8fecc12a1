//! `wt-loop start [CHANGE] "TASK"`: prepares a loop, puts it somewhere, and returns when it has reported in.

use std::ffi::OsString;

use super::Context;
use crate::config::START;
use crate::error::{Doing, Error, Exit, Result};
use crate::files;
use crate::launch::choice::{self, Choice, Facts};
use crate::launch::meeting::Host;
use crate::launch::{AUTO, AtEnd, Launch, Launched, Launcher, Wish};
use crate::layout::Layout;
use crate::options::{LaunchOptions, LoopOptions, WorkOptions};
use crate::plan::{self, Plan, Typed};
use crate::process::{Signals, end_detached};
use crate::registry::Registry;
use crate::session::{self, Starting};
use crate::shell;
use crate::state::{State, Status, now_text};
use crate::target::{self, Target};
use crate::term::{self, BOLD, filter::plain, paint};

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

    /// Say which launcher is taken, and why
    #[arg(short, long)]
    pub verbose: bool,

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
    let Plan { spec, launch: wanted, own_terminals, .. } = plan;
    let facts = Facts::gather(&context.env, &context.cwd, &own_terminals);
    let picked = choice::pick(wanted.launcher.as_deref().unwrap_or(AUTO), &facts, &own_terminals)?;
    let wish = if wanted.fullscreen == Some(true) { Wish::Fullscreen } else { Wish::Window };
    tell_of(&picked, args.verbose, wish);
    let launcher = picked.launcher;
    let at_end = if wanted.close == Some(true) { AtEnd::Leave } else { launcher.at_end() };

    let registry = Registry::of(&context.env);
    if let Some(source) = &spec.project_validation {
        term::whisper(&source.words());
    }
    let starting = Starting::begin(&worktree, &registry)?;
    let (mut state, mut record) = session::prepare(&worktree, &context.env, spec)?;
    let output = registry.launch_output(&worktree.root);
    let program = std::env::current_exe().doing("find", "this program".as_ref())?;
    let launch = Launch { program, worktree: &worktree, env: &context.env, output, wish };
    let signals = Signals::install()?;
    let host = Host::open(&worktree, &state.loop_id, &context.env, at_end)?;
    let note_attach = |attach: &Option<String>| {
        record.attach.clone_from(attach);
        if attach.is_some() { registry.save(&record) } else { Ok(()) }
    };
    let reported = reported_in(&launcher, &launch, &host, &signals, note_attach);
    // From here on a terminal that opens late finds no door.
    drop(host);
    let printed = take_printed(&launch);
    let error = match reported {
        Ok((launched, pid)) => {
            drop(starting);
            term::answer(&told(&record.spec.task, &worktree.name(), &launched, pid))?;
            return Ok(Exit::Done);
        }
        Err(error) => error,
    };
    give_up(&mut state, &worktree, &error)?;
    if signals.interrupt().is_some() {
        term::error(&error);
        return Ok(Exit::Interrupted);
    }
    let error = if printed.is_empty() { error } else { error.hint(format!("it printed: {printed}")) };
    Err(match choice::instead(&launcher, &facts, &own_terminals) {
        Some(other) => error.hint(again(std::env::args_os(), &other)),
        None => error.hint("wt-loop run \"what is to be done\" runs it here, where all is seen"),
    })
}

/// Says which launcher it is where that was asked, and what it cannot do.
fn tell_of(Choice { launcher, why }: &Choice, verbose: bool, wish: Wish) {
    let name = plain(launcher.name());
    if verbose {
        term::narrate(&format!("wt-loop: the launcher is {name}: {why}"));
    }
    if wish == Wish::Fullscreen && launcher.fullscreen().is_empty() {
        term::narrate(&format!("wt-loop: {name} has no full screen; starting all the same"));
    }
}

/// Puts the loop there and waits for its word; a place from which none comes is closed again. How to get there is noted before the
/// loop may go on: from then on the record is its own to write.
fn reported_in(
    launcher: &Launcher,
    launch: &Launch,
    host: &Host,
    signals: &Signals,
    note_attach: impl FnOnce(&Option<String>) -> Result<()>,
) -> Result<(Launched, i32)> {
    let mut launched = launcher.launch(launch)?;
    match note_attach(&launched.attach).and_then(|()| host.wait(launcher.name(), &mut launched, signals)) {
        Ok(pid) => Ok((launched, pid)),
        Err(error) => {
            launched.child.iter_mut().for_each(|(child, _)| end_detached(child));
            Err(error)
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

/// The last lines of what was printed where the loop was to run, for one line; they are taken away.
fn take_printed(launch: &Launch) -> String {
    const LINES: usize = 5;
    let printed = files::read(&launch.output).ok().flatten().unwrap_or_default();
    let _ = files::remove(&launch.output);
    let text = String::from_utf8_lossy(&printed);
    let lines: Vec<String> = text.lines().map(plain).filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(LINES)..].join(" | ")
}

/// The command that was typed, with another launcher.
fn again(typed: impl Iterator<Item = OsString>, launcher: &str) -> String {
    let mut words = vec!["wt-loop".to_owned(), "start".to_owned()];
    let mut typed = typed.skip(1).map(|word| word.to_string_lossy().into_owned()).peekable();
    typed.next_if_eq("start");
    while let Some(word) = typed.next() {
        match word.as_str() {
            "--launcher" => drop(typed.next()),
            word if word.starts_with("--launcher=") => {}
            _ => words.push(word),
        }
    }
    words.extend(["--launcher".to_owned(), launcher.to_owned()]);
    shell::words(words.iter().map(String::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_command_with_another_launcher_can_be_typed() {
        let typed = |words: &[&str]| again(words.iter().map(OsString::from).collect::<Vec<_>>().into_iter(), "tmux");
        let expected = "wt-loop start 'do it' --max 3 --launcher tmux";
        for words in [
            &["/bin/wt-loop", "start", "do it", "--max", "3"][..],
            &["wt-loop", "start", "--launcher", "xterm", "do it", "--max", "3"],
            &["wt-loop", "start", "do it", "--launcher=xterm", "--max", "3"],
            &["wt-loop-start", "do it", "--max", "3"],
        ] {
            assert_eq!(typed(words), expected);
        }
    }
}
