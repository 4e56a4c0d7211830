//! lisle: a full-screen terminal home for agent conversations.

pub mod app;
pub mod config;
pub mod domain;
pub mod permit;
pub mod provider;
pub mod theme;
pub mod tools;
pub mod ui;
