//! Files and output of great depth and width: read, refused or cut, and never the end of the program.

use std::fs;

use crate::support::{World, agents};

const DEPTH: usize = 100_000;

fn nested(open: &str, close: &str) -> String {
    open.repeat(DEPTH) + &close.repeat(DEPTH)
}

/// None of these commands dies of it.
#[track_caller]
fn assert_survived(world: &World, commands: &[&[&str]]) {
    for args in commands {
        let told = world.wt(args).lacks("panicked").lacks("overflow");
        assert!(told.status.code().is_some(), "{args:?}: {}", told.status);
        let longest = told.stderr.lines().map(str::len).max().unwrap_or(0);
        assert!(longest < 4096, "{args:?} is told in a line of {longest} bytes");
    }
}

#[test]
fn deep_json_and_toml_are_refused_in_a_line() {
    let (arrays, objects) = (nested("[", "]"), nested("{\"a\":", "}").replace(":}", ":1}"));
    for text in [&arrays, &objects] {
        let world = World::with_agent(agents::IDLE);
        world.write(".claude/loop-state.json", &format!("{{\"status\": \"stopped\", \"other\": {text}}}"));
        assert_survived(&world, &[&["status"], &["history"], &["doctor"], &["list", "--all"], &["resume"], &["stop"]]);
        world.wt(&["run", "task", "--max", "1"]).exit(3).stderr_has("is kept as ");

        let world = World::with_agent(agents::IDLE);
        world.write("ito.json", &format!("{{\"validationCommands\": {text}}}"));
        assert_survived(&world, &[&["run", "task"], &["validate"], &["validate", "--list"]]);
        world.wt(&["run", "task"]).exit(1).stderr_has("ito.json, line 1, column ");

        let world = World::with_agent(agents::IDLE);
        world.change("x", 1);
        world.write(".claude/ralph/x/state.json", text);
        assert_survived(&world, &[&["run", "task", "-c", "x", "--max", "1"], &["ralph", "--status", "-c", "x"]]);
    }
    let world = World::with_agent(agents::IDLE);
    for text in [
        format!("validation = {arrays}\n"),
        format!("max = {}\n", nested("{a=", "}")),
        format!("[{}]\n", vec!["a"; DEPTH].join(".")),
    ] {
        world.write(".wt-loop.toml", &text);
        assert_survived(&world, &[&["run", "task"], &["doctor"], &["validate"]]);
        world.wt(&["run", "task"]).exit(2).stderr_has(".wt-loop.toml: ");
    }
}

#[test]
fn deep_output_of_an_agent_is_text() {
    let world = World::with_agent("cat > /dev/null\ncat ../deep\n");
    let line = format!("{{\"type\":\"assistant\",\"message\":{}\n", nested("[", "]"));
    fs::write(world.beside("deep"), line.repeat(3) + &nested("{\"type\":", "}")).unwrap();
    for harness in ["claude", "codex", "opencode", "gemini", "pi", "copilot"] {
        world.agent(harness, "cat > /dev/null\ncat ../deep\n");
        let ran = world.wt(&["run", "task", "--max", "1", "--harness", harness]).exit(3).lacks("overflow");
        assert!(ran.stdout.len() > DEPTH, "{harness}");
    }
}

#[test]
fn lines_of_a_mebibyte_are_read_and_shown_cut() {
    let long = "0123456789abcde ".repeat(1 << 16);
    // Without optimisation, and on a machine that has more to do, this much text takes its time.
    let patience = std::time::Duration::from_secs(180);
    let world = World::with_agent("cat > /dev/null\ncat ../long\n");
    fs::write(world.beside("long"), &long).unwrap();
    world.write("tasks.md", &format!("- [ ] {long}\n"));
    world.write("AGENTS.md", &format!("{long}\n\n## Tests\n\n```\ntrue # {}\n```\n", &long[..1000]));
    let args = ["run", "--prompt-file", "../long", "--max", "1", "--label", &long[..100_000]];
    world.spawn(&args).wait_within(patience).exit(3);
    assert_eq!(world.state()["task"].as_str().unwrap().len(), long.len());
    let terminal = super::on_terminal(&world, &["list", "--all"]).exit(0);
    assert!(terminal.stdout.lines().all(|line| line.len() < 400), "a table fits its terminal");
    for args in [&["status"][..], &["history"], &["list", "--all"], &["doctor"], &["validate"], &["monitor"]] {
        let told = world.spawn(args).wait_within(patience).lacks("panicked");
        assert!(told.status.code().is_some(), "{args:?}");
    }
}

#[test]
fn a_tasks_md_without_end_is_no_list_and_does_not_take_the_memory() {
    let world = World::with_agent("cat > /dev/null\nrm tasks.md\ntruncate -s 300G tasks.md || exit 9\n");
    std::os::unix::fs::symlink(which::which("truncate").unwrap(), world.beside("tools/truncate")).unwrap();
    world.tasks(0, 1);
    let told = world.wt(&["run", "task", "--max", "1"]).exit(3);
    told.lacks("panicked");
    world.wt(&["validate"]).exit(1).stderr_has("is larger than 8 MiB");
}
