//! Copies of our rows in case another program replaces `session.jsonl`: `ours.jsonl`, and the last rows in memory.
//!
//! Each row stands in `ours.jsonl` first where other programs may write the session, or the lock is not ours yet. Else
//! only the rows written last are kept, in memory.

use crate::domain::MessageId;
use crate::store::Store;
use crate::store::interop::shadow_log::Ours;
use std::collections::VecDeque;
use std::path::Path;

/// Bytes of rows that are kept in memory.
const KEPT: usize = 2 << 20;
/// Bytes of the last row that are compared before the next one is written.
const COMPARED: usize = 4096;

/// Rows that were written last, oldest first.
#[derive(Debug, Default)]
struct Recent {
    lines: VecDeque<String>,
    bytes: usize,
    /// Inode of the file that they went to; 0 when it is not known.
    ino: u64,
    /// End of the last one in it.
    end: u64,
}

/// Copies of our rows.
#[derive(Debug)]
pub(in crate::store) struct RowCopies {
    log: Option<Ours>,
    /// The log is needed only until the lock is granted.
    until_granted: bool,
    /// The file may lack rows of ours: they have to be paired with its own.
    unpaired: bool,
    /// Rows that may have gone to a file that was replaced, where there is no log.
    unsure: Vec<String>,
    recent: Recent,
    last: Option<MessageId>,
}

impl RowCopies {
    /// Without a log.
    pub(in crate::store) fn new() -> Self {
        let recent = Recent::default();
        Self { log: None, until_granted: false, unpaired: false, unsure: Vec::new(), recent, last: None }
    }

    /// With the log of the session in `dir` from now on.
    pub(in crate::store) fn start_log(&mut self, store: &Store, dir: &Path) -> &mut Ours {
        self.log.get_or_insert_with(|| Ours::new(store.clone(), dir))
    }

    /// With the log until the lock is granted. A log that is there already stays as long as it was to.
    pub(in crate::store) fn start_log_for_now(&mut self, store: &Store, dir: &Path) -> &mut Ours {
        self.until_granted |= self.log.is_none();
        self.start_log(store, dir)
    }

    /// The log stays whatever becomes of the lock.
    pub(in crate::store) fn keep_log(&mut self) {
        self.until_granted = false;
    }

    /// The log is removed and not written any more.
    pub(in crate::store) fn end_log(&mut self) {
        (self.log, self.until_granted) = (None, false);
    }

    /// The log.
    pub(in crate::store) fn log(&self) -> Option<&Ours> {
        self.log.as_ref()
    }

    /// The log, for writing.
    pub(in crate::store) fn log_mut(&mut self) -> Option<&mut Ours> {
        self.log.as_mut()
    }

    /// True if the log is needed only until the lock is granted.
    pub(in crate::store) fn is_log_for_now(&self) -> bool {
        self.until_granted
    }

    /// True if rows have to be paired with those of the file.
    pub(in crate::store) fn is_unpaired(&self) -> bool {
        self.unpaired
    }

    /// Sets if rows have to be paired with those of the file.
    pub(in crate::store) fn set_unpaired(&mut self, unpaired: bool) {
        self.unpaired = unpaired;
    }

    /// Rows have to be paired with those of the file, if there is a log of them.
    pub(in crate::store) fn set_unpaired_if_logged(&mut self) {
        self.unpaired = self.log.is_some();
    }

    /// Rows that may have gone to a file that was replaced.
    pub(in crate::store) fn unsure(&self) -> &[String] {
        &self.unsure
    }

    /// A row may have gone to a file that was replaced. The log has it where there is one.
    pub(in crate::store) fn doubt(&mut self, line: &str) {
        if self.log.is_none() {
            self.unsure.push(line.to_owned());
        }
    }

    /// Takes the rows that may have gone to a file that was replaced.
    pub(in crate::store) fn take_unsure(&mut self) -> Vec<String> {
        std::mem::take(&mut self.unsure)
    }

    /// Rows that may have gone to a file that was replaced, from now on.
    pub(in crate::store) fn set_unsure(&mut self, lines: Vec<String>) {
        self.unsure = lines;
    }

    /// All rows are paired with those of the file.
    pub(in crate::store) fn paired(&mut self) {
        self.unsure.clear();
        self.unpaired = false;
    }

    /// A row was written to the file `ino`, and ends at `end`.
    pub(in crate::store) fn written(&mut self, id: Option<MessageId>, line: &str, ino: u64, end: u64) {
        self.last = id;
        let recent = &mut self.recent;
        (recent.ino, recent.end) = (ino, end);
        recent.bytes += line.len();
        recent.lines.push_back(line.to_owned());
        while recent.bytes > KEPT && recent.lines.len() > 1 {
            recent.bytes -= recent.lines.pop_front().map_or(0, |line| line.len());
        }
    }

    /// The row that was written last.
    pub(in crate::store) fn last(&self) -> Option<&MessageId> {
        self.last.as_ref()
    }

    /// Start and bytes of the last row's end, where it is in the file `ino`.
    pub(in crate::store) fn last_end(&self, ino: u64) -> Option<(u64, &[u8])> {
        let line = self.recent.lines.back().filter(|_| ino == self.recent.ino)?.as_bytes();
        let end = &line[line.len().saturating_sub(COMPARED)..];
        Some((self.recent.end.checked_sub(end.len() as u64)?, end))
    }

    /// Rows that were written last, oldest first.
    pub(in crate::store) fn recent(&self) -> impl Iterator<Item = &String> {
        self.recent.lines.iter()
    }

    /// The file is another one, or begins anew: where the last row is in it is not known.
    pub(in crate::store) fn moved(&mut self) {
        self.recent.ino = 0;
    }

    /// The rows are gone, by our own will.
    pub(in crate::store) fn forget(&mut self) {
        self.unsure.clear();
        self.recent = Recent::default();
        self.unpaired = false;
    }
}
