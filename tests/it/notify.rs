//! Somebody who looks elsewhere is told that a loop is over: on a real session bus, and in a real terminal.

use std::fs;
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Manner, SAYS_DONE, Terminal, World, agents, wait_until};

/// Title and text of every notification that was asked for.
fn told(asked: &[Value]) -> Vec<(&str, &str)> {
    asked.iter().map(|call| (call[4].as_str().unwrap(), call[5].as_str().unwrap())).collect()
}

#[test]
fn the_desktop_is_told_of_done_stuck_and_stalled() {
    let table = [
        (SAYS_DONE, &["--max", "3"][..], 0, "done", "after 1 iteration: the agent's promise was accepted"),
        (agents::COMMITS, &["--max", "2"], 3, "stuck", "after 2 iterations: 2 iterations without completion"),
        (
            agents::IDLE,
            &["--stall-threshold", "1"],
            4,
            "stalled",
            "after 1 iteration: 1 iteration in a row without progress",
        ),
        (agents::FAILS, &["--fail-fast"], 1, "stuck", "after 1 iteration: iteration 1 failed, and --fail-fast is on"),
    ];
    for (agent, options, exit, status, text) in table {
        let world = World::with_agent(agent);
        let Some(desktop) = world.desktop(Manner::Answers) else { return };
        world.wt_env(&[desktop.variable()], &[&["run", "x"], options].concat()).exit(exit).lacks("\x07");
        let asked = desktop.asked();
        assert_eq!(told(&asked), [(format!("Ralph: feat-x [{status}]").as_str(), text)]);
        assert_eq!((&asked[0][0], &asked[0][1]), (&json!("Notify"), &json!("wt-loop")));
    }
}

#[test]
fn an_error_that_ends_a_loop_is_told_and_a_persons_stop_is_not() {
    let world = World::with_agent("rm -rf \"$PWD\"\n");
    let Some(desktop) = world.desktop(Manner::Answers) else { return };
    world.wt_env(&[desktop.variable()], &["run", "x"]).exit(1);
    let asked = desktop.asked();
    assert_eq!(told(&asked)[0].0, "Ralph: feat-x [stopped]");

    let world = World::with_agent(agents::SLEEPS);
    let desktop = world.desktop(Manner::Answers).unwrap();
    world.wt_env(&[desktop.variable()], &["start", "x", "--launcher", "background"]).exit(0);
    world.wt(&["stop"]).exit(0);
    world.wait_until_over();
    assert_eq!(desktop.asked(), [] as [Value; 0]);
}

#[test]
fn a_name_is_neither_markup_nor_a_sequence() {
    let world = World::with_agent(agents::IDLE);
    let Some(desktop) = world.desktop(Manner::Answers) else { return };
    let root = world.repository("<b>\x1b]0;x\x07&'\n\"ü;");
    let mut command = world.command(world.program());
    command.args(["run", "x", "--max", "1", "--label", "<i>&"]).env(desktop.variable().0, desktop.variable().1);
    command.current_dir(&root);
    crate::support::run(command).exit(3);
    assert_eq!(told(&desktop.asked())[0].0, "Ralph: <b>&' \"ü; (<i>&) [stuck]", "a title is plain text");

    // The reason has the agent's own words in it.
    let world = World::with_agent(
        r#"cat > /dev/null
echo '{"type":"system","subtype":"init","session_id":"s"}'
echo '{"type":"result","subtype":"success","is_error":true,"result":"Invalid API key <a href=\"x\">&\u001b[31m · Please run /login"}'
exit 1
"#,
    );
    let desktop = world.desktop(Manner::Answers).unwrap();
    world.wt_env(&[desktop.variable()], &["run", "x"]).exit(3);
    let asked = desktop.asked();
    let body = told(&asked)[0].1.to_owned();
    assert!(body.contains("&lt;a href=\"x\"&gt;&amp; · Please run /login"), "{body}");
}

#[test]
fn nobody_is_told_who_does_not_want_to_be() {
    let world = World::with_agent(agents::IDLE);
    let Some(desktop) = world.desktop(Manner::Answers) else { return };
    let bus = desktop.variable();
    let run = &["run", "x", "--max", "1"][..];
    let ralph = &["ralph", "x", "--no-change", "--max", "1"][..];
    let count = |variables: &[(&str, &str)], args: &[&str]| {
        let before = desktop.asked().len();
        world.wt_env(variables, args).exit(3);
        desktop.asked().len() - before
    };
    assert_eq!(count(&[bus], run), 1);
    assert_eq!(count(&[bus], &[run, &["--no-notify"]].concat()), 0);
    assert_eq!(count(&[bus], &[run, &["--no-notify", "--notify"]].concat()), 1, "the last word counts");
    assert_eq!(count(&[bus, ("WT_LOOP_NOTIFY", "false")], run), 0);
    assert_eq!(count(&[bus, ("WT_LOOP_NOTIFY", "false")], &[run, &["--notify"]].concat()), 1);
    assert_eq!(count(&[bus], ralph), 0);
    assert_eq!(count(&[bus], &[ralph, &["--notify"]].concat()), 1);
    world.user_config("notify = false\n");
    assert_eq!(count(&[bus], run), 0);
    assert_eq!(count(&[bus], &[run, &["--notify"]].concat()), 1);
    world.user_config("no_notify = true\n");
    world.wt_env(&[bus], run).exit(2).stderr_has("unknown key no_notify; did you mean notify?");
}

