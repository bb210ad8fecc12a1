//! Prompts and outputs of any size and any bytes, in bounded memory.

use std::fs;
use std::process::Stdio;

use serde_json::json;

use crate::support::{Cast, World, cast, wait_until};

const MIB: usize = 1024 * 1024;

/// A prompt that no pipe and no socket holds at once.
fn long_prompt(world: &World) -> String {
    let text: String = (0..).map(|n| format!("line {n} of a very long task\n")).take(60_000).collect();
    assert!(text.len() > MIB);
    world.write("task.txt", &text);
    text
}

#[test]
fn a_long_prompt_arrives_whole() {
    let world = World::with_agent("cat > \"$TMPDIR/prompt\"\n");
    let text = long_prompt(&world);
    world.wt(&["run", "--prompt-file", "task.txt", "--max", "1"]).exit(3);
    let arrived = fs::read_to_string(world.base().join("tmp/prompt")).unwrap();
    assert!(arrived.contains(text.trim_end()), "{} of {} bytes arrived", arrived.len(), text.len());
    // What comes after the task is there too.
    assert!(arrived.lines().last().unwrap() != text.lines().last().unwrap());
}

#[test]
fn an_agent_that_never_reads_its_prompt_holds_nothing_up() {
    let world = World::with_agent(
        "case $WT_LOOP_RUN_ITERATION in
         1) exit 0 ;;
         2) exec 0<&-; echo closed; sleep 0.1; exit 0 ;;
         3) exec sleep 1000 ;;
         esac\n",
    );
    long_prompt(&world);
    let options = ["--max", "3", "--stall-threshold", "0", "--iteration-timeout", "2s"];
    world.wt(&[&["run", "--prompt-file", "task.txt"], &options[..]].concat()).exit(3);
    let reasons: Vec<_> = (0..3).map(|n| world.state()["iterations"][n]["exit_reason"].clone()).collect();
    assert_eq!(reasons, [json!("completed"), json!("completed"), json!("timed_out")]);
    assert_eq!(world.processes(), []);
}

#[test]
fn endless_lines_and_endless_output_need_little_memory() {
    let world = World::with_agent(
        "cat > /dev/null
         head -c 67108864 /dev/zero | tr '\\0' x
         yes 'a line like any other, of the usual length' | head -c 142000000
         touch \"$TMPDIR/said\"
         until [ -e \"$TMPDIR/go\" ]; do sleep 0.02; done\n",
    );
    let running = world.spawn(&["run", "x", "--max", "1", "--no-stream"]);
    wait_until("the end of the output", || world.base().join("tmp/said").exists());
    let cast = Cast::of(running.pid());
    for (who, pid) in [("loop", cast.looper), ("guard", cast.guard)] {
        let peak = cast::size(pid, "VmHWM");
        assert!(peak < 20 * MIB as u64, "the {who} took {} MiB", peak / MIB as u64);
    }
    fs::write(world.base().join("tmp/go"), "").unwrap();
    running.wait().exit(3);
    let log = fs::read(world.root.join(".claude/ralph-loop.log")).unwrap();
    let said: usize =
        log.split(|&byte| byte == b'\n').filter(|line| !line.starts_with(b"wt-loop:")).map(<[u8]>::len).sum();
    let lines = 142_000_000 / 43;
    assert!(said >= 67_108_864 + lines * 42, "{said} bytes in the log");
}

#[test]
fn every_byte_arrives_in_the_log_and_on_the_other_side_of_a_pipe() {
    let world = World::with_agent(
        "cat > /dev/null\ncase $WT_LOOP_RUN_ITERATION in\n1) cat \"$TMPDIR/bytes\" ;;\n*) cat \"$TMPDIR/more\" >&2 ;;\nesac\n",
    );
    // Every byte, every pair with an escape, and text that is no UTF-8, cut anywhere.
    let bytes: Vec<u8> = (0..=255u8).flat_map(|byte| [byte, 0x1b, byte, 0xf0, 0x9f]).cycle().take(300_007).collect();
    let more: Vec<u8> = b"\xff\xfe no text \xc3(\x00)".repeat(1000);
    fs::write(world.base().join("tmp/bytes"), &bytes).unwrap();
    fs::write(world.base().join("tmp/more"), &more).unwrap();
    let mut command = world.command(world.program());
    let output =
        command.args(["run", "x", "--max", "2", "--stall-threshold", "0"]).stderr(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let log = fs::read(world.root.join(".claude/ralph-loop.log")).unwrap();
    let has = |text: &[u8], part: &[u8]| memchr::memmem::find(text, part).is_some();
    assert!(has(&log, &bytes) && has(&log, &more), "the log keeps every byte");
    assert!(has(&output.stdout, &bytes), "a pipe gets every byte");
}
