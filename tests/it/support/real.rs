//! The real agents in a sealed world: which are installed, and what points each to the [`Model`] of a test.
//!
//! An agent gets a home of its own, nothing of the machine's settings, and (as root) a network that has nothing but loopback. What
//! is set is what its makers document for another server, and for fewer retries of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use nix::sched::{CloneFlags, unshare};
use serde_json::{Value, json};

use super::model::{Model, Step};
use super::{Output, Running, World, run, spawn, wait_within};

/// The longest that a loop with real agents may take on a loaded machine.
pub const PATIENCE: Duration = Duration::from_secs(240);

/// An agent as these tests know it.
#[derive(Clone, Copy, Debug)]
pub struct Real {
    pub name: &'static str,
    pub model: &'static str,
    /// Options of `wt-loop` that only this agent needs.
    pub options: &'static [&'static str],
}

pub const CLAUDE: Real = Real { name: "claude", model: "claude-sonnet-4-5", options: &[] };
pub const CODEX: Real = Real {
    name: "codex",
    model: "fake-model",
    // Without them it waits at the end of each run for a server that cannot be reached.
    options: &["--agent-arg=--disable", "--agent-arg=plugins", "--agent-arg=--disable", "--agent-arg=apps"],
};
pub const OPENCODE: Real = Real { name: "opencode", model: "fake/fake-model", options: &[] };
pub const GEMINI: Real = Real { name: "gemini", model: "gemini-2.5-pro", options: &[] };
pub const PI: Real = Real { name: "pi", model: "fake/fake-model", options: &[] };

/// Dollars per million tokens, as the settings of opencode and pi say: fresh, cached, written, output. Claude's own list has the same.
pub const PRICES: [f64; 4] = [3.0, 0.3, 3.75, 15.0];

impl Real {
    /// Where `scripts/agents` puts it.
    fn program(self) -> PathBuf {
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let cache = cache.unwrap_or_else(|| PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache"));
        cache.join("wt-loop/agents/bin").join(self.name)
    }

    /// Tries something with this agent and a model that follows a script, behind a wall; says so where the agent is not installed.
    #[track_caller]
    pub fn plays(self, steps: Vec<Step>, test: impl FnOnce(&Stage) + Send) {
        let program = self.program();
        if !program.exists() {
            eprintln!("SKIPPED: loops through the real {}: it is not installed (scripts/agents)", self.name);
            return;
        }
        // A network belongs to a thread, and to what it starts.
        let outcome = std::thread::scope(|scope| {
            let behind_the_wall = move || {
                wall_in();
                let stage = Stage::new(self, &program, Model::of(steps));
                test(&stage);
            };
            scope.spawn(behind_the_wall).join()
        });
        if let Err(panic) = outcome {
            std::panic::resume_unwind(panic);
        }
    }
}

/// A network of loopback alone for this thread, where that is allowed.
fn wall_in() {
    let Ok(ip) = which::which("ip") else {
        eprintln!(
            "SKIPPED: the wall around the real agents: ip is not installed; only their settings keep them on this machine"
        );
        return;
    };
    if unshare(CloneFlags::CLONE_NEWNET).is_err() {
        eprintln!(
            "SKIPPED: the wall around the real agents: it takes root; only their settings keep them on this machine"
        );
        return;
    }
    let mut command = Command::new(ip);
    command.args(["link", "set", "lo", "up"]);
    run(command).exit(0);
}

/// A world with one real agent in it and the model that it talks to.
pub struct Stage {
    pub agent: Real,
    pub world: World,
    pub model: Model,
}

impl Stage {
    fn new(agent: Real, program: &Path, model: Model) -> Self {
        let world = World::new();
        std::os::unix::fs::symlink(program, world.beside("bin").join(agent.name)).unwrap();
        if let Ok(node) = which::which("node") {
            std::os::unix::fs::symlink(node, world.beside("tools/node")).unwrap();
        }
        let stage = Self { agent, world, model };
        stage.settle();
        stage
    }

