//! Agents that speak JSON, scripted: what they say, use, reach and fail at, through whole loops.

use std::time::Duration;

use serde_json::json;

use crate::support::cast::{self, Cast};
use crate::support::{World, wait_within};

/// A line of Claude's that says something.
fn says(text: &str) -> String {
    json!({ "type": "assistant", "message": { "content": [{ "type": "text", "text": text }] } }).to_string()
}

/// Its last line.
fn result(fields: &serde_json::Value) -> String {
    let mut line = json!({ "type": "result", "subtype": "success", "is_error": false, "total_cost_usd": 0.25, "usage": {
        "input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 1000, "cache_creation_input_tokens": 30 } });
    line.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    line.to_string()
}

/// A script that prints these lines.
fn prints(lines: &[String]) -> String {
    format!("cat > /dev/null\ncat <<'END'\n{}\nEND\n", lines.join("\n"))
}

fn loops(script: &str) -> World {
    let world = World::with_agent(script);
    world.write(".wt-loop.toml", "validation = ['true']\n");
    world
}

#[test]
fn a_person_sees_the_conversation_and_the_log_has_the_same() {
    let tool = json!({ "type": "assistant", "message": { "content": [
        { "type": "tool_use", "name": "Bash", "input": { "command": "cargo test\nmore" } }] } });
    let world =
        loops(&prints(&[says("I begin."), tool.to_string(), "a notice".into(), says("I end."), result(&json!({}))]));
    let told = world.wt(&["run", "task", "--max", "1", "--raw"]).exit(3);
    let told = told.stdout("I begin.\n⚙ Bash  cargo test\na notice\nI end.\n").stderr_has("150 tokens · $0.25");
    assert!(!told.stdout.contains("{\"type\""));
    assert!(world.log().contains("I begin.\n⚙ Bash  cargo test\na notice\nI end.\n"));
    assert_eq!(world.read(".claude/ralph-raw.jsonl").lines().count(), 4, "the JSON as it came");
    assert_eq!(world.git(&world.root, &["status", "--porcelain"]), "?? .wt-loop.toml");
}

#[test]
fn tokens_and_cost_add_up_and_cache_reads_do_not_count() {
    let world = loops(&prints(&[says("x"), result(&json!({}))]));
    world.wt(&["run", "task", "--max", "2", "--stall-threshold", "0"]).exit(3);
    let state = world.state();
    let first = &state["iterations"][0];
    assert_eq!((&first["tokens_used"], &first["cache_read_tokens"]), (&150.into(), &1000.into()));
    assert_eq!((&first["input_tokens"], &first["output_tokens"]), (&100.into(), &20.into()));
    assert_eq!((&first["cache_write_tokens"], &first["cost_usd"]), (&30.into(), &0.25.into()));
    assert_eq!((&state["total_tokens"], &state["total_cost_usd"]), (&300.into(), &0.5.into()));
}

#[test]
fn budgets_end_the_loop_as_stuck_with_the_reason() {
    let world = loops(&prints(&[says("x"), result(&json!({}))]));
    let off = ["--stall-threshold", "0"];
    world
        .wt(&[&["run", "task", "--budget-tokens", "300"], &off[..]].concat())
        .exit(3)
        .stderr_has("the budget of 300 tokens is spent");
    assert_eq!(world.state()["iterations"].as_array().unwrap().len(), 2);
    world
        .wt(&[&["run", "task", "--budget-usd", "0.70"], &off[..]].concat())
        .exit(3)
        .stderr_has("the budget of $0.7 is spent");
    assert_eq!(world.state()["iterations"].as_array().unwrap().len(), 3);
    world.wt(&["status"]).exit(0).stdout_has("$0.75 of $0.70");
}

#[test]
fn a_budget_is_checked_while_the_agent_runs_where_it_reports_as_it_goes() {
    let step = json!({ "type": "step_finish", "sessionID": "s", "part": { "reason": "tool-calls", "tokens": { "input": 500 } } });
    let world = World::new();
    world.write(".wt-loop.toml", "validation = ['true']\n");
    world.agent("opencode", &format!("cat > /dev/null\necho '{step}'\nexec sleep 1000\n"));
    world
        .wt(&["run", "task", "--harness", "opencode", "--budget-tokens", "400"])
        .exit(3)
        .stderr_has("the budget is spent; the agent was ended");
    world.wait_until_nothing_is_left();
}

#[test]
fn claudes_messages_are_counted_once_each_while_it_runs() {
    let message = |id: &str| {
        json!({ "type": "assistant", "message": { "id": id, "usage": { "input_tokens": 300, "output_tokens": 1 },
            "content": [{ "type": "tool_use", "name": "Bash", "input": { "command": "x" } }] } })
        .to_string()
    };
    let lines = [message("m1"), message("m1"), message("m2")].join("\n");
    let world = loops(&format!("cat > /dev/null\ncat <<'END'\n{lines}\nEND\nexec sleep 1000\n"));
    world.wt(&["run", "task", "--budget-tokens", "600"]).exit(3).stderr_has("the budget of 600 tokens is spent");
    assert_eq!(world.state()["iterations"][0]["input_tokens"], 600);
}

#[test]
fn a_promise_in_a_tools_result_or_in_the_echo_of_the_prompt_does_not_count() {
    let tag = "<promise>COMPLETE</promise>";
    let user =
        json!({ "type": "user", "message": { "content": [{ "type": "tool_result", "content": tag }] } }).to_string();
    let world = loops(&prints(&[user, says("not yet"), result(&json!({ "result": "not yet" }))]));
    world.wt(&["run", "task", "--max", "1"]).exit(3);
    assert_eq!(world.state()["iterations"][0]["promise_found"], false);
    world.agent("claude", &prints(&[says(tag), result(&json!({}))]));
    world.wt(&["run", "task", "--max", "1"]).exit(0);
}

#[test]
fn an_end_that_is_missing_or_bad_is_a_failure_whatever_the_exit_code() {
    let tag = says("<promise>COMPLETE</promise>");
    for lines in
        [vec![tag.clone()], vec![tag.clone(), result(&json!({ "is_error": true, "result": "API Error: 500" }))]]
    {
        let world = loops(&prints(&lines));
        world.wt(&["run", "task", "--max", "1"]).exit(3);
        let state = world.state();
        assert_eq!(
            (&state["iterations"][0]["exit_reason"], &state["iterations"][0]["exit_code"]),
            (&"failed".into(), &0.into())
        );
    }
}

#[test]
fn a_usage_limit_is_waited_out_and_the_same_iteration_is_tried_again() {
    let refused =
        result(&json!({ "is_error": true, "api_error_status": 429, "result": "limit reached, try again in 1s" }));
    let script = format!(
        "if [ ! -e ../tried ]; then touch ../tried\n{}exit 1\nfi\n{}",
        prints(&[refused]),
        prints(&[says("<promise>COMPLETE</promise>"), result(&json!({}))])
    );
    let world = loops(&script);
    world.wt(&["run", "task", "--max", "1"]).exit(0).stderr_has("for a usage limit: limit reached, try again in 1s");
    let state = world.state();
    let iteration = &state["iterations"][0];
    assert_eq!((&iteration["attempts"], &iteration["tokens_used"]), (&2.into(), &300.into()));
    assert_eq!(state["waits"].as_array().unwrap().len(), 1);
    assert_eq!(state["waiting_until"], serde_json::Value::Null);
}

#[test]
fn a_limit_beyond_the_bound_is_stuck_with_the_reason_and_stop_ends_a_wait_at_once() {
    let refused =
        result(&json!({ "is_error": true, "api_error_status": 429, "result": "limit reached, try again in 2 hours" }));
    let world = loops(&format!("{}exit 1\n", prints(&[refused])));
    world.wt(&["run", "task", "--limit-wait", "1h"]).exit(3).stderr_has("longer than --limit-wait 1h");
    let waiting = world.spawn(&["run", "task"]);
    world.wait_for_state("the wait", |state| state["waiting_until"].is_string());
    world.wt(&["status"]).exit(0).stdout_has("for a usage limit until");
    world.wt(&["stop"]).exit(0);
    waiting.wait().exit(5);
}

#[test]
fn a_failure_that_no_retry_mends_ends_the_loop_with_the_agents_words() {
    let refused =
        result(&json!({ "is_error": true, "api_error_status": 401, "result": "Not logged in · Please run /login" }));
    let world = loops(&format!("{}exit 1\n", prints(&[refused])));
    world.wt(&["run", "task"]).exit(3).stderr_has("stuck: Not logged in · Please run /login; log in to the agent");
    world.agent("claude", "echo 'x cannot be used with root/sudo privileges for security reasons' >&2\nexit 1\n");
    world.wt(&["run", "task"]).exit(3).stderr_has("run as another user than root");
    assert_eq!(world.state()["iterations"].as_array().unwrap().len(), 1);
}

#[test]
fn an_agent_that_is_too_old_for_a_flag_is_told_with_the_version_that_does() {
    let world = loops("echo \"error: unknown option '--output-format'\" >&2\nexit 1\n");
    world
        .wt(&["run", "task"])
        .exit(3)
        .stderr_has("(claude 2.1.325 is known to do); this version of the agent does not know a flag");
}

#[test]
fn the_doctor_tells_who_is_logged_in_without_a_call() {
    let world = World::with_agent("echo 1.2.3\n");
    let told = world.wt(&["doctor"]).exit(0).stdout_has("1.2.3").stdout_has("no sign of a login");
    told.stdout_has("not on PATH: codex, opencode");
    world.wt_env(&[("ANTHROPIC_API_KEY", "k")], &["doctor"]).exit(0).stdout_has("logged in or with a key");
}

#[test]
fn the_versions_that_are_installed_for_the_tests_are_those_that_are_named() {
    let script = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/agents")).unwrap();
    for agent in wt_loop::agent::ALL
        .iter()
        .filter(|agent| agent.tested == wt_loop::agent::Tested::RealProgram && !agent.version.is_empty())
    {
        let line =
            script.lines().find(|line| line.trim_start_matches("agents='").trim().starts_with(agent.name)).unwrap();
        assert!(line.trim_end_matches('\'').ends_with(agent.version), "{line}");
    }
}

#[test]
fn words_of_a_limit_in_a_tools_output_or_a_quoted_file_mean_nothing() {
    let tool = json!({ "type": "user", "message": { "content": [{ "type": "tool_result", "content": "usage limit reached|1794800000" }] } });
    let world =
        loops(&prints(&[tool.to_string(), says("The file says: rate limit, not logged in."), result(&json!({}))]));
    world.wt(&["run", "task", "--max", "1"]).exit(3).stderr_has("stuck: 1 iteration without completion");
}

#[test]
fn an_agent_that_says_nothing_at_all_is_warned_of_and_has_not_failed() {
    let world = loops("cat > /dev/null\n");
    world.wt(&["run", "task", "--max", "1"]).exit(3).stderr_has("the agent ended well and said nothing at all");
    assert_eq!(world.state()["iterations"][0]["exit_reason"], "completed");
}

#[test]
fn sessions_go_on_only_when_asked_for() {
    let init = json!({ "type": "system", "subtype": "init", "session_id": "abc" }).to_string();
    let script = format!("echo \"$@\" >> ../args\n{}", prints(&[init, says("x"), result(&json!({}))]));
    let world = loops(&script);
    let args = || std::fs::read_to_string(world.beside("args")).unwrap();
    world.wt(&["run", "task", "--max", "2", "--stall-threshold", "0"]).exit(3);
    assert!(!args().contains("--resume"));
    world.wt(&["run", "task", "--max", "2", "--stall-threshold", "0", "--continue-session"]).exit(3);
    assert_eq!(args().lines().filter(|line| line.ends_with("--resume abc")).count(), 1, "{}", args());
    assert_eq!(world.state()["total_cost_usd"], 0.25, "the second run's cost is that of the whole session");
}

#[test]
fn any_program_is_an_agent_by_the_users_own_description() {
    let world = World::new();
    world.user_config(
        "[agents.mine]\ncommand = ['my-agent', '--json']\nprompt = 'file'\noutput = 'claude'\nmodel = ['--model={}']\nallow_all = ['--yes']\n",
    );
    let script = prints(&[says("<promise>COMPLETE</promise>"), result(&json!({}))]);
    world.agent("my-agent", &format!("for last; do :; done\ncp \"$last\" ../prompt\necho \"$@\" > ../args\n{script}"));
    world.wt(&["run", "the task", "--harness", "mine", "--model", "m", "--yolo"]).exit(0);
    let args = std::fs::read_to_string(world.beside("args")).unwrap();
    assert!(args.starts_with("--json --model=m --yes /"), "{args}");
    assert!(std::fs::read_to_string(world.beside("prompt")).unwrap().contains("the task"));
    assert_eq!(world.state()["total_tokens"], 150);
    world.write(".wt-loop.toml", "[agents.evil]\ncommand = ['x']\n");
    world.wt(&["run", "task", "--harness", "evil"]).exit(2).stderr_has("a repository cannot set agents");
}

#[test]
fn what_a_sub_agent_streams_is_not_said_and_hides_nothing() {
    let delta = |text: &str, parent: Option<&str>| {
        json!({ "type": "stream_event", "parent_tool_use_id": parent, "event": { "delta": { "type": "text_delta", "text": text } } })
            .to_string()
    };
    let world = loops(&prints(&[
        delta("<promise>COMPLETE</promise>", Some("toolu_1")),
        says("the sub-agent lied"),
        json!({ "type": "tool_progress", "session_id": "s" }).to_string(),
        result(&json!({})),
    ]));
    world.wt(&["run", "task", "--max", "1", "--raw"]).exit(3).stdout("the sub-agent lied\n");
    assert!(world.log().contains("tool_progress"), "an unknown event is in the log");
    assert!(world.read(".claude/ralph-raw.jsonl").contains("tool_progress"));
}

#[test]
fn tasks_that_are_done_when_the_budget_cuts_in_are_done() {
    let step = json!({ "type": "step_finish", "sessionID": "s", "part": { "reason": "tool-calls", "tokens": { "input": 500 } } });
    let world = World::new();
    world.write(".wt-loop.toml", "validation = ['true']\n");
    world.tasks(0, 1);
    let ticks = crate::support::agents::TICKS;
    world.agent("opencode", &format!("{ticks}echo '{step}'\nexec sleep 1000\n"));
    world.wt(&["run", "task", "--harness", "opencode", "--budget-tokens", "400"]).exit(0);
}

#[test]
fn a_denied_permission_ends_a_loop_that_brings_nothing() {
    let denied = json!({ "permission_denials": [{ "tool_name": "Bash" }] });
    let world = loops(&prints(&[says("I may not."), result(&denied)]));
    world.wt(&["run", "task"]).exit(3).stderr_has("stuck: permission denied for Bash; --allow-all would allow it");
    assert_eq!(world.state()["iterations"].as_array().unwrap().len(), 1);
}

#[test]
fn the_time_of_a_loop_ends_an_agent_that_works_and_a_wait() {
    let world = loops("exec sleep 1000\n");
    world.wt(&["run", "task", "--max-time", "1s"]).exit(3).stderr_has("the time limit of 1.0s is reached");
    let refused = result(&json!({ "is_error": true, "api_error_status": 429, "result": "try again in 2 hours" }));
    world.agent("claude", &format!("{}exit 1\n", prints(&[refused])));
    world.wt(&["run", "task", "--max-time", "1m"]).exit(3).stderr_has("longer than --max-time allows");
}

#[test]
fn a_prompt_that_is_too_long_for_an_argument_is_told_at_once() {
    let world = World::new();
    world.agent("kimi", "true\n");
    std::fs::write(world.beside("long.md"), "x".repeat(200_000)).unwrap();
    let file = world.beside("long.md");
    let told = world.wt(&["run", "--prompt-file", file.to_str().unwrap(), "--harness", "kimi"]).exit(1);
    told.stderr_has("is too long for kimi, which takes it as an argument");
}

#[test]
fn a_resumed_loop_runs_the_agent_that_is_named_now() {
    let world = World::with_agent("echo the real one\n");
    world.user_config("[agents.mine]\ncommand = ['my-agent']\n");
    world.agent("my-agent", "echo my own\n");
    world.wt(&["run", "task", "--harness", "mine", "--max", "1"]).exit(3).stdout("my own\n");
    world.wt(&["resume", "--max", "2", "--harness", "claude"]).exit(3).stdout("the real one\n");
    world.wt(&["resume", "--max", "3", "--harness", "mine"]).exit(3).stdout("my own\n");
}

/// A script of copilot's that tells what it used in the file that it is given.
fn copilot(used: &str) -> String {
    let recorded = include_str!("../fixtures/agents/copilot-json.jsonl");
    format!(
        "echo \"$@\" >> ../args\nwhile [ $# -gt 0 ]; do [ \"$1\" = --usage-output-file ] && file=$2; shift; done\n\
         cat > /dev/null\n[ ! -e \"$file\" ] || touch ../stale\ncat <<'END'\n{recorded}\nEND\n{used}"
    )
}

#[test]
fn copilots_tokens_are_read_from_its_usage_file_which_nobody_sees() {
    let usage = include_str!("../fixtures/agents/copilot-usage.json");
    let world = World::new();
    world.write(".wt-loop.toml", "validation = ['true']\n");
    world.agent("copilot", &copilot(&format!("cat > \"$file\" <<'END'\n{usage}\nEND\n")));
    let run = ["run", "task", "--harness", "copilot", "--skip-validation"];
    world.wt(&run).exit(0).stderr_has("1.6k tokens");
    let iteration = &world.state()["iterations"][0];
    let counted = ["input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"].map(|f| &iteration[f]);
    assert_eq!(counted, [&json!(1234), &json!(56), &json!(789), &json!(321)]);

    let args = std::fs::read_to_string(world.beside("args")).unwrap();
    let file = args.trim_end().rsplit(' ').next().unwrap();
    assert!(args.contains("--usage-output-file /") && !std::path::Path::new(file).exists(), "{args}");
    assert_eq!(world.git(&world.root, &["status", "--porcelain"]), "?? .wt-loop.toml");

    world.agent("copilot", &copilot("echo '{\"modelMetrics\": [' > \"$file\"\n"));
    world.wt(&run).exit(0);
    world.agent("copilot", &copilot(""));
    world.wt(&run).exit(0);
    assert_eq!(world.state()["total_tokens"], 0, "a file that is broken or missing tells nothing");
    assert!(!world.beside("stale").exists(), "nothing of an earlier run is taken for this one's");
}

#[test]
fn copilot_counts_a_session_from_its_beginning() {
    let usage =
        |input: u64| json!({ "modelMetrics": { "m": { "usage": { "inputTokens": input, "outputTokens": 10 } } } });
    let script = format!(
        "case $WT_LOOP_RUN_ITERATION in\n1) echo '{}' ;;\n*) echo '{}' ;;\nesac > \"$file\"\n",
        usage(100),
        usage(250)
    );
    let world = World::new();
    world.agent("copilot", &copilot(&script).replace("COMPLETE", "LATER"));
    let options = ["--max", "2", "--stall-threshold", "0", "--continue-session", "--budget-tokens", "1000"];
    world.wt(&[&["run", "task", "--harness", "copilot"], &options[..]].concat()).exit(3);
    let state = world.state();
    assert_eq!([0, 1].map(|n| &state["iterations"][n]["input_tokens"]), [&json!(100), &json!(150)], "{state:#}");
}

#[test]
fn an_agent_of_the_users_own_is_suggested_too() {
    let world = World::new();
    world.user_config("[agents.housekeeper]\ncommand = ['x']\n");
    for words in [&["run", "task"][..], &["ralph", "go", "--no-change"]] {
        let told = world.wt(&[words, &["--harness", "housekeper"]].concat()).exit(2);
        told.stderr_has("rehearsal, housekeeper\n").stderr_has("hint: did you mean --harness housekeeper?");
    }
    world.wt(&["run", "task", "--harness", "claud"]).exit(2).stderr_has("did you mean --harness claude?");
}

#[test]
fn a_gigabyte_of_json_in_one_line_is_logged_in_little_memory_and_the_loop_goes_on() {
    const GIB: u64 = 1 << 30;
    let says = prints(&[says("<promise>COMPLETE</promise>"), result(&json!({}))]);
    let world = loops(&format!(
        "if [ $WT_LOOP_RUN_ITERATION = 1 ]; then
         printf '{{\"type\":\"assistant\",\"message\":\"<promise>COMPLETE</promise>'
         head -c {GIB} /dev/zero | tr '\\0' x
         printf '\"}}\\n'
         touch ../said
         until [ -e ../go ]; do sleep 0.02; done
         exit 0
         fi\n{says}"
    ));
    let running = world.spawn(&["run", "task", "--max", "2", "--no-stream"]);
    wait_within(Duration::from_secs(120), "the end of the line", || world.beside("said").exists().then_some(()));
    let cast = Cast::of(running.pid());
    for (who, pid) in [("loop", cast.looper), ("guard", cast.guard)] {
        let peak = cast::size(pid, "VmHWM") >> 20;
        assert!(peak < 40, "the {who} took {peak} MiB");
    }
    std::fs::write(world.beside("go"), "").unwrap();
    running.wait().exit(0);
    let log = std::fs::File::open(world.root.join(".claude/ralph-loop.log")).unwrap();
    let (mut filling, mut buffer, mut log) = (0, vec![0; 1 << 20], log);
    while let Ok(read @ 1..) = std::io::Read::read(&mut log, &mut buffer) {
        filling += memchr::memchr_iter(b'x', &buffer[..read]).count() as u64;
    }
    assert!((GIB..GIB + 1000).contains(&filling), "{filling} bytes of the line are in the log");
    let state = world.state();
    assert_eq!([0, 1].map(|n| &state["iterations"][n]["promise_found"]), [&json!(false), &json!(true)], "{state:#}");
}
