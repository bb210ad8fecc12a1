//! Document 000: the ralph loop. One test per scenario, in the document's order, by the names and words of the document.

use serde_json::Value;

use crate::support::{SAYS_DONE, World};

const CHANGE: &str = "002-01_add-ralph-loop";

/// A repository of ito with one change, and an `opencode` that promises at once.
fn world() -> World {
    let world = World::new();
    world.write(&format!(".ito/changes/{CHANGE}/proposal.md"), "Add the loop that ralph runs.\n");
    world.scribe("opencode", SAYS_DONE);
    world
}

fn history(world: &World) -> Value {
    serde_json::from_str(&world.read(&format!(".ito/.state/ralph/{CHANGE}/state.json"))).unwrap()
}

#[test]
fn scenario_run_against_a_change_proposal() {
    let world = world();
    world.called("ito", &["ralph", "make it so", "--change", CHANGE]).exit(0);
    let call = world.only_call();
    assert_eq!(call.section(&format!("## Change Proposal ({CHANGE})")), "Add the loop that ralph runs.");
    assert_eq!(call.section("## Task"), "make it so");
    let headings = call.headings();
    let at = |heading: &str| headings.iter().position(|found| *found == heading).unwrap();
    assert!(at(&format!("## Change Proposal ({CHANGE})")) < at("## Task"), "the proposal is the primary context");
}

#[test]
fn scenario_alias_command() {
    let world = world();
    world.called("ito", &["ralph", "make it so", "--change", CHANGE]).exit(0);
    world.called("ito", &["loop", "make it so", "--change", CHANGE]).exit(0);
    let calls = world.calls();
    assert_eq!(calls.len(), 2);
    assert_eq!(calls[0], calls[1], "the same command line, prompt and environment");
    assert_eq!(history(&world)["iteration"], 2);
}

#[test]
fn scenario_resolve_module_from_change() {
    let world = world();
    world.write(".ito/modules/002_harness/module.md", "All that drives agents.\n");
    world.write(".ito/modules/003_other/module.md", "Something else.\n");
    world.called("ito", &["ralph", "make it so", "--change", CHANGE]).exit(0);
    let call = world.only_call();
    assert_eq!(call.section("## Module (002)"), "All that drives agents.");
    assert!(!call.text().contains("Something else."));
    assert_eq!(world.state()["module_id"], "002");
}

#[test]
fn scenario_interactive_selection_when_omitted() {
    let world = world();
    world.write(".ito/changes/003-01_other/proposal.md", "Something else.\n");
    world.link("ito");
    let terminal = world.in_terminal(&["ito", "ralph", "make it so"]);
    terminal.shows(CHANGE).shows("003-01_other").press("Down");
    terminal.shows("> 003-01_other").press("Enter");
    assert_eq!(terminal.wait_for_exit(), 0, "{}", terminal.screen());
    assert_eq!(world.only_call().section("## Change Proposal (003-01_other)"), "Something else.");
}

#[test]
fn scenario_non_interactive_error_when_omitted() {
    let world = world();
    let told = "wt-loop: --change is required where nobody can be asked; found: 002-01_add-ralph-loop\n\
                hint: --change 002-01_add-ralph-loop\nhint: --no-change for just the prompt\n";
    world.called("ito", &["ralph", "make it so"]).exit(1).stdout("").stderr(told);
    world.called("ito", &["ralph", "make it so", "--no-interactive"]).exit(1).stdout("").stderr(told);
    let terminal = world.in_terminal(&["ito", "ralph", "make it so", "--no-interactive"]);
    assert_eq!(terminal.wait_for_exit(), 1);
    assert!(terminal.screen().contains("--change is required"), "{}", terminal.screen());
    assert!(world.calls().is_empty());
}

