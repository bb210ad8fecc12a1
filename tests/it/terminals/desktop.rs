//! A desktop for one test: an X server without a screen, a window manager and a session bus.

use std::fs;
use std::process::{Child, Command, Stdio};

use super::picture;
use crate::support::{World, program, run, wait_for, wait_until};

/// It ends when it is dropped.
pub struct Desktop<'a> {
    world: &'a World,
    parts: Vec<Child>,
    environment: Vec<(String, String)>,
}

/// A window, by its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window(u64);

impl<'a> Desktop<'a> {
    /// Opens it; `None`, and said loudly, where something that it is made of is missing.
    pub fn open(world: &'a World) -> Option<Self> {
        for name in ["Xvfb", "openbox", "xdotool", "xprop", "wmctrl", "dbus-daemon", "import"] {
            program(name)?;
        }
        let mut desktop = Self { world, parts: Vec::new(), environment: Vec::new() };
        desktop.display();
        desktop.bus();
        desktop.part("openbox", &["--sm-disable"]);
        // It says who it is when it begins, and which windows there are when it is ready for more.
        for property in ["_NET_SUPPORTING_WM_CHECK", "_NET_CLIENT_LIST"] {
            wait_until("a window manager", || desktop.ask("xprop", &["-root", property]).contains('#'));
        }
        Some(desktop)
    }

    /// What a program needs to open a window here.
    pub fn environment(&self) -> Vec<(&str, &str)> {
        self.environment.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }

    fn display(&mut self) {
        let file = self.world.beside("tmp/display");
        // Without -noreset it would send everybody away when the last of the clients leaves, and the first one soon does.
        let wanted =
            format!("exec Xvfb -displayfd 3 -screen 0 1280x800x24 -nolisten tcp -noreset 3> {}", file.display());
        self.world.bring(&["Xvfb"]);
        self.part("sh", &["-c", &wanted]);
        let number = wait_for("an X server", || {
            let text = fs::read_to_string(&file).ok()?;
            text.strip_suffix('\n').map(str::to_owned)
        });
        let own =
            [("DISPLAY", format!(":{number}")), ("LIBGL_ALWAYS_SOFTWARE", "1".into()), ("NO_AT_BRIDGE", "1".into())];
        self.environment.extend(own.map(|(name, value)| (name.to_owned(), value)));
    }

    fn bus(&mut self) {
        let socket = self.world.beside("run/bus");
        let address = format!("unix:path={}", socket.display());
        self.part("dbus-daemon", &["--session", "--nofork", "--nosyslog", &format!("--address={address}")]);
        wait_until("a session bus", || socket.exists());
        self.environment.push(("DBUS_SESSION_BUS_ADDRESS".into(), address));
    }

    fn part(&mut self, name: &str, args: &[&str]) {
        let mut command = self.command(name);
        command.args(args).stdout(Stdio::null()).stderr(Stdio::null());
        self.parts.push(command.spawn().unwrap());
    }

    fn command(&self, name: &str) -> Command {
        let mut command = self.world.command(which::which(name).unwrap());
        command.envs(self.environment());
        command
    }

    fn ask(&self, name: &str, args: &[&str]) -> String {
        let mut command = self.command(name);
        command.args(args);
        run(command).stdout
    }

    /// The windows that the window manager knows.
    pub fn windows(&self) -> Vec<Window> {
        let list = self.ask("xprop", &["-root", "_NET_CLIENT_LIST"]);
        let ids = list.split_once('#').map(|(_, ids)| ids).unwrap_or_default().split(',');
        ids.filter_map(|id| u64::from_str_radix(id.trim().strip_prefix("0x")?, 16).ok()).map(Window).collect()
    }

    /// Waits until there is one window, and returns it.
    #[track_caller]
    pub fn wait_for_window(&self) -> Window {
        wait_for("a window", || match self.windows()[..] {
            [window] => Some(window),
            _ => None,
        })
    }

    /// Waits until there is none.
    #[track_caller]
    pub fn wait_until_empty(&self) {
        wait_until("the end of the window", || self.windows().is_empty());
    }

    /// Its title, as a task bar has it.
    pub fn title(&self, window: Window) -> String {
        self.ask("xdotool", &["getwindowname", &window.0.to_string()]).trim_end().to_owned()
    }

    /// Waits until a window's title ends so, but for the name of the terminal that some add.
    #[track_caller]
    pub fn wait_for_title(&self, window: Window, title: &str) {
        let mut last = String::new();
        let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            wait_until(title, || {
                last = self.title(window);
                last.contains(title)
            });
        }));
        assert!(found.is_ok(), "waited in vain for {title:?}; the title is {last:?}");
    }

    /// Waits until a window fills the screen.
    #[track_caller]
    pub fn wait_until_full(&self, window: Window) {
        let id = window.0.to_string();
        wait_until("the full screen", || {
            let states = self.ask("xprop", &["-id", &id, "_NET_WM_STATE"]);
            let place = self.ask("xdotool", &["getwindowgeometry", "--shell", &id]);
            let fills = ["X=0\n", "Y=0\n", "WIDTH=1280\n", "HEIGHT=800\n"].iter().all(|part| place.contains(part));
            states.contains("_NET_WM_STATE_FULLSCREEN") && fills
        });
    }

    /// Presses a key in a window.
    pub fn press(&self, window: Window, key: &str) {
        self.ask("xdotool", &["windowactivate", "--sync", &window.0.to_string(), "key", key]);
    }

    /// Closes a window as its frame's button does.
    pub fn close(&self, window: Window) {
        self.ask("wmctrl", &["-i", "-c", &format!("0x{:x}", window.0)]);
    }

    /// Keeps a picture of a window with its frame.
    pub fn keep_picture_of(&self, window: Window, name: &str) {
        let (id, file) = (window.0.to_string(), format!("PNG8:{}", picture(name).display()));
        self.ask("import", &["-frame", "-window", &id, "-strip", "-colors", "64", "+dither", &file]);
    }

    /// Keeps a picture of the screen.
    pub fn keep_picture(&self, name: &str) {
        self.ask("import", &["-window", "root", picture(name).to_str().unwrap()]);
    }
}

impl Drop for Desktop<'_> {
    fn drop(&mut self) {
        for part in self.parts.iter_mut().rev() {
            let _ = part.kill();
            let _ = part.wait();
        }
    }
}
