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

use crate::config::{Approval, LoopSpec};
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::nearest::nearest;
use crate::process::own_program;
use event::{Decoder, Event, Failure, Remedy};
use own::OwnAgent;

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

/// The exact command line of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// The program, as an absolute path.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// What goes to its standard input.
    pub input: Vec<u8>,
}

/// The agent of a loop: one of ours, or one of the user's own.
pub enum Harness {
    /// One of [`ALL`].
    Ours(&'static Agent),
    /// From the user's configuration.
    Own(OwnAgent),
}

impl Harness {
    /// The agent that a loop names.
    pub fn of(spec: &LoopSpec) -> Result<Self> {
        match &spec.own_agent {
            Some(own) => Ok(Harness::Own(own.clone())),
            None => Agent::named(&spec.harness).map(Harness::Ours),
        }
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        match self {
            Harness::Ours(agent) => agent.name,
            Harness::Own(own) => &own.name,
        }
    }

    /// Where its program is, by the PATH of the user's shell.
    pub fn locate(&self, env: &Environment, cwd: &Path) -> Result<PathBuf> {
        let found = match self {
            Harness::Ours(agent) => agent.locate(env, cwd),
            Harness::Own(own) => which::which_in(own.program(), env.get("PATH"), cwd).ok(),
        };
        found.ok_or_else(|| match self {
            Harness::Ours(agent) => missing(agent.name, env, cwd),
            Harness::Own(own) => Error::new(format!(
                "{} is not on PATH; your own config.toml names it as the agent {}",
                own.program(),
                own.name
            ))
            .hint("wt-loop doctor"),
        })
    }

    /// The exact command line for a prompt. `file` is where a prompt is put for an agent that wants one.
    pub fn invocation(
        &self,
        spec: &LoopSpec,
        program: PathBuf,
        session: Option<&str>,
        prompt: &[u8],
        file: &Path,
    ) -> Invocation {
        let extra = spec.agent_args.iter().map(OsString::from);
        let wish = Wish {
            model: spec.model.as_deref(),
            approval: spec.approval,
            promise: spec.promise.as_deref(),
            layout: &spec.layout,
            session,
        };
        let (mut args, words) = match self {
            Harness::Ours(agent) => ((agent.arguments)(&wish), agent.prompt),
            Harness::Own(own) => (own.arguments(spec), own.prompt.handover()),
        };
        args.extend(extra);
        let with = |words: &[&str], last: OsString| words.iter().map(OsString::from).chain([last]).collect::<Vec<_>>();
        let input = match words {
            Prompt::Stdin => prompt.to_vec(),
            Prompt::StdinAnd(word) => {
                args.push(word.into());
                prompt.to_vec()
            }
            Prompt::Argument(words) => {
                args.extend(with(words, <OsString as std::os::unix::ffi::OsStringExt>::from_vec(prompt.to_vec())));
                Vec::new()
            }
            Prompt::File(words) => {
                args.extend(with(words, file.into()));
                Vec::new()
            }
        };
        Invocation { program, args, input }
    }

    /// Whether it reads its prompt from a file.
    pub fn wants_file(&self) -> bool {
        let prompt = match self {
            Harness::Ours(agent) => agent.prompt,
            Harness::Own(own) => own.prompt.handover(),
        };
        matches!(prompt, Prompt::File(_))
    }

    /// A decoder for one run of it; `None` where it prints plain text.
    pub fn decoder(&self) -> Option<Box<dyn Decoder>> {
        let output = match self {
            Harness::Ours(agent) => agent.output,
            Harness::Own(own) => own.output.decoded_as(),
        };
        match output {
            Output::Text => None,
            Output::Json(decoder) => Some(decoder()),
        }
    }

    /// A failure of an agent that is too old, with the version that is known to do.
    pub fn with_version_wanted(&self, failure: Failure) -> Failure {
        match self {
            Harness::Ours(agent) if failure.remedy == Remedy::User(words::OLD) && !agent.version.is_empty() => {
                Failure {
                    words: format!("{} ({} {} is known to do)", failure.words, agent.name, agent.version),
                    ..failure
                }
            }
            _ => failure,
        }
    }

