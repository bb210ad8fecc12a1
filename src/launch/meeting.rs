//! Where `start` and the loop it launches meet: a private socket.
//!
//! The loop finds the socket's path in the worktree's git directory, gets the loop's id and the environment of the user's
//! shell, takes the loop lock, reports in, and goes on when `start` has acknowledged it. So nothing secret stands on a command line
//! or on disk, and what `start` says is true. When `start` gives up, path and socket are gone: a terminal that opens late
//! finds no loop to take up, and a loop that reports too late gets no word and ends.

use std::fs;
use std::io::{self, BufReader, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::getuid;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{AtEnd, Launched, Process};
use crate::environment::Environment;
use crate::error::{Doing, Error, Result};
use crate::files;
use crate::process::Signals;
use crate::worktree::Worktree;

/// How long `start` waits for its loop.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// How often a launched process is looked at while it is waited for.
const GLANCE: Duration = Duration::from_millis(100);
/// The longest path that a socket can have on every system.
const LONGEST_PATH: usize = 100;

/// What `start` tells the loop.
#[derive(Serialize, Deserialize)]
struct Welcome {
    loop_id: String,
    env: Environment,
    at_end: AtEnd,
}

/// What the loop answers.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Arrival {
    Running { pid: i32 },
    Failed { why: String },
}

/// What `start` says to a loop that has reported in time.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Word {
    GoOn,
}

/// The side of `start`.
pub struct Host {
    listener: UnixListener,
    socket: PathBuf,
    pointer: PathBuf,
    welcome: Welcome,
}

impl Host {
    /// Opens the socket and leaves its path where the loop will look.
    pub fn open(worktree: &Worktree, loop_id: &str, env: &Environment, at_end: AtEnd) -> Result<Self> {
        let dir = runtime_dir(env)?;
        let socket = dir.join(format!("wt-loop-{loop_id}.sock"));
        let listener = UnixListener::bind(&socket).doing("open the socket", &socket)?;
        let pointer = worktree.meeting();
        let welcome = Welcome { loop_id: loop_id.to_owned(), env: env.clone(), at_end };
        let host = Self { listener, socket, pointer, welcome };
        fs::set_permissions(&host.socket, fs::Permissions::from_mode(0o600)).doing("protect", &host.socket)?;
        let path = host.socket.as_os_str().as_encoded_bytes();
        files::replace(&host.pointer, path).doing("write", &host.pointer)?;
        Ok(host)
    }

    /// Waits for the loop to report in; returns its pid. A place whose process stays and has left, or that has failed, is not
    /// waited for any longer, and neither is anything after a signal. `name` is the place's.
    pub fn wait(&self, name: &str, launched: &mut Launched, signals: &Signals) -> Result<i32> {
        let deadline = Instant::now() + PATIENCE;
        let mut caller: Option<Caller> = None;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Error::new(format!(
                    "the loop did not report in from {name} within {} s",
                    PATIENCE.as_secs()
                )));
            }
            if let Some(by) = signals.interrupt() {
                return Err(Error::new(format!("interrupted by {} before the loop had reported in", by.name())));
            }
            // A loop that has called tells of its own end.
            let failed = if caller.is_none() { launched.failed() } else { None };
            // What arrived before the end of a process is looked at after it.
            let patience = if failed.is_some() { Duration::ZERO } else { left.min(GLANCE) };
            let (source, flags) = match &caller {
                None => (self.listener.as_fd(), PollFlags::POLLIN),
                Some(caller) => (caller.stream.as_fd(), caller.awaits()),
            };
            let is_ready = is_ready(source, flags, timeout(patience), signals);
            match (&mut caller, failed) {
                (None, _) if is_ready => caller = Some(self.let_in().doing("talk over", &self.socket)?),
                (None, Some(status)) => {
                    return Err(Error::new(format!("{name} ended before the loop could report in ({status})")));
                }
                (Some(caller), _) if is_ready => {
                    if let Some(pid) = self.hear(caller, name)? {
                        return Ok(pid);
                    }
                }
                _ => {}
            }
        }
    }

    fn let_in(&self) -> io::Result<Caller> {
        let (stream, _) = self.listener.accept()?;
        stream.set_nonblocking(true)?;
        let mut welcome = Vec::new();
        crate::process::send(&mut welcome, &self.welcome)?;
        Ok(Caller { stream, unsent: welcome, heard: Vec::new() })
    }

    /// The pid of the loop, once it has reported in and been acknowledged.
    fn hear(&self, caller: &mut Caller, name: &str) -> Result<Option<i32>> {
        let met = caller.go_on().and_then(|arrival| {
            if let Some(Arrival::Running { .. }) = arrival {
                crate::process::send(&caller.stream, &Word::GoOn)?;
            }
            Ok(arrival)
        });
        match met {
            Ok(Some(Arrival::Running { pid })) => Ok(Some(pid)),
            Ok(Some(Arrival::Failed { why })) => Err(Error::new(why)),
            Ok(None) => Ok(None),
            Err(error) if is_hung_up(&error) => {
                Err(Error::new(format!("the loop in {name} ended before it could report in")))
            }
            Err(error) => Err(error).doing("talk over", &self.socket),
        }
    }
}

/// A loop that has called and is talked to without waiting for it.
struct Caller {
    stream: UnixStream,
    /// What is left of the welcome.
    unsent: Vec<u8>,
    /// What has come of the arrival.
    heard: Vec<u8>,
}

impl Caller {
    fn awaits(&self) -> PollFlags {
        if self.unsent.is_empty() { PollFlags::POLLIN } else { PollFlags::POLLOUT }
    }

