//! When a usage limit is over, as the agent's words tell it. Text and the present in, a time out.

use jiff::civil::{Date, Time, Weekday};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan};

/// When a limit is over, as its words tell: an epoch, a date, a time of day with or without a zone, or a span.
pub fn reset(words: &str, now: Timestamp) -> Option<Timestamp> {
    epoch(words)
        .or_else(|| again_at(words, now, &TimeZone::system()))
        .or_else(|| resets(words, now, &TimeZone::system()))
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
    let (day, ending) = day.split_at(day.find(|c: char| !c.is_ascii_digit()).unwrap_or(day.len()));
    let is_day = ["", "st", "nd", "rd", "th"].contains(&ending.trim_end_matches([',', '.']));
    Date::new(year.parse().ok()?, month_of(month)?, day.parse().ok().filter(|_| is_day)?).ok()
}

/// `Nov`, `november`.
fn month_of(name: &str) -> Option<i8> {
    named(name, "january february march april may june july august september october november december")
        .map(|at| at + 1)
}

/// `mon`, `Monday`.
fn weekday_of(name: &str) -> Option<Weekday> {
    let at = named(name, "monday tuesday wednesday thursday friday saturday sunday")?;
    Weekday::from_monday_zero_offset(at).ok()
}

/// Which of these names it is, whole or in its first letters.
fn named(name: &str, names: &str) -> Option<i8> {
    let name = name.trim_end_matches('.').to_lowercase();
    let is = |whole: &str| whole == name || (matches!(name.len(), 3 | 4) && whole.starts_with(&name));
    i8::try_from(names.split(' ').position(is)?).ok()
}

/// `…|1794790147`: seconds since 1970.
fn epoch(words: &str) -> Option<Timestamp> {
    let digits: String = words.rsplit('|').next()?.trim().chars().take_while(char::is_ascii_digit).collect();
    (digits.len() == 10).then(|| digits.parse().ok()).flatten().and_then(|seconds| Timestamp::from_second(seconds).ok())
}

/// `resets 3am`, `resets at 1:30pm (Asia/Seoul)`, `resets Jan 12, 10:59am (UTC)`, `resets Dec 17 at 6am`, `resets Monday 3pm`: the next
/// such time of day or day of the week. A date without a year is the nearest one, before or after the turn of the year; where it is over
/// already, it is told as it is.
fn resets(words: &str, now: Timestamp, here: &TimeZone) -> Option<Timestamp> {
    let lower = words.to_lowercase();
    let after = lower.get(lower.find("reset")?..)?.split_once(' ')?.1;
    let (when, zone) = after.split_once('(').unwrap_or((after, ""));
    let zone = zone.split_once(')').and_then(|(name, _)| TimeZone::get(name).ok()).unwrap_or_else(|| here.clone());
    let today = now.to_zoned(zone.clone()).date();
    let at = |date: Date, time: Time| date.to_datetime(time).to_zoned(zone.clone()).ok().map(|at| at.timestamp());
    let next = |first: Date, time: Time, days: i64| {
        at(first, time).filter(|at| *at > now).or_else(|| at(first.checked_add(days.days()).ok()?, time))
    };
    let parts: Vec<&str> = when.split([' ', ',']).filter(|part| !["", "at", "on"].contains(part)).take(5).collect();
    let time = |parts: &[&str]| clock_of(parts).unwrap_or(Time::midnight());
    match parts.as_slice() {
        [weekday, rest @ ..] if weekday_of(weekday).is_some() => {
            let ahead = today.weekday().until(weekday_of(weekday)?);
            next(today.checked_add(i64::from(ahead).days()).ok()?, time(rest), 7)
        }
        [month, day, year, rest @ ..] if year.len() == 4 && year.parse::<i16>().is_ok() => {
            at(date_of(month, day, year)?, time(rest))
        }
        [month, day, rest @ ..] if month_of(month).is_some() => {
            let years = [-1, 0, 1].map(|years| (today.year() + years).to_string());
            let dates = years.iter().filter_map(|year| at(date_of(month, day, year)?, time(rest)));
            dates.min_by_key(|at| at.duration_since(now).abs())
        }
        rest => next(today, clock_of(rest)?, 1),
    }
}