    /// What it counts from the beginning of a session.
    pub fn cumulative(&self) -> Cumulative {
        match self {
            Harness::Ours(agent) => agent.cumulative,
            Harness::Own(_) => Cumulative::Nothing,
        }
    }

    /// Whether it can go on in a session of its own.
    pub fn session(&self) -> Session {
        match self {
            Harness::Ours(agent) => agent.session,
            Harness::Own(_) => Session::None,
        }
    }
}

impl Agent {
    /// The agent of that name.
    pub fn named(name: &str) -> Result<&'static Self> {
        ALL.into_iter().find(|agent| agent.name == name).ok_or_else(|| {
            let names: Vec<&str> = ALL.iter().map(|agent| agent.name).collect();
            let error = Error::usage(format!("no agent called '{name}'; known: {}", names.join(", ")));
            match nearest(name, names) {
                Some(near) => error.hint(format!("did you mean --harness {near}?")),
                None => error.hint("describe it in your own config.toml as [agents.NAME]; see wt-loop man agents"),
            }
        })
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
        let args = (self.arguments)(&wish);
        let args: Vec<String> = args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
        let prompt = match self.prompt {
            Prompt::Stdin => "< PROMPT".to_owned(),
            Prompt::StdinAnd(word) => format!("{} < PROMPT", crate::plan::shell_word(word)),
            Prompt::Argument(words) => [words, &["PROMPT"]].concat().join(" "),
            Prompt::File(words) => [words, &["FILE"]].concat().join(" "),
        };
        match self.program {
            Program::Named(name) => format!("{name} {} {prompt}", args.join(" ")),
            Program::BuiltIn => "built in".to_owned(),
        }
    }
}

/// What the standard error of an agent that never began to work says: a limit or a failure that is the user's to mend, if it is one.
pub fn judge_stderr(text: &str) -> Option<Event> {
    let said = text.lines().rev().map(str::trim).filter(|line| !line.is_empty()).take(5);
    let judged = said.map(|line| words::judge(line, None, jiff::Timestamp::now()));
    let is_telling =
        |event: &Event| matches!(event, Event::Limit(_) | Event::Failed(Failure { remedy: Remedy::User(_), .. }));
    judged.into_iter().find(is_telling)
}

fn missing(name: &str, env: &Environment, cwd: &Path) -> Error {
    let installed = |agent: &&&Agent| agent.program != Program::BuiltIn && agent.locate(env, cwd).is_some();
    let found: Vec<&str> = ALL.iter().filter(installed).map(|agent| agent.name).collect();
    let error = Error::new(match found.as_slice() {
        [] => format!("no agent called '{name}' on PATH, nor any other"),
        found => format!("no agent called '{name}' on PATH; found: {}", found.join(", ")),
    });
    match found.first() {
        Some(other) => error.hint(format!("--harness {other}")),
        None => error.hint("--harness rehearsal tries things out at no cost; wt-loop doctor tells what is missing"),
    }
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
            ("opencode", "run --format json", "run --format json -m m --auto -s s"),
            ("gemini", "--skip-trust -o stream-json", "--skip-trust -o stream-json -m m -y -r latest"),
            ("pi", "-p --mode json", "-p --mode json --model m --session s"),
            (
                "copilot",
                "--no-ask-user --output-format json",
                "--no-ask-user --output-format json --model m --yolo --resume s",
            ),
            ("qwen", "-o stream-json", "-o stream-json -m m -y -r s"),
            ("kilo", "run --format json", "run --format json -m m --auto -s s"),
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
    fn an_unknown_agent_is_wrong_usage_with_the_nearest_name() {
        let error = Agent::named("cluade").err().unwrap();
        assert_eq!(error.exit(), crate::error::Exit::Usage);
        assert_eq!(error.hints(), ["did you mean --harness claude?"]);
    }
}
