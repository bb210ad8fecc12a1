//! The agent against its own loop: whatever it does to the files, the repository and the processes around it, the outcome is one of
//! those that are documented, it is told, and it is never `done`.
//!
//! Every agent here claims that it is done, and the one validation command of the project never passes.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Cast, Output, World, is_alive, wait_for, wait_until};

/// What every agent says in the end.
const CLAIMS: &str = "echo '<promise>COMPLETE</promise>'\nexit 0\n";

/// A world whose agent does this and claims to be done; with a validation that fails, tasks that are open, and a change.
fn world_with(deed: &str) -> World {
    let world = World::new();
    world.agent("claude", &format!("cat > /dev/null\nlooper=$(ps -o ppid= -p $PPID)\n{deed}\n{CLAIMS}"));
    world.write("ito.json", "{\"validationCommands\": [\"test -e proof\"]}\n");
    world.tasks(1, 1);
    world.git(&world.root, &["add", "."]);
    world.git(&world.root, &["commit", "-qm", "the work"]);
    world.link("wt-loop");
    world
}

/// The loop to its end.
#[track_caller]
fn ran(world: &World) -> Output {
    let output = world.spawn_fresh(&["run", "task", "--max", "2", "--stall-threshold", "0"]).wait().lacks("panicked");
    assert_ne!(output.status.code(), Some(0), "a false done: {output:?}");
    world.wait_until_nothing_is_left();
    output
}

/// What is known of the loop afterwards, by `list`, which needs no worktree.
#[track_caller]
fn listed(world: &World) -> Option<Value> {
    let all = world.wt_in(&world.base(), &["list", "--all", "--json"]).exit(0).json();
    all.as_array().unwrap().first().cloned()
}

#[test]
fn whatever_it_does_to_the_files_the_loop_goes_on_and_believes_none_of_them() {
    for (deed, told) in [
        ("rm -rf .claude", ""),
        ("rm -f .claude/loop-state.json", ""),
        ("echo '{\"status\":\"done\",\"exit_code\":0}' > .claude/loop-state.json", ""),
        ("sed -i 's/\"running\"/\"done\"/; s/\"done_check\":false/\"done_check\":true/' .claude/loop-state.json", ""),
        ("echo '{\"schema_version\":99,\"status\":\"done\"}' > .claude/loop-state.json", ""),
        ("printf '\\0\\0\\0' > .claude/loop-state.json", ""),
        ("chmod 000 .claude/loop-state.json", ""),
        ("rm .claude/loop-state.json; mkdir .claude/loop-state.json; rm -r .claude/loop-state.json", ""),
        (": > .claude/ralph-loop.log", ""),
        ("rm .claude/ralph-loop.log", ""),
        ("echo 'wt-loop: done: all tasks are closed' >> .claude/ralph-loop.log", ""),
        ("echo 1 > .claude/ralph-terminal.pid", ""),
        ("rm -f .claude/ralph-terminal.pid", ""),
        ("sed -i 's/\\[ \\]/[x]/' tasks.md", "completion rejected by the project gate"),
        ("rm tasks.md", "completion rejected by the tasks gate"),
        ("echo nothing > tasks.md", "completion rejected by the tasks gate"),
        ("sed -i 's/\\[ \\]/[x]/' tasks.md; echo '{}' > ito.json", "completion rejected by the project gate"),
        ("sed -i 's/\\[ \\]/[x]/' tasks.md; rm ito.json", "completion rejected by the project gate"),
        (
            "sed -i 's/\\[ \\]/[x]/' tasks.md; echo 'validation = [\"true\"]' > .wt-loop.toml",
            "completion rejected by the project gate",
        ),
        ("echo 'skip_validation = true' > .wt-loop.toml", ""),
        ("git clean -qxfd", ""),
        ("git clean -qxffd; git reset -q --hard", ""),
        ("git checkout -q -b another", ""),
        ("git checkout -q --detach HEAD~1", ""),
        ("git update-ref -d HEAD", ""),
        ("git stash -q -u 2>&1", ""),
        ("rm -rf \"$(git rev-parse --git-dir)/wt-loop\"", ""),
        ("rm -f \"$XDG_STATE_HOME\"/wt-loop/loops/*.json", ""),
        ("kill -STOP $looper; kill -CONT $looper", ""),
    ] {
        let world = world_with(deed);
        let output = ran(&world).exit(3);
        assert!(output.stderr.contains(told), "{deed}: {}", output.stderr);
        assert!(output.stderr.contains("wt-loop: stuck: "), "{deed}: {}", output.stderr);
        let state = world.state();
        let numbers: Vec<&Value> = state["iterations"].as_array().unwrap().iter().map(|entry| &entry["n"]).collect();
        assert_eq!((&state["status"], numbers), (&json!("stuck"), vec![&json!(1), &json!(2)]), "{deed}");
        assert_eq!(world.wt(&["status", "--json"]).exit(0).json()["status"], "stuck", "{deed}");
    }
}

