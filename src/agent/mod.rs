//! The agents: how each is called. One file each, one line in [`ALL`].
//!
//! An agent gets its prompt on standard input, so that it may have any size. We pass nothing that hides the user's own
//! settings of the agent, and never write into its files.

mod claude;
mod codex;
mod gemini;
mod opencode;
mod pi;
pub mod rehearsal;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::config::{Approval, LoopSpec};
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::nearest::nearest;
use crate::process::own_program;

/// Every agent, the default one first.
pub const ALL: [&Agent; 6] =
    [&claude::AGENT, &codex::AGENT, &opencode::AGENT, &gemini::AGENT, &pi::AGENT, &rehearsal::AGENT];

/// One agent: a program and the words it wants.
pub struct Agent {
    /// What it is called by `--harness`.
    pub name: &'static str,
    /// The program it is.
    pub program: Program,
    /// Its arguments for a run without a person.
    arguments: fn(&Wish) -> Vec<OsString>,
}

/// Where an agent's program comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// From PATH.
    Named(&'static str),
    /// It is this program.
    BuiltIn,
}

/// What is wished of an agent.
struct Wish<'a> {
    model: Option<&'a str>,
    approval: Approval,
    promise: Option<&'a str>,
    layout: &'a str,
}

/// The exact command line of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// The program, as an absolute path.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
}

impl Agent {
    /// The agent of that name.
    pub fn named(name: &str) -> Result<&'static Self> {
        ALL.into_iter().find(|agent| agent.name == name).ok_or_else(|| {
            let names: Vec<&str> = ALL.iter().map(|agent| agent.name).collect();
            let error = Error::usage(format!("no agent called '{name}'; known: {}", names.join(", ")));
            match nearest(name, names) {
                Some(near) => error.hint(format!("did you mean --harness {near}?")),
                None => error,
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

    /// The exact command line for a loop.
    pub fn invocation(&self, spec: &LoopSpec, env: &Environment, cwd: &Path) -> Result<Invocation> {
        let program = self.locate(env, cwd).ok_or_else(|| self.missing(env, cwd))?;
        let promise = spec.promise.as_deref();
        let mut args = (self.arguments)(&Wish {
            model: spec.model.as_deref(),
            approval: spec.approval,
            promise,
            layout: &spec.layout,
        });
        args.extend(spec.agent_args.iter().map(OsString::from));
        Ok(Invocation { program, args })
    }

    fn missing(&self, env: &Environment, cwd: &Path) -> Error {
        let installed = |agent: &&&Agent| agent.program != Program::BuiltIn && agent.locate(env, cwd).is_some();
        let found: Vec<&str> = ALL.iter().filter(installed).map(|agent| agent.name).collect();
        let error = Error::new(match found.as_slice() {
            [] => format!("no agent called '{}' on PATH, nor any other", self.name),
            found => format!("no agent called '{}' on PATH; found: {}", self.name, found.join(", ")),
        });
        match found.first() {
            Some(other) => error.hint(format!("--harness {other}")),
            None => error.hint("--harness rehearsal tries things out at no cost; wt-loop doctor tells what is missing"),
        }
    }
}

impl Wish<'_> {
    /// The flag and the model, where one is wished.
    fn model(&self, flag: &str) -> Vec<OsString> {
        self.model.map(|model| vec![flag.into(), model.into()]).unwrap_or_default()
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
fn words(always: &[&str], wished: [Vec<OsString>; 2]) -> Vec<OsString> {
    always.iter().map(OsString::from).chain(wished.into_iter().flatten()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_agent_gets_the_words_that_its_makers_document() {
        let line = |name: &str, approval, model| {
            let agent = Agent::named(name).unwrap();
            let args = (agent.arguments)(&Wish { model, approval, promise: None, layout: "plain" });
            args.iter().map(|arg| arg.to_str().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
        };
        for (name, plain, full) in [
            ("claude", "-p", "-p --model m --dangerously-skip-permissions"),
            ("codex", "exec -", "exec - -m m --dangerously-bypass-approvals-and-sandbox"),
            ("opencode", "run", "run -m m --auto"),
            ("gemini", "--skip-trust", "--skip-trust -m m -y"),
            ("pi", "-p", "-p --model m"),
        ] {
            assert_eq!(line(name, Approval::Agent, None), plain);
            assert_eq!(line(name, Approval::All, Some("m")), full);
        }
    }

    #[test]
    fn an_unknown_agent_is_wrong_usage_with_the_nearest_name() {
        let error = Agent::named("cluade").err().unwrap();
        assert_eq!(error.exit(), crate::error::Exit::Usage);
        assert_eq!(error.hints(), ["did you mean --harness claude?"]);
    }
}
