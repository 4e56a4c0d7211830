//! The lines that go out, written by a thread of its own, so that a reader that does not read holds up nothing; and the
//! terminal's echo, which is off while a key is written.

use rustix::stdio::stdin;
use rustix::termios::{LocalModes, OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr};
use std::io::{self, Write as _};
use std::sync::mpsc;
use std::time::Duration;

/// Time to wait for pending output at the end.
const LAST: Duration = Duration::from_millis(500);

/// The way to stdout.
#[derive(Debug)]
pub(super) struct LinearOutput {
    lines: Option<mpsc::Sender<String>>,
    /// End of the thread, with the error of a write.
    written: mpsc::Receiver<io::Result<()>>,
}

impl LinearOutput {
    /// Starts the thread; `gone` is called when nobody reads any more.
    ///
    /// # Errors
    /// When there is no thread to be had.
    pub fn start(gone: impl FnOnce() + Send + 'static) -> io::Result<Self> {
        let (lines, texts) = mpsc::channel::<String>();
        let (done, written) = mpsc::channel();
        std::thread::Builder::new().name("lisle-output".into()).spawn(move || {
            let mut stdout = io::stdout();
            for text in texts {
                if let Err(error) = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
                    let _ = done.send(Err(error));
                    return gone();
                }
            }
            let _ = done.send(Ok(()));
        })?;
        Ok(Self { lines: Some(lines), written })
    }

    /// Writes this after all that was written before.
    pub fn write(&self, text: String) {
        if let Some(lines) = self.lines.as_ref().filter(|_| !text.is_empty()) {
            let _ = lines.send(text);
        }
    }

    /// Waits until all is written, but not for somebody who does not read. The error of a write, unless the reader closed
    /// a pipe.
    pub fn settle(mut self) -> Option<io::Error> {
        drop(self.lines.take());
        let written = self.written.recv_timeout(LAST).ok()?;
        written.err().filter(|error| error.kind() != io::ErrorKind::BrokenPipe)
    }
}

/// Switches echo off while it lives.
#[derive(Debug)]
pub(super) struct Unseen(Termios);

impl Unseen {
    /// Switches the echo off; what was typed before is thrown away, because it was meant for something else. `None` where
    /// the input is no terminal.
    pub fn begin() -> Option<Self> {
        let before = tcgetattr(stdin()).ok()?;
        let mut without = before.clone();
        without.local_modes.remove(LocalModes::ECHO | LocalModes::ECHONL);
        tcflush(stdin(), QueueSelector::IFlush).ok()?;
        tcsetattr(stdin(), OptionalActions::Now, &without).ok()?;
        Some(Self(before))
    }
}

impl Drop for Unseen {
    fn drop(&mut self) {
        let _ = tcsetattr(stdin(), OptionalActions::Now, &self.0);
    }
}
