//! When the next frame may go out.

use crate::runtime::client::Owed;
use crate::runtime::frames::{FrameStats, Pace};
use std::time::{Duration, Instant};

/// When the next frame may go out.
#[derive(Debug)]
pub(super) struct FrameSchedule {
    pub pace: Pace,
    pub owed: Owed,
    pub last_frame: Option<Instant>,
    /// A picture is drawn then, if it rests until then.
    pub pictures_at: Option<Instant>,
    /// The terminal's size changes and was not drawn yet.
    pub dragged: Option<Dragged>,
    /// The user was told that the line is slow.
    told_slow: bool,
}

/// Times that answers are late on a line of which the user is told that it is slow.
const SLOW_LINE: u32 = 4;

impl FrameSchedule {
    /// The first frame is owed to the user.
    pub fn new(fps: u32) -> Self {
        Self {
            pace: Pace::new(fps),
            owed: Owed::User,
            last_frame: None,
            pictures_at: None,
            dragged: None,
            told_slow: false,
        }
    }

    /// Time when a frame that is owed may go out.
    pub fn due(&self, written: &FrameStats, now: Instant) -> Option<Instant> {
        let due = match (self.owed, self.last_frame) {
            (Owed::No, _) => None,
            (Owed::User, _) | (Owed::Engine, None) => Some(now),
            (Owed::Engine, Some(last)) => Some(last + self.pace.gap(written, now)),
        };
        due.map(|due| self.dragged.map_or(due, |dragged| due.max(dragged.rests())))
    }

    /// The line turned out to be slow: true once.
    pub fn found_slow(&mut self, written: &FrameStats) -> bool {
        written.late >= SLOW_LINE && !std::mem::replace(&mut self.told_slow, true)
    }

    /// The terminal has another size.
    pub fn resized(&mut self, now: Instant) {
        let begun = self.dragged.map_or(now, |dragged| dragged.begun);
        self.dragged = Some(Dragged { begun, last: now });
    }

    /// A frame was drawn.
    pub fn drawn(&mut self, now: Instant) {
        self.last_frame = Some(now);
        self.dragged = None;
        if self.owed == Owed::Engine {
            self.pace.drawn(now);
        }
        // What a frame finds out is no reason for another one.
        self.owed = Owed::No;
    }
}

/// A window that is dragged to another size has every size in between. Each costs a layout of all that is seen, so a frame
/// waits until the hand rests, or for so long that the drawing still follows the hand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dragged {
    /// The first change that was not drawn.
    begun: Instant,
    /// The last one.
    last: Instant,
}

impl Dragged {
    const REST: Duration = Duration::from_millis(14);
    const LONGEST: Duration = Duration::from_millis(80);

    /// Time when a frame may be drawn if nothing more changes.
    fn rests(self) -> Instant {
        (self.last + Self::REST).min(self.begun + Self::LONGEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_line_is_told_once_and_an_accident_is_not() {
        let mut schedule = FrameSchedule::new(60);
        let late = |late| FrameStats { late, ..FrameStats::default() };
        assert!(!schedule.found_slow(&late(0)) && !schedule.found_slow(&late(SLOW_LINE - 1)));
        assert!(schedule.found_slow(&late(SLOW_LINE)));
        assert!(!schedule.found_slow(&late(SLOW_LINE + 1)));
    }
}
