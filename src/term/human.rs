//! Numbers and times as a person reads them. Pure: the clock is the caller's.
//!
//! Everything is cut off, never rounded up: what is said to have passed has passed, what is said to be used is used,
//! and `59.99` seconds are never `60s`. Two figures are enough: below ten of a unit one decimal, above it none.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// How long ago something still happens "just now", in seconds.
const JUST_NOW: u64 = 5;

/// With what a bar is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Glyphs {
    /// `█` and `░`.
    Unicode,
    /// `#` and `-`, where the locale has no more.
    Ascii,
}

/// A span of time by its two largest units: `0.4s`, `12s`, `3m 05s`, `2h 07m`, `3d 04h`.
pub fn duration(span: Duration) -> String {
    let seconds = span.as_secs();
    match seconds {
        0 if span.as_millis() < 100 => format!("{}ms", span.as_millis()),
        0..10 => format!("{seconds}.{}s", span.subsec_millis() / 100),
        10..MINUTE => format!("{seconds}s"),
        MINUTE..HOUR => format!("{}m {:02}s", seconds / MINUTE, seconds % MINUTE),
        HOUR..DAY => format!("{}h {:02}m", seconds / HOUR, seconds % HOUR / MINUTE),
        DAY.. => format!("{}d {:02}h", seconds / DAY, seconds % DAY / HOUR),
    }
}

/// When `then` is, seen from `now`: `just now`, `12s ago`, `5m ago`, `3h ago`, `2d ago`, `in 5m`.
pub fn relative(then: Timestamp, now: Timestamp) -> String {
    let passed = now.duration_since(then);
    let seconds = passed.unsigned_abs().as_secs();
    if passed.is_negative() && seconds > 0 {
        return format!("in {}", largest_unit(seconds));
    }
    if seconds < JUST_NOW {
        return "just now".to_owned();
    }
    format!("{} ago", largest_unit(seconds))
}

fn largest_unit(seconds: u64) -> String {
    match seconds {
        0..MINUTE => format!("{seconds}s"),
        MINUTE..HOUR => format!("{}m", seconds / MINUTE),
        HOUR..DAY => format!("{}h", seconds / HOUR),
        DAY.. => format!("{}d", seconds / DAY),
    }
}

/// An instant in the system's time zone: `2026-11-16 02:30:07`.
pub fn local(instant: Timestamp) -> String {
    static ZONE: OnceLock<TimeZone> = OnceLock::new();
    in_zone(instant, ZONE.get_or_init(zone).clone())
}

/// The system's time zone, from the one file that has it. Asked for it, jiff looks up every time zone of the machine
/// first, and `status` takes twice as long; so it is asked only where `TZ` names no such file.
fn zone() -> TimeZone {
    let file = match std::env::var_os("TZ") {
        None => PathBuf::from("/etc/localtime"),
        Some(name) => Path::new("/usr/share/zoneinfo").join(name),
    };
    let own = std::fs::read(file).ok().and_then(|data| TimeZone::tzif("", &data).ok());
    own.unwrap_or_else(TimeZone::system)
}

