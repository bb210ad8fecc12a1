//! Document 001: resilience and context of the ralph loop. One test per scenario, in the document's order, by the names and words of
//! the document.

use serde_json::Value;

use crate::support::{SAYS_DONE, World, wait_until};

const CHANGE: &str = "004-02_keep-going";
const CONTEXT: &str = ".spool/.state/ralph/004-02_keep-going/context.md";
const LABEL: &str = "## Additional Context (added by user mid-loop)";

/// A repository of spool with one change, and an `opencode` that runs this script.
fn world(script: &str) -> World {
    let world = World::new();
    world.write(&format!(".spool/changes/{CHANGE}/proposal.md"), "Keep going.\n");
    world.scribe("opencode", script);
    world
}

fn history(world: &World) -> Value {
    serde_json::from_str(&world.read(&format!(".spool/.state/ralph/{CHANGE}/state.json"))).unwrap()
}

#[test]
fn scenario_add_context_appends_to_per_change_context_file() {
    let world = world(SAYS_DONE);
    let told = format!("added to the context of {CHANGE}; the next iteration reads it\n");
    for text in ["mind the gap", "and the step"] {
        world.called("spool", &["ralph", "--add-context", text, "--change", CHANGE]).exit(0).stdout(&told).stderr("");
    }
    assert_eq!(world.read(CONTEXT), "mind the gap\n\nand the step\n");
    assert!(world.calls().is_empty(), "nothing runs");
}

#[test]
fn scenario_clear_context_empties_the_per_change_context_file() {
    let world = world(SAYS_DONE);
    world.called("spool", &["ralph", "--add-context", "mind the gap", "--change", CHANGE]).exit(0);
    let told = format!("the context of {CHANGE} is cleared\n");
    world.called("spool", &["ralph", "--clear-context", "--change", CHANGE]).exit(0).stdout(&told).stderr("");
    assert_eq!(world.read(CONTEXT), "");
    assert!(world.calls().is_empty(), "nothing runs");
}

#[test]
fn scenario_mid_loop_context_updates_appear_on_the_next_iteration() {
    // The second agent ends only when the context was added, and the third only when it was cleared.
    let waits = "[ $call != 2 ] || until grep -q gap .spool/.state/ralph/*/context.md 2>/dev/null; do sleep 0.01; done\n\
                 [ $call != 3 ] || while [ -s .spool/.state/ralph/*/context.md ]; do sleep 0.01; done\n";
    let world = world(waits);
    let running = world.spawn_called("spool", &["ralph", "go", "--change", CHANGE, "--max-iterations", "4"]);
    wait_until("the second call", || world.calls().len() == 2);
    world.called("spool", &["ralph", "--add-context", "mind the gap", "--change", CHANGE]).exit(0);
    wait_until("the third call", || world.calls().len() == 3);
    world.called("spool", &["ralph", "--clear-context", "--change", CHANGE]).exit(0);
    running.wait().exit(3);
    let told: Vec<String> = world.calls().iter().map(|call| call.section(LABEL)).collect();
    assert_eq!(told, ["", "", "mind the gap", ""]);
}

#[test]
fn scenario_preamble_is_included_in_iteration_prompt() {
    let world = world("true\n");
    world.called("spool", &["ralph", "go", "--change", CHANGE, "--max-iterations", "2"]).exit(3);
    for (call, heading) in world.calls().iter().zip(["# Iteration 1 of 2", "# Iteration 2 of 2"]) {
        assert_eq!(call.headings()[..2], [heading, "## How to Work"]);
        let preamble = call.text().lines().take_while(|line| !line.starts_with("## ")).collect::<Vec<_>>().join(" ");
        assert!(preamble.contains("You are working in a loop"), "{preamble}");
        let rules = call.section("## How to Work");
        assert!(rules.contains("Nobody answers questions and nobody approves steps."), "{rules}");
    }
    assert_eq!(world.calls().len(), 2);
}

#[test]
fn scenario_context_section_is_labeled_when_context_exists() {
    let world = world(SAYS_DONE);
    world.called("spool", &["ralph", "go", "--change", CHANGE]).exit(0);
    world.called("spool", &["ralph", "--add-context", "mind the gap", "--change", CHANGE]).exit(0);
    world.called("spool", &["ralph", "go", "--change", CHANGE]).exit(0);
    let calls = world.calls();
    assert!(!calls[0].headings().contains(&LABEL));
    assert!(calls[1].headings().contains(&LABEL));
    assert_eq!(calls[1].section(LABEL), "mind the gap");
}

