//! What an agent leaves behind when it ends, or when it is ended.

use std::fs::{self, OpenOptions};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::{Cast, World, wait_until};

/// Starts every kind of process that is meant to outlive its parent, waits for the test's word, and ends well.
const LEAVES_EVERYTHING: &str = r#"cat > /dev/null
sleep "$NAP" &
setsid sleep "$NAP" &
nohup sh -c 'trap "" TERM HUP; touch "$TMPDIR/stubborn"; while :; do sleep 0.05; done' stubborn "$NAP" > /dev/null 2>&1 &
(env -i PATH="$PATH" setsid sh -c 'sleep "$1" & exit' daemon "$NAP" 0<&- 1>&- 2>&- &)
env -i PATH="$PATH" TMPDIR="$TMPDIR" sh -c "$REFORKS" reforks "$NAP" "$REFORKS" &
until [ -e "$TMPDIR/go" ]; do sleep 0.02; done
"#;

/// A process that is never the same for longer than 20 ms, and that does not listen to TERM.
const REFORKS: &str =
    r#"trap "" TERM; touch "$TMPDIR/reforked"; sleep 0.02; sh -c "$2" reforks "$1" "$2" < /dev/null & exit"#;

#[test]
fn whatever_an_agent_leaves_behind_is_taken_down() {
    let world = World::with_agent(&format!("export REFORKS='{REFORKS}'\n{LEAVES_EVERYTHING}"));
    let running = world.spawn(&["run", "x", "--max", "1"]);
    wait_until("two sleepers, a daemon without an environment, a stubborn one and one that re-forks", || {
        let sleepers = world.processes_like(&format!("sleep {}", world.nap)).len();
        let there = ["stubborn", "reforked"].iter().all(|name| world.base().join("tmp").join(name).exists());
        sleepers == 3 && there
    });
    fs::write(world.base().join("tmp/go"), "").unwrap();
    running.wait().exit(3);
    assert_eq!(world.processes(), [], "the loop ends only when nothing is left");
    let iteration = &world.state()["iterations"][0];
    assert_eq!((&iteration["exit_code"], &iteration["exit_reason"]), (&json!(0), &json!("completed")));
    assert_eq!(iteration.get("left_running"), None);
}

#[test]
fn a_descendant_that_keeps_the_output_open_does_not_hold_the_loop() {
    let world = World::with_agent("echo here\nuntil [ -e \"$TMPDIR/go\" ]; do sleep 0.02; done\n");
    let running = world.spawn(&["run", "x", "--max", "1"]);
    world.wait_for_log("here");
    let cast = Cast::of(running.pid());
    // Held by the test itself, which no sweep of the loop can reach.
    let held = [1, 2].map(|fd| OpenOptions::new().write(true).open(format!("/proc/{}/fd/{fd}", cast.agent)).unwrap());
    fs::write(world.base().join("tmp/go"), "").unwrap();
    running.wait().exit(3);
    assert_eq!(world.state()["iterations"][0]["exit_reason"], "completed");
    drop(held);
}

#[test]
fn an_agent_that_ignores_term_is_killed_after_the_grace() {
    let world = World::with_agent("trap '' TERM\nwhile :; do sleep 0.05; done\n");
    let from = Instant::now();
    world.wt(&["run", "x", "--max", "1", "--iteration-timeout", "1s"]).exit(3).stderr_has("took too long");
    assert!(from.elapsed() >= Duration::from_secs(6), "it had its second, and then its grace: {:?}", from.elapsed());
    assert_eq!(world.processes(), []);
    let iteration = &world.state()["iterations"][0];
    assert_eq!(iteration["exit_reason"], "timed_out");
    assert_eq!((&iteration["timed_out"], &iteration["exit_code"]), (&json!(true), &json!(128 + 9)));
}

#[test]
fn an_agent_that_listens_to_term_has_its_chance_to_tidy_up() {
    let world = World::with_agent("trap 'echo tidied; exit 0' TERM\nwhile :; do sleep 0.05; done\n");
    let from = Instant::now();
    world.wt(&["run", "x", "--max", "1", "--iteration-timeout", "1s"]).exit(3).stdout_has("tidied");
    assert!(
        from.elapsed() < Duration::from_secs(5),
        "nobody waits for a grace that nobody needs: {:?}",
        from.elapsed()
    );
    let iteration = &world.state()["iterations"][0];
    assert_eq!((&iteration["exit_reason"], &iteration["exit_code"]), (&json!("timed_out"), &json!(0)));
}
