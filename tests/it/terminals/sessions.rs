//! tmux and screen: one session per repository, one window per worktree, and a screen that stays to be read.

use crate::support::{HOLDS, World, agents, snapshot, wait_until};

fn windows(world: &World) -> Vec<String> {
    world.panes("#{session_name}:#{window_name}")
}

#[track_caller]
fn shows(world: &World, window: &str, text: &str) {
    wait_until(text, || world.tmux(&["capture-pane", "-p", "-t", window]).contains(text));
}

#[test]
fn a_window_stays_until_a_key_is_pressed() {
    let world = World::with_agent(agents::IDLE);
    world.wt(&["start", "task", "--launcher", "tmux", "--max", "1"]).exit(0);
    shows(&world, "wt-loop-shop", "press a key to close this window");
    shows(&world, "wt-loop-shop", "stuck: 1 iteration without completion");
    assert!(!world.root.join(".claude/ralph-terminal.pid").exists());
    world.wt(&["stop"]).exit(0).stdout_has("is already over (stuck");
    world.tmux(&["send-keys", "-t", "wt-loop-shop", "x"]);
    world.wait_until_nothing_is_left();
}

#[test]
fn what_was_typed_before_the_end_closes_no_window() {
    let world = World::with_agent(HOLDS);
    world.wt(&["start", "task", "--launcher", "tmux", "--max", "1"]).exit(0);
    world.wait_until_held(1);
    world.tmux(&["send-keys", "-t", "wt-loop-shop", "typed too early"]);
    world.let_go(1);
    shows(&world, "wt-loop-shop", "press a key to close this window");
    assert_eq!(windows(&world), ["wt-loop-shop:feat-x"]);
}

#[test]
fn a_worktree_has_one_window_and_the_next_loop_takes_its_place() {
    let world = World::with_agent(agents::IDLE);
    world.wt(&["start", "task", "--launcher", "tmux", "--max", "1"]).exit(0);
    shows(&world, "wt-loop-shop", "press a key");
    world.agent("claude", agents::SLEEPS);
    world.wt(&["start", "task", "--launcher", "tmux"]).exit(0);
    wait_until("one window", || windows(&world) == ["wt-loop-shop:feat-x"]);
    assert_eq!(world.wt(&["status", "--json"]).exit(0).json()["status"], "running");
}

#[test]
fn a_closed_window_ends_its_loop_and_a_signal_ends_the_wait() {
    let world = World::with_agent(agents::SLEEPS);
    world.wt(&["start", "task", "--launcher", "tmux"]).exit(0);
    world.wait_for_log("sleeping");
    world.tmux(&["kill-window", "-t", "wt-loop-shop:feat-x"]);
    world.wait_until_nothing_is_left();
    assert_eq!(world.state()["status_reason"], "interrupted by SIGHUP (the terminal was closed)");

    world.agent("claude", agents::IDLE);
    world.wt(&["start", "task", "--launcher", "tmux", "--max", "1"]).exit(0);
    shows(&world, "wt-loop-shop", "press a key");
    for waiting in world.processes_like("wt-loop run") {
        waiting.signal(nix::sys::signal::Signal::SIGTERM);
    }
    world.wait_until_nothing_is_left();
}

#[test]
fn a_loop_that_is_stopped_by_a_command_takes_its_window_along() {
    let world = World::with_agent(agents::SLEEPS);
    world.wt(&["start", "task", "--launcher", "tmux"]).exit(0);
    world.wt(&["stop"]).exit(0);
    world.wait_until_nothing_is_left();
}

#[test]
fn ctrl_c_in_a_window_ends_the_loop_and_shows_it() {
    let world = World::with_agent(agents::SLEEPS);
    world.wt(&["start", "task", "--launcher", "tmux"]).exit(0);
    world.wait_for_log("sleeping");
    world.tmux(&["send-keys", "-t", "wt-loop-shop", "C-c"]);
    shows(&world, "wt-loop-shop", "interrupted by Ctrl-C");
    shows(&world, "wt-loop-shop", "press a key");
    world.tmux(&["send-keys", "-t", "wt-loop-shop", "C-c"]);
    world.wait_until_nothing_is_left();
}

