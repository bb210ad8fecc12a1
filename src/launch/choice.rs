//! Which launcher is meant: by its name, or for `auto` by what is around.
//!
//! What is around is gathered once ([`Facts::gather`]); what follows from it is a pure function ([`choices`]): every place that would
//! do, the best one first, each with its reason.

use std::collections::BTreeSet;
use std::path::Path;

use super::own::OwnTerminal;
use super::terminals::{TERMINALS, Terminal};
use super::{ANY_TERMINAL, AUTO, Display, Launcher, located, mac, systemd};
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::nearest::nearest;

/// What is around.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Whether the command was given inside tmux.
    pub tmux: Tmux,
    /// Where its user sits.
    pub seat: Seat,
    /// What `$TERMINAL` says: a program, and the words after it.
    pub terminal: Option<(String, Vec<String>)>,
    /// The program that `x-terminal-emulator` stands for.
    pub system_terminal: Option<String>,
    /// Whether a systemd of this user runs.
    pub manager: Manager,
    /// Those of the programs in question that are on PATH.
    pub programs: BTreeSet<String>,
}

/// Whether a command was given inside tmux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tmux {
    /// In one of its windows.
    Inside,
    /// Not.
    Outside,
}

/// Where the user sits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seat {
    /// Before an X server.
    X11,
    /// Before a Wayland compositor.
    Wayland,
    /// Before one that is both.
    Both,
    /// Before a Mac; the terminal that the command was given in.
    Mac(&'static str),
    /// At the other end of ssh.
    Remote,
    /// Without a display.
    Blind,
}

/// Whether a systemd of the user runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manager {
    /// It does.
    Runs,
    /// It does not.
    Missing,
}

/// A place that would do.
pub struct Choice {
    /// Which.
    pub launcher: Launcher,
    /// Why this one, and not one that would come before it.
    pub why: String,
}

impl Facts {
    /// Looks around.
    pub fn gather(env: &Environment, cwd: &Path, own: &[OwnTerminal]) -> Self {
        let text = |name| env.get(name).and_then(|value| value.to_str()).filter(|value| !value.is_empty());
        let terminal = text("TERMINAL").and_then(words_of);
        let known: Vec<Launcher> = Launcher::all().chain(own.iter().cloned().map(Launcher::Own)).collect();
        let asked = known.iter().flat_map(Launcher::programs).chain(terminal.iter().map(|(program, _)| &**program));
        let programs = asked.filter(|program| located(program, env, cwd).is_some()).map(str::to_owned).collect();
        let system_terminal = located("x-terminal-emulator", env, cwd)
            .and_then(|link| link.canonicalize().ok())
            .and_then(|path| path.file_name().map(|name| name.to_string_lossy().into_owned()));
        Self {
            tmux: if env.has("TMUX") { Tmux::Inside } else { Tmux::Outside },
            seat: Seat::of(env),
            terminal,
            system_terminal,
            manager: if systemd::has_user_manager(env) { Manager::Runs } else { Manager::Missing },
            programs,
        }
    }

    /// Whether the program of a launcher is there, and for systemd whether somebody would hear it.
    pub fn has(&self, launcher: &Launcher) -> bool {
        let programs = launcher.programs();
        let heard = !matches!(launcher, Launcher::Systemd) || self.manager == Manager::Runs;
        heard && (programs.is_empty() || programs.iter().any(|program| self.programs.contains(*program)))
    }

    /// Whether its window could be seen here.
    fn shows(&self, launcher: &Launcher) -> bool {
        match launcher {
            Launcher::Terminal(terminal) | Launcher::Users(terminal, ..) => self.seat.shows(terminal.display),
            _ => true,
        }
    }
}

impl Seat {
    fn of(env: &Environment) -> Self {
        if env.has("SSH_CONNECTION") || env.has("SSH_TTY") || env.has("SSH_CLIENT") {
            return Seat::Remote;
        }
        match (env.has("DISPLAY"), env.has("WAYLAND_DISPLAY")) {
            (true, true) => Seat::Both,
            (true, false) => Seat::X11,
            (false, true) => Seat::Wayland,
            (false, false) if cfg!(target_os = "macos") => {
                let in_iterm = env.get("TERM_PROGRAM").is_some_and(|program| program == "iTerm.app");
                Seat::Mac(if in_iterm { "iterm" } else { "terminal-app" })
            }
            (false, false) => Seat::Blind,
        }
    }

    fn shows(self, display: Display) -> bool {
        match self {
            Seat::Both => true,
            Seat::X11 => display != Display::Wayland,
            Seat::Wayland => display != Display::X11,
            Seat::Mac(_) | Seat::Remote | Seat::Blind => false,
        }
    }
}

