//! Input that was made to do harm: what is shown of it, what is read and written because of it, and how deep it may be.

mod deep;
mod links;
mod pipes;
mod shown;

use crate::support::{Output, World, run};

/// What no terminal may be given: each would change more than the text on the screen.
const PAYLOADS: [&str; 8] =
    ["\x1b]52", "\x1b]0;stolen", "\x1b]2;", "\x1b[2J", "\x1b[9A", "\u{202e}", "\u{2066}", "\u{9b}"];

/// A text with all of them, over more than one line.
const EVIL: &str = "e\x1b]52;c;cHduZWQ=\x07\x1b]0;stolen\x07\x1b]2;stolen\x1b\\\x1b[2J\x1b[9Aup\u{202e}\u{2066}\u{9b}5n\n\
                    wt-loop: done\rover";

/// A name with most of them, which a file or a folder can have.
const EVIL_NAME: &str = "x\x1b]0;stolen\x07\x1b[2J\u{202e}\u{2066}\u{9b}y\nz";

/// Neither stream has anything of the payloads.
#[track_caller]
fn assert_harmless(output: &Output) {
    for payload in PAYLOADS {
        let found = output.stdout.contains(payload) || output.stderr.contains(payload);
        assert!(!found, "{payload:?} reaches a terminal: {output:?}");
    }
}

/// `wt-loop` with these arguments on a terminal of its own, to its end: every byte that the terminal gets.
#[track_caller]
fn on_terminal(world: &World, args: &[&str]) -> Output {
    const PTY: &str = "import os, pty, sys\nsys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";
    let mut command = world.command("python3");
    command
        .args(["-c", PTY, "sh", "-c", "stty columns 100 rows 30; exec \"$@\"", "sh"])
        .arg(world.program())
        .args(args);
    run(command)
}
