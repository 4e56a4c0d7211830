//! The gateway: an engine without a screen that outlives terminals and lost lines, and the links of its clients.
//!
//! | Module | Content |
//! | --- | --- |
//! | `frame`, `handshake`, [`methods`], [`schema`] | what both sides say: lines of JSON, the first request, the others; all of it as JSON Schema |
//! | [`home`] | who has a home: lock, socket, secret |
//! | [`tokens`], `access`, `browsers` | clients over the network: who is let in, with tokens and by links |
//! | [`shares`], [`http`] | pages for everybody, HTTP and WebSocket |
//! | [`server`], `session_lists` | the gateway process, and the sessions that it knows |
//! | `connection`, `transport`, `client_state`, `client_queue` | one connection, what is kept of a client |
//! | [`remote`], [`dial`], [`ssh`] | a client's end: a link like that of an engine in the same process, over a line that may break |
//! | [`start`], [`stdio`] | a gateway in the background; the far end of a line through ssh |
//!
//! Engines, sessions and their rules are left to [`crate::agent`]; arguments and words for people to `cli`, the screen to
//! `runtime`.

mod access;
mod browsers;
mod client_queue;
mod client_state;
mod connection;
pub mod dial;
pub mod frame;
pub mod handshake;
pub mod home;
pub mod http;
pub mod methods;
pub mod remote;
pub mod schema;
pub mod server;
mod session_lists;
pub mod shares;
pub mod ssh;
pub mod start;
pub mod stdio;
pub mod tokens;
mod transport;
