//! Who a process is, beyond a number that the system will give to somebody else one day.
//!
//! A pid is believed only together with the time the process started and the boot it belongs to. A signal goes through a pidfd
//! where the kernel has one, so that between looking and signalling nobody else can get it.

use std::io;

use nix::errno::Errno;
use nix::sys::signal::Signal;
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
        if imp::boot_id() != self.boot {
            return Ok(());
        }
        Ok(signal_exactly(self.pid, self.started, &[Signal::SIGTERM, Signal::SIGCONT])?)
    }
}

/// Sends `signals` to the process that has had this pid since `started`, and to no other; that it is gone is no error.
pub fn signal_exactly(pid: i32, started: u64, signals: &[Signal]) -> nix::Result<()> {
    // Held before it is looked at: whoever gets the pid after that is not the one who is held.
    let held = imp::hold(pid);
    if imp::start_time(pid) != Some(started) {
        return Ok(());
    }
    for &signal in signals {
        match imp::send(held.as_ref(), pid, signal) {
            Ok(()) => {}
            Err(Errno::ESRCH) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(all(target_os = "linux", not(wt_loop_portable)))]
mod imp {
    use std::os::fd::OwnedFd;

    use nix::errno::Errno;
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;
    use rustix::process::{self, PidfdFlags, pidfd_open, pidfd_send_signal};

    use crate::process::tree;

    /// `None` where the kernel has no pidfds, or no descriptor is left for one.
    pub fn hold(pid: i32) -> Option<OwnedFd> {
        pidfd_open(process::Pid::from_raw(pid)?, PidfdFlags::empty()).ok()
    }

    pub fn send(held: Option<&OwnedFd>, pid: i32, signal: Signal) -> nix::Result<()> {
        match (held, process::Signal::from_named_raw(signal as i32)) {
            (Some(held), Some(signal)) => {
                pidfd_send_signal(held, signal).map_err(|error| Errno::from_raw(error.raw_os_error()))
            }
            _ => kill(Pid::from_raw(pid), signal),
        }
    }

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
    use nix::sys::signal::{Signal, kill};
    use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};

    /// Only Linux has pidfds.
    pub fn hold(_: i32) -> Option<()> {
        None
    }

    pub fn send(_: Option<&()>, pid: i32, signal: Signal) -> nix::Result<()> {
        kill(nix::unistd::Pid::from_raw(pid), signal)
    }

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

    #[test]
    fn a_signal_reaches_nobody_but_the_one_who_is_meant() {
        let mut child = std::process::Command::new("sleep").arg("30").spawn().unwrap();
        let meant = Identity::of(i32::try_from(child.id()).unwrap()).unwrap();
        for other in [
            Identity { started: meant.started - 1, ..meant.clone() },
            Identity { boot: String::new(), ..meant.clone() },
        ] {
            other.terminate().unwrap();
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
        assert!(meant.is_alive());
        meant.terminate().unwrap();
        child.wait().unwrap();
        meant.terminate().unwrap();
    }
}
