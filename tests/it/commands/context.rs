//! `context`: what every iteration is told beside its task, reloaded each time.

use crate::support::{HOLDS, World, agents};

const HEADING: &str = "## Additional Context (added by user mid-loop)\n\n";

#[test]
fn the_next_iteration_reads_what_is_added_while_a_loop_runs() {
    let world = World::with_agent(HOLDS);
    world.start(&["task", "--max", "3"]);
    assert!(!world.prompt(1).contains(HEADING));
    world.wt(&["context", "add", "mind the gap"]).exit(0).stdout("added; the next iteration reads it\n").stderr("");
    world.wt(&["context", "add", "and the door"]).exit(0);
    world.wt(&["context", "show"]).exit(0).stdout("mind the gap\n\nand the door\n").stderr("");
    world.let_go(1);
    let second = world.prompt(2);
    assert!(second.contains(&format!("{HEADING}mind the gap\n\nand the door\n")), "{second}");
    world.wt(&["context", "clear"]).exit(0).stdout("the context is cleared\n");
    world.let_go(2);
    assert!(!world.prompt(3).contains(HEADING));
}

#[test]
fn without_context_it_says_how_to_add_some() {
    let world = World::with_agent(agents::IDLE);
    let none = "there is no context; add some: wt-loop context add \"…\"\n";
    world.wt(&["context", "show"]).exit(0).stdout("").stderr(none);
    world.wt(&["context", "add", "x"]).exit(0);
    assert_eq!(world.read(".claude/ralph-context.md"), "x\n");
    assert_eq!(world.git(&world.root, &["status", "--porcelain"]), "", "git does not see it");
    world.wt(&["context", "clear"]).exit(0);
    world.wt(&["context", "show"]).exit(0).stdout("").stderr(none);
    for text in ["", " \n "] {
        world.wt(&["context", "add", text]).exit(2).stdout("");
    }
}

#[test]
fn a_change_has_a_context_of_its_own() {
    let world = World::with_agent(HOLDS);
    world.change("add-login", 0);
    world.wt(&["context", "add", "loose"]).exit(0);
    world.wt(&["context", "add", "of the login", "--change", "add"]).exit(0);
    assert_eq!(world.read(".claude/ralph/add-login/context.md"), "of the login\n");
    world.start(&["add-login", "task", "--max", "2"]);
    let first = world.prompt(1);
    assert!(first.contains(&format!("{HEADING}of the login\n")) && !first.contains("loose"), "{first}");
    // While a loop works on a change, the context of the worktree is that change's.
    world.wt(&["context", "add", "and more"]).exit(0);
    world.let_go(1);
    assert!(world.prompt(2).contains(&format!("{HEADING}of the login\n\nand more\n")));
    assert_eq!(world.read(".claude/ralph-context.md"), "loose\n");
}
