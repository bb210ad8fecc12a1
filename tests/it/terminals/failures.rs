//! Places that do not open: what a person is told, and that nothing is left half started.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::time::Instant;

use super::alone;
use super::desktop::Desktop;
use crate::support::{HOLDS, World, agents, wait_until};

/// What no loop was started is like.
#[track_caller]
fn nothing_runs(world: &World, reason: &str) {
    let state = world.state();
    assert_eq!((&state["status"], &state["exit_code"]), (&"stopped".into(), &1.into()));
    let told = state["status_reason"].as_str().unwrap();
    assert!(told.starts_with("not started: ") && told.contains(reason), "{told}");
    let names = fs::read_dir(world.beside("run")).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(!names.into_iter().any(|name| name.to_string_lossy().starts_with("wt-loop")), "no socket is left");
    world.wt(&["run"]).exit(1).stderr_has("No loop state found. Use 'wt-loop start' first.\n");
    assert_eq!(world.state(), state);
}

#[test]
fn a_display_that_cannot_be_opened_is_told_in_the_terminals_own_words() {
    let world = World::with_agent(agents::IDLE);
    if !world.bring(&["xterm"]) {
        return;
    }
    let began = Instant::now();
    world
        .wt_env(&[("DISPLAY", ":9999")], &["start", "it's time", "--launcher", "xterm", "--max", "3"])
        .exit(1)
        .stdout("")
        .stderr_has("wt-loop: xterm ended before the loop could report in (exit status: 1)\n")
        .stderr_has("hint: it printed: ")
        .stderr_has("xterm: Xt error: Can't open display: ")
        .stderr_has("hint: wt-loop start 'it'\\''s time' --max 3 --launcher tmux\n");
    assert!(began.elapsed().as_secs() < 9, "it is told at once");
    nothing_runs(&world, "xterm ended before the loop could report in");
}

#[test]
fn a_terminal_that_hands_over_is_believed_unless_it_fails() {
    let world = World::with_agent(HOLDS);
    world.user_config("[terminals.mine]\ncommand = [\"myterm\", \"--\"]\n");
    // This one leaves before its window is there.
    world.agent("myterm", "shift\n(sleep 0.3; exec \"$@\") < /dev/null > /dev/null 2>&1 &\n");
    world.wt(&["start", "task", "--launcher", "mine"]).exit(0).stdout_has("feat-x runs in a window of mine (pid ");
    world.wt(&["stop"]).exit(0);
    wait_until("the end of the loop", || world.processes_like("wt-loop run").is_empty());
    world.agent("myterm", "echo first >&2\necho no window today >&2\nexit 3\n");
    world
        .wt(&["start", "task", "--launcher", "mine"])
        .exit(1)
        .stderr_has("wt-loop: mine ended before the loop could report in (exit status: 3)\n")
        .stderr_has("hint: it printed: first | no window today\n");
    nothing_runs(&world, "mine ended");
}

#[test]
fn a_terminal_that_never_opens_is_ended_when_start_gives_up() {
    let world = World::with_agent(HOLDS);
    world.user_config("[terminals.mine]\ncommand = [\"myterm\"]\n");
    world.agent("myterm", "echo thinking\nexec sleep 1000\n");
    fs::remove_file(world.beside("tools/tmux")).unwrap();
    world
        .wt(&["start", "task", "--launcher", "mine"])
        .exit(1)
        .stderr_has("wt-loop: the loop did not report in from mine within 10 s\n")
        .stderr_has("hint: it printed: thinking\nhint: wt-loop start task --launcher background\n");
    world.wait_until_nothing_is_left();
    nothing_runs(&world, "the loop did not report in");
}

#[test]
fn ctrl_c_while_start_waits_leaves_nothing_behind() {
    let world = without_a_window();
    let start = world.spawn_fresh(&["start", "task", "--launcher", "mine"]);
    wait_until("the terminal", || !world.processes_like("sleep 1000").is_empty());
    start.signal(nix::sys::signal::Signal::SIGINT);
    start.wait().exit(130).stderr_has("wt-loop: interrupted by Ctrl-C before the loop had reported in\n");
    world.wait_until_nothing_is_left();
    nothing_runs(&world, "interrupted by Ctrl-C");
}

/// Where a `start` has left the path of its socket.
fn meeting(world: &World) -> PathBuf {
    world.git(&world.root, &["rev-parse", "--absolute-git-dir"]).parse::<PathBuf>().unwrap().join("wt-loop/meeting")
}

