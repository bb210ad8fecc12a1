//! The graphical terminals, an entry each: how it is given a directory, full screen and a command.
//!
//! No entry gives a title: some terminals take one on the command line for the user's last word, and would not follow the
//! loop's own. Each opens the window in a process of its own where it can; a second window in an older process would
//! have that one's environment. The process's own working directory is set as well, whatever the flag.

use std::ffi::OsString;
use std::path::Path;

use super::{Display, Process, Wish};
use crate::shell;

/// What the windows of loops are called where a terminal can call them something without losing its settings.
const CLASS: &str = "wt-loop";

/// A graphical terminal.
pub struct Terminal {
    /// What it is called by `--launcher`.
    pub name: &'static str,
    /// The programs it goes by.
    pub programs: &'static [&'static str],
    /// What it needs to open a window.
    pub display: Display,
    /// What comes first: a window in a process of its own, titles that follow the loop.
    pub first: &'static [&'static str],
    /// How it is given a working directory.
    pub directory: Directory,
    /// How its window is given a class.
    pub class: Option<&'static str>,
    /// How it fills the screen; empty where it cannot.
    pub fullscreen: &'static [&'static str],
    /// How it is given a command.
    pub command: Handing,
    /// Whether the process that is started stays.
    pub process: Process,
    /// How what is said here was found out.
    pub tested: Tested,
}

/// How what an entry says was found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tested {
    /// By loops in windows of this version.
    Windows(&'static str),
    /// By its documentation.
    Documentation,
}

