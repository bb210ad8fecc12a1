//! `start`: where a loop is put, what it is told, and when the command returns.

use std::collections::BTreeMap;
use std::fs;

use crate::support::{World, agents, is_alive, pid_in, run, snapshot, wait_for, wait_until};

/// Leaves its whole environment behind, whole or not at all.
const TELLS_ENVIRONMENT: &str = "cat > /dev/null\nenv > ../env.part && mv ../env.part ../env\nexec sleep 1000\n";

fn agents_environment(world: &World) -> BTreeMap<String, String> {
    let text = wait_for("the agent's environment", || fs::read_to_string(world.beside("env")).ok());
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

#[test]
fn returns_when_the_loop_has_reported_in() {
    let world = World::with_agent(agents::SLEEPS);
    let answer = world.wt(&["start", "the task", "--launcher", "background"]).exit(0);
    let pid: i32 = answer.stdout.split("(pid ").nth(1).unwrap().split(')').next().unwrap().parse().unwrap();
    assert!(is_alive(pid), "the loop runs when start says so");
    answer
        .stdout(&format!(
            "feat-x runs in the background (pid {pid}): the task\n  \
             watch it   wt-loop monitor\n  end it     wt-loop stop\n"
        ))
        .stderr("wt-loop: warning: No tasks.md found, using manual done criteria\n");
    wait_until("the pid file", || pid_in(&world.root.join(".claude/ralph-terminal.pid")) == Some(pid.into()));
    assert_eq!(world.state()["terminal_pid"], pid);
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let session: i32 = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(3).unwrap().parse().unwrap();
    assert_eq!(session, pid, "in a session of its own, so that a closed window does not end it");
}

#[test]
fn the_environment_of_the_shell_reaches_the_agent() {
    let world = World::with_agent(TELLS_ENVIRONMENT);
    let mine = [("API_KEY", "k e y"), ("CLAUDECODE", "1"), ("CLAUDE_CODE_OTHER", "stays")];
    world.wt_env(&mine, &["start", "task", "--launcher", "background", "--max", "7"]).exit(0);
    let env = agents_environment(&world);
    let state = world.root.join(".claude/loop-state.json");
    assert_eq!(env["API_KEY"], "k e y");
    assert_eq!(env.get("CLAUDECODE"), None);
    assert_eq!(env["CLAUDE_CODE_OTHER"], "stays");
    assert_eq!(env["WT_LOOP_RUN"], "1");
    assert_eq!(env["WT_LOOP_RUN_ITERATION"], "1");
    assert_eq!(env["WT_LOOP_RUN_MAX"], "7");
    assert_eq!(env["WT_LOOP_RUN_STATE"], state.to_str().unwrap());
    assert_eq!(env["WT_LOOP_RUN_CHANGE"], "");
    assert_eq!(env["PWD"], world.root.to_str().unwrap());
    let told = world.environment().into_iter().chain([("API_KEY".into(), "k e y".into())]);
    for (name, value) in told {
        assert_eq!(env.get(&name), Some(&value), "{name}");
    }
}

#[test]
fn the_environment_reaches_the_agent_through_an_older_tmux_server() {
    let world = World::with_agent(TELLS_ENVIRONMENT);
    world.change("add-login", 1);
    let mut server = world.command("tmux");
    server.args(["new-session", "-d", "-s", "old", "sleep", "1000"]);
    server.env("FLAVOUR", "old").env("ONLY_OLD", "1").env("PATH", world.beside("tools"));
    run(server).exit(0);
    let args = ["start", "add-login", "task", "--launcher", "tmux"];
    world.wt_env(&[("FLAVOUR", "new"), ("ONLY_NEW", "secret")], &args).exit(0);
    let env = agents_environment(&world);
    assert_eq!((env["FLAVOUR"].as_str(), env["ONLY_NEW"].as_str()), ("new", "secret"));
    assert_eq!(env.get("ONLY_OLD"), None);
    assert_eq!(env["WT_LOOP_RUN_CHANGE"], "add-login");
    assert!(env["PATH"].starts_with(world.beside("bin").to_str().unwrap()), "{}", env["PATH"]);

    let on_disk = run({
        let mut grep = world.command("grep");
        grep.args(["-rl", "ONLY_NEW", "--exclude=env", world.base().to_str().unwrap()]);
        grep
    });
    on_disk.exit(1).stdout("");
    let lines = world.processes().into_iter().map(|process| process.command);
    assert!(!lines.into_iter().any(|line| line.contains("secret")), "nothing secret stands on a command line");
}

#[test]
fn reported_in_is_reported_in_even_when_the_loop_ends_at_once() {
    let world = World::with_agent("echo '<promise>COMPLETE</promise>'\n");
    for launcher in ["background", "tmux", "background", "tmux"] {
        world.wt(&["start", "task", "--launcher", launcher, "--close"]).exit(0).stdout_has("feat-x runs in");
        assert_eq!(world.wait_until_over()["status"], "done");
    }
}

#[test]
fn a_start_may_follow_as_soon_as_the_state_says_that_the_last_loop_is_over() {
    let world = World::with_agent("echo '<promise>COMPLETE</promise>'\n");
    for _ in 0..5 {
        world.start(&["task"]);
        world.wait_for_state("done", |state| state["status"] == "done");
    }
}

#[test]
fn inside_tmux_a_new_window_of_this_session_is_opened() {
    let world = World::with_agent(agents::SLEEPS);
    world.tmux(&["new-session", "-d", "-s", "mine", "sleep", "1000"]);
    let inside = world.tmux(&["display-message", "-p", "-t", "mine", "#{socket_path},#{pid},0"]);
    let answer = world.wt_env(&[("TMUX", &inside)], &["start", "task"]).exit(0);
    let answer = answer.stdout_has("feat-x runs in the tmux window feat-x (pid ");
    let window = world.tmux(&["display-message", "-p", "-t", "mine:feat-x", "#{window_id}"]);
    answer.stdout_has(&format!("go there   tmux attach -t mine:{window}\n"));
    assert_eq!(world.panes("#{session_name}:#{window_name}"), ["mine:sleep", "mine:feat-x"]);
}

#[test]
fn two_worktrees_of_a_repository_share_a_session() {
    let world = World::with_agent(agents::SLEEPS);
    world.wt(&["start", "task", "--launcher", "tmux"]).exit(0);
    world.wt_in(&world.main, &["start", "task", "--launcher", "tmux"]).exit(0);
    assert_eq!(world.panes("#{session_name}:#{window_name}"), ["wt-loop-shop:feat-x", "wt-loop-shop:shop"]);
}

#[test]
fn without_a_terminal_to_open_it_goes_to_the_background() {
    let world = World::with_agent(agents::SLEEPS);
    fs::remove_file(world.beside("tools/tmux")).unwrap();
    world.wt(&["start", "task"]).exit(0).stdout_has("feat-x runs in the background (pid ");
    world
        .wt_in(&world.main, &["start", "task", "--launcher", "tmux"])
        .exit(1)
        .stderr_has("wt-loop: tmux is not on PATH; found: background\nhint: --launcher background\n");
}

#[test]
fn the_path_of_a_worktree_is_never_code() {
    let world = World::with_agent("cat > /dev/null\npwd > ../where.part && mv ../where.part ../where\n");
    let name = "it's a \"#(touch pwned)\" $HOME `touch pwned` dir";
    let root = world.beside(name);
    world.git(&world.main, &["worktree", "add", "-q", "-b", "odd", root.to_str().unwrap()]);
    for launcher in ["tmux", "background"] {
        let args = ["start", "task", "--launcher", launcher, "--max", "1", "--close"];
        world.wt_in(&root, &args).exit(0).stdout_has(name);
        let place = wait_for("the agent", || fs::read_to_string(world.beside("where")).ok());
        assert_eq!(place.trim_end(), root.to_str().unwrap());
        fs::remove_file(world.beside("where")).unwrap();
        wait_until("the end of the loop", || world.processes_like("wt-loop run").is_empty());
    }
    assert!(!snapshot(&world.base()).keys().any(|path| path.ends_with("pwned")));
}

#[test]
fn one_positional_is_the_task_and_two_are_change_and_task() {
    let world = World::with_agent(agents::IDLE);
    world.change("add-login", 0);
    world.start(&["add-login", "--max", "1"]);
    let state = world.wait_until_over();
    assert_eq!((&state["change_id"], &state["task"]), (&serde_json::Value::Null, &"add-login".into()));
    world.start(&["add-log", "the task", "--max", "1"]);
    let state = world.wait_until_over();
    assert_eq!((&state["change_id"], &state["task"]), (&"add-login".into(), &"the task".into()));
    world.wt(&["start", "one", "two", "three"]).exit(2);
}

#[test]
fn a_worktree_can_be_named_by_directory_or_branch() {
    let world = World::with_agent(agents::IDLE);
    world.git(&world.root, &["branch", "-m", "feature/x"]);
    for name in ["feat-x", "feature/x"] {
        world
            .wt_in(&world.main, &["start", name, "there", "--launcher", "background", "--max", "1"])
            .exit(0)
            .stdout_has("feat-x runs in");
        let state = world.wait_until_over();
        assert_eq!((&state["change_id"], &state["task"]), (&serde_json::Value::Null, &"there".into()));
        fs::remove_file(world.root.join(".claude/loop-state.json")).unwrap();
    }
    assert!(!world.main.join(".claude").exists());
}

#[test]
fn a_change_that_is_named_twice_must_be_the_same() {
    let world = World::with_agent(agents::IDLE);
    world.change("add-login", 0);
    world.change("fix-logout", 0);
    world
        .wt(&["start", "add-login", "task", "--change", "fix-logout"])
        .exit(2)
        .stderr("wt-loop: two changes are named: 'add-login' and --change fix-logout\nhint: name one of them\n");
    assert!(!world.root.join(".claude").exists());
    world.start(&["add-login", "task", "--change", "add", "--max", "1"]);
    assert_eq!(world.wait_until_over()["change_id"], "add-login");
    world.start(&["task", "-c", "fix", "--max", "1"]);
    assert_eq!(world.wait_until_over()["change_id"], "fix-logout");
}

#[test]
fn a_terminal_that_opens_too_late_finds_no_loop() {
    // This tmux says that all is well and opens nothing, until the start has given up.
    let world = World::with_agent(agents::IDLE);
    fs::remove_file(world.beside("tools/tmux")).unwrap();
    world.agent("tmux", "exit 0\n");
    world.wt(&["start", "task", "--launcher", "tmux"]).exit(1).stdout("").stderr_has(
        "\nwt-loop: the loop did not report in from tmux within 10 s\n\
                     hint: wt-loop start task --launcher background\n",
    );
    let state = world.state();
    assert_eq!((&state["status"], &state["exit_code"]), (&"stopped".into(), &1.into()));
    world.wt(&["run"]).exit(1).stderr_has("No loop state found. Use 'wt-loop start' first.\n");
    assert_eq!(world.state(), state);
    assert_eq!(fs::read_dir(world.beside("run")).unwrap().count(), 0, "no socket is left");
}
