//! Whole loops through the real agents, against a model API of our own on loopback.
//!
//! `scripts/agents` installs them; a test whose agent is not there says so and is left out. Each test is a story that every agent
//! has to live through, told once per agent below.

use std::process::Command;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::support::model::{Step, Tokens, cut, refuse, say, shell, slowly};
use crate::support::real::{CLAUDE, CODEX, GEMINI, OPENCODE, PATIENCE, PI, PRICES, Real, Stage};
use crate::support::{Running, spawn, wait_within};

const DONE: &str = "All is done. <promise>COMPLETE</promise>";
const WRONG_KEY: &str = "Incorrect API key provided";

/// Makes a file and commits it; what it prints looks like a promise and is none, for a tool printed it.
const WORK: &str =
    "echo hello > made.txt && git add made.txt && git commit -qm made && printf '<promise>%s</promise>\\n' COMPLETE";

/// Edits, commits, and promises in the next iteration: counted is what the API reported.
fn works(agent: Real) {
    agent.plays(vec![shell(WORK), say("I made it."), say(DONE)], |stage| {
        let (output, state) = stage.runs(&["--max", "3"]);
        output.exit(0);
        stage.model.was_followed();
        assert_eq!(state["status"], "done", "{state:#}");
        let iterations = state["iterations"].as_array().unwrap();
        let [first, second] = iterations.as_slice() else { panic!("{state:#}") };

        assert_eq!(first["exit_reason"], "completed", "{state:#}");
        assert_eq!(first["promise_found"], false, "a tool's result is nothing that the agent says: {state:#}");
        assert_eq!(first["commits"], json!([stage.world.git(&stage.world.root, &["rev-parse", "HEAD"])]));
        assert_eq!(stage.world.read("made.txt"), "hello\n");
        assert_eq!(second["exit_reason"], "completed", "{state:#}");
        assert_eq!((&second["promise_found"], &second["done_check"]), (&json!(true), &json!(true)), "{state:#}");
        assert_eq!(second["commits"], json!([]));

        counted(agent, &state, stage.model.reported());
        let asked = stage.model.requests();
        let prompt = asked.iter().find(|request| request.scripted).unwrap().body.to_string();
        assert!(prompt.contains("Do the work."), "the agent got its prompt: {prompt}");
        let log = stage.world.log();
        assert!(log.contains("I made it.") && log.contains("made.txt"), "{log}");
        assert!(!log.contains("{\"type\""), "a person sees the conversation, not JSON: {log}");
        stage.world.wait_until_nothing_is_left();
    });
}

/// Tokens and cost are what the API reported.
#[track_caller]
fn counted(agent: Real, state: &Value, reported: Tokens) {
    let iterations = state["iterations"].as_array().unwrap();
    let sum = |field: &str| iterations.iter().map(|iteration| iteration[field].as_u64().unwrap()).sum::<u64>();
    // Only Anthropic's wire tells what was written to the cache.
    let written = if agent.name == "claude" { reported.written } else { 0 };
    assert_eq!(sum("input_tokens"), reported.fresh, "{state:#}");
    assert_eq!(sum("output_tokens"), reported.output, "{state:#}");
    assert_eq!(sum("cache_read_tokens"), reported.cached, "{state:#}");
    assert_eq!(sum("cache_write_tokens"), written, "{state:#}");
    assert_eq!(state["total_tokens"], json!(reported.fresh + reported.output + written), "{state:#}");
    let cost = state["total_cost_usd"].as_f64().unwrap();
    let [fresh, cached, wrote, output] = PRICES;
    #[expect(clippy::cast_precision_loss, reason = "a few thousand tokens")]
    let dollars = |tokens: u64, price: f64| tokens as f64 * price / 1e6;
    let expected = match agent.name {
        "codex" | "gemini" => 0.0,
        _ => {
            dollars(reported.fresh, fresh)
                + dollars(reported.cached, cached)
                + dollars(written, wrote)
                + dollars(reported.output, output)
        }
    };
    assert!((cost - expected).abs() < 1e-9, "{cost} is not {expected}: {state:#}");
}

/// A stream that is cut is a failure, whatever was promised before, and the loop goes on; a key that is refused ends it at once, in
/// the agent's own words. Some agents try a request that was cut again by themselves.
fn fails(agent: Real, cuts: usize) {
    let broken = std::iter::repeat_n(cut(DONE), cuts);
    let steps = broken.chain([refuse(1, 401, WRONG_KEY)]).collect();
    agent.plays(steps, |stage| {
        let (output, state) = stage.runs(&["--max", "5"]);
        output.exit(3).stderr_has(WRONG_KEY);
        stage.model.was_followed();
        assert_eq!(state["status"], "stuck", "{state:#}");
        let reason = state["status_reason"].as_str().unwrap();
        assert!(reason.contains(WRONG_KEY) && reason.contains("log in"), "{reason}");
        let ends: Vec<&Value> =
            state["iterations"].as_array().unwrap().iter().map(|iteration| &iteration["exit_reason"]).collect();
        assert_eq!(ends, ["failed", "failed"], "{state:#}");
        stage.world.wait_until_nothing_is_left();
    });
}

