//! `wt-loop ralph` beyond the scenarios of its documents: where a change lives, what an agent is told, what is written down.

mod agents;
mod contexts;
mod failures;
mod files_changed;
mod histories;
mod layouts;
mod modules;
mod prompt_files;
mod prompts;
mod proposals;
mod targets;

use serde_json::Value;

use crate::support::World;

/// A repository of ito with these changes, and a `claude` that runs this script.
fn ito(changes: &[&str], script: &str) -> World {
    let world = World::new();
    for id in changes {
        world.write(&format!(".ito/changes/{id}/proposal.md"), &format!("This is {id}.\n"));
    }
    world.scribe("claude", script);
    world
}

/// The history of a change of ito.
#[track_caller]
fn history(world: &World, id: &str) -> Value {
    serde_json::from_str(&world.read(&format!(".ito/.state/ralph/{id}/state.json"))).unwrap()
}

/// The changes that agents were called for, in order.
fn worked_on(world: &World) -> Vec<String> {
    world.calls().iter().map(|call| call.environment["WT_LOOP_RUN_CHANGE"].clone()).collect()
}
