//! What an iteration costs beside its agent.

use std::fs;
use std::io::Write;
use std::path::Path;

use crate::Row;
use crate::clock::{self, ROUNDS, median, pair, run, seconds};
use crate::lab::Lab;

/// Iterations of the short and of the long loop: their difference is free of what starting costs.
const FEW: usize = 5;
const MANY: usize = 25;
/// A file system without a disk.
const MEMORY: &str = "/dev/shm";

/// Per iteration, against a shell loop; over a long history; from one agent to the next.
pub fn rows(lab: &Lab) -> Vec<Row> {
    lab.agent("exit 0");
    let against = "a shell loop: agent, `git rev-parse`, `git status`, log";
    let (ours, shell) = turns(lab);
    let mut rows = vec![Row::ratio("one iteration with an agent that does nothing", against, ours, shell, 1.0)];
    rows.extend(what_it_is_made_of(lab));
    if Path::new(MEMORY).is_dir() {
        let (ours, shell) = turns(&Lab::made_in(Path::new(MEMORY)));
        let what = "the same with the repository in memory, where a flush costs nothing";
        rows.push(Row::floor(what, against, ours, shell));
    }
    rows.push(long_history(lab));
    rows.push(handover(lab));
    rows
}

/// An iteration of ours, and one of a shell loop.
fn turns(lab: &Lab) -> (f64, f64) {
    pair(ROUNDS, || per_turn(|n| run(&mut lab.looped(n))), || per_turn(|n| shell_loop(lab, n)))
}

/// What no loop can do without that flushes its state: the agent, one look by git, and a file that is replaced for good.
fn what_it_is_made_of(lab: &Lab) -> Vec<Row> {
    let look = || run(lab.command("git").args(["status", "--porcelain=v2", "--branch", "-z"]));
    let (agent, look) = pair(ROUNDS, || run(&mut lab.command("claude")), look);
    let disk = median((0..ROUNDS).map(|_| seconds(|| replace_for_good(lab, &[b' '; 4096]))).collect());
    let part = |what: &str, time: f64| {
        let (what, against, measured) = (format!("of that: {what}"), "–".into(), clock::show(time));
        Row { what, against, measured, bar: None }
    };
    vec![
        part("the agent alone", agent),
        part("`git status` alone", look),
        part("4 KiB on disk for good: write, fsync, rename, fsync of the folder", disk),
    ]
}

fn replace_for_good(lab: &Lab, bytes: &[u8]) {
    write_plainly(lab, bytes);
    fs::rename(lab.path("plain"), lab.path("replaced")).expect("the file can be renamed");
    fs::File::open(lab.path(".")).and_then(|folder| folder.sync_all()).expect("the folder can be flushed");
}

fn per_turn(time: impl Fn(usize) -> f64) -> f64 {
    let few = time(FEW);
    (time(MANY) - few) / (MANY - FEW) as f64
}

fn shell_loop(lab: &Lab, turns: usize) -> f64 {
    let script = "i=0; while [ $i -lt $1 ]; do
        claude -p < ../prompt >> ../log 2>&1; git rev-parse HEAD > /dev/null; git status --porcelain > /dev/null; i=$((i+1))
    done";
    fs::write(lab.path("prompt"), "do it\n").expect("the prompt can be written");
    run(lab.command("sh").args(["-c", script, "sh", &turns.to_string()]))
}

/// The state is one file: what a long history may cost is its writing, and no more.
fn long_history(lab: &Lab) -> Row {
    let per_turn_after = |history: usize| {
        let resumed = |turns: usize| {
            lengthen(lab, history);
            run(&mut lab.wt(&["resume", "--max", &(history + turns).to_string()]))
        };
        per_turn(resumed)
    };
    let (long, short) = pair(ROUNDS, || per_turn_after(10_000), || per_turn_after(10));
    lengthen(lab, 10_000);
    let bytes = fs::read(lab.root().join(".claude/loop-state.json")).expect("a state");
    let plain = median((0..ROUNDS).map(|_| seconds(|| write_plainly(lab, &bytes))).collect());
    let row = Row::ratio(
        "an iteration at 10,000 iterations of history",
        "one at 10, plus one plain write and fsync of the same bytes",
        long,
        short + plain,
        1.2,
    );
    let written = format!("; the plain write of {:.1} MB is {}", bytes.len() as f64 / 1e6, clock::show(plain));
    Row { measured: row.measured + &written, ..row }
}

/// Gives the last loop a history of so many iterations.
fn lengthen(lab: &Lab, history: usize) {
    let path = lab.root().join(".claude/loop-state.json");
    let mut state: serde_json::Value =
        serde_json::from_slice(&fs::read(&path).expect("a state")).expect("the state is JSON");
    let one = state["iterations"][0].clone();
    let numbered = (1..=history).map(|n| {
        let mut iteration = one.clone();
        iteration["n"] = n.into();
        iteration
    });
    state["iterations"] = numbered.collect();
    state["current_iteration"] = history.into();
    fs::write(&path, serde_json::to_vec_pretty(&state).expect("JSON")).expect("the state can be written");
}

fn write_plainly(lab: &Lab, bytes: &[u8]) {
    let mut file = fs::File::create(lab.path("plain")).expect("a file");
    file.write_all(bytes).and_then(|()| file.sync_all()).expect("the disk takes it");
}

/// The agent itself tells when it began and when it said its last word.
fn handover(lab: &Lab) -> Row {
    let times = lab.path("times");
    let script = format!("#!/bin/bash\necho $EPOCHREALTIME >> {0}\necho $EPOCHREALTIME >> {0}\n", times.display());
    fs::write(lab.path("bin/claude"), script).expect("the agent can be written");
    run(&mut lab.looped(ROUNDS + 1));
    lab.agent("exit 0");
    let noted = fs::read_to_string(&times).expect("the agent's times");
    let noted: Vec<f64> = noted.lines().filter_map(|line| line.parse().ok()).collect();
    let gap = median(noted[1..].chunks_exact(2).map(|pair| pair[1] - pair[0]).collect());
    Row::fact(
        "from the agent's last byte to the next agent's first, the state flushed to disk in between",
        clock::show(gap),
        "under 10 ms",
        gap < 0.010,
    )
}