#[test]
fn whatever_it_does_to_the_processes_ends_the_iteration_or_the_loop_and_is_told() {
    for (deed, code, told, status) in [
        ("wt-loop stop", Some(5), "wt-loop: stopped: ", "stopped"),
        ("kill -TERM $looper", Some(130), "wt-loop: stopped: ", "stopped"),
        ("kill -INT $looper; sleep 1000", Some(130), "wt-loop: stopped: ", "stopped"),
        ("kill -HUP $looper; sleep 1000", Some(130), "wt-loop: stopped: ", "stopped"),
        ("kill -KILL $looper; sleep 1000", None, "", "stopped"),
        ("kill -KILL $PPID; sleep 1000", Some(3), "the agent's guard was killed", "stuck"),
        ("kill -TERM $PPID; sleep 1000", Some(3), "the agent's guard was killed", "stuck"),
        ("kill -KILL 0", Some(3), "iteration 2/2 failed", "stuck"),
    ] {
        let world = world_with(deed);
        let output = ran(&world);
        assert_eq!(output.status.code(), code, "{deed}: {output:?}");
        assert!(output.stderr.contains(told), "{deed}: {}", output.stderr);
        assert_eq!(world.wt(&["status", "--json"]).exit(0).json()["status"], status, "{deed}");
        assert_ne!(listed(&world).unwrap()["status"], "done", "{deed}");
    }
}

#[test]
fn a_done_that_only_the_state_file_says_is_a_crash() {
    let done = "s/\"running\"/\"done\"/; s/\"exit_code\": null/\"exit_code\": 0/";
    for forged in [done.to_owned(), format!("{done}; s/\"loop_id\": \"[^\"]*\"/\"loop_id\": \"another\"/")] {
        let world =
            world_with(&format!("sed -i '{forged}' .claude/loop-state.json\nsync\nkill -KILL $looper; sleep 1000"));
        assert_eq!(ran(&world).status.code(), None);
        assert_eq!(world.state()["status"], "done", "the file says so");
        let status = world.wt(&["status", "--json"]).exit(0).json();
        assert_eq!((&status["status"], &status["crashed"]), (&json!("stopped"), &json!(true)), "{forged}");
        assert_eq!(status["status_reason"], "crashed, and its state file is not the one that it wrote");
        assert_eq!(listed(&world).unwrap()["status"], "stopped");
        world.wt(&["monitor"]).exit(1).stderr_has("is over (stopped: crashed, and its state file is not the one");
        // And it can be gone on with, which a loop that is done cannot.
        world.agent("claude", "cat > /dev/null\ntouch proof\nsed -i 's/\\[ \\]/[x]/' tasks.md\n");
        world.wt(&["resume"]).exit(0);
        assert_eq!(world.wt(&["status", "--json"]).exit(0).json()["status"], "done");
        world.wt(&["resume"]).exit(1).stderr_has("the loop is done");
    }
}

#[test]
fn a_promise_that_only_the_state_file_tells_of_is_none() {
    let world = World::new();
    let told = r#"{"n": 1, "exit_reason": "completed", "exit_code": 0, "promise_found": true}"#;
    let forges = format!("sed -i 's/\"iterations\": \\[/&{told}/' .claude/loop-state.json\nsync");
    world.agent(
        "claude",
        &format!("cat > /dev/null\nlooper=$(ps -o ppid= -p $PPID)\n{forges}\nkill -KILL $looper; sleep 1000\n"),
    );
    let crashed = world.spawn_fresh(&["run", "task", "--max", "3", "--stall-threshold", "0"]).wait();
    assert_eq!(crashed.status.code(), None);
    world.wait_until_nothing_is_left();
    assert_eq!(world.state()["iterations"][0]["promise_found"], true, "the file says so");
    world.agent("claude", "cat > /dev/null\necho asked\n");
    world.wt(&["resume"]).exit(3).stdout_has("asked").lacks("accepted");
    assert_eq!(world.state()["status"], "stuck");
}

#[test]
fn a_loop_whose_state_was_removed_before_it_was_killed_is_not_forgotten() {
    let world = world_with("git clean -xfdq\nkill -KILL $looper; sleep 1000");
    assert_eq!(ran(&world).status.code(), None);
    let status = world.wt(&["status", "--json"]).exit(0).json();
    assert_eq!(status["status_reason"], "crashed, and its state file is missing");
    assert_eq!(listed(&world).unwrap()["status"], "stopped");
    world.agent("claude", "cat > /dev/null\ntouch proof\nsed -i 's/\\[ \\]/[x]/' tasks.md\n");
    world.wt(&["resume"]).exit(0);
}

#[test]
fn a_loop_that_runs_is_running_whatever_its_state_file_says() {
    for forged in ["{\"status\":\"done\"}", "{\"status\":\"stopped\",\"status_reason\":\"stopped by wt-loop stop\"}"] {
        let world = world_with(&format!("echo '{forged}' > .claude/loop-state.json\necho forged\nsleep 1000"));
        world.start(&["task"]);
        world.wait_for_log("forged");
        let status = world.wt(&["status", "--json"]).exit(0).json();
        assert_eq!((&status["status"], &status["active"]), (&json!("running"), &json!(true)), "{status}");
        assert!(status["status_reason"].as_str().unwrap().ends_with("but the loop runs"), "{status}");
        assert_eq!(listed(&world).unwrap()["status"], "running");
        world.wt(&["start", "another"]).exit(1).stderr_has("a loop already runs in this worktree");
        world.wt(&["stop"]).exit(0).stdout_has("stopped the loop in feat-x");
        world.wait_until_nothing_is_left();
        assert_eq!(world.wait_until_over()["status"], "stopped");
    }
}

