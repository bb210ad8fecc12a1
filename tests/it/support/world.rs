//! The sealed world itself.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

use nix::sys::signal::Signal;
use serde_json::Value;

use super::{Output, Process, Running, cast, wait_for};

/// Tools that scripted agents and tests may use; nothing else of the machine is on PATH.
const TOOLS: [&str; 45] = [
    "git", "sh", "bash", "env", "cat", "sleep", "echo", "rm", "mv", "cp", "ls", "touch", "mkdir", "sed", "grep",
    "head", "tail", "tr", "wc", "date", "kill", "setsid", "nohup", "true", "false", "printf", "dd", "yes", "chmod",
    "ln", "readlink", "tmux", "python3", "jq", "stty", "id", "ps", "mktemp", "dirname", "basename", "timeout", "seq",
    "setpriv", "chown", "mkfifo",
];

/// A repository `shop` with a worktree `feat-x` beside it.
pub struct World {
    dir: tempfile::TempDir,
    mark: String,
    /// What no other world sleeps for, in seconds: `$NAP` in scripts, by which processes without an environment are found.
    pub nap: String,
    /// The main worktree.
    pub main: PathBuf,
    /// The linked worktree that loops run in.
    pub root: PathBuf,
}

/// Scripted agents.
pub mod agents {
    /// Reads its prompt, commits something new, and ends well.
    pub const COMMITS: &str = "cat > /dev/null\necho \"$WT_LOOP_RUN_ITERATION\" >> work.txt\ngit add work.txt\n\
                               git commit -qm \"work $WT_LOOP_RUN_ITERATION\"\necho worked\n";
    /// Reads its prompt and does nothing.
    pub const IDLE: &str = "cat > /dev/null\necho idle\n";
    /// Says that it is there and sleeps until it is ended.
    pub const SLEEPS: &str = "echo sleeping\nexec sleep 1000\n";
    /// Reads its prompt and fails.
    pub const FAILS: &str = "cat > /dev/null\necho broken >&2\nexit 7\n";
    /// Ticks the first open box of tasks.md and commits.
    pub const TICKS: &str =
        "cat > /dev/null\nsed -i '0,/- \\[ \\]/s//- [x]/' tasks.md\ngit add tasks.md\ngit commit -qm tick\n";
}