    /// The files that tell the agent where its model is.
    fn settle(&self) {
        let [fresh, cached, written, output] = PRICES;
        let url = self.model.url();
        let write = |path: &str, text: &str| {
            let path = self.world.beside(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        match self.agent.name {
            "codex" => write(
                "home/.codex/config.toml",
                &format!(
                    "model_provider = \"fake\"\n[model_providers.fake]\nname = \"Fake\"\nbase_url = \"{url}/v1\"\n\
                     env_key = \"FAKE_KEY\"\nwire_api = \"responses\"\nstream_max_retries = 0\nrequest_max_retries = 0\n"
                ),
            ),
            "gemini" => {
                let settings = json!({ "general": { "maxAttempts": 1 }, "security": { "auth": { "selectedType": "gemini-api-key" } } });
                write("home/.gemini/settings.json", &settings.to_string());
            }
            "pi" => {
                let cost = json!({ "input": fresh, "output": output, "cacheRead": cached, "cacheWrite": written });
                let model = json!({ "id": "fake-model", "name": "Fake", "reasoning": false, "input": ["text"], "cost": cost,
                    "contextWindow": 200_000, "maxTokens": 32_000 });
                let provider = json!({ "baseUrl": format!("{url}/v1"), "apiKey": "dummy", "api": "openai-completions", "models": [model] });
                write("home/.pi/agent/models.json", &json!({ "providers": { "fake": provider } }).to_string());
                write("home/.pi/agent/settings.json", &json!({ "retry": { "enabled": false } }).to_string());
            }
            _ => {}
        }
    }

    /// The variables that tell the agent where its model is.
    fn variables(&self) -> Vec<(&'static str, String)> {
        let [fresh, cached, written, output] = PRICES;
        let (url, on) = (self.model.url(), || "1".to_owned());
        let home = |name: &str| self.world.beside("home").join(name).to_str().unwrap().to_owned();
        let own = match self.agent.name {
            "claude" => vec![
                ("ANTHROPIC_BASE_URL", url),
                ("ANTHROPIC_API_KEY", "dummy".to_owned()),
                ("IS_SANDBOX", on()),
                ("DISABLE_AUTOUPDATER", on()),
                ("DISABLE_TELEMETRY", on()),
                ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", on()),
                ("CLAUDE_CODE_MAX_RETRIES", "0".to_owned()),
            ],
            "codex" => vec![("CODEX_HOME", home(".codex")), ("FAKE_KEY", "dummy".to_owned())],
            "opencode" => {
                let cost = json!({ "input": fresh, "output": output, "cache_read": cached, "cache_write": written });
                let provider = json!({ "npm": "@ai-sdk/openai-compatible", "models": { "fake-model": { "cost": cost } },
                    "options": { "baseURL": format!("{url}/v1"), "apiKey": "dummy" } });
                vec![
                    ("OPENCODE_CONFIG_CONTENT", json!({ "provider": { "fake": provider } }).to_string()),
                    ("OPENCODE_DISABLE_AUTOUPDATE", on()),
                    ("OPENCODE_DISABLE_MODELS_FETCH", on()),
                ]
            }
            "gemini" => vec![("GOOGLE_GEMINI_BASE_URL", url), ("GEMINI_API_KEY", "dummy".to_owned())],
            _ => vec![("PI_OFFLINE", on()), ("PI_TELEMETRY", "0".to_owned())],
        };
        let folders = [("XDG_DATA_HOME", home(".local/share")), ("XDG_CACHE_HOME", home(".cache"))];
        own.into_iter().chain(folders).collect()
    }

    /// The command of a loop with this agent, which asks for its approvals as its own settings say.
    pub fn command(&self, options: &[&str]) -> Command {
        let mut command = self.world.command("env");
        command.arg("--default-signal").arg(self.world.program()).envs(self.variables());
        command.args(["run", "Do the work.", "--done", "manual", "--completion-promise", "COMPLETE"]);
        command.args(["--skip-validation", "--harness", self.agent.name, "--model", self.agent.model]);
        command.args(self.agent.options).args(options);
        command
    }

    /// A loop with this agent, which may do everything, running while the test goes on.
    pub fn starts(&self, options: &[&str]) -> Running {
        let mut command = self.command(options);
        command.arg("--allow-all");
        spawn(command)
    }

    /// The same to its end; what it answered, and the state that it left.
    #[track_caller]
    pub fn runs(&self, options: &[&str]) -> (Output, Value) {
        let output = self.starts(options).wait_within(PATIENCE);
        (output, self.world.state())
    }

    /// Waits until the model has been asked so often for something of the script.
    #[track_caller]
    pub fn wait_until_asked(&self, times: usize) {
        let asked = || self.model.requests().iter().filter(|request| request.scripted).count();
        wait_within(PATIENCE, &format!("request {times} of {}", self.agent.name), || (asked() >= times).then_some(()));
    }
}
