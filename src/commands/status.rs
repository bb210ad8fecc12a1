//! `wt-loop status [CHANGE]`: where a loop stands.

use jiff::Timestamp;
use serde::Serialize;

use super::Context;
use crate::config::LoopSpec;
use crate::error::{Error, Exit, Result};
use crate::material;
use crate::options::Limit;
use crate::process::{Usage, usage};
use crate::state::{State, moment};
use crate::target;
use crate::tasks::Tasks;
use crate::term::filter::plain;
use crate::term::human;
use crate::term::report;
use crate::term::table::{Align, Cell, Colour, Column, Shrink, Table};
use crate::term::{self, BOLD, paint, status_style};
use crate::view::View;

/// How many of the last iterations are shown.
const SHOWN: usize = 5;

/// Arguments of `status`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A change, or another worktree's name or branch; without one, the loop of this worktree
    #[arg(value_name = "CHANGE", add = crate::complete::targets())]
    pub change: Option<String>,

    /// Print the state as JSON, with what is known of its process
    #[arg(long)]
    pub json: bool,

    /// Print the JSON Schema of the state file
    #[arg(long, conflicts_with_all = ["json", "change"])]
    pub schema: bool,
}

/// The answer for programs: the state, and what only a look at the process and the files can tell.
#[derive(Serialize)]
struct Answer<'a> {
    #[serde(flatten)]
    state: &'a State,
    worktree: &'a std::path::Path,
    active: bool,
    paused: bool,
    crashed: bool,
    elapsed_seconds: u64,
    tasks: Option<TaskCount>,
    process: Option<ProcessAnswer>,
}

#[derive(Clone, Copy, Serialize)]
struct TaskCount {
    done: usize,
    total: usize,
}

#[derive(Serialize)]
struct ProcessAnswer {
    pid: i32,
    processes: usize,
    memory_bytes: u64,
    cpu_seconds: f64,
}

/// Runs `status`.
pub fn run(args: &Args, context: &Context) -> Result<Exit> {
    if args.schema {
        let schema = serde_json::to_string_pretty(&schemars::schema_for!(State));
        term::answer(&format!("{}\n", schema.map_err(|error| Error::new(error.to_string()))?))?;
        return Ok(Exit::Done);
    }
    let view = target::of_loop(&context.cwd, &context.env, args.change.as_deref())?;
    let spec = view.record.as_ref().map(|record| &record.spec);
    let tasks = tasks(&view, spec);
    let process = view.holder.as_ref().map(|holder| (holder.process.pid, usage(holder.process.pid)));
    if args.json {
        let tasks = tasks.map(|tasks| TaskCount { done: tasks.done(), total: tasks.total() });
        term::answer(&json(&view, tasks, process)?)?;
    } else {
        term::answer(&shown(&view, tasks.as_ref(), process, spec))?;
    }
    Ok(Exit::Done)
}

fn tasks(view: &View, spec: Option<&LoopSpec>) -> Option<Tasks> {
    let spec = spec.filter(|spec| spec.change_id == view.state.change_id)?;
    material::tasks(&view.worktree, spec).ok().flatten().map(|found| found.tasks)
}

/// Of a loop that died without a word, what it wrote last is the last that is known of it.
fn elapsed(state: &State, now: Timestamp) -> std::time::Duration {
    let last = if state.status.is_over() { Some(state.updated_at.as_str()) } else { None };
    let end = state.ended_at.as_deref().or(last).and_then(moment).unwrap_or(now);
    let span = moment(&state.started_at).map(|start| end.duration_since(start));
    span.and_then(|span| std::time::Duration::try_from(span).ok()).unwrap_or_default()
}

