//! Short words to the user, which go by themselves.

use crate::domain::ids::At;
use crate::domain::{Level, Notice};
use std::collections::VecDeque;

/// How long a notice stays, by how loud it is, in milliseconds.
#[must_use]
pub fn stays(level: Level) -> u64 {
    match level {
        Level::Info => 4_000,
        Level::Warning => 8_000,
        Level::Error => 15_000,
    }
}

/// A notice on the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// What it says.
    pub notice: Notice,
    /// When it goes.
    pub until: At,
}

/// The notices on the screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notices {
    shown: VecDeque<Shown>,
    /// For when the timer is armed that takes the next one away.
    pub(crate) armed: Option<At>,
}

impl Notices {
    /// Those that are to be shown, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Notice> + ExactSizeIterator {
        self.shown.iter().map(|shown| &shown.notice)
    }

    /// The newest.
    #[must_use]
    pub fn last(&self) -> Option<&Notice> {
        self.shown.back().map(|shown| &shown.notice)
    }

    /// Adds one; the same words again only stay longer, and of a remark on the same matter (`Tool calls: …`) only the
    /// newest stays. At most five stay.
    pub fn push(&mut self, now: At, notice: Notice) {
        let matter = |notice: &Notice| match notice.level {
            Level::Info => notice.text.split_once(": ").map(|(matter, _)| matter.to_owned()),
            Level::Warning | Level::Error => None,
        };
        let new = matter(&notice);
        self.shown.retain(|shown| shown.notice != notice && (new.is_none() || matter(&shown.notice) != new));
        let until = now.plus(stays(notice.level));
        self.shown.push_back(Shown { notice, until });
        while self.shown.len() > 5 {
            self.shown.pop_front();
        }
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
            (Level::Info, "Tool calls: one"),
            (Level::Info, "other: one"),
            (Level::Info, "Tool calls: two"),
            (Level::Error, "x: one"),
            (Level::Error, "x: two"),
        ] {
            notices.push(At(0), Notice::new(level, text));
        }
        let texts: Vec<&str> = notices.iter().map(|notice| notice.text.as_str()).collect();
        assert_eq!(texts, ["other: one", "Tool calls: two", "x: one", "x: two"]);
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
    }
}
