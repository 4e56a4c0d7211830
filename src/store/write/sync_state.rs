//! Rows that are written and not yet forced to the disk.

/// Bytes of rows that are kept in memory until they are forced to the disk; then they are, whoever asked for it.
const UNPROVEN: usize = 1 << 20;

/// State of an fsync of `session.jsonl`.
#[derive(Debug, Default)]
pub(in crate::store) struct SyncState {
    /// An fsync was asked for.
    wanted: bool,
    /// Rows were written since the last fsync.
    unsynced: bool,
    /// Rows since the last fsync and where they start: a failed one may have thrown them away.
    lines: Vec<(u64, String)>,
    /// Bytes of the lines.
    bytes: usize,
    /// An fsync of them failed.
    failed: bool,
}

impl SyncState {
    /// True if an fsync was asked for and is still to come.
    pub(in crate::store) fn is_wanted(&self) -> bool {
        self.wanted
    }

    /// Asks for an fsync, if `wanted`.
    pub(in crate::store) fn want(&mut self, wanted: bool) {
        self.wanted |= wanted;
    }

    /// The fsync that was asked for is done.
    pub(in crate::store) fn granted(&mut self) {
        self.wanted = false;
    }

    /// A row was written.
    pub(in crate::store) fn row_written(&mut self) {
        self.unsynced = true;
    }

    /// Keeps a row that was written at `at` until it is forced to the disk.
    pub(in crate::store) fn keep(&mut self, at: u64, line: String) {
        self.bytes += line.len();
        self.lines.push((at, line));
    }

    /// True if more rows are kept than memory is given to.
    pub(in crate::store) fn is_full(&self) -> bool {
        self.bytes > UNPROVEN
    }

    /// True if rows were written since the last fsync.
    pub(in crate::store) fn is_unsynced(&self) -> bool {
        self.unsynced
    }

    /// True if an fsync of the rows failed.
    pub(in crate::store) fn has_failed(&self) -> bool {
        self.failed
    }

    /// An fsync of the rows failed.
    pub(in crate::store) fn fail(&mut self) {
        self.failed = true;
    }

    /// Rows that are not forced to the disk: where each starts, and its line.
    pub(in crate::store) fn lines(&self) -> &[(u64, String)] {
        &self.lines
    }

    /// All rows are forced to the disk.
    pub(in crate::store) fn done(&mut self) {
        self.unsynced = false;
        self.forget();
    }

    /// The rows are no business of this file any more: another file took its name.
    pub(in crate::store) fn forget(&mut self) {
        self.lines.clear();
        (self.bytes, self.failed) = (0, false);
    }
}
