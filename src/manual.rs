//! The manual pages, made from the clap tree: one for the program and one for each subcommand.
//!
//! What clap does not know stands here once and goes to the pages and to `--help`: examples, files, environment and exit codes.

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::config;
use crate::error::Exit;

/// The date of the pages: when the interface last changed.
const DATE: &str = "2026-11-16";

/// Commands to type, each with what it does.
type Examples = &'static [(&'static str, &'static str)];

const EXAMPLES: [(&str, Examples); 16] = [
    (
        "wt-loop",
        &[
            ("wt-loop demo", "see a whole loop in half a minute, at no cost"),
            ("wt-loop start \"Fix the login\" --max 10 --fullscreen", "start a loop in a terminal of its own"),
            ("wt-loop monitor", "watch it"),
            ("wt-loop list", "see all loops of all projects"),
        ],
    ),
    (
        "start",
        &[
            ("wt-loop start \"Fix the login\" --max 10", "at most ten iterations, done when tasks.md is"),
            ("wt-loop start feat-x \"Fix the login\"", "in the worktree feat-x, or on the change of that id"),
            ("wt-loop start --prompt-file plan.md --launcher background", "the task from a file, no terminal"),
            ("wt-loop start \"Try it\" --harness rehearsal", "with the built-in agent, at no cost"),
        ],
    ),
    (
        "run",
        &[
            ("wt-loop run \"Fix the login\" --max 3", "three iterations in this terminal"),
            ("wt-loop run \"Fix the login\" --dry-run", "the prompt and the command line, without running them"),
        ],
    ),
    (
        "stop",
        &[
            ("wt-loop stop", "end the loop of this worktree"),
            ("wt-loop stop feat-x", "end the loop of another worktree"),
            ("wt-loop stop --all", "end every loop"),
        ],
    ),
    (
        "status",
        &[
            ("wt-loop status", "the loop of this worktree"),
            ("wt-loop status --json | jq -r .status", "one word for a script"),
            ("wt-loop status --schema", "the JSON Schema of the state file"),
        ],
    ),
    (
        "history",
        &[
            ("wt-loop history --limit 5", "the last five iterations"),
            ("wt-loop history --json | jq '[.[].commits[]]'", "every commit of the loop"),
        ],
    ),
    (
        "monitor",
        &[
            ("wt-loop monitor", "follow the log until the loop ends"),
            ("wt-loop monitor --json | jq -r 'select(.event == \"end\").status'", "wait for the end in a script"),
        ],
    ),
    (
        "list",
        &[("wt-loop list", "the loops that run"), ("wt-loop list --all --json", "all that are known, for programs")],
    ),
    (
        "resume",
        &[
            ("wt-loop resume", "go on where the loop was stopped or killed"),
            ("wt-loop resume --max 20", "go on after the maximum was reached"),
        ],
    ),
    (
        "ralph",
        &[
            (
                "wt-loop ralph \"Add the endpoint\" --change 002-01_add-endpoint",
                "work on a change until its promise is proven",
            ),
            ("wt-loop ralph --change 002-01 --max 20", "the change alone, by a prefix of its id"),
            ("wt-loop ralph --module 002 --no-interactive", "every change of a module, one after the other"),
            ("wt-loop ralph --status --change 002-01", "what was done on a change so far"),
            ("wt-loop ralph --add-context \"Mind the tests\" --change 002-01", "told to the next iteration"),
        ],
    ),
    (
        "context",
        &[
            ("wt-loop context add \"Use the new API\"", "the next iteration reads it"),
            ("wt-loop context show", "what iterations are told"),
            ("wt-loop context clear", "forget it"),
        ],
    ),
    (
        "validate",
        &[
            ("wt-loop validate --list", "what a claim of completion would have to pass"),
            ("wt-loop validate && wt-loop start \"the next task\"", "see it pass before a night's run"),
            (
                "wt-loop validate --change 002-01 --validation-command 'make lint'",
                "for a change, with one command more",
            ),
        ],
    ),
    ("doctor", &[("wt-loop doctor", "what is there and what is missing")]),
    ("demo", &[("wt-loop demo", "a real loop on a scratch repository")]),
    (
        "completions",
        &[
            ("wt-loop completions bash > ~/.local/share/bash-completion/completions/wt-loop", "for bash"),
            ("wt-loop completions fish > ~/.config/fish/completions/wt-loop.fish", "for fish"),
        ],
    ),
    ("man", &[("wt-loop man start | man -l -", "read the page of start")]),
];

const FILES: [(&str, &str); 8] = [
    (".claude/loop-state.json", "the state of the worktree's loop; its format is printed by wt-loop status --schema"),
    (".claude/ralph-loop.log", "all output of all iterations; the logs of three earlier loops are kept as .1 to .3"),
    (".claude/ralph-terminal.pid", "the pid of the loop process, as long as it runs"),
    (".claude/ralph-context.md", "the context of a loop without a change"),
    (".wt-loop.toml", "settings of the repository: numbers, thresholds, times, criterion, promise, model, validation"),
    ("$XDG_CONFIG_HOME/wt-loop/config.toml", "settings of the user: any option, and prompt_template"),
    ("$XDG_STATE_HOME/wt-loop/", "the user's own records of loops"),
    ("tasks.md", "the tasks, at the root of the worktree or up to three levels below it"),
];

