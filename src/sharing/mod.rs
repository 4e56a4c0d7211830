//! Upload of conversations to a server for shares. Where an upload is noted, and who is asked before it, is decided above.
//!
//! Fabric Agents and Craft Agents have such servers: `POST /s/api` takes a session and answers `{id, url}`, `PUT /s/api/ID`
//! replaces it, `DELETE /s/api/ID` removes it.

mod body;
mod server;

pub use body::{NotASession, session_json};
pub use server::{RemoteShare, ShareError, ShareServer};

/// Most bytes of an upload.
pub const MOST_BYTES: u64 = 100 << 20;
