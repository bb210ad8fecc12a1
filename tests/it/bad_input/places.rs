//! Places where no loop can run, or where one runs already, or that vanish.

use std::fs;

use serde_json::Value;

use crate::support::{World, agents, snapshot};

const OUTSIDE: &str = "Not inside a git worktree. Run from within a worktree directory.\n";

#[test]
fn outside_a_repository_every_command_says_the_same() {
    let world = World::with_agent(agents::IDLE);
    let outside = world.base();
    let before = snapshot(&world.beside("home"));
    for args in [
        &["start", "task"][..],
        &["start", "feat-x", "task"],
        &["start", "task", "--dry-run"],
        &["run"],
        &["run", "task"],
        &["stop"],
        &["stop", "feat-x"],
        &["status"],
        &["status", "--json"],
        &["history"],
        &["monitor"],
        &["resume"],
        &["context", "add", "x"],
        &["context", "show"],
        &["context", "clear"],
    ] {
        world.wt_in(&outside, args).exit(1).stdout("").stderr(OUTSIDE);
    }
    // Inside the git directory there is no worktree either.
    world.wt_in(&world.main.join(".git"), &["status"]).exit(1).stdout("").stderr(OUTSIDE);
    assert_eq!(snapshot(&world.beside("home")), before);
    assert!(!outside.join(".claude").exists());
}

#[test]
fn outside_a_repository_some_commands_work() {
    let world = World::with_agent("echo 1.0\n");
    let outside = world.base();
    for args in [
        &["list"][..],
        &["list", "--json"],
        &["stop", "--all"],
        &["status", "--schema"],
        &["doctor"],
        &["completions", "bash"],
        &["man"],
        &["man", "start"],
        &["demo", "--dir", "demo"],
    ] {
        world.wt_in(&outside, args).exit(0).lacks("Not inside a git worktree");
    }
}

#[test]
fn a_second_loop_in_the_same_worktree_is_told_who_was_first() {
    let world = World::with_agent(agents::SLEEPS);
    world.start(&["the first one"]);
    let state = world.wait_for_state("a running loop", |state| state["status"] == "running");
    let told = format!(
        "wt-loop: a loop already runs in this worktree (pid {}): the first one\n\
         hint: wt-loop monitor to watch it, wt-loop stop to end it\n",
        state["terminal_pid"]
    );
    for args in [&["start", "second", "--done", "manual"][..], &["run", "second", "--done", "manual"]] {
        world.wt(args).exit(1).stdout("").stderr(&told);
    }
    let now = world.state();
    assert_eq!((&now["loop_id"], &now["status"]), (&state["loop_id"], &"running".into()));
    world.wt_in(&world.main, &["start", "another worktree", "--launcher", "background"]).exit(0);
}

#[test]
fn an_agent_cannot_start_a_loop_in_its_own_worktree() {
    let program = World::new().program();
    let world = World::with_agent(&format!(
        "cat > /dev/null\ngit clean -xfdq\n{} run inner > ../inner 2>&1\necho $? >> ../inner\n",
        program.display()
    ));
    world.wt(&["run", "outer", "--max", "1"]).exit(3);
    let inner = fs::read_to_string(world.beside("inner")).unwrap();
    assert!(inner.contains("wt-loop: a loop already runs in this worktree") && inner.ends_with("\n1\n"), "{inner}");
    assert_eq!(world.state()["task"], "outer");
}

#[test]
fn a_worktree_that_vanishes_under_its_agent_ends_the_loop_and_its_state_is_kept() {
    let world = World::new();
    let remove = format!("cd .. && git -C shop worktree remove --force '{}'", world.root.display());
    for last in ["rm -rf \"$PWD\"", &remove] {
        let agent = "cat > /dev/null\ngit commit -q --allow-empty -m x\n[ $WT_LOOP_RUN_ITERATION = 2 ] || exit 0\n";
        world.agent("claude", &format!("{agent}{last}\n"));
        let root = world.root.display();
        let told = world
            .wt(&["run", "the task"])
            .exit(1)
            .stderr_has(&format!("\nwt-loop: the worktree {root} is gone\nhint: "));
        assert!(!world.root.exists(), "nothing of ours stands in its place");
        let hint = told.stderr.lines().find_map(|line| line.strip_prefix("hint: the whole state is kept in ")).unwrap();
        let kept: Value = serde_json::from_slice(&fs::read(hint).unwrap()).unwrap();
        assert_eq!((&kept["task"], &kept["status"]), (&"the task".into(), &"stopped".into()));
        assert_eq!(kept["iterations"].as_array().unwrap().len(), 2);
        assert_eq!(kept["status_reason"], format!("the worktree {root} is gone"));
        world.git(&world.main, &["worktree", "prune"]);
        world.git(&world.main, &["worktree", "add", "-q", world.root.to_str().unwrap(), "feat-x"]);
    }
    world.agent("claude", agents::IDLE);
    world.wt(&["run", "again"]).exit(4);
}

#[test]
fn a_current_directory_that_is_gone_is_told() {
    let world = World::with_agent(agents::IDLE);
    let gone = world.beside("gone");
    fs::create_dir(&gone).unwrap();
    let mut shell = world.command("sh");
    let words = "rm -r ../gone; \"$0\" list && exec \"$0\" status";
    shell.args(["-c", words, world.program().to_str().unwrap()]).current_dir(&gone);
    let told = crate::support::run(shell).exit(1).stdout("");
    told.stderr_has("no loop runs").stderr_has("Not inside a git worktree. Run from within a worktree directory.\n");
}
