//! One file per subcommand: its `Args` and one function that runs it.

pub mod completions;
pub mod context;
pub mod demo;
pub mod doctor;
pub mod history;
pub mod list;
pub mod man;
pub mod monitor;
pub mod ralph;
pub mod resume;
pub mod run;
pub mod start;
pub mod status;
pub mod stop;
pub mod validate;

use std::path::PathBuf;

use crate::cli::{Caller, Command};
use crate::environment::Environment;
use crate::error::{Exit, Result};

/// What every command starts from.
pub struct Context {
    /// Where it was given.
    pub cwd: PathBuf,
    /// The environment it was given in.
    pub env: Environment,
    /// By whose name the program was called.
    pub caller: Caller,
}

/// Runs a command.
pub fn run(command: &Command, caller: Caller) -> Result<Exit> {
    // Some commands need no place at all; the others find that this one is in no worktree.
    let cwd = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let context = Context { cwd, env: Environment::own(), caller };
    match command {
        Command::Start(args) => start::run(args, &context),
        Command::Run(args) => run::run(args, &context),
        Command::Stop(args) => stop::run(args, &context),
        Command::Status(args) => status::run(args, &context),
        Command::History(args) => history::run(args, &context),
        Command::Monitor(args) => monitor::run(args, &context),
        Command::List(args) => list::run(args, &context),
        Command::Resume(args) => resume::run(args, &context),
        Command::Ralph(args) => ralph::run(args, &context),
        Command::Context(args) => context::run(args, &context),
        Command::Validate(args) => validate::run(args, &context),
        Command::Doctor(args) => doctor::run(args, &context),
        Command::Demo(args) => demo::run(args, &context),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args),
    }
}
