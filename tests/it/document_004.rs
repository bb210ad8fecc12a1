//! Document 004: managing loops, the state file, done detection and the log. One test per scenario, in the document's
//! order, under the name of its requirement.

use crate::support::{HOLDS, World, agents, is_alive, pid_in, wait_until};

// Requirement: Ralph Loop Management

#[test]
fn scenario_start_a_new_loop() {
    let world = World::with_agent(agents::SLEEPS);
    world.change("add-login", 2);
    let answer = world.wt(&["start", "add-login", "task description", "--launcher", "tmux"]).exit(0).stderr("");
    let panes = world.panes("#{session_name} #{window_name} #{pane_pid} #{pane_current_path}");
    let [pane] = panes.as_slice() else { panic!("one window: {panes:?}") };
    let pid: i64 = pane.split(' ').nth(2).unwrap().parse().unwrap();
    assert_eq!(*pane, format!("wt-loop-shop feat-x {pid} {}", world.root.display()));
    answer.stdout(&format!(
        "feat-x runs in the tmux session wt-loop-shop, window feat-x (pid {pid}): task description\n  \
         watch it   wt-loop monitor\n  go there   tmux attach -t wt-loop-shop:@0\n  end it     wt-loop stop\n"
    ));
    let state = world.wait_for_state("a running loop", |state| state["status"] == "running");
    assert_eq!((&state["change_id"], &state["task"]), (&"add-login".into(), &"task description".into()));
    assert_eq!(state["terminal_pid"], pid);
    wait_until("the pid file", || pid_in(&world.root.join(".claude/ralph-terminal.pid")) == Some(pid));
    wait_until("the agent's words", || world.tmux(&["capture-pane", "-p", "-t", "wt-loop-shop"]).contains("sleeping"));
}

#[test]
fn scenario_start_with_options() {
    let world = World::with_agent(agents::COMMITS);
    world.change("add-login", 1);
    world.start(&["add-login", "task", "--max", "10", "--done", "tasks"]);
    let state = world.wait_until_over();
    assert_eq!(state["done_criteria"], "tasks");
    assert_eq!((&state["status"], &state["max_iterations"]), (&"stuck".into(), &10.into()));
    assert_eq!(state["iterations"].as_array().unwrap().len(), 10);

    let ticks = agents::TICKS.replace("tasks.md", "openspec/changes/add-login/tasks.md");
    world.agent("claude", &ticks);
    world.start(&["add-login", "task", "--max", "10", "--done", "tasks"]);
    let state = world.wait_until_over();
    assert_eq!((&state["status"], &state["current_iteration"]), (&"done".into(), &1.into()));
}

#[test]
fn scenario_start_with_fullscreen_terminal() {
    // These two places fill no screen; they say so, and the loop runs. Those that do are among the real terminals.
    let world = World::with_agent(agents::IDLE);
    world.tasks(1, 0);
    for launcher in ["tmux", "background"] {
        let told = format!("wt-loop: {launcher} has no full screen; starting all the same\n");
        let flag = world.wt(&["start", "task", "--launcher", launcher, "--close", "--fullscreen"]);
        flag.exit(0).stdout_has("feat-x runs in").stderr(&told);
        assert_eq!(world.wait_until_over()["status"], "done");
        world.user_config("fullscreen = true\nclose = true\n");
        world.wt(&["start", "task", "--launcher", launcher]).exit(0).stderr(&told);
        assert_eq!(world.wait_until_over()["status"], "done");
        let off = world.wt(&["start", "task", "--launcher", launcher, "--fullscreen=false", "--close"]);
        off.exit(0).stderr("");
        assert_eq!(world.wait_until_over()["status"], "done");
        world.user_config("");
    }
}

#[test]
fn scenario_check_loop_status() {
    let world = World::with_agent(HOLDS);
    world.change("add-login", 0);
    world.start(&["add-login", "the task", "--max", "2", "--done", "manual"]);
    world.let_go(1);
    world.wait_until_held(2);
    for args in [&["status"][..], &["status", "add-login"]] {
        let shown = world.wt(args).exit(0).stderr("");
        shown
            .stdout_has("feat-x  running\n")
            .stdout_has("\n  change     add-login\n")
            .stdout_has("\n  iteration  2/2  ####################\n")
            .stdout_has("\n  tokens     0\n")
            .stdout_has(" in its tree, ");
    }
    world.let_go(2);
    world.wait_until_over();
    world.wt(&["status", "add-login"]).exit(0).stdout_has("feat-x  stuck: 2 iterations without completion\n");
}

#[test]
fn scenario_stop_a_running_loop() {
    let world = World::with_agent(agents::SLEEPS);
    world.change("add-login", 1);
    world.start(&["add-login", "sleep"]);
    wait_until("the agent", || world.processes_like("sleep 1000").len() == 1);
    let pid = world.state()["terminal_pid"].as_i64().unwrap();
    world.wt(&["stop", "add-login"]).exit(0).stdout(&format!("stopped the loop in feat-x (pid {pid})\n")).stderr("");
    let state = world.state();
    assert_eq!((&state["status"], &state["exit_code"]), (&"stopped".into(), &5.into()));
    assert_eq!(state["iterations"][0]["exit_reason"], "interrupted");
    wait_until("the end of the loop", || !is_alive(i32::try_from(pid).unwrap()));
    world.wait_until_nothing_is_left();
}

