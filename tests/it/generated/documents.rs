//! README.md and CONTRIBUTING.md cannot drift: their tables, their map and the session of the demo are made from the program.
//!
//! A generated part stands between `<!-- generated: NAME -->` and `<!-- end -->`. With `WT_LOOP_GENERATE` in the environment,
//! as `scripts/generate` sets it, a part that differs is rewritten instead of reported.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::sync::Mutex;

use clap::Arg;
use wt_loop::config::{self, RALPH, START};
use wt_loop::error::Exit;
use wt_loop::gates::sources::VALIDATION;
use wt_loop::launch::Launcher;
use wt_loop::manual::text;

#[path = "../../faults/classes.rs"]
mod classes;

use super::{files, program, project, read, run_with};
use crate::support::World;

/// Rewriting is reading and writing one file from several tests.
static WRITING: Mutex<()> = Mutex::new(());

/// Compares a generated part with what it should be, in the eyes of `same`; rewrites it when asked to.
#[track_caller]
fn part(document: &str, name: &str, expected: &str, same: fn(&str) -> String) {
    let _guard = WRITING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let text = read(document);
    let (open, close) = (format!("<!-- generated: {name} -->\n"), "<!-- end -->");
    let start = text.find(&open).unwrap_or_else(|| panic!("{document} has no part called {name}")) + open.len();
    let end = start + text[start..].find(close).unwrap_or_else(|| panic!("the part {name} of {document} has no end"));
    let (found, expected) = (&text[start..end], format!("\n{}\n\n", expected.trim_end()));
    if same(found) == same(&expected) {
        return;
    }
    if std::env::var_os("WT_LOOP_GENERATE").is_some() {
        fs::write(project().join(document), format!("{}{expected}{}", &text[..start], &text[end..])).unwrap();
    } else {
        assert_eq!(same(found), same(&expected), "{document}, {name}: scripts/generate");
    }
}

fn exactly(text: &str) -> String {
    text.to_owned()
}

