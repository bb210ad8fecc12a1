//! tmux: from inside it a new window, from outside a detached session for the repository with a window per worktree.
//!
//! tmux expands `#(command)` in names and directories, so every `#` is doubled, but for those that it leaves alone; it takes a `;` at the end of a word for the
//! end of a command, so that one is kept from it. With two words and more after the options it starts the program itself,
//! without a shell.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use super::{Launch, Launched, tame};
use crate::error::{Error, Result};
use crate::process::{Answer, answer};
use crate::registry::fnv1a;
use crate::shell;
use crate::term::filter::plain;

/// Where a session of ours says which repository it is for.
const REPOSITORY: &str = "@wt-loop-repository";
/// A window as tmux finds it again, whatever it or another is called by then.
const TARGET: &str = "#{session_name}:#{window_id}";

pub(super) fn launch(launch: &Launch) -> Result<Launched> {
    let window = visible(&launch.worktree.name());
    if launch.env.has("TMUX") {
        let attach = opened(&tmux(launch, &new_window(launch, &window, None))?)?;
        return Ok(Launched { place: format!("in the tmux window {window}"), attach, child: None });
    }
    let (session, attach) = session(launch, &window)?;
    Ok(Launched { place: format!("in the tmux session {session}, window {window}"), attach, child: None })
}

/// Opens the window in the session of this repository, which is made where there is none; returns the session's name and how
/// to go there.
fn session(launch: &Launch, window: &str) -> Result<(String, Option<String>)> {
    let repository = launch.worktree.common_dir.as_os_str().as_bytes();
    let name = format!("wt-loop-{}", tame(&launch.worktree.project()));
    // Another repository of the same name may have been here first.
    let other = format!("{name}-{:06x}", fnv1a(repository) & 0xff_ffff);
    let mut refused = None;
    for name in [name, other] {
        let made = tmux(launch, &new_session(launch, &name, window))?;
        if made.ok() {
            return Ok((name, attach(&made)));
        }
        let whose = tmux(launch, &["show-options", "-t", &format!("={name}:"), "-v", REPOSITORY].map(OsString::from))?;
        if whose.stdout.strip_suffix(b"\n") == Some(repository) {
            let attach = opened(&tmux(launch, &new_window(launch, window, Some(&name)))?)?;
            return Ok((name, attach));
        }
        refused = Some(made);
    }
    Err(no_window(refused.as_ref().map_or("", |said| &said.stderr)))
}

fn new_session(launch: &Launch, session: &str, window: &str) -> Vec<OsString> {
    let mut args: Vec<OsString> = ["new-session", "-d", "-s", session].map(OsString::from).into();
    args.extend(command(launch, window));
    args.extend([";", "set-option", "-t", &format!("={session}:"), REPOSITORY].map(OsString::from));
    args.push(whole(launch.worktree.common_dir.as_os_str().as_bytes()));
    args
}

fn new_window(launch: &Launch, window: &str, session: Option<&str>) -> Vec<OsString> {
    let mut args = vec![OsString::from("new-window")];
    args.extend(session.into_iter().flat_map(|session| ["-t".into(), OsString::from(format!("={session}:"))]));
    args.extend(command(launch, window));
    args
}

/// What is to be said of the window, name, directory and program.
fn command(launch: &Launch, window: &str) -> Vec<OsString> {
    let root = launch.worktree.root.as_os_str().as_bytes();
    let program = launch.program.as_os_str().as_bytes();
    let mut args: Vec<OsString> = ["-P", "-F", TARGET, "-n"].map(OsString::from).into();
    args.extend([whole(&doubled(window.as_bytes())), "-c".into(), whole(&doubled(root)), whole(program), "run".into()]);
    args
}

fn tmux(launch: &Launch, args: &[OsString]) -> Result<Answer> {
    answer("tmux", args, &launch.worktree.root).map_err(|error| Error::new(format!("cannot start tmux: {error}")))
}

/// How to go to the window that was opened.
fn opened(said: &Answer) -> Result<Option<String>> {
    if said.ok() { Ok(attach(said)) } else { Err(no_window(&said.stderr)) }
}

fn attach(said: &Answer) -> Option<String> {
    let target = String::from_utf8_lossy(&said.stdout);
    let target = target.lines().next().filter(|target| !target.is_empty())?;
    Some(format!("tmux attach -t {}", shell::word(target)))
}

fn no_window(said: &str) -> Error {
    Error::new(format!("tmux opened no window: {}", said.lines().next().unwrap_or("no reason given")))
}

/// A window's name: `:` and `.` separate session, window and pane.
fn visible(name: &str) -> String {
    plain(name).chars().map(|c| if matches!(c, ':' | '.' | '=') { '_' } else { c }).collect()
}

fn doubled(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut runs = bytes.chunk_by(|a, b| (*a == b'#') == (*b == b'#')).peekable();
    while let Some(run) = runs.next() {
        out.extend_from_slice(run);
        // However many stand before a `[` begin a style, and are left as they are.
        let is_style = runs.peek().is_some_and(|next| next.starts_with(b"["));
        if run.starts_with(b"#") && !is_style {
            out.extend_from_slice(run);
        }
    }
    out
}

/// A word that ends no command.
fn whole(bytes: &[u8]) -> OsString {
    OsString::from_vec(match bytes.strip_suffix(b";") {
        Some(before) => [before, b"\\;"].concat(),
        None => bytes.to_vec(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_name_is_code_or_a_separator() {
        assert_eq!(visible("a.b:c=d"), "a_b_c_d");
        assert_eq!(doubled(b"/a #(x)/\xff"), b"/a ##(x)/\xff");
        assert_eq!(doubled(b"##{x} #[y] ##[z] #"), b"####{x} #[y] ##[z] ##");
        assert_eq!(whole(b"/a;b;"), "/a;b\\;");
    }
}