impl World {
    /// A new world without an agent and without a tasks.md.
    pub fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        static SEALED: Once = Once::new();
        SEALED.call_once(cast::heed_every_signal);
        let dir = tempfile::Builder::new().prefix("wtl-").tempdir().unwrap();
        let (process, number) = (std::process::id(), NUMBER.fetch_add(1, Ordering::SeqCst));
        let (mark, nap) = (format!("WT_TEST_WORLD={process}-{number}"), format!("1000.{process:07}{number:04}"));
        let base = dir.path().canonicalize().unwrap();
        for folder in ["bin", "tools", "home", "run", "tmp", "shop"] {
            fs::create_dir(base.join(folder)).unwrap();
        }
        fs::set_permissions(base.join("run"), fs::Permissions::from_mode(0o700)).unwrap();
        for tool in TOOLS {
            if let Ok(found) = which::which(tool) {
                symlink(found, base.join("tools").join(tool)).unwrap();
            }
        }
        let world = Self { dir, mark, nap, main: base.join("shop"), root: base.join("feat-x") };
        world.git(&world.main, &["init", "-q", "-b", "main"]);
        fs::write(world.main.join("README"), "a shop\n").unwrap();
        world.git(&world.main, &["add", "README"]);
        world.git(&world.main, &["commit", "-qm", "first"]);
        world.git(&world.main, &["worktree", "add", "-q", "-b", "feat-x", world.root.to_str().unwrap()]);
        world
    }

    /// A new world in which `claude` is this shell script.
    pub fn with_agent(script: &str) -> Self {
        let world = Self::new();
        world.agent("claude", script);
        world
    }

    /// The folder that holds everything.
    pub fn base(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    /// Puts a scripted agent (or any program) on PATH, in one step in the place of an earlier one.
    ///
    /// A process of its own writes it: a descriptor of ours, open for writing, could be in the hands of another test's
    /// child just then, and the kernel executes no file that is being written.
    pub fn agent(&self, name: &str, script: &str) {
        let text = self.base().join("tmp").join(format!("{name}.text"));
        fs::write(&text, format!("#!/bin/sh\n{script}")).unwrap();
        let mut copy = self.command("sh");
        copy.args(["-c", "cp \"$1\" \"$1.new\" && chmod 755 \"$1.new\" && mv \"$1.new\" \"$2\"", "sh"]);
        copy.arg(&text).arg(self.base().join("bin").join(name));
        run(copy).exit(0);
    }

    /// Writes a file below the worktree.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Reads a file below the worktree.
    #[track_caller]
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Writes a tasks.md with so many closed and open boxes.
    pub fn tasks(&self, closed: usize, open: usize) {
        let text = "- [x] closed\n".repeat(closed) + &"- [ ] open\n".repeat(open);
        self.write("tasks.md", &text);
    }

    /// The environment of every command in this world.
    pub fn environment(&self) -> Vec<(String, String)> {
        let base = self.base();
        let below = |name: &str| base.join(name).to_str().unwrap().to_owned();
        let (mark, value) = self.mark.split_once('=').unwrap();
        [
            ("PATH", format!("{}:{}", below("bin"), below("tools"))),
            ("HOME", below("home")),
            ("TMPDIR", below("tmp")),
            ("XDG_CONFIG_HOME", below("home/.config")),
            ("XDG_STATE_HOME", below("home/.local/state")),
            ("XDG_RUNTIME_DIR", below("run")),
            ("TMUX_TMPDIR", below("run")),
            ("LANG", "C.UTF-8".into()),
            ("TZ", "UTC".into()),
            ("GIT_CONFIG_NOSYSTEM", "1".into()),
            ("GIT_CONFIG_GLOBAL", "/dev/null".into()),
            ("GIT_AUTHOR_NAME", "Test".into()),
            ("GIT_AUTHOR_EMAIL", "test@localhost".into()),
            ("GIT_COMMITTER_NAME", "Test".into()),
            ("GIT_COMMITTER_EMAIL", "test@localhost".into()),
            (mark, value.to_owned()),
            ("NAP", self.nap.clone()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }

    /// A command of this world, in the worktree.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(self.environment()).current_dir(&self.root).stdin(Stdio::null());
        command
    }

    /// The program under test.
    #[expect(clippy::unused_self, reason = "what a test runs, it runs in a world")]
    pub fn program(&self) -> PathBuf {
        std::env::var_os("WT_LOOP_UNDER_TEST").unwrap_or_else(|| env!("CARGO_BIN_EXE_wt-loop").into()).into()
    }

    /// `wt-loop` with these arguments, in the worktree, to its end.
    #[track_caller]
    pub fn wt(&self, args: &[&str]) -> Output {
        self.wt_in(&self.root, args)
    }

    /// The same in another directory.
    #[track_caller]
    pub fn wt_in(&self, cwd: &Path, args: &[&str]) -> Output {
        let mut command = self.command(self.program());
        command.args(args).current_dir(cwd);
        run(command)
    }

    /// The same with more variables in its environment.
    #[track_caller]
    pub fn wt_env(&self, variables: &[(&str, &str)], args: &[&str]) -> Output {
        let mut command = self.command(self.program());
        command.args(args).envs(variables.iter().copied());
        run(command)
    }

    /// `wt-loop` with these arguments, running while the test goes on.
    pub fn spawn(&self, args: &[&str]) -> Running {
        let mut command = self.command(self.program());
        command.args(args);
        spawn(command)
    }

    /// The same, with every signal as a login shell has it, whatever the tests themselves were started with.
    pub fn spawn_fresh(&self, args: &[&str]) -> Running {
        let mut command = self.command("env");
        command.args(["--default-signal"]).arg(self.program()).args(args);
        spawn(command)
    }

    /// Another program of this world, in the worktree, to its end.
    #[track_caller]
    pub fn tool(&self, name: &str, args: &[&str]) -> Output {
        let mut command = self.command(name);
        command.args(args);
        run(command)
    }

    /// The program under test by another name (`ito`, `spool`, `ralph`), through a link on PATH.
    #[track_caller]
    pub fn called(&self, name: &str, args: &[&str]) -> Output {
        self.tool(self.link(name).to_str().unwrap(), args)
    }

    /// The same with something on its standard input.
    #[track_caller]
    pub fn called_with_input(&self, name: &str, args: &[&str], input: &[u8]) -> Output {
        let path = self.base().join("tmp/input");
        fs::write(&path, input).unwrap();
        let mut command = self.command(self.link(name));
        command.args(args).stdin(fs::File::open(path).unwrap());
        run(command)
    }

    /// The same, running while the test goes on.
    pub fn spawn_called(&self, name: &str, args: &[&str]) -> Running {
        let mut command = self.command(self.link(name));
        command.args(args);
        spawn(command)
    }

    /// A link on PATH to the program under test.
    pub fn link(&self, name: &str) -> PathBuf {
        let link = self.base().join("bin").join(name);
        if !link.is_symlink() {
            symlink(self.program(), &link).unwrap();
        }
        link
    }

    /// Puts programs of the machine on PATH; `false`, and said loudly, where one is missing.
    pub fn bring(&self, programs: &[&str]) -> bool {
        programs.iter().all(|name| {
            let found = super::program(name);
            if let Some(found) = &found {
                let _ = symlink(found, self.base().join("tools").join(name));
            }
            found.is_some()
        })
    }

    /// Goes on in another worktree of the repository, of this name, beside the first.
    pub fn move_to(&mut self, name: &str) {
        self.root = self.base().join(name);
        self.git(&self.main, &["worktree", "add", "-q", "--detach", self.root.to_str().unwrap()]);
    }

    /// git in `cwd`; its standard output without the last line end.
    #[track_caller]
    pub fn git(&self, cwd: &Path, args: &[&str]) -> String {
        let mut command = self.command("git");
        command.args(args).current_dir(cwd);
        run(command).exit(0).stdout.trim_end().to_owned()
    }

    /// The state file as JSON.
    #[track_caller]
    pub fn state(&self) -> Value {
        serde_json::from_str(&self.read(".claude/loop-state.json")).unwrap()
    }

    /// Waits until the state satisfies a condition, and returns it.
    #[track_caller]
    pub fn wait_for_state(&self, what: &str, condition: impl Fn(&Value) -> bool) -> Value {
        wait_for(what, || {
            let text = fs::read_to_string(self.root.join(".claude/loop-state.json")).ok()?;
            let state = serde_json::from_str(&text).expect("a reader never sees half a file");
            condition(&state).then_some(state)
        })
    }

    /// The log.
    #[track_caller]
    pub fn log(&self) -> String {
        self.read(".claude/ralph-loop.log")
    }

    /// Waits until the log has `part`.
    #[track_caller]
    pub fn wait_for_log(&self, part: &str) {
        wait_for(&format!("{part:?} in the log"), || {
            let log = fs::read(self.root.join(".claude/ralph-loop.log")).ok()?;
            String::from_utf8_lossy(&log).contains(part).then_some(())
        });
    }

    /// Every process that lives in this world.
    pub fn processes(&self) -> Vec<Process> {
        Process::all_with(&self.mark, &self.nap)
    }

    /// The living processes whose command line has `part`.
    pub fn processes_like(&self, part: &str) -> Vec<Process> {
        self.processes().into_iter().filter(|process| process.command.contains(part)).collect()
    }

    /// Waits until no process lives in this world.
    #[track_caller]
    pub fn wait_until_nothing_is_left(&self) {
        wait_for("the end of every process", || {
            let left = self.processes();
            left.is_empty().then_some(())
        });
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // Those that were being forked while we looked are met in the next round.
        for _ in 0..50 {
            let left = self.processes();
            if left.is_empty() {
                return;
            }
            for process in &left {
                process.signal(Signal::SIGKILL);
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
}

/// Runs a command to its end.
#[track_caller]
pub fn run(command: Command) -> Output {
    spawn(command).wait()
}

/// Starts a server of a world, which dies with the world; what it complains of is for nobody.
pub fn serve(mut command: Command) {
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    std::thread::spawn(move || child.wait());
}

/// Starts a command whose output is caught.
pub fn spawn(mut command: Command) -> Running {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let words: Vec<String> = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let child = command.spawn().unwrap_or_else(|error| panic!("{}: {error}", words.join(" ")));
    Running { child, command: words.join(" ") }
}
