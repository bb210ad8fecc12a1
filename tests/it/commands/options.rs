//! The options of a loop, end to end.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use crate::support::{World, agents, spawn};

const PROMISES: &str = "cat > /dev/null\necho '<promise>COMPLETE</promise>'\n";

fn iterations(world: &World) -> usize {
    world.state()["iterations"].as_array().unwrap().len()
}

#[test]
fn flag_over_environment_over_repository_over_user_over_default() {
    let world = World::with_agent(PROMISES);
    let max = |flags: &[&str], env: &[(&str, &str)]| {
        world.wt_env(env, &[&["run", "task"], flags].concat()).exit(0);
        world.state()["max_iterations"].as_u64().unwrap()
    };
    assert_eq!(max(&[], &[]), 10);
    world.user_config("max = 20\nharness = \"claude\"\n");
    assert_eq!(max(&[], &[]), 20);
    world.write(".wt-loop.toml", "max = 30\n");
    assert_eq!(max(&[], &[]), 30);
    assert_eq!(max(&[], &[("WT_LOOP_MAX", "40")]), 40);
    assert_eq!(max(&["--max", "50"], &[("WT_LOOP_MAX", "40")]), 50);
    assert_eq!(max(&["--max-iterations", "0"], &[("WT_LOOP_MAX", "40")]), 0);
}

#[test]
fn each_layer_fills_what_those_above_leave_open() {
    let world = World::with_agent(agents::IDLE);
    world.agent("codex", "echo \"$@\" > ../args\ncat > /dev/null\n");
    world.user_config("model = \"user\"\nstall_threshold = 1\nharness = \"codex\"\n");
    world.write(".wt-loop.toml", "model = \"repository\"\niteration_timeout = \"90s\"\n");
    world.wt_env(&[("WT_LOOP_LABEL", "ignored"), ("WT_LOOP_MIN", "1")], &["run", "task"]).exit(4);
    let state = world.state();
    assert_eq!(fs::read_to_string(world.beside("args")).unwrap(), "exec --json -m repository -\n");
    assert_eq!((&state["harness"], &state["model"]), (&"codex".into(), &"repository".into()));
    assert_eq!((&state["stall_threshold"], &state["iteration_timeout_min"]), (&1.into(), &1.5.into()));
    world.wt_env(&[("WT_LOOP_HARNESS", "claude"), ("WT_LOOP_MODEL", "env")], &["run", "task"]).exit(4);
    assert_eq!((&world.state()["harness"], &world.state()["model"]), (&"claude".into(), &"env".into()));
}

#[test]
fn model_approval_and_arguments_reach_the_agent() {
    let world = World::with_agent("echo \"$@\" > ../args\n");
    for (options, args) in [
        (&[][..], "-p --output-format stream-json --verbose\n"),
        (&["--model", "opus"], "-p --output-format stream-json --verbose --model opus\n"),
        (&["--yolo"], "-p --output-format stream-json --verbose --dangerously-skip-permissions\n"),
        (
            &["--agent-arg", "--verbose", "--agent-arg", "a b"],
            "-p --output-format stream-json --verbose --verbose a b\n",
        ),
    ] {
        world.wt(&[&["run", "task", "--max", "1"], options].concat()).exit(3);
        assert_eq!(fs::read_to_string(world.beside("args")).unwrap(), args);
    }
}

#[test]
fn min_forgets_earlier_claims_and_judges_no_stall() {
    let world = World::with_agent(PROMISES);
    world.wt(&["run", "task", "--min", "3"]).exit(0).stderr_has("claimed before iteration 3, forgotten");
    assert_eq!(iterations(&world), 3);
    world.agent("claude", agents::IDLE);
    world.wt(&["run", "task", "--min-iterations", "4"]).exit(4);
    assert_eq!(iterations(&world), 4);
    let world = World::with_agent(agents::IDLE);
    world.tasks(1, 0);
    world.wt(&["run", "task", "--min", "2"]).exit(0);
    assert_eq!(iterations(&world), 2);
}

#[test]
fn stall_threshold_counts_iterations_in_a_row_without_a_commit() {
    let world = World::with_agent(agents::IDLE);
    world.wt(&["run", "task", "--stall-threshold", "3"]).exit(4).stderr_has("3 iterations in a row without progress");
    assert_eq!(iterations(&world), 3);
    world.wt(&["run", "task", "--stall-threshold", "0", "--max", "4"]).exit(3);
    let every_other = "[ $WT_LOOP_RUN_ITERATION = 2 ] && git commit -q --allow-empty -m x\nexit 0\n";
    world.agent("claude", every_other);
    world.wt(&["run", "task"]).exit(4);
    assert_eq!(iterations(&world), 4, "a commit starts the count anew");
}

