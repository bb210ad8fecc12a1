//! `history`: every iteration, as a table and as JSON.

use crate::support::{World, agents};

#[test]
fn every_iteration_is_a_row() {
    let world = World::with_agent(
        "cat > /dev/null\nn=$WT_LOOP_RUN_ITERATION\n[ $n = 2 ] && exit 7\n\
         [ $n = 1 ] && { echo x > new; git add new; git commit -qm one; git commit -q --allow-empty -m two; }\n\
         [ $n = 3 ] && echo '<promise>COMPLETE</promise>'\nexit 0\n",
    );
    world.wt(&["run", "task"]).exit(0);
    let shown = world.wt(&["history"]).exit(0).stderr("").stdout;
    let rows: Vec<Vec<&str>> = shown.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(
        rows[0],
        ["#", "STARTED", "TOOK", "EXIT", "ENDED", "COMPLETION", "COMMITS", "FILES", "TOKENS"],
        "{shown}"
    );
    let ends: Vec<String> =
        rows[1..].iter().map(|row| format!("{} … {}", row[0], row[row.len() - 6..].join(" "))).collect();
    assert_eq!(ends, ["1 … 0 completed - 2 1 0", "2 … 7 failed - 0 0 0", "3 … 0 completed accepted 0 0 0"], "{shown}");
    world.wt(&["history", "--limit", "1"]).exit(0).stdout_has("\n3  ").lacks("\n2  ");
}

#[test]
fn a_program_gets_what_the_state_has() {
    let world = World::with_agent(agents::COMMITS);
    world.wt(&["run", "task", "--max", "3"]).exit(3);
    let all = world.wt(&["history", "--json"]).exit(0).stderr("").json();
    assert_eq!(all, world.state()["iterations"]);
    let numbers = |limit: &str| {
        let shown = world.wt(&["history", "--json", "--limit", limit]).exit(0).json();
        shown.as_array().unwrap().iter().map(|iteration| iteration["n"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!((numbers("2"), numbers("9"), numbers("0")), (vec![2, 3], vec![1, 2, 3], vec![]));
    for field in [
        "n",
        "started",
        "ended",
        "exit_code",
        "exit_reason",
        "done_check",
        "promise_found",
        "commits",
        "files_changed",
        "tokens_used",
        "input_tokens",
        "output_tokens",
        "cache_read_tokens",
        "cache_write_tokens",
        "cost_usd",
        "attempts",
    ] {
        assert!(all[0].get(field).is_some(), "{field} is not in {}", all[0]);
    }
    assert_eq!(all[0]["attempts"], 1);
}

#[test]
fn before_the_first_iteration_has_ended_there_is_nothing_to_show() {
    let world = World::with_agent(agents::SLEEPS);
    world.start(&["sleep"]);
    world.wt(&["history"]).exit(0).stdout("").stderr("no iteration has ended yet\n");
    assert_eq!(world.wt(&["history", "--json"]).exit(0).json(), serde_json::json!([]));
}

#[test]
fn the_history_of_another_worktree_can_be_named() {
    let world = World::with_agent(agents::COMMITS);
    world.wt(&["run", "task", "--max", "1"]).exit(3);
    let there = world.wt_in(&world.main, &["history", "feat-x", "--json"]).exit(0).json();
    assert_eq!(there, world.state()["iterations"]);
}
