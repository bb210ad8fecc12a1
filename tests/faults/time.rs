//! The wall clock jumps, by days, forward and backward, while a loop runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::classes;
use crate::support::{Running, World, agents, run, spawn, wait_until};
use crate::tally::Tally;

/// Where Debian, Fedora and Arch keep it.
const LIBRARIES: [&str; 4] = [
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib64/faketime/libfaketimeMT.so.1",
    "/usr/lib/faketime/libfaketimeMT.so.1",
];

fn library() -> Option<&'static Path> {
    LIBRARIES.iter().map(Path::new).find(|path| path.exists())
}

/// A world whose wall clock can be set; its other clocks go as they do.
struct Clock {
    world: World,
    offset: PathBuf,
}

impl Clock {
    fn new(agent: &str) -> Self {
        let world = World::with_agent(agent);
        let clock = Self { offset: world.base().join("tmp/clock"), world };
        clock.jump("+0");
        clock
    }

    /// From here on it is so much later, or earlier, than it is.
    fn jump(&self, by: &str) {
        let part = self.offset.with_extension("part");
        fs::write(&part, by).unwrap();
        fs::rename(part, &self.offset).unwrap();
    }

    fn command(&self, args: &[&str]) -> std::process::Command {
        let mut command = self.world.command(self.world.program());
        command.args(args).env("LD_PRELOAD", library().unwrap()).env("FAKETIME_TIMESTAMP_FILE", &self.offset);
        command.env("FAKETIME_NO_CACHE", "1").env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        command
    }

    fn run(&self, options: &[&str]) -> Running {
        spawn(self.command(&[&["run", "x", "--max", "1", "--done", "manual"], options].concat()))
    }

    /// Waits until a file beside the worktree is there.
    #[track_caller]
    fn wait_for(&self, name: &str) {
        wait_until(name, || self.world.beside(name).exists());
    }

    fn iteration(&self) -> Value {
        self.world.state()["iterations"][0].clone()
    }

    /// What readers say of it, whatever the times in the files are to each other.
    #[track_caller]
    fn can_be_read(&self) {
        for args in [&["status"][..], &["status", "--json"], &["history"], &["history", "--json"], &["list", "--all"]] {
            run(self.command(args)).exit(0).lacks("panicked");
        }
    }
}

fn moment(value: &Value) -> jiff::Timestamp {
    value.as_str().unwrap().parse().unwrap()
}

fn days_between(iteration: &Value) -> f64 {
    moment(&iteration["ended"]).duration_since(moment(&iteration["started"])).as_secs_f64() / (24.0 * 3600.0)
}

/// Says that it is there, and after the jump that it still is.
const WAITS: &str = "cat > /dev/null\ntouch ../there\nuntil [ -e ../go ]; do sleep 0.02; done\n\
                     for n in 1 2 3 4 5; do echo still here; sleep 0.1; done\n";

const DEADLINES: [&str; 6] = ["--iteration-timeout", "1h", "--idle-timeout", "1h", "--max-time", "1h"];

fn a_jump_fires_no_deadline(by: &str, days: f64) {
    let clock = Clock::new(WAITS);
    let running = clock.run(&DEADLINES);
    clock.wait_for("there");
    clock.jump(by);
    fs::write(clock.world.beside("go"), "").unwrap();
    running.wait().exit(3);
    assert_eq!(clock.iteration()["exit_reason"], "completed");
    let told = days_between(&clock.iteration());
    assert!((told - days).abs() < 0.1, "times in files are the wall clock's, not {told} days apart");
    clock.can_be_read();
}

fn a_jump_stops_no_deadline(by: &str, option: &str) {
    let clock = Clock::new("cat > /dev/null\ntouch ../there\nexec sleep 1000\n");
    let running = clock.run(&[option, "2s"]);
    let from = Instant::now();
    clock.wait_for("there");
    clock.jump(by);
    running.wait().exit(3);
    assert!(from.elapsed() >= Duration::from_millis(1900), "{:?}", from.elapsed());
    assert_eq!(clock.iteration()["exit_reason"], "timed_out");
    clock.can_be_read();
}

