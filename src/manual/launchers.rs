//! The page that tells where a loop can be put: made from the table of launchers.

use clap_mangen::roff::{Roff, roman};

use super::{description, entries, listing};
use crate::launch::Launcher;

/// The page's name, as `wt-loop man` takes it.
pub const NAME: &str = "launchers";

/// What the user's own configuration can say of a terminal that has no entry here.
const OWN: &[(&str, &str)] = &[
    ("command = [\"myterm\", \"-e\"]", "the program and the words before the command that it is to run"),
    ("fullscreen = [\"--fs\"]", "the words that fill the screen; they come after the program"),
];

/// The names that leave the choice to us.
const CHOICES: &[(&str, &str)] = &[
    (
        "auto",
        "inside tmux a window of it; on a desktop $TERMINAL, then x-terminal-emulator or xdg-terminal-exec, then the first of \
         the list below that is installed and can show a window there; over ssh or without a display a detached tmux session; \
         else the background. --verbose says which, and why",
    ),
    ("terminal", "the same, but a window or nothing"),
];

const DESCRIPTION: &[&str] = &[
    "wt-loop start puts its loop into a place of its own and returns when the loop has reported in, over a private socket that also \
     carries the environment of the shell. When it has not after ten seconds, or the terminal has ended with an error before, \
     start says what the terminal printed and which command to type instead; a window that opens late finds no loop.",
    "A window stays when its loop is over, with the outcome on the screen, until a key is pressed; one of tmux or screen also until \
     the worktree's next loop begins. The loop itself is over by then: another can be started. With --close the window goes with \
     the loop, as it does when wt-loop stop has ended it. Closing a window ends the loop in it.",
    "A path is never code: it reaches a terminal as one argument, or as the directory it is started in. Only the two terminals of \
     macOS have no other door than a shell; for them it is quoted.",
];

/// The body of the page.
pub fn body(roff: &mut Roff) {
    description(roff, DESCRIPTION);
    listing(roff, "CHOICES", CHOICES);
    let all: Vec<Launcher> = Launcher::all().collect();
    let told: Vec<(&str, String)> = all.iter().map(|launcher| (launcher.name(), told(launcher))).collect();
    listing(roff, "LAUNCHERS", &told);
    roff.control("SH", ["A TERMINAL OF YOUR OWN"]);
    roff.text([roman("Any other terminal can be described in your own config.toml under [terminals.NAME].")]);
    entries(roff, OWN);
}

fn told(launcher: &Launcher) -> String {
    let programs = match launcher.programs()[..] {
        [] => String::new(),
        ref programs => format!("; needs {}", programs.join(" or ")),
    };
    let screen = match launcher.fullscreen()[..] {
        [] => String::new(),
        ref words => format!("; full screen by {}", words.join(" ")),
    };
    format!("{}{programs}{screen}; tested with {}", launcher.what(), launcher.tested())
}
