//! Document 002: completion is validated. One test per scenario, in the document's order.

use crate::support::{CHANGE, PROMISES, REJECTED, World, assert_has};

const RALPH: [&str; 3] = ["ralph", "--change", CHANGE];

#[test]
fn scenario_all_tasks_complete() {
    let world = World::validated_by(&["project-check"]);
    world.check("project-check", "");
    world.cart("- [x] 1.1 add\n- [X] 1.2 remove\n");
    world.wt(&RALPH).exit(0).stderr_has("tasks: 2 of 2 tasks are closed");
    assert_eq!(world.trail(), ["project-check"]);
    assert_eq!(world.iterations(), 1);
}

#[test]
fn scenario_all_tasks_complete_or_shelved() {
    let world = World::validated_by(&["project-check"]);
    world.check("project-check", "");
    world.cart("- [x] 1.1 add\n- [-] 1.2 gift wrap\n");
    world.wt(&RALPH).exit(0).stderr_has("tasks: 2 of 2 tasks are closed");
    assert_eq!(world.trail(), ["project-check"]);
}

#[test]
fn scenario_tasks_remain_pending() {
    let world = World::validated_by(&["project-check"]);
    world.check("project-check", "");
    world.cart("- [x] 1.1 add\n- [ ] 1.2 remove\n- [~] 1.3 count\n");
    world
        .wt(&["ralph", "--change", CHANGE, "--max", "2"])
        .exit(3)
        .stderr_has("completion rejected by the tasks gate: 2 of 3 tasks are not complete");
    assert_eq!(world.trail(), [""; 0], "the project was not asked");
    assert_has(&world.told(2), &["2 of 3 tasks", "- 1.2 remove (pending)", "- 1.3 count (in-progress)"]);
}

#[test]
fn scenario_no_change_id_provided() {
    let world = World::validated_by(&["project-check"]);
    world.check("project-check", "");
    world.tasks(0, 3);
    world.wt(&["ralph", "--no-change", "work"]).exit(0).lacks("tasks:");
    assert_eq!(world.trail(), ["project-check"]);
}

#[test]
fn scenario_project_validation_succeeds() {
    let world = World::validated_by(&["project-check"]);
    world.check("project-check", "exit 0");
    world.check("extra-check", "");
    world.wt(&["ralph", "--no-change", "work"]).exit(0).stderr_has("project: `project-check` passed");
    assert_eq!(world.trail(), ["project-check"], "accepted without an extra command");
    world.wt(&["ralph", "--no-change", "work", "--validation-command", "extra-check"]).exit(0);
    assert_eq!(world.trail(), ["project-check", "project-check", "extra-check"], "the extra command comes after");
}

#[test]
fn scenario_project_validation_fails() {
    let world = World::validated_by(&["project-check"]);
    world.check("project-check", "echo 'cart.rs:7: no such item'; exit 9");
    world
        .wt(&["ralph", "--no-change", "work", "--max", "2"])
        .exit(3)
        .stderr_has("completion rejected by the project gate: `project-check` ended with exit code 9");
    assert_eq!(world.state()["status"], "stuck");
    assert_has(&world.told(2), &["cart.rs:7: no such item"]);
}

