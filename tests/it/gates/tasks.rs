//! The tasks gate: every format, and whatever the agent did to the file.

use super::ralph;
use crate::support::{CHANGE, PROMISES, World, agents, assert_has};

#[test]
fn every_format_of_the_contract_is_listed_with_id_and_status() {
    let world = World::new();
    let table: [(&str, &[&str]); 9] = [
        ("- [ ] 1.1 a\n- [x] 1.2 b\n- [X] 1.3 c\n- [-] 1.4 d\n", &["1.1 a (pending)"]),
        ("* [ ] a\n+ [~] b\n1. [>] c\n2) [x] d\n", &["a (pending)", "b (in-progress)", "c (in-progress)"]),
        ("- [x] 1 a\n  - [ ] 1.1 nested\n\t\t* [~] 1.2 deep\n", &["1.1 nested (pending)", "1.2 deep (in-progress)"]),
        ("### Task 1.1: a\n- **Status**: [ ] pending\n", &["1.1 a (pending)"]),
        ("### Task 1.2: a\n- [ ] a step\n- **Status**: [>] in-progress\n", &["1.2 a (in-progress)"]),
        ("### Task 1: a\n- **Status**: [x] complete\n### Task 2: b\n- **Status**: [ ] pending\n", &["2 b (pending)"]),
        ("```\n- [ ] code\n```\n- [ ] T3 real\n<!--\n- [ ] comment\n-->\n", &["T3 real (pending)"]),
        ("\u{feff}---\ntitle: x\n---\r\n- [ ] 1.1 a\r\n- [x] b\r\n", &["1.1 a (pending)"]),
        ("- [✔] 1.1 made up\n", &["1.1 made up (pending)"]),
    ];
    for (text, expected) in table {
        world.cart(text);
        let output = world.wt(&["validate", "--change", CHANGE]).exit(1);
        let listed: Vec<&str> = output.stdout.lines().filter_map(|line| line.strip_prefix("- ")).collect();
        assert_eq!(listed, expected, "{text}");
    }
    for closed in [
        "- [x] a\n* [X] b\n+ [-] c\n",
        "### Task 1: a\n- [ ] a step\n- **Status**: [x] complete\n### Task 2: b\n- **Status**: [-] shelved\n",
        "no task at all\n",
    ] {
        world.cart(closed);
        world.wt(&["validate", "--change", CHANGE]).exit(0);
    }
}

/// What an agent may do to the file that it is given, as shell, and what it is told then.
const BROKEN: [(&str, &str); 6] = [
    ("mv tasks.md elsewhere; ln -s elsewhere tasks.md", "is a symlink, so it is not read"),
    ("rm -rf tasks.md; mkdir tasks.md", "is not a regular file"),
    ("rm -f tasks.md; mkfifo tasks.md", "is not a regular file"),
    ("rm -f tasks.md", "gone"),
    (": > tasks.md", "has no tasks any more"),
    ("printf '\\377\\376\\000binary' > tasks.md", "has no tasks any more"),
];

#[test]
fn a_tasks_file_of_a_change_that_the_agent_broke_is_told_to_the_agent() {
    for (script, why) in BROKEN {
        let world = World::new();
        world.cart("- [x] 1.1 add\n- [x] 1.2 remove\n");
        world.agent("claude", &format!("{PROMISES}cd .ito/changes/{CHANGE}\n[ -e elsewhere ] || {{ {script}; }}\n"));
        world
            .wt(&["ralph", "--change", CHANGE, "--max", "2"])
            .exit(3)
            .stderr_has("completion rejected by the tasks gate");
        assert_has(&world.told(2), &[why, "All tasks must be complete or shelved"]);
        assert_eq!(world.iteration(2)["validation"]["gate"], "tasks", "{script}");
    }
}

#[test]
fn a_tasks_file_without_a_change_that_the_agent_broke_is_told_to_the_agent() {
    for (script, _) in BROKEN {
        let world = World::new();
        world.tasks(1, 1);
        world.agent("claude", &format!("{PROMISES}[ -e elsewhere ] || {{ {script}; }}\n"));
        world
            .wt(&["run", "work", "--max", "2", "--stall-threshold", "0"])
            .exit(3)
            .stderr_has("completion rejected by the tasks gate");
        assert_has(&world.told(2), &["it had", "when this loop started"]);
    }
}

