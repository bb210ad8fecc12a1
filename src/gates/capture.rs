//! The head and the tail of a long output, within a bound, with a line that says how much is missing.
//!
//! Compilers say what matters first, test runners last; the middle is what can be spared.

use std::collections::VecDeque;

/// How much is kept of the beginning.
const HEAD: usize = 8 * 1024;
/// How much of the end.
const TAIL: usize = 16 * 1024;

/// An output as it comes, in bounded memory.
#[derive(Debug, Default)]
pub struct Capture {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: usize,
}

impl Capture {
    /// Takes the next piece.
    pub fn push(&mut self, bytes: &[u8]) {
        let (first, rest) = bytes.split_at(bytes.len().min(HEAD - self.head.len()));
        self.head.extend_from_slice(first);
        let kept = &rest[rest.len().saturating_sub(TAIL)..];
        self.left_out += rest.len() - kept.len();
        let over = (self.tail.len() + kept.len()).saturating_sub(TAIL);
        self.tail.drain(..over);
        self.left_out += over;
        self.tail.extend(kept);
    }

    /// What was kept, as text, cut at character boundaries.
    pub fn text(mut self) -> String {
        let tail = self.tail.make_contiguous();
        if self.left_out == 0 {
            self.head.extend_from_slice(tail);
            return String::from_utf8_lossy(&self.head).into_owned();
        }
        let (head, cut_head) = whole_end(&self.head);
        let (tail, cut_tail) = whole_start(tail);
        let missing = self.left_out + cut_head + cut_tail;
        format!("{}\n… {missing} bytes left out …\n{}", String::from_utf8_lossy(head), String::from_utf8_lossy(tail))
    }
}

/// Without the first bytes of a character that is cut at the end.
fn whole_end(bytes: &[u8]) -> (&[u8], usize) {
    let cut = (1..=3.min(bytes.len())).find(|&n| {
        let byte = bytes[bytes.len() - n];
        let wanted = match byte {
            0xC0..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF7 => 4,
            _ => 0,
        };
        wanted > n
    });
    (&bytes[..bytes.len() - cut.unwrap_or(0)], cut.unwrap_or(0))
}

/// Without the last bytes of a character that was cut before the start.
fn whole_start(bytes: &[u8]) -> (&[u8], usize) {
    let cut = bytes.iter().take(3).take_while(|&&byte| byte & 0xC0 == 0x80).count();
    (&bytes[cut..], cut)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn captured(pieces: &[&[u8]]) -> String {
        let mut capture = Capture::default();
        for piece in pieces {
            capture.push(piece);
        }
        capture.text()
    }

    #[test]
    fn short_output_is_whole() {
        assert_eq!(captured(&[b"one\n", b"two\n"]), "one\ntwo\n");
    }

    #[test]
    fn of_long_output_the_head_and_the_tail_are_kept_and_the_rest_is_counted() {
        let text = "é".repeat(50_000);
        let kept = captured(&[b"x", text.as_bytes(), b"the end"]);
        assert!(kept.starts_with("xé") && kept.ends_with("éthe end"), "{}", &kept[kept.len() - 40..]);
        assert!(!kept.contains('\u{fffd}'), "cut at character boundaries");
        let missing: usize = kept.split("… ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
        let note = format!("\n… {missing} bytes left out …\n");
        assert_eq!(kept.len() - note.len() + missing, text.len() + 8);
        assert!(kept.len() < 25 * 1024);
    }

    proptest! {
        #[test]
        fn what_is_kept_and_what_is_left_out_add_up(
            pieces in proptest::collection::vec(("(a|é|日|🦀|\n){1,8}", 0_usize..600), 0..12),
        ) {
            let pieces: Vec<String> = pieces.iter().map(|(text, times)| text.repeat(*times)).collect();
            let pieces: Vec<&[u8]> = pieces.iter().map(String::as_bytes).collect();
            let whole = String::from_utf8(pieces.concat()).unwrap();
            let kept = captured(&pieces);
            if whole.len() <= HEAD + TAIL {
                prop_assert_eq!(kept, whole);
            } else {
                let (head, rest) = kept.split_once("\n… ").unwrap();
                let (missing, tail) = rest.split_once(" bytes left out …\n").unwrap();
                prop_assert!(whole.starts_with(head) && whole.ends_with(tail));
                prop_assert!(head.len() <= HEAD && tail.len() <= TAIL && head.len() + tail.len() > HEAD + TAIL - 8);
                prop_assert_eq!(head.len() + tail.len() + missing.parse::<usize>().unwrap(), whole.len());
            }
        }

        #[test]
        fn any_split_keeps_the_same(
            piece in proptest::collection::vec(any::<u8>(), 0..600),
            times in 0_usize..100,
            at in 0_usize..60_000,
        ) {
            let bytes = piece.repeat(times);
            let at = at.min(bytes.len());
            prop_assert_eq!(captured(&[&bytes]), captured(&[&bytes[..at], &bytes[at..]]));
        }
    }
}
