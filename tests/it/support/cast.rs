//! Loop, guard and agent of a loop that runs, and what `/proc` knows of each.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};

use super::wait_for;

/// The three that play in an iteration.
#[derive(Clone, Copy, Debug)]
pub struct Cast {
    pub looper: i32,
    pub guard: i32,
    pub agent: i32,
}

impl Cast {
    /// Waits until the loop `looper` has a guard and the guard an agent.
    #[track_caller]
    pub fn of(looper: i32) -> Self {
        wait_for("a guard and its agent", || {
            let guard = *children(looper).iter().find(|&&pid| name(pid) == "wt-loop-guard")?;
            // What still has our own name is on its way to become the agent.
            let agent = *children(guard).iter().find(|&&pid| !["", "wt-loop", "exe"].contains(&&*name(pid)))?;
            Some(Self { looper, guard, agent })
        })
    }
}

/// What the kernel calls a process; empty where there is none.
pub fn name(pid: i32) -> String {
    fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim_end().to_owned()
}

/// The children of a process.
pub fn children(pid: i32) -> Vec<i32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    threads
        .filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok())
        .flat_map(|line| line.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect()
}

/// A field of `/proc/PID/status`, as text.
#[track_caller]
pub fn status(pid: i32, field: &str) -> String {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_else(|error| panic!("{pid}: {error}"));
    let value = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    value.unwrap_or_else(|| panic!("no {field} in {text}")).trim().to_owned()
}

/// A set of signals of `/proc/PID/status` (`SigIgn`, `SigCgt`, `SigBlk`).
#[track_caller]
pub fn signals(pid: i32, field: &str) -> u64 {
    u64::from_str_radix(&status(pid, field), 16).unwrap()
}

/// A shell starts its jobs in the background with Ctrl-C ignored, `nohup` starts them with the hang-up ignored, and whatever they
/// start inherits it. What is caught here instead is at its default in every program that a test starts.
pub fn heed_every_signal() {
    let ignored = signals(std::process::id().try_into().unwrap(), "SigIgn");
    for number in [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP].into_iter().filter(|n| ignored >> (n - 1) & 1 == 1) {
        signal_hook::flag::register(number, Arc::default()).unwrap();
    }
}

/// A size of `/proc/PID/status` (`VmHWM`), in bytes.
#[track_caller]
pub fn size(pid: i32, field: &str) -> u64 {
    status(pid, field).trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// The open descriptors of a process.
pub fn descriptors(pid: i32) -> BTreeSet<i32> {
    let open = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
    open.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// What `/proc/PID/stat` says of a process's place among the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub state: char,
    pub parent: i32,
    pub group: i32,
    pub session: i32,
    pub terminal: i32,
}

/// Where a process stands; `None` where there is none.
pub fn place(pid: i32) -> Option<Place> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let number = |at: usize| fields[at].parse().unwrap();
    Some(Place {
        state: fields[0].chars().next()?,
        parent: number(1),
        group: number(2),
        session: number(3),
        terminal: number(4),
    })
}
