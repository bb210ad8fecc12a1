//! foot, under a Wayland compositor.

use super::compositor::Compositor;
use super::{ODD, alone, left_of};
use crate::support::{HOLDS, World, wait_until};

#[test]
fn foot() {
    let mut world = World::with_agent(HOLDS);
    world.move_to(ODD);
    let _alone = alone();
    if !world.bring(&["foot"]) {
        return;
    }
    let Some(compositor) = Compositor::open(&world) else { return };
    let socket = compositor.socket();
    let display = [("WAYLAND_DISPLAY", socket.to_str().unwrap())];
    let is_gone = || wait_until("the end of everything", || left_of(&world, "foot").is_empty());

    let args = ["start", "task", "--max", "1", "--fullscreen", "--verbose"];
    let answer = world.wt_env(&display, &args).exit(0).stdout_has(&format!("{ODD} runs in a window of foot (pid "));
    answer.stderr_has("wt-loop: the launcher is foot: foot is installed\n");
    compositor.wait_for_window(&format!("Ralph: {ODD} [1/1]"), true);
    world.let_go(1);
    compositor.wait_for_window(&format!("Ralph: {ODD} [stuck]"), true);
    world.wait_for_state("stuck", |state| state["status"] == "stuck");
    compositor.keep_picture("foot");
    compositor.close();
    is_gone();

    std::fs::remove_file(world.beside("go-1")).unwrap();
    world.wt_env(&display, &["start", "task", "--launcher", "foot"]).exit(0);
    compositor.wait_for_window(&format!("Ralph: {ODD} [1/10]"), false);
    world.wt(&["stop"]).exit(0);
    is_gone();
    assert_eq!(compositor.windows(), []);
}
