//! What loop and guard say to each other over their socket.
//!
//! The loop first sends one [`Job`] as a line of JSON, the [`Program`] and the prompt behind it, then single-byte [`Order`]s. The
//! guard answers with [`News`], a line of JSON each. The end of the stream is news too: the other side is dead.

use std::ffi::OsString;
use std::io::{self, BufRead, Read, Write};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::sweep::Survivor;

/// The bytes of a length.
const LENGTH: usize = size_of::<u64>();

/// What the loop wants of a guard. The bytes of the [`Program`] and those of its input follow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// The lock that the guard holds as long as anything of the tree may live.
    pub lock: PathBuf,
    /// How many bytes tell the program.
    pub program: usize,
    /// How many bytes are its input.
    pub input: usize,
}

/// What a shim becomes. The guard hands its bytes on as they are.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Program {
    /// The program, as an absolute path.
    pub path: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its whole environment.
    pub env: Vec<(OsString, OsString)>,
    /// Where it runs.
    pub cwd: PathBuf,
}

/// What the loop tells the guard to do with the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// TERM, grace, KILL.
    Stop,
    /// KILL now.
    Kill,
    /// Stop the clocks: Ctrl-Z.
    Freeze,
    /// Go on: `fg`.
    Thaw,
}

impl Order {
    /// The byte that stands for it.
    pub const fn byte(self) -> u8 {
        match self {
            Order::Stop => b'S',
            Order::Kill => b'K',
            Order::Freeze => b'F',
            Order::Thaw => b'T',
        }
    }

    /// The order that a byte stands for.
    pub const fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            b'S' => Some(Order::Stop),
            b'K' => Some(Order::Kill),
            b'F' => Some(Order::Freeze),
            b'T' => Some(Order::Thaw),
            _ => None,
        }
    }
}

/// What the guard tells the loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum News {
    /// The agent could not be started, and why.
    NotStarted(String),
    /// The agent ended with this code.
    Exited(i32),
    /// The agent was ended by this signal.
    Signalled(i32),
    /// Somebody else than the loop told the guard to end; the agent's own end follows and counts for nothing.
    ToldToEnd,
    /// Nothing of the tree lives but these.
    Swept(Vec<Survivor>),
}

/// Sends one value as a line.
pub fn send(mut to: impl Write, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    to.write_all(&line)
}

/// Reads one value that was sent as a line; `None` at the end.
pub fn receive<T: for<'a> Deserialize<'a>>(from: &mut impl BufRead) -> io::Result<Option<T>> {
    let mut line = Vec::new();
    match from.read_until(b'\n', &mut line)? {
        0 => Ok(None),
        _ => Ok(Some(serde_json::from_slice(&line)?)),
    }
}

/// Hands a program on to the shim, through the pipe that its input takes afterwards: the two lengths, then the bytes.
pub fn hand_on(mut to: impl Write, program: &[u8], input: usize) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(2 * LENGTH + program.len());
    bytes.extend((program.len() as u64).to_le_bytes());
    bytes.extend((input as u64).to_le_bytes());
    bytes.extend(program);
    to.write_all(&bytes)
}

/// Takes up a program that was handed on, and not a byte of its input; returns how long that is.
pub fn take_up(mut from: impl Read) -> io::Result<(Program, u64)> {
    let mut length = || {
        let mut bytes = [0; LENGTH];
        from.read_exact(&mut bytes).map(|()| u64::from_le_bytes(bytes))
    };
    let (program, input) = (length()?, length()?);
    let mut bytes = vec![0; usize::try_from(program).unwrap_or(usize::MAX)];
    from.read_exact(&mut bytes)?;
    Ok((serde_json::from_slice(&bytes)?, input))
}
