//! Bytes on their way to the terminal, and how many there may be.
//!
//! Between lisle and a terminal lie buffers that take whatever is written: sshd empties the pseudo-terminal at once, and a slow
//! line delivers for seconds what nobody wants to see any more. So the terminal is asked for its status behind each frame
//! (DSR 5, ECMA-48), which it answers when it has read that far; the next frame waits for the answer unless little is on its
//! way. Only this report is asked for: nothing else looks like it, while one of the cursor looks like F3 with modifiers.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Query for the terminal's status; the answer is `ESC [ 0 n`.
pub const ASK: &str = "\x1b[5n";

/// Bytes that may always be on their way, and those that more may be with each answer that comes in time.
const STEP: u64 = 1500;
/// More are never on their way unanswered.
const MOST: u64 = 64 << 10;
/// An answer that comes so much later than the quickest one waited in a buffer, …
const LATE: Duration = Duration::from_millis(80);
/// … and one that is not even half as late did not.
const IN_TIME: Duration = Duration::from_millis(40);
/// Answers that come late in less time come late for one reason, …
const TOGETHER: Duration = Duration::from_millis(500);
/// … and those that are further apart have nothing to do with one another.
const LATELY: Duration = Duration::from_secs(10);
/// An answer that takes longer does not come: the terminal's other end was changed, or it ate the query.
const LOST: Duration = Duration::from_secs(10);

#[derive(Clone, Copy, Debug)]
struct Sent {
    at: Instant,
    bytes: u64,
}

/// Bytes on their way, by frame.
#[derive(Debug)]
pub(super) struct Flow {
    /// The terminal answered once.
    answers: bool,
    sent: VecDeque<Sent>,
    /// Bytes that may be on their way.
    window: u64,
    /// Time of the last answer.
    answered: Option<Instant>,
    /// The quickest answer so far.
    quickest: Option<Duration>,
    /// Bytes that a slow line delivers in a second.
    rate: Option<u64>,
    /// Times that answers were late, of late, and the last of them.
    late: (u32, Option<Instant>),
}

impl Default for Flow {
    fn default() -> Self {
        Self {
            answers: false,
            sent: VecDeque::new(),
            window: STEP,
            answered: None,
            quickest: None,
            rate: None,
            late: (0, None),
        }
    }
}

impl Flow {
    /// True if frames end with [`ASK`].
    pub(super) fn asks(&self) -> bool {
        self.answers
    }

    /// Bytes that the line delivers in a second, if it is slow.
    pub(super) fn rate(&self) -> Option<u64> {
        self.rate
    }

    /// Times that answers were late, of late. One may be an accident of the network; several are a slow line.
    pub(super) fn late(&self) -> u32 {
        self.late.0
    }

    /// Answers that come late together are one time; small frames between, which are in time, say nothing.
    fn note_late(&mut self, now: Instant) {
        let (times, last) = self.late;
        let since = last.map(|last| now.saturating_duration_since(last));
        self.late = match since {
            Some(since) if since < TOGETHER => return,
            Some(since) if since < LATELY => (times.saturating_add(1), Some(now)),
            _ => (1, Some(now)),
        };
    }

    /// True if an answer is owed by a terminal that answers.
    pub(super) fn is_owed(&self) -> bool {
        self.answers && !self.sent.is_empty()
    }

    /// So many bytes were written with the question behind them.
    pub(super) fn sent(&mut self, bytes: usize, at: Instant) {
        self.sent.push_back(Sent { at, bytes: u64::try_from(bytes).unwrap_or(u64::MAX) });
    }

    /// The terminal answered. True if the answer was late: the line is slow.
    pub(super) fn answered(&mut self, now: Instant) -> bool {
        self.answers = true;
        let before = self.answered.replace(now);
        let Some(Sent { at, bytes }) = self.sent.pop_front() else { return false };
        let took = now.saturating_duration_since(at);
        let quickest = self.quickest.map_or(took, |quickest| quickest.min(took));
        self.quickest = Some(quickest);
        let waited = took.saturating_sub(quickest);
        if waited < IN_TIME {
            self.window = (self.window + STEP).min(MOST);
            self.rate = None;
        }
        if waited <= LATE {
            return false;
        }
        self.window = (self.window / 2).max(STEP);
        self.note_late(now);
        // What was sent before the last answer waited for the frame before.
        let since = now.saturating_duration_since(before.map_or(at, |before| before.max(at)));
        let millis = u64::try_from(since.as_millis()).unwrap_or(u64::MAX).max(1);
        self.rate = Some(bytes.saturating_mul(1000) / millis);
        true
    }

    /// Time at which the next frame goes if no answer comes until then; `None` if it may go now.
    pub(super) fn wait(&mut self, now: Instant) -> Option<Instant> {
        let oldest = self.sent.front().filter(|_| self.answers)?;
        let until = oldest.at + LOST;
        if now >= until {
            // Frames wait for nothing until the terminal answers again.
            self.answers = false;
            self.sent.clear();
            return None;
        }
        let bytes = self.sent.iter().fold(0_u64, |sum, sent| sum.saturating_add(sent.bytes));
        (bytes >= self.window).then_some(until)
    }

