//! The word that a loop is over, for somebody who looks elsewhere: on the desktop, and in the loop's terminal.
//!
//! Told is an end that nobody asked for: `done`, `stuck`, `stalled`, and `stopped` by an error. Whoever pressed Ctrl-C, closed
//! the window or typed `wt-loop stop` knows it. What is said comes from outside (names of worktrees, words of agents), so it
//! is one line of plain text, and on the desktop nothing in it is markup.
//!
//! The desktop gets it over D-Bus, on macOS through `osascript`. Without `$DBUS_SESSION_BUS_ADDRESS` nothing is tried; a
//! desktop that does not answer is left alone after [`PATIENCE`]; neither is an error. It is asked by a process of its own,
//! which has the environment of the user's shell, as the library reads the bus's address from there and nowhere else, and
//! which can be ended whatever it waits for.

use std::process::ExitCode;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::environment::Environment;
use crate::error::Exit;
use crate::process::{self, entry};
use crate::state::Status;
use crate::term::filter::plain;
use crate::term::human::plural;
use crate::term::table::cut;
use crate::term::title::{Title, title};

/// How long a desktop may take to answer.
const PATIENCE: Duration = Duration::from_secs(1);
/// The longest text, in columns: the first lines of an error say enough.
const LONGEST: usize = 300;

/// What is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// The worktree and how its loop ended, as the title of its window says it.
    pub title: String,
    /// After how many iterations, and why.
    pub body: String,
}

/// How a loop ended.
#[derive(Clone, Copy, Debug)]
pub struct End<'a> {
    /// The worktree's name.
    pub name: &'a str,
    /// The user's label.
    pub label: Option<&'a str>,
    /// The status it ended with.
    pub status: Status,
    /// What its process exits with.
    pub exit: Exit,
    /// How many iterations it had.
    pub iterations: usize,
    /// Why, in words.
    pub reason: &'a str,
}

/// What is told of an end; nothing of one that somebody asked for.
pub fn notice(end: &End) -> Option<Notice> {
    if matches!(end.exit, Exit::Stopped | Exit::Interrupted) {
        return None;
    }
    let title = title(end.name, end.label, Title::Ended { status: end.status.word() });
    let body = format!("after {}: {}", plural(end.iterations as u64, "iteration"), plain(end.reason));
    Some(Notice { title: cut(&title, LONGEST).into_owned(), body: cut(&body, LONGEST).into_owned() })
}

/// Tells the desktop, where there is one.
pub fn tell_desktop(notice: &Notice, env: &Environment) {
    if !has_desktop(env) {
        return;
    }
    if let Ok(words) = serde_json::to_vec(notice) {
        // A desktop that shows nothing has its reasons; the loop has ended all the same.
        let _ = process::run_own(entry::NOTIFY, env, &words, PATIENCE);
    }
}

fn has_desktop(env: &Environment) -> bool {
    cfg!(target_os = "macos") || env.has("DBUS_SESSION_BUS_ADDRESS")
}

/// The process that asks the desktop; its words come on standard input.
pub fn main() -> ExitCode {
    let told = serde_json::from_reader(std::io::stdin()).is_ok_and(|notice: Notice| show(&notice));
    if told { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[cfg(not(target_os = "macos"))]
fn show(notice: &Notice) -> bool {
    let mut shown = notify_rust::Notification::new();
    shown.appname("wt-loop").icon("utilities-terminal").summary(&notice.title).body(&without_markup(&notice.body));
    shown.show().is_ok()
}

#[cfg(target_os = "macos")]
fn show(notice: &Notice) -> bool {
    process::answer("osascript", &applescript(notice), std::path::Path::new("/")).is_ok_and(|said| said.ok())
}

/// The words are arguments of the script and no part of it, so that nothing has to be quoted.
#[cfg(any(target_os = "macos", test))]
fn applescript(notice: &Notice) -> Vec<String> {
    let script = ["on run {heading, words}", "display notification words with title heading", "end run"];
    let lines = script.iter().flat_map(|line| ["-e", line]).chain(["--"]);
    lines.map(str::to_owned).chain([notice.title.clone(), notice.body.clone()]).collect()
}

/// Text that a desktop shows as it is: a body may hold markup, and ours never does.
#[cfg(any(not(target_os = "macos"), test))]
fn without_markup(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    const END: End = End {
        name: "feat-x",
        label: None,
        status: Status::Done,
        exit: Exit::Done,
        iterations: 3,
        reason: "every task is complete or shelved",
    };

    #[test]
    fn an_end_that_nobody_asked_for_is_told() {
        let table = [
            (Status::Done, Exit::Done, true),
            (Status::Stuck, Exit::Stuck, true),
            (Status::Stuck, Exit::Error, true),
            (Status::Stalled, Exit::Stalled, true),
            (Status::Stopped, Exit::Error, true),
            (Status::Stopped, Exit::Stopped, false),
            (Status::Stopped, Exit::Interrupted, false),
        ];
        for (status, exit, told) in table {
            assert_eq!(notice(&End { status, exit, ..END }).is_some(), told, "{status:?} {exit:?}");
        }
    }

    #[test]
    fn it_says_worktree_outcome_iterations_and_reason_in_plain_words() {
        let told = notice(&END).unwrap();
        assert_eq!(told.title, "Ralph: feat-x [done]");
        assert_eq!(told.body, "after 3 iterations: every task is complete or shelved");
        let hostile = End {
            name: "a\x1b]0;x\x07\n<b>",
            label: Some("night\x07"),
            iterations: 1,
            reason: "said \x1b[31m\"no\"\nand left\u{202e}",
            ..END
        };
        let told = notice(&hostile).unwrap();
        assert_eq!(told.title, "Ralph: a <b> (night) [done]");
        assert_eq!(told.body, "after 1 iteration: said \"no\" and left");
    }

    #[test]
    fn long_words_are_cut() {
        let told = notice(&End { reason: &"word ".repeat(1000), ..END }).unwrap();
        assert!(told.body.chars().count() <= LONGEST && told.body.ends_with('…'), "{}", told.body);
    }

    #[test]
    fn nothing_is_markup_and_nothing_is_script() {
        assert_eq!(without_markup("a <b>&amp;</b>"), "a &lt;b&gt;&amp;amp;&lt;/b&gt;");
        let words = applescript(&Notice { title: "\" & do shell script \"x".into(), body: "-e".into() });
        assert_eq!(words[6..], ["--", "\" & do shell script \"x", "-e"]);
    }
}
