//! Where a running loop is seen: the agent's stream, and on a terminal one live line under it.
//!
//! On a terminal the stream is filtered (text, line ends, colours) and shown line by line, so that the live line can stand
//! below it; the line that is not yet ended is part of the live line. Elsewhere every byte is passed on as it comes. A
//! terminal or a pipe that is gone is written to no more; the loop goes on.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use anstyle::Style;
use terminal_size::terminal_size_of;

use super::bell;
use super::filter::{Filter, plain, screened};
use super::human::{self, Glyphs};
use super::table::cut;
use super::title::{self, Title, Window};
use super::{DIM, paint};

/// A line longer than this is shown before it ends.
const LONGEST_HELD: usize = 8 * 1024;
/// The live line is drawn anew at most this often.
const REDRAW: Duration = Duration::from_millis(100);

/// What the live line says beside the agent's last words.
#[derive(Clone, Debug, Default)]
pub struct Live {
    /// `3/10`.
    pub what: String,
    /// What the time is counted from.
    pub since: Option<Instant>,
    /// Tokens so far.
    pub tokens: u64,
}

/// The standard output and error of a running loop.
pub struct Stage {
    out: Side,
    err: Side,
    filter: Filter,
    held: Vec<u8>,
    last_line: String,
    mid_line: bool,
    live: Option<Live>,
    drawn: bool,
    drawn_at: Option<Instant>,
    window: Window,
    title: Option<String>,
    borrowed: bool,
}

/// One of the two, and what it leads to.
struct Side {
    kind: Kind,
    open: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Terminal,
    Elsewhere,
}

impl Side {
    fn of(stream: &impl IsTerminal) -> Self {
        Self { kind: if stream.is_terminal() { Kind::Terminal } else { Kind::Elsewhere }, open: true }
    }

    fn is_terminal(&self) -> bool {
        self.kind == Kind::Terminal
    }

    fn write(&mut self, mut to: impl Write, bytes: &[u8]) {
        if self.open && to.write_all(bytes).and_then(|()| to.flush()).is_err() {
            self.open = false;
        }
    }
}

impl Stage {
    /// The stage of this process.
    pub fn new() -> Self {
        Self {
            out: Side::of(&io::stdout()),
            err: Side::of(&io::stderr()),
            filter: Filter::new(),
            held: Vec::new(),
            last_line: String::new(),
            mid_line: false,
            live: None,
            drawn: false,
            drawn_at: None,
            window: Window::Users,
            title: None,
            borrowed: false,
        }
    }

    /// Says whose window it is; the user's, where nobody says it.
    pub fn set_window(&mut self, window: Window) {
        self.window = window;
    }

    /// Symbols for the narration.
    pub fn glyphs(&self) -> Glyphs {
        if self.err.is_terminal() { Glyphs::Unicode } else { Glyphs::Ascii }
    }

    /// How often the live line wants to be drawn; `None` where there is no terminal for it.
    pub fn interval(&self) -> Option<Duration> {
        let wanted = if self.drawn || self.mid_line { Duration::from_secs(1) } else { REDRAW };
        (self.err.is_terminal() && self.live.is_some()).then_some(wanted)
    }

    /// Shows a piece of the agent's output.
    pub fn stream(&mut self, bytes: &[u8]) {
        if !self.out.is_terminal() {
            self.out.write(io::stdout(), bytes);
            return;
        }
        let mut filter = std::mem::take(&mut self.filter);
        filter.feed(bytes, &mut self.held);
        self.filter = filter;
        self.show_whole_lines();
    }

    /// Shows a whole line in a style; colour is for terminals.
    pub fn stream_line(&mut self, style: Style, text: &str) {
        let line = if self.out.is_terminal() { paint(style, text) } else { text.to_owned() };
        self.stream(format!("{line}\n").as_bytes());
    }

    /// Notes what the agent said last where its output is not shown.
    pub fn note(&mut self, bytes: &[u8]) {
        let mut text = Vec::new();
        Filter::new().feed(&bytes[bytes.len().saturating_sub(1024)..], &mut text);
        self.remember(&text);
    }

    /// Ends the stream of an iteration: what is held is shown, and colours that were left on are off again.
    pub fn end_stream(&mut self) {
        let mut filter = std::mem::take(&mut self.filter);
        filter.finish(&mut self.held);
        if !self.held.is_empty() || self.mid_line {
            self.held.push(b'\n');
        }
        self.show_whole_lines();
        self.last_line.clear();
    }

    /// Prints a line of narration above the live line.
    pub fn narrate(&mut self, line: &str) {
        self.erase();
        if self.err.open {
            let line = format!("{}\n", screened(line));
            let written = anstream::stderr().write_all(line.as_bytes());
            self.err.open = written.is_ok();
        }
        self.draw();
    }

