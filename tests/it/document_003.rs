//! Document 003: the state file, the default done criteria, titles, and worktree detection. One test per scenario, in the
//! document's order, under the name of its requirement.

use std::fs;

use serde_json::Value;

use crate::support::{HOLDS, World, agents, pid_in, wait_until};

// Requirement: Ralph loop state file format

#[test]
fn scenario_state_file_location() {
    let world = World::with_agent(agents::IDLE);
    let deep = world.root.join("a/b");
    fs::create_dir_all(&deep).unwrap();
    world.wt_in(&deep, &["run", "look around", "--max", "1"]).exit(3);
    assert_eq!(world.state()["worktree_name"], "feat-x");
    assert!(!deep.join(".claude").exists(), "it is in the worktree's root, wherever the command was given");
    assert!(!world.main.join(".claude").exists(), "it belongs to this worktree alone");

    let first = world.state()["loop_id"].clone();
    world.wt(&["run", "look again", "--max", "1"]).exit(3);
    assert_ne!(world.state()["loop_id"], first, "the next loop updates it");
    assert_eq!(world.state()["task"], "look again");
}

#[test]
fn scenario_state_file_schema() {
    let world = World::with_agent(HOLDS);
    world.tasks(0, 1);
    world.start(&["the task", "--max", "7", "--stall-threshold", "3", "--iteration-timeout", "20"]);
    let state = world.wait_for_state("a running loop", |state| state["status"] == "running");
    assert_eq!(state["worktree_name"], "feat-x");
    assert_eq!(state["current_iteration"], 1);
    assert_eq!(state["max_iterations"], 7);
    assert_is_a_time(&state["started_at"]);
    assert_eq!(state["task"], "the task");
    assert_eq!(state["iterations"], Value::Array(Vec::new()));
    assert_eq!(state["done_criteria"], "tasks");
    assert_eq!(state["stall_threshold"], 3);
    assert_eq!(state["iteration_timeout_min"], 20);
    assert_eq!(state["total_tokens"], 0);
    assert!(state["terminal_pid"].is_i64());
}

#[test]
fn scenario_iteration_history_entry() {
    let agent = "cat > /dev/null\n[ $WT_LOOP_RUN_ITERATION = 2 ] && exec sleep 1000\n\
                 git commit -q --allow-empty -m one\ngit commit -q --allow-empty -m two\n";
    let world = World::with_agent(agent);
    world.wt(&["run", "work", "--max", "2", "--iteration-timeout", "1s"]).exit(3);
    let log = world.git(&world.root, &["log", "--reverse", "--format=%H", "main.."]);
    let commits: Vec<&str> = log.lines().collect();

    let history = world.state()["iterations"].clone();
    let first = &history[0];
    assert_eq!(first["n"], 1);
    assert_is_a_time(&first["started"]);
    assert_is_a_time(&first["ended"]);
    assert_eq!(first["done_check"], false);
    assert_eq!(first["commits"], serde_json::json!(commits), "full hashes, oldest first");
    assert_eq!(first["tokens_used"], 0);
    assert_eq!(first.get("timed_out"), None, "only when true");

    let second = &history[1];
    assert_eq!((&second["n"], &second["timed_out"]), (&2.into(), &true.into()));
    assert_eq!(second["commits"], serde_json::json!([]));
}

// Requirement: Default done criteria

#[test]
fn scenario_default_done_criteria_with_tasks_md_present() {
    let world = World::with_agent(agents::TICKS);
    world.tasks(0, 1);
    world.wt(&["run", "tick"]).exit(0).lacks("No tasks.md found");
    assert_eq!(world.state()["done_criteria"], "tasks");
    assert_eq!(world.state()["status"], "done");
}

#[test]
fn scenario_default_done_criteria_without_tasks_md() {
    let world = World::with_agent(agents::IDLE);
    world
        .wt(&["run", "work", "--max", "1"])
        .exit(3)
        .stderr_has("wt-loop: warning: No tasks.md found, using manual done criteria\n");
    assert_eq!(world.state()["done_criteria"], "manual");
}

#[test]
fn scenario_explicit_manual_override() {
    let world = World::with_agent(agents::COMMITS);
    world.tasks(2, 0);
    world.wt(&["run", "work", "--done", "manual", "--max", "2"]).exit(3).lacks("No tasks.md found");
    assert_eq!(world.state()["done_criteria"], "manual");
    assert_eq!(world.state()["iterations"].as_array().unwrap().len(), 2, "closed tasks end nothing");
}

// Requirement: Terminal title progress updates

#[test]
fn scenario_title_updates_per_iteration() {
    let world = World::with_agent(HOLDS);
    world.wt(&["start", "work", "--launcher", "tmux", "--max", "3"]).exit(0);
    world.wait_for_title("Ralph: feat-x [1/3]");
    world.let_go(1);
    world.wait_for_title("Ralph: feat-x [2/3]");
    world.let_go(2);
    world.wait_for_title("Ralph: feat-x [3/3]");
}

