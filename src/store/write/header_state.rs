//! Properties of a session that is written: as the file has them, as they should be, and what the rows count.
//!
//! The properties come from three sides: set by the engine, counted from the rows, changed by other programs.

use crate::domain::MessageId;
use crate::domain::message::Message;
use crate::domain::session::SessionMeta;
use crate::store::format::header::Counted;
use crate::store::interop::merge::{Merged, merge};
use crate::store::read::session;
use serde_json::Value;

/// Properties and counts for the header.
#[derive(Debug)]
pub(in crate::store) struct HeaderState {
    /// Properties in the header's fields.
    base: SessionMeta,
    /// Properties that they should have.
    meta: SessionMeta,
    /// Properties given last: a difference from them in the next ones is a change of ours.
    given: SessionMeta,
    /// The engine's own data.
    own: Value,
    /// Counts of the rows.
    counted: Counted,
    /// The header differs from what is on disk.
    due: bool,
    /// The header was so many bytes too long; not tried again before it changes.
    refused: Option<usize>,
    /// Marks of what is read that were replaced by newer ones here.
    was_read: Vec<MessageId>,
    /// Changes of another program, until they are asked for.
    merged: Option<Merged>,
}

impl HeaderState {
    /// Properties as the file has them. `due`: the header on disk is unfinished.
    pub(in crate::store) fn new(base: SessionMeta, own: Value, due: bool) -> Self {
        Self {
            meta: base.clone(),
            given: base.clone(),
            base,
            own,
            counted: Counted::default(),
            due,
            refused: None,
            was_read: Vec::new(),
            merged: None,
        }
    }

    /// Properties in the header's fields.
    pub(in crate::store) fn base(&self) -> &SessionMeta {
        &self.base
    }

    /// Properties that the header should have.
    pub(in crate::store) fn meta(&self) -> &SessionMeta {
        &self.meta
    }

    /// The engine's own data.
    pub(in crate::store) fn own(&self) -> &Value {
        &self.own
    }

    /// Counts of the rows.
    pub(in crate::store) fn counted(&self) -> &Counted {
        &self.counted
    }

    /// True if the header differs from what is on disk.
    pub(in crate::store) fn is_due(&self) -> bool {
        self.due
    }

    /// Bytes that the header was too long.
    pub(in crate::store) fn refused(&self) -> Option<usize> {
        self.refused
    }

    /// True if a newer mark of what is read replaced this one here.
    pub(in crate::store) fn was_read(&self, mark: &MessageId) -> bool {
        self.was_read.contains(mark)
    }

    /// The header differs from what is on disk, if `due`.
    pub(in crate::store) fn set_due(&mut self, due: bool) {
        self.due |= due;
    }

    /// The header on disk is up to date.
    pub(in crate::store) fn saved(&mut self) {
        self.due = false;
    }

    /// The header is too long by so many bytes.
    pub(in crate::store) fn refuse(&mut self, excess: usize) {
        self.refused = Some(excess);
    }

    /// Sets properties and own data. Changes of another program since the last call are included in ours already, and
    /// not known to whoever gives these.
    pub(in crate::store) fn give(&mut self, meta: SessionMeta, own: Value) {
        self.due = true;
        self.meta = merge(&self.given, &meta, &self.meta);
        self.given = meta;
        self.own = own;
        self.refused = None;
    }

    /// Properties that a death left beside the header.
    pub(in crate::store) fn restore(&mut self, meta: SessionMeta) {
        (self.given, self.meta) = (meta.clone(), meta);
        self.due = true;
    }

    /// The properties as they are count as given.
    pub(in crate::store) fn accept(&mut self) {
        self.given = self.meta.clone();
    }

    /// The other program's directory of the first message, once there is one.
    pub(in crate::store) fn first_message(&mut self) {
        if self.meta.first_cwd.is_none() {
            self.meta.first_cwd = Some(self.meta.cwd.clone());
        }
    }

    /// Counts from now on.
    pub(in crate::store) fn set_counted(&mut self, counted: Counted) {
        self.counted = counted;
    }

    /// Counts a row.
    pub(in crate::store) fn count(&mut self, row: &Message) {
        session::count(&mut self.counted, row);
    }

    /// The session was used at this time, or later.
    pub(in crate::store) fn used(&mut self, meta: &SessionMeta) {
        self.counted.used = self.counted.used.max(meta.used);
    }

    /// Another program's properties `theirs` are in the file: `seen` of them counts, merged with ours.
    pub(in crate::store) fn adopt(&mut self, theirs: SessionMeta, seen: &SessionMeta) {
        self.meta = merge(&self.base, &self.meta, seen);
        self.base = theirs;
        self.merged = Some(Merged { given: self.given.clone(), merged: self.meta.clone() });
        self.refused = None;
    }

    /// Changes of another program since the last call.
    pub(in crate::store) fn take_merged(&mut self) -> Option<Merged> {
        self.merged.take().filter(|merged| merged.given != merged.merged)
    }

    /// The header was written with these properties.
    pub(in crate::store) fn written(&mut self, meta: SessionMeta) {
        if self.base.last_read != meta.last_read {
            self.was_read.extend(self.base.last_read.take());
        }
        self.base = meta;
    }

    /// The messages are gone: these properties and counts are what is left. `due`: the header does not say so yet.
    pub(in crate::store) fn cleared(&mut self, meta: SessionMeta, own: Value, counted: Counted, due: bool) {
        self.base = meta.clone();
        self.meta = meta;
        self.own = own;
        self.counted = counted;
        self.due = due;
    }
}
