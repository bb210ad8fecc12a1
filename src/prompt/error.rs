//! What can be wrong with a template.

use std::fmt;

use super::slot::SLOTS;

/// Why a text is no template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TemplateError {
    /// A name that means nothing.
    Unknown {
        /// Where, from 1.
        line: usize,
        /// The name.
        name: String,
    },
    /// Two braces that open and do not close on their line.
    Unclosed {
        /// Where, from 1.
        line: usize,
    },
    /// `{{task}}` is nowhere in it.
    NoTask,
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { line, name } => {
                let known: Vec<_> = SLOTS.iter().map(|(name, _)| *name).collect();
                write!(f, "line {line}: no placeholder called '{}'; known: {}", name.escape_debug(), known.join(", "))
            }
            Self::Unclosed { line } => write!(f, "line {line}: '{{{{' without '}}}}' behind it"),
            Self::NoTask => f.write_str("{{task}} is missing: the agent would never see what it is asked to do"),
        }
    }
}

impl std::error::Error for TemplateError {}
