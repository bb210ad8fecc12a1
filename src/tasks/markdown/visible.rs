//! What of a text is read at all: not its front matter, its code and its comments.

use memchr::memchr3;

use super::code::{Fence, inline_code_end};
use super::lines::{Line, Lines};

/// The lines that are neither front matter nor code, with comments blanked out.
pub struct VisibleLines<'a> {
    lines: Lines<'a>,
    region: Region,
    /// Where the text's last `-->` is; a comment that opens after it is never closed.
    last_comment_end: usize,
}

#[derive(Clone, Copy)]
enum Region {
    Text,
    Code(Fence),
    Comment,
}

impl<'a> VisibleLines<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { lines: Lines::of_content(text), region: Region::Text, last_comment_end: text.rfind("-->").unwrap_or(0) }
    }

    fn blank_comments(&mut self, line: &mut Line<'a>) {
        let mut at = 0;
        loop {
            // `<!-->` is a whole comment: the end may share the two dashes of the start.
            let (start, overlap) = match self.region {
                Region::Comment => (at, 0),
                Region::Text | Region::Code(_) => match self.comment_start(line, at) {
                    Some(start) => (start, "<!".len()),
                    None => return,
                },
            };
            let end = line.text[start + overlap..].find("-->").map(|end| start + overlap + end + "-->".len());
            at = end.unwrap_or(line.text.len());
            line.text.to_mut().replace_range(start..at, &" ".repeat(at - start));
            if end.is_none() {
                self.region = Region::Comment;
                return;
            }
            self.region = Region::Text;
        }
    }

    fn comment_start(&self, line: &Line<'_>, from: usize) -> Option<usize> {
        let start = unquoted_comment_start(line.text.as_bytes(), from)?;
        let is_closed = line.start + start < self.last_comment_end;
        let begins_line = || line.text[..start].trim_start().is_empty();
        (is_closed || begins_line()).then_some(start)
    }
}

impl<'a> Iterator for VisibleLines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        loop {
            let mut line = self.lines.next()?;
            match self.region {
                Region::Code(fence) => {
                    if fence.is_closed_by(&line.text) {
                        self.region = Region::Text;
                    }
                    continue;
                }
                Region::Text => {
                    if let Some(fence) = Fence::opened_by(&line.text) {
                        self.region = Region::Code(fence);
                        continue;
                    }
                }
                Region::Comment => {}
            }
            self.blank_comments(&mut line);
            return Some(line);
        }
    }
}

/// The first `<!--` that is neither in inline code nor escaped.
fn unquoted_comment_start(line: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at += memchr3(b'\\', b'`', b'<', line.get(at..)?)?;
        at = match line[at] {
            b'\\' => at + 2,
            b'`' => inline_code_end(line, at),
            _ if line[at..].starts_with(b"<!--") => return Some(at),
            _ => at + 1,
        };
    }
}