    /// The terminal was somebody else's meanwhile, and is asked anew.
    pub(super) fn forget(&mut self) {
        self.answers = false;
        self.sent.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUND_TRIP: Duration = Duration::from_millis(300);

    /// A line that takes everything at once and delivers it slowly, with a terminal at its end.
    struct Line {
        flow: Flow,
        now: Instant,
        bytes_a_second: u64,
        free: Instant,
        answers: VecDeque<Instant>,
    }

    impl Line {
        fn new(bytes_a_second: u64) -> Self {
            let now = Instant::now();
            let mut flow = Flow::default();
            flow.sent(0, now);
            assert!(!flow.asks() && flow.wait(now).is_none(), "nothing is known of it");
            flow.answered(now + ROUND_TRIP);
            let now = now + ROUND_TRIP;
            Self { flow, now, bytes_a_second, free: now, answers: VecDeque::new() }
        }

        fn advance(&mut self, by: Duration) {
            let end = self.now + by;
            while let Some(at) = self.answers.front().copied().filter(|at| *at <= end) {
                self.answers.pop_front();
                self.now = at;
                self.flow.answered(at);
            }
            self.now = end;
        }

        /// Writes a frame as soon as it may go; the time until it is seen.
        fn write(&mut self, bytes: usize) -> Duration {
            let begun = self.now;
            while self.flow.wait(self.now).is_some() {
                self.advance(Duration::from_millis(1));
            }
            self.flow.sent(bytes, self.now);
            let takes = Duration::from_millis(u64::try_from(bytes).unwrap() * 1000 / self.bytes_a_second);
            self.free = self.free.max(self.now) + takes;
            self.answers.push_back(self.free + ROUND_TRIP);
            self.free + ROUND_TRIP / 2 - begun
        }
    }

    #[test]
    fn a_key_waits_for_one_answer_and_one_frame_on_any_line() {
        for bytes_a_second in [5_000, 16_000, 100_000, 10_000_000] {
            let mut line = Line::new(bytes_a_second);
            for _ in 0..40 {
                // An answer that streams, and a key in the midst of it.
                let frame = 3000;
                line.write(frame);
                line.advance(Duration::from_millis(7));
                let seen = line.write(200);
                let one_frame = Duration::from_millis(3200 * 1000 / bytes_a_second);
                // It may wait for an answer, then it is on its way; as much may wait in a buffer as does not count as late.
                let most = ROUND_TRIP + ROUND_TRIP / 2 + one_frame + LATE;
                assert!(seen <= most, "{bytes_a_second}: seen after {seen:?}, at most {most:?}");
            }
        }
    }

    #[test]
    fn a_fast_line_with_a_long_way_is_used() {
        let mut line = Line::new(10_000_000);
        let begun = line.now;
        for _ in 0..100 {
            line.write(3000);
        }
        let each = (line.now - begun) / 100;
        assert!(each < ROUND_TRIP / 2, "a frame in {each:?}");
    }

    #[test]
    fn keystrokes_do_not_wait_for_each_other() {
        let mut line = Line::new(5_000);
        for _ in 0..7 {
            assert!(line.flow.wait(line.now).is_none());
            line.write(200);
        }
        assert!(line.flow.is_owed());
    }

    #[test]
    fn an_answer_that_never_comes_is_given_up() {
        let now = Instant::now();
        let mut flow = Flow::default();
        flow.answered(now);
        assert!(flow.asks() && !flow.is_owed());
        flow.sent(9000, now);
        assert_eq!(flow.wait(now), Some(now + LOST));
        assert!(flow.is_owed());
        assert_eq!(flow.wait(now + LOST), None);
        assert!(!flow.is_owed() && !flow.asks(), "the next frames wait for nothing");
        flow.answered(now + LOST);
        assert!(!flow.is_owed(), "one that comes later answers nothing");
        flow.sent(9000, now);
        flow.forget();
        assert!(!flow.asks() && flow.wait(now).is_none());
    }

    #[test]
    fn what_waits_in_a_buffer_marks_a_slow_line() {
        let now = Instant::now();
        let millis = Duration::from_millis;
        let mut flow = Flow::default();
        flow.sent(0, now);
        assert!(!flow.answered(now + millis(300)), "a long way is not a slow line");
        flow.sent(9000, now + millis(400));
        assert!(flow.answered(now + millis(1300)));
        assert_eq!((flow.rate(), flow.late()), (Some(10_000), 1));
        flow.sent(100, now + millis(1400));
        assert!(!flow.answered(now + millis(1700)) && flow.rate().is_none(), "it is fast again");
        assert_eq!(flow.late(), 1, "which does not make it a fast line");
        for (answered, times) in [(2_300, 2), (2_500, 2), (3_400, 3), (30_000, 1)] {
            flow.sent(9000, now + millis(answered - 900));
            flow.answered(now + millis(answered));
            assert_eq!(flow.late(), times, "at {answered} ms");
        }
    }
}
