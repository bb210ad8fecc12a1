//! Agents without measure: output, lines, bytes, children, descriptors. The loop keeps its own.

use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::classes;
use crate::support::{World, cast, spawn};
use crate::tally::Tally;

const MIB: u64 = 1024 * 1024;

/// What loop and guard may use together, at their peak.
const BOUND: u64 = 12 * MIB;

/// What a line of an agent's events may have, so that it is held until its end.
const LINE: u64 = 8 * MIB;

/// A name, and what an agent does.
type Excess = (&'static str, &'static str);

/// An event that does not end. It is held as far as one may go.
const ENDLESS_EVENT: Excess = (
    "an event of 256 MiB",
    r#"printf '{"type":"result","result":"'; head -c 268435456 /dev/zero | tr '\0' x; echo '"}'"#,
);

/// What the agent does in each iteration.
const EXCESSES: [Excess; 8] = [
    ("1 GiB of output", "yes 'a line like any other, of the usual length, or a little more' | head -c 1073741824"),
    ("1 GiB of errors", "yes 'a complaint like any other' | head -c 1073741824 >&2"),
    ("a line of 256 MiB", r"head -c 268435456 /dev/zero | tr '\0' x"),
    ("bytes that are no text", "head -c 67108864 /dev/urandom"),
    ("NUL bytes", "head -c 67108864 /dev/zero"),
    (
        "terminal escapes",
        r#"clipboard='\033]52;c;aGk=\007' title='\033]0;title\007' screen='\033[?1049h\033[2J' odd='\033P\302\233'
           yes "$(printf "$clipboard$title$screen$odd")" | head -c 67108864"#,
    ),
    ("10,000 short-lived orphans", "n=0; while [ $n -lt 10000 ]; do ( : & ); n=$((n+1)); done"),
    (
        "a fork bomb of 2,000, and 300 open files",
        r#"bomb='n=0; while [ $n -lt 500 ]; do sleep "$NAP" < /dev/null > /dev/null 2>&1 & n=$((n+1)); done'
           sh -c "$bomb" & one=$!; sh -c "$bomb" & two=$!; setsid sh -c "$bomb" & three=$!
           eval "$bomb"; wait $one $two $three
           exec bash -c 'for n in {10..309}; do eval "exec $n< /dev/null"; done'"#,
    ),
];

/// The highest sum of the peaks of a loop and its guard, as often as it is looked at.
fn watch(looper: i32, over: &AtomicBool, peak: &Mutex<u64>) {
    let peak_of = |pid: i32| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        line.and_then(|text| text.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) * 1024
    };
    while !over.load(Ordering::SeqCst) {
        let guards = cast::children(looper).into_iter().filter(|&pid| cast::name(pid) == "wt-loop-guard");
        let sum = peak_of(looper) + guards.map(peak_of).sum::<u64>();
        let mut highest = peak.lock().unwrap();
        *highest = sum.max(*highest);
        drop(highest);
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Runs a loop whose agent does one of these in each iteration; its peak, and what came of each.
fn indulge(excesses: &[Excess], tally: &mut Tally) -> u64 {
    let arms: Vec<String> = excesses.iter().zip(1..).map(|((_, act), n)| format!("{n})\n{act}\n;;\n")).collect();
    let arms = arms.concat();
    let world = World::with_agent(&format!("cat > /dev/null\ncase $WT_LOOP_RUN_ITERATION in\n{arms}esac\nexit 0\n"));
    let max = excesses.len().to_string();
    // The loop itself begins with 300 descriptors of somebody else.
    let mut command = world.command("bash");
    command.args(["-c", "for n in {10..309}; do eval \"exec $n< /dev/null\"; done; exec \"$@\"", "bash"]);
    command.arg(world.program()).args(["run", "x", "--done", "manual", "--stall-threshold", "0", "--max", &max]);
    let mut running = spawn(command);
    let looper = running.pid();
    let mut shown = running.child.stdout.take().unwrap();
    running.child.stdout = Some(empty());
    let (over, peak) = (AtomicBool::new(false), Mutex::new(0));
    let output = std::thread::scope(|scope| {
        scope.spawn(|| watch(looper, &over, &peak));
        scope.spawn(move || std::io::copy(&mut shown, &mut std::io::sink()).unwrap());
        let output = running.wait_within(Duration::from_secs(300));
        over.store(true, Ordering::SeqCst);
        output
    });
    output.exit(3);
    assert_eq!(world.processes(), [], "nothing is left");
    let state = world.state();
    for (n, (what, _)) in excesses.iter().enumerate() {
        let reason = &state["iterations"][n]["exit_reason"];
        tally.add((reason != "completed").then(|| format!("{what}: {reason}")));
    }
    peak.into_inner().unwrap()
}

#[test]
fn whatever_an_agent_wastes_the_loop_stays_small_and_goes_on() {
    let mut tally = Tally::default();
    for (excesses, bound) in [(&EXCESSES[..], BOUND), (&[ENDLESS_EVENT], BOUND + LINE)] {
        let peak = indulge(excesses, &mut tally);
        println!("loop and guard together: {} KiB at their peak", peak / 1024);
        // A binary that was not optimised is several times as large by itself.
        let optimised = std::env::var("WT_LOOP_UNDER_TEST").is_ok_and(|path| path.contains("release"));
        assert!(peak < if optimised { bound } else { 4 * bound }, "{} KiB", peak / 1024);
    }
    tally.tell(&classes::RESOURCES);
}

/// A pipe in which nothing comes.
fn empty() -> std::process::ChildStdout {
    let mut ended = std::process::Command::new("true").stdout(Stdio::piped()).spawn().unwrap();
    ended.wait().unwrap();
    ended.stdout.take().unwrap()
}
