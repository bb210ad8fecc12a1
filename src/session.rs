//! From a spec to a loop that may run: who may start, what is written down before, and what a crash left behind.
//!
//! One loop per worktree: the loop lock, held by the living process, decides. `start` holds the start lock until its loop has
//! reported in, so that of many only one prepares. A guard that still cleans up after a killed loop is waited for.

use std::path::Path;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::config::LoopSpec;
use crate::environment::Environment;
use crate::error::{Doing, Error, Result};
use crate::files;
use crate::lock::{Lock, Taken};
use crate::process::Identity;
use crate::rawtext;
use crate::registry::{Record, Registry};
use crate::state::{Found, SCHEMA_VERSION, State, Status, now_text};
use crate::term;
use crate::view::View;
use crate::worktree::Worktree;

/// A guard takes its agent's tree down in a grace of 5 s and a bound of 5 s; this is a little more.
const GUARD_PATIENCE: Duration = Duration::from_secs(15);

/// How long a loop that has written its end may take to leave.
const LAST_STEPS: Duration = Duration::from_secs(2);

/// Whoever has taken a lock writes at once that it did; this is much more than a busy machine needs for it.
const WORD_PATIENCE: Duration = Duration::from_secs(2);

/// Who holds the lock of a loop or of a start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The process.
    pub process: Identity,
    /// Its loop; empty for a start that has none yet.
    pub loop_id: String,
}