    /// A line of narration for a person at a terminal, and for nobody else.
    pub fn whisper(&mut self, line: &str) {
        if self.err.is_terminal() {
            self.narrate(&paint(DIM, &format!("· {line}")));
        }
    }

    /// Sets the live line, or takes it away.
    pub fn set_live(&mut self, live: Option<Live>) {
        self.erase();
        self.live = live;
        self.drawn_at = None;
        self.draw();
    }

    /// Draws the live line as it is now.
    pub fn tick(&mut self) {
        self.drawn_at = None;
        self.erase();
        self.draw();
    }

    /// Draws the live line again where output has taken it away.
    pub fn freshen(&mut self) {
        if !self.drawn {
            self.draw();
        }
    }

    /// Leaves the terminal to the user's shell for a while: neither the live line nor our title is there.
    pub fn suspend(&mut self) {
        self.erase();
        self.give_title_back();
    }

    /// Takes the terminal up again.
    pub fn resume(&mut self) {
        if let Some(title) = self.title.take() {
            self.show_title(title);
        }
        self.draw();
    }

    /// Sets the title of the terminal's window.
    pub fn set_title(&mut self, name: &str, label: Option<&str>, what: Title) {
        self.show_title(title::title(name, label, what));
    }

    /// Asks for the attention of whoever looks elsewhere.
    pub fn ring(&mut self, title: &str, text: &str) {
        let [term, program] = ["TERM", "TERM_PROGRAM"].map(std::env::var_os);
        let terminal = bell::Terminal::named(term.as_deref(), program.as_deref());
        self.control(&bell::ring(title, text, terminal));
    }

    fn show_title(&mut self, title: String) {
        if self.window == Window::Users && !self.borrowed {
            self.control(title::PUSH);
            self.borrowed = true;
        }
        self.control(&title::escape(&title));
        self.title = Some(title);
    }

    fn give_title_back(&mut self) {
        if std::mem::take(&mut self.borrowed) {
            self.control(title::POP);
        }
    }

    /// A sequence for the terminal, whichever side it is on.
    fn control(&mut self, sequence: &str) {
        if self.err.is_terminal() {
            self.err.write(io::stderr(), sequence.as_bytes());
        } else if self.out.is_terminal() {
            self.out.write(io::stdout(), sequence.as_bytes());
        }
    }

    fn show_whole_lines(&mut self) {
        let end = match memchr::memrchr(b'\n', &self.held) {
            Some(at) => at + 1,
            None if self.held.len() > LONGEST_HELD => self.held.len(),
            None => {
                let held = std::mem::take(&mut self.held);
                self.remember(&held);
                self.held = held;
                return self.redraw();
            }
        };
        self.erase();
        let rest = self.held.split_off(end);
        let shown = std::mem::replace(&mut self.held, rest);
        self.out.write(io::stdout(), &shown);
        self.mid_line = !shown.ends_with(b"\n");
        self.remember(&shown);
        self.redraw();
    }

    /// The last words, for the live line.
    fn remember(&mut self, text: &[u8]) {
        let tail = &text[text.len().saturating_sub(1024)..];
        let tail = String::from_utf8_lossy(tail);
        if let Some(line) = tail.lines().rev().map(plain).find(|line| !line.trim().is_empty()) {
            self.last_line = line;
        }
    }

    fn redraw(&mut self) {
        if self.drawn_at.is_none_or(|at| at.elapsed() >= REDRAW) {
            self.erase();
            self.draw();
        }
    }

    fn erase(&mut self) {
        if std::mem::take(&mut self.drawn) {
            self.err.write(io::stderr(), b"\r\x1b[2K");
        }
    }

    fn draw(&mut self) {
        let Some(live) = self.live.as_ref().filter(|_| self.err.is_terminal() && !self.mid_line) else { return };
        let width = terminal_size_of(io::stderr()).map_or(80, |(width, _)| usize::from(width.0));
        let elapsed = live.since.map(|since| human::duration(since.elapsed()));
        let tokens = (live.tokens > 0).then(|| format!("{} tokens", human::count(live.tokens)));
        let last = Some(self.last_line.trim().to_owned()).filter(|line| !line.is_empty());
        let parts = [Some(live.what.clone()), elapsed, tokens, last];
        let text = format!("▶ {}", parts.into_iter().flatten().collect::<Vec<_>>().join(" · "));
        let text = paint(DIM, &cut(&plain(&text), width.saturating_sub(1)));
        self.err.write(anstream::AutoStream::auto(io::stderr()), text.as_bytes());
        self.drawn = true;
        self.drawn_at = Some(Instant::now());
    }
}

/// However a loop ends, the user has the title back.
impl Drop for Stage {
    fn drop(&mut self) {
        self.give_title_back();
    }
}

impl Default for Stage {
    fn default() -> Self {
        Self::new()
    }
}
