//! The title of the terminal a loop runs in: `Ralph: {worktree} [{iteration}/{max}]`, and at the end
//! `Ralph: {worktree} [{status}]`; with a label, ` (label)` after the name.
//!
//! Pure text: whether there is a terminal to give it to is the caller's question. Names and labels come from outside
//! and go through [`plain`], so that a title can neither end early nor carry a sequence of its own.

use super::filter::plain;

/// What a title tells about the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Title<'a> {
    /// It is in its `n`-th iteration of at most `max`; `None` is unlimited.
    Iteration {
        /// The number of the iteration, from 1.
        n: u64,
        /// The most there may be.
        max: Option<u64>,
    },
    /// It waits in its `n`-th iteration for a usage limit to be over.
    Waiting {
        /// The number of the iteration, from 1.
        n: u64,
        /// The most there may be.
        max: Option<u64>,
        /// Until when.
        until: &'a str,
    },
    /// It is over.
    Ended {
        /// How: `done`, `stuck`, `stalled` or `stopped`.
        status: &'a str,
    },
}

/// The title of the loop in the worktree `name`. An empty label is none.
pub fn title(name: &str, label: Option<&str>, what: Title) -> String {
    let name = plain(name);
    let label = match label.map(plain) {
        Some(label) if !label.is_empty() => format!(" ({label})"),
        _ => String::new(),
    };
    let what = match what {
        Title::Iteration { n, max: Some(max) } => format!("{n}/{max}"),
        Title::Iteration { n, max: None } => format!("{n}/∞"),
        Title::Waiting { n, max, until } => {
            let max = max.map_or_else(|| "∞".to_owned(), |max| max.to_string());
            format!("{n}/{max}, waiting until {}", plain(until))
        }
        Title::Ended { status } => plain(status),
    };
    format!("Ralph: {name}{label} [{what}]")
}

/// Whose window it is, and so who has the last word on its title.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// The user's own: the title that it had comes back.
    Users,
    /// One that was opened for the loop: the last title stays.
    Loops,
}

/// Puts the title on the terminal's stack, window and icon. A terminal without a stack ignores this and [`POP`].
pub const PUSH: &str = "\x1b[22;0t";
/// Takes it from there.
pub const POP: &str = "\x1b[23;0t";

/// The sequence that sets a terminal's title (OSC 0: window and icon).
pub fn escape(title: &str) -> String {
    format!("\x1b]0;{}\x07", plain(title))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles() {
        let third = Title::Iteration { n: 3, max: Some(10) };
        let endless = Title::Iteration { n: 3, max: None };
        let ended = Title::Ended { status: "done" };
        let table = [
            ("login", None, third, "Ralph: login [3/10]"),
            ("login", None, endless, "Ralph: login [3/∞]"),
            ("login", None, ended, "Ralph: login [done]"),
            ("login", Some("night"), third, "Ralph: login (night) [3/10]"),
            ("login", Some(""), third, "Ralph: login [3/10]"),
            ("login", Some("\x07"), third, "Ralph: login [3/10]"),
            ("a\nb", Some("x\x1b[31my\u{202e}"), ended, "Ralph: a b (xy) [done]"),
        ];
        for (name, label, what, expected) in table {
            assert_eq!(title(name, label, what), expected);
        }
    }

    #[test]
    fn a_title_cannot_end_its_own_sequence() {
        let table =
            [("Ralph: login [3/∞]", "\x1b]0;Ralph: login [3/∞]\x07"), ("a\x07b\x1b\\c\u{9c}d", "\x1b]0;abcd\x07")];
        for (title, expected) in table {
            assert_eq!(escape(title), expected);
        }
    }
}
