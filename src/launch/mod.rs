//! Where `start` puts a loop. A graphical terminal is an entry of [`terminals`], every other kind of place a file.
//!
//! No shell stands between: a worktree's path is an argument, never code ([`mac`] has no other door, and quotes). `start` does
//! not believe that a place works because its program started; the loop itself reports in ([`meeting`]).

mod background;
pub mod choice;
pub mod mac;
pub mod meeting;
pub mod own;
mod screen;
mod systemd;
pub mod terminals;
mod tmux;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Child;

use crate::environment::Environment;
use crate::error::{Doing, Error, Result};
use crate::files;
use crate::process::spawn_detached;
use crate::registry::fnv1a;
use crate::term::filter::plain;
use crate::worktree::Worktree;
use mac::{APPS, App};
use own::OwnTerminal;
use terminals::{TERMINALS, Terminal, Tested};

/// The name that leaves the choice to us.
pub const AUTO: &str = "auto";
/// The name that leaves it to us which window is opened.
pub const ANY_TERMINAL: &str = "terminal";

/// A place for a loop.
#[derive(Clone)]
pub enum Launcher {
    /// A graphical terminal that we know.
    Terminal(&'static Terminal),
    /// The same, by the program that `$TERMINAL` names and with the words after it.
    Users(&'static Terminal, String, Vec<String>),
    /// One that the user has described.
    Own(OwnTerminal),
    /// A terminal of macOS.
    App(&'static App),
    /// tmux.
    Tmux,
    /// GNU screen.
    Screen,
    /// A unit of the user's systemd.
    Systemd,
    /// No terminal at all.
    Background,
}

/// What a place needs to show a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Display {
    /// An X server.
    X11,
    /// A Wayland compositor.
    Wayland,
    /// Either of them.
    Either,
}

/// What becomes of the process that is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Process {
    /// It stays as long as the place does.
    Stays,
    /// It hands over to another one and leaves.
    HandsOver,
}

/// How large the user wants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// As it comes.
    Window,
    /// The whole screen.
    Fullscreen,
}

/// What the loop does with its terminal when it is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AtEnd {
    /// It leaves.
    Leave,
    /// It waits for a key, so that what is on the screen can be read.
    WaitForKey,
    /// It waits for a key, or for the next loop of its worktree, which has a window of its own there.
    WaitForKeyOrNextLoop,
}

/// What is to be put somewhere.
pub struct Launch<'a> {
    /// This program, as others can start it.
    pub program: PathBuf,
    /// Where the loop works.
    pub worktree: &'a Worktree,
    /// The user's environment.
    pub env: &'a Environment,
    /// Where what is printed goes when there is no terminal for it.
    pub output: PathBuf,
    /// How large it is to be.
    pub wish: Wish,
}

/// What was put where.
pub struct Launched {
    /// Where, for a person: `in the tmux session shop, window feat-x`.
    pub place: String,
    /// How to look at it, beside `wt-loop monitor`.
    pub attach: Option<String>,
    /// The process to watch, where there is one, and what becomes of it.
    pub child: Option<(Child, Process)>,
}

impl Launcher {
    /// All that we know, as the manual tells of them.
    pub fn all() -> impl Iterator<Item = Self> {
        let terminals = TERMINALS.into_iter().map(Launcher::Terminal);
        let apps = APPS.into_iter().map(Launcher::App);
        terminals.chain(apps).chain([Launcher::Tmux, Launcher::Screen, Launcher::Systemd, Launcher::Background])
    }

    /// What it is called by `--launcher`.
    pub fn name(&self) -> &str {
        match self {
            Launcher::Terminal(terminal) | Launcher::Users(terminal, ..) => terminal.name,
            Launcher::Own(own) => &own.name,
            Launcher::App(app) => app.name,
            Launcher::Tmux => "tmux",
            Launcher::Screen => "screen",
            Launcher::Systemd => "systemd",
            Launcher::Background => "background",
        }
    }

    /// The programs, any of which it needs; none where it needs none.
    pub fn programs(&self) -> Vec<&str> {
        match self {
            Launcher::Terminal(terminal) => terminal.programs.to_vec(),
            Launcher::Users(_, program, _) => vec![program],
            Launcher::Own(own) => vec![own.program()],
            Launcher::App(_) => vec![mac::PROGRAM],
            Launcher::Tmux => vec!["tmux"],
            Launcher::Screen => vec!["screen"],
            Launcher::Systemd => vec![systemd::PROGRAM],
            Launcher::Background => Vec::new(),
        }
    }

    /// The words by which it fills the screen; none where it cannot.
    pub fn fullscreen(&self) -> Vec<&str> {
        match self {
            Launcher::Terminal(terminal) | Launcher::Users(terminal, ..) => terminal.fullscreen.to_vec(),
            Launcher::Own(own) => own.fullscreen.iter().map(String::as_str).collect(),
            Launcher::App(_) | Launcher::Tmux | Launcher::Screen | Launcher::Systemd | Launcher::Background => {
                Vec::new()
            }
        }
    }

