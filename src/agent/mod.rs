//! The agents: how each is called, and how its output is read. One file each, one line in [`ALL`].
//!
//! An agent gets its prompt on standard input wherever it takes it there, so that it may have any size, and is asked for its
//! machine-readable output, so that what it says is apart from what its tools print. We pass nothing that hides the user's
//! own settings of the agent, and never write into its files. A program that has no file here can be described in the user's
//! configuration ([`own`]).

mod aider;
mod amp;
mod claude;
mod cline;
mod codex;
mod copilot;
mod cursor;
mod droid;
pub mod event;
mod gemini;
mod grok;
pub mod harness;
mod kilo;
mod kimi;
mod opencode;
pub mod own;
mod pi;
mod qwen;
pub mod reader;
#[cfg(test)]
mod recording_tests;
pub mod rehearsal;
mod reset;
mod shape_claude;
mod words;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::config::Approval;
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::nearest::nearest;
use crate::process::own_program;
use event::{Decoder, Event, Failure, Remedy, Usage};
pub use harness::{Harness, Invocation, PrivateFiles};
use own::OwnAgent;
use serde_json::Value;

/// Every agent, the default one first.
pub const ALL: [&Agent; 16] = [
    &claude::AGENT,
    &codex::AGENT,
    &opencode::AGENT,
    &gemini::AGENT,
    &pi::AGENT,
    &copilot::AGENT,
    &qwen::AGENT,
    &kilo::AGENT,
    &droid::AGENT,
    &cline::AGENT,
    &grok::AGENT,
    &kimi::AGENT,
    &amp::AGENT,
    &cursor::AGENT,
    &aider::AGENT,
    &rehearsal::AGENT,
];

/// One agent: a program, the words it wants, and what it prints.
pub struct Agent {
    /// What it is called by `--harness`.
    pub name: &'static str,
    /// The program it is.
    pub program: Program,
    /// Its arguments for a run without a person, without the prompt.
    arguments: fn(&Wish) -> Vec<OsString>,
    /// How it is given the prompt.
    pub prompt: Prompt,
    /// What it prints.
    output: Output,
    /// Whether it can go on in a session of its own.
    pub session: Session,
    /// What it counts from the beginning of a session that it goes on in.
    cumulative: Cumulative,
    /// The version that what this file says was found out with; empty where there is none to name.
    pub version: &'static str,
    /// What tells, without a call, that somebody is logged in.
    login: &'static [Sign],
    /// How what this file says was found out.
    pub tested: Tested,
}

/// Where an agent's program comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// From PATH.
    Named(&'static str),
    /// It is this program.
    BuiltIn,
}

/// How an agent is given its prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prompt {
    /// On standard input: any size.
    Stdin,
    /// On standard input, with an argument that says so.
    StdinAnd(&'static str),
    /// As an argument after these words: at most 128 KiB, the system's limit for one.
    Argument(&'static [&'static str]),
    /// In a private file, named after these words.
    File(&'static [&'static str]),
}

/// What an agent prints.
#[derive(Clone, Copy)]
pub enum Output {
    /// Text, all of which it says.
    Text,
    /// JSON events, a line each, for this decoder.
    Json(fn() -> Box<dyn Decoder>),
    /// The same, and what it used in a file.
    JsonAndUsage(fn() -> Box<dyn Decoder>, UsageFile),
}

/// A private file in which an agent tells at its end what it used.
#[derive(Clone, Copy)]
pub struct UsageFile {
    /// The flag that names the file.
    flag: &'static str,
    /// What the file says.
    read: fn(&Value) -> Usage,
}

/// How an agent goes on in an earlier session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Session {
    /// It cannot, or we do not know how.
    None,
    /// By the id that it told.
    ById,
    /// Only in the last one of this folder.
    Last,
}

/// Something that is there when somebody is logged in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// A variable with a key.
    Variable(&'static str),
    /// A file below the home directory.
    File(&'static str),
}

/// What an agent counts from the beginning of a session that it goes on in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cumulative {
    /// Each run is counted by itself.
    Nothing,
    /// The cost is that of the session.
    Cost,
    /// Everything is.
    All,
}

/// How what we know of an agent was found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tested {
    /// Whole loops with the real program, against a model API of our own.
    RealProgram,
    /// Its recorded output; the real program is not part of the tests.
    Recording,
    /// Only its documentation.
    HelpOnly,
}

