//! The lines that come in, read by a thread of its own. A terminal edits each of them before it comes; what comes faster
//! than somebody can write is one pasted text.

use crate::runtime::client::event::LineInput;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io::{self, PipeReader, PipeWriter};
use std::thread::JoinHandle;
use tokio::sync::mpsc::UnboundedSender;

/// Milliseconds between lines below which they were pasted.
const AT_ONCE: i64 = 20;
/// Maximum length of a line; longer ones come in pieces.
const LONGEST: usize = 1 << 20;

/// The running thread. Dropping it ends the thread before the drop returns, so that a child can have the input.
#[derive(Debug)]
pub(super) struct LineReader {
    thread: Option<JoinHandle<()>>,
    stop: Option<PipeWriter>,
}

impl LineReader {
    /// Starts reading stdin, which is a terminal or not.
    ///
    /// # Errors
    /// When there is no pipe or no thread to be had.
    pub fn start(terminal: bool, came: UnboundedSender<LineInput>) -> io::Result<Self> {
        let (stopped, stop) = io::pipe()?;
        let thread = std::thread::Builder::new().name("lisle-lines".into()).spawn(move || {
            listen(terminal, &stopped, &came);
        })?;
        Ok(Self { thread: Some(thread), stop: Some(stop) })
    }
}

impl Drop for LineReader {
    fn drop(&mut self) {
        // Closing the pipe is what the thread sees.
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// True if input can be read within `limit` milliseconds (`None`: no limit); `None` when the thread is to stop.
fn ready(stopped: &PipeReader, limit: Option<i64>) -> Option<bool> {
    let stdin = rustix::stdio::stdin();
    let wait = limit.map(|ms| Timespec { tv_sec: 0, tv_nsec: ms * 1_000_000 });
    loop {
        let mut fds = [PollFd::from_borrowed_fd(stdin, PollFlags::IN), PollFd::new(stopped, PollFlags::IN)];
        match poll(&mut fds, wait.as_ref()) {
            Err(Errno::INTR) => continue,
            Err(_) => return None,
            Ok(_) if !fds[1].revents().is_empty() => return None,
            Ok(_) => return Some(!fds[0].revents().is_empty()),
        }
    }
}

fn listen(terminal: bool, stopped: &PipeReader, came: &UnboundedSender<LineInput>) {
    let mut bytes = [0_u8; 8192];
    let mut rest: Vec<u8> = Vec::new();
    let mut lines: Vec<String> = Vec::new();
    loop {
        // Lines that came are held back only as long as more of them follow at once.
        let limit = (terminal && !lines.is_empty()).then_some(AT_ONCE);
        let Some(ready) = ready(stopped, limit) else { return };
        if !ready {
            if !tell(&mut lines, came) {
                return;
            }
            continue;
        }
        let read = match rustix::io::read(rustix::stdio::stdin(), &mut bytes) {
            Err(Errno::INTR | Errno::AGAIN) => continue,
            Err(_) => {
                let _ = tell(&mut lines, came);
                let _ = came.send(LineInput::Gone);
                return;
            }
            Ok(read) => read,
        };
        rest.extend_from_slice(&bytes[..read]);
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = rest.drain(..=end).collect();
            lines.push(text(&line));
        }
        if rest.len() > LONGEST || (read == 0 && !rest.is_empty() && !terminal) {
            lines.push(text(&std::mem::take(&mut rest)));
        }
        if !terminal {
            for line in lines.drain(..) {
                if came.send(LineInput::Line(line)).is_err() {
                    return;
                }
            }
        }
        // In the middle of a line Ctrl+D only hands over what was written.
        if read == 0 && rest.is_empty() {
            let told = tell(&mut lines, came) && came.send(LineInput::End).is_ok();
            if !told || !terminal {
                return;
            }
        }
    }
}

/// Text of a line, without keys that the terminal's own editing left in it.
fn text(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    crate::domain::sanitise::clean(text.trim_end_matches(['\n', '\r'])).into_owned()
}

/// Tells what came at once. Whether somebody listens.
fn tell(lines: &mut Vec<String>, came: &UnboundedSender<LineInput>) -> bool {
    let mut all = std::mem::take(lines);
    match all.len() {
        0 => true,
        1 => came.send(LineInput::Line(all.remove(0))).is_ok(),
        _ => came.send(LineInput::Pasted(all)).is_ok(),
    }
}
