//! `wt-loop ralph ["PROMPT"]`, also `loop`: the command that ito and spool call `ralph`, over the same engine as `run`.
//!
//! It needs to know what to work on: a change, the changes of a module, or no change and just the prompt. On a terminal it asks.

use jiff::Timestamp;

use super::Context;
use crate::change_history::ChangeHistory;
use crate::cli::Caller;
use crate::config::{Defaults, ITO, RALPH};
use crate::context;
use crate::error::{Doing, Error, Exit, Result};
use crate::foreground;
use crate::layout::{Change, Layout, module_of};
use crate::material;
use crate::options::{LaunchOptions, LoopOptions, WorkOptions};
use crate::plan::{self, Typed};
use crate::process::Signals;
use crate::registry::Registry;
use crate::state::State;
use crate::target;
use crate::term::table::{Align, Cell, Colour, Column, Shrink, Table};
use crate::term::{self, human, picker};
use crate::view::View;
use crate::worktree::Worktree;

/// How many of the last iterations `--status` shows.
const SHOWN: usize = 10;
/// The choice beside the changes.
const JUST_THE_PROMPT: &str = "no change, just the prompt";

/// Arguments of `ralph`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What is to be done; with a change it may be left out
    #[arg(value_name = "PROMPT")]
    pub prompt: Option<String>,

    /// What it works on
    #[command(flatten)]
    pub work: WorkOptions,

    /// Never ask, even on a terminal
    #[arg(long)]
    pub no_interactive: bool,

    /// Show how far the change is, and run nothing
    #[arg(long, conflicts_with_all = ["prompt", "add_context", "clear_context"])]
    pub status: bool,

    /// Add to what every iteration on the change is told, and run nothing
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["prompt", "clear_context"], allow_hyphen_values = true, value_parser = text)]
    pub add_context: Option<String>,

    /// Forget what was added, and run nothing
    #[arg(long, conflicts_with = "prompt")]
    pub clear_context: bool,

    /// How the loop runs
    #[command(flatten)]
    pub options: LoopOptions,
}

/// What a loop is to work on.
enum Aim {
    /// One change, or none.
    One(Option<Change>),
    /// Every change of a module, one after the other.
    Each(Vec<Change>),
}

/// Runs `ralph`.
pub fn run(args: &Args, from: &Context) -> Result<Exit> {
    let worktree = Worktree::find(&from.cwd)?;
    let (layout, defaults) = match from.caller {
        Caller::Own => (Layout::detect(&worktree.root), &RALPH),
        Caller::Ito => (Layout::named("ito").unwrap_or(&crate::layout::PLAIN), &ITO),
        Caller::Spool => (Layout::named("spool").unwrap_or(&crate::layout::PLAIN), &ITO),
    };
    let here = Here { args, from, worktree, layout, defaults };
    if args.status {
        return here.status();
    }
    if args.add_context.is_some() || args.clear_context {
        return here.change_context();
    }
    let aim = here.aim()?;
    // Once for all loops: standard input can be read only once.
    let task = plan::whole_task(&here.worktree.root, args.prompt.as_deref(), args.work.prompt_file.as_deref())?;
    match aim {
        Aim::One(change) => here.run_one(change.as_ref(), &task),
        Aim::Each(changes) => here.run_each(changes, &task),
    }
}

struct Here<'a> {
    args: &'a Args,
    from: &'a Context,
    worktree: Worktree,
    layout: &'static Layout,
    defaults: &'static Defaults,
}

