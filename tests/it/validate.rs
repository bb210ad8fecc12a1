//! `wt-loop validate`: the gates now, without an agent, so that a person sees before a night's run what will be checked.

use std::fs;

use crate::support::{CHANGE, World, agents, assert_has, wait_until};

#[test]
fn all_gates_in_order_and_exit_0() {
    let world = World::new();
    world.tasks(2, 0);
    world.validation(&["one", "two"]);
    for name in ["one", "two", "three"] {
        world.check(name, "");
    }
    let output = world.wt(&["validate", "--validation-command", "three"]).exit(0);
    let lines: Vec<&str> = output.stdout.lines().map(|line| line.split(" in ").next().unwrap()).collect();
    assert_eq!(
        lines,
        [
            "passed tasks: 2 of 2 tasks are closed",
            "passed project: `one` passed",
            "passed project: `two` passed",
            "passed extra: `three` passed",
        ]
    );
    assert_eq!(world.trail(), ["one", "two", "three"]);
}

#[test]
fn the_first_failure_ends_it_with_the_output_and_exit_1() {
    let world = World::new();
    world.validation(&["one", "two", "three"]);
    world.check("one", "");
    world.check("two", "echo 'line 7 is wrong'; exit 4");
    world.check("three", "");
    world
        .wt(&["validate", "--validation-command", "three"])
        .exit(1)
        .stdout_has("passed project: `one` passed")
        .stdout_has("failed project: `two` ended with exit code 4\nline 7 is wrong\n");
    assert_eq!(world.trail(), ["one", "two"]);
}

#[test]
fn open_tasks_are_listed_and_nothing_runs() {
    let world = World::new();
    world.validation(&["one"]);
    world.check("one", "");
    world.write("tasks.md", "- [x] 1.1 a\n- [ ] 1.2 b\n- [>] 1.3 c\n- [-] 1.4 d\n");
    world
        .wt(&["validate"])
        .exit(1)
        .stdout("failed tasks: 2 of 4 tasks are not complete\n- 1.2 b (pending)\n- 1.3 c (in-progress)\n");
    assert_eq!(world.trail(), [""; 0]);
}

#[test]
fn too_slow_is_killed_and_told() {
    let world = World::new();
    world.validation(&["sleep 1000"]);
    world
        .wt(&["validate", "--validation-timeout", "1s"])
        .exit(1)
        .stdout_has("failed project: `sleep 1000` took too long and was killed");
    assert!(world.processes().is_empty(), "{:?}", world.processes());
}

#[test]
fn list_shows_what_would_run_and_runs_nothing() {
    let world = World::new();
    world.tasks(0, 2);
    world.write("AGENTS.md", "## Checks\n```sh\n$ one --all\ntwo\n```\n");
    for name in ["one", "two", "three"] {
        world.check(name, "");
    }
    let output = world.wt(&["validate", "--list", "--validation-command", "three"]).exit(0);
    let lines: Vec<Vec<&str>> = output.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["GATE", "LOOKS", "AT"]);
    assert_eq!(lines[1], ["tasks", "every", "task", "complete", "or", "shelved"]);
    assert_eq!(lines[2], ["project", "one", "--all", "(from", "AGENTS.md)"]);
    assert_eq!(lines[3], ["project", "two", "(from", "AGENTS.md)"]);
    assert_eq!(lines[4], ["extra", "three"]);
    assert_eq!(lines.len(), 5);
    assert_eq!(world.trail(), [""; 0]);
}

#[test]
fn nothing_configured_passes_with_a_warning() {
    let world = World::new();
    world.wt(&["validate"]).exit(0).stdout("").stderr_has(
        "no validation is configured for this project; add to .wt-loop.toml: validation = [\"make check\"]",
    );
}

#[test]
fn a_source_that_cannot_be_parsed_is_an_error() {
    let world = World::new();
    world.write("ito.json", "{\n  \"ralph\": oops\n}\n");
    world.wt(&["validate"]).exit(1).stdout("").stderr_has("ito.json, line 2, column 12: ");
    world.wt(&["validate", "--list"]).exit(1).stdout("").stderr_has("ito.json, line 2, column 12: ");
}