fn an_agent_keeps_its_grace() {
    let tidies =
        "trap 'touch ../asked; sleep 2; touch ../tidied; exit 0' TERM\ntouch ../there\nwhile :; do sleep 0.02; done\n";
    let clock = Clock::new(tidies);
    let running = clock.run(&["--iteration-timeout", "1s"]);
    clock.wait_for("asked");
    clock.jump("+3d");
    running.wait().exit(3);
    assert!(clock.world.beside("tidied").exists(), "the grace is five seconds by any wall clock");
}

fn a_grace_ends() {
    let clock = Clock::new("trap 'touch ../asked' TERM\ntouch ../there\nwhile :; do sleep 0.02; done\n");
    let running = clock.run(&["--iteration-timeout", "1s"]);
    clock.wait_for("asked");
    clock.jump("-3d");
    let from = Instant::now();
    running.wait().exit(3);
    assert!(from.elapsed() > Duration::from_secs(4), "{:?}", from.elapsed());
    assert_eq!(clock.world.processes(), []);
}

/// Meets a limit in its first try, and is done in the second.
fn limited(until: &str) -> String {
    let line = format!(
        r#"{{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"limit reached, try again in {until}"}}"#
    );
    format!("cat > /dev/null\n[ -e ../tried ] && exit 0\ntouch ../tried\necho '{line}'\nexit 1\n")
}

fn waiting(clock: &Clock) -> (Running, Value) {
    let running = clock.run(&[]);
    let state = clock.world.wait_for_state("the wait", |state| state["waiting_until"].is_string());
    (running, state["waiting_until"].clone())
}

fn a_usage_limit_ends_by_the_wall_clock() {
    let clock = Clock::new(&limited("2 hours"));
    let (running, _) = waiting(&clock);
    clock.jump("+3h");
    running.wait().exit(3);
    assert_eq!(clock.iteration()["attempts"], 2, "a machine that slept through the limit does not oversleep");
}

fn a_usage_limit_is_neither_over_early_nor_stretched() {
    let clock = Clock::new(&limited("1s"));
    let (running, until) = waiting(&clock);
    clock.jump("-1h");
    // Not to be right, but to be wrong if the wait were a span: one second, and five for clocks that differ.
    std::thread::sleep(Duration::from_secs(8));
    assert_eq!(clock.world.state()["waiting_until"], until);
    running.wait().exit(3);
    assert_eq!(clock.iteration()["attempts"], 2, "a clock that was set back by an hour makes no wait of an hour");
}

fn a_loop_that_stood_still_goes_on() {
    let clock = Clock::new(&agents::SLEEPS.replace("echo sleeping\n", "touch ../there\n"));
    let running = clock.run(&["--iteration-timeout", "2s"]);
    clock.wait_for("there");
    running.signal(nix::sys::signal::Signal::SIGSTOP);
    clock.jump("+3d");
    running.signal(nix::sys::signal::Signal::SIGCONT);
    running.wait().exit(3);
    assert_eq!(clock.iteration()["exit_reason"], "timed_out");
}

#[test]
fn a_jump_of_the_wall_clock_neither_fires_nor_stops_a_deadline() {
    if library().is_none() {
        println!("SKIPPED: {}: libfaketime is not installed", classes::TIME.name);
        return;
    }
    let cases: [(&str, fn()); 12] = [
        ("forward, no deadline passes", || a_jump_fires_no_deadline("+3d", 3.0)),
        ("backward, no deadline passes", || a_jump_fires_no_deadline("-3d", -3.0)),
        ("forward, total", || a_jump_stops_no_deadline("+3d", "--iteration-timeout")),
        ("backward, total", || a_jump_stops_no_deadline("-3d", "--iteration-timeout")),
        ("backward, idle", || a_jump_stops_no_deadline("-3d", "--idle-timeout")),
        ("forward, idle", || a_jump_stops_no_deadline("+3d", "--idle-timeout")),
        ("backward, the loop's own", || a_jump_stops_no_deadline("-3d", "--max-time")),
        ("forward, grace", an_agent_keeps_its_grace),
        ("backward, grace", a_grace_ends),
        ("forward, usage limit", a_usage_limit_ends_by_the_wall_clock),
        ("backward, usage limit", a_usage_limit_is_neither_over_early_nor_stretched),
        ("stopped meanwhile", a_loop_that_stood_still_goes_on),
    ];
    Tally::of_cases(&cases).tell(&classes::TIME);
}
