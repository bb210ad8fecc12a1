//! `status`: where a loop stands, for people and for programs; it never writes.

use std::fs;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::support::{HOLDS, World, agents, snapshot, wait_until};

#[test]
fn a_person_sees_everything_at_a_glance() {
    let world = World::with_agent(agents::COMMITS);
    world.write("tasks.md", "- [x] closed\n- [ ] open\n");
    world.wt(&["run", "first line\nsecond line", "--max", "2", "--label", "night", "--model", "opus"]).exit(3);
    let shown = world.wt(&["status"]).exit(0).stderr("").stdout;
    let facts: Vec<&str> = shown.lines().take_while(|line| !line.starts_with('#')).collect();
    assert_eq!(facts[0], "feat-x (night)  stuck: 2 iterations without completion");
    for fact in [
        "  task       first line",
        "  agent      claude (opus)",
        "  iteration  2/2  ####################",
        "  tasks      1/2  ##########----------",
        "  done by    tasks",
        "  tokens     0",
    ] {
        assert!(facts.contains(&fact), "{fact:?} is not in {shown}");
    }
    assert!(facts.iter().any(|line| line.starts_with("  elapsed    ")), "{shown}");
    let table: Vec<&str> = shown.lines().skip_while(|line| !line.starts_with('#')).collect();
    assert_eq!(table.len(), 3, "{shown}");
    assert!(table[2].starts_with("2  20") && table[2].contains("completed"), "{shown}");
    assert!(!shown.contains('\x1b'), "colour is for terminals only");
}

#[test]
fn a_program_gets_the_state_and_what_only_a_look_can_tell() {
    let world = World::with_agent(HOLDS);
    world.tasks(1, 2);
    world.start(&["task"]);
    world.wait_until_held(1);
    let answer = world.wt(&["status", "--json"]).exit(0).stderr("").json();
    let state = world.state();
    for (name, value) in state.as_object().unwrap() {
        assert_eq!(&answer[name], value, "{name}");
    }
    assert_eq!(answer["worktree"], world.root.to_str().unwrap());
    assert_eq!((&answer["active"], &answer["crashed"]), (&true.into(), &false.into()));
    assert_eq!(answer["tasks"], serde_json::json!({ "done": 1, "total": 3 }));
    assert!(answer["elapsed_seconds"].is_u64());
    assert_eq!(answer["process"]["pid"], state["terminal_pid"]);
    assert!(answer["process"]["processes"].as_u64() >= Some(2), "{answer}");
    assert!(answer["process"]["memory_bytes"].as_u64() > Some(0) && answer["process"]["cpu_seconds"].is_f64());

    world.wt(&["stop"]).exit(0);
    let answer = world.wt(&["status", "--json"]).exit(0).json();
    assert_eq!((&answer["active"], &answer["process"]), (&false.into(), &Value::Null));
}

#[test]
fn without_a_loop_the_answer_is_no() {
    let world = World::with_agent(agents::IDLE);
    for args in [&["status"][..], &["status", "--json"], &["history"], &["monitor"]] {
        world.wt(args).exit(1).stdout("").stderr(&format!(
            "wt-loop: no loop has run in {}\nhint: wt-loop start \"what is to be done\"\n",
            world.root.display()
        ));
    }
    assert!(!world.root.join(".claude").exists(), "a question writes nothing");
}

#[test]
fn below_its_root_a_loop_is_told_of_and_in_a_repository_below_it_is_not() {
    let world = World::with_agent(agents::IDLE);
    world.wt(&["run", "task", "--max", "1"]).exit(3);
    let (below, another) = (world.root.join("src/deep"), world.root.join("vendor/another"));
    for folder in [&below, &another] {
        fs::create_dir_all(folder).unwrap();
    }
    world.git(&another, &["init", "-q"]);
    world.wt_in(&below, &["status"]).exit(0).stdout_has("stuck");
    let none = world.wt_in(&another, &["status"]).exit(1);
    none.stderr_has(&format!("no loop has run in {}", another.display()));
}

#[test]
fn a_loop_that_was_killed_is_stopped_and_crashed_and_nothing_is_written() {
    let world = World::with_agent(HOLDS);
    world.let_go(1);
    let running = world.spawn(&["run", "task"]);
    world.wait_until_held(2);
    running.signal(Signal::SIGKILL);
    running.wait();
    world.wait_until_nothing_is_left();
    let before = snapshot(&world.base());
    world.wt(&["status"]).exit(0).stdout_has("feat-x  stopped: crashed\n");
    let answer = world.wt(&["status", "--json"]).exit(0).json();
    assert_eq!((&answer["status"], &answer["status_reason"]), (&"stopped".into(), &"crashed".into()));
    assert_eq!((&answer["active"], &answer["crashed"]), (&false.into(), &true.into()));
    world.wt(&["history"]).exit(0).stdout_has("completed");
    world.wt(&["list"]).exit(0).stdout("");
    world.wt(&["list", "--all"]).exit(0).stdout_has(" stopped ");
    world.wt(&["monitor"]).exit(1).stderr_has("the loop in feat-x is over (stopped: crashed)");
    assert_eq!(snapshot(&world.base()), before, "readers write nothing");
    assert_eq!(world.state()["status"], "running", "the file still says what the dead loop wrote");
}

