//! Stages of a journal: unused, used, closed, broken.

/// Stage of a journal.
#[derive(Debug, Default)]
pub(in crate::store) struct Lifecycle {
    /// The journal was used; without that, closing leaves the files alone.
    touched: bool,
    /// The journal takes no more rows.
    closed: bool,
    /// The thread that owns the journal died of a defect: nothing more is written.
    broken: bool,
}

impl Lifecycle {
    /// True once the journal was used.
    pub(in crate::store) fn is_touched(&self) -> bool {
        self.touched
    }

    /// True if the journal takes no more rows.
    pub(in crate::store) fn is_closed(&self) -> bool {
        self.closed
    }

    /// True if the journal's thread died.
    pub(in crate::store) fn is_broken(&self) -> bool {
        self.broken
    }

    /// The journal is used from now on.
    pub(in crate::store) fn touch(&mut self) {
        self.touched = true;
    }

    /// The journal takes no more rows, if `done`.
    pub(in crate::store) fn close(&mut self, done: bool) {
        self.closed |= done;
    }

    /// The journal's thread died.
    pub(in crate::store) fn break_off(&mut self) {
        self.broken = true;
    }
}
