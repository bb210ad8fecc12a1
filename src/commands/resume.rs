//! `wt-loop resume`: goes on after the last recorded iteration, with the same log and history.

use super::Context;
use crate::agent::Harness;
use crate::agent::own::OwnAgent;
use crate::config::{Config, LoopSpec, START, TasksFile, Work, refuse_min_over_max};
use crate::engine;
use crate::error::{Doing, Error, Exit, Result};
use crate::foreground;
use crate::gates::sources;
use crate::gates::tasks::AtStart;
use crate::layout::Layout;
use crate::log::Opening;
use crate::options::{Done, LaunchOptions, Limit, LoopOptions, Span};
use crate::plan::{self, Plan};
use crate::process::Signals;
use crate::registry::{Record, Registry};
use crate::session::{self, Starting};
use crate::state::{State, Status};
use crate::target;
use crate::term;
use crate::view::View;
use crate::worktree::Worktree;

/// Arguments of `resume`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A change, or another worktree's name or branch; without one, the loop of this worktree
    #[arg(value_name = "CHANGE", add = crate::complete::targets())]
    pub change: Option<String>,

    /// Print the next prompt and the exact command line; run and write nothing
    #[arg(long)]
    pub dry_run: bool,

    /// How the loop runs
    #[command(flatten)]
    pub options: LoopOptions,
}

/// Runs `resume`.
pub fn run(args: &Args, context: &Context) -> Result<Exit> {
    let view = target::of_loop(&context.cwd, &context.env, args.change.as_deref())?;
    let worktree = view.worktree.clone();
    let registry = Registry::of(&context.env);
    let (spec, opening) = match view.record.clone() {
        Some(record) => {
            let own_agent = own_agent(&record.spec, &args.options, &worktree, context)?;
            (LoopSpec { own_agent, ..overridden(record.spec, &args.options) }, Opening::GoOn)
        }
        None => (from_state(&view, context, args.options.clone())?, Opening::Adopt),
    };
    refuse_the_finished(&view, &spec, opening)?;
    refuse_min_over_max(spec.min, spec.max)?;
    let program = Harness::of(&spec)?.locate(&context.env, &worktree.root)?;
    if args.dry_run {
        let plan = Plan { spec, launch: LaunchOptions::default(), own_terminals: Vec::new(), program };
        term::answer(&plan::dry_run(&worktree, &plan, &view.state)?)?;
        return Ok(Exit::Done);
    }
    let starting = Starting::begin(&worktree, &registry)?;
    session::record_crash(&view)?;
    session::make_room(&worktree)?;
    let mut state = View::of(&worktree, &registry)?.map_or(view.state, |view| view.state);
    session::describe(&mut state, &spec);
    if opening == Opening::Adopt {
        // What another tool wrote, or nobody knows who, becomes a loop of the user's from here on.
        state.loop_id = session::new_id();
    }
    let claim = view.record.and_then(|record| record.claim).filter(|claimed| *claimed == state.last_recorded());
    let record = Record { claim, ..Record::new(&worktree, state.loop_id.clone(), spec) };
    registry.save(&record)?;
    state.save(&worktree.state()).doing("write", &worktree.state())?;
    let signals = Signals::install()?;
    foreground::go(&worktree, &context.env, &record, (state, opening), starting, &signals)
}

/// The user's own description of the agent: the recorded one, unless another agent is named now.
fn own_agent(spec: &LoopSpec, typed: &LoopOptions, worktree: &Worktree, context: &Context) -> Result<Option<OwnAgent>> {
    let Some(harness) = &typed.harness else { return Ok(spec.own_agent.clone()) };
    let config = Config::load(&worktree.root, &context.env, LoopOptions::default(), LaunchOptions::default())?;
    OwnAgent::described(harness, config.own_agents)
}

fn refuse_the_finished(view: &View, spec: &LoopSpec, opening: Opening) -> Result<()> {
    let recorded = view.state.last_recorded();
    if view.status() == Status::Done {
        return Err(
            Error::new("the loop is done; there is nothing to go on with").hint("wt-loop start \"the next task\"")
        );
    }
    let is_claimed = || {
        opening == Opening::GoOn
            && engine::open_claim(&view.worktree, spec, &view.state, view.record.as_ref()).is_some()
    };
    if !view.is_active() && spec.max.is_reached_by(recorded) && !is_claimed() {
        let more = recorded + 10;
        return Err(Error::new(format!("the loop is at its maximum of {} iterations", spec.max))
            .hint(format!("wt-loop resume --max {more}")));
    }
    Ok(())
}

