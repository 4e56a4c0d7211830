//! The real binary as a process: the command line, the screen in a pseudo-terminal, linear mode, servers of models that fail.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failing test should stop where it fails")]

mod anthropic;
mod closed_stdout;
mod command_line;
mod explore;
mod faults;
mod first_hour;
mod goldens;
mod goldens_of_machines;
mod headless;
mod help;
mod import_ends;
mod linear;
mod pictures;
mod prompts;
#[path = "../support/pty.rs"]
mod pty;
mod routes;
#[path = "../screen/mod.rs"]
mod screen;
mod secrets;
mod sessions;
mod share;
mod shell;
mod signals;
mod slow_lines;
#[path = "../support/mod.rs"]
mod support;
mod terminal;
