//! Anything typed, among any names of changes and modules: a line each, the first is what was typed.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    let mut lines = text.lines().map(str::to_owned);
    let typed = lines.next().unwrap_or_default();
    wt_loop::fuzzing::change(&typed, &lines.collect::<Vec<_>>());
});