/// A limit is waited out, and the same iteration is tried again. Some agents try again by themselves first.
fn waits(agent: Real, times: usize) {
    let words = "Rate limit reached. Please try again in 1.5s.";
    let mut limit = refuse(times, 429, words);
    if let Step::Refuse(refusal, _) = &mut limit {
        refusal.headers.push(("retry-after-ms", "50".to_owned()));
    }
    agent.plays(vec![limit, say(DONE)], |stage| {
        let waited = waited_out(stage, stage.starts(&["--max", "1"]), words);
        assert!((1.0..20.0).contains(&waited), "until the reset that was told, not longer: {waited}");
    });
}

/// The loop waited for these words once, and went on with the same iteration. How long it waited.
#[track_caller]
fn waited_out(stage: &Stage, looper: Running, words: &str) -> f64 {
    looper.wait_within(PATIENCE).exit(0);
    let state = stage.world.state();
    stage.model.was_followed();
    let [iteration] = state["iterations"].as_array().unwrap().as_slice() else { panic!("{state:#}") };
    assert_eq!((&iteration["attempts"], &iteration["exit_reason"]), (&json!(2), &json!("completed")), "{state:#}");
    let [wait] = state["waits"].as_array().unwrap().as_slice() else { panic!("{state:#}") };
    assert!(wait["reason"].as_str().unwrap().contains(words), "{state:#}");
    assert_eq!(state["waiting_until"], Value::Null);
    counted(stage.agent, &state, stage.model.reported());
    stage.world.wait_until_nothing_is_left();
    let at = |field: &str| wait[field].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    let waited = at("until").duration_since(at("from")).as_secs_f64();
    let ended = iteration["ended"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    assert!(ended >= at("until"), "to its end: {state:#}");
    waited
}

/// With `--continue-session` the agent remembers what it said, and each iteration is counted by itself all the same.
fn goes_on_in_its_session(agent: Real) {
    agent.plays(vec![slowly("I began with the teapot."), say(DONE)], |stage| {
        let (output, state) = stage.runs(&["--max", "3", "--continue-session"]);
        output.exit(0);
        stage.model.was_followed();
        assert_eq!(state["iterations"].as_array().unwrap().len(), 2, "{state:#}");
        let asked = stage.model.requests();
        let last = asked.iter().rfind(|request| request.scripted).unwrap().body.to_string();
        assert!(last.contains("I began with the teapot."), "{last}");
        counted(agent, &state, stage.model.reported());
    });
}

/// A model that says nothing any more is not waited for longer than the user wants.
fn is_silent_for_too_long(agent: Real) {
    agent.plays(vec![Step::Silence], |stage| {
        // A start that takes longer than that, on a loaded machine, is a silence too.
        let (output, state) = stage.runs(&["--max", "1", "--idle-timeout", "8s"]);
        output.exit(3);
        assert_eq!(state["iterations"][0]["exit_reason"], "timed_out", "{state:#}");
        stage.world.wait_until_nothing_is_left();
    });
}

/// Ctrl-C while the agent's tool runs: the agent and the tool are gone.
fn is_interrupted_at_work(agent: Real) {
    agent.plays(vec![shell("sleep $NAP")], |stage| {
        let looper = stage.starts(&["--max", "3"]);
        let asleep = || !stage.world.processes_like(&stage.world.nap).is_empty();
        wait_within(PATIENCE, "the tool", || asleep().then_some(()));
        looper.signal(Signal::SIGINT);
        looper.wait().exit(130);
        stage.world.wait_until_nothing_is_left();
        is_stopped(&stage.world.state());
    });
}

/// Ctrl-C while the model is silent: several agents end well on it, and it is an interruption all the same.
fn is_interrupted_in_silence(agent: Real) {
    agent.plays(vec![Step::Silence], |stage| {
        let looper = stage.starts(&["--max", "3"]);
        stage.wait_until_asked(1);
        looper.signal(Signal::SIGINT);
        looper.wait().exit(130);
        stage.world.wait_until_nothing_is_left();
        is_stopped(&stage.world.state());
    });
}

#[track_caller]
fn is_stopped(state: &Value) {
    assert_eq!(state["status"], "stopped", "{state:#}");
    assert_eq!(state["iterations"].as_array().unwrap().len(), 1, "{state:#}");
    assert_eq!(state["iterations"][0]["exit_reason"], "interrupted", "{state:#}");
}

macro_rules! stories {
    ($($name:ident: $story:expr;)*) => { $(#[test] fn $name() { $story; })* };
}

stories! {
    claude_works_and_is_counted: works(CLAUDE);
    claude_fails_by_a_cut_and_a_wrong_key: fails(CLAUDE, 2);
    claude_waits_out_a_limit: waits(CLAUDE, 1);
    claude_is_silent_for_too_long: is_silent_for_too_long(CLAUDE);
    claude_goes_on_in_its_session: goes_on_in_its_session(CLAUDE);
    claude_is_interrupted_at_work: is_interrupted_at_work(CLAUDE);
    claude_is_interrupted_in_silence: is_interrupted_in_silence(CLAUDE);

    codex_works_and_is_counted: works(CODEX);
    codex_fails_by_a_cut_and_a_wrong_key: fails(CODEX, 1);
    codex_goes_on_in_its_session: goes_on_in_its_session(CODEX);
    codex_is_interrupted_at_work: is_interrupted_at_work(CODEX);
    codex_is_interrupted_in_silence: is_interrupted_in_silence(CODEX);

    gemini_works_and_is_counted: works(GEMINI);
    gemini_fails_by_a_cut_and_a_wrong_key: fails(GEMINI, 1);
    gemini_waits_out_a_limit: waits(GEMINI, 1);
    gemini_goes_on_in_its_session: goes_on_in_its_session(GEMINI);
    gemini_is_interrupted_at_work: is_interrupted_at_work(GEMINI);
    gemini_is_interrupted_in_silence: is_interrupted_in_silence(GEMINI);

    opencode_works_and_is_counted: works(OPENCODE);
    opencode_fails_by_a_cut_and_a_wrong_key: fails(OPENCODE, 6);
    opencode_waits_out_a_limit: waits(OPENCODE, 6);
    opencode_is_silent_for_too_long: is_silent_for_too_long(OPENCODE);
    opencode_goes_on_in_its_session: goes_on_in_its_session(OPENCODE);
    opencode_is_interrupted_at_work: is_interrupted_at_work(OPENCODE);
    opencode_is_interrupted_in_silence: is_interrupted_in_silence(OPENCODE);

    pi_works_and_is_counted: works(PI);
    pi_fails_by_a_cut_and_a_wrong_key: fails(PI, 1);
    pi_waits_out_a_limit: waits(PI, 3);
    pi_goes_on_in_its_session: goes_on_in_its_session(PI);
    pi_is_interrupted_at_work: is_interrupted_at_work(PI);
    pi_is_interrupted_in_silence: is_interrupted_in_silence(PI);
}

/// opencode sends a request that was cut again by itself, a few times, so that the loop sees none of a single cut.
#[test]
fn opencode_mends_a_cut_itself() {
    OPENCODE.plays(vec![cut("Half of"), say(DONE)], |stage| {
        let (output, state) = stage.runs(&["--max", "5"]);
        output.exit(0);
        stage.model.was_followed();
        assert_eq!(state["iterations"].as_array().unwrap().len(), 1, "{state:#}");
        assert_eq!(state["iterations"][0]["exit_reason"], "completed", "{state:#}");
        counted(OPENCODE, &state, stage.model.reported());
    });
}

/// codex tells the minute in which a limit ends, in the time of this machine; Ctrl-C ends the wait at once.
#[test]
fn codex_waits_until_the_minute_that_it_tells() {
    let reset = jiff::Timestamp::now().as_second() + 7200;
    let mut limit = refuse(1, 429, "The usage limit has been reached");
    if let Step::Refuse(refusal, _) = &mut limit {
        refusal.fields = json!({ "type": "usage_limit_reached", "resets_at": reset });
    }
    CODEX.plays(vec![limit], |stage| {
        let looper = stage.starts(&["--max", "3"]);
        wait_within(PATIENCE, "the wait", || {
            let state = std::fs::read(stage.world.root.join(".claude/loop-state.json")).ok()?;
            let state: Value = serde_json::from_slice(&state).ok()?;
            let until = state["waiting_until"].as_str()?.parse::<jiff::Timestamp>().unwrap();
            let over = (reset / 60 + 1) * 60;
            assert_eq!(until.as_second(), over + 5, "the end of the minute, and a little: {state:#}");
            Some(())
        });
        looper.signal(Signal::SIGINT);
        looper.wait().exit(130).stderr_has("usage limit");
        stage.world.wait_until_nothing_is_left();
        assert_eq!(stage.world.state()["status"], "stopped");
    });
}

/// The same to its end. A minute is as short as the clock of the test's own time zone makes it: the one in which the limit is over ends
/// some seconds after the loop begins, or, on a slow machine, is the next one.
#[test]
fn codex_waits_out_a_limit() {
    let mut limit = refuse(1, 429, "The usage limit has been reached");
    if let Step::Refuse(refusal, _) = &mut limit {
        refusal.fields = json!({ "type": "usage_limit_reached" });
        refusal.resets_in = Some(1);
    }
    CODEX.plays(vec![limit, say(DONE)], |stage| {
        let second = (jiff::Timestamp::now().as_second() + 15).rem_euclid(60);
        let mut command = stage.command(&["--max", "1", "--allow-all"]);
        command.env("TZ", format!("TEST0:00:{second:02}"));
        let waited = waited_out(stage, spawn(command), "usage limit");
        assert!((5.0..=67.0).contains(&waited), "until the end of a minute, and a little: {waited}");
    });
}

/// Without a reset it would be a minute: longer than the user lets it wait.
#[test]
fn codex_is_stuck_at_a_limit_that_may_not_be_waited_out() {
    CODEX.plays(vec![refuse(1, 429, "Slow down")], |stage| {
        let (output, state) = stage.runs(&["--max", "3", "--limit-wait", "1s"]);
        output.exit(3).stderr_has("429 Too Many Requests").stderr_has("--limit-wait");
        stage.model.was_followed();
        assert_eq!((&state["status"], &state["waits"]), (&json!("stuck"), &json!([])), "{state:#}");
    });
}

/// gemini tells of a daily quota in words of its own, without a status and without a reset.
#[test]
fn gemini_is_stuck_at_a_daily_quota_that_may_not_be_waited_out() {
    let mut limit = refuse(1, 429, "You exceeded your current quota");
    if let Step::Refuse(refusal, _) = &mut limit {
        let violation = json!({ "quotaMetric": "requests", "quotaId": "GenerateRequestsPerDayPerProjectPerModel" });
        refusal.fields = json!({ "details": [{ "@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation] }] });
    }
    GEMINI.plays(vec![limit], |stage| {
        let (output, state) = stage.runs(&["--max", "3", "--limit-wait", "1s"]);
        output.exit(3).stderr_has("daily quota").stderr_has("--limit-wait");
        assert_eq!(state["status"], "stuck", "{state:#}");
    });
}

/// What only the user can mend ends the loop at once, in the agent's own words and with the way out.
#[track_caller]
fn is_told_at_once(stage: &Stage, command: Command, words: &str, way_out: &str) {
    spawn(command).wait_within(PATIENCE).exit(3).stderr_has(words).stderr_has(way_out);
    let state = stage.world.state();
    assert_eq!(state["status"], "stuck", "{state:#}");
    assert_eq!(state["iterations"].as_array().unwrap().len(), 1, "{state:#}");
    let reason = state["status_reason"].as_str().unwrap();
    assert!(reason.contains(words) && reason.contains(way_out), "{reason}");
}

#[test]
fn claude_is_not_logged_in() {
    CLAUDE.plays(vec![], |stage| {
        let mut command = stage.command(&["--max", "5"]);
        command.env_remove("ANTHROPIC_API_KEY");
        is_told_at_once(stage, command, "Not logged in", "log in");
        stage.model.was_followed();
    });
}

#[test]
fn claude_does_not_approve_everything_for_root() {
    if !nix::unistd::geteuid().is_root() {
        eprintln!("SKIPPED: what claude tells root: it takes root");
        return;
    }
    CLAUDE.plays(vec![], |stage| {
        let mut command = stage.command(&["--max", "5", "--allow-all"]);
        command.env_remove("IS_SANDBOX");
        is_told_at_once(stage, command, "root/sudo privileges", "IS_SANDBOX=1");
    });
}

#[test]
fn opencode_rejects_what_it_would_have_to_ask_for() {
    OPENCODE.plays(vec![shell(WORK)], |stage| {
        let mut command = stage.command(&["--max", "5"]);
        command.env("OPENCODE_PERMISSION", r#"{"bash":"ask"}"#);
        is_told_at_once(stage, command, "rejected permission", "--allow-all");
        stage.model.was_followed();
    });
}

/// What it prints of a model that it does not know is an unexpected server error; its log says what it is.
#[test]
fn opencode_does_not_know_the_model() {
    let agent = Real { model: "fake/nope", ..OPENCODE };
    agent.plays(vec![], |stage| {
        is_told_at_once(stage, stage.command(&["--max", "5"]), "Model not found: fake/nope", "--model ID");
        stage.model.was_followed();
    });
}