fn table(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut text = format!("| {} |\n|{}\n", head.join(" | "), "---|".repeat(head.len()));
    for row in rows {
        let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

/// How an option is typed: `-c, --change ID`, with its other names.
fn typed(arg: &Arg) -> String {
    let value = arg.get_value_names().and_then(|names| names.first()).filter(|_| arg.get_action().takes_values());
    let value = value.filter(|name| name.as_str() != "BOOL").map(|name| format!(" {name}")).unwrap_or_default();
    let short = arg.get_short().map(|short| format!("-{short}, ")).unwrap_or_default();
    let long = arg.get_long().unwrap_or_default();
    let aliases = arg.get_visible_aliases().unwrap_or_default();
    let names = std::iter::once(format!("`{short}--{long}{value}`"));
    names.chain(aliases.iter().map(|alias| format!("`--{alias}`"))).collect::<Vec<_>>().join(", ")
}

#[test]
fn the_options_are_those_of_the_program() {
    let tree = wt_loop::cli::command();
    let mut seen = BTreeSet::new();
    let mut rows = Vec::new();
    for command in ["start", "run", "ralph", "resume"] {
        for arg in tree.find_subcommand(command).unwrap().get_opts() {
            let id = arg.get_id().as_str();
            if !seen.insert(id.to_owned()) {
                continue;
            }
            let help = arg.get_help().unwrap().to_string();
            let help = help.split(" [default:").next().unwrap().to_owned();
            let only = match command {
                "start" if tree.find_subcommand("run").unwrap().get_opts().all(|other| other.get_id() != id) => {
                    " (`start` only)"
                }
                "ralph" => " (`ralph` only)",
                _ => "",
            };
            let of_start = if command == "ralph" { None } else { START.of(id) };
            let of_ralph = if only == " (`start` only)" { None } else { RALPH.of(id) };
            let words = |default: Option<String>| default.unwrap_or_default();
            rows.push(vec![typed(arg), words(of_start), words(of_ralph), format!("{help}{only}")]);
        }
    }
    let head = ["option", "default of `start`, `run`", "of `ralph`", "meaning"];
    part("README.md", "options", &table(&head, rows), exactly);
}

#[test]
fn the_commands_are_those_of_the_program() {
    let tree = wt_loop::cli::command();
    let subs = tree.get_subcommands().filter(|sub| !sub.is_hide_set());
    let rows = subs.map(|sub| vec![code(&format!("wt-loop {}", sub.get_name())), sub.get_about().unwrap().to_string()]);
    part("README.md", "commands", &table(&["command", "what it does"], rows), exactly);
}

#[test]
fn the_exit_codes_are_those_of_the_program() {
    let rows = Exit::TABLE.iter().map(|(exit, what)| vec![exit.code().to_string(), (*what).to_owned()]);
    part("README.md", "exit codes", &table(&["code", "meaning"], rows), exactly);
}

#[test]
fn the_faults_are_those_that_are_tried() {
    let rows = classes::CLASSES
        .iter()
        .map(|class| [class.name, class.done, &class.at_least.to_string(), class.holds].map(str::to_owned).to_vec());
    let head = ["class", "what is done to it", "points in every run, at least", "what holds at every one"];
    part("README.md", "faults", &table(&head, rows), exactly);
}

#[test]
fn the_costs_are_those_that_were_measured() {
    let page = read("BENCHMARKS.md");
    let has_a_bar = |line: &&str| line.starts_with('|') && !line.ends_with("| – | – |");
    let rows: Vec<&str> = page.lines().filter(has_a_bar).collect();
    assert!(rows.len() > 12, "{rows:?}");
    part("README.md", "costs", &rows.join("\n"), exactly);
}

#[test]
fn the_launchers_are_those_of_the_program() {
    let rows = Launcher::all().map(|launcher| {
        let programs: Vec<String> = launcher.programs().into_iter().map(code).collect();
        let screen = launcher.fullscreen().join(" ");
        let screen = if screen.is_empty() { screen } else { code(&screen) };
        vec![code(launcher.name()), launcher.what().to_owned(), programs.join(" or "), screen, launcher.tested()]
    });
    let head = ["launcher", "what it is", "needs", "full screen by", "tested with"];
    part("README.md", "launchers", &table(&head, rows), exactly);
}

#[test]
fn the_files_are_those_of_the_manual() {
    let rows = text::FILES.iter().map(|(file, what)| vec![code(&file.replace(", ", "`, `")), (*what).to_owned()]);
    part("README.md", "files", &table(&["file", "what it is"], rows), exactly);
}

#[test]
fn the_settings_are_those_of_the_program() {
    let rows = config::keys().into_iter().map(|key| {
        let who = if config::is_harmless(&key) { "yes" } else { "no" };
        vec![code(&key), code(&config::variable(&key)), who.to_owned()]
    });
    let only_in = |key: &str, who: &str| vec![code(key), String::new(), who.to_owned()];
    let rows = rows.chain([
        only_in("prompt_template", "no"),
        only_in("agents", "no"),
        only_in("terminals", "no"),
        only_in(VALIDATION, "only there"),
    ]);
    part("README.md", "settings", &table(&["key", "variable", "in a repository's file"], rows), exactly);
}

#[test]
fn the_settings_that_are_shown_are_accepted() {
    let readme = read("README.md");
    let blocks: Vec<&str> = readme.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    let [agent, terminal, repository, user] = blocks[..] else { panic!("four examples, not {}", blocks.len()) };
    let world = World::new();
    let template = world.base().join("prompt.md");
    fs::copy(project().join("src/prompt/prompt.md"), &template).unwrap();
    fs::create_dir_all(world.base().join("home/.config/wt-loop")).unwrap();
    let user = user.replace("/home/me/.config/wt-loop/prompt.md", template.to_str().unwrap());
    fs::write(world.base().join("home/.config/wt-loop/config.toml"), format!("{user}\n{agent}\n{terminal}")).unwrap();
    world.write(".wt-loop.toml", repository);
    world.agent("codex", "");
    world.agent("my-agent", "");
    world.wt(&["run", "t", "--dry-run", "--harness", "mine", "--yolo"]).exit(0).stdout_has("my-agent --json --yes");
    world.wt(&["doctor", "--json"]).stdout_has("\"launcher auto\"").lacks("cannot be read");
    world.agent("myterm", "shift\nexec \"$@\" < /dev/null\n");
    world.wt(&["start", "t", "--launcher", "mine", "--max", "1"]).exit(0).stdout_has("in a window of mine (pid ");
    world.wait_until_over();
    world.wt(&["run", "t", "--dry-run"]).exit(0).stdout_has("Iteration 1 of 20").stdout_has("codex exec");
}

#[test]
fn the_session_is_one_of_the_program() {
    let Some(sh) = program("sh") else { return };
    let world = World::new();
    let (dir, shown) = (world.base().join("demo"), "/tmp/wt-loop-demo-eXPLbt");
    let script = format!("wt-loop demo --dir {} 2>&1", dir.display());
    let said = run_with(&world, &[], &sh, &["-c", &script]).exit(0).stdout;
    let said = said.replace(dir.to_str().unwrap(), shown);
    part("README.md", "demo", &format!("```console\n$ wt-loop demo\n{}\n```\n", said.trim_end()), without_times);
}

/// Times, spans and sizes differ from run to run.
fn without_times(text: &str) -> String {
    let is_span = |word: &str| {
        let number = word.trim_end_matches(|c: char| !c.is_ascii_digit());
        word.starts_with(|c: char| c.is_ascii_digit()) && matches!(&word[number.len()..], "ms" | "s" | "ms)" | "s)")
    };
    let is_time = |word: &str| word.starts_with("20") && word.ends_with('Z');
    let normal = |word: &str| {
        if is_span(word) || is_time(word) { "TIME".to_owned() } else { word.to_owned() }
    };
    let lines = text.lines().map(|line| {
        let words: Vec<String> = line.split(' ').map(normal).collect();
        let line = words.join(" ");
        match (line.find("prompt of "), line.find(" bytes")) {
            (Some(start), Some(end)) if start < end => format!("{}prompt of N{}", &line[..start], &line[end..]),
            _ => line,
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_map_of_the_house_is_its_files() {
    let mut map = String::from("```text\n");
    for file in files("src", ".rs") {
        let path = file.strip_prefix(project()).unwrap().to_str().unwrap();
        if path.ends_with("tests.rs") || path.ends_with("testing.rs") {
            continue;
        }
        let _ = writeln!(map, "{path:<32} {}", first_sentence(&fs::read_to_string(&file).unwrap()));
    }
    map.push_str("```\n");
    part("CONTRIBUTING.md", "map", &map, exactly);
}

/// The first sentence of a module's documentation, without links.
fn first_sentence(source: &str) -> String {
    let lines = source.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim);
    let paragraph: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
    let text = paragraph.join(" ").replace("[`", "`").replace("`]", "`");
    let end = text.match_indices(". ").map(|(at, _)| at).next().unwrap_or(text.trim_end_matches('.').len());
    text[..end].to_owned()
}

#[test]
fn every_dependency_has_its_reason() {
    let manifest: toml::Table = read("Cargo.toml").parse().unwrap();
    let mut used = BTreeSet::new();
    let systems = manifest.get("target").and_then(toml::Value::as_table).into_iter().flat_map(toml::Table::values);
    for place in systems.filter_map(toml::Value::as_table).chain([&manifest]) {
        for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
            used.extend(place.get(kind).and_then(toml::Value::as_table).into_iter().flat_map(|of| of.keys().cloned()));
        }
    }
    let contributing = read("CONTRIBUTING.md");
    let (_, rest) = contributing.split_once("## Dependencies").expect("a section on dependencies");
    let section = rest.split("\n## ").next().unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
    let told: BTreeSet<String> =
        rows.filter(|(_, reason)| reason.len() > 20).map(|(name, _)| name.to_owned()).collect();
    assert_eq!(told, used, "CONTRIBUTING.md gives each dependency a row with its reason, and no other");
}

/// Every command line of ours in a document: in a block of shell commands, after a prompt, or within a line of text.
fn commands_in(document: &str) -> Vec<String> {
    let text = read(document);
    let (mut block, mut found) = (None, Vec::new());
    for line in text.lines() {
        let line = line.trim();
        match (line.strip_prefix("```"), block) {
            (Some(kind), None) => block = Some(kind),
            (Some(_), Some(_)) => block = None,
            (None, Some("sh")) => found.extend(line.starts_with("wt-loop ").then_some(line)),
            (None, Some(_)) => found.extend(line.strip_prefix("$ ").filter(|line| line.starts_with("wt-loop "))),
            (None, None) => {
                found.extend(line.split('`').skip(1).step_by(2).filter(|piece| piece.starts_with("wt-loop ")));
            }
        }
    }
    found.into_iter().map(str::to_owned).collect()
}

#[test]
fn every_command_in_the_documents_parses() {
    for document in ["README.md", "CONTRIBUTING.md"] {
        let commands = commands_in(document);
        for command in &commands {
            assert_parses(command);
        }
        assert!(document != "README.md" || commands.len() > 15, "{commands:?}");
    }
}

/// A command line as a shell would cut it parses, up to the first pipe, redirection or comment.
#[track_caller]
pub fn assert_parses(line: &str) {
    let words = shell_words(line);
    if let Err(error) = wt_loop::cli::command().try_get_matches_from(&words) {
        use clap::error::ErrorKind;
        let is_help =
            matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand);
        // A command's name alone is a mention, not a call.
        let is_mention = words.len() == 2 && error.kind() == ErrorKind::MissingRequiredArgument;
        assert!(is_help || is_mention, "{line}\n{error}");
    }
}

fn shell_words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            ('|' | '>' | '&' | ';' | '#', None) if word.is_none() => break,
            (' ', None) => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[test]
fn the_documents_name_no_file_that_is_not_there() {
    for document in ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"] {
        let text = read(document);
        let links = text.match_indices("](").map(|(at, _)| text[at + 2..].split(')').next().unwrap());
        for link in links.filter(|link| !link.starts_with("http") && !link.starts_with('#')) {
            let path = link.split('#').next().unwrap();
            assert!(project().join(path).exists(), "{document} links to {path}");
        }
    }
}
