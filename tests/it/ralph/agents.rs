//! By which name ralph is called, and how it calls the agent.

use super::ito;
use crate::support::{SAYS_DONE, World};

#[test]
fn ralph_has_several_names() {
    let world = ito(&["001-01_x"], SAYS_DONE);
    for (name, words) in [
        ("ralph", &["go", "--change", "001"][..]),
        ("wt-loop-ralph", &["go", "--change", "001"]),
        ("wt-loop", &["ralph", "go", "--change", "001"]),
        ("wt-loop", &["loop", "go", "--change", "001"]),
    ] {
        world.called(name, words).exit(0);
    }
    let calls = world.calls();
    assert_eq!(calls.len(), 4);
    assert_eq!(calls[0].line, "claude -p --output-format stream-json --verbose");
    assert!(calls.iter().all(|call| *call == calls[0]), "all the same");
}

#[test]
fn ito_and_spool_know_only_the_words_that_they_share_with_us() {
    let world = ito(&["001-01_x"], SAYS_DONE);
    for name in ["ito", "spool"] {
        let told = format!(
            "wt-loop: {name} is wt-loop here, and knows only the words ralph and loop\nhint: {name} ralph --help\n"
        );
        for words in [&["init"][..], &[], &["--version"], &["status"]] {
            world.called(name, words).exit(2).stdout("").stderr(&told);
        }
        world.called(name, &["ralph", "--help"]).exit(0).stdout_has("--add-context <TEXT>");
    }
}

#[test]
fn an_agent_that_is_not_installed_is_named_with_those_that_are() {
    let world = World::new();
    world.wt(&["ralph", "go", "--no-change"]).exit(1).stdout("").stderr(
        "wt-loop: no agent called 'claude' on PATH, nor any other\n\
         hint: --harness rehearsal tries things out at no cost; wt-loop doctor tells what is missing\n",
    );
    world.scribe("codex", SAYS_DONE);
    world.scribe("opencode", SAYS_DONE);
    world
        .wt(&["ralph", "go", "--no-change"])
        .exit(1)
        .stderr("wt-loop: no agent called 'claude' on PATH; found: codex, opencode\nhint: --harness codex\n");
    assert!(world.calls().is_empty());
    assert!(!world.root.join(".claude").exists(), "nothing is written");
}

#[test]
fn an_unknown_agent_is_wrong_usage_with_the_nearest_name() {
    let world = World::with_agent(SAYS_DONE);
    world.wt(&["ralph", "go", "--no-change", "--harness", "opencdoe"]).exit(2).stderr(
        "wt-loop: no agent called 'opencdoe'; known: claude, codex, opencode, gemini, pi, copilot, qwen, kilo, droid, \
         cline, grok, kimi, amp, cursor-agent, aider, rehearsal\n\
         hint: did you mean --harness opencode?\n",
    );
}

#[test]
fn model_approval_and_own_arguments_reach_every_agent() {
    let world = World::new();
    let agents = [
        ("claude", "claude -p --output-format stream-json --verbose --model m --dangerously-skip-permissions --x"),
        ("codex", "codex exec --json -m m --dangerously-bypass-approvals-and-sandbox --x -"),
        ("opencode", "opencode run --format json --print-logs --log-level ERROR -m m --auto --x"),
        ("gemini", "gemini --skip-trust -o stream-json -m m -y --x"),
        ("pi", "pi -p --mode json --model m --x"),
        (
            "copilot",
            "copilot --no-ask-user --output-format json --model m --yolo --usage-output-file PRIVATE/usage.json --x",
        ),
        ("qwen", "qwen -o stream-json -m m -y --x"),
        ("kilo", "kilo run --format json --print-logs --log-level ERROR -m m --auto --x"),
        ("droid", "droid exec -o stream-json -m m --skip-permissions-unsafe --x"),
        ("cline", "cline --json -m m --x Follow the instructions on stdin"),
        (
            "grok",
            "grok --output-format streaming-messages-json -m m --always-approve --x --prompt-file PRIVATE/prompt.md",
        ),
        ("kimi", "kimi --output-format stream-json --x -p PROMPT"),
        ("amp", "amp -x --stream-json --dangerously-allow-all --x"),
        ("cursor-agent", "cursor-agent -p --output-format stream-json --model m --force --x"),
        (
            "aider",
            "aider --no-pretty --no-stream --no-check-update --no-gitignore --model m --yes-always --x --message-file PRIVATE/prompt.md",
        ),
    ];
    for (name, _) in agents {
        world.scribe(name, SAYS_DONE);
        let words = ["ralph", "go", "--no-change", "--harness", name, "--model", "m", "--yolo", "--agent-arg", "--x"];
        world.wt(&words).exit(0);
    }
    let private = world.git(&world.root, &["rev-parse", "--absolute-git-dir"]) + "/wt-loop";
    let in_short = |line: &str| {
        let line = line.replace(&private, "PRIVATE");
        line.split_once("# Iteration").map_or(line.clone(), |(words, _)| format!("{words}PROMPT"))
    };
    let calls = world.calls();
    let lines: Vec<String> = calls.iter().map(|call| in_short(&call.line)).collect();
    assert_eq!(lines, agents.map(|(_, line)| line));
    for (call, line) in calls.iter().zip(&lines) {
        let elsewhere = line.ends_with("PROMPT") || line.ends_with("PRIVATE/prompt.md");
        assert_eq!(call.text().contains("# Iteration 1"), !elsewhere, "the prompt is on standard input: {line}");
    }
}

#[test]
fn nothing_is_approved_unless_asked_for() {
    let world = World::new();
    for name in ["claude", "codex", "opencode", "gemini", "pi"] {
        world.scribe(name, SAYS_DONE);
        world.wt(&["ralph", "go", "--no-change", "--harness", name]).exit(0);
    }
    let lines: Vec<String> = world.calls().into_iter().map(|call| call.line).collect();
    assert_eq!(
        lines,
        [
            "claude -p --output-format stream-json --verbose",
            "codex exec --json -",
            "opencode run --format json --print-logs --log-level ERROR",
            "gemini --skip-trust -o stream-json",
            "pi -p --mode json"
        ]
    );
}

#[test]
fn an_agent_learns_of_its_loop_from_its_environment() {
    let world = ito(&["001-01_x"], "true\n");
    let variables = [("CLAUDECODE", "1"), ("MY_KEY", "a secret")];
    world.wt_env(&variables, &["ralph", "go", "--change", "001", "--max", "2"]).exit(3);
    let calls = world.calls();
    for (call, n) in calls.iter().zip(["1", "2"]) {
        let told = |name: &str| call.environment.get(name).map(String::as_str);
        assert_eq!(told("WT_LOOP_RUN"), Some("1"));
        assert_eq!(told("WT_LOOP_RUN_ITERATION"), Some(n));
        assert_eq!(told("WT_LOOP_RUN_MAX"), Some("2"));
        assert_eq!(told("WT_LOOP_RUN_CHANGE"), Some("001-01_x"));
        assert_eq!(told("WT_LOOP_RUN_STATE"), world.root.join(".claude/loop-state.json").to_str());
        assert_eq!(told("PWD"), world.root.to_str());
        assert_eq!(told("MY_KEY"), Some("a secret"));
        assert_eq!(told("CLAUDECODE"), None);
    }
    assert_eq!(calls.len(), 2);
}
