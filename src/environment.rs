//! The environment of the shell that gave the command: a value, not a global.
//!
//! A loop that `start` puts into a terminal runs with the environment of the user's shell, which reaches it over a socket;
//! so what is read from the environment is read from here.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Variables and their values. On the wire a list of pairs: the keys of a JSON object are text, and a variable's name need
/// not be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Pairs", into = "Pairs")]
pub struct Environment(BTreeMap<OsString, OsString>);

type Pairs = Vec<(OsString, OsString)>;

impl From<Pairs> for Environment {
    fn from(pairs: Pairs) -> Self {
        Self(pairs.into_iter().collect())
    }
}

impl From<Environment> for Pairs {
    fn from(env: Environment) -> Self {
        env.0.into_iter().collect()
    }
}

impl Environment {
    /// That of this process.
    pub fn own() -> Self {
        Self(std::env::vars_os().collect())
    }

    /// One made of these.
    pub fn of(variables: &[(&str, &str)]) -> Self {
        Self(variables.iter().map(|(name, value)| (name.into(), value.into())).collect())
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// Whether a variable is there and not empty.
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| !value.is_empty())
    }

    /// Sets a variable.
    pub fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.0.insert(name.into(), value.into());
    }

    /// Takes a variable away.
    pub fn remove(&mut self, name: &str) {
        self.0.remove(OsStr::new(name));
    }

    /// All of them.
    pub fn pairs(&self) -> impl Iterator<Item = (&OsString, &OsString)> {
        self.0.iter()
    }

    /// `$XDG_CONFIG_HOME`, or `~/.config`.
    pub fn config_home(&self) -> PathBuf {
        self.xdg("XDG_CONFIG_HOME", ".config")
    }

    /// `$XDG_STATE_HOME`, or `~/.local/state`.
    pub fn state_home(&self) -> PathBuf {
        self.xdg("XDG_STATE_HOME", ".local/state")
    }

    /// Only absolute paths count in these variables.
    fn xdg(&self, name: &str, below_home: &str) -> PathBuf {
        let named = self.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
        named.unwrap_or_else(|| self.home().join(below_home))
    }

    /// `$HOME`, or what the system says it is.
    pub fn home(&self) -> PathBuf {
        let named = self.get("HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        named.or_else(std::env::home_dir).unwrap_or_else(|| PathBuf::from("/"))
    }
}
