//! What a person waits for at the prompt.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Row;
use crate::clock::{ROUNDS, pair, run, seconds};
use crate::lab::{Lab, WT_LOOP};

const GIT_CALL: &str = "`git rev-parse --show-toplevel`";

/// A single call is short: it takes more of them to see through the noise.
const CALLS: usize = 201;

/// Of a single loop.
pub fn rows(lab: &Lab) -> Vec<Row> {
    run(&mut lab.looped(3));
    let (ours, theirs) = pair(CALLS, || run(&mut lab.wt(&["status"])), || run(&mut git(lab)));
    let spawner = bare_program(lab);
    let (bare, theirs_again) = pair(CALLS, || run(&mut lab.command(&spawner)), || run(&mut git(lab)));
    let (help, yes) = pair(CALLS, || run(&mut lab.wt(&["--help"])), || run(&mut lab.command("/bin/true")));
    let (completion, yes_again) = pair(CALLS, || run(&mut completion(lab)), || run(&mut lab.command("/bin/true")));
    let size = fs::metadata(WT_LOOP).map_or(0, |file| file.len());
    vec![
        Row::ratio("`wt-loop status`", GIT_CALL, ours, theirs, 2.0),
        Row::floor("a bare Rust program that only runs that call", GIT_CALL, bare, theirs_again),
        Row::ratio("`wt-loop --help`", "`/bin/true`", help, yes, 3.0),
        Row::ratio("a completion that needs no git (the commands in `st`)", "`/bin/true`", completion, yes_again, 3.0),
        Row::fact(
            "release binary, stripped",
            format!("{:.2} MB", crate::memory::megabytes(size)),
            "under 4 MB",
            size < 4_000_000,
        ),
    ]
}

fn git(lab: &Lab) -> Command {
    let mut command = lab.command("git");
    command.args(["rev-parse", "--show-toplevel"]);
    command
}

/// What any program that asks git costs, however little it does beside.
fn bare_program(lab: &Lab) -> PathBuf {
    let (source, program) = (lab.path("bare.rs"), lab.path("bare"));
    let text =
        "fn main() { drop(std::process::Command::new(\"git\").args([\"rev-parse\", \"--show-toplevel\"]).output()) }\n";
    fs::write(&source, text).expect("the source can be written");
    run(Command::new("rustc")
        .args(["-O", "-C", "panic=abort", "-C", "strip=symbols", "-o"])
        .arg(&program)
        .arg(&source));
    program
}

/// What bash asks when `wt-loop st` is to be completed.
fn completion(lab: &Lab) -> Command {
    let mut command = lab.wt(&["--", "wt-loop", "st"]);
    command.envs([("WT_LOOP_COMPLETE", "bash"), ("_CLAP_COMPLETE_INDEX", "1"), ("_CLAP_IFS", "\n")]);
    command
}

/// Of a thousand loops, and of a large tree.
pub fn rows_of_many(lab: &Lab) -> Vec<Row> {
    thousand_loops(lab);
    let (list, status) = pair(ROUNDS, || run(&mut lab.wt(&["list", "--all"])), || run(&mut lab.wt(&["status"])));
    let tree = lab.path("tree");
    large_tree(&tree);
    let (ours, find) = pair(
        ROUNDS,
        || seconds(|| drop(wt_loop::layout::find_tasks(&tree))),
        || {
            let mut find = lab.command("find");
            find.arg(&tree).args([
                "-maxdepth",
                "3",
                "(",
                "-name",
                ".git",
                "-o",
                "-name",
                "node_modules",
                "-o",
                "-name",
                "archive",
            ]);
            find.args([")", "-prune", "-o", "-name", "tasks.md", "-print"]);
            run(&mut find)
        },
    );
    vec![
        Row::ratio("`wt-loop list --all` of 1,000 loops", "`wt-loop status` of one", list, status, 15.0),
        Row::ratio(
            "`tasks.md` look-up in a tree of 200,000 files",
            "`find -maxdepth 3`, same exclusions",
            ours,
            find,
            0.7,
        ),
    ]
}

/// Loops that ran in worktrees of their own.
fn thousand_loops(lab: &Lab) {
    for n in 0..1000 {
        let name = format!("../many/{n}");
        run(lab.command("git").args(["worktree", "add", "-q", "--detach", &name]));
        run(lab.looped(1).current_dir(lab.root().join(name)));
    }
}

/// 200,000 files, most of them where nobody looks for tasks.
fn large_tree(root: &Path) {
    for (upper, lower) in (0..20).flat_map(|upper| (0..100).map(move |lower| (upper, lower))) {
        let dir = root.join(format!("d{upper}/e{lower}"));
        fs::create_dir_all(&dir).expect("a directory of the tree");
        for file in 0..100 {
            fs::write(dir.join(format!("f{file}")), "").expect("a file of the tree");
        }
    }
}
