//! Where a repository keeps its changes.

use std::fs;

use crate::support::{SAYS_DONE, World};

#[test]
fn each_layout_keeps_state_and_context_of_a_change_in_its_place() {
    for (changes, states) in [
        (".ito/changes", ".ito/.state/ralph"),
        (".spool/changes", ".spool/.state/ralph"),
        ("openspec/changes", ".claude/ralph"),
    ] {
        let world = World::new();
        world.scribe("claude", SAYS_DONE);
        world.write(&format!("{changes}/add-x/proposal.md"), "Add x.\n");
        world.git(&world.root, &["add", "-A"]);
        world.git(&world.root, &["commit", "-qm", "a change"]);
        world.wt(&["ralph", "--add-context", "mind the gap", "--change", "add-x"]).exit(0);
        world.wt(&["ralph", "--change", "add-x"]).exit(0);
        let call = world.only_call();
        assert_eq!(call.section("## Change Proposal (add-x)"), "Add x.", "{changes}");
        assert_eq!(call.section("## Additional Context (added by user mid-loop)"), "mind the gap", "{changes}");
        assert_eq!(world.read(&format!("{states}/add-x/context.md")), "mind the gap\n");
        let history: serde_json::Value =
            serde_json::from_str(&world.read(&format!("{states}/add-x/state.json"))).unwrap();
        assert_eq!(history["contextFile"], format!("{states}/add-x/context.md"));
        assert_eq!(world.git(&world.root, &["status", "--porcelain"]), "", "git sees nothing of it: {changes}");
    }
}

#[test]
fn layouts_are_found_in_the_order_ito_spool_openspec() {
    let world = World::with_agent(SAYS_DONE);
    for (marker, id) in [(".ito", "in-ito"), (".spool", "in-spool"), ("openspec", "in-openspec")] {
        fs::create_dir_all(world.root.join(marker).join("changes").join(id)).unwrap();
    }
    for (marker, id) in [(".ito", "in-ito"), (".spool", "in-spool"), ("openspec", "in-openspec")] {
        let told = format!("--change is required where nobody can be asked; found: {id}\n");
        world.wt(&["ralph", "go"]).exit(1).stderr_has(&told);
        fs::remove_dir_all(world.root.join(marker)).unwrap();
    }
    world
        .wt(&["ralph", "go"])
        .exit(1)
        .stderr_has("--change is required where nobody can be asked; there are none here\n");
}

#[test]
fn a_plain_repository_has_no_changes_and_runs_a_prompt() {
    let world = World::new();
    world.scribe("claude", SAYS_DONE);
    world.wt(&["ralph", "go", "--change", "x"]).exit(2).stderr(
        "wt-loop: no change called 'x'; there are none here\nhint: without --change the loop works on the task alone\n",
    );
    world.wt(&["ralph", "--add-context", "mind the gap", "--no-change"]).exit(0);
    world.wt(&["ralph", "go", "--no-change"]).exit(0);
    let call = world.only_call();
    assert_eq!(call.section("## Task"), "go");
    assert_eq!(call.section("## Additional Context (added by user mid-loop)"), "mind the gap");
    assert_eq!(world.read(".claude/ralph-context.md"), "mind the gap\n");
    assert_eq!(call.environment["WT_LOOP_RUN_CHANGE"], "");
}

#[test]
fn ito_and_spool_each_use_their_own_layout_where_both_are() {
    let world = World::new();
    world.scribe("opencode", SAYS_DONE);
    world.write(".ito/changes/001-01_x/proposal.md", "As ito has it.\n");
    world.write(".spool/changes/001-01_x/proposal.md", "As spool has it.\n");
    world.called("spool", &["ralph", "--change", "001-01_x"]).exit(0);
    assert!(world.root.join(".spool/.state/ralph/001-01_x/state.json").exists());
    assert!(!world.root.join(".ito/.state").exists());
    world.called("ito", &["ralph", "--change", "001-01_x"]).exit(0);
    assert!(world.root.join(".ito/.state/ralph/001-01_x/state.json").exists());
    let read: Vec<String> = world.calls().iter().map(|call| call.section("## Change Proposal (001-01_x)")).collect();
    assert_eq!(read, ["As spool has it.", "As ito has it."]);
}

#[test]
fn spool_does_not_fall_back_to_the_changes_of_ito() {
    let world = World::new();
    world.scribe("opencode", SAYS_DONE);
    world.write(".ito/changes/001-01_x/proposal.md", "As ito has it.\n");
    world
        .called("spool", &["ralph", "go", "--change", "001-01_x"])
        .exit(2)
        .stderr_has("wt-loop: no change called '001-01_x'; there are none here\n");
}

#[test]
fn the_archive_holds_no_active_change() {
    let world = super::ito(&["001-01_x"], SAYS_DONE);
    world.write(".ito/changes/archive/2026-01-01-001-00_old/proposal.md", "It is over.\n");
    world.wt(&["ralph", "go"]).exit(1).stderr_has("found: 001-01_x\n");
    for name in ["archive", "2026-01-01-001-00_old"] {
        let told = format!("wt-loop: no change called '{name}'; found: 001-01_x\nhint: --change 001-01_x\n");
        world.wt(&["ralph", "go", "--change", name]).exit(2).stderr(&told);
    }
}

/// Written by hand as `ito create change` and `ito create module` lay them out.
#[test]
fn a_change_that_ito_created_is_loaded() {
    let world = World::new();
    world.scribe("opencode", SAYS_DONE);
    world.write(
        ".ito/changes/002-01_add-ralph-loop/proposal.md",
        "## Why\n\nAgents stop too early.\n\n## What Changes\n\n- Add `ito ralph`.\n\n## Impact\n\n- None.\n",
    );
    world.write(".ito/changes/002-01_add-ralph-loop/design.md", "## Context\n\nA loop.\n");
    world.write(
        ".ito/changes/002-01_add-ralph-loop/tasks.md",
        "# Tasks for: 002-01_add-ralph-loop\n\n## Wave 1\n- **Depends On**: None\n\n### Task 1.1: Write the loop\n\
         - **Files**: `src/ralph.rs`\n- **Status**: [x] complete\n\n### Task 1.2: Test the loop\n\
         - **Dependencies**: Task 1.1\n- **Status**: [ ] pending\n",
    );
    world.write(".ito/changes/002-01_add-ralph-loop/specs/cli-ralph/spec.md", "## ADDED Requirements\n");
    world.write(".ito/modules/002_harness/module.md", "# Harness\n\n## Purpose\n\nDrive agents.\n");
    world.write(".ito/config.json", "{}\n");
    world.called("ito", &["ralph", "--change", "002-01_add-ralph-loop", "--max", "1"]).exit(3);
    let call = world.only_call();
    assert_eq!(
        call.section("## Change Proposal (002-01_add-ralph-loop)"),
        "#### Why\n\nAgents stop too early.\n\n#### What Changes\n\n- Add `ito ralph`.\n\n#### Impact\n\n- None."
    );
    assert_eq!(call.section("## Module (002)"), "### Harness\n\n#### Purpose\n\nDrive agents.");
    let status = call.section("## Task Status");
    let file = ".ito/changes/002-01_add-ralph-loop/tasks.md";
    assert!(status.starts_with(&format!("1 of 2 tasks in `{file}` are done. Open:")), "{status}");
    assert!(status.contains("Test the loop") && !status.contains("Write the loop"), "{status}");
    assert_eq!(world.state()["iterations"][0]["validation"]["gate"], "tasks", "the open task rejects the promise");
}