/// The time of day that these words begin with: `3am`, or `3:17` and `pm`.
fn clock_of(parts: &[&str]) -> Option<Time> {
    let bare = |part: &str| part.trim_end_matches(|c: char| !c.is_ascii_alphanumeric()).to_owned();
    match parts {
        [clock, half, ..] if ["am", "pm"].contains(&bare(half).as_str()) => clock_time(&(bare(clock) + &bare(half))),
        [clock, ..] => clock_time(&bare(clock)),
        [] => None,
    }
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
        Some(half) if (0..=12).contains(&hour) => hour % 12 + half,
        None if digits.contains(':') => hour,
        _ => return None,
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
            ("reset your mind", None),
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
    fn claude_tells_the_day_on_which_a_longer_limit_ends() {
        let berlin = TimeZone::get("Europe/Berlin").unwrap();
        for (now, words, expected) in [
            ("2026-11-16T02:00:00Z", "You've hit your weekly limit · resets Nov 20 at 1pm", "2026-11-20T12:00:00Z"),
            ("2026-11-16T02:00:00Z", "weekly limit · resets Nov 20, 1:30pm (UTC) · /upgrade", "2026-11-20T13:30:00Z"),
            ("2026-11-16T02:00:00Z", "limit reached ∙ resets Dec 17 at 6am (Europe/Oslo)", "2026-12-17T05:00:00Z"),
            ("2026-12-30T02:00:00Z", "limit reached · resets Jan 2 at 1pm (UTC)", "2027-01-02T13:00:00Z"),
            ("2026-12-30T02:00:00Z", "limit reached · resets Jan 2, 2027, 1pm (UTC)", "2027-01-02T13:00:00Z"),
            ("2027-01-01T00:01:00Z", "limit reached · resets Dec 31 at 11pm (UTC)", "2026-12-31T23:00:00Z"),
            ("2026-11-16T02:00:00Z", "spend limit reached · resets Dec 1", "2026-11-30T23:00:00Z"),
            ("2027-12-30T00:00:00Z", "limit reached · resets Feb 29 at 1am (UTC)", "2028-02-29T01:00:00Z"),
            // A Monday, three in the morning in Berlin.
            ("2026-11-16T02:00:00Z", "limit · resets Monday 3pm (Europe/Berlin)", "2026-11-16T14:00:00Z"),
            ("2026-11-16T15:00:00Z", "limit · resets Monday 3pm (Europe/Berlin)", "2026-11-23T14:00:00Z"),
            ("2026-11-16T02:00:00Z", "limit · resets Sun, 11 pm.", "2026-11-22T22:00:00Z"),
            ("2026-03-28T12:00:00Z", "limit · resets Mar 29 at 3am", "2026-03-29T01:00:00Z"),
        ] {
            let (now, expected): (Timestamp, Timestamp) = (now.parse().unwrap(), expected.parse().unwrap());
            assert_eq!(resets(words, now, &berlin), Some(expected), "{words}");
        }
        for words in [
            "resets Nov at 1pm",
            "resets Nov 40 at 1pm",
            "resets on the day after",
            "resets",
            "reset Ⱥ (",
            "resets 25pm",
        ] {
            assert_eq!(resets(words, now(), &berlin), None, "{words}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_words_are_too_odd(words in "(.{0,12})(reset|resets|again (at|in)|\\|)( at| on)?( (jan|Feb|mon|Sunday|.{0,6}))?( ?[0-9]{1,5}(am|pm|:|,)?){0,4}.{0,8}") {
            let _ = reset(&words, now());
        }
    }
}
