//! Any text as the configuration of a user, of a repository, and as a source of validation commands.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| wt_loop::fuzzing::config(text));
