//! An agent of the user's own: any program, described in the user's configuration.
//!
//! ```toml
//! [agents.mine]
//! command = ["my-agent", "--json"]
//! prompt = "stdin"                  # or "argument", or "file"
//! output = "claude"                 # or "text", "codex", "opencode", "gemini"
//! model = ["--model", "{}"]
//! allow_all = ["--yes"]
//! ```

use std::ffi::OsString;

use serde::{Deserialize, Serialize};

use super::{ALL, Agent, Output, Prompt, unknown};
use crate::config::{Approval, LoopSpec};
use crate::error::Result;

/// What stands for the model in the words that name it.
const MODEL: &str = "{}";

/// The description.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnAgent {
    /// What it is called: the key of its table.
    #[serde(default)]
    pub name: String,
    /// The program and its first arguments.
    pub command: Vec<String>,
    /// How it is given the prompt.
    #[serde(default)]
    pub prompt: OwnPrompt,
    /// What it prints.
    #[serde(default)]
    pub output: OwnOutput,
    /// The words that name a model; `{}` is the model.
    #[serde(default)]
    pub model: Vec<String>,
    /// The words that approve everything.
    #[serde(default)]
    pub allow_all: Vec<String>,
}

/// How it is given the prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OwnPrompt {
    /// On standard input.
    #[default]
    Stdin,
    /// As the last argument.
    Argument,
    /// As a file, named by the last argument.
    File,
}

impl OwnPrompt {
    /// The same for our agents.
    pub const fn handover(self) -> Prompt {
        match self {
            OwnPrompt::Stdin => Prompt::Stdin,
            OwnPrompt::Argument => Prompt::Argument(&[]),
            OwnPrompt::File => Prompt::File(&[]),
        }
    }
}

/// Whose output its own is like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OwnOutput {
    /// Plain text.
    #[default]
    Text,
    /// Claude's.
    Claude,
    /// Codex's.
    Codex,
    /// `OpenCode`'s.
    Opencode,
    /// Gemini's.
    Gemini,
}

impl OwnOutput {
    /// The same for our agents.
    pub fn decoded_as(self) -> Output {
        let like: &Agent = match self {
            OwnOutput::Text => return Output::Text,
            OwnOutput::Claude => &super::claude::AGENT,
            OwnOutput::Codex => &super::codex::AGENT,
            OwnOutput::Opencode => &super::opencode::AGENT,
            OwnOutput::Gemini => &super::gemini::AGENT,
        };
        like.output
    }
}

impl OwnAgent {
    /// The description of the agent of that name; none where it is one of ours that the user has not described anew.
    pub fn described(name: &str, all: Vec<Self>) -> Result<Option<Self>> {
        let ours = || ALL.iter().any(|agent| agent.name == name);
        match all.iter().position(|own| own.name == name) {
            Some(at) => Ok(all.into_iter().nth(at)),
            None if ours() => Ok(None),
            None => Err(unknown(name, &all)),
        }
    }

    /// The program.
    pub fn program(&self) -> &str {
        self.command.first().map_or("", String::as_str)
    }

    /// Its arguments, without the prompt.
    pub fn arguments(&self, spec: &LoopSpec) -> Vec<OsString> {
        let model = spec.model.iter().flat_map(|model| self.model.iter().map(move |word| word.replace(MODEL, model)));
        let approve = self.allow_all.iter().filter(|_| spec.approval == Approval::All).cloned();
        self.command.iter().skip(1).cloned().chain(model).chain(approve).map(OsString::from).collect()
    }
}
