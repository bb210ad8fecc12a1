//! What a loop is to do and how, resolved once: flag, then `WT_LOOP_*`, then `.wt-loop.toml` of the repository, then the
//! user's `config.toml`, then the default.
//!
//! The repository's file may set only what can do no harm; what names a program or approves a permission is the user's to
//! say. An unknown key is an error with the nearest name, in either file. The result, a [`LoopSpec`], is also the launch
//! record: what decides about commands comes from there, never from a file that a repository could ship.

pub(crate) mod layer;
mod policy;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::agent::own::OwnAgent;
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::gates::sources::Source;
use crate::gates::tasks::AtStart;
use crate::launch::own::OwnTerminal;
use crate::layout::Layout;
use crate::options::{Done, LaunchOptions, Limit, LoopOptions, Progress, Span};
use layer::{Layer, Trust};

pub use layer::{is_harmless, keys, variable};
pub use policy::{Approval, Notify, OnFailure, Streaming, Validation};

/// The repository's file, at the worktree's root.
pub const REPOSITORY_FILE: &str = ".wt-loop.toml";

/// Every resolved option of a loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoopSpec {
    /// The task.
    pub task: String,
    /// The change worked on.
    pub change_id: Option<String>,
    /// Its module.
    pub module_id: Option<String>,
    /// Where the repository keeps its changes: the name of a layout.
    pub layout: String,
    /// The user's label.
    pub label: Option<String>,
    /// The agent.
    pub harness: String,
    /// Its model.
    pub model: Option<String>,
    /// Whether the agent approves its own tools.
    pub approval: Approval,
    /// Handed to the agent as they are.
    pub agent_args: Vec<String>,
    /// The most iterations.
    pub max: Limit,
    /// The fewest.
    pub min: u64,
    /// What ends it well.
    pub done: Done,
    /// The promise that counts; `None` where none does.
    pub promise: Option<String>,
    /// Iterations without progress that end it.
    pub stall_threshold: Limit,
    /// What counts as progress.
    pub progress: Progress,
    /// How long an iteration may take.
    pub iteration_timeout: Option<Duration>,
    /// How long the agent may be silent.
    pub idle_timeout: Option<Duration>,
    /// How long the loop may take.
    pub max_time: Option<Duration>,
    /// Tokens that the loop may spend.
    pub budget_tokens: Limit,
    /// Dollars that it may spend.
    pub budget_usd: Option<f64>,
    /// How long usage limits are waited out in all.
    pub limit_wait: Option<Duration>,
    /// Whether an iteration goes on in the agent's session of the one before.
    pub continue_session: bool,
    /// Whether the agent's JSON is kept as it came.
    pub raw: bool,
    /// How large the log may grow before a new one is begun.
    #[serde(default)]
    pub log_max_size: Limit,
    /// The user's own description of the agent.
    pub own_agent: Option<OwnAgent>,
    /// What a failing agent does to the loop.
    pub on_failure: OnFailure,
    /// Failures in a row that end it.
    pub error_threshold: Limit,
    /// Whether claims are checked.
    pub validation: Validation,
    /// The project's own commands, as they were when the loop started.
    pub project_validation: Option<Source>,
    /// Commands after those.
    pub extra_validation: Vec<String>,
    /// How long one of them may take.
    pub validation_timeout: Option<Duration>,
    /// Whether the agent's output is shown.
    pub stream: Streaming,
    /// Whether there were tasks when the loop started.
    pub tasks_at_start: AtStart,
    /// The user's own template of the prompt.
    pub prompt_template: Option<PathBuf>,
    /// Whether somebody is told of its end.
    pub notify: Notify,
}

/// What holds when nobody says anything.
#[derive(Clone, Copy, Debug)]
pub struct Defaults {
    /// The agent.
    pub harness: &'static str,
    /// The most iterations.
    pub max: Limit,
    /// What ends it well, where it does not follow tasks.md.
    pub done: Option<Done>,
    /// Iterations without progress that end it.
    pub stall_threshold: Limit,
    /// How long an iteration may take.
    pub iteration_timeout: Option<Duration>,
    /// Whether somebody is told of the end.
    pub notify: Notify,
}

