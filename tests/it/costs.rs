//! What things cost, as counts where it can be: calls of git, wake-ups; and once as time, against git's own.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::support::{Cast, World, agents, wait_until};

/// A world whose `git` writes down how it was called.
struct Counting {
    world: World,
    git: PathBuf,
    calls: PathBuf,
}

impl Counting {
    /// The agent finds the real git as `$GIT`, so that its own calls do not count.
    fn new(agent: &str) -> Self {
        let world = World::new();
        let (git, calls) = (which::which("git").unwrap(), world.base().join("tmp/git-calls"));
        world.agent("git", &format!("echo \"$*\" >> {}\nexec {} \"$@\"\n", calls.display(), git.display()));
        world.agent("claude", &format!("GIT={}\n{agent}", git.display()));
        fs::write(&calls, "").unwrap();
        Self { world, git, calls }
    }

    /// The calls that `act` makes.
    fn calls(&self, act: impl FnOnce(&World)) -> Vec<String> {
        fs::write(&self.calls, "").unwrap();
        act(&self.world);
        fs::read_to_string(&self.calls).unwrap().lines().map(str::to_owned).collect()
    }

    /// How many calls a loop of so many iterations makes.
    fn calls_of_loop(&self, iterations: usize) -> usize {
        let max = iterations.to_string();
        self.calls(|world| drop(world.wt(&["run", "x", "--max", &max, "--stall-threshold", "0"]).exit(3))).len()
    }
}

#[test]
fn status_asks_git_once() {
    let counting = Counting::new(agents::SLEEPS);
    let world = &counting.world;
    world.wt(&["start", "x", "--launcher", "background"]).exit(0);
    world.wait_for_log("sleeping");
    for args in [&["status"][..], &["status", "--json"], &["history"]] {
        let calls = counting.calls(|world| drop(world.wt(args).exit(0)));
        assert_eq!(calls.len(), 1, "{args:?}: {calls:?}");
        assert!(calls[0].starts_with("rev-parse "), "{calls:?}");
    }
    let calls = counting.calls(|world| drop(world.wt(&["list"]).exit(0)));
    assert!(calls.is_empty(), "list asks nobody: {calls:?}");
    world.wt(&["stop"]).exit(0);
}

#[test]
fn an_iteration_asks_git_once_and_once_more_where_the_head_moved() {
    let idle = Counting::new("cat > /dev/null\n");
    assert_eq!(idle.calls_of_loop(6) - idle.calls_of_loop(2), 4);
    let busy = Counting::new("cat > /dev/null\n$GIT commit -q --allow-empty -m work\n");
    assert_eq!(busy.calls_of_loop(6) - busy.calls_of_loop(2), 8);
}

#[test]
fn a_waiting_loop_sleeps() {
    let world = World::with_agent(agents::SLEEPS);
    world.wt(&["start", "x", "--launcher", "background", "--iteration-timeout", "1h", "--idle-timeout", "1h"]).exit(0);
    world.wait_for_log("sleeping");
    let cast = Cast::of(world.read(".claude/ralph-terminal.pid").trim().parse().unwrap());
    let switches = || [cast.looper, cast.guard].map(wake_ups);
    let mut last = switches();
    wait_until("a second in which neither loop nor guard wakes up", || {
        std::thread::sleep(Duration::from_secs(1));
        let now = switches();
        std::mem::replace(&mut last, now.clone()) == now
    });
    world.wt(&["stop"]).exit(0);
}

/// How often each thread of a process has gone to sleep.
fn wake_ups(pid: i32) -> Vec<(String, String)> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
    let count = |thread: fs::DirEntry| {
        let status = fs::read_to_string(thread.path().join("status")).unwrap();
        let line = status.lines().find(|line| line.starts_with("voluntary_ctxt_switches")).unwrap();
        (thread.file_name().to_string_lossy().into_owned(), line.to_owned())
    };
    threads.map(count).collect()
}

