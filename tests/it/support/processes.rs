//! The processes of a world, found by a mark in their environment, and commands that run while a test goes on.

use std::fs;
use std::io::Read;
use std::process::Child;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{Output, wait_within};

/// A living process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    pub pid: i32,
    pub command: String,
}

impl Process {
    /// Every living process whose environment has `mark`, or that has `argument` among its arguments: a process can clear
    /// its environment. The dead that nobody has buried yet do not count.
    pub fn all_with(mark: &str, argument: &str) -> Vec<Self> {
        let pids =
            fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter(|&pid: &i32| (has(pid, "environ", mark) || has(pid, "cmdline", argument)) && is_alive(pid))
            .map(|pid| Self { pid, command: command(pid) })
            .collect()
    }

    pub fn signal(&self, signal: Signal) {
        let _ = kill(Pid::from_raw(self.pid), signal);
    }
}

/// Whether a process lives: it is there and no zombie.
pub fn is_alive(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

fn has(pid: i32, list: &str, word: &str) -> bool {
    let words = fs::read(format!("/proc/{pid}/{list}")).unwrap_or_default();
    words.split(|&byte| byte == 0).any(|found| found == word.as_bytes())
}

fn command(pid: i32) -> String {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&line).replace('\0', " ").trim().to_owned()
}

/// A command that runs while the test goes on.
pub struct Running {
    pub child: Child,
    pub command: String,
}

impl Running {
    pub fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.pid()), signal).unwrap();
    }

    /// Waits for its end, with a deadline, and returns what it answered.
    #[track_caller]
    pub fn wait(self) -> Output {
        self.wait_within(super::PATIENCE)
    }

    /// The same with another patience.
    #[track_caller]
    pub fn wait_within(mut self, patience: Duration) -> Output {
        let mut pipes = (self.child.stdout.take().unwrap(), self.child.stderr.take().unwrap());
        let stdout = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            pipes.0.read_to_end(&mut bytes).map(|_| bytes).unwrap()
        });
        let stderr = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            pipes.1.read_to_end(&mut bytes).map(|_| bytes).unwrap()
        });
        let status = wait_within(patience, &format!("the end of {}", self.command), || self.child.try_wait().unwrap());
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Output {
            stdout: text(stdout.join().unwrap()),
            stderr: text(stderr.join().unwrap()),
            status,
            command: self.command,
        }
    }
}
