//! The tests that drive the real binary, in a sealed world, with scripted agents on PATH.
//!
//! One module per requirement document or promise; each test is named after the scenario it proves.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "what a test cannot go on without is to fail it")]

mod support;

mod bad_input;
mod commands;
mod costs;
mod deaths;
mod document_003;
mod document_004;
mod generated;
mod many;
mod real_agents;
mod terminal;
