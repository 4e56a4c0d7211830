//! The gateway over the network: HTTP for scripts and browsers, WebSocket for clients that speak frames.
//!
//! | Module | Content |
//! | --- | --- |
//! | `listen`, `stall` | sockets, TLS, how many connections and for how long |
//! | `guard` | who may ask: host, origin, token, cookie; the line in the log |
//! | `routes`, `problem` | paths, and errors as JSON |
//! | `socket` | WebSocket, with the frames of the socket |
//! | `ask`, `rest`, `events` | workspaces, sessions and messages; events as they happen |
//! | `page` | pages for a browser, to read |
//! | `access_log` | one line of JSON for each request |
//!
//! Tokens and lock-outs are left to `access`, frames and methods to `connection`.

mod access_log;
mod ask;
mod events;
mod guard;
mod listen;
mod page;
mod problem;
mod rest;
mod routes;
mod socket;
mod stall;

pub use listen::{HttpListener, HttpOptions, TlsFiles};
