//! Taking a tree down: TERM, a grace, KILL, until nothing lives.
//!
//! A [`Sweep`] is stepped by whoever owns the tree, guard or loop, between two polls. It signals every living
//! descendant, those too that were born since, buries the dead, and ends when no child is left or when its bound has
//! passed; what is alive then is named.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use super::identity::signal_exactly;
use super::tree::{self, Member};

/// After the first KILL, how long the kernel may take to end what it can.
const BOUND: Duration = Duration::from_secs(5);
/// How often the tree is looked at while it ends by itself; a dying child wakes us sooner.
const PATIENT: Duration = Duration::from_millis(50);
/// How often it is looked at while it is being killed.
const PRESSING: Duration = Duration::from_millis(5);

/// A process that could not be killed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Survivor {
    /// Its pid.
    pub pid: i32,
    /// Its name.
    pub name: String,
}

/// Where a sweep stands.
pub enum Step {
    /// Look again after this long, or when a child dies.
    Again(Duration),
    /// Nothing is left but these.
    Over(Vec<Survivor>),
}

enum Phase {
    Asking { until: Instant },
    Killing { until: Instant },
}

/// A tree on its way down.
pub struct Sweep {
    phase: Phase,
    asked: HashSet<(i32, u64)>,
    /// The agent's process group: all that can be reached of its orphans where there is no subreaper.
    group: Option<i32>,
}

impl Sweep {
    /// Begins with TERM and kills after `grace`.
    pub fn gently(grace: Duration, group: Option<i32>) -> Self {
        let group = group.filter(|_| !tree::ORPHANS_ARE_KEPT);
        Self { phase: Phase::Asking { until: Instant::now() + grace }, asked: HashSet::new(), group }
    }

    /// Kills at once from here on.
    pub fn press(&mut self) {
        if matches!(self.phase, Phase::Asking { .. }) {
            self.phase = Phase::Killing { until: Instant::now() + BOUND };
        }
    }

    /// Signals what is to be signalled now. The caller buries its dead (see [`bury`]) before each step.
    pub fn step(&mut self, family: Family) -> Step {
        let own = Pid::this().as_raw();
        let alive = tree::descendants(own);
        if alive.is_empty() && family == Family::Childless {
            return Step::Over(Vec::new());
        }
        if let Phase::Asking { until } = self.phase
            && Instant::now() >= until
        {
            self.press();
        }
        match self.phase {
            Phase::Asking { until } => {
                if let Some(group) = self.group.filter(|&group| self.asked.insert((-group, 0))) {
                    signal_group(group, Signal::SIGTERM);
                }
                for member in alive.iter().filter(|member| self.asked.insert((member.pid, member.started))) {
                    // A stopped process would sleep through TERM.
                    signal(member, &[Signal::SIGTERM, Signal::SIGCONT]);
                }
                Step::Again(PATIENT.min(until.saturating_duration_since(Instant::now())))
            }
            Phase::Killing { until } if Instant::now() < until => {
                if let Some(group) = self.group {
                    signal_group(group, Signal::SIGKILL);
                }
                for member in &alive {
                    signal(member, &[Signal::SIGKILL]);
                }
                Step::Again(PRESSING)
            }
            Phase::Killing { .. } => {
                Step::Over(alive.into_iter().map(|member| Survivor { pid: member.pid, name: member.name }).collect())
            }
        }
    }
}

/// Kills whatever lives below this process, and returns what could not be killed.
pub fn sweep_now() -> Vec<Survivor> {
    let mut sweep = Sweep::gently(Duration::ZERO, None);
    loop {
        match sweep.step(bury(|_, _| ())) {
            Step::Again(wait) => std::thread::sleep(wait.max(PRESSING)),
            Step::Over(survivors) => return survivors,
        }
    }
}

/// Whether anything is left to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// There is at least one child, alive or dying.
    Children,
    /// There is none.
    Childless,
}

/// Buries every child that is dead, and tells how each ended.
pub fn bury(mut buried: impl FnMut(i32, WaitStatus)) -> Family {
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) => return Family::Children,
            Ok(status) => {
                if let Some(pid) = status.pid() {
                    buried(pid.as_raw(), status);
                }
            }
            Err(Errno::EINTR) => {}
            Err(_) => return Family::Childless,
        }
    }
}

/// Sends `which` to every living descendant, twice over, so that one born meanwhile is met too.
pub fn signal_tree(which: Signal) {
    for _ in 0..2 {
        for member in tree::descendants(Pid::this().as_raw()) {
            signal(&member, &[which]);
        }
    }
}

/// A process that is gone or that we may not signal is what the sweep finds out by looking again.
fn signal(member: &Member, which: &[Signal]) {
    let _ = signal_exactly(member.pid, member.started, which);
}

fn signal_group(group: i32, which: Signal) {
    let _ = kill(Pid::from_raw(-group), which);
}
