//! A usage limit is waited out, by the wall clock and by the one that never jumps.
//!
//! The wall clock decides, so that a suspended machine does not oversleep; but it takes no longer than it seemed to at first, so that a
//! clock that is set back does not stretch it. It counts towards nothing but the bounds that the user has set.

use std::time::{Duration, Instant};

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
/// How often the wall clock is looked at; and how much longer than at first thought a wait may take by the other clock.
const GLANCE: Duration = Duration::from_secs(15);

/// One wait for the end of a limit.
#[derive(Debug, PartialEq)]
struct Pause {
    /// When to try again, by the wall clock.
    until: Timestamp,
    /// How long that is from its beginning.
    span: Duration,
}

impl Pause {
    fn new(limit: &Limit, attempt: u64, now: Timestamp) -> Self {
        let step = usize::try_from(attempt.saturating_sub(1)).unwrap_or(usize::MAX).min(MINUTES.len() - 1);
        let growing = || now.checked_add(SignedDuration::from_mins(MINUTES[step])).unwrap_or(now);
        let told = limit.until.filter(|&reset| reset > now);
        let until = told.map_or_else(growing, |reset| reset.checked_add(AFTER_RESET).unwrap_or(reset));
        Self { until, span: span(now, until) }
    }

    /// What is left of it when the wall clock shows `now` and `waited` has gone by on the one that never jumps. That one stands
    /// still while the machine sleeps, and the wall clock can be set back: whichever is first ends the wait.
    fn left(&self, now: Timestamp, waited: Duration) -> Duration {
        span(now, self.until).min(self.span.saturating_add(GLANCE).saturating_sub(waited))
    }
}

/// From one moment to a later one; none to an earlier one.
fn span(from: Timestamp, to: Timestamp) -> Duration {
    Duration::try_from(to.duration_since(from)).unwrap_or_default()
}

impl Engine<'_> {
    /// Waits until the limit is over; returns why not, where that would take too long.
    pub(super) fn wait_out(&mut self, limit: &Limit, attempt: u64) -> Result<Option<String>> {
        let began = Instant::now();
        let pause = Pause::new(limit, attempt, Timestamp::now());
        let (until, wait) = (pause.until, pause.span);
        if self.spec.limit_wait.is_some_and(|most| self.waited + wait > most) {
            let most = human::duration(self.spec.limit_wait.unwrap_or_default());
            return Ok(Some(format!("{}; waiting it out would take longer than --limit-wait {most}", limit.words)));
        }
        let past_max_time = || format!("{}; waiting it out would take longer than --max-time allows", limit.words);
        if self.time_left().is_some_and(|left| wait > left) {
            return Ok(Some(past_max_time()));
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
        while self.stop_asked().is_none() {
            let left = pause.left(Timestamp::now(), began.elapsed()).min(self.time_left().unwrap_or(Duration::MAX));
            if left.is_zero() {
                break;
            }
            self.sleep(left.min(GLANCE));
        }
        self.stage.set_live(None);
        self.state.waiting_until = None;
        Ok(self.time_left().is_some_and(|left| left.is_zero()).then(past_max_time))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_end_at_the_reset_or_grow() {
        let now: Timestamp = "2026-11-16T02:00:00Z".parse().unwrap();
        let at = |text: &str| -> Timestamp { text.parse().unwrap() };
        let until = |limit: &Limit, attempt| Pause::new(limit, attempt, now).until;
        let limit = |until: Option<&str>| Limit { words: "limit".into(), until: until.map(at) };
        assert_eq!(until(&limit(Some("2026-11-16T03:00:00Z")), 1), at("2026-11-16T03:00:05Z"));
        assert_eq!(until(&limit(Some("2026-11-16T01:00:00Z")), 1), at("2026-11-16T02:01:00Z"), "a reset in the past");
        for (attempt, expected) in
            [(1, "02:01"), (2, "02:02"), (3, "02:05"), (4, "02:10"), (5, "02:20"), (6, "02:30"), (60, "02:30")]
        {
            assert_eq!(until(&limit(None), attempt), at(&format!("2026-11-16T{expected}:00Z")));
        }
    }

    #[test]
    fn a_jump_of_the_wall_clock_ends_a_wait_and_stretches_none() {
        let start: Timestamp = "2026-11-16T02:00:00Z".parse().unwrap();
        let after = |seconds: i64| start.checked_add(SignedDuration::from_secs(seconds)).unwrap();
        let pause = |until| Pause::new(&Limit { words: "limit".into(), until }, 1, start);
        let (told, growing) = (pause(Some(after(95))), pause(None));
        // Seconds that the wall clock shows since the beginning, seconds that went by, and what is left.
        let day = 24 * 3600;
        for (what, pause, shown, waited, left) in [
            ("told, at first", &told, 0, 0, 100),
            ("told, later", &told, 40, 40, 60),
            ("told, over", &told, 100, 100, 0),
            ("told, forward", &told, day, 1, 0),
            ("told, asleep meanwhile", &told, 90, 10, 10),
            ("told, backward", &told, -day, 1, 114),
            ("told, backward, later", &told, 100 - day, 100, 15),
            ("told, backward, over", &told, 115 - day, 115, 0),
            ("growing, at first", &growing, 0, 0, 60),
            ("growing, asleep meanwhile", &growing, 50, 5, 10),
            ("growing, forward", &growing, day, 1, 0),
            ("growing, backward", &growing, -day, 1, 74),
            ("growing, backward, over", &growing, 75 - day, 75, 0),
        ] {
            assert_eq!(pause.left(after(shown), Duration::from_secs(waited)), Duration::from_secs(left), "{what}");
        }
    }
}
