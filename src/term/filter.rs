//! What of an agent's output may reach a terminal: text, line ends and colours, and nothing else.
//!
//! An agent prints what it read: files, web pages, the output of commands. Any of it may hold sequences that set the
//! clipboard, rename the window, move the cursor over what was said before, or make the terminal type. [`Filter`]
//! stands between such bytes and the terminal; the log keeps them as they came.
//!
//! | input | output |
//! |---|---|
//! | printable UTF-8, `\n`, `\t` | the same |
//! | invalid bytes, also lone bytes 0x80–0x9F | U+FFFD, one for each broken character, as [`String::from_utf8_lossy`] does |
//! | `\r\n`, and `\r` alone | `\n`: nothing that was shown is written over |
//! | `ESC [ … m` of digits, `;` and `:` (SGR) | the same |
//! | every other sequence: CSI, OSC, DCS, APC, PM, SOS, screen's title, `ESC x` | nothing |
//! | C0 and C1 controls, DEL, bidirectional controls | nothing |
//!
//! A C1 control that came as UTF-8 (U+009B, U+009D …) is dropped alone and opens no sequence. What follows it is then
//! harmless text, and text that was decoded wrongly, where such characters abound, keeps its words.
//!
//! Nothing is swallowed for long. A line end ends every sequence and is itself kept; a string (OSC, DCS …) ends after
//! 64 KiB, the parameters of a CSI sequence after 128 bytes; what comes then is text again. Strings are counted, not
//! stored, so a filter's memory has a small bound whatever it is fed.
//!
//! The output does not depend on how the input was cut into reads. After [`Filter::finish`] it is valid UTF-8, an
//! unfinished sequence is gone, colours that the agent left on are off, and the filter is as new.
//!
//! The common case is the fast one: a run without controls is found a block at a time and copied whole.

use std::str;

/// How long an OSC, DCS, APC, PM or SOS string may be: above the 4 KiB and a header in which images are sent, far
/// below what anyone would miss.
const STRING_MAX: usize = 64 * 1024;

/// How long the parameters of a CSI sequence may be: a style with three RGB colours has about sixty bytes.
const CSI_MAX: usize = 128;

/// How many bytes stand between `ESC` and the last byte of a sequence that designates a character set.
const INTERMEDIATES_MAX: u8 = 2;

/// How many bytes are looked at together; a loop without an early exit over as many becomes vector instructions.
const BLOCK: usize = 32;

const BEL: u8 = 0x07;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
const ESC: u8 = 0x1b;
const DEL: u8 = 0x7f;

const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();
const SGR_RESET: &[u8] = b"\x1b[0m";

/// A streaming filter over an agent's output on its way to a terminal. See the module for what passes.
#[derive(Debug)]
pub struct Filter {
    state: State,
    /// The start of a character, or the parameters of a CSI sequence; never longer than [`CSI_MAX`].
    held: Vec<u8>,
    sgr: Sgr,
    ink: Ink,
}

/// What the next byte belongs to.
#[derive(Clone, Copy, Debug)]
enum State {
    Text,
    /// A `\r` was written as `\n`: a `\n` that follows is the same line end.
    Return,
    /// `held` has the start of a UTF-8 character.
    Character,
    Escape,
    /// After `ESC` and that many intermediate bytes.
    Intermediate(u8),
    /// `held` has the parameters so far.
    Csi,
    /// In a string that may go on for `left` bytes.
    String {
        left: usize,
    },
}

/// Whether colours pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sgr {
    Pass,
    Drop,
}

/// What the last SGR sequence that passed left behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ink {
    Default,
    Set,
}

impl Default for Filter {
    fn default() -> Self {
        Self::new()
    }
}

impl Filter {
    /// A filter at the start of a stream, for a terminal that shows colours.
    pub fn new() -> Self {
        Self::with(Sgr::Pass)
    }

    fn with(sgr: Sgr) -> Self {
        Self { state: State::Text, held: Vec::new(), sgr, ink: Ink::Default }
    }

