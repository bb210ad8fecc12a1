//! The context that every iteration reloads: added to, shown and cleared while a loop runs.
//!
//! An addition is one append and a clearing one replacement, so an iteration that reads meanwhile sees one or the other.

use std::path::Path;

use crate::error::{Doing, Error, Result};
use crate::files;
use crate::worktree::Worktree;

/// Adds a text as a paragraph of its own.
pub fn add(worktree: &Worktree, path: &Path, text: &str) -> Result<()> {
    if text.trim().is_empty() {
        return Err(Error::usage("the context to add is empty").hint("wt-loop context add \"what to mind\""));
    }
    worktree.exclude_ours()?;
    files::append_paragraph(path, text).doing("write", path)
}

/// Forgets all of it.
pub fn clear(path: &Path) -> Result<()> {
    if show(path)?.is_empty() { Ok(()) } else { files::replace(path, b"").doing("write", path) }
}

/// What it is now; empty where there is none.
pub fn show(path: &Path) -> Result<String> {
    let bytes = files::read(path).doing("read", path)?.unwrap_or_default();
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
