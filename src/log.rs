//! `.claude/ralph-loop.log`: every byte of every iteration, with a line that starts each.
//!
//! The log of an earlier loop becomes `.1`, three are kept; a resumed loop goes on in its own. A log that the agent
//! removed is made anew. That the disk is full is told once, and ends no iteration.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::files;

/// How many logs of earlier loops are kept.
const KEEP: u32 = 3;

/// Whose log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// A new loop's.
    Fresh,
    /// The one of the loop that goes on.
    GoOn,
}

/// An open log.
pub struct Log {
    path: PathBuf,
    file: File,
    mid_line: bool,
    trouble: Option<io::Error>,
}

impl Log {
    /// Opens the log at `path`.
    pub fn open(path: &Path, opening: Opening) -> io::Result<Self> {
        if opening == Opening::Fresh {
            files::rotate(path, KEEP)?;
        }
        Ok(Self { path: path.to_owned(), file: files::append(path)?, mid_line: false, trouble: None })
    }

    /// Appends bytes as they are.
    pub fn write(&mut self, bytes: &[u8]) {
        match self.file.write_all(bytes) {
            Ok(()) => self.mid_line = !bytes.ends_with(b"\n"),
            Err(error) => self.trouble = self.trouble.take().or(Some(error)),
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
        let mut log = Log::open(&path, Opening::Fresh).unwrap();
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
        Log::open(&path, Opening::Fresh).unwrap().line("one");
        Log::open(&path, Opening::GoOn).unwrap().line("two");
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\n");
        Log::open(&path, Opening::Fresh).unwrap().line("three");
        assert_eq!(fs::read_to_string(dir.path().join("log.1")).unwrap(), "one\ntwo\n");
    }
}
