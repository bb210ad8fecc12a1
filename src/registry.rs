//! The user's own record of loops, under `$XDG_STATE_HOME/wt-loop/`: one file for each worktree.
//!
//! It points `list` to the worktree, and it is the launch record: every resolved option of its last loop. What decides about
//! commands and approvals is taken from here, never from the state file, which a repository could ship and an agent
//! could edit. Record and state belong together by the loop's id. Beside it lies a lock that the loop holds while it runs, which is
//! there even when an agent has removed the worktree and its git directory; and only here a loop says that it is done. 0600.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::thread;

use serde::{Deserialize, Serialize};

use crate::config::LoopSpec;
use crate::environment::Environment;
use crate::error::{Doing, Result};
use crate::files;
use crate::state::State;
use crate::worktree::Worktree;

/// So many records take longer to look at than a thread to start.
const WORTH_A_THREAD: usize = 50;
/// What follows the name of a state that its worktree could not take.
const RESCUED: &str = "rescued-state.json";

/// What the user's side knows of the last loop of a worktree.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// The loop's id.
    pub loop_id: String,
    /// The repository's name.
    pub project: String,
    /// The worktree's top directory.
    pub root: PathBuf,
    /// Its own git directory.
    pub git_dir: PathBuf,
    /// The git directory of the repository.
    pub common_dir: PathBuf,
    /// What is known of its end.
    #[serde(default)]
    pub outcome: Outcome,
    /// The iteration in which the agent claimed completion, so that a claim which the gates have not settled is believed of no other.
    #[serde(default)]
    pub claim: Option<u64>,
    /// Every option of the loop.
    pub spec: LoopSpec,
    /// The command that leads to where `start` has put it, if there is one.
    #[serde(default)]
    pub attach: Option<String>,
}

/// What the user's side knows of the end of a loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Nothing: an earlier version wrote the record.
    #[default]
    Untold,
    /// It has not ended, or without a word.
    Open,
    /// It has ended without completion.
    Over,
    /// Its completion was accepted.
    Done,
}

impl Record {
    /// The record of a loop in `worktree`.
    pub fn new(worktree: &Worktree, loop_id: String, spec: LoopSpec) -> Self {
        Self {
            loop_id,
            project: worktree.project(),
            root: worktree.root.clone(),
            git_dir: worktree.git_dir.clone(),
            common_dir: worktree.common_dir.clone(),
            outcome: Outcome::Open,
            claim: None,
            spec,
            attach: None,
        }
    }

    /// The worktree it speaks of.
    pub fn worktree(&self) -> Worktree {
        Worktree { root: self.root.clone(), git_dir: self.git_dir.clone(), common_dir: self.common_dir.clone() }
    }
}

/// The directory of records.
#[derive(Clone, Debug)]
pub struct Registry {
    dir: PathBuf,
}

impl Registry {
    /// That of the user.
    pub fn of(env: &Environment) -> Self {
        Self { dir: env.state_home().join("wt-loop") }
    }

    /// Writes a record in the place of the worktree's earlier one. Only who prepares a loop there does that.
    pub fn save(&self, record: &Record) -> Result<()> {
        let path = self.path(&record.root);
        files::sweep_unfinished(&path).doing("tidy up beside", &path)?;
        let written =
            serde_json::to_vec_pretty(record).map_err(Into::into).and_then(|bytes| files::replace(&path, &bytes));
        written.doing("write", &path)
    }

    /// The record of the worktree at `root`.
    pub fn load(&self, root: &Path) -> Option<Record> {
        read(&self.path(root))
    }

    /// Changes the record of this very loop, if there is one.
    pub fn note(&self, root: &Path, loop_id: &str, change: impl FnOnce(Record) -> Record) -> Result<()> {
        match self.load(root).filter(|record| record.loop_id == loop_id) {
            Some(record) => self.save(&change(record)),
            None => Ok(()),
        }
    }

    /// The lock that the loop of a worktree holds beside the one in the worktree's git directory.
    pub fn loop_lock(&self, root: &Path) -> PathBuf {
        self.path(root).with_extension("lock")
    }

    /// Every record that can be read.
    pub fn all(&self) -> Vec<Record> {
        self.files().iter().filter_map(|path| read(path)).collect()
    }

    /// What `look` sees in the records that can be read. Of many, several are looked at together.
    pub fn each<T: Send>(&self, look: impl Fn(Record) -> Option<T> + Sync) -> Vec<T> {
        let files = self.files();
        let seen =
            &|some: &[PathBuf]| -> Vec<T> { some.iter().filter_map(|path| read(path)).filter_map(&look).collect() };
        let hands = thread::available_parallelism().map_or(1, usize::from).min(files.len() / WORTH_A_THREAD);
        if hands < 2 {
            return seen(&files);
        }
        thread::scope(|scope| {
            let shares = files.chunks(files.len().div_ceil(hands));
            // Where the system has no thread to give, the share is looked at here.
            let looking =
                |share| thread::Builder::new().spawn_scoped(scope, move || seen(share)).map_err(|_| seen(share));
            let looking: Vec<_> = shares.map(looking).collect();
            let joined = looking.into_iter().map(|share| match share {
                Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                Err(seen) => seen,
            });
            joined.flatten().collect()
        })
    }

    /// The records whose worktree is gone: `(file, worktree)`.
    pub fn leftovers(&self) -> Vec<(PathBuf, PathBuf)> {
        let records = self.files().into_iter().filter_map(|path| read(&path).map(|record| (path, record.root)));
        records.filter(|(_, root)| !root.is_dir()).collect()
    }

    /// Keeps a state that its worktree could not take; returns where.
    pub fn rescue(&self, root: &Path, state: &mut State) -> Result<PathBuf> {
        let path = self.path(root).with_extension(RESCUED);
        let bytes = state.to_bytes().doing("write", &path)?;
        files::replace(&path, &bytes).doing("write", &path)?;
        Ok(path)
    }

    /// Where what a place prints goes until its loop has reported in.
    pub fn launch_output(&self, root: &Path) -> PathBuf {
        self.path(root).with_extension("launch.log")
    }

    fn files(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.dir.join("loops")) else { return Vec::new() };
        let is_record = |path: &PathBuf| {
            path.extension().is_some_and(|found| found == "json") && !path.to_string_lossy().ends_with(RESCUED)
        };
        entries.flatten().map(|entry| entry.path()).filter(is_record).collect()
    }

    /// A name that a person recognises, and a hash that keeps two worktrees of one name apart.
    fn path(&self, root: &Path) -> PathBuf {
        let name: String = root.file_name().unwrap_or_default().to_string_lossy().chars().map(tame).take(40).collect();
        self.dir.join("loops").join(format!("{name}-{:016x}.json", fnv1a(root.as_os_str().as_bytes())))
    }
}

fn read(path: &Path) -> Option<Record> {
    serde_json::from_slice(&files::read(path).ok()??).ok()
}

fn tame(c: char) -> char {
    if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' }
}

/// The same on every machine and in every version, which the standard library's hash does not promise.
pub fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_worktrees_of_one_name_are_kept_apart() {
        let registry = Registry { dir: "/state".into() };
        let (a, b) = (registry.path(Path::new("/a/x y")), registry.path(Path::new("/b/x y")));
        assert_ne!(a, b);
        assert!(a.to_str().unwrap().starts_with("/state/loops/x_y-"), "{a:?}");
    }
}
