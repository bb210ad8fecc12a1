//! The tests that drive the real binary, in a sealed world, with scripted agents on PATH.
//!
//! One module per requirement document or promise; each test is named after the scenario it proves.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "what a test cannot go on without is to fail it")]

mod support;

mod against_the_loop;
mod agents;
mod bad_input;
mod commands;
mod costs;
mod deaths;
mod document_000;
mod document_001;
mod document_002;
mod document_003;
mod document_004;
mod gates;
mod generated;
mod hostile;
mod many;
mod notify;
mod picker;
mod privilege;
mod ralph;
mod real_agents;
mod terminal;
mod terminals;
mod titles;
mod trust;
mod validate;
