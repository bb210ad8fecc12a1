//! wt-loop runs an AI coding agent in a loop, inside a git worktree, until the work is really done.
//!
//! The map, from the top down; imports point down, never up and never sideways between commands:
//!
//! | module | what it is |
//! |---|---|
//! | [`cli`], [`complete`], [`manual`] | the clap tree, and what is made from it |
//! | [`commands`] | one file per subcommand |
//! | [`plan`], [`options`], [`config`] | what was typed, and what it means |
//! | [`engine`] | the loop: prompt, agent, what changed, done?, go on? |
//! | [`foreground`], [`session`], [`view`], [`target`] | who may run a loop, what a reader sees of it, which one is meant |
//! | [`launch`], [`notify`] | where `start` puts a loop, and who is told of its end |
//! | [`agent`], [`gates`], [`prompt`], [`promise`], [`tasks`] | the agents; what must hold; pure text |
//! | [`material`], [`layout`], [`worktree`], [`registry`], [`state`], [`change_history`], [`context`], [`log`], [`lock`], [`files`] | what is on disk |
//! | [`process`] | the only place that spawns, signals and waits |
//! | [`term`] | what a person sees: the only place that prints |
//! | [`error`], [`environment`], [`nearest`], [`rawtext`], [`shell`] | small things that everybody needs |

pub mod agent;
pub mod change_history;
pub mod cli;
pub mod commands;
pub mod complete;
pub mod config;
pub mod context;
pub mod engine;
pub mod environment;
pub mod error;
pub mod files;
pub mod foreground;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
pub mod gates;
pub mod launch;
pub mod layout;
pub mod lock;
pub mod log;
pub mod manual;
pub mod material;
pub mod nearest;
pub mod notify;
pub mod options;
pub mod plan;
pub mod process;
pub mod promise;
pub mod prompt;
pub mod rawtext;
pub mod registry;
pub mod session;
pub mod shell;
pub mod state;
pub mod target;
pub mod tasks;
pub mod term;
pub mod view;
pub mod worktree;

use std::ffi::OsString;
use std::process::ExitCode;

use crate::process::entry;

/// Parses, runs, reports, returns.
pub fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    if let Some(code) = own_work(&args) {
        return code;
    }
    process::see_children_end();
    complete::answer_the_shell();
    let outcome = cli::parse(args).and_then(|cli| match cli {
        cli::Parsed::Command(command, caller) => commands::run(&command, caller),
        cli::Parsed::Answered(exit) => Ok(exit),
    });
    let exit = outcome.unwrap_or_else(|error| {
        term::error(&error);
        error.exit()
    });
    ExitCode::from(exit.code())
}

/// The guard, the shim, the built-in agent and the desktop's messenger are this program too; they come before anything else costs time.
fn own_work(args: &[OsString]) -> Option<ExitCode> {
    let mut rest = args.iter().skip(2).cloned();
    match args.get(1)?.to_str()? {
        entry::GUARD => Some(process::guard_main()),
        entry::SHIM => Some(process::shim_main(rest)),
        entry::DETACH => Some(process::detach_main(rest)),
        entry::NOTIFY => Some(notify::main()),
        entry::REHEARSAL => Some(agent::rehearsal::main(&mut rest)),
        _ => None,
    }
}
