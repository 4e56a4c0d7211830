//! The writer: a thread that brings frames to the terminal, and holds at most one that waits.
//!
//! While the terminal takes nothing, a newer frame replaces the waiting one, and the next difference is made against what
//! was really written. What is not a frame (modes, title, clipboard) goes the same way, in order and never dropped. What is
//! long and can wait (pictures) goes in small pieces while there is nothing else to write.
//! How a frame becomes bytes is `encode`'s business; how many there may be, [`Pace`] says, and how many may be on their way,
//! `flow`.

pub mod flow;

use super::encode::{Frame, Moving, TerminalContent};
use super::tty::{TtyOutput, Wrote};
use flow::Flow;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::collections::VecDeque;
use std::fmt;
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::AsFd as _;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A write that was held up longer marks a slow line.
const SLOW: Duration = Duration::from_millis(100);
/// A line is slow for so long after it last held a write up.
const FORGIVEN: Duration = Duration::from_secs(10);
/// On a slow line frames of the engine come no faster than this.
const SLOW_GAP: Duration = Duration::from_millis(250);
/// And they take no more bytes a second than this, unless the line is known to deliver twice as many.
const SLOW_BYTES: u64 = 6_500;
/// Maximum frames per second that scroll a full pane.
const SCROLLING: u32 = 15;
/// Cells that moving rows must save to be worth the disturbance beside them.
const WORTH_MOVING: usize = 400;
/// Shorter frames are drawn by any terminal in one go.
const WORTH_SYNCHRONIZING: usize = 128;

/// Measurements of the last written frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameStats {
    /// Its bytes.
    pub bytes: usize,
    /// Changed rows, and all rows.
    pub rows: (u16, u16),
    /// Time when a write was last held up, or an answer late, long enough to call the line slow.
    pub held_up: Option<Instant>,
    /// Bytes that a slow line delivers in a second, as far as is known.
    pub rate: Option<u64>,
    /// Times that answers were late, of late.
    pub late: u32,
}

/// Time without a frame of the engine after which its next ones come quickly: a short answer appears at once.
const QUIET: Duration = Duration::from_millis(100);
/// Number of such quick frames.
const QUICK: u8 = 4;
/// Interval between them.
const QUICK_GAP: Duration = Duration::from_millis(3);
/// A steady stream draws one frame in this many: no eye sees the difference, and each costs the whole screen.
const STEADY: u32 = 2;

/// Intervals between frames that no key asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    fps: u32,
    /// The last frame that the engine was the reason for.
    last: Option<Instant>,
    /// Quick frames that may still come.
    quick: u8,
}

impl Pace {
    /// At most `fps` frames a second (1 to 240).
    #[must_use]
    pub fn new(fps: u32) -> Self {
        Self { fps: fps.clamp(1, 240), last: None, quick: QUICK }
    }

    /// A frame goes out that the engine is the reason for.
    pub fn drawn(&mut self, now: Instant) {
        self.quick = if self.is_quiet(now) { QUICK } else { self.quick }.saturating_sub(1);
        self.last = Some(now);
    }

    fn is_quiet(&self, now: Instant) -> bool {
        self.last.is_none_or(|last| now.saturating_duration_since(last) >= QUIET)
    }

    /// The line pushes back.
    #[must_use]
    pub fn is_slow(written: &FrameStats, now: Instant) -> bool {
        written.held_up.is_some_and(|at| now.saturating_duration_since(at) < FORGIVEN)
    }

