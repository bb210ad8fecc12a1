//! The history of a change in ito's own shape, and `--status`.

use std::fs;

use serde_json::{Value, json};

use super::{history, ito};
use crate::support::{SAYS_DONE, World};

const ID: &str = "002-01_add-ralph-loop";
const FILE: &str = ".ito/.state/ralph/002-01_add-ralph-loop/state.json";

fn world(script: &str) -> World {
    ito(&[ID], script)
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn it_has_every_field_that_ito_wants() {
    let world = world(&format!("[ $call = 1 ] || touch new\n[ $call = 2 ] || exit 7\n{SAYS_DONE}"));
    let before = jiff_now();
    world.wt(&["ralph", "--change", ID]).exit(0);
    let whole = history(&world, ID);
    assert_eq!(keys(&whole), ["changeId", "iteration", "history", "contextFile", "lastOutcome", "lastFailure"]);
    assert_eq!(whole["changeId"], ID);
    assert_eq!(whole["iteration"], 2);
    assert_eq!(whole["contextFile"], format!(".ito/.state/ralph/{ID}/context.md"));
    assert_eq!(whole["lastOutcome"], "completed, completion accepted");
    assert_eq!(whole["lastFailure"], Value::Null);
    let entries = whole["history"].as_array().unwrap();
    for entry in entries {
        let ended = entry["timestamp"].as_i64().unwrap();
        assert!((before..=jiff_now()).contains(&ended), "milliseconds since 1970: {ended}");
        let took = entry["duration"].as_i64().unwrap();
        assert!((0..60_000).contains(&took), "{took}");
    }
    let rest = |entry: &Value| {
        let mut rest = entry.clone();
        rest.as_object_mut().unwrap().retain(|key, _| key != "timestamp" && key != "duration");
        rest
    };
    let cwd = world.root.to_str().unwrap();
    assert_eq!(
        entries.iter().map(rest).collect::<Vec<_>>(),
        [
            json!({"completionPromiseFound": false, "fileChangesCount": 0, "harnessExitCode": 7,
                   "completionValidated": false, "effectiveCwd": cwd}),
            json!({"completionPromiseFound": true, "fileChangesCount": 1, "harnessExitCode": 0,
                   "completionValidated": true, "effectiveCwd": cwd}),
        ]
    );
}

fn jiff_now() -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    i64::try_from(now.as_millis()).unwrap()
}

#[test]
fn an_exit_code_is_an_integer_however_the_agent_ended() {
    let killed = world("kill -9 $$\n");
    killed.wt(&["ralph", "--change", ID, "--max", "1"]).exit(3);
    assert_eq!(history(&killed, ID)["history"][0]["harnessExitCode"], 128 + 9);
    let unstarted = world("");
    fs::write(unstarted.base().join("bin/claude"), "#!/no/such/interpreter\n").unwrap();
    unstarted.wt(&["ralph", "--change", ID, "--max", "1"]).exit(3);
    let history = history(&unstarted, ID);
    assert_eq!(history["history"][0]["harnessExitCode"], -1);
    assert_eq!(history["lastOutcome"], "not started");
    assert!(history["lastFailure"].as_str().unwrap().contains("could not be started"), "{history}");
}

#[test]
fn it_adds_up_over_loops_while_each_loop_counts_from_one() {
    let world = world("true\n");
    for _ in 0..2 {
        world.wt(&["ralph", "--change", ID, "--max", "2"]).exit(3);
    }
    let whole = history(&world, ID);
    assert_eq!(whole["iteration"], 4);
    assert_eq!(whole["history"].as_array().unwrap().len(), 4);
    let first: Vec<String> = world.calls().iter().map(|call| call.headings()[0].to_owned()).collect();
    assert_eq!(first, ["# Iteration 1 of 2", "# Iteration 2 of 2", "# Iteration 1 of 2", "# Iteration 2 of 2"]);
    assert_eq!(world.state()["iterations"].as_array().unwrap().len(), 2, "the state is this loop's alone");
}

