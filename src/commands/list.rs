//! `wt-loop list`: the loops of all projects.

use jiff::Timestamp;
use serde::Serialize;

use super::Context;
use crate::error::{Error, Exit, Result};
use crate::registry::{Record, Registry};
use crate::term::report;
use crate::term::table::{Align, Cell, Colour, Column, Shrink, Table};
use crate::term::{self, status_style};
use crate::view::View;

/// Arguments of `list`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Those that have ended too
    #[arg(long)]
    pub all: bool,

    /// Print a JSON array
    #[arg(long)]
    pub json: bool,
}

/// One loop for programs.
#[derive(Serialize)]
struct Entry<'a> {
    project: &'a str,
    change_id: Option<&'a str>,
    worktree: &'a std::path::Path,
    worktree_name: String,
    status: &'a str,
    status_reason: Option<&'a str>,
    paused: bool,
    current_iteration: u64,
    max_iterations: u64,
    started_at: &'a str,
    task: &'a str,
    terminal_pid: Option<i32>,
}

/// Runs `list`.
pub fn run(args: &Args, context: &Context) -> Result<Exit> {
    let registry = Registry::of(&context.env);
    let look = |record: Record| match View::of_record(&record, &registry) {
        Ok(view) => view.filter(|view| args.all || view.is_active()).map(|view| Box::new((record, view))),
        Err(error) => {
            term::warn(&format!("{}: {error}", record.root.display()));
            None
        }
    };
    // Each in a box, since to sort them is to move them.
    let mut loops = registry.each(look);
    loops.sort_by(|a, b| (&a.0.project, &a.0.root).cmp(&(&b.0.project, &b.0.root)));
    if args.json {
        let entries: Vec<Entry> = loops.iter().map(|found| entry(&found.0, &found.1)).collect();
        let text = serde_json::to_string_pretty(&entries).map_err(|error| Error::new(error.to_string()))?;
        term::answer(&format!("{text}\n"))?;
    } else if loops.is_empty() {
        let more = if args.all { "" } else { "; wt-loop list --all shows those that ended" };
        term::narrate(&format!("no loop runs{more}"));
    } else {
        term::answer(&table(&loops).render(term::width(), Colour::Always))?;
    }
    Ok(Exit::Done)
}

fn entry<'a>(record: &'a Record, view: &'a View) -> Entry<'a> {
    let state = &view.state;
    Entry {
        project: &record.project,
        change_id: state.change_id.as_deref(),
        worktree: &record.root,
        worktree_name: view.worktree.name(),
        status: view.status().word(),
        status_reason: view.reason(),
        paused: view.is_paused(),
        current_iteration: state.current_iteration,
        max_iterations: state.max_iterations,
        started_at: &state.started_at,
        task: &state.task,
        terminal_pid: view.holder.as_ref().map(|holder| holder.process.pid),
    }
}

fn table(loops: &[Box<(Record, View)>]) -> Table {
    let mut table = Table::new([
        Column::new("PROJECT", Align::Left, Shrink::Cut),
        Column::new("WORKTREE", Align::Left, Shrink::Cut),
        Column::new("CHANGE", Align::Left, Shrink::Cut),
        Column::new("STATUS", Align::Left, Shrink::Never),
        Column::new("ITERATION", Align::Right, Shrink::Never),
        Column::new("STARTED", Align::Left, Shrink::Cut),
        Column::new("TASK", Align::Left, Shrink::Cut),
    ]);
    let now = Timestamp::now();
    for (record, view) in loops.iter().map(|found| &**found) {
        table.row([
            Cell::from(record.project.as_str()),
            Cell::from(view.worktree.name()),
            Cell::from(view.state.change_id.as_deref().unwrap_or("-")),
            Cell::styled(&view.status_words(), status_style(view.status())),
            Cell::from(report::progress(&view.state)),
            report::when(&view.state.started_at, now),
            Cell::from(view.state.task.lines().next().unwrap_or_default()),
        ]);
    }
    table
}
