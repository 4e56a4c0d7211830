//! One session's agent as a pure machine: an [`Input`](super::machine_io::Input) goes in, [`Step`](super::machine_io::Step)s come
//! out. No clock, no disk, no network.
//!
//! `state` holds its parts, each with private fields in a file of its own: `transcript` (rows, ids, times), `turn_state`, `repeats`,
//! `runs` (numbers of runs, how turns ended), `plan_state`, `trust` (rules in force), `asks` (questions for keys and
//! connections), `answering` (which connection and model), `budget` (sizes), `automation`, `announced`, `extension_state`.
//!
//! `dispatch` routes inputs. `turn` drives a turn from request to request, `response` is what streams in, `batch` the calls
//! that run, `calls` decides about them, `stop` ends a turn early, `children` are the sessions that calls spawn, `plan` what
//! becomes of plans, `user_input` what the user does, `permission_rules` the rules, `network_requests` what commands reach of the network,
//! `connection` which one answers, `key` their keys, `automatic` what happens by itself, `compaction` what sums up,
//! `context` what the model gets, `sources` and `extensions` what others add to that, `remarks` rows that inform. The driver does the steps and reports back.

mod announced;
mod answering;
mod asks;
mod automatic;
mod automation;
mod batch;
mod budget;
mod calls;
mod children;
mod compacting;
mod compaction;
mod config;
mod connection;
mod context;
mod dispatch;
mod extension_state;
mod extensions;
mod header_extension;
mod key;
mod network_requests;
mod permission_rules;
mod plan;
mod plan_state;
mod remarks;
mod repeats;
mod response;
mod runs;
mod sources;
mod state;
mod stop;
#[cfg(test)]
mod tests;
mod transcript;
mod trust;
mod turn;
mod turn_state;
mod typed;
mod unfinished;
mod user_input;

pub use automation::{Automatic, REDELIVERED_AFTER_MS};
pub use budget::Models;
pub use config::MachineConfig;
pub use extension_state::{MachineExtensions, persona};
pub use header_extension::{HeaderExtension, PendingPlan};
pub use runs::Death;
pub use state::{LeftBehind, Machine};
pub use trust::Answers;
