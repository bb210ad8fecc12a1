//! Words on the command line, in the environment and in files that cannot be.

use crate::support::{Output, World, agents, snapshot};

/// Refused with this code and exactly this, before anything was written.
#[track_caller]
fn refused(world: &World, args: &[&str], code: i32, stderr: &str) {
    let before = snapshot(&world.base());
    world.wt(args).exit(code).stdout("").stderr(stderr);
    assert_eq!(snapshot(&world.base()), before, "it wrote something");
}

/// Refused as wrong usage, in one line that has `named`, with a hint that has `hinted`, before anything was written.
#[track_caller]
fn wrong_usage(world: &World, args: &[&str], named: &str, hinted: &str) {
    let before = snapshot(&world.base());
    let output = world.wt(args).exit(2).stdout("");
    let lines: Vec<&str> = output.stderr.lines().collect();
    assert!(lines[0].starts_with("wt-loop: ") && lines[0].contains(named), "{named:?} is not in {lines:?}");
    assert!(lines[1..].iter().all(|line| line.starts_with("hint: ")), "one line and hints: {lines:?}");
    assert!(lines[1..].iter().any(|line| line.contains(hinted)), "no hint {hinted:?} in {lines:?}");
    assert_eq!(snapshot(&world.base()), before, "it wrote something");
}

#[test]
fn an_empty_task() {
    let world = World::with_agent(agents::IDLE);
    let empty = "wt-loop: the task is empty\nhint: wt-loop start \"what is to be done\"\n";
    refused(&world, &["start"], 2, empty);
    refused(&world, &["start", "  \n\t"], 2, empty);
    refused(&world, &["run", "   "], 2, empty);
    refused(&world, &["start", ""], 2, empty);
    refused(&world, &["run", ""], 2, empty);
    refused(&world, &["start", "feat-x", ""], 2, empty);
    wrong_usage(&world, &["start", "", "task"], "no change and no worktree called ''", "");
    let file = world.beside("empty.md");
    std::fs::write(&file, "\n \n").unwrap();
    wrong_usage(&world, &["run", "--prompt-file", file.to_str().unwrap()], "empty.md is empty", "");
    let before = snapshot(&world.base());
    world.wt(&["run", "--prompt-file", "no/such/file"]).exit(1).stderr_has(
        "wt-loop: cannot read the prompt file no/such/file: no such file or directory\n\
                     hint: --prompt-file takes the path of a text, or - for standard input\n",
    );
    assert_eq!(snapshot(&world.base()), before);
}

#[test]
fn names_that_resemble_nothing() {
    let world = World::with_agent(agents::IDLE);
    wrong_usage(&world, &["man", "zzzzzz"], "no manual page called 'zzzzzz'", "wt-loop man --list");
    let other = ["run", "task", "--change", "zzzzzz"];
    wrong_usage(
        &world,
        &other,
        "no change called 'zzzzzz'; there are none here",
        "without --change the loop works on the task alone",
    );
    world.change("add-login", 1);
    wrong_usage(&world, &other, "no change called 'zzzzzz'; found: add-login", "--change add-login");
    world.change("add-logout", 1);
    wrong_usage(&world, &["run", "task", "--change", "add-log"], "begins with 'add-log'", "--change add-login");
}

#[test]
fn min_over_max() {
    let world = World::with_agent(agents::IDLE);
    let told =
        "wt-loop: --min 5 is more than --max 3: no claim could ever be believed\nhint: --max 5, or a smaller --min\n";
    refused(&world, &["run", "task", "--min", "5", "--max", "3"], 2, told);
    refused(&world, &["start", "task", "--min", "5", "--max", "3"], 2, told);
    wrong_usage(&world, &["run", "task", "--min", "11"], "--min 11 is more than --max 10", "--max 11");
    world.wt(&["run", "task", "--min", "11", "--max", "0", "--stall-threshold", "1"]).exit(4);
}

#[test]
fn nonsense_numbers_and_times() {
    let world = World::with_agent(agents::IDLE);
    for (option, value) in [
        ("--max", "many"),
        ("--max", "-1"),
        ("--max", "1.5"),
        ("--max", "99999999999999999999"),
        ("--min", "0"),
        ("--min", "x"),
        ("--stall-threshold", "-2"),
        ("--error-threshold", "two"),
        ("--iteration-timeout", "soon"),
        ("--iteration-timeout", "-5"),
        ("--idle-timeout", "5"),
        ("--max-time", "1.5h"),
        ("--max-time", "999999999999h"),
        ("--done", "maybe"),
        ("--progress", "vibes"),
        ("--completion-promise", " "),
    ] {
        wrong_usage(&world, &["run", "task", &format!("{option}={value}")], option, "wt-loop run --help");
        let error = world.wt(&["run", "task", &format!("{option}={value}")]).stderr;
        assert!(error.contains(&format!("'{value}'")), "{option} {value} is not named: {error}");
    }
    wrong_usage(&world, &["history", "--limit", "x"], "--limit", "");
    wrong_usage(&world, &["monitor", "--interval", "0"], "--interval", "");
    wrong_usage(&world, &["monitor", "--lines", "-1"], "-1", "");
}

