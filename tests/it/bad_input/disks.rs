//! Disks that are full or read-only. Real ones, mounted where only the test sees them; without the right to mount they
//! cannot be had, and the tests say so loudly.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::support::{Output, World, agents, run};

/// Runs a script in a mount namespace of its own; `None`, told loudly, where this machine does not allow it.
fn mounted(world: &World, script: &str) -> Option<Output> {
    let flags = if nix::unistd::geteuid().is_root() { "-m" } else { "-rm" };
    let may = Command::new("unshare").args([flags, "mount", "-t", "tmpfs", "none", "/mnt"]).output();
    if !may.is_ok_and(|answer| answer.status.success()) {
        eprintln!("SKIPPED: full and read-only disks: this machine lets nobody mount one (unshare {flags} mount)");
        return None;
    }
    let mount = which::which("mount").unwrap();
    let script = script.replace("MOUNT", mount.to_str().unwrap()).replace("WT", world.program().to_str().unwrap());
    let mut command = world.command(which::which("unshare").unwrap());
    command.args([flags, "sh", "-c", &script]);
    Some(run(command))
}

/// The state that was kept elsewhere, as the hint says.
fn rescued(told: &Output) -> Value {
    let hint = told.stderr.lines().find_map(|line| line.strip_prefix("hint: the whole state is kept in ")).unwrap();
    serde_json::from_slice(&fs::read(hint).unwrap()).unwrap()
}

#[test]
fn a_disk_that_fills_up_ends_the_loop_and_loses_nothing() {
    let fills = "cat > /dev/null\ngit commit -q --allow-empty -m x\n\
                 [ $WT_LOOP_RUN_ITERATION = 2 ] && mkdir ../once && cat /dev/zero > .claude/filler\nexit 0\n";
    let world = World::with_agent(fills);
    fs::create_dir(world.root.join(".claude")).unwrap();
    let script = "MOUNT -t tmpfs -o size=64k none .claude && { WT run task; code=$?; cp -r .claude ../kept; \
                  rm .claude/filler; WT resume --max 2; echo $? > ../resumed; exit $code; }";
    let Some(told) = mounted(&world, script) else { return };
    let state = world.root.join(".claude/loop-state.json");
    let told = told
        .exit(1)
        .stderr_has(&format!(
            "\nwt-loop: cannot write {}: no space left on device\nhint: free some space",
            state.display()
        ))
        .lacks("panicked");
    let kept: Value = serde_json::from_slice(&fs::read(world.beside("kept/loop-state.json")).unwrap()).unwrap();
    assert_eq!(kept["iterations"][0]["n"], 1, "what had been recorded is whole");
    assert_eq!(rescued(&told)["iterations"].as_array().unwrap().len(), 2, "and the rest is kept elsewhere");
    assert_eq!(fs::read_to_string(world.beside("resumed")).unwrap(), "3\n", "with space again the loop goes on");
}

#[test]
fn doctor_knows_the_disk_of_the_worktree_whatever_its_kind() {
    let world = World::with_agent(agents::IDLE);
    let script = "MOUNT -t tmpfs -o size=3m none ../tmp && cd ../tmp && git init -q && WT doctor";
    let Some(told) = mounted(&world, script) else { return };
    let line = told.stdout.lines().find(|line| line.contains("disk")).unwrap_or_else(|| panic!("{told:?}"));
    assert!(line.contains(" MiB free") || line.contains(" MB free"), "{line}");
}

#[test]
fn a_disk_that_the_output_fills_up_lets_the_agent_finish() {
    let world = World::with_agent("cat > /dev/null\nhead -c 200000 /dev/zero | tr '\\0' x\ntouch ../went-on\n");
    fs::create_dir(world.root.join(".claude")).unwrap();
    let script = "MOUNT -t tmpfs -o size=64k none .claude && { WT run task --no-stream; exit $?; }";
    let Some(told) = mounted(&world, script) else { return };
    let told = told.exit(1).stderr_has("wt-loop: the log could not be written: no space left on device\n");
    assert!(world.beside("went-on").exists());
    assert_eq!(rescued(&told)["iterations"][0]["exit_reason"], "completed");
}

#[test]
fn a_start_on_a_full_disk_leaves_the_earlier_loop_as_it_was() {
    let world = World::with_agent(agents::IDLE);
    world.agent("codex", agents::IDLE);
    fs::create_dir(world.root.join(".claude")).unwrap();
    let script = "MOUNT -t tmpfs -o size=64k none .claude && WT run earlier --harness codex > /dev/null 2>&1; \
                  before=$(cat .claude/loop-state.json); cat /dev/zero > .claude/filler 2> /dev/null; WT run later; code=$?; \
                  [ \"$before\" = \"$(cat .claude/loop-state.json)\" ] || exit 99; WT resume --dry-run; exit $code";
    let Some(told) = mounted(&world, script) else { return };
    told.exit(1).stderr_has("no space left on device").stdout_has("/bin/codex exec --json -\n").stdout_has("earlier");
}

#[test]
fn a_read_only_worktree() {
    let world = World::with_agent("echo 1.0\n");
    let hint = "hint: the file system is mounted read-only; mount it writable (findmnt -T .)\n";
    let script = "MOUNT --bind . . && MOUNT -o remount,bind,ro . && cd \"$PWD\" && { WT ARGS; exit $?; }";
    for args in ["run task --done manual", "start task --done manual", "context add x"] {
        let Some(told) = mounted(&world, &script.replace("ARGS", args)) else { return };
        let told = told.exit(1).stdout("");
        assert!(told.stderr.starts_with("wt-loop: cannot ") && told.stderr.contains("/.claude"), "{}", told.stderr);
        assert!(told.stderr.ends_with(&format!(": read-only file system\n{hint}")), "{}", told.stderr);
    }
    let told = mounted(&world, &script.replace("ARGS", "status")).unwrap();
    told.exit(1).stderr_has("no loop has run in");
    let told = mounted(&world, &script.replace("ARGS", "doctor")).unwrap();
    told.exit(1).stdout_has("\nbad ").stdout_has("/.claude: read-only file system");
}

#[test]
fn a_read_only_worktree_can_still_be_asked() {
    let world = World::with_agent(agents::IDLE);
    world.wt(&["run", "task"]).exit(4);
    let script =
        "MOUNT --bind . . && MOUNT -o remount,bind,ro . && cd \"$PWD\" && WT status && WT history && WT list --all";
    let Some(told) = mounted(&world, script) else { return };
    told.exit(0).stdout_has("feat-x  stalled").stderr("");
}

#[test]
fn a_read_only_git_directory() {
    let world = World::with_agent(agents::IDLE);
    let script =
        "MOUNT --bind ../shop ../shop && MOUNT -o remount,bind,ro ../shop && { WT run task --done manual; exit $?; }";
    let Some(told) = mounted(&world, script) else { return };
    told.exit(1).stdout("").stderr_has("wt-loop: cannot lock ").stderr_has(": read-only file system\nhint: ");
    assert!(!world.root.join(".claude").exists());
}

#[test]
fn an_answer_that_a_full_disk_does_not_take() {
    let world = World::with_agent(agents::IDLE);
    world.wt(&["run", "task", "--max", "1"]).exit(3);
    for args in ["--help", "--version", "start --help", "status", "list --all", "man start"] {
        let mut command = world.command(which::which("sh").unwrap());
        command.args(["-c", &format!("{} {args} > /dev/full", world.program().display())]);
        run(command).exit(1).stderr_has("wt-loop: cannot write standard output: no space left on device\n");
    }
}
