//! As much of HTTP/1.1 as agents need of a server.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// How long a slow answer pauses before each of its events.
const A_WHILE: Duration = Duration::from_millis(300);

/// What is sent back.
#[derive(Clone, Debug)]
pub enum Answer {
    /// A status, further headers and a JSON body.
    Whole(u16, Vec<(&'static str, String)>, String),
    /// Server-sent events to their end.
    Events(Vec<String>),
    /// The same, each a while after the one before.
    Slow(Vec<String>),
    /// Some of them, then the connection is closed in the middle.
    Broken(Vec<String>),
    /// Some of them, then nothing for as long as the agent waits.
    Silence(Vec<String>),
}

/// The next request's method, path and body; `None` where there is no further one.
pub fn request(stream: &mut TcpStream) -> io::Result<Option<(String, String, Value)>> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte)? == 0 {
            return Ok(None);
        }
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let mut words = head.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let header = |name: &str| {
        head.lines()
            .find_map(|line| line.split_once(':').filter(|(n, _)| n.eq_ignore_ascii_case(name)))
            .map(|(_, v)| v.trim())
    };
    if header("expect").is_some() {
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let body = if header("transfer-encoding").is_some() {
        chunked(stream)?
    } else {
        let mut body = vec![0; header("content-length").and_then(|n| n.parse().ok()).unwrap_or(0)];
        stream.read_exact(&mut body)?;
        body
    };
    Ok(Some((method, path, serde_json::from_slice(&body).unwrap_or_default())))
}

fn chunked(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = Vec::new();
        let mut byte = [0];
        while !line.ends_with(b"\r\n") {
            stream.read_exact(&mut byte)?;
            line.push(byte[0]);
        }
        let size = usize::from_str_radix(String::from_utf8_lossy(&line).trim(), 16).unwrap_or(0);
        let mut chunk = vec![0; size + 2];
        stream.read_exact(&mut chunk)?;
        if size == 0 {
            return Ok(body);
        }
        body.extend_from_slice(&chunk[..size]);
    }
}

/// Sends an answer.
pub fn send(stream: &mut TcpStream, answer: &Answer) -> io::Result<()> {
    match answer {
        Answer::Whole(status, headers, body) => {
            let lines: Vec<String> = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
            let headers = lines.concat();
            let length = body.len();
            write!(
                stream,
                "HTTP/1.1 {status} {}\r\ncontent-type: application/json\r\n{headers}content-length: {length}\r\n\r\n{body}",
                phrase(*status)
            )
        }
        Answer::Events(events) => {
            chunks(stream, events, Duration::ZERO)?;
            stream.write_all(b"0\r\n\r\n")
        }
        Answer::Slow(events) => {
            chunks(stream, events, A_WHILE)?;
            stream.write_all(b"0\r\n\r\n")
        }
        Answer::Broken(events) => chunks(stream, events, Duration::ZERO),
        Answer::Silence(events) => {
            chunks(stream, events, Duration::ZERO)?;
            super::until_closed(stream);
            Ok(())
        }
    }
}

fn chunks(stream: &mut TcpStream, events: &[String], pause: Duration) -> io::Result<()> {
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")?;
    for event in events {
        std::thread::sleep(pause);
        write!(stream, "{:x}\r\n{event}\r\n", event.len())?;
    }
    stream.flush()
}

fn phrase(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        404 => "Not Found",
        429 => "Too Many Requests",
        _ => "Error",
    }
}
