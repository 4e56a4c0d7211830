//! The roof: channels, terminal, clock and tasks meet here, and nothing else is decided here.
//!
//! `input` reads the terminal, `terminal` sets it up and restores it, `frames` and `encode` write to it, `run` is the
//! loop, `effects` does what the screen asks for.

pub mod encode;
pub mod frames;
pub mod input;
pub mod memory;
pub mod setup;
pub mod terminal;
pub mod tty;

/// STAND-IN
pub async fn app(_: setup::Ground, _: Option<String>) -> anyhow::Result<Option<crate::domain::SessionId>> { anyhow::bail!("no screen") }