#[test]
fn scenario_project_validation_commands_from_configuration() {
    let world = World::with_agent(PROMISES);
    for name in ["ito-json", "ito-config", "agents-md", "claude-md"] {
        world.check(name, "");
    }
    let sources = [
        ("CLAUDE.md", "# Shop\n\n## Validation\n\n```sh\nclaude-md\n```\n", "claude-md"),
        ("AGENTS.md", "# Shop\n\n## Tests\n\n```\nagents-md\n```\n", "agents-md"),
        (".ito/config.json", r#"{"ralph": {"validationCommands": ["ito-config"]}}"#, "ito-config"),
        ("ito.json", r#"{"project": {"validation": {"command": "ito-json"}}}"#, "ito-json"),
    ];
    let mut expected = Vec::new();
    for (file, text, command) in sources {
        world.write(file, text);
        world.wt(&["ralph", "--no-change", "work"]).exit(0).stderr_has(&format!("validation from {file}: {command}"));
        expected.push(command);
        assert_eq!(world.trail(), expected, "{file} comes before those already there");
    }
}

#[test]
fn scenario_no_project_validation_configured() {
    let world = World::with_agent(PROMISES);
    world.wt(&["ralph", "--no-change", "work"]).exit(0).stderr_has(
        "warning: no validation is configured for this project; add to .wt-loop.toml: validation = [\"make check\"]",
    );
    assert_eq!(world.state()["status"], "done");
}

#[test]
fn scenario_extra_validation_specified_and_succeeds() {
    let world = World::validated_by(&["project-check"]);
    world.check("project-check", "");
    world.check("custom-check", "");
    world.cart("- [x] 1.1 add\n");
    world
        .wt(&["ralph", "--change", CHANGE, "--validation-command", "custom-check"])
        .exit(0)
        .stderr_has("extra: `custom-check` passed");
    assert_eq!(world.trail(), ["project-check", "custom-check"]);
    assert_eq!(world.iteration(1)["done_check"], true);
}

#[test]
fn scenario_extra_validation_specified_and_fails() {
    let world = World::validated_by(&["project-check"]);
    world.check("project-check", "");
    world.check("custom-check", "echo 'the price is wrong' >&2; exit 3");
    world
        .wt(&["ralph", "--no-change", "work", "--validation-command", "custom-check", "--max", "2"])
        .exit(3)
        .stderr_has("completion rejected by the extra gate: `custom-check` ended with exit code 3");
    assert_has(&world.told(2), &["extra validation failed", "custom-check", "exit code 3", "the price is wrong"]);
}

#[test]
fn scenario_task_status_failure_injected_as_context() {
    let world = World::with_agent(PROMISES);
    world.cart("### Task 1.1: Add\n- **Status**: [x] complete\n\n### Task 1.2: Remove\n- **Status**: [ ] pending\n");
    world.wt(&["ralph", "--change", CHANGE, "--max", "2"]).exit(3);
    assert!(!world.prompt(1).contains(REJECTED));
    assert_has(&world.told(2), &["- 1.2 Remove (pending)", "All tasks must be complete or shelved"]);
    assert!(!world.told(2).contains("1.1"), "only those that are not complete");
}

#[test]
fn scenario_build_test_errors_injected_as_context() {
    let world = World::validated_by(&["build"]);
    world.check("build", "echo 'on stdout: 1 failed'; echo 'on stderr: cannot link' >&2; exit 1");
    world.wt(&["ralph", "--no-change", "work", "--max", "2"]).exit(3);
    assert!(!world.prompt(1).contains(REJECTED));
    assert_has(
        &world.told(2),
        &["on stdout: 1 failed", "on stderr: cannot link", "The loop continues until validation passes"],
    );
}

#[test]
fn scenario_skip_validation_flag() {
    let world = World::validated_by(&["project-check"]);
    world.check("project-check", "exit 1");
    world.cart("- [ ] 1.1 add\n");
    world
        .wt(&["ralph", "--change", CHANGE, "--skip-validation", "--validation-command", "project-check"])
        .exit(0)
        .stderr_has("warning: validation was skipped");
    assert_eq!(world.trail(), [""; 0]);
    assert_eq!((world.state()["status"].as_str(), world.iterations()), (Some("done"), 1));
}

#[test]
fn scenario_validation_command_times_out() {
    let world = World::validated_by(&["hangs"]);
    world.check("hangs", "echo 'waiting for the database'\nexec sleep 1000");
    world
        .wt(&["ralph", "--no-change", "work", "--max", "2", "--validation-timeout", "3s"])
        .exit(3)
        .stderr_has("completion rejected by the project gate: `hangs` took too long and was killed");
    assert!(world.processes().is_empty(), "{:?}", world.processes());
    assert_has(&world.told(2), &["hangs", "took too long and was killed after ", "waiting for the database"]);
    // Nobody waits five minutes here; that they are what holds when nothing is said stands in the launch record.
    world.wt(&["ralph", "--no-change", "work", "--max", "1", "--skip-validation"]).exit(0);
    assert_eq!(world.record()["spec"]["validation_timeout"]["secs"], 300);
}
