//! An error in the place of every system call that the loop makes.

use std::fs;

use serde_json::Value;

use crate::classes;
use crate::injection::{self, Call, Fault};
use crate::scenario::{RUN, forget, world};
use crate::support::{Output, World, wait_until};
use crate::tally::{Outcome, Tally};

/// What a call can answer, where that is not everything; what is not named here gets all of [`ALL`].
///
/// `close` is left out: it closes whatever it answers, and an injected answer would keep it from that.
const ANSWERS: [(&[&str], &[&str]); 7] = [
    (&["close"], &[]),
    (&["write", "fsync", "fdatasync"], &["ENOSPC", "EIO", "EINTR"]),
    (&["read", "recvfrom", "sendto"], &["EIO", "EINTR"]),
    (&["poll", "ppoll", "wait4", "waitid"], &["EINTR"]),
    (&["ioctl", "lseek", "getdents64"], &["EIO"]),
    (&["clone", "clone3", "vfork", "fork"], &["EAGAIN"]),
    (
        &["rename", "renameat", "renameat2", "unlink", "mkdir", "statx", "newfstatat", "access"],
        &["ENOSPC", "EIO", "EACCES"],
    ),
];
/// What a call can answer that makes a descriptor.
const DESCRIPTORS: [&str; 1] = ["EMFILE"];
const ALL: [&str; 5] = ["ENOSPC", "EIO", "EACCES", "EMFILE", "EINTR"];

/// What a call is made to answer.
pub fn answers(Call { name, told, .. }: &Call) -> &'static [&'static str] {
    let makes_one = ["pipe2", "socketpair", "socket", "dup", "dup2", "pidfd_open"].contains(&&**name);
    // Only its locks can be interrupted, or refused.
    let is_lock = told.contains("F_OFD_");
    if makes_one || (name == "fcntl" && !is_lock) {
        return &DESCRIPTORS;
    }
    ANSWERS.iter().find(|(names, _)| names.contains(&&**name)).map_or(&ALL, |(_, errors)| errors)
}

/// The exit codes of the contract.
const CODES: [i32; 7] = [0, 1, 2, 3, 4, 5, 130];

#[derive(Debug)]
struct Point {
    call: Call,
    error: &'static str,
}

fn points(calls: &[Call]) -> Vec<Point> {
    let of = |call: &Call| answers(call).iter().map(|&error| Point { call: call.clone(), error }).collect::<Vec<_>>();
    calls.iter().flat_map(of).collect()
}

#[track_caller]
fn is_clear(output: &Output, point: &Point) {
    let code = output.status.code().unwrap_or(-1);
    assert!(CODES.contains(&code) && !output.stderr.contains("panicked"), "{output:?}");
    if point.error == "EINTR" {
        assert_eq!(code, 0, "an interrupted call is made again: {output:?}");
    }
    let is_story = |line: &str| ["iteration ", "warning: "].iter().any(|word| line.starts_with(word));
    let mut lines = output.stderr.lines().filter_map(|line| line.strip_prefix("wt-loop: "));
    let writes_there = point.call.name == "write" && point.call.told.starts_with('2');
    assert!(code == 0 || writes_there || lines.any(|line| !is_story(line)), "nothing is told: {output:?}");
    assert!(!output.stderr.contains("(os error"), "{output:?}");
}

fn is_told(world: &World, point: &Point) -> Outcome {
    forget(world);
    let Some(output) = injection::injected(world, &RUN, &point.call, Fault::Error(point.error)) else {
        return Outcome::Missed;
    };
    is_clear(&output, point);
    wait_until("the end of everything that the agent started", || world.processes().is_empty());
    let Ok(left) = fs::read(world.root.join(".claude/loop-state.json")) else {
        assert!(matches!(output.status.code(), Some(1 | 2)), "{output:?}");
        return Outcome::Held;
    };
    let state: Value = serde_json::from_slice(&left).expect("the state parses");
    let told = world.wt(&["status", "--json"]).exit(0).json();
    assert!(!["running", "starting"].contains(&told["status"].as_str().unwrap()), "{told}");
    let ends_well = output.status.code() == Some(0);
    assert!(!ends_well || state["status"] == "done", "{state}");
    Outcome::Held
}

#[test]
fn an_error_at_any_call_is_told_and_tears_nothing() {
    if let Some(why) = injection::missing() {
        println!("SKIPPED: {}: {why}", classes::ERRORS.name);
        return;
    }
    let first = world();
    forget(&first);
    let points = points(&injection::calls(&first, &RUN));
    Tally::of(&points, |point| format!("{point:?}"), world, is_told).tell(&classes::ERRORS);
}
