//! Names, texts, output and files with escapes, line ends and bidirectional controls: every command shows them, and none obeys.

use std::fs;

use serde_json::json;

use super::{EVIL, EVIL_NAME, PAYLOADS, assert_harmless, on_terminal};
use crate::support::{World, agents, spawn, wait_until};

/// A worktree with an evil name and branch, whose agent and validation print evil things; one loop with an evil task has run in it.
fn evil_world() -> World {
    let mut world = World::new();
    world.root = world.beside(EVIL_NAME);
    let root = world.root.to_str().unwrap().to_owned();
    world.git(&world.main, &["worktree", "add", "-q", "-b", "b\u{202e}\u{9b}c", &root]);
    fs::write(world.beside("evil"), EVIL).unwrap();
    let evil = world.beside("evil");
    world.agent("claude", &format!("cat '{0}' >&2\ncat '{0}'\necho '<promise>COMPLETE</promise>'\n", evil.display()));
    world.write(
        ".wt-loop.toml",
        &format!("validation = {}\n", json!(format!("cat '{}'; echo '{EVIL}'; false", evil.display()))),
    );
    world.write("tasks.md", &format!("- [ ] {EVIL}\n- [ ] {}\n", EVIL.replace('\n', " ")));
    world.write("openspec/changes/good/proposal.md", EVIL);
    fs::create_dir_all(world.root.join("openspec/changes").join(EVIL_NAME)).unwrap();
    world
}

#[test]
fn no_command_gives_a_terminal_more_than_text_and_colours() {
    let world = evil_world();
    world.wt(&["context", "add", EVIL]).exit(0);
    let run = ["run", EVIL, "--label", EVIL, "--max", "1", "--done", "manual", "--completion-promise", "COMPLETE"];
    let ran = on_terminal(&world, &run).exit(3);
    assert_harmless(&ran);
    assert!(ran.stdout.contains("completion rejected by the project gate"), "{}", ran.stdout);
    for args in [
        &["status"][..],
        &["status", "--json"],
        &["history"],
        &["history", "--json"],
        &["list", "--all"],
        &["list", "--all", "--json"],
        &["doctor"],
        &["doctor", "--json"],
        &["validate"],
        &["validate", "--list"],
        &["monitor"],
        &["monitor", "--json"],
        &["context", "show"],
        &["stop"],
        &["run", EVIL, "--dry-run"],
        &["run", "task", "-c", "good", "--dry-run"],
        &["resume", "--max", "9", "--dry-run"],
        &["start", EVIL, EVIL],
        &["status", EVIL],
        &["run", "task", "--change", EVIL],
        &["run", "task", "--harness", EVIL],
        &["run", "task", "--model", "-x\x1b[2J"],
        &["run", "task", "--prompt-file", EVIL],
        &["start", "task", "--launcher", EVIL],
        &["completions", EVIL],
        &[EVIL],
    ] {
        let shown = on_terminal(&world, args);
        assert_harmless(&shown);
        assert!(!shown.stdout.is_empty(), "{args:?} says something");
        assert!(shown.status.code().is_some(), "{args:?}: {}", shown.status);
    }
}

#[test]
fn what_is_told_beside_the_answer_is_harmless_in_a_file_too() {
    let world = evil_world();
    let run = ["run", EVIL, "--max", "1", "--done", "manual", "--completion-promise", "COMPLETE"];
    world.wt(&run).exit(3);
    for args in
        [&["status"][..], &["history"], &["list", "--all"], &["doctor"], &["validate"], &["status", EVIL], &["stop"]]
    {
        assert_harmless(&world.wt(args));
    }
    // A program gets the answer as it is: JSON has escapes of its own.
    assert_eq!(world.wt(&["status", "--json"]).exit(0).json()["task"], EVIL);
    let told = world.log();
    let lines: Vec<&str> = told.lines().filter(|line| line.starts_with("wt-loop: validating")).collect();
    assert!(!lines.is_empty() && lines.iter().all(|line| PAYLOADS.iter().all(|bad| !line.contains(bad))), "{lines:?}");
}

