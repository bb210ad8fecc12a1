//! `.wt-loop.toml`: `validation = ["make check"]`, or one command as a string.

use super::Wrong;

/// The key.
pub const KEY: &str = "validation";

/// The commands of the file.
pub fn commands(text: &str) -> Result<Vec<String>, Wrong> {
    #[derive(serde::Deserialize)]
    struct File {
        #[serde(default)]
        validation: Option<toml::Spanned<toml::Value>>,
    }
    let wrong = |at: usize, what: String| {
        let (line, column) = place(text, at);
        Wrong { line, column, what }
    };
    let file: File = toml::from_str(text)
        .map_err(|error| wrong(error.span().map_or(0, |span| span.start), error.message().replace('\n', " ")))?;
    let Some(value) = file.validation else { return Ok(Vec::new()) };
    let at = value.span().start;
    let strings: Option<Vec<String>> = match value.into_inner() {
        toml::Value::String(one) => Some(vec![one]),
        toml::Value::Array(many) => many.into_iter().map(|one| one.as_str().map(str::to_owned)).collect(),
        _ => None,
    };
    let strings = strings.ok_or_else(|| wrong(at, format!("{KEY} must be a command or a list of commands")))?;
    // An empty command would always pass.
    if strings.iter().any(|command| command.trim().is_empty()) {
        return Err(wrong(at, format!("{KEY} has an empty command")));
    }
    Ok(strings)
}

/// Line and column of a byte, from 1.
pub fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or_default();
    (before.matches('\n').count() + 1, before.rsplit('\n').next().unwrap_or_default().chars().count() + 1)
}
