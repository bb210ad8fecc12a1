//! Named pipes and devices in the place of files: refused, and never waited for.

use std::fs;
use std::path::Path;

use nix::sys::stat::{Mode, SFlag, makedev, mknod};

use crate::support::{World, agents};

/// Every file that is read or written in a worktree.
const PLACES: [&str; 14] = [
    ".claude/loop-state.json",
    ".claude/ralph-loop.log",
    ".claude/ralph-terminal.pid",
    ".claude/ralph-context.md",
    ".claude/ralph-raw.jsonl",
    ".ito/.state/ralph/002-01_x/state.json",
    ".ito/.state/ralph/002-01_x/context.md",
    ".ito/changes/002-01_x/proposal.md",
    ".ito/changes/002-01_x/tasks.md",
    ".ito/modules/002_m/module.md",
    ".wt-loop.toml",
    "ito.json",
    "AGENTS.md",
    "tasks.md",
];

const COMMANDS: [&[&str]; 9] = [
    &["run", "task", "-c", "002-01_x", "--max", "1", "--raw"],
    &["resume", "--max", "4", "--raw"],
    &["run", "task", "--max", "1"],
    &["context", "add", "more", "-c", "002-01_x"],
    &["context", "show"],
    &["validate", "-c", "002-01_x"],
    &["status"],
    &["monitor"],
    &["doctor"],
];

/// Puts something in the place of each file, and sees every command end.
fn assert_no_wait(put: impl Fn(&Path)) {
    for place in PLACES {
        let world = World::with_agent(agents::IDLE);
        world.write(".ito/changes/002-01_x/proposal.md", "the proposal\n");
        world.write(".ito/changes/002-01_x/tasks.md", "- [ ] a task\n");
        let path = world.root.join(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let _ = fs::remove_file(&path);
        put(&path);
        for args in COMMANDS {
            // That it ends at all is what is looked at: to wait for it has a deadline.
            let told = world.wt(args).lacks("panicked");
            assert!(told.status.code().is_some(), "{place}, {args:?}: {told:?}");
            assert!(args[0] != "run" || told.status.code() != Some(0), "{place}: nothing is done by it: {told:?}");
        }
    }
}

#[test]
fn a_named_pipe_holds_nobody() {
    assert_no_wait(|path| nix::unistd::mkfifo(path, Mode::S_IRWXU).unwrap());
}

#[test]
fn a_device_is_not_read() {
    let probe = tempfile::tempdir().unwrap();
    let zero = |path: &Path| mknod(path, SFlag::S_IFCHR, Mode::S_IRUSR | Mode::S_IWUSR, makedev(1, 5));
    if let Err(error) = zero(&probe.path().join("zero")) {
        eprintln!("SKIPPED: a device is not read: none can be made here: {error}");
        return;
    }
    assert_no_wait(|path| zero(path).unwrap());
}

#[test]
fn a_pipe_that_an_agent_puts_in_the_place_of_the_log_or_the_state_ends_the_loop() {
    for name in ["ralph-loop.log", "loop-state.json"] {
        let world = World::with_agent(&format!("cat > /dev/null\nrm .claude/{name}\nmkfifo .claude/{name}\n"));
        let told = world.wt(&["run", "task", "--max", "2", "--stall-threshold", "0"]);
        // A state is replaced whole, whatever lies there; a log is appended to.
        match name {
            "loop-state.json" => told.exit(3),
            _ => told.exit(1).stderr_has("ralph-loop.log: "),
        };
        assert_eq!(world.processes(), []);
    }
}
