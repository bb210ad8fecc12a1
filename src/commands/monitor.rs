//! `wt-loop monitor [CHANGE]`: follows the log like `tail -F`, and ends with the loop's own exit code.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::json;

use super::Context;
use crate::error::{Doing, Error, Exit, Result};
use crate::files;
use crate::process::Signals;
use crate::registry::Registry;
use crate::target;
use crate::term::report;
use crate::term::stage::{Live, Stage};
use crate::term::{self, filter::plain};
use crate::view::View;

/// How often the log is looked at.
const GLANCE: Duration = Duration::from_millis(100);

/// Arguments of `monitor`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A change, or another worktree's name or branch; without one, the loop of this worktree
    #[arg(value_name = "CHANGE", add = crate::complete::targets())]
    pub change: Option<String>,

    /// Begin with the last N lines of the log
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub lines: usize,

    /// Seconds between two looks at the loop for the status line
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub interval: u64,

    /// Print one JSON object per event: output, status, end
    #[arg(long)]
    pub json: bool,
}

/// Runs `monitor`.
pub fn run(args: &Args, context: &Context) -> Result<Exit> {
    let mut view = target::of_loop(&context.cwd, &context.env, args.change.as_deref())?;
    let (registry, signals) = (Registry::of(&context.env), Signals::install()?);
    let mut log = Tail::open(&view.worktree.log(), args.lines)?;
    let mut screen = if args.json { Screen::Events } else { Screen::Person(Box::default()) };
    if let (Screen::Person(_), Some(attach)) = (&screen, attach(&view, context)) {
        term::narrate(&format!("to go where the loop runs: {attach}"));
    }
    let (interval, mut last_look) = (Duration::from_secs(args.interval), None::<Instant>);
    loop {
        if last_look.is_none_or(|at| at.elapsed() >= interval) || !view.is_active() {
            view = View::of(&view.worktree, &registry)?.ok_or_else(|| Error::new("the state of the loop is gone"))?;
            screen.status(&view)?;
            last_look = Some(Instant::now());
        }
        // What a loop that is over had still written is read after it is known to be over.
        let over = !view.is_active();
        while let Some(bytes) = log.read()? {
            screen.output(&bytes)?;
        }
        if over {
            screen.end(&view)?;
            return Ok(exit(&view));
        }
        signals.sleep(GLANCE, || {
            signals.suspend();
        });
        if let Screen::Person(stage) = &mut screen {
            stage.freshen();
        }
        if signals.interrupt().is_some() {
            screen.leave();
            return Ok(Exit::Interrupted);
        }
        if !crate::lock::Lock::is_held(&view.worktree.loop_lock()).unwrap_or(false) {
            last_look = None;
        }
    }
}

/// The command that leads to where a loop runs, if it runs where one leads to.
fn attach(view: &View, context: &Context) -> Option<String> {
    let record = Registry::of(&context.env).load(&view.worktree.root)?;
    let is_this = view.is_active() && record.loop_id == view.state.loop_id;
    record.attach.filter(|_| is_this).map(|attach| plain(&attach))
}

/// The loop's own exit code; a crash is an error.
fn exit(view: &View) -> Exit {
    let code = view.state.exit_code.unwrap_or(1);
    let known = Exit::TABLE.iter().map(|(exit, _)| *exit).find(|exit| i32::from(exit.code()) == code);
    if view.is_crashed() { Exit::Error } else { known.unwrap_or(Exit::Error) }
}

/// For whom the log is followed.
enum Screen {
    Person(Box<Stage>),
    Events,
}

impl Screen {
    fn output(&mut self, bytes: &[u8]) -> Result<()> {
        match self {
            Screen::Person(stage) => {
                stage.stream(bytes);
                Ok(())
            }
            Screen::Events => event(&json!({ "event": "output", "text": String::from_utf8_lossy(bytes) })),
        }
    }

    fn status(&mut self, view: &View) -> Result<()> {
        let state = &view.state;
        match self {
            Screen::Person(stage) => {
                let what =
                    format!("{} {} {}", plain(&state.worktree_name), view.status_words(), report::progress(state));
                stage.set_live(Some(Live { what, since: None, tokens: state.total_tokens }));
                Ok(())
            }
            Screen::Events => event(&json!({
                "event": "status",
                "status": view.status(),
                "status_reason": view.reason(),
                "current_iteration": state.current_iteration,
                "max_iterations": state.max_iterations,
                "total_tokens": state.total_tokens,
            })),
        }
    }

