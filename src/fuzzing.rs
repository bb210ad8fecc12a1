//! What must hold of text from outside, whatever it is: one function for each reader of such text.
//!
//! The fuzz targets in `fuzz/` and the property tests beside the readers call the same functions, so that what one of them finds
//! the other can try again. Each takes any input and panics where its promise is broken. Not part of the program: it is compiled
//! for tests and by `cargo fuzz` only.

use std::path::{Component, Path};

use crate::agent::reader::{Reader, Reading, Shown};
use crate::agent::{ALL, Harness};
use crate::config::layer::{HARMLESS, Layer, Trust};
use crate::gates::sources;
use crate::layout::resolve::{Kind, pick};
use crate::options::{LaunchOptions, LoopOptions};
use crate::promise::{BREAK, CLOSE, OPEN, Promise, Scanner, defuse};
use crate::state::State;
use crate::tasks::{TaskStatus, Tasks, tick};
use crate::term::filter::{Filter, plain};
use crate::term::report;
use crate::term::table::Colour;

/// Every text has its tasks, at the lines where their boxes are, whatever ends those lines; ticking one changes no other.
pub fn tasks(text: &str) {
    let tasks = Tasks::parse(text);
    assert_eq!(tasks.done() + tasks.open().count(), tasks.total());
    assert!(!tasks.all_closed() || tasks.total() > 0, "a file without tasks proves nothing");
    for (index, task) in tasks.iter().enumerate() {
        let ticked = tick(text, task);
        let mut expected: Vec<_> = tasks.iter().cloned().collect();
        expected[index].status = TaskStatus::Complete;
        assert_eq!(Tasks::parse(&ticked).iter().cloned().collect::<Vec<_>>(), expected, "{ticked:?}");
        assert_eq!(tick(&ticked, task), ticked, "ticking twice is ticking once");
        assert_eq!(ticked.lines().count(), text.lines().count());
    }
    if text.contains('\r') {
        return;
    }
    let crlf = text.replace('\n', "\r\n");
    assert_eq!(Tasks::parse(&crlf), tasks);
    assert_eq!(Tasks::parse(&text.replace('\n', "\r")), tasks);
    for task in &tasks {
        assert_eq!(tick(&crlf, task), tick(text, task).replace('\n', "\r\n"));
        assert!(text.split('\n').nth(task.line).is_some_and(|line| line.contains('[')), "{task:?}");
    }
}

/// The scanner finds what the definition says, however the text is cut into reads, and nothing that was defused.
pub fn promise(token: &str, text: &[u8], cuts: &[usize]) {
    let expected = is_promised(text, token);
    assert_eq!(scan(token, pieces(text, cuts)), expected, "{token:?} in {text:?}, cut at {cuts:?}");
    assert_eq!(scan(token, text.chunks(1)), expected, "{token:?} in {text:?}, byte by byte");
    let promised = [text, OPEN.as_bytes(), token.as_bytes(), CLOSE.as_bytes()].concat();
    assert!(scan(token, pieces(&promised, cuts)), "what comes before hides nothing");
    if let Ok(text) = std::str::from_utf8(text) {
        let defused = defuse(text);
        assert!(!scan(token, [defused.as_bytes()]) && !defused.contains(OPEN) && !defused.contains(CLOSE), "{text:?}");
        assert_eq!(defuse(&defused), defused.as_ref(), "defusing twice is defusing once");
        assert_eq!(defused.replace(BREAK, ""), text.replace(BREAK, ""), "nothing but the break is added");
    }
}

/// Whether a token is promised in the whole of a text: the definition, word for word.
fn is_promised(text: &[u8], token: &str) -> bool {
    let token = token.trim_ascii().as_bytes();
    (0..text.len()).any(|start| {
        text[start..]
            .strip_prefix(OPEN.as_bytes())
            .and_then(|rest| rest.trim_ascii_start().strip_prefix(token))
            .is_some_and(|rest| rest.trim_ascii_start().starts_with(CLOSE.as_bytes()))
    })
}

