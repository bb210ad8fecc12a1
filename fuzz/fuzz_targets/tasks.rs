//! Any text as a tasks.md.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| wt_loop::fuzzing::tasks(text));
