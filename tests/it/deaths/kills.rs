//! `kill -9` of the loop, of its guard, and of both at once.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use crate::support::{Cast, Running, World, agents, is_alive, wait_until};

/// Starts a child and a daemon, and sleeps.
const WITH_FAMILY: &str = "sleep \"$NAP\" &\nsetsid sleep \"$NAP\" &\necho ready\nexec sleep 1000\n";

fn kill_9(pid: i32) {
    kill(Pid::from_raw(pid), Signal::SIGKILL).unwrap();
}

/// A loop whose agent and its two descendants live.
fn with_family(world: &World) -> (Running, Cast) {
    let running = world.spawn(&["run", "x", "--max", "2", "--stall-threshold", "0"]);
    wait_until("the agent's family", || world.processes_like(&format!("sleep {}", world.nap)).len() == 2);
    world.wait_for_log("ready");
    let cast = Cast::of(running.pid());
    (running, cast)
}

#[test]
fn a_killed_loop_is_swept_by_its_guard_and_resume_goes_on_with_the_next_number() {
    let world = World::with_agent(&format!("[ $WT_LOOP_RUN_ITERATION = 2 ] || exit 0\n{WITH_FAMILY}"));
    let (running, cast) = with_family(&world);
    kill_9(cast.looper);
    assert_eq!(running.wait().status.code(), None);
    world.wait_until_nothing_is_left();

    let status = world.wt(&["status", "--json"]).exit(0).json();
    assert_eq!((&status["status"], &status["status_reason"]), (&json!("stopped"), &json!("crashed")));
    assert_eq!(world.state()["status"], "running", "a reader writes nothing");

    world.agent("claude", agents::IDLE);
    world.wt(&["resume"]).exit(3);
    let numbers: Vec<u64> =
        world.state()["iterations"].as_array().unwrap().iter().map(|entry| entry["n"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [1, 2]);
    assert!(world.log().contains("wt-loop: iteration 2/2"), "{}", world.log());
}

#[test]
fn a_new_loop_waits_for_the_guard_that_still_cleans_up() {
    let world = World::with_agent("trap '' TERM\necho ready\nwhile :; do sleep 0.05; done\n");
    let running = world.spawn(&["run", "x"]);
    world.wait_for_log("ready");
    let cast = Cast::of(running.pid());
    kill_9(cast.looper);
    running.wait();
    assert_eq!(world.wt(&["status", "--json"]).exit(0).json()["crashed"], true);
    assert!(is_alive(cast.guard) && is_alive(cast.agent), "the guard gives the agent its grace");

    world.agent("claude", "touch \"$TMPDIR/second-ran\"\nexit 0\n");
    let second = world.spawn(&["start", "y", "--launcher", "background", "--max", "1"]);
    wait_until("the second agent", || {
        let (first, second) = (is_alive(cast.agent), world.base().join("tmp/second-ran").exists());
        assert!(!(first && second), "two agents at once");
        second
    });
    second.wait().exit(0).stderr_has("waiting for the guard of a killed loop to finish cleaning up");
    world.wait_until_nothing_is_left();
    assert_eq!(world.state()["task"], "y");
}

#[test]
fn a_killed_guard_takes_its_agent_along_and_the_loop_sweeps_the_rest() {
    // One of them does not listen to the loop's TERM.
    let stubborn = "setsid sh -c 'trap \"\" TERM; touch \"$TMPDIR/stubborn\"; while :; do sleep 0.05; done' &\n";
    let world = World::with_agent(&format!("[ $WT_LOOP_RUN_ITERATION = 1 ] || exit 0\n{stubborn}{WITH_FAMILY}"));
    let (running, cast) = with_family(&world);
    wait_until("the stubborn one", || world.base().join("tmp/stubborn").exists());
    kill_9(cast.guard);
    running.wait().exit(3).stderr_has("the agent's guard was killed");
    assert_eq!(world.processes(), []);
    let iterations = world.state()["iterations"].clone();
    assert_eq!((&iterations[0]["exit_reason"], &iterations[0]["exit_code"]), (&json!("failed"), &json!(null)));
    assert_eq!((&iterations[1]["exit_reason"], &iterations[1]["exit_code"]), (&json!("completed"), &json!(0)));
}

#[test]
fn of_loop_and_guard_killed_at_once_the_agent_at_least_dies() {
    let world = World::with_agent(WITH_FAMILY);
    let (running, cast) = with_family(&world);
    // Stopped first, so that neither can do anything about the other's death.
    for pid in [cast.guard, cast.looper] {
        kill(Pid::from_raw(pid), Signal::SIGSTOP).unwrap();
    }
    kill_9(cast.looper);
    kill_9(cast.guard);
    running.wait();
    wait_until("the agent's death", || !is_alive(cast.agent));
    assert_eq!(world.wt(&["status", "--json"]).exit(0).json()["crashed"], true);
}

/// A `git` that kills, before it looks, what its loop has started ahead: `$guard`, the one with a shim below it, or that `$shim`.
const KILLING_GIT: &str = r#"
children() { cat /proc/$1/task/*/children 2> /dev/null; }
found() {
    for guard in $(children $PPID); do
        shim=$(children $guard)
        [ "$(cat /proc/$guard/comm)" = wt-loop-guard ] && [ -n "$shim" ] && return
    done
    return 1
}
case " $* " in *' status '*)
    echo x >> "$TMPDIR/looks"
    if [ $(wc -l < "$TMPDIR/looks") -lt 4 ]; then
        until found; do sleep 0.01; done
        kill -9 $VICTIM
        while [ -n "$(tr -d '\0' < /proc/$VICTIM/cmdline)" ]; do sleep 0.01; done
    fi
esac
exec $GIT "$@"
"#;

#[test]
fn guard_and_shim_that_die_before_they_have_anything_to_do_are_replaced() {
    for victim in ["$guard", "$shim"] {
        let world = World::with_agent(agents::IDLE);
        let git = which::which("git").unwrap();
        world.agent("git", &KILLING_GIT.replace("$VICTIM", victim).replace("$GIT", git.to_str().unwrap()));
        world.wt(&["run", "x", "--max", "3", "--stall-threshold", "0"]).exit(3);
        assert_eq!(world.processes(), []);
        // A look before the first iteration and one after each; after the last, nothing is started ahead.
        assert_eq!(std::fs::read_to_string(world.base().join("tmp/looks")).unwrap().lines().count(), 4);
        let iterations = world.state()["iterations"].clone();
        let reasons: Vec<_> = iterations.as_array().unwrap().iter().map(|one| &one["exit_reason"]).collect();
        assert_eq!(reasons, ["completed"; 3], "{victim}");
    }
}

#[test]
fn a_loop_that_pauses_keeps_no_guard_ready() {
    let world = World::with_agent("exit 1\n");
    let running = world.spawn(&["run", "x", "--max", "9", "--error-threshold", "9", "--stall-threshold", "0"]);
    world.wait_for_log("waiting 4.0s before the next try");
    wait_until("the loop alone", || world.processes().len() == 1);
    running.signal(Signal::SIGTERM);
    running.wait().exit(130);
}
