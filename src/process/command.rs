//! Short commands of our own (git, tmux): asked, answered, done; and programs that are left to themselves.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::entry;
use crate::environment::Environment;

/// What a short command answered.
#[derive(Debug)]
pub struct Answer {
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error, as text.
    pub stderr: String,
    /// Its exit code; `None` where a signal ended it.
    pub code: Option<i32>,
}

impl Answer {
    /// Whether it exited with 0.
    pub fn ok(&self) -> bool {
        self.code == Some(0)
    }
}

/// A short command that was asked and has not answered yet.
pub struct Question(Child);

/// Starts a short command in `cwd`, with nothing on its standard input and with `env` beside our own environment.
///
/// It has a process group of its own, so that a Ctrl-C meant for the loop does not tear an answer in two.
pub fn ask<A: AsRef<OsStr>>(
    program: impl AsRef<OsStr>,
    args: &[A],
    cwd: &Path,
    env: &[(&str, &str)],
) -> io::Result<Question> {
    bury_answered();
    let mut command = Command::new(program);
    command.args(args).envs(env.iter().copied()).current_dir(cwd).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map(Question)
}

impl Question {
    /// Waits for its end and returns what it said.
    pub fn answer(mut self) -> io::Result<Answer> {
        let [stdout, stderr] = self.hear(|_| false)?;
        self.end(stdout, &stderr)
    }

    /// Returns its standard output once that is `whole`, and does not wait for its end, which takes a while; returns the whole answer
    /// where it ended without.
    pub fn answer_once(mut self, whole: impl Fn(&[u8]) -> bool) -> io::Result<Result<Vec<u8>, Answer>> {
        let [stdout, stderr] = self.hear(&whole)?;
        if whole(&stdout) {
            LEAVING.lock().unwrap_or_else(PoisonError::into_inner).push(self.0);
            return Ok(Ok(stdout));
        }
        self.end(stdout, &stderr).map(Err)
    }

    /// What it says up to its end, or until that is enough.
    fn hear(&mut self, enough: impl Fn(&[u8]) -> bool) -> io::Result<[Vec<u8>; 2]> {
        let said = match (self.0.stdout.take(), self.0.stderr.take()) {
            (Some(out), Some(err)) => read_both([OwnedFd::from(out), OwnedFd::from(err)], enough),
            _ => Ok([Vec::new(), Vec::new()]),
        };
        if said.is_err() {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
        said
    }

    fn end(&mut self, stdout: Vec<u8>, stderr: &[u8]) -> io::Result<Answer> {
        let code = self.0.wait()?.code();
        Ok(Answer { stdout, stderr: String::from_utf8_lossy(stderr).into_owned(), code })
    }
}

/// Those that have said all that was wanted, and are about to end.
static LEAVING: Mutex<Vec<Child>> = Mutex::new(Vec::new());

/// Buries those that have ended since.
pub fn bury_answered() {
    let mut leaving = LEAVING.lock().unwrap_or_else(PoisonError::into_inner);
    leaving.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
}

/// Runs a short command in `cwd` to its end, with nothing on its standard input, and returns what it said.
pub fn answer<A: AsRef<OsStr>>(program: impl AsRef<OsStr>, args: &[A], cwd: &Path) -> io::Result<Answer> {
    ask(program, args, cwd, &[])?.answer()
}

/// Reads two pipes to their ends, or until the first has given enough. The standard library would do the former, and panic where a
/// read fails.
fn read_both(pipes: [OwnedFd; 2], enough: impl Fn(&[u8]) -> bool) -> io::Result<[Vec<u8>; 2]> {
    for pipe in &pipes {
        fcntl(pipe, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    }
    let mut pipes = pipes.map(|pipe| Some(File::from(pipe)));
    let (mut said, mut buffer) = ([Vec::new(), Vec::new()], [0; 8 * 1024]);
    while pipes.iter().any(Option::is_some) && !enough(&said[0]) {
        let mut open: Vec<_> =
            pipes.iter().flatten().map(|pipe| PollFd::new(pipe.as_fd(), PollFlags::POLLIN)).collect();
        match poll(&mut open, PollTimeout::NONE) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        for (pipe, text) in pipes.iter_mut().zip(&mut said) {
            match pipe.as_mut().map(|open| open.read(&mut buffer)) {
                None => {}
                Some(Ok(0)) => *pipe = None,
                Some(Ok(n)) => text.extend_from_slice(&buffer[..n]),
                Some(Err(error)) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
                Some(Err(error)) => return Err(error),
            }
        }
    }
    Ok(said)
}

/// The program that runs now, under a name that stays good when the file is replaced by an upgrade.
pub fn own_program() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") { Ok(PathBuf::from("/proc/self/exe")) } else { std::env::current_exe() }
}

/// Starts `program` in a session of its own, its output going to `output`, and does not wait for it.
pub fn spawn_detached<A: AsRef<OsStr>>(program: &Path, args: &[A], cwd: &Path, output: File) -> io::Result<Child> {
    Command::new(own_program()?)
        .arg0("wt-loop")
        .arg(entry::DETACH)
        .arg(program)
        .args(args)
        .current_dir(cwd)
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        .spawn()
}

/// Lets this program do a piece of `work` of its own ([`entry`]) as another process, in the environment `env` and with `input` on
/// its standard input; what it prints is for nobody. After `at_most` it is killed.
pub fn run_own(work: &str, env: &Environment, input: &[u8], at_most: Duration) -> io::Result<ExitStatus> {
    let mut command = Command::new(own_program()?);
    command.arg0("wt-loop").arg(work).env_clear().envs(env.pairs()).current_dir("/").process_group(0);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // One that ended before it read is seen by how it ended.
        let _ = stdin.write_all(input);
    }
    end_within(&mut child, at_most)
}

