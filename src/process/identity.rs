//! Who a process is, beyond a number that the system will give to somebody else one day.
//!
//! A pid is believed only together with the time the process started and the boot it belongs to.

use std::io;

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

/// One process of one boot: equal only to itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The process id.
    pub pid: i32,
    /// When it started, in the system's own unit (clock ticks since boot on Linux, seconds elsewhere).
    pub started: u64,
    /// The boot it belongs to; empty where the system has no such id.
    pub boot: String,
}

impl Identity {
    /// The process that has this pid now.
    pub fn of(pid: i32) -> Option<Self> {
        Some(Self { pid, started: imp::start_time(pid)?, boot: imp::boot_id() })
    }

    /// This process.
    pub fn own() -> Option<Self> {
        Self::of(i32::try_from(std::process::id()).ok()?)
    }

    /// Whether that very process still lives.
    pub fn is_alive(&self) -> bool {
        Self::of(self.pid).as_ref() == Some(self)
    }

    /// Whether it stands still after Ctrl-Z; not known of processes on every system.
    pub fn is_suspended(&self) -> bool {
        imp::is_suspended(self.pid)
    }

    /// Sends SIGTERM to that very process, and wakes it where it is suspended; that it is gone already is no error.
    pub fn terminate(&self) -> io::Result<()> {
        if !self.is_alive() {
            return Ok(());
        }
        let send = |signal| kill(Pid::from_raw(self.pid), signal);
        match send(Signal::SIGTERM).and_then(|()| send(Signal::SIGCONT)) {
            Ok(()) | Err(Errno::ESRCH) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(all(target_os = "linux", not(wt_loop_portable)))]
mod imp {
    use crate::process::tree;

    pub fn start_time(pid: i32) -> Option<u64> {
        tree::stat(pid).filter(|stat| !stat.is_dead()).map(|stat| stat.started)
    }

    pub fn is_suspended(pid: i32) -> bool {
        tree::stat(pid).is_some_and(|stat| stat.is_suspended())
    }

    pub fn boot_id() -> String {
        std::fs::read_to_string("/proc/sys/kernel/random/boot_id").map(|id| id.trim().to_owned()).unwrap_or_default()
    }
}

#[cfg(not(all(target_os = "linux", not(wt_loop_portable))))]
mod imp {
    use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};

    pub fn start_time(pid: i32) -> Option<u64> {
        let pid = Pid::from_u32(u32::try_from(pid).ok()?);
        let mut system = System::new().ok()?;
        system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), true, ProcessRefreshKind::nothing());
        system.process(pid).map(sysinfo::Process::start_time)
    }

    pub fn is_suspended(_: i32) -> bool {
        false
    }

    pub fn boot_id() -> String {
        System::boot_time().map(|at| at.to_string()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_itself_and_nobody_else() {
        let own = Identity::own().unwrap();
        assert!(own.is_alive());
        assert!(!Identity { started: own.started + 1, ..own.clone() }.is_alive(), "a reused pid is somebody else");
        assert!(!Identity { boot: "another".into(), ..own }.is_alive());
    }
}
