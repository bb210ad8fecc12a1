//! A desktop in a world: a session bus of its own, and a service that writes down every notification it is asked to show.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::process::Stdio;

use serde_json::Value;

use super::{World, serve, wait_until};

/// How the service treats who calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    Answers,
    Silent,
}

/// A session bus with a notification service on it. Both die with the world.
pub struct Desktop<'a> {
    world: &'a World,
    /// What `DBUS_SESSION_BUS_ADDRESS` says.
    pub address: String,
}

impl World {
    /// A desktop; `None`, and a word about it, where the machine has no session bus to run.
    #[track_caller]
    pub fn desktop(&self, manner: Manner) -> Option<Desktop<'_>> {
        let (Ok(daemon), Ok(python)) = (which::which("dbus-daemon"), which::which("python3")) else {
            eprintln!("SKIPPED: notifications over D-Bus: dbus-daemon or python3 is not installed");
            return None;
        };
        let socket = self.beside("run/bus");
        let desktop = Desktop { world: self, address: format!("unix:path={}", socket.display()) };
        let mut command = self.command(daemon);
        command.args(["--session", "--nofork", "--nopidfile"]).arg(format!("--address={}", desktop.address));
        command.stdout(Stdio::null());
        serve(command);
        wait_until("the bus", || fs::metadata(&socket).is_ok_and(|found| found.file_type().is_socket()));
        let mut service = self.command(python);
        service.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/support/desktop.py")).arg(desktop.calls());
        service.args((manner == Manner::Silent).then_some("silent")).env("DBUS_SESSION_BUS_ADDRESS", &desktop.address);
        serve(service);
        wait_until("the notification service", || desktop.calls().exists());
        Some(desktop)
    }
}

impl Desktop<'_> {
    /// What the service was asked, in order: a member and its arguments.
    pub fn asked(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.calls()).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The variable that leads there.
    pub fn variable(&self) -> (&'static str, &str) {
        ("DBUS_SESSION_BUS_ADDRESS", &self.address)
    }

    fn calls(&self) -> std::path::PathBuf {
        self.world.beside("notifications")
    }
}
