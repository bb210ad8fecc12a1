//! A unit of the user's systemd: it outlives the terminal, and with lingering the login, and `systemctl --user` knows it.
//!
//! The manager replaces `$NAME` and `%n` in a command line, so the program goes by a name without either; a unit's directory
//! it takes as it is. `systemctl stop` asks the loop, which takes its agent down, before anything is killed.

use std::ffi::OsString;
use std::path::PathBuf;

use super::{Launch, Launched, Process, tame, unique};
use crate::environment::Environment;
use crate::error::Result;

/// The program that makes a unit.
pub(super) const PROGRAM: &str = "systemd-run";

/// What systemd takes for a unit's name, without its `.service`.
const LONGEST: usize = 247;

/// Whether a manager of this user runs.
pub fn has_user_manager(env: &Environment) -> bool {
    env.get("XDG_RUNTIME_DIR").is_some_and(|dir| PathBuf::from(dir).join("systemd/private").exists())
}

pub(super) fn launch(launch: &Launch) -> Result<Launched> {
    let root = launch.worktree.root.as_os_str();
    // Two worktrees can have one name, and a unit of the system's own alphabet has few characters.
    let name: String = tame(&launch.worktree.name()).chars().map(|c| if c.is_ascii() { c } else { '_' }).collect();
    let unit = unique(&format!("wt-loop-{name}"), &launch.worktree.root, LONGEST);
    let mut directory = OsString::from("--working-directory=");
    directory.push(root);
    let args = [
        "--user".into(),
        "--quiet".into(),
        "--collect".into(),
        format!("--unit={unit}").into(),
        "--property=KillMode=mixed".into(),
        directory,
        "--".into(),
        launch.plain_program().into_os_string(),
        "run".into(),
    ];
    let (place, look) = (format!("in the systemd unit {unit}"), format!("systemctl --user status {unit}"));
    launch.open(&[PROGRAM], &args, Process::HandsOver, place, Some(look))
}