impl Holder {
    /// Who holds the lock at `path`; `None` where nobody does.
    ///
    /// Between taking a lock and writing down who took it lies an instant in which the file has an earlier holder's
    /// word, or none. It is waited out: a word counts only as long as the one who wrote it lives.
    pub fn of(path: &Path) -> Option<Self> {
        let deadline = Instant::now() + WORD_PATIENCE;
        loop {
            let found = Lock::holder::<Self>(path).filter(|holder| holder.process.is_alive());
            if found.is_some() || !Lock::is_held(path).unwrap_or(false) || Instant::now() >= deadline {
                return found;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// The right to prepare a loop in a worktree, until dropped.
pub struct Starting {
    _lock: Lock,
}

/// The right to run a loop in a worktree, until dropped: the lock in its git directory, and the user's own, which no agent removes by
/// removing a repository.
pub struct Running {
    _users: Lock,
    _lock: Lock,
}

impl Starting {
    /// Takes the start lock where no loop runs and no guard is at work.
    pub fn begin(worktree: &Worktree, registry: &Registry) -> Result<Self> {
        let path = worktree.start_lock();
        let lock = match Lock::take(&path, &holder("")?).doing("lock", &path)? {
            Taken::Ours(lock) => lock,
            Taken::Held => return Err(somebody_starts(worktree, registry)),
        };
        if runs(worktree, registry)? {
            return Err(somebody_runs(worktree, registry));
        }
        wait_for_guard(worktree)?;
        Ok(Self { _lock: lock })
    }
}

impl Running {
    /// Takes the loop lock.
    pub fn begin(worktree: &Worktree, registry: &Registry, loop_id: &str) -> Result<Self> {
        let take = |path: std::path::PathBuf| match Lock::take(&path, &holder(loop_id)?).doing("lock", &path)? {
            Taken::Ours(lock) => Ok(lock),
            Taken::Held => Err(somebody_runs(worktree, registry)),
        };
        Ok(Self { _lock: take(worktree.loop_lock())?, _users: take(registry.loop_lock(&worktree.root))? })
    }
}

/// Writes down a new loop: the state as `starting`, and the launch record.
pub fn prepare(worktree: &Worktree, env: &Environment, spec: LoopSpec) -> Result<(State, Record)> {
    make_room(worktree)?;
    let mut state = fresh(worktree, &spec);
    let record = Record::new(worktree, state.loop_id.clone(), spec);
    let registry = Registry::of(env);
    let earlier = registry.load(&worktree.root);
    registry.save(&record)?;
    if let Err(error) = state.save(&worktree.state()).doing("write", &worktree.state()) {
        // The state of the earlier loop is still there; without its record it could not go on as it was.
        if let Some(earlier) = earlier {
            let _ = registry.save(&earlier);
        }
        return Err(error);
    }
    Ok((state, record))
}

/// Sees to it that the state can be written and nothing that was recorded is lost by it.
pub fn make_room(worktree: &Worktree) -> Result<()> {
    let path = worktree.state();
    refuse_tracked(worktree)?;
    if let Found::Broken(why) = State::load(&path).doing("read", &path)? {
        set_aside(worktree, &why)?;
    }
    worktree.exclude_ours()?;
    files::private_dir(&worktree.root.join(crate::worktree::CLAUDE))
        .doing("make", &worktree.root.join(crate::worktree::CLAUDE))?;
    for ours in [path, worktree.pid_file(), worktree.prompt_file(), worktree.meeting()] {
        files::sweep_unfinished(&ours).doing("tidy up beside", &ours)?;
    }
    files::remove(&worktree.stop_request()).doing("remove", &worktree.stop_request())
}

/// Refuses a state that the repository ships.
pub fn refuse_tracked(worktree: &Worktree) -> Result<()> {
    if worktree.tracks(&worktree.state())? {
        return Err(Error::new(".claude/loop-state.json is tracked by git, so it cannot be trusted as a loop's state")
            .hint("git rm --cached .claude/loop-state.json && git commit"));
    }
    Ok(())
}

/// Moves a state that cannot be read out of the way, and says where to.
pub fn set_aside(worktree: &Worktree, why: &str) -> Result<()> {
    let path = worktree.state();
    let aside = files::set_aside(&path).doing("set aside", &path)?;
    term::warn(&format!("{} cannot be read ({why}); it is kept as {}", path.display(), aside.display()));
    Ok(())
}

/// Records a crash for somebody who does not start anything; one who does has the word.
pub fn settle_crash(view: &View, registry: &Registry) -> Result<()> {
    let Ok(_starting) = Starting::begin(&view.worktree, registry) else { return Ok(()) };
    record_crash(view)
}

/// Records that a loop died without a word, so that the file says what readers say. For whoever holds the start lock; where
/// another has written since `view` was taken, there is nothing left to record.
pub fn record_crash(view: &View) -> Result<()> {
    let mut state = view.state.clone();
    let now = State::load(&view.worktree.state()).doing("read", &view.worktree.state())?;
    let is_stale = matches!(&now, Found::State(now) if now.updated_at != state.updated_at);
    if view.is_crashed() && !is_stale {
        refuse_tracked(&view.worktree)?;
        state.status = Status::Stopped;
        state.status_reason = Some("crashed".into());
        state.exit_code = Some(i32::from(crate::error::Exit::Error.code()));
        state.ended_at = Some(state.updated_at.clone());
        let path = view.worktree.state();
        state.save(&path).doing("write", &path)?;
        files::remove(&view.worktree.pid_file()).doing("remove", &view.worktree.pid_file())?;
    }
    Ok(())
}

fn fresh(worktree: &Worktree, spec: &LoopSpec) -> State {
    let mut state = State {
        schema_version: SCHEMA_VERSION,
        loop_id: new_id(),
        worktree_name: worktree.name(),
        started_at: now_text(),
        host: nix::unistd::gethostname().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
        ..State::default()
    };
    describe(&mut state, spec);
    state
}

/// Copies what the spec says into the fields that other programs read.
pub fn describe(state: &mut State, spec: &LoopSpec) {
    state.status = Status::Starting;
    state.change_id.clone_from(&spec.change_id);
    state.module_id.clone_from(&spec.module_id);
    state.label.clone_from(&spec.label);
    state.task = rawtext::for_showing(&spec.task);
    state.max_iterations = spec.max.into();
    state.min_iterations = spec.min;
    spec.done.word().clone_into(&mut state.done_criteria);
    state.completion_promise.clone_from(&spec.promise);
    state.stall_threshold = spec.stall_threshold.into();
    state.iteration_timeout_min = spec.iteration_timeout.map_or(0.0, |span| span.as_secs_f64() / 60.0);
    state.harness.clone_from(&spec.harness);
    state.model.clone_from(&spec.model);
}

/// Time and chance: unique among all loops of a user.
pub fn new_id() -> String {
    let now = jiff::Timestamp::now().as_millisecond();
    let chance = std::collections::hash_map::RandomState::new();
    let random = std::hash::BuildHasher::hash_one(&chance, std::process::id());
    format!("{now:011x}-{random:016x}")
}

fn holder(loop_id: &str) -> Result<Holder> {
    let process = Identity::own().ok_or_else(|| Error::new("cannot find this process in /proc; is it mounted?"))?;
    Ok(Holder { process, loop_id: loop_id.to_owned() })
}

/// Whether a loop runs here. One that has written its end is about to leave, and is waited for.
fn runs(worktree: &Worktree, registry: &Registry) -> Result<bool> {
    for path in [worktree.loop_lock(), registry.loop_lock(&worktree.root)] {
        if !Lock::is_held(&path).doing("ask for the lock", &path)? {
            continue;
        }
        let is_over = matches!(State::load(&worktree.state()), Ok(Found::State(state)) if state.status.is_over());
        let patience = if is_over { LAST_STEPS } else { Duration::ZERO };
        if !Lock::wait_until_free(&path, patience).doing("ask for the lock", &path)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Waits a moment for a loop that says it is over to let go of a lock; `false` where it does not, and so is not over.
pub fn leaves(lock: &Path) -> bool {
    Lock::wait_until_free(lock, LAST_STEPS).unwrap_or(true)
}

fn wait_for_guard(worktree: &Worktree) -> Result<()> {
    let path = worktree.guard_lock();
    if !Lock::is_held(&path).doing("ask for the lock", &path)? {
        return Ok(());
    }
    term::narrate("wt-loop: waiting for the guard of a killed loop to finish cleaning up");
    if Lock::wait_until_free(&path, GUARD_PATIENCE).doing("ask for the lock", &path)? {
        return Ok(());
    }
    let pid = Lock::holder::<Identity>(&path).map_or_else(|| "?".to_owned(), |guard| guard.pid.to_string());
    Err(Error::new(format!("the guard of an earlier loop (pid {pid}) is still cleaning up"))
        .hint(format!("see what it waits for: pstree -p {pid}")))
}

fn somebody_starts(worktree: &Worktree, registry: &Registry) -> Error {
    let starter = Holder::of(&worktree.start_lock());
    // It may have succeeded meanwhile, and the start lock be in the hands of another who is being turned away.
    if Lock::is_held(&worktree.loop_lock()).unwrap_or(false) {
        return somebody_runs(worktree, registry);
    }
    match starter {
        Some(other) => Error::new(format!("another start is under way in this worktree (pid {})", other.process.pid)),
        None => Error::new("another start is under way in this worktree"),
    }
    .hint("wt-loop status")
}

fn somebody_runs(worktree: &Worktree, registry: &Registry) -> Error {
    let holder = Holder::of(&worktree.loop_lock()).or_else(|| Holder::of(&registry.loop_lock(&worktree.root)));
    let who = holder.map_or_else(String::new, |other| format!(" (pid {})", other.process.pid));
    let what = match State::load(&worktree.state()) {
        Ok(Found::State(state)) => format!(": {}", first_line(&state.task)),
        _ => String::new(),
    };
    Error::new(format!("a loop already runs in this worktree{who}{what}"))
        .hint("wt-loop monitor to watch it, wt-loop stop to end it")
}

fn first_line(text: &str) -> &str {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default()
}
