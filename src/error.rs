//! What can go wrong, as a person is told it.
//!
//! An [`Error`] is one lower-case line that names the thing, hints that can be typed, and the exit code it
//! stands for. Nobody but `main` prints one or ends the process.

use std::fmt;
use std::io;
use std::path::Path;

/// The exit codes of every command, as one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The command did what it was asked; a loop ended `done`.
    Done,
    /// Something failed, or the answer is no.
    Error,
    /// The command line was wrong.
    Usage,
    /// A loop reached a limit without being done.
    Stuck,
    /// A loop made no progress.
    Stalled,
    /// A loop was ended by `wt-loop stop`.
    Stopped,
    /// A loop was ended by Ctrl-C or another signal.
    Interrupted,
}

impl Exit {
    /// Every exit with what it means, for the manual pages and the README.
    pub const TABLE: [(Exit, &'static str); 7] = [
        (Exit::Done, "done: the work is finished and checked, or the command did what it was asked"),
        (Exit::Error, "error: something failed, the answer is no, or a failing agent under --fail-fast"),
        (Exit::Usage, "wrong usage: an option, a name or a number that cannot be"),
        (Exit::Stuck, "stuck: a limit was reached before the work was done"),
        (Exit::Stalled, "stalled: iterations went by without progress"),
        (Exit::Stopped, "stopped by wt-loop stop"),
        (Exit::Interrupted, "ended by Ctrl-C or another signal"),
    ];

    /// The number that the shell sees.
    pub const fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Error => 1,
            Exit::Usage => 2,
            Exit::Stuck => 3,
            Exit::Stalled => 4,
            Exit::Stopped => 5,
            Exit::Interrupted => 130,
        }
    }
}

/// An error that a person reads: what, and the way out.
#[derive(Debug)]
pub struct Error {
    message: String,
    hints: Vec<String>,
    exit: Exit,
    wording: Wording,
}

/// Who chose the words of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wording {
    /// We did: our name stands before it.
    Ours,
    /// A specification did: it is printed exactly so.
    Specified,
}

/// The result of everything that can fail for a reason worth telling.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// A failure with exit code 1.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hints: Vec::new(), exit: Exit::Error, wording: Wording::Ours }
    }

    /// A failure with exit code 1 in the words of a specification.
    pub fn specified(message: &str) -> Self {
        Self { wording: Wording::Specified, ..Self::new(message) }
    }

    /// A mistake on the command line or in a configuration file: exit code 2.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, ..Self::new(message) }
    }

    /// The same error with a way out, preferably a command to type.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The ways out.
    pub fn hints(&self) -> &[String] {
        &self.hints
    }

    /// Who chose its words.
    pub fn wording(&self) -> Wording {
        self.wording
    }

    /// The exit code it stands for.
    pub fn exit(&self) -> Exit {
        self.exit
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Says what was being done when the system refused.
pub trait Doing<T> {
    /// `cannot {what} {path}: {reason}`, with a hint where the reason has a known way out.
    fn doing(self, what: &str, path: &Path) -> Result<T>;
}

impl<T> Doing<T> for io::Result<T> {
    fn doing(self, what: &str, path: &Path) -> Result<T> {
        self.map_err(|error| {
            let told = Error::new(format!("cannot {what} {}: {}", path.display(), reason(&error)));
            match way_out(&error) {
                Some(hint) => told.hint(hint),
                None => told,
            }
        })
    }
}

/// The system's reason in its own words, without Rust's "(os error 28)".
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let end = text.find(" (os error").unwrap_or(text.len());
    let mut chars = text[..end].chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

fn way_out(error: &io::Error) -> Option<&'static str> {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            Some("free some space (df -h .), then: wt-loop resume")
        }
        io::ErrorKind::ReadOnlyFilesystem => {
            Some("the file system is mounted read-only; mount it writable (findmnt -T .)")
        }
        io::ErrorKind::NotADirectory => {
            Some("a link or a file stands where a real folder must be; move it away with mv")
        }
        io::ErrorKind::PermissionDenied => Some("look at its owner and mode with ls -ld"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_fragments_without_numbers() {
        let error = io::Error::from_raw_os_error(28);
        assert_eq!(reason(&error), "no space left on device");
    }

    #[test]
    fn exit_codes_are_those_of_the_contract() {
        let codes: Vec<u8> = Exit::TABLE.iter().map(|(exit, _)| exit.code()).collect();
        assert_eq!(codes, [0, 1, 2, 3, 4, 5, 130]);
    }
}
