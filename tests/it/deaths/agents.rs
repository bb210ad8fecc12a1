//! Agents that turn on their own loop, agents that cannot be started, and a binary that is replaced under a loop.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::support::{World, run, wait_until};

/// What every agent here says that it is, after all.
const CLAIMS: &str = "echo '<promise>COMPLETE</promise>'\nexit 0\n";

#[test]
fn an_agent_that_stops_its_own_loop_is_stopped_with_it() {
    let world = World::new();
    world.agent("claude", &format!("{} stop\n{CLAIMS}", world.program().display()));
    world.wt(&["run", "x"]).exit(5);
    assert_eq!(world.processes(), []);
    let state = world.state();
    assert_eq!((&state["status"], &state["exit_code"]), (&json!("stopped"), &json!(5)));
    assert_eq!(state["iterations"][0]["exit_reason"], "interrupted");
}

#[test]
fn an_agent_that_ends_its_guard_has_failed_whatever_it_says() {
    let world = World::with_agent(&format!("trap '' TERM\nkill -TERM $PPID\n{CLAIMS}"));
    world.wt(&["run", "x", "--max", "1"]).exit(3).stderr_has("the agent's guard was killed");
    assert_eq!(world.processes(), []);
    assert_eq!(world.state()["iterations"][0]["exit_reason"], "failed");
}

#[test]
fn an_agent_that_kills_its_guard_dies_with_it() {
    let world =
        World::with_agent(&format!("echo '<promise>COMPLETE</promise>'\nkill -KILL $PPID\nsleep 1000\n{CLAIMS}"));
    world.wt(&["run", "x", "--max", "1"]).exit(3).stderr_has("the agent's guard was killed");
    assert_eq!(world.processes(), []);
    assert_eq!(world.state()["iterations"][0]["exit_reason"], "failed");
}

#[test]
fn an_agent_that_stops_the_clock_of_its_guard_is_ended_all_the_same() {
    let world = World::with_agent("kill -STOP $PPID\nsleep 1000\n");
    world.wt(&["run", "x", "--max", "1", "--iteration-timeout", "1s"]).exit(3);
    assert_eq!(world.processes(), []);
    assert_eq!(world.state()["iterations"][0]["exit_reason"], "timed_out");
}

#[test]
fn an_agent_that_ends_its_loop_is_interrupted() {
    let script = format!("trap '' TERM\nkill -TERM $(ps -o ppid= -p $PPID)\n{CLAIMS}");
    let world = World::with_agent(&script);
    world.wt(&["run", "x"]).exit(130);
    assert_eq!(world.processes(), []);
    let state = world.state();
    assert_eq!((&state["status"], &state["exit_code"]), (&json!("stopped"), &json!(130)));
}

#[test]
fn an_agent_that_kills_its_loop_is_swept_by_the_guard() {
    let script = format!("kill -KILL $(ps -o ppid= -p $PPID)\nsetsid sleep \"$NAP\" &\n{CLAIMS}");
    let world = World::with_agent(&script);
    assert_eq!(world.wt(&["run", "x"]).status.code(), None);
    world.wait_until_nothing_is_left();
    let status = world.wt(&["status", "--json"]).exit(0).json();
    assert_eq!((&status["status"], &status["status_reason"]), (&json!("stopped"), &json!("crashed")));
}

#[test]
fn an_agent_that_cannot_be_executed_is_told_and_not_counted_as_work() {
    // It can be found when the loop starts, and no longer when its second iteration does.
    let world = World::with_agent("chmod 644 \"$0\"\n");
    world
        .wt(&["run", "x", "--max", "2", "--stall-threshold", "0"])
        .exit(3)
        .stderr_has("the agent could not be started: ")
        .stderr_has("permission denied");
    let iterations = world.state()["iterations"].clone();
    assert_eq!(iterations[0]["exit_reason"], "completed");
    assert_eq!((&iterations[1]["exit_reason"], &iterations[1]["exit_code"]), (&json!("not_started"), &json!(null)));
}

#[test]
fn an_agent_without_its_interpreter_is_told() {
    let world = World::with_agent("");
    let path = world.base().join("bin/claude");
    fs::remove_file(&path).unwrap();
    fs::write(&path, "#!/no/such/interpreter\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    world
        .wt(&["run", "x", "--max", "1"])
        .exit(3)
        .stderr_has("the agent could not be started: ")
        .stderr_has("no such file or directory");
    assert_eq!(world.state()["iterations"][0]["exit_reason"], "not_started");
}

#[test]
fn a_loop_outlives_its_binary() {
    let world =
        World::with_agent("echo ready\nuntil [ -e \"$TMPDIR/go-$WT_LOOP_RUN_ITERATION\" ]; do sleep 0.02; done\n");
    let (own, base) = (world.base().join("bin/wt-loop"), world.base());
    let mut copy = world.command("cp");
    copy.arg(world.program()).arg(&own);
    run(copy).exit(0);
    let mut command = world.command(&own);
    command.args(["run", "x", "--max", "3", "--stall-threshold", "0"]);
    let running = crate::support::spawn(command);

    world.wait_for_log("ready");
    world.agent("wt-loop", "echo 'the new binary is broken'\nexit 1\n");
    fs::write(base.join("tmp/go-1"), "").unwrap();
    wait_until("the second iteration", || world.log().matches("ready").count() == 2);
    fs::remove_file(&own).unwrap();
    fs::write(base.join("tmp/go-2"), "").unwrap();
    wait_until("the third iteration", || world.log().matches("ready").count() == 3);
    fs::write(base.join("tmp/go-3"), "").unwrap();
    running.wait().exit(3);
    let iterations = world.state()["iterations"].clone();
    assert!(iterations.as_array().unwrap().iter().all(|entry| entry["exit_reason"] == "completed"), "{iterations}");
}

#[test]
fn a_claim_in_peace_would_have_counted() {
    let world = World::with_agent(CLAIMS);
    world.wt(&["run", "x", "--max", "1"]).exit(0);
    assert_eq!(world.state()["status"], "done");
}