fn in_zone(instant: Timestamp, zone: TimeZone) -> String {
    instant.to_zoned(zone).strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// A number of things, in powers of a thousand: `999`, `1.2k`, `35k`, `1.3M`.
pub fn count(n: u64) -> String {
    scaled(n, 1000, &["", "k", "M", "G", "T", "P", "E"])
}

/// A number of bytes, in powers of 1024: `512 B`, `1.4 MiB`.
pub fn bytes(n: u64) -> String {
    scaled(n, 1024, &[" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"])
}

/// `n` in the largest of `units` that it reaches, each `base` times the one before.
fn scaled(n: u64, base: u64, units: &[&str]) -> String {
    let mut size = 1;
    let mut units = units.iter();
    let mut unit = units.next();
    while n / size >= base
        && let Some(next) = units.next()
    {
        size *= base;
        unit = Some(next);
    }
    let unit = unit.copied().unwrap_or_default();
    let whole = n / size;
    if size == 1 || whole >= 10 {
        return format!("{whole}{unit}");
    }
    format!("{whole}.{}{unit}", n % size * 10 / size)
}

/// A bar of `width` glyphs, full only when all is done. Of a `total` of 0 nothing is; beyond the total is full.
pub fn bar(done: u64, total: u64, width: usize, glyphs: Glyphs) -> String {
    let (full, empty) = match glyphs {
        Glyphs::Unicode => ("█", "░"),
        Glyphs::Ascii => ("#", "-"),
    };
    let filled = filled(done, total, width);
    full.repeat(filled) + &empty.repeat(width - filled)
}

fn filled(done: u64, total: u64, width: usize) -> usize {
    // In 128 bits the product has room, and the quotient is at most `width`.
    let share = (u128::from(done.min(total)) * width as u128).checked_div(u128::from(total));
    share.and_then(|share| usize::try_from(share).ok()).unwrap_or(0)
}

/// A number and its noun, for nouns that add an `s`: `1 iteration`, `2 iterations`.
pub fn plural(n: u64, noun: &str) -> String {
    match n {
        1 => format!("1 {noun}"),
        _ => format!("{n} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::{SignedDuration, tz};
    use proptest::prelude::*;

    #[test]
    fn durations() {
        let table = [
            (0, "0ms"),
            (99, "99ms"),
            (449, "0.4s"),
            (9_999, "9.9s"),
            (10_000, "10s"),
            (12_345, "12s"),
            (59_999, "59s"),
            (60_000, "1m 00s"),
            (185_000, "3m 05s"),
            (3_599_999, "59m 59s"),
            (7_620_000, "2h 07m"),
            (86_399_999, "23h 59m"),
            (273_600_000, "3d 04h"),
        ];
        for (millis, expected) in table {
            assert_eq!(duration(Duration::from_millis(millis)), expected, "{millis} ms");
        }
    }

    #[test]
    fn times_seen_from_now() {
        let table = [
            (0, "just now"),
            (4_999, "just now"),
            (5_000, "5s ago"),
            (12_000, "12s ago"),
            (60_000, "1m ago"),
            (359_000, "5m ago"),
            (3 * 3_600_000, "3h ago"),
            (2 * 86_400_000, "2d ago"),
            (40 * 86_400_000, "40d ago"),
            (-999, "just now"),
            (-3_000, "in 3s"),
            (-300_000, "in 5m"),
            (-86_400_000, "in 1d"),
        ];
        let now = Timestamp::from_second(1_800_000_000).unwrap();
        for (millis, expected) in table {
            let then = now - SignedDuration::from_millis(millis);
            assert_eq!(relative(then, now), expected, "{millis} ms");
        }
        assert_eq!(relative(Timestamp::MIN, Timestamp::MAX), "7304481d ago");
    }

    #[test]
    fn absolute_times_are_local() {
        let instant: Timestamp = "2026-11-16T01:30:07.9Z".parse().unwrap();
        let table = [(0, "2026-11-16 01:30:07"), (1, "2026-11-16 02:30:07"), (-8, "2026-11-15 17:30:07")];
        for (hours, expected) in table {
            assert_eq!(in_zone(instant, TimeZone::fixed(tz::offset(hours))), expected, "{hours}");
        }
        assert_eq!(local(instant).len(), "2026-11-16 02:30:07".len());
    }

    #[test]
    fn counts() {
        let table = [
            (0, "0"),
            (999, "999"),
            (1_000, "1.0k"),
            (1_299, "1.2k"),
            (9_999, "9.9k"),
            (35_400, "35k"),
            (999_999, "999k"),
            (1_300_000, "1.3M"),
            (12_000_000_000, "12G"),
            (u64::MAX, "18E"),
        ];
        for (n, expected) in table {
            assert_eq!(count(n), expected, "{n}");
        }
    }

    #[test]
    fn sizes() {
        let table = [
            (0, "0 B"),
            (512, "512 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1_500_000, "1.4 MiB"),
            (52_428_800, "50 MiB"),
            (u64::MAX, "15 EiB"),
        ];
        for (n, expected) in table {
            assert_eq!(bytes(n), expected, "{n}");
        }
    }

    #[test]
    fn bars() {
        let table = [
            (5, 10, 10, "█████░░░░░", "#####-----"),
            (0, 10, 4, "░░░░", "----"),
            (10, 10, 4, "████", "####"),
            (999, 1000, 4, "███░", "###-"),
            (11, 10, 4, "████", "####"),
            (0, 0, 4, "░░░░", "----"),
            (1, 2, 0, "", ""),
            (u64::MAX - 1, u64::MAX, 3, "██░", "##-"),
        ];
        for (done, total, width, unicode, ascii) in table {
            assert_eq!(bar(done, total, width, Glyphs::Unicode), unicode, "{done}/{total}");
            assert_eq!(bar(done, total, width, Glyphs::Ascii), ascii, "{done}/{total}");
        }
    }

    #[test]
    fn plurals() {
        let table = [(0, "0 iterations"), (1, "1 iteration"), (2, "2 iterations")];
        for (n, expected) in table {
            assert_eq!(plural(n, "iteration"), expected);
        }
    }

    proptest! {
        #[test]
        fn a_bar_is_full_only_when_all_is_done(done: u64, total in 1u64.., width in 1usize..200) {
            let bar = bar(done, total, width, Glyphs::Ascii);
            prop_assert_eq!(bar.len(), width);
            prop_assert_eq!(bar.contains('-'), done < total);
        }

        #[test]
        fn a_count_is_short(n: u64) {
            prop_assert!(count(n).len() <= 4);
        }
    }
}