/// The defaults of `ralph`: nothing ends it but a promise.
pub const RALPH: Defaults = Defaults {
    harness: "claude",
    max: Limit::Unlimited,
    done: Some(Done::Manual),
    stall_threshold: Limit::Unlimited,
    iteration_timeout: None,
    notify: Notify::Nobody,
};

/// The defaults of `ralph` when it is called by the name of `ito` or `spool`.
pub const ITO: Defaults = Defaults { harness: "opencode", ..RALPH };

/// The defaults of `start` and `run`: the criterion follows tasks.md.
pub const START: Defaults = Defaults {
    harness: "claude",
    done: None,
    max: Limit::At(10),
    stall_threshold: Limit::At(2),
    iteration_timeout: Some(Duration::from_secs(45 * 60)),
    notify: Notify::User,
};

/// The promise where none is named.
const PROMISE: &str = "COMPLETE";
/// Failures in a row that end a loop where no number is named.
const ERROR_THRESHOLD: Limit = Limit::At(10);
/// How long usage limits are waited out where no time is named.
const LIMIT_WAIT: Duration = Duration::from_secs(6 * 3600);
/// How long a validation command may take where no time is named.
const VALIDATION_TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// Everything that was said, by whichever way, before the defaults.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The options of the loop.
    pub options: LoopOptions,
    /// Where it is put.
    pub launch: LaunchOptions,
    /// The user's own template of the prompt.
    pub prompt_template: Option<PathBuf>,
    /// The user's own agents.
    pub own_agents: Vec<OwnAgent>,
    /// The user's own terminals.
    pub own_terminals: Vec<OwnTerminal>,
}

/// The task, as it was found out apart from the options.
#[derive(Clone, Debug)]
pub struct Work {
    /// The task.
    pub task: String,
    /// The change worked on.
    pub change_id: Option<String>,
    /// Its module.
    pub module_id: Option<String>,
    /// Where the repository keeps its changes.
    pub layout: &'static Layout,
    /// The user's label.
    pub label: Option<String>,
    /// The project's own validation.
    pub project_validation: Option<Source>,
}

/// Whether there is a tasks.md to go by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TasksFile {
    /// There is one, with or without a task in it.
    Present(AtStart),
    /// There is none.
    Missing,
}

impl LoopSpec {
    /// Where the repository keeps its changes.
    pub fn layout(&self) -> &'static Layout {
        Layout::named(&self.layout).unwrap_or(&crate::layout::PLAIN)
    }
}

impl Defaults {
    /// Whether the criterion is looked for in the worktree.
    pub const fn follows_tasks(&self) -> bool {
        self.done.is_none()
    }

    /// What holds when nobody sets a key, in words; `None` where that is nothing.
    pub fn of(&self, key: &str) -> Option<String> {
        let limit = |limit: Limit, without: &str| limit.number().map_or_else(|| without.to_owned(), |n| n.to_string());
        let minutes = |span: Duration| format!("{}m", span.as_secs() / 60);
        Some(match key {
            "harness" => self.harness.to_owned(),
            "max" => limit(self.max, "unlimited"),
            "min" => "1".to_owned(),
            "done" => self.done.map_or("tasks, or manual where there is no tasks.md", Done::word).to_owned(),
            "completion_promise" => PROMISE.to_owned(),
            "stall_threshold" => limit(self.stall_threshold, "off"),
            "progress" => "commits".to_owned(),
            "iteration_timeout" => self.iteration_timeout.map_or_else(|| "off".to_owned(), minutes),
            "error_threshold" => limit(ERROR_THRESHOLD, "off"),
            "idle_timeout" | "max_time" => "off".to_owned(),
            "validation_timeout" => minutes(VALIDATION_TIMEOUT),
            "notify" => (if self.notify == Notify::User { "on" } else { "off" }).to_owned(),
            "launcher" => "auto".to_owned(),
            _ => return None,
        })
    }
}

