//! What an agent inherits from us, and what it does not; looked at from outside, while it sleeps.

use std::collections::BTreeSet;

use nix::sys::signal::Signal;

use crate::support::{Cast, Running, World, agents, cast, spawn, wait_for, wait_until};

/// A loop that was started by this line of bash, and its agent that sleeps.
fn sleeping(world: &World, how: &str) -> (Running, Cast) {
    let mut command = world.command("bash");
    command.args(["-c", how]).env("WT_LOOP", world.program());
    let running = spawn(command);
    world.wait_for_log("sleeping");
    let cast = Cast::of(running.pid());
    wait_until("an agent that is no shell any more", || cast::name(cast.agent) == "sleep");
    (running, cast)
}

fn end(running: Running) {
    running.signal(Signal::SIGTERM);
    running.wait().exit(130);
}

/// Two signals that the C library keeps for itself: no program can set them, so they stay as the machine has them.
const RESERVED: u64 = 1 << (32 - 1) | 1 << (33 - 1);

/// Signals, descriptors and group of an agent are those of a program that a login shell starts.
fn is_untouched(agent: i32) {
    for set in ["SigIgn", "SigCgt", "SigBlk"] {
        assert_eq!(cast::signals(agent, set) & !RESERVED, 0, "{set}");
    }
    // The loader of a program that has just begun opens its libraries for a moment; what was leaked stays.
    let three = BTreeSet::from([0, 1, 2]);
    wait_until("three descriptors and no more", || cast::descriptors(agent) == three);
    assert_eq!(cast::place(agent).unwrap().group, agent, "it leads a group of its own");
}

#[test]
fn an_agent_inherits_defaults_and_three_descriptors() {
    let world = World::with_agent(agents::SLEEPS);
    let (running, cast) = sleeping(&world, "exec env --default-signal \"$WT_LOOP\" run x");
    is_untouched(cast.agent);
    end(running);
}

#[test]
fn an_agent_inherits_defaults_where_its_loop_did_not() {
    let world = World::with_agent(agents::SLEEPS);
    let how = "exec 7< /dev/null 19> /dev/null 200<> /dev/null
               exec env --ignore-signal=HUP,INT,QUIT,PIPE,USR1,CHLD,ALRM,RTMIN+3 --block-signal=USR2,WINCH,RTMIN+4 \
               \"$WT_LOOP\" run x";
    let (running, cast) = sleeping(&world, how);
    let hup_and_int = 0b11;
    assert_eq!(
        cast::signals(cast.looper, "SigIgn") & hup_and_int,
        hup_and_int,
        "what was ignored stays so in the loop"
    );
    is_untouched(cast.agent);
    end(running);
}

#[test]
fn a_background_loop_keeps_no_descriptor_of_the_shell_that_started_it() {
    let world = World::with_agent(agents::SLEEPS);
    let mut command = world.command("bash");
    command.args(["-c", "exec 7< /dev/null 19> /dev/null; exec \"$WT_LOOP\" start x --launcher background"]);
    command.env("WT_LOOP", world.program());
    crate::support::run(command).exit(0);
    world.wait_for_log("sleeping");
    let looper = world.read(".claude/ralph-terminal.pid").trim().parse().unwrap();
    for descriptor in cast::descriptors(looper) {
        assert!(descriptor == 0 || !leads_to_null(looper, descriptor), "{descriptor} is the shell's");
    }
    world.wt(&["stop"]).exit(0);
    assert_eq!(world.processes(), []);
}

fn leads_to_null(pid: i32, fd: i32) -> bool {
    std::fs::read_link(format!("/proc/{pid}/fd/{fd}")).is_ok_and(|to| to.as_os_str() == "/dev/null")
}

#[test]
fn a_guard_has_a_name_and_a_session_and_adopts_orphans() {
    let world = World::with_agent("(setsid sleep \"$NAP\" &)\necho sleeping\nexec sleep 1000\n");
    let (running, cast) = sleeping(&world, "exec \"$WT_LOOP\" run x");
    assert_eq!(cast::name(cast.guard), "wt-loop-guard");
    let guard = cast::place(cast.guard).unwrap();
    assert_eq!((guard.session, guard.group, guard.terminal), (cast.guard, cast.guard, 0));
    assert_eq!(guard.parent, cast.looper);
    let orphan = wait_for("the orphan", || world.processes_like(&format!("sleep {}", world.nap)).pop());
    assert_eq!(cast::place(orphan.pid).unwrap().parent, cast.guard, "the guard is a subreaper");
    end(running);
    assert_eq!(world.processes(), []);
}
