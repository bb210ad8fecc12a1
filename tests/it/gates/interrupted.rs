//! A stop or a crash while a gate is asked loses nothing, and the claim is open again.

use nix::sys::signal::Signal;

use super::ralph;
use crate::support::{PROMISES, Running, World, agents, spawn, wait_until};

/// A world with a gate that waits for `../go`, an agent that counts its runs, and a loop that is asking that gate.
fn at_the_gate(words: &[&str]) -> (World, Running) {
    let world = World::validated_by(&["gate"]);
    world.check("agent-ran", "");
    world.agent("claude", &format!("agent-ran\n{PROMISES}"));
    world.check("gate", "echo at the gate\nuntil [ -e ../go ]; do sleep 0.02; done\nexit $(cat ../go)");
    let running = world.spawn(words);
    wait_until("the gate is asked", || world.trail() == ["agent-ran", "gate"]);
    (world, running)
}

/// Lets the gate end with this code.
fn open(world: &World, code: u8) {
    std::fs::write(world.base().join("go.new"), code.to_string()).unwrap();
    std::fs::rename(world.base().join("go.new"), world.base().join("go")).unwrap();
}

#[track_caller]
fn assert_claim_is_open(world: &World) {
    let iteration = world.iteration(1);
    assert_eq!(world.iterations(), 1);
    assert_eq!(iteration["promise_found"], true, "{iteration:#}");
    assert_eq!(iteration["exit_reason"], "completed", "{iteration:#}");
    assert_eq!(iteration["done_check"], false, "{iteration:#}");
    assert!(iteration["validation"].is_null(), "no claim is recorded as rejected: {iteration:#}");
}

#[test]
fn the_iteration_is_on_disk_before_the_gates_run() {
    let (world, running) = at_the_gate(&ralph(&[]));
    assert_claim_is_open(&world);
    assert_eq!(world.state()["status"], "running");
    assert_eq!(world.wt(&["history", "--json"]).exit(0).json()[0]["promise_found"], true);
    open(&world, 0);
    running.wait().exit(0);
    assert_eq!(world.iteration(1)["done_check"], true);
}

#[test]
fn a_stop_leaves_the_claim_open_and_a_resume_asks_again_before_any_agent() {
    let (world, running) = at_the_gate(&ralph(&[]));
    world.wt(&["stop"]).exit(0);
    running.wait().exit(5);
    assert_eq!(world.processes(), []);
    assert_claim_is_open(&world);
    assert_eq!((world.state()["status"].as_str(), world.state()["exit_code"].as_i64()), (Some("stopped"), Some(5)));
    open(&world, 0);
    world.wt(&["resume"]).exit(0).stderr_has("wt-loop: done: the agent's promise was accepted (1 iteration,");
    assert_eq!(world.trail(), ["agent-ran", "gate", "gate"], "no agent was needed");
    assert_eq!(world.iteration(1)["done_check"], true);
}

#[test]
fn a_resume_whose_gate_says_no_goes_on_with_the_agent() {
    let (world, running) = at_the_gate(&ralph(&["--max", "2"]));
    world.wt(&["stop"]).exit(0);
    running.wait().exit(5);
    open(&world, 7);
    world.wt(&["resume"]).exit(3);
    assert_eq!(world.trail(), ["agent-ran", "gate", "gate", "agent-ran", "gate"]);
    assert_eq!(world.iteration(1)["validation"]["exit_code"], 7);
    assert!(world.told(2).contains("exit code 7"));
}

#[test]
fn a_killed_loop_leaves_nothing_running_and_a_resume_asks_again() {
    let (world, running) = at_the_gate(&ralph(&[]));
    running.signal(Signal::SIGKILL);
    let output = running.wait();
    assert_eq!(output.status.code(), None);
    world.wait_until_nothing_is_left();
    assert_claim_is_open(&world);
    let status = world.wt(&["status", "--json"]).exit(0).json();
    assert_eq!((status["status"].as_str(), status["status_reason"].as_str()), (Some("stopped"), Some("crashed")));
    open(&world, 0);
    world.wt(&["resume"]).exit(0);
    assert_eq!(world.trail(), ["agent-ran", "gate", "gate"], "no agent was needed");
    assert_eq!(world.state()["status"], "done");
}

#[test]
fn a_signal_is_no_rejection() {
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        let world = World::validated_by(&["gate"]);
        world.check("gate", "until [ -e ../go ]; do sleep 0.02; done");
        // A test that runs in the background of a script has SIGINT ignored; the loop must not inherit that.
        let mut command = world.command("env");
        command.arg("--default-signal").arg(world.program()).args(ralph(&[]));
        let running = spawn(command);
        wait_until("the gate is asked", || world.trail() == ["gate"]);
        running.signal(signal);
        let output = running.wait().exit(130);
        assert!(!output.stderr.contains("rejected"), "{}", output.stderr);
        assert_eq!(world.processes(), []);
        assert_claim_is_open(&world);
        assert_eq!(world.state()["status"], "stopped");
        open(&world, 0);
        world.wt(&["resume"]).exit(0);
        assert_eq!(world.iterations(), 1);
    }
}

#[test]
fn a_claim_of_the_last_iteration_is_open_again_too() {
    for (code, exit, status) in [(0, 0, "done"), (1, 3, "stuck")] {
        let (world, running) = at_the_gate(&ralph(&["--max", "1"]));
        world.wt(&["stop"]).exit(0);
        running.wait().exit(5);
        open(&world, code);
        world.wt(&["resume"]).exit(exit);
        assert_eq!(world.trail(), ["agent-ran", "gate", "gate"], "the maximum holds: no agent runs");
        assert_eq!(world.state()["status"], status);
        world.wt(&["resume"]).exit(1);
        assert_eq!(world.trail().len(), 3, "settled is settled");
    }
}

#[test]
fn a_stop_of_the_resume_leaves_it_open_still() {
    let (world, running) = at_the_gate(&ralph(&[]));
    world.wt(&["stop"]).exit(0);
    running.wait().exit(5);
    let again = world.spawn(&["resume"]);
    wait_until("the gate is asked again", || world.trail() == ["agent-ran", "gate", "gate"]);
    world.wt(&["stop"]).exit(0);
    again.wait().exit(5);
    assert_claim_is_open(&world);
    open(&world, 0);
    world.wt(&["resume"]).exit(0);
    assert_eq!(world.trail(), ["agent-ran", "gate", "gate", "gate"]);
}

#[test]
fn a_claim_by_tasks_is_open_again_too() {
    let world = World::with_agent(agents::TICKS);
    world.tasks(0, 1);
    world.validation(&["gate"]);
    world.check("gate", "until [ -e ../go ]; do sleep 0.02; done");
    let running = world.spawn(&["run", "tick"]);
    wait_until("the gate is asked", || world.trail() == ["gate"]);
    running.signal(Signal::SIGKILL);
    running.wait();
    world.wait_until_nothing_is_left();
    open(&world, 0);
    world.wt(&["resume"]).exit(0).stderr_has("done: every task is complete or shelved (1 iteration,");
    assert_eq!(world.trail(), ["gate", "gate"]);
}
