//! SIGKILL for the guard, and an error in its place, at every system call that it makes from the end of its agent on.

use std::fs;
use std::process::Command;

use serde_json::json;

use crate::classes::{self, Class};
use crate::errors::answers;
use crate::injection::{self, Call, Fault};
use crate::support::{Cast, Running, World, cast, spawn, wait_until};
use crate::tally::{Outcome, Tally};

/// Leaves a child and a daemon behind once it may; a second iteration does nothing.
const AGENT: &str = "[ \"$WT_LOOP_RUN_ITERATION\" = 1 ] || exit 0\n\
                     sleep \"$NAP\" &\nsetsid sleep \"$NAP\" > /dev/null 2>&1 &\n\
                     touch ../there\nread go < ../gate\n";

fn world() -> World {
    let world = World::with_agent(AGENT);
    world.tool("mkfifo", &["../gate"]).exit(0);
    world
}

/// A loop whose guard waits for its agent, and is traced.
fn traced(world: &World, options: &[String]) -> (Running, Running, Cast) {
    let _ = fs::remove_dir_all(world.root.join(".claude"));
    let _ = fs::remove_file(world.beside("there"));
    let looper = world.spawn(&["run", "x", "--max", "2", "--stall-threshold", "0", "--done", "manual"]);
    wait_until("the agent", || world.beside("there").exists());
    let cast = Cast::of(looper.pid());
    let mut strace: Command = world.command(which::which("strace").unwrap());
    strace.args(["-q", "-e", "signal=none"]).args(options).args(["-p", &cast.guard.to_string()]);
    let strace = spawn(strace);
    wait_until("the tracer", || cast::status(cast.guard, "TracerPid") != "0");
    (looper, strace, cast)
}

/// Lets the agent go.
fn let_go(world: &World) {
    fs::write(world.beside("gate"), "go\n").unwrap();
}

fn calls(world: &World) -> Vec<Call> {
    let log = world.base().join("tmp/guard-calls");
    let (looper, strace, _) = traced(world, &["-o".into(), log.display().to_string()]);
    let_go(world);
    looper.wait().exit(3);
    strace.wait();
    injection::numbered(&fs::read_to_string(log).unwrap())
}

/// The loop comes to its end, nothing is left, and what the agent did is told as it is or as lost with its guard.
fn survives(world: &World, call: &Call, fault: Fault) -> Outcome {
    let log = world.base().join("tmp/guard-injected");
    let options = [&["-o".to_owned(), log.display().to_string()][..], &injection::options(call, fault)].concat();
    let (looper, strace, _) = traced(world, &options);
    let_go(world);
    looper.wait().exit(3).lacks("panicked");
    strace.wait();
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
    let (completed, failed) = (&json!("completed"), &json!("failed"));
    assert!(reasons == [completed, completed] || reasons == [failed, completed], "{reasons:?}");
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
