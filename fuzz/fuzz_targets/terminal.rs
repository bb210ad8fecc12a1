//! Any bytes on their way to a terminal, cut anywhere.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: ([u16; 3], &[u8])| {
    let (cuts, bytes) = input;
    wt_loop::fuzzing::terminal(bytes, &cuts.map(usize::from));
});
