//! `run`: in the foreground with a task; without one, only what `start` prepared.

use crate::support::{World, agents};

const NOTHING: &str = "No loop state found. Use 'wt-loop start' first.\n";

#[test]
fn with_a_task_it_runs_here() {
    let world = World::with_agent(&format!("{}echo '<promise>COMPLETE</promise>'\n", agents::COMMITS));
    let ran = world.wt(&["run", "the task"]).exit(0);
    ran.stdout("worked\n<promise>COMPLETE</promise>\n").stderr_has("wt-loop: done: ");
    let state = world.state();
    assert_eq!((&state["status"], &state["exit_code"]), (&"done".into(), &0.into()));
    assert!(!world.root.join(".claude/ralph-terminal.pid").exists(), "the pid file is removed at the end");
    assert_eq!(world.git(&world.root, &["status", "--porcelain"]), "", "git sees nothing of ours");
}

#[test]
fn where_nothing_was_prepared_it_says_so() {
    let world = World::with_agent(agents::IDLE);
    world.wt(&["run"]).exit(1).stdout("").stderr(NOTHING);
    world.wt(&["run", "task", "--max", "1"]).exit(3);
    let before = world.state();
    world.wt(&["run"]).exit(1).stderr_has(NOTHING).stderr_has("hint: wt-loop resume");
    assert_eq!(world.state(), before, "a loop that ended is not taken up");
}

#[test]
fn options_without_a_task_are_wrong_usage() {
    let world = World::with_agent(agents::IDLE);
    for options in [&["--max", "3"][..], &["--harness", "rehearsal"], &["--label", "x"], &["--dry-run"]] {
        world
            .wt(&[&["run"], options].concat())
            .exit(2)
            .stdout("")
            .stderr_has("wt-loop: options without a task")
            .stderr_has("hint: wt-loop run \"");
    }
    assert!(!world.root.join(".claude").exists());
}

#[test]
fn every_end_has_its_exit_code() {
    let world = World::new();
    for (agent, options, code, status) in [
        ("echo '<promise>COMPLETE</promise>'", &["--max", "5"][..], 0, "done"),
        ("exit 7", &["--fail-fast"], 1, "stuck"),
        (agents::COMMITS, &["--max", "2"], 3, "stuck"),
        (agents::IDLE, &["--max", "5"], 4, "stalled"),
    ] {
        world.agent("claude", agent);
        world.wt(&[&["run", "task"], options].concat()).exit(code).stderr_has(&format!("wt-loop: {status}: "));
        let state = world.state();
        assert_eq!((&state["status"], &state["exit_code"]), (&status.into(), &code.into()));
    }
}

#[test]
fn a_repository_without_a_commit_is_a_repository() {
    let world = World::with_agent(agents::COMMITS);
    let root = world.beside("new");
    std::fs::create_dir(&root).unwrap();
    world.git(&root, &["init", "-q", "-b", "main"]);
    world.wt_in(&root, &["run", "task", "--max", "2"]).exit(3);
    let history = world.wt_in(&root, &["history", "--json"]).exit(0).json();
    let commits: Vec<&str> = history.as_array().unwrap().iter().map(|i| i["commits"][0].as_str().unwrap()).collect();
    assert_eq!(commits.join("\n"), world.git(&root, &["log", "--reverse", "--format=%H"]));
}

#[test]
fn a_failure_is_told_to_the_next_iteration() {
    let world = World::with_agent(
        "n=$WT_LOOP_RUN_ITERATION\ncat > ../prompt-$n\ngit commit -q --allow-empty -m $n\n\
         [ $n = 1 ] && { echo the reason >&2; exit 3; }\nexit 0\n",
    );
    world.wt(&["run", "task", "--max", "3"]).exit(3);
    let [first, second, third] = [1, 2, 3].map(|n| world.prompt(n));
    assert!(!first.contains("## Last Failure") && !third.contains("## Last Failure"));
    for part in ["## Last Failure", "ended with exit code 3", "the reason", "## Previous Iterations", "- 1: failed"] {
        assert!(second.contains(part), "{part:?} is not in {second}");
    }
    assert!(second.starts_with("# Iteration 2 of 3\n"), "{second}");
}
