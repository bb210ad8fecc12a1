//! Every terminal that Debian has, by a line each: a loop in a window, its titles, its full screen, its end.

use std::collections::BTreeSet;
use std::fs;

use wt_loop::launch::Launcher;
use wt_loop::launch::terminals::{TERMINALS, Terminal, Tested};

use super::desktop::Desktop;
use super::{ODD, alone, left_of};
use crate::support::{HOLDS, World, run, wait_until};

macro_rules! terminals {
    ($($test:ident: $name:literal by $program:literal,)*) => {
        $(#[test]
        fn $test() {
            a_loop_has_a_window_of($name, $program);
        })*

        /// Those that have a test here, and the one of the other module.
        const WITH_A_TEST: &[&str] = &[$($name,)* "foot"];
    };
}

terminals! {
    xterm: "xterm" by "xterm",
    kitty: "kitty" by "kitty",
    alacritty: "alacritty" by "alacritty",
    gnome_terminal: "gnome-terminal" by "gnome-terminal",
    xfce4_terminal: "xfce4-terminal" by "xfce4-terminal",
    konsole: "konsole" by "konsole",
    st: "st" by "stterm",
    urxvt: "urxvt" by "urxvt",
    lxterminal: "lxterminal" by "lxterminal",
    mate_terminal: "mate-terminal" by "mate-terminal",
    terminator: "terminator" by "terminator",
    tilix: "tilix" by "tilix",
}

#[test]
fn a_terminal_that_is_said_to_be_tested_has_a_test() {
    let said = TERMINALS.iter().filter(|terminal| matches!(terminal.tested, Tested::Windows(_)));
    let said: BTreeSet<&str> = said.map(|terminal| terminal.name).collect();
    assert_eq!(said, WITH_A_TEST.iter().copied().collect());
}

/// The scene of the picture in the README, which is a copy of `target/tmp/terminals/readme.png`.
#[test]
fn the_picture_of_the_readme() {
    let mut world = World::new();
    world.move_to("shop-ralph");
    let tasks = ["Read the price list from a file", "Add up an order", "Take off the discount"];
    world.write("tasks.md", &tasks.map(|task| format!("- [ ] {task}\n")).concat());
    world.write(".wt-loop.toml", "validation = [\"git diff --quiet HEAD\"]\n");
    world.git(&world.root, &["add", "."]);
    world.git(&world.root, &["commit", "-qm", "tasks"]);
    let _alone = alone();
    if !world.bring(&["xterm"]) {
        return;
    }
    let Some(desktop) = Desktop::open(&world) else { return };
    let look = ["-fa", "DejaVu Sans Mono", "-fs", "11", "-bg", "#16181d", "-fg", "#d7dae0", "-geometry", "92x22"];
    world.user_config(&format!("[terminals.mine]\ncommand = [\"xterm\", \"{}\", \"-e\"]\n", look.join("\", \"")));
    let args = ["start", "Build the shop", "--harness", "rehearsal", "--max", "10", "--launcher", "mine"];
    world.wt_env(&desktop.environment(), &args).exit(0);
    let window = desktop.wait_for_window();
    desktop.wait_for_title(window, "Ralph: shop-ralph [done]");
    wait_until("the end of the loop", || !world.root.join(".claude/ralph-terminal.pid").exists());
    desktop.keep_picture_of(window, "readme");
}

fn a_loop_has_a_window_of(name: &str, program: &str) {
    let mut world = World::with_agent(HOLDS);
    world.move_to(ODD);
    let _alone = alone();
    if !world.bring(&[program]) {
        return;
    }
    let Some(desktop) = Desktop::open(&world) else { return };
    it_tells_its_progress_fills_the_screen_and_waits_for_a_key(&world, &desktop, name, program);
    it_goes_with_the_loop_where_that_is_asked_for(&world, &desktop, name, program);
    it_goes_with_the_loop_that_is_stopped(&world, &desktop, name, program);
    its_end_is_the_end_of_the_loop(&world, &desktop, name, program);
}

