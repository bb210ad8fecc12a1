//! Agents that fail.

use std::fs;

use nix::sys::signal::Signal;

use super::{history, ito};
use crate::support::{SAYS_DONE, World, wait_until};

fn world(script: &str) -> World {
    let world = World::new();
    world.scribe("claude", script);
    world
}

#[test]
fn a_failure_is_told_to_the_next_iteration_and_gone_after_a_success() {
    let world = ito(
        &["001-01_x"],
        &format!("case $call in 1) echo 'I began'; echo 'the disk is on fire' >&2; exit 7 ;; 3) {SAYS_DONE} ;; esac\n"),
    );
    world.wt(&["ralph", "go", "--change", "001"]).exit(0);
    let calls = world.calls();
    let told: Vec<String> = calls.iter().map(|call| call.section("## Last Failure")).collect();
    assert_eq!((told[0].as_str(), told[2].as_str()), ("", ""));
    assert!(told[1].contains("The agent of iteration 1 ended with exit code 7. The end of its output:"), "{}", told[1]);
    let (_, output) = told[1].split_once("```\n").unwrap();
    let mut lines: Vec<&str> = output.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["I began", "```", "the disk is on fire"], "both streams: {output}");
    assert!(!calls[1].headings().contains(&"## Validation Failure (completion rejected)"), "it is no rejection");
    let previous = calls[2].section("## Previous Iterations");
    assert!(previous.starts_with("- 1: failed in ") && previous.contains("\n- 2: completed in "), "{previous}");
    assert_eq!(history(&world, "001-01_x")["lastFailure"], serde_json::Value::Null);
}

#[test]
fn of_a_long_output_the_end_is_told() {
    let world = world("[ $call = 2 ] || { seq 1 20000; exit 7; }\n");
    world.wt(&["ralph", "go", "--no-change", "--max", "2"]).exit(3);
    let told = world.calls()[1].section("## Last Failure");
    assert!(told.contains("\n19999\n20000\n") && !told.contains("\n10000\n"), "{told}");
    assert!(told.len() < 6 * 1024);
}

#[test]
fn an_agent_that_cannot_be_started_or_is_killed_is_a_failure_too() {
    let killed = world("[ $call = 2 ] || kill -9 $$\n");
    killed.wt(&["ralph", "go", "--no-change", "--max", "2"]).exit(3).stderr_has("the agent was killed by signal 9");
    assert!(killed.calls()[1].section("## Last Failure").contains("ended with exit code 137"));
    assert_eq!(killed.state()["iterations"][0]["exit_reason"], "failed");
    for flag in ["--fail-fast", "--error-threshold=1"] {
        let unstarted = world("");
        fs::write(unstarted.base().join("bin/claude"), "#!/no/such/interpreter\n").unwrap();
        let code = if flag == "--fail-fast" { 1 } else { 3 };
        unstarted.wt(&["ralph", "go", "--no-change", flag]).exit(code).stderr_has("the agent could not be started");
        assert_eq!(unstarted.state()["iterations"][0]["exit_reason"], "not_started");
        assert_eq!(unstarted.state()["status"], "stuck");
    }
}

#[test]
fn so_many_failures_in_a_row_end_the_loop_as_stuck() {
    let world = world("[ $call = 2 ] || exit 7\n");
    world
        .wt(&["ralph", "go", "--no-change", "--error-threshold", "2"])
        .exit(3)
        .stderr_has("wt-loop: stuck: 2 failures in a row (4 iterations");
    assert_eq!(world.calls().len(), 4, "the success in between starts the count anew");
    assert_eq!((&world.state()["status"], &world.state()["exit_code"]), (&"stuck".into(), &3.into()));
}

#[test]
fn fail_fast_ends_at_the_first_failure_but_not_before() {
    let world = world("[ $call = 1 ] || exit 7\n");
    world
        .wt(&["ralph", "go", "--no-change", "--fail-fast"])
        .exit(1)
        .stderr_has("wt-loop: stuck: iteration 2 failed, and --fail-fast is on");
    assert_eq!(world.calls().len(), 2);
}

#[test]
fn from_the_second_failure_in_a_row_on_the_loop_waits_twice_as_long_each_time() {
    let world = world("exit 7\n");
    let running = world.spawn(&["ralph", "go", "--no-change"]);
    let log = || fs::read_to_string(world.root.join(".claude/ralph-loop.log")).unwrap_or_default();
    wait_until("the second pause", || log().contains("waiting 2.0s before the next try"));
    running.signal(Signal::SIGTERM);
    running.wait().exit(130);
    let log = log();
    let told: Vec<&str> = log
        .lines()
        .filter_map(|line| line.strip_prefix("wt-loop: "))
        .filter_map(|line| {
            ["iteration 1/", "iteration 2/", "iteration 3/", "waiting 1.0s", "waiting 2.0s"]
                .into_iter()
                .find(|part| line.starts_with(part))
        })
        .collect();
    assert_eq!(
        told,
        [
            "iteration 1/",
            "iteration 1/",
            "iteration 2/",
            "iteration 2/",
            "waiting 1.0s",
            "iteration 3/",
            "iteration 3/",
            "waiting 2.0s",
        ],
        "no pause after the first: {log}"
    );
    let state = world.state();
    let time =
        |n: usize, field: &str| state["iterations"][n][field].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    let waited = time(2, "started").duration_since(time(1, "ended"));
    assert!(waited >= jiff::SignedDuration::from_millis(999), "{waited}");
    assert_eq!(state["status"], "stopped");
}

#[test]
fn a_completed_change_survives_failures_before_it() {
    let world = ito(&["001-01_x"], &format!("[ $call = 2 ] || exit 7\n{SAYS_DONE}"));
    world.wt(&["ralph", "go", "--change", "001", "--error-threshold", "0"]).exit(0);
    let codes: Vec<i64> = history(&world, "001-01_x")["history"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["harnessExitCode"].as_i64().unwrap())
        .collect();
    assert_eq!(codes, [7, 0]);
}
