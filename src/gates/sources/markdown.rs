//! `AGENTS.md` and `CLAUDE.md`: the commands of the first code block under a heading that says validation, verify, checks or
//! tests; where there is none, the lines that are exactly `make check` or `make test`.
//!
//! A block is one of commands where its language is a shell's or none is named; in one of a session (`console`) only the lines that
//! begin with `$ ` are commands, and the rest is what they print. What is commented out is not there.

use super::Wrong;

/// What such a heading says.
const WORDS: [&str; 4] = ["validation", "verify", "checks", "tests"];
/// Lines that are commands wherever they stand.
const PLAIN: [&str; 2] = ["make check", "make test"];

/// The commands of the file. Any text is Markdown, so nothing can be wrong with it.
#[expect(clippy::unnecessary_wraps, reason = "the readers of the other sources can fail")]
pub fn commands(text: &str) -> Result<Vec<String>, Wrong> {
    let text = &without_comments(text);
    let block = first_block(text);
    if !block.is_empty() {
        return Ok(block);
    }
    let lines = text.lines().map(|line| line.trim().trim_matches('`')).filter(|line| PLAIN.contains(line));
    let mut found: Vec<String> = Vec::new();
    for line in lines {
        if !found.iter().any(|has| has == line) {
            found.push(line.to_owned());
        }
    }
    Ok(found)
}

/// What a block holds, by its language.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// Commands.
    Commands,
    /// Commands behind a prompt, and what they print.
    Session,
    /// Something else.
    Other,
}

impl Holds {
    fn of(opening: &str) -> Self {
        match opening.trim().trim_start_matches(['`', '~']).trim().to_lowercase().as_str() {
            "" | "sh" | "bash" | "shell" | "zsh" => Holds::Commands,
            "console" | "shell-session" => Holds::Session,
            _ => Holds::Other,
        }
    }
}

/// The text without HTML comments, of which one that is not closed runs to the end. A fence keeps its own.
fn without_comments(text: &str) -> String {
    let (mut kept, mut fence, mut commented) = (String::new(), None::<Fence>, false);
    for line in text.lines() {
        let mut rest = line;
        if fence.is_none() {
            while let Some(at) = rest.find(if commented { "-->" } else { "<!--" }) {
                if !commented {
                    kept.push_str(&rest[..at]);
                }
                rest = &rest[at + if commented { 3 } else { 4 }..];
                commented = !commented;
            }
        }
        if !commented {
            match &fence {
                Some(open) if open.is_closed_by(rest) => fence = None,
                Some(_) => {}
                None => fence = Fence::opened_by(rest),
            }
            kept.push_str(rest);
        }
        kept.push('\n');
    }
    kept
}

/// The first block with commands under a heading that says so.
fn first_block(text: &str) -> Vec<String> {
    let (mut wanted, mut holds, mut fence) = (false, Holds::Other, None::<Fence>);
    let mut block: Vec<&str> = Vec::new();
    for line in text.lines() {
        match &fence {
            Some(open) if open.is_closed_by(line) => {
                fence = None;
                let commands = commands_of(&block, holds);
                if wanted && !commands.is_empty() {
                    return commands;
                }
                block.clear();
            }
            Some(_) => block.push(line),
            None => {
                fence = Fence::opened_by(line);
                holds = Holds::of(line);
                if let (None, Some(heading)) = (&fence, heading(line)) {
                    wanted = says_so(heading);
                }
            }
        }
    }
    if wanted && fence.is_some() { commands_of(&block, holds) } else { Vec::new() }
}

struct Fence {
    mark: char,
    length: usize,
}

impl Fence {
    fn opened_by(line: &str) -> Option<Self> {
        let line = line.trim_start();
        let mark = line.chars().next().filter(|&c| c == '`' || c == '~')?;
        let length = line.chars().take_while(|&c| c == mark).count();
        let inline = mark == '`' && line[length..].contains('`');
        (length >= 3 && !inline).then_some(Self { mark, length })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let line = line.trim();
        line.len() >= self.length && line.chars().all(|c| c == self.mark)
    }
}

fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    ((1..=6).contains(&level) && text.starts_with([' ', '\t'])).then(|| text.trim())
}

fn says_so(heading: &str) -> bool {
    let heading = heading.to_lowercase();
    heading.split(|c: char| !c.is_alphanumeric()).any(|word| WORDS.contains(&word))
}

/// A line each, without comments and the `$` of a prompt; a line that ends with a backslash goes on.
fn commands_of(block: &[&str], holds: Holds) -> Vec<String> {
    if holds == Holds::Other {
        return Vec::new();
    }
    let mut commands: Vec<String> = Vec::new();
    let mut open: Option<String> = None;
    for line in block {
        let line = line.trim();
        let line = match line.strip_prefix("$ ") {
            Some(command) => command,
            None if holds == Holds::Session && open.is_none() => continue,
            None => line,
        };
        if open.is_none() && (line.is_empty() || line.starts_with('#')) {
            continue;
        }
        let whole = open.take().map_or_else(|| line.to_owned(), |start| format!("{start} {line}"));
        match whole.strip_suffix('\\') {
            Some(start) => open = Some(start.trim_end().to_owned()),
            None => commands.push(whole),
        }
    }
    commands.extend(open.filter(|start| !start.is_empty()));
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_under_the_heading_that_says_so() {
        for (text, expected) in [
            ("## Tests\n<!--\n```\nrm -rf x\n```\n-->\n", &[][..]),
            ("## Tests\n```rust\nfn main() {}\n```\n```sh\nmake\n```\n", &["make"]),
            ("## Tests\n```console\n$ make test\nok 12 tests\n```\n", &["make test"]),
            (
                "## Validation\n```sh\nmake lint\n$ make test\n# a comment\n\ncargo build \\\n  --release\n```\n",
                &["make lint", "make test", "cargo build --release"][..],
            ),
            ("# Setup\n```\nnpm ci\n```\n## How to verify\ntext\n~~~\nnpm test\n~~~\n", &["npm test"]),
            ("## Checks\nno block\n## Other\n```\nx\n```\n", &[]),
            ("## Running tests\n````\n```\na\n```\n````\n", &["```", "a", "```"]),
            ("## Tests\n```\n```\n```\nb\n```\n", &["b"]),
            (
                "text\nmake check\n  make test  \nmake checkers\nplease run make test\nmake check\n",
                &["make check", "make test"],
            ),
            ("- `make check`\n`make check`\n", &["make check"]),
            ("## Latest\n```\nx\n```\n", &[]),
            ("```\n## Tests\n```\n```\nx\n```\n", &[]),
            ("## Tests\n```\nunclosed\n", &["unclosed"]),
            ("", &[]),
        ] {
            assert_eq!(commands(text).ok().unwrap(), expected, "{text}");
        }
    }
}
