//! `--dry-run`: the next prompt and the exact command line; it runs and writes nothing.

use crate::support::{World, agents, snapshot};

#[test]
fn it_prints_prompt_and_command_line_and_writes_nothing_at_all() {
    let world = World::with_agent("touch ../ran\n");
    world.tasks(1, 1);
    let before = snapshot(&world.base());
    let args = ["the task", "--dry-run", "--max", "3", "--model", "opus", "--allow-all", "--agent-arg", "--say it's"];
    let expected = format!(
        "{} -p --output-format stream-json --verbose --model opus --dangerously-skip-permissions '--say it'\\''s'\n\nThe prompt on its standard input:\n\n\
         # Iteration 1 of 3\n",
        world.beside("bin/claude").display()
    );
    for command in ["start", "run"] {
        let shown = world.wt(&[&[command], &args[..]].concat()).exit(0).stderr("");
        assert!(shown.stdout.starts_with(&expected), "{}", shown.stdout);
        shown
            .stdout_has("\n## Task\n\nthe task\n")
            .stdout_has("1 of 2 tasks in `tasks.md` are done.")
            .lacks("<promise>");
    }
    assert_eq!(snapshot(&world.base()), before);
}

#[test]
fn of_a_loop_to_resume_it_shows_the_next_iteration() {
    let world = World::with_agent(agents::FAILS);
    world.wt(&["run", "the task", "--fail-fast", "--agent-arg", "-x"]).exit(1);
    let before = snapshot(&world.base());
    world
        .wt(&["resume", "--dry-run"])
        .exit(0)
        .stdout_has("/claude -p --output-format stream-json --verbose -x\n")
        .stdout_has("# Iteration 2 of 10\n")
        .stdout_has("## Last Failure")
        .stdout_has("ended with exit code 7");
    assert_eq!(snapshot(&world.base()), before);
}

#[test]
fn what_could_not_run_is_refused_all_the_same() {
    let world = World::new();
    let before = snapshot(&world.base());
    world.wt(&["run", "task", "--dry-run"]).exit(1).stdout("").stderr_has("no agent called 'claude' on PATH");
    world.wt(&["start", "--dry-run"]).exit(2).stdout("").stderr_has("the task is empty");
    assert_eq!(snapshot(&world.base()), before);
}