/// Whether a scanner finds the promise of a token in these reads.
pub(crate) fn scan<'a>(token: &str, reads: impl IntoIterator<Item = &'a [u8]>) -> bool {
    let mut scanner = Scanner::new(&Promise::new(token));
    reads.into_iter().for_each(|read| scanner.feed(read));
    scanner.found()
}

/// Whatever an agent prints is read alike however it is cut, and reaches a terminal as text, line ends and colours. `agent` is the
/// place of one in the table of agents.
pub fn output(agent: usize, bytes: &[u8], cuts: &[usize]) {
    let whole = read(agent, &[bytes]);
    assert_eq!(read(agent, &pieces(bytes, cuts)), whole, "cut at {cuts:?}");
    if bytes.len() < 1024 {
        assert_eq!(read(agent, &bytes.chunks(1).collect::<Vec<_>>()), whole, "byte by byte");
    }
    terminal(whole.0.as_bytes(), cuts);
    let reading = whole.1;
    assert!(!reading.promised || reading.events || reading.end.is_none(), "{reading:?}");
    assert_eq!(reading.silent, bytes.is_empty());
    assert!(reading.usage.counted() >= reading.usage.input.max(reading.usage.output), "counts never wrap around");
}

fn read(agent: usize, pieces: &[&[u8]]) -> (String, Reading) {
    let decoder = Harness::Ours(ALL[agent % ALL.len()]).decoder();
    let mut reader = Reader::new(decoder, Some(Scanner::new(&Promise::new("COMPLETE"))));
    let mut shown = Vec::new();
    let mut show = |piece: Shown| match piece {
        Shown::Raw(bytes) => shown.extend_from_slice(bytes),
        Shown::Said(text) => shown.extend_from_slice(text.as_bytes()),
        Shown::Tool(name, detail) => shown.extend_from_slice(format!("* {name} {detail}\n").as_bytes()),
        Shown::Note(text) | Shown::Error(text) => shown.extend_from_slice(format!("! {text}\n").as_bytes()),
        Shown::Json(_) | Shown::Unknown(_) => {}
    };
    for piece in pieces {
        reader.feed(piece, &mut show);
    }
    let mut reading = reader.finish(&mut show);
    // It is counted from now, and two readings are not at the same instant.
    reading.limit.iter_mut().for_each(|limit| limit.until = None);
    (String::from_utf8_lossy(&shown).into_owned(), reading)
}

/// What passes the filter is text, line ends, tabs and colours, and the same however the input was cut.
pub fn terminal(bytes: &[u8], cuts: &[usize]) {
    let whole = filtered(&[bytes]);
    assert_eq!(filtered(&pieces(bytes, cuts)), whole, "cut at {cuts:?}");
    let text = String::from_utf8(whole);
    assert!(text.is_ok(), "UTF-8");
    let rest = without_colours(&text.unwrap_or_default());
    let harmless = |c: char| c == '\n' || c == '\t' || !is_dangerous(c);
    assert!(rest.as_deref().is_some_and(|rest| rest.chars().all(harmless)), "{rest:?}");
    let name = plain(&String::from_utf8_lossy(bytes));
    assert!(!name.contains(is_dangerous), "{name:?}");
}

