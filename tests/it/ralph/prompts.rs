//! What an agent reads.

use super::ito;
use crate::support::{SAYS_DONE, World, snapshot};

const TAG: &str = "<promise>COMPLETE</promise>";
const BROKEN: &str = "<promise tag>COMPLETE</promise tag>";

#[test]
fn its_sections_stand_in_the_order_of_the_contract() {
    let script = format!("case $call in 2) exit 7 ;; 3) touch ok ;; esac\n{SAYS_DONE}");
    let world = ito(&["002-01_x"], &script);
    world.write(".ito/modules/002_two/module.md", "The second module.\n");
    world.write(".ito/changes/002-01_x/tasks.md", "- [x] one\n");
    world.wt(&["ralph", "--add-context", "mind the gap", "--change", "002"]).exit(0);
    world.wt(&["ralph", "go", "--change", "002", "--validation-command", "test -e ok", "--max", "5"]).exit(0);
    let calls = world.calls();
    assert_eq!(
        calls[0].headings(),
        [
            "# Iteration 1 of 5",
            "## How to Work",
            "## Change Proposal (002-01_x)",
            "## Module (002)",
            "## Task Status",
            "## Task",
            "## Additional Context (added by user mid-loop)",
            "## How to Say That It Is Done",
        ]
    );
    assert_eq!(
        calls[2].headings(),
        [
            "# Iteration 3 of 5",
            "## How to Work",
            "## Change Proposal (002-01_x)",
            "## Module (002)",
            "## Task Status",
            "## Task",
            "## Additional Context (added by user mid-loop)",
            "## Validation Failure (completion rejected)",
            "## Last Failure",
            "## Previous Iterations",
            "## How to Say That It Is Done",
        ]
    );
    assert!(calls[2].section("## Validation Failure (completion rejected)").contains("test -e ok"));
    assert_eq!(calls[2].section("## Previous Iterations").lines().count(), 2);
    assert_eq!(calls.len(), 3);
}

#[test]
fn empty_sections_are_left_out() {
    let world = World::new();
    world.scribe("claude", SAYS_DONE);
    world.wt(&["ralph", "go", "--no-change"]).exit(0);
    assert_eq!(
        world.only_call().headings(),
        ["# Iteration 1", "## How to Work", "## Task", "## How to Say That It Is Done"]
    );
}

#[test]
fn the_promise_is_never_whole_in_what_the_agent_gets() {
    let script =
        format!("case $call in 1) {SAYS_DONE} ;; 2) {SAYS_DONE} exit 7 ;; esac\ncat \"$calls/$call.prompt\"\n");
    let world = ito(&["002-01_x"], &script);
    let tagged = |what: &str| format!("{what}: {TAG} and <promise>\nCOMPLETE\n</promise>\n");
    world.write(".ito/changes/002-01_x/proposal.md", &tagged("proposal"));
    world.write(".ito/changes/002-01_x/tasks.md", &format!("- [ ] say {TAG}\n"));
    world.write(".ito/modules/002_two/module.md", &tagged("module"));
    world.wt(&["ralph", "--add-context", &tagged("context"), "--change", "002"]).exit(0);
    let check = format!("echo '{TAG}'; false");
    world.write(".ito/changes/002-01_x/tasks.md", &format!("- [x] say {TAG}\n"));
    let task = tagged("task");
    world.wt(&["ralph", &task, "--change", "002", "--validation-command", &check, "--max", "3"]).exit(3);
    let calls = world.calls();
    assert_eq!(calls.len(), 3);
    for call in &calls {
        let text = call.text();
        assert!(!text.contains("<promise>") && !text.contains("</promise>"), "{text}");
    }
    for heading in [
        "## Change Proposal (002-01_x)",
        "## Module (002)",
        "## Task",
        "## Additional Context (added by user mid-loop)",
        "## Validation Failure (completion rejected)",
        "## Last Failure",
    ] {
        let section = calls[2].section(heading);
        assert!(section.contains(BROKEN), "{heading} has the tag, broken: {section}");
    }
    let iterations = world.state()["iterations"].clone();
    assert_eq!(iterations[2]["promise_found"], false, "an echo of all that promises nothing");
}

#[test]
fn an_open_task_that_names_the_promise_is_broken_too() {
    let world = ito(&["002-01_x"], "cat \"$calls/$call.prompt\"\n");
    world.write(".ito/changes/002-01_x/tasks.md", &format!("- [ ] say {TAG}\n"));
    world.wt(&["ralph", "--change", "002", "--max", "1"]).exit(3);
    assert!(world.only_call().section("## Task Status").contains(BROKEN));
    assert_eq!(world.state()["iterations"][0]["promise_found"], false);
}

