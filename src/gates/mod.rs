//! What must hold before "done" is believed. One file per gate.
//!
//! A claim of completion goes through the gates in order; the first that fails rejects it, and the agent is told why.

pub mod tasks;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a claim was not believed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rejection {
    /// The gate that failed.
    pub gate: String,
    /// What failed, for the next prompt.
    pub detail: String,
}
