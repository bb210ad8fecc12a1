//! What is made from the program agrees with it: manual pages, completions, the tables and the session in the documents. And
//! what the house promises of its own source holds.
//!
//! `scripts/generate` rewrites what these tests compare.

mod dependencies;
mod documents;
mod pages;
mod shells;
mod source;

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{Output, World, program};

/// The root of the project.
fn project() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[track_caller]
fn read(path: &str) -> String {
    fs::read_to_string(project().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every file below a folder of the project that ends so, sorted.
fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = walkdir::WalkDir::new(project().join(folder))
        .into_iter()
        .map(|entry| entry.unwrap().into_path())
        .filter(|path| path.to_str().unwrap().ends_with(ending))
        .collect();
    found.sort();
    found
}

/// Runs a program of the machine in a world that has `wt-loop` and these tools on its PATH.
fn run_with(world: &World, tools: &[&str], program: &Path, args: &[&str]) -> Output {
    let bin = world.base().join("bin");
    for (name, target) in tools.iter().filter_map(|tool| Some((*tool, which::which(tool).ok()?))) {
        let _ = std::os::unix::fs::symlink(target, bin.join(name));
    }
    let _ = std::os::unix::fs::symlink(world.program(), bin.join("wt-loop"));
    let mut command = world.command(program);
    command.args(args);
    crate::support::run(command)
}