/// The record, with what was typed now put over it.
fn overridden(spec: LoopSpec, typed: &LoopOptions) -> LoopSpec {
    let span = |typed: Option<Span>, had| typed.map_or(had, |Span(span)| span);
    let o = typed.clone();
    LoopSpec {
        harness: o.harness.unwrap_or(spec.harness),
        model: o.model.or(spec.model),
        approval: o.allow_all.map_or(spec.approval, crate::config::Approval::from),
        agent_args: if o.agent_arg.is_empty() { spec.agent_args } else { o.agent_arg },
        max: o.max.unwrap_or(spec.max),
        min: o.min.unwrap_or(spec.min),
        done: o.done.unwrap_or(spec.done),
        promise: match (o.done, o.completion_promise) {
            (Some(Done::Manual), None) => None,
            (_, asked) => asked.or(spec.promise),
        },
        stall_threshold: o.stall_threshold.unwrap_or(spec.stall_threshold),
        progress: o.progress.unwrap_or(spec.progress),
        iteration_timeout: span(o.iteration_timeout, spec.iteration_timeout),
        idle_timeout: span(o.idle_timeout, spec.idle_timeout),
        max_time: span(o.max_time, spec.max_time),
        budget_tokens: o.budget_tokens.unwrap_or(spec.budget_tokens),
        budget_usd: o.budget_usd.or(spec.budget_usd),
        limit_wait: span(o.limit_wait, spec.limit_wait),
        continue_session: o.continue_session.unwrap_or(spec.continue_session),
        raw: o.raw.unwrap_or(spec.raw),
        log_max_size: o.log_max_size.unwrap_or(spec.log_max_size),
        on_failure: o.fail_fast.map_or(spec.on_failure, crate::config::OnFailure::from),
        error_threshold: o.error_threshold.unwrap_or(spec.error_threshold),
        validation: o.skip_validation.map_or(spec.validation, crate::config::Validation::from_skip),
        extra_validation: if o.validation_command.is_empty() { spec.extra_validation } else { o.validation_command },
        validation_timeout: span(o.validation_timeout, spec.validation_timeout),
        stream: o.no_stream.map_or(spec.stream, crate::config::Streaming::from_no_stream),
        notify: typed.notifies().map_or(spec.notify, crate::config::Notify::from),
        ..spec
    }
}

/// Of a state that another tool wrote: its task, limits and history; the rest from flags, files and defaults.
fn from_state(view: &View, context: &Context, typed: LoopOptions) -> Result<LoopSpec> {
    let state: &State = &view.state;
    let config = Config::load(&view.worktree.root, &context.env, typed, LaunchOptions::default())?;
    let told = LoopOptions {
        max: Some(Limit::from(state.max_iterations)),
        done: match state.done_criteria.as_str() {
            "tasks" => Some(Done::Tasks),
            "manual" => Some(Done::Manual),
            _ => None,
        },
        completion_promise: state.completion_promise.clone(),
        stall_threshold: Some(Limit::from(state.stall_threshold)),
        iteration_timeout: Some(Span(minutes(state.iteration_timeout_min))),
        ..LoopOptions::default()
    };
    let config = Config { options: config.options.or(told), ..config };
    let work = Work {
        task: state.task.clone(),
        change_id: state.change_id.clone(),
        module_id: state.module_id.clone(),
        layout: Layout::detect(&view.worktree.root),
        label: state.label.clone(),
        project_validation: sources::find(&view.worktree.root)?,
    };
    let tasks = crate::layout::find_tasks(&view.worktree.root)
        .map_or(TasksFile::Missing, |_| TasksFile::Present(AtStart::None));
    config.resolve(work, tasks, &START)
}

fn minutes(minutes: f64) -> Option<std::time::Duration> {
    std::time::Duration::try_from_secs_f64(minutes * 60.0).ok().filter(|span| !span.is_zero())
}
