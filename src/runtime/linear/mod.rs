//! Linear mode: a client that prints lines and reads lines, with the same state and engine as the screen's.
//!
//! At a terminal a line counts when it comes. A program's lines wait for each other instead: the next one is taken when the
//! turn that the last one began is over, or when something is asked, so that a file of lines is a script. `session` is what
//! the loop of `client` calls; this file puts it together and prints.

mod input;
mod output;
mod session;

use super::client::exit::{Exit, RunError};
use super::client::options::Options;
use super::client::{self, Sources, background_tasks};
use super::environment::env;
use super::signals::Signals;
use crate::agent::Link;
use session::Linear;
use std::io::{self, IsTerminal as _};
use tokio::sync::mpsc::unbounded_channel;

/// True if linear mode is on: by the command line, else by the settings, else where the terminal
/// can only add lines.
pub(super) fn wanted(asked: Option<bool>, set: Option<bool>) -> bool {
    let plain = || matches!(env("TERM").as_deref(), Some("dumb" | "unknown" | "emacs"));
    asked.or(set).unwrap_or_else(|| io::stdout().is_terminal() && plain())
}

/// Prints and reads lines until the user quits, the input ends, or the process is asked to end.
///
/// # Errors
/// When threads or signals cannot be had. What goes wrong later is in the [`Exit`].
pub(super) async fn run(link: Link, options: Options) -> Result<Exit, RunError> {
    let (tell, events) = unbounded_channel();
    let (sender, lines) = unbounded_channel();
    let signals = Signals::listen().map_err(RunError::System)?;
    background_tasks::tell_of_the_log(&tell);
    let line = options.gateway.as_ref().map(|gateway| gateway.line.clone());
    let mut linear = Linear::open(link, options, tell, sender)?;
    let result = client::run(&mut linear, &mut Sources { signals, events, lines: Some(lines), line }).await;
    linear.lines.input = None;
    linear.lines.unseen = None;
    linear.tell_news();
    let mut exit = linear.client.finish(result).await;
    if linear.unread {
        exit.trouble.get_or_insert(RunError::Unread);
    }
    if let Some(error) = linear.output.settle() {
        exit.trouble.get_or_insert(RunError::Unwritten(error));
    }
    Ok(exit)
}
