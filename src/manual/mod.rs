//! The manual pages, made from the clap tree: one for the program and one for each subcommand.
//!
//! What clap does not know stands once in [`mod@text`] and goes to the pages and to `--help`. The pages are clean under
//! `mandoc -T lint -W style`.

mod agents;
mod launchers;
pub mod text;

use clap::{Arg, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, italic, roman};

use crate::config;
use crate::error::Exit;
use text::{Exits, FILES, PAGES, READ, SET_FOR_THE_AGENT, Text};

/// The date of the pages: when the interface last changed.
const DATE: &str = "2026-11-16";
/// The longest line of a page's source that `mandoc` likes.
const WIDTH: usize = 79;

/// A page that belongs to no command.
struct Beside {
    name: &'static str,
    about: &'static str,
    body: fn(&mut Roff),
}

const BESIDE: [Beside; 2] = [
    Beside { name: agents::NAME, about: "how each agent is driven by wt-loop", body: agents::body },
    Beside { name: launchers::NAME, about: "where wt-loop start puts a loop", body: launchers::body },
];

/// The names of all pages, as `wt-loop man` takes them.
pub fn pages() -> Vec<String> {
    let tree = crate::cli::command();
    let subs = tree.get_subcommands().filter(|sub| !sub.is_hide_set()).map(|sub| sub.get_name().to_owned());
    std::iter::once("wt-loop".to_owned()).chain(subs).chain(BESIDE.map(|page| page.name.to_owned())).collect()
}

/// The examples of a page for `--help`.
pub fn examples_help(name: &str) -> Option<String> {
    let lines = text(name)?.examples.iter().map(|(command, what)| format!("  {command}\n      {what}"));
    Some(format!("Examples:\n{}", lines.collect::<Vec<_>>().join("\n")))
}

/// One manual page; `None` for a name that has none.
pub fn page(name: &str) -> Option<String> {
    let name = name.strip_prefix("wt-loop-").unwrap_or(name);
    if let Some(beside) = BESIDE.into_iter().find(|page| page.name == name) {
        return page_beside(&beside).ok();
    }
    let mut tree = crate::cli::command();
    tree.build();
    let command = if name == "wt-loop" { &tree } else { tree.find_subcommand(name)? };
    let mut out = Vec::new();
    render(command, text(name)?, &mut out).ok()?;
    Some(tidy(&String::from_utf8_lossy(&out)))
}

fn page_beside(page: &Beside) -> std::io::Result<String> {
    let title = title(page.name);
    let version = format!("wt-loop {}", env!("CARGO_PKG_VERSION"));
    let named = crate::cli::command().display_name(&title).about(page.about);
    let man = Man::new(named).title(title.to_uppercase()).date(DATE).source(version).manual("User Commands");
    let mut out = Vec::new();
    man.render_title(&mut out)?;
    man.render_name_section(&mut out)?;
    let mut roff = Roff::new();
    (page.body)(&mut roff);
    see_also(&mut roff, page.name);
    roff.to_writer(&mut out)?;
    Ok(tidy(&String::from_utf8_lossy(&out)))
}

fn text(name: &str) -> Option<&'static Text> {
    PAGES.iter().find(|page| page.name == name)
}

fn title(name: &str) -> String {
    if name == "wt-loop" { name.to_owned() } else { format!("wt-loop-{name}") }
}

fn render(command: &Command, text: &Text, out: &mut Vec<u8>) -> std::io::Result<()> {
    let title = title(text.name);
    let version = format!("wt-loop {}", env!("CARGO_PKG_VERSION"));
    let named = command.clone().display_name(&title).args(options_below(command)).mut_args(with_aliases);
    let man = Man::new(named).title(title.to_uppercase()).date(DATE).source(version).manual("User Commands");
    man.render_title(out)?;
    man.render_name_section(out)?;
    let mut roff = Roff::new();
    synopsis(&mut roff, command);
    description(&mut roff, text.description);
    subcommands(&mut roff, command);
    roff.to_writer(out)?;
    man.render_options_section(out)?;
    let mut roff = Roff::new();
    listing(&mut roff, "EXAMPLES", text.examples);
    listing(&mut roff, "FILES", FILES);
    environment(&mut roff, command);
    listing(&mut roff, "EXIT STATUS", &exits(text.exits));
    see_also(&mut roff, text.name);
    roff.to_writer(out)
}

