//! A heading, and the task that a heading of ito names.

use super::id::{first_word, number};

/// `### title`
pub struct Heading<'a> {
    level: usize,
    title: &'a str,
}

impl<'a> Heading<'a> {
    pub fn parse(text: &'a str) -> Option<Self> {
        let content = text.trim_start_matches(' ');
        let rest = content.trim_start_matches('#');
        let (indentation, level) = (text.len() - content.len(), content.len() - rest.len());
        let apart = rest.is_empty() || rest.starts_with(char::is_whitespace);
        // Indented further it is a comment in someone's code, and must not cut a task off from its status line.
        (indentation <= 3 && (1..=6).contains(&level) && apart)
            .then(|| Self { level, title: rest.trim().trim_end_matches('#').trim_end() })
    }

    /// The id and the name, if this is the heading of an ito task.
    pub fn task(&self) -> Option<(Option<&'a str>, &'a str)> {
        let rest = self.title.strip_prefix("Task").filter(|_| self.level >= 2)?;
        if rest.starts_with(char::is_alphanumeric) {
            return None;
        }
        let separator = |c: char| c.is_whitespace() || matches!(c, ':' | '-' | '–' | '—');
        let rest = rest.trim_start_matches(separator);
        let (word, name) = first_word(rest);
        match number(word) {
            Some(id) => Some((Some(id), name.trim_start_matches(separator))),
            None => Some((None, rest)),
        }
    }
}
