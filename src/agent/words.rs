//! The words in which agents tell of limits and of failures that no retry mends. Read only in an agent's own error, never in
//! what a tool printed or a file says.

use jiff::civil::Time;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan, Zoned};

use super::event::{Event, Failure, Limit, Remedy};

/// What an agent's own error means: a limit to wait out, a failure for the user, or one more try.
pub fn judge(words: &str, status: Option<u64>, now: Timestamp) -> Event {
    let lower = words.to_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| lower.contains(part));
    if has(&["credit balance is too low", "insufficient_quota", "insufficient credit", "no credit", "payment required"])
        || status == Some(402)
    {
        return failed(words, Remedy::User("add credit to the account, or choose another agent with --harness"));
    }
    if matches!(status, Some(429 | 529)) || has(&LIMIT_WORDS) {
        return Event::Limit(Limit { words: words.to_owned(), until: reset(words, now) });
    }
    if status == Some(401) || has(&LOGIN_WORDS) {
        return failed(words, Remedy::User("log in to the agent, or set its API key, in this shell"));
    }
    if has(&[
        "model_not_found",
        "unknown model",
        "model not found",
        "not_found_error: model",
        "does not exist or you do not have access",
    ]) || (has(&["model"]) && has(&["not found", "does not exist", "invalid model"]) && status == Some(404))
    {
        return failed(words, Remedy::User("name a model that the agent knows: --model ID"));
    }
    if has(&["cannot be used with root", "root/sudo privileges"]) {
        return failed(words, Remedy::User("run as another user than root, or set IS_SANDBOX=1 inside a container"));
    }
    failed(words, Remedy::Retry)
}

/// Today's and earlier years' wordings of a usage limit.
const LIMIT_WORDS: [&str; 13] = [
    "usage limit",
    "rate limit",
    "rate_limit",
    "hit your limit",
    "limit reached",
    "out of extra usage",
    "too many requests",
    "resource_exhausted",
    "resource exhausted",
    "quota exceeded",
    "overloaded",
    "request rejected (429)",
    "status: 429",
];

const LOGIN_WORDS: [&str; 9] = [
    "not logged in",
    "please run /login",
    "failed to authenticate",
    "authentication_failed",
    "invalid api key",
    "invalid_api_key",
    "401 unauthorized",
    "unauthenticated",
    "invalid auth method",
];

fn failed(words: &str, remedy: Remedy) -> Event {
    Event::Failed(Failure { words: words.to_owned(), remedy })
}

/// When a limit is over, as its words tell: an epoch, a time of day with or without a zone, or a span.
pub fn reset(words: &str, now: Timestamp) -> Option<Timestamp> {
    epoch(words).or_else(|| time_of_day(words, now)).or_else(|| span(words, now))
}

/// `…|1794790147`: seconds since 1970.
fn epoch(words: &str) -> Option<Timestamp> {
    let digits: String = words.rsplit('|').next()?.trim().chars().take_while(char::is_ascii_digit).collect();
    (digits.len() == 10).then(|| digits.parse().ok()).flatten().and_then(|seconds| Timestamp::from_second(seconds).ok())
}

/// `resets 3am`, `resets at 1:30pm (Asia/Seoul)`: the next such time.
fn time_of_day(words: &str, now: Timestamp) -> Option<Timestamp> {
    let lower = words.to_lowercase();
    let at = lower.find("reset")?;
    let after = words.get(at..)?.split_once(' ')?.1.trim_start().trim_start_matches("at ").trim_start();
    let clock: String = after.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == ':').collect();
    let time = clock_time(&clock.to_lowercase())?;
    let zone = after.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map(|(name, _)| name);
    let zone = zone.and_then(|name| TimeZone::get(name).ok()).unwrap_or_else(TimeZone::system);
    let here: Zoned = now.to_zoned(zone);
    let today = here.date().to_datetime(time).to_zoned(here.time_zone().clone()).ok()?;
    let next = if today.timestamp() > now { today } else { today.checked_add(1.day()).ok()? };
    Some(next.timestamp())
}

