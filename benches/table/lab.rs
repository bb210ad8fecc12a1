//! A scratch place with a repository, agents that cost nothing, and nothing of the user's.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// The program that is measured: built with the profile of a release.
pub const WT_LOOP: &str = env!("CARGO_BIN_EXE_wt-loop");

/// The place.
pub struct Lab {
    dir: TempDir,
}

impl Lab {
    /// An empty repository with one commit and an agent that does nothing.
    pub fn new() -> Self {
        Self::made_in(&std::env::temp_dir())
    }

    /// The same in `folder`.
    pub fn made_in(folder: &Path) -> Self {
        let lab = Self { dir: tempfile::tempdir_in(folder).expect("a scratch directory") };
        for dir in ["bin", "home", "repo", "run"] {
            fs::create_dir(lab.path(dir)).expect("a scratch directory");
        }
        lab.agent("exit 0");
        lab.sh("git init -q -b main . && git commit -q --allow-empty -m start");
        lab
    }

    /// A path of the lab.
    pub fn path(&self, below: impl AsRef<Path>) -> PathBuf {
        self.dir.path().join(below)
    }

    /// The repository's root.
    pub fn root(&self) -> PathBuf {
        self.path("repo")
    }

    /// What `claude` is from now on.
    pub fn agent(&self, script: &str) {
        let path = self.path("bin/claude");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("the agent can be written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("the agent can be made executable");
    }

    /// A command in the repository, with the lab's environment.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        let system = std::env::var("PATH").unwrap_or_default();
        command
            .current_dir(self.root())
            .env("PATH", format!("{}:{system}", self.path("bin").display()))
            .env("HOME", self.path("home"))
            .env("XDG_RUNTIME_DIR", self.path("run"))
            .env("XDG_STATE_HOME", self.path("home/state"))
            .env("XDG_CONFIG_HOME", self.path("home/config"))
            .envs([("GIT_AUTHOR_NAME", "bench"), ("GIT_AUTHOR_EMAIL", "bench@localhost")])
            .envs([("GIT_COMMITTER_NAME", "bench"), ("GIT_COMMITTER_EMAIL", "bench@localhost")]);
        command
    }

    /// wt-loop with these arguments.
    pub fn wt(&self, args: &[&str]) -> Command {
        let mut command = self.command(WT_LOOP);
        command.args(args);
        command
    }

    /// A loop of so many iterations whose agent need not succeed at anything.
    pub fn looped(&self, iterations: usize) -> Command {
        self.wt(&["run", "x", "--harness", "claude", "--max", &iterations.to_string(), "--stall-threshold", "0"])
    }

    /// A script in the repository that must succeed.
    pub fn sh(&self, script: &str) {
        let status = self.command("sh").args(["-ec", script]).stdin(Stdio::null()).stdout(Stdio::null()).status();
        assert!(status.is_ok_and(|status| status.success()), "{script}");
    }
}
