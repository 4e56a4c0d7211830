//! The gateway as a process: over real sockets, with the real binary as gateway and as client.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failing test should stop where it fails")]

mod app;
mod channel_commands;
mod channels;
mod command_line;
mod frames;
mod held;
mod http;
mod http_commands;
mod http_fabric;
mod http_pages;
mod http_socket;
mod http_tls;
mod place;
#[path = "../support/pty.rs"]
mod pty;
mod run;
mod screens;
mod ssh;
#[path = "../support/mod.rs"]
mod support;
