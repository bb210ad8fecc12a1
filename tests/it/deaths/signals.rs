//! Signals that ask: to the loop, and to the guard.

use nix::sys::signal::Signal;
use serde_json::json;

use crate::support::{Cast, World, agents, cast, spawn};

/// Notes its TERM and ends.
const TIDIES: &str =
    "trap 'echo tidied; exit 0' TERM\nsetsid sleep \"$NAP\" &\necho ready\nwhile :; do sleep 0.05; done\n";

fn is_interrupted_by(signal: Signal, told: &str) {
    let world = World::with_agent(TIDIES);
    let running = world.spawn_fresh(&["run", "x"]);
    world.wait_for_log("ready");
    running.signal(signal);
    running.wait().exit(130).stdout_has("tidied").stderr_has(told);
    assert_eq!(world.processes(), []);
    let state = world.state();
    assert_eq!((&state["status"], &state["exit_code"]), (&json!("stopped"), &json!(130)));
    assert_eq!(state["iterations"][0]["exit_reason"], "interrupted");
    assert!(!world.root.join(".claude/ralph-terminal.pid").exists());
}

#[test]
fn sigterm_ends_the_loop_gracefully() {
    is_interrupted_by(Signal::SIGTERM, "SIGTERM");
}

#[test]
fn sighup_ends_the_loop_gracefully() {
    is_interrupted_by(Signal::SIGHUP, "SIGHUP");
}

#[test]
fn sigint_ends_the_loop_gracefully() {
    is_interrupted_by(Signal::SIGINT, "Ctrl-C");
}

#[test]
fn sighup_is_ignored_under_nohup() {
    let world = World::with_agent("echo ready\nuntil [ -e \"$TMPDIR/go\" ]; do sleep 0.02; done\n");
    let mut command = world.command("nohup");
    command.arg(world.program()).args(["run", "x", "--max", "1"]);
    let running = spawn(command);
    world.wait_for_log("ready");
    let sighup = 1 << (Signal::SIGHUP as i32 - 1);
    assert_eq!(cast::signals(running.pid(), "SigIgn") & sighup, sighup);
    running.signal(Signal::SIGHUP);
    std::fs::write(world.base().join("tmp/go"), "").unwrap();
    running.wait().exit(3);
    assert_eq!(world.state()["iterations"][0]["exit_reason"], "completed");
}

#[test]
fn sigterm_to_the_guard_ends_its_agent_and_the_loop_goes_on() {
    let world = World::with_agent(&format!("[ $WT_LOOP_RUN_ITERATION = 1 ] || exit 0\n{TIDIES}"));
    let running = world.spawn(&["run", "x", "--max", "2", "--stall-threshold", "0"]);
    world.wait_for_log("ready");
    let cast = Cast::of(running.pid());
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(cast.guard), Signal::SIGTERM).unwrap();
    running.wait().exit(3).stdout_has("tidied").stderr_has("the agent's guard was killed");
    assert_eq!(world.processes(), []);
    let iterations = world.state()["iterations"].clone();
    assert_eq!((&iterations[0]["exit_reason"], &iterations[1]["exit_reason"]), (&json!("failed"), &json!("completed")));
}

#[test]
fn a_signal_during_the_pause_between_failures_ends_the_loop_at_once() {
    let world = World::with_agent(agents::FAILS);
    let running = world.spawn_fresh(&["run", "x", "--stall-threshold", "0"]);
    world.wait_for_log("waiting 4.0s before the next try");
    running.signal(Signal::SIGTERM);
    running.wait().exit(130);
    let state = world.state();
    assert_eq!((&state["status"], &state["current_iteration"]), (&json!("stopped"), &json!(4)));
    assert_eq!(state["iterations"][3]["exit_reason"], "failed");
}