#[test]
fn a_loop_in_another_place_tells_the_desktop_of_the_shell_that_started_it() {
    for launcher in ["background", "tmux"] {
        let world = World::with_agent(agents::IDLE);
        let Some(desktop) = world.desktop(Manner::Answers) else { return };
        // A server that knows nothing of the desktop.
        world.tmux(&["new-session", "-d", "-s", "other", "sleep", "1000"]);
        world.wt_env(&[desktop.variable()], &["start", "x", "--max", "1", "--launcher", launcher]).exit(0);
        wait_until("the notification", || desktop.asked().len() == 1);
    }
}

#[test]
fn without_a_desktop_nothing_is_tried_and_nothing_is_said() {
    let world = World::with_agent(agents::IDLE);
    let plain = |output: crate::support::Output| {
        let lines = output.stderr.lines().filter(|line| !line.contains("iteration 1/1"));
        lines.map(|line| line.split(" (1 iteration").next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let silent = plain(world.wt(&["run", "x", "--max", "1", "--no-notify"]).exit(3));
    assert_eq!(plain(world.wt(&["run", "x", "--max", "1", "--notify"]).exit(3)), silent);
    for address in ["unix:path=/nowhere/bus", "tcp:host=", "what is this", ""] {
        let variables = [("DBUS_SESSION_BUS_ADDRESS", address)];
        assert_eq!(plain(world.wt_env(&variables, &["run", "x", "--max", "1"]).exit(3)), silent, "{address}");
    }
    assert!(!world.log().contains("notif"), "{}", world.log());
}

#[test]
fn a_bus_that_never_answers_holds_nobody() {
    let world = World::with_agent(agents::IDLE);
    let socket = world.beside("run/deaf");
    let _deaf = UnixListener::bind(&socket).unwrap();
    let address = format!("unix:path={}", socket.display());
    let from = Instant::now();
    world.wt_env(&[("DBUS_SESSION_BUS_ADDRESS", &address)], &["run", "x", "--max", "1"]).exit(3);
    // The library itself would wait 25 s.
    assert!(from.elapsed() < Duration::from_secs(15), "{:?}", from.elapsed());
    world.wait_until_nothing_is_left();
}

#[test]
fn a_desktop_that_never_answers_holds_no_next_loop() {
    let world = World::with_agent(agents::IDLE);
    let Some(desktop) = world.desktop(Manner::Silent) else { return };
    let mut command = world.command(world.program());
    command.args(["run", "x", "--max", "1"]).env(desktop.variable().0, desktop.variable().1);
    let first = crate::support::spawn(command);
    wait_until("the notification", || desktop.asked().len() == 1);
    world.wt(&["run", "y", "--max", "1"]).exit(3);
    first.wait().exit(3);
    assert_eq!(world.processes_like("__notify"), []);
}

/// What a terminal gets from a loop that ends, from its first title on.
fn recorded(options: &str) -> String {
    let world = World::with_agent(agents::IDLE);
    let terminal = Terminal::open(&world, 100, 30);
    let recording = terminal.record("bytes");
    terminal.type_wt(&format!("run x --max 1 {options}"));
    assert_eq!(terminal.wait_for_exit(), 3);
    let text = || String::from_utf8_lossy(&fs::read(&recording).unwrap()).into_owned();
    wait_until("all of the recording", || text().contains("exit=3\r\n"));
    let all = text();
    all[all.find("\x1b]0;").unwrap()..].to_owned()
}

#[test]
fn a_terminal_gets_its_bell_and_its_notifications() {
    let bytes = recorded("");
    let words = "after 1 iteration: 1 iteration without completion";
    let expected =
        format!("\x1b]9;Ralph: feat-x [stuck] {words}\x1b\\\x1b]777;notify;Ralph: feat-x [stuck];{words}\x1b\\\x07");
    assert_eq!(bytes.matches(&expected).count(), 1, "{bytes:?}");

    let bytes = recorded("--no-notify");
    let titles = bytes.matches("\x1b]0;").count();
    assert_eq!((bytes.matches('\x07').count(), bytes.matches("\x1b]").count()), (titles, titles), "{bytes:?}");
}