#[test]
fn scenario_title_on_completion() {
    let world = World::new();
    for (agent, options, status) in [
        ("cat > /dev/null\necho '<promise>COMPLETE</promise>'\n", &["--max", "3"], "done"),
        (agents::COMMITS, &["--max", "1"], "stuck"),
        (agents::IDLE, &["--stall-threshold", "1"], "stalled"),
    ] {
        world.agent("claude", agent);
        world.wt(&[&["start", "work", "--launcher", "tmux"], &options[..]].concat()).exit(0);
        world.wait_for_title(&format!("Ralph: feat-x [{status}]"));
        world.wait_for_state(status, |state| state["status"] == status);
    }
}

// Requirement: CWD-based worktree detection

#[test]
fn scenario_detect_worktree_from_cwd() {
    let world = World::with_agent(agents::SLEEPS);
    let deep = world.root.join("src/deep");
    fs::create_dir_all(&deep).unwrap();
    world.wt_in(&deep, &["start", "sleep", "--launcher", "background"]).exit(0).stdout_has("feat-x runs");
    world.wait_for_state("a running loop", |state| state["status"] == "running");
    world.wt_in(&deep, &["status"]).exit(0).stdout_has("feat-x  running");
    let mut monitor = world.command(world.program());
    monitor.arg("monitor").current_dir(&deep);
    let monitor = crate::support::spawn(monitor);
    world.wt_in(&deep, &["stop"]).exit(0).stdout_has("stopped the loop in feat-x (pid ");
    monitor.wait().exit(5);
    world.wt_in(&deep, &["history"]).exit(0).stdout_has("interrupted");

    for command in ["status", "stop", "history", "monitor"] {
        world
            .wt_in(&world.main, &[command])
            .exit(1)
            .stderr_has(&format!("no loop has run in {}", world.main.display()));
    }
}

#[test]
fn scenario_not_inside_a_git_worktree() {
    let world = World::with_agent(agents::IDLE);
    for args in [&["start", "task"][..], &["stop"], &["status"], &["history"], &["monitor"], &["run"]] {
        world
            .wt_in(&world.base(), args)
            .exit(1)
            .stdout("")
            .stderr("Not inside a git worktree. Run from within a worktree directory.\n");
    }
}

#[test]
fn scenario_run_subcommand_uses_cwd() {
    let world = World::with_agent(agents::SLEEPS);
    world.start(&["sleep"]);
    let pid = world.wait_for_state("a running loop", |state| state["status"] == "running")["terminal_pid"].clone();
    let arguments = fs::read(format!("/proc/{pid}/cmdline")).unwrap();
    let words: Vec<&[u8]> = arguments.split(|&byte| byte == 0).filter(|word| !word.is_empty()).collect();
    assert_eq!(words[1..], [b"run"], "no identifier is passed");
    assert_eq!(fs::read_link(format!("/proc/{pid}/cwd")).unwrap(), world.root);
    wait_until("the pid file", || pid_in(&world.root.join(".claude/ralph-terminal.pid")) == pid.as_i64());
}

// Requirement: Generic tasks.md lookup

#[test]
fn scenario_tasks_md_at_worktree_root() {
    let world = World::with_agent(agents::COMMITS);
    world.write("a/tasks.md", "- [ ] open\n");
    world.tasks(1, 0);
    world.wt(&["run", "work"]).exit(0);
    assert_eq!(world.state()["iterations"].as_array().unwrap().len(), 1, "the one at the root was used");
}

#[test]
fn scenario_tasks_md_in_subdirectory() {
    for (closed, ignored) in [
        ("plan/tasks.md", &["archive/tasks.md", "node_modules/tasks.md", "plan/archive/tasks.md"][..]),
        ("z/plan/tasks.md", &["a/b/c/tasks.md", "node_modules/x/tasks.md", "archive/x/tasks.md"]),
    ] {
        let world = World::with_agent(agents::COMMITS);
        for path in ignored {
            world.write(path, "- [ ] open\n");
        }
        world.write(closed, "- [x] closed\n");
        world.wt(&["run", "work"]).exit(0).stderr_has("tasks 1/1").lacks("No tasks.md found");
    }
    let world = World::with_agent(agents::COMMITS);
    world.write("b/tasks.md", "- [x] closed\n");
    world.write("c/tasks.md", "- [ ] open\n");
    world.write("a/deeper/tasks.md", "- [ ] open\n");
    world.wt(&["run", "work"]).exit(0).stderr_has("tasks 1/1");
}

#[test]
fn scenario_no_tasks_md_found() {
    let world = World::with_agent(agents::IDLE);
    for path in ["archive/tasks.md", "node_modules/tasks.md", "a/b/c/tasks.md"] {
        world.write(path, "- [x] closed\n");
    }
    world
        .wt(&["run", "work", "--max", "1"])
        .exit(3)
        .stderr_has("wt-loop: warning: No tasks.md found, using manual done criteria\n");
    assert_eq!(world.state()["done_criteria"], "manual");
}

#[track_caller]
fn assert_is_a_time(value: &Value) {
    let text = value.as_str().unwrap_or_else(|| panic!("{value} is no text"));
    let parsed: Result<jiff::Timestamp, _> = text.parse();
    let age = jiff::Timestamp::now().duration_since(parsed.unwrap());
    assert!(age.as_secs() < 600, "{text} is not a moment ago");
}
