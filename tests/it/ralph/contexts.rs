//! The context that every iteration reloads, added to and cleared by whichever command.

use super::ito;
use crate::support::{SAYS_DONE, World, wait_until};

const LABEL: &str = "## Additional Context (added by user mid-loop)";
const FILE: &str = ".ito/.state/ralph/001-01_x/context.md";

#[test]
fn both_commands_are_the_same_thing() {
    let world = ito(&["001-01_x"], SAYS_DONE);
    world.wt(&["ralph", "--add-context", "from ralph", "--change", "001"]).exit(0);
    world.wt(&["context", "add", "from context", "--change", "001"]).exit(0);
    let both = "from ralph\n\nfrom context\n";
    assert_eq!(world.read(FILE), both);
    world.wt(&["context", "show", "--change", "001"]).exit(0).stdout(both);
    world.wt(&["context", "clear", "--change", "001"]).exit(0);
    assert_eq!(world.read(FILE), "");
    world.wt(&["context", "show", "--change", "001"]).exit(0).stdout("");
}

#[test]
fn additions_at_once_do_not_mix() {
    let world = ito(&["001-01_x"], SAYS_DONE);
    let texts: Vec<String> = (0..8).map(|n| format!("{n} {}", n.to_string().repeat(500))).collect();
    let adding: Vec<_> =
        texts.iter().map(|text| world.spawn(&["ralph", "--add-context", text, "--change", "001"])).collect();
    for one in adding {
        one.wait().exit(0);
    }
    let whole = world.read(FILE);
    let mut found: Vec<&str> = whole.lines().filter(|line| !line.is_empty()).collect();
    found.sort_unstable();
    assert_eq!(found, texts);
}

#[test]
fn without_a_name_it_is_the_context_of_the_loop_that_runs() {
    let world =
        ito(&["001-01_x"], &format!("while [ ! -s {FILE} ]; do sleep 0.01; done\n[ $call = 1 ] || {SAYS_DONE}"));
    let running = world.spawn(&["ralph", "go", "--change", "001"]);
    wait_until("the first agent", || world.calls().len() == 1);
    world.wt(&["context", "add", "mind the gap"]).exit(0);
    running.wait().exit(0);
    let told: Vec<String> = world.calls().iter().map(|call| call.section(LABEL)).collect();
    assert_eq!(told, ["", "mind the gap"]);
    world.wt(&["context", "add", "for a loop without a change"]).exit(0);
    assert_eq!(world.read(".claude/ralph-context.md"), "for a loop without a change\n");
    assert_eq!(world.read(FILE), "mind the gap\n");
}

#[test]
fn it_reaches_a_loop_that_spool_runs_beside_ito() {
    let world = World::new();
    let file = ".spool/.state/ralph/001-01_x/context.md";
    world.write(".ito/changes/001-01_x/proposal.md", "As ito has it.\n");
    world.write(".spool/changes/001-01_x/proposal.md", "As spool has it.\n");
    world.scribe(
        "opencode",
        &format!("until [ -e go ] || [ -s {file} ]; do sleep 0.01; done\n[ $call = 1 ] || {SAYS_DONE}"),
    );
    let running = world.spawn_called("spool", &["ralph", "go", "--change", "001"]);
    wait_until("the first agent", || world.calls().len() == 1);
    world.wt(&["context", "add", "mind the gap"]).exit(0);
    world.write("go", "");
    running.wait().exit(0);
    assert_eq!(world.calls()[1].section(LABEL), "mind the gap");
}

#[test]
fn empty_and_homeless_additions_are_refused() {
    let world = ito(&["001-01_x"], SAYS_DONE);
    for text in ["", "  \n"] {
        world.wt(&["ralph", "--add-context", text, "--change", "001"]).exit(2);
        world.wt(&["context", "add", text, "--change", "001"]).exit(2);
    }
    world.wt(&["ralph", "--add-context", "x"]).exit(1).stderr_has("--change is required").stderr_has("found: 001-01_x");
    world.wt(&["ralph", "--clear-context"]).exit(1).stderr_has("--change is required");
    assert!(!world.root.join(".ito/.state").exists());
}

#[test]
fn an_item_of_a_list_can_be_added() {
    let world = ito(&["001-01_x"], SAYS_DONE);
    world.wt(&["ralph", "--add-context", "- mind the gap", "--change", "001"]).exit(0);
    assert_eq!(world.read(FILE), "- mind the gap\n");
    world.wt(&["ralph", "--add-context", "--change", "001"]).exit(2).stderr_has("a text is missing before --change");
    assert_eq!(world.read(FILE), "- mind the gap\n");
}

#[test]
fn clearing_where_there_is_nothing_is_no_error() {
    let world = ito(&["001-01_x"], SAYS_DONE);
    world.wt(&["ralph", "--clear-context", "--change", "001"]).exit(0).stdout("the context of 001-01_x is cleared\n");
}

#[test]
fn a_context_is_neither_written_nor_read_through_a_link() {
    let world = ito(&["001-01_x"], SAYS_DONE);
    let secret = world.base().join("home/secret");
    std::fs::write(&secret, "a secret\n").unwrap();
    world.write(".ito/.state/ralph/001-01_x/other", "");
    std::os::unix::fs::symlink(&secret, world.root.join(FILE)).unwrap();
    world.wt(&["ralph", "--add-context", "x", "--change", "001"]).exit(1);
    world.wt(&["context", "show", "--change", "001"]).exit(1).stdout("");
    world.wt(&["ralph", "--change", "001"]).exit(0).stderr_has("is a symlink, so it is not read");
    assert!(!world.only_call().text().contains("a secret"));
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), "a secret\n");
}
