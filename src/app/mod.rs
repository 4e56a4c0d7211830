//! The screen's state and how messages change it: pure, without clock, disk or terminal.
//!
//! `slash` names the commands, `msg` what happens, `line` what a written line means where there are no keys, `effect` what is wanted outside, `state` what is known, `update` how
//! it changes. Keys and verbs are `keymap`'s, drawing is `ui`'s, doing is `runtime`'s.

mod composer;
mod conversation;
pub mod effect;
mod intent;
pub mod line;
pub mod msg;
mod overlays;
mod panels;
mod sessions;
mod shell;
pub mod slash;
pub mod state;
pub mod update;

pub use effect::Effect;
pub use line::Line;
pub use msg::{Msg, ShareAnswer};
pub use state::State;
pub use update::{chooses, repeats, resolve, start, update};
