//! The run whose every system call meets a fault.

use std::fs;

use crate::support::World;

/// Two iterations: the first leaves a daemon and does nothing, the second claims completion, which a gate confirms.
pub const RUN: [&str; 14] = [
    "run",
    "x",
    "--change",
    "add-x",
    "--max",
    "4",
    "--stall-threshold",
    "0",
    "--completion-promise",
    "DONE",
    "--validation-command",
    "true",
    "--done",
    "manual",
];

/// Keeps the state that it finds, leaves a child and a daemon behind, and promises in its second iteration.
const AGENT: &str = "cp \"$WT_LOOP_RUN_STATE\" ../seen.part && mv ../seen.part ../seen\n\
                     sleep \"$NAP\" &\nsetsid sleep \"$NAP\" > /dev/null 2>&1 &\n\
                     [ \"$WT_LOOP_RUN_ITERATION\" = 1 ] || echo '<promise>DONE</promise>'\n";

/// A world in which a loop has run before, so that what is made once is there.
pub fn world() -> World {
    let world = World::with_agent(AGENT);
    world.change("add-x", 0);
    world.write("openspec/changes/add-x/tasks.md", "- [x] closed\n");
    world.wt(&RUN).exit(0);
    world
}

/// Makes the world as it was before the loop.
pub fn forget(world: &World) {
    let _ = fs::remove_dir_all(world.root.join(".claude"));
    let _ = fs::remove_file(world.beside("seen"));
}

/// Files on their way into their place, wherever we write.
pub fn unfinished(world: &World) -> Vec<String> {
    let found = walkdir::WalkDir::new(world.base()).into_iter().flatten().map(walkdir::DirEntry::into_path);
    found
        .filter(|path| path.extension().is_some_and(|found| found == "tmp"))
        .map(|path| path.display().to_string())
        .collect()
}