    /// Sends and reads what goes at once; the arrival, once it is whole.
    fn go_on(&mut self) -> io::Result<Option<Arrival>> {
        let mut part = [0; 4096];
        let done = if self.unsent.is_empty() { self.stream.read(&mut part) } else { self.stream.write(&self.unsent) };
        match done {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(sent) if !self.unsent.is_empty() => drop(self.unsent.drain(..sent)),
            Ok(read) => self.heard.extend_from_slice(&part[..read]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(error) => return Err(error),
        }
        if self.heard.ends_with(b"\n") { Ok(Some(serde_json::from_slice(&self.heard)?)) } else { Ok(None) }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = files::remove(&self.pointer);
        let _ = files::remove(&self.socket);
    }
}

impl Launched {
    /// How its process ended, where that means that no loop will come.
    fn failed(&mut self) -> Option<ExitStatus> {
        let (child, process) = self.child.as_mut()?;
        let status = child.try_wait().ok().flatten()?;
        (*process == Process::Stays || !status.success()).then_some(status)
    }
}

/// The side of the loop.
pub struct Guest {
    stream: UnixStream,
    /// The loop to take up.
    pub loop_id: String,
    /// The environment of the user's shell.
    pub env: Environment,
    /// What is to be done with the terminal when the loop is over.
    pub at_end: AtEnd,
}

impl Guest {
    /// Meets the `start` that waits in this worktree; `None` where none does.
    pub fn arrive(worktree: &Worktree) -> Result<Option<Self>> {
        let pointer = worktree.meeting();
        let Some(path) = files::read(&pointer).doing("read", &pointer)? else { return Ok(None) };
        let path = PathBuf::from(<std::ffi::OsString as std::os::unix::ffi::OsStringExt>::from_vec(path));
        let Ok(stream) = UnixStream::connect(&path) else { return Ok(None) };
        let met = stream.set_read_timeout(Some(PATIENCE)).and_then(|()| receive::<Welcome>(&stream));
        let Welcome { loop_id, env, at_end } = met.doing("talk over", &path)?;
        Ok(Some(Self { stream, loop_id, env, at_end }))
    }

    /// Fails where `start` has given up: before a loop has reported in, it sends nothing and its end is all that can be heard.
    pub fn ensure_awaited(&self, signals: &Signals) -> Result<()> {
        let has_gone = is_ready(self.stream.as_fd(), PollFlags::POLLIN, PollTimeout::ZERO, signals);
        if has_gone { Err(too_late()) } else { Ok(()) }
    }

    /// Reports in: the loop runs; and waits for the word that it may go on. It may not once `start` has given up. A
    /// signal ends the wait, and is for the loop to see to.
    pub fn report_running(&self, signals: &Signals) -> Result<()> {
        let pid = i32::try_from(std::process::id()).unwrap_or_default();
        crate::process::send(&self.stream, &Arrival::Running { pid }).map_err(|_| too_late())?;
        // No deadline: a `start` that is there may have been suspended, and one that is not is heard to have gone.
        while !is_ready(self.stream.as_fd(), PollFlags::POLLIN, PollTimeout::NONE, signals) {
            if signals.interrupt().is_some() {
                return Ok(());
            }
        }
        let Word::GoOn = receive(&self.stream).map_err(|_| too_late())?;
        Ok(())
    }

    /// Reports why there will be no loop.
    pub fn report_failure(&self, error: &Error) {
        let _ = crate::process::send(&self.stream, &Arrival::Failed { why: error.to_string() });
    }
}

fn too_late() -> Error {
    Error::new("not started: the loop reported in after start had given up")
}

fn is_hung_up(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe | ErrorKind::ConnectionReset)
}

/// Waits until a socket is ready, or for a signal, or no longer; returns whether the socket is.
fn is_ready(source: BorrowedFd, flags: PollFlags, patience: PollTimeout, signals: &Signals) -> bool {
    let mut watched = [PollFd::new(source, flags), PollFd::new(signals.as_fd(), PollFlags::POLLIN)];
    let ready = poll(&mut watched, patience).is_ok_and(|ready| ready > 0);
    signals.settle();
    ready && watched[0].any().unwrap_or(false)
}

fn timeout(patience: Duration) -> PollTimeout {
    PollTimeout::try_from(patience).unwrap_or(PollTimeout::ZERO)
}

fn receive<T: DeserializeOwned>(from: &UnixStream) -> io::Result<T> {
    crate::process::receive(&mut BufReader::new(from))?.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

/// `$XDG_RUNTIME_DIR`, or where it is missing or too long for a socket, a private folder for temporary files.
fn runtime_dir(env: &Environment) -> Result<PathBuf> {
    let named = env.get("XDG_RUNTIME_DIR").map(PathBuf::from);
    let fits = |dir: &PathBuf| dir.is_absolute() && dir.is_dir() && dir.as_os_str().len() < LONGEST_PATH - 50;
    if let Some(dir) = named.filter(fits) {
        return Ok(dir);
    }
    let dir = Path::new("/tmp").join(format!("wt-loop-{}", getuid()));
    files::private_dir(&dir).doing("make", &dir)?;
    let found = fs::symlink_metadata(&dir).doing("look at", &dir)?;
    if found.uid() == getuid().as_raw() && found.mode().trailing_zeros() >= 6 {
        Ok(dir)
    } else {
        Err(Error::new(format!("{} belongs to somebody else or is open to others", dir.display()))
            .hint("export XDG_RUNTIME_DIR=\"$(mktemp -d)\""))
    }
}
