//! What one source says of a loop's options: the environment, or a file of the repository or the user.
//!
//! The parser of the command line reads them all, so that a flag, a variable and a line of a file mean the same.

use std::path::{Path, PathBuf};

use clap::{ArgMatches, Args, Command, FromArgMatches};
use toml::{Table, Value};

use super::REPOSITORY_FILE;
use crate::agent::own::OwnAgent;
use crate::environment::Environment;
use crate::error::{Doing, Error, Result};
use crate::files;
use crate::gates::sources::{VALIDATION, place};
use crate::launch::own::OwnTerminal;
use crate::options::{LaunchOptions, LoopOptions};

/// The keys that a repository may set: numbers, thresholds, times, the criterion, the promise and the model.
pub(crate) const HARMLESS: [&str; 13] = [
    "model",
    "max",
    "min",
    "done",
    "completion_promise",
    "stall_threshold",
    "progress",
    "iteration_timeout",
    "idle_timeout",
    "max_time",
    "limit_wait",
    "validation_timeout",
    "error_threshold",
];

/// A flag that has no key of its own: `notify = false` says it.
const SAID_BY_NOTIFY: &str = "no_notify";

/// The key of the user's own agents.
const AGENTS: &str = "agents";
/// The key of the user's own terminals.
const TERMINALS: &str = "terminals";

/// Whose file it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    Repository,
    User,
}

/// What one source says.
#[derive(Default)]
pub(crate) struct Layer {
    pub(crate) options: LoopOptions,
    pub(crate) launch: LaunchOptions,
    pub(crate) prompt_template: Option<PathBuf>,
    pub(crate) own_agents: Vec<OwnAgent>,
    pub(crate) own_terminals: Vec<OwnTerminal>,
}

impl Layer {
    pub(crate) fn from_environment(env: &Environment) -> Result<Self> {
        let mut words = Vec::new();
        for key in keys() {
            let variable = variable(&key);
            if let Some(value) = env.get(&variable).and_then(|value| value.to_str()).filter(|value| !value.is_empty()) {
                words.push((variable, key, value.to_owned()));
            }
        }
        Self::from_words(&words)
    }

    pub(crate) fn from_file(path: &Path, trust: Trust) -> Result<Self> {
        let read = match trust {
            Trust::Repository => files::read(path),
            Trust::User => files::read_users_own(path),
        };
        let Some(bytes) = read.doing("read", path)? else { return Ok(Self::default()) };
        let text =
            String::from_utf8(bytes).map_err(|_| Error::usage(format!("{}: it is not UTF-8", path.display())))?;
        Self::from_text(&text, path, trust)
    }

    /// What a text says that was read from `path`.
    pub(crate) fn from_text(text: &str, path: &Path, trust: Trust) -> Result<Self> {
        let wrong = |what: String| Error::usage(format!("{}: {what}", path.display()));
        let mut table: Table = text.parse().map_err(|error: toml::de::Error| wrong(one_line(&error, text)))?;
        let prompt_template = match (trust, table.remove("prompt_template")) {
            (_, None) => None,
            // Beside the user's own file: from where a loop is started it could be one of the repository's.
            (Trust::User, Some(Value::String(name))) => Some(path.with_file_name(name)),
            (Trust::User, Some(_)) => return Err(wrong("prompt_template is the path of a file".into())),
            (Trust::Repository, Some(_)) => return Err(wrong(refused("prompt_template"))),
        };
        let mut described = |key: &str| match (trust, table.remove(key)) {
            (_, None) => Ok(Value::Table(Table::new())),
            (Trust::User, Some(described)) => Ok(described),
            (Trust::Repository, Some(_)) => Err(wrong(refused(key))),
        };
        let (agents, terminals) = (described(AGENTS)?, described(TERMINALS)?);
        let own_agents =
            each(AGENTS, agents, |own: OwnAgent, name| (!own.command.is_empty()).then_some(OwnAgent { name, ..own }));
        let own_terminals = each(TERMINALS, terminals, |own: OwnTerminal, name| {
            (!own.command.is_empty()).then_some(OwnTerminal { name, ..own })
        });
        let (own_agents, own_terminals) = (own_agents.map_err(wrong)?, own_terminals.map_err(wrong)?);
        match (trust, table.remove(VALIDATION)) {
            (Trust::User, Some(_)) => {
                return Err(wrong(format!("{VALIDATION} belongs into {REPOSITORY_FILE}, or use validation_command")));
            }
            // What it says is read where the gates look for it.
            (Trust::Repository, _) | (Trust::User, None) => {}
        }
        let mut words = Vec::new();
        for (key, value) in &table {
            if !keys().contains(key) {
                return Err(wrong(unknown(key)));
            }
            if trust == Trust::Repository && !HARMLESS.contains(&key.as_str()) {
                return Err(
                    wrong(refused(key)).hint(format!("put it into your own file, or use --{}", key.replace('_', "-")))
                );
            }
            for value in scalars(value).ok_or_else(|| wrong(format!("{key} cannot be a table")))? {
                words.push((format!("{}: {key}", path.display()), key.clone(), value));
            }
        }
        Ok(Self { prompt_template, own_agents, own_terminals, ..Self::from_words(&words)? })
    }

