//! Many at once: one loop in each worktree, whatever is tried.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use crate::support::{Running, World, agents, wait_until};

const START: [&str; 3] = ["start", "--launcher", "background"];

#[test]
fn of_a_hundred_starts_one_wins_and_the_others_say_who_did() {
    let world = World::with_agent(agents::SLEEPS);
    // A loop that was there before: what it left in the files of the locks says nothing about who wins now.
    world.wt(&[&START[..], &["before"]].concat()).exit(0);
    world.wt(&["stop"]).exit(0);

    let starts: Vec<Running> = (0..100).map(|n| world.spawn(&[&START[..], &[&format!("task {n}")]].concat())).collect();
    let starters: BTreeSet<i32> = starts.iter().map(Running::pid).collect();
    let outputs: Vec<_> = starts.into_iter().map(|start| (start.pid(), start.wait())).collect();
    let (won, lost): (Vec<_>, Vec<_>) = outputs.into_iter().partition(|(_, output)| output.status.success());
    assert_eq!(won.len(), 1, "{won:?}");
    let looper: i32 = world.read(".claude/ralph-terminal.pid").trim().parse().unwrap();
    assert!(!starters.contains(&looper));
    for (_, output) in lost {
        let output = output.exit(1).stdout("");
        let said = |pid: i32, how: &str| output.stderr.contains(&format!("{how} in this worktree (pid {pid})"));
        let who = said(looper, "a loop already runs") || said(won[0].0, "another start is under way");
        assert!(who, "neither the loop {looper} nor its start {}: {}", won[0].0, output.stderr);
    }
    world.wt(&["stop"]).exit(0);
    assert_eq!(world.processes(), []);
}

/// An agent of this kind removes all that git does not know, and waits for the test's word.
fn survives(clean: &str, root: impl Fn(&World) -> &Path) {
    let world = World::with_agent(&format!(
        "cat > /dev/null\n[ $WT_LOOP_RUN_ITERATION = 1 ] || exit 0\n{clean}\ntouch \"$TMPDIR/cleaned\"
         until [ -e \"$TMPDIR/go\" ]; do sleep 0.02; done\n"
    ));
    let root = root(&world);
    let (state, log) = (root.join(".claude/loop-state.json"), root.join(".claude/ralph-loop.log"));
    let start = |task: &str| world.wt_in(root, &[&START[..], &[task, "--max", "2", "--stall-threshold", "0"]].concat());
    start("first").exit(0);
    wait_until("a clean worktree", || world.base().join("tmp/cleaned").exists());
    assert!(!state.exists() && !log.exists(), "the agent has removed them");

    start("second").exit(1).stderr_has("a loop already runs in this worktree (pid ");
    assert!(!state.exists(), "who may not start writes nothing");
    fs::write(world.base().join("tmp/go"), "").unwrap();
    world.wait_until_nothing_is_left();
    let state: Value = serde_json::from_str(&fs::read_to_string(&state).unwrap()).unwrap();
    assert_eq!((state["task"].as_str(), state["status"].as_str()), (Some("first"), Some("stuck")));
    assert_eq!(state["iterations"].as_array().unwrap().len(), 2, "nothing of the first is lost");
    assert!(fs::read_to_string(log).unwrap().contains("iteration 2/2"));
}

#[test]
fn git_clean_by_the_agent_lets_no_second_loop_in() {
    survives("git clean -xfdq", |world| &world.root);
}

#[test]
fn git_clean_of_everything_by_the_agent_lets_no_second_loop_in() {
    survives("git clean -xffdq", |world| &world.main);
}

#[test]
fn asking_never_makes_a_start_fail_and_never_sees_half_a_file() {
    let world = World::with_agent(agents::SLEEPS);
    let over = AtomicBool::new(false);
    let state = world.root.join(".claude/loop-state.json");
    world.wt(&[&START[..], &["x"]].concat()).exit(0);
    world.wt(&["stop"]).exit(0);
    std::thread::scope(|scope| {
        let ask = |args: &'static [&'static str]| {
            let (world, over) = (&world, &over);
            move || {
                while !over.load(Ordering::SeqCst) {
                    world.wt(args).exit(0).json();
                }
            }
        };
        for args in [&["status", "--json"][..], &["status", "--json"], &["history", "--json"], &["list", "--json"]] {
            scope.spawn(ask(args));
        }
        let read = || {
            let mut reads = 0;
            while !over.load(Ordering::SeqCst) {
                let text = fs::read_to_string(&state).expect("it is replaced, never removed");
                serde_json::from_str::<Value>(&text).expect("it is never half");
                reads += 1;
            }
            assert!(reads > 0);
        };
        scope.spawn(read);
        let cycles = std::panic::catch_unwind(|| {
            for n in 0..6 {
                world.wt(&[&START[..], &[&format!("task {n}")]].concat()).exit(0);
                world.wt(&["stop"]).exit(0);
            }
        });
        over.store(true, Ordering::SeqCst);
        cycles.unwrap();
    });
}