#[test]
fn status_takes_little_longer_than_git_does() {
    let counting = Counting::new(agents::IDLE);
    let world = &counting.world;
    fs::remove_file(world.base().join("bin/git")).unwrap();
    world.wt(&["run", "x", "--max", "3", "--stall-threshold", "0"]).exit(3);
    let time = |program: &PathBuf, args: &[&str]| {
        let mut command = world.command(program);
        let from = Instant::now();
        assert!(command.args(args).output().unwrap().status.success());
        from.elapsed()
    };
    // A binary that was not optimised says little about what users wait for.
    let bound = if cfg!(debug_assertions) { 12.0 } else { 2.5 };
    let ratio = || {
        let (mut ours, mut gits): (Vec<_>, Vec<_>) = (0..20)
            .map(|_| (time(&world.program(), &["status"]), time(&counting.git, &["rev-parse", "--show-toplevel"])))
            .unzip();
        ours.sort();
        gits.sort();
        ours[10].as_secs_f64() / gits[10].as_secs_f64()
    };
    let mut ratios = Vec::new();
    // On a machine that is busy with other things a round can go wrong; five do not.
    while ratios.len() < 5 && !ratios.iter().any(|&ratio| ratio <= bound) {
        ratios.push(ratio());
    }
    eprintln!("status takes {:.2} times as long as git rev-parse", ratios[ratios.len() - 1]);
    assert!(ratios.iter().any(|&ratio| ratio <= bound), "{ratios:?}");
}

/// What `strace` with these options sees of a loop of so many idle iterations.
fn traced(options: &[&str], iterations: usize) -> Option<String> {
    let Ok(strace) = which::which("strace") else {
        eprintln!("SKIPPED: what an iteration costs in system calls: strace is not installed");
        return None;
    };
    let world = World::with_agent("exit 0\n");
    let trace = world.base().join("tmp/trace");
    let mut command = world.command(strace);
    command.args(options).arg("-o").arg(&trace).arg(world.program());
    command.args(["run", "x", "--stall-threshold", "0", "--max", &iterations.to_string()]);
    assert_eq!(command.output().unwrap().status.code(), Some(3));
    Some(fs::read_to_string(trace).unwrap())
}

/// What an iteration adds to a trace, counted by `count`.
fn per_iteration(options: &[&str], count: impl Fn(&str) -> usize) -> Option<usize> {
    let (few, many) = (traced(options, 2)?, traced(options, 12)?);
    let each = (count(&many) - count(&few)).div_ceil(10);
    eprintln!("an iteration, by strace {options:?}: {each}");
    Some(each)
}

#[test]
fn an_iteration_starts_four_programs() {
    let programs = |trace: &str| trace.lines().filter(|line| line.contains("execve") && line.ends_with("= 0")).count();
    // The guard, the shim that becomes the agent, and git.
    if let Some(each) = per_iteration(&["-f", "-e", "trace=execve", "-e", "signal=none"], programs) {
        assert!(each <= 4, "{each}");
    }
}

#[test]
fn an_iteration_takes_the_loop_few_system_calls() {
    if let Some(each) = per_iteration(&[], |trace| trace.lines().count()) {
        assert!(each <= 200, "{each}");
    }
}

#[test]
fn an_iteration_writes_its_state_once_and_little_else() {
    let written = |line: &str| line.rsplit_once("= ").and_then(|(_, bytes)| bytes.parse::<usize>().ok());
    let bytes = |trace: &str| trace.lines().filter_map(written).sum();
    if let Some(each) = per_iteration(&["-e", "trace=write,writev,pwrite64"], bytes) {
        // The state of twelve iterations, the log, the narration and the prompt.
        assert!(each <= 8 * 1024, "{each}");
    }
    let renames = |trace: &str| trace.lines().filter(|line| line.contains("loop-state.json\"")).count();
    if let Some(each) = per_iteration(&["-e", "trace=rename,renameat,renameat2"], renames) {
        assert_eq!(each, 1, "one whole rewrite of the state per iteration");
    }
}

#[test]
fn a_history_of_a_hundred_thousand_iterations_is_shown_and_gone_on_with() {
    const LONG: usize = 100_000;
    let world = World::with_agent(agents::IDLE);
    world.wt(&["run", "x", "--max", "1"]).exit(3);
    let mut state = world.state();
    let one = serde_json::to_string(&state["iterations"][0]).unwrap();
    state["iterations"] = serde_json::json!([]);
    state["current_iteration"] = LONG.into();
    let numbered = |n: usize| one.replacen("\"n\":1,", &format!("\"n\":{n},"), 1);
    let history: Vec<String> = (1..=LONG).map(numbered).collect();
    let text = state.to_string().replacen("\"iterations\":[]", &format!("\"iterations\":[{}]", history.join(",")), 1);
    world.write(".claude/loop-state.json", &text);
    world.wt(&["status"]).exit(0).stdout_has("100000");
    world.wt(&["resume", "--max", &(LONG + 1).to_string()]).exit(3);
    assert_eq!(world.wt(&["history"]).exit(0).stdout.lines().count(), LONG + 2, "a head and a line each");
}