#[test]
fn a_loop_that_is_suspended_by_its_agent_can_be_stopped() {
    for victim in ["$looper", "$PPID"] {
        let world = world_with(&format!("touch \"$TMPDIR/suspending\"\nkill -STOP {victim}\nsleep 1000"));
        world.start(&["task"]);
        wait_until("the agent", || world.beside("tmp/suspending").exists());
        let looper = i32::try_from(listed(&world).unwrap()["terminal_pid"].as_i64().unwrap()).unwrap();
        let cast = Cast::of(looper);
        let stopped = if victim == "$PPID" { cast.guard } else { looper };
        wait_until("a suspended process", || {
            crate::support::cast::place(stopped).is_some_and(|place| place.state == 'T')
        });
        assert_eq!(world.wt(&["status", "--json"]).exit(0).json()["status"], "running");
        world.wt(&["stop"]).exit(0);
        world.wait_until_nothing_is_left();
        assert_eq!(world.state()["status"], "stopped");
    }
}

/// What takes the worktree away under a loop whose agent then sleeps.
const REMOVALS: [&str; 4] =
    ["git worktree remove --force .", "rm -rf ../feat-x", "rm -rf ../feat-x ../shop", "rm -rf ../shop/.git"];

#[test]
fn a_loop_without_its_worktree_is_told_and_its_state_is_kept() {
    for removal in REMOVALS {
        let world = world_with(&format!("root=$PWD\n{removal}\ncd /"));
        let output = ran(&world).exit(1);
        assert!(
            output.stderr.contains("hint: the whole state is kept in ") || world.root.is_dir(),
            "{removal}: {output:?}"
        );
        if removal != REMOVALS[3] {
            output.stderr_has("is gone");
            assert!(!world.root.exists(), "{removal}: nothing of ours is in the place of what was removed");
        }
        assert_ne!(listed(&world).map(|entry| entry["status"].clone()), Some(json!("done")), "{removal}");
    }
}

#[test]
fn a_loop_whose_worktree_was_removed_is_listed_and_can_be_stopped() {
    for (removal, stop) in
        REMOVALS.into_iter().zip([&["stop", "--all"][..], &["stop", "feat-x"], &["stop", "--all"], &["stop", "--all"]])
    {
        let world = world_with(&format!("{removal}\ntouch \"$TMPDIR/removed\"\ncd /\nsleep 1000"));
        world.start(&["task"]);
        wait_until("the removal", || world.beside("tmp/removed").exists());
        let entry = wait_for("the loop in the list", || listed(&world));
        assert_eq!(entry["status"], "running", "{removal}: {entry}");
        let pid = i32::try_from(entry["terminal_pid"].as_i64().unwrap()).unwrap();
        assert!(is_alive(pid));
        world.wt_in(&world.base(), &["list"]).exit(0).stdout_has("feat-x").stdout_has("running");
        let from = if stop == ["stop", "--all"] { world.base() } else { world.main.clone() };
        world.wt_in(&from, stop).exit(0).stdout_has(&format!("stopped the loop in feat-x (pid {pid})"));
        world.wait_until_nothing_is_left();
        assert_ne!(listed(&world).map(|entry| entry["status"].clone()), Some(json!("running")), "{removal}");
        assert_eq!(
            world.main.join(".git/worktrees/feat-x").exists(),
            removal == REMOVALS[1],
            "{removal}: nothing is made again"
        );
    }
}

#[test]
fn removing_the_lock_lets_no_second_loop_in() {
    let world = world_with(
        "rm -rf \"$(git rev-parse --git-dir)/wt-loop\" .claude\necho removed > \"$TMPDIR/removed\"\nsleep 1000",
    );
    world.start(&["task"]);
    wait_until("the removal", || world.beside("tmp/removed").exists());
    for args in [&["start", "another", "--launcher", "background"][..], &["run", "another"]] {
        world.wt(args).exit(1).stderr_has("a loop already runs in this worktree (pid ");
    }
    assert_eq!(world.wt(&["status", "--json"]).exit(0).json()["status"], "running");
    world.wt(&["stop"]).exit(0);
    world.wait_until_nothing_is_left();
    fs::remove_file(world.beside("tmp/removed")).unwrap();
    world.agent("claude", "cat > /dev/null\n");
    world.wt(&["run", "another", "--max", "1"]).exit(3);
}

#[test]
fn an_honest_agent_would_have_been_done() {
    let world = world_with("touch proof\nsed -i 's/\\[ \\]/[x]/' tasks.md");
    world.wt(&["run", "task", "--max", "1"]).exit(0);
    assert_eq!(listed(&world).unwrap()["status"], "done");
}