impl Config {
    /// Reads every layer. `flags` are what was typed.
    pub fn load(root: &Path, env: &Environment, flags: LoopOptions, launch: LaunchOptions) -> Result<Self> {
        let from_env = Layer::from_environment(env)?;
        let from_repository = Layer::from_file(&root.join(REPOSITORY_FILE), Trust::Repository)?;
        let from_user = Layer::from_file(&user_file(env), Trust::User)?;
        let mut config = Self {
            options: flags,
            launch,
            prompt_template: from_user.prompt_template.clone(),
            own_agents: from_user.own_agents.clone(),
            own_terminals: from_user.own_terminals.clone(),
        };
        for layer in [from_env, from_repository, from_user] {
            config.options = config.options.or(layer.options);
            config.launch = config.launch.or(layer.launch);
        }
        Ok(config)
    }

    /// Fills in the defaults and refuses what cannot be.
    pub fn resolve(self, work: Work, tasks: TasksFile, defaults: &Defaults) -> Result<LoopSpec> {
        let Self { options: o, prompt_template, own_agents, .. } = self;
        let harness = o.harness.clone().unwrap_or_else(|| defaults.harness.to_owned());
        let max = o.max.unwrap_or(defaults.max);
        let min = o.min.unwrap_or(1);
        let notify = o.notifies();
        refuse_min_over_max(min, max)?;
        if work.task.trim().is_empty() && work.change_id.is_none() {
            return Err(empty_task());
        }
        let done = o.done.or(defaults.done).unwrap_or(match tasks {
            TasksFile::Present(_) => Done::Tasks,
            TasksFile::Missing => Done::Manual,
        });
        Ok(LoopSpec {
            task: work.task,
            change_id: work.change_id,
            module_id: work.module_id,
            layout: work.layout.name.to_owned(),
            label: work.label,
            own_agent: OwnAgent::described(&harness, own_agents)?,
            harness,
            model: o.model,
            approval: o.allow_all.unwrap_or(false).into(),
            agent_args: o.agent_arg,
            max,
            min,
            done,
            promise: promise(o.done, o.completion_promise),
            stall_threshold: o.stall_threshold.unwrap_or(defaults.stall_threshold),
            progress: o.progress.unwrap_or(Progress::Commits),
            iteration_timeout: o.iteration_timeout.map_or(defaults.iteration_timeout, |Span(span)| span),
            idle_timeout: o.idle_timeout.and_then(|Span(span)| span),
            max_time: o.max_time.and_then(|Span(span)| span),
            budget_tokens: o.budget_tokens.unwrap_or(Limit::Unlimited),
            budget_usd: o.budget_usd,
            limit_wait: o.limit_wait.map_or(Some(LIMIT_WAIT), |Span(span)| span),
            continue_session: o.continue_session.unwrap_or(false),
            raw: o.raw.unwrap_or(false),
            log_max_size: o.log_max_size.unwrap_or_default(),
            on_failure: o.fail_fast.unwrap_or(false).into(),
            error_threshold: o.error_threshold.unwrap_or(ERROR_THRESHOLD),
            validation: Validation::from_skip(o.skip_validation.unwrap_or(false)),
            project_validation: work.project_validation,
            extra_validation: o.validation_command,
            validation_timeout: o.validation_timeout.map_or(Some(VALIDATION_TIMEOUT), |Span(span)| span),
            stream: Streaming::from_no_stream(o.no_stream.unwrap_or(false)),
            tasks_at_start: match tasks {
                TasksFile::Present(at_start) => at_start,
                TasksFile::Missing => AtStart::None,
            },
            prompt_template,
            notify: notify.map_or(defaults.notify, Notify::from),
        })
    }
}

/// That there is nothing to do.
pub fn empty_task() -> Error {
    Error::usage("the task is empty").hint("wt-loop start \"what is to be done\"")
}

/// A loop that could never be done is refused.
pub fn refuse_min_over_max(min: u64, max: Limit) -> Result<()> {
    if max.number().is_some_and(|max| min > max) {
        return Err(Error::usage(format!("--min {min} is more than --max {max}: no claim could ever be believed"))
            .hint(format!("--max {min}, or a smaller --min")));
    }
    Ok(())
}

/// Who asks for `manual` without naming a promise wants no agent to end the loop.
fn promise(done: Option<Done>, asked: Option<String>) -> Option<String> {
    match (done, asked) {
        (_, Some(token)) => Some(token),
        (Some(Done::Manual), None) => None,
        _ => Some(PROMISE.to_owned()),
    }
}

