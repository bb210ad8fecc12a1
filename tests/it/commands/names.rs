//! The names by which the program can be called.

use std::os::unix::fs::symlink;

use crate::support::{World, agents, run};

#[test]
fn a_link_called_after_a_subcommand_is_that_subcommand() {
    let world = World::with_agent(agents::IDLE);
    for sub in ["status", "run", "list"] {
        symlink(world.program(), world.beside("bin").join(format!("wt-loop-{sub}"))).unwrap();
    }
    let called = |words: &[&str]| {
        let mut command = world.command(world.beside("bin").join(words[0]));
        command.args(&words[1..]);
        run(command)
    };
    called(&["wt-loop-run", "task", "--max", "1"]).exit(3).stdout("idle\n");
    assert_eq!(called(&["wt-loop-status", "--json"]).exit(0).json()["status"], "stuck");
    called(&["wt-loop-list", "--all"]).exit(0).stdout_has("feat-x");
    called(&["wt-loop-status", "--help"]).exit(0).stdout_has("Usage: wt-loop status");
}

#[test]
fn help_and_version_are_answers_and_nothing_is_wrong_usage() {
    let world = World::new();
    world.wt(&["--version"]).exit(0).stdout(&format!("wt-loop {}\n", env!("CARGO_PKG_VERSION"))).stderr("");
    world.wt(&["--help"]).exit(0).stdout_has("Usage: wt-loop").stderr("");
    world.wt(&[]).exit(2).stdout("").stderr_has("Usage: wt-loop");
}
