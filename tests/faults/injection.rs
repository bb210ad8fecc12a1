//! strace's fault injection: the calls of a run, one by one, and a run that meets a fault at one of them.

use std::collections::HashMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;

use crate::support::{Output, World, run};

/// Calls that touch nothing but the process's own memory, signals and limits: a crash at one of them is a crash at the next. And
/// one that only being traced makes a process do.
const OWN: [&str; 25] = [
    "arch_prctl",
    "brk",
    "clock_gettime",
    "execve",
    "exit_group",
    "futex",
    "getcwd",
    "getpid",
    "getrandom",
    "gettid",
    "getuid",
    "madvise",
    "mmap",
    "mprotect",
    "mremap",
    "munmap",
    "prlimit64",
    "restart_syscall",
    "rseq",
    "rt_sigaction",
    "rt_sigprocmask",
    "rt_sigreturn",
    "sched_getaffinity",
    "set_robust_list",
    "sigaltstack",
];

/// One call of a run: its name, which of that name it is, and what strace told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub name: String,
    pub nth: usize,
    pub told: String,
}

/// What a call meets.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    /// SIGKILL, before the call is made.
    Kill,
    /// This error instead of the call.
    Error(&'static str),
}

/// Why no fault can be injected here, if none can.
pub fn missing() -> Option<&'static str> {
    let Ok(strace) = which::which("strace") else { return Some("strace is not installed") };
    let traced = Command::new(strace).args(["-qq", "-o", "/dev/null", "true"]).status();
    (!traced.is_ok_and(|status| status.success())).then_some("strace may not trace here (ptrace is not permitted)")
}

/// The calls that a trace tells of, without those that are a process's own affair.
pub fn numbered(trace: &str) -> Vec<Call> {
    let lines = trace.lines().filter_map(|line| line.split_once('('));
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let numbered = lines.map(|(name, told)| {
        let nth = counts.entry(name).and_modify(|n| *n += 1).or_insert(1);
        Call { name: name.to_owned(), nth: *nth, told: told.to_owned() }
    });
    numbered.filter(|call| !OWN.contains(&&*call.name)).collect()
}

/// What tells strace to let a call meet a fault.
pub fn options(Call { name, nth, .. }: &Call, fault: Fault) -> [String; 4] {
    let words = match fault {
        Fault::Kill => "signal=KILL".to_owned(),
        Fault::Error(name) => format!("error={name}"),
    };
    ["-e".into(), format!("trace={name}"), "-e".into(), format!("inject={name}:{words}:when={nth}")]
}

fn strace(world: &World, options: &[String], log: &Path, args: &[&str]) -> Output {
    let mut command = world.command(which::which("strace").unwrap());
    command.args(["-qq", "-e", "signal=none"]).args(options).arg("-o").arg(log).arg(world.program()).args(args);
    run(command)
}

/// The calls that `wt-loop ARGS` makes by itself from its first own one on, without those of its children.
pub fn calls(world: &World, args: &[&str]) -> Vec<Call> {
    let log = world.base().join("tmp/calls");
    strace(world, &[], &log, args).exit(0);
    let calls = numbered(&String::from_utf8_lossy(&fs::read(log).unwrap()));
    // What comes before is the dynamic loader's: the first thing a Rust program does is to look at its three descriptors.
    calls.into_iter().skip_while(|call| call.name != "poll").collect()
}

/// Runs `wt-loop ARGS` with a fault at one call; `None` where the run never made that call.
#[track_caller]
pub fn injected(world: &World, args: &[&str], call: &Call, fault: Fault) -> Option<Output> {
    let log = world.base().join("tmp/injected");
    let _ = fs::remove_file(&log);
    let output = strace(world, &options(call, fault), &log, args);
    let happened = match fault {
        Fault::Kill => output.status.signal() == Some(9),
        Fault::Error(_) => String::from_utf8_lossy(&fs::read(log).unwrap_or_default()).contains("(INJECTED)"),
    };
    happened.then_some(output)
}
