//! Claims of completion and what is made of them: agents that promise, commands that check, prompts that were given.

use std::fs;

use serde_json::Value;

use super::World;

/// The heading of the section that tells the agent why it was not believed.
pub const REJECTED: &str = "## Validation Failure (completion rejected)";

/// Keeps its prompt and says the promise.
pub const PROMISES: &str = "cat > ../prompt-$WT_LOOP_RUN_ITERATION\necho '<promise>COMPLETE</promise>'\n";

/// Keeps its prompt and says nothing.
pub const SILENT: &str = "cat > ../prompt-$WT_LOOP_RUN_ITERATION\n";

/// The change of [`World::cart`].
pub const CHANGE: &str = "001-01_cart";

impl World {
    /// A world whose agent promises and whose project is validated by these commands.
    pub fn validated_by(commands: &[&str]) -> Self {
        let world = Self::with_agent(PROMISES);
        world.validation(commands);
        world
    }

    /// Lets the project say how it is validated.
    pub fn validation(&self, commands: &[&str]) {
        self.write(".wt-loop.toml", &format!("validation = {}\n", serde_json::to_string(commands).unwrap()));
    }

    /// The change [`CHANGE`] of ito, with this tasks.md.
    pub fn cart(&self, tasks: &str) {
        self.write(&format!(".ito/changes/{CHANGE}/proposal.md"), "# Add a cart\n");
        self.write(&format!(".ito/changes/{CHANGE}/tasks.md"), tasks);
    }

    /// A command that notes that it ran, then does what `script` says.
    pub fn check(&self, name: &str, script: &str) {
        let trail = self.base().join("trail");
        self.agent(name, &format!("echo {name} >> '{}'\n{script}\n", trail.display()));
    }

    /// The commands that ran, in order.
    pub fn trail(&self) -> Vec<String> {
        let text = fs::read_to_string(self.base().join("trail")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// The section of that prompt that tells of the rejected claim; empty where there is none.
    #[track_caller]
    pub fn told(&self, n: u64) -> String {
        let prompt = self.prompt(n);
        let Some((_, section)) = prompt.split_once(&format!("\n{REJECTED}\n")) else { return String::new() };
        section.split("\n## ").next().unwrap().to_owned()
    }

    /// How many iterations were recorded.
    pub fn iterations(&self) -> usize {
        self.state()["iterations"].as_array().unwrap().len()
    }

    /// What the history has of iteration `n`.
    #[track_caller]
    pub fn iteration(&self, n: usize) -> Value {
        self.state()["iterations"][n - 1].clone()
    }

    /// The user's own launch record.
    pub fn record(&self) -> Value {
        let folder = self.base().join("home/.local/state/wt-loop/loops");
        let mut files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let record = files.find(|path| path.extension().is_some_and(|kind| kind == "json")).unwrap();
        serde_json::from_slice(&fs::read(record).unwrap()).unwrap()
    }
}

/// Has every one of these.
#[track_caller]
pub fn assert_has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}
