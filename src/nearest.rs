//! The name that somebody probably meant.

/// The candidate that is nearest to what was typed, if one is near enough to be worth naming.
pub fn nearest<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(typed, candidate), candidate))
        .filter(|(likeness, _)| *likeness > 0.75)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_named_and_far_ones_are_not() {
        assert_eq!(nearest("cluade", ["codex", "claude", "pi"]), Some("claude"));
        assert_eq!(nearest("zebra", ["codex", "claude", "pi"]), None);
    }
}
