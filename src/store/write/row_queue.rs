//! Rows that wait to be written to `session.jsonl`, in order, and the times that they get.

use crate::domain::message::Message;
use crate::domain::{At, MessageId};
use std::borrow::Cow;
use std::collections::{HashSet, VecDeque};

/// A row that waits to be written.
#[derive(Debug)]
pub(in crate::store) struct PendingRow {
    /// Line of the row, with its newline.
    pub line: String,
    /// Id of the row; `None` for a line of another file that has none.
    pub id: Option<MessageId>,
    /// The line is in `ours.jsonl`.
    pub kept: bool,
    /// A death left the row unfinished.
    pub folded: bool,
}

/// Rows that wait, oldest first.
#[derive(Debug)]
pub(in crate::store) struct RowQueue {
    waiting: VecDeque<PendingRow>,
    /// Rows that a death left unfinished, from then on.
    folded: HashSet<MessageId>,
    /// Time of the newest row: no row that begins later says that it is older, wherever the clock jumped.
    newest: At,
}

impl RowQueue {
    /// A queue without rows.
    pub(in crate::store) fn new() -> Self {
        Self { waiting: VecDeque::new(), folded: HashSet::new(), newest: At(0) }
    }

    /// True if no row waits.
    pub(in crate::store) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Number of rows that wait.
    pub(in crate::store) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Rows that wait, oldest first.
    pub(in crate::store) fn iter(&self) -> impl DoubleEndedIterator<Item = &PendingRow> {
        self.waiting.iter()
    }

    /// Rows that wait and are not in `ours.jsonl` yet.
    pub(in crate::store) fn unkept(&mut self) -> impl Iterator<Item = &mut PendingRow> {
        self.waiting.iter_mut().filter(|row| !row.kept)
    }

    /// The first row, if it is not in `ours.jsonl` yet.
    pub(in crate::store) fn first_unkept(&mut self) -> Option<&mut PendingRow> {
        self.waiting.front_mut().filter(|row| !row.kept)
    }

    /// The first row. It waits until [`RowQueue::written`].
    pub(in crate::store) fn first(&self) -> Option<&PendingRow> {
        self.waiting.front()
    }

    /// The first row was written.
    pub(in crate::store) fn written(&mut self) {
        self.waiting.pop_front();
    }

    /// A death left this row unfinished.
    pub(in crate::store) fn unfinished(&mut self, id: MessageId) {
        self.folded.insert(id);
    }

    /// Adds a row at the end. `folded`: a death left it unfinished.
    pub(in crate::store) fn push(&mut self, line: String, id: Option<MessageId>, folded: bool) {
        self.waiting.push_back(PendingRow { line, id, kept: false, folded });
    }

    /// Adds a row before all others, which is in `ours.jsonl` and was left out by another program.
    pub(in crate::store) fn push_missing(&mut self, line: String, id: Option<MessageId>) {
        self.waiting.push_front(PendingRow { line, id, kept: true, folded: false });
    }

    /// Removes rows that wait.
    pub(in crate::store) fn clear(&mut self) {
        self.waiting.clear();
    }

    /// Removes everything, also what is known of unfinished rows.
    pub(in crate::store) fn forget(&mut self) {
        self.waiting.clear();
        self.folded.clear();
    }

    /// Unfinished rows that somebody else wrote by now wait no more. True if all of `rows` are unfinished ones of ours.
    pub(in crate::store) fn written_elsewhere(&mut self, rows: &[Message]) -> bool {
        self.waiting.retain(|waits| !waits.folded || rows.iter().all(|row| Some(&row.id) != waits.id.as_ref()));
        !rows.is_empty() && rows.iter().all(|row| self.folded.contains(&row.id))
    }

    /// A row of this time is there.
    pub(in crate::store) fn seen(&mut self, at: At) {
        self.newest = self.newest.max(at);
    }

    /// The row with a time that is not before that of the rows before it. `open` is the time of a row that is live: it
    /// has its time already.
    pub(in crate::store) fn dated<'a>(&mut self, row: &'a Message, open: Option<At>) -> Cow<'a, Message> {
        let at = open.map_or(row.at.max(self.newest), |open| row.at.max(open));
        self.newest = self.newest.max(at);
        if at == row.at { Cow::Borrowed(row) } else { Cow::Owned(Message { at, ..row.clone() }) }
    }
}
