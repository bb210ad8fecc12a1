//! The parts that see every byte or every iteration: the scanner, the decoders, the tasks parser and the state writer.

#![expect(clippy::expect_used, reason = "a measurement that cannot be made is no measurement")]

use divan::Bencher;
use divan::counter::BytesCount;
use wt_loop::agent::reader::Reader;
use wt_loop::agent::{Agent, Harness};
use wt_loop::promise::{Promise, Scanner};
use wt_loop::state::{Iteration, State};
use wt_loop::tasks::Tasks;

fn main() {
    divan::main();
}

const TEXT: &str = "the quick brown fox <b>jumps</b> over the lazy dog and promises nothing at all\n";

#[divan::bench]
fn the_scanner_over_a_megabyte_of_text(bencher: Bencher) {
    let text = TEXT.repeat((1 << 20) / TEXT.len());
    bencher.counter(BytesCount::of_str(&text)).bench(|| {
        let mut scanner = Scanner::new(&Promise::new("COMPLETE"));
        scanner.feed(text.as_bytes());
        scanner.found()
    });
}

#[divan::bench(args = ["claude", "codex", "opencode", "gemini", "pi"])]
fn the_decoder_over_a_recording(bencher: Bencher, agent: &str) {
    let recording = recording(agent);
    let harness = Harness::Ours(Agent::named(agent).expect("an agent of that name"));
    bencher.counter(BytesCount::of_slice(&recording)).bench(|| {
        let mut reader = Reader::new(harness.decoder(), Some(Scanner::new(&Promise::new("COMPLETE"))));
        reader.feed(&recording, &mut |_| {});
        reader.finish(&mut |_| {})
    });
}

/// All that was recorded of an agent.
fn recording(agent: &str) -> Vec<u8> {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/agents");
    let files = std::fs::read_dir(dir).expect("the recordings").flatten();
    let of_agent = files.filter(|file| file.file_name().to_string_lossy().starts_with(agent));
    of_agent.flat_map(|file| std::fs::read(file.path()).expect("a recording")).collect()
}

#[divan::bench(args = [10, 1000])]
fn the_tasks_parser(bencher: Bencher, tasks: usize) {
    let text = "## Part\n\n- [x] 1.1 done\n- [ ] 1.2 to do\n\nWords.\n\n".repeat(tasks);
    bencher.counter(BytesCount::of_str(&text)).bench(|| Tasks::parse(&text));
}

#[divan::bench(args = [10, 10_000])]
fn the_state_writer(bencher: Bencher, iterations: usize) {
    let one = Iteration { started: "2026-01-01T00:00:00Z".into(), ..Iteration::default() };
    let mut state = State { iterations: (0..iterations).map(|_| one.clone()).collect(), ..State::default() };
    bencher.bench_local(|| state.to_bytes());
}