const SET_FOR_THE_AGENT: [(&str, &str); 5] = [
    ("WT_LOOP_RUN", "1 inside a loop"),
    ("WT_LOOP_RUN_ITERATION", "the number of the iteration"),
    ("WT_LOOP_RUN_MAX", "the maximum, 0 where there is none"),
    ("WT_LOOP_RUN_STATE", "the path of the state file"),
    ("WT_LOOP_RUN_CHANGE", "the change worked on, empty where there is none"),
];

/// The names of all pages, as `wt-loop man` takes them.
pub fn pages() -> Vec<String> {
    let tree = crate::cli::command();
    let subs = tree.get_subcommands().filter(|sub| !sub.is_hide_set()).map(|sub| sub.get_name().to_owned());
    std::iter::once("wt-loop".to_owned()).chain(subs).collect()
}

/// The examples of a page for `--help`.
pub fn examples_help(name: &str) -> Option<String> {
    let examples = examples(name)?;
    let lines = examples.iter().map(|(command, what)| format!("  {command}\n      {what}"));
    Some(format!("Examples:\n{}", lines.collect::<Vec<_>>().join("\n")))
}

/// One manual page; `None` for a name that has none.
pub fn page(name: &str) -> Option<String> {
    let name = name.strip_prefix("wt-loop-").unwrap_or(name);
    let mut tree = crate::cli::command();
    tree.build();
    let (command, title) = match name {
        "wt-loop" => (tree, "wt-loop".to_owned()),
        sub => (tree.find_subcommand(sub)?.clone().display_name(format!("wt-loop-{sub}")), format!("wt-loop-{sub}")),
    };
    let command = command.after_help("").disable_help_subcommand(true);
    let mut out = Vec::new();
    render(&command, &title, name, &mut out).ok()?;
    Some(tidy(&String::from_utf8_lossy(&out)))
}

fn render(command: &Command, title: &str, name: &str, out: &mut Vec<u8>) -> std::io::Result<()> {
    let version = format!("wt-loop {}", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone()).title(title.to_uppercase()).date(DATE).source(version).manual("User Commands");
    man.render_title(out)?;
    man.render_name_section(out)?;
    man.render_synopsis_section(out)?;
    man.render_description_section(out)?;
    man.render_options_section(out)?;
    if name == "wt-loop" {
        man.render_subcommands_section(out)?;
    }
    let mut roff = Roff::new();
    listing(&mut roff, "EXAMPLES", examples(name).unwrap_or_default());
    listing(&mut roff, "FILES", &FILES);
    environment(&mut roff);
    let codes: Vec<(String, &str)> = Exit::TABLE.iter().map(|(exit, what)| (exit.code().to_string(), *what)).collect();
    listing(&mut roff, "EXIT STATUS", &codes);
    see_also(&mut roff, name);
    roff.to_writer(out)
}

fn environment(roff: &mut Roff) {
    roff.control("SH", ["ENVIRONMENT"]);
    roff.text([roman("Every option of a loop can also be given as a variable; a flag wins over it:")]);
    let names: Vec<String> = config::keys().iter().map(|key| config::variable(key)).collect();
    roff.text([roman(format!("{}.", names.join(", ")))]);
    roff.control("PP", []);
    roff.text([roman("NO_COLOR and CLICOLOR_FORCE turn colour off and on. The agent finds in its environment:")]);
    entries(roff, &SET_FOR_THE_AGENT);
}

fn see_also(roff: &mut Roff, name: &str) {
    roff.control("SH", ["SEE ALSO"]);
    let pages = pages();
    let others: Vec<String> = pages
        .iter()
        .filter(|page| *page != name)
        .map(|page| if page == "wt-loop" { "wt-loop(1)".to_owned() } else { format!("wt-loop-{page}(1)") })
        .collect();
    roff.text([roman(others.join(", "))]);
}

fn listing(roff: &mut Roff, heading: &str, of: &[(impl AsRef<str>, impl AsRef<str>)]) {
    roff.control("SH", [heading]);
    entries(roff, of);
}

fn entries(roff: &mut Roff, of: &[(impl AsRef<str>, impl AsRef<str>)]) {
    for (term, what) in of {
        roff.control("TP", []);
        roff.text([bold(term.as_ref())]);
        roff.text([roman(what.as_ref())]);
    }
}

fn examples(name: &str) -> Option<Examples> {
    EXAMPLES.iter().find(|(page, _)| *page == name).map(|(_, examples)| *examples)
}

/// Takes out what the renderer leaves and `mandoc` warns of: blanks at line ends, a break after a space.
fn tidy(page: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for line in page.lines().map(str::trim_end) {
        let after_space =
            lines.last().is_some_and(|last| matches!(*last, ".sp" | ".PP" | ".br") || last.starts_with(".SH"));
        if line.is_empty() || (line == ".br" && after_space) {
            continue;
        }
        lines.push(line);
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subcommand_has_a_page_with_examples() {
        for name in pages() {
            let page = page(&name).unwrap();
            for section in ["NAME", "SYNOPSIS", "EXAMPLES", "FILES", "ENVIRONMENT", "EXIT STATUS"] {
                assert!(
                    page.contains(&format!(".SH {section}")) || page.contains(&format!(".SH \"{section}\"")),
                    "{name} {section}"
                );
            }
            assert!(examples(&name).is_some_and(|examples| !examples.is_empty()), "{name}");
        }
        assert_eq!(pages().len(), EXAMPLES.len());
    }
}
