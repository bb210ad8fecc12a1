//! The ids that files give to their tasks.

/// `1.2 name`, `1. name`, `T12: name` as id and name. Not a bare `10 name`, which is more often a count than an id.
pub fn split_id(text: &str) -> Option<(&str, &str)> {
    let (word, name) = first_word(text);
    let id = number(word)?;
    let is_count = word.bytes().all(|byte| byte.is_ascii_digit());
    (!is_count).then_some((id, name))
}

/// The id in a word like `1`, `1.2`, `1.2.`, `1)`, `T1.2:`.
pub fn number(word: &str) -> Option<&str> {
    let id = word.trim_end_matches([':', '.', ')']);
    let digits = id.strip_prefix(['T', 't']).unwrap_or(id);
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    digits.split('.').all(is_number).then_some(id)
}

/// Up to the first white space, and from the word behind it.
pub fn first_word(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim_start())
}
