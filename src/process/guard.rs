//! The guard of one agent: its parent, its keeper, and what takes it down.
//!
//! It leads a session of its own and is a subreaper, so that every orphan of the agent becomes its child. It hands the
//! prompt to the agent, tells the loop how the agent ended, and then, or when the loop asks for it, or when the loop is
//! gone, sweeps the whole tree. As long as anything may live it holds the guard lock, and a new loop waits for that.
//! It never writes to its standard output or error: those belong to the agent.

use std::io::{self, BufReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use nix::sys::wait::WaitStatus;
use nix::unistd::setsid;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};

use super::identity::Identity;
use super::signals::timeout;
use super::sweep::{Family, Step, Sweep, bury, signal_tree};
use super::wire::{self, Job, News, Order};
use super::{command::own_program, entry};
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
    let control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut reader = BufReader::new(control.try_clone()?);
    let Some(job) = wire::receive::<Job>(&mut reader)? else { return Ok(()) };
    let mut prompt = vec![0; job.input];
    reader.read_exact(&mut prompt)?;
    let early: Vec<u8> = reader.buffer().to_vec();

    let signals = GuardSignals::install()?;
    let started = match Lock::take(&job.lock, &Identity::own())? {
        Taken::Ours(lock) => start(&job).map(|agent| (agent, lock)),
        Taken::Held => Err("the guard of an earlier agent is still cleaning up".to_owned()),
    };
    let (mut agent, _lock) = match started {
        Ok(started) => started,
        Err(why) => {
            wire::send(&control, &News::NotStarted(why))?;
            return wire::send(&control, &News::Swept(Vec::new()));
        }
    };
    control.set_nonblocking(true)?;
    let feed = Feed::new(agent.stdin.take(), prompt)?;
    let pid = i32::try_from(agent.id()).unwrap_or_default();
    let mut keeper = Keeper { master: Some(control), signals, feed, agent: pid, grace: job.grace, sweep: None };
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

/// Starts the agent through the shim, and returns once it runs or the reason is known why it does not.
fn start(job: &Job) -> Result<Child, String> {
    let not = |error: io::Error| crate::error::reason(&error);
    let (mut report, told) = io::pipe().map_err(not)?;
    let child = spawn_shim(job, &told).map_err(not)?;
    drop(told);
    let mut why = String::new();
    report.read_to_string(&mut why).map_err(not)?;
    if why.is_empty() { Ok(child) } else { Err(why) }
}

fn spawn_shim(job: &Job, told: &PipeWriter) -> io::Result<Child> {
    // The shim opens it anew by its number and closes this one; between here and there is no other child to leak into.
    fcntl(told, FcntlArg::F_SETFD(FdFlag::empty()))?;
    let own_pid = std::process::id().to_string();
    Command::new(own_program()?)
        .arg0("wt-loop")
        .args([entry::SHIM, &told.as_raw_fd().to_string(), &own_pid])
        .arg(&job.program)
        .args(&job.args)
        .env_clear()
        .envs(job.env.iter().map(|(name, value)| (name, value)))
        .current_dir(&job.cwd)
        .process_group(0)
        .stdin(if job.input == 0 { Stdio::null() } else { Stdio::piped() })
        .spawn()
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
    grace: Duration,
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
                        return Ok(());
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

    /// A loop that is gone needs no news.
    fn tell(&self, news: &News) {
        if let Some(master) = &self.master {
            let _ = wire::send(master, news);
        }
    }

    fn take_down(&mut self) {
        let (grace, group) = (self.grace, self.agent);
        self.sweep.get_or_insert_with(|| Sweep::gently(grace, Some(group)));
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
