//! Signals of the operating system, as values.

use std::io;
use tokio::signal::unix::{Signal as Stream, SignalKind, signal};

/// Signal received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// End: SIGTERM.
    End,
    /// The terminal is gone: SIGHUP.
    Hangup,
    /// End, from outside: in raw mode the key does not make one, but while an editor runs it does.
    Interrupt,
    /// The terminal has another size.
    Size,
    /// The process goes on after it was stopped.
    Continued,
}

/// The signals that lisle listens to.
#[derive(Debug)]
pub struct Signals {
    term: Stream,
    hup: Stream,
    int: Stream,
    winch: Stream,
    cont: Stream,
}

impl Signals {
    /// Listens from now on.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn listen() -> io::Result<Self> {
        Ok(Self {
            term: signal(SignalKind::terminate())?,
            hup: signal(SignalKind::hangup())?,
            int: signal(SignalKind::interrupt())?,
            winch: signal(SignalKind::window_change())?,
            cont: signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?,
        })
    }

    /// The next one.
    pub async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.term.recv() => Signal::End,
            _ = self.hup.recv() => Signal::Hangup,
            _ = self.int.recv() => Signal::Interrupt,
            _ = self.winch.recv() => Signal::Size,
            _ = self.cont.recv() => Signal::Continued,
        }
    }
}