/// How a terminal is given a working directory.
pub enum Directory {
    /// By the process's own.
    Process,
    /// By a flag and a word after it.
    Word(&'static str),
    /// By a flag that the path is joined to.
    Joined(&'static str),
}

/// How a terminal is given a command.
pub enum Handing {
    /// As the words after these, each taken as it is.
    Words(&'static [&'static str]),
    /// The same, but `$NAME` in a word is replaced.
    Expanded(&'static [&'static str]),
    /// As one word after this, which it cuts like a shell.
    Quoted(&'static str),
}

/// What most entries have.
const PLAIN: Terminal = Terminal {
    name: "",
    programs: &[],
    display: Display::Either,
    first: &[],
    directory: Directory::Process,
    class: None,
    fullscreen: &[],
    command: Handing::Words(&["-e"]),
    process: Process::Stays,
    tested: Tested::Documentation,
};

/// Those that we know, in the order in which `auto` prefers what is installed.
pub const TERMINALS: [&Terminal; 18] = [
    &Terminal {
        name: "kitty",
        programs: &["kitty"],
        // Closing the window is enough of a word; the loop ends by it and says so.
        first: &["-o", "confirm_os_window_close=0"],
        // Its flag for a directory replaces `$NAME` in the path.
        class: Some("--class"),
        fullscreen: &["--start-as=fullscreen"],
        command: Handing::Words(&[]),
        tested: Tested::Windows("0.26"),
        ..PLAIN
    },
    &Terminal {
        name: "ghostty",
        programs: &["ghostty"],
        first: &["--gtk-single-instance=false"],
        directory: Directory::Joined("--working-directory="),
        fullscreen: &["--fullscreen=true"],
        ..PLAIN
    },
    &Terminal {
        name: "alacritty",
        programs: &["alacritty"],
        directory: Directory::Word("--working-directory"),
        class: Some("--class"),
        fullscreen: &["-o", "window.startup_mode=\"Fullscreen\""],
        tested: Tested::Windows("0.11"),
        ..PLAIN
    },
    &Terminal {
        name: "wezterm",
        programs: &["wezterm"],
        first: &["start", "--always-new-process"],
        directory: Directory::Word("--cwd"),
        class: Some("--class"),
        command: Handing::Words(&["--"]),
        ..PLAIN
    },
    &Terminal {
        name: "foot",
        programs: &["foot"],
        display: Display::Wayland,
        directory: Directory::Word("--working-directory"),
        class: Some("--app-id"),
        fullscreen: &["--fullscreen"],
        command: Handing::Words(&[]),
        tested: Tested::Windows("1.13"),
        ..PLAIN
    },
    &Terminal {
        name: "gnome-terminal",
        programs: &["gnome-terminal"],
        directory: Directory::Joined("--working-directory="),
        fullscreen: &["--full-screen"],
        command: Handing::Words(&["--"]),
        process: Process::HandsOver,
        tested: Tested::Windows("3.46"),
        ..PLAIN
    },
    &Terminal {
        name: "ptyxis",
        programs: &["ptyxis"],
        first: &["--standalone"],
        directory: Directory::Joined("--working-directory="),
        fullscreen: &["--fullscreen"],
        command: Handing::Words(&["--"]),
        process: Process::HandsOver,
        ..PLAIN
    },
    &Terminal {
        name: "konsole",
        programs: &["konsole"],
        first: &["--separate", "-p", "LocalTabTitleFormat=%w"],
        fullscreen: &["--fullscreen"],
        command: Handing::Expanded(&["-e"]),
        tested: Tested::Windows("22.12"),
        ..PLAIN
    },
    &Terminal {
        name: "xfce4-terminal",
        programs: &["xfce4-terminal"],
        first: &["--disable-server", "--dynamic-title-mode=replace"],
        directory: Directory::Joined("--working-directory="),
        fullscreen: &["--fullscreen"],
        command: Handing::Words(&["-x"]),
        tested: Tested::Windows("1.0"),
        ..PLAIN
    },
    &Terminal {
        name: "mate-terminal",
        programs: &["mate-terminal"],
        first: &["--disable-factory"],
        directory: Directory::Joined("--working-directory="),
        fullscreen: &["--full-screen"],
        command: Handing::Words(&["-x"]),
        tested: Tested::Windows("1.26"),
        ..PLAIN
    },
    &Terminal {
        name: "lxterminal",
        programs: &["lxterminal"],
        first: &["--no-remote"],
        directory: Directory::Joined("--working-directory="),
        tested: Tested::Windows("0.4"),
        ..PLAIN
    },
    &Terminal {
        name: "terminator",
        programs: &["terminator"],
        first: &["-u"],
        directory: Directory::Joined("--working-directory="),
        fullscreen: &["-f"],
        command: Handing::Words(&["-x"]),
        tested: Tested::Windows("2.1"),
        ..PLAIN
    },
    &Terminal {
        name: "tilix",
        programs: &["tilix"],
        first: &["--new-process"],
        directory: Directory::Joined("--working-directory="),
        fullscreen: &["--full-screen"],
        command: Handing::Quoted("-e"),
        tested: Tested::Windows("1.9"),
        ..PLAIN
    },
    &Terminal {
        name: "urxvt",
        programs: &["urxvt", "rxvt-unicode"],
        display: Display::X11,
        directory: Directory::Word("-cd"),
        tested: Tested::Windows("9.30"),
        ..PLAIN
    },
    &Terminal {
        name: "st",
        programs: &["st", "stterm"],
        display: Display::X11,
        class: Some("-c"),
        tested: Tested::Windows("0.9"),
        ..PLAIN
    },
    // Another class would take the user's X resources from it.
    &Terminal {
        name: "xterm",
        programs: &["xterm"],
        display: Display::X11,
        fullscreen: &["-fullscreen"],
        tested: Tested::Windows("379"),
        ..PLAIN
    },
    // What the system or the desktop calls its terminal, where that is none of the above.
    &Terminal { name: "x-terminal-emulator", programs: &["x-terminal-emulator"], process: Process::HandsOver, ..PLAIN },
    &Terminal {
        name: "xdg-terminal-exec",
        programs: &["xdg-terminal-exec"],
        command: Handing::Words(&[]),
        process: Process::HandsOver,
        ..PLAIN
    },
];

impl Terminal {
    /// The terminal of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        TERMINALS.into_iter().find(|terminal| terminal.name == name)
    }

