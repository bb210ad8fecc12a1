//! No terminal at all: a session of its own, so that a closed window does not end it.

use super::{Launch, Launched, Process};
use crate::error::Result;

pub(super) fn launch(launch: &Launch) -> Result<Launched> {
    let program = launch.program.to_string_lossy();
    launch.open(&[&program], &["run".into()], Process::Stays, "in the background".into(), None)
}
