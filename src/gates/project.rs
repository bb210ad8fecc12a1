//! The project's own validation: the commands of the first source that had any when the loop started.

use super::sources::{self, Source};
use super::{Court, Gate, Refusal};

/// The gate.
pub struct ProjectGate {
    /// What was found when the loop started.
    pub source: Source,
}

impl Gate for ProjectGate {
    fn name(&self) -> &'static str {
        "project"
    }

    fn looks_at(&self) -> Vec<String> {
        self.source.commands.iter().map(|command| format!("{command}  (from {})", self.source.file)).collect()
    }

    fn check(&self, court: &mut Court) -> Result<(), Refusal> {
        // A source that was changed meanwhile is told and ignored: the goalposts stand where they stood.
        if sources::find(court.root()).ok().flatten().as_ref() != Some(&self.source) {
            court.note(&format!(
                "the validation in {} has changed since the loop started; the first one is used",
                self.source.file
            ));
        }
        court.run_all(self.name(), &self.source.commands)
    }
}
