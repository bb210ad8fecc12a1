//! What a command answered, with assertions that show all of it when one fails.

use std::process::ExitStatus;

/// stdout, stderr and exit code together.
#[derive(Debug)]
pub struct Output {
    pub stdout: String,
    pub stderr: String,
    pub status: ExitStatus,
    pub command: String,
}

impl Output {
    fn all(&self) -> String {
        let Self { stdout, stderr, status, command } = self;
        format!("\n$ {command}\n--- stdout\n{stdout}--- stderr\n{stderr}--- {status}\n")
    }

    /// Its exit code was this.
    #[track_caller]
    pub fn exit(self, code: i32) -> Self {
        assert_eq!(self.status.code(), Some(code), "{}", self.all());
        self
    }

    /// Its stdout was exactly this.
    #[track_caller]
    pub fn stdout(self, expected: &str) -> Self {
        assert_eq!(self.stdout, expected, "{}", self.all());
        self
    }

    /// Its stderr was exactly this.
    #[track_caller]
    pub fn stderr(self, expected: &str) -> Self {
        assert_eq!(self.stderr, expected, "{}", self.all());
        self
    }

    /// Its stdout has this somewhere.
    #[track_caller]
    pub fn stdout_has(self, part: &str) -> Self {
        assert!(self.stdout.contains(part), "stdout lacks {part:?}{}", self.all());
        self
    }

    /// Its stderr has this somewhere.
    #[track_caller]
    pub fn stderr_has(self, part: &str) -> Self {
        assert!(self.stderr.contains(part), "stderr lacks {part:?}{}", self.all());
        self
    }

    /// Neither output has this anywhere.
    #[track_caller]
    pub fn lacks(self, part: &str) -> Self {
        assert!(!self.stdout.contains(part) && !self.stderr.contains(part), "{part:?} is there{}", self.all());
        self
    }

    /// Its stdout as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}{}", self.all()))
    }
}
