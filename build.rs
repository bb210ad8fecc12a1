//! Links GCC's unwinder into the program, where the linker has it as an archive, instead of loading `libgcc_s.so` at every start.
//!
//! The standard library asks for `-lgcc_s`, though a program that aborts on panic needs it for backtraces alone. Loading
//! it is a tenth of what `wt-loop status` costs; a linker script of that name, found first, names the archive in its place.

use std::path::Path;
use std::process::Command;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |key: &str| env::var(format!("CARGO_CFG_TARGET_{key}")).unwrap_or_default();
    if target("OS") != "linux" || target("ENV") != "gnu" || !linker_has_the_archive() {
        return Ok(());
    }
    let dir = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&dir).join("libgcc_s.so"), "INPUT(-lgcc_eh)\n")?;
    println!("cargo::rustc-link-search=native={dir}");
    Ok(())
}

/// A compiler that does not know a file prints its bare name.
fn linker_has_the_archive() -> bool {
    let linker = env::var("RUSTC_LINKER").unwrap_or_else(|_| "cc".to_owned());
    let answer = Command::new(linker).arg("-print-file-name=libgcc_eh.a").output();
    answer.is_ok_and(|said| String::from_utf8_lossy(&said.stdout).contains('/'))
}
