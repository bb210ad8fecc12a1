//! One verdict, from which the history, the log, `status` and `history` all render.

use super::ralph;
use crate::support::{CHANGE, PROMISES, World, assert_has};

#[test]
fn gates_are_asked_in_order_up_to_the_first_that_fails() {
    let world = World::validated_by(&["one", "two"]);
    world.cart("- [x] 1.1 add\n");
    world.check("one", "");
    world.check("two", "[ \"$WT_LOOP_RUN_ITERATION\" -ge 2 ]");
    world.check("three", "[ \"$WT_LOOP_RUN_ITERATION\" -ge 3 ]");
    world.check("four", "");
    let extra = ["--validation-command", "three", "--validation-command", "four"];
    world.wt(&[&["ralph", "--change", CHANGE][..], &extra].concat()).exit(0);
    assert_eq!(world.trail(), ["one", "two", "one", "two", "three", "one", "two", "three", "four"]);
    let gates = [1, 2].map(|n| world.iteration(n)["validation"]["gate"].clone());
    assert_eq!(gates, ["project", "extra"]);
}

#[test]
fn before_the_minimum_no_gate_is_asked() {
    let world = World::validated_by(&["check"]);
    world.check("check", "");
    world.wt(&ralph(&["--min", "3"])).exit(0);
    assert_eq!((world.trail().len(), world.iterations()), (1, 3));
}

#[test]
fn a_promise_of_an_agent_that_failed_asks_no_gate() {
    let world = World::validated_by(&["check"]);
    world.check("check", "");
    world.agent("claude", &format!("{PROMISES}exit 1\n"));
    world.wt(&ralph(&["--max", "1"])).exit(3);
    assert_eq!(world.trail(), [""; 0]);
}

#[test]
fn the_history_has_gate_command_exit_code_timeout_and_duration() {
    let world = World::validated_by(&["fails"]);
    world.cart("- [ ] 1.1 add\n");
    // One iteration each: tasks, an exit code, a signal, a program that is missing, a timeout.
    world.agent(
        "claude",
        "cat > /dev/null\n[ $WT_LOOP_RUN_ITERATION = 1 ] || sed -i 's/\\[ \\]/[x]/' .ito/changes/*/tasks.md\n\
         echo '<promise>COMPLETE</promise>'\n",
    );
    world.check(
        "fails",
        "case $WT_LOOP_RUN_ITERATION in 2) exit 9;; 3) kill -9 $$;; 4) no-such-program;; *) exec sleep 1000;; esac",
    );
    world.wt(&["ralph", "--change", CHANGE, "--max", "5", "--validation-timeout", "5s"]).exit(3);
    let history = world.wt(&["history", "--json"]).exit(0).json();
    assert_eq!(history.as_array().unwrap().len(), 5);
    let expected = [
        ("tasks", None, None, false),
        ("project", Some("fails"), Some(9), false),
        ("project", Some("fails"), Some(137), false),
        ("project", Some("fails"), Some(127), false),
        ("project", Some("fails"), Some(143), true),
    ];
    for (iteration, (gate, command, exit_code, timed_out)) in history.as_array().unwrap().iter().zip(expected) {
        let verdict = &iteration["validation"];
        assert_eq!(verdict["gate"], gate, "{iteration:#}");
        assert_eq!(verdict["command"].as_str(), command, "{iteration:#}");
        assert_eq!(verdict["exit_code"].as_i64(), exit_code, "{iteration:#}");
        assert_eq!(verdict["timed_out"], timed_out, "{iteration:#}");
        assert!(verdict["duration"].is_u64(), "{iteration:#}");
        assert_eq!((&iteration["done_check"], &iteration["promise_found"]), (&false.into(), &true.into()));
    }
    let late = history[4]["validation"]["duration"].as_u64().unwrap();
    assert!((5000..60_000).contains(&late), "milliseconds: {late}");
    assert_eq!(world.wt(&["status", "--json"]).exit(0).json()["iterations"], history);
}

#[test]
fn status_and_history_show_rejected_and_accepted_claims() {
    let world = World::validated_by(&["check"]);
    world.check("check", "[ \"$WT_LOOP_RUN_ITERATION\" -ge 2 ]");
    world.wt(&ralph(&[])).exit(0);
    for command in ["history", "status"] {
        let shown = world.wt(&[command]).exit(0).stdout;
        let rows: Vec<&str> = shown.lines().skip_while(|line| !line.contains("COMPLETION")).skip(1).collect();
        assert_eq!(rows.len(), 2, "{shown}");
        assert!(rows[0].contains("rejected: project"), "{shown}");
        assert!(rows[1].contains("accepted"), "{shown}");
    }
}

#[test]
fn the_log_has_the_command_its_output_and_the_verdict() {
    let world = World::validated_by(&["check"]);
    world.check("check", "echo what the check said; [ \"$WT_LOOP_RUN_ITERATION\" -ge 2 ]");
    let stderr = world.wt(&ralph(&[])).exit(0).stderr;
    let log = world.log();
    assert_eq!(log.matches("wt-loop: validating (project): check\nwhat the check said\n").count(), 2, "{log}");
    for told in [&stderr, &log] {
        assert_has(
            told,
            &[
                "wt-loop: validation from .wt-loop.toml: check",
                "wt-loop: completion rejected by the project gate: `check` ended with exit code 1",
                "wt-loop: project: `check` passed in ",
                "wt-loop: done: the agent's promise was accepted (2 iterations",
            ],
        );
    }
    assert!(!stderr.contains("what the check said"), "the terminal is the agent's: {stderr}");
}

#[test]
fn ito_reads_in_its_own_history_whether_a_claim_was_validated() {
    let world = World::validated_by(&["check"]);
    world.check("check", "[ \"$WT_LOOP_RUN_ITERATION\" -ge 2 ]");
    world.cart("- [x] 1.1 add\n");
    world.wt(&["ralph", "--change", CHANGE]).exit(0);
    let state = world.read(&format!(".ito/.state/ralph/{CHANGE}/state.json"));
    let state: serde_json::Value = serde_json::from_str(&state).unwrap();
    let validated: Vec<_> =
        state["history"].as_array().unwrap().iter().map(|one| &one["completionValidated"]).collect();
    assert_eq!(validated, [false, true]);
}
