//! Any bytes as a loop-state.json.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| wt_loop::fuzzing::state(bytes));