    /// Minimum time between the last frame and the next one.
    #[must_use]
    pub fn gap(self, written: &FrameStats, now: Instant) -> Duration {
        let (changed, all) = written.rows;
        if !Self::is_slow(written, now) && (self.quick > 0 || self.is_quiet(now)) {
            return QUICK_GAP;
        }
        let steady = (self.fps / STEADY).max(1);
        let fps = if changed > all / 2 { steady.min(SCROLLING) } else { steady };
        let gap = Duration::from_secs(1) / fps;
        if !Self::is_slow(written, now) {
            return gap;
        }
        let bytes = u64::try_from(written.bytes).unwrap_or(u64::MAX);
        let cost = Duration::from_millis(
            bytes.saturating_mul(1000) / written.rate.map_or(SLOW_BYTES, |rate| (rate / 2).max(1)),
        );
        gap.max(SLOW_GAP).max(cost.min(Duration::from_secs(2)))
    }
}

/// A whole sequence that is written when there is nothing else to write.
pub struct RawSequence {
    /// The sequence; short, because whatever comes next waits for it.
    pub bytes: Vec<u8>,
    /// Called when it was written.
    pub done: Option<Box<dyn FnOnce() + Send>>,
}

impl fmt::Debug for RawSequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Piece({} bytes)", self.bytes.len())
    }
}

#[derive(Debug, Default)]
struct WriterSlot {
    /// Bytes that are not a frame and go before it.
    control: Vec<u8>,
    frame: Option<Frame>,
    /// Bytes to write when there is nothing else, in order.
    pieces: VecDeque<RawSequence>,
    /// A buffer to be used again.
    spare: Option<Buffer>,
    /// The screen is not what the writer thinks.
    forget: bool,
    /// The terminal has synchronized output.
    synchronized: bool,
    /// The terminal draws joined signs one by one.
    split_signs: bool,
    /// Bytes are on their way.
    busy: bool,
    /// Nothing will ever be taken again.
    gone: bool,
    /// No more frames come.
    end: bool,
    written: FrameStats,
    flow: Flow,
}

#[derive(Debug, Default)]
struct Shared {
    slot: Mutex<WriterSlot>,
    /// Signals output to write, or the end.
    work: Condvar,
    /// All is written, or the terminal is gone.
    rest: Condvar,
}

impl Shared {
    fn slot(&self) -> MutexGuard<'_, WriterSlot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Everything was written. `old`: the buffer of the frame before, if there was a frame.
    fn note_written(&self, old: Option<Buffer>, written: FrameStats, held_up: Duration) {
        let mut slot = self.slot();
        let FrameStats { held_up: before, rate, late, .. } = slot.written;
        if old.is_some() {
            slot.written = written;
        }
        (slot.written.rate, slot.written.late) = (rate, late);
        slot.written.held_up = if held_up > SLOW { Some(Instant::now()) } else { before };
        slot.spare = old.or(slot.spare.take());
    }
}

/// Receiver of the terminal's answers to [`flow::ASK`].
#[derive(Clone, Debug)]
pub struct Answered(Arc<Shared>);

impl Answered {
    /// The terminal has read everything up to a question.
    pub fn take(&self) {
        let mut slot = self.0.slot();
        let now = Instant::now();
        if slot.flow.answered(now) {
            slot.written.held_up = Some(now);
        }
        (slot.written.rate, slot.written.late) = (slot.flow.rate(), slot.flow.late());
        drop(slot);
        self.0.work.notify_one();
        self.0.rest.notify_all();
    }

    /// True if an answer is on its way.
    #[must_use]
    pub fn is_owed(&self) -> bool {
        self.0.slot().flow.is_owed()
    }
}

/// The way of frames to the terminal.
#[derive(Debug)]
pub struct Writer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    stop: Option<PipeWriter>,
}

impl Writer {
    /// Starts the writer. `gone` is called once if the terminal stops existing.
    ///
    /// # Errors
    /// When there is no pipe or no thread to be had.
    pub fn start(output: Arc<TtyOutput>, gone: impl FnOnce() + Send + 'static) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let (stopped, stop) = io::pipe()?;
        let theirs = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("lisle-output".into()).spawn(move || {
            if write_all_that_comes(&theirs, &output, &stopped) {
                gone();
            }
        })?;
        Ok(Self { shared, thread: Some(thread), stop: Some(stop) })
    }

