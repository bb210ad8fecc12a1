//! The clap tree, and nothing that does I/O: help, manual pages and completions are all made from it.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::commands::{
    completions, context, demo, doctor, history, list, man, monitor, ralph, resume, run, start, status, stop, validate,
};
use crate::config::{Defaults, RALPH, START};
use crate::error::{Error, Exit, Result};

/// Runs an AI coding agent in a loop, inside a git worktree, until the work is proven done
#[derive(Debug, Parser)]
#[command(name = "wt-loop", version, propagate_version = true, max_term_width = 100, after_help = MORE)]
pub struct Cli {
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

const MORE: &str =
    "Try it: wt-loop demo. Every option of a command: wt-loop start --help. The manual: wt-loop man start | man -l -";

/// Every subcommand.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Start a loop in a terminal of its own
    Start(start::Args),
    /// Run a loop here, in the foreground
    Run(run::Args),
    /// End a loop gracefully, and everything its agent has started
    Stop(stop::Args),
    /// Show where a loop stands
    Status(status::Args),
    /// Show every iteration of a loop
    History(history::Args),
    /// Follow the log of a loop until it ends
    Monitor(monitor::Args),
    /// List the loops of all projects
    List(list::Args),
    /// Go on with a loop that was stopped, stuck, stalled or killed
    Resume(resume::Args),
    /// Work on a change or a prompt in the foreground until the agent's promise is proven
    #[command(visible_alias = "loop")]
    Ralph(ralph::Args),
    /// Add to, show or clear what every iteration is told beside its task
    Context(context::Args),
    /// Run now, without an agent, what a claim of completion would have to pass
    Validate(validate::Args),
    /// Tell what is there and what is missing
    Doctor(doctor::Args),
    /// Show the whole product in half a minute
    Demo(demo::Args),
    /// Print the completions of a shell
    Completions(completions::Args),
    /// Print a manual page
    Man(man::Args),
}

/// What a command line comes to.
pub enum Parsed {
    /// A command to run, and by whose name it was called.
    Command(Box<Command>, Caller),
    /// Help or the version: it is answered already.
    Answered(Exit),
}

/// By whose name the program was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// `wt-loop`, `wt-loop-SUB` or `ralph`.
    Own,
    /// `ito`.
    Ito,
    /// `spool`.
    Spool,
}

/// The whole tree, with its examples in place.
pub fn command() -> clap::Command {
    let mut tree = Cli::command();
    let names: Vec<String> = tree.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    for name in names {
        let examples = crate::manual::examples_help(&name).unwrap_or_default();
        // A resumed loop keeps what it had; the others begin with the defaults.
        let defaults = match name.as_str() {
            "start" | "run" => Some(&START),
            "ralph" => Some(&RALPH),
            _ => None,
        };
        tree = tree.mut_subcommand(name, |sub| {
            sub.after_help(examples)
                .mut_args(|arg| defaults.map_or(arg.clone(), |defaults| with_default(arg, defaults)))
        });
    }
    tree
}

/// Says the default of an option that files and variables can set, and that clap therefore does not know.
fn with_default(arg: Arg, defaults: &Defaults) -> Arg {
    let Some(default) = defaults.of(arg.get_id().as_str()) else { return arg };
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    arg.help(format!("{help} [default: {default}]"))
}

/// Parses a command line, by whichever name the program was called.
pub fn parse(args: Vec<OsString>) -> Result<Parsed> {
    let (args, caller) = by_name(args)?;
    let sub = args.get(1).and_then(|word| word.to_str()).map(str::to_owned);
    if let Some(command) = alone(&args) {
        return Ok(Parsed::Command(Box::new(command), caller));
    }
    match command().try_get_matches_from(&args).and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => Ok(Parsed::Command(Box::new(cli.command), caller)),
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            crate::term::answer(&error.render().ansi().to_string()).map(|()| Parsed::Answered(Exit::Done))
        }
        Err(error) if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            Ok(Parsed::Answered(Exit::Usage))
        }
        Err(error) => Err(wrong(&error, sub.as_deref())),
    }
}

/// Parses the subcommand that is named without building the rest of the tree, which would take longer than most commands do. Help, and
/// whatever is wrong, is for the whole tree to tell.
fn alone(args: &[OsString]) -> Option<Command> {
    let (name, words) = (args.get(1)?.to_str()?, args.get(1..)?);
    Some(match name {
        "start" => Command::Start(read(words)?),
        "run" => Command::Run(read(words)?),
        "stop" => Command::Stop(read(words)?),
        "status" => Command::Status(read(words)?),
        "history" => Command::History(read(words)?),
        "monitor" => Command::Monitor(read(words)?),
        "list" => Command::List(read(words)?),
        "resume" => Command::Resume(read(words)?),
        "ralph" | "loop" => Command::Ralph(read(words)?),
        "context" => Command::Context(read(words)?),
        "validate" => Command::Validate(read(words)?),
        "doctor" => Command::Doctor(read(words)?),
        "demo" => Command::Demo(read(words)?),
        "completions" => Command::Completions(read(words)?),
        "man" => Command::Man(read(words)?),
        _ => return None,
    })
}

fn read<A: clap::Args>(words: &[OsString]) -> Option<A> {
    let matches = A::augment_args(clap::Command::default()).try_get_matches_from(words).ok()?;
    A::from_arg_matches(&matches).ok()
}

