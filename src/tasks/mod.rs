//! The tasks of a tasks.md: Markdown text in, tasks out. No I/O.
//!
//! # What is a task
//!
//! A **checkbox item**: a list marker (`-`, `*`, `+`, `1.`, `1)`, several for nested lists) at any indentation, a box,
//! then white space or the end of the line. So `- [x](url)` and `- [a]: url` are links, `- [ ]` alone is a task without
//! a name, and the row of a table is nothing. A text that begins with `1.2`, `1.`, `1:` or `T12` has that as its id; a
//! bare whole number (`10 tests must pass`) is part of the name.
//!
//! An **ito task**: a heading of level 2 to 6 that begins with the word `Task` (`### Task 1.2: name`) and, before the
//! next heading, a status line (`- **Status**: [ ] pending`). The status line governs: its box is the task's, its word
//! is prose, a second one is ignored, and other checkboxes between the two headings are steps, not tasks. Under such a
//! heading *without* a status line, checkboxes are tasks of their own.
//!
//! # What a box says
//!
//! | box | status |
//! |---|---|
//! | `[x]`, `[X]` | complete |
//! | `[~]`, `[>]` | in progress |
//! | `[-]` | shelved |
//! | `[ ]`, `[]`, and any other single character | pending |
//! | a digit, a backtick, more than one character | no box: `- [1]` is a reference, `- [RFC 9]` a label |
//!
//! An unknown mark is *pending*, because a mark that an agent made up (`[v]`, `[✔]`) must never close a task or make
//! it vanish. A status line cannot be mistaken for anything else, so there whatever is not known is pending. White
//! space inside the brackets does not matter.
//!
//! # What is not read
//!
//! - YAML front matter: from `---` on the very first line to the next `---` or `...`; without that end it is a rule.
//! - Code fences, at any indentation, also right after a list marker. One that is never closed runs to the end of the
//!   file, as in Markdown.
//! - HTML comments, which may begin and end in mid-line and span lines; what is left of a line is read as if the
//!   comment were white space. `<!--` in inline code (on one line), in a fence or after a backslash opens none. One
//!   that is never closed runs to the end of the file if it begins its line; in mid-line it is plain text (Markdown's
//!   rule again), lest a task that merely mentions `<!--` hide all that follow it.
//!
//! Line ends may be LF, CRLF or CR; a byte order mark is skipped.

mod checkbox;
#[cfg(test)]
mod corpus_tests;
mod edit;
mod find;
mod heading;
mod id;
mod markdown;
mod task;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod tick;

pub use task::{Task, TaskStatus, Tasks};
pub use tick::tick;
