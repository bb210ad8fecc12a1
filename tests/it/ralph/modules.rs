//! Modules: named, inferred, and run change by change where nobody can be asked.

use std::fs;
use std::os::unix::fs::symlink;

use nix::sys::signal::Signal;

use super::{history, ito, worked_on};
use crate::support::{SAYS_DONE, World, wait_until};

/// Three changes of module 002 and one of 003, and a `claude` that runs this script.
fn world(script: &str) -> World {
    let world = ito(&["002-03_c", "002-01_a", "002-02_b", "003-01_d"], script);
    world.write(".ito/modules/002_two/module.md", "The second module.\n");
    world.write(".ito/modules/003_three/module.md", "The third module.\n");
    world
}

/// The rows of the summary, each as its cells.
fn rows(stdout: &str) -> Vec<Vec<&str>> {
    let table = stdout.lines().skip_while(|line| !line.starts_with("CHANGE")).skip(1);
    table.map(|line| line.split_whitespace().collect()).collect()
}

#[test]
fn its_changes_run_in_the_order_of_their_ids() {
    let world = world(SAYS_DONE);
    let told = world.wt(&["ralph", "go", "--module", "002"]).exit(0);
    assert_eq!(worked_on(&world), ["002-01_a", "002-02_b", "002-03_c"]);
    assert_eq!(
        rows(&told.stdout),
        [["002-01_a", "done", "1", "0"], ["002-02_b", "done", "1", "0"], ["002-03_c", "done", "1", "0"]]
    );
    assert!(told.stdout.contains("CHANGE    STATUS  ITERATIONS  EXIT\n"), "{}", told.stdout);
    for call in world.calls() {
        assert_eq!(call.section("## Module (002)"), "The second module.");
        assert_eq!(call.headings()[0], "# Iteration 1", "each is a loop of its own");
    }
    for id in ["002-01_a", "002-02_b", "002-03_c"] {
        assert_eq!(history(&world, id)["iteration"], 1, "{id}");
    }
    assert!(world.root.join(".claude/ralph-loop.log.2").exists(), "each loop has its own log");
}

#[test]
fn it_goes_on_after_one_that_did_not_end_done_and_exits_with_the_first_code_that_was_not_0() {
    let world = world(&format!("case $WT_LOOP_RUN_CHANGE in *_a) ;; *_b) exit 7 ;; *_c) {SAYS_DONE} ;; esac\n"));
    let told = world.wt(&["ralph", "go", "--module", "002", "--max", "1", "--fail-fast"]).exit(3);
    assert_eq!(
        rows(&told.stdout),
        [["002-01_a", "stuck", "1", "3"], ["002-02_b", "stuck", "1", "1"], ["002-03_c", "done", "1", "0"]]
    );
}

#[test]
fn a_persons_stop_ends_the_sequence() {
    let world = world("exec sleep 1000\n");
    let running = world.spawn(&["ralph", "go", "--module", "002"]);
    wait_until("the first agent", || world.calls().len() == 1);
    world.wt(&["stop"]).exit(0);
    let told = running.wait().exit(5);
    assert_eq!(rows(&told.stdout), [["002-01_a", "stopped", "1", "5"]]);
    assert_eq!(worked_on(&world), ["002-01_a"]);
}

#[test]
fn a_signal_ends_the_sequence() {
    let world = world("exec sleep 1000\n");
    let running = world.spawn(&["ralph", "go", "--module", "002"]);
    wait_until("the first agent", || world.calls().len() == 1);
    running.signal(Signal::SIGTERM);
    let told = running.wait().exit(130);
    assert_eq!(rows(&told.stdout), [["002-01_a", "stopped", "1", "130"]]);
}

#[test]
fn a_change_that_cannot_begin_does_not_hold_up_the_others() {
    let world = world(SAYS_DONE);
    let proposal = world.root.join(".ito/changes/002-02_b/proposal.md");
    fs::remove_file(&proposal).unwrap();
    symlink("/etc/hostname", &proposal).unwrap();
    let told =
        world.wt(&["ralph", "go", "--module", "002"]).exit(1).stderr_has("proposal.md is a symlink, so it is not read");
    assert_eq!(
        rows(&told.stdout),
        [["002-01_a", "done", "1", "0"], ["002-02_b", "-", "0", "1"], ["002-03_c", "done", "1", "0"]]
    );
}

#[test]
fn what_was_typed_wrong_is_told_once() {
    let world = world(SAYS_DONE);
    let told = world.wt(&["ralph", "go", "--module", "002", "--harness", "nobody"]).exit(2).stdout("");
    assert_eq!(told.stderr.matches("no agent called 'nobody'").count(), 1, "{}", told.stderr);
}

#[test]
fn standard_input_is_the_prompt_of_every_change() {
    let world = world(SAYS_DONE);
    world.called_with_input("ralph", &["--module", "002", "--prompt-file", "-"], b"from a pipe\n").exit(0);
    let tasks: Vec<String> = world.calls().iter().map(|call| call.section("## Task")).collect();
    assert_eq!(tasks, ["from a pipe"; 3]);
}

#[test]
fn a_module_is_named_by_number_by_name_or_by_a_unique_beginning() {
    for name in ["003", "003_three", "003_t"] {
        let world = world(SAYS_DONE);
        world.wt(&["ralph", "go", "-m", name]).exit(0);
        assert_eq!(worked_on(&world), ["003-01_d"], "{name}");
    }
}

#[test]
fn a_named_module_goes_with_a_change_whose_id_tells_none() {
    let world = world(SAYS_DONE);
    world.write(".ito/changes/loose/proposal.md", "Loose.\n");
    world.wt(&["ralph", "go", "--change", "loose"]).exit(0);
    world.wt(&["ralph", "go", "--change", "loose", "--module", "003"]).exit(0);
    let told: Vec<String> = world.calls().iter().map(|call| call.section("## Module (003)")).collect();
    assert_eq!(told, ["", "The third module."]);
    assert_eq!(world.state()["module_id"], "003");
}

#[test]
fn unknown_and_empty_modules_are_errors() {
    let world = world(SAYS_DONE);
    world.write(".ito/modules/004_empty/module.md", "Nothing yet.\n");
    for words in [&["ralph", "go", "--module", "9"][..], &["ralph", "go", "--change", "002-01", "--module", "9"]] {
        let told = "wt-loop: no module called '9'; found: 002_two, 003_three, 004_empty\nhint: --module 002_two\n";
        world.wt(words).exit(2).stderr(told);
    }
    world.wt(&["ralph", "go", "--module", "004"]).exit(1).stderr_has("wt-loop: the module 004 has no active change\n");
    for id in ["../..", "a/b", "a\nb"] {
        world.wt(&["ralph", "go", "--module", id]).exit(2).stderr_has("cannot be the id of a module");
    }
    assert!(world.calls().is_empty());
}
