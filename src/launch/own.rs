//! A terminal of the user's own: any program, described in the user's configuration.
//!
//! ```toml
//! [terminals.mine]
//! command = ["myterm", "-e"]
//! fullscreen = ["--fs"]
//! ```

use std::ffi::OsString;
use std::path::Path;

use serde::Deserialize;

use super::Wish;

/// The description.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnTerminal {
    /// What it is called: the key of its table.
    #[serde(default)]
    pub name: String,
    /// The program and the words before the command that it runs.
    pub command: Vec<String>,
    /// The words that fill the screen; they come after the program.
    #[serde(default)]
    pub fullscreen: Vec<String>,
}

impl OwnTerminal {
    /// One that takes a command as most do, by its program alone.
    pub fn usual(program: &str) -> Self {
        Self { name: program.to_owned(), command: vec![program.to_owned(), "-e".to_owned()], fullscreen: Vec::new() }
    }

    /// The same, with these words right after the program.
    #[must_use]
    pub fn with(&self, words: &[String]) -> Self {
        let mut own = self.clone();
        let at = own.command.len().min(1);
        own.command.splice(at..at, words.iter().cloned());
        own
    }

    /// The program.
    pub fn program(&self) -> &str {
        self.command.first().map_or("", String::as_str)
    }

    /// Its arguments for `program run`.
    pub fn arguments(&self, program: &Path, fullscreen: Wish) -> Vec<OsString> {
        let screen = self.fullscreen.iter().filter(|_| fullscreen == Wish::Fullscreen);
        let words = screen.chain(self.command.iter().skip(1)).map(OsString::from);
        words.chain([program.into(), "run".into()]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_screen_comes_before_the_command() {
        let words = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        let own = OwnTerminal { name: "mine".into(), command: words(&["t", "-a", "-e"]), fullscreen: words(&["--fs"]) };
        let program = Path::new("/bin/wt-loop");
        assert_eq!(own.arguments(program, Wish::Fullscreen), ["--fs", "-a", "-e", "/bin/wt-loop", "run"]);
        assert_eq!(own.arguments(program, Wish::Window), ["-a", "-e", "/bin/wt-loop", "run"]);
        let with = own.with(&words(&["-x"]));
        assert_eq!(with.arguments(program, Wish::Fullscreen), ["--fs", "-x", "-a", "-e", "/bin/wt-loop", "run"]);
    }
}