    /// A buffer to draw the next frame into. What is in its cells is of no meaning: drawing begins with all of them.
    #[must_use]
    pub fn buffer(&self, area: Rect) -> Buffer {
        let spare = self.shared.slot().spare.take();
        match spare {
            Some(mut buffer) => {
                buffer.resize(area);
                buffer
            }
            None => Buffer::empty(area),
        }
    }

    /// This is how the screen should look, whatever waited before.
    pub fn put(&self, frame: Frame) {
        let mut slot = self.shared.slot();
        if let Some(old) = slot.frame.replace(frame) {
            slot.spare = Some(old.buffer);
        }
        drop(slot);
        self.shared.work.notify_one();
    }

    /// Bytes that are no part of the screen; they are written before the next frame.
    pub fn control(&self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        self.shared.slot().control.extend_from_slice(bytes);
        self.shared.work.notify_one();
    }

    /// Sequences that are written in this order, each when there is nothing else to write.
    pub fn behind(&self, pieces: impl IntoIterator<Item = RawSequence>) {
        self.shared.slot().pieces.extend(pieces);
        self.shared.work.notify_one();
    }

    /// Drops background output that is not written yet.
    pub fn drop_behind(&self) {
        self.shared.slot().pieces.clear();
    }

    /// Receiver of the terminal's answers.
    #[must_use]
    pub fn answered(&self) -> Answered {
        Answered(Arc::clone(&self.shared))
    }

    /// The terminal was somebody else's, and was asked [`flow::ASK`] just now: the next frame clears the screen and writes
    /// every cell.
    pub fn forget(&self) {
        let mut slot = self.shared.slot();
        slot.forget = true;
        slot.flow.forget();
        slot.flow.sent(0, Instant::now());
    }

    /// Wraps frames into synchronized updates, or stops doing so.
    pub fn synchronize(&self, on: bool) {
        self.shared.slot().synchronized = on;
    }

    /// Signs that are joined (families) are written whole, or only the first of them.
    pub fn join_signs(&self, on: bool) {
        let mut slot = self.shared.slot();
        if std::mem::replace(&mut slot.split_signs, !on) == on {
            slot.forget = true;
        }
    }

    /// Measurements of the last written frame.
    #[must_use]
    pub fn written(&self) -> FrameStats {
        self.shared.slot().written
    }

    /// Waits until all that was given is written and answered, but no longer than `limit`. Whether it is.
    pub fn settle(&self, limit: Duration) -> bool {
        let slot = self.shared.slot();
        let waiting = |slot: &mut WriterSlot| {
            !slot.gone && (slot.busy || slot.frame.is_some() || !slot.control.is_empty() || slot.flow.is_owed())
        };
        let (slot, timeout) =
            self.shared.rest.wait_timeout_while(slot, limit, waiting).unwrap_or_else(PoisonError::into_inner);
        !timeout.timed_out() && !slot.gone
    }
}

impl Drop for Writer {
    /// Drops unwritten output; a terminal that takes nothing is not waited for.
    fn drop(&mut self) {
        self.shared.slot().end = true;
        self.shared.work.notify_one();
        drop(self.stop.take());
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != std::thread::current().id()
        {
            let _ = thread.join();
        }
    }
}

