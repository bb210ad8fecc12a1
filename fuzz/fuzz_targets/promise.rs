//! Any token in any output, cut anywhere.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: (&str, [u16; 3], &[u8])| {
    let (token, cuts, text) = input;
    wt_loop::fuzzing::promise(token, text, &cuts.map(usize::from));
});