#[test]
fn nothing_in_a_name_is_a_command_of_tmux() {
    let mut world = World::with_agent(agents::SLEEPS);
    world.move_to("#(touch owned) #{pid} #[x] ##;");
    world.wt(&["start", "task", "--launcher", "tmux"]).exit(0);
    world.wait_for_log("sleeping");
    assert_eq!(windows(&world), ["wt-loop-shop:#(touch owned) #{pid} #[x] ##;"]);
    world.wait_for_title("Ralph: #(touch owned) #{pid} #[x] ##; [1/10]");

    let odd = world.repository("#(touch owned) \"$(touch owned)\";");
    let answer = world.wt_in(&odd, &["start", "task", "--launcher", "tmux"]).exit(0);
    answer.stdout_has("go there   tmux attach -t wt-loop-__touch_owned_____touch_owned___:@");
    assert_eq!(windows(&world).len(), 2);
    // Whatever is shown of a name is shown, by a status line too.
    world.tmux(&["display-message", "-p", "-t", "wt-loop-shop", "#{status-left} #{window_name}"]);
    assert!(!snapshot(&world.base()).keys().any(|path| path.ends_with("owned")), "a name was run");
}

#[test]
fn two_repositories_of_one_name_have_two_sessions() {
    let world = World::with_agent(agents::SLEEPS);
    std::fs::create_dir(world.beside("other")).unwrap();
    let other = world.repository("other/shop");
    world.wt(&["start", "task", "--launcher", "tmux"]).exit(0);
    let answer = world.wt_in(&other, &["start", "task", "--launcher", "tmux"]).exit(0);
    world.wt_in(&world.main, &["start", "task", "--launcher", "tmux"]).exit(0);
    let mut found = windows(&world);
    found.sort();
    let second = found[0].strip_suffix(":shop").unwrap_or_else(|| panic!("{found:?}"));
    assert!(second.starts_with("wt-loop-shop-"), "{found:?}");
    assert_eq!(found[1..], ["wt-loop-shop:feat-x", "wt-loop-shop:shop"]);
    answer.stdout_has(&format!("go there   tmux attach -t {second}:@"));
}

#[test]
fn monitor_says_how_to_attach() {
    let world = World::with_agent(HOLDS);
    world.wt(&["start", "task", "--launcher", "tmux", "--max", "1"]).exit(0);
    let watching = world.spawn(&["monitor"]);
    world.wait_until_held(1);
    world.let_go(1);
    watching.wait().exit(3).stderr_has("to go where the loop runs: tmux attach -t wt-loop-shop:@0\n");
    // Of a loop that is over there is nothing to attach to.
    world.wt(&["monitor"]).exit(3).lacks("tmux attach");
    world.wt(&["run", "task", "--max", "1"]).exit(3);
    world.wt(&["monitor"]).exit(3).lacks("tmux attach");
}

#[test]
fn screen_has_a_session_for_the_worktree() {
    let mut world = World::with_agent(HOLDS);
    world.move_to("it's \"odd\" $(touch owned)");
    if !world.bring(&["screen"]) {
        return;
    }
    let sockets = world.beside("run/screen");
    let own = [("SCREENDIR", sockets.to_str().unwrap())];
    let answer = world.wt_env(&own, &["start", "task", "--launcher", "screen", "--max", "1"]).exit(0);
    let attach = answer.stdout.lines().find_map(|line| line.trim().strip_prefix("go there   screen -r "));
    let session = &*attach.unwrap().to_owned();
    assert!(session.starts_with("wt-loop-shop-it_s__odd____touch_owned_-"), "{session}");
    answer.stdout_has(&format!("runs in the screen session {session} (pid "));
    let hardcopy = |text: &str| {
        let file = world.beside("tmp/hardcopy");
        wait_until(text, || {
            let mut command = world.command("screen");
            command.args(["-S", session, "-X", "hardcopy", file.to_str().unwrap()]).envs(own);
            crate::support::run(command);
            std::fs::read(&file).is_ok_and(|screen| String::from_utf8_lossy(&screen).contains(text))
        });
    };
    hardcopy("at 1");
    world.let_go(1);
    hardcopy("press a key to close this window");
    let mut key = world.command("screen");
    key.args(["-S", session, "-X", "stuff", "x"]).envs(own);
    crate::support::run(key).exit(0);
    world.wait_until_nothing_is_left();

    std::fs::remove_file(world.beside("go-1")).unwrap();
    world.wt_env(&own, &["start", "task", "--launcher", "screen"]).exit(0);
    world.wt(&["stop"]).exit(0);
    world.wait_until_nothing_is_left();
    assert!(!snapshot(&world.base()).keys().any(|path| path.ends_with("owned")), "a name was run");
}
