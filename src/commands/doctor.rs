//! `wt-loop doctor`: what is there and what is missing, each problem with the command that mends it.

use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use super::Context;
use crate::agent::{self, Agent, Program};
use crate::config::{self, Config};
use crate::environment::Environment;
use crate::error::{Error, Exit, Result};
use crate::files;
use crate::launch::choice::{self, Choice, Facts, Seat};
use crate::launch::own::OwnTerminal;
use crate::launch::{ANY_TERMINAL, AUTO, Launcher};
use crate::lock::Lock;
use crate::options::{LaunchOptions, LoopOptions};
use crate::process::{answer, answer_within};
use crate::registry::Registry;
use crate::term::table::{Align, Cell, Colour, Column, Shrink, Table};
use crate::term::{self, BAD, DIM, GOOD, WARN, human};
use crate::view::View;
use crate::worktree::Worktree;

/// How long a program may take to tell its version.
const PATIENCE: Duration = Duration::from_secs(5);
/// Less free space than this will not last a night.
const LITTLE_SPACE: u64 = 1 << 30;

/// Arguments of `doctor`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print a JSON array of all findings
    #[arg(long)]
    pub json: bool,
}

/// How good a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Health {
    /// As it should be.
    Good,
    /// Worth knowing; a loop can run.
    Note,
    /// A loop could not run.
    Bad,
}

/// One finding.
#[derive(Debug, Serialize)]
struct Finding {
    what: String,
    health: Health,
    detail: String,
    /// The command that mends it.
    mend: Option<String>,
}

impl Finding {
    fn new(what: &str, health: Health, detail: impl Into<String>) -> Self {
        Self { what: what.into(), health, detail: detail.into(), mend: None }
    }

    fn mend(mut self, command: impl Into<String>) -> Self {
        self.mend = Some(command.into());
        self
    }
}

/// Runs `doctor`.
pub fn run(args: &Args, context: &Context) -> Result<Exit> {
    let worktree = Worktree::find(&context.cwd).ok();
    let mut findings = vec![git(&context.cwd), here(worktree.as_ref(), &context.env)];
    findings.extend(agents(&context.env, &context.cwd));
    let config = settings(worktree.as_ref(), context);
    let own = config.as_ref().map(|config| config.own_terminals.clone()).unwrap_or_default();
    findings.extend(launchers(&context.env, &context.cwd, &own));
    findings.push(readable(config, &context.env));
    findings.extend(places(worktree.as_ref(), &context.env));
    findings.extend(leftovers(&context.env));
    if args.json {
        let text = serde_json::to_string_pretty(&findings).map_err(|error| Error::new(error.to_string()))?;
        term::answer(&format!("{text}\n"))?;
    } else {
        term::answer(&shown(&findings))?;
    }
    let bad = findings.iter().any(|finding| finding.health == Health::Bad);
    Ok(if bad { Exit::Error } else { Exit::Done })
}

fn shown(findings: &[Finding]) -> String {
    let mut table = Table::new([
        Column::new("", Align::Left, Shrink::Never),
        Column::new("", Align::Left, Shrink::Never),
        Column::new("", Align::Left, Shrink::Cut),
    ]);
    for finding in findings {
        let (word, style) = match finding.health {
            Health::Good => ("ok", GOOD),
            Health::Note => ("note", WARN),
            Health::Bad => ("bad", BAD),
        };
        table.row([Cell::styled(word, style), Cell::from(finding.what.as_str()), Cell::from(finding.detail.as_str())]);
        if let Some(mend) = &finding.mend {
            table.row([Cell::default(), Cell::default(), Cell::styled(&format!("try: {mend}"), DIM)]);
        }
    }
    table.render(term::width(), Colour::Always)
}

fn git(cwd: &Path) -> Finding {
    match answer("git", &["--version"], cwd) {
        Ok(said) if said.ok() => Finding::new("git", Health::Good, String::from_utf8_lossy(&said.stdout).trim()),
        _ => Finding::new("git", Health::Bad, "not on PATH").mend("install git (Debian: apt-get install git)"),
    }
}

