//! What the shells complete: subcommands and options from the clap tree, and names from the repository at hand.
//!
//! The committed scripts call this program back; it answers from the same tree that it parses with. Agents and launchers
//! need no git; worktrees and changes ask it.

use std::ffi::OsStr;

use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};

use crate::layout::Layout;
use crate::term::filter::is_plain;
use crate::worktree::Worktree;
use crate::{agent, launch};

/// The variable that the scripts set when they call back.
const VARIABLE: &str = "WT_LOOP_COMPLETE";

/// zsh loads a file of its fpath when it is first needed, as the body of the function of that name; the script only registers
/// another function there, and without this the first completion of every shell would offer nothing.
const ZSH_FIRST_TIME: &[u8] = b"
if [[ ${funcstack[1]-} == _wt-loop ]]; then
    _clap_dynamic_completer_wt_loop \"$@\"
fi
";

/// Answers a shell that asks for completions, and ends the process then; returns at once otherwise.
pub fn answer_the_shell() {
    CompleteEnv::with_factory(crate::cli::command).var(VARIABLE).bin("wt-loop").completer("wt-loop").complete();
}

/// The script that makes a shell ask us; `None` for a shell that we do not know.
pub fn script(shell: &str) -> Option<std::io::Result<Vec<u8>>> {
    let shells = Shells::builtins();
    let shell = shells.completer(shell)?;
    let mut script = Vec::new();
    let written = shell.write_registration(VARIABLE, "wt-loop", "wt-loop", "wt-loop", &mut script);
    if shell.name() == "zsh" {
        script.extend_from_slice(ZSH_FIRST_TIME);
    }
    Some(written.map(|()| script))
}

/// The agents.
pub fn agents() -> ArgValueCandidates {
    ArgValueCandidates::new(|| agent::ALL.iter().map(|agent| CompletionCandidate::new(agent.name)).collect())
}

/// The launchers.
pub fn launchers() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let names = launch::Launcher::all().map(|launcher| launcher.name().to_owned());
        names.chain([launch::AUTO, launch::ANY_TERMINAL].map(str::to_owned)).map(CompletionCandidate::new).collect()
    })
}

/// The subcommands that have a manual page.
pub fn pages() -> ArgValueCandidates {
    ArgValueCandidates::new(|| crate::manual::pages().into_iter().map(CompletionCandidate::new).collect())
}

/// The changes of this worktree.
pub fn changes() -> ArgValueCandidates {
    ArgValueCandidates::new(|| here().map(|worktree| changes_of(&worktree)).unwrap_or_default())
}

/// The changes of this worktree, and the worktrees of this repository.
pub fn targets() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let Some(worktree) = here() else { return Vec::new() };
        let siblings = worktree.siblings().unwrap_or_default();
        let names = siblings.iter().filter_map(|sibling| sibling.root.file_name()).filter(|name| can_be_offered(name));
        changes_of(&worktree).into_iter().chain(names.map(CompletionCandidate::new)).collect()
    })
}

fn here() -> Option<Worktree> {
    Worktree::find(&std::env::current_dir().ok()?).ok()
}

fn changes_of(worktree: &Worktree) -> Vec<CompletionCandidate> {
    let changes = Layout::detect(&worktree.root).changes(&worktree.root).unwrap_or_default();
    changes.into_iter().map(CompletionCandidate::new).collect()
}

/// A name with a line end would be two candidates, and one with controls would drive the terminal.
fn can_be_offered(name: &OsStr) -> bool {
    name.to_str().is_some_and(is_plain)
}
