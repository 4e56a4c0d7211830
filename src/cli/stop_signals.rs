//! Signals that ask a command to end. Those that were ignored at its start, as by `nohup` and `trap '' INT`, stay ignored.

use super::exit::Exit;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Signal that asked for the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StopSignal {
    Hangup,
    Interrupt,
    Terminate,
}

impl StopSignal {
    /// Exit status of a command that it ended.
    pub(super) fn exit(self) -> Exit {
        match self {
            StopSignal::Hangup => Exit::HungUp,
            StopSignal::Interrupt => Exit::Interrupted,
            StopSignal::Terminate => Exit::Terminated,
        }
    }
}

/// Streams of the signals, without those that are ignored.
pub(super) struct StopSignals {
    hangup: Option<Signal>,
    interrupt: Option<Signal>,
    terminate: Option<Signal>,
}

impl StopSignals {
    /// Listens from now on. Called inside a runtime of tokio.
    ///
    /// # Errors
    /// When the system refuses.
    pub(super) fn listen() -> std::io::Result<Self> {
        // Another listener of this process would look like one that does not ignore it: the first look counts.
        static IGNORED: std::sync::OnceLock<u64> = std::sync::OnceLock::new();
        let ignored = *IGNORED.get_or_init(ignored_mask);
        let stream = |kind: SignalKind| (!is_in(ignored, kind)).then(|| signal(kind)).transpose();
        Ok(Self {
            hangup: stream(SignalKind::hangup())?,
            interrupt: stream(SignalKind::interrupt())?,
            terminate: stream(SignalKind::terminate())?,
        })
    }

    /// The next one.
    pub(super) async fn next(&mut self) -> StopSignal {
        tokio::select! {
            () = received(&mut self.interrupt) => StopSignal::Interrupt,
            () = received(&mut self.terminate) => StopSignal::Terminate,
            () = received(&mut self.hangup) => StopSignal::Hangup,
        }
    }
}

/// Waits for the next signal; for ever where the system refuses them.
pub(super) async fn next() -> StopSignal {
    match StopSignals::listen() {
        Ok(mut signals) => signals.next().await,
        Err(_) => std::future::pending().await,
    }
}

async fn received(stream: &mut Option<Signal>) {
    match stream {
        Some(stream) => _ = stream.recv().await,
        None => std::future::pending().await,
    }
}

fn is_in(mask: u64, kind: SignalKind) -> bool {
    u32::try_from(kind.as_raw_value() - 1).is_ok_and(|bit| mask.checked_shr(bit).unwrap_or(0) & 1 == 1)
}

/// Signals that this process ignores, a bit each. Only Linux tells without unsafe code.
fn ignored_mask() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    mask_of(&status)
}

fn mask_of(status: &str) -> u64 {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_read_from_the_status_of_the_process() {
        let mask = mask_of("Name:\tlisle\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000001001\n");
        assert!(is_in(mask, SignalKind::hangup()) && is_in(mask, SignalKind::pipe()));
        assert!(!is_in(mask, SignalKind::interrupt()) && !is_in(mask_of(""), SignalKind::hangup()));
    }
}
