//! The last step before another program: what is inherited is set right, then that program takes our place.
//!
//! The agent gets default signal dispositions, an empty mask, no descriptor but its three, and the kernel's word that
//! it dies when its guard does. All of it without unsafe code: a caught signal is reset by `exec`, so catching what was
//! inherited as ignored makes it default again.

use std::convert::Infallible;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use nix::sys::signal::SigSet;
use nix::unistd::{close, getppid, setsid};

use super::wire;
use crate::error::reason;

/// The exit code of a shim whose program could not be started; the guard has been told why.
const NOT_STARTED: u8 = 127;

/// Becomes the program that the guard names on the standard input, in front of that program's own. The arguments are
/// `REPORT_FD GUARD_PID`. It is started ahead: all that can be done before the program is known is done by then.
pub fn main(mut args: impl Iterator<Item = OsString>) -> ExitCode {
    let mut number = || args.next()?.to_str()?.parse::<i32>().ok();
    let (Some(report), Some(guard)) = (number(), number()) else { return ExitCode::from(NOT_STARTED) };
    die_with_parent();
    if getppid().as_raw() != guard {
        // The guard died before the kernel could be asked to tell us.
        return ExitCode::from(NOT_STARTED);
    }
    // Opened again, the report ends by itself when the program takes our place.
    let told = OpenOptions::new().write(true).open(format!("/dev/fd/{report}"));
    reset_signals();
    close_all_but(told.as_ref().ok());
    let error = match become_program() {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return ExitCode::from(NOT_STARTED),
        Err(error) => error,
    };
    if let Ok(mut told) = told {
        let _ = told.write_all(reason(&error).as_bytes());
    }
    ExitCode::from(NOT_STARTED)
}

fn become_program() -> io::Result<Infallible> {
    // Not a byte more than the program is read, since its input follows.
    let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let (program, fed) = wire::take_up(&input)?;
    let mut command = Command::new(program.path);
    command.args(program.args).env_clear().envs(program.env).current_dir(program.cwd);
    if fed == 0 {
        command.stdin(Stdio::null());
    }
    Err(command.exec())
}

/// Leaves the terminal's session and becomes `PROGRAM [ARG…]`.
pub fn detach_main(mut args: impl Iterator<Item = OsString>) -> ExitCode {
    let Some(program) = args.next() else { return ExitCode::FAILURE };
    let _ = setsid();
    reset_signals();
    // A loop that goes on in the background must not keep a pipe or a lock of the shell that started it.
    close_all_but(None);
    let error = Command::new(program).args(args).exec();
    let _ = writeln!(std::io::stderr(), "wt-loop: cannot start again: {}", reason(&error));
    ExitCode::FAILURE
}

#[cfg(all(target_os = "linux", not(wt_loop_portable)))]
fn die_with_parent() {
    let _ = nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL);
}

#[cfg(not(all(target_os = "linux", not(wt_loop_portable))))]
fn die_with_parent() {}

fn reset_signals() {
    let caught = Arc::new(AtomicBool::new(false));
    for number in 1..=64 {
        if !signal_hook::consts::FORBIDDEN.contains(&number) {
            // Some numbers belong to the C library and are refused; those are never inherited as ignored.
            let _ = signal_hook::flag::register(number, Arc::clone(&caught));
        }
    }
    let _ = SigSet::empty().thread_set_mask();
}

fn close_all_but(kept: Option<&File>) {
    use std::os::fd::AsRawFd;
    let kept = kept.map(AsRawFd::as_raw_fd);
    let Ok(open) = fs::read_dir("/dev/fd") else { return };
    let open: Vec<i32> = open.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for fd in open.into_iter().filter(|&fd| fd > 2 && Some(fd) != kept) {
        let _ = close(fd);
    }
}
