//! The decoders over recorded output of the real programs: what was said, used, reached, and how it ended.

use proptest::prelude::*;

use super::event::{End, Remedy};
use super::reader::{Reader, Reading, Shown};
use super::{Agent, Harness};
use crate::promise::{Promise, Scanner};

macro_rules! recorded {
    ($name:literal) => {
        include_bytes!(concat!("../../tests/fixtures/agents/", $name, ".jsonl"))
    };
}

fn read(agent: &str, pieces: &[&[u8]]) -> (String, Reading) {
    let harness = Harness::Ours(Agent::named(agent).unwrap());
    let mut reader = Reader::new(harness.decoder(), Some(Scanner::new(&Promise::new("COMPLETE"))));
    let mut shown = String::new();
    let mut show = |piece: Shown| match piece {
        Shown::Raw(bytes) => shown.push_str(&String::from_utf8_lossy(bytes)),
        Shown::Said(text) => shown.push_str(text),
        Shown::Tool(name, detail) => shown.extend(["* ", name, " ", detail, "\n"]),
        Shown::Note(text) => shown.extend(["- ", text, "\n"]),
        Shown::Error(text) => shown.extend(["! ", text, "\n"]),
        Shown::Json(_) | Shown::Unknown(_) => {}
    };
    for piece in pieces {
        reader.feed(piece, &mut show);
    }
    let reading = reader.finish(&mut show);
    (shown, reading)
}

/// Agent, recording, outcome, promise said, tokens that count, cost.
type Row = (&'static str, &'static [u8], &'static str, bool, u64, Option<f64>);

/// `well`, `badly`, or what stands in the way.
fn outcome(reading: &Reading) -> &'static str {
    match (&reading.limit, &reading.failure, reading.end) {
        (Some(_), _, _) => "limit",
        (None, Some(failure), _) if failure.remedy == Remedy::Retry => "retry",
        (None, Some(_), _) => "user",
        (None, None, Some(End::Well)) => "well",
        (None, None, _) => "badly",
    }
}

#[test]
fn every_recording_is_understood() {
    let table: [Row; 36] = [
        ("claude", recorded!("claude-stream-json"), "well", true, 1611, Some(0.005_982_45)),
        ("claude", recorded!("claude-tool-stream-json"), "well", true, 3222, Some(0.011_964_9)),
        ("claude", recorded!("claude-retry-then-ok"), "well", true, 1611, Some(0.005_982_45)),
        ("claude", recorded!("claude-err401-retries1-stream-json"), "user", false, 0, Some(0.0)),
        ("claude", recorded!("claude-err429-retries1-stream-json"), "limit", false, 0, Some(0.0)),
        ("claude", recorded!("claude-err529-retries1-stream-json"), "limit", false, 0, Some(0.0)),
        ("claude", recorded!("claude-cut"), "retry", false, 3112, Some(0.010_314_9)),
        ("claude", recorded!("claude-budget"), "retry", false, 1611, Some(0.011_964_9)),
        ("claude", recorded!("claude-tool-denied-json"), "well", false, 3222, Some(0.011_964_9)),
        ("codex", recorded!("codex-json"), "well", true, 1290, None),
        ("codex", recorded!("codex-tool-yolo-json"), "well", true, 2580, None),
        ("codex", recorded!("codex-tool-workspacewrite-json"), "well", true, 2580, None),
        ("codex", recorded!("codex-err401-json"), "user", false, 0, None),
        ("codex", recorded!("codex-err429-json"), "limit", false, 0, None),
        ("codex", recorded!("codex-cut-json"), "retry", false, 0, None),
        ("opencode", recorded!("opencode-json"), "well", true, 1290, Some(0.004_778_7)),
        ("opencode", recorded!("opencode-tool-json"), "well", true, 2580, Some(0.009_557_4)),
        ("opencode", recorded!("opencode-ask-auto-json"), "well", true, 2580, Some(0.009_557_4)),
        ("opencode", recorded!("opencode-ask-noauto-json"), "user", false, 1290, Some(0.004_778_7)),
        ("opencode", recorded!("opencode-err401-json"), "user", false, 0, None),
        ("opencode", recorded!("opencode-err429-json"), "limit", false, 0, None),
        ("opencode", recorded!("opencode-badmodel-json"), "retry", false, 0, None),
        ("gemini", recorded!("gemini-stream-json"), "well", true, 1290, None),
        ("gemini", recorded!("gemini-tool-stream-json"), "well", true, 2580, None),
        ("gemini", recorded!("gemini-err401-stream-json"), "user", false, 0, None),
        ("pi", recorded!("pi-json"), "well", true, 2580, Some(0.009_557_4)),
        ("codex", recorded!("codex-usage-limit-json"), "limit", false, 0, None),
        ("gemini", recorded!("gemini-daily-quota-stream-json"), "limit", false, 0, None),
        ("gemini", recorded!("gemini-quota-retry-stream-json"), "limit", false, 0, None),
        ("gemini", recorded!("gemini-cut-stream-json"), "retry", false, 0, None),
        ("pi", recorded!("pi-err401-json"), "user", false, 0, Some(0.0)),
        ("pi", recorded!("pi-err429-json"), "limit", false, 0, Some(0.0)),
        ("pi", recorded!("pi-cut-json"), "retry", false, 0, Some(0.0)),
        ("qwen", recorded!("qwen-stream-json"), "well", true, 2580, None),
        ("qwen", recorded!("qwen-tool-stream-json"), "well", true, 2580, None),
        ("copilot", recorded!("copilot-json"), "well", true, 0, None),
    ];
    for (agent, recording, expected, promised, tokens, cost) in table {
        let (shown, reading) = read(agent, &[recording]);
        let what = format!("{agent}: {shown}{reading:?}");
        assert_eq!(outcome(&reading), expected, "{what}");
        assert_eq!(reading.promised, promised, "{what}");
        assert_eq!(reading.usage.counted(), tokens, "{what}");
        assert_eq!(
            reading.usage.cost.map(|cost| (cost * 1e7).round()),
            cost.map(|cost| (cost * 1e7).round()),
            "{what}"
        );
        assert!(!shown.contains("{\"type\""), "a person sees the conversation, not JSON: {shown}");
    }
}