/// `3am`, `1:30pm`, `13:05`.
fn clock_time(text: &str) -> Option<Time> {
    let (digits, half) = match (text.strip_suffix("am"), text.strip_suffix("pm")) {
        (Some(digits), _) => (digits, Some(0)),
        (_, Some(digits)) => (digits, Some(12)),
        _ => (text, None),
    };
    let (hour, minute) = digits.split_once(':').unwrap_or((digits, "0"));
    let (hour, minute): (i8, i8) = (hour.parse().ok()?, minute.parse().ok()?);
    let hour = match half {
        Some(half) => hour % 12 + half,
        None if digits.contains(':') => hour,
        None => return None,
    };
    Time::new(hour, minute, 0, 0).ok()
}

/// `try again in 3 days 2 hours`, `retry after 30s`.
fn span(words: &str, now: Timestamp) -> Option<Timestamp> {
    let lower = words.to_lowercase();
    let after =
        ["again in ", "retry after ", "retry in ", "resets in "].iter().find_map(|part| lower.split_once(part))?.1;
    let mut total = SignedDuration::ZERO;
    let mut rest = after.trim_start();
    while let Some(end) = rest.find(|c: char| !c.is_ascii_digit()).filter(|&end| end > 0) {
        let number: i64 = rest[..end].parse().ok()?;
        let unit = rest[end..].trim_start();
        let seconds = match unit.chars().next()? {
            'd' => 86_400,
            'h' => 3600,
            'm' => 60,
            's' => 1,
            _ => break,
        };
        total = total.checked_add(SignedDuration::from_secs(number.checked_mul(seconds)?))?;
        rest = unit
            .trim_start_matches(|c: char| c.is_alphabetic())
            .trim_start_matches([',', ' '])
            .trim_start_matches("and ");
    }
    (!total.is_zero()).then(|| now.checked_add(total).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        "2026-11-16T02:00:00Z".parse().unwrap()
    }

    #[test]
    fn resets_in_every_wording_that_was_seen() {
        for (words, expected) in [
            ("You've hit your limit · resets 1pm (Asia/Seoul)", Some("2026-11-16T04:00:00Z")),
            ("5-hour limit reached ∙ resets 3am (UTC)", Some("2026-11-16T03:00:00Z")),
            ("limit reached, resets at 1:30am (UTC)", Some("2026-11-17T01:30:00Z")),
            ("Claude AI usage limit reached|1794800000", Some("2026-11-16T03:33:20Z")),
            ("You've hit your usage limit. Try again in 3 days 2 hours.", Some("2026-11-19T04:00:00Z")),
            ("Please retry after 30s", Some("2026-11-16T02:00:30Z")),
            ("429 Too Many Requests", None),
            ("resets soon", None),
        ] {
            assert_eq!(reset(words, now()), expected.map(|at| at.parse().unwrap()), "{words}");
        }
    }

    #[test]
    fn what_an_error_means() {
        let kind = |words: &str, status| match judge(words, status, now()) {
            Event::Limit(_) => "limit",
            Event::Failed(Failure { remedy: Remedy::User(_), .. }) => "user",
            Event::Failed(_) => "retry",
            _ => "other",
        };
        for (words, status, expected) in [
            ("API Error: Request rejected (429) · fake error 429", Some(429), "limit"),
            ("API Error: 529 overloaded", Some(529), "limit"),
            ("exceeded retry limit, last status: 429 Too Many Requests", None, "limit"),
            ("Failed to authenticate. API Error: 401 fake error 401", Some(401), "user"),
            ("Not logged in · Please run /login", None, "user"),
            ("unexpected status 401 Unauthorized: x", None, "user"),
            ("Your credit balance is too low to access the API", Some(400), "user"),
            ("--dangerously-skip-permissions cannot be used with root/sudo privileges", None, "user"),
            ("stream disconnected before completion", None, "retry"),
            ("API Error: Connection dropped (ECONNRESET)", None, "retry"),
        ] {
            assert_eq!(kind(words, status), expected, "{words}");
        }
    }
}
