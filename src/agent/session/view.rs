//! A session as clients see it, and what holds its files for that.

use super::follower_task::{Following, Pace};
use crate::agent::mailbox::Mailbox;
use crate::domain::MessageId;
use crate::store::Follower;

/// View to show of a session that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Show {
    /// Nothing: nobody looks.
    Nothing,
    /// The last rows.
    Rows(usize),
    /// The last rows where they are others than those that were shown, by what another program did meanwhile.
    Changed,
}

/// Treatment of the lock after reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LockAfterRead {
    Kept,
    Released,
}

/// Mark of the content shown last, to tell if something else is there now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) last: Option<MessageId>,
    pub(super) queue: Vec<MessageId>,
    pub(super) theirs: bool,
}

/// Clients' view of a session.
#[derive(Debug)]
pub(super) struct ClientView {
    /// A client shows the session.
    shown: bool,
    /// Somebody did something in it. A session that is only shown releases its lock, so that others can have it.
    acted: bool,
    /// The user knows that another program has the session open as well.
    told_also: bool,
    /// Content shown last.
    mark: Option<Mark>,
    following: Option<Following>,
    /// The number of the last task that followed the files.
    looks: u64,
}

impl ClientView {
    /// View of a session that was just asked for; `acted` for a new one.
    pub(super) fn new(acted: bool) -> Self {
        Self { shown: true, acted, told_also: false, mark: None, following: None, looks: 0 }
    }

    /// A client shows the session.
    pub(super) fn is_shown(&self) -> bool {
        self.shown
    }

    /// A client shows the session from now on.
    pub(super) fn show(&mut self) {
        self.shown = true;
    }

    /// The session works without being shown.
    pub(super) fn hide(&mut self) {
        self.shown = false;
    }

    /// Nobody shows the session any more.
    pub(super) fn leave(&mut self) {
        self.hide();
        self.unfollow();
    }

    /// Somebody did something in the session.
    pub(super) fn has_acted(&self) -> bool {
        self.acted
    }

    /// Somebody does something in the session.
    pub(super) fn act(&mut self) {
        self.acted = true;
    }

    /// The session is only looked at from now on.
    pub(super) fn rest(&mut self) {
        self.acted = false;
    }

    /// True the first time: the user is to know that another program has the session open.
    pub(super) fn tell_also(&mut self) -> bool {
        !std::mem::replace(&mut self.told_also, true) && self.shown
    }

    /// Content shown last.
    pub(super) fn mark(&self) -> Option<&Mark> {
        self.mark.as_ref()
    }

    /// Notes the content that is shown now, and returns the one before.
    pub(super) fn set_mark(&mut self, mark: Mark) -> Option<Mark> {
        self.mark.replace(mark)
    }

    /// Follows the files, in place of what was followed before.
    pub(super) fn follow(&mut self, follower: Follower, pace: Pace, mailbox: Mailbox) {
        self.looks += 1;
        self.following = Some(Following::begin(follower, pace, self.looks, mailbox));
    }

    /// Ends following the files.
    pub(super) fn unfollow(&mut self) {
        self.following = None;
    }

    /// True if the task of this number still follows the files.
    pub(super) fn is_followed_by(&self, number: u64) -> bool {
        self.following.as_ref().is_some_and(|following| following.number() == number)
    }

    /// Forgets what was shown, with the files.
    pub(super) fn unload(&mut self) {
        self.rest();
        self.mark = None;
        self.unfollow();
    }
}
