//! `demo`: the whole product on nothing but git.

use crate::support::{World, run};

#[test]
fn it_leaves_a_loop_that_is_done_and_three_commands_to_type() {
    let world = World::new();
    let home = world.beside("demo");
    let shown = world.wt_in(&world.base(), &["demo", "--dir", home.to_str().unwrap()]).exit(0);
    let root = home.join("shop-ralph");
    let status = world.wt_in(&root, &["status", "--json"]).exit(0).json();
    assert_eq!((&status["status"], &status["current_iteration"]), (&"done".into(), &5.into()));
    assert_eq!(status["tasks"], serde_json::json!({ "done": 5, "total": 5 }));
    assert_eq!(
        world.git(&root, &["log", "--oneline", "--grep", "^Rehearse: "]).lines().count(),
        5,
        "a commit for each task"
    );
    assert_eq!(world.git(&root, &["status", "--porcelain"]), "");

    let (_, next) = shown.stderr.split_once("Three commands to type next:\n\n").unwrap();
    let commands: Vec<&str> =
        next.lines().filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' ')).collect();
    assert_eq!(commands.len(), 3, "{next}");
    for (command, code) in commands.into_iter().zip([0, 1, 1]) {
        // No agent is installed in this world: the other two say so, and are understood.
        let command = command.replace("wt-loop", world.program().to_str().unwrap());
        let mut shell = world.command("sh");
        shell.args(["-c", &command]);
        run(shell).exit(code);
    }
}

#[test]
fn it_overwrites_nothing() {
    let world = World::new();
    let home = world.beside("demo");
    std::fs::create_dir_all(home.join("shop")).unwrap();
    world
        .wt_in(&world.base(), &["demo", "--dir", home.to_str().unwrap()])
        .exit(1)
        .stderr_has("has a shop already\nhint: wt-loop demo --dir ");
    assert_eq!(std::fs::read_dir(home.join("shop")).unwrap().count(), 0);
}
