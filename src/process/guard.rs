//! The guard of one agent: its parent, its keeper, and what takes it down.
//!
//! It leads a session of its own and is a subreaper, so that every orphan of the agent becomes its child. It hands the
//! prompt to the agent, tells the loop how the agent ended, and then, or when the loop asks for it, or when the loop is
//! gone, sweeps the whole tree. As long as anything may live it holds the guard lock, and a new loop waits for that.
//! It never writes to its standard output or error: those belong to the agent.

use std::io::{self, BufReader, PipeReader, Read, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use nix::sys::wait::WaitStatus;
use nix::unistd::setsid;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};

use super::identity::Identity;
use super::signals::timeout;
use super::sweep::{Family, Step, Sweep, bury, signal_tree, sweep_now};
use super::wire::{self, Job, News, Order};
use super::{GRACE, command::own_program, entry};
use crate::lock::{Lock, Taken};

/// Runs the guard to its end. Its standard input is the socket to the loop.
pub fn main() -> ExitCode {
    match guard() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn guard() -> io::Result<()> {
    become_keeper();
    // Started ahead as the guard itself may be: both are ready when the job comes.
    let (ahead, own) = (Shim::start(), Identity::own());
    let control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut reader = BufReader::new(control.try_clone()?);
    let Some(job) = wire::receive::<Job>(&mut reader)? else { return Ok(()) };
    let mut bytes = |length| {
        let mut bytes = vec![0; length];
        reader.read_exact(&mut bytes).map(|()| bytes)
    };
    let (program, prompt) = (bytes(job.program)?, bytes(job.input)?);
    let early: Vec<u8> = reader.buffer().to_vec();

    let signals = GuardSignals::install()?;
    let started = match Lock::take(&job.lock, &own)? {
        Taken::Ours(lock) => {
            // What could not be started then, or has died since, is started now.
            let shim = ahead.ok().and_then(Shim::if_alive).map_or_else(Shim::start, Ok);
            shim.and_then(|shim| shim.become_agent(&program, job.input)).map(|agent| (agent, lock))
        }
        Taken::Held => Err(io::Error::other("the guard of an earlier agent is still cleaning up")),
    };
    let (mut agent, _lock) = match started {
        Ok(started) => started,
        Err(error) => {
            // It may have begun all the same, where only the word of it was lost.
            let survivors = sweep_now();
            wire::send(&control, &News::NotStarted(crate::error::reason(&error)))?;
            return wire::send(&control, &News::Swept(survivors));
        }
    };
    control.set_nonblocking(true)?;
    let feed = Feed::new(agent.stdin.take(), prompt)?;
    let pid = i32::try_from(agent.id()).unwrap_or_default();
    let mut keeper = Keeper { master: Some(control), signals, feed, agent: pid, sweep: None };
    keeper.obey(&early);
    keeper.keep()
}

/// A name of its own, a session of its own, and every orphan below it as a child.
fn become_keeper() {
    let _ = setsid();
    #[cfg(all(target_os = "linux", not(wt_loop_portable)))]
    {
        let _ = nix::sys::prctl::set_name(c"wt-loop-guard");
        let _ = nix::sys::prctl::set_child_subreaper(true);
    }
}

/// What waits to become the agent.
struct Shim {
    process: Option<Child>,
    /// Why it could not, where it could not; it ends when the agent has begun.
    report: PipeReader,
}

impl Shim {
    fn start() -> io::Result<Self> {
        let (report, told) = io::pipe()?;
        // The shim opens it anew by its number and closes this one; between here and there is no other child to leak into.
        fcntl(&told, FcntlArg::F_SETFD(FdFlag::empty()))?;
        let own_pid = std::process::id().to_string();
        let process = Command::new(own_program()?)
            .arg0("wt-loop")
            .args([entry::SHIM, &told.as_raw_fd().to_string(), &own_pid])
            .process_group(0)
            .stdin(Stdio::piped())
            .spawn()?;
        Ok(Self { process: Some(process), report })
    }

    fn if_alive(mut self) -> Option<Self> {
        let alive = self.process.as_mut().is_some_and(|process| matches!(process.try_wait(), Ok(None)));
        alive.then_some(self)
    }

    /// Returns the agent once it runs, or the reason why it does not.
    fn become_agent(mut self, program: &[u8], input: usize) -> io::Result<Child> {
        if let Some(pipe) = self.process.as_ref().and_then(|process| process.stdin.as_ref()) {
            wire::hand_on(pipe, program, input)?;
        }
        let mut why = String::new();
        self.report.read_to_string(&mut why)?;
        let agent = self.process.take_if(|_| why.is_empty());
        agent.ok_or_else(|| io::Error::other(why))
    }
}

impl Drop for Shim {
    /// One that became nothing is of no use.
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// The prompt on its way into the agent, as far as the agent has taken it.
struct Feed {
    pipe: Option<ChildStdin>,
    bytes: Vec<u8>,
    sent: usize,
}

impl Feed {
    fn new(pipe: Option<ChildStdin>, bytes: Vec<u8>) -> io::Result<Self> {
        if let Some(pipe) = &pipe {
            fcntl(pipe, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        }
        Ok(Self { pipe, bytes, sent: 0 })
    }

    /// Hands over as much as the pipe takes; closes it at the end, or when the agent has closed its side.
    fn push(&mut self) {
        let Some(pipe) = &mut self.pipe else { return };
        while self.sent < self.bytes.len() {
            match pipe.write(&self.bytes[self.sent..]) {
                Ok(n) => self.sent += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => break,
            }
        }
        *self = Self { pipe: None, bytes: Vec::new(), sent: 0 };
    }
}

struct GuardSignals {
    wake: UnixStream,
    end: Arc<AtomicBool>,
}

impl GuardSignals {
    fn install() -> io::Result<Self> {
        let (wake, waker) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        let end = Arc::new(AtomicBool::new(false));
        for number in [SIGTERM, SIGINT, SIGHUP] {
            signal_hook::flag::register(number, Arc::clone(&end))?;
        }
        for number in [SIGCHLD, SIGTERM, SIGINT, SIGHUP] {
            signal_hook::low_level::pipe::register(number, waker.try_clone()?)?;
        }
        Ok(Self { wake, end })
    }

    fn settle(&self) {
        let mut bytes = [0; 64];
        while matches!((&self.wake).read(&mut bytes), Ok(n) if n > 0) {}
    }
}

struct Keeper {
    /// The socket to the loop, as long as there is one.
    master: Option<UnixStream>,
    signals: GuardSignals,
    feed: Feed,
    agent: i32,
    sweep: Option<Sweep>,
}

impl Keeper {
    fn keep(&mut self) -> io::Result<()> {
        loop {
            let family = self.bury();
            let wait = match &mut self.sweep {
                None => PollTimeout::NONE,
                Some(sweep) => match sweep.step(family) {
                    Step::Again(wait) => timeout(wait),
                    Step::Over(survivors) => {
                        self.tell(&News::Swept(survivors));
                        return self.wait_for_leave();
                    }
                },
            };
            self.wait(wait)?;
            self.signals.settle();
            self.feed.push();
            self.hear();
            self.heed_signals();
        }
    }

    /// The loop hangs up when it has heard. To exit before would only keep it from a processor.
    fn wait_for_leave(&mut self) -> io::Result<()> {
        self.feed.pipe = None;
        while self.master.is_some() {
            self.wait(PollTimeout::NONE)?;
            self.signals.settle();
            self.hear();
        }
        Ok(())
    }

    /// A signal to the guard is not the loop's word: what the agent makes of its end from here on is not believed.
    fn heed_signals(&mut self) {
        if self.signals.end.swap(false, Ordering::SeqCst) && self.sweep.is_none() {
            self.tell(&News::ToldToEnd);
            self.take_down();
        }
    }

    /// Buries the dead; the agent's own death is told at once, and what it left behind is taken down.
    fn bury(&mut self) -> Family {
        let (agent, mut news) = (self.agent, None);
        let family = bury(|pid, status| {
            if pid == agent {
                news = match status {
                    WaitStatus::Exited(_, code) => Some(News::Exited(code)),
                    WaitStatus::Signaled(_, signal, _) => Some(News::Signalled(signal as i32)),
                    _ => None,
                };
            }
        });
        if let Some(news) = news {
            // An agent that signalled us before it ended did so before it could be buried.
            self.heed_signals();
            self.tell(&news);
            self.take_down();
        }
        family
    }

    /// A loop that is gone needs no news. One that could not be told must not be waited for: it learns of our end.
    fn tell(&mut self, news: &News) {
        self.master.take_if(|master| wire::send(master, news).is_err());
    }

    fn take_down(&mut self) {
        let group = self.agent;
        self.sweep.get_or_insert_with(|| Sweep::gently(GRACE, Some(group)));
    }

    fn wait(&self, at_most: PollTimeout) -> io::Result<()> {
        let mut watched = vec![PollFd::new(self.signals.wake.as_fd(), PollFlags::POLLIN)];
        if let Some(master) = &self.master {
            watched.push(PollFd::new(master.as_fd(), PollFlags::POLLIN));
        }
        if let Some(pipe) = &self.feed.pipe {
            watched.push(PollFd::new(pipe.as_fd(), PollFlags::POLLOUT));
        }
        match poll(&mut watched, at_most) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes the loop's orders; its end means that the loop is dead.
    fn hear(&mut self) {
        let Some(mut master) = self.master.as_ref() else { return };
        let mut bytes = [0; 16];
        match master.read(&mut bytes) {
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Ok(n) if n > 0 => self.obey(&bytes[..n]),
            _ => {
                self.master = None;
                self.take_down();
            }
        }
    }

    fn obey(&mut self, orders: &[u8]) {
        for order in orders.iter().filter_map(|&byte| Order::from_byte(byte)) {
            match order {
                Order::Stop => self.take_down(),
                Order::Kill => {
                    self.take_down();
                    if let Some(sweep) = &mut self.sweep {
                        sweep.press();
                    }
                }
                Order::Freeze => signal_tree(Signal::SIGSTOP),
                Order::Thaw => signal_tree(Signal::SIGCONT),
            }
        }
    }
}
