//! The user's own title is there again when a loop leaves the user's terminal, however it leaves.

use std::fs;

use crate::support::{Terminal, World, agents, run, serve, wait_for, wait_until};

const OWN: &str = "my own title";

/// A terminal with a title of the user's.
fn titled(world: &World) -> Terminal<'_> {
    let terminal = Terminal::open(world, 100, 30);
    terminal.type_line(&format!("printf '\\033]2;{OWN}\\033\\\\'"));
    wait_for_title(&terminal, OWN);
    terminal
}

#[track_caller]
fn wait_for_title(terminal: &Terminal, title: &str) {
    wait_until(&format!("the title {title}"), || terminal.fact("#{pane_title}") == title);
}

/// Waits for the end of the call, and for what the terminal was told before.
#[track_caller]
fn ends_with_own_title(terminal: &Terminal, exit: i32) {
    assert_eq!(terminal.wait_for_exit(), exit);
    assert_eq!(terminal.fact("#{pane_title}"), OWN);
}

#[test]
fn the_users_title_is_back_after_a_foreground_loop() {
    let world = World::with_agent("until [ -e \"$TMPDIR/go\" ]; do sleep 0.02; done\n");
    let terminal = titled(&world);
    terminal.type_wt("run x --max 1");
    wait_for_title(&terminal, "Ralph: feat-x [1/1]");
    fs::write(world.beside("tmp/go"), "").unwrap();
    ends_with_own_title(&terminal, 3);
}

#[test]
fn the_users_title_is_back_after_ctrl_c_a_stop_a_signal_and_an_error() {
    type End<'a> = &'a dyn Fn(&World, &Terminal);
    let ends: [(&str, End, i32); 4] = [
        ("", &|_, terminal| terminal.press("C-c"), 130),
        ("", &|world, _| drop(world.wt(&["stop"]).exit(0)), 5),
        ("", &|world, _| drop(world.tool("sh", &["-c", "kill -TERM $(cat .claude/ralph-terminal.pid)"]).exit(0)), 130),
        ("rm -r .claude; touch .claude", &|world, _| fs::write(world.beside("tmp/go"), "").unwrap(), 1),
    ];
    for (last, end, exit) in ends {
        let world =
            World::with_agent(&format!("echo sleeping\nuntil [ -e \"$TMPDIR/go\" ]; do sleep 0.02; done\n{last}\n"));
        let terminal = titled(&world);
        terminal.type_wt("run x");
        wait_for_title(&terminal, "Ralph: feat-x [1/10]");
        world.wait_for_log("sleeping");
        end(&world, &terminal);
        ends_with_own_title(&terminal, exit);
    }
}

#[test]
fn the_users_title_is_there_while_a_loop_is_suspended() {
    let world = World::with_agent("echo sleeping\nuntil [ -e \"$TMPDIR/go\" ]; do sleep 0.02; done\n");
    let terminal = titled(&world);
    terminal.type_wt("run x --max 1");
    wait_for_title(&terminal, "Ralph: feat-x [1/1]");
    world.wait_for_log("sleeping");
    terminal.press("C-z");
    terminal.shows("Stopped");
    wait_for_title(&terminal, OWN);
    terminal.clear();
    terminal.type_line("fg; echo exit=$?");
    wait_for_title(&terminal, "Ralph: feat-x [1/1]");
    fs::write(world.beside("tmp/go"), "").unwrap();
    ends_with_own_title(&terminal, 3);
}

#[test]
fn the_users_title_is_there_while_a_pause_is_suspended() {
    let world = World::with_agent(agents::FAILS);
    let terminal = titled(&world);
    terminal.type_wt("run x --stall-threshold 0 --error-threshold 9");
    world.wait_for_log("waiting 4.0s before the next try");
    terminal.press("C-z");
    terminal.shows("Stopped");
    wait_for_title(&terminal, OWN);
    terminal.clear();
    terminal.type_line("fg; echo exit=$?");
    wait_until("a title of the loop's", || terminal.fact("#{pane_title}").starts_with("Ralph: feat-x ["));
    terminal.press("C-c");
    ends_with_own_title(&terminal, 130);
}