fn here(worktree: Option<&Worktree>, env: &Environment) -> Finding {
    let Some(worktree) = worktree else {
        return Finding::new("worktree", Health::Note, "this is not inside a git worktree")
            .mend("cd to one before wt-loop start");
    };
    let path = worktree.state();
    if worktree.tracks(&path).unwrap_or(false) {
        return Finding::new("worktree", Health::Bad, ".claude/loop-state.json is tracked by git")
            .mend("git rm --cached .claude/loop-state.json && git commit");
    }
    match View::of(worktree, &Registry::of(env)) {
        Ok(None) => {
            Finding::new("worktree", Health::Good, format!("{}; no loop has run here", worktree.root.display()))
        }
        Ok(Some(view)) if view.is_crashed() => {
            Finding::new("worktree", Health::Note, "the last loop here was killed without a word")
                .mend("wt-loop resume")
        }
        Ok(Some(view)) => Finding::new(
            "worktree",
            Health::Good,
            format!("{}; its loop is {}", worktree.root.display(), view.status()),
        ),
        Err(error) => {
            Finding::new("worktree", Health::Note, error.to_string()).mend("wt-loop start sets a broken state aside")
        }
    }
}

fn agents(env: &Environment, cwd: &Path) -> Vec<Finding> {
    let real = || agent::ALL.into_iter().filter(|agent| agent.program != Program::BuiltIn);
    let mut findings: Vec<Finding> =
        real().filter_map(|agent| agent.locate(env, cwd).map(|path| found(agent, &path, env, cwd))).collect();
    let missing: Vec<&str> = real().filter(|agent| agent.locate(env, cwd).is_none()).map(|agent| agent.name).collect();
    if findings.is_empty() {
        findings.push(
            Finding::new("agents", Health::Bad, format!("none of {} is on PATH", missing.join(", ")))
                .mend("npm install -g @anthropic-ai/claude-code, or try --harness rehearsal"),
        );
    } else if !missing.is_empty() {
        findings.push(Finding::new("agents", Health::Good, format!("not on PATH: {}", missing.join(", "))));
    }
    findings
}

fn found(agent: &Agent, path: &Path, env: &Environment, cwd: &Path) -> Finding {
    let what = format!("agent {}", agent.name);
    let version = answer_within(path, &["--version"], cwd, PATIENCE).ok().and_then(|said| first_line(&said.stdout));
    let version = version.unwrap_or_else(|| "tells no version".into());
    let detail = format!("{version} ({})", path.display());
    match agent.seems_logged_in(env) {
        Some(true) => Finding::new(&what, Health::Good, format!("{detail}, logged in or with a key")),
        Some(false) => Finding::new(&what, Health::Note, format!("{detail}, no sign of a login"))
            .mend(format!("{}, and log in there", agent.name)),
        None => Finding::new(&what, Health::Good, detail),
    }
}

/// Where a loop can be put: windows in one line, every other place by itself.
fn launchers(env: &Environment, cwd: &Path, own: &[OwnTerminal]) -> Vec<Finding> {
    let facts = Facts::gather(env, cwd, own);
    let names = |graphical: bool| {
        let all = own.iter().cloned().map(Launcher::Own).chain(Launcher::all());
        let found = all.filter(|launcher| launcher.is_graphical() == graphical && facts.has(launcher));
        found.map(|launcher| launcher.name().to_owned()).collect::<Vec<_>>()
    };
    let (terminals, others) = (names(true), names(false));
    let mut findings = vec![match choice::pick(AUTO, &facts, own) {
        Ok(Choice { launcher, why }) => {
            Finding::new("launcher auto", Health::Good, format!("{}: {why}", launcher.name()))
        }
        Err(error) => Finding::new("launcher auto", Health::Bad, error.to_string()).mend("--launcher background"),
    }];
    let terminals = if terminals.is_empty() { "none is on PATH".to_owned() } else { terminals.join(", ") };
    findings.push(match facts.seat {
        Seat::Blind => {
            Finding::new("terminals", Health::Good, format!("{terminals}; there is no display for a window"))
        }
        Seat::Remote => Finding::new("terminals", Health::Good, format!("{terminals}; over ssh no window is opened")),
        _ if choice::pick(ANY_TERMINAL, &facts, own).is_ok() => Finding::new("terminals", Health::Good, terminals),
        _ => Finding::new("terminals", Health::Note, format!("{terminals}; no window can be opened here"))
            .mend("install one (Debian: apt-get install xterm), or use --launcher tmux"),
    });
    if !others.iter().any(|name| name == "tmux") {
        let mend = "install tmux (Debian: apt-get install tmux)";
        findings.push(Finding::new("launcher tmux", Health::Note, "not on PATH").mend(mend));
    }
    findings.extend(others.iter().map(|name| {
        let detail = match name.as_str() {
            "systemd" => "can be used; loginctl enable-linger lets its loops outlive the login",
            _ => "can be used",
        };
        Finding::new(&format!("launcher {name}"), Health::Good, detail)
    }));
    findings
}