    fn end(&mut self, view: &View) -> Result<()> {
        self.leave();
        match self {
            Screen::Person(_) => {
                let reason = view.reason().map(|reason| format!(": {}", plain(reason))).unwrap_or_default();
                term::narrate(&format!(
                    "the loop in {} is over ({}{reason})",
                    plain(&view.worktree.name()),
                    view.status()
                ));
                Ok(())
            }
            Screen::Events => event(&json!({
                "event": "end",
                "status": view.status(),
                "status_reason": view.reason(),
                "exit_code": exit(view).code(),
            })),
        }
    }

    fn leave(&mut self) {
        if let Screen::Person(stage) = self {
            stage.end_stream();
            stage.set_live(None);
        }
    }
}

fn event(value: &serde_json::Value) -> Result<()> {
    term::answer(&format!("{value}\n"))
}

/// A file that is read as it grows, through rotation and removal.
struct Tail {
    path: PathBuf,
    file: Option<File>,
}

impl Tail {
    /// Opens the file at its last `lines` lines.
    fn open(path: &Path, lines: usize) -> Result<Self> {
        let mut file = files::open(path).doing("read", path)?;
        if let Some(file) = &mut file {
            let start = start_of_last(file, lines).doing("read", path)?;
            file.seek(SeekFrom::Start(start)).doing("read", path)?;
        }
        Ok(Self { path: path.to_owned(), file })
    }

    /// What has been written since; `None` where nothing has.
    fn read(&mut self) -> Result<Option<Vec<u8>>> {
        if let Some(bytes) = self.read_on()? {
            return Ok(Some(bytes));
        }
        // At the end of the file: is it still the one that is written to?
        let in_place = fs::symlink_metadata(&self.path).ok().map(|found| found.ino());
        let ours = self.file.as_ref().and_then(|file| file.metadata().ok());
        if in_place.is_some() && in_place != ours.as_ref().map(MetadataExt::ino) {
            // What was written to the old one until the new one was there is still to be read.
            if let Some(bytes) = self.read_on()? {
                return Ok(Some(bytes));
            }
            self.file = files::open(&self.path).doing("read", &self.path)?;
            return self.read_on();
        }
        // A file that was emptied is read from its beginning.
        if let (Some(file), Some(found)) = (&mut self.file, ours)
            && file.stream_position().doing("read", &self.path)? > found.len()
        {
            file.rewind().doing("read", &self.path)?;
            return self.read_on();
        }
        Ok(None)
    }

    fn read_on(&mut self) -> Result<Option<Vec<u8>>> {
        let Some(file) = &mut self.file else { return Ok(None) };
        let mut bytes = vec![0; 64 * 1024];
        let n = file.read(&mut bytes).doing("read", &self.path)?;
        bytes.truncate(n);
        Ok((n > 0).then_some(bytes))
    }
}

/// Where the last `lines` lines of a file begin, found from its end.
fn start_of_last(file: &mut File, lines: usize) -> std::io::Result<u64> {
    const BLOCK: u64 = 64 * 1024;
    let end = file.metadata()?.len();
    let (mut at, mut wanted) = (end, lines);
    let mut block = Vec::new();
    if lines == 0 {
        return Ok(end);
    }
    while at > 0 {
        let size = BLOCK.min(at);
        at -= size;
        file.seek(SeekFrom::Start(at))?;
        block.clear();
        (&mut *file).take(size).read_to_end(&mut block)?;
        for found in memchr::memrchr_iter(b'\n', &block) {
            let position = at + found as u64 + 1;
            // The line end that closes the file begins no line.
            if position == end {
                continue;
            }
            wanted -= 1;
            if wanted == 0 {
                return Ok(position);
            }
        }
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_found_from_the_end() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        for (text, lines, rest) in [
            ("a\nb\nc\n", 2, "b\nc\n"),
            ("a\nb\nc", 2, "b\nc"),
            ("a\nb\n", 9, "a\nb\n"),
            ("a\nb\n", 0, ""),
            ("", 3, ""),
            ("one", 1, "one"),
        ] {
            fs::write(&path, text).unwrap();
            let start = start_of_last(&mut File::open(&path).unwrap(), lines).unwrap();
            assert_eq!(&text[usize::try_from(start).unwrap()..], rest, "{text:?} {lines}");
        }
    }

    #[test]
    fn a_rotated_log_is_followed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        fs::write(&path, "old\n").unwrap();
        let mut tail = Tail::open(&path, 10).unwrap();
        assert_eq!(tail.read().unwrap().unwrap(), b"old\n");
        fs::rename(&path, dir.path().join("log.1")).unwrap();
        assert_eq!(tail.read().unwrap(), None);
        fs::write(&path, "new\n").unwrap();
        assert_eq!(tail.read().unwrap().unwrap(), b"new\n");
        fs::write(&path, "x\n").unwrap();
        assert_eq!(tail.read().unwrap().unwrap(), b"x\n", "one that was emptied too");
    }
}
