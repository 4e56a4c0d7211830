//! lisle: a full-screen terminal home for agent conversations.

pub mod app;
pub mod domain;
pub mod keymap;
pub mod permit;
pub mod provider;
pub mod runtime;
pub mod theme;
pub mod tools;
pub mod ui;