impl Tested {
    /// In words, for the manual.
    pub const fn words(self) -> &'static str {
        match self {
            Tested::RealProgram => "the real program",
            Tested::Recording => "recorded output, untested against the real program",
            Tested::HelpOnly => "its documentation only, untested",
        }
    }
}

/// What is wished of an agent.
#[derive(Clone, Copy)]
struct Wish<'a> {
    model: Option<&'a str>,
    approval: Approval,
    promise: Option<&'a str>,
    layout: &'a str,
    session: Option<&'a str>,
}

impl Agent {
    /// The agent of that name.
    pub fn named(name: &str) -> Result<&'static Self> {
        ALL.into_iter().find(|agent| agent.name == name).ok_or_else(|| unknown(name, &[]))
    }

    /// Where its program is, by the PATH of the user's shell.
    pub fn locate(&self, env: &Environment, cwd: &Path) -> Option<PathBuf> {
        match self.program {
            Program::BuiltIn => own_program().ok(),
            Program::Named(name) => which::which_in(name, env.get("PATH"), cwd).ok(),
        }
    }

    /// Whether somebody seems to be logged in; `None` where that cannot be told without a call.
    pub fn seems_logged_in(&self, env: &Environment) -> Option<bool> {
        let there = |sign: &Sign| match sign {
            Sign::Variable(name) => env.has(name),
            Sign::File(path) => env.home().join(path).is_file(),
        };
        (!self.login.is_empty()).then(|| self.login.iter().any(there))
    }

    /// Its command line without a prompt, for the manual: with a model and with every tool approved.
    pub fn example(&self) -> String {
        let wish =
            Wish { model: Some("MODEL"), approval: Approval::All, promise: None, layout: "plain", session: None };
        let usage_file = self.output.usage_file().map(|file| [file.flag.into(), "FILE".into()]);
        let args: Vec<OsString> = (self.arguments)(&wish).into_iter().chain(usage_file.into_iter().flatten()).collect();
        let args: Vec<String> = args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
        let prompt = match self.prompt {
            Prompt::Stdin => "< PROMPT".to_owned(),
            Prompt::StdinAnd(word) => format!("{} < PROMPT", crate::shell::word(word)),
            Prompt::Argument(words) => [words, &["PROMPT"]].concat().join(" "),
            Prompt::File(words) => [words, &["FILE"]].concat().join(" "),
        };
        match self.program {
            Program::Named(name) => format!("{name} {} {prompt}", args.join(" ")),
            Program::BuiltIn => "built in".to_owned(),
        }
    }
}

impl Output {
    /// Where it tells what it used, if not in its output.
    const fn usage_file(self) -> Option<UsageFile> {
        match self {
            Output::JsonAndUsage(_, file) => Some(file),
            Output::Text | Output::Json(_) => None,
        }
    }
}

/// No agent has that name: neither one of ours nor one of the user's own.
fn unknown(name: &str, own: &[OwnAgent]) -> Error {
    let names = || ALL.iter().map(|agent| agent.name).chain(own.iter().map(|own| own.name.as_str()));
    let known: Vec<&str> = names().collect();
    let error = Error::usage(format!("no agent called '{name}'; known: {}", known.join(", ")));
    match nearest(name, names()) {
        Some(near) => error.hint(format!("did you mean --harness {near}?")),
        None => error.hint("describe it in your own config.toml as [agents.NAME]; see wt-loop man agents"),
    }
}

/// What the standard error of an agent that never began to work says: a limit or a failure that is the user's to mend, if it is one.
pub fn judge_stderr(text: &str) -> Option<Event> {
    let said = text.lines().rev().map(str::trim).filter(|line| !line.is_empty()).take(5);
    said.map(|line| words::judge(line, None, jiff::Timestamp::now())).find(is_telling)
}

/// What the agent's log, on its standard error, says of a failure that names its mark there: `ref=err_1 error="the words" …`.
pub fn judge_log(failure: &Failure, stderr: &str) -> Option<Event> {
    let mark = failure.in_log.as_deref()?;
    let line = stderr.lines().rfind(|line| line.contains(mark))?;
    let (words, _) = line.split_once("error=\"")?.1.split_once('"')?;
    Some(words::judge(words, None, jiff::Timestamp::now())).filter(is_telling)
}

/// Whether it is more than a failure that another try may mend.
fn is_telling(event: &Event) -> bool {
    matches!(event, Event::Limit(_) | Event::Failed(Failure { remedy: Remedy::User(_), .. }))
}

