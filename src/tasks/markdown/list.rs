//! List items, nested or not.

/// What follows the list markers, if there are any.
pub fn list_item(text: &str) -> Option<&str> {
    let mut rest = after_marker(text)?;
    while let Some(inner) = after_marker(rest) {
        rest = inner;
    }
    Some(rest)
}

fn after_marker(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let ordered = || {
        let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
        (rest.len() < text.len()).then(|| rest.strip_prefix(['.', ')']))?
    };
    text.strip_prefix(['-', '*', '+'])
        .or_else(ordered)
        .filter(|rest| rest.starts_with(char::is_whitespace))
        .map(str::trim_start)
}

/// The line without its indentation and list markers.
pub fn block_content(text: &str) -> &str {
    list_item(text).unwrap_or_else(|| text.trim_start())
}
