//! What the house promises of its own source, looked up in the source.

use super::{files, project};

/// A file of the source: its path below `src/` and its lines, without its tests.
struct Source {
    path: String,
    lines: Vec<String>,
}

/// Every file that is not a test.
fn sources() -> Vec<Source> {
    let found: Vec<Source> = files("src", ".rs")
        .iter()
        .map(|file| {
            let path = file.strip_prefix(project().join("src")).unwrap().to_str().unwrap().to_owned();
            let text = std::fs::read_to_string(file).unwrap();
            Source { path, lines: text.lines().take_while(|line| *line != "#[cfg(test)]").map(str::to_owned).collect() }
        })
        .filter(|source| !source.path.ends_with("tests.rs") && !source.path.ends_with("testing.rs"))
        .collect();
    assert!(found.len() > 50, "the source is where it is looked for");
    found
}

/// The lines of code that have one of these, outside the files and folders that may.
fn lines_with(parts: &[&str], allowed: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources() {
        if allowed.iter().any(|place| source.path == *place || (place.ends_with('/') && source.path.starts_with(place)))
        {
            continue;
        }
        for (n, line) in source.lines.iter().enumerate() {
            let is_comment = line.trim_start().starts_with("//");
            if !is_comment && parts.iter().any(|part| line.contains(part)) {
                found.push(format!("src/{}:{}: {}", source.path, n + 1, line.trim()));
            }
        }
    }
    found
}

#[track_caller]
fn assert_none(found: &[String], why: &str) {
    assert!(found.is_empty(), "{why}:\n{}", found.join("\n"));
}

#[test]
fn nothing_panics_on_purpose() {
    let found = lines_with(&[".unwrap()", ".expect(", "panic!(", "todo!(", "unimplemented!("], &[]);
    assert_none(&found, "an error is told, with the way out");
}

#[test]
fn the_wall_clock_is_asked_only_for_what_is_written_shown_or_said_by_it() {
    let allowed = ["state.rs", "files.rs", "session.rs", "engine/wait.rs", "agent/", "commands/", "term/"];
    let found = lines_with(&["Timestamp::now", "Zoned::now", "SystemTime"], &allowed);
    assert_none(&found, "a deadline is monotonic: a clock that is set neither fires nor stops it");
}

#[test]
fn only_process_spawns() {
    // The parser of the settings is clap's Command, not a process.
    let found = lines_with(&["Command::new(", "process::Command"], &["process/", "config/layer.rs"]);
    assert_none(&found, "processes are started under src/process only");
}

#[test]
fn only_term_prints() {
    // The guard's exec shim and the rehearsal agent are programs of their own that this binary becomes.
    let allowed = ["term/", "process/shim.rs", "agent/rehearsal.rs"];
    let printing =
        ["println!", "eprintln!", "print!(", "dbg!", "writeln!(io::std", "writeln!(std::io::std", "io::stdout().lock"];
    assert_none(&lines_with(&printing, &allowed), "printing is done under src/term only");
    let streams = lines_with(&["io::stdout()", "io::stderr()"], &allowed);
    let writing: Vec<String> = streams.into_iter().filter(|line| !line.contains("is_terminal")).collect();
    assert_none(&writing, "only whether it is a terminal may be asked elsewhere");
}

#[test]
fn no_file_is_long() {
    let long = sources().into_iter().filter(|source| source.lines.len() > 400);
    let told: Vec<String> = long.map(|source| format!("src/{}: {} lines", source.path, source.lines.len())).collect();
    assert_none(&told, "a file of more than 400 lines is two files");
}

#[test]
fn no_command_imports_another() {
    let names: Vec<String> = files("src/commands", ".rs")
        .iter()
        .map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned())
        .filter(|name| name != "mod")
        .collect();
    let mut found = Vec::new();
    for source in
        sources().iter().filter(|source| source.path.starts_with("commands/") && !source.path.ends_with("mod.rs"))
    {
        for line in &source.lines {
            let imports =
                |name: &String| line.contains(&format!("commands::{name}")) || line.contains(&format!("super::{name}"));
            if names.iter().any(imports) {
                found.push(format!("src/{}: {}", source.path, line.trim()));
            }
        }
    }
    assert_none(&found, "what two commands need is below both");
}

#[test]
fn every_file_says_what_it_is() {
    let silent =
        sources().into_iter().filter(|source| !source.lines.first().is_some_and(|line| line.starts_with("//! ")));
    let told: Vec<String> = silent.map(|source| source.path).collect();
    assert_none(&told, "a file begins with its specification");
}
