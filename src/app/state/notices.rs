//! Short words to the user, which go by themselves.

use crate::domain::ids::{At, RequestId, SessionId};
use crate::domain::{Level, Notice};
use std::collections::VecDeque;

/// Milliseconds that a notice of this level stays.
#[must_use]
pub fn stays(level: Level) -> u64 {
    match level {
        Level::Info => 4_000,
        Level::Warning => 8_000,
        // It stays until a key is pressed by somebody who could have read it.
        Level::Error => 3_600_000,
    }
}

/// Milliseconds that an error is shown before a key may remove it.
const READ: u64 = 2_000;
/// Begin of a notice on the key before.
pub(crate) const IGNORED: &str = "Ignored: ";
/// Number of past notices that are kept.
const PAST: usize = 100;

/// Condition of a notice's advice. With it the notice goes: what it says would not be true any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrueWhile {
    /// The request waits in the shown session.
    Waits(RequestId),
    /// This text stands in the composer.
    Draft(String),
    /// The key for the next mode rests at one that is not set yet.
    ModeRests,
    /// A turn runs in the shown session.
    TurnRuns,
    /// Messages wait in the queue of the shown session.
    QueueWaits,
    /// Lines of the conversation are being selected.
    Selecting,
    /// The panel that has the focus has no answer selected.
    NoAnswer,
    /// This session is shown.
    Shows(SessionId),
    /// The server at this address is asked for its models.
    Adds(String),
    /// No session needs the user.
    NobodyWaits,
}

/// A notice on the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Notice.
    pub notice: Notice,
    /// Time when it disappears.
    pub until: At,
    /// Since when it is there.
    pub since: At,
    /// Conditions, all of which hold.
    pub conditions: Vec<TrueWhile>,
}

/// The notices on the screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notices {
    shown: VecDeque<Shown>,
    /// All that were said lately, with when, oldest first.
    past: VecDeque<(At, Notice)>,
    /// Time for which the timer is armed that removes the next one.
    pub(crate) armed: Option<At>,
}

impl Notices {
    /// Notices to show, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Notice> + ExactSizeIterator {
        self.shown.iter().map(|shown| &shown.notice)
    }

    /// The newest.
    #[must_use]
    pub fn last(&self) -> Option<&Notice> {
        self.shown.back().map(|shown| &shown.notice)
    }

    /// Adds one; the same words again only stay longer, and of a remark on the same matter (`Tool calls: …`) only the
    /// newest stays. At most three stay.
    pub fn push(&mut self, now: At, notice: Notice) {
        self.push_while(now, notice, Vec::new());
    }

    /// The same for as long as all of the conditions hold.
    pub fn push_while(&mut self, now: At, notice: Notice, conditions: Vec<TrueWhile>) {
        self.push_for(stays(notice.level), now, notice, conditions);
    }

    /// The same for this many milliseconds at the most.
    pub fn push_for(&mut self, ms: u64, now: At, notice: Notice, conditions: Vec<TrueWhile>) {
        let matter = |notice: &Notice| match notice.level {
            Level::Info => notice.text.split_once(": ").map(|(matter, _)| matter.to_owned()),
            Level::Warning | Level::Error => None,
        };
        let new = matter(&notice);
        self.shown.retain(|shown| shown.notice != notice && (new.is_none() || matter(&shown.notice) != new));
        let until = now.plus(ms);
        if self.past.back().is_some_and(|(_, last)| *last == notice) {
            self.past.pop_back();
        }
        self.past.push_back((now, notice.clone()));
        while self.past.len() > PAST {
            self.past.pop_front();
        }
        self.shown.push_back(Shown { notice, until, since: now, conditions });
        while self.shown.len() > 3 {
            self.shown.pop_front();
        }
    }

    /// Takes away those of which a condition holds no more.
    pub(crate) fn keep_true(&mut self, holds: impl Fn(&TrueWhile) -> bool) {
        self.shown.retain(|shown| shown.conditions.iter().all(&holds));
    }

    /// All that were said lately, with when, oldest first.
    pub fn past(&self) -> impl DoubleEndedIterator<Item = &(At, Notice)> + ExactSizeIterator {
        self.past.iter()
    }

    /// A key was pressed: errors that stood there long enough to be read go, and what was said of the key before.
    pub fn heard(&mut self, now: At) {
        let stays = |shown: &Shown| shown.notice.level != Level::Error || now.since(shown.since) < READ;
        self.shown.retain(|shown| stays(shown) && !shown.notice.text.starts_with(IGNORED));
    }

    /// Takes away what is over. Whether anything was.
    pub fn expire(&mut self, now: At) -> bool {
        let before = self.shown.len();
        self.shown.retain(|shown| shown.until > now);
        self.shown.len() != before
    }

    /// Milliseconds until the next one goes.
    #[must_use]
    pub fn next(&self, now: At) -> Option<u64> {
        self.shown.iter().map(|shown| shown.until.since(now)).min()
    }

    /// Takes all away. Whether there were any.
    pub fn clear(&mut self) -> bool {
        let any = !self.shown.is_empty();
        self.shown.clear();
        any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_one_matter_the_newest_stays() {
        let mut notices = Notices::default();
        for (level, text) in [
            (Level::Info, "Tool output: one"),
            (Level::Info, "other: one"),
            (Level::Info, "Tool output: two"),
            (Level::Error, "x: one"),
            (Level::Error, "x: two"),
        ] {
            notices.push(At(0), Notice::new(level, text));
        }
        let texts: Vec<&str> = notices.iter().map(|notice| notice.text.as_str()).collect();
        assert_eq!(texts, ["Tool output: two", "x: one", "x: two"], "at most three");
        assert_eq!(notices.past().len(), 5, "all are remembered");
    }

    #[test]
    fn they_go_when_their_time_is_over() {
        let mut notices = Notices::default();
        notices.push(At(0), Notice::new(Level::Info, "a"));
        notices.push(At(0), Notice::new(Level::Error, "b"));
        notices.push(At(1_000), Notice::new(Level::Info, "a"));
        assert_eq!(notices.iter().len(), 2);
        assert_eq!(notices.next(At(1_000)), Some(4_000));
        assert!(!notices.expire(At(4_999)));
        assert!(notices.expire(At(5_000)));
        assert_eq!(notices.last().map(|n| n.text.as_str()), Some("b"));
        notices.heard(At(1_900));
        assert_eq!(notices.iter().len(), 1, "nobody could have read it");
        notices.heard(At(2_000));
        assert_eq!(notices.iter().len(), 0);
    }
}
