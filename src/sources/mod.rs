//! Sources: servers of the Model Context Protocol whose tools models call beside lisle's own.
//!
//! | Module | Content |
//! | --- | --- |
//! | [`config`], [`names`], [`permissions`], [`definition`] | pure: files, names, read-only tools, definitions of tools |
//! | [`files`] | reads the folder `sources/` of a workspace |
//! | [`surroundings`] | what sources of a workspace are started with |
//! | `launch`, `program` | a configuration with its variables filled in; a program in its profile |
//! | `stdio`, `connection` | transport over its pipes; the client that talks with a server |
//! | [`server`], [`servers`] | one server from start to end, with restarts; all that run |
//! | `outcome`, [`tool`] | results of calls; a tool of a source as any other tool |
//! | [`log`], [`hidden_values`] | what a server says beside its answers; keys, which are shown nowhere |
//!
//! Trust in files, the sources of a session and permission of calls are decided elsewhere (`config::trust`, `agent`, `permit`). A server
//! is other people's program: its names and texts are cleaned here, once, before anything else sees them.

pub mod config;
mod connection;
pub mod definition;
pub mod files;
pub mod hidden_values;
mod launch;
pub mod log;
pub mod names;
mod outcome;
pub mod permissions;
mod program;
pub mod server;
pub mod servers;
mod stdio;
pub mod surroundings;
pub mod tool;

pub use config::{Launch, SourceConfig};
pub use files::SourceList;
pub use server::{Server, ServerState};
pub use servers::Servers;
pub use surroundings::{Reach, Surroundings};
