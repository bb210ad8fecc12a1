//! How a terminal is asked for attention: its bell, and the two sequences by which terminals show a notification of their own.
//!
//! `OSC 9 ; text` is that of iTerm2 and many after them, `OSC 777 ; notify ; title ; text` that of urxvt, foot and VTE;
//! over ssh they reach the machine that the person sits at. A terminal that knows neither drops both. Those that are known
//! to show both get one, and those that would print them get the bell alone.

use std::ffi::OsStr;

use super::filter::plain;

/// What a terminal makes of the sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Terminal {
    /// It would show them as text.
    BellOnly,
    /// It understands both: one is enough.
    Both,
    /// One of them, or none.
    Either,
}

impl Terminal {
    /// By what `$TERM` and `$TERM_PROGRAM` say.
    pub fn named(term: Option<&OsStr>, program: Option<&OsStr>) -> Self {
        let [term, program] = [term, program].map(|name| name.and_then(OsStr::to_str).unwrap_or_default());
        match (term, program) {
            ("" | "dumb" | "linux", _) => Terminal::BellOnly,
            (_, "WezTerm" | "ghostty") | ("xterm-kitty" | "xterm-ghostty" | "wezterm" | "foot" | "foot-extra", _) => {
                Terminal::Both
            }
            _ => Terminal::Either,
        }
    }
}

/// The bell, and what shows `title` and `text`.
pub fn ring(title: &str, text: &str, terminal: Terminal) -> String {
    let [title, text] = [plain(title), plain(text)];
    // A semicolon would end the title.
    let with_title = format!("\x1b]777;notify;{};{text}\x1b\\", title.replace(';', ","));
    let sequences = match terminal {
        Terminal::BellOnly => String::new(),
        Terminal::Both => with_title,
        Terminal::Either => format!("\x1b]9;{title} {text}\x1b\\{with_title}"),
    };
    format!("{sequences}\x07")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_terminal_shows_it_once() {
        let named = |term: &str, program: &str| Terminal::named(Some(term.as_ref()), Some(program.as_ref()));
        for (term, program, expected) in [
            ("xterm-256color", "", Terminal::Either),
            ("rxvt-unicode-256color", "", Terminal::Either),
            ("xterm-256color", "iTerm.app", Terminal::Either),
            ("xterm-256color", "WezTerm", Terminal::Both),
            ("xterm-kitty", "", Terminal::Both),
            ("foot", "", Terminal::Both),
            ("linux", "", Terminal::BellOnly),
            ("dumb", "", Terminal::BellOnly),
        ] {
            assert_eq!(named(term, program), expected, "{term} {program}");
        }
        assert_eq!(Terminal::named(None, None), Terminal::BellOnly);
    }

    #[test]
    fn nothing_in_a_text_ends_its_sequence() {
        let told = ring("a;b\x07", "c\x1b\\;d\n", Terminal::Either);
        assert_eq!(told, "\x1b]9;a;b c;d \x1b\\\x1b]777;notify;a,b;c;d \x1b\\\x07");
        assert_eq!(ring("a", "b", Terminal::BellOnly), "\x07");
        assert_eq!(ring("a", "b", Terminal::Both).matches("\x1b]").count(), 1);
    }
}
