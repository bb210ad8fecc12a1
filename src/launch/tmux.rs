//! tmux: from inside it a new window, from outside a detached session for the repository with a window per worktree.
//!
//! tmux expands `#(command)` in names and directories, so every `#` is doubled. With two words and more after the options it
//! starts the program itself, without a shell.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use super::{Fullscreen, Launch, Launched, Launcher};
use crate::error::{Error, Result};
use crate::process::{Answer, answer};
use crate::term::filter::plain;

/// The launcher.
pub const LAUNCHER: Launcher =
    Launcher { name: "tmux", program: Some("tmux"), fullscreen: Fullscreen::Unknown, launch };

fn launch(launch: &Launch) -> Result<Launched> {
    let window = tame(&launch.worktree.name());
    if launch.env.has("TMUX") {
        opened(&tmux(launch, &["new-window"], &window)?)?;
        return Ok(Launched { place: format!("in the tmux window {window}"), attach: None, child: None });
    }
    let session = format!("wt-loop-{}", tame(&launch.worktree.project()));
    let made = tmux(launch, &["new-session", "-d", "-s", &doubled(&session)], &window)?;
    if !made.ok() {
        // Another loop of this repository has made the session already.
        opened(&tmux(launch, &["new-window", "-t", &format!("={session}:")], &window)?)?;
    }
    Ok(Launched {
        place: format!("in the tmux session {session}, window {window}"),
        attach: Some(format!("tmux attach -t {session}")),
        child: None,
    })
}

fn tmux(launch: &Launch, verb: &[&str], window: &str) -> Result<Answer> {
    let mut args: Vec<OsString> = verb.iter().map(OsString::from).collect();
    args.extend(["-n".into(), OsString::from(doubled(window)), "-c".into()]);
    args.push(OsString::from_vec(double(launch.worktree.root.as_os_str().as_bytes())));
    args.extend([launch.program.clone().into_os_string(), OsString::from("run")]);
    answer("tmux", &args, &launch.worktree.root).map_err(|error| Error::new(format!("cannot start tmux: {error}")))
}

fn opened(said: &Answer) -> Result<()> {
    if said.ok() {
        return Ok(());
    }
    let why = said.stderr.lines().next().unwrap_or("no reason given").to_owned();
    Err(Error::new(format!("tmux opened no window: {why}")).hint("--launcher background"))
}

/// A name that tmux takes as it is: `:` and `.` separate session, window and pane.
fn tame(name: &str) -> String {
    plain(name).chars().map(|c| if matches!(c, ':' | '.' | '=') { '_' } else { c }).collect()
}

fn doubled(text: &str) -> String {
    text.replace('#', "##")
}

fn double(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().flat_map(|&byte| std::iter::repeat_n(byte, if byte == b'#' { 2 } else { 1 })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_name_is_code_or_a_separator() {
        assert_eq!(tame("a.b:c=d"), "a_b_c_d");
        assert_eq!(doubled("x#(touch y)"), "x##(touch y)");
        assert_eq!(double(b"/a #(x)/\xff"), b"/a ##(x)/\xff");
    }
}
