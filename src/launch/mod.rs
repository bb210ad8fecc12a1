//! Where `start` puts a loop. One file per kind of place, one line in [`ALL`].
//!
//! No shell stands between: a worktree's path is an argument, never code. `start` does not believe that a place works because
//! its program started; the loop itself reports in ([`meeting`]).

mod background;
pub mod meeting;
mod tmux;

use std::path::{Path, PathBuf};
use std::process::Child;

use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::nearest::nearest;
use crate::worktree::Worktree;

/// Every launcher, in the order in which `auto` tries them.
pub const ALL: [&Launcher; 2] = [&tmux::LAUNCHER, &background::LAUNCHER];

/// The name that leaves the choice to us.
pub const AUTO: &str = "auto";

/// A place for a loop.
pub struct Launcher {
    /// What it is called by `--launcher`.
    pub name: &'static str,
    /// The program it needs, if any.
    pub program: Option<&'static str>,
    /// Whether it can fill the screen.
    pub fullscreen: Fullscreen,
    launch: fn(&Launch) -> Result<Launched>,
}

/// Whether a place can fill the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fullscreen {
    /// It has no such thing.
    Unknown,
}

/// What is to be put somewhere.
pub struct Launch<'a> {
    /// This program, as others can start it.
    pub program: PathBuf,
    /// Where the loop works.
    pub worktree: &'a Worktree,
    /// The user's environment.
    pub env: &'a Environment,
    /// Where what is printed goes when there is no terminal for it.
    pub output: PathBuf,
}

/// What was put where.
pub struct Launched {
    /// Where, for a person: `tmux session shop, window feat-x`.
    pub place: String,
    /// How to look at it, beside `wt-loop monitor`.
    pub attach: Option<String>,
    /// The process to watch, where there is one.
    pub child: Option<Child>,
}

impl Launcher {
    /// The launcher of that name, or the one that `auto` picks.
    pub fn named(name: &str, env: &Environment, cwd: &Path) -> Result<&'static Self> {
        if name == AUTO {
            return Ok(Self::automatic(env, cwd));
        }
        let names = || ALL.iter().map(|launcher| launcher.name).chain([AUTO]);
        let Some(found) = ALL.into_iter().find(|launcher| launcher.name == name) else {
            let known = names().collect::<Vec<_>>().join(", ");
            let error = Error::usage(format!("no launcher called '{name}'; known: {known}"));
            return Err(match nearest(name, names()) {
                Some(near) => error.hint(format!("did you mean --launcher {near}?")),
                None => error,
            });
        };
        if found.is_installed(env, cwd) {
            return Ok(found);
        }
        let installed: Vec<&str> =
            ALL.iter().filter(|launcher| launcher.is_installed(env, cwd)).map(|launcher| launcher.name).collect();
        Err(Error::new(format!("{name} is not on PATH; found: {}", installed.join(", ")))
            .hint(format!("--launcher {}", installed.first().unwrap_or(&AUTO))))
    }

    /// Whether its program is there.
    pub fn is_installed(&self, env: &Environment, cwd: &Path) -> bool {
        self.program.is_none_or(|program| which::which_in(program, env.get("PATH"), cwd).is_ok())
    }

    /// Puts the loop there.
    pub fn launch(&self, launch: &Launch) -> Result<Launched> {
        (self.launch)(launch)
    }

    fn automatic(env: &Environment, cwd: &Path) -> &'static Self {
        ALL.into_iter().find(|launcher| launcher.is_installed(env, cwd)).unwrap_or(&background::LAUNCHER)
    }
}
