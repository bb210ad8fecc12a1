//! Pids that mean somebody else by now: in every file that names one, with a start time or a boot that is not theirs.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use wt_loop::lock::{Lock, Taken};
use wt_loop::process::Identity;

use crate::classes;
use crate::support::{World, agents, is_alive};
use crate::tally::Tally;

/// What is wrong with the identity that a file gives to the innocent.
#[derive(Clone, Copy, Debug)]
enum Lie {
    Start,
    Boot,
    Both,
}

const LIES: [Lie; 3] = [Lie::Start, Lie::Boot, Lie::Both];

/// A process that has nothing to do with any loop, and dies of the first signal.
struct Innocent(Child);

impl Innocent {
    fn new() -> Self {
        Self(Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap())
    }

    fn pid(&self) -> i32 {
        i32::try_from(self.0.id()).unwrap()
    }

    /// Its pid with a start time or a boot that is not its own.
    fn as_told(&self, lie: Lie) -> Identity {
        let own = Identity::of(self.pid()).unwrap();
        match lie {
            Lie::Start => Identity { started: own.started - 1, ..own },
            Lie::Boot => Identity { boot: "another".into(), ..own },
            Lie::Both => Identity { started: 0, boot: String::new(), ..own },
        }
    }
}

impl Drop for Innocent {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const LOCKS: [&str; 3] = ["loop.lock", "start.lock", "guard.lock"];

fn lock(world: &World, name: &str) -> PathBuf {
    world.main.join(".git/worktrees/feat-x/wt-loop").join(name)
}

fn holder(name: &str, identity: &Identity, loop_id: &Value) -> Value {
    if name == "guard.lock" { json!(identity) } else { json!({ "process": identity, "loop_id": loop_id }) }
}

/// A loop that says that it runs, as one which died would: state and pid file name the innocent, and so do the locks.
fn forged(world: &World, innocent: &Innocent, lie: Lie) -> Value {
    let mut state = world.state();
    state["status"] = json!("running");
    state["terminal_pid"] = json!(innocent.pid());
    fs::write(world.root.join(".claude/loop-state.json"), state.to_string()).unwrap();
    fs::write(world.root.join(".claude/ralph-terminal.pid"), format!("{}\n", innocent.pid())).unwrap();
    for name in LOCKS {
        fs::write(lock(world, name), holder(name, &innocent.as_told(lie), &state["loop_id"]).to_string()).unwrap();
    }
    state
}

fn world() -> World {
    let world = World::with_agent(agents::IDLE);
    world.wt(&["run", "x", "--max", "1", "--done", "manual"]).exit(3);
    world
}

/// Nobody holds a lock: whatever the files say, there is no loop.
fn nobody_is_signalled(tally: &mut Tally, lie: Lie) {
    let commands: [(&[&str], i32); 6] = [
        (&["status"], 0),
        (&["stop"], 0),
        (&["stop", "--all"], 0),
        (&["list"], 0),
        (&["resume", "--max", "2"], 3),
        (&["start", "y", "--launcher", "background", "--max", "1", "--done", "manual"], 0),
    ];
    for (args, code) in commands {
        let (world, innocent) = (world(), Innocent::new());
        forged(&world, &innocent, lie);
        world.wt(args).exit(code);
        tally.add((!is_alive(innocent.pid())).then(|| format!("{args:?}, {lie:?}")));
    }
}

/// Somebody holds the lock, and the file names another: a holder that wrote its word and whose pid has been given away.
fn a_held_lock_does_not_make_a_pid_true(tally: &mut Tally, lie: Lie) {
    let (world, innocent) = (world(), Innocent::new());
    let state = forged(&world, &innocent, lie);
    let told = holder("loop.lock", &innocent.as_told(lie), &state["loop_id"]);
    let Taken::Ours(held) = Lock::take(&lock(&world, "loop.lock"), &told).unwrap() else { panic!("nobody holds it") };
    world.wt(&["stop"]).exit(1).stderr_has("the loop has not started yet");
    world.wt(&["start", "y", "--launcher", "background"]).exit(1).stderr_has("a loop already runs in this worktree");
    drop(held);
    tally.add((!is_alive(innocent.pid())).then(|| format!("held, {lie:?}")));
}

#[test]
fn a_pid_that_is_somebody_elses_by_now_is_never_signalled() {
    let mut tally = Tally::default();
    std::thread::scope(|scope| {
        let tries = LIES.map(|lie| {
            scope.spawn(move || {
                let mut tally = Tally::default();
                nobody_is_signalled(&mut tally, lie);
                a_held_lock_does_not_make_a_pid_true(&mut tally, lie);
                tally
            })
        });
        for tried in tries {
            tally.join(tried.join().unwrap());
        }
    });
    tally.tell(&classes::PIDS);
}

/// Between looking and signalling nobody else can get the pid: the signal goes through a descriptor of the process.
#[test]
fn a_loop_is_signalled_through_a_pidfd() {
    if let Some(why) = crate::injection::missing() {
        println!("SKIPPED: signals through a pidfd: {why}");
        return;
    }
    let world = World::with_agent(agents::SLEEPS);
    world.start(&["x"]);
    world.wait_for_log("sleeping");
    let log = world.base().join("tmp/stop-calls");
    let mut strace = world.command(which::which("strace").unwrap());
    strace.args(["-qq", "-e", "trace=kill,tgkill,pidfd_open,pidfd_send_signal", "-o"]).arg(&log);
    strace.arg(world.program()).arg("stop");
    crate::support::run(strace).exit(0);
    let calls = fs::read_to_string(log).unwrap();
    assert!(calls.contains("pidfd_send_signal(") && calls.contains("SIGTERM"), "{calls}");
    assert!(!calls.lines().any(|line| line.starts_with("kill(")), "{calls}");
}
