//! What cannot be killed: a process of another user.

use std::fs;
use std::process::Command;

use nix::unistd::Uid;
use serde_json::json;

use crate::support::{Output, World, cast, run, spawn, wait_for};

/// A world that belongs to nobody, in which nobody runs wt-loop.
fn nobodys(world: &World, args: &[&str]) -> Command {
    let mut command = world.command("setpriv");
    command.args(["--reuid=nobody", "--regid=nogroup", "--clear-groups"]);
    command.arg(world.base().join("bin/wt-loop")).args(args);
    command
}

fn prepare(world: &World) {
    let mut script = world.command("sh");
    script.args(["-ec", "cp \"$1\" bin/wt-loop; chmod 755 bin/wt-loop; chown -R nobody:nogroup .
                         cp \"$(command -v setpriv)\" bin/become-root; chown root:root bin/become-root; chmod 4755 bin/become-root"]);
    script.arg("sh").arg(world.program()).current_dir(world.base());
    run(script).exit(0);
}

#[test]
fn what_cannot_be_killed_ends_the_sweep_and_is_named() {
    if !Uid::effective().is_root() || which::which("setpriv").is_err() {
        eprintln!("SKIPPED: only root can start a process that the loop may not kill, and only with setpriv");
        return;
    }
    let world = World::with_agent(
        "[ $WT_LOOP_RUN_ITERATION = 1 ] || exit 0
         become-root --reuid=0 --regid=0 --clear-groups sleep \"$NAP\" < /dev/null > /dev/null 2>&1 &
         until [ -e \"$TMPDIR/go\" ]; do sleep 0.02; done\n",
    );
    prepare(&world);
    let running = spawn(nobodys(&world, &["run", "x", "--max", "2", "--stall-threshold", "0"]));
    let owned_by_root = |pid: i32| cast::status(pid, "Uid").split_whitespace().all(|id| id == "0");
    let left = wait_for("root's process", || {
        world
            .processes_like(&format!("sleep {}", world.nap))
            .into_iter()
            .find(|process| !process.command.contains("become-root") && owned_by_root(process.pid))
    });
    fs::write(world.base().join("tmp/go"), "").unwrap();

    let told = format!("sleep (pid {}) could not be killed and is left running", left.pid);
    running.wait().exit(3).stderr_has(&told);
    assert!(world.log().contains(&told));
    let status: Output = run(nobodys(&world, &["status", "--json"])).exit(0);
    let iterations = status.json()["iterations"].clone();
    assert_eq!(iterations[0]["left_running"], json!([{ "pid": left.pid, "name": "sleep" }]));
    assert_eq!(iterations[1]["exit_reason"], "completed", "the loop goes on");
    assert_eq!(iterations[1].get("left_running"), None, "and does not count it again");
    run(nobodys(&world, &["status"])).exit(0).stdout_has(&format!("sleep (pid {})", left.pid));
}