#[test]
fn scenario_list_all_active_loops() {
    let world = World::with_agent(agents::SLEEPS);
    world.change("add-login", 1);
    let bakery = world.repository("bakery");
    world.start(&["add-login", "the login"]);
    world.wt_in(&bakery, &["start", "the bread", "--launcher", "background", "--max", "0"]).exit(0);
    wait_until("both agents", || world.processes_like("sleep 1000").len() == 2);
    let listed = world.wt_in(&world.base(), &["list"]).exit(0).stderr("").stdout;
    let rows: Vec<Vec<&str>> = listed.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["PROJECT", "WORKTREE", "CHANGE", "STATUS", "ITERATION", "STARTED", "TASK"]);
    assert_eq!(rows[1][..5], ["bakery", "bakery", "-", "running", "1/∞"]);
    assert_eq!(rows[2][..5], ["shop", "feat-x", "add-login", "running", "1/10"]);
    assert_eq!(rows.len(), 3);
}

// Requirement: Loop State File

#[test]
fn scenario_state_file_structure() {
    let world = World::with_agent(agents::COMMITS);
    world.change("add-login", 1);
    world.wt(&["run", "the task", "--change", "add-login", "--max", "2"]).exit(3);
    let state = world.state();
    assert_eq!(state["change_id"], "add-login");
    assert_eq!(state["task"], "the task");
    assert_eq!(state["done_criteria"], "tasks");
    assert_eq!((&state["max_iterations"], &state["current_iteration"]), (&2.into(), &2.into()));
    assert_eq!(state["status"], "stuck");
    assert!(state["terminal_pid"].as_i64().unwrap() > 0);
    assert!(state["started_at"].as_str().unwrap().ends_with('Z'));
    let numbers: Vec<u64> = state["iterations"].as_array().unwrap().iter().map(|i| i["n"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [1, 2]);
}

#[test]
fn scenario_iteration_tracking() {
    let world = World::with_agent(HOLDS);
    world.start(&["work", "--max", "2"]);
    world.let_go(1);
    world.wait_until_held(2);
    let state = world.wait_for_state("the first iteration", |state| state["iterations"][0]["n"] == 1);
    let first = &state["iterations"][0];
    assert!(first["started"].as_str().unwrap() <= first["ended"].as_str().unwrap());
    assert_eq!(first["exit_reason"], "completed");
    assert_eq!(first["exit_code"], 0);
    assert_eq!(first["commits"][0], world.git(&world.root, &["rev-parse", "HEAD"]));
    assert_eq!(first["done_check"], false);
    assert_eq!(state["iterations"].as_array().unwrap().len(), 1, "recorded when it ends, not before");

    let world = World::with_agent(agents::TICKS);
    world.tasks(0, 1);
    world.wt(&["run", "tick"]).exit(0);
    assert_eq!(world.state()["iterations"][0]["done_check"], true);
}

// Requirement: Done Detection

#[test]
fn scenario_tasks_md_completion() {
    let world = World::with_agent(agents::TICKS);
    world.tasks(0, 3);
    world
        .wt(&["run", "tick them"])
        .exit(0)
        .stderr_has("wt-loop: done: every task is complete or shelved (3 iterations");
    assert_eq!(world.state()["status"], "done");
    assert_eq!(world.read("tasks.md"), "- [x] open\n".repeat(3));
}

#[test]
fn scenario_manual_done() {
    let world = World::with_agent(&format!("{}echo '<promise>COMPLETE</promise>'\n", agents::COMMITS));
    world.tasks(1, 0);
    world.start(&["work", "--done", "manual", "--max", "0"]);
    world.wait_for_state("more than one iteration", |state| state["current_iteration"].as_u64() > Some(3));
    world.wt(&["stop"]).exit(0);
    let state = world.state();
    assert_eq!((&state["status"], &state["status_reason"]), (&"stopped".into(), &"ended by wt-loop stop".into()));
}

// Requirement: Loop Output Logging

#[test]
fn scenario_log_file_creation() {
    let world = World::with_agent("cat > /dev/null\nprintf 'on \\033[31mstdout\\033[0m\\n'\necho on stderr >&2\n");
    world.start(&["work", "--max", "1"]);
    world.wait_until_over();
    let log = world.log();
    for part in ["wt-loop: iteration 1/1 · claude · ", "on \x1b[31mstdout\x1b[0m\n", "on stderr\n"] {
        assert!(log.contains(part), "{part:?} is not in {log:?}");
    }
}

#[test]
fn scenario_view_log_after_completion() {
    let world = World::with_agent(&format!("echo begin $WT_LOOP_RUN_ITERATION\n{}printf end", agents::COMMITS));
    let shown = world.wt(&["run", "work", "--max", "3"]).exit(3);
    let log = world.log();
    let told = log.lines().filter(|line| !line.starts_with("wt-loop: warning: "));
    let lines: Vec<&str> = told.map(|line| line.split(" in ").next().unwrap()).collect();
    let mut expected = Vec::new();
    for n in 1..=3 {
        let start = lines.iter().find(|line| line.starts_with(&format!("wt-loop: iteration {n}/3 · "))).unwrap();
        let begin = format!("begin {n}");
        expected.extend([(*start).to_owned(), begin, "worked".into(), "end".into()]);
        expected.push(format!("wt-loop: iteration {n}/3 completed"));
    }
    expected.push((*lines.last().unwrap()).to_owned());
    assert_eq!(lines, expected, "every line of every iteration, in order, each begun by a line of its own");
    assert!(lines.last().unwrap().starts_with("wt-loop: stuck: 3 iterations without completion"));
    shown.stdout("begin 1\nworked\nendbegin 2\nworked\nendbegin 3\nworked\nend");
}
