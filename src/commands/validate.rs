//! `wt-loop validate`: runs the gates now, without an agent, so that a person sees before a night's run what will be checked.

use super::Context;
use crate::config::START;
use crate::error::{Exit, Result};
use crate::gates::{self, Court, Refusal, Rejection};
use crate::layout::Layout;
use crate::material;
use crate::options::{Done, LaunchOptions, LoopOptions, Span, WorkOptions};
use crate::plan::{self, Typed};
use crate::process::{Guards, Signals};
use crate::target;
use crate::term::stage::Stage;
use crate::term::table::{Align, Cell, Colour, Column, Shrink, Table};
use crate::term::{
    self, BAD, GOOD,
    filter::{plain, screened},
    paint,
};
use crate::worktree::Worktree;

/// Arguments of `validate`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The change whose tasks are looked at; without one, the tasks.md of this worktree
    #[arg(short, long, value_name = "ID", add = crate::complete::changes())]
    pub change: Option<String>,

    /// A command that must succeed, after the project's own; repeatable
    #[arg(long, value_name = "CMD", value_parser = crate::options::command_line)]
    pub validation_command: Vec<String>,

    /// How long one command may take: 90s, 15m; 0 is off
    #[arg(long, value_name = "T", value_parser = crate::options::span)]
    pub validation_timeout: Option<Span>,

    /// Show what would be looked at and run, and run nothing
    #[arg(long)]
    pub list: bool,
}

/// Runs `validate`.
pub fn run(args: &Args, context: &Context) -> Result<Exit> {
    let worktree = Worktree::find(&context.cwd)?;
    let spec = spec(args, context, &worktree)?;
    let gates = gates::of(&spec);
    if args.list {
        let mut table = Table::new([
            Column::new("GATE", Align::Left, Shrink::Never),
            Column::new("LOOKS AT", Align::Left, Shrink::Cut),
        ]);
        for gate in &gates {
            for line in gate.looks_at() {
                table.row([Cell::from(gate.name()), Cell::from(line)]);
            }
        }
        term::answer(&table.render(term::width(), Colour::Always))?;
        return Ok(Exit::Done);
    }
    if let Some(source) = &spec.project_validation {
        term::whisper(&source.words());
    }
    let signals = Signals::install()?;
    let (mut stage, mut guards) = (Stage::new(), Guards::default());
    let mut court = Court {
        worktree: &worktree,
        spec: &spec,
        env: context.env.pairs().map(|(name, value)| (name.clone(), value.clone())).collect(),
        signals: &signals,
        guards: &mut guards,
        lock: worktree.validate_lock(),
        log: None,
        stage: &mut stage,
        held: Vec::new(),
        notes: Vec::new(),
    };
    let verdict = gates::ask(&gates, &mut court);
    for (gate, line) in &verdict.held {
        term::answer(&format!("{} {gate}: {}\n", paint(GOOD, "passed"), plain(line)))?;
    }
    match verdict.refusal {
        None => Ok(Exit::Done),
        Some(Refusal::Interrupted) => Ok(Exit::Interrupted),
        Some(Refusal::Rejected(rejection)) => {
            term::answer(&format!("{} {}: {}\n", paint(BAD, "failed"), rejection.gate, plain(&rejection.summary())))?;
            term::answer(&details(&rejection))?;
            Ok(Exit::Error)
        }
    }
}

/// What stands behind the summary: the open tasks or the command's output, without what would drive the terminal.
fn details(rejection: &Rejection) -> String {
    let detail = match &rejection.command {
        Some(_) => &rejection.detail,
        // The first line is the summary.
        None => rejection.detail.split_once('\n').map_or("", |(_, rest)| rest),
    };
    let shown = screened(detail.trim_end());
    if shown.is_empty() { String::new() } else { format!("{shown}\n") }
}

/// The loop that would be started here, as far as its gates go.
fn spec(args: &Args, context: &Context, worktree: &Worktree) -> Result<crate::config::LoopSpec> {
    let layout = Layout::detect(&worktree.root);
    let change = args.change.as_deref().map(|name| target::change(worktree, layout, name)).transpose()?;
    let has_tasks = change.is_some() || crate::layout::find_tasks(&worktree.root).is_some();
    let options = LoopOptions {
        harness: Some("rehearsal".into()),
        done: Some(if has_tasks { Done::Tasks } else { Done::Manual }),
        validation_command: args.validation_command.clone(),
        validation_timeout: args.validation_timeout,
        skip_validation: Some(false),
        ..LoopOptions::default()
    };
    let typed = Typed {
        task: Some("validate"),
        change_id: change.map(|change| change.id),
        layout: Some(layout),
        work: WorkOptions::default(),
        options,
        launch: LaunchOptions::default(),
    };
    let spec = plan::plan(worktree, &context.env, typed, &START)?.spec;
    if spec.project_validation.is_none() {
        let file = crate::config::REPOSITORY_FILE;
        term::warn(&format!("no validation is configured for this project; add to {file}: {}", gates::sources::TO_ADD));
    }
    if has_tasks && material::tasks(worktree, &spec)?.is_none() {
        term::warn("there is no tasks.md, so no task is looked at");
    }
    Ok(spec)
}
