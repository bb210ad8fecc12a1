//! Waiting for a key, so that what is on the screen can be read before its window closes.

use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::termios::{FlushArg, LocalFlags, SetArg, tcflush, tcgetattr, tcsetattr};

use super::{DIM, narrate, paint};

/// How often it is asked whether the wait is over for another reason.
const GLANCE: Duration = Duration::from_millis(500);

/// Waits until a key is pressed, the terminal is gone, `waker` has something to read, or `enough` says so. What was typed
/// before is no answer. Where no terminal is, it does not wait.
pub fn wait_for_key(waker: BorrowedFd, enough: impl Fn() -> bool) {
    let stdin = io::stdin();
    let Some(usual) = tcgetattr(&stdin).ok().filter(|_| stdin.is_terminal()) else { return };
    let mut keys = usual.clone();
    keys.local_flags.remove(LocalFlags::ICANON | LocalFlags::ECHO);
    let _ = tcsetattr(&stdin, SetArg::TCSANOW, &keys);
    let _ = tcflush(&stdin, FlushArg::TCIFLUSH);
    narrate(&paint(DIM, "press a key to close this window"));
    loop {
        let mut watched = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN), PollFd::new(waker, PollFlags::POLLIN)];
        let ready = poll(&mut watched, PollTimeout::try_from(GLANCE).unwrap_or(PollTimeout::MAX));
        if ready.is_ok_and(|ready| ready > 0) || enough() {
            break;
        }
    }
    let _ = tcsetattr(&stdin, SetArg::TCSANOW, &usual);
}
