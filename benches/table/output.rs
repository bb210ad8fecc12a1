//! How fast output goes through.

use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};

use crate::Row;
use crate::clock::{ROUNDS, pair, run, seconds};
use crate::lab::Lab;

/// Text lines, as one file that the agent prints again and again.
const PIECE: usize = 64 << 20;
/// 2 GB of it; and what a terminal can take in a bearable time.
const WHOLE: usize = 32;
const SHOWN: usize = 4;

/// Logged and scanned; and streamed as well.
pub fn rows(lab: &Lab) -> Vec<Row> {
    let line = "the quick brown fox <b>jumps</b> over the lazy dog and says nothing of any promise at all\n";
    fs::write(lab.path("piece"), line.repeat(PIECE / line.len())).expect("the piece can be written");
    let printing =
        |pieces: usize| lab.agent(&format!("for i in $(seq {pieces}); do cat {}; done", lab.path("piece").display()));
    let tee = || {
        let time = run(lab.command("sh").args(["-c", "claude | tee ../tee.log > /dev/null"]));
        let _ = fs::remove_file(lab.path("tee.log"));
        time
    };
    let logged = || {
        let time = run(lab.looped(1).arg("--no-stream"));
        let _ = fs::remove_dir_all(lab.root().join(".claude"));
        time
    };
    let streamed = || {
        let time = on_a_terminal(lab.looped(1));
        let _ = fs::remove_dir_all(lab.root().join(".claude"));
        time
    };
    printing(WHOLE);
    let (log_time, tee_time) = pair(ROUNDS, logged, tee);
    printing(SHOWN);
    let (stream_time, short_tee_time) = pair(ROUNDS, streamed, tee);
    let (alone_time, short_tee_again) = pair(ROUNDS, || on_a_terminal(lab.command("claude")), tee);
    lab.agent("exit 0");
    let against = "`agent \\| tee log > /dev/null`";
    vec![
        Row::ratio("2 GB of output, logged and scanned, not streamed", against, log_time, tee_time, 1.15),
        Row::ratio("256 MB, streamed to a terminal that discards", against, stream_time, short_tee_time, 1.5),
        Row::floor("the agent alone on that terminal", against, alone_time, short_tee_again),
    ]
}

/// A terminal of our own, whose other end is read and thrown away.
fn on_a_terminal(mut command: Command) -> f64 {
    let pty = nix::pty::openpty(None, None).expect("a terminal");
    // A loop that held the other end itself would never learn that nobody reads it.
    fcntl(&pty.master, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC)).expect("a terminal");
    command.stdin(Stdio::null()).stdout(pty.slave.try_clone().expect("a terminal")).stderr(pty.slave);
    let mut master = fs::File::from(pty.master);
    seconds(move || {
        let mut child = command.spawn().expect("the loop can be started");
        drop(command);
        let mut buffer = vec![0; 1 << 16];
        // The end of a terminal is an error to its reader.
        while matches!(master.read(&mut buffer), Ok(n) if n > 0) {}
        child.wait().expect("the loop ends");
    })
}
