//! The project's own validation: the commands of the first source that had any when the loop started.

use super::sources::{self, Source};
use super::{Court, Gate, Refusal};

/// The gate.
pub struct ProjectGate {
    /// What was found when the loop started, if anything was.
    pub source: Option<Source>,
}

impl Gate for ProjectGate {
    fn name(&self) -> &'static str {
        "project"
    }

    fn looks_at(&self) -> Vec<String> {
        let lines = |source: &Source| {
            source.commands.iter().map(|command| format!("{command}  (from {})", source.file)).collect()
        };
        self.source.as_ref().map(lines).unwrap_or_default()
    }

    fn check(&self, court: &mut Court) -> Result<(), Refusal> {
        // A source that was changed meanwhile is told and ignored: the goalposts stand where they stood.
        let now = sources::find(court.root()).ok().flatten();
        match (&self.source, &now) {
            (Some(first), now) if now.as_ref() != Some(first) => court.note(&format!(
                "the validation in {} has changed since the loop started; the first one is used",
                first.file
            )),
            (None, Some(new)) => court.note(&format!(
                "there is validation in {} now; there was none when the loop started, so it is not used",
                new.file
            )),
            _ => {}
        }
        self.source.as_ref().map_or(Ok(()), |source| court.run_all(self.name(), &source.commands))
    }
}