#[test]
fn a_state_file_with_evil_in_every_field_is_shown_harmlessly() {
    let world = World::with_agent(agents::IDLE);
    let evil = json!({
        "worktree_name": EVIL, "change_id": EVIL, "module_id": EVIL, "label": EVIL, "task": EVIL, "status": "stuck",
        "status_reason": EVIL, "done_criteria": EVIL, "completion_promise": EVIL, "harness": EVIL, "model": EVIL,
        "started_at": EVIL, "updated_at": EVIL, "ended_at": EVIL, "waiting_until": EVIL, "host": EVIL, "loop_id": EVIL,
        "iterations": [{
            "n": 1, "started": EVIL, "ended": EVIL, "commits": [EVIL], "session_id": EVIL, "exit_reason": "completed",
            "validation": { "gate": EVIL, "command": EVIL, "exit_code": 1, "timed_out": false, "duration": 1, "detail": EVIL },
            "left_running": [{ "pid": 1, "name": EVIL }],
        }],
    });
    world.write(".claude/loop-state.json", &evil.to_string());
    world.write(".claude/ralph-loop.log", EVIL);
    for args in [
        &["status"][..],
        &["status", "--json"],
        &["history"],
        &["monitor"],
        &["stop"],
        &["doctor"],
        &["resume", "--dry-run"],
    ] {
        let shown = on_terminal(&world, args);
        assert_harmless(&shown);
        assert!(shown.status.code().is_some() && !shown.stdout.contains("panicked"), "{args:?}: {shown:?}");
    }
    // A field of the wrong kind is quoted by the parser.
    world.write(".claude/loop-state.json", &json!({ "status": EVIL }).to_string());
    for args in [&["status"][..], &["doctor"], &["run", "task"]] {
        assert_harmless(&on_terminal(&world, args));
    }
}

#[test]
fn mistakes_in_files_are_quoted_harmlessly() {
    let quoted = json!(EVIL).to_string().replace("\\u009b", "").replace('\u{9b}', "");
    for (file, text) in [
        (".wt-loop.toml", format!("{quoted} = 1\n")),
        (".wt-loop.toml", format!("max = {quoted}\n")),
        (".wt-loop.toml", format!("model = {}\n", json!("--yolo\u{202e}"))),
        (".wt-loop.toml", format!("{EVIL}\n")),
        ("ito.json", format!("{{\"validationCommands\": {{{quoted}: 1}}}}")),
        ("ito.json", EVIL.to_owned()),
    ] {
        let world = World::with_agent(agents::IDLE);
        world.write(file, &text);
        for args in [&["run", "task"][..], &["doctor"], &["validate"], &["validate", "--list"]] {
            let shown = on_terminal(&world, args);
            assert_harmless(&shown);
            let is_found = args != ["doctor"] || file == ".wt-loop.toml";
            assert!(!is_found || shown.status.code().is_some_and(|code| code != 0), "{file}, {args:?}: {shown:?}");
        }
    }
}

#[test]
fn a_running_loop_with_an_evil_name_can_be_listed_and_stopped() {
    let world = evil_world();
    world.agent("claude", agents::SLEEPS);
    world.start(&[EVIL, "--label", EVIL]);
    world.wait_for_log("sleeping");
    for args in [&["list"][..], &["status"], &["start", "another"], &["stop"]] {
        assert_harmless(&on_terminal(&world, args));
    }
    world.wait_until_nothing_is_left();
    assert!(world.beside("home/.local/state/wt-loop/loops").read_dir().unwrap().flatten().all(|entry| {
        entry.file_name().to_str().is_some_and(|name| name.is_ascii() && !name.contains(char::is_control))
    }));
}

#[test]
fn completions_offer_no_name_that_would_drive_a_terminal() {
    let world = evil_world();
    world.change("good", 1);
    let mut command = world.command(world.program());
    command.args(["--", "wt-loop", "status", ""]).env("WT_LOOP_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", "2");
    command.env("_CLAP_IFS", "\n");
    let offered = spawn(command).wait().exit(0);
    assert_harmless(&offered);
    assert!(offered.stdout.lines().any(|line| line == "good"), "{offered:?}");
    assert!(!offered.stdout.lines().any(|line| line == "z"), "a name is not two: {offered:?}");
}

#[test]
fn a_worktree_whose_name_is_a_command_is_only_a_name() {
    for name in
        ["$(touch pwned)", "`touch pwned`", "; touch pwned;", "#(touch pwned)", "-rf", "--help", "%s%n", "a'b\"c"]
    {
        let mut world = World::with_agent(agents::SLEEPS);
        world.root = world.beside(name);
        let root = world.root.to_str().unwrap().to_owned();
        world.git(&world.main, &["worktree", "add", "-q", "-b", "other", &root]);
        world.start(&["task"]);
        world.wait_for_log("sleeping");
        world.wt(&["status"]).exit(0).stdout_has(name);
        world.wt_in(&world.main, &["list"]).exit(0).stdout_has(name);
        world.wt(&["stop"]).exit(0);
        wait_until("the end", || world.processes().is_empty());
        let all = walkdir::WalkDir::new(world.base()).into_iter().flatten();
        assert!(!all.into_iter().any(|entry| entry.file_name() == "pwned"), "{name}");
    }
}
