//! `wt-loop demo`: the whole product in half a minute, on nothing but git.
//!
//! A scratch repository with a worktree and a tasks.md of five tasks, the built-in agent, and a real loop in the foreground.

use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use super::Context;
use crate::agent::rehearsal::PACE;
use crate::config::START;
use crate::error::{Doing, Error, Exit, Result};
use crate::foreground;
use crate::options::LoopOptions;
use crate::plan::{self, Typed};
use crate::process::{Signals, answer};
use crate::term::{self, BOLD, paint};
use crate::worktree::Worktree;

/// Arguments of `demo`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Make the scratch repository in this directory instead of a new temporary one
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub dir: Option<PathBuf>,
}

/// What there is to do in the demo.
const TASKS: &str = "\
# A small shop

- [ ] 1.1 Read the price list from a file
- [ ] 1.2 Add up an order
- [ ] 1.3 Take off the discount
- [ ] 1.4 Print the bill
- [ ] 1.5 Write the tests
";

/// What the runner itself checks before it believes that the shop is built.
const VALIDATION: &str = "validation = [\"git diff --quiet HEAD\"]\n";

/// Runs `demo`.
pub fn run(args: &Args, context: &Context) -> Result<Exit> {
    let home = scratch(args.dir.as_deref())?;
    let root = make_worktree(&home)?;
    term::narrate(&format!("A scratch repository with a worktree and five open tasks: {}", root.display()));
    term::narrate(&format!("{} wt-loop run \"Build the shop\" --harness rehearsal --max 10\n", paint(BOLD, "$")));
    let mut env = context.env.clone();
    if io::stderr().is_terminal() && !env.has(PACE) {
        env.set(PACE, "400");
    }
    let worktree = Worktree::find(&root)?;
    let options = LoopOptions { harness: Some("rehearsal".into()), max: Some(10.into()), ..LoopOptions::default() };
    let typed = Typed { task: Some("Build the shop"), options, ..Typed::default() };
    let plan = plan::plan(&worktree, &env, typed, &START)?;
    let signals = Signals::install()?;
    let exit = foreground::run(&worktree, &env, plan.spec, &signals)?;
    term::narrate(&next_commands(&root));
    Ok(exit)
}

fn scratch(asked: Option<&Path>) -> Result<PathBuf> {
    if let Some(dir) = asked {
        fs::create_dir_all(dir).doing("make", dir)?;
        return dir.canonicalize().doing("find", dir);
    }
    let made = tempfile::Builder::new().prefix("wt-loop-demo-").tempdir();
    made.map(tempfile::TempDir::keep).doing("make a folder in", &std::env::temp_dir())
}

/// A repository `shop` and beside it a worktree `shop-ralph`, with settings of its own so that nobody's disturb it.
fn make_worktree(home: &Path) -> Result<PathBuf> {
    let (main, root) = (home.join("shop"), home.join("shop-ralph"));
    if main.exists() || root.exists() {
        return Err(
            Error::new(format!("{} has a shop already", home.display())).hint("wt-loop demo --dir another-folder")
        );
    }
    fs::create_dir(&main).doing("make", &main)?;
    for (name, text) in [("tasks.md", TASKS), (crate::config::REPOSITORY_FILE, VALIDATION)] {
        fs::write(main.join(name), text).doing("write", &main.join(name))?;
    }
    git(&main, &["init", "-q"])?;
    for (key, value) in [
        ("user.name", "wt-loop demo"),
        ("user.email", "demo@localhost"),
        ("commit.gpgsign", "false"),
        ("core.hooksPath", "/dev/null"),
        ("gc.auto", "0"),
    ] {
        git(&main, &["config", key, value])?;
    }
    git(&main, &["add", "."])?;
    git(&main, &["commit", "-q", "-m", "Plan the shop"])?;
    git(&main, &["worktree", "add", "-q", "-b", "ralph", "../shop-ralph"])?;
    Ok(root)
}

fn git(cwd: &Path, words: &[&str]) -> Result<()> {
    let said = answer("git", words, cwd)
        .map_err(|_| Error::new("git is not on PATH").hint("install git, then: wt-loop demo"))?;
    if said.ok() {
        return Ok(());
    }
    let why = said.stderr.lines().next().unwrap_or("no reason given").to_owned();
    Err(Error::new(format!("git {} failed: {why}", words.first().unwrap_or(&""))))
}

fn next_commands(root: &Path) -> String {
    let look = format!("cd {} && wt-loop history", crate::shell::word(&root.to_string_lossy()));
    let commands = [
        (look.as_str(), "what each iteration brought"),
        ("wt-loop doctor", "what your machine has for a real loop"),
        ("wt-loop start \"what is to be done\" --max 10", "a real loop, in a worktree of your own"),
    ];
    let lines = commands.map(|(command, what)| format!("  {command}\n      {what}")).join("\n");
    format!("\nThat was a real loop; only the agent was not. Three commands to type next:\n\n{lines}")
}
