//! The committed manual pages and completions.

use std::collections::BTreeSet;

use super::{files, program, project, read};
use crate::support::World;

/// How the file of a page is called.
fn file_of(page: &str) -> String {
    if page == "wt-loop" { "man/wt-loop.1".to_owned() } else { format!("man/wt-loop-{page}.1") }
}

#[test]
fn every_committed_page_is_what_the_program_prints() {
    let world = World::new();
    let pages = world.wt(&["man", "--list"]).exit(0).stdout;
    let expected: BTreeSet<String> = pages.lines().map(file_of).collect();
    let committed: BTreeSet<String> = files("man", ".1")
        .iter()
        .map(|path| path.strip_prefix(project()).unwrap().to_str().unwrap().to_owned())
        .collect();
    assert_eq!(committed, expected, "scripts/generate writes the pages");
    for page in pages.lines() {
        let printed = world.wt(&["man", page]).exit(0).stdout;
        assert_eq!(read(&file_of(page)), printed, "{page} differs: scripts/generate");
    }
}

#[test]
fn every_committed_completion_is_what_the_program_prints() {
    let world = World::new();
    for (shell, file) in [
        ("bash", "completions/wt-loop.bash"),
        ("zsh", "completions/_wt-loop"),
        ("fish", "completions/wt-loop.fish"),
        ("elvish", "completions/wt-loop.elv"),
        ("powershell", "completions/_wt-loop.ps1"),
    ] {
        let printed = world.wt(&["completions", shell]).exit(0).stdout;
        assert_eq!(read(file), printed, "{shell} differs: scripts/generate");
    }
}

#[test]
fn every_page_is_clean_under_mandoc() {
    let Some(mandoc) = program("mandoc") else { return };
    let world = World::new();
    for page in files("man", ".1") {
        let mut command = world.command(&mandoc);
        command.args(["-T", "lint", "-W", "style"]).arg(&page);
        crate::support::run(command).exit(0).stdout("");
    }
}

#[test]
fn an_unknown_page_names_the_nearest() {
    World::new().wt(&["man", "strat"]).exit(2).stderr_has("hint: wt-loop man start");
}

#[test]
fn every_example_of_the_manual_is_a_command_that_parses() {
    for page in &wt_loop::manual::text::PAGES {
        for (example, _) in page.examples {
            super::documents::assert_parses(example);
        }
    }
}
