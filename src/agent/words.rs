//! The words in which agents tell of limits and of failures that no retry mends. Read only in an agent's own error, never in
//! what a tool printed or a file says.

use jiff::civil::{Date, Time};
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
    let about_context = has(&["context", "token limit", "turn limit", "max turns"]);
    if matches!(status, Some(429 | 529)) || (has(&LIMIT_WORDS) && !about_context) {
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
    ]) || (has(&["model"]) && (status == Some(404) || has(&["may not exist"])))
    {
        return failed(words, Remedy::User("name a model that the agent knows: --model ID"));
    }
    if has(&["cannot be used with root", "root/sudo privileges"]) {
        return failed(words, Remedy::User("run as another user than root, or set IS_SANDBOX=1 inside a container"));
    }
    if has(&["unknown option", "unexpected argument", "unrecognized option", "unknown argument", "unknown flag"]) {
        return failed(words, Remedy::User(OLD));
    }
    failed(words, Remedy::Retry)
}

/// What mends an agent that does not know a flag.
pub const OLD: &str = "this version of the agent does not know a flag that is needed: update it";

/// Today's and earlier years' wordings of a usage limit.
const LIMIT_WORDS: [&str; 15] = [
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
    "exhausted your daily quota",
    "exhausted your capacity",
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

/// When a limit is over, as its words tell: an epoch, a date, a time of day with or without a zone, or a span.
pub fn reset(words: &str, now: Timestamp) -> Option<Timestamp> {
    epoch(words)
        .or_else(|| again_at(words, now, &TimeZone::system()))
        .or_else(|| time_of_day(words, now))
        .or_else(|| span(words, now))
}

/// `Try again at 4:07 AM.`, `Try again at Nov 20th, 2026 3:17 PM.`: codex, in the time of this machine, without the seconds. What
/// it means is over at the end of that minute.
fn again_at(words: &str, now: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
    let after = words.split_once("again at ")?.1;
    let here = now.to_zoned(zone.clone());
    let mut parts: Vec<&str> = after.split_whitespace().take(5).collect();
    let half =
        parts.iter().position(|part| ["am", "pm"].contains(&part.trim_end_matches('.').to_lowercase().as_str()))?;
    parts.truncate(half + 1);
    let [day @ .., clock, half] = parts.as_slice() else { return None };
    let time = clock_time(&format!("{clock}{}", half.trim_end_matches('.')).to_lowercase())?;
    let date = match day {
        [] => here.date(),
        [month, day, year] => date_of(month, day, year)?,
        _ => return None,
    };
    let minute = date.to_datetime(time).to_zoned(zone.clone()).ok()?;
    let over = minute.checked_add(1.minute()).ok()?;
    let past = over.timestamp() <= now && day.is_empty();
    Some(if past { over.checked_add(1.day()).ok()? } else { over }.timestamp())
}

/// `Nov`, `20th,`, `2026`.
fn date_of(month: &str, day: &str, year: &str) -> Option<Date> {
    const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let month = MONTHS.iter().position(|name| month.to_lowercase().starts_with(name))?;
    let day: String = day.chars().take_while(char::is_ascii_digit).collect();
    Date::new(year.parse().ok()?, i8::try_from(month + 1).ok()?, day.parse().ok()?).ok()
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

/// `try again in 3 days 2 hours`, `retry after 30s`, `retry in 6m0s`, `try again in 1.898s`.
fn span(words: &str, now: Timestamp) -> Option<Timestamp> {
    let lower = words.to_lowercase();
    let after = ["again in ", "retry after ", "retry in ", "resets in ", "reset after "]
        .iter()
        .find_map(|part| lower.split_once(part))?
        .1;
    let mut total = 0.0;
    let mut rest = after.trim_start();
    loop {
        let (number, unit) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len()));
        let unit = unit.trim_start();
        let (unit, next) = unit.split_at(unit.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(unit.len()));
        let (Ok(number), Some(seconds)) = (number.parse::<f64>(), seconds_of(unit)) else { break };
        total += number * seconds;
        rest = next.trim_start_matches([',', ' ']).trim_start_matches("and ");
    }
    // Up to the next second: a little late is on time.
    let total = SignedDuration::try_from_secs_f64(total.ceil()).ok()?;
    (!total.is_zero()).then(|| now.checked_add(total).ok()).flatten()
}

/// How long a unit is: `s`, `seconds`, `m`, `min`, `minutes`, `h`, `hours`, `days`, `ms`.
fn seconds_of(unit: &str) -> Option<f64> {
    match unit {
        "ms" | "millis" | "milliseconds" => Some(0.001),
        _ => match unit.chars().next()? {
            'd' => Some(86_400.0),
            'h' => Some(3600.0),
            'm' => Some(60.0),
            's' => Some(1.0),
            _ => None,
        },
    }
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
            ("Rate limit reached. Please try again in 1.898s. Visit us", Some("2026-11-16T02:00:02Z")),
            ("Please retry in 6m0s.", Some("2026-11-16T02:06:00Z")),
            ("try again in 20ms", Some("2026-11-16T02:00:01Z")),
            ("try again in 1 hour and 5 minutes", Some("2026-11-16T03:05:00Z")),
            ("You have exhausted your capacity. Your quota will reset after 3h0m5s.", Some("2026-11-16T05:00:05Z")),
            ("try again in a while", None),
            ("429 Too Many Requests", None),
            ("resets soon", None),
        ] {
            assert_eq!(reset(words, now()), expected.map(|at| at.parse().unwrap()), "{words}");
        }
    }

    #[test]
    fn codex_tells_the_minute_in_which_a_limit_ends() {
        for (words, expected) in [
            ("You’ve hit your usage limit. Try again at 4:07 AM.", Some("2026-11-16T04:08:00Z")),
            ("You’ve hit your usage limit. Try again at 2:00 AM.", Some("2026-11-16T02:01:00Z")),
            ("You’ve hit your usage limit. Try again at 1:59 AM.", Some("2026-11-17T02:00:00Z")),
            ("You’ve hit your usage limit. Try again at Nov 20th, 2026 3:17 PM.", Some("2026-11-20T15:18:00Z")),
            ("Upgrade to Pro or try again at 12:30 PM.", Some("2026-11-16T12:31:00Z")),
            ("Try again at your leisure.", None),
            ("Try again at 99:99 AM.", None),
        ] {
            assert_eq!(again_at(words, now(), &TimeZone::UTC), expected.map(|at| at.parse().unwrap()), "{words}");
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
            ("error: unknown option '--output-format'", None, "user"),
            (
                "There's an issue with the selected model (x). It may not exist or you may not have access",
                Some(404),
                "user",
            ),
            ("Context limit reached · /compact or /clear to continue", None, "retry"),
            ("stream disconnected before completion", None, "retry"),
            ("API Error: Connection dropped (ECONNRESET)", None, "retry"),
        ] {
            assert_eq!(kind(words, status), expected, "{words}");
        }
    }
}
