//! Words for a shell: a path or a task as one would have to type it.

/// A word as one would have to type it.
pub fn word(word: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || "-_=./:@%+,".contains(c);
    if !word.is_empty() && word.chars().all(safe) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Words as one would have to type them, with blanks between.
pub fn words<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_read_them_otherwise() {
        assert_eq!(word("--model=x"), "--model=x");
        assert_eq!(word("a b"), "'a b'");
        assert_eq!(word("it's $HOME"), r"'it'\''s $HOME'");
        assert_eq!(word(""), "''");
        assert_eq!(words(["wt-loop", "start", "do it"]), "wt-loop start 'do it'");
    }
}
