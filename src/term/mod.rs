//! What a person sees: the only place that prints.
//!
//! stdout is the answer, stderr the narration. Colour and symbols are for terminals; anstream takes them out elsewhere and
//! honours `NO_COLOR` and `CLICOLOR_FORCE`. A closed pipe is not an error, and a terminal that is gone ends nothing.

pub mod bell;
pub mod filter;
pub mod human;
pub mod key;
pub mod picker;
pub mod report;
pub mod stage;
pub mod table;
pub mod title;

use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use terminal_size::terminal_size_of;

use crate::error::{Doing, Error, Result, Wording};
use crate::state::Status;
use filter::{plain, screened};
use human::Glyphs;

/// For what matters most.
pub const BOLD: Style = Style::new().bold();
/// For what matters least.
pub const DIM: Style = Style::new().dimmed();
/// For what went well.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// For what wants attention.
pub const WARN: Style = AnsiColor::Yellow.on_default();
/// For what went wrong.
pub const BAD: Style = AnsiColor::Red.on_default();

/// Text in a style.
pub fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// The style of a status.
pub const fn status_style(status: Status) -> Style {
    match status {
        Status::Starting | Status::Running => AnsiColor::Cyan.on_default(),
        Status::Done => GOOD,
        Status::Stuck | Status::Stalled => BAD,
        Status::Stopped => WARN,
    }
}

/// Prints the answer of a command. A terminal gets text, line ends and colours only, whatever was in the files that it tells of;
/// a program gets every byte.
pub fn answer(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    // Stripped before, not on the way: an answer is one write.
    let screened = if stdout.is_terminal() { screened(text) } else { text.to_owned() };
    let text = screened.as_str();
    let bytes = match anstream::AutoStream::choice(&stdout) {
        anstream::ColorChoice::Never => anstream::adapter::strip_str(text).to_string().into_bytes(),
        _ => text.as_bytes().to_vec(),
    };
    match stdout.write_all(&bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(error).doing("write", "standard output".as_ref())
        }
        _ => Ok(()),
    }
}

/// Prints a line of narration; that nobody can read it is no reason to stop.
pub fn narrate(line: &str) {
    let _ = writeln!(anstream::stderr(), "{}", screened(line));
}

/// Prints a line of narration for a person at a terminal, and for nobody else.
pub fn whisper(line: &str) {
    if io::stderr().is_terminal() {
        narrate(&paint(DIM, &format!("· {}", plain(line))));
    }
}

/// Prints `wt-loop: warning: …`.
pub fn warn(what: &str) {
    narrate(&format!("{} {}", paint(WARN, "wt-loop: warning:"), plain(what)));
}

/// Prints an error and its hints. A message that a specification words has no prefix before it.
pub fn error(error: &Error) {
    let message = plain(&error.to_string());
    match error.wording() {
        Wording::Specified => narrate(&message),
        Wording::Ours => narrate(&format!("{} {message}", paint(BAD, "wt-loop:"))),
    }
    for hint in error.hints() {
        narrate(&format!("{} {}", paint(GOOD, "hint:"), plain(hint)));
    }
}

/// The width to fit an answer into; `None` where it does not go to a terminal.
pub fn width() -> Option<usize> {
    terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0))
}

/// Symbols on a terminal that can show them, plain characters elsewhere.
pub fn glyphs() -> Glyphs {
    if io::stdout().is_terminal() { Glyphs::Unicode } else { Glyphs::Ascii }
}

/// Whether there is somebody who can be asked: a terminal to type into and one to read from.
pub fn is_interactive() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}
