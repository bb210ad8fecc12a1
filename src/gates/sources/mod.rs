//! Where a project says how it is validated. The first source that has any command counts.
//!
//! A source that exists and cannot be parsed is an error, told before the loop starts: never a silent pass. Sources are read
//! as everything of the repository is: regular files inside the worktree. A symlink to one of those will do, because many
//! keep `CLAUDE.md` and `AGENTS.md` as one file.

mod ito;
mod markdown;
mod own;

pub use own::{KEY as VALIDATION, place};

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::layout;

/// Commands and the file that they come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The file, below the worktree's root.
    pub file: String,
    /// Its commands, in order.
    pub commands: Vec<String>,
}

impl Source {
    /// Where they come from and what they are, for whoever is about to run them.
    pub fn words(&self) -> String {
        format!("validation from {}: {}", self.file, self.commands.join("; "))
    }
}

/// How the commands of a file are found in its text.
type Reader = fn(&str) -> std::result::Result<Vec<String>, Wrong>;

/// What is wrong with a file, and where.
struct Wrong {
    line: usize,
    column: usize,
    what: String,
}

/// The files, in the order in which they are asked.
const SOURCES: [(&str, Reader); 5] = [
    ("ito.json", ito::commands),
    (".ito/config.json", ito::commands),
    (crate::config::REPOSITORY_FILE, own::commands),
    ("AGENTS.md", markdown::commands),
    ("CLAUDE.md", markdown::commands),
];

/// The line that a project without validation could add.
pub const TO_ADD: &str = "validation = [\"make check\"]";

/// What to do about a source that cannot be read.
const WAY_OUT: &str = "mend it, or start with --skip-validation to check nothing at all";

/// The first source of the worktree that has commands.
pub fn find(root: &Path) -> Result<Option<Source>> {
    for (file, reader) in SOURCES {
        let read = layout::read_inside(root, &layout::behind_links(root, &root.join(file)))
            .map_err(|error| Error::new(error.to_string()).hint(WAY_OUT))?;
        let Some(text) = read else { continue };
        let commands = reader(&text).map_err(|wrong| {
            let Wrong { line, column, what } = wrong;
            Error::new(format!("{file}, line {line}, column {column}: {what}")).hint(WAY_OUT)
        })?;
        if !commands.is_empty() {
            return Ok(Some(Source { file: file.to_owned(), commands }));
        }
    }
    Ok(None)
}

/// Any text as each of the sources: the commands that it would have there.
#[cfg(any(test, fuzzing))]
pub(crate) fn read_any(text: &str) -> impl Iterator<Item = (&'static str, Vec<String>)> {
    SOURCES.into_iter().map(move |(file, reader)| (file, reader(text).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_first_source_that_has_commands_counts() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let found = || find(root).unwrap().map(|source| (source.file, source.commands));
        assert_eq!(found(), None);
        fs::write(root.join("CLAUDE.md"), "## Tests\n```\nclaude\n```\n").unwrap();
        assert_eq!(found(), Some(("CLAUDE.md".into(), vec!["claude".into()])));
        fs::write(root.join("AGENTS.md"), "make check\n").unwrap();
        assert_eq!(found(), Some(("AGENTS.md".into(), vec!["make check".into()])));
        fs::write(root.join(".wt-loop.toml"), "validation = ['own']\nmax = 3\n").unwrap();
        assert_eq!(found(), Some((".wt-loop.toml".into(), vec!["own".into()])));
        fs::create_dir(root.join(".ito")).unwrap();
        fs::write(root.join(".ito/config.json"), r#"{"ralph":{"validationCommand":"config"}}"#).unwrap();
        assert_eq!(found(), Some((".ito/config.json".into(), vec!["config".into()])));
        fs::write(root.join("ito.json"), r#"{"other": 1}"#).unwrap();
        assert_eq!(
            found(),
            Some((".ito/config.json".into(), vec!["config".into()])),
            "one without commands is passed over"
        );
        fs::write(root.join("ito.json"), r#"{"validationCommands":["first"]}"#).unwrap();
        assert_eq!(found(), Some(("ito.json".into(), vec!["first".into()])));
    }

    #[test]
    fn a_source_that_cannot_be_parsed_is_an_error_that_names_the_place() {
        let dir = tempfile::tempdir().unwrap();
        for (file, text, place) in [
            ("ito.json", "{\n  \"ralph\": oops\n}", "ito.json, line 2, column 12: "),
            (".wt-loop.toml", "max = 3\nvalidation = 7\n", ".wt-loop.toml, line 2, column 14: "),
            (".wt-loop.toml", "validation = ['a', ' ']\n", ".wt-loop.toml, line 1, column 14: "),
            (
                "ito.json",
                "{\"validation\": {},\n \"ralph\": {\"validation\": {\"command\": 7}}}",
                "ito.json, line 2, column 27: ralph.validation.command",
            ),
        ] {
            let path = dir.path().join(file);
            fs::write(&path, text).unwrap();
            let error = find(dir.path()).unwrap_err().to_string();
            assert!(error.starts_with(place), "{error}");
            fs::remove_file(path).unwrap();
        }
    }
}
