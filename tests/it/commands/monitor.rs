//! `monitor`: follows the log until the loop ends, and ends as the loop did.

use std::fs;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::support::{HOLDS, World, agents, wait_until};

#[test]
fn it_ends_with_the_exit_code_of_the_loop() {
    let world = World::new();
    for (agent, options, code, end) in [
        ("echo '<promise>COMPLETE</promise>'", &["--max", "5"][..], 0, "done: "),
        ("exit 7", &["--fail-fast"], 1, "stuck: "),
        (agents::COMMITS, &["--max", "2"], 3, "stuck: "),
        (agents::IDLE, &["--max", "5"], 4, "stalled: "),
    ] {
        world.agent("claude", agent);
        world.start(&[&["task"], options].concat());
        world.wt(&["monitor"]).exit(code).stderr_has(&format!("the loop in feat-x is over ({end}"));
        world.wait_until_over();
    }
}

#[test]
fn it_follows_a_loop_from_its_last_lines_to_its_end() {
    let world = World::with_agent(HOLDS);
    world.start(&["task", "--max", "2"]);
    world.wait_until_held(1);
    wait_until("the agent's words", || world.log().contains("at 1\n"));
    let follows = world.spawn(&["monitor"]);
    let last_line = world.spawn(&["monitor", "--lines", "1"]);
    let none = world.spawn(&["monitor", "-n", "0"]);
    for monitor in [&follows, &last_line, &none] {
        wait_until("an open log", || has_open(monitor.pid(), ".claude/ralph-loop.log"));
    }
    world.let_go(1);
    world.let_go(2);
    let log = world.log();
    world.wait_until_over();
    let follows = follows.wait().exit(3);
    assert_eq!(follows.stdout, world.log());
    let last_line = last_line.wait().exit(3).stdout;
    assert!(last_line.starts_with("at 1\nafter 1\n") && world.log().ends_with(&last_line), "{last_line}");
    let none = none.wait().exit(3).stdout;
    assert!(none.starts_with("after 1\n") && !none.contains("at 1\n"), "{none}\n{log}");
}

#[test]
fn a_program_gets_one_object_per_event() {
    let world = World::with_agent(agents::COMMITS);
    world.start(&["task", "--max", "2"]);
    let events = world.wt(&["monitor", "--json", "--lines", "1000"]).exit(3).stderr("").stdout;
    let events: Vec<Value> = events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |kind: &str| events.iter().filter(|event| event["event"] == kind).collect::<Vec<_>>();
    assert_eq!(of("output").len() + of("status").len() + of("end").len(), events.len(), "{events:?}");
    let text: String = of("output").iter().map(|event| event["text"].as_str().unwrap()).collect();
    assert_eq!(text, world.log());
    let last = of("status").last().copied().unwrap();
    assert_eq!((&last["status"], &last["current_iteration"]), (&"stuck".into(), &2.into()));
    assert_eq!((&last["max_iterations"], &last["total_tokens"]), (&2.into(), &0.into()));
    let end = events.last().unwrap();
    assert_eq!((&end["event"], &end["status"], &end["exit_code"]), (&"end".into(), &"stuck".into(), &3.into()));
    assert_eq!(end["status_reason"], "2 iterations without completion");
}

#[test]
fn it_follows_a_log_that_was_moved_removed_or_emptied() {
    for change in ["mv $log $log.9", "rm $log", ": > $log"] {
        let world = World::with_agent(&format!(
            "log=.claude/ralph-loop.log\n[ $WT_LOOP_RUN_ITERATION = 1 ] && echo '{}'\n{HOLDS}[ $n = 1 ] && {change}\necho changed\n",
            "long before ".repeat(100)
        ));
        world.start(&["task", "--max", "2"]);
        world.wait_until_held(1);
        let monitor = world.spawn(&["monitor", "--lines", "1000"]);
        wait_until("an open log", || has_open(monitor.pid(), ".claude/ralph-loop.log"));
        world.let_go(1);
        world.wait_until_held(2);
        world.let_go(2);
        let shown = monitor.wait().exit(3).stdout;
        for part in ["long before", "at 1\n", "wt-loop: iteration 2/2 · ", "at 2\n", "after 2\n", "wt-loop: stuck: "] {
            assert!(shown.contains(part), "{change}: {part:?} is not in {shown}");
        }
    }
}

#[test]
fn it_can_be_left_without_harm() {
    let world = World::with_agent(agents::SLEEPS);
    world.start(&["sleep"]);
    let monitor = world.spawn(&["monitor"]);
    wait_until("an open log", || has_open(monitor.pid(), ".claude/ralph-loop.log"));
    monitor.signal(Signal::SIGINT);
    monitor.wait().exit(130);
    assert_eq!(world.wt(&["status", "--json"]).exit(0).json()["active"], true);
}

#[test]
fn of_a_loop_that_is_killed_meanwhile_it_ends_with_1() {
    let world = World::with_agent(agents::SLEEPS);
    let running = world.spawn(&["run", "sleep"]);
    wait_until("the agent", || !world.processes_like("sleep 1000").is_empty());
    let monitor = world.spawn(&["monitor"]);
    wait_until("an open log", || has_open(monitor.pid(), ".claude/ralph-loop.log"));
    running.signal(Signal::SIGKILL);
    running.wait();
    monitor.wait().exit(1).stderr_has("the loop in feat-x is over (stopped: crashed)\n");
}

fn has_open(pid: i32, end: &str) -> bool {
    let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    open.filter_map(|entry| fs::read_link(entry.path()).ok()).any(|path| path.ends_with(end))
}
