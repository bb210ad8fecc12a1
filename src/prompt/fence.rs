//! Code fences: made so that nothing closes them, and recognised in the text of others.

/// `text` in a code fence that nothing in it can close: for the output of commands.
pub fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{}\n{fence}", text.trim_end())
}

/// A line that opens or closes a block of code.
pub struct Fence<'a> {
    pub marks: &'a str,
    info: &'a str,
}

impl<'a> Fence<'a> {
    /// `None` where the line is neither.
    pub fn of(line: &'a str) -> Option<Self> {
        let text = unindented(line);
        let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let (marks, info) = text.split_at(text.len() - text.trim_start_matches(mark).len());
        (marks.len() >= 3).then_some(Self { marks, info })
    }

    /// Three backticks and a fourth further on are code within a line.
    pub fn can_open(&self) -> bool {
        self.marks.starts_with('~') || !self.info.contains('`')
    }

    /// Whether this line ends what `opened` began.
    pub fn closes(&self, opened: &Fence<'_>) -> bool {
        self.marks.starts_with(opened.marks) && self.info.trim().is_empty()
    }
}

/// Markdown reads a line with up to three spaces before it as if they were not there; with more it is code.
pub fn unindented(line: &str) -> &str {
    let text = line.trim_start_matches(' ');
    if line.len() - text.len() < 4 { text } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_closes_a_fence_from_within() {
        assert_eq!(fenced("a\n"), "```\na\n```");
        assert_eq!(fenced("```\n# a\n````"), "`````\n```\n# a\n````\n`````");
    }
}
