//! As much of Markdown as it takes to tell a task from what only looks like one: lines, lists, code and comments.

mod code;
mod lines;
mod list;
#[cfg(test)]
mod tests;
mod visible;

pub use lines::Line;
pub use list::{block_content, list_item};
pub use visible::VisibleLines;
