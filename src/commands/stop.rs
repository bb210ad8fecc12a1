//! `wt-loop stop [CHANGE]`: leaves a request, signals the loop, and waits until it has let go.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::Context;
use crate::error::{Doing, Error, Exit, Result};
use crate::files;
use crate::lock::Lock;
use crate::registry::Registry;
use crate::session::{self, Holder};
use crate::target;
use crate::term::{self, filter::plain};
use crate::view::View;

/// The agent's tree has a grace of 5 s, the sweep a bound of 5 s more.
const PATIENCE: Duration = Duration::from_secs(15);

/// Arguments of `stop`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A change, or another worktree's name or branch; without one, the loop of this worktree
    #[arg(value_name = "CHANGE", add = crate::complete::targets())]
    pub change: Option<String>,

    /// End every loop of every project
    #[arg(long, conflicts_with = "change")]
    pub all: bool,
}

/// Runs `stop`.
pub fn run(args: &Args, context: &Context) -> Result<Exit> {
    let registry = Registry::of(&context.env);
    if !args.all {
        let view = target::of_loop(&context.cwd, &context.env, args.change.as_deref())?;
        term::answer(&format!("{}\n", stop(&view, &registry)?))?;
        return Ok(Exit::Done);
    }
    let records = registry.all();
    let seen = records.iter().filter_map(|record| View::of_record(record, &registry).ok().flatten());
    let views: Vec<View> = seen.collect();
    let mut exit = Exit::Done;
    let active: Vec<&View> = views.iter().filter(|view| view.is_active()).collect();
    for view in &active {
        match stop(view, &registry) {
            Ok(line) => term::answer(&format!("{line}\n"))?,
            Err(error) => {
                term::error(&error);
                exit = Exit::Error;
            }
        }
    }
    if active.is_empty() {
        term::answer("no loop runs\n")?;
    }
    Ok(exit)
}

fn stop(view: &View, registry: &Registry) -> Result<String> {
    let name = plain(&view.worktree.name());
    if view.is_crashed() {
        session::settle_crash(view, registry)?;
    }
    if !view.is_active() {
        let reason = view.reason().map(|reason| format!(": {}", plain(reason))).unwrap_or_default();
        return Ok(format!("the loop in {name} is already over ({}{reason})", view.status()));
    }
    let (holder, lock) = holder(view, registry)?;
    // A repository that was removed under its loop is not made again for our sake: there the signal has to do.
    if view.worktree.git_dir.is_dir() {
        let request = view.worktree.stop_request();
        files::replace(&request, holder.loop_id.as_bytes()).doing("write", &request)?;
    }
    // Looked at once more: a pid is believed only with its start time and its lock.
    if Lock::holder::<Holder>(&lock).as_ref() == Some(&holder) {
        let pid = holder.process.pid;
        holder
            .process
            .terminate()
            .map_err(|error| Error::new(format!("cannot signal the loop (pid {pid}): {error}")))?;
    }
    wait_for(&lock, &holder)?;
    Ok(format!("stopped the loop in {name} (pid {})", holder.process.pid))
}

/// A loop that has not yet taken its lock is about to.
fn holder(view: &View, registry: &Registry) -> Result<(Holder, PathBuf)> {
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        match View::of(&view.worktree, registry)? {
            Some(View { holder: Some(holder), lock, .. }) => return Ok((holder, lock)),
            Some(now) if now.is_active() => {}
            _ => break,
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Err(Error::new("the loop has not started yet").hint("wt-loop status"))
}

fn wait_for(lock: &Path, holder: &Holder) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    while Lock::holder::<Holder>(lock).as_ref() == Some(holder) {
        if Instant::now() > deadline {
            let pid = holder.process.pid;
            return Err(Error::new(format!("the loop (pid {pid}) has been asked to end and has not ended yet"))
                .hint(format!("kill -9 {pid}: its guard takes down what it started")));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}