#[test]
fn scenario_completion_promise_detection_ignores_whitespace() {
    let world = world("printf '<promise>\\nCOMPLETE\\n</promise>'\n");
    world.called("spool", &["ralph", "go", "--change", CHANGE, "--completion-promise", "COMPLETE"]).exit(0);
    assert_eq!(history(&world)["history"][0]["completionPromiseFound"], true);
}

#[test]
fn scenario_non_zero_harness_exit_does_not_stop_the_loop() {
    let world = world(&format!("[ $call != 1 ] || exit 7\n{SAYS_DONE}"));
    world.called("spool", &["ralph", "go", "--change", CHANGE]).exit(0);
    let history = history(&world);
    assert_eq!(history["iteration"], 2);
    assert_eq!(history["history"][0]["harnessExitCode"], 7);
    assert_eq!(history["history"][1]["harnessExitCode"], 0);
    assert_eq!(world.state()["iterations"][0]["exit_reason"], "failed");
}

#[test]
fn scenario_fail_fast_stops_the_loop_on_harness_failure() {
    let world = world("exit 7\n");
    for flag in ["--fail-fast", "--exit-on-error"] {
        world.called("spool", &["ralph", "go", "--change", CHANGE, flag]).exit(1);
        assert_eq!(world.state()["status"], "stuck");
        assert_eq!(world.state()["exit_code"], 1);
    }
    assert_eq!(world.calls().len(), 2, "one for each");
}

#[test]
fn scenario_each_iteration_records_exit_code_and_git_change_summary() {
    let world = world("echo one > one\necho two > two\ngit add one\ngit commit -qm one\nexit 3\n");
    world.called("spool", &["ralph", "go", "--change", CHANGE, "--max-iterations", "1"]).exit(3);
    let iteration = &history(&world)["history"][0];
    assert_eq!(iteration["harnessExitCode"], 3);
    assert_eq!(iteration["fileChangesCount"], 2);
}

#[test]
fn scenario_status_command_reports_recent_iteration_outcomes() {
    let world = world(&format!("[ $call != 1 ] || exit 7\n{SAYS_DONE}"));
    world.called("spool", &["ralph", "go", "--change", CHANGE]).exit(0);
    let told = world.called("spool", &["ralph", "--status", "--change", CHANGE]).exit(0).stdout;
    let lines: Vec<&str> = told.lines().collect();
    assert!(lines[0].starts_with(&format!("{CHANGE}: iteration 2")), "{told}");
    let headings: Vec<&str> = lines[2].split("  ").map(str::trim).filter(|word| !word.is_empty()).collect();
    assert_eq!(headings, ["#", "ENDED", "TOOK", "EXIT", "COMPLETION FOUND", "ACCEPTED", "FILES"]);
    let under = |line: &str, heading: &str| {
        let end = lines[2].find(heading).unwrap() + heading.len();
        line[..end].split_whitespace().next_back().unwrap().to_owned()
    };
    assert_eq!([under(lines[3], "EXIT"), under(lines[4], "EXIT")], ["7", "0"]);
    assert!(lines[3].contains(" no ") && lines[4].contains(" yes "), "{told}");
    let took = [under(lines[3], "TOOK"), under(lines[4], "TOOK")];
    assert!(took.iter().all(|took| took.ends_with('s') && took.starts_with(|c: char| c.is_ascii_digit())), "{told}");
}

#[test]
fn scenario_prompt_loaded_from_file() {
    let world = world(SAYS_DONE);
    world.write("prompt.txt", "Do what the file says.\n");
    world.called("spool", &["ralph", "--prompt-file", "prompt.txt", "--change", CHANGE]).exit(0);
    assert_eq!(world.only_call().section("## Task"), "Do what the file says.");
}

#[test]
fn scenario_no_stream_disables_live_output_streaming() {
    let world = world(&format!("echo 'a word of the agent'\n{SAYS_DONE}"));
    world.called("spool", &["ralph", "go", "--change", CHANGE]).exit(0).stdout_has("a word of the agent");
    world.called("spool", &["ralph", "go", "--no-stream", "--change", CHANGE]).exit(0).lacks("a word of the agent");
    assert!(world.log().contains("a word of the agent"), "the log has it all the same");
    assert_eq!(history(&world)["history"][1]["completionPromiseFound"], true);
}
