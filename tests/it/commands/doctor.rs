//! `doctor`: what is there and what is missing, each problem with the command that mends it.

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::support::{World, agents, snapshot, wait_until};

fn findings(world: &World, code: i32) -> Vec<Value> {
    let found = world.wt(&["doctor", "--json"]).exit(code).stderr("").json();
    let found = found.as_array().unwrap().clone();
    for finding in &found {
        let problem = finding["health"] != "good";
        assert!(!problem || finding["mend"].as_str().is_some_and(|mend| !mend.is_empty()), "{finding} has no mend");
    }
    found
}

#[track_caller]
fn health<'a>(found: &'a [Value], what: &str) -> &'a str {
    let finding = found.iter().find(|finding| finding["what"] == what);
    finding.unwrap_or_else(|| panic!("nothing about {what} in {found:?}"))["health"].as_str().unwrap()
}

#[test]
fn where_a_loop_could_run_all_is_well_and_nothing_is_written() {
    let world = World::with_agent("echo 1.2.3 '(Claude Code)'\n");
    std::fs::create_dir(world.beside("home/.claude")).unwrap();
    std::fs::write(world.beside("home/.claude/.credentials.json"), "{}").unwrap();
    let before = snapshot(&world.base());
    world.wt(&["doctor"]).exit(0).stdout_has("1.2.3 (Claude Code)").lacks("bad").lacks("try:");
    let found = findings(&world, 0);
    for what in [
        "git",
        "worktree",
        "agent claude",
        "launcher tmux",
        "launcher background",
        "settings",
        "records",
        "locks",
        "state",
    ] {
        assert_eq!(health(&found, what), "good", "{what}");
    }
    let after = snapshot(&world.base());
    let new: Vec<_> = after.keys().filter(|path| !before.contains_key(*path)).collect();
    assert!(new.is_empty(), "it made {new:?}");
}

#[test]
fn outside_a_repository_it_answers_too() {
    let world = World::with_agent("echo 1.2.3\n");
    world
        .wt_in(&world.base(), &["doctor"])
        .exit(0)
        .stdout_has("this is not inside a git worktree")
        .stdout_has("try: cd ");
}

#[test]
fn without_an_agent_no_loop_could_run() {
    let world = World::new();
    assert_eq!(health(&findings(&world, 1), "agents"), "bad");
    world
        .wt(&["doctor"])
        .exit(1)
        .stdout_has("none of claude, codex, opencode, gemini, pi, copilot, ")
        .stdout_has("try: npm ");
}

#[test]
fn without_git_no_loop_could_run() {
    let world = World::with_agent("echo 1\n");
    std::fs::remove_file(world.beside("tools/git")).unwrap();
    assert_eq!(health(&findings(&world, 1), "git"), "bad");
}

#[test]
fn each_problem_has_its_mend() {
    let world = World::with_agent("echo 1\n");
    world.write(".wt-loop.toml", "mox = 3\n");
    assert_eq!(health(&findings(&world, 1), "settings"), "bad");
    world.write(".wt-loop.toml", "");

    world.write(".claude/loop-state.json", "{ half");
    assert_eq!(health(&findings(&world, 0), "worktree"), "note");
    world.git(&world.root, &["add", "-f", ".claude/loop-state.json"]);
    assert_eq!(health(&findings(&world, 1), "worktree"), "bad");
    let shown = world.wt(&["doctor"]).exit(1).stdout;
    assert!(shown.contains("try: git rm --cached .claude/loop-state.json && git commit"), "{shown}");
    world.git(&world.root, &["rm", "-q", "--cached", ".claude/loop-state.json"]);
    std::fs::remove_file(world.root.join(".claude/loop-state.json")).unwrap();

    world.agent("claude", agents::SLEEPS);
    let running = world.spawn(&["run", "sleep"]);
    wait_until("the agent", || !world.processes_like("sleep 1000").is_empty());
    running.signal(Signal::SIGKILL);
    running.wait();
    world.wait_until_nothing_is_left();
    world.agent("claude", "echo 1\n");
    let found = findings(&world, 0);
    assert_eq!((health(&found, "worktree"), health(&found, "leftover")), ("note", "note"));
    std::fs::remove_dir_all(&world.root).unwrap();
    let gone = world.wt_in(&world.main, &["doctor"]).exit(0).stdout;
    let mend = gone.lines().find_map(|line| line.trim().strip_prefix("try: rm ")).unwrap();
    std::fs::remove_file(mend).unwrap();
    world.wt_in(&world.main, &["doctor"]).exit(0).lacks("leftover");
}
