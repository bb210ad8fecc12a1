//! The lines of a text, and where they are in it.

use std::borrow::Cow;

/// A line without its end. Where comments were blanked out, with as many bytes as before, so that offsets hold.
pub struct Line<'a> {
    pub number: usize,
    /// Where it begins in the whole text, in bytes.
    pub start: usize,
    pub text: Cow<'a, str>,
}

impl Line<'_> {
    /// Where `rest`, some tail of this line, begins in the whole text.
    pub fn offset_of_rest(&self, rest: &str) -> usize {
        self.start + self.text.len() - rest.len()
    }
}

/// All lines, by Markdown's line ends: LF, CRLF, CR.
#[derive(Clone)]
pub struct Lines<'a> {
    text: &'a str,
    at: usize,
    number: usize,
}

impl<'a> Lines<'a> {
    /// From the first line that is content: after a byte order mark and front matter, if there are any.
    pub fn of_content(text: &'a str) -> Self {
        let content = text.strip_prefix('\u{feff}').unwrap_or(text);
        let lines = Self { text, at: text.len() - content.len(), number: 0 };
        lines.clone().after_front_matter().unwrap_or(lines)
    }

    /// What follows the front matter, if the text begins with any.
    fn after_front_matter(mut self) -> Option<Self> {
        if self.next()?.text.trim_end() != "---" {
            return None;
        }
        self.find(|line| matches!(line.text.trim_end(), "---" | "..."))?;
        Some(self)
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let length = rest.find(['\n', '\r']).unwrap_or(rest.len());
        let (text, end) = rest.split_at(length);
        let line = Line { number: self.number, start: self.at, text: Cow::Borrowed(text) };
        let end_length = if end.starts_with("\r\n") { 2 } else { end.len().min(1) };
        self.at += length + end_length;
        self.number += 1;
        Some(line)
    }
}