#[test]
fn a_start_that_is_under_way_is_no_crash() {
    let world = World::with_agent(agents::SLEEPS);
    world.start(&["sleep"]);
    let answer = world.wt(&["status", "--json"]).exit(0).json();
    assert_eq!((&answer["active"], &answer["crashed"]), (&true.into(), &false.into()));
    wait_until("the agent", || !world.processes_like("sleep 1000").is_empty());
}

#[test]
fn the_schema_is_satisfied_by_the_state_of_a_run() {
    let world = World::with_agent(agents::COMMITS);
    let outside = world.wt_in(&world.base(), &["status", "--schema"]).exit(0).stderr("").json();
    let schema = world.wt(&["status", "--schema"]).exit(0).json();
    assert_eq!(schema, outside);
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    world.tasks(0, 1);
    world.wt(&["run", "task", "--max", "2", "--label", "x", "--model", "y"]).exit(3);
    assert_eq!(check(&schema, &schema, &world.state(), "state"), Ok(()));
    for field in DOCUMENTED {
        assert!(schema["properties"].get(field).is_some(), "{field} is not in the schema");
        assert!(world.state().get(field).is_some(), "{field} is not in the state");
    }
    for (field, value) in [("status", "asleep".into()), ("iterations", 3.into()), ("max_iterations", "ten".into())] {
        let mut wrong = world.state();
        wrong[field] = value;
        assert!(check(&schema, &schema, &wrong, "state").is_err(), "the schema says nothing about {field}");
    }
}

const DOCUMENTED: [&str; 29] = [
    "worktree_name",
    "change_id",
    "status",
    "current_iteration",
    "max_iterations",
    "started_at",
    "task",
    "iterations",
    "done_criteria",
    "stall_threshold",
    "iteration_timeout_min",
    "total_tokens",
    "terminal_pid",
    "schema_version",
    "loop_id",
    "status_reason",
    "updated_at",
    "ended_at",
    "exit_code",
    "module_id",
    "label",
    "harness",
    "model",
    "completion_promise",
    "min_iterations",
    "waiting_until",
    "waits",
    "total_cost_usd",
    "host",
];

/// As much of JSON Schema as the schema uses; a keyword that this does not know fails.
fn check(whole: &Value, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
    let Some(rules) = schema.as_object() else {
        return if schema == true { Ok(()) } else { Err(format!("{at}: {schema} is no schema")) };
    };
    rules.iter().try_for_each(|(rule, wish)| follows(whole, rule, wish, value, at))
}

fn follows(whole: &Value, rule: &str, wish: &Value, value: &Value, at: &str) -> Result<(), String> {
    let list = || wish.as_array().cloned().unwrap_or_else(|| vec![wish.clone()]);
    let holds = match rule {
        "$schema" | "$defs" | "title" | "description" | "default" | "format" | "additionalProperties" => true,
        "$ref" => {
            let name = wish.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
            return check(whole, &whole["$defs"][name], value, at);
        }
        "properties" => {
            let there =
                wish.as_object().unwrap().iter().filter_map(|(name, rules)| Some((name, rules, value.get(name)?)));
            for (name, rules, value) in there {
                check(whole, rules, value, &format!("{at}.{name}"))?;
            }
            true
        }
        "items" => {
            for (n, value) in value.as_array().into_iter().flatten().enumerate() {
                check(whole, wish, value, &format!("{at}[{n}]"))?;
            }
            true
        }
        "type" => list().iter().any(|kind| is_a(kind.as_str().unwrap(), value)),
        "required" => list().iter().all(|name| value.get(name.as_str().unwrap()).is_some()),
        "anyOf" | "oneOf" => list().iter().any(|schema| check(whole, schema, value, at).is_ok()),
        "const" => value == wish,
        "enum" => list().contains(value),
        "minimum" => value.as_f64().is_none_or(|value| value >= wish.as_f64().unwrap()),
        other => return Err(format!("{at}: the schema has the unknown keyword {other}")),
    };
    if holds { Ok(()) } else { Err(format!("{at}: {value} breaks {rule} {wish}")) }
}

fn is_a(kind: &str, value: &Value) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("the type {other}"),
    }
}
