//! From an agent's output, cut anywhere, to what it says, what it used and how it ended.
//!
//! A line that is a JSON event of the agent is shown as the conversation that it is part of; everything else is passed on byte for
//! byte, as it comes: an update notice, a warning, an agent that prints plain text although JSON was asked for. A promise counts
//! in what the agent says: in its events where there are any, in its plain text only where there is none at all. A line longer
//! than [`LONGEST_LINE`] is logged and never said. Nothing grows beyond that.

use serde_json::Value;

use super::event::{Decoder, End, Event, Failure, Known, Limit, Usage};
use crate::promise::Scanner;

/// A line longer than this is no event.
pub const LONGEST_LINE: usize = 8 * 1024 * 1024;

/// A piece of what a person sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown<'a> {
    /// Bytes as they came.
    Raw(&'a [u8]),
    /// What the agent says; whole lines are ended by the reader.
    Said(&'a str),
    /// A line about a tool.
    Tool(&'a str, &'a str),
    /// A line that the user may want to know.
    Note(&'a str),
    /// A line with an error of the agent's.
    Error(&'a str),
    /// A line of JSON as it came, for those who keep them.
    Json(&'a [u8]),
    /// An event that nobody here knows: for the log, not for a person.
    Unknown(&'a [u8]),
}

/// What was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// Whether any event of the agent was seen.
    pub events: bool,
    /// Whether the promise was said.
    pub promised: bool,
    /// Tokens and cost.
    pub usage: Usage,
    /// The agent's own name for its session.
    pub session: Option<String>,
    /// A limit that was reached and not overcome.
    pub limit: Option<Limit>,
    /// The tools that the agent was not allowed to use.
    pub denied: Option<String>,
    /// The agent's own error.
    pub failure: Option<Failure>,
    /// How it ended, as the agent sees it.
    pub end: Option<End>,
    /// Whether nothing at all was printed.
    pub silent: bool,
}

impl Reading {
    /// Whether the agent's own words let an exit code of 0 stand.
    pub fn ended_well(&self) -> bool {
        !self.events || self.end == Some(End::Well)
    }
}

/// Reads one run of an agent.
pub struct Reader {
    decoder: Option<Box<dyn Decoder>>,
    line: Vec<u8>,
    state: Line,
    said: Option<Scanner>,
    plain: Option<Scanner>,
    mid_line: bool,
    reading: Reading,
    events: Vec<Event>,
}

/// What the line at hand is, as far as can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// Nothing of it has come.
    New,
    /// It begins like JSON and is held until it ends.
    Held,
    /// It is passed on as it comes.
    Passed,
    /// It is too long for an event: logged, never said.
    Overlong,
}

impl Reader {
    /// For an agent with this decoder, listening for this promise.
    pub fn new(decoder: Option<Box<dyn Decoder>>, promise: Option<Scanner>) -> Self {
        Self {
            decoder,
            line: Vec::new(),
            state: Line::New,
            said: promise.clone(),
            plain: promise,
            mid_line: false,
            reading: Reading { silent: true, ..Reading::default() },
            events: Vec::new(),
        }
    }

    /// Takes the next piece of standard output.
    pub fn feed(&mut self, bytes: &[u8], show: &mut dyn FnMut(Shown)) {
        self.reading.silent &= bytes.is_empty();
        if self.decoder.is_none() {
            self.pass(bytes, show);
            return;
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            rest = match self.state {
                Line::New => self.begin(rest, show),
                Line::Passed => self.pass_line(rest, show),
                Line::Held => self.hold(rest, show),
                Line::Overlong => self.let_go(rest, show),
            };
        }
    }

    /// The run is over: what is held is read, and the reading returned.
    pub fn finish(mut self, show: &mut dyn FnMut(Shown)) -> Reading {
        if self.state == Line::Held {
            self.end_line(show);
        }
        self.end_text(show);
        let scanner = if self.reading.events { &self.said } else { &self.plain };
        self.reading.promised = scanner.as_ref().is_some_and(Scanner::found);
        self.reading
    }

    /// What is known so far.
    pub fn so_far(&self) -> &Reading {
        &self.reading
    }

    /// Most lines of plain text are passed in one piece: only one that begins like JSON is looked at.
    fn begin<'a>(&mut self, bytes: &'a [u8], show: &mut dyn FnMut(Shown)) -> &'a [u8] {
        if bytes[0] == b'{' {
            self.state = Line::Held;
            return bytes;
        }
        let next = memchr::memmem::find(bytes, b"\n{").map_or(bytes.len(), |at| at + 1);
        let (plain, rest) = bytes.split_at(next);
        self.pass(plain, show);
        self.state = if plain.ends_with(b"\n") { Line::New } else { Line::Passed };
        rest
    }

    fn pass_line<'a>(&mut self, bytes: &'a [u8], show: &mut dyn FnMut(Shown)) -> &'a [u8] {
        let end = memchr::memchr(b'\n', bytes).map(|at| at + 1);
        let (line, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
        self.pass(line, show);
        if end.is_some() {
            self.state = Line::New;
        }
        rest
    }

    fn hold<'a>(&mut self, bytes: &'a [u8], show: &mut dyn FnMut(Shown)) -> &'a [u8] {
        let end = memchr::memchr(b'\n', bytes).map(|at| at + 1);
        let (piece, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
        self.line.extend_from_slice(piece);
        if self.line.len() > LONGEST_LINE {
            self.end_text(show);
            show(Shown::Raw(&std::mem::take(&mut self.line)));
            self.state = if end.is_some() { Line::New } else { Line::Overlong };
        } else if end.is_some() {
            self.end_line(show);
        }
        rest
    }

    fn let_go<'a>(&mut self, bytes: &'a [u8], show: &mut dyn FnMut(Shown)) -> &'a [u8] {
        let end = memchr::memchr(b'\n', bytes).map(|at| at + 1);
        let (piece, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
        show(Shown::Raw(piece));
        self.state = if end.is_some() { Line::New } else { Line::Overlong };
        rest
    }

    fn end_line(&mut self, show: &mut dyn FnMut(Shown)) {
        let line = std::mem::take(&mut self.line);
        self.state = Line::New;
        let known = match (serde_json::from_slice::<Value>(&line), &mut self.decoder) {
            (Ok(value), Some(decoder)) => decoder.decode(&value, &mut self.events),
            _ => Known::Foreign,
        };
        if known == Known::Foreign && self.reading.events && is_event(&line) {
            self.end_text(show);
            show(Shown::Json(&line));
            show(Shown::Unknown(&line));
        } else if known == Known::Foreign {
            self.events.clear();
            self.pass(&line, show);
        } else {
            self.reading.events = true;
            show(Shown::Json(&line));
            for event in std::mem::take(&mut self.events) {
                self.take(event, show);
            }
        }
        // The buffer is kept for the next line, unless this one was out of the ordinary.
        self.line = line;
        self.line.clear();
        self.line.shrink_to(64 * 1024);
    }

    fn pass(&mut self, bytes: &[u8], show: &mut dyn FnMut(Shown)) {
        self.end_text(show);
        if let Some(plain) = &mut self.plain {
            plain.feed(bytes);
        }
        show(Shown::Raw(bytes));
    }

    fn take(&mut self, event: Event, show: &mut dyn FnMut(Shown)) {
        match event {
            Event::Said(text) => {
                self.end_text(show);
                self.say(&text, show);
                self.end_text(show);
                // White space between two pieces, as a reader sees them.
                self.hear(b"\n");
            }
            Event::Delta(text) => self.say(&text, show),
            Event::Tool(name, detail) => {
                self.end_text(show);
                self.hear(b"\n");
                show(Shown::Tool(&name, &detail));
            }
            Event::Note(text) => {
                self.end_text(show);
                show(Shown::Note(&text));
            }
            Event::Used(usage) => self.reading.usage = self.reading.usage.plus(usage),
            Event::UsedInAll(usage) => self.reading.usage = usage,
            Event::Session(id) if !id.is_empty() => self.reading.session = Some(id),
            Event::Session(_) => {}
            Event::Limit(limit) => {
                self.end_text(show);
                show(Shown::Error(&limit.words));
                // A second word about the same limit does not take back when it is over.
                let until = limit.until.or(self.reading.limit.as_ref().and_then(|before| before.until));
                self.reading.limit = Some(Limit { until, ..limit });
            }
            Event::Denied(tools) => {
                self.end_text(show);
                show(Shown::Error(&denied(&tools)));
                self.reading.denied = Some(tools);
            }
            Event::Failed(failure) => {
                self.end_text(show);
                show(Shown::Error(&failure.words));
                self.reading.failure = Some(failure);
            }
            Event::Ended(end) => {
                self.reading.end = Some(end);
                if end == End::Well {
                    // What went wrong on the way was overcome.
                    (self.reading.limit, self.reading.failure) = (None, None);
                }
            }
        }
    }

    fn say(&mut self, text: &str, show: &mut dyn FnMut(Shown)) {
        if text.is_empty() {
            return;
        }
        self.hear(text.as_bytes());
        self.mid_line = !text.ends_with('\n');
        show(Shown::Said(text));
    }

    fn hear(&mut self, bytes: &[u8]) {
        if let Some(said) = &mut self.said {
            said.feed(bytes);
        }
    }

    fn end_text(&mut self, show: &mut dyn FnMut(Shown)) {
        if std::mem::take(&mut self.mid_line) {
            show(Shown::Said("\n"));
        }
    }
}

