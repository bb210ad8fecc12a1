//! The agent cannot move the goalposts.

use super::ralph;
use crate::support::{PROMISES, World, agents, wait_until};

const CHANGED: &str = "wt-loop: warning: the validation in .wt-loop.toml has changed since the loop started; \
                       the first one is used\n";

#[test]
fn a_changed_or_deleted_source_is_told_once_and_the_first_commands_are_used() {
    for script in [
        "echo 'validation = [\"true\"]' > .wt-loop.toml",
        "rm -f .wt-loop.toml",
        "echo 'validation = [' > .wt-loop.toml",
        "echo '{\"validationCommand\": \"true\"}' > ito.json",
        "echo oops > ito.json",
        "rm -f .wt-loop.toml; ln -s /etc/hostname .wt-loop.toml",
    ] {
        let world = World::validated_by(&["check"]);
        world.agent("claude", &format!("{PROMISES}{script}\n"));
        world.check("check", "[ \"$WT_LOOP_RUN_ITERATION\" -ge 3 ]");
        let output = world.wt(&ralph(&["--max", "4"])).exit(0);
        assert_eq!(world.trail(), ["check", "check", "check"], "{script}");
        assert_eq!(output.stderr.matches(CHANGED).count(), 1, "{script}: {}", output.stderr);
        assert_eq!(world.log().matches(CHANGED).count(), 1, "{script}");
    }
}

#[test]
fn a_source_that_appears_is_told_once_and_not_used() {
    let world = World::with_agent(&format!("{PROMISES}printf '## Tests\\n```\\ncheck\\n```\\n' > AGENTS.md\n"));
    world.check("check", "");
    world.check("extra", "[ \"$WT_LOOP_RUN_ITERATION\" -ge 2 ]");
    let output = world.wt(&ralph(&["--validation-command", "extra"])).exit(0);
    let told = "there is validation in AGENTS.md now; there was none when the loop started, so it is not used\n";
    assert_eq!(output.stderr.matches(told).count(), 1, "{}", output.stderr);
    assert_eq!(world.trail(), ["extra", "extra"]);
}

#[test]
fn a_source_that_stands_as_it_stood_is_not_told() {
    let world = World::validated_by(&["true"]);
    world.wt(&ralph(&[])).exit(0).lacks("has changed since");
}

#[test]
fn a_resume_uses_the_first_commands_too() {
    let world = World::with_agent(agents::SLEEPS);
    world.validation(&["check"]);
    world.check("check", "[ -e ../fixed ]");
    let running = world.spawn(&ralph(&[]));
    wait_until("the agent works", || !world.processes_like("sleep 1000").is_empty());
    world.wt(&["stop"]).exit(0);
    running.wait().exit(5);
    world.validation(&["true"]);
    world.agent("claude", PROMISES);
    world.wt(&["resume", "--max", "2"]).exit(3).stderr_has(CHANGED);
    assert_eq!(world.trail(), ["check"]);
}

#[test]
fn the_state_file_decides_nothing() {
    let world = World::validated_by(&["check"]);
    world.check("check", "exit 1");
    world.agent(
        "claude",
        &format!(
            "{PROMISES}jq '.iterations=[{{n:1,done_check:true}}] | .status=\"done\" | .validation=\"skipped\"' \
                  .claude/loop-state.json > ../s && cp ../s .claude/loop-state.json\n"
        ),
    );
    world.wt(&ralph(&["--max", "2"])).exit(3);
    assert_eq!((world.trail().len(), world.state()["status"].as_str()), (2, Some("stuck")));
}

#[test]
fn a_tasks_file_that_lost_its_tasks_fails() {
    let world = World::with_agent(&format!("{PROMISES}echo 'all done' > tasks.md\n"));
    world.tasks(0, 2);
    world
        .wt(&["run", "work", "--max", "1"])
        .exit(3)
        .stderr_has("rejected by the tasks gate: The tasks file has no tasks any more");
}
