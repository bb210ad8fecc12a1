//! SIGKILL for the guard, and an error in its place, at every system call that it makes from when it waits for its job on.

use std::fs;
use std::process::Command;

use serde_json::json;

use crate::classes::{self, Class};
use crate::errors::answers;
use crate::injection::{self, Call, Fault};
use crate::support::{Output, World, cast, is_alive, spawn, wait_for, wait_until};
use crate::tally::{Outcome, Tally};

/// Leaves a child and a daemon behind; a second iteration does nothing.
const AGENT: &str = "[ \"$WT_LOOP_RUN_ITERATION\" = 1 ] || exit 0\n\
                     sleep \"$NAP\" &\nsetsid sleep \"$NAP\" > /dev/null 2>&1 &\n";

/// A first look that takes until it may end. The guard of the first agent gets ready meanwhile, and waits.
const GIT: &str =
    "case \" $* \" in *' status '*)\n[ -e ../looking ] || { touch ../looking; read go < ../gate; }\nesac\n";

fn world() -> World {
    let world = World::with_agent(AGENT);
    world.agent("git", &format!("{GIT}exec {} \"$@\"\n", which::which("git").unwrap().display()));
    world.tool("mkfifo", &["../gate"]).exit(0);
    world
}

/// Whether a process is a guard that has started its shim and waits for its job: it receives (by its number on x86-64 and on arm64).
fn waits(pid: i32) -> bool {
    let call = fs::read_to_string(format!("/proc/{pid}/syscall")).unwrap_or_default();
    !cast::children(pid).is_empty() && ["45 ", "207 "].iter().any(|receiving| call.starts_with(receiving))
}

/// A loop to its end, whose first guard is traced from when it waits for its job on.
fn traced(world: &World, options: &[String]) -> Output {
    let _ = fs::remove_dir_all(world.root.join(".claude"));
    let _ = fs::remove_file(world.beside("looking"));
    let looper = world.spawn(&["run", "x", "--max", "2", "--stall-threshold", "0", "--done", "manual"]);
    let guard = wait_for("a guard that waits", || cast::children(looper.pid()).into_iter().find(|&pid| waits(pid)));
    let mut strace: Command = world.command(which::which("strace").unwrap());
    strace.args(["-q", "-e", "signal=none"]).args(options).args(["-p", &guard.to_string()]);
    let strace = spawn(strace);
    // A fault at the call in which it waits ends it at once.
    wait_until("the tracer", || !is_alive(guard) || cast::status(guard, "TracerPid") != "0");
    fs::write(world.beside("gate"), "go\n").unwrap();
    let output = looper.wait();
    strace.wait();
    output
}

fn calls(world: &World) -> Vec<Call> {
    let log = world.base().join("tmp/guard-calls");
    traced(world, &["-o".into(), log.display().to_string()]).exit(3);
    injection::numbered(&fs::read_to_string(log).unwrap())
}

/// The loop comes to its end, nothing is left, and what the agent did is told as it is or as lost with its guard.
fn survives(world: &World, call: &Call, fault: Fault) -> Outcome {
    let log = world.base().join("tmp/guard-injected");
    let options = [&["-o".to_owned(), log.display().to_string()][..], &injection::options(call, fault)].concat();
    traced(world, &options).exit(3).lacks("panicked");
    let trace = String::from_utf8_lossy(&fs::read(log).unwrap_or_default()).into_owned();
    let happened = match fault {
        Fault::Kill => trace.contains("<unfinished ...>"),
        Fault::Error(_) => trace.contains("(INJECTED)"),
    };
    if !happened {
        return Outcome::Missed;
    }
    assert_eq!(world.processes(), [], "the loop ends only when nothing is left");
    let state = world.state();
    let reasons: Vec<_> = state["iterations"].as_array().unwrap().iter().map(|entry| &entry["exit_reason"]).collect();
    let first = ["completed", "failed", "not_started"].map(|reason| json!(reason));
    assert!(reasons.len() == 2 && first.contains(reasons[0]) && reasons[1] == "completed", "{reasons:?}");
    Outcome::Held
}

fn try_all(class: &Class, faults: impl Fn(&Call) -> Vec<Fault>) {
    if let Some(why) = injection::missing() {
        println!("SKIPPED: {}: {why}", class.name);
        return;
    }
    let calls = calls(&world());
    let points: Vec<(Call, Fault)> =
        calls.iter().flat_map(|call| faults(call).into_iter().map(|fault| (call.clone(), fault))).collect();
    Tally::of(&points, |point| format!("{point:?}"), world, |world, (call, fault)| survives(world, call, *fault))
        .tell(class);
}

#[test]
fn a_guard_that_dies_at_any_instant_leaves_its_tree_to_the_loop() {
    try_all(&classes::GUARD, |_| vec![Fault::Kill]);
}

#[test]
fn a_guard_that_meets_an_error_at_any_call_leaves_nothing_running() {
    try_all(&classes::GUARD_ERRORS, |call| answers(call).iter().map(|&error| Fault::Error(error)).collect());
}
