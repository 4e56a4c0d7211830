//! Exit statuses of the program.

use std::process::ExitCode;

/// Exit status. The values are documented and never change their meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done = 0,
    /// Failure.
    Failed = 1,
    /// The arguments are wrong.
    Usage = 2,
    /// It went through, but a tool call was refused.
    Refused = 3,
    /// No connection with credentials.
    NoCredentials = 4,
    /// Another process has the session open, so nothing was sent; or took it over before the answer was whole.
    Held = 5,
    /// It went through, but not all of it could be saved.
    Unsaved = 6,
    /// The message waits in the queue of a session whose turn runs in a gateway.
    Queued = 7,
    /// `permissions check`: the command would be asked for.
    WouldAsk = 10,
    /// `permissions check`: the command would be refused.
    WouldDeny = 11,
    /// The terminal went away: SIGHUP.
    HungUp = 129,
    /// Interrupted: Ctrl+C, or stopped from another screen.
    Interrupted = 130,
    /// Asked to end: SIGTERM.
    Terminated = 143,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}