/// The options of the subcommands of a subcommand, which have no page of their own.
fn options_below(command: &Command) -> Vec<Arg> {
    let mut options: Vec<Arg> = Vec::new();
    if command.get_name() != "wt-loop" {
        for option in shown_subcommands(command).flat_map(Command::get_opts) {
            if !options.iter().any(|known| known.get_id() == option.get_id()) {
                options.push(option.clone());
            }
        }
    }
    options
}

/// What `--help` says of aliases and the renderer leaves out.
fn with_aliases(arg: Arg) -> Arg {
    let names: Vec<String> =
        arg.get_visible_aliases().unwrap_or_default().iter().map(|name| format!("--{name}")).collect();
    if names.is_empty() {
        return arg;
    }
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    arg.help(format!("{help}. Also: {}", names.join(", ")))
}

/// One line for each way to call the command, options in a word: a list of 24 of them helps nobody.
fn synopsis(roff: &mut Roff, command: &Command) {
    roff.control("SH", ["SYNOPSIS"]);
    let of_context: Vec<&Command> = shown_subcommands(command).collect();
    let ways: Vec<&Command> =
        if of_context.is_empty() || command.get_name() == "wt-loop" { vec![command] } else { of_context };
    for (n, way) in ways.into_iter().enumerate() {
        if n > 0 {
            roff.control("br", []);
        }
        roff.text(usage(way));
    }
}

fn usage(command: &Command) -> Vec<Inline> {
    let mut line = vec![bold(command.get_bin_name().unwrap_or_else(|| command.get_name()))];
    if command.get_opts().next().is_some() || command.get_name() != "wt-loop" {
        line.extend([roman(" ["), italic("OPTIONS"), roman("]")]);
    }
    if command.get_name() == "wt-loop" {
        line.extend([roman(" "), italic("COMMAND"), roman(" …")]);
    }
    for positional in command.get_positionals() {
        let name = positional.get_value_names().and_then(|names| names.first()).map_or("ARG", |name| name.as_str());
        let (open, close) = if positional.is_required_set() { (" ", "") } else { (" [", "]") };
        line.extend([roman(open), italic(name), roman(close)]);
    }
    line
}

fn shown_subcommands(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help")
}

fn description(roff: &mut Roff, paragraphs: &[&str]) {
    roff.control("SH", ["DESCRIPTION"]);
    for (n, paragraph) in paragraphs.iter().enumerate() {
        if n > 0 {
            roff.control("PP", []);
        }
        roff.text([roman(*paragraph)]);
    }
}

fn subcommands(roff: &mut Roff, command: &Command) {
    let subs: Vec<(String, String)> = shown_subcommands(command)
        .map(|sub| {
            let name = if command.get_name() == "wt-loop" { page_name(sub.get_name()) } else { sub.get_name().into() };
            (name, sub.get_about().map(ToString::to_string).unwrap_or_default())
        })
        .collect();
    if !subs.is_empty() {
        listing(roff, "COMMANDS", &subs);
    }
}

fn page_name(name: &str) -> String {
    format!("{}(1)", title(name))
}

fn environment(roff: &mut Roff, command: &Command) {
    let takes = |key: &String| command.get_arguments().any(|arg| arg.get_id() == key.as_str());
    let variables: Vec<String> =
        config::keys().iter().filter(|key| takes(key)).map(|key| config::variable(key)).collect();
    roff.control("SH", ["ENVIRONMENT"]);
    if !variables.is_empty() {
        roff.text([roman("Each of these is the option of the same name; what is typed wins over it:")]);
        roff.text([roman(format!("{}.", variables.join(", ")))]);
    }
    entries(roff, READ);
    if !variables.is_empty() {
        roff.control("PP", []);
        roff.text([roman("The agent finds in its environment, beside everything in that of the shell:")]);
        entries(roff, SET_FOR_THE_AGENT);
    }
}

