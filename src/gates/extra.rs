//! The extra commands: those of `--validation-command`, after the project's own.

use super::{Court, Gate, Refusal};

/// The gate.
pub struct ExtraGate {
    /// The commands, in order.
    pub commands: Vec<String>,
}

impl Gate for ExtraGate {
    fn name(&self) -> &'static str {
        "extra"
    }

    fn looks_at(&self) -> Vec<String> {
        self.commands.clone()
    }

    fn check(&self, court: &mut Court) -> Result<(), Refusal> {
        court.run_all(self.name(), &self.commands)
    }
}
