//! The terminal's two ends: bytes in, bytes out, its size and its line settings. What is sent is decided by others.
//!
//! lisle opens the terminal anew instead of using stdin and stdout: a description of its own can be non-blocking without
//! changing that of the shell that started us. All output goes through one gate, so that once it is shut (the terminal was
//! given back) nothing that was still on its way can follow.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::getpgrp;
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, OutputModes, QueueSelector, Termios, tcflush, tcgetattr, tcgetpgrp,
    tcgetwinsize, tcsetattr,
};
use std::io::{self, IsTerminal as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Error: no terminal to work on.
#[derive(Debug, thiserror::Error)]
pub enum TtyError {
    /// Output goes to a file or a pipe.
    #[error("output is not a terminal; don't redirect it, or use --linear")]
    NotATerminal,
    /// No input to read keys from.
    #[error("input is not a terminal and /dev/tty is not available: {0}")]
    NoKeys(#[source] io::Error),
    /// The terminal cannot do what a full screen needs.
    #[error("TERM={0:?} can't move the cursor; set TERM to your terminal's type, or use --linear")]
    Dumb(String),
    /// The terminal refused.
    #[error("can't set up the terminal: {0}")]
    Refused(#[source] io::Error),
}

/// The terminal that lisle runs in.
#[derive(Clone, Debug)]
pub struct Tty {
    /// Input of the terminal.
    pub input: Arc<OwnedFd>,
    /// Output to the terminal.
    pub output: Arc<TtyOutput>,
    /// It is what this process was started in, so stdout and stderr may be it too.
    of_process: bool,
}

impl Tty {
    /// Opens the terminal of this process.
    ///
    /// # Errors
    /// [`TtyError`] when stdout is not a terminal or there is none to read keys from.
    pub fn open() -> Result<Self, TtyError> {
        let stdout = io::stdout();
        if !stdout.is_terminal() {
            return Err(TtyError::NotATerminal);
        }
        let output = reopen(stdout.as_fd()).map_err(TtyError::Refused)?;
        let stdin = io::stdin();
        let input = if stdin.is_terminal() {
            reopen(stdin.as_fd()).map_err(TtyError::Refused)?
        } else {
            open_path(c"/dev/tty").map_err(TtyError::NoKeys)?
        };
        Ok(Self { of_process: true, ..Self::on(input, output) })
    }

    /// The terminal with these two ends, which may be the same file.
    #[must_use]
    pub fn on(input: OwnedFd, output: OwnedFd) -> Self {
        let output = TtyOutput { fd: output, shut: Mutex::new(true) };
        Self { input: Arc::new(input), output: Arc::new(output), of_process: false }
    }

    /// True if this process was started in it.
    #[must_use]
    pub fn is_of_process(&self) -> bool {
        self.of_process
    }

    /// Columns and rows. 80 by 24 when the terminal does not say.
    #[must_use]
    pub fn size(&self) -> (u16, u16) {
        match tcgetwinsize(&self.output.fd) {
            Ok(size) if size.ws_col > 0 && size.ws_row > 0 => (size.ws_col, size.ws_row),
            _ => (80, 24),
        }
    }

    /// Width and height of a cell in pixels; `None` when the terminal does not say.
    #[must_use]
    pub fn cell(&self) -> Option<(u16, u16)> {
        let size = tcgetwinsize(&self.output.fd).ok()?;
        let (width, height) = (size.ws_xpixel.checked_div(size.ws_col)?, size.ws_ypixel.checked_div(size.ws_row)?);
        (width > 0 && height > 0).then_some((width, height))
    }

    /// The line settings.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn settings(&self) -> io::Result<Termios> {
        Ok(tcgetattr(&*self.input)?)
    }

    /// Changes the line settings at once; what was typed and not read is thrown away with `Flush`.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn set(&self, settings: &Termios, typed: Typed) -> io::Result<()> {
        // The call's own way to flush would first wait for a terminal that may take nothing.
        if typed == Typed::Flush {
            tcflush(&*self.input, QueueSelector::IFlush)?;
        }
        Ok(tcsetattr(&*self.input, OptionalActions::Now, settings)?)
    }

    /// True if this process may change the terminal. An attempt from the background would stop it.
    #[must_use]
    pub fn in_foreground(&self) -> bool {
        match tcgetpgrp(&*self.input) {
            Ok(group) => group == getpgrp(),
            // Not our controlling terminal, so there is no job control on it.
            Err(Errno::NOTTY) => true,
            Err(_) => false,
        }
    }
}

/// Treatment of keys that were typed and not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Typed {
    /// Left to whoever reads next.
    Keep,
    /// Dropped.
    Flush,
}

