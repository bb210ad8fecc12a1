//! Many at once: a hundred loops with eight who never stop asking, and two who start at the same instant, a thousand times.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};
use std::time::Duration;

use serde_json::Value;
use wt_loop::lock::Lock;

use crate::classes;
use crate::support::{World, spawn, wait_until, wait_within};
use crate::tally::Tally;

const LOOPS: usize = 100;
const ASKERS: usize = 8;
const ROUNDS: usize = 1000;

const START: [&str; 7] = ["start", "x", "--launcher", "background", "--done", "manual", "--max"];

/// Waits until it may end, without waking up.
const WAITS: &str = "cat > /dev/null\nread go < ../gate\nexit 0\n";

/// The pipe from which each agent takes a line; held open at both ends, so that a line waits for whoever comes.
fn gate(world: &World) -> File {
    world.tool("mkfifo", &["../gate"]).exit(0);
    File::options().read(true).write(true).open(world.beside("gate")).unwrap()
}

fn worktrees(world: &World, count: usize) -> Vec<PathBuf> {
    let roots: Vec<PathBuf> = (0..count).map(|n| world.beside(&format!("w{n}"))).collect();
    for root in &roots {
        let name = root.file_name().unwrap().to_str().unwrap();
        world.git(&world.main, &["worktree", "add", "-q", "-b", name, root.to_str().unwrap()]);
    }
    roots
}

/// Whether any of the locks that a loop takes in a worktree is held.
fn is_locked(world: &World, root: &Path) -> bool {
    let folder = world.main.join(".git/worktrees").join(root.file_name().unwrap()).join("wt-loop");
    ["start.lock", "loop.lock", "guard.lock"].iter().any(|name| Lock::is_held(&folder.join(name)).unwrap())
}

fn state(root: &Path) -> Value {
    serde_json::from_slice(&fs::read(root.join(".claude/loop-state.json")).unwrap()).expect("it is never half")
}

/// Asks until it is over; how often, and never an answer that lacks a loop which has been started.
fn ask(world: &World, roots: &[PathBuf], which: usize, started: &AtomicUsize, over: &AtomicBool) -> usize {
    let mut asked = 0;
    while !over.load(Ordering::SeqCst) {
        let before = started.load(Ordering::SeqCst);
        if (which + asked).is_multiple_of(2) {
            let listed = world.wt_in(Path::new("/"), &["list", "--all", "--json"]).exit(0).json();
            let listed = listed.as_array().unwrap().len();
            assert!(listed >= before, "{listed} are listed of {before}");
        } else if before > 0 {
            let root = &roots[(which * 31 + asked * 7) % before];
            let status = world.wt_in(root, &["status", "--json"]).exit(0).json();
            assert_eq!(status["crashed"], false, "{status}");
        }
        asked += 1;
    }
    asked
}

#[test]
fn a_hundred_loops_run_at_once_and_whoever_asks_gets_the_truth() {
    let world = World::with_agent(WAITS);
    let roots = worktrees(&world, LOOPS);
    let gate = gate(&world);
    let (started, over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let mut tally = Tally::default();
    let asked: usize = std::thread::scope(|scope| {
        let (world, roots, started, over) = (&world, &roots, &started, &over);
        let askers: Vec<_> =
            (0..ASKERS).map(|which| scope.spawn(move || ask(world, roots, which, started, over))).collect();
        let run = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for root in roots {
                world.wt_in(root, &[&START[..], &["1"]].concat()).exit(0);
                started.fetch_add(1, Ordering::SeqCst);
            }
            let listed = world.wt_in(Path::new("/"), &["list", "--json"]).exit(0).json();
            assert_eq!(listed.as_array().unwrap().len(), LOOPS, "all of them run at once");
            (&gate).write_all("go\n".repeat(LOOPS).as_bytes()).unwrap();
            wait_within(Duration::from_secs(120), "the end of all loops", || {
                roots.iter().all(|root| state(root)["status"] == "stuck").then_some(())
            });
        }));
        over.store(true, Ordering::SeqCst);
        let asked = askers.into_iter().map(|asker| asker.join().unwrap()).sum();
        run.unwrap();
        asked
    });
    wait_until("the end of every process", || world.processes().is_empty());
    for root in &roots {
        let state = state(root);
        let whole =
            state["iterations"].as_array().unwrap().len() == 1 && state["iterations"][0]["exit_reason"] == "completed";
        let broken = (!whole || is_locked(&world, root)).then(|| format!("{}: {state}", root.display()));
        tally.add(broken);
    }
    assert_eq!(world.wt(&["list", "--json"]).exit(0).json(), serde_json::json!([]));
    println!("{asked} answers of list and status meanwhile");
    assert!(asked > LOOPS, "{asked} answers");
    tally.tell(&classes::MANY);
}

/// Two starts in one worktree; exactly one wins, and the other says why it did not.
fn one_wins(world: &World, root: &Path, mut gate: &File) {
    let barrier = Barrier::new(2);
    let outputs: Vec<_> = std::thread::scope(|scope| {
        let start = || {
            let mut command = world.command(world.program());
            command.args(START).arg("1").current_dir(root);
            barrier.wait();
            spawn(command).wait()
        };
        let both = [scope.spawn(start), scope.spawn(start)];
        both.map(|start| start.join().unwrap()).into()
    });
    let won = outputs.iter().filter(|output| output.status.success()).count();
    assert_eq!(won, 1, "{outputs:?}");
    let lost = outputs.into_iter().find(|output| !output.status.success()).unwrap().exit(1);
    let told = ["a loop already runs in this worktree", "another start is under way in this worktree"];
    assert!(told.iter().any(|words| lost.stderr.contains(words)), "{}", lost.stderr);
    gate.write_all(b"go\n").unwrap();
    wait_until("the end of the loop", || !is_locked(world, root) && state(root)["status"] == "stuck");
    assert_eq!(state(root)["iterations"].as_array().unwrap().len(), 1);
}

#[test]
fn of_two_starts_at_the_same_instant_exactly_one_wins() {
    let next = Mutex::new(0..ROUNDS);
    let tally = Mutex::new(Tally::default());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                // Each with its own world, and so its own gate.
                let world = World::with_agent(WAITS);
                let gate = gate(&world);
                let root = worktrees(&world, 1).remove(0);
                while next.lock().unwrap().next().is_some() {
                    let round =
                        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| one_wins(&world, &root, &gate)));
                    let broken = round.err().map(|why| crate::tally::words(&*why));
                    let stop = broken.is_some();
                    tally.lock().unwrap().add(broken);
                    if stop {
                        return;
                    }
                }
            });
        }
    });
    tally.into_inner().unwrap().tell(&classes::STARTS);
}
