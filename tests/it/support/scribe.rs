//! Scripted agents that write down how they were called, so that a test can compare it.

use std::collections::BTreeMap;
use std::fs;

use super::World;

/// Writes arguments, environment and standard input into a numbered place, before the rest of the script.
const SCRIBE: &str = r#"
calls="$HOME/calls"
mkdir -p "$calls"
call=1
while [ -e "$calls/$call.prompt" ]; do call=$((call + 1)); done
printf '%s\n' "$(basename "$0")" "$@" > "$calls/$call.argv"
env > "$calls/$call.env"
cat > "$calls/$call.prompt"
"#;

/// The completion promise, as an agent says it.
pub const SAYS_DONE: &str = "echo '<promise>COMPLETE</promise>'\n";

/// One call of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Its name and its arguments, as one would type them; none has a blank or a line end in these tests.
    pub line: String,
    /// What it could read on its standard input.
    pub prompt: Vec<u8>,
    /// What it found in its environment.
    pub environment: BTreeMap<String, String>,
}

impl Call {
    /// Its prompt as text.
    #[track_caller]
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.prompt).unwrap()
    }

    /// The headings of the prompt's sections, in their order.
    pub fn headings(&self) -> Vec<&str> {
        self.text().lines().filter(|line| line.starts_with("# ") || line.starts_with("## ")).collect()
    }

    /// The text of one section; empty where there is none.
    pub fn section(&self, heading: &str) -> String {
        let lines = self.text().lines().skip_while(|line| *line != heading).skip(1);
        let body: Vec<&str> = lines.take_while(|line| !line.starts_with("## ")).collect();
        body.join("\n").trim().to_owned()
    }
}

impl World {
    /// Puts an agent on PATH that writes down how it was called and then runs `script`, with the number of the call in `$call`.
    pub fn scribe(&self, name: &str, script: &str) {
        self.agent(name, &format!("{SCRIBE}{script}"));
    }

    /// Every call of a scribe so far, oldest first.
    pub fn calls(&self) -> Vec<Call> {
        let folder = self.base().join("home/calls");
        let read = |n: usize, what: &str| fs::read(folder.join(format!("{n}.{what}"))).ok();
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let call = |n| {
            let (prompt, line, environment) = (read(n, "prompt")?, text(read(n, "argv")?), text(read(n, "env")?));
            let pairs = environment.lines().filter_map(|line| line.split_once('='));
            let environment = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
            Some(Call { line: line.trim_end().replace('\n', " "), prompt, environment })
        };
        (1..).map_while(call).collect()
    }

    /// The only call of a scribe.
    #[track_caller]
    pub fn only_call(&self) -> Call {
        let mut calls = self.calls();
        assert_eq!(calls.len(), 1, "{calls:?}");
        calls.remove(0)
    }
}