    /// What it is, for a person.
    pub const fn what(&self) -> &'static str {
        match self {
            Launcher::Terminal(terminal) | Launcher::Users(terminal, ..) => match terminal.display {
                Display::X11 => "a window on X11",
                Display::Wayland => "a window on Wayland",
                Display::Either => "a window",
            },
            Launcher::Own(_) => "a window",
            Launcher::App(_) => "a window on macOS",
            Launcher::Tmux => "a window in the tmux at hand, else in a detached session of the repository",
            Launcher::Screen => "a detached session of the worktree",
            Launcher::Systemd => "a unit of the user's systemd, without a terminal",
            Launcher::Background => "a process without a terminal",
        }
    }

    /// How what we know of it was found out, for a person.
    pub fn tested(&self) -> String {
        match self {
            Launcher::Terminal(terminal) | Launcher::Users(terminal, ..) => match terminal.tested {
                Tested::Windows(version) => format!("windows of {version}"),
                Tested::Documentation => "its documentation".to_owned(),
            },
            Launcher::App(_) => "a scripted osascript".to_owned(),
            Launcher::Systemd => "a scripted systemd-run".to_owned(),
            Launcher::Own(_) | Launcher::Tmux | Launcher::Screen | Launcher::Background => "real loops".to_owned(),
        }
    }

    /// Whether it opens a window on a desktop.
    pub const fn is_graphical(&self) -> bool {
        match self {
            Launcher::Terminal(_) | Launcher::Users(..) | Launcher::Own(_) | Launcher::App(_) => true,
            Launcher::Tmux | Launcher::Screen | Launcher::Systemd | Launcher::Background => false,
        }
    }

    /// What the loop does there when it is over, unless it is to leave at once.
    pub const fn at_end(&self) -> AtEnd {
        match self {
            Launcher::Terminal(_) | Launcher::Users(..) | Launcher::Own(_) | Launcher::App(_) => AtEnd::WaitForKey,
            Launcher::Tmux | Launcher::Screen => AtEnd::WaitForKeyOrNextLoop,
            Launcher::Systemd | Launcher::Background => AtEnd::Leave,
        }
    }

    /// Puts the loop there.
    pub fn launch(&self, launch: &Launch) -> Result<Launched> {
        let root = &launch.worktree.root;
        let terminal_arguments =
            |terminal: &Terminal| terminal.arguments(root, &launch.program, &launch.plain_program(), launch.wish);
        let (args, process) = match self {
            Launcher::Terminal(terminal) => (terminal_arguments(terminal), terminal.process),
            Launcher::Users(terminal, _, words) => {
                (words.iter().map(OsString::from).chain(terminal_arguments(terminal)).collect(), terminal.process)
            }
            Launcher::Own(own) => (own.arguments(&launch.program, launch.wish), Process::HandsOver),
            Launcher::App(app) => (app.arguments(root, &launch.program), Process::HandsOver),
            Launcher::Tmux => return tmux::launch(launch),
            Launcher::Screen => return screen::launch(launch),
            Launcher::Systemd => return systemd::launch(launch),
            Launcher::Background => return background::launch(launch),
        };
        let place = match self {
            Launcher::App(app) => format!("in a window of {}", app.application),
            _ => format!("in a window of {}", plain(self.name())),
        };
        launch.open(&self.programs(), &args, process, place, None)
    }
}

impl Launch<'_> {
    /// Starts the first of the programs that is there, away from this terminal, with its output where it can be read back.
    fn open(
        &self,
        programs: &[&str],
        args: &[OsString],
        process: Process,
        place: String,
        attach: Option<String>,
    ) -> Result<Launched> {
        let found = programs.iter().find_map(|program| located(program, self.env, &self.worktree.root));
        let Some(program) = found else {
            return Err(Error::new(format!("{} is not on PATH", programs.first().unwrap_or(&""))));
        };
        files::replace(&self.output, b"").doing("write", &self.output)?;
        let output = files::append(&self.output).doing("write", &self.output)?;
        let child = spawn_detached(&program, args, &self.worktree.root, output).doing("start", &program)?;
        Ok(Launched { place, attach, child: Some((child, process)) })
    }

    /// This program by a name that nobody expands: some replace `$NAME` or `%n` in a command line.
    fn plain_program(&self) -> PathBuf {
        let path = self.program.as_os_str().as_encoded_bytes();
        if cfg!(target_os = "linux") && path.iter().any(|byte| matches!(byte, b'$' | b'%')) {
            PathBuf::from(format!("/proc/{}/exe", std::process::id()))
        } else {
            self.program.clone()
        }
    }
}

/// Where a program is, by the user's PATH.
fn located(program: &str, env: &Environment, cwd: &Path) -> Option<PathBuf> {
    which::which_in(program, env.get("PATH"), cwd).ok()
}

/// A name that every shell and every tool takes as it is.
fn tame(name: &str) -> String {
    plain(name).chars().map(|c| if c.is_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' }).collect()
}

/// A name of at most `longest` bytes that differs where `path` does.
fn unique(name: &str, path: &Path, longest: usize) -> String {
    let hash = format!("-{:08x}", fnv1a(path.as_os_str().as_encoded_bytes()) & 0xffff_ffff);
    let room = longest.saturating_sub(hash.len()).min(name.len());
    let end = (0..=room).rev().find(|&at| name.is_char_boundary(at)).unwrap_or(0);
    format!("{}{hash}", &name[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_is_cut_and_two_paths_never_share_one() {
        let (one, other) = (Path::new("/a/shop"), Path::new("/b/shop"));
        assert!(unique("wt-loop-shop", one, 80).starts_with("wt-loop-shop-"));
        assert_ne!(unique("wt-loop-shop", one, 80), unique("wt-loop-shop", other, 80));
        let long = "ü".repeat(300);
        assert!((79..=80).contains(&unique(&long, one, 80).len()));
        assert_ne!(unique(&long, one, 80), unique(&long, other, 80));
    }

    #[test]
    fn nothing_in_a_tame_name_is_code_or_a_separator() {
        assert_eq!(tame("a.b:c=d"), "a_b_c_d");
        assert_eq!(tame("#(touch y) $x/%n\n"), "__touch_y___x__n_");
        assert_eq!(tame("für-alle_1"), "für-alle_1");
    }
}
