//! The name that somebody probably meant.

use std::cmp::Ordering;

/// The candidate that is nearest to what was typed, if one is near enough to be worth naming: the fewest slips of the
/// finger, then the most alike.
pub fn nearest<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let judged = candidates.into_iter().map(|candidate| Judged {
        slips: strsim::damerau_levenshtein(typed, candidate),
        likeness: strsim::jaro_winkler(typed, candidate),
        candidate,
    });
    let near = judged.filter(|judged| judged.likeness > 0.75 || judged.slips * 2 <= typed.chars().count());
    near.min_by(Judged::by_nearness).map(|judged| judged.candidate)
}

struct Judged<'a> {
    slips: usize,
    likeness: f64,
    candidate: &'a str,
}

impl Judged<'_> {
    fn by_nearness(&self, other: &Self) -> Ordering {
        self.slips.cmp(&other.slips).then(other.likeness.total_cmp(&self.likeness))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_named_and_far_ones_are_not() {
        assert_eq!(nearest("cluade", ["codex", "claude", "pi"]), Some("claude"));
        assert_eq!(nearest("zebra", ["codex", "claude", "pi"]), None);
        assert_eq!(nearest("mx", ["max-time", "max", "min"]), Some("max"));
        assert_eq!(nearest("stall", ["max", "stall-threshold"]), Some("stall-threshold"));
    }
}