/// Calls the `start` that waits in this world, as a loop does, and hears its welcome.
fn call(world: &World) -> (UnixStream, Vec<u8>) {
    let pointer = meeting(world);
    wait_until("the socket", || pointer.exists());
    let called = UnixStream::connect(fs::read_to_string(pointer).unwrap()).unwrap();
    let mut welcome = Vec::new();
    BufReader::new(&called).read_until(b'\n', &mut welcome).unwrap();
    (called, welcome)
}

/// A world whose terminal opens no window, so that the test can call in its stead.
fn without_a_window() -> World {
    let world = World::with_agent(HOLDS);
    world.user_config("[terminals.mine]\ncommand = [\"myterm\"]\n");
    world.agent("myterm", "exec sleep 1000\n");
    world
}

#[test]
fn a_loop_that_reports_in_after_start_has_given_up_runs_no_agent() {
    let world = without_a_window();
    let start = world.spawn_fresh(&["start", "task", "--launcher", "mine", "--close"]);
    let (called, welcome) = call(&world);
    // Between the two stands the test, which keeps the loop's word to itself.
    let between = world.beside("run/between");
    let listener = UnixListener::bind(&between).unwrap();
    fs::write(meeting(&world), between.to_str().unwrap()).unwrap();
    let runner = world.spawn_fresh(&["run"]);
    let (mut loops_end, _) = listener.accept().unwrap();
    loops_end.write_all(&welcome).unwrap();
    let mut arrival = String::new();
    BufReader::new(&loops_end).read_line(&mut arrival).unwrap();
    assert!(arrival.starts_with(r#"{"running":{"pid":"#), "{arrival}");
    start.wait().exit(1).stderr_has("wt-loop: the loop did not report in from mine within 10 s\n");
    drop((called, loops_end));
    runner.wait().exit(1).stderr_has("wt-loop: not started: the loop reported in after start had given up\n");
    assert!(!world.beside("prompt-1").exists(), "no agent ran");
    assert_eq!(world.state()["iterations"].as_array().map(Vec::len), Some(0));
    fs::remove_file(between).unwrap();
    world.wait_until_nothing_is_left();
    nothing_runs(&world, "the loop reported in after start had given up");
}

#[test]
fn ctrl_c_is_seen_while_a_loop_that_has_called_is_silent() {
    let world = without_a_window();
    let start = world.spawn_fresh(&["start", "task", "--launcher", "mine"]);
    let _called = call(&world);
    let began = Instant::now();
    start.signal(nix::sys::signal::Signal::SIGINT);
    start.wait().exit(130).stderr_has("wt-loop: interrupted by Ctrl-C before the loop had reported in\n");
    assert!(began.elapsed().as_secs() < 8, "it does not wait for the loop");
    world.wait_until_nothing_is_left();
    nothing_runs(&world, "interrupted by Ctrl-C");
}

#[test]
fn a_loop_that_dies_before_it_reports_in_is_told_at_once() {
    let world = without_a_window();
    let start = world.spawn_fresh(&["start", "task", "--launcher", "mine"]);
    drop(call(&world));
    start.wait().exit(1).stderr_has("wt-loop: the loop in mine ended before it could report in\n");
    world.wait_until_nothing_is_left();
    nothing_runs(&world, "ended before it could report in");
}

#[test]
fn what_is_not_installed_is_told_with_what_is() {
    let world = World::with_agent(HOLDS);
    world.agent("xterm", "");
    world
        .wt(&["start", "task", "--launcher", "st"])
        .exit(1)
        .stderr_has("wt-loop: st or stterm is not on PATH; found: xterm, tmux, background\nhint: --launcher tmux\n");
    assert!(!world.root.join(".claude").exists(), "nothing was prepared");
    world
        .wt(&["start", "task", "--launcher", "terminal"])
        .exit(1)
        .stderr_has("wt-loop: no window can be opened without a display")
        .stderr_has("hint: --launcher auto\n");
    assert!(!world.root.join(".claude").exists());
}

#[test]
fn auto_says_which_and_why() {
    let world = World::with_agent(agents::IDLE);
    let why = |variables: &[(&str, &str)], told: &str| {
        let answer = world.wt_env(variables, &["start", "task", "--verbose", "--close", "--max", "1"]).exit(0);
        answer.stderr_has(&format!("wt-loop: the launcher is {told}\n"));
        world.wait_until_over();
    };
    world.agent("myterm", "shift\nexec \"$@\" < /dev/null > /dev/null 2>&1\n");
    why(&[("DISPLAY", ":1"), ("TERMINAL", "myterm")], "myterm: $TERMINAL is myterm");
    why(
        &[("DISPLAY", ":1"), ("SSH_TTY", "/dev/pts/1"), ("TERMINAL", "myterm")],
        "tmux: over ssh there is no desktop to open a window on, and tmux is installed",
    );
    why(&[("TERMINAL", "myterm")], "tmux: there is no display to open a window on, and tmux is installed");
    fs::remove_file(world.beside("tools/tmux")).unwrap();
    why(&[], "background: there is no display to open a window on, and tmux is not installed");
}

#[test]
fn the_very_program_that_terminal_names_is_run_with_the_words_after_it() {
    let world = World::with_agent(agents::IDLE);
    let noting = |name: &str| {
        format!("printf '%s ' {name} \"$@\" > ../noted\nuntil [ \"$1\" = -e ]; do shift; done\nshift\nexec \"$@\"\n")
    };
    world.agent("xterm", &noting("other"));
    fs::rename(world.beside("bin/xterm"), world.beside("xterm")).unwrap();
    world.agent("xterm", &noting("first on PATH"));
    let named = format!("{} -fa Mono", world.beside("xterm").display());
    let start = ["start", "task", "--verbose", "--close", "--max", "1"];
    let answer = world.wt_env(&[("DISPLAY", ":1"), ("TERMINAL", &named)], &start).exit(0);
    answer.stderr_has("wt-loop: the launcher is xterm: $TERMINAL is /");
    world.wait_until_over();
    let noted = fs::read_to_string(world.beside("noted")).unwrap();
    assert!(noted.starts_with("other -fa Mono -e /"), "{noted}");
    let answer = world.wt_env(&[("DISPLAY", ":1"), ("TERMINAL", "/gone/xterm")], &start).exit(0);
    answer.stderr_has("xterm is installed; $TERMINAL is /gone/xterm, which cannot be run\n");
    world.wait_until_over();
}

#[test]
fn a_repository_cannot_name_a_terminal() {
    let world = World::with_agent(agents::IDLE);
    for line in ["[terminals.mine]\ncommand = [\"touch\", \"owned\"]\n", "launcher = \"xterm\"\n", "close = true\n"] {
        world.write(".wt-loop.toml", line);
        world.wt(&["start", "task"]).exit(2).stderr_has(": a repository cannot set ");
    }
    world.write(".wt-loop.toml", "");
    world.user_config("[terminals.mine]\ncommand = []\n");
    world.wt(&["start", "task"]).exit(2).stderr_has("terminals.mine: command names no program");
    world.user_config("[terminals.mine]\ncommand = [\"x\"]\nfull = []\n");
    world.wt(&["start", "task"]).exit(2).stderr_has("terminals.mine: unknown field `full`");
}

#[test]
fn doctor_lists_the_terminals() {
    let world = World::with_agent("echo 1\n");
    for name in ["xterm", "kitty", "myterm"] {
        world.agent(name, "");
    }
    world.user_config("[terminals.mine]\ncommand = [\"myterm\"]\n");
    let shown = world.wt_env(&[("DISPLAY", ":1")], &["doctor"]).stdout_has("mine, kitty, xterm");
    shown.stdout_has("kitty: kitty is installed");
    world.wt(&["doctor"]).stdout_has("mine, kitty, xterm; there is no display for a window");
}

/// Where `$HOME` or `%n` in a command line is replaced, neither the worktree's path nor the program's stands there.
#[test]
fn a_program_whose_path_has_a_dollar_is_found_by_konsole() {
    let mut world = World::with_agent(HOLDS);
    world.move_to("$HOME %h dir");
    let _alone = alone();
    if !world.bring(&["konsole"]) {
        return;
    }
    let Some(desktop) = Desktop::open(&world) else { return };
    let folder = world.beside("$HOME %h");
    fs::create_dir(&folder).unwrap();
    // Copied by a process of its own: a file that this one holds open for writing could not be run.
    let mut copy = world.command("cp");
    copy.arg(world.program()).arg(&folder);
    crate::support::run(copy).exit(0);
    let mut start = world.command(folder.join("wt-loop"));
    start.args(["start", "task", "--launcher", "konsole"]).envs(desktop.environment());
    crate::support::run(start).exit(0).stdout_has("$HOME %h dir runs in a window of konsole");
    world.wait_until_held(1);
    world.wt(&["stop"]).exit(0);
    desktop.wait_until_empty();
}
