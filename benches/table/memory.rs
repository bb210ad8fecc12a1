//! What a loop takes while its agent works: memory and wake-ups.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::Row;
use crate::lab::Lab;

/// While an agent waits, and after it has printed a gigabyte.
pub fn rows(lab: &Lab) -> Vec<Row> {
    let (before, wakes) = waiting(lab, "echo waiting; exec sleep 60");
    let (after, _) = waiting(
        lab,
        &format!("for i in $(seq 16); do cat {}; done; echo waiting; exec sleep 60", lab.path("piece").display()),
    );
    lab.agent("exit 0");
    let difference = after.abs_diff(before);
    vec![
        Row::fact("memory of loop and guard (PSS) while an agent waits", show(before), "6 MB", before <= 6_000_000),
        Row::fact(
            "the same after 1 GB of output",
            format!("{} ({} more)", show(after), show(after.saturating_sub(before))),
            "no difference (0.5 MB)",
            difference <= 500_000,
        ),
        Row::fact(
            "wake-ups of loop and guard in 5 s of waiting, without a terminal",
            wakes.to_string(),
            "0",
            wakes == 0,
        ),
    ]
}

/// Megabytes as the table shows them.
pub fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

fn show(bytes: u64) -> String {
    format!("{:.2} MB", megabytes(bytes))
}

/// Memory of loop and guard, and how often they wake up, while this agent waits.
fn waiting(lab: &Lab, agent: &str) -> (u64, u64) {
    lab.agent(agent);
    let mut command = lab.looped(1);
    let mut looper = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a loop");
    let log = lab.root().join(".claude/ralph-loop.log");
    let deadline = Instant::now() + Duration::from_secs(60);
    while !ends_with(&log, b"waiting\n") && Instant::now() < deadline {
        sleep(Duration::from_millis(50));
    }
    let pids = [looper.id(), child_of(looper.id())];
    let memory = pids.iter().map(|&pid| pss(pid)).sum();
    let before: u64 = pids.iter().map(|&pid| wake_ups(pid)).sum();
    sleep(Duration::from_secs(5));
    let wakes = pids.iter().map(|&pid| wake_ups(pid)).sum::<u64>() - before;
    let _ = lab.wt(&["stop"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let _ = looper.wait();
    (memory, wakes)
}

fn ends_with(path: &Path, end: &[u8]) -> bool {
    let tail = || {
        let mut file = File::open(path)?;
        let from = file.metadata()?.len().saturating_sub(end.len() as u64);
        file.seek(SeekFrom::Start(from))?;
        let mut tail = Vec::new();
        file.read_to_end(&mut tail)?;
        io::Result::Ok(tail)
    };
    tail().is_ok_and(|tail| tail == end)
}

fn child_of(pid: u32) -> u32 {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    children.split_whitespace().next().and_then(|child| child.parse().ok()).unwrap_or(pid)
}

fn pss(pid: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    number_after(&text, "Pss:") * 1024
}

fn wake_ups(pid: u32) -> u64 {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    tasks
        .map(|task| {
            number_after(
                &fs::read_to_string(task.path().join("status")).unwrap_or_default(),
                "voluntary_ctxt_switches:",
            )
        })
        .sum()
}

fn number_after(text: &str, key: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(key));
    line.and_then(|rest| rest.split_whitespace().next()).and_then(|number| number.parse().ok()).unwrap_or(0)
}
