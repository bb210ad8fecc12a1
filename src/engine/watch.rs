//! What becomes of the agent's output: the log keeps every byte, the stage shows it, the scanner listens for the promise.

use std::time::Duration;

use crate::config::Streaming;
use crate::log::Log;
use crate::process::{Stream, Watcher};
use crate::promise::Scanner;
use crate::term::stage::Stage;

/// How much of the end is kept to tell the next iteration of a failure.
const TAIL: usize = 4 * 1024;

/// One agent's output on its way.
pub struct Watch<'a> {
    /// Keeps every byte.
    pub log: &'a mut Log,
    /// Shows it.
    pub stage: &'a mut Stage,
    /// Whether it is shown.
    pub streaming: Streaming,
    /// Listens to what the agent says.
    pub scanner: Option<Scanner>,
    /// The end of what it printed.
    pub tail: Tail,
}

impl Watcher for Watch<'_> {
    fn output(&mut self, stream: Stream, bytes: &[u8]) {
        self.log.write(bytes);
        self.tail.push(bytes);
        // What stands on standard error is not said by the agent.
        if let (Stream::Out, Some(scanner)) = (stream, &mut self.scanner) {
            scanner.feed(bytes);
        }
        match self.streaming {
            Streaming::Live => self.stage.stream(bytes),
            Streaming::LogOnly => self.stage.note(bytes),
        }
    }

    fn interval(&self) -> Option<Duration> {
        self.stage.interval()
    }

    fn tick(&mut self) {
        self.stage.tick();
    }

    fn suspending(&mut self) {
        self.stage.suspend();
    }
}

/// The last few kilobytes of a stream of any length.
#[derive(Default)]
pub struct Tail(Vec<u8>);

impl Tail {
    fn push(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(&bytes[bytes.len().saturating_sub(TAIL)..]);
        if self.0.len() > 2 * TAIL {
            self.0.drain(..self.0.len() - TAIL);
        }
    }

    /// Its last lines as text.
    pub fn text(&self) -> String {
        let start = self.0.len().saturating_sub(TAIL);
        let text = String::from_utf8_lossy(&self.0[start..]);
        let whole = if start > 0 { text.split_once('\n').map_or(&*text, |(_, rest)| rest) } else { &text };
        whole.trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_is_short_and_begins_at_a_line() {
        let mut tail = Tail::default();
        for n in 0..10_000 {
            tail.push(format!("line {n}\n").as_bytes());
            assert!(tail.0.len() <= 3 * TAIL);
        }
        let text = tail.text();
        assert!(text.starts_with("line ") && text.ends_with("line 9999") && text.len() <= TAIL, "{text}");
    }
}