#[test]
fn unknown_words_get_the_nearest() {
    let world = World::with_agent(agents::IDLE);
    wrong_usage(&world, &["statsu"], "'statsu'", "'status'");
    wrong_usage(&world, &["run", "task", "--mx", "3"], "'--mx'", "did you mean --max?");
    wrong_usage(&world, &["status", "--jsn"], "'--jsn'", "did you mean --json?");
    wrong_usage(
        &world,
        &["run", "task", "--harness", "cluade"],
        "no agent called 'cluade'",
        "did you mean --harness claude?",
    );
    wrong_usage(
        &world,
        &["start", "task", "--done", "manual", "--launcher", "tmix"],
        "no launcher called 'tmix'",
        "did you mean --launcher tmux?",
    );
    wrong_usage(
        &world,
        &["start", "feat-y", "task"],
        "no change and no worktree called 'feat-y'",
        "did you mean feat-x?",
    );
    world.change("add-login", 1);
    wrong_usage(&world, &["run", "task", "--change", "add-lgoin"], "add-lgoin", "add-login");
    wrong_usage(&world, &["start", "add-logn", "task"], "add-logn", "add-login");
    wrong_usage(&world, &["completions", "tcsh"], "tcsh", "");
}

#[test]
fn a_name_that_fits_two_lists_them() {
    let world = World::with_agent(agents::IDLE);
    world.change("add-login", 1);
    world.change("add-logout", 1);
    for args in [&["start", "add-log", "task"][..], &["run", "task", "--change", "add-log"]] {
        let told = world.wt(args).exit(2).stdout("").stderr;
        assert!(told.contains("add-login") && told.contains("add-logout"), "{told}");
    }
    assert!(!world.root.join(".claude").exists());
}

#[test]
fn no_agent_on_path_names_those_found() {
    let world = World::new();
    let hint = "hint: --harness rehearsal tries things out at no cost; wt-loop doctor tells what is missing\n";
    refused(&world, &["run", "task"], 1, &format!("wt-loop: no agent called 'claude' on PATH, nor any other\n{hint}"));
    world.agent("codex", "");
    world.agent("pi", "");
    let found = "wt-loop: no agent called 'claude' on PATH; found: codex, pi\nhint: --harness codex\n";
    refused(&world, &["run", "task"], 1, found);
    refused(&world, &["start", "task"], 1, found);
}

#[test]
fn an_agent_that_vanishes_or_cannot_be_started_is_a_failure_and_no_end() {
    let world = World::with_agent("cat > /dev/null\nrm ../bin/claude\n");
    let told = world.wt(&["run", "task", "--error-threshold", "1"]).exit(3);
    told.stderr_has("wt-loop: the agent could not be started: ").stderr_has("wt-loop: stuck: 1 failure in a row");
    let second = world.state()["iterations"][1].clone();
    assert_eq!((&second["exit_reason"], &second["exit_code"]), (&"not_started".into(), &serde_json::Value::Null));
    std::fs::write(world.beside("bin/claude"), "#!/no/such/interpreter\n").unwrap();
    std::fs::set_permissions(world.beside("bin/claude"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    world.wt(&["run", "task", "--fail-fast"]).exit(1).stderr_has("the agent could not be started");
}

#[test]
fn the_environment_is_read_as_strictly_as_the_command_line() {
    let world = World::with_agent(agents::IDLE);
    let told = |output: Output, place: &str| {
        let output = output.exit(2).stdout("");
        assert!(output.stderr.starts_with(&format!("wt-loop: {place}")), "{}", output.stderr);
    };
    told(world.wt_env(&[("WT_LOOP_MAX", "lots")], &["run", "task"]), "WT_LOOP_MAX: ");
    told(world.wt_env(&[("WT_LOOP_DONE", "perhaps")], &["run", "task"]), "WT_LOOP_DONE: ");
    told(world.wt_env(&[("WT_LOOP_HARNESS", "cluade")], &["run", "task"]), "no agent called 'cluade'");
    world.wt_env(&[("WT_LOOP_MAX", ""), ("WT_LOOP_RUN_MAX", "x")], &["run", "task"]).exit(4);
}

#[test]
fn settings_with_unknown_broken_or_forbidden_lines() {
    let world = World::with_agent(agents::IDLE);
    let repository = world.root.join(".wt-loop.toml").display().to_string();
    world.agent("evil", "touch ../evil-ran\n");
    for (text, named, hinted) in [
        ("mox = 3\n", "mox", "max"),
        ("max = \"lots\"\n", "max", ""),
        ("max = [\n", "line 1", ""),
        ("harness = \"codex\"\n", "harness", "--harness"),
        ("allow_all = true\n", "allow_all", "--allow-all"),
        ("agent_arg = [\"--evil\"]\n", "agent_arg", "--agent-arg"),
        ("launcher = \"background\"\n", "launcher", "--launcher"),
        ("prompt_template = \"x.md\"\n", "prompt_template", ""),
        ("fail_fast = true\n", "fail_fast", "--fail-fast"),
    ] {
        world.write(".wt-loop.toml", text);
        for command in ["run", "start"] {
            let told = world.wt(&[command, "task"]).exit(2).stdout("").stderr;
            let lines: Vec<&str> = told.lines().collect();
            assert!(
                lines[0].starts_with(&format!("wt-loop: {repository}: ")) && lines[0].contains(named),
                "{text}{told}"
            );
            assert!(lines.len() <= 2 && told.contains(hinted), "{text}{told}");
        }
    }
    std::fs::remove_file(world.root.join(".wt-loop.toml")).unwrap();
    world.user_config("stall_treshold = 3\n");
    world.wt(&["run", "task"]).exit(2).stderr_has("config.toml: ").stderr_has("stall_threshold");
    assert!(!world.root.join(".claude").exists());
}