impl Here<'_> {
    fn named_change(&self) -> Result<Option<Change>> {
        let name = self.args.work.change.as_deref();
        name.map(|name| target::change(&self.worktree, self.layout, name)).transpose()
    }

    fn aim(&self) -> Result<Aim> {
        if let Some(change) = self.named_change()? {
            return Ok(Aim::One(Some(change)));
        }
        if self.args.work.no_change {
            return Ok(Aim::One(None));
        }
        let changes = self.changes()?;
        let can_ask = term::is_interactive() && !self.args.no_interactive;
        match (&self.args.work.module, can_ask) {
            (_, true) => ask(changes).map(Aim::One),
            (Some(module), false) if changes.is_empty() => {
                Err(Error::new(format!("the module {module} has no active change")).hint("name a change: --change ID"))
            }
            (Some(_), false) => Ok(Aim::Each(changes)),
            (None, false) => Err(target_missing(&changes)),
        }
    }

    /// The active changes, of the module where one is named.
    fn changes(&self) -> Result<Vec<Change>> {
        let module = match &self.args.work.module {
            Some(name) => Some(target::module(&self.worktree, self.layout, name)?.id),
            None => None,
        };
        let root = &self.worktree.root;
        let ids = self.layout.changes(root).doing("list the changes in", root)?;
        let wanted = ids.iter().filter(|id| module.is_none() || module_of(id) == module.as_deref());
        wanted.map(|id| target::change(&self.worktree, self.layout, id)).collect()
    }

    fn plan(&self, change: Option<&Change>, task: &str) -> Result<plan::Plan> {
        let typed = Typed {
            task: Some(task).filter(|task| !task.is_empty()),
            change_id: change.map(|change| change.id.clone()),
            layout: Some(self.layout),
            work: WorkOptions { prompt_file: None, ..self.args.work.clone() },
            options: self.args.options.clone(),
            launch: LaunchOptions::default(),
        };
        plan::plan(&self.worktree, &self.from.env, typed, self.defaults)
    }

    fn run_one(&self, change: Option<&Change>, task: &str) -> Result<Exit> {
        let plan = self.plan(change, task)?;
        if self.args.work.dry_run {
            term::answer(&plan::dry_run(&self.worktree, &plan, &State::default())?)?;
            return Ok(Exit::Done);
        }
        foreground::run(&self.worktree, &self.from.env, plan.spec, &Signals::install()?)
    }

    /// Goes on after a change that did not end done, but not after a person's stop; the first code that was not 0 is ours.
    fn run_each(&self, changes: Vec<Change>, task: &str) -> Result<Exit> {
        if self.args.work.dry_run {
            return changes.into_iter().try_fold(Exit::Done, |_, change| self.run_one(Some(&change), task));
        }
        let signals = Signals::install()?;
        let (mut summary, mut worst) = (summary_table(), Exit::Done);
        for change in changes {
            let earlier = self.last_loop();
            let plan = self.plan(Some(&change), task);
            let exit = match plan.and_then(|plan| foreground::run(&self.worktree, &self.from.env, plan.spec, &signals))
            {
                Ok(exit) => exit,
                // What was typed wrong is as wrong for the others.
                Err(error) if error.exit() == Exit::Usage => return Err(error),
                Err(error) => {
                    term::error(&error);
                    error.exit()
                }
            };
            let is_new = |view: &View| earlier.as_ref().is_none_or(|one| one.state.loop_id != view.state.loop_id);
            let own = self.last_loop().filter(is_new);
            let (status, count) = own.map_or(("-", 0), |view| (view.status().word(), view.state.iterations.len()));
            summary.row([
                Cell::from(change.id),
                Cell::from(status),
                Cell::from(count.to_string()),
                Cell::from(exit.code().to_string()),
            ]);
            worst = if worst == Exit::Done { exit } else { worst };
            if matches!(exit, Exit::Stopped | Exit::Interrupted) {
                break;
            }
        }
        term::answer(&summary.render(term::width(), Colour::Always))?;
        Ok(worst)
    }

    fn last_loop(&self) -> Option<View> {
        View::of(&self.worktree, &Registry::of(&self.from.env)).ok().flatten()
    }

    fn status(&self) -> Result<Exit> {
        let Some(change) = self.named_change()? else {
            return Err(Error::usage("--status needs a change")
                .hint("--change ID, or wt-loop status for the loop of this worktree"));
        };
        let path = change.state();
        let Some(history) = ChangeHistory::load(&path).doing("read", &path)? else {
            return Err(Error::new(format!("no loop has worked on {} yet", change.id))
                .hint(format!("wt-loop ralph --change {}", change.id)));
        };
        term::answer(&shown(&history))?;
        Ok(Exit::Done)
    }

    fn change_context(&self) -> Result<Exit> {
        let change = self.named_change()?;
        if change.is_none() && !self.args.work.no_change {
            return Err(target_missing(&self.changes()?));
        }
        let path =
            material::context_file(&self.worktree, self.layout, change.as_ref().map(|change| change.id.as_str()));
        let of = change.map_or_else(String::new, |change| format!(" of {}", change.id));
        if let Some(text) = &self.args.add_context {
            context::add(&self.worktree, &path, text)?;
            term::answer(&format!("added to the context{of}; the next iteration reads it\n"))?;
        } else {
            context::clear(&path)?;
            term::answer(&format!("the context{of} is cleared\n"))?;
        }
        Ok(Exit::Done)
    }
}

