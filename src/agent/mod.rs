//! The agent: turns, calls, queues, and many sessions at once.
//!
//! From the inside out:
//!
//! | Module | Content |
//! | --- | --- |
//! | [`machine_io`], [`machine`] | inputs and steps; the pure machine of one session, an input in, steps out |
//! | [`model_context`] | what the model gets: prompt, project memory, conversation, compaction |
//! | [`automatic_labels`], [`message_queue`] | labels that a message gives by itself; messages that wait |
//! | `session`, `session_files`, `run_tasks` | the actor of one session: does its machine's steps, in its files, with requests and calls |
//! | [`undo`], [`worktree`] | undo of what calls did to files; the place where a session works alone |
//! | [`extension_views`] | skills, agents and commands as clients see them |
//! | `tool_host`, `spawned`, [`side_requests`] | requests of tools to the engine; sessions that calls spawn; what a small model is asked |
//! | [`supervisor`], `registry`, `session_ops` | many sessions; those that have an actor; operations on whole sessions |
//! | [`client_link`], `hub`, `asker`, `scopes`, `ring` | links of clients, what waits for each of them, their requests, what they may send, what they missed |
//! | `event_outbox`, `mailbox` | events of a session or the engine; commands and reports to a session actor |
//! | [`engine_setup`], [`connections`], [`rule_files`], [`source_files`], [`extension_files`], `shared_state` | parts that the engine is made of, and what all of it shares |

mod asker;
pub mod automatic_labels;
mod blocking;
pub mod client_link;
mod clock;
pub mod connections;
pub mod engine_setup;
mod event_outbox;
pub mod extension_files;
pub mod extension_views;
mod file_gates;
mod hub;
mod import_many;
mod list_watcher;
pub mod machine;
pub mod machine_io;
mod mailbox;
pub mod message_queue;
pub mod model_context;
mod model_queries;
mod registry;
mod ring;
pub mod rule_files;
mod run_tasks;
mod scopes;
mod search;
mod session;
mod session_files;
mod session_ops;
mod session_worktrees;
mod shared_state;
pub mod side_requests;
pub mod source_files;
mod spawned;
pub mod supervisor;
#[cfg(test)]
mod tests;
mod tool_host;
pub mod undo;
mod usage_recorder;
pub mod worktree;

pub use self::client_link::{BacklogLimits, ClientInfo, Follows, Incoming, Link, LinkClosed, NoReply, Requests};
pub use self::engine_setup::{EngineSettings, Inbox, Setup};
pub use self::extension_files::{ExtensionBook, NoExtensions};
pub use self::rule_files::{Book, RuleBook};
pub use self::source_files::{NoSources, SourceBook};
/// Contexts, patterns and strategies, for clients that change their files.
pub use crate::store::prompt_files;
pub use connections::{Connections, Keys, Listed, Opened};
pub use hub::weight_of;
pub use supervisor::{Engine, open};
pub use undo::UndoSettings;