    /// Lets the parser of the command line read what stands elsewhere: `(where, key, value)`.
    fn from_words(words: &[(String, String, String)]) -> Result<Self> {
        let mut layer = Self::default();
        for (place, key, value) in words {
            let matches = parser()
                .try_get_matches_from([format!("--{}={value}", key.replace('_', "-"))])
                .map_err(|error| Error::usage(format!("{place}: {}", reason(&error))))?;
            let one = Self::from_matches(&matches)?;
            let agent_arg = [layer.options.agent_arg.clone(), one.options.agent_arg.clone()].concat();
            let validation_command =
                [layer.options.validation_command.clone(), one.options.validation_command.clone()].concat();
            layer.options = LoopOptions { agent_arg, validation_command, ..one.options.or(layer.options) };
            layer.launch = one.launch.or(layer.launch);
        }
        Ok(layer)
    }

    fn from_matches(matches: &ArgMatches) -> Result<Self> {
        let wrong = |error: clap::Error| Error::usage(reason(&error));
        Ok(Self {
            options: LoopOptions::from_arg_matches(matches).map_err(wrong)?,
            launch: LaunchOptions::from_arg_matches(matches).map_err(wrong)?,
            ..Self::default()
        })
    }
}

/// The parser of all options that a file or a variable can give.
fn parser() -> Command {
    LaunchOptions::augment_args(LoopOptions::augment_args(Command::new("wt-loop").no_binary_name(true)))
}

/// Their names, as a file has them.
pub fn keys() -> Vec<String> {
    let ids = parser().get_arguments().map(|arg| arg.get_id().to_string()).collect::<Vec<_>>();
    ids.into_iter().filter(|id| id != SAID_BY_NOTIFY).collect()
}

/// Whether a repository may set a key.
pub fn is_harmless(key: &str) -> bool {
    HARMLESS.contains(&key)
}

/// The variable of a key.
pub fn variable(key: &str) -> String {
    format!("WT_LOOP_{}", key.to_uppercase())
}

fn scalars(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::String(text) => Some(vec![text.clone()]),
        Value::Integer(number) => Some(vec![number.to_string()]),
        Value::Float(number) => Some(vec![number.to_string()]),
        Value::Boolean(truth) => Some(vec![truth.to_string()]),
        Value::Datetime(time) => Some(vec![time.to_string()]),
        Value::Array(values) => values
            .iter()
            .map(|value| scalars(value).filter(|one| one.len() == 1))
            .collect::<Option<Vec<_>>>()
            .map(|all| all.concat()),
        Value::Table(_) => None,
    }
}

/// `[agents.mine]`, `[terminals.mine]`: a table for each program of the user's own, `named` by its key; `None` where it names no program.
fn each<T: serde::de::DeserializeOwned>(
    key: &str,
    described: Value,
    named: impl Fn(T, String) -> Option<T>,
) -> std::result::Result<Vec<T>, String> {
    let Value::Table(all) = described else {
        return Err(format!("{key} is a table for each of them: [{key}.mine]"));
    };
    let read = |(name, value): (String, Value)| {
        let own: T = value.try_into().map_err(|error: toml::de::Error| format!("{key}.{name}: {}", error.message()))?;
        named(own, name.clone()).ok_or_else(|| format!("{key}.{name}: command names no program"))
    };
    all.into_iter().map(read).collect()
}

fn refused(key: &str) -> String {
    format!("a repository cannot set {key}: it decides what runs on your account")
}

fn unknown(key: &str) -> String {
    let keys = keys();
    let nearest = crate::nearest::nearest(
        key,
        keys.iter().map(String::as_str).chain(["prompt_template", AGENTS, TERMINALS, VALIDATION]),
    );
    nearest.map_or_else(|| format!("unknown key {key}"), |name| format!("unknown key {key}; did you mean {name}?"))
}

/// The first line of what the parser says, without its own prefix.
fn reason(error: &clap::Error) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

fn one_line(error: &toml::de::Error, text: &str) -> String {
    let (line, column) = place(text, error.span().map_or(0, |span| span.start));
    format!("line {line}, column {column}: {}", error.message().replace('\n', " "))
}