/// Gives a terminal its line settings back that a killed program left raw: lines, echo, Ctrl+C and line ends.
///
/// # Errors
/// When it is no terminal.
pub fn make_lines(fd: impl AsFd) -> io::Result<()> {
    let mut settings = tcgetattr(fd.as_fd())?;
    settings.input_modes |= InputModes::ICRNL | InputModes::BRKINT | InputModes::IXON;
    settings.output_modes |= OutputModes::OPOST | OutputModes::ONLCR;
    let lines = LocalModes::ICANON | LocalModes::ISIG | LocalModes::IEXTEN;
    settings.local_modes |= lines | LocalModes::ECHO | LocalModes::ECHOE | LocalModes::ECHOK;
    Ok(tcsetattr(fd.as_fd(), OptionalActions::Now, &settings)?)
}

fn reopen(fd: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    if let Ok(path) = rustix::termios::ttyname(fd, Vec::new())
        && let Ok(own) = open_path(&path)
    {
        return Ok(own);
    }
    // After `su`, or in a container without that device, only /dev/tty can be opened; else share the one we have.
    open_path(c"/dev/tty").or_else(|_| fd.try_clone_to_owned())
}

fn open_path(path: &std::ffi::CStr) -> io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

/// The way to the terminal.
#[derive(Debug)]
pub struct TtyOutput {
    fd: OwnedFd,
    shut: Mutex<bool>,
}

/// Result of writing some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrote {
    /// Number of bytes taken.
    Some(usize),
    /// The terminal takes nothing now.
    Full,
    /// The gate is shut: the terminal is not ours now.
    Shut,
    /// The terminal is gone: nothing will ever be taken.
    Gone,
}

impl TtyOutput {
    /// Writes what the terminal takes at once.
    pub fn write(&self, bytes: &[u8]) -> Wrote {
        let shut = self.shut.lock().unwrap_or_else(PoisonError::into_inner);
        if *shut { Wrote::Shut } else { self.write_now(bytes) }
    }

    fn write_now(&self, bytes: &[u8]) -> Wrote {
        match rustix::io::write(&self.fd, bytes) {
            Ok(n) => Wrote::Some(n),
            Err(Errno::AGAIN) => Wrote::Full,
            Err(Errno::INTR) => Wrote::Some(0),
            Err(_) => Wrote::Gone,
        }
    }

    /// Opens the gate, with these bytes as the first.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn open(&self, bytes: &[u8]) -> io::Result<()> {
        let mut shut = self.shut.lock().unwrap_or_else(PoisonError::into_inner);
        self.write_within(bytes, Duration::from_secs(2))?;
        *shut = false;
        Ok(())
    }

    /// Shuts the gate, with these bytes as the last. A terminal that takes nothing is not waited for longer than `limit`.
    ///
    /// # Errors
    /// When the bytes could not be written; the gate is shut nevertheless.
    pub fn shut(&self, bytes: &[u8], limit: Duration) -> io::Result<()> {
        let mut shut = self.shut.lock().unwrap_or_else(PoisonError::into_inner);
        *shut = true;
        self.write_within(bytes, limit)
    }

    fn write_within(&self, mut bytes: &[u8], limit: Duration) -> io::Result<()> {
        let end = Instant::now() + limit;
        while !bytes.is_empty() {
            match self.write_now(bytes) {
                Wrote::Some(n) => bytes = bytes.get(n..).unwrap_or_default(),
                Wrote::Shut | Wrote::Gone => return Err(io::ErrorKind::BrokenPipe.into()),
                Wrote::Full => {
                    let left = end.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                    self.room(None, Some(left));
                }
            }
        }
        Ok(())
    }

    /// Waits until the terminal takes bytes again, `stop` says something, or `limit` is over.
    pub fn room(&self, stop: Option<BorrowedFd<'_>>, limit: Option<Duration>) {
        let wait = limit.map(|limit| Timespec {
            tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: limit.subsec_nanos().into(),
        });
        let own = PollFd::new(&self.fd, PollFlags::OUT);
        // An error shows at the next write.
        let _ = match stop {
            Some(stop) => poll(&mut [own, PollFd::from_borrowed_fd(stop, PollFlags::IN)], wait.as_ref()),
            None => poll(&mut [own], wait.as_ref()),
        };
    }
}