/// The user's own file.
pub fn user_file(env: &Environment) -> PathBuf {
    env.config_home().join("wt-loop/config.toml")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work() -> Work {
        Work {
            task: "t".into(),
            change_id: None,
            module_id: None,
            layout: &crate::layout::PLAIN,
            label: None,
            project_validation: None,
        }
    }

    fn layered(repository: &str, user: &str, variables: &[(&str, &str)], flags: LoopOptions) -> Result<Config> {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        std::fs::create_dir_all(dir.path().join("config/wt-loop")).unwrap();
        std::fs::create_dir(&root).unwrap();
        std::fs::write(root.join(REPOSITORY_FILE), repository).unwrap();
        std::fs::write(dir.path().join("config/wt-loop/config.toml"), user).unwrap();
        let config = dir.path().join("config");
        let mut all = vec![("XDG_CONFIG_HOME", config.to_str().unwrap())];
        all.extend_from_slice(variables);
        Config::load(&root, &Environment::of(&all), flags, LaunchOptions::default())
    }

    #[test]
    fn a_flag_beats_a_variable_beats_the_repository_beats_the_user() {
        let flags = LoopOptions { max: Some(Limit::At(1)), ..LoopOptions::default() };
        let config = layered(
            "max = 3\nmin = 3\nstall_threshold = 3\n",
            "max = 4\nmin = 4\nstall_threshold = 4\nerror_threshold = 4\nfullscreen = true\nagent_arg = ['-a', '-b']\n",
            &[("WT_LOOP_MAX", "2"), ("WT_LOOP_MIN", "2"), ("WT_LOOP_RUN_MAX", "99")],
            flags,
        )
        .unwrap();
        let o = &config.options;
        assert_eq!((o.max, o.min), (Some(Limit::At(1)), Some(2)));
        assert_eq!((o.stall_threshold, o.error_threshold), (Some(Limit::At(3)), Some(Limit::At(4))));
        assert_eq!(o.agent_arg, ["-a", "-b"]);
        assert_eq!(config.launch.fullscreen, Some(true));
    }

    #[test]
    fn what_cannot_be_is_told_with_its_place() {
        for (repository, user, said) in [
            ("harness = 'x'\n", "", "a repository cannot set harness"),
            ("allow_all = true\n", "", "a repository cannot set allow_all"),
            ("agent_arg = ['x']\n", "", "a repository cannot set agent_arg"),
            ("prompt_template = '/x'\n", "", "a repository cannot set prompt_template"),
            ("stal_threshold = 1\n", "", "unknown key stal_threshold; did you mean stall_threshold?"),
            ("", "max = 'ten'\n", "'ten'"),
            ("", "max = \n", "line 1, column"),
            ("", "max = -3\n", "max"),
        ] {
            let error = layered(repository, user, &[], LoopOptions::default()).unwrap_err();
            assert!(error.to_string().contains(said), "{error}");
            assert_eq!(error.exit(), crate::error::Exit::Usage);
            assert!(error.to_string().contains(".toml"), "{error}");
        }
        let error = layered("", "", &[("WT_LOOP_DONE", "maybe")], LoopOptions::default()).unwrap_err();
        assert!(error.to_string().starts_with("WT_LOOP_DONE: "), "{error}");
    }

    /// The keys that a repository may not set, each with a value that the user's own file could have, and what it would decide.
    const USERS_OWN: [(&str, &str, &str); 16] = [
        ("harness", "'codex'", "which program runs"),
        ("allow_all", "true", "what it may do without asking"),
        ("agent_arg", "['--x']", "what it may do without asking"),
        ("validation_command", "['make']", "which commands run"),
        ("skip_validation", "true", "whether its own tests count"),
        ("budget_tokens", "1", "what it may cost"),
        ("budget_usd", "1.5", "what it may cost"),
        ("continue_session", "true", "which conversation of the user's is gone on with"),
        ("raw", "true", "what is written down of it"),
        ("fail_fast", "true", "when a person is called"),
        ("no_stream", "true", "whether a person sees what it does"),
        ("launcher", "'tmux'", "which program runs"),
        ("fullscreen", "true", "which program runs, and how"),
        ("close", "true", "whether its window can be read when it is over"),
        ("log_max_size", "'1M'", "what is kept of it"),
        ("notify", "false", "whether a person is called"),
    ];

    #[test]
    fn every_key_is_one_that_a_repository_may_set_or_one_that_is_refused_there() {
        let users = USERS_OWN.iter().map(|(key, ..)| (*key).to_owned());
        let mut sorted: Vec<String> = layer::HARMLESS.iter().map(|&key| key.to_owned()).chain(users).collect();
        let mut known = keys();
        sorted.sort();
        known.sort();
        assert_eq!(sorted, known, "a new key belongs into one of the two lists");
        for (key, value, decides) in USERS_OWN {
            let line = format!("{key} = {value}\n");
            let error = layered(&line, "", &[], LoopOptions::default()).unwrap_err();
            assert!(error.to_string().contains(&format!("a repository cannot set {key}: ")), "{decides}: {error}");
            assert!(error.hints()[0].contains(&format!("--{}", key.replace('_', "-"))), "{key}");
            assert!(layered("", &line, &[], LoopOptions::default()).is_ok(), "{key}");
        }
        for line in ["prompt_template = 'x'", "[agents.claude]\ncommand = ['x']", "agents = 1"] {
            let error = layered(line, "", &[], LoopOptions::default()).unwrap_err();
            assert!(error.to_string().contains("a repository cannot set "), "{error}");
        }
    }

    proptest::proptest! {
        #[test]
        fn whatever_a_file_says_a_repository_sets_only_what_can_do_no_harm(
            lines in proptest::collection::vec((proptest::sample::select(keys()), ".{0,12}"), 0..4), raw in ".{0,60}",
        ) {
            let quoted = |text: &str| serde_json::Value::from(text).to_string();
            let lines: Vec<String> = lines.iter().map(|(key, value)| format!("{key} = {}\n", quoted(value))).collect();
            let text = lines.concat();
            crate::fuzzing::config(&text);
            crate::fuzzing::config(&format!("{text}{raw}"));
        }
    }

    #[test]
    fn a_model_is_never_an_option_of_the_agent() {
        for line in ["model = '--yolo'\n", "model = '-y'\n", "model = ' '\n"] {
            assert!(layered(line, "", &[], LoopOptions::default()).is_err(), "{line}");
            assert!(layered("", line, &[], LoopOptions::default()).is_err(), "{line}");
        }
        assert_eq!(layered("model = 'a-b'\n", "", &[], LoopOptions::default()).unwrap().options.model.unwrap(), "a-b");
    }

    #[test]
    fn a_template_without_a_folder_lies_beside_the_users_own_file() {
        let template =
            layered("", "prompt_template = 'prompt.md'\n", &[], LoopOptions::default()).unwrap().prompt_template;
        assert!(template.unwrap().ends_with("config/wt-loop/prompt.md"));
    }

    #[test]
    fn the_criterion_follows_tasks_md_unless_it_is_named() {
        let resolve = |done, tasks| {
            let options = LoopOptions { done, ..LoopOptions::default() };
            let spec = Config { options, ..Config::default() }.resolve(work(), tasks, &START).unwrap();
            (spec.done, spec.promise.is_some())
        };
        assert_eq!(resolve(None, TasksFile::Present(AtStart::Some)), (Done::Tasks, true));
        assert_eq!(resolve(None, TasksFile::Missing), (Done::Manual, true));
        assert_eq!(resolve(Some(Done::Manual), TasksFile::Present(AtStart::Some)), (Done::Manual, false));
        assert_eq!(resolve(Some(Done::Tasks), TasksFile::Missing), (Done::Tasks, true));
    }

    #[test]
    fn min_over_max_and_an_empty_task_are_refused() {
        let options = LoopOptions { max: Some(Limit::At(2)), min: Some(3), ..LoopOptions::default() };
        let resolved = Config { options, ..Config::default() }.resolve(work(), TasksFile::Missing, &START);
        assert!(resolved.unwrap_err().to_string().contains("--min 3 is more than --max 2"));
        let empty = Work { task: " \n".into(), ..work() };
        assert!(Config::default().resolve(empty, TasksFile::Missing, &START).is_err());
    }
}