/// Every place that would do, the best one first. There is always one.
pub fn choices(facts: &Facts, own: &[OwnTerminal]) -> Vec<Choice> {
    let mut found = Vec::new();
    let mut passed_over = None;
    if facts.tmux == Tmux::Inside {
        add(&mut found, facts, Launcher::Tmux, "this shell runs in tmux".into());
    }
    let before = found.len();
    match facts.seat {
        Seat::X11 | Seat::Wayland | Seat::Both => passed_over = windows(&mut found, facts, own),
        Seat::Mac(front) => {
            let first = mac::APPS.into_iter().filter(|app| app.name == front);
            for app in first.chain(mac::APPS.into_iter().filter(|app| app.name != front)) {
                add(&mut found, facts, Launcher::App(app), format!("{} is there on a Mac", app.application));
            }
        }
        Seat::Remote | Seat::Blind => {}
    }
    let windowless = match facts.seat {
        Seat::Remote => "over ssh there is no desktop to open a window on",
        Seat::Blind => "there is no display to open a window on",
        Seat::X11 | Seat::Wayland | Seat::Both | Seat::Mac(_) => {
            "no terminal is installed that could open a window here"
        }
    };
    add(&mut found, facts, Launcher::Tmux, format!("{windowless}, and tmux is installed"));
    add(&mut found, facts, Launcher::Background, format!("{windowless}, and tmux is not installed"));
    if let Some(note) = passed_over {
        found.iter_mut().skip(before).for_each(|choice| choice.why.push_str(&note));
    }
    found
}

/// The program of `$TERMINAL` and the words after it. Debian's wrappers take the words of xterm, so what is wrapped is meant.
fn words_of(value: &str) -> Option<(String, Vec<String>)> {
    let mut words = value.split_whitespace();
    let program = words.next()?;
    let program = program.strip_suffix(".wrapper").unwrap_or(program);
    Some((program.to_owned(), words.map(str::to_owned).collect()))
}

/// The windows of a desktop: what the user says, what the system says, what is there. Returns why what the user says was passed over.
fn windows(found: &mut Vec<Choice>, facts: &Facts, own: &[OwnTerminal]) -> Option<String> {
    let passed_over = facts.terminal.as_ref().and_then(|(program, words)| {
        let name = program.rsplit('/').next().unwrap_or(program);
        let described = own.iter().find(|own| own.name == *name || own.program() == program);
        let launcher = match (described, Terminal::of_program(name)) {
            (Some(own), _) => Launcher::Own(own.with(words)),
            (None, Some(known)) => Launcher::Users(known, program.clone(), words.clone()),
            (None, None) => Launcher::Own(OwnTerminal::usual(program).with(words)),
        };
        let why = if !facts.has(&launcher) {
            "cannot be run"
        } else if !facts.shows(&launcher) {
            "opens no window on this desktop"
        } else {
            add(found, facts, launcher, format!("$TERMINAL is {program}"));
            return None;
        };
        Some(format!("; $TERMINAL is {program}, which {why}"))
    });
    if let Some(known) = facts.system_terminal.as_deref().and_then(Terminal::of_program) {
        add(found, facts, Launcher::Terminal(known), format!("x-terminal-emulator is {}", known.name));
    }
    for name in ["x-terminal-emulator", "xdg-terminal-exec"] {
        if let Some(known) = Terminal::named(name) {
            add(found, facts, Launcher::Terminal(known), format!("{name} is the desktop's own choice"));
        }
    }
    for terminal in TERMINALS {
        add(found, facts, Launcher::Terminal(terminal), format!("{} is installed", terminal.name));
    }
    passed_over
}

/// Adds a place that can be used and is not among those found.
fn add(found: &mut Vec<Choice>, facts: &Facts, launcher: Launcher, why: String) {
    if facts.shows(&launcher)
        && facts.has(&launcher)
        && found.iter().all(|choice| choice.launcher.name() != launcher.name())
    {
        found.push(Choice { launcher, why });
    }
}

