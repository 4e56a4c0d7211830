//! lisle: a full-screen terminal home for agent conversations.

pub mod agent;
pub mod app;
pub mod cli;
pub mod config;
pub mod domain;
pub mod keymap;
pub mod permit;
pub mod provider;
pub mod runtime;
pub mod sandbox;
pub mod store;
pub mod theme;
pub mod tools;
pub mod ui;
