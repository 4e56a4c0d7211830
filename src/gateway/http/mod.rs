//! The gateway over the network: HTTP for scripts and browsers, WebSocket for clients that speak frames.
//!
//! | Module | Content |
//! | --- | --- |
//! | `listen`, `options`, `stall` | sockets, TLS, how many connections and for how long |
//! | `guard` | who may ask: host, origin, token, cookie; the line in the log |
//! | `routes`, `problem` | paths, and errors as JSON |
//! | `socket` | WebSocket, with the frames of the socket |
//! | `ask`, `bodies`, `rest`, `events` | workspaces, sessions and messages; events as they happen |
//! | `inbound` | messages of channels |
//! | `fabric` | endpoints of Fabric's REST server |
//! | `page`, `html` | pages for a browser, to read |
//! | `shared` | conversations that were shared, for everybody who has the address |
//! | `access_log` | one line of JSON for each request |
//!
//! Tokens and lock-outs are left to `access`, frames and methods to `connection`.

mod access_log;
mod ask;
mod bodies;
mod events;
mod fabric;
mod guard;
mod html;
mod inbound;
mod listen;
mod options;
mod page;
mod problem;
mod rest;
mod routes;
mod shared;
mod socket;
mod stall;

pub(super) use bodies::{HttpExchange, error_body, exchanges};
pub use listen::HttpListener;
pub use options::{HttpOptions, TlsFiles};
