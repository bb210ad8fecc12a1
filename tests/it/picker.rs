//! The question that `ralph` asks on a real terminal when nobody said what to work on.

use crate::support::{SAYS_DONE, World};

/// Three changes of two modules, and a `claude` that promises at once.
fn world() -> World {
    let world = World::new();
    for id in ["001-01_first", "002-01_second", "002-02_third"] {
        world.write(&format!(".ito/changes/{id}/proposal.md"), &format!("This is {id}.\n"));
    }
    for module in ["001_one", "002_two"] {
        world.write(&format!(".ito/modules/{module}/module.md"), "A module.\n");
    }
    world.scribe("claude", SAYS_DONE);
    world.link("ralph");
    world
}

#[test]
fn typing_filters_and_enter_runs_the_highlighted_change() {
    let world = world();
    let terminal = world.in_terminal(&["ralph", "go"]);
    terminal.shows("Which change?").shows("> 001-01_first").shows("002-02_third");
    terminal.types("third").shows("> 002-02_third").hides("001-01_first").press("Enter");
    assert_eq!(terminal.wait_for_exit(), 0, "{}", terminal.screen());
    let call = world.only_call();
    assert_eq!(call.section("## Change Proposal (002-02_third)"), "This is 002-02_third.");
    assert_eq!(call.section("## Task"), "go");
    assert_eq!(world.state()["change_id"], "002-02_third");
}

#[test]
fn enter_at_once_runs_the_first_change() {
    let world = world();
    let terminal = world.in_terminal(&["ralph", "go"]);
    terminal.shows("> 001-01_first").press("Enter");
    assert_eq!(terminal.wait_for_exit(), 0, "{}", terminal.screen());
    assert_eq!(world.state()["change_id"], "001-01_first");
}

#[test]
fn just_the_prompt_is_among_the_choices() {
    let world = world();
    let terminal = world.in_terminal(&["ralph", "go"]);
    terminal.shows("no change, just the prompt").types("just").shows("> no change, just the prompt").press("Enter");
    assert_eq!(terminal.wait_for_exit(), 0, "{}", terminal.screen());
    let call = world.only_call();
    assert!(!call.text().contains("Change Proposal"), "{}", call.text());
    assert_eq!(call.section("## Task"), "go");
    assert!(world.state()["change_id"].is_null());
}

#[test]
fn a_module_narrows_the_choices() {
    let world = world();
    let terminal = world.in_terminal(&["ralph", "go", "--module", "002"]);
    terminal.shows("> 002-01_second").shows("002-02_third").hides("001-01_first").press("Down");
    terminal.shows("> 002-02_third").press("Enter");
    assert_eq!(terminal.wait_for_exit(), 0, "{}", terminal.screen());
    assert_eq!(world.state()["change_id"], "002-02_third");
    assert_eq!(world.calls().len(), 1, "only the chosen one runs");
}

#[test]
fn who_leaves_without_choosing_gets_a_word_and_nothing_runs() {
    for key in ["Escape", "C-c"] {
        let world = world();
        let terminal = world.in_terminal(&["ralph", "go"]);
        terminal.shows("> 001-01_first").press(key);
        assert_eq!(terminal.wait_for_exit(), 1, "{key}: {}", terminal.screen());
        terminal.shows("wt-loop: nothing was chosen, so nothing runs").shows("hint: name a change: --change ID");
        assert!(world.calls().is_empty());
        assert!(!world.root.join(".claude").exists(), "{key}: nothing is written");
    }
}

#[test]
fn the_terminal_is_as_it_was_after_a_choice() {
    let world = world();
    world.agent("before-and-after", "stty -a > before\nralph go\nstty -a > after\n");
    let terminal = world.in_terminal(&["before-and-after"]);
    terminal.shows("> 001-01_first").press("Escape");
    assert_eq!(terminal.wait_for_exit(), 0);
    assert_eq!(world.read("before"), world.read("after"));
}

#[test]
fn nothing_is_asked_where_asking_was_forbidden_or_needless() {
    let world = world();
    let terminal = world.in_terminal(&["ralph", "go", "--no-interactive"]);
    assert_eq!(terminal.wait_for_exit(), 1);
    terminal.shows("wt-loop: --change is required where nobody can be asked");
    assert!(world.calls().is_empty());
    for target in [&["--change", "001"][..], &["--no-change"]] {
        let world = self::world();
        let terminal = world.in_terminal(&[&["ralph", "go"], target].concat());
        assert_eq!(terminal.wait_for_exit(), 0, "{}", terminal.screen());
        assert!(!terminal.screen().contains("Which change?"), "{}", terminal.screen());
        assert_eq!(world.calls().len(), 1);
    }
}

#[test]
fn a_module_without_asking_runs_all_its_changes_on_a_terminal_too() {
    let world = world();
    let terminal = world.in_terminal(&["ralph", "go", "--module", "002", "--no-interactive"]);
    assert_eq!(terminal.wait_for_exit(), 0, "{}", terminal.screen());
    let changes: Vec<String> =
        world.calls().iter().map(|call| call.environment["WT_LOOP_RUN_CHANGE"].clone()).collect();
    assert_eq!(changes, ["002-01_second", "002-02_third"]);
}
