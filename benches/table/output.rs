//! How fast output goes through.

use std::fs;
use std::process::Stdio;

use crate::Row;
use crate::clock::{ROUNDS, pair, run, seconds};
use crate::lab::Lab;

/// 2 GB of text lines, as one file that the agent prints again and again.
const PIECE: usize = 64 << 20;
const PIECES: usize = 32;

/// Logged and scanned; and streamed as well.
pub fn rows(lab: &Lab) -> Vec<Row> {
    let line = "the quick brown fox <b>jumps</b> over the lazy dog and says nothing of any promise at all\n";
    fs::write(lab.path("piece"), line.repeat(PIECE / line.len())).expect("the piece can be written");
    lab.agent(&format!("for i in $(seq {PIECES}); do cat {}; done", lab.path("piece").display()));
    let tee = || {
        let time = run(lab.command("sh").args(["-c", "claude | tee ../tee.log > /dev/null"]));
        let _ = fs::remove_file(lab.path("tee.log"));
        time
    };
    let quiet = || {
        let time = run(lab.looped(1).arg("--no-stream"));
        let _ = fs::remove_dir_all(lab.root().join(".claude"));
        time
    };
    let streamed = || {
        let time = on_a_terminal(lab);
        let _ = fs::remove_dir_all(lab.root().join(".claude"));
        time
    };
    let (logged, teed) = pair(ROUNDS, quiet, tee);
    let (shown, teed_again) = pair(ROUNDS, streamed, tee);
    lab.agent("exit 0");
    let against = "`agent \\| tee log > /dev/null`";
    vec![
        Row::ratio("2 GB of output, logged and scanned, not streamed", against, logged, teed, 1.15),
        Row::ratio("the same, streamed to a terminal that discards", against, shown, teed_again, 1.5),
    ]
}

/// A terminal of our own, whose other end is read and thrown away.
fn on_a_terminal(lab: &Lab) -> f64 {
    let pty = nix::pty::openpty(None, None).expect("a terminal");
    let mut command = lab.looped(1);
    command.stdin(Stdio::null()).stdout(pty.slave.try_clone().expect("a terminal")).stderr(pty.slave);
    let mut master = fs::File::from(pty.master);
    seconds(move || {
        let mut child = command.spawn().expect("the loop can be started");
        drop(command);
        // The end of a terminal is an error to its reader.
        let _ = std::io::copy(&mut master, &mut std::io::sink());
        child.wait().expect("the loop ends");
    })
}
