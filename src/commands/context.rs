//! `wt-loop context add|show|clear`: what every iteration is told beside its task, reloaded each time.

use clap::Subcommand;

use super::Context;
use crate::engine::brief;
use crate::error::{Doing, Error, Exit, Result};
use crate::files;
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
pub fn run(args: &Args, context: &Context) -> Result<Exit> {
    let worktree = Worktree::find(&context.cwd)?;
    let path = match &args.action {
        Action::Add { of, .. } | Action::Show { of } | Action::Clear { of } => file(&worktree, of)?,
    };
    let known = files::read(&path).doing("read", &path)?.unwrap_or_default();
    match &args.action {
        Action::Show { .. } if known.is_empty() => {
            term::narrate("there is no context; add some: wt-loop context add \"…\"");
        }
        Action::Show { .. } => term::answer(&String::from_utf8_lossy(&known))?,
        Action::Clear { .. } => {
            if !known.is_empty() {
                files::replace(&path, b"").doing("write", &path)?;
            }
            term::answer("the context is cleared\n")?;
        }
        Action::Add { text, .. } => {
            if text.trim().is_empty() {
                return Err(Error::usage("the context to add is empty").hint("wt-loop context add \"what to mind\""));
            }
            worktree.exclude_ours()?;
            files::append_line(&path, text).doing("write", &path)?;
            term::answer("added; the next iteration reads it\n")?;
        }
    }
    Ok(Exit::Done)
}

fn file(worktree: &Worktree, of: &Of) -> Result<std::path::PathBuf> {
    let change_id = match &of.change {
        Some(name) => Some(target::change(worktree, name)?),
        None => View::of(worktree)?.filter(View::is_active).and_then(|view| view.state.change_id),
    };
    Ok(brief::context_file(worktree, change_id.as_deref()))
}