#[test]
fn what_a_person_sees_is_the_conversation() {
    let (shown, _) = read("claude", &[recorded!("claude-tool-stream-json")]);
    let bash = "* Bash echo hi > made-claude.txt; echo out-line\n";
    assert_eq!(shown, format!("Running\n{bash}All tasks are done.\n\n<promise>COMPLETE</promise>\n"));
    let (shown, _) = read("gemini", &[recorded!("gemini-tool-stream-json")]);
    let tool = "* run_shell_command echo hi > made-gm.txt; echo out-line\n";
    assert_eq!(shown, format!("Running\n{tool}All done <promise>COMPLETE</promise>\n"));
}

#[test]
fn an_error_of_pi_is_seen_although_it_exits_with_0() {
    let (_, reading) = read("pi", &[recorded!("pi-earendil-err401-json")]);
    assert_ne!(outcome(&reading), "well");
    assert!(!reading.ended_well());
}

#[test]
fn a_reset_that_an_agent_tells_is_kept() {
    for (agent, recording) in [
        ("codex", &recorded!("codex-usage-limit-json")[..]),
        ("gemini", recorded!("gemini-quota-retry-stream-json")),
        ("pi", recorded!("pi-err429-json")),
    ] {
        let (_, reading) = read(agent, &[recording]);
        assert!(reading.limit.unwrap().until.is_some(), "{agent}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_cut_of_a_recording_is_read_alike(cuts in proptest::collection::vec(any::<usize>(), 0..8)) {
        for (agent, recording) in [("claude", &recorded!("claude-tool-stream-json")[..]), ("gemini", recorded!("gemini-tool-stream-json")), ("codex", recorded!("codex-tool-yolo-json"))] {
            let place = super::ALL.iter().position(|known| known.name == agent).unwrap();
            crate::fuzzing::output(place, recording, &cuts);
        }
    }

    #[test]
    fn garbage_is_no_event_and_never_a_panic(garbage in proptest::collection::vec(any::<u8>(), 0..200), agent in 0_usize..16) {
        crate::fuzzing::output(agent, &[b"{\"type\":", garbage.as_slice(), b"}\n"].concat(), &[3]);
        crate::fuzzing::output(agent, &garbage, &[3]);
    }
}
