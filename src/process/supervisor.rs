//! The loop's side of one agent: its output, its deadlines, the signals that reach the loop meanwhile, and its end.
//!
//! Output is read in pieces as it comes, through one buffer, and handed to the [`Watcher`]; nothing is kept. Deadlines are
//! monotonic and stand still while the loop is suspended, and while the machine sleeps: the clock of [`Instant`] does
//! then, on Linux as on macOS. The end is what the guard says, or its death; never the end of a pipe, which a grandchild
//! may hold for ever.

use std::io::{self, BufRead, BufReader, PipeReader, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Child;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::GRACE;
use super::guards::{Guard, Guards, wake};
use super::signals::{Asked, Signals, timeout};
use super::sweep::{Step, Survivor, Sweep, bury};
use super::wire::{self, Job, News, Order, Program};

/// How much is read at once.
const BUFFER: usize = 64 * 1024;
/// What may still be in the pipes when the tree is gone; a survivor that writes on is not listened to for ever.
const LAST_WORDS: usize = 1024 * 1024;

/// Which of the agent's two outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Its standard output.
    Out,
    /// Its standard error.
    Err,
}

/// Who sees what the agent prints.
pub trait Watcher {
    /// A piece of output, cut anywhere.
    fn output(&mut self, stream: Stream, bytes: &[u8]);
    /// How often [`Watcher::tick`] is wanted; `None` where it is not.
    fn interval(&self) -> Option<Duration>;
    /// Time has gone by.
    fn tick(&mut self);
    /// Whether the agent is to be ended: what it may spend is spent.
    fn is_enough(&self) -> bool {
        false
    }
    /// A signal asked for the end: the agent is being taken down.
    fn ending(&mut self) {}
    /// The loop is about to be suspended.
    fn suspending(&mut self) {}

    /// It goes on.
    fn resuming(&mut self) {}
}

/// How long an agent may take.
#[derive(Clone, Copy, Debug, Default)]
pub struct Deadlines {
    /// In all.
    pub total: Option<Duration>,
    /// Without a word.
    pub idle: Option<Duration>,
}

/// One program to run under a guard, to its end.
pub struct Errand<'a> {
    /// The program.
    pub program: Program,
    /// What it reads on its standard input; with nothing there is no input at all.
    pub input: &'a [u8],
    /// The lock that the guard holds as long as anything of the tree may live.
    pub lock: PathBuf,
    /// How long it may take.
    pub deadlines: Deadlines,
}

/// Which deadline passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timeout {
    /// The total one.
    Total,
    /// The one of silence.
    Idle,
}

/// How it came to an end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this code.
    Exited(i32),
    /// By a signal that was not ours.
    Signalled(i32),
    /// By a deadline.
    TimedOut(Timeout),
    /// By a signal to the loop.
    Interrupted,
    /// Because the watcher had enough.
    Enough,
    /// It never began, and why.
    NotStarted(String),
    /// Somebody killed the guard, and the kernel the agent with it.
    GuardLost,
}

/// What is known when nothing of the tree is left.
#[derive(Clone, Debug)]
pub struct Report {
    /// How it ended.
    pub ended: Ended,
    /// The agent's exit code, or 128 and the signal's number; `None` where it has none.
    pub code: Option<i32>,
    /// What could not be killed.
    pub survivors: Vec<Survivor>,
}

/// Runs an errand to its end under one of the guards.
pub fn supervise(
    errand: &Errand,
    guards: &mut Guards,
    signals: &Signals,
    watcher: &mut dyn Watcher,
) -> io::Result<Report> {
    let mut run = Run::start(errand, guards.next()?)?;
    // What an earlier tree could not be freed of may have died since.
    bury(|_, _| ());
    while !run.is_over() {
        run.wait(signals, watcher)?;
        signals.settle();
        run.read(watcher);
        run.hear();
        run.look_at_clocks();
        if watcher.is_enough() {
            run.end(Ended::Enough);
        }
        run.look_at_signals(signals, watcher);
        run.take_over_if_guard_died();
    }
    run.last_words(watcher);
    let (report, guard) = run.finish();
    guards.let_go(guard);
    Ok(report)
}

