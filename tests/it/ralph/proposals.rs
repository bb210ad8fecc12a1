//! A proposal that is not there, or not to be read.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::{history, ito};
use crate::support::SAYS_DONE;

const PROPOSAL: &str = ".ito/changes/001-01_x/proposal.md";

#[test]
fn a_missing_proposal_is_a_warning_and_the_loop_goes_on() {
    let world = ito(&["001-01_x"], &format!("[ $call = 1 ] || {SAYS_DONE}"));
    fs::remove_file(world.root.join(PROPOSAL)).unwrap();
    let told = world.wt(&["ralph", "go", "--change", "001"]).exit(0).stderr;
    let warning = format!("wt-loop: warning: {PROPOSAL} is missing\n");
    assert_eq!(told.matches(&warning).count(), 1, "once, not in every iteration: {told}");
    let calls = world.calls();
    assert_eq!(calls.len(), 2);
    assert!(!calls[0].text().contains("## Change Proposal"));
    assert!(calls[0].text().contains("The work belongs to the change `001-01_x`."));
    assert_eq!(history(&world, "001-01_x")["iteration"], 2);
}

/// Puts something in the place of a proposal, given its path and that of a secret outside the worktree.
type Setup = fn(&Path, &Path);

#[test]
fn a_proposal_that_may_not_be_read_is_an_error_at_the_start() {
    let secret = |world: &crate::support::World| world.base().join("home/secret");
    let table: [(Setup, &str); 4] = [
        (|path, _| fs::create_dir(path).unwrap(), "proposal.md is not a regular file\n"),
        (|path, secret| symlink(secret, path).unwrap(), "proposal.md is a symlink, so it is not read\n"),
        (|path, _| symlink("tasks.md", path).unwrap(), "proposal.md is a symlink, so it is not read\n"),
        (
            |path, _| nix::unistd::mkfifo(path, nix::sys::stat::Mode::S_IRWXU).unwrap(),
            "proposal.md is not a regular file\n",
        ),
    ];
    for (setup, told) in table {
        let world = ito(&["001-01_x"], SAYS_DONE);
        fs::write(secret(&world), "a secret\n").unwrap();
        fs::remove_file(world.root.join(PROPOSAL)).unwrap();
        setup(&world.root.join(PROPOSAL), &secret(&world));
        world
            .wt(&["ralph", "go", "--change", "001"])
            .exit(1)
            .stdout("")
            .stderr_has(told)
            .stderr_has("hint: wt-loop reads only regular files inside the worktree\n");
        assert!(world.calls().is_empty());
        assert!(!world.root.join(".claude").exists(), "nothing is written");
    }
}

#[test]
fn a_proposal_that_an_agent_swaps_for_a_link_is_left_out_and_told() {
    let world = ito(&["001-01_x"], &format!("ln -sf \"$HOME/secret\" {PROPOSAL}\n[ $call = 1 ] || {SAYS_DONE}"));
    fs::write(world.base().join("home/secret"), "a secret\n").unwrap();
    world.wt(&["ralph", "go", "--change", "001"]).exit(0).stderr_has("is a symlink, so it is not read");
    let calls = world.calls();
    assert!(calls[0].text().contains("This is 001-01_x."));
    assert!(!calls[1].text().contains("a secret") && !calls[1].text().contains("## Change Proposal"));
}