/// Waits for the end of the leader of a process group; after `at_most` the whole group is killed.
fn end_within(child: &mut Child, at_most: Duration) -> io::Result<ExitStatus> {
    let deadline = Instant::now() + at_most;
    loop {
        match child.try_wait()? {
            Some(status) => return Ok(status),
            None if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(5)),
            None => {
                let _ = killpg(Pid::from_raw(i32::try_from(child.id()).unwrap_or_default()), Signal::SIGKILL);
                child.wait()?;
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
    }
}

/// Asks what [`spawn_detached`] started, and what shares its group, to end; who has ended already is none the worse for it.
/// It is asked more than once: before it is the program that was meant, it hears nothing.
pub fn end_detached(child: &mut Child) {
    const TIMES: u32 = 10;
    for _ in 0..TIMES {
        let (Ok(None), Ok(pid)) = (child.try_wait(), i32::try_from(child.id())) else { return };
        if killpg(Pid::from_raw(pid), Signal::SIGTERM).is_err() {
            // It leads no group yet, so it is still ours alone.
            let _ = child.kill();
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Like [`answer`], for a program that might not end: after `at_most` its whole group is killed.
pub fn answer_within<A: AsRef<OsStr>>(program: &Path, args: &[A], cwd: &Path, at_most: Duration) -> io::Result<Answer> {
    super::keep_orphans();
    let (mut out, writer) = io::pipe()?;
    let mut command = Command::new(program);
    command.args(args).current_dir(cwd).stdin(Stdio::null()).stdout(writer).stderr(Stdio::null()).process_group(0);
    let mut child = command.spawn()?;
    drop(command);
    let ended = end_within(&mut child, at_most);
    if ended.is_err() {
        super::sweep_now();
    }
    let code = ended?.code();
    // What is in the pipe now is the answer; a child that it left behind may hold the other end.
    fcntl(&out, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    let mut stdout = vec![0; 64 * 1024];
    let n = out.read(&mut stdout).unwrap_or(0);
    stdout.truncate(n);
    super::sweep_now();
    Ok(Answer { stdout, stderr: String::new(), code })
}
