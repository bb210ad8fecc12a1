//! The built-in agent for trying things out: it ticks one open task of the tasks.md per iteration, commits, and says what it
//! would do. It works everywhere a real agent does, at no cost, and never pretends to be one.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use super::{Agent, Cumulative, Output, Program, Prompt, Session, Tested, Wish};
use crate::layout::{self, Layout};
use crate::process::{answer, entry};
use crate::tasks::{Task, Tasks, tick};

/// The agent.
pub const AGENT: Agent = Agent {
    name: "rehearsal",
    program: Program::BuiltIn,
    arguments,
    prompt: Prompt::Stdin,
    output: Output::Text,
    session: Session::None,
    cumulative: Cumulative::Nothing,
    version: "",
    login: &[],
    tested: Tested::RealProgram,
};

/// The variable by which the demo slows it down to what an eye can follow.
pub const PACE: &str = "WT_LOOP_REHEARSAL_PACE_MS";

fn arguments(wish: &Wish) -> Vec<OsString> {
    let promise = wish.promise.map(|token| vec!["--promise".into(), token.into()]).unwrap_or_default();
    [vec![entry::REHEARSAL.into(), "--layout".into(), wish.layout.into()], promise].concat()
}

/// Works for one iteration.
pub fn main(args: &mut dyn Iterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.collect();
    let after = |flag: &str| args.iter().position(|arg| arg == flag).and_then(|at| args.get(at + 1)?.to_str());
    let layout = after("--layout").and_then(Layout::named).unwrap_or(&layout::PLAIN);
    let mut prompt = Vec::new();
    let _ = io::stdin().read_to_end(&mut prompt);
    match work(prompt.len(), after("--promise"), layout) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            say(&format!("I could not go on: {why}"));
            ExitCode::FAILURE
        }
    }
}

fn work(prompt: usize, promise: Option<&str>, layout: &'static Layout) -> Result<(), String> {
    let root = std::env::current_dir().map_err(|error| error.to_string())?;
    say(&format!("I am the rehearsal agent; I have read a prompt of {prompt} bytes and will not call any model."));
    match open_task(&root, layout)? {
        Some((path, text, task)) => {
            say(&format!("A real agent would now work on: {}", task.name));
            fs::write(&path, tick(&text, &task)).map_err(|error| format!("{}: {error}", path.display()))?;
            commit(&root, &path, &task)?;
            say("I have ticked that task and committed the tick, nothing else.");
        }
        None => say("There is no open task, so there is nothing that I could tick."),
    }
    if let (None, Some(token)) = (open_task(&root, layout)?, promise) {
        say(&format!("<promise>{token}</promise>"));
    }
    Ok(())
}

/// The tasks file of this loop and its first open task.
fn open_task(root: &Path, layout: &'static Layout) -> Result<Option<(PathBuf, String, Task)>, String> {
    let change = std::env::var("WT_LOOP_RUN_CHANGE").ok().filter(|id| !id.is_empty());
    let path = match change {
        Some(id) => Some(layout.resolve(root, &id).map_err(|error| error.to_string())?.tasks()),
        None => layout::find_tasks(root),
    };
    let Some(path) = path else { return Ok(None) };
    let Some(mut file) = layout::open_inside(root, &path).map_err(|error| error.to_string())? else { return Ok(None) };
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(|error| format!("{}: {error}", path.display()))?;
    let first = Tasks::parse(&text).open().next().cloned();
    Ok(first.map(|task| (path, text, task)))
}

fn commit(root: &Path, path: &Path, task: &Task) -> Result<(), String> {
    let message = format!("Rehearse: {}", task.name);
    let path = path.as_os_str();
    for words in [
        vec!["add".as_ref(), "--".as_ref(), path],
        vec!["commit".as_ref(), "-q".as_ref(), "-m".as_ref(), message.as_ref(), "--".as_ref(), path],
    ] {
        let said = answer("git", &words, root).map_err(|error| error.to_string())?;
        if !said.ok() {
            return Err(format!("git: {}", said.stderr.lines().next().unwrap_or("no reason given")));
        }
    }
    Ok(())
}

fn say(line: &str) {
    let _ = writeln!(io::stdout(), "{line}");
    let pace = std::env::var(PACE).ok().and_then(|ms| ms.parse().ok()).map(Duration::from_millis);
    std::thread::sleep(pace.unwrap_or_default());
}