#[test]
fn progress_can_be_any_change() {
    let world = World::with_agent("cat > /dev/null\necho x >> notes\n");
    world.wt(&["run", "task", "--max", "4", "--progress", "commits"]).exit(4);
    assert_eq!(iterations(&world), 2);
    world.wt(&["run", "task", "--max", "4", "--progress", "changes"]).exit(3);
    assert_eq!(iterations(&world), 4);
    assert_eq!(world.state()["iterations"][3]["files_changed"], 1);
    world.agent("claude", agents::IDLE);
    world.wt(&["run", "task", "--max", "4", "--progress", "changes"]).exit(4);
}

#[test]
fn fail_fast_ends_with_the_first_failure() {
    let world = World::with_agent(agents::FAILS);
    for flag in ["--fail-fast", "--exit-on-error"] {
        world
            .wt(&["run", "task", flag])
            .exit(1)
            .stdout("broken\n")
            .stderr_has("wt-loop: stuck: iteration 1 failed, and --fail-fast is on");
        let state = world.state();
        assert_eq!((&state["status"], &state["exit_code"]), (&"stuck".into(), &1.into()));
        assert_eq!(state["iterations"][0]["exit_code"], 7);
    }
}

#[test]
fn error_threshold_counts_failures_in_a_row_and_waits_between_them() {
    let world = World::with_agent(agents::FAILS);
    let told = world.wt(&["run", "task", "--error-threshold", "3", "--stall-threshold", "0"]).exit(3);
    let waits = told.stderr.matches("before the next try").count();
    assert_eq!(waits, 1, "from the second failure in a row on: {}", told.stderr);
    told.stderr_has("wt-loop: waiting 1").stderr_has("wt-loop: stuck: 3 failures in a row");
    assert_eq!(iterations(&world), 3);
    world.wt(&["run", "task", "--error-threshold", "0", "--stall-threshold", "0", "--max", "1"]).exit(3);
    assert_eq!(world.state()["status_reason"], "1 iteration without completion");
    world.agent("claude", "[ $WT_LOOP_RUN_ITERATION = 2 ] && exit 0\nexit 1\n");
    world.wt(&["run", "task", "--error-threshold", "2", "--stall-threshold", "0", "--max", "3"]).exit(3);
    assert_eq!(world.state()["status_reason"], "3 iterations without completion", "a success starts the count anew");
}

#[test]
fn iteration_timeout_ends_the_iteration_and_not_the_loop() {
    let world =
        World::with_agent("[ $WT_LOOP_RUN_ITERATION = 1 ] && exec sleep 1000\necho '<promise>COMPLETE</promise>'\n");
    world.wt(&["run", "task", "--iteration-timeout", "1s"]).exit(0).stderr_has("the iteration took too long");
    let first = world.state()["iterations"][0].clone();
    assert_eq!((&first["exit_reason"], &first["timed_out"]), (&"timed_out".into(), &true.into()));
    assert_eq!(world.state()["iterations"][1].get("timed_out"), None);
}

#[test]
fn idle_timeout_ends_a_silent_iteration() {
    let world = World::with_agent(agents::SLEEPS);
    for flag in ["--idle-timeout", "--timeout"] {
        world.wt(&["run", "task", flag, "1s", "--max", "1"]).exit(3).stderr_has("the agent was silent for too long");
        assert_eq!(world.state()["iterations"][0]["exit_reason"], "timed_out");
    }
}

#[test]
fn max_time_ends_the_loop_as_stuck() {
    let world = World::with_agent("cat > /dev/null\nsleep 0.6\ngit commit -q --allow-empty -m x\n");
    world
        .wt(&["run", "task", "--max-time", "1s"])
        .exit(3)
        .stderr_has("wt-loop: stuck: the time limit of 1.0s is reached");
    assert_eq!(iterations(&world), 2);
}

#[test]
fn no_stream_keeps_the_output_to_the_log() {
    let world = World::with_agent("echo secret words\necho '<promise>COMPLETE</promise>'\n");
    world.wt(&["run", "task", "--no-stream"]).exit(0).stdout("").lacks("secret words");
    assert!(world.log().contains("secret words\n"));
}

