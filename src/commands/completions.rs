//! `wt-loop completions SHELL`: prints the script that makes a shell complete our words.

use clap::ValueEnum;

use crate::complete;
use crate::error::{Doing, Error, Exit, Result};
use crate::term;

/// Arguments of `completions`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell: bash, zsh, fish, elvish or powershell
    #[arg(value_name = "SHELL", hide_possible_values = true)]
    pub shell: Shell,
}

/// The shells.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Shell {
    /// bash
    Bash,
    /// zsh
    Zsh,
    /// fish
    Fish,
    /// elvish
    Elvish,
    /// `PowerShell`
    Powershell,
}

/// Runs `completions`.
pub fn run(args: &Args) -> Result<Exit> {
    let name = match args.shell {
        Shell::Bash => "bash",
        Shell::Zsh => "zsh",
        Shell::Fish => "fish",
        Shell::Elvish => "elvish",
        Shell::Powershell => "powershell",
    };
    let script = complete::script(name).ok_or_else(|| Error::usage(format!("no completions for {name}")))?;
    let script = script.doing("write the completions of", name.as_ref())?;
    term::answer(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}
