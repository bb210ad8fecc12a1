//! Commands run under the same supervision as agents.

use std::fs;

use super::ralph;
use crate::support::{PROMISES, World, assert_has, wait_until};

#[test]
fn they_run_in_a_shell_at_the_root_with_standard_input_closed() {
    let world = World::validated_by(&["cat && echo from $PWD | grep -q feat-x && test -f README && exit 5"]);
    world.wt(&ralph(&["--max", "1"])).exit(3);
    assert_eq!(world.iteration(1)["validation"]["exit_code"], 5);
}

#[test]
fn one_that_takes_too_long_is_killed_with_its_whole_tree() {
    let world = World::validated_by(&["tree"]);
    world.check(
        "tree",
        "sleep 1001 &\n(setsid sleep 1002 &)\nsetsid nohup sh -c 'sleep 1003 & wait' > /dev/null 2>&1 &\n\
         sh -c 'setsid sh -c \"sleep 1004; :\" & sleep 1005; :'\n",
    );
    let running = world.spawn(&ralph(&["--max", "1", "--validation-timeout", "5s"]));
    wait_until("the tree stands", || (1001..=1005).all(|n| !world.processes_like(&format!("sleep {n}")).is_empty()));
    running.wait().exit(3);
    assert_eq!(world.processes(), [], "everything is gone when the loop is");
    assert_eq!(world.iteration(1)["validation"]["timed_out"], true);
}

#[test]
fn a_daemon_left_behind_is_swept_and_holds_nothing_up() {
    let world = World::validated_by(&["leaves", "looks"]);
    // One keeps the pipe of the output open, one has let go of everything.
    world.check("leaves", "setsid sleep 1001 &\nsetsid sh -c 'sleep 1002; :' < /dev/null > /dev/null 2>&1 &\nexit 0");
    world.check("looks", "ps -eo args | grep '[s]leep 100[12]' > ../left; exit 0");
    world.wt(&ralph(&["--validation-timeout", "20s"])).exit(0).stderr_has("project: `leaves` passed");
    assert_eq!(world.processes(), []);
    let left = fs::read_to_string(world.base().join("left")).unwrap();
    assert_eq!(left, "", "it is gone before the next command runs");
}

#[test]
fn fifty_megabytes_of_output_in_bounded_memory() {
    let world = World::new();
    world.validation(&["floods"]);
    world.agent(
        "claude",
        "cat > ../prompt-$WT_LOOP_RUN_ITERATION\n\
         grep VmHWM /proc/$(cat .claude/ralph-terminal.pid)/status | tr -dc 0-9 > ../memory-$WT_LOOP_RUN_ITERATION\n\
         echo '<promise>COMPLETE</promise>'\n",
    );
    world.check(
        "floods",
        "echo the first line\nhead -c 50000000 /dev/zero | tr '\\0' x\necho\necho the last line\nexit 1",
    );
    world.wt(&ralph(&["--max", "2"])).exit(3);
    let memory =
        |n: u64| -> u64 { fs::read_to_string(world.base().join(format!("memory-{n}"))).unwrap().parse().unwrap() };
    assert!(memory(2) < memory(1) + 8 * 1024, "kB before {} and after {}", memory(1), memory(2));
    let whole = 50_000_000 + "the first line\n\nthe last line\n".len();
    assert!(fs::metadata(world.root.join(".claude/ralph-loop.log")).unwrap().len() > 2 * whole as u64, "all is logged");

    let detail = world.iteration(1)["validation"]["detail"].as_str().unwrap().to_owned();
    let (head, rest) = detail.split_once("\n… ").unwrap();
    let (missing, tail) = rest.split_once(" bytes left out …\n").unwrap();
    assert!(head.starts_with("the first line\nxxx") && tail.ends_with("xxx\nthe last line\n"));
    assert_eq!(head.len() + tail.len() + missing.parse::<usize>().unwrap(), whole);
    assert!(head.len() + tail.len() <= 24 * 1024);
    assert_has(&world.told(2), &["the first line", &format!("… {missing} bytes left out …"), "the last line"]);
}

#[test]
fn output_that_is_not_utf_8() {
    let world = World::validated_by(&["bytes"]);
    world.check("bytes", "printf 'caf\\303 \\377\\376\\000 \\303\\251t\\303\\251\\n'; exit 1");
    world.wt(&ralph(&["--max", "2"])).exit(3);
    assert_eq!(world.iteration(1)["validation"]["detail"], "caf\u{fffd} \u{fffd}\u{fffd}\0 été\n");
    assert_has(&world.told(2), &["caf\u{fffd} \u{fffd}\u{fffd}", "été"]);
    let log = fs::read(world.root.join(".claude/ralph-loop.log")).unwrap();
    let raw: &[u8] = b"caf\xc3 \xff\xfe\0 \xc3\xa9t\xc3\xa9\n";
    assert!(log.windows(raw.len()).any(|bytes| bytes == raw), "the log keeps every byte");
}

#[test]
fn one_that_deletes_the_worktree() {
    let world = World::validated_by(&["deletes"]);
    world.check("deletes", "rm -rf \"$PWD\"; exit 1");
    let output = world.wt(&ralph(&["--max", "2"])).exit(1);
    assert_has(&output.stderr, &["wt-loop: ", "hint: the whole state is kept in "]);
    assert!(!output.stderr.contains("panicked"), "{}", output.stderr);
    assert_eq!(world.processes(), []);
    let kept = output.stderr.split("the whole state is kept in ").nth(1).unwrap().lines().next().unwrap();
    let kept: serde_json::Value = serde_json::from_slice(&fs::read(kept).unwrap()).unwrap();
    assert_eq!(kept["iterations"][0]["promise_found"], true);
    assert_eq!(kept["iterations"][0]["validation"]["exit_code"], 1, "{kept:#}");
}

#[test]
fn extra_commands_are_repeatable_and_come_after_the_projects() {
    let world = World::validated_by(&["one", "two"]);
    for name in ["one", "two", "three", "four"] {
        world.check(name, "");
    }
    world.wt(&ralph(&["--validation-command", "three", "--validation-command", "four"])).exit(0);
    assert_eq!(world.trail(), ["one", "two", "three", "four"]);
}

#[test]
fn skip_validation_runs_nothing_and_warns() {
    let world = World::validated_by(&["one"]);
    world.check("one", "exit 1");
    let output = world.wt(&ralph(&["--skip-validation", "--validation-command", "one"])).exit(0);
    let warning = "warning: validation was skipped (--skip-validation); the claim is believed unchecked\n";
    assert_eq!(output.stderr.matches(warning).count(), 1, "{}", output.stderr);
    assert_eq!(world.trail(), [""; 0]);
}

#[test]
fn the_timeout_is_per_command_and_needs_a_unit() {
    let world = World::with_agent(PROMISES);
    world.validation(&["sleep 1.1"; 3]);
    world.wt(&ralph(&["--validation-timeout", "3s"])).exit(0);
    world.validation(&["true"]);
    world.wt(&ralph(&["--validation-timeout", "5"])).exit(2).stderr_has("'5' is no duration");
    world.wt(&ralph(&["--validation-timeout", "0"])).exit(0);
    assert!(world.record()["spec"]["validation_timeout"].is_null(), "0 is off");
}

#[test]
fn a_repository_cannot_skip_its_own_validation() {
    let world = World::with_agent(PROMISES);
    world.write(".wt-loop.toml", "validation = ['false']\nskip_validation = true\n");
    world.wt(&ralph(&["--max", "1"])).exit(2).stderr_has("a repository cannot set skip_validation");
}