/// Returns whether it ended because the terminal is gone.
fn write_all_that_comes(shared: &Shared, output: &TtyOutput, stopped: &PipeReader) -> bool {
    let mut shown = TerminalContent::default();
    let mut out = Vec::with_capacity(16 << 10);
    loop {
        let mut slot = shared.slot();
        slot.busy = false;
        if slot.frame.is_none() && slot.control.is_empty() && !slot.end {
            shared.rest.notify_all();
        }
        slot = wait_for_work(shared, slot);
        if slot.end {
            return false;
        }
        slot.busy = true;
        let may_go = slot.flow.wait(Instant::now()).is_none();
        let can_wait = may_go && slot.frame.is_none() && slot.control.is_empty();
        let mut piece = if can_wait { slot.pieces.pop_front() } else { None };
        let frame = if may_go { slot.frame.take() } else { None };
        out.clear();
        out.append(&mut slot.control);
        if let Some(piece) = &mut piece {
            out.append(&mut piece.bytes);
        }
        if frame.is_some() && std::mem::take(&mut slot.forget) {
            shown.forget();
        }
        let (synchronized, asks) = (slot.synchronized, slot.flow.asks());
        shown.split_signs(slot.split_signs);
        drop(slot);

        let mut written = FrameStats::default();
        let old = frame.map(|mut frame| {
            let start = out.len();
            let moving = if synchronized { Moving::Worth(WORTH_MOVING) } else { Moving::Never };
            written.rows = (shown.advance(&mut frame, moving, &mut out).rows, frame.buffer.area.height);
            written.bytes = out.len() - start;
            if synchronized && written.bytes > WORTH_SYNCHRONIZING {
                out.splice(start..start, *b"\x1b[?2026h");
                out.extend_from_slice(b"\x1b[?2026l");
            }
            frame.buffer
        });
        let had_frame = old.is_some();
        // What is only a few bytes is not asked about, unless it is a frame.
        let asks = asks && !out.is_empty() && (had_frame || piece.is_some());
        if asks {
            shared.slot().flow.sent(out.len(), Instant::now());
            out.extend_from_slice(flow::ASK.as_bytes());
        }
        match push(&out, output, stopped) {
            Pushed::All { held_up } => {
                shared.note_written(old, written, held_up);
                if let Some(done) = piece.and_then(|piece| piece.done) {
                    done();
                }
            }
            Pushed::Shut => shown.forget(),
            Pushed::Stopped => return false,
            Pushed::Gone => {
                let mut slot = shared.slot();
                slot.gone = true;
                shared.rest.notify_all();
                return !slot.end;
            }
        }
    }
}

/// Waits until there is something that may be written, or the end.
fn wait_for_work<'a>(shared: &Shared, mut slot: MutexGuard<'a, WriterSlot>) -> MutexGuard<'a, WriterSlot> {
    loop {
        if slot.end || !slot.control.is_empty() {
            return slot;
        }
        let work = &shared.work;
        slot = if slot.frame.is_none() && slot.pieces.is_empty() {
            work.wait(slot).unwrap_or_else(PoisonError::into_inner)
        } else {
            let now = Instant::now();
            let Some(until) = slot.flow.wait(now) else { return slot };
            work.wait_timeout(slot, until - now).unwrap_or_else(PoisonError::into_inner).0
        };
    }
}

enum Pushed {
    All {
        held_up: Duration,
    },
    /// The terminal is not ours now, so nobody knows what it shows.
    Shut,
    Stopped,
    Gone,
}

fn push(mut bytes: &[u8], output: &TtyOutput, stopped: &PipeReader) -> Pushed {
    let mut held_up = Duration::ZERO;
    while !bytes.is_empty() {
        match output.write(bytes) {
            Wrote::Some(n) => bytes = bytes.get(n..).unwrap_or_default(),
            Wrote::Shut => return Pushed::Shut,
            Wrote::Gone => return Pushed::Gone,
            Wrote::Full => {
                let since = Instant::now();
                output.room(Some(stopped.as_fd()), None);
                held_up += since.elapsed();
                if is_closed(stopped) {
                    return Pushed::Stopped;
                }
            }
        }
    }
    Pushed::All { held_up }
}

/// Nothing is ever sent through the pipe: it is readable when its other end was closed.
fn is_closed(pipe: &PipeReader) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut fds = [PollFd::new(pipe, PollFlags::IN)];
    poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|ready| ready > 0)
}

#[cfg(test)]
mod tests;