fn exits(of: Exits) -> Vec<(String, &'static str)> {
    let can = |exit: &Exit| of == Exits::Loop || matches!(exit, Exit::Done | Exit::Error | Exit::Usage);
    Exit::TABLE.iter().filter(|(exit, _)| can(exit)).map(|(exit, what)| (exit.code().to_string(), *what)).collect()
}

fn see_also(roff: &mut Roff, name: &str) {
    roff.control("SH", ["SEE ALSO"]);
    let names = PAGES.iter().map(|page| page.name).chain(BESIDE.map(|page| page.name));
    let others: Vec<String> = names.filter(|page| *page != name).map(page_name).collect();
    roff.text([roman(others.join(", "))]);
}

fn listing(roff: &mut Roff, heading: &str, of: &[(impl AsRef<str>, impl AsRef<str>)]) {
    roff.control("SH", [heading]);
    entries(roff, of);
}

fn entries(roff: &mut Roff, of: &[(impl AsRef<str>, impl AsRef<str>)]) {
    for (term, what) in of {
        roff.control("TP", []);
        roff.text([bold(term.as_ref())]);
        roff.text([roman(what.as_ref())]);
    }
}

/// Takes out what the renderer leaves and `mandoc` warns of: blanks at line ends, a break after a space, a preamble for
/// each part, lines that are too long to be read in the source.
fn tidy(page: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for (n, line) in page.lines().map(str::trim_end).enumerate() {
        let after_space =
            lines.last().is_some_and(|last| matches!(last.as_str(), ".sp" | ".PP" | ".br") || last.starts_with(".SH"));
        let is_preamble = line.starts_with(".ie ") || line.starts_with(".el ");
        if line.is_empty() || (line == ".br" && after_space) || (is_preamble && n > 1) {
            continue;
        }
        if line.starts_with('.') {
            lines.push(line.to_owned());
        } else {
            wrap(line, &mut lines);
        }
    }
    lines.join("\n") + "\n"
}

/// Breaks a line of text at blanks, and where a sentence begins. A word that would be a request at the start of a line is kept from being one.
fn wrap(line: &str, lines: &mut Vec<String>) {
    let mut current = String::new();
    for word in line.split(' ') {
        let begins = current.ends_with('.') && word.starts_with(char::is_uppercase);
        if !current.is_empty() && (begins || current.len() + 1 + word.len() > WIDTH) {
            lines.push(std::mem::take(&mut current));
            if word.starts_with(['.', '\'']) {
                current.push_str("\\&");
            }
        } else if !current.is_empty() {
            current.push(' ');
        }
        current.push_str(word);
    }
    lines.push(current);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subcommand_has_a_page_with_examples() {
        let names = pages();
        assert_eq!(names[..PAGES.len()], PAGES.each_ref().map(|page| page.name));
        assert!(page(agents::NAME).unwrap().contains("cursor\\-agent"));
        assert!(page(launchers::NAME).unwrap().contains("xfce4\\-terminal"));
        for name in &names[..PAGES.len()] {
            let page = page(name).unwrap();
            for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "EXAMPLES", "FILES", "ENVIRONMENT", "EXIT STATUS"] {
                assert!(
                    page.contains(&format!(".SH {section}")) || page.contains(&format!(".SH \"{section}\"")),
                    "{name} {section}"
                );
            }
            assert!(!text(name).unwrap().examples.is_empty(), "{name}");
        }
    }

    #[test]
    fn long_lines_are_broken_and_never_become_requests() {
        let mut lines = Vec::new();
        wrap(&format!("{} .claude is a folder", "word ".repeat(15).trim_end()), &mut lines);
        assert_eq!(lines[1], "\\&.claude is a folder");
    }
}