#[test]
fn a_broken_tasks_file_is_told_even_when_nothing_is_claimed() {
    for (script, why) in BROKEN {
        let world = World::new();
        world.cart("- [x] 1.1 add\n- [ ] 1.2 remove\n");
        world.agent(
            "claude",
            &format!(
                "cat > ../prompt-$WT_LOOP_RUN_ITERATION\ncd .ito/changes/{CHANGE}\n[ -e elsewhere ] || {{ {script}; }}\n"
            ),
        );
        world.wt(&["ralph", "--change", CHANGE, "--done", "tasks", "--max", "2"]).exit(3);
        let prompt = world.prompt(2);
        let (_, status) = prompt.split_once("\n## Task Status\n").expect("the section is there");
        assert_has(status.split("\n## ").next().unwrap(), &[why]);
    }
}

#[test]
fn a_change_that_the_agent_deleted_is_no_completion() {
    let world = World::new();
    world.cart("- [ ] 1.1 add\n");
    world.agent("claude", &format!("{PROMISES}rm -rf .ito/changes\n"));
    world.wt(&["ralph", "--change", CHANGE, "--max", "2"]).exit(3);
    assert_has(&world.told(2), &["The tasks file is gone; it had tasks when this loop started."]);
}

#[test]
fn a_symlink_to_closed_tasks_elsewhere_claims_nothing() {
    let world = World::new();
    world.tasks(1, 1);
    world.agent("claude", "cat > /dev/null\necho '- [x] all' > ../closed\nln -sf ../closed tasks.md\n");
    world.wt(&["run", "work", "--max", "2", "--stall-threshold", "0"]).exit(3);
    assert_eq!(world.iteration(1)["done_check"], false);
}

#[test]
fn a_change_without_a_tasks_file_passes_its_gate() {
    let world = World::with_agent(PROMISES);
    world.write(&format!(".ito/changes/{CHANGE}/proposal.md"), "# Add a cart\n");
    world.wt(&["ralph", "--change", CHANGE]).exit(0);
}

#[test]
fn a_claim_by_tasks_goes_through_the_project_and_extra_gates() {
    let world = World::with_agent(agents::TICKS);
    world.tasks(0, 2);
    world.validation(&["project"]);
    world.check("project", "[ \"$WT_LOOP_RUN_ITERATION\" -ge 3 ]");
    world.check("extra", "[ \"$WT_LOOP_RUN_ITERATION\" -ge 4 ]");
    world
        .wt(&["run", "tick", "--validation-command", "extra", "--stall-threshold", "0"])
        .exit(0)
        .stderr_has("wt-loop: done: every task is complete or shelved (4 iterations");
    assert_eq!(world.trail(), ["project", "project", "extra", "project", "extra"]);
    let gates = [1, 2, 3, 4].map(|n| world.iteration(n)["validation"]["gate"].as_str().map(str::to_owned));
    assert_eq!(gates, [None, Some("project".into()), Some("extra".into()), None]);
}

#[test]
fn a_claim_by_tasks_counts_however_the_iteration_ended() {
    let world = World::with_agent(&format!("{}exit 7\n", agents::TICKS));
    world.tasks(0, 1);
    world.validation(&["project"]);
    world.check("project", "");
    world.wt(&["run", "tick"]).exit(0);
    assert_eq!(world.trail(), ["project"]);
    assert_eq!(world.iteration(1)["exit_reason"], "failed");
}

#[test]
fn a_claim_by_promise_under_the_criterion_tasks_goes_through_the_tasks_gate() {
    let world = World::validated_by(&["project"]);
    world.check("project", "");
    world.write("tasks.md", "- [x] 1.1 a\n- [ ] 1.2 b\n");
    world.wt(&["run", "work", "--max", "2", "--stall-threshold", "0"]).exit(3);
    assert_eq!(world.trail(), [""; 0]);
    assert_has(&world.told(2), &["- 1.2 b (pending)", "All tasks must be complete or shelved"]);
    assert_eq!(world.iteration(1)["promise_found"], true);
}

#[test]
fn a_claim_by_promise_under_the_criterion_manual_without_a_change_looks_at_no_task() {
    let world = World::with_agent(PROMISES);
    world.tasks(0, 1);
    world.wt(&ralph(&[])).exit(0);
}