/// A text may be an item of a list, `- so`; a word that looks like an option means that the text was forgotten.
fn text(typed: &str) -> Result<String, String> {
    let is_option = typed.starts_with('-') && !typed.contains(char::is_whitespace);
    if is_option { Err(format!("a text is missing before {typed}")) } else { Ok(typed.to_owned()) }
}

fn ask(changes: Vec<Change>) -> Result<Option<Change>> {
    let choices: Vec<String> =
        changes.iter().map(|change| change.id.clone()).chain([JUST_THE_PROMPT.to_owned()]).collect();
    match picker::pick("Which change?", &choices)? {
        Some(at) => Ok(changes.into_iter().nth(at)),
        None => Err(Error::new("nothing was chosen, so nothing runs").hint("name a change: --change ID")),
    }
}

/// Where nobody can be asked, the error says what could be named.
fn target_missing(changes: &[Change]) -> Error {
    let found: Vec<&str> = changes.iter().map(|change| change.id.as_str()).collect();
    let found =
        if found.is_empty() { "there are none here".to_owned() } else { format!("found: {}", found.join(", ")) };
    let error = Error::new(format!("--change is required where nobody can be asked; {found}"));
    let error = match changes.first() {
        Some(first) => error.hint(format!("--change {}", first.id)),
        None => error,
    };
    error.hint("--no-change for just the prompt")
}

fn summary_table() -> Table {
    Table::new([
        Column::new("CHANGE", Align::Left, Shrink::Cut),
        Column::new("STATUS", Align::Left, Shrink::Never),
        Column::new("ITERATIONS", Align::Right, Shrink::Never),
        Column::new("EXIT", Align::Right, Shrink::Never),
    ])
}

fn shown(history: &ChangeHistory) -> String {
    let now = Timestamp::now();
    let mut table = Table::new([
        Column::new("#", Align::Right, Shrink::Never),
        Column::new("ENDED", Align::Left, Shrink::Cut),
        Column::new("TOOK", Align::Right, Shrink::Never),
        Column::new("EXIT", Align::Right, Shrink::Never),
        Column::new("COMPLETION FOUND", Align::Left, Shrink::Never),
        Column::new("ACCEPTED", Align::Left, Shrink::Never),
        Column::new("FILES", Align::Right, Shrink::Never),
    ]);
    let yes = |truth: bool| Cell::from(if truth { "yes" } else { "no" });
    let first = history.history.len().saturating_sub(SHOWN);
    for (at, entry) in history.history.iter().enumerate().skip(first) {
        let ended = Timestamp::from_millisecond(entry.timestamp).unwrap_or(now);
        let took = std::time::Duration::from_millis(u64::try_from(entry.duration).unwrap_or(0));
        table.row([
            Cell::from((at + 1).to_string()),
            Cell::from(format!("{} ({})", human::local(ended), human::relative(ended, now)))
                .or(&human::relative(ended, now)),
            Cell::from(human::duration(took)),
            Cell::from(entry.harness_exit_code.to_string()),
            yes(entry.completion_promise_found),
            yes(entry.completion_validated),
            Cell::from(entry.file_changes_count.to_string()),
        ]);
    }
    let head = format!("{}: iteration {}", term::filter::plain(&history.change_id), history.iteration);
    let outcome = history.last_outcome.as_ref().map(|outcome| format!(", {}", term::filter::plain(outcome)));
    format!("{head}{}\n\n{}", outcome.unwrap_or_default(), table.render(term::width(), Colour::Always))
}
