//! `list`: the loops of all projects.

use serde_json::{Value, json};

use crate::support::{World, agents, wait_until};

#[test]
fn active_loops_are_listed_and_ended_ones_on_demand() {
    let world = World::with_agent(agents::SLEEPS);
    let bakery = world.repository("bakery");
    world.wt_in(&world.base(), &["list"]).exit(0).stdout("").stderr_has("no loop runs");
    world.start(&["sleep"]);
    wait_until("the agent", || !world.processes_like("sleep 1000").is_empty());
    world.agent("claude", agents::IDLE);
    world.wt_in(&bakery, &["run", "bake"]).exit(4);

    let names = |args: &[&str]| {
        let listed = world.wt_in(&world.base(), args).exit(0).stderr("").stdout;
        let rows = listed.lines().skip(1).map(|line| line.split_whitespace().take(5).collect::<Vec<_>>().join(" "));
        rows.collect::<Vec<_>>()
    };
    assert_eq!(names(&["list"]), ["shop feat-x - running 1/10"]);
    assert_eq!(names(&["list", "--all"]), ["bakery bakery - stalled 2/10", "shop feat-x - running 1/10"]);
    world.wt(&["stop"]).exit(0);
    world.wt(&["list"]).exit(0).stdout("").stderr("no loop runs; wt-loop list --all shows those that ended\n");
}

#[test]
fn a_program_gets_an_array() {
    let world = World::with_agent(agents::SLEEPS);
    world.change("add-login", 1);
    assert_eq!(world.wt(&["list", "--json"]).exit(0).stderr("").json(), json!([]));
    world.start(&["add-login", "sleep", "--max", "0"]);
    let state = world.wait_for_state("a running loop", |state| state["status"] == "running");
    let listed = world.wt_in(&world.base(), &["list", "--json"]).exit(0).stderr("").json();
    let expected = json!([{
        "project": "shop",
        "change_id": "add-login",
        "worktree": world.root,
        "worktree_name": "feat-x",
        "status": "running",
        "status_reason": null,
        "paused": false,
        "current_iteration": 1,
        "max_iterations": 0,
        "started_at": state["started_at"],
        "task": "sleep",
        "terminal_pid": state["terminal_pid"],
    }]);
    assert_eq!(listed, expected);
    world.wt(&["stop"]).exit(0);
    let ended = world.wt(&["list", "--all", "--json"]).exit(0).json();
    assert_eq!((&ended[0]["status"], &ended[0]["terminal_pid"]), (&"stopped".into(), &Value::Null));
}

#[test]
fn a_broken_state_of_one_project_hides_no_other() {
    let world = World::with_agent(agents::SLEEPS);
    let bakery = world.repository("bakery");
    world.start(&["sleep"]);
    wait_until("the agent", || !world.processes_like("sleep 1000").is_empty());
    world.agent("claude", agents::IDLE);
    world.wt_in(&bakery, &["run", "bake"]).exit(4);
    std::fs::write(bakery.join(".claude/loop-state.json"), "{").unwrap();
    let listed = world.wt(&["list", "--all"]).exit(0).stdout_has("feat-x");
    listed.stderr_has("wt-loop: warning: ").stderr_has("bakery/.claude/loop-state.json is broken");
}

#[test]
fn a_worktree_that_is_gone_is_passed_over() {
    let world = World::with_agent(agents::IDLE);
    world.wt(&["run", "task"]).exit(4);
    std::fs::remove_dir_all(&world.root).unwrap();
    world.wt_in(&world.base(), &["list", "--all"]).exit(0).stdout("").stderr("no loop runs\n");
}
