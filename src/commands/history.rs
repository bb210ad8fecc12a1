//! `wt-loop history [CHANGE]`: every iteration of a loop.

use jiff::Timestamp;

use super::Context;
use crate::error::{Doing, Error, Exit, Result};
use crate::target;
use crate::term;
use crate::term::report;
use crate::term::table::Colour;

/// Arguments of `history`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A change, or another worktree's name or branch; without one, the loop of this worktree
    #[arg(value_name = "CHANGE", add = crate::complete::targets())]
    pub change: Option<String>,

    /// Print the iterations as a JSON array
    #[arg(long)]
    pub json: bool,

    /// Only the last N iterations
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,

    /// Open the whole log in the program that your desktop has for text
    #[arg(long, conflicts_with_all = ["json", "limit"])]
    pub open: bool,
}

/// Runs `history`.
pub fn run(args: &Args, context: &Context) -> Result<Exit> {
    let view = target::of_loop(&context.cwd, &context.env, args.change.as_deref())?;
    if args.open {
        let log = view.worktree.log();
        open::that_detached(&log).doing("open", &log)?;
        return Ok(Exit::Done);
    }
    let all = &view.state.iterations;
    let shown = &all[all.len().saturating_sub(args.limit.unwrap_or(usize::MAX))..];
    if args.json {
        let text = serde_json::to_string_pretty(shown).map_err(|error| Error::new(error.to_string()))?;
        term::answer(&format!("{text}\n"))?;
    } else if shown.is_empty() {
        term::narrate("no iteration has ended yet");
    } else {
        term::answer(&report::iterations(shown, Timestamp::now()).render(term::width(), Colour::Always))?;
    }
    Ok(Exit::Done)
}