#[test]
fn prompt_file_comes_before_what_was_typed() {
    let world = World::with_agent(PROMISES);
    let file = world.beside("task.md");
    fs::write(&file, "from the file\n\n").unwrap();
    let file = file.to_str().unwrap();
    world.wt(&["run", "--prompt-file", file]).exit(0);
    assert_eq!(world.state()["task"], "from the file\n\n");
    world.wt(&["run", "typed", "--file", file]).exit(0);
    assert_eq!(world.state()["task"], "from the file\n\ntyped");

    let mut command = world.command(world.program());
    command.args(["run", "typed", "--prompt-file", "-"]).stdin(Stdio::piped());
    let mut running = spawn(command);
    running.child.stdin.take().unwrap().write_all(b"from the pipe\n").unwrap();
    running.wait().exit(0);
    assert_eq!(world.state()["task"], "from the pipe\n\ntyped");

    let mut command = world.command(world.program());
    command.args(["start", "--prompt-file", "-", "--launcher", "background"]).stdin(Stdio::piped());
    let mut running = spawn(command);
    running.child.stdin.take().unwrap().write_all(b"from the pipe\n").unwrap();
    running.wait().exit(0).stdout_has(": from the pipe\n");
}

#[test]
fn a_label_stands_beside_the_name() {
    let world = World::with_agent(agents::SLEEPS);
    world.wt(&["start", "task", "--label", "night \x1b[31mshift\x07", "--launcher", "tmux"]).exit(0);
    world.wait_for_title("Ralph: feat-x (night shift) [1/10]");
    world.wt(&["status"]).exit(0).stdout_has("feat-x (night shift)  running\n");
    assert_eq!(world.state()["label"], "night \x1b[31mshift\x07");
}

#[test]
fn unlimited_has_a_sign_of_its_own() {
    let world = World::with_agent(agents::SLEEPS);
    world.wt(&["start", "task", "--max", "0", "--launcher", "tmux"]).exit(0);
    world.wait_for_title("Ralph: feat-x [1/∞]");
    world.wt(&["status"]).exit(0).stdout_has("\n  iteration  1/∞\n");
}

#[test]
fn explicit_tasks_without_a_tasks_md_waits_for_one() {
    let world = World::with_agent("cat > /dev/null\necho '- [x] found' > tasks.md\n");
    world.wt(&["run", "task", "--done", "tasks"]).exit(0).stderr_has("wt-loop: warning: no tasks.md found");
    assert_eq!(world.state()["done_criteria"], "tasks");
}

#[test]
fn the_log_rotates_by_size_when_asked() {
    let world = World::with_agent("cat > /dev/null\nseq 1 2000\n");
    world.wt(&["run", "x", "--max", "3", "--stall-threshold", "0", "--log-max-size", "5k"]).exit(3);
    let logs = ["", ".1", ".2", ".3"].map(|n| world.read(&format!(".claude/ralph-loop.log{n}")));
    // What a read brings is written in one piece: a log is as large as was set, and at most that piece larger.
    assert!(logs[1..].iter().all(|log| log.len() > 5 << 10 && log.ends_with('\n')), "{:?}", logs.map(|log| log.len()));
    assert!(!world.root.join(".claude/ralph-loop.log.4").exists());
    world
        .wt(&["run", "x", "--log-max-size", "many"])
        .exit(2)
        .stderr_has("'many' is no size; write it as 500k, 100M or 2G");
}

#[test]
fn the_log_of_an_earlier_loop_is_kept() {
    let world = World::with_agent("echo run $RUN\n");
    for run in 1..=5 {
        let run = run.to_string();
        world.wt_env(&[("RUN", &run)], &["run", "task", "--max", "1"]).exit(3);
    }
    for (file, run) in
        [("ralph-loop.log", 5), ("ralph-loop.log.1", 4), ("ralph-loop.log.2", 3), ("ralph-loop.log.3", 2)]
    {
        assert!(world.read(&format!(".claude/{file}")).contains(&format!("run {run}\n")), "{file}");
    }
    assert!(!world.root.join(".claude/ralph-loop.log.4").exists());
}

#[test]
fn the_rehearsal_works_everywhere_at_no_cost() {
    let world = World::new();
    world.change("add-login", 2);
    world.wt(&["run", "task", "-c", "add-login", "--harness", "rehearsal"]).exit(0);
    assert_eq!(world.read("openspec/changes/add-login/tasks.md"), "- [x] open\n".repeat(2));
    assert_eq!(iterations(&world), 2);
}
