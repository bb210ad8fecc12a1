//! `.claude/ralph-loop.log`: every byte of every iteration, with a line that starts each.
//!
//! The log of an earlier loop becomes `.1`, three are kept; a resumed loop goes on in its own. Where the user has set a size, a
//! log that has grown to it becomes `.1` at its next line end in the same way. A log that the agent removed is made anew. That the disk is full is told once, and ends no iteration.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::files;
use crate::options::Limit;

/// How many logs of earlier loops are kept.
const KEEP: u32 = 3;

/// Whose log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// A new loop's.
    Fresh,
    /// The one of the loop that goes on.
    GoOn,
    /// The one of a loop that no record of the user's knows, gone on with. What its state claims was claimed by nobody we know.
    Adopt,
}

/// An open log.
pub struct Log {
    path: PathBuf,
    file: File,
    max: Limit,
    size: u64,
    mid_line: bool,
    trouble: Option<io::Error>,
}

impl Log {
    /// Opens the log at `path`, which may grow to `max`.
    pub fn open(path: &Path, opening: Opening, max: Limit) -> io::Result<Self> {
        if opening == Opening::Fresh {
            files::rotate(path, KEEP)?;
        }
        let file = files::append(path)?;
        let size = file.metadata()?.len();
        Ok(Self { path: path.to_owned(), file, max, size, mid_line: false, trouble: None })
    }

    /// Appends bytes as they are.
    pub fn write(&mut self, bytes: &[u8]) {
        let rest = if self.max.is_reached_by(self.size) { self.turn_over(bytes) } else { bytes };
        let written = self.append(rest);
        self.note(written);
    }

    /// Ends the line at hand and begins a new log; returns what belongs into that one. A line that is as long as a log is cut.
    fn turn_over<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let line_end = if self.mid_line { memchr::memchr(b'\n', bytes).map(|at| at + 1) } else { Some(0) };
        let overdue = self.max.is_reached_by(self.size / 2);
        let Some(end) = line_end.or(overdue.then_some(0)) else { return bytes };
        let turned = self.append(&bytes[..end]).and_then(|()| {
            files::rotate(&self.path, KEEP)?;
            self.file = files::append(&self.path)?;
            self.size = 0;
            Ok(())
        });
        self.note(turned);
        &bytes[end..]
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.size += bytes.len() as u64;
        self.mid_line = bytes.last().map_or(self.mid_line, |&last| last != b'\n');
        Ok(())
    }

    fn note(&mut self, outcome: io::Result<()>) {
        if let Err(error) = outcome {
            self.trouble.get_or_insert(error);
        }
    }

    /// Appends a line of our own, on a line of its own.
    pub fn line(&mut self, text: &str) {
        let gap = if self.mid_line { "\n" } else { "" };
        self.write(format!("{gap}{text}\n").as_bytes());
    }

    /// Makes sure that the file at our path is the one we write to.
    pub fn keep_in_place(&mut self) -> io::Result<()> {
        let in_place = fs::symlink_metadata(&self.path).ok().map(|found| found.ino());
        if in_place != Some(self.file.metadata()?.ino()) {
            self.file = files::append(&self.path)?;
            self.size = self.file.metadata()?.len();
        }
        Ok(())
    }

    /// What went wrong since this was asked last.
    pub fn trouble(&mut self) -> Option<io::Error> {
        self.trouble.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removed_log_is_made_anew() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(".claude/ralph-loop.log");
        let mut log = Log::open(&path, Opening::Fresh, Limit::Unlimited).unwrap();
        log.write(b"half");
        log.line("whole");
        assert_eq!(fs::read_to_string(&path).unwrap(), "half\nwhole\n");
        fs::remove_dir_all(dir.path().join(".claude")).unwrap();
        log.keep_in_place().unwrap();
        log.line("again");
        assert_eq!(fs::read_to_string(&path).unwrap(), "again\n");
    }

    #[test]
    fn a_fresh_loop_moves_the_old_log_and_a_resumed_one_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        Log::open(&path, Opening::Fresh, Limit::Unlimited).unwrap().line("one");
        Log::open(&path, Opening::GoOn, Limit::Unlimited).unwrap().line("two");
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\n");
        Log::open(&path, Opening::Fresh, Limit::Unlimited).unwrap().line("three");
        assert_eq!(fs::read_to_string(dir.path().join("log.1")).unwrap(), "one\ntwo\n");
    }

    #[test]
    fn a_log_of_the_size_that_was_set_is_turned_over_at_a_line_end() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let mut log = Log::open(&path, Opening::Fresh, Limit::At(10)).unwrap();
        let old = |n: u32| fs::read_to_string(dir.path().join(format!("log.{n}"))).unwrap_or_default();
        for piece in ["a line\n", "anoth", "er one\nthird", "\n"] {
            log.write(piece.as_bytes());
        }
        assert_eq!(
            (old(1).as_str(), fs::read_to_string(&path).unwrap().as_str()),
            ("a line\nanother one\n", "third\n")
        );
        for _ in 0..40 {
            log.write(b"no end ");
        }
        assert!(fs::metadata(&path).unwrap().len() < 40, "a line without end is bounded too");
        assert!(old(3).contains("no end") && !dir.path().join("log.4").exists());
        assert!(log.trouble().is_none());
    }
}
