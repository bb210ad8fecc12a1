//! The signals that reach a loop, as values that it asks for between two polls.
//!
//! Ctrl-C is counted (the second one kills at once), TERM and HUP are kept apart, Ctrl-Z and a changed window size are
//! noted. A signal that was ignored when we were started stays ignored (`nohup`, or `&` in a script). Nothing is
//! blocked, so a child inherits an empty mask.

use std::fs;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, raise};
use nix::unistd::{Pid, getpgrp, getppid, getsid};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM, SIGTSTP};
use signal_hook::{flag, low_level::pipe};

use super::command::bury_answered;
use crate::error::{Error, Result, reason};

/// Which signal asks the loop to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupt {
    /// Ctrl-C.
    CtrlC,
    /// SIGTERM: `wt-loop stop`, `kill`, a shutdown.
    Terminate,
    /// SIGHUP: the window was closed.
    HangUp,
}

impl Interrupt {
    /// How a person knows it.
    pub const fn name(self) -> &'static str {
        match self {
            Interrupt::CtrlC => "Ctrl-C",
            Interrupt::Terminate => "SIGTERM",
            Interrupt::HangUp => "SIGHUP (the terminal was closed)",
        }
    }
}

/// How often the loop has been asked to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Not at all.
    No,
    /// Once: end gracefully.
    Once(Interrupt),
    /// Again: end now.
    Again(Interrupt),
}

/// The signals of this process, caught from [`Signals::install`] on.
pub struct Signals {
    wake: UnixStream,
    ctrl_c: Arc<AtomicUsize>,
    terminate: Arc<AtomicBool>,
    hang_up: Arc<AtomicBool>,
    suspend: Arc<AtomicBool>,
}

impl Signals {
    /// Catches the signals. Once per process.
    pub fn install() -> Result<Self> {
        Self::catch().map_err(|error| Error::new(format!("cannot catch signals: {}", reason(&error))))
    }

    fn catch() -> io::Result<Self> {
        let (wake, waker) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        waker.set_nonblocking(true)?;
        let signals = Self {
            wake,
            ctrl_c: Arc::default(),
            terminate: Arc::default(),
            hang_up: Arc::default(),
            suspend: Arc::default(),
        };
        let ignored = inherited_ignored();
        if !ignored.contains(SIGINT) {
            count_ctrl_c(&signals.ctrl_c, waker.try_clone()?)?;
        }
        for (number, noted) in [(SIGTERM, &signals.terminate), (SIGHUP, &signals.hang_up), (SIGTSTP, &signals.suspend)]
        {
            if !ignored.contains(number) {
                flag::register(number, Arc::clone(noted))?;
                pipe::register(number, waker.try_clone()?)?;
            }
        }
        Ok(signals)
    }

    /// Whether, how often and by what the loop has been asked to end.
    pub fn asked(&self) -> Asked {
        let presses = self.ctrl_c.load(Ordering::SeqCst);
        let (terminate, hang_up) = (self.terminate.load(Ordering::SeqCst), self.hang_up.load(Ordering::SeqCst));
        let first = match (presses, terminate, hang_up) {
            (0, false, false) => return Asked::No,
            (0, true, _) => Interrupt::Terminate,
            (0, false, true) => Interrupt::HangUp,
            _ => Interrupt::CtrlC,
        };
        if presses > 1 { Asked::Again(first) } else { Asked::Once(first) }
    }

    /// The signal that asked the loop to end, if one did.
    pub fn interrupt(&self) -> Option<Interrupt> {
        match self.asked() {
            Asked::No => None,
            Asked::Once(by) | Asked::Again(by) => Some(by),
        }
    }

    /// Whether Ctrl-Z was pressed since this was asked last, under a shell that can bring us back.
    pub fn suspend_asked(&self) -> bool {
        self.suspend.swap(false, Ordering::SeqCst) && somebody_can_wake_us()
    }

    /// Stops this process until it is continued, and tells how long that took.
    pub fn suspend(&self) -> Duration {
        let from = Instant::now();
        let _ = raise(Signal::SIGSTOP);
        self.suspend.store(false, Ordering::SeqCst);
        from.elapsed()
    }

    /// Forgets the wake-ups so far; the signals themselves stay noted.
    pub fn settle(&self) {
        let mut bytes = [0; 64];
        while matches!((&self.wake).read(&mut bytes), Ok(n) if n > 0) {}
    }

    /// Sleeps for `at_most`, or until a signal asks the loop to end. Where Ctrl-Z is pressed, `suspend` is to do it.
    pub fn sleep(&self, at_most: Duration, mut suspend: impl FnMut()) {
        bury_answered();
        let deadline = Instant::now() + at_most;
        while self.interrupt().is_none() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let mut watched = [PollFd::new(self.as_fd(), PollFlags::POLLIN)];
            let _ = poll(&mut watched, timeout(left));
            self.settle();
            if self.suspend_asked() {
                suspend();
            }
        }
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }
}

/// A poll timeout of at least `wait`, never a busy zero.
pub fn timeout(wait: Duration) -> PollTimeout {
    PollTimeout::try_from(wait.saturating_add(Duration::from_micros(999)).as_millis().min(i32::MAX as u128))
        .unwrap_or(PollTimeout::MAX)
}

fn count_ctrl_c(presses: &Arc<AtomicUsize>, mut waker: UnixStream) -> io::Result<()> {
    let presses = Arc::clone(presses);
    ctrlc::set_handler(move || {
        presses.fetch_add(1, Ordering::SeqCst);
        // A full pipe has woken the loop already.
        let _ = waker.write(b"c");
    })
    .map_err(io::Error::other)
}

/// A process group whose leader's parent is in another session has no shell to say `fg`: stopping would be for ever.
fn somebody_can_wake_us() -> bool {
    let session = |pid| getsid(Some(pid)).ok();
    session(getppid()).is_some() && session(getppid()) == session(Pid::this()) && getppid() != getpgrp()
}

/// Makes children wait for their burial even where we were started with SIGCHLD ignored; otherwise no end could be asked for.
pub fn see_children_end() {
    let _ = flag::register(SIGCHLD, Arc::default());
}

/// The signals that were ignored when this program was started.
struct Ignored(u64);

impl Ignored {
    fn contains(&self, number: i32) -> bool {
        u32::try_from(number - 1).is_ok_and(|bit| self.0.checked_shr(bit).unwrap_or(0) & 1 == 1)
    }
}

/// From `/proc`, since asking the kernel itself takes unsafe code; elsewhere none is known.
fn inherited_ignored() -> Ignored {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    Ignored(mask.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).unwrap_or(0))
}
