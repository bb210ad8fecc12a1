//! What must hold before "done" is believed. One file per gate, all with one interface.
//!
//! A claim of completion goes through the gates in order: tasks, the project's own validation, the extra commands. The first
//! that fails rejects it. The [`Verdict`] is one value; the history, the log, `status` and the next prompt all render from it.
//! The commands are those that were found when the loop started: an agent cannot move the goalposts.

mod capture;
mod court;
mod extra;
mod project;
pub mod sources;
pub mod tasks;

pub use court::Court;

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::{LoopSpec, Validation};
use crate::options::Done;
use crate::prompt::fenced;
use crate::term::human;

/// One thing that must hold.
pub trait Gate {
    /// What it is called.
    fn name(&self) -> &'static str;
    /// What it would look at or run, a line each.
    fn looks_at(&self) -> Vec<String>;
    /// Passes or refuses; tells the court of each thing that held on the way.
    fn check(&self, court: &mut Court) -> Result<(), Refusal>;
}

/// Why a gate did not let a claim pass.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// What must hold does not.
    Rejected(Rejection),
    /// A signal came while it was asked: the claim stays open.
    Interrupted,
}

/// Why a claim was not believed: what the history has of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Rejection {
    /// The gate that failed.
    pub gate: String,
    /// The command that failed, or null.
    pub command: Option<String>,
    /// Its exit code, 128 and the signal's number, or null where it has none.
    pub exit_code: Option<i32>,
    /// Whether it took too long and was killed.
    pub timed_out: bool,
    /// How long it took, in milliseconds.
    pub duration: u64,
    /// What failed: the open tasks, or the command's output.
    pub detail: String,
}

/// What came of asking the gates.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// What held, in order: the gate and a line.
    pub held: Vec<(&'static str, String)>,
    /// What did not.
    pub refusal: Option<Refusal>,
}

/// The gates of a loop, in order.
pub fn of(spec: &LoopSpec) -> Vec<Box<dyn Gate>> {
    let mut gates: Vec<Box<dyn Gate>> = Vec::new();
    if spec.validation == Validation::Skipped {
        return gates;
    }
    if spec.change_id.is_some() || spec.done == Done::Tasks {
        gates.push(Box::new(tasks::TasksGate { at_start: spec.tasks_at_start }));
    }
    gates.push(Box::new(project::ProjectGate { source: spec.project_validation.clone() }));
    if !spec.extra_validation.is_empty() {
        gates.push(Box::new(extra::ExtraGate { commands: spec.extra_validation.clone() }));
    }
    gates
}

/// Asks the gates one after the other, up to the first that refuses.
pub fn ask(gates: &[Box<dyn Gate>], court: &mut Court) -> Verdict {
    let refusal = gates.iter().find_map(|gate| gate.check(court).err());
    Verdict { held: std::mem::take(&mut court.held), refusal }
}

impl Rejection {
    /// One line for the log, the terminal and the lists.
    pub fn summary(&self) -> String {
        match &self.command {
            Some(command) => format!("`{}` {}", command.lines().next().unwrap_or_default(), self.how()),
            None => self.detail.lines().next().unwrap_or_default().trim_end_matches(':').to_owned(),
        }
    }

    /// What the agent is told: which gate, which command, how it ended, its output, what must hold.
    pub fn for_the_agent(&self) -> String {
        let Some(command) = &self.command else {
            return format!("{}\n\nAll tasks must be complete or shelved.", self.detail);
        };
        let output = if self.detail.trim().is_empty() {
            "It printed nothing.".to_owned()
        } else {
            fenced(self.detail.trim_end())
        };
        format!(
            "The {} validation failed: this command {} after {}.\n\n{}\n\nIts output:\n\n{output}\n\nIt must exit with 0.",
            self.gate,
            self.how(),
            human::duration(Duration::from_millis(self.duration)),
            fenced(command),
        )
    }

    fn how(&self) -> String {
        match (self.timed_out, self.exit_code) {
            (true, _) => "took too long and was killed".to_owned(),
            (false, Some(code)) => format!("ended with exit code {code}"),
            (false, None) => "could not be run".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rejection_is_one_line_for_people_and_the_whole_for_the_agent() {
        let failed = Rejection {
            gate: "project".into(),
            command: Some("make check".into()),
            exit_code: Some(2),
            duration: 1500,
            detail: "boom\n".into(),
            ..Rejection::default()
        };
        assert_eq!(failed.summary(), "`make check` ended with exit code 2");
        let told = failed.for_the_agent();
        for part in ["project validation failed", "make check", "exit code 2", "after 1.5s", "boom", "must exit with 0"]
        {
            assert!(told.contains(part), "{told}");
        }
        let late = Rejection { timed_out: true, exit_code: Some(143), ..failed };
        assert_eq!(late.summary(), "`make check` took too long and was killed");
    }
}
