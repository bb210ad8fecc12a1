//! Times and their medians.

use std::process::{Command, Stdio};
use std::time::Instant;

/// How often a pair is measured.
pub const ROUNDS: usize = 21;

/// The middle one.
pub fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// The seconds that `act` takes.
pub fn seconds(act: impl FnOnce()) -> f64 {
    let from = Instant::now();
    act();
    from.elapsed().as_secs_f64()
}

/// The seconds that a command takes whose output nobody reads.
pub fn run(command: &mut Command) -> f64 {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    seconds(|| {
        command.status().expect("the command can be started");
    })
}

/// The medians of two measurements, taken turn by turn so that what else the machine does meets both.
pub fn pair(rounds: usize, mut ours: impl FnMut() -> f64, mut theirs: impl FnMut() -> f64) -> (f64, f64) {
    // The first turn warms both up.
    ours();
    theirs();
    let (left, right) = (0..rounds).map(|_| (ours(), theirs())).unzip();
    (median(left), median(right))
}

/// A time as one would say it.
pub fn show(seconds: f64) -> String {
    match seconds {
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 0.001 => format!("{:.2} ms", s * 1e3),
        s => format!("{:.0} µs", s * 1e6),
    }
}