#[test]
fn loops_of_several_worktrees_run_at_once_and_list_shows_them_all() {
    let world = World::with_agent(agents::SLEEPS);
    let roots: Vec<_> = (0..3).map(|n| world.base().join(format!("w{n}"))).collect();
    for root in &roots {
        let name = root.file_name().unwrap().to_str().unwrap();
        world.git(&world.main, &["worktree", "add", "-q", "-b", name, root.to_str().unwrap()]);
    }
    let all = [&world.main, &world.root].into_iter().chain(&roots);
    for (n, root) in all.enumerate() {
        world.wt_in(root, &[&START[..], &[&format!("task {n}")]].concat()).exit(0);
    }
    let listed = world.wt_in(Path::new("/"), &["list", "--json"]).exit(0).json();
    let shown: Vec<_> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| ["worktree_name", "status", "task"].map(|field| entry[field].as_str().unwrap()))
        .collect();
    let expected = [("feat-x", 1), ("shop", 0), ("w0", 2), ("w1", 3), ("w2", 4)];
    let expected: Vec<_> = expected.map(|(name, n)| [name.to_owned(), "running".into(), format!("task {n}")]).into();
    assert_eq!(shown, expected);
    let pids: BTreeSet<i64> = listed.as_array().unwrap().iter().map(|e| e["terminal_pid"].as_i64().unwrap()).collect();
    assert_eq!(pids.len(), 5);
    world.wt_in(Path::new("/"), &["stop", "--all"]).exit(0);
    assert_eq!(world.processes(), []);
    assert_eq!(world.wt(&["list", "--json"]).exit(0).json(), serde_json::json!([]));
}

#[test]
fn two_loops_of_one_repository_do_not_disturb_each_other() {
    let world = World::with_agent(agents::COMMITS);
    let run = |root: &Path, max: &str| {
        let mut command = world.command(world.program());
        command.args(["run", "x", "--max", max]).current_dir(root);
        crate::support::spawn(command)
    };
    let (main, linked) = (run(&world.main, "4"), run(&world.root, "6"));
    for running in [main, linked] {
        running.wait().exit(3);
    }
    for (root, max) in [(&world.main, 4), (&world.root, 6)] {
        let state: Value =
            serde_json::from_str(&fs::read_to_string(root.join(".claude/loop-state.json")).unwrap()).unwrap();
        let recorded: Vec<String> = state["iterations"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|entry| entry["commits"].as_array().unwrap().iter().map(|hash| hash.as_str().unwrap().to_owned()))
            .collect();
        let made = world.git(root, &["log", "--reverse", "--format=%H", "--skip=0", &format!("-{max}")]);
        assert_eq!(recorded, made.lines().collect::<Vec<_>>());
    }
}

#[test]
fn what_start_has_started_runs_when_it_says_so() {
    let world = World::with_agent(agents::SLEEPS);
    for _ in 0..5 {
        let said = world.wt(&[&START[..], &["x"]].concat()).exit(0).stdout;
        let (state, pid) = (world.state(), world.read(".claude/ralph-terminal.pid"));
        assert_eq!(state["status"], "running");
        assert!(said.contains(&format!("(pid {})", pid.trim())), "{said}");
        world.wt(&["stop"]).exit(0);
    }
}

#[test]
fn a_loop_whose_state_the_agent_removed_can_still_be_seen_and_stopped() {
    let world = World::with_agent("rm -rf .claude\necho gone > ../gone\nexec sleep 1000\n");
    let running = world.spawn(&["run", "task", "--done", "manual"]);
    wait_until("the removal", || world.beside("gone").exists());
    world.wt(&["status"]).exit(0).stdout_has("its state file is missing or broken");
    world.wt(&["stop"]).exit(0).stdout_has("stopped the loop");
    running.wait().exit(5);
    assert_eq!(world.state()["status"], "stopped");
}

#[test]
fn the_log_of_a_loop_that_crashed_in_its_first_iteration_goes_on() {
    let world = World::with_agent(agents::SLEEPS);
    let running = world.spawn(&["run", "task", "--done", "manual"]);
    world.wait_for_log("sleeping");
    running.signal(nix::sys::signal::Signal::SIGKILL);
    running.wait();
    world.agent("claude", agents::IDLE);
    world.wt(&["resume", "--max", "1"]).exit(3);
    assert!(world.log().contains("sleeping") && world.log().contains("idle"), "{}", world.log());
}
