//! SIGKILL for the loop at every system call that it makes.

use std::fs;

use serde_json::{Value, json};

use crate::classes;
use crate::injection::{self, Call, Fault};
use crate::scenario::{RUN, forget, unfinished, world};
use crate::support::{World, wait_until};
use crate::tally::{Outcome, Tally};

fn iterations(state: &Value) -> Vec<Value> {
    state["iterations"].as_array().unwrap().clone()
}

fn numbers(state: &Value) -> Vec<u64> {
    iterations(state).iter().map(|entry| entry["n"].as_u64().unwrap()).collect()
}

/// Whether all of `earlier` is in `later` as it was; the gates complete an entry after it was recorded.
#[track_caller]
fn keeps(later: &Value, earlier: &Value) {
    for (before, now) in
        iterations(earlier).iter().zip(iterations(later).iter().map(Some).chain(std::iter::repeat(None)))
    {
        let Some(now) = now else { panic!("{before} is missing") };
        for (field, value) in before.as_object().unwrap() {
            let completed = field == "done_check" && value == &json!(false);
            assert!(completed || now[field] == *value, "{field} of {before} is {}", now[field]);
        }
    }
}

fn survives(world: &World, call: &Call) -> Outcome {
    forget(world);
    if injection::injected(world, &RUN, call, Fault::Kill).is_none() {
        return Outcome::Missed;
    }
    wait_until("the end of everything that the agent started", || world.processes().is_empty());

    let path = world.root.join(".claude/loop-state.json");
    let Ok(left) = fs::read(&path) else {
        assert!(!world.beside("seen").exists(), "an agent has run, and nothing is written of it");
        // Where the user's record was written and the state was not yet, there is a loop to tell of.
        let status = world.wt(&["status", "--json"]);
        match status.status.code() {
            Some(0) => assert_eq!(status.json()["status_reason"], "crashed, and its state file is missing"),
            code => assert_eq!(code, Some(1)),
        }
        world.wt(&RUN).exit(0);
        return Outcome::Held;
    };
    let state: Value = serde_json::from_slice(&left).expect("the state parses");
    if let Ok(seen) = fs::read(world.beside("seen")) {
        keeps(&state, &serde_json::from_slice(&seen).unwrap());
    }
    let told = world.wt(&["status", "--json"]).exit(0).json();
    let is_done = state["status"] == "done";
    let truth = if is_done { json!(["done", false]) } else { json!(["stopped", true]) };
    assert_eq!(json!([told["status"], told["crashed"]]), truth, "{told}");
    assert_eq!(fs::read(&path).unwrap(), left, "a reader writes nothing");

    let recorded = numbers(&state);
    if is_done {
        world.wt(&["resume"]).exit(1).stderr_has("the loop is done");
    } else {
        world.wt(&["resume"]).exit(0);
    }
    let resumed = world.state();
    keeps(&resumed, &state);
    assert_eq!(numbers(&resumed), [1, 2], "after {recorded:?}");
    assert_eq!(resumed["status"], "done");
    let told: Value = serde_json::from_str(&world.read(".claude/ralph/add-x/state.json")).unwrap();
    let validated: Vec<_> = told["history"].as_array().unwrap().iter().map(|e| &e["completionValidated"]).collect();
    assert_eq!((validated, &told["iteration"]), (vec![&json!(false), &json!(true)], &json!(2)), "the change's history");
    assert_eq!(unfinished(world), [""; 0], "what the dead left unfinished is cleared away");
    assert_eq!(world.processes(), []);
    Outcome::Held
}

#[test]
fn a_crash_at_any_instant_loses_nothing_and_leaves_nothing_running() {
    if let Some(why) = injection::missing() {
        println!("SKIPPED: {}: {why}", classes::CRASH.name);
        return;
    }
    let first = world();
    forget(&first);
    let calls = injection::calls(&first, &RUN);
    Tally::of(&calls, |call| format!("{call:?}"), world, survives).tell(&classes::CRASH);
}
