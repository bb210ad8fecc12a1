//! Any output of any agent: the first byte names the agent, the next six the cuts, the rest is what it prints.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let Some(([agent, cuts @ ..], bytes)) = input.split_first_chunk::<7>() else { return };
    let cuts: Vec<usize> = cuts.chunks(2).map(|pair| usize::from(pair[0]) * 256 + usize::from(pair[1])).collect();
    wt_loop::fuzzing::output(usize::from(*agent), bytes, &cuts);
});
