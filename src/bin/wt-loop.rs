//! The one executable. Everything is in the library, so that tests and tools can reach it.

use std::process::ExitCode;

fn main() -> ExitCode {
    wt_loop::main()
}