/// A window in a process that is there already, started by somebody with another environment.
#[test]
fn the_environment_of_the_shell_reaches_the_agent_in_an_older_process() {
    let world = World::with_agent(
        "cat > /dev/null\necho \"$FLAVOUR\" > flavour.part && mv flavour.part flavour\nexec sleep 1000\n",
    );
    let _alone = alone();
    if !world.bring(&["gnome-terminal"]) {
        return;
    }
    let Some(desktop) = Desktop::open(&world) else { return };
    for (root, flavour) in [(&world.main, "old"), (&world.root, "new")] {
        let mut start = world.command(world.program());
        start.args(["start", "task", "--launcher", "gnome-terminal"]).current_dir(root);
        run({
            start.envs(desktop.environment()).env("FLAVOUR", flavour);
            start
        })
        .exit(0);
        wait_until("the agent", || root.join("flavour").exists());
        assert_eq!(fs::read_to_string(root.join("flavour")).unwrap().trim_end(), flavour);
    }
    assert_eq!(world.processes_like("gnome-terminal-server").len(), 1, "both windows are in one process");
    assert_eq!(desktop.windows().len(), 2);
}

fn it_tells_its_progress_fills_the_screen_and_waits_for_a_key(
    world: &World,
    desktop: &Desktop,
    name: &str,
    program: &str,
) {
    let args = ["start", "task", "--launcher", name, "--max", "2", "--fullscreen"];
    let answer = world.wt_env(&desktop.environment(), &args).exit(0);
    let answer = answer.stdout_has(&format!("{ODD} runs in a window of {name} (pid "));
    let window = desktop.wait_for_window();
    desktop.wait_for_title(window, &format!("Ralph: {ODD} [1/2]"));
    let note = format!("{name} has no full screen; starting all the same");
    if Launcher::Terminal(Terminal::named(name).unwrap()).fullscreen().is_empty() {
        answer.stderr_has(&note);
    } else {
        answer.lacks(&note);
        desktop.wait_until_full(window);
    }
    world.let_go(1);
    desktop.wait_for_title(window, &format!("Ralph: {ODD} [2/2]"));
    world.let_go(2);
    desktop.wait_for_title(window, &format!("Ralph: {ODD} [stuck]"));

    // The loop is over, the window is not.
    wait_until("the end of the loop", || !world.root.join(".claude/ralph-terminal.pid").exists());
    world.wt(&["stop"]).exit(0).stdout_has("is already over (stuck");
    desktop.keep_picture(name);
    assert_eq!(desktop.windows(), [window]);
    desktop.press(window, "space");
    everything_is_gone(world, desktop, program);
}

fn it_goes_with_the_loop_where_that_is_asked_for(world: &World, desktop: &Desktop, name: &str, program: &str) {
    again(world);
    world.wt_env(&desktop.environment(), &["start", "task", "--launcher", name, "--close", "--max", "1"]).exit(0);
    desktop.wait_for_window();
    world.let_go(1);
    everything_is_gone(world, desktop, program);
    assert_eq!(world.state()["status"], "stuck");
}

fn it_goes_with_the_loop_that_is_stopped(world: &World, desktop: &Desktop, name: &str, program: &str) {
    again(world);
    world.wt_env(&desktop.environment(), &["start", "task", "--launcher", name]).exit(0);
    desktop.wait_for_window();
    world.wait_until_held(1);
    world.wt(&["stop"]).exit(0).stdout_has("stopped the loop in");
    assert_eq!(world.state()["status"], "stopped");
    everything_is_gone(world, desktop, program);
}

fn its_end_is_the_end_of_the_loop(world: &World, desktop: &Desktop, name: &str, program: &str) {
    again(world);
    world.wt_env(&desktop.environment(), &["start", "task", "--launcher", name]).exit(0);
    let window = desktop.wait_for_window();
    world.wait_until_held(1);
    desktop.close(window);
    let state = world.wait_for_state("stopped", |state| state["status"] == "stopped");
    assert_eq!(state["status_reason"], "interrupted by SIGHUP (the terminal was closed)");
    everything_is_gone(world, desktop, program);
}

/// Lets the agent begin anew.
fn again(world: &World) {
    // A server that is about to leave, since its last window was closed, takes no new one.
    wait_until("the end of a terminal's server", || world.processes_like("gnome-terminal-server").is_empty());
    for n in 1..=2 {
        let _ = fs::remove_file(world.beside(&format!("prompt-{n}")));
        let _ = fs::remove_file(world.beside(&format!("go-{n}")));
    }
}

fn everything_is_gone(world: &World, desktop: &Desktop, program: &str) {
    desktop.wait_until_empty();
    wait_until("the end of every process of the loop and its window", || left_of(world, program).is_empty());
}
