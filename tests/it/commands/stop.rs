//! `stop`: ends a loop gracefully, and can be told from a bare signal.

use std::fs;

use nix::sys::signal::Signal;

use crate::support::{World, agents, wait_until};

#[test]
fn the_loop_exits_5_and_stop_exits_0() {
    let world = World::with_agent(agents::SLEEPS);
    let running = world.spawn(&["run", "sleep"]);
    wait_until("the agent", || !world.processes_like("sleep 1000").is_empty());
    let pid = running.pid();
    world.wt(&["stop"]).exit(0).stdout(&format!("stopped the loop in feat-x (pid {pid})\n")).stderr("");
    assert_eq!(world.state()["status"], "stopped", "it is written when stop returns");
    running.wait().exit(5).stderr_has("wt-loop: stopped: ended by wt-loop stop (1 iteration, ");
    world.wait_until_nothing_is_left();
    assert!(!world.root.join(".claude/ralph-terminal.pid").exists());
}

#[test]
fn a_bare_signal_is_no_stop() {
    let world = World::with_agent(agents::SLEEPS);
    for (signal, name) in [(Signal::SIGTERM, "SIGTERM"), (Signal::SIGINT, "Ctrl-C"), (Signal::SIGHUP, "SIGHUP")] {
        let running = world.spawn(&["run", "sleep"]);
        wait_until("the agent", || !world.processes_like("sleep 1000").is_empty());
        // A request that was left for another loop confuses nobody.
        fs::write(world.main.join(".git/worktrees/feat-x/wt-loop/stop"), "another loop").unwrap();
        running.signal(signal);
        running.wait().exit(130);
        let state = world.state();
        assert_eq!((&state["status"], &state["exit_code"]), (&"stopped".into(), &130.into()));
        assert!(state["status_reason"].as_str().unwrap().contains(name), "{}", state["status_reason"]);
        assert_eq!(state["iterations"][0]["exit_reason"], "interrupted");
    }
}

#[test]
fn of_a_loop_that_already_ended_it_changes_nothing() {
    let world = World::with_agent(agents::IDLE);
    world.wt(&["run", "task"]).exit(4);
    let before = world.read(".claude/loop-state.json");
    world
        .wt(&["stop"])
        .exit(0)
        .stdout("the loop in feat-x is already over (stalled: 2 iterations in a row without progress)\n")
        .stderr("");
    assert_eq!(world.read(".claude/loop-state.json"), before);
    world.wt_in(&world.main, &["stop"]).exit(1).stderr_has("no loop has run in");
}

#[test]
fn of_a_loop_that_was_killed_it_records_the_crash() {
    let world = World::with_agent(agents::SLEEPS);
    let running = world.spawn(&["run", "sleep"]);
    wait_until("the agent", || !world.processes_like("sleep 1000").is_empty());
    running.signal(Signal::SIGKILL);
    running.wait();
    world.wt(&["stop"]).exit(0).stdout("the loop in feat-x is already over (stopped: crashed)\n");
    let state = world.state();
    assert_eq!((&state["status"], &state["status_reason"]), (&"stopped".into(), &"crashed".into()));
    assert_eq!(state["exit_code"], 1);
}

#[test]
fn all_ends_every_loop_of_every_project() {
    let world = World::with_agent(agents::SLEEPS);
    let bakery = world.repository("bakery");
    for root in [&world.root, &world.main, &bakery] {
        world.wt_in(root, &["start", "sleep", "--launcher", "background"]).exit(0);
    }
    wait_until("the agents", || world.processes_like("sleep 1000").len() == 3);
    let mut lines: Vec<String> = world
        .wt_in(&world.base(), &["stop", "--all"])
        .exit(0)
        .stdout
        .lines()
        .map(|line| line.split(" (").next().unwrap().to_owned())
        .collect();
    lines.sort();
    assert_eq!(lines, ["stopped the loop in bakery", "stopped the loop in feat-x", "stopped the loop in shop"]);
    world.wait_until_nothing_is_left();
    world.wt_in(&world.base(), &["stop", "--all"]).exit(0).stdout("no loop runs\n");
}

#[test]
fn a_loop_can_be_named_from_another_worktree() {
    let world = World::with_agent(agents::SLEEPS);
    world.change("add-login", 0);
    for name in ["feat-x", "add-login"] {
        world.start(&["add-login", "sleep"]);
        world.wt_in(&world.main, &["stop", name]).exit(0).stdout_has("stopped the loop in feat-x (pid ");
    }
    world.wt_in(&world.main, &["stop", "feat-y"]).exit(2).stderr(
        "wt-loop: no change and no worktree called 'feat-y'; found: shop, feat-x\nhint: did you mean feat-x?\n",
    );
}

#[test]
fn while_the_loop_waits_after_failures_it_ends_at_once() {
    let world = World::with_agent(agents::FAILS);
    world.start(&["task", "--stall-threshold", "0", "--error-threshold", "0"]);
    wait_until("a pause", || world.log().contains("waiting 4"));
    world.wt(&["stop"]).exit(0);
    let state = world.wait_until_over();
    assert_eq!((&state["status"], &state["exit_code"]), (&"stopped".into(), &5.into()));
}
