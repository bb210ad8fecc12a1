//! Which change is meant by what was typed.

use std::fs;
use std::os::unix::fs::symlink;

use super::{history, ito, worked_on};
use crate::support::{SAYS_DONE, snapshot};

#[test]
fn a_unique_prefix_will_do() {
    let world = ito(&["001-01_first", "002-01_second"], SAYS_DONE);
    world.wt(&["ralph", "--change", "002"]).exit(0);
    assert_eq!(worked_on(&world), ["002-01_second"]);
    assert_eq!(history(&world, "002-01_second")["changeId"], "002-01_second");
    world.wt(&["ralph", "--status", "--change", "002"]).exit(0).stdout_has("002-01_second: iteration 1");
}

#[test]
fn a_whole_id_is_not_ambiguous_with_a_longer_one() {
    let world = ito(&["add", "add-more"], SAYS_DONE);
    world.wt(&["ralph", "-c", "add"]).exit(0);
    assert_eq!(worked_on(&world), ["add"]);
}

#[test]
fn ambiguous_and_unknown_ids_list_the_candidates() {
    let world = ito(&["001-01_first", "002-01_second", "002-02_third"], SAYS_DONE);
    for (typed, told) in [
        (
            "002",
            "wt-loop: more than one change begins with '002': 002-01_second, 002-02_third\nhint: --change 002-01_second\n",
        ),
        (
            "9",
            "wt-loop: no change called '9'; found: 001-01_first, 002-01_second, 002-02_third\n\
             hint: --change 001-01_first\n",
        ),
        (
            "002-02_thrid",
            "wt-loop: no change called '002-02_thrid'; found: 001-01_first, 002-01_second, 002-02_third\n\
             hint: did you mean 002-02_third?\n",
        ),
    ] {
        world.wt(&["ralph", "go", "--change", typed]).exit(2).stdout("").stderr(told);
        world.wt(&["ralph", "--status", "--change", typed]).exit(2).stderr(told);
        world.wt(&["ralph", "--add-context", "x", "--change", typed]).exit(2).stderr(told);
    }
    assert!(world.calls().is_empty());
}

#[test]
fn an_id_never_leaves_its_folder() {
    let world = ito(&["001-01_first"], SAYS_DONE);
    fs::create_dir_all(world.root.join("outside")).unwrap();
    symlink("../../outside", world.root.join(".ito/changes/linked")).unwrap();
    let before = snapshot(&world.root);
    let bad = [
        "..",
        ".",
        "../../outside",
        "001-01_first/../../../outside",
        "/tmp",
        "a/b",
        ".hidden",
        "-rf",
        "a\\b",
        "a\u{1b}[31mb",
        "a\nb",
        "",
        "linked",
    ];
    for id in bad {
        let change = format!("--change={id}");
        for words in [
            &["ralph", "go", &change][..],
            &["ralph", "--status", &change],
            &["ralph", "--add-context", "x", &change],
            &["ralph", "--clear-context", &change],
        ] {
            let told = world.wt(words).exit(2).stdout("").lacks("\u{1b}");
            let lines = told.stderr.lines().filter(|line| !line.starts_with("hint: ")).count();
            assert_eq!(lines, 1, "{id:?} is told in one line: {}", told.stderr);
        }
    }
    assert_eq!(snapshot(&world.root), before, "nothing was made or changed");
    assert!(world.calls().is_empty());
    world
        .wt(&["ralph", "go", "--change", "a\u{1b}[31mb"])
        .exit(2)
        .stderr("wt-loop: 'a\\u{1b}[31mb' cannot be the id of a change\n");
}

#[test]
fn what_contradicts_itself_is_wrong_usage() {
    let world = ito(&["001-01_first"], SAYS_DONE);
    for words in [
        &["ralph", "go", "--change", "001", "--no-change"][..],
        &["ralph", "go", "--module", "001", "--no-change"],
        &["ralph", "go", "--status", "--change", "001"],
        &["ralph", "go", "--add-context", "x", "--change", "001"],
        &["ralph", "--clear-context", "--add-context", "x", "--change", "001"],
        &["ralph", "--status"],
        &["ralph", "--no-change"],
        &["ralph", "", "--no-change"],
        &["ralph", "   ", "--no-change"],
    ] {
        world.wt(words).exit(2).stdout("").stderr_has("hint: ");
    }
    assert!(world.calls().is_empty());
}

#[test]
fn a_change_needs_no_prompt() {
    let world = ito(&["001-01_first"], SAYS_DONE);
    world.wt(&["ralph", "--change", "001"]).exit(0);
    assert!(!world.only_call().headings().contains(&"## Task"));
}