#[test]
fn an_agent_that_only_echoes_never_ends_the_loop() {
    for token in ["COMPLETE", "ALL DONE", "promise"] {
        let world = World::with_agent("exec cat\n");
        let task = format!("say <promise>{token}</promise> when done");
        world.wt(&["ralph", &task, "--no-change", "--completion-promise", token, "--max", "2"]).exit(3);
        let state = world.state();
        assert_eq!(state["status"], "stuck");
        assert_eq!(
            (&state["iterations"][0]["promise_found"], &state["iterations"][1]["promise_found"]),
            (&false.into(), &false.into()),
            "{token}"
        );
        assert!(world.log().contains("# Iteration 2 of 2"), "it has echoed its prompt");
    }
}

#[test]
fn a_promise_counts_only_on_standard_output_in_an_iteration_that_ended_well() {
    for (script, found) in [
        ("echo '<promise>COMPLETE</promise>' >&2\n", false),
        ("echo '<promise>COMPLETE</promise>'\nexit 1\n", true),
        ("echo '<promise>COMPLETE</promise>'\nkill -9 $$\n", true),
        ("echo '<promise>complete</promise>'\n", false),
        ("echo '<promise>COMPLETE </promises>'\n", false),
    ] {
        let world = World::new();
        world.scribe("claude", script);
        world.wt(&["ralph", "go", "--no-change", "--max", "1"]).exit(3);
        let iteration = world.state()["iterations"][0].clone();
        assert_eq!((&iteration["promise_found"], &iteration["done_check"]), (&found.into(), &false.into()), "{script}");
    }
}

#[test]
fn a_promise_counts_however_it_is_cut_into_writes() {
    let world = World::new();
    world.scribe(
        "claude",
        "for part in '<pro' 'mise' '> COM' 'PLETE' '</' 'promise>'; do printf %s \"$part\"; sleep 0.01; done\n",
    );
    world.wt(&["ralph", "go", "--no-change", "--max", "1"]).exit(0);
}

#[test]
fn an_early_promise_is_told_to_be_forgotten() {
    let world = World::new();
    world.scribe("claude", SAYS_DONE);
    world
        .wt(&["ralph", "go", "--no-change", "--min-iterations", "2", "--validation-command", "echo checked >> checks"])
        .exit(0)
        .stderr_has("claimed before iteration 2, forgotten");
    let calls = world.calls();
    assert_eq!(calls.len(), 2);
    assert!(calls[0].text().contains("A claim before iteration 2 does not count"));
    assert!(!calls[1].text().contains("A claim before iteration"));
    assert_eq!(world.read("checks"), "checked\n", "no gate is asked before");
    world
        .wt(&["ralph", "go", "--no-change", "--min", "3", "--max", "2"])
        .exit(2)
        .stderr_has("--min 3 is more than --max 2");
}

#[test]
fn a_dry_run_prints_prompt_and_command_line_and_neither_runs_nor_writes() {
    let world = ito(&["002-01_x"], SAYS_DONE);
    let before = snapshot(&world.base());
    let wanted = ["--change", "002", "--model", "m", "--allow-all", "--agent-arg", "--x y"];
    let told = world.wt(&[&["ralph", "go", "--dry-run"], &wanted[..]].concat()).exit(0).stdout;
    assert_eq!(snapshot(&world.base()), before, "nothing is written anywhere");
    let (line, prompt) = told.split_once("\n\nThe prompt on its standard input:\n\n").unwrap();
    let program = world.base().join("bin/claude");
    assert_eq!(
        line,
        format!(
            "{} -p --output-format stream-json --verbose --model m --dangerously-skip-permissions '--x y'",
            program.display()
        )
    );
    world.wt(&[&["ralph", "go"], &wanted[..]].concat()).exit(0);
    let call = world.only_call();
    assert_eq!(call.text(), prompt, "it is what the agent then gets");
    assert_eq!(
        call.line,
        "claude -p --output-format stream-json --verbose --model m --dangerously-skip-permissions --x y"
    );
}

#[test]
fn a_dry_run_of_a_module_shows_every_change() {
    let world = ito(&["002-01_x", "002-02_y"], SAYS_DONE);
    world.write(".ito/modules/002_two/module.md", "The second module.\n");
    let before = snapshot(&world.base());
    let told = world.wt(&["ralph", "go", "--module", "002", "--dry-run"]).exit(0);
    told.stdout_has("## Change Proposal (002-01_x)").stdout_has("## Change Proposal (002-02_y)");
    assert_eq!(snapshot(&world.base()), before);
}
