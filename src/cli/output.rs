//! Writing to stdout and stderr. A closed pipe is not an error: whoever read has read enough.

use crate::domain::sanitise;
use std::io::{IsTerminal, Write};

/// Writes a result to stdout: sanitised for a terminal, as it is for a pipe. False when nobody reads any more.
pub(super) fn say(text: &str) -> bool {
    let mut out = std::io::stdout().lock();
    let written = if out.is_terminal() {
        out.write_all(sanitise::clean(text).as_bytes())
    } else {
        out.write_all(text.as_bytes())
    };
    written.and_then(|()| out.flush()).is_ok()
}

/// Writes what is clean already and may be marked. False when nobody reads any more.
pub(super) fn put(text: &str) -> bool {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_ok()
}

/// Writes a diagnostic line to stderr.
pub(super) fn complain(text: &str) {
    let mut out = std::io::stderr().lock();
    let _ = writeln!(out, "{}", sanitise::clean(text));
}
