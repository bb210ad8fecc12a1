//! Loops in a world: started, waited for, and agents that wait for the test.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Output, World, is_alive, wait_until};

/// An agent that keeps its prompt in `../prompt-N`, says `at N`, waits for the test to let it go, and commits.
pub const HOLDS: &str = "n=$WT_LOOP_RUN_ITERATION\ncat > ../prompt-$n.part && mv ../prompt-$n.part ../prompt-$n\n\
                         echo at $n\nuntil [ -e ../go-$n ]; do sleep 0.02; done\n\
                         git commit -q --allow-empty -m \"work $n\"\necho after $n\n";

impl World {
    /// `wt-loop start` in the background, which must succeed.
    #[track_caller]
    pub fn start(&self, args: &[&str]) -> Output {
        self.wt(&[&["start", "--launcher", "background"], args].concat()).exit(0)
    }

    /// Waits until the loop is over and its process gone, and returns its last state.
    #[track_caller]
    pub fn wait_until_over(&self) -> Value {
        self.wait_for_state("the end of the loop", |state| {
            let pid = state["terminal_pid"].as_i64().and_then(|pid| i32::try_from(pid).ok());
            !matches!(state["status"].as_str(), Some("starting" | "running")) && !pid.is_some_and(is_alive)
        })
    }

    /// A file or folder beside the worktree.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.base().join(name)
    }

    /// Waits until the agent [`HOLDS`] works in iteration `n`.
    #[track_caller]
    pub fn wait_until_held(&self, n: u64) {
        wait_until(&format!("iteration {n}"), || self.beside(&format!("prompt-{n}")).exists());
    }

    /// Lets [`HOLDS`] go on in iteration `n`.
    pub fn let_go(&self, n: u64) {
        fs::write(self.beside(&format!("go-{n}")), "").unwrap();
    }

    /// The prompt that [`HOLDS`] got in iteration `n`.
    #[track_caller]
    pub fn prompt(&self, n: u64) -> String {
        self.wait_until_held(n);
        fs::read_to_string(self.beside(&format!("prompt-{n}"))).unwrap()
    }

    /// Another repository of one commit beside the first, with its own only worktree.
    pub fn repository(&self, name: &str) -> PathBuf {
        let root = self.beside(name);
        fs::create_dir(&root).unwrap();
        self.git(&root, &["init", "-q", "-b", "main"]);
        self.git(&root, &["commit", "-q", "--allow-empty", "-m", "first"]);
        root
    }

    /// A change of OpenSpec with a proposal, and so many open tasks.
    pub fn change(&self, id: &str, open: usize) {
        self.write(&format!("openspec/changes/{id}/proposal.md"), &format!("The proposal of {id}.\n"));
        self.write(&format!("openspec/changes/{id}/tasks.md"), &"- [ ] open\n".repeat(open));
    }

    /// The user's configuration.
    pub fn user_config(&self, text: &str) {
        let path = self.beside("home/.config/wt-loop/config.toml");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// The pid that a process wrote into a file.
pub fn pid_in(path: &Path) -> Option<i64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}
