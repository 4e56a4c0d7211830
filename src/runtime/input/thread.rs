//! A thread of its own that waits on the terminal, so that reading never waits for drawing or for the network.
//!
//! It sleeps in one `poll` without a limit while nothing is unfinished. It owns nothing of the terminal's modes.

use super::Input;
use super::reader::InputReader;
use super::translate;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use std::io::{self, PipeReader, PipeWriter};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

/// The running thread. Dropping it ends the thread before the drop returns, so a child can have the terminal's input.
#[derive(Debug)]
pub struct Listener {
    thread: Option<JoinHandle<()>>,
    stop: Option<PipeWriter>,
}

impl Listener {
    /// Starts reading `tty`; what comes is given to `sink`, which says `false` when nobody listens any more. `owed` says whether
    /// an answer of the terminal is on its way.
    ///
    /// # Errors
    /// When there is no pipe or no thread to be had.
    pub fn start(
        tty: Arc<OwnedFd>,
        owed: impl Fn() -> bool + Send + 'static,
        mut sink: impl FnMut(Input) -> bool + Send + 'static,
    ) -> io::Result<Self> {
        let (stopped, stop) = io::pipe()?;
        let thread = std::thread::Builder::new().name("lisle-input".into()).spawn(move || {
            listen(&tty, &stopped, &owed, &mut sink);
        })?;
        Ok(Self { thread: Some(thread), stop: Some(stop) })
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // Closing the pipe is what the thread sees.
        drop(self.stop.take());
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != std::thread::current().id()
        {
            let _ = thread.join();
        }
    }
}

fn listen(tty: &OwnedFd, stopped: &PipeReader, owed: &impl Fn() -> bool, sink: &mut impl FnMut(Input) -> bool) {
    let mut reader = InputReader::expecting();
    let mut bytes = [0_u8; 8192];
    loop {
        let wait = reader.deadline().map(|at| timespec(at.saturating_duration_since(Instant::now())));
        let mut fds = [PollFd::new(tty, PollFlags::IN), PollFd::new(stopped, PollFlags::IN)];
        let ready = match poll(&mut fds, wait.as_ref()) {
            Err(Errno::INTR) => continue,
            Err(_) => {
                sink(Input::Gone);
                return;
            }
            Ok(ready) => ready,
        };
        if !fds[1].revents().is_empty() {
            return;
        }
        let inputs = if ready == 0 {
            reader.silence(Instant::now())
        } else {
            match rustix::io::read(tty, &mut bytes) {
                Err(Errno::INTR | Errno::AGAIN) => continue,
                Ok(0) | Err(_) => {
                    sink(Input::Gone);
                    return;
                }
                Ok(read) => {
                    reader.owed(owed());
                    reader.feed(&bytes[..read], Instant::now())
                }
            }
        };
        for input in in_runs(inputs) {
            if !sink(input) {
                return;
            }
        }
    }
}

/// Input of one read, with neighbouring characters as one run.
fn in_runs(inputs: Vec<Input>) -> Vec<Input> {
    let mut out: Vec<Input> = Vec::with_capacity(inputs.len());
    for input in inputs {
        let key = match input {
            Input::Key(key) if translate::key(&key).is_some_and(|key| key.printable().is_some()) => key,
            other => {
                out.push(other);
                continue;
            }
        };
        match out.last_mut() {
            Some(Input::Typed(run)) => run.push(key),
            Some(Input::Key(before)) if translate::key(before).is_some_and(|key| key.printable().is_some()) => {
                let run = vec![*before, key];
                out.pop();
                out.push(Input::Typed(run));
            }
            _ => out.push(Input::Key(key)),
        }
    }
    out
}

/// Rounded up to a whole millisecond, so that the deadline has passed when the wait is over.
fn timespec(wait: std::time::Duration) -> Timespec {
    let wait = wait + std::time::Duration::from_millis(1);
    Timespec { tv_sec: i64::try_from(wait.as_secs()).unwrap_or(i64::MAX), tv_nsec: wait.subsec_nanos().into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::time::Duration;
    use termina::event::KeyCode;

    #[test]
    fn keys_come_a_lone_escape_too_and_the_end_is_told() {
        let (tty, terminal) = io::pipe().unwrap();
        let (tx, rx) = mpsc::channel();
        let listener = Listener::start(Arc::new(tty.into()), || false, move |input| tx.send(input).is_ok()).unwrap();
        let code = |input| if let Input::Key(key) = input { Some(key.code) } else { None };
        let limit = Duration::from_secs(10);
        rustix::io::write(&terminal, b"a\x1b").unwrap();
        assert_eq!(code(rx.recv_timeout(limit).unwrap()), Some(KeyCode::Char('a')));
        assert_eq!(code(rx.recv_timeout(limit).unwrap()), Some(KeyCode::Escape));
        drop(terminal);
        assert_eq!(rx.recv_timeout(limit).unwrap(), Input::Gone);
        drop(listener);
    }

    #[test]
    fn characters_of_one_read_are_one_run() {
        let runs = |bytes: &str| {
            let inputs = InputReader::default().feed(bytes.as_bytes(), Instant::now());
            let names = in_runs(inputs).into_iter().map(|input| match input {
                Input::Key(key) => translate::key(&key).map(|key| key.to_string()).unwrap_or_default(),
                Input::Typed(keys) => format!("{} characters", keys.len()),
                other => format!("{other:?}"),
            });
            names.collect::<Vec<_>>().join(" ")
        };
        for (bytes, expected) in [
            ("y", "y"),
            ("y\r", "y enter"),
            ("yes\r", "3 characters enter"),
            ("\x1b[Ayn\x1b[Bz", "up 2 characters down z"),
            ("日本", "2 characters"),
            ("\x18y", "ctrl+x y"),
        ] {
            assert_eq!(runs(bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn dropping_it_ends_the_thread_and_leaves_the_bytes_to_others() {
        let (tty, terminal) = io::pipe().unwrap();
        let tty = Arc::new(OwnedFd::from(tty));
        let (tx, rx) = mpsc::channel();
        drop(Listener::start(Arc::clone(&tty), || false, move |input| tx.send(input).is_ok()).unwrap());
        rustix::io::write(&terminal, b"x").unwrap();
        assert!(rx.recv().is_err(), "the thread and its sink are gone");
        let mut byte = [0];
        assert_eq!(rustix::io::read(&*tty, &mut byte).unwrap(), 1);
    }
}
