//! What ticking a task changes in its text: ranges of bytes, so that every other byte stays.

use std::ops::Range;

use super::checkbox::Checkbox;
use super::markdown::Line;

/// Replaces a range of the text's bytes.
pub struct Edit {
    at: Range<usize>,
    with: &'static str,
}

/// `text` after these edits, which are in its order.
pub fn apply(text: &str, edits: Vec<Edit>) -> String {
    let mut ticked = String::with_capacity(text.len() + 16);
    let mut copied = 0;
    for Edit { at, with } in edits {
        ticked.push_str(&text[copied..at.start]);
        ticked.push_str(with);
        copied = at.end;
    }
    ticked.push_str(&text[copied..]);
    ticked
}

/// Sets the box to `[x]`.
pub fn tick_mark(line: &Line<'_>, checkbox: &Checkbox<'_>) -> Edit {
    let end = line.offset_of_rest(checkbox.after) - "]".len();
    Edit { at: end - checkbox.inside.len()..end, with: "x" }
}

/// Sets the word of a status line to `complete`.
///
/// A line without a word gets one, as ito cannot read it without.
pub fn tick_word(line: &Line<'_>, checkbox: &Checkbox<'_>) -> Edit {
    let rest = checkbox.after.trim_start();
    let is_word = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
    if length == 0 {
        let end = line.offset_of_rest(checkbox.after);
        return Edit { at: end..end, with: " complete" };
    }
    let start = line.offset_of_rest(rest);
    Edit { at: start..start + length, with: "complete" }
}
