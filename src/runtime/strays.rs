//! Stray output to stdout and stderr while the screen is up: from a library, C code, or a child
//! that inherited them. It would garble the screen, so it goes to the log.
//!
//! The screen itself is written through a description of its own ([`super::tty`]), which this does not touch.

use rustix::fd::OwnedFd;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::stdio::{dup2_stderr, dup2_stdout};
use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Read};
use std::os::fd::AsFd;

/// A longer line is cut here, in bytes.
const LONGEST: u64 = 8 << 10;

/// stdout and stderr are the log's until this is dropped.
#[derive(Debug)]
pub(super) struct Strays {
    stdout: Option<OwnedFd>,
    stderr: Option<OwnedFd>,
}

impl Strays {
    /// Takes those of the two that are a terminal; what goes to a file is in nobody's way.
    ///
    /// # Errors
    /// When there are no more descriptors or threads.
    pub(super) fn catch() -> io::Result<Self> {
        let (stdout, stderr) = (io::stdout(), io::stderr());
        let mut strays = Self { stdout: None, stderr: None };
        if !stdout.is_terminal() && !stderr.is_terminal() {
            return Ok(strays);
        }
        let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
        std::thread::Builder::new().name("lisle-strays".to_owned()).spawn(move || log(File::from(read)))?;
        if stdout.is_terminal() {
            let kept = stdout.as_fd().try_clone_to_owned()?;
            dup2_stdout(&write)?;
            strays.stdout = Some(kept);
        }
        if stderr.is_terminal() {
            let kept = stderr.as_fd().try_clone_to_owned()?;
            dup2_stderr(&write)?;
            strays.stderr = Some(kept);
        }
        Ok(strays)
    }
}

impl Drop for Strays {
    fn drop(&mut self) {
        // What cannot be put back cannot be told there either.
        if let Some(kept) = self.stdout.take() {
            let _ = dup2_stdout(kept);
        }
        if let Some(kept) = self.stderr.take() {
            let _ = dup2_stderr(kept);
        }
    }
}

/// Until everybody who could write has let go.
fn log(from: File) {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    while from.by_ref().take(LONGEST).read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end();
        if !text.is_empty() {
            tracing::warn!("written over the screen: {text:?}");
        }
        line.clear();
    }
}
