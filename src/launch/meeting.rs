//! Where `start` and the loop it launches meet: a private socket.
//!
//! The loop finds the socket's path in the worktree's git directory, gets the loop's id and the environment of the user's
//! shell, takes the loop lock, and reports in. So nothing secret stands on a command line or on disk, and what
//! `start` says is true. When `start` gives up, path and socket are gone: a terminal that opens late finds no loop to
//! take up.

use std::fs;
use std::io::{self, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::getuid;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::os::fd::AsFd;

use crate::environment::Environment;
use crate::error::{Doing, Error, Result};
use crate::files;
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
}

/// What the loop answers.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Arrival {
    Running { pid: i32 },
    Failed { why: String },
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
    pub fn open(worktree: &Worktree, loop_id: &str, env: &Environment) -> Result<Self> {
        let dir = runtime_dir(env)?;
        let socket = dir.join(format!("wt-loop-{loop_id}.sock"));
        let listener = UnixListener::bind(&socket).doing("open the socket", &socket)?;
        let pointer = worktree.meeting();
        let host =
            Self { listener, socket, pointer, welcome: Welcome { loop_id: loop_id.to_owned(), env: env.clone() } };
        fs::set_permissions(&host.socket, fs::Permissions::from_mode(0o600)).doing("protect", &host.socket)?;
        let path = host.socket.as_os_str().as_encoded_bytes();
        files::replace(&host.pointer, path).doing("write", &host.pointer)?;
        Ok(host)
    }

    /// Waits for the loop to report in; returns its pid.
    pub fn wait(&self, mut child: Option<&mut Child>) -> Result<i32> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Error::new(format!("the loop did not report in within {} s", PATIENCE.as_secs())));
            }
            let mut watched = [PollFd::new(self.listener.as_fd(), PollFlags::POLLIN)];
            let wait = PollTimeout::try_from(left.min(GLANCE)).unwrap_or(PollTimeout::ZERO);
            if poll(&mut watched, wait).is_ok_and(|ready| ready > 0) {
                return self.receive();
            }
            if let Some(child) = child.as_deref_mut()
                && let Ok(Some(status)) = child.try_wait()
            {
                return Err(Error::new(format!("the loop ended before it could report in ({status})")));
            }
        }
    }

    fn receive(&self) -> Result<i32> {
        let met = self.listener.accept().and_then(|(guest, _)| {
            guest.set_read_timeout(Some(PATIENCE))?;
            crate::process::send(&guest, &self.welcome)?;
            receive::<Arrival>(&guest)
        });
        match met.doing("talk over", &self.socket)? {
            Arrival::Running { pid } => Ok(pid),
            Arrival::Failed { why } => Err(Error::new(why)),
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = files::remove(&self.pointer);
        let _ = files::remove(&self.socket);
    }
}

/// The side of the loop.
pub struct Guest {
    stream: UnixStream,
    /// The loop to take up.
    pub loop_id: String,
    /// The environment of the user's shell.
    pub env: Environment,
}

impl Guest {
    /// Meets the `start` that waits in this worktree; `None` where none does.
    pub fn arrive(worktree: &Worktree) -> Result<Option<Self>> {
        let pointer = worktree.meeting();
        let Some(path) = files::read(&pointer).doing("read", &pointer)? else { return Ok(None) };
        let path = PathBuf::from(<std::ffi::OsString as std::os::unix::ffi::OsStringExt>::from_vec(path));
        let Ok(stream) = UnixStream::connect(&path) else { return Ok(None) };
        let met = stream.set_read_timeout(Some(PATIENCE)).and_then(|()| receive::<Welcome>(&stream));
        let Welcome { loop_id, env } = met.doing("talk over", &path)?;
        Ok(Some(Self { stream, loop_id, env }))
    }

    /// Reports in: the loop runs.
    pub fn report_running(&self) {
        let pid = i32::try_from(std::process::id()).unwrap_or_default();
        // A start that has gone home meanwhile is nobody's loss.
        let _ = crate::process::send(&self.stream, &Arrival::Running { pid });
    }

    /// Reports why there will be no loop.
    pub fn report_failure(&self, error: &Error) {
        let _ = crate::process::send(&self.stream, &Arrival::Failed { why: error.to_string() });
    }
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
