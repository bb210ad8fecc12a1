//! The program is broken on purpose, systematically: each module is a class of faults, tried at every point there is.
//!
//! A test here ends with a line `FAULTS: …` that says how many points were tried and how many held; `scripts/test` shows these
//! lines at its end, and the README tells of them ([`classes`]). `WT_LOOP_UNDER_TEST` names another binary than the debug build.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "what a test cannot go on without is to fail it")]

#[path = "../it/support/mod.rs"]
#[expect(dead_code, unused_imports, reason = "shared with the other tests; each uses its part of it")]
mod support;

mod classes;
mod crash;
mod errors;
mod guard;
mod injection;
mod many;
mod pids;
mod resources;
mod scenario;
mod tally;
mod time;