#[test]
fn an_empty_command_is_wrong_usage() {
    let world = World::new();
    for command in ["", " "] {
        world
            .wt(&["validate", "--validation-command", command])
            .exit(2)
            .stdout("")
            .stderr_has("a validation command cannot be empty");
    }
}

#[test]
fn outside_a_repository() {
    let world = World::new();
    for args in [&["validate"][..], &["validate", "--list"], &["validate", "--change", "x"]] {
        let outside = world.base().join("home");
        world
            .wt_in(&outside, args)
            .exit(1)
            .stdout("")
            .stderr_has("Not inside a git worktree. Run from within a worktree directory.");
    }
}

#[test]
fn in_a_folder_below_the_root_it_is_the_root_that_counts() {
    let world = World::new();
    world.write("deep/down/file", "");
    world.validation(&["pwd"]);
    let output = world.wt_in(&world.root.join("deep/down"), &["validate", "--validation-command", "test -f README"]);
    output.exit(0).stdout_has("passed extra: `test -f README`");
}

#[test]
fn the_tasks_of_a_change() {
    let world = World::new();
    world.cart("- [ ] 1.1 of the change\n");
    world.tasks(1, 0);
    world.wt(&["validate"]).exit(0).stdout_has("passed tasks: 1 of 1 tasks are closed");
    world.wt(&["validate", "--change", CHANGE]).exit(1).stdout_has("- 1.1 of the change (pending)");
    world.wt(&["validate", "--change", "001"]).exit(1).stdout_has("- 1.1 of the change (pending)");
    world.wt(&["validate", "--change", "002-01_nothing"]).exit(2).stdout("");
    fs::remove_file(world.root.join(format!(".ito/changes/{CHANGE}/tasks.md"))).unwrap();
    world.wt(&["validate", "--change", CHANGE]).exit(0).stderr_has("there is no tasks.md, so no task is looked at");
}

#[test]
fn while_a_loop_runs_in_the_same_worktree() {
    let world = World::with_agent(agents::SLEEPS);
    world.validation(&["one"]);
    world.check("one", "");
    let running = world.spawn(&["ralph", "--no-change", "work"]);
    wait_until("the agent works", || !world.processes_like("sleep 1000").is_empty());
    let before = world.read(".claude/loop-state.json");
    world.wt(&["validate"]).exit(0).stdout_has("passed project: `one`");
    assert_eq!(world.read(".claude/loop-state.json"), before);
    assert!(!world.processes_like("sleep 1000").is_empty(), "the agent goes on");
    world.wt(&["stop"]).exit(0);
    running.wait().exit(5);
}

#[test]
fn it_writes_nothing_into_the_worktree() {
    let world = World::new();
    world.validation(&["true"]);
    let before = world.git(&world.root, &["status", "--porcelain", "--ignored"]);
    world.wt(&["validate"]).exit(0);
    world.wt(&["validate", "--list"]).exit(0);
    assert_eq!(world.git(&world.root, &["status", "--porcelain", "--ignored"]), before);
    assert!(!world.base().join("home/.local/state/wt-loop").exists());
}

#[test]
fn output_with_escape_sequences_cannot_drive_the_terminal() {
    let world = World::new();
    world.validation(&["printf '\\033]0;owned\\007\\033[2Jfailed\\n'; exit 1"]);
    let output = world.wt(&["validate"]).exit(1).stdout_has("failed");
    assert!(!output.stdout.contains('\u{1b}') && !output.stdout.contains('\u{7}'), "{:?}", output.stdout);
}

#[test]
fn a_signal_ends_it_with_130_and_leaves_nothing_running() {
    let world = World::new();
    world.validation(&["sleep 1000"]);
    let running = world.spawn(&["validate"]);
    wait_until("the command runs", || !world.processes_like("sleep 1000").is_empty());
    running.signal(nix::sys::signal::Signal::SIGTERM);
    let output = running.wait().exit(130);
    assert!(!output.stdout.contains("failed"), "{}", output.stdout);
    wait_until("nothing is left", || world.processes().is_empty());
    assert_has(&world.wt(&["validate", "--list"]).exit(0).stdout, &["sleep 1000"]);
}
