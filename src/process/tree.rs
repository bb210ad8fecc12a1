//! Who descends from whom, and what they use.
//!
//! On Linux from `/proc`, elsewhere from what sysinfo sees. A process that is dead and not yet buried (state Z or X)
//! is gone.

use std::collections::HashSet;
use std::time::Duration;

/// A process of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its pid.
    pub pid: i32,
    /// Its name as the kernel knows it.
    pub name: String,
    /// When it started: by that it is told from a later one of the same pid.
    pub started: u64,
}

/// What a tree of processes uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// How many processes live.
    pub processes: usize,
    /// Their resident memory in bytes.
    pub memory: u64,
    /// The processor time of them and of the children they have buried.
    pub cpu: Duration,
}

/// Every living descendant of `root`, without `root` itself.
pub fn descendants(root: i32) -> Vec<Member> {
    let mut found = Vec::new();
    let mut seen = HashSet::from([root]);
    let mut parents = vec![root];
    let family = imp::Family::now();
    while let Some(parent) = parents.pop() {
        for pid in family.children(parent) {
            if seen.insert(pid) {
                parents.push(pid);
                found.extend(imp::member(pid));
            }
        }
    }
    found
}

/// What `root` and its descendants use now.
pub fn usage(root: i32) -> Usage {
    let mut pids: Vec<i32> = descendants(root).into_iter().map(|member| member.pid).collect();
    pids.push(root);
    Usage { processes: pids.len(), memory: memory(&pids), cpu: imp::cpu(&pids) }
}

fn memory(pids: &[i32]) -> u64 {
    use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};
    let pids: Vec<Pid> = pids.iter().filter_map(|&pid| u32::try_from(pid).ok()).map(Pid::from_u32).collect();
    let Ok(mut system) = System::new() else { return 0 };
    let kind = ProcessRefreshKind::nothing().with_memory().without_tasks();
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&pids), true, kind);
    pids.iter().filter_map(|&pid| system.process(pid)).map(sysinfo::Process::memory).sum()
}

#[cfg(all(target_os = "linux", not(wt_loop_portable)))]
pub use imp::stat;

/// Whether an orphan becomes a child of whoever asked for it, or is lost to the first process of the system.
pub const ORPHANS_ARE_KEPT: bool = cfg!(all(target_os = "linux", not(wt_loop_portable)));

#[cfg(all(target_os = "linux", not(wt_loop_portable)))]
mod imp {
    use super::Member;
    use std::fs;
    use std::time::Duration;

    /// Ticks of the processor times in `/proc`: 100 in a second on every Linux that programs see.
    const TICK: Duration = Duration::from_millis(10);

    /// What we need of `/proc/PID/stat`.
    pub struct Stat {
        name: String,
        state: u8,
        cpu_ticks: u64,
        pub started: u64,
    }

    impl Stat {
        pub fn is_dead(&self) -> bool {
            matches!(self.state, b'Z' | b'X' | b'x')
        }

        pub fn is_suspended(&self) -> bool {
            self.state == b'T'
        }
    }

    pub fn stat(pid: i32) -> Option<Stat> {
        let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
        let text = String::from_utf8_lossy(&text);
        // The name stands in brackets and may itself have brackets and blanks: the last one closes it.
        let (before, after) = text.rsplit_once(')')?;
        let (_, name) = before.split_once('(')?;
        let fields: Vec<&str> = after.split_ascii_whitespace().collect();
        let number = |field: usize| fields.get(field).and_then(|text| text.parse::<u64>().ok());
        Some(Stat {
            name: name.to_owned(),
            state: *fields.first()?.as_bytes().first()?,
            // utime, stime, cutime, cstime are fields 14 to 17 of the whole line, the state is field 3.
            cpu_ticks: (11..15).filter_map(number).sum(),
            started: number(19)?,
        })
    }

    pub fn member(pid: i32) -> Option<Member> {
        stat(pid).filter(|stat| !stat.is_dead()).map(|stat| Member { pid, name: stat.name, started: stat.started })
    }

    pub fn cpu(pids: &[i32]) -> Duration {
        let ticks: u64 = pids.iter().filter_map(|&pid| stat(pid)).map(|stat| stat.cpu_ticks).sum();
        TICK.saturating_mul(u32::try_from(ticks).unwrap_or(u32::MAX))
    }

    /// The kernel lists the children of each thread, so nothing has to be gathered beforehand.
    pub struct Family;

    impl Family {
        pub fn now() -> Self {
            Self
        }

        #[expect(clippy::unused_self, reason = "the other systems have to look at all processes first")]
        pub fn children(&self, parent: i32) -> Vec<i32> {
            let Ok(threads) = fs::read_dir(format!("/proc/{parent}/task")) else { return Vec::new() };
            threads
                .flatten()
                .filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok())
                .flat_map(|line| line.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
                .collect()
        }
    }
}

#[cfg(not(all(target_os = "linux", not(wt_loop_portable))))]
mod imp {
    use super::Member;
    use std::collections::HashMap;
    use std::time::Duration;
    use sysinfo::{Pid, ProcessRefreshKind, ProcessStatus, ProcessesToUpdate, System};

    /// One look at every process, by parent.
    pub struct Family(HashMap<i32, Vec<i32>>);

    impl Family {
        pub fn now() -> Self {
            let Ok(mut system) = System::new() else { return Self(HashMap::new()) };
            system.refresh_processes_specifics(ProcessesToUpdate::All, true, ProcessRefreshKind::nothing());
            let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
            for (pid, process) in system.processes() {
                if let Some(parent) = process.parent() {
                    children.entry(number(parent)).or_default().push(number(*pid));
                }
            }
            Self(children)
        }

        pub fn children(&self, parent: i32) -> Vec<i32> {
            self.0.get(&parent).cloned().unwrap_or_default()
        }
    }

    pub fn member(pid: i32) -> Option<Member> {
        let key = Pid::from_u32(u32::try_from(pid).ok()?);
        let Ok(mut system) = System::new() else { return None };
        system.refresh_processes_specifics(ProcessesToUpdate::Some(&[key]), true, ProcessRefreshKind::nothing());
        let process = system.process(key)?;
        (process.status() != ProcessStatus::Zombie).then(|| Member {
            pid,
            name: process.name().to_string_lossy().into_owned(),
            started: process.start_time(),
        })
    }

    pub fn cpu(pids: &[i32]) -> Duration {
        let keys: Vec<Pid> = pids.iter().filter_map(|&pid| u32::try_from(pid).ok()).map(Pid::from_u32).collect();
        let Ok(mut system) = System::new() else { return Duration::ZERO };
        let kind = ProcessRefreshKind::nothing().with_cpu();
        system.refresh_processes_specifics(ProcessesToUpdate::Some(&keys), true, kind);
        let used: u64 = keys.iter().filter_map(|&pid| system.process(pid)).map(|p| p.accumulated_cpu_time()).sum();
        Duration::from_millis(used)
    }

    fn number(pid: Pid) -> i32 {
        i32::try_from(pid.as_u32()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_found_while_it_lives() {
        let own = i32::try_from(std::process::id()).unwrap();
        let mut child = std::process::Command::new("sleep").arg("30").spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        assert!(descendants(own).iter().any(|member| member.pid == pid));
        assert!(usage(own).processes >= 2);
        assert!(usage(own).memory > 0);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!descendants(own).iter().any(|member| member.pid == pid));
    }
}