fn json(view: &View, tasks: Option<TaskCount>, process: Option<(i32, Usage)>) -> Result<String> {
    let state = view.truth();
    let answer = Answer {
        state: &state,
        worktree: &view.worktree.root,
        active: view.is_active(),
        paused: view.is_paused(),
        crashed: view.is_crashed(),
        elapsed_seconds: elapsed(&state, Timestamp::now()).as_secs(),
        tasks,
        process: process.map(|(pid, usage)| ProcessAnswer {
            pid,
            processes: usage.processes,
            memory_bytes: usage.memory,
            cpu_seconds: usage.cpu.as_secs_f64(),
        }),
    };
    let text = serde_json::to_string_pretty(&answer).map_err(|error| Error::new(error.to_string()))?;
    Ok(format!("{text}\n"))
}

/// What was spent, and what of.
fn against(spent: String, budget: Option<String>) -> String {
    match budget {
        Some(budget) => format!("{spent} of {budget}"),
        None => spent,
    }
}

fn shown(view: &View, tasks: Option<&Tasks>, process: Option<(i32, Usage)>, spec: Option<&LoopSpec>) -> String {
    let budget = spec.map_or((None, None), |spec| (spec.budget_tokens.number(), spec.budget_usd));
    let (state, now, glyphs) = (view.truth(), Timestamp::now(), term::glyphs());
    let label = state.label.as_ref().map(|label| format!(" ({})", plain(label))).unwrap_or_default();
    let name = paint(BOLD, &plain(&state.worktree_name));
    let status = paint(status_style(state.status).bold(), &view.status_words());
    let reason = state.status_reason.as_ref().map(|reason| format!(": {}", plain(reason))).unwrap_or_default();
    let mut text = format!("{name}{label}  {status}{reason}\n\n");

    let mut facts =
        Table::new([Column::new("", Align::Left, Shrink::Never), Column::new("", Align::Left, Shrink::Cut)]);
    let mut fact = |name: &str, value: String| {
        facts.row([Cell::styled(&format!("  {name}"), term::DIM), Cell::from(value)]);
    };
    fact("task", plain(state.task.lines().find(|line| !line.trim().is_empty()).unwrap_or("-")));
    if let Some(change) = &state.change_id {
        fact("change", plain(change));
    }
    fact(
        "agent",
        state
            .model
            .as_ref()
            .map_or_else(|| plain(&state.harness), |model| plain(&format!("{} ({model})", state.harness))),
    );
    fact(
        "iteration",
        match Limit::from(state.max_iterations) {
            Limit::Unlimited => report::progress(&state),
            Limit::At(max) => report::bar(state.current_iteration, max, glyphs),
        },
    );
    if let Some(tasks) = tasks {
        fact("tasks", report::bar(tasks.done() as u64, tasks.total() as u64, glyphs));
    }
    fact("done by", plain(&state.done_criteria));
    if spec.is_none() {
        fact("record", "none: no loop of yours wrote this state, which decides about no command".to_owned());
    }
    fact("started", report::time(&state.started_at, now));
    if let Some(ended) = &state.ended_at {
        fact("ended", report::time(ended, now));
    }
    fact("elapsed", human::duration(elapsed(&state, now)));
    fact("tokens", against(human::count(state.total_tokens), budget.0.map(human::count)));
    if state.total_cost_usd > 0.0 || budget.1.is_some() {
        fact("cost", against(format!("${:.2}", state.total_cost_usd), budget.1.map(|most| format!("${most:.2}"))));
    }
    if let Some(until) = &state.waiting_until {
        fact("waiting", format!("for a usage limit until {}", report::time(until, now)));
    }
    if let Some((pid, usage)) = process {
        let used = format!("{}, {} CPU", human::bytes(usage.memory), human::duration(usage.cpu));
        fact("process", format!("pid {pid}, {} in its tree, {used}", usage.processes));
    }
    for left in state.iterations.iter().flat_map(|iteration| &iteration.left_running) {
        fact("left running", format!("{} (pid {})", plain(&left.name), left.pid));
    }
    fact("log", view.worktree.log().display().to_string());
    text.push_str(&facts.render(term::width(), Colour::Always));
    let last = &state.iterations[state.iterations.len().saturating_sub(SHOWN)..];
    if !last.is_empty() {
        text.push('\n');
        text.push_str(&report::iterations(last, now).render(term::width(), Colour::Always));
    }
    text
}
