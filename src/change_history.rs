//! The history of a change over all its loops, in ito's own shape: `state.json` beside the change's context.
//!
//! ito reads it and wants every field of it; what it or another version wrote beside them survives. The file is replaced
//! whole; one that cannot be read is set aside, never overwritten.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::files;
use crate::state::{Iteration, moment};

/// The exit code of an agent that has none: it was never started, or killed with its guard.
const NO_CODE: i32 = -1;

/// One iteration, as ito has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// When it ended, in milliseconds since 1970.
    pub timestamp: i64,
    /// How long it took, in milliseconds.
    pub duration: i64,
    /// Whether the agent said the promise.
    pub completion_promise_found: bool,
    /// How many files it changed.
    pub file_changes_count: u64,
    /// The agent's exit code: never null.
    #[serde(default)]
    pub harness_exit_code: i32,
    /// Whether its claim was accepted.
    #[serde(default)]
    pub completion_validated: bool,
    /// Where it worked.
    #[serde(default)]
    pub effective_cwd: String,
    /// What others wrote.
    #[serde(flatten)]
    other: Map<String, Value>,
}

impl Entry {
    fn is_of_the_same(&self, other: &Self) -> bool {
        let identity = |entry: &Self| (entry.timestamp, entry.duration);
        identity(self) == identity(other) && self.effective_cwd == other.effective_cwd
    }
}

/// The whole file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ChangeHistory {
    /// The change.
    pub change_id: String,
    /// Iterations over all loops.
    pub iteration: u64,
    /// One entry each.
    pub history: Vec<Entry>,
    /// The file of the change's context.
    pub context_file: String,
    /// How the last iteration ended, in words.
    pub last_outcome: Option<String>,
    /// What went wrong in it, if something did.
    pub last_failure: Option<String>,
    /// What others wrote.
    #[serde(flatten)]
    other: Map<String, Value>,
}

impl ChangeHistory {
    /// Reads the file at `path`; `None` where there is none, and an error of kind `InvalidData` where it cannot be understood.
    pub fn load(path: &Path) -> io::Result<Option<Self>> {
        let Some(bytes) = files::read(path)? else { return Ok(None) };
        serde_json::from_slice(&bytes).map(Some).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }
}

/// The history of a change while one loop adds to it.
pub struct Chronicle {
    path: PathBuf,
    /// What earlier loops, or this one before it was resumed, have left.
    earlier: ChangeHistory,
    /// How many iterations of the loop's own history an earlier process has recorded.
    told: usize,
    root: String,
}

impl Chronicle {
    /// Goes on with the file at `path`. `told` iterations of the loop were written by an earlier process.
    pub fn open(path: &Path, change_id: &str, context: &Path, root: &Path, told: usize) -> io::Result<Self> {
        files::sweep_unfinished(path)?;
        let mut earlier = ChangeHistory::load(path)?.unwrap_or_default();
        change_id.clone_into(&mut earlier.change_id);
        earlier.context_file = context.strip_prefix(root).unwrap_or(context).display().to_string();
        Ok(Self { path: path.to_owned(), earlier, told, root: root.display().to_string() })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the history with what this loop has done so far.
    ///
    /// A process that died may have recorded its last iteration and not have come to telling it here, or to telling
    /// that the claim was accepted after all.
    pub fn save(&self, iterations: &[Iteration], failure: Option<&str>) -> io::Result<()> {
        let mut now = self.earlier.clone();
        for (at, iteration) in iterations.iter().enumerate() {
            let entry = self.entry(iteration);
            match now.history.iter_mut().rev().find(|had| had.is_of_the_same(&entry)) {
                Some(had) => had.completion_validated = entry.completion_validated,
                None if at + 1 >= self.told => {
                    now.history.push(entry);
                    now.iteration += 1;
                }
                None => {}
            }
        }
        if let Some(last) = iterations.last().filter(|_| now.history != self.earlier.history) {
            now.last_outcome = Some(outcome(last));
            now.last_failure = failure.map(str::to_owned);
        }
        files::replace(&self.path, &serde_json::to_vec_pretty(&now)?)
    }

    fn entry(&self, iteration: &Iteration) -> Entry {
        Entry {
            timestamp: moment(&iteration.ended).map_or(0, jiff::Timestamp::as_millisecond),
            duration: iteration.duration().map_or(0, |span| i64::try_from(span.as_millis()).unwrap_or(i64::MAX)),
            completion_promise_found: iteration.promise_found,
            file_changes_count: iteration.files_changed,
            harness_exit_code: iteration.exit_code.unwrap_or(NO_CODE),
            completion_validated: iteration.done_check,
            effective_cwd: self.root.clone(),
            other: Map::new(),
        }
    }
}

fn outcome(iteration: &Iteration) -> String {
    let ended = iteration.exit_reason.map_or("ended", crate::state::ExitReason::word);
    match (&iteration.validation, iteration.done_check) {
        (_, true) => format!("{ended}, completion accepted"),
        (Some(rejection), false) => format!("{ended}, completion rejected by the {} gate", rejection.gate),
        (None, false) => ended.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::ExitReason;

    /// As ito writes it, by hand from the documented shape.
    const FROM_ITO: &str = r#"{
      "changeId": "002-01_add-ralph-loop", "iteration": 1,
      "history": [{"timestamp": 1700000000000, "duration": 4200, "completionPromiseFound": false, "fileChangesCount": 3,
                   "harnessExitCode": 0, "completionValidated": false, "effectiveCwd": "/w", "newInIto": [1]}],
      "contextFile": ".ito/.state/ralph/002-01_add-ralph-loop/context.md", "lastOutcome": null, "lastFailure": null,
      "alsoNew": true
    }"#;

    #[test]
    fn what_ito_wrote_is_continued_with_every_field_that_it_wants() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(".ito/.state/ralph/002-01_add-ralph-loop/state.json");
        files::replace(&path, FROM_ITO.as_bytes()).unwrap();
        let context = path.with_file_name("context.md");
        let chronicle = Chronicle::open(&path, "002-01_add-ralph-loop", &context, dir.path(), 0).unwrap();
        let iteration = Iteration {
            n: 1,
            started: "2026-01-01T00:00:00Z".into(),
            ended: "2026-01-01T00:00:01.500Z".into(),
            exit_reason: Some(ExitReason::NotStarted),
            files_changed: 2,
            ..Iteration::default()
        };
        chronicle.save(std::slice::from_ref(&iteration), Some("it broke")).unwrap();
        chronicle.save(&[iteration], Some("it broke")).unwrap();
        let text = String::from_utf8(files::read(&path).unwrap().unwrap()).unwrap();
        let now: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(now["iteration"], 2, "written twice is counted once");
        assert_eq!(now["history"][0]["newInIto"][0], 1);
        assert_eq!(now["alsoNew"], true);
        let added = &now["history"][1];
        assert_eq!((&added["duration"], &added["harnessExitCode"]), (&1500.into(), &(-1).into()));
        assert_eq!((&added["completionPromiseFound"], &added["completionValidated"]), (&false.into(), &false.into()));
        assert_eq!(added["timestamp"], 1_767_225_601_500_i64);
        assert_eq!(added["effectiveCwd"], dir.path().to_str().unwrap());
        assert_eq!(now["contextFile"], ".ito/.state/ralph/002-01_add-ralph-loop/context.md");
        assert_eq!((&now["lastOutcome"], &now["lastFailure"]), (&"not started".into(), &"it broke".into()));
    }

    #[test]
    fn a_file_that_is_none_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.json");
        files::replace(&path, b"{\"history\": 3}").unwrap();
        assert_eq!(ChangeHistory::load(&path).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
