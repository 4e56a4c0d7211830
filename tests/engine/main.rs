//! The engine through the library: providers against servers on loopback, commands through the real program.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failing test should stop where it fails")]

mod provider;
mod provider_wires;
#[path = "../support/mod.rs"]
mod support;
mod tools_bash;
mod tools_jobs;
mod worktree;
