//! The screen's state and how messages change it: pure, without clock, disk or terminal.
//!
//! `action` names the verbs, `slash` the commands, `msg` what happens, `effect` what is wanted outside, `state` what is
//! known, `update` how it changes. Drawing is `ui`'s, doing is `runtime`'s.

pub mod action;
pub mod effect;
pub mod key;
pub mod msg;
pub mod slash;
pub mod state;
pub mod update;

pub use action::{Action, Context};
pub use effect::Effect;
pub use key::Key;
pub use msg::Msg;
pub use state::State;
pub use update::{resolve, start, update};
