//! The prompt of an iteration: facts in, text out, no I/O.
//!
//! What it says is in `prompt.md`, which reads like the prompt that it makes. A user may put another [`Template`] in
//! its place; the syntax is this and nothing more:
//!
//! - `{{name}}` is replaced by its value. An unknown name is an error that lists the known ones. There is no escape:
//!   two opening braces always begin a name.
//! - A paragraph (between blank lines) is left out when a name in it has no value; blank text is no value.
//! - A section (from a line that begins with `# ` or `## ` to the next) is left out when its heading is, when none of
//!   the names that stand alone as a paragraph in it has a value, or when nothing is left under its heading.
//! - A comment (`<!-- … -->`) that opens the file is not part of the prompt, to the end of its last line.
//! - `{{task}}` must be somewhere: a template that swallows what the user asked for is a mistake.
//!
//! Inserted text is never read as a template. Three things are done to it:
//!
//! - **Headings** go two levels down, so that `# Why` in a proposal stands under our `##` and a `## Task` in it is not
//!   taken for ours. Code fences are left as they are, and one that is left open is closed, so that it cannot swallow
//!   the sections behind it. Nothing else in it is changed.
//! - **Names** (worktree, ids, file, token) become one line.
//! - **The promise tag** is broken by [`defuse`](crate::promise::defuse), over the finished text and not piece by piece, so that it cannot be
//!   put together from two pieces or come from a user's template either: an echo of a prompt promises nothing.

mod error;
mod facts;
mod fence;
mod nested;
mod section;
mod slot;
mod template;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use error::TemplateError;
pub use facts::{Document, HowDone, PromptFacts};
pub use fence::fenced;
pub use template::Template;
