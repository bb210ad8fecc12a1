//! Document 004: worktree-tools. One test per scenario, in the document's order.

use crate::support::{World, agents};

#[test]
fn scenario_tasks_md_completion() {
    let world = World::with_agent(agents::TICKS);
    world.tasks(0, 3);
    world
        .wt(&["run", "tick them"])
        .exit(0)
        .stderr_has("wt-loop: done: every task is complete or shelved (3 iterations");
    assert_eq!(world.state()["status"], "done");
}