/// The launcher of that name, or the best one.
pub fn pick(name: &str, facts: &Facts, own: &[OwnTerminal]) -> Result<Choice> {
    let mut all = choices(facts, own).into_iter();
    match name {
        AUTO => return all.next().ok_or_else(|| Error::new("there is no place for a loop")),
        ANY_TERMINAL => {
            let window = all.find(|choice| choice.launcher.is_graphical());
            return window.ok_or_else(|| no_window(facts));
        }
        _ => {}
    }
    let known = || own.iter().cloned().map(Launcher::Own).chain(Launcher::all());
    let Some(launcher) = known().find(|launcher| launcher.name() == name) else {
        let names: Vec<Launcher> = known().collect();
        let names: Vec<&str> = names.iter().map(Launcher::name).chain([AUTO, ANY_TERMINAL]).collect();
        let error = Error::usage(format!("no launcher called '{name}'; known: {}", names.join(", ")));
        return Err(match nearest(name, names.iter().copied()) {
            Some(near) => error.hint(format!("did you mean --launcher {near}?")),
            None => error,
        });
    };
    let programs = launcher.programs();
    if programs.is_empty() || programs.iter().any(|program| facts.programs.contains(*program)) {
        return Ok(Choice { launcher, why: "it was asked for".into() });
    }
    let there: Vec<Launcher> = known().filter(|launcher| facts.has(launcher)).collect();
    let there: Vec<&str> = there.iter().map(Launcher::name).collect();
    let next = all.next().map_or_else(|| AUTO.to_owned(), |choice| choice.launcher.name().to_owned());
    Err(Error::new(format!("{} is not on PATH; found: {}", programs.join(" or "), there.join(", ")))
        .hint(format!("--launcher {next}")))
}

fn no_window(facts: &Facts) -> Error {
    let why = match facts.seat {
        Seat::Remote => "over ssh",
        Seat::Blind => "without a display (neither DISPLAY nor WAYLAND_DISPLAY is set)",
        Seat::X11 | Seat::Wayland | Seat::Both | Seat::Mac(_) => "here: no terminal is installed that could",
    };
    Error::new(format!("no window can be opened {why}")).hint("--launcher auto")
}

