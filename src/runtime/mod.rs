//! The roof: channels, terminal, clock and tasks meet here, and nothing else is decided here.
//!
//! `setup` puts the engine together, `open` opens its connections, and `start` shows a workspace. `client` is what the
//! screen and linear mode share: the loop, timers, background tasks and the end. `screen` draws frames and reads keys,
//! `linear` prints and reads lines. `terminal` takes the terminal and gives it back, on the two ends that `tty` opened, and
//! `strays` keeps others from writing on it; `terminal_cache` knows what it answered last time. `input` reads it; `frames`
//! and `encode` write to it what `renderer` draws, `graphics` what is drawn of pictures, `highlighter` colours code.
//! `signals` come from the system. `clipboard`, `editor` and `viewer` are the ways to other programs; `workspaces` lists
//! workspaces and remembers the last one, `files` finds files, `extensions` reads skills, agents and commands, `keymap_files`
//! the keymap. `inspector` shows what keys arrive, `doctor` what of this machine can be used.

mod client;
pub mod clipboard;
pub mod doctor;
pub mod editor;
pub mod encode;
pub mod environment;
pub mod extensions;
mod files;
pub mod frames;
pub mod gateway;
pub mod graphics;
mod highlighter;
pub mod input;
pub mod inspector;
mod keymap_files;
mod linear;
pub mod notify;
mod open;
pub mod picture;
mod public_pages;
pub mod renderer;
pub mod rules;
mod screen;
pub mod setup;
pub mod sharing;
mod signals;
pub mod sources;
mod start;
mod strays;
pub mod terminal;
pub mod terminal_cache;
pub mod tty;
mod viewer;
pub mod workspaces;

pub use client::exit::{Exit, RunError};
pub use inspector::inspect;
pub use keymap_files::keymap;
pub use start::{app, chosen_theme, own_themes};
