//! A real terminal: a tmux of the world's own, with a shell in it that a test types into.

use std::path::PathBuf;
use std::process::Command;

use super::world::run;
use super::{Output, World, wait_for};

/// A pane with a bash that has job control.
pub struct Terminal<'a> {
    world: &'a World,
}

impl World {
    /// Types a command into a new terminal of 150 columns and 30 lines; its exit code is shown afterwards.
    #[track_caller]
    pub fn in_terminal(&self, words: &[&str]) -> Terminal<'_> {
        let terminal = Terminal::open(self, 150, 30);
        let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
        terminal.type_line(&format!("{}; echo exit=$?", quoted.join(" ")));
        terminal
    }
}

impl<'a> Terminal<'a> {
    /// Opens a terminal of so many columns and lines in the worktree.
    #[track_caller]
    pub fn open(world: &'a World, columns: u16, lines: u16) -> Self {
        let terminal = Self { world };
        let (columns, lines) = (columns.to_string(), lines.to_string());
        let shell = ["bash", "--norc", "--noprofile", "-i"];
        let size = ["-f", "/dev/null", "new-session", "-d", "-s", "t", "-x", &columns, "-y", &lines];
        terminal.tmux(&[&size[..], &["-e", "PS1=$ ", "-e", "HISTFILE="], &shell].concat()).exit(0);
        terminal.tmux(&["set-option", "-g", "history-limit", "5000"]).exit(0);
        terminal.wait_for("a prompt", |screen| screen.contains('$'));
        terminal
    }

    /// Types a line.
    #[track_caller]
    pub fn type_line(&self, line: &str) {
        self.tmux(&["send-keys", "-t", "t", "-l", line]).exit(0);
        self.press("Enter");
    }

    /// Types a call of `wt-loop` whose exit code is shown afterwards as `exit=N`.
    #[track_caller]
    pub fn type_wt(&self, args: &str) {
        self.type_line(&format!("{} {args}; echo exit=$?", self.world.program().display()));
    }

    /// Presses a key (`C-c`, `C-z`, `Enter`).
    #[track_caller]
    pub fn press(&self, key: &str) {
        self.tmux(&["send-keys", "-t", "t", key]).exit(0);
    }

    /// Clears the screen and what has scrolled off it.
    #[track_caller]
    pub fn clear(&self) {
        self.type_line("printf '\\033[2J\\033[H'");
        self.wait_for("a clear screen", |screen| screen.trim() == "$");
        self.tmux(&["clear-history", "-t", "t"]).exit(0);
    }

    /// What is on the screen, as text.
    #[track_caller]
    pub fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-t", "t"]).exit(0).stdout
    }

    /// What is on the screen and has scrolled off it, with its colours.
    #[track_caller]
    pub fn coloured(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-e", "-S", "-", "-t", "t"]).exit(0).stdout
    }

    /// What is on the screen, each line whole that the terminal had to wrap.
    #[track_caller]
    pub fn joined(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-J", "-t", "t"]).exit(0).stdout
    }

    /// Closes the window.
    #[track_caller]
    pub fn close(&self) {
        self.tmux(&["kill-session", "-t", "t"]).exit(0);
    }

    /// Keeps every byte that is written to the terminal from now on, in a file of that name beside the worktree.
    #[track_caller]
    pub fn record(&self, name: &str) -> PathBuf {
        let path = self.world.beside(name);
        self.tmux(&["pipe-pane", "-t", "t", &format!("cat > '{}'", path.display())]).exit(0);
        wait_for("the recording to begin", || path.exists().then_some(()));
        path
    }

    /// A fact that tmux knows of the pane, by tmux's own name for it.
    #[track_caller]
    pub fn fact(&self, format: &str) -> String {
        self.tmux(&["display-message", "-p", "-t", "t", format]).exit(0).stdout.trim_end().to_owned()
    }

    /// Waits until the screen satisfies a condition, and returns it.
    #[track_caller]
    pub fn wait_for(&self, what: &str, condition: impl Fn(&str) -> bool) -> String {
        let mut last = String::new();
        let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            wait_for(what, || {
                last = self.screen();
                condition(&last).then(|| last.clone())
            })
        }));
        found.unwrap_or_else(|_| panic!("waited in vain for {what}; the screen:\n{last}"))
    }

    /// Waits until the call that was typed is over, and returns its exit code.
    #[track_caller]
    pub fn wait_for_exit(&self) -> i32 {
        let code =
            |screen: &str| screen.lines().rev().find_map(|line| line.strip_prefix("exit=")?.trim().parse::<i32>().ok());
        let screen = self.wait_for("the end of the call", |screen| code(screen).is_some());
        code(&screen).unwrap()
    }

    /// Waits until a text stands on the screen.
    #[track_caller]
    pub fn shows(&self, text: &str) -> &Self {
        self.wait_for(text, |screen| screen.contains(text));
        self
    }

    /// Waits until a text stands no longer on the screen.
    #[track_caller]
    pub fn hides(&self, text: &str) -> &Self {
        self.wait_for(&format!("{text} to go"), |screen| !screen.contains(text));
        self
    }

    /// Types a text without a line end.
    #[track_caller]
    pub fn types(&self, text: &str) -> &Self {
        self.tmux(&["send-keys", "-t", "t", "-l", text]).exit(0);
        self
    }

    #[track_caller]
    fn tmux(&self, args: &[&str]) -> Output {
        let mut command: Command = self.world.command("tmux");
        command.arg("-u").args(args);
        run(command)
    }
}
