//! The terminals of macOS, through osascript. Their only door is a shell in a new window, so here, and only here, a path
//! is quoted: for the shell, and that for `AppleScript`.

use std::ffi::OsString;
use std::path::Path;

use crate::shell;

/// The program that both go through.
pub const PROGRAM: &str = "osascript";

/// An application.
pub struct App {
    /// What it is called by `--launcher`.
    pub name: &'static str,
    /// What macOS calls it.
    pub application: &'static str,
    /// What comes before the quoted line that its shell runs, a line each, and after it.
    script: (&'static [&'static str], &'static str),
}

/// Both of them.
pub const APPS: [&App; 2] = [
    &App { name: "terminal-app", application: "Terminal", script: (&["activate"], "do script ") },
    &App {
        name: "iterm",
        application: "iTerm",
        script: (
            &["activate", "set opened to (create window with default profile)"],
            "tell current session of opened to write text ",
        ),
    },
];

impl App {
    /// The arguments of osascript that run `program run` in `root`.
    pub fn arguments(&self, root: &Path, program: &Path) -> Vec<OsString> {
        let line = format!(
            "cd {} && exec {} run",
            shell::word(&root.to_string_lossy()),
            shell::word(&program.to_string_lossy())
        );
        let (before, call) = self.script;
        let mut script = vec![format!("tell application {}", quoted(self.application))];
        script.extend(before.iter().map(ToString::to_string));
        script.push(format!("{call}{}", quoted(&line)));
        script.push("end tell".to_owned());
        script.into_iter().flat_map(|line| [OsString::from("-e"), line.into()]).collect()
    }
}

/// A text as `AppleScript` writes it.
pub fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What `AppleScript` reads.
    fn read(literal: &str) -> Option<String> {
        let mut chars = literal.strip_prefix('"')?.strip_suffix('"')?.chars();
        let mut text = String::new();
        while let Some(c) = chars.next() {
            text.push(match c {
                '"' => return None,
                '\\' => match chars.next()? {
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    c @ ('"' | '\\') => c,
                    _ => return None,
                },
                c => c,
            });
        }
        Some(text)
    }

    #[test]
    fn a_path_is_quoted_for_the_shell_and_for_applescript() {
        let args = APPS[0].arguments(Path::new("/it's \"a\" \\ dir"), Path::new("/bin/wt-loop"));
        let script: Vec<&str> = args.iter().skip(1).step_by(2).map(|line| line.to_str().unwrap()).collect();
        assert_eq!(
            script,
            [
                "tell application \"Terminal\"",
                "activate",
                r#"do script "cd '/it'\\''s \"a\" \\ dir' && exec /bin/wt-loop run""#,
                "end tell"
            ]
        );
        assert!(args.iter().step_by(2).all(|flag| flag == "-e"));
    }

    proptest! {
        #[test]
        fn every_text_is_read_back(text in any::<String>()) {
            prop_assert_eq!(read(&quoted(&text)), Some(text));
        }
    }
}