#[test]
fn what_ito_wrote_is_read_and_continued() {
    let old = json!({
        "changeId": ID, "iteration": 5,
        "history": [
            {"timestamp": 1_700_000_000_000_i64, "duration": 4200, "completionPromiseFound": true, "fileChangesCount": 3},
        ],
        "contextFile": format!(".ito/.state/ralph/{ID}/context.md"),
    });
    let mut new = old.clone();
    new["lastOutcome"] = json!("validated-complete");
    new["lastFailure"] = Value::Null;
    new["alsoNew"] = json!({"kept": [1, 2]});
    new["history"][0]["harnessExitCode"] = json!(0);
    new["history"][0]["completionValidated"] = json!(true);
    new["history"][0]["effectiveCwd"] = json!("/w");
    new["history"][0]["newInIto"] = json!("kept");
    for written in [old, new] {
        let world = world(SAYS_DONE);
        world.write(FILE, &written.to_string());
        world.wt(&["ralph", "--status", "--change", ID]).exit(0).stdout_has(&format!("{ID}: iteration 5"));
        world.wt(&["ralph", "--change", ID]).exit(0);
        let now = history(&world, ID);
        assert_eq!(now["iteration"], 6, "the count goes on, whatever the length of the history");
        assert_eq!(now["history"].as_array().unwrap().len(), 2);
        for (key, value) in written["history"][0].as_object().unwrap() {
            assert_eq!(&now["history"][0][key], value, "{key} survives");
        }
        for field in ["harnessExitCode", "completionValidated", "effectiveCwd"] {
            assert!(!now["history"][0][field].is_null(), "{field} is there, since ito's reader may want it");
        }
        assert_eq!(now["alsoNew"], written["alsoNew"]);
        assert_eq!(now["contextFile"], written["contextFile"]);
    }
}

#[test]
fn a_broken_one_is_set_aside_and_told() {
    for broken in ["{ no JSON", "[]", r#"{"changeId": "x", "iteration": "many", "history": []}"#, ""] {
        let world = world(SAYS_DONE);
        world.write(FILE, broken);
        world.wt(&["ralph", "--status", "--change", ID]).exit(1).stdout("").stderr_has("state.json");
        assert_eq!(world.read(FILE), broken, "a reader changes nothing");
        world.wt(&["ralph", "--change", ID]).exit(0).stderr_has("cannot be read").stderr_has("it is kept as ");
        assert_eq!(history(&world, ID)["iteration"], 1);
        let folder = world.root.join(FILE).with_file_name("");
        let names = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
        let aside: Vec<_> = names.filter(|path| path.to_string_lossy().contains("state.json.broken-")).collect();
        assert_eq!(aside.len(), 1, "{broken}");
        assert_eq!(fs::read_to_string(&aside[0]).unwrap(), broken);
    }
}

#[test]
fn a_loop_without_a_change_has_no_history_of_one() {
    let world = world(SAYS_DONE);
    world.wt(&["ralph", "go", "--no-change"]).exit(0);
    assert!(!world.root.join(".ito/.state").exists());
    assert!(!world.root.join(".claude/ralph").exists());
}

#[test]
fn status_without_a_state_says_so() {
    let world = world(SAYS_DONE);
    world
        .wt(&["ralph", "--status", "--change", "002"])
        .exit(1)
        .stdout("")
        .stderr(&format!("wt-loop: no loop has worked on {ID} yet\nhint: wt-loop ralph --change {ID}\n"));
    assert!(world.calls().is_empty());
}

#[test]
fn status_shows_the_last_ten() {
    let world = world(SAYS_DONE);
    let entry = |n: i32| {
        json!({"timestamp": 1_700_000_000_000_i64, "duration": 1000, "completionPromiseFound": false,
               "fileChangesCount": 0, "harnessExitCode": n, "completionValidated": false, "effectiveCwd": "/w"})
    };
    let entries: Vec<Value> = (1..=12).map(entry).collect();
    let whole = json!({"changeId": ID, "iteration": 12, "history": entries, "contextFile": "c"});
    world.write(FILE, &whole.to_string());
    let told = world.wt(&["ralph", "--status", "--change", ID]).exit(0).stdout;
    let numbers: Vec<&str> = told.lines().skip(3).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(numbers, ["3", "4", "5", "6", "7", "8", "9", "10", "11", "12"]);
}

#[test]
fn status_never_hands_control_characters_on() {
    let world = world(SAYS_DONE);
    let whole = json!({"changeId": "x\u{1b}]0;evil\u{7}", "iteration": 1, "history": [], "contextFile": "c",
                       "lastOutcome": "done\u{1b}[2J"});
    world.write(FILE, &whole.to_string());
    world.wt(&["ralph", "--status", "--change", ID]).exit(0).lacks("\u{1b}").lacks("\u{7}");
}
