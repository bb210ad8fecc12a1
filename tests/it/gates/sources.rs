//! Where the project's validation comes from.

use std::fs;
use std::os::unix::fs::symlink;

use super::ralph;
use crate::support::{PROMISES, World};

/// What `validate --list` shows of the project gate.
#[track_caller]
fn listed(world: &World) -> Vec<String> {
    let output = world.wt(&["validate", "--list"]).exit(0);
    let lines = output.stdout.lines().filter_map(|line| line.strip_prefix("project"));
    lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn the_first_that_has_any_in_the_documents_order() {
    let world = World::new();
    let block = |command: &str| format!("## Validation\n```\n{command}\n```\n");
    let sources = [
        ("CLAUDE.md", block("e")),
        ("AGENTS.md", block("d")),
        (".wt-loop.toml", "validation = 'c'\n".to_owned()),
        (".ito/config.json", r#"{"validationCommand": "b"}"#.to_owned()),
        ("ito.json", r#"{"validationCommand": "a"}"#.to_owned()),
    ];
    for ((file, text), command) in sources.iter().zip(["e", "d", "c", "b", "a"]) {
        world.write(file, text);
        assert_eq!(listed(&world), [format!("{command} (from {file})")]);
    }
    world.write("ito.json", r#"{"schema": 1, "validationCommands": []}"#);
    assert_eq!(listed(&world), ["b (from .ito/config.json)"], "one that has none is passed over");
}

#[test]
fn every_key_that_ito_reads_as_a_string_and_as_a_list() {
    let world = World::new();
    for file in ["ito.json", ".ito/config.json"] {
        for place in ["ralph", "project", ""] {
            for key in ["validationCommands", "validationCommand", "validation.commands", "validation.command"] {
                for (value, expected) in
                    [(r#""make a""#, &["make a"][..]), (r#"["make a", "make b"]"#, &["make a", "make b"])]
                {
                    let inner = match key.split_once('.') {
                        Some((outer, inner)) => format!(r#"{{"{outer}": {{"{inner}": {value}}}}}"#),
                        None => format!(r#"{{"{key}": {value}}}"#),
                    };
                    let text = if place.is_empty() { inner } else { format!(r#"{{"{place}": {inner}}}"#) };
                    world.write(file, &text);
                    let expected: Vec<String> = expected.iter().map(|one| format!("{one} (from {file})")).collect();
                    assert_eq!(listed(&world), expected, "{text}");
                }
            }
        }
        fs::remove_file(world.root.join(file)).unwrap();
    }
}

#[test]
fn markdown_blocks_and_lines() {
    let world = World::new();
    for (text, expected) in [
        ("## How to verify\n\n~~~sh\n$ make lint\n# not this\nmake \\\n  all\n~~~\n", &["make lint", "make all"][..]),
        ("# Checks\r\n```\r\nmake x\r\n```\r\n", &["make x"]),
        ("## Build\n```\nmake b\n```\n### Tests\n````\nmake t\n````\n", &["make t"]),
        ("Before you push:\n\nmake check\n\n- `make test`\n", &["make check"]),
        ("run make check or make test\n", &[]),
    ] {
        world.write("AGENTS.md", text);
        let expected: Vec<String> = expected.iter().map(|one| format!("{one} (from AGENTS.md)")).collect();
        assert_eq!(listed(&world), expected, "{text}");
    }
}

#[test]
fn one_that_cannot_be_parsed_is_an_error_at_the_start_that_names_the_place() {
    for (file, text, place, code) in [
        ("ito.json", "{\n  \"ralph\": oops\n}\n", "ito.json, line 2, column 12: ", 1),
        (".ito/config.json", "{\"a\": 1,\n\n  }\n", ".ito/config.json, line 3, column 3: ", 1),
        ("ito.json", "", "ito.json, line 1, column 0: ", 1),
        (
            "ito.json",
            "{\n  \"ralph\": {\n    \"validationCommand\": 7\n  }\n}\n",
            "ito.json, line 3, column 5: ralph.validationCommand must be a command or a list of commands",
            1,
        ),
        (".wt-loop.toml", "max = 3\nvalidation = [\n", ".wt-loop.toml: line 2, column 15: ", 2),
        (".wt-loop.toml", "validation = ''\n", ".wt-loop.toml, line 1, column 14: validation has an empty command", 1),
        (
            ".wt-loop.toml",
            "max = 3\nvalidation = 7\n",
            ".wt-loop.toml, line 2, column 14: validation must be a command or a list of commands",
            1,
        ),
    ] {
        let world = World::with_agent("touch ../agent-ran\n");
        world.write(file, text);
        for args in [&["run", "work"][..], &ralph(&[]), &["start", "work", "--launcher", "background"]] {
            world.wt(args).exit(code).stdout("").stderr_has(place);
        }
        assert!(!world.root.join(".claude").exists(), "nothing is written");
        assert!(!world.base().join("home/.local").exists(), "nothing is written");
        assert!(!world.base().join("agent-ran").exists(), "no agent ran");
    }
}

#[test]
fn one_that_cannot_be_parsed_does_not_matter_where_validation_is_skipped() {
    let world = World::with_agent(PROMISES);
    world.write("ito.json", "oops");
    world.wt(&ralph(&[])).exit(1).stderr_has("--skip-validation");
    world.wt(&ralph(&["--skip-validation"])).exit(0).stderr_has("warning: validation was skipped");
}

#[test]
fn agents_and_claude_may_be_one_file_by_a_symlink() {
    let world = World::new();
    world.write("CLAUDE.md", "## Tests\n```\nmake t\n```\n");
    symlink("CLAUDE.md", world.root.join("AGENTS.md")).unwrap();
    assert_eq!(listed(&world), ["make t (from AGENTS.md)"]);
    fs::remove_file(world.root.join("AGENTS.md")).unwrap();
    world.write("docs/AGENTS.md", "no commands\n");
    symlink("docs/AGENTS.md", world.root.join("AGENTS.md")).unwrap();
    assert_eq!(listed(&world), ["make t (from CLAUDE.md)"]);
}

#[test]
fn one_outside_the_worktree_is_refused_and_never_passed_over() {
    let world = World::with_agent(PROMISES);
    fs::write(world.base().join("theirs.md"), "## Tests\n```\ntrue\n```\n").unwrap();
    for target in ["../theirs.md", "nowhere.md"] {
        symlink(target, world.root.join("AGENTS.md")).unwrap();
        world.wt(&ralph(&[])).exit(1).stderr_has("AGENTS.md is a symlink");
        fs::remove_file(world.root.join("AGENTS.md")).unwrap();
    }
    fs::create_dir(world.root.join("ito.json")).unwrap();
    world.wt(&ralph(&[])).exit(1).stderr_has("ito.json is not a regular file");
    assert!(!world.root.join(".claude").exists());
}

#[test]
fn without_any_one_warning_per_loop() {
    let world = World::with_agent(PROMISES);
    world.check("extra", "[ \"$WT_LOOP_RUN_ITERATION\" -ge 3 ]");
    let output = world.wt(&ralph(&["--validation-command", "extra"])).exit(0);
    let warning = "wt-loop: warning: no validation is configured for this project; \
                   add to .wt-loop.toml: validation = [\"make check\"]\n";
    assert_eq!(output.stderr.matches(warning).count(), 1, "{}", output.stderr);
    assert_eq!(world.log().matches(warning).count(), 1);
    assert_eq!(world.iterations(), 3);
    // The line does what it says.
    world.write(".wt-loop.toml", "validation = [\"make check\"]\n");
    assert_eq!(listed(&world), ["make check (from .wt-loop.toml)"]);
}
