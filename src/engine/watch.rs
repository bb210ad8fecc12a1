//! What becomes of the agent's output: the reader makes the conversation of it, the log keeps it, the stage shows it.

use std::fs::File;
use std::io::Write;
use std::time::Duration;

use crate::agent::event::{End, Usage};
use crate::agent::reader::{Reader, Reading, Shown};
use crate::config::Streaming;
use crate::log::Log;
use crate::options::Limit;
use crate::process::{Stream, Watcher};
use crate::term::stage::{Live, Stage};
use crate::term::{BAD, DIM};

/// How much of the end is kept to tell the next iteration of a failure.
const TAIL: usize = 4 * 1024;

/// What may be spent.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Tokens.
    pub tokens: Limit,
    /// Dollars.
    pub usd: Option<f64>,
}

impl Budget {
    /// Whether it is spent.
    pub fn is_spent_by(self, usage: &Usage) -> bool {
        self.tokens.is_reached_by(usage.counted()) || self.usd.is_some_and(|most| usage.cost.unwrap_or(0.0) >= most)
    }
}

/// One agent's output on its way.
pub struct Watch<'a> {
    /// Understands it.
    pub reader: Reader,
    /// Keeps it.
    pub log: &'a mut Log,
    /// Shows it.
    pub stage: &'a mut Stage,
    /// Keeps the JSON as it came, where that is wished.
    pub raw: Option<&'a mut File>,
    /// Whether it is shown.
    pub streaming: Streaming,
    /// What the live line says.
    pub live: Live,
    /// What the loop may spend.
    pub budget: Budget,
    /// What it had spent before.
    pub spent: Usage,
    /// The end of what the agent printed.
    pub tail: Tail,
    /// The end of its standard error.
    pub stderr: Tail,
}

impl Watch<'_> {
    /// The agent is gone: what is held is read.
    pub fn finish(self) -> (Reading, Tail, Tail) {
        let Self { reader, log, stage, raw, streaming, mut tail, stderr, .. } = self;
        let mut way = Way { log, stage, raw, streaming, tail: &mut tail };
        let reading = reader.finish(&mut |shown| way.show(&shown));
        (reading, tail, stderr)
    }
}

impl Watcher for Watch<'_> {
    fn output(&mut self, stream: Stream, bytes: &[u8]) {
        let raw = self.raw.as_deref_mut();
        let mut way = Way { log: self.log, stage: self.stage, raw, streaming: self.streaming, tail: &mut self.tail };
        match stream {
            Stream::Out => self.reader.feed(bytes, &mut |shown| way.show(&shown)),
            // What stands on standard error is not said by the agent.
            Stream::Err => {
                way.show(&Shown::Raw(bytes));
                self.stderr.push(bytes);
            }
        }
        let tokens = self.spent.counted().saturating_add(self.reader.so_far().usage.counted());
        if tokens != self.live.tokens {
            self.live.tokens = tokens;
            self.stage.set_live(Some(self.live.clone()));
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

    fn resuming(&mut self) {
        self.stage.resume();
    }

    fn ending(&mut self) {
        self.stage.whisper("ending the agent and all that it started, 5 s at most; Ctrl-C again kills at once");
    }

    fn is_enough(&self) -> bool {
        let now = self.reader.so_far().usage;
        now != Usage::default()
            && self.reader.so_far().end != Some(End::Well)
            && self.budget.is_spent_by(&self.spent.plus(now))
    }
}

/// Where a piece of the conversation goes.
struct Way<'a> {
    log: &'a mut Log,
    stage: &'a mut Stage,
    raw: Option<&'a mut File>,
    streaming: Streaming,
    tail: &'a mut Tail,
}

impl Way<'_> {
    fn show(&mut self, shown: &Shown) {
        match shown {
            Shown::Raw(bytes) => self.bytes(bytes),
            Shown::Said(text) => self.bytes(text.as_bytes()),
            Shown::Tool(name, "") => self.line(DIM, &format!("⚙ {name}")),
            Shown::Tool(name, detail) => self.line(DIM, &format!("⚙ {name}  {detail}")),
            Shown::Note(text) => self.line(DIM, &format!("· {text}")),
            Shown::Error(text) => self.line(BAD, &format!("✘ {text}")),
            Shown::Unknown(line) => self.log.write(line),
            Shown::Json(line) => {
                if let Some(raw) = &mut self.raw {
                    // The log tells of a full disk; a second voice adds nothing.
                    let _ = raw.write_all(line);
                }
            }
        }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.log.write(bytes);
        self.tail.push(bytes);
        match self.streaming {
            Streaming::Live => self.stage.stream(bytes),
            Streaming::LogOnly => self.stage.note(bytes),
        }
    }

    fn line(&mut self, style: anstyle::Style, text: &str) {
        let plain = format!("{text}\n");
        self.log.write(plain.as_bytes());
        self.tail.push(plain.as_bytes());
        match self.streaming {
            Streaming::Live => self.stage.stream_line(style, text),
            Streaming::LogOnly => self.stage.note(plain.as_bytes()),
        }
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

    #[test]
    fn a_budget_is_spent_by_tokens_or_by_dollars() {
        let used = Usage { input: 10, output: 5, cache_read: 1000, cache_write: 5, cost: Some(0.5) };
        let spent = |tokens, usd| Budget { tokens, usd }.is_spent_by(&used);
        assert!(spent(Limit::At(20), None) && !spent(Limit::At(21), None), "cache reads do not count");
        assert!(spent(Limit::Unlimited, Some(0.5)) && !spent(Limit::Unlimited, Some(0.51)));
    }
}