    /// The terminal whose program has that name, or that of Debian's wrapper of it.
    pub fn of_program(program: &str) -> Option<&'static Self> {
        let program = program.strip_suffix(".wrapper").unwrap_or(program);
        TERMINALS.into_iter().find(|terminal| terminal.programs.contains(&program))
    }

    /// Its arguments for `program run` in `root`. `safe` is a name of the program without anything that could be expanded.
    pub fn arguments(&self, root: &Path, program: &Path, safe: &Path, fullscreen: Wish) -> Vec<OsString> {
        let mut args: Vec<OsString> = self.first.iter().map(OsString::from).collect();
        // Some end with an error on a path that is not UTF-8; the process's own directory serves them all.
        if let Some(root) = root.to_str() {
            match self.directory {
                Directory::Process => {}
                Directory::Word(flag) => args.extend([flag.into(), root.into()]),
                Directory::Joined(flag) => args.push(format!("{flag}{root}").into()),
            }
        }
        args.extend(self.class.into_iter().flat_map(|flag| [flag.into(), CLASS.into()]));
        if fullscreen == Wish::Fullscreen {
            args.extend(self.fullscreen.iter().map(OsString::from));
        }
        match self.command {
            Handing::Words(before) => {
                args.extend(before.iter().map(OsString::from));
                args.extend([program.into(), "run".into()]);
            }
            Handing::Expanded(before) => {
                args.extend(before.iter().map(OsString::from));
                args.extend([safe.into(), "run".into()]);
            }
            Handing::Quoted(before) => {
                args.extend([before.into(), shell::words([&*program.to_string_lossy(), "run"]).into()]);
            }
        }
        args
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::os::unix::ffi::OsStrExt;

    fn line(name: &str, root: &[u8]) -> String {
        let terminal = Terminal::named(name).unwrap();
        let root = Path::new(std::ffi::OsStr::from_bytes(root));
        let (program, safe) = (Path::new("/it's $HOME/wt-loop"), Path::new("/proc/7/exe"));
        let args = terminal.arguments(root, program, safe, Wish::Fullscreen);
        args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn every_terminal_is_given_words_and_never_code() {
        let program = "/it's $HOME/wt-loop|run";
        for (name, expected) in [
            ("xterm", format!("-fullscreen|-e|{program}")),
            ("kitty", format!("-o|confirm_os_window_close=0|--class|wt-loop|--start-as=fullscreen|{program}")),
            (
                "alacritty",
                format!("--working-directory|/a b|--class|wt-loop|-o|window.startup_mode=\"Fullscreen\"|-e|{program}"),
            ),
            ("wezterm", format!("start|--always-new-process|--cwd|/a b|--class|wt-loop|--|{program}")),
            ("foot", format!("--working-directory|/a b|--app-id|wt-loop|--fullscreen|{program}")),
            ("ghostty", format!("--gtk-single-instance=false|--working-directory=/a b|--fullscreen=true|-e|{program}")),
            ("gnome-terminal", format!("--working-directory=/a b|--full-screen|--|{program}")),
            ("ptyxis", format!("--standalone|--working-directory=/a b|--fullscreen|--|{program}")),
            ("konsole", "--separate|-p|LocalTabTitleFormat=%w|--fullscreen|-e|/proc/7/exe|run".to_owned()),
            (
                "xfce4-terminal",
                format!(
                    "--disable-server|--dynamic-title-mode=replace|--working-directory=/a b|--fullscreen|-x|{program}"
                ),
            ),
            ("mate-terminal", format!("--disable-factory|--working-directory=/a b|--full-screen|-x|{program}")),
            ("lxterminal", format!("--no-remote|--working-directory=/a b|-e|{program}")),
            ("terminator", format!("-u|--working-directory=/a b|-f|-x|{program}")),
            (
                "tilix",
                r"--new-process|--working-directory=/a b|--full-screen|-e|'/it'\''s $HOME/wt-loop' run".to_owned(),
            ),
            ("urxvt", format!("-cd|/a b|-e|{program}")),
            ("st", format!("-c|wt-loop|-e|{program}")),
            ("x-terminal-emulator", format!("-e|{program}")),
            ("xdg-terminal-exec", program.to_owned()),
        ] {
            assert_eq!(line(name, b"/a b"), expected, "{name}");
        }
    }

    #[test]
    fn a_path_that_is_no_text_is_left_to_the_process() {
        for terminal in TERMINALS {
            assert!(!line(terminal.name, b"/\xff").contains('\u{fffd}'), "{}", terminal.name);
        }
    }

    #[test]
    fn names_and_programs_are_told_apart() {
        let names: BTreeSet<&str> = TERMINALS.iter().map(|terminal| terminal.name).collect();
        let programs: Vec<&str> = TERMINALS.iter().flat_map(|terminal| terminal.programs).copied().collect();
        assert_eq!(names.len(), TERMINALS.len());
        assert_eq!(programs.iter().collect::<BTreeSet<_>>().len(), programs.len());
        assert_eq!(Terminal::of_program("xfce4-terminal.wrapper").unwrap().name, "xfce4-terminal");
        assert_eq!(Terminal::of_program("stterm").unwrap().name, "st");
        assert!(Terminal::of_program("lxterm").is_none());
    }
}