impl Wish<'_> {
    /// The flag and the model, where one is wished.
    fn model(&self, flag: &str) -> Vec<OsString> {
        self.model.map(|model| vec![flag.into(), model.into()]).unwrap_or_default()
    }

    /// The flag and the session, where one is gone on in.
    fn session(&self, flag: &str) -> Vec<OsString> {
        self.session.map(|id| vec![flag.into(), id.into()]).unwrap_or_default()
    }

    /// The words for going on in the last session, where one is gone on in.
    fn last_session(&self, words: &[&str]) -> Vec<OsString> {
        self.session.map(|_| words.iter().map(OsString::from).collect()).unwrap_or_default()
    }

    /// The agent's own words for approving everything, where that is wished.
    fn approve(&self, words: &[&str]) -> Vec<OsString> {
        match self.approval {
            Approval::All => words.iter().map(OsString::from).collect(),
            Approval::Agent => Vec::new(),
        }
    }
}

/// The words that an agent always wants, then what is wished.
fn words<const N: usize>(always: &[&str], wished: [Vec<OsString>; N]) -> Vec<OsString> {
    always.iter().map(OsString::from).chain(wished.into_iter().flatten()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_agent_gets_the_words_that_its_makers_document() {
        let line = |name: &str, approval, model, session| {
            let agent = Agent::named(name).unwrap();
            let args = (agent.arguments)(&Wish { model, approval, promise: None, layout: "plain", session });
            args.iter().map(|arg| arg.to_str().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
        };
        let claude = "-p --output-format stream-json --verbose";
        for (name, plain, full) in [
            (
                "claude",
                claude,
                "-p --output-format stream-json --verbose --model m --dangerously-skip-permissions --resume s",
            ),
            ("codex", "exec --json", "exec resume --json -m m --dangerously-bypass-approvals-and-sandbox s"),
            (
                "opencode",
                "run --format json --print-logs --log-level ERROR",
                "run --format json --print-logs --log-level ERROR -m m --auto -s s",
            ),
            ("gemini", "--skip-trust -o stream-json", "--skip-trust -o stream-json -m m -y -r latest"),
            ("pi", "-p --mode json", "-p --mode json --model m --session s"),
            (
                "copilot",
                "--no-ask-user --output-format json",
                "--no-ask-user --output-format json --model m --yolo --resume s",
            ),
            ("qwen", "-o stream-json", "-o stream-json -m m -y -r s"),
            (
                "kilo",
                "run --format json --print-logs --log-level ERROR",
                "run --format json --print-logs --log-level ERROR -m m --auto -s s",
            ),
            ("droid", "exec -o stream-json", "exec -o stream-json -m m --skip-permissions-unsafe -s s"),
            ("cline", "--json", "--json -m m --id s"),
            (
                "grok",
                "--output-format streaming-messages-json",
                "--output-format streaming-messages-json -m m --always-approve",
            ),
            ("kimi", "--output-format stream-json", "--output-format stream-json"),
            ("amp", "-x --stream-json", "-x --stream-json --dangerously-allow-all"),
            ("cursor-agent", "-p --output-format stream-json", "-p --output-format stream-json --model m --force"),
        ] {
            assert_eq!(line(name, Approval::Agent, None, None), plain);
            assert_eq!(line(name, Approval::All, Some("m"), Some("s")), full);
        }
    }

    #[test]
    fn a_failure_is_told_in_the_words_of_the_log_that_it_points_to() {
        let failure = |mark: Option<&str>| Failure {
            words: "Unexpected server error".into(),
            remedy: Remedy::Retry,
            in_log: mark.map(str::to_owned),
        };
        let log = "level=ERROR ref=err_1 error=\"Model not found: a/b.\" cause=\"a \\\"b\\\"\"\nlevel=ERROR ref=err_2 error=\"x\"\n";
        let told = |mark| match judge_log(&failure(mark), log) {
            Some(Event::Failed(failure)) => Some(failure.words),
            _ => None,
        };
        assert_eq!(told(Some("err_1")).as_deref(), Some("Model not found: a/b."));
        assert_eq!([told(Some("err_2")), told(Some("err_3")), told(None)], [None, None, None]);
    }

    #[test]
    fn an_unknown_agent_is_wrong_usage_with_the_nearest_name() {
        let error = Agent::named("cluade").err().unwrap();
        assert_eq!(error.exit(), crate::error::Exit::Usage);
        assert_eq!(error.hints(), ["did you mean --harness claude?"]);
    }
}