#[test]
fn scenario_use_opencode_harness() {
    let world = world();
    world.scribe("claude", SAYS_DONE);
    world.called("ito", &["ralph", "make it so", "--change", CHANGE, "--harness", "opencode"]).exit(0);
    assert_eq!(world.only_call().line, "opencode run --format json --print-logs --log-level ERROR");
    world.called("ito", &["ralph", "make it so", "--change", CHANGE]).exit(0);
    assert_eq!(
        world.calls()[1].line,
        "opencode run --format json --print-logs --log-level ERROR",
        "it is also the default by this name"
    );
}

#[test]
fn scenario_pass_model_to_harness() {
    let world = world();
    world.called("ito", &["ralph", "make it so", "--change", CHANGE, "--model", "anthropic/claude-sonnet"]).exit(0);
    assert_eq!(
        world.only_call().line,
        "opencode run --format json --print-logs --log-level ERROR -m anthropic/claude-sonnet"
    );
}

#[test]
fn scenario_completion_promise_ends_the_loop() {
    let world = world();
    world.scribe("opencode", &format!("if [ $call = 3 ]; then {SAYS_DONE}fi\n"));
    world.called("ito", &["ralph", "make it so", "--change", CHANGE]).exit(0);
    assert_eq!(world.calls().len(), 3);
    let history = history(&world);
    let found: Vec<&Value> =
        history["history"].as_array().unwrap().iter().map(|one| &one["completionPromiseFound"]).collect();
    assert_eq!(found, [false, false, true]);
    assert_eq!(world.state()["status"], "done");
}

#[test]
fn scenario_minimum_iterations() {
    let world = world();
    world.called("ito", &["ralph", "make it so", "--change", CHANGE, "--min-iterations", "3"]).exit(0);
    assert_eq!(world.calls().len(), 3, "it promises in each of them");
    let iterations = world.state()["iterations"].clone();
    let told = |field: &str| iterations.as_array().unwrap().iter().map(|one| one[field].clone()).collect::<Vec<_>>();
    assert_eq!(told("promise_found"), [true, true, true]);
    assert_eq!(told("done_check"), [false, false, true]);
}

#[test]
fn scenario_state_stored_per_change() {
    let world = world();
    world.called("ito", &["ralph", "--change", CHANGE]).exit(0);
    let history = history(&world);
    assert_eq!(history["changeId"], CHANGE);
    assert_eq!(history["iteration"], 1);
    assert_eq!(history["history"].as_array().unwrap().len(), 1);
}

#[test]
fn scenario_status_command() {
    let world = world();
    world.scribe("opencode", &format!("[ $call = 2 ] || exit 7\n{SAYS_DONE}"));
    world.called("ito", &["ralph", "--change", CHANGE]).exit(0);
    let told = world.called("ito", &["ralph", "--status", "--change", CHANGE]).exit(0);
    let lines: Vec<&str> = told.stdout.lines().collect();
    assert_eq!(lines[0], format!("{CHANGE}: iteration 2, completed, completion accepted"));
    let columns = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let [first, second] = [columns(lines[3]), columns(lines[4])];
    assert_eq!((&*first[0], &first[first.len() - 4..]), ("1", &["7", "no", "no", "0"].map(str::to_owned)[..]));
    assert_eq!((&*second[0], &second[second.len() - 4..]), ("2", &["0", "yes", "yes", "0"].map(str::to_owned)[..]));
}

#[test]
fn scenario_allow_all_flag_enables_auto_approval() {
    let world = world();
    world.called("ito", &["ralph", "make it so", "--change", CHANGE, "--allow-all"]).exit(0);
    assert_eq!(world.only_call().line, "opencode run --format json --print-logs --log-level ERROR --auto");
}

#[test]
fn scenario_allow_all_aliases() {
    let world = world();
    for flag in ["--allow-all", "--yolo", "--dangerously-allow-all"] {
        world.called("ito", &["ralph", "make it so", "--change", CHANGE, flag]).exit(0);
    }
    let lines: Vec<String> = world.calls().into_iter().map(|call| call.line).collect();
    assert_eq!(lines, ["opencode run --format json --print-logs --log-level ERROR --auto"; 3]);
}
