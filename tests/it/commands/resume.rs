//! `resume`: goes on after the last recorded iteration, with the same log and history.

use std::fs;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::support::{HOLDS, World, agents};

fn numbers(state: &Value) -> Vec<u64> {
    state["iterations"].as_array().unwrap().iter().map(|iteration| iteration["n"].as_u64().unwrap()).collect()
}

#[test]
fn numbers_log_and_history_go_on() {
    let world = World::with_agent(agents::IDLE);
    world.wt(&["run", "the task", "--label", "night"]).exit(4);
    let (before, log) = (world.state(), world.log());
    world.wt(&["resume"]).exit(4).stderr_has("wt-loop: iteration 3/10 · ").stderr_has("(4 iterations, ");
    let after = world.state();
    assert_eq!(numbers(&after), [1, 2, 3, 4], "the count of idle iterations starts anew");
    assert_eq!(after["iterations"][1], before["iterations"][1]);
    for field in ["loop_id", "task", "label", "started_at", "max_iterations"] {
        assert_eq!(after[field], before[field], "{field}");
    }
    assert!(world.log().starts_with(&log) && world.log().len() > log.len());
    assert!(!world.root.join(".claude/ralph-loop.log.1").exists());
}

#[test]
fn a_stopped_and_a_killed_loop_go_on_after_what_was_recorded() {
    let world = World::with_agent(HOLDS);
    world.let_go(1);
    let running = world.spawn(&["run", "task", "--max", "4"]);
    world.wait_until_held(2);
    world.wt(&["stop"]).exit(0);
    running.wait().exit(5);
    assert_eq!(numbers(&world.state()), [1, 2], "the interrupted iteration is recorded");
    let running = world.spawn(&["resume"]);
    world.wait_until_held(3);
    running.signal(Signal::SIGKILL);
    running.wait();
    assert_eq!(numbers(&world.state()), [1, 2], "the killed one could not be");
    fs::remove_file(world.beside("prompt-3")).unwrap();
    world.let_go(3);
    world.let_go(4);
    world.wt(&["resume"]).exit(3);
    assert_eq!(numbers(&world.state()), [1, 2, 3, 4]);
    assert!(world.prompt(3).contains("## Previous Iterations\n\n- 1: completed"));
}

#[test]
fn at_its_maximum_it_needs_a_new_one() {
    let world = World::with_agent(agents::COMMITS);
    world.wt(&["run", "task", "--max", "2"]).exit(3);
    let before = world.read(".claude/loop-state.json");
    let refused = "wt-loop: the loop is at its maximum of 2 iterations\nhint: wt-loop resume --max 12\n";
    world.wt(&["resume"]).exit(1).stdout("").stderr(refused);
    assert_eq!(world.read(".claude/loop-state.json"), before);
    world.wt(&["resume", "--max", "4"]).exit(3);
    assert_eq!(numbers(&world.state()), [1, 2, 3, 4]);
    assert_eq!(world.state()["max_iterations"], 4);
    world.wt(&["resume", "--max", "3"]).exit(1).stderr_has("the loop is at its maximum of 3 iterations");
    world.wt(&["resume", "--max", "5", "--min", "6"]).exit(2).stderr_has("--min 6 is more than --max 5");
}

#[test]
fn a_loop_that_is_done_is_refused() {
    let world = World::with_agent("echo '<promise>COMPLETE</promise>'\n");
    world.wt(&["run", "task"]).exit(0);
    let before = world.read(".claude/loop-state.json");
    world
        .wt(&["resume", "--max", "20"])
        .exit(1)
        .stdout("")
        .stderr("wt-loop: the loop is done; there is nothing to go on with\nhint: wt-loop start \"the next task\"\n");
    assert_eq!(world.read(".claude/loop-state.json"), before);
}

#[test]
fn a_loop_that_runs_is_refused() {
    let world = World::with_agent(agents::SLEEPS);
    world.start(&["the long sleep"]);
    let pid = world.wait_for_state("a running loop", |state| state["status"] == "running")["terminal_pid"].clone();
    world.wt(&["resume"]).exit(1).stdout("").stderr(&format!(
        "wt-loop: a loop already runs in this worktree (pid {pid}): the long sleep\n\
         hint: wt-loop monitor to watch it, wt-loop stop to end it\n"
    ));
    assert_eq!(world.state()["status"], "running");
    world.wt_in(&world.main, &["resume"]).exit(1).stderr_has("no loop has run in");
}