fn settings(worktree: Option<&Worktree>, context: &Context) -> Result<Config> {
    let root = worktree.map_or(context.cwd.as_path(), |worktree| worktree.root.as_path());
    Config::load(root, &context.env, LoopOptions::default(), LaunchOptions::default())
}

fn readable(config: Result<Config>, env: &Environment) -> Finding {
    match config {
        Ok(_) => Finding::new(
            "settings",
            Health::Good,
            format!("{} and {} can be read", config::user_file(env).display(), config::REPOSITORY_FILE),
        ),
        Err(error) => Finding::new("settings", Health::Bad, error.to_string()).mend("edit that line"),
    }
}

/// Where a loop writes: is there a place, may we, and for how long.
fn places(worktree: Option<&Worktree>, env: &Environment) -> Vec<Finding> {
    let state = env.state_home().join("wt-loop");
    let mut places = vec![("records", state)];
    places.extend(worktree.map(|worktree| ("locks", worktree.git_dir.join("wt-loop"))));
    places.extend(worktree.map(|worktree| ("state", worktree.root.join(crate::worktree::CLAUDE))));
    let mut findings: Vec<Finding> = places
        .into_iter()
        .map(|(what, dir)| match writable(&dir) {
            Ok(()) => Finding::new(what, Health::Good, format!("{} can be written", dir.display())),
            Err(error) => {
                let detail = format!("{}: {}", dir.display(), crate::error::reason(&error));
                Finding::new(what, Health::Bad, detail).mend(format!("ls -ld {}", dir.display()))
            }
        })
        .collect();
    findings.extend(worktree.and_then(|worktree| space(&worktree.root)));
    findings
}

/// Whether a file can be made in `dir`, or where it is missing, in the folder that it would be made in; nothing stays.
fn writable(dir: &Path) -> std::io::Result<()> {
    let there = dir.ancestors().find(|dir| dir.symlink_metadata().is_ok()).unwrap_or(dir);
    if there == dir {
        files::private_dir(dir)?;
    }
    tempfile::Builder::new().prefix(".doctor-").tempfile_in(there).map(drop)
}

fn space(root: &Path) -> Option<Finding> {
    let disk = nix::sys::statvfs::statvfs(root).ok()?;
    let free = wide(disk.blocks_available()).saturating_mul(wide(disk.fragment_size()));
    let finding = |health| Finding::new("disk", health, format!("{} free", human::bytes(free)));
    Some(if free < LITTLE_SPACE { finding(Health::Note).mend("df -h .") } else { finding(Health::Good) })
}

/// Systems count in numbers of different widths.
fn wide(number: impl Into<u64>) -> u64 {
    number.into()
}

/// What dead loops have left, with the command that takes it away.
fn leftovers(env: &Environment) -> Vec<Finding> {
    let registry = Registry::of(env);
    let gone = registry.leftovers().into_iter().map(|(file, root)| {
        Finding::new("leftover", Health::Note, format!("a record of {}, which is gone", root.display()))
            .mend(format!("rm {}", crate::shell::word(&file.to_string_lossy())))
    });
    let dead = registry.all().into_iter().filter_map(|record| {
        let view = View::of_record(&record, &registry).ok().flatten()?;
        let cleaning = Lock::is_held(&record.worktree().guard_lock()).unwrap_or(false);
        let root = record.root.display();
        if cleaning && view.holder.is_none() {
            return Some(Finding::new("leftover", Health::Note, format!("a guard is still cleaning up in {root}")));
        }
        let to = crate::shell::word(&record.root.to_string_lossy());
        view.is_crashed().then(|| {
            Finding::new("leftover", Health::Note, format!("a loop that was killed in {root}"))
                .mend(format!("cd {to} && wt-loop resume"))
        })
    });
    gone.chain(dead).collect()
}

fn first_line(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}