/// What is offered when a place did not work: the best one that needs no window, and is not that place.
pub fn instead(of: &Launcher, facts: &Facts, own: &[OwnTerminal]) -> Option<String> {
    let mut rest = choices(facts, own).into_iter().map(|choice| choice.launcher).chain([Launcher::Background]);
    rest.find(|other| !other.is_graphical() && other.name() != of.name()).map(|other| other.name().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(seat: Seat, programs: &[&str]) -> Facts {
        Facts {
            tmux: Tmux::Outside,
            seat,
            terminal: None,
            system_terminal: None,
            manager: Manager::Missing,
            programs: programs.iter().map(ToString::to_string).collect(),
        }
    }

    fn auto(facts: &Facts) -> (String, String) {
        let choice = pick(AUTO, facts, &[]).unwrap_or_else(|error| panic!("{error}"));
        (choice.launcher.name().to_owned(), choice.why)
    }

    const ALL: &[&str] = &["tmux", "xterm", "kitty", "foot", "konsole", "osascript", "screen", "systemd-run", "mine"];

    #[test]
    fn auto_is_a_table() {
        use Seat::{Blind, Both, Mac, Remote, Wayland, X11};
        let with = |terminal: &str, facts: Facts| Facts { terminal: words_of(terminal), ..facts };
        let system = |program: &str, facts: Facts| Facts { system_terminal: Some(program.into()), ..facts };
        let inside = |facts: Facts| Facts { tmux: Tmux::Inside, ..facts };
        for (facts, name, why) in [
            (inside(around(X11, ALL)), "tmux", "this shell runs in tmux"),
            (inside(around(Blind, ALL)), "tmux", "this shell runs in tmux"),
            (inside(around(X11, &["xterm"])), "xterm", "xterm is installed"),
            (with("xterm", around(X11, ALL)), "xterm", "$TERMINAL is xterm"),
            (with("/opt/konsole", around(Both, &["/opt/konsole"])), "konsole", "$TERMINAL is /opt/konsole"),
            (with("konsole.wrapper", around(Both, ALL)), "konsole", "$TERMINAL is konsole"),
            (with("mine", around(X11, ALL)), "mine", "$TERMINAL is mine"),
            (with("gone", around(X11, ALL)), "kitty", "kitty is installed; $TERMINAL is gone, which cannot be run"),
            (
                with("/opt/konsole", around(X11, ALL)),
                "kitty",
                "kitty is installed; $TERMINAL is /opt/konsole, which cannot be run",
            ),
            (
                with("xterm", around(Wayland, ALL)),
                "kitty",
                "kitty is installed; $TERMINAL is xterm, which opens no window on this desktop",
            ),
            (inside(with("gone", around(X11, ALL))), "tmux", "this shell runs in tmux"),
            (with("xterm", around(Remote, ALL)), "tmux", "over ssh there is no desktop"),
            (with("kitty", system("konsole", around(X11, ALL))), "kitty", "$TERMINAL is kitty"),
            (system("konsole", around(X11, ALL)), "konsole", "x-terminal-emulator is konsole"),
            (system("konsole.wrapper", around(X11, ALL)), "konsole", "x-terminal-emulator is konsole"),
            (
                system("other", around(X11, &["x-terminal-emulator", "xterm"])),
                "x-terminal-emulator",
                "x-terminal-emulator is the desktop's own choice",
            ),
            (around(X11, &["xdg-terminal-exec", "xterm"]), "xdg-terminal-exec", "the desktop's own choice"),
            (around(X11, ALL), "kitty", "kitty is installed"),
            (around(X11, &["xterm", "foot", "tmux"]), "xterm", "xterm is installed"),
            (around(X11, &["foot", "tmux"]), "tmux", "no terminal is installed that could open a window here"),
            (around(Wayland, &["xterm", "foot"]), "foot", "foot is installed"),
            (around(Wayland, &["xterm", "urxvt"]), "background", "and tmux is not installed"),
            (around(Remote, ALL), "tmux", "over ssh there is no desktop to open a window on, and tmux is installed"),
            (around(Remote, &["xterm"]), "background", "over ssh"),
            (around(Blind, ALL), "tmux", "there is no display to open a window on, and tmux is installed"),
            (around(Blind, &["xterm", "screen"]), "background", "there is no display"),
            (around(Mac("iterm"), ALL), "iterm", "iTerm is there on a Mac"),
            (around(Mac("terminal-app"), ALL), "terminal-app", "Terminal is there on a Mac"),
        ] {
            let (found, told) = auto(&facts);
            assert_eq!(found, name, "{facts:?}");
            assert!(told.contains(why), "{told}");
        }
    }

    #[test]
    fn the_variables_tell_the_seat() {
        let seat = |variables: &[(&str, &str)]| Seat::of(&Environment::of(variables));
        let blind = seat(&[]);
        assert!(matches!(blind, Seat::Blind | Seat::Mac(_)));
        assert_eq!(seat(&[("DISPLAY", "")]), blind);
        assert_eq!(seat(&[("DISPLAY", ":0")]), Seat::X11);
        assert_eq!(seat(&[("WAYLAND_DISPLAY", "wayland-1")]), Seat::Wayland);
        assert_eq!(seat(&[("DISPLAY", ":0"), ("WAYLAND_DISPLAY", "wayland-1")]), Seat::Both);
        for name in ["SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT"] {
            assert_eq!(seat(&[("DISPLAY", "localhost:10.0"), (name, "x")]), Seat::Remote);
        }
    }

    #[test]
    fn a_window_is_a_window() {
        let named = |facts: &Facts| pick(ANY_TERMINAL, facts, &[]).map(|choice| choice.launcher.name().to_owned());
        let inside = Facts { tmux: Tmux::Inside, ..around(Seat::X11, ALL) };
        assert_eq!(named(&inside).ok().as_deref(), Some("kitty"));
        for seat in [Seat::Remote, Seat::Blind] {
            let error = named(&around(seat, ALL)).err().unwrap();
            assert!(error.to_string().starts_with("no window can be opened "), "{error}");
        }
    }

    #[test]
    fn a_name_is_found_or_told() {
        let own = [OwnTerminal::usual("mine")];
        let facts = around(Seat::X11, &["xterm", "tmux", "mine"]);
        assert_eq!(pick("mine", &facts, &own).ok().unwrap().launcher.name(), "mine");
        let error = pick("kitty", &facts, &own).err().unwrap();
        assert_eq!(error.to_string(), "kitty is not on PATH; found: mine, xterm, tmux, background");
        assert_eq!(error.hints(), ["--launcher xterm"]);
        let error = pick("kity", &facts, &own).err().unwrap();
        assert_eq!(error.exit(), crate::error::Exit::Usage);
        assert_eq!(error.hints(), ["did you mean --launcher kitty?"]);
    }

    #[test]
    fn what_needs_no_window_is_offered_instead_of_one_that_failed() {
        let xterm = Launcher::Terminal(Terminal::named("xterm").unwrap());
        let offered = |of: &Launcher, programs: &[&str]| instead(of, &around(Seat::X11, programs), &[]);
        assert_eq!(offered(&xterm, ALL).as_deref(), Some("tmux"));
        assert_eq!(offered(&xterm, &["xterm", "kitty"]).as_deref(), Some("background"));
        assert_eq!(offered(&Launcher::Tmux, ALL).as_deref(), Some("background"));
        assert_eq!(offered(&Launcher::Background, &["xterm"]), None);
    }
}