/// What no terminal may be given but in a colour, a line end or a tab.
fn is_dangerous(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn filtered(reads: &[&[u8]]) -> Vec<u8> {
    let (mut filter, mut out) = (Filter::new(), Vec::new());
    for read in reads {
        filter.feed(read, &mut out);
    }
    filter.finish(&mut out);
    out
}

/// `text` without the colours at its `ESC`s; `None` where an `ESC` starts anything else.
fn without_colours(text: &str) -> Option<String> {
    let mut parts = text.split('\x1b');
    let mut rest = parts.next()?.to_owned();
    for part in parts {
        let (parameters, after) = part.strip_prefix('[')?.split_once('m')?;
        if !parameters.chars().all(|c| c.is_ascii_digit() || c == ';' || c == ':') {
            return None;
        }
        rest.push_str(after);
    }
    Some(rest)
}

/// Any bytes are a state or broken; a state reads back as it was written, and is shown safely.
pub fn state(bytes: &[u8]) {
    let Ok(mut state) = serde_json::from_slice::<State>(bytes) else { return };
    let written = String::from_utf8(state.to_bytes().unwrap_or_default()).unwrap_or_default();
    let again = serde_json::from_str::<State>(&written);
    assert!(again.is_ok(), "{again:?} in {written}");
    let again = again.unwrap_or_default().to_bytes().unwrap_or_default();
    assert_eq!(String::from_utf8_lossy(&again), written, "what is written twice is the same");
    let again = serde_json::from_slice::<State>(&again).unwrap_or_default();
    assert_eq!(again.iterations.len(), state.iterations.len());
    assert!(state.iterations.iter().all(|iteration| iteration.n <= state.last_recorded()));
    let now = jiff::Timestamp::UNIX_EPOCH;
    let shown = report::iterations(&state.iterations, now).render(Some(80), Colour::Never);
    assert!(shown.chars().all(|c| c == '\n' || !is_dangerous(c)), "{shown:?}");
    let _ = (report::progress(&state), report::time(&state.started_at, now));
}

/// Any text is a configuration or told to be none, in one line; that of a repository sets nothing but what can do no harm.
pub fn config(text: &str) {
    let path = Path::new("config.toml");
    for trust in [Trust::User, Trust::Repository] {
        match Layer::from_text(text, path, trust) {
            Err(error) => assert!(!plain(&error.to_string()).contains('\n')),
            Ok(layer) if trust == Trust::Repository => {
                assert!(layer.own_agents.is_empty() && layer.prompt_template.is_none());
                assert_eq!(layer.launch, LaunchOptions::default(), "a repository chooses no terminal");
                assert_eq!(only_harmful(layer.options), LoopOptions::default(), "a repository chooses what runs");
            }
            Ok(_) => {}
        }
    }
    for (file, commands) in sources::read_any(text) {
        assert!(
            commands.iter().all(|command| !command.trim().is_empty()),
            "{file}: an empty command would always pass"
        );
    }
}

/// The options without those that a repository may set.
fn only_harmful(options: LoopOptions) -> LoopOptions {
    let cleared = LoopOptions {
        model: None,
        max: None,
        min: None,
        done: None,
        completion_promise: None,
        stall_threshold: None,
        progress: None,
        iteration_timeout: None,
        idle_timeout: None,
        max_time: None,
        limit_wait: None,
        validation_timeout: None,
        error_threshold: None,
        ..options
    };
    assert_eq!(HARMLESS.len(), 13, "the list above is that of the keys that a repository may set");
    cleared
}

/// What is typed leads to one of the names that are there, which is one step down from its folder, or nowhere.
pub fn change(typed: &str, names: &[String]) {
    for kind in [Kind::Change, Kind::Module] {
        match pick(kind, typed, Ok(names.to_vec()), Path::new("changes")) {
            Ok(name) => {
                assert!(names.contains(&name) && name.starts_with(typed), "{typed:?} became {name:?}");
                let exact = names.iter().any(|has| has == typed);
                assert!(!exact || name == typed, "the whole name counts first");
                let parts: Vec<Component> = Path::new(typed).components().collect();
                assert!(matches!(parts.as_slice(), [Component::Normal(_)]), "{typed:?} is no name");
            }
            Err(error) => assert!(!plain(&error.to_string()).contains(is_dangerous)),
        }
    }
}

/// `bytes` cut at these places, each taken modulo the length.
fn pieces<'a>(bytes: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut at: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).chain([0, bytes.len()]).collect();
    at.sort_unstable();
    at.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}
