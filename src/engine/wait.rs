//! A usage limit is waited out, by the wall clock, so that a suspended machine does not oversleep. It counts towards nothing but the
//! bound that the user has set on waiting.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::{Engine, story};
use crate::agent::event::Limit;
use crate::error::Result;
use crate::state::now_text;
use crate::term::human;
use crate::term::stage::Live;
use crate::term::title::Title;

/// A little later than the agent says: clocks differ.
const AFTER_RESET: SignedDuration = SignedDuration::from_secs(5);
/// How long to wait where the agent does not say, in minutes: longer each time.
const MINUTES: [i64; 6] = [1, 2, 5, 10, 20, 30];
/// How often the wall clock is looked at.
const GLANCE: Duration = Duration::from_secs(15);

/// When to try again.
pub fn until(limit: &Limit, attempt: u64, now: Timestamp) -> Timestamp {
    let step = usize::try_from(attempt.saturating_sub(1)).unwrap_or(usize::MAX).min(MINUTES.len() - 1);
    let growing = || now.checked_add(SignedDuration::from_mins(MINUTES[step])).unwrap_or(now);
    match limit.until {
        Some(reset) if reset > now => reset.checked_add(AFTER_RESET).unwrap_or(reset),
        _ => growing(),
    }
}

impl Engine<'_> {
    /// Waits until the limit is over; returns why not, where that would take too long.
    pub(super) fn wait_out(&mut self, limit: &Limit, attempt: u64) -> Result<Option<String>> {
        let now = Timestamp::now();
        let until = until(limit, attempt, now);
        let wait = Duration::try_from(until.duration_since(now)).unwrap_or_default();
        if self.spec.limit_wait.is_some_and(|most| self.waited + wait > most) {
            let most = human::duration(self.spec.limit_wait.unwrap_or_default());
            return Ok(Some(format!("{}; waiting it out would take longer than --limit-wait {most}", limit.words)));
        }
        if self.time_left().is_some_and(|left| wait > left) {
            return Ok(Some(format!("{}; waiting it out would take longer than --max-time allows", limit.words)));
        }
        self.waited += wait;
        self.state.waiting_until = Some(format!("{until:.3}"));
        self.state.waits.push(json!({ "from": now_text(), "until": format!("{until:.3}"), "reason": limit.words }));
        self.save()?;
        self.say(&story::waits(until, &limit.words));
        let title = Title::Waiting {
            n: self.state.current_iteration,
            max: self.spec.max.number(),
            until: &human::local(until),
        };
        self.stage.set_title(&self.worktree.name(), self.spec.label.as_deref(), title);
        let what = format!("{}/{} waiting until {}", self.state.current_iteration, self.spec.max, human::local(until));
        self.stage.set_live(Some(Live { what, since: None, tokens: self.state.total_tokens }));
        while Timestamp::now() < until && self.stop_asked().is_none() {
            let left = Duration::try_from(until.duration_since(Timestamp::now())).unwrap_or_default();
            self.sleep(left.min(GLANCE));
        }
        self.stage.set_live(None);
        self.state.waiting_until = None;
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_end_at_the_reset_or_grow() {
        let now: Timestamp = "2026-11-16T02:00:00Z".parse().unwrap();
        let at = |text: &str| -> Timestamp { text.parse().unwrap() };
        let limit = |until: Option<&str>| Limit { words: "limit".into(), until: until.map(at) };
        assert_eq!(until(&limit(Some("2026-11-16T03:00:00Z")), 1, now), at("2026-11-16T03:00:05Z"));
        assert_eq!(
            until(&limit(Some("2026-11-16T01:00:00Z")), 1, now),
            at("2026-11-16T02:01:00Z"),
            "a reset in the past"
        );
        for (attempt, expected) in
            [(1, "02:01"), (2, "02:02"), (3, "02:05"), (4, "02:10"), (5, "02:20"), (6, "02:30"), (60, "02:30")]
        {
            assert_eq!(until(&limit(None), attempt, now), at(&format!("2026-11-16T{expected}:00Z")));
        }
    }
}
