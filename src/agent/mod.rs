//! The agent: turns, calls, queues, and many sessions at once.
//!
//! In reading order: [`step`] is the vocabulary, [`machine`] decides (pure), [`context`] and [`prompt`] are what the model
//! gets, [`labels`] what a message gives by itself. Below the actors are [`setup`], `shared` state, `mailbox`, `family`
//! (spawned sessions) and `clock`. `engine` is what tools ask of the engine, `children` the sessions that calls spawn,
//! [`titles`] and [`enhance`] what a small model is asked beside the turns, [`worktree`] is where a session works alone,
//! `lane` performs the steps of one session on its `files`, `whole` works on sessions as a whole, [`desk`] keeps many
//! sessions, [`link`] is the pair of channels that a client holds.

mod blocking;
mod child_link;
mod children;
mod clock;
pub mod compact;
pub mod connections;
pub mod context;
pub mod desk;
mod engine;
pub mod enhance;
mod family;
mod file_gates;
mod files;
pub mod labels;
mod lane;
pub mod link;
pub mod machine;
mod mailbox;
pub mod media;
pub mod memory;
mod others;
mod outbox;
pub mod prompt;
pub mod queue;
mod registry;
pub mod rules;
mod search;
pub mod setup;
mod shared;
pub mod step;
pub mod summary;
mod tally;
#[cfg(test)]
mod tests;
pub mod titles;
pub mod tokens;
pub mod undo;
mod whole;
mod work;
pub mod worktree;

pub(crate) use clock::day;
pub use connections::{Connections, Keys, Opened};
pub use desk::open;
pub use link::Link;
pub use rules::{Book, RuleBook};
pub use setup::{Inbox, Settings, Setup};
pub use undo::UndoSettings;
