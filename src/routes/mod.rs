//! Routes of messages: session keys, their rows, routing, resets, send policy, queue, maintenance.
//!
//! Values and pure functions, where time, zone and settings are arguments; [`store`] alone has the files. The gateway
//! and the channel adapters are left to the callers. "The reference" is OpenClaw, with Fased, whose keys and files
//! these are.

pub mod allow;
pub mod channel_config;
pub mod config;
pub mod key;
pub mod listing;
pub mod maintenance;
pub mod named;
pub mod owner_command;
pub mod queue;
pub mod reset;
pub mod routing;
pub mod row;
pub mod send_policy;
pub mod store;
mod words;
