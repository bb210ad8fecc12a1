//! `wt-loop man [SUB]`: prints a manual page.

use crate::error::{Error, Exit, Result};
use crate::manual;
use crate::nearest::nearest;
use crate::term;

/// Arguments of `man`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The subcommand; without one, the page of wt-loop itself
    #[arg(value_name = "SUB", add = crate::complete::pages())]
    pub page: Option<String>,

    /// List the names of all pages
    #[arg(long, conflicts_with = "page")]
    pub list: bool,
}

/// Runs `man`.
pub fn run(args: &Args) -> Result<Exit> {
    let pages = manual::pages();
    if args.list {
        term::answer(&format!("{}\n", pages.join("\n")))?;
        return Ok(Exit::Done);
    }
    let name = args.page.as_deref().unwrap_or("wt-loop");
    let page = manual::page(name).ok_or_else(|| {
        let error = Error::usage(format!("no manual page called '{name}'; found: {}", pages.join(", ")));
        match nearest(name, pages.iter().map(String::as_str)) {
            Some(near) => error.hint(format!("wt-loop man {near}")),
            None => error.hint("wt-loop man --list"),
        }
    })?;
    term::answer(&page)?;
    Ok(Exit::Done)
}
