//! Where code begins and ends: in fences, and within a line.

use memchr::memchr;

use super::list::block_content;

/// What began a block of code.
#[derive(Clone, Copy)]
pub struct Fence {
    mark: u8,
    length: usize,
}

impl Fence {
    /// At any indentation, also right after a list marker.
    pub fn opened_by(text: &str) -> Option<Self> {
        let content = block_content(text).as_bytes();
        let mark = *content.first().filter(|byte| matches!(byte, b'`' | b'~'))?;
        let length = run_length(content, mark);
        // "```x```" on one line is inline code.
        let is_inline = mark == b'`' && content[length..].contains(&b'`');
        (length >= 3 && !is_inline).then_some(Self { mark, length })
    }

    /// By as many of its marks or more, alone on their line.
    pub fn is_closed_by(self, text: &str) -> bool {
        let content = text.trim();
        content.len() >= self.length && content.bytes().all(|byte| byte == self.mark)
    }
}

/// Where the inline code that `start` opens ends: after the next run of as many backticks. Without one the backticks
/// are text, and only they are passed over.
pub fn inline_code_end(line: &[u8], start: usize) -> usize {
    let opening = run_length(&line[start..], b'`');
    let mut at = start + opening;
    while let Some(skip) = line.get(at..).and_then(|rest| memchr(b'`', rest)) {
        at += skip;
        let run = run_length(&line[at..], b'`');
        at += run;
        if run == opening {
            return at;
        }
    }
    start + opening
}

fn run_length(bytes: &[u8], byte: u8) -> usize {
    bytes.iter().take_while(|&&other| other == byte).count()
}
