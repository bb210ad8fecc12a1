//! Ctrl-C and Ctrl-Z, pressed in a real terminal.

use std::fs;
use std::time::{Duration, Instant};

use crate::support::{Cast, Terminal, World, cast, wait_until};

/// Types `run` with these arguments, and waits until its agent says that it is there.
fn run(terminal: &Terminal, world: &World, args: &str) -> Cast {
    terminal.type_wt(&format!("run x {args}"));
    world.wait_for_log("ready");
    Cast::of(world.read(".claude/ralph-terminal.pid").trim().parse().unwrap())
}

/// Nothing of a loop is left; the terminal itself may stay.
fn nothing_is_left(world: &World) {
    let ours = |command: &str| !command.starts_with("tmux") && !command.starts_with("bash");
    let left: Vec<_> = world.processes().into_iter().filter(|process| ours(&process.command)).collect();
    assert_eq!(left, []);
}

#[test]
fn ctrl_c_ends_gracefully() {
    let world = World::with_agent(
        "trap 'echo tidied; exit 0' TERM\nsetsid sleep \"$NAP\" &\necho ready\nwhile :; do sleep 0.05; done\n",
    );
    let terminal = Terminal::open(&world, 100, 30);
    let cast = run(&terminal, &world, "");
    assert_ne!(cast::place(cast.looper).unwrap().terminal, 0);
    assert_eq!(
        cast::place(cast.agent).unwrap().terminal,
        0,
        "an agent has no terminal to read from or to be killed by"
    );

    terminal.press("C-c");
    assert_eq!(terminal.wait_for_exit(), 130);
    nothing_is_left(&world);
    assert!(world.log().contains("tidied"), "the agent had its TERM: {}", world.log());
    let state = world.state();
    assert_eq!((state["status"].as_str(), state["exit_code"].as_i64()), (Some("stopped"), Some(130)));
    assert_eq!(state["iterations"][0]["exit_reason"], "interrupted");
    assert!(!world.root.join(".claude/ralph-terminal.pid").exists());
}

#[test]
fn a_second_ctrl_c_kills_at_once() {
    let world = World::with_agent("trap 'touch \"$TMPDIR/asked\"' TERM\necho ready\nwhile :; do sleep 0.05; done\n");
    let terminal = Terminal::open(&world, 100, 30);
    run(&terminal, &world, "");
    let pressed = Instant::now();
    terminal.press("C-c");
    wait_until("the agent's TERM", || world.base().join("tmp/asked").exists());
    terminal.press("C-c");
    assert_eq!(terminal.wait_for_exit(), 130);
    assert!(pressed.elapsed() < Duration::from_secs(5), "before the grace was over: {:?}", pressed.elapsed());
    nothing_is_left(&world);
    assert_eq!(world.state()["iterations"][0]["exit_code"], 128 + 9);
}

/// Whether a process stands still: stopped, or in the kernel until the child that it was just starting (`vfork`) goes on.
fn stands_still(pid: i32) -> bool {
    let is_stopped = |pid: i32| cast::place(pid).is_some_and(|place| place.state == 'T');
    let waits = || cast::place(pid).is_some_and(|place| place.state == 'D');
    is_stopped(pid) || (waits() && cast::children(pid).into_iter().any(is_stopped))
}

/// Waits until the loop, its agent and all that the agent has started stand still.
fn wait_for_standstill(world: &World, cast: &Cast) {
    wait_until("the whole tree to stop", || {
        let sleepers = world.processes_like("sleep ");
        let mut pids = sleepers.iter().map(|process| process.pid).chain([cast.looper, cast.agent]);
        pids.all(stands_still)
    });
}

#[test]
fn ctrl_z_stops_the_tree_and_its_clocks_and_fg_goes_on() {
    let world = World::with_agent(
        "setsid sleep \"$NAP\" &\nsleep \"$NAP\" &\necho ready\nuntil [ -e \"$TMPDIR/go\" ]; do sleep 0.02; done\n",
    );
    let terminal = Terminal::open(&world, 100, 30);
    let timeout = Duration::from_secs(3);
    let cast = run(&terminal, &world, "--max 1 --iteration-timeout 3s --idle-timeout 3s");
    terminal.press("C-z");
    wait_for_standstill(&world, &cast);
    terminal.wait_for("the shell's word", |screen| screen.contains("Stopped"));
    terminal.clear();
    fs::write(world.base().join("tmp/go"), "").unwrap();
    // Not to be right, but to be wrong if the clocks went on.
    std::thread::sleep(timeout + Duration::from_millis(200));
    assert!(stands_still(cast.agent) && stands_still(cast.looper));
    terminal.type_line("fg; echo exit=$?");
    assert_eq!(terminal.wait_for_exit(), 3);
    assert_eq!(world.state()["iterations"][0]["exit_reason"], "completed");
    nothing_is_left(&world);
}

#[test]
fn a_suspended_loop_can_be_stopped() {
    let world = World::with_agent("echo ready\nexec sleep 1000\n");
    let terminal = Terminal::open(&world, 100, 30);
    let cast = run(&terminal, &world, "");
    terminal.press("C-z");
    wait_for_standstill(&world, &cast);
    let told = world.wt(&["status", "--json"]).exit(0).json();
    assert_eq!((told["status"].as_str(), told["paused"].as_bool()), (Some("running"), Some(true)));
    for args in [&["status"][..], &["list"]] {
        world.wt(args).exit(0).stdout_has("running (paused)");
    }
    world.wt(&["stop"]).exit(0);
    nothing_is_left(&world);
    assert_eq!(world.state()["exit_code"], 5);
}
