//! A box and what it says, and the status line of an ito task.

use super::markdown::block_content;
use super::task::TaskStatus;

/// `[…]`, and white space or nothing after it.
pub struct Checkbox<'a> {
    pub inside: &'a str,
    pub after: &'a str,
}

impl<'a> Checkbox<'a> {
    pub fn parse(text: &'a str) -> Option<Self> {
        let (inside, after) = text.strip_prefix('[')?.split_once(']')?;
        let apart = after.is_empty() || after.starts_with(char::is_whitespace);
        // With a backtick, inline code begins inside the brackets: this is not a box but the text of one.
        (apart && !inside.contains('`')).then_some(Self { inside, after })
    }

    /// `None` where this is a reference or a label.
    pub fn status(&self) -> Option<TaskStatus> {
        /// Asks for the emoji form of the character before it (`✔️`): no mark by itself.
        const VARIATION_SELECTOR: char = '\u{fe0f}';
        let mut marks = self.inside.trim().chars().filter(|&c| c != VARIATION_SELECTOR);
        match (marks.next(), marks.next()) {
            (Some('x' | 'X'), None) => Some(TaskStatus::Complete),
            (Some('~' | '>'), None) => Some(TaskStatus::InProgress),
            (Some('-'), None) => Some(TaskStatus::Shelved),
            (Some('0'..='9'), None) | (_, Some(_)) => None,
            (_, None) => Some(TaskStatus::Pending),
        }
    }
}

/// The box of `- **Status**: [ ] pending`.
pub fn status_line(text: &str) -> Option<Checkbox<'_>> {
    let content = block_content(text);
    let rest = content.strip_prefix("**Status**:").or_else(|| content.strip_prefix("**Status:**"))?;
    Checkbox::parse(rest.trim_start())
}
