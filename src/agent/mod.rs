//! The agent: turns, calls, queues, and many sessions at once.
//!
//! In reading order: [`step`] is the vocabulary, [`machine`] decides (pure), [`context`] and [`prompt`] are what the model
//! gets, [`labels`] what a message gives by itself. Below the actors are [`setup`], `shared` state, the `registry` of
//! sessions, `mailbox`, `family` (spawned sessions) and `clock`. `tool_host` is what tools ask of the engine, `children` the
//! sessions that calls spawn, [`titles`] and [`enhance`] what a small model is asked beside the turns, [`worktree`] is where a
//! session works alone, `run_tasks` holds the requests and calls of a session. `session` is the actor of one session: it
//! performs the steps of its machine on its `session_files`. `session_ops` works on sessions as a whole, [`supervisor`] keeps
//! many sessions, [`link`] is the pair of channels that a client holds.

mod blocking;
mod child_progress;
mod children;
mod clock;
pub mod compact;
pub mod connections;
pub mod context;
pub mod enhance;
mod family;
mod file_gates;
pub mod labels;
pub mod link;
mod list_watcher;
pub mod machine;
mod mailbox;
pub mod media;
mod outbox;
pub mod project_memory;
pub mod prompt;
pub mod queue;
mod registry;
pub mod rules;
mod run_tasks;
mod search;
mod session;
mod session_files;
mod session_ops;
pub mod setup;
mod shared;
pub mod step;
pub mod summary;
pub mod supervisor;
#[cfg(test)]
mod tests;
pub mod titles;
pub mod tokens;
mod tool_host;
pub mod undo;
mod usage_recorder;
pub mod worktree;

pub(crate) use clock::day;
pub use connections::{Connections, Keys, Opened};
pub use link::Link;
pub use rules::{Book, RuleBook};
pub use setup::{Inbox, Settings, Setup};
pub use supervisor::open;
pub use undo::UndoSettings;
