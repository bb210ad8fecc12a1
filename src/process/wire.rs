//! What loop and guard say to each other over their socket, and what the guard hands on to its shim.
//!
//! The loop first sends one [`Job`] as a line of JSON, the [`Program`] and the prompt behind it, then single-byte [`Order`]s. The
//! guard answers with [`News`], a line of JSON each. The end of the stream is news too: the other side is dead.

use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
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
#[derive(Clone, Debug, PartialEq, Eq)]
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
    put_length(&mut bytes, program.len());
    put_length(&mut bytes, input);
    bytes.extend(program);
    to.write_all(&bytes)
}

/// Takes up a program that was handed on, and not a byte of its input; returns how long that is.
pub fn take_up(mut from: impl Read) -> io::Result<(Program, usize)> {
    let mut lengths = [0; 2 * LENGTH];
    from.read_exact(&mut lengths)?;
    let mut lengths = lengths.as_slice();
    let (Some(program), Some(input)) = (take_length(&mut lengths), take_length(&mut lengths)) else {
        return Err(io::ErrorKind::InvalidData.into());
    };
    let mut bytes = vec![0; program];
    from.read_exact(&mut bytes)?;
    Program::from_bytes(&bytes).map(|program| (program, input)).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// A program as bytes: three lists of strings, each string with its length. An environment is a few kilobytes that are written and read
/// at every iteration; JSON would spend more time on them than on all the rest.
impl Program {
    /// The bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_list(&mut bytes, [self.path.as_os_str(), self.cwd.as_os_str()].into_iter());
        put_list(&mut bytes, self.args.iter().map(OsString::as_os_str));
        let env: Vec<&OsStr> = self.env.iter().flat_map(|(name, value)| [name.as_os_str(), value]).collect();
        put_list(&mut bytes, env.into_iter());
        bytes
    }

    fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let mut list = || take_list(&mut bytes);
        let (places, args, env) = (list()?, list()?, list()?);
        let [path, cwd] = <[OsString; 2]>::try_from(places).ok()?.map(PathBuf::from);
        let mut env = env.into_iter();
        let env = std::iter::from_fn(|| Some((env.next()?, env.next()?))).collect();
        Some(Self { path, args, env, cwd })
    }
}

fn put_length(bytes: &mut Vec<u8>, length: usize) {
    bytes.extend((length as u64).to_le_bytes());
}

fn take_length(bytes: &mut &[u8]) -> Option<usize> {
    let (length, rest) = bytes.split_first_chunk::<LENGTH>()?;
    *bytes = rest;
    usize::try_from(u64::from_le_bytes(*length)).ok()
}

fn put_list<'a>(bytes: &mut Vec<u8>, strings: impl ExactSizeIterator<Item = &'a OsStr>) {
    put_length(bytes, strings.len());
    for string in strings {
        put_length(bytes, string.len());
        bytes.extend(string.as_bytes());
    }
}

fn take_list(bytes: &mut &[u8]) -> Option<Vec<OsString>> {
    let count = take_length(bytes)?;
    let string = |_| {
        let length = take_length(bytes)?;
        let (string, rest) = bytes.split_at_checked(length)?;
        *bytes = rest;
        Some(OsString::from_vec(string.to_vec()))
    };
    (0..count).map(string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program() -> Program {
        Program {
            path: "/bin/sh".into(),
            args: vec!["-c".into(), OsString::from_vec(b"a\0b\n\xff".to_vec()), OsString::new()],
            env: vec![("PATH".into(), "/bin".into()), ("EMPTY".into(), OsString::new())],
            cwd: "/".into(),
        }
    }

    #[test]
    fn a_program_is_handed_on_byte_for_byte_and_its_input_left_in_the_pipe() {
        let mut pipe = Vec::new();
        hand_on(&mut pipe, &program().to_bytes(), 5).unwrap();
        pipe.extend(b"input");
        let mut rest = pipe.as_slice();
        assert_eq!(take_up(&mut rest).unwrap(), (program(), 5));
        assert_eq!(rest, b"input");
    }

    #[test]
    fn a_program_that_was_cut_short_is_none() {
        let bytes = program().to_bytes();
        assert_eq!(Program::from_bytes(&bytes), Some(program()));
        for end in 0..bytes.len() {
            assert_eq!(Program::from_bytes(&bytes[..end]), None, "{end} of {}", bytes.len());
        }
    }
}
