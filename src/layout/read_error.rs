//! Why a file is not read.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::reason;

/// Why a file of the repository was not read.
#[derive(Debug)]
pub enum ReadError {
    /// Its path leads out of the worktree.
    Outside(PathBuf),
    /// It, or a folder on the way to it, is a symlink.
    Symlink(PathBuf),
    /// It is there, and no regular file.
    NotRegular(PathBuf),
    /// The system said no.
    Unreadable {
        /// The file, or the folder on the way to it.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

impl ReadError {
    pub(super) fn unreadable(path: &Path, source: io::Error) -> Self {
        Self::Unreadable { path: path.to_owned(), source }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outside(path) => write!(f, "{} is outside the worktree, so it is not read", path.display()),
            Self::Symlink(path) => write!(f, "{} is a symlink, so it is not read", path.display()),
            Self::NotRegular(path) => write!(f, "{} is not a regular file", path.display()),
            Self::Unreadable { path, source } => {
                write!(f, "cannot read {}: {}", path.display(), reason(source))
            }
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unreadable { source, .. } => Some(source),
            Self::Outside(_) | Self::Symlink(_) | Self::NotRegular(_) => None,
        }
    }
}
