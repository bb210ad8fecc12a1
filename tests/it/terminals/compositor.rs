//! A Wayland compositor without a screen. sway refuses to run as root, so nobody runs it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::PathBuf;
use std::process::{Child, Stdio};

use nix::unistd::{Uid, User};
use serde_json::Value;

use super::picture;
use crate::support::{World, program, run, wait_for, wait_until};

/// It ends when it is dropped.
pub struct Compositor<'a> {
    world: &'a World,
    /// Nobody's own folder, with the sockets.
    folder: tempfile::TempDir,
    sway: Child,
}

impl<'a> Compositor<'a> {
    /// Opens it; `None`, and said loudly, where that cannot be.
    pub fn open(world: &'a World) -> Option<Self> {
        for name in ["sway", "swaymsg", "setpriv", "grim"] {
            program(name)?;
        }
        if !Uid::effective().is_root() {
            eprintln!("SKIPPED: foot under sway: only root can start it as somebody else");
            return None;
        }
        let nobody = User::from_name("nobody").unwrap().unwrap();
        let folder = tempfile::Builder::new().prefix("wtl-sway-").tempdir().unwrap();
        let settings = folder.path().join("config");
        fs::write(&settings, "output HEADLESS-1 resolution 1280x800\nxwayland disable\n").unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
        for path in [folder.path(), &settings] {
            chown(path, Some(nobody.uid.as_raw()), Some(nobody.gid.as_raw())).unwrap();
        }
        let mut command = world.command("setpriv");
        command.args(["--reuid=nobody", "--regid=nogroup", "--clear-groups"]).arg(which::which("sway").unwrap());
        command.arg("-c").arg(&settings).current_dir(folder.path());
        command.env("XDG_RUNTIME_DIR", folder.path()).env("HOME", folder.path());
        command.envs([("WLR_BACKENDS", "headless"), ("WLR_RENDERER", "pixman"), ("WLR_LIBINPUT_NO_DEVICES", "1")]);
        command.env("SWAYSOCK", folder.path().join("sway.sock")).stdout(Stdio::null()).stderr(Stdio::null());
        let compositor = Self { world, sway: command.spawn().unwrap(), folder };
        wait_until("a compositor", || compositor.socket().exists() && compositor.ask(&["-t", "get_version"]).is_some());
        Some(compositor)
    }

    /// The socket that `WAYLAND_DISPLAY` names.
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("wayland-1")
    }

    fn ask(&self, args: &[&str]) -> Option<Value> {
        let mut command = self.world.command(which::which("swaymsg").unwrap());
        command.args(args).env("SWAYSOCK", self.folder.path().join("sway.sock"));
        serde_json::from_str(&run(command).stdout).ok()
    }

    /// The windows: title and whether it fills the screen.
    pub fn windows(&self) -> Vec<(String, bool)> {
        let mut found = Vec::new();
        let mut trees = vec![self.ask(&["-t", "get_tree"]).unwrap_or_default()];
        while let Some(tree) = trees.pop() {
            if tree["app_id"] == "wt-loop" {
                found.push((tree["name"].as_str().unwrap_or_default().to_owned(), tree["fullscreen_mode"] == 1));
            }
            trees.extend(tree["nodes"].as_array().into_iter().flatten().cloned());
        }
        found
    }

    /// Waits until the only window is this one.
    #[track_caller]
    pub fn wait_for_window(&self, title: &str, fills_the_screen: bool) {
        wait_for(title, || (self.windows() == [(title.to_owned(), fills_the_screen)]).then_some(()));
    }

    /// Closes the window.
    pub fn close(&self) {
        self.ask(&["[app_id=wt-loop] kill"]);
    }

    /// Keeps a picture of the screen.
    pub fn keep_picture(&self, name: &str) {
        let mut command = self.world.command(which::which("grim").unwrap());
        run({
            command.arg(picture(name)).env("WAYLAND_DISPLAY", self.socket());
            command
        });
    }
}

impl Drop for Compositor<'_> {
    fn drop(&mut self) {
        let _ = self.sway.kill();
        let _ = self.sway.wait();
    }
}
