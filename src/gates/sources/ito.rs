//! `ito.json` and `.ito/config.json`: the keys that ito reads, a string or a list each.

use serde_json::Value;

use super::{Wrong, place};

/// Below these, and at the top, the keys may stand.
const PLACES: [&[&str]; 3] = [&["ralph"], &["project"], &[]];
/// The keys, the first that has commands counts.
const KEYS: [&[&str]; 4] =
    [&["validationCommands"], &["validationCommand"], &["validation", "commands"], &["validation", "command"]];

/// The commands of the file.
pub fn commands(text: &str) -> Result<Vec<String>, Wrong> {
    let config: Value = serde_json::from_str(text).map_err(|error| {
        let what = error.to_string();
        let what = what.split(" at line ").next().unwrap_or_default().to_owned();
        Wrong { line: error.line(), column: error.column(), what }
    })?;
    for above in PLACES {
        for key in KEYS {
            let path: Vec<&str> = above.iter().chain(key).copied().collect();
            let Some(value) = path.iter().try_fold(&config, |at, key| at.get(key)) else { continue };
            let found = strings(value).ok_or_else(|| {
                let (line, column) = place(text, key_at(text, &path));
                Wrong { line, column, what: format!("{} must be a command or a list of commands", path.join(".")) }
            })?;
            if !found.is_empty() {
                return Ok(found);
            }
        }
    }
    Ok(Vec::new())
}

/// Where the last of these keys stands, each looked for behind the one before it.
fn key_at(text: &str, path: &[&str]) -> usize {
    path.iter().fold(0, |from, key| text[from..].find(&format!("\"{key}\"")).map_or(from, |at| from + at))
}

fn strings(value: &Value) -> Option<Vec<String>> {
    let all = match value {
        Value::Null => Vec::new(),
        Value::String(one) => vec![one.clone()],
        Value::Array(many) => many.iter().map(|one| one.as_str().map(str::to_owned)).collect::<Option<_>>()?,
        _ => return None,
    };
    Some(all.into_iter().map(|command| command.trim().to_owned()).filter(|command| !command.is_empty()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_that_ito_reads() {
        for (text, expected) in [
            (r#"{"ralph":{"validationCommands":["a","b"]}}"#, &["a", "b"][..]),
            (r#"{"ralph":{"validationCommand":"a"}}"#, &["a"]),
            (r#"{"ralph":{"validation":{"commands":["a"]}}}"#, &["a"]),
            (r#"{"ralph":{"validation":{"command":"a"}}}"#, &["a"]),
            (r#"{"project":{"validationCommands":["a"]}}"#, &["a"]),
            (r#"{"project":{"validation":{"command":"a"}}}"#, &["a"]),
            (r#"{"validationCommand":"a"}"#, &["a"]),
            (r#"{"validation":{"commands":"a"}}"#, &["a"]),
            (r#"{"ralph":{"validationCommands":[]},"validationCommand":" b "}"#, &["b"]),
            (r#"{"ralph":{"validationCommand":null}}"#, &[]),
            (r"[]", &[]),
        ] {
            assert_eq!(commands(text).ok().unwrap(), expected, "{text}");
        }
    }
}