#[test]
fn a_title_is_borrowed_once_and_given_back_last() {
    let world = World::with_agent(agents::IDLE);
    let terminal = Terminal::open(&world, 100, 30);
    let recording = terminal.record("bytes");
    terminal.type_wt("run x --max 2 --stall-threshold 0");
    assert_eq!(terminal.wait_for_exit(), 3);
    let text = || String::from_utf8_lossy(&fs::read(&recording).unwrap()).into_owned();
    wait_until("all of the recording", || text().contains("exit=3\r\n"));
    let bytes = text();
    let at = |part: &str| bytes.match_indices(part).map(|(at, _)| at).collect::<Vec<_>>();
    let (pushed, titles, popped) = (at("\x1b[22;0t"), at("\x1b]0;Ralph: feat-x ["), at("\x1b[23;0t"));
    assert_eq!((pushed.len(), titles.len(), popped.len()), (1, 3, 1), "{bytes:?}");
    assert!(pushed[0] < titles[0] && titles[2] < popped[0], "{bytes:?}");
    assert!(
        bytes.contains("\x1b]0;Ralph: feat-x [stuck]\x07"),
        "a terminal without a stack shows how it ended: {bytes:?}"
    );
}

#[test]
fn a_window_of_the_loops_own_keeps_the_last_title() {
    let world = World::with_agent(agents::IDLE);
    world.wt(&["start", "x", "--max", "1", "--launcher", "tmux"]).exit(0);
    world.wait_for_title("Ralph: feat-x [stuck]");
}

#[test]
fn xterm_has_the_users_title_back() {
    let tools = ["Xvfb", "xterm", "xprop"].map(|name| (name, which::which(name)));
    if let Some((name, _)) = tools.iter().find(|(_, found)| found.is_err()) {
        eprintln!("SKIPPED: titles in a real xterm: {name} is not installed");
        return;
    }
    let [xvfb, xterm, xprop] = tools.map(|(_, found)| found.unwrap());
    let world = World::with_agent("echo sleeping\nuntil [ -e \"$TMPDIR/go\" ]; do sleep 0.02; done\n");
    let display = world.beside("display");
    let mut server = world.command(xvfb);
    server.args(["-displayfd", "1", "-screen", "0", "800x600x24", "-nolisten", "tcp"]);
    server.stdout(fs::File::create(&display).unwrap());
    serve(server);
    let number = wait_for("an X server", || {
        fs::read_to_string(&display).ok().filter(|number| number.ends_with('\n')).map(|number| number.trim().to_owned())
    });
    let display = format!(":{number}");

    let script = format!(
        "printf '\\033]0;{OWN}\\007'; echo $WINDOWID > \"$TMPDIR/window\"\n\
         until [ -e \"$TMPDIR/begin\" ]; do sleep 0.02; done\n\
         '{}' run x --max 1; echo $? > \"$TMPDIR/exit\"; exec sleep 1000",
        world.program().display()
    );
    let mut window = world.command(xterm);
    window.env("DISPLAY", &display).args(["-e", "sh", "-c", &script]);
    serve(window);
    let id = wait_for("a window", || {
        fs::read_to_string(world.beside("tmp/window"))
            .ok()
            .filter(|id| id.ends_with('\n'))
            .map(|id| id.trim().to_owned())
    });
    let title = || {
        let mut command = world.command(&xprop);
        command.env("DISPLAY", &display).args(["-id", &id, "-notype", "WM_NAME", "WM_ICON_NAME"]);
        run(command).exit(0).stdout
    };
    let shown = |title: &str| format!("WM_NAME = \"{title}\"\nWM_ICON_NAME = \"{title}\"\n");
    wait_until("the user's title", || title() == shown(OWN));
    fs::write(world.beside("tmp/begin"), "").unwrap();
    wait_until("the loop's title", || title() == shown("Ralph: feat-x [1/1]"));
    fs::write(world.beside("tmp/go"), "").unwrap();
    wait_until("the end", || world.beside("tmp/exit").exists());
    wait_until("the user's title again", || title() == shown(OWN));
}
