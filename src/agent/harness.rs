//! The agent of a loop: how it is called for a prompt, and what it tells, whoever described it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::event::{Decoder, Failure, Remedy, Usage};
use super::own::OwnAgent;
use super::{ALL, Agent, Cumulative, Output, Program, Prompt, Session, Wish, words};
use crate::config::LoopSpec;
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::worktree::Worktree;

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

/// Where the files of one run are, out of the user's sight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrivateFiles {
    /// The prompt, for an agent that reads it from a file.
    pub prompt: PathBuf,
    /// What the agent used, for one that tells it in a file.
    pub usage: PathBuf,
}

impl PrivateFiles {
    /// Those of a loop in this worktree.
    pub fn of(worktree: &Worktree) -> Self {
        Self { prompt: worktree.prompt_file(), usage: worktree.usage_file() }
    }
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

    /// The exact command line for a prompt. `files` are those of an agent that wants some.
    pub fn invocation(
        &self,
        spec: &LoopSpec,
        program: PathBuf,
        session: Option<&str>,
        prompt: &[u8],
        files: &PrivateFiles,
    ) -> Invocation {
        let extra = spec.agent_args.iter().map(OsString::from);
        let wish = Wish {
            model: spec.model.as_deref(),
            approval: spec.approval,
            promise: spec.promise.as_deref(),
            layout: &spec.layout,
            // It comes from the agent's output, or from a state file: it must not become an option of the agent.
            session: session.filter(|id| !id.starts_with('-')),
        };
        let (mut args, words) = match self {
            Harness::Ours(agent) => ((agent.arguments)(&wish), agent.prompt),
            Harness::Own(own) => (own.arguments(spec), own.prompt.handover()),
        };
        if let Some(usage) = self.output().usage_file() {
            args.extend([usage.flag.into(), files.usage.clone().into()]);
        }
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
                args.extend(with(words, files.prompt.clone().into()));
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
        match self.output() {
            Output::Text => None,
            Output::Json(decoder) | Output::JsonAndUsage(decoder, _) => Some(decoder()),
        }
    }

    /// What it used, as its file says, where it tells so in one.
    pub fn usage(&self, file: &[u8]) -> Option<Usage> {
        let told: Value = serde_json::from_slice(file).ok()?;
        self.output().usage_file().map(|usage| (usage.read)(&told))
    }

    fn output(&self) -> Output {
        match self {
            Harness::Ours(agent) => agent.output,
            Harness::Own(own) => own.output.decoded_as(),
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