#[test]
fn a_failure_is_carried_into_the_prompt_and_options_into_the_loop() {
    let world = World::with_agent(agents::FAILS);
    world.wt(&["run", "task", "--fail-fast", "--model", "opus", "--agent-arg", "-x", "--max", "4"]).exit(1);
    world.agent("claude", "echo \"$@\" > ../args\ncat > ../prompt-$WT_LOOP_RUN_ITERATION\nexit 7\n");
    world.wt(&["resume"]).exit(1);
    assert!(world.prompt(2).contains("## Last Failure"));
    assert_eq!(
        fs::read_to_string(world.beside("args")).unwrap(),
        "-p --output-format stream-json --verbose --model opus -x\n"
    );
    world.wt(&["resume", "--fail-fast=false", "--error-threshold", "1", "--model", "haiku"]).exit(3);
    assert_eq!(
        fs::read_to_string(world.beside("args")).unwrap(),
        "-p --output-format stream-json --verbose --model haiku -x\n",
        "what is typed now wins"
    );
}

#[test]
fn the_state_of_another_tool_keeps_its_task_limits_history_and_all_it_does_not_know() {
    let world = World::with_agent(HOLDS);
    let state = json!({
        "worktree_name": "feat-x", "status": "stopped", "task": "from elsewhere", "current_iteration": 2,
        "max_iterations": 4, "done_criteria": "manual", "stall_threshold": 7, "iteration_timeout_min": 30,
        "started_at": "2026-01-02T03:04:05+01:00", "total_tokens": 77, "terminal_pid": null,
        "team_mode": { "deep": [1, 2] },
        "iterations": [
            { "n": 1, "started": "2026-01-02T03:04:05+01:00", "ended": "2026-01-02T03:14:05+01:00", "resumed": true,
              "commits": ["abc"], "tokens_used": 70 },
            { "n": 2, "started": "2026-01-02T03:14:05+01:00", "ended": "2026-01-02T03:24:05+01:00", "commits": [] },
        ],
    });
    world.write(".claude/loop-state.json", &state.to_string());
    world.let_go(3);
    world.let_go(4);
    world.wt(&["resume"]).exit(3);
    let after = world.state();
    assert_eq!(numbers(&after), [1, 2, 3, 4]);
    for field in [
        "task",
        "max_iterations",
        "done_criteria",
        "stall_threshold",
        "iteration_timeout_min",
        "started_at",
        "total_tokens",
        "team_mode",
    ] {
        assert_eq!(after[field], state[field], "{field}");
    }
    assert_eq!(
        (&after["iterations"][0]["resumed"], &after["iterations"][0]["commits"]),
        (&true.into(), &json!(["abc"]))
    );
    assert_eq!(after["iterations"][0]["started"], "2026-01-02T03:04:05+01:00");
    assert_eq!(after["harness"], "claude", "the rest comes from the defaults");
    assert!(world.prompt(3).starts_with("# Iteration 3 of 4\n") && world.prompt(3).contains("from elsewhere"));
}

#[test]
fn a_state_that_names_an_agent_decides_nothing() {
    // Commands and approvals come from the user's own record; a state could be shipped by a repository.
    let world = World::with_agent("echo \"$@\" > ../args\nexit 0\n");
    world.agent("codex", "touch ../codex-ran\n");
    world.wt(&["run", "task"]).exit(4);
    let mut state = world.state();
    state["harness"] = "codex".into();
    state["model"] = "evil".into();
    state["agent_args"] = json!(["--evil"]);
    state["approval"] = "all".into();
    for id in [state["loop_id"].clone(), "unknown".into()] {
        state["loop_id"] = id;
        world.write(".claude/loop-state.json", &state.to_string());
        world.wt(&["resume"]).exit(4);
        assert_eq!(fs::read_to_string(world.beside("args")).unwrap(), "-p --output-format stream-json --verbose\n");
    }
    assert!(!world.beside("codex-ran").exists());
}
