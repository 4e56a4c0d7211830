//! Sources against a real server process, started through the real runner: starts, calls, deaths, hostile servers; and whole
//! runs of the program with them, and with skills, agents and commands.
//!
//! A program of its own instead of the usual test harness, because it starts itself as the server.

// Clippy knows a test by its harness, which this one does without.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)]

mod extensions;
mod runs;
mod server;
mod servers;
#[path = "../support/mod.rs"]
mod support;

use std::panic::catch_unwind;
use std::process::ExitCode;

type Test = (&'static str, fn());

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    if let [_, word, kind] = args.as_slice()
        && word == "__serve"
    {
        server::serve(kind);
        return ExitCode::SUCCESS;
    }
    // As with the usual harness: a word chooses, `--list` lists.
    let wanted = args.iter().skip(1).find(|arg| !arg.starts_with('-'));
    let all = servers::TESTS.iter().chain(runs::TESTS).chain(extensions::TESTS);
    let chosen: Vec<&Test> = all.filter(|(name, _)| wanted.is_none_or(|word| name.contains(word.as_str()))).collect();
    if args.iter().any(|arg| arg == "--list") {
        chosen.iter().for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    let failed: Vec<&str> = chosen
        .iter()
        .filter(|(name, test)| {
            let ended = catch_unwind(test);
            println!("test {name} ... {}", if ended.is_ok() { "ok" } else { "FAILED" });
            ended.is_err()
        })
        .map(|(name, _)| *name)
        .collect();
    println!("\ntest result: {} of {} failed {failed:?}", failed.len(), chosen.len());
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