/// Whoever loses its parent below us becomes a child of ours.
pub fn keep_orphans() {
    #[cfg(all(target_os = "linux", not(wt_loop_portable)))]
    let _ = nix::sys::prctl::set_child_subreaper(true);
}

/// Ends the talk with a guard that could not be told: it takes its tree down and goes, where it would wait for ever.
fn hang_up_unless(told: bool, control: &UnixStream) {
    if !told {
        let _ = control.shutdown(Shutdown::Both);
    }
}

/// Tells a guard what to run.
fn hand_over(errand: &Errand, mut control: &UnixStream) -> io::Result<()> {
    let program = errand.program.to_bytes();
    let job = Job { lock: errand.lock.clone(), program: program.len(), input: errand.input.len() };
    wire::send(control, &job)?;
    control.write_all(&program)?;
    control.write_all(errand.input)
}

struct Run {
    guard: Child,
    control: BufReader<UnixStream>,
    line: Vec<u8>,
    pipes: [(Stream, Option<PipeReader>); 2],
    buffer: Vec<u8>,
    deadlines: Deadlines,
    started: Instant,
    last_word: Instant,
    cause: Option<Ended>,
    agent_end: Option<News>,
    pressed: bool,
    sweep: Option<Sweep>,
    survivors: Option<Vec<Survivor>>,
}

impl Run {
    fn start(errand: &Errand, guard: Guard) -> io::Result<Self> {
        let Guard { process, control, out, err } = guard;
        // A guard that dies here is found by its silence, as it would be later.
        hang_up_unless(hand_over(errand, &control).is_ok(), &control);
        control.set_nonblocking(true)?;
        let now = Instant::now();
        Ok(Self {
            guard: process,
            control: BufReader::new(control),
            line: Vec::new(),
            pipes: [(Stream::Out, Some(out)), (Stream::Err, Some(err))],
            buffer: vec![0; BUFFER],
            deadlines: errand.deadlines,
            started: now,
            last_word: now,
            cause: None,
            agent_end: None,
            pressed: false,
            sweep: None,
            survivors: None,
        })
    }

    fn is_over(&self) -> bool {
        self.survivors.is_some()
    }

