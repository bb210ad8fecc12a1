//! Other runners, where they are on PATH: an iteration of theirs with the same agent.

use std::fs;

use crate::Row;
use crate::clock::{self, ROUNDS, median, run};
use crate::lab::Lab;

/// A runner and how it is asked for so many iterations.
struct Rival {
    program: &'static str,
    args: fn(&str) -> Vec<&str>,
}

const RIVALS: [Rival; 3] = [
    Rival {
        program: "ito",
        args: |n| vec!["ralph", "do it", "--no-interactive", "--harness", "claude", "--max-iterations", n],
    },
    Rival { program: "ralph", args: |n| vec!["do it", "--max-iterations", n] },
    Rival { program: "wt-loop", args: |n| vec!["run", "do it", "--max", n] },
];

/// One row for each that is found.
pub fn rows(lab: &Lab) -> Vec<Row> {
    lab.agent("exit 0");
    RIVALS.iter().filter(|rival| is_foreign(rival.program)).map(|rival| row(lab, rival)).collect()
}

/// This program answers to these names as well, where it was installed so.
fn is_foreign(program: &str) -> bool {
    let bytes = which::which(program).and_then(|path| fs::read(path).map_err(|_| which::Error::CannotFindBinaryPath));
    bytes.is_ok_and(|bytes| memchr::memmem::find(&bytes, b"WT_LOOP_COMPLETE").is_none())
}

fn row(lab: &Lab, rival: &Rival) -> Row {
    let time = |turns: &str| run(lab.command(rival.program).args((rival.args)(turns)));
    let theirs = median((0..ROUNDS).map(|_| (time("6") - time("1")) / 5.0).collect());
    let what = format!("one iteration of `{}`, the same agent", rival.program);
    Row { what, against: "–".into(), measured: clock::show(theirs), bar: None }
}
