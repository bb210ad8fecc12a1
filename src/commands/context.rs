//! `wt-loop context add|show|clear`: what every iteration is told beside its task, reloaded each time.

use std::path::PathBuf;

use clap::Subcommand;

use super::Context;
use crate::context;
use crate::environment::Environment;
use crate::error::{Exit, Result};
use crate::layout::Layout;
use crate::material;
use crate::registry::Registry;
use crate::target;
use crate::term;
use crate::view::View;
use crate::worktree::Worktree;

/// Arguments of `context`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to do with it
    #[command(subcommand)]
    pub action: Action,
}

/// What to do with the context.
#[derive(Debug, Subcommand)]
pub enum Action {
    /// Add a text; the next iteration reads it
    Add {
        /// The text
        #[arg(value_name = "TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
        text: String,
        /// Whose context
        #[command(flatten)]
        of: Of,
    },
    /// Print it
    Show {
        /// Whose context
        #[command(flatten)]
        of: Of,
    },
    /// Forget it
    Clear {
        /// Whose context
        #[command(flatten)]
        of: Of,
    },
}

/// Whose context.
#[derive(Debug, clap::Args)]
pub struct Of {
    /// The change whose context it is; without one, that of the loop of this worktree
    #[arg(short, long, value_name = "ID", add = crate::complete::changes())]
    pub change: Option<String>,
}

/// Runs `context`.
pub fn run(args: &Args, from: &Context) -> Result<Exit> {
    let worktree = Worktree::find(&from.cwd)?;
    let path = match &args.action {
        Action::Add { of, .. } | Action::Show { of } | Action::Clear { of } => file(&worktree, &from.env, of)?,
    };
    match &args.action {
        Action::Show { .. } => match context::show(&path)? {
            text if text.is_empty() => term::narrate("there is no context; add some: wt-loop context add \"…\""),
            text => term::answer(&text)?,
        },
        Action::Clear { .. } => {
            context::clear(&path)?;
            term::answer("the context is cleared\n")?;
        }
        Action::Add { text, .. } => {
            context::add(&worktree, &path, text)?;
            term::answer("added; the next iteration reads it\n")?;
        }
    }
    Ok(Exit::Done)
}

fn file(worktree: &Worktree, env: &Environment, of: &Of) -> Result<PathBuf> {
    let layout = Layout::detect(&worktree.root);
    if let Some(name) = &of.change {
        let change = target::change(worktree, layout, name)?;
        return Ok(material::context_file(worktree, layout, Some(&change.id)));
    }
    let Some(running) = View::of(worktree, &Registry::of(env))?.filter(View::is_active) else {
        return Ok(material::context_file(worktree, layout, None));
    };
    // A loop that was called by the name of ito or spool need not use the layout that one would find here.
    let layout = running.record.map_or(layout, |record| record.spec.layout());
    Ok(material::context_file(worktree, layout, running.state.change_id.as_deref()))
}