    /// Sleeps until something happens or a clock runs out.
    fn wait(&mut self, signals: &Signals, watcher: &mut dyn Watcher) -> io::Result<()> {
        let (sweeping, now) = (self.sweep.is_some(), Instant::now());
        let tick = watcher.interval();
        let clock = self.next_deadline().map(|at| at.saturating_duration_since(now));
        let sweep = sweeping.then_some(Duration::from_millis(20));
        let wait = [tick, clock, sweep].into_iter().flatten().min();
        let mut watched = vec![PollFd::new(signals.as_fd(), PollFlags::POLLIN)];
        if !sweeping {
            watched.push(PollFd::new(self.control.get_ref().as_fd(), PollFlags::POLLIN));
        }
        for (_, pipe) in &self.pipes {
            watched.extend(pipe.as_ref().map(|pipe| PollFd::new(pipe.as_fd(), PollFlags::POLLIN)));
        }
        match poll(&mut watched, wait.map_or(PollTimeout::NONE, timeout)) {
            Ok(0) if wait == tick => watcher.tick(),
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Reads one piece of each output; a pipe that ended is let go.
    fn read(&mut self, watcher: &mut dyn Watcher) -> usize {
        let mut total = 0;
        for (stream, pipe) in &mut self.pipes {
            let Some(open) = pipe else { continue };
            match open.read(&mut self.buffer) {
                Ok(0) => *pipe = None,
                Ok(n) => {
                    total += n;
                    watcher.output(*stream, &self.buffer[..n]);
                }
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
                Err(_) => *pipe = None,
            }
        }
        if total > 0 {
            self.last_word = Instant::now();
        }
        total
    }

    fn last_words(&mut self, watcher: &mut dyn Watcher) {
        let mut total = 0;
        while total < LAST_WORDS {
            match self.read(watcher) {
                0 => break,
                n => total += n,
            }
        }
    }

    /// Takes the guard's news, as far as whole lines have come.
    fn hear(&mut self) {
        while self.control.read_until(b'\n', &mut self.line).is_ok_and(|n| n > 0) && self.line.ends_with(b"\n") {
            match serde_json::from_slice(&std::mem::take(&mut self.line)) {
                Ok(News::Swept(survivors)) => self.survivors = Some(survivors),
                Ok(News::ToldToEnd) => drop(self.cause.get_or_insert(Ended::GuardLost)),
                Ok(news) => self.agent_end = Some(news),
                Err(_) => {}
            }
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        if self.cause.is_some() || self.agent_end.is_some() {
            return None;
        }
        let total = self.deadlines.total.map(|span| self.started + span);
        let idle = self.deadlines.idle.map(|span| self.last_word + span);
        [total, idle].into_iter().flatten().min()
    }

    fn look_at_clocks(&mut self) {
        let now = Instant::now();
        if self.next_deadline().is_some_and(|at| now >= at) {
            let total = self.deadlines.total.is_some_and(|span| now >= self.started + span);
            self.end(Ended::TimedOut(if total { Timeout::Total } else { Timeout::Idle }));
        }
    }

    fn look_at_signals(&mut self, signals: &Signals, watcher: &mut dyn Watcher) {
        match signals.asked() {
            Asked::No => {}
            Asked::Once(_) => {
                if self.cause.is_none() && self.agent_end.is_none() {
                    watcher.ending();
                }
                self.end(Ended::Interrupted);
            }
            Asked::Again(_) => {
                self.end(Ended::Interrupted);
                self.press();
            }
        }
        if signals.suspend_asked() {
            self.order(Order::Freeze);
            watcher.suspending();
            let stood_still = signals.suspend();
            self.started += stood_still;
            self.last_word += stood_still;
            watcher.resuming();
            self.order(Order::Thaw);
        }
    }

    /// Asks the guard to take the tree down, for the first cause that comes.
    fn end(&mut self, cause: Ended) {
        if self.cause.is_none() && self.agent_end.is_none() {
            self.cause = Some(cause);
            self.order(Order::Stop);
        }
    }

    fn press(&mut self) {
        if !self.pressed {
            self.pressed = true;
            self.order(Order::Kill);
        }
        if let Some(sweep) = &mut self.sweep {
            sweep.press();
        }
    }

    /// A guard that cannot be told is dead, which is noticed by itself; one that was stopped is made to listen. Where its work was
    /// taken over, its pid may be somebody else's.
    fn order(&mut self, order: Order) {
        if self.sweep.is_some() {
            return;
        }
        let told = self.control.get_mut().write_all(&[order.byte()]).is_ok();
        hang_up_unless(told, self.control.get_ref());
        wake(&self.guard);
    }

    /// When the guard is gone and has not said that all is swept, its orphans are ours to sweep.
    fn take_over_if_guard_died(&mut self) {
        if self.sweep.is_none() && !self.is_over() && matches!(self.guard.try_wait(), Ok(Some(_)) | Err(_)) {
            self.hear();
            if self.is_over() {
                return;
            }
            self.cause.get_or_insert(Ended::GuardLost);
            self.sweep = Some(Sweep::gently(GRACE, None));
        }
        if let Some(sweep) = &mut self.sweep
            && let Step::Over(survivors) = sweep.step(bury(|_, _| ()))
        {
            self.survivors = Some(survivors);
        }
    }

    /// What is known, and the guard, which is dead or about to exit.
    fn finish(self) -> (Report, Child) {
        let code = match self.agent_end {
            Some(News::Exited(code)) => Some(code),
            Some(News::Signalled(signal)) => Some(128 + signal),
            _ => None,
        };
        let by_itself = match self.agent_end {
            Some(News::Exited(code)) => Some(Ended::Exited(code)),
            Some(News::Signalled(signal)) => Some(Ended::Signalled(signal)),
            Some(News::NotStarted(why)) => Some(Ended::NotStarted(why)),
            _ => None,
        };
        let ended = self.cause.or(by_itself).unwrap_or(Ended::GuardLost);
        (Report { ended, code, survivors: self.survivors.unwrap_or_default() }, self.guard)
    }
}