    /// Appends to `out` what of `bytes`, the next ones of the stream, may be shown.
    pub fn feed(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) {
        // Each step takes at least one byte or goes back to `Text`, which always takes one: so this ends.
        while let Some(&first) = bytes.first() {
            let used = match self.state {
                State::Text => self.text(bytes, out),
                State::Return => self.after_return(first),
                State::Character => self.character(first, out),
                State::Escape => self.escape(first, 0),
                State::Intermediate(count) => self.escape(first, count),
                State::Csi => self.csi(bytes, out),
                State::String { left } => self.string(bytes, left),
            };
            bytes = &bytes[used..];
        }
    }

    /// Ends the stream: a character cut short becomes U+FFFD, and colours are switched off where they were left on.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        if matches!(self.state, State::Character) {
            out.extend_from_slice(REPLACEMENT);
        }
        if self.ink == Ink::Set {
            out.extend_from_slice(SGR_RESET);
        }
        self.ink = Ink::Default;
        self.state = State::Text;
    }

    /// Copies the run of text at the start of `bytes` and acts on the control that ends it.
    fn text(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> usize {
        let length = text_length(bytes);
        let run = &bytes[..length];
        let Some(&control) = bytes.get(length) else {
            let (whole, start) = run.split_at(unfinished_at(run));
            push_text(whole, out);
            if !start.is_empty() {
                self.held.clear();
                self.held.extend_from_slice(start);
                self.state = State::Character;
            }
            return length;
        };
        push_text(run, out);
        match control {
            ESC => self.state = State::Escape,
            b'\r' => {
                out.push(b'\n');
                self.state = State::Return;
            }
            _ => {}
        }
        length + 1
    }

    fn after_return(&mut self, byte: u8) -> usize {
        self.state = State::Text;
        usize::from(byte == b'\n')
    }

    /// Goes on with a character that the last read cut in two.
    fn character(&mut self, byte: u8, out: &mut Vec<u8>) -> usize {
        self.held.push(byte);
        if is_unfinished(&self.held) {
            return 1;
        }
        self.state = State::Text;
        if str::from_utf8(&self.held).is_ok() {
            push_text(&self.held, out);
            return 1;
        }
        // What was held is broken; the byte that broke it starts something of its own.
        out.extend_from_slice(REPLACEMENT);
        0
    }

    /// Takes a byte after `ESC` and `count` intermediate ones.
    fn escape(&mut self, byte: u8, count: u8) -> usize {
        let (state, used) = match byte {
            b'[' if count == 0 => (State::Csi, 1),
            // `k` starts the title of screen and tmux.
            b']' | b'P' | b'X' | b'^' | b'_' | b'k' if count == 0 => (State::String { left: STRING_MAX }, 1),
            b' '..=b'/' if count < INTERMEDIATES_MAX => (State::Intermediate(count + 1), 1),
            b'0'..=b'~' => (State::Text, 1),
            ESC => (State::Escape, 1),
            // No part of a sequence: `Text` takes it.
            _ => (State::Text, 0),
        };
        self.held.clear();
        self.state = state;
        used
    }

    fn csi(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> usize {
        let room = CSI_MAX - self.held.len();
        let used = bytes.iter().take(room).take_while(|byte| matches!(byte, b' '..=b'?')).count();
        self.held.extend_from_slice(&bytes[..used]);
        let Some(&next) = bytes.get(used) else {
            return used;
        };
        self.state = State::Text;
        if next == b'm' {
            self.sgr(out);
        }
        // Anything but a last byte (a control, or one parameter too many) ends the sequence and is no part of it.
        used + usize::from(matches!(next, b'@'..=b'~'))
    }

    /// Passes the sequence in `held`, unless it is one of those that share SGR's last byte: `ESC [ > 4 ; 2 m` sets how
    /// the keyboard reports.
    fn sgr(&mut self, out: &mut Vec<u8>) {
        let is_sgr = self.held.iter().all(|byte| matches!(byte, b'0'..=b'9' | b';' | b':'));
        if !is_sgr || self.sgr == Sgr::Drop {
            return;
        }
        out.extend_from_slice(b"\x1b[");
        out.extend_from_slice(&self.held);
        out.push(b'm');
        let is_reset = self.held.iter().all(|byte| matches!(byte, b'0' | b';'));
        self.ink = if is_reset { Ink::Default } else { Ink::Set };
    }

    /// Skips what belongs to a string. Its end `ESC \` is an escape like any other, so that `ESC` alone ends it too.
    fn string(&mut self, bytes: &[u8], left: usize) -> usize {
        let window = &bytes[..bytes.len().min(left)];
        let is_end = |byte: &u8| matches!(*byte, BEL | CAN | SUB | ESC | b'\n' | b'\r');
        let Some(end) = window.iter().position(is_end) else {
            self.state = match left - window.len() {
                0 => State::Text,
                left => State::String { left },
            };
            return window.len();
        };
        // The end is left to `Text`, which knows what to do with each of them.
        self.state = State::Text;
        end
    }
}

/// A name, a label or one line for display: without controls, sequences, colours and bidirectional controls; line
/// ends and tabs are spaces.
pub fn plain(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    let mut filter = Filter::with(Sgr::Drop);
    let mut out = Vec::with_capacity(text.len());
    filter.feed(text.as_bytes(), &mut out);
    filter.finish(&mut out);
    String::from_utf8_lossy(&out).replace(['\n', '\t'], " ")
}

/// Whether a text is the same without what [`plain`] takes away.
pub fn is_plain(text: &str) -> bool {
    !text.contains(is_dropped)
}

/// Text of several lines for a terminal, with its colours.
pub fn screened(text: &str) -> String {
    let (mut filter, mut out) = (Filter::new(), Vec::with_capacity(text.len()));
    filter.feed(text.as_bytes(), &mut out);
    filter.finish(&mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// How much of `bytes` comes before the first byte that is a control and neither `\n` nor `\t`.
fn text_length(bytes: &[u8]) -> usize {
    let calm = |block: &&[u8]| block.iter().fold(0, |found, &byte| found | u8::from(is_control(byte))) == 0;
    let blocks = bytes.chunks_exact(BLOCK).take_while(calm).count() * BLOCK;
    let rest = &bytes[blocks..];
    blocks + rest.iter().position(|&byte| is_control(byte)).unwrap_or(rest.len())
}

fn is_control(byte: u8) -> bool {
    byte < b' ' && byte != b'\n' && byte != b'\t' || byte == DEL
}

/// Where in `run` a character starts that its end cuts short; its length where none does.
fn unfinished_at(run: &[u8]) -> usize {
    (run.len().saturating_sub(3)..run.len()).find(|&at| is_unfinished(&run[at..])).unwrap_or(run.len())
}

/// Whether `bytes` are the start of one character and more could make it whole.
fn is_unfinished(bytes: &[u8]) -> bool {
    str::from_utf8(bytes).is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
}

/// Appends a run without C0 controls and DEL.
fn push_text(run: &[u8], out: &mut Vec<u8>) {
    if run.is_ascii() {
        out.extend_from_slice(run);
        return;
    }
    // The check of a whole run is much faster than that of its chunks, and nearly always enough.
    if let Ok(text) = str::from_utf8(run) {
        push_valid(text, out);
        return;
    }
    for chunk in run.utf8_chunks() {
        if !chunk.valid().is_empty() {
            push_valid(chunk.valid(), out);
        }
        if !chunk.invalid().is_empty() {
            out.extend_from_slice(REPLACEMENT);
        }
    }
}

/// Appends `text` without C1 and bidirectional controls.
fn push_valid(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    let mut kept = 0;
    // All of them start with one of three bytes, which are nothing but starts: so `at` is where a character begins.
    for at in memchr::memchr3_iter(0xc2, 0xd8, 0xe2, bytes) {
        if let Some(control) = text[at..].chars().next().filter(|&c| is_dropped(c)) {
            out.extend_from_slice(&bytes[kept..at]);
            kept = at + control.len_utf8();
        }
    }
    out.extend_from_slice(&bytes[kept..]);
}

/// Controls, and the characters that reorder the text around them: what is read must be what is there.
fn is_dropped(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn filtered<'a>(reads: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
        let mut filter = Filter::new();
        let mut out = Vec::new();
        for read in reads {
            filter.feed(read, &mut out);
        }
        filter.finish(&mut out);
        out
    }

    fn show(input: &[u8]) -> String {
        String::from_utf8(filtered([input])).unwrap()
    }

    #[test]
    fn text_line_ends_and_colours_pass_and_nothing_else() {
        let table: &[(&[u8], &str)] = &[
            (b"", ""),
            (b"plain\ttext\n", "plain\ttext\n"),
            ("日本 é 👩\u{200d}🔬\n".as_bytes(), "日本 é 👩\u{200d}🔬\n"),
            // line ends
            (b"a\r\nb", "a\nb"),
            (b"10%\r20%\rdone\n", "10%\n20%\ndone\n"),
            (b"a\r\r\nb\r", "a\n\nb\n"),
            // invalid bytes
            (b"a\xffb\x9bc", "a\u{fffd}b\u{fffd}c"),
            (b"\xe2\x82x", "\u{fffd}x"),
            (b"\xe2\x82\x1b[Kx", "\u{fffd}x"),
            (b"\xf0\x9f\x92", "\u{fffd}"),
            // colours
            (b"\x1b[31mred\x1b[0m", "\x1b[31mred\x1b[0m"),
            (b"\x1b[1;38;2;1;2;3mx\x1b[m", "\x1b[1;38;2;1;2;3mx\x1b[m"),
            (b"\x1b[4:3m\x1b[58:2::1:2:3mx\x1b[0;0m", "\x1b[4:3m\x1b[58:2::1:2:3mx\x1b[0;0m"),
            (b"\x1b[>4;2mx", "x"),
            (b"\x1b[?4mx", "x"),
            (b"\x1b[1 mx", "x"),
            // other sequences
            (b"a\x1b[2J\x1b[H\x1b[?1049h\x1b[10;20Hb", "ab"),
            (b"\x1b[6n\x1b[c\x1b[21tx", "x"),
            (b"\x1b]0;title\x07x", "x"),
            (b"\x1b]52;c;cm0gLXJmIC8=\x1b\\x", "x"),
            (b"\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\", "link"),
            (b"\x1bPq#0~~\x1b\\x\x1b_Gf=100;AA\x1b\\y\x1b^pm\x1b\\z\x1bXsos\x1b\\.", "xyz."),
            (b"\x1bktitle\x1b\\x", "x"),
            (b"\x1bPtmux;\x1b\x1b]52;c;AA\x07\x1b\\x", "x"),
            (b"\x1bc\x1b7\x1b(B\x1b$(C\x1b#8x", "x"),
            (b"\x1b\xc3\xa9", "é"),
            // controls
            (b"a\x00\x07\x08\x0b\x0c\x0e\x7fb", "ab"),
            ("a\u{85}\u{9b}31mb".as_bytes(), "a31mb"),
            ("\u{202e}a\u{2066}b\u{2069}\u{200e}\u{200f}\u{61c}c".as_bytes(), "abc"),
            ("\u{a9}\u{2022}\u{628}".as_bytes(), "\u{a9}\u{2022}\u{628}"),
        ];
        for (input, expected) in table {
            assert_eq!(show(input), *expected, "{}", input.escape_ascii());
        }
    }

    #[test]
    fn a_line_end_ends_every_sequence() {
        for start in ["\x1b", "\x1b(", "\x1b[3", "\x1b]0;t", "\x1bP", "\x1b_", "\x1b^", "\x1bX", "\x1bk"] {
            assert_eq!(show(format!("{start}\nx").as_bytes()), "\nx", "{start:?}");
            assert_eq!(show(format!("{start}\r\nx").as_bytes()), "\nx", "{start:?}");
            assert_eq!(show(format!("{start}\x18\x1b[Kx").as_bytes()), "x", "{start:?}");
        }
    }

    #[test]
    fn a_sequence_without_end_swallows_no_more_than_its_bound() {
        let text = "x".repeat(STRING_MAX);
        assert_eq!(show(format!("\x1b]{text}after").as_bytes()), "after");
        let digits = "1".repeat(CSI_MAX);
        assert_eq!(show(format!("\x1b[{digits}Hafter").as_bytes()), "after");
        assert_eq!(show(format!("\x1b[{digits}2Hafter").as_bytes()), "2Hafter");
        assert_eq!(show(b"\x1b   x"), " x");
    }

    #[test]
    fn the_bounds_do_not_depend_on_reads() {
        let endless = format!("\x1b]{}\x1b[{}m", "x".repeat(STRING_MAX + 9), "1".repeat(CSI_MAX + 9));
        for size in [1, 7, 100, 4096] {
            assert_eq!(filtered(endless.as_bytes().chunks(size)), show(endless.as_bytes()).as_bytes(), "{size}");
        }
    }

    #[test]
    fn colours_that_were_left_on_are_switched_off_at_the_end() {
        assert_eq!(show(b"\x1b[31mred"), "\x1b[31mred\x1b[0m");
        assert_eq!(show(b"\x1b[31mred\x1b[m"), "\x1b[31mred\x1b[m");
    }

    #[test]
    fn a_finished_filter_is_as_new() {
        let mut filter = Filter::new();
        let mut out = Vec::new();
        for unfinished in ["\x1b]0;", "\x1b[3", "\x1b", "\r"] {
            filter.feed(unfinished.as_bytes(), &mut out);
            filter.finish(&mut out);
            out.clear();
            filter.feed(b"\n1mx", &mut out);
            assert_eq!(out, b"\n1mx", "{unfinished:?}");
        }
    }

    #[test]
    fn a_name_is_one_line_without_colours() {
        let table = [
            ("feature-x", "feature-x"),
            ("a\nb\tc\r\nd", "a b c d"),
            ("\x1b[31mred\x1b[0m", "red"),
            ("a\x1b]0;evil\x07b\u{202e}c\u{9b}d\x07", "abcd"),
            ("naïve 日本", "naïve 日本"),
        ];
        for (name, expected) in table {
            assert_eq!(plain(name), expected, "{name:?}");
        }
    }

    /// Bytes in which the pieces of sequences and characters are as likely as anything else.
    fn output() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            any::<u8>().prop_map(|byte| vec![byte]),
            prop::collection::vec(b' '..b'~', 0..150),
            prop::collection::vec(b'0'..=b';', 0..150),
            prop::sample::select(vec![
                "\x1b", "[", "]", "P", "m", "1;31", "4:3", ">", "\x07", "\\", "\r", "\n", "\x1b[1m", "\x1b]52;", "é",
                "日", "👩", "\u{9b}", "\u{202e}", "\x18",
            ])
            .prop_map(|piece| piece.as_bytes().to_vec()),
        ];
        prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn nothing_but_text_line_ends_and_sgr_comes_out_of_any_cut(bytes in output(), size in 1usize..9) {
            prop_assert_eq!(filtered(bytes.chunks(size)), filtered([&bytes[..]]));
            crate::fuzzing::terminal(&bytes, &[size]);
        }

        #[test]
        fn text_without_controls_is_untouched(text in "[ -~\n\té日👩]*") {
            prop_assert_eq!(filtered([text.as_bytes()]), text.as_bytes());
        }

        #[test]
        fn broken_text_is_mended_as_the_standard_library_does(bytes in prop::collection::vec(0x80u8..=0xff, 0..30)) {
            prop_assert_eq!(show(&bytes), String::from_utf8_lossy(&bytes).replace(is_dropped, ""));
        }

        #[test]
        fn a_plain_name_has_no_controls(name in any::<String>()) {
            crate::fuzzing::terminal(name.as_bytes(), &[]);
        }
    }
}
