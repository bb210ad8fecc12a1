//! Why a name finds no change or module.

use std::fmt;
use std::io;
use std::path::PathBuf;

use super::resolve::Kind;
use crate::error::reason;

/// Why a typed name is no change or module.
#[derive(Debug)]
pub enum ResolveError {
    /// It could never be one: empty, a path, hidden, like an option, or with control characters.
    Invalid {
        /// What was looked for.
        kind: Kind,
        /// What was typed.
        typed: String,
    },
    /// Nothing has that name or begins so.
    Unknown {
        /// What was looked for.
        kind: Kind,
        /// What was typed.
        typed: String,
        /// All names that there are.
        candidates: Vec<String>,
        /// The one that was probably meant, for a hint.
        nearest: Option<String>,
    },
    /// Several begin so.
    Ambiguous {
        /// What was looked for.
        kind: Kind,
        /// What was typed.
        typed: String,
        /// The names that fit.
        candidates: Vec<String>,
    },
    /// The folder that holds them cannot be listed.
    Unreadable {
        /// The folder.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

impl fmt::Display for ResolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid { kind, typed } => {
                write!(f, "'{}' cannot be the id of a {kind}", typed.escape_debug())
            }
            Self::Unknown { kind, typed, candidates, .. } if candidates.is_empty() => {
                write!(f, "no {kind} called '{typed}'; there are none here")
            }
            Self::Unknown { kind, typed, candidates, .. } => {
                write!(f, "no {kind} called '{typed}'; found: {}", candidates.join(", "))
            }
            Self::Ambiguous { kind, typed, candidates } => {
                write!(f, "more than one {kind} begins with '{typed}': {}", candidates.join(", "))
            }
            Self::Unreadable { path, source } => {
                write!(f, "cannot list {}: {}", path.display(), reason(source))
            }
        }
    }
}

impl std::error::Error for ResolveError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unreadable { source, .. } => Some(source),
            Self::Invalid { .. } | Self::Unknown { .. } | Self::Ambiguous { .. } => None,
        }
    }
}