/// `wt-loop-status --json` is `wt-loop status --json`, `ralph …` is `wt-loop ralph …`; `ito` and `spool` have two words in common
/// with us.
fn by_name(mut args: Vec<OsString>) -> Result<(Vec<OsString>, Caller)> {
    let called = args.first().map(std::path::Path::new).and_then(|path| path.file_name());
    let called = called.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let caller = match called.as_str() {
        "ito" => Caller::Ito,
        "spool" => Caller::Spool,
        _ => Caller::Own,
    };
    if caller != Caller::Own && !args.get(1).is_some_and(|word| word == "ralph" || word == "loop") {
        return Err(Error::usage(format!("{called} is wt-loop here, and knows only the words ralph and loop"))
            .hint(format!("{called} ralph --help")));
    }
    let sub = called.strip_prefix("wt-loop-").or_else(|| (called == "ralph").then_some("ralph"));
    if let Some(sub) = sub {
        args.insert(1, sub.into());
    }
    if let Some(first) = args.first_mut() {
        *first = "wt-loop".into();
    }
    Ok((args, caller))
}

/// What clap says, as one line and the way out. `sub` is the word that stands where a subcommand does.
fn wrong(error: &clap::Error, sub: Option<&str>) -> Error {
    let text = error.to_string();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    let (mut message, mut hints, mut usage) = (first, Vec::new(), None);
    for line in lines {
        if let Some(tip) = line.strip_prefix("tip: ") {
            hints.push(tip.to_owned());
        } else if let Some(line) = line.strip_prefix("Usage: ") {
            usage = Some(format!("usage: {line}"));
        } else if message.ends_with(':') || line.starts_with('[') || line.starts_with('<') || line.starts_with("--") {
            message = format!("{message} {line}");
        }
    }
    let tree = command();
    let sub = sub.and_then(|name| tree.find_subcommand(name));
    if let Some(near) = nearest_option(error, sub) {
        return Error::usage(message).hint(format!("did you mean --{near}?"));
    }
    let help = || sub.map_or_else(|| "wt-loop --help".to_owned(), |sub| format!("wt-loop {} --help", sub.get_name()));
    hints.push(usage.unwrap_or_else(help));
    hints.into_iter().fold(Error::usage(message), Error::hint)
}

/// The option that was meant by one that there is not. clap's own guess prefers `--max-time` to `--max` for `--mx`.
fn nearest_option(error: &clap::Error, sub: Option<&clap::Command>) -> Option<String> {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg) else { return None };
    let typed = typed.strip_prefix("--").filter(|_| error.kind() == ErrorKind::UnknownArgument)?;
    let names: Vec<&str> = sub?.get_arguments().filter_map(clap::Arg::get_long_and_visible_aliases).flatten().collect();
    crate::nearest::nearest(typed, names).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn a_subcommand_is_parsed_alone_as_in_the_whole_tree() {
        let lines: [&[&str]; 6] = [
            &["start", "feat-x", "task", "--max", "3", "--yolo"],
            &["run", "task", "--agent-arg", "-x", "-c", "002"],
            &["status", "--json"],
            &["context", "add", "text", "--change", "x"],
            &["loop", "go", "--no-change"],
            &["monitor", "-n", "5"],
        ];
        for words in lines {
            let args: Vec<OsString> =
                std::iter::once("wt-loop").chain(words.iter().copied()).map(OsString::from).collect();
            let whole = Cli::from_arg_matches(&command().try_get_matches_from(&args).unwrap()).unwrap().command;
            assert_eq!(format!("{:?}", alone(&args).unwrap()), format!("{whole:?}"));
        }
        for name in command().get_subcommands().map(clap::Command::get_name).filter(|name| *name != "help") {
            let args = ["wt-loop", name, "--no-such-option"].map(OsString::from);
            assert!(alone(&args).is_none());
            assert!(parse(args.to_vec()).is_err(), "{name}");
        }
    }

    #[test]
    fn a_name_can_be_the_subcommand() {
        let called = |words: &[&str]| by_name(words.iter().map(OsString::from).collect()).unwrap();
        for (typed, meant, caller) in [
            (&["/usr/bin/wt-loop-status", "--json"][..], &["wt-loop", "status", "--json"][..], Caller::Own),
            (&["./wt-loop", "list"], &["wt-loop", "list"], Caller::Own),
            (&["ralph", "do it"], &["wt-loop", "ralph", "do it"], Caller::Own),
            (&["/opt/ito", "loop", "x"], &["wt-loop", "loop", "x"], Caller::Ito),
            (&["spool", "ralph", "x"], &["wt-loop", "ralph", "x"], Caller::Spool),
        ] {
            let (words, by) = called(typed);
            assert_eq!((words, by), (meant.iter().map(OsString::from).collect(), caller));
        }
        assert!(by_name(vec!["ito".into(), "init".into()]).is_err());
    }

    #[test]
    fn wrong_usage_is_one_line_with_the_way_out() {
        let said = |words: &[&str]| {
            let args = std::iter::once("wt-loop").chain(words.iter().copied()).map(OsString::from).collect();
            parse(args).err().unwrap()
        };
        let error = said(&["statsu"]);
        assert_eq!(error.to_string(), "unrecognized subcommand 'statsu'");
        assert!(error.hints()[0].contains("'status'"), "{:?}", error.hints());
        let error = said(&["start", "t", "--max", "many"]);
        assert_eq!(
            error.to_string(),
            "invalid value 'many' for '--max <N>': 'many' is no whole number; 0 is unlimited"
        );
        let error = said(&["start", "t", "--mx", "3"]);
        assert_eq!(error.hints(), ["did you mean --max?"]);
        let error = said(&["start", "t", "--max=many"]);
        assert_eq!(error.hints(), ["wt-loop start --help"]);
    }
}
