//! The guards of one loop, one after the other. Between two agents nothing takes as long as to start a guard, so the next one
//! may be started ahead, while git and the disk are busy: it is ready when its agent is.

use std::io::{self, PipeReader};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::command::own_program;
use super::{entry, keep_orphans};

/// A guard, and what leads to it and to its agent.
pub(super) struct Guard {
    pub process: Child,
    pub control: UnixStream,
    pub out: PipeReader,
    pub err: PipeReader,
}

impl Guard {
    fn start() -> io::Result<Self> {
        let (control, theirs) = UnixStream::pair()?;
        let (out, out_writer) = io::pipe()?;
        let (err, err_writer) = io::pipe()?;
        for pipe in [&out, &err] {
            fcntl(pipe, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        }
        keep_orphans();
        let process = Command::new(own_program()?)
            .arg0("wt-loop-guard")
            .arg(entry::GUARD)
            .current_dir("/")
            .stdin(OwnedFd::from(theirs))
            .stdout(out_writer)
            .stderr(err_writer)
            .spawn()?;
        Ok(Self { process, control, out, err })
    }

    fn is_alive(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(None))
    }

    /// A guard without a loop goes.
    fn dismiss(self) {
        drop(self.control);
        see_off(self.process);
    }
}

/// Waits for the end of a guard that has nothing more to do; a zombie would be all that is left of it.
fn see_off(mut guard: Child) {
    // Where it was buried already, its pid may be somebody else's.
    if matches!(guard.try_wait(), Ok(None)) {
        wake(&guard);
        let _ = guard.wait();
    }
}

/// Makes a guard listen that somebody has stopped.
pub(super) fn wake(guard: &Child) {
    let _ = kill(Pid::from_raw(i32::try_from(guard.id()).unwrap_or_default()), Signal::SIGCONT);
}

/// The guards of one loop.
#[derive(Default)]
pub struct Guards {
    /// Waits for its job.
    ready: Option<Guard>,
    /// Has said its last word, and is about to exit.
    leaving: Option<Child>,
}

impl Guards {
    /// Starts the next one ahead. One that cannot be started now is started when it is needed, and the reason told then.
    pub fn prepare(&mut self) {
        if self.ready.is_none() {
            self.ready = Guard::start().ok();
        }
    }

    /// One that waits for its job; the one before it is gone, and its lock is free.
    pub(super) fn next(&mut self) -> io::Result<Guard> {
        self.leaving.take().into_iter().for_each(see_off);
        let alive = self.ready.take_if(Guard::is_alive).inspect(|guard| wake(&guard.process));
        self.ready = None;
        alive.map_or_else(Guard::start, Ok)
    }

    /// Takes leave of one whose work is done.
    pub(super) fn let_go(&mut self, guard: Child) {
        self.leaving = Some(guard);
    }

    /// Sends away the one that was started ahead: there is nothing to guard for a while.
    pub fn dismiss(&mut self) {
        self.leaving.take().into_iter().for_each(see_off);
        self.ready.take().into_iter().for_each(Guard::dismiss);
    }
}

impl Drop for Guards {
    fn drop(&mut self) {
        self.dismiss();
    }
}