/// What a person is told of a permission that was denied.
pub fn denied(tools: &str) -> String {
    format!("permission denied for {tools}; --allow-all would allow it")
}

/// Among the agent's events, an object with a type is one more of them, known or not.
fn is_event(line: &[u8]) -> bool {
    serde_json::from_slice::<Value>(line).is_ok_and(|value| value.get("type").is_some_and(Value::is_string))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::promise::Promise;
    use proptest::prelude::*;

    struct Toy;

    impl Decoder for Toy {
        fn decode(&mut self, value: &Value, events: &mut Vec<Event>) -> Known {
            let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
            events.extend(text("said").map(Event::Said));
            events.extend(text("delta").map(Event::Delta));
            events.extend(text("tool").map(|name| Event::Tool(name, "x".into())));
            events.extend(value.get("end").map(|_| Event::Ended(End::Well)));
            if events.is_empty() { Known::Foreign } else { Known::Event }
        }
    }

    fn read(pieces: &[&[u8]]) -> (String, Reading) {
        let scanner = Scanner::new(&Promise::new("COMPLETE"));
        let mut reader = Reader::new(Some(Box::new(Toy)), Some(scanner));
        let mut shown = Vec::new();
        let mut show = |piece: Shown| match piece {
            Shown::Raw(bytes) => shown.extend_from_slice(bytes),
            Shown::Said(text) => shown.extend_from_slice(text.as_bytes()),
            Shown::Tool(name, detail) => shown.extend_from_slice(format!("* {name} {detail}\n").as_bytes()),
            Shown::Note(text) | Shown::Error(text) => shown.extend_from_slice(format!("! {text}\n").as_bytes()),
            Shown::Json(_) | Shown::Unknown(_) => {}
        };
        for piece in pieces {
            reader.feed(piece, &mut show);
        }
        let reading = reader.finish(&mut show);
        (String::from_utf8_lossy(&shown).into_owned(), reading)
    }

    #[test]
    fn a_promise_counts_in_what_the_agent_says() {
        for (lines, promised) in [
            ("{\"said\":\"<promise>COMPLETE</promise>\"}\n", true),
            ("{\"delta\":\"<pro\"}\n{\"delta\":\"mise>COMPLETE</promise>\"}\n", true),
            ("{\"said\":\"<promise>\"}\n{\"said\":\"COMPLETE</promise>\"}\n", true),
            ("{\"delta\":\"<promise>COM\"}\n{\"tool\":\"t\"}\n{\"delta\":\"PLETE</promise>\"}\n", false),
            ("<promise>COMPLETE</promise>\n", true),
            ("<promise>COMPLETE</promise>\n{\"said\":\"no\"}\n", false),
            ("{\"other\":\"<promise>COMPLETE</promise>\"}\n", true),
            ("{\"other\":\"<promise>COMPLETE</promise>\"}\n{\"end\":1}\n", false),
        ] {
            assert_eq!(read(&[lines.as_bytes()]).1.promised, promised, "{lines}");
        }
    }

    #[test]
    fn text_between_events_is_passed_on_and_lines_are_kept_apart() {
        let (shown, reading) = read(&[b"update!\n{\"delta\":\"a\"}\n{\"delta\":\"b\"}\n{\"tool\":\"t\"}\nwarn\n{broken\n{\"said\":\"c\"}\n{\"end\":1}"]);
        assert_eq!(shown, "update!\nab\n* t x\nwarn\n{broken\nc\n");
        assert!(reading.ended_well());
    }

    #[test]
    fn events_without_an_end_are_not_a_good_end() {
        assert!(!read(&[b"{\"said\":\"x\"}\n"]).1.ended_well());
        assert!(read(&[b"plain\n"]).1.ended_well());
    }

    #[test]
    fn a_line_that_is_too_long_is_logged_and_never_said() {
        let mut line = b"{\"said\":\"<promise>COMPLETE</promise>".to_vec();
        line.resize(LONGEST_LINE + 10, b' ');
        line.extend_from_slice(b"\"}\n");
        let (shown, reading) = read(&[&line]);
        assert_eq!(shown.len(), line.len());
        assert!(!reading.promised && !reading.events);
    }

    proptest! {
        #[test]
        fn any_split_is_read_alike(
            parts in proptest::collection::vec(prop_oneof![
                Just("{\"said\":\"<promise>COMPLETE</promise>\"}\n".to_owned()), Just("{\"delta\":\"<promise>\"}\n".to_owned()),
                Just("{\"delta\":\"COMPLETE</promise>\"}\n".to_owned()), Just("{\"tool\":\"t\"}\n".to_owned()),
                Just("{\"end\":1}\n".to_owned()), Just("{bro".to_owned()), Just("\n".to_owned()), Just("plain".to_owned()), ".{0,8}",
            ], 0..12),
            cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..6),
        ) {
            let bytes = parts.concat().into_bytes();
            let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).chain([0, bytes.len()]).collect();
            at.sort_unstable();
            let pieces: Vec<&[u8]> = at.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            prop_assert_eq!(read(&pieces), read(&[&bytes]));
        }
    }
}
