//! Prompts from files and from standard input, of any bytes and any size.

use std::fs;

use crate::support::{SAYS_DONE, World};

fn world() -> World {
    let world = World::new();
    world.scribe("claude", SAYS_DONE);
    world
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[test]
fn a_file_is_the_prompt_by_both_names_of_the_option() {
    for option in ["--prompt-file", "--file"] {
        let world = world();
        world.write("sub/prompt.md", "From the file.\n");
        world.wt(&["ralph", "--no-change", option, "sub/prompt.md"]).exit(0);
        assert_eq!(world.only_call().section("## Task"), "From the file.");
    }
}

#[test]
fn a_path_is_read_from_where_one_stands() {
    let world = world();
    world.write("sub/prompt.md", "From the file.\n");
    world.wt_in(&world.root.join("sub"), &["ralph", "--no-change", "--prompt-file", "prompt.md"]).exit(0);
    assert_eq!(world.only_call().section("## Task"), "From the file.");
}

#[test]
fn with_a_prompt_as_well_the_file_comes_first() {
    let world = world();
    world.write("prompt.md", "From the file.\n\n");
    world.wt(&["ralph", "And this.", "--no-change", "--prompt-file", "prompt.md"]).exit(0);
    assert_eq!(world.only_call().section("## Task"), "From the file.\n\nAnd this.");
}

#[test]
fn a_dash_is_standard_input() {
    let world = world();
    world.called_with_input("ralph", &["--no-change", "--prompt-file", "-"], b"From a pipe.\n").exit(0);
    world.called_with_input("ralph", &["And this.", "--no-change", "--file", "-"], b"From a pipe.\n").exit(0);
    let tasks: Vec<String> = world.calls().iter().map(|call| call.section("## Task")).collect();
    assert_eq!(tasks, ["From a pipe.", "From a pipe.\n\nAnd this."]);
}

#[test]
fn bytes_that_are_no_text_arrive_unchanged() {
    let world = world();
    let prompt = b"caf\xe9 \xff\xfe \xc3\xa9 \xf0\x9f\xa6\x80 end\x80";
    fs::write(world.root.join("prompt.bin"), prompt).unwrap();
    world.wt(&["ralph", "--no-change", "--prompt-file", "prompt.bin"]).exit(0);
    assert!(contains(&world.only_call().prompt, prompt));
    world.called_with_input("ralph", &["--no-change", "--prompt-file", "-"], prompt).exit(0);
    assert!(contains(&world.calls()[1].prompt, prompt));
}

#[test]
fn a_file_that_is_none_is_told() {
    let world = world();
    fs::create_dir(world.root.join("folder")).unwrap();
    world.write("empty", "");
    world.write("blank", " \n\t\n");
    for (name, code, told) in [
        ("missing", 1, "wt-loop: cannot read the prompt file missing: no such file or directory\n"),
        ("folder", 1, "wt-loop: cannot read the prompt file folder: is a directory\n"),
        ("empty", 2, "wt-loop: the prompt file empty is empty\n"),
        ("blank", 2, "wt-loop: the prompt file blank is empty\n"),
        ("-", 2, "wt-loop: there is no prompt on standard input\n"),
    ] {
        world.wt(&["ralph", "--no-change", "--prompt-file", name]).exit(code).stdout("").stderr_has(told);
        world.wt(&["ralph", "go", "--no-change", "--prompt-file", name]).exit(code).stderr_has(told);
    }
    assert!(world.calls().is_empty());
    assert!(!world.root.join(".claude").exists(), "nothing is written");
}

#[test]
fn a_prompt_of_a_mebibyte_arrives_whole() {
    let world = world();
    let prompt = format!("begin\n{}\nend of it", "all work and no play \n".repeat(1024 * 1024 / 22 + 1));
    assert!(prompt.len() > 1024 * 1024);
    world.called_with_input("ralph", &["--no-change", "--prompt-file", "-"], prompt.as_bytes()).exit(0);
    assert!(contains(&world.only_call().prompt, prompt.as_bytes()));
    assert_eq!(world.state()["task"], prompt.as_str());
}

#[test]
fn an_agent_that_does_not_read_its_prompt_is_no_trouble() {
    let world = World::with_agent(SAYS_DONE);
    let prompt = "all work and no play\n".repeat(1024 * 1024 / 21);
    world.called_with_input("ralph", &["--no-change", "--prompt-file", "-", "--max", "1"], prompt.as_bytes()).exit(0);
    assert_eq!(world.state()["iterations"][0]["exit_reason"], "completed");
}
