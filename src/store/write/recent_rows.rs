//! Rows that this writer wrote last, compared with the file and written again where it is replaced by an older copy while
//! it is open: by a restore, by a program that keeps folders alike, by hand.
//!
//! A copy that took the file's name leaves the old file open here, which has everything. One that was written over the file
//! in place leaves nothing but what `row_copies` keeps.

use super::journal::Journal;
use crate::store::StoreError;
use crate::store::format::row;
use crate::store::io::lines;
use crate::store::read::session::FoundSession;
use std::collections::HashSet;
use std::fs::File;

/// Bytes after its position in which the last row is searched.
const SHIFTED: u64 = 1 << 20;
/// Bytes from its end that are read of a replaced file.
const READ: u64 = 64 << 20;

impl Journal {
    /// The file is the one that was written last, but does not have the last row where it was written.
    pub(in crate::store) fn is_overwritten(&self, ino: u64) -> Result<bool, StoreError> {
        let (Some((at, end)), Some(file)) = (self.copies.last_end(ino), self.file.appending()) else {
            return Ok(false);
        };
        // What the system may have lost is written again where it was.
        if self.sync_state.has_failed() {
            return Ok(false);
        }
        let read = |to| lines::range(self.store.io(), file, at, to).map_err(|e| self.error("read", e));
        if read(at + end.len() as u64)? == end {
            return Ok(false);
        }
        // Somebody who was taken over from may have written in between: then it stands a little behind.
        Ok(memchr::memmem::find(&read(at + SHIFTED)?, end).is_none())
    }

    /// Before a file that somebody else put there is gone on with: the rows that it may lack, to be paired with its own.
    /// Those behind the last one that both have are newer than it. What lacks among the older ones was taken out there,
    /// unless it was written here.
    pub(in crate::store) fn remember_ours(&mut self, found: &FoundSession) -> Result<(), StoreError> {
        if self.copies.log().is_some() {
            return Ok(());
        }
        let mut lines: Vec<String> = Vec::new();
        if found.ino != self.file.ino()
            && let Some(old) = self.file.held()
        {
            lines = self.newer(old, found)?;
        }
        let mut known: HashSet<String> = lines.iter().cloned().collect();
        // Older than those, as far as they are not among them.
        let before: Vec<String> = self.copies.recent().filter(|line| known.insert((*line).clone())).cloned().collect();
        lines.splice(0..0, before);
        lines.extend(self.copies.take_unsure().into_iter().filter(|line| known.insert(line.clone())));
        self.copies.set_unsure(lines);
        Ok(())
    }

    /// Rows of the old file behind the last one that the new file has, too.
    fn newer(&self, old: &File, found: &FoundSession) -> Result<Vec<String>, StoreError> {
        let io = self.store.io();
        let end = io.stat_of(old).map_err(|e| self.error("read", e))?.len;
        let rows = |bytes: Vec<u8>| -> Vec<String> {
            let lines = bytes.split_inclusive(|byte| *byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
            lines.filter(|line| line.ends_with('\n') && row::id_of(line).is_some()).map(str::to_owned).collect()
        };
        let read = |file: &File, body: u64, end: u64| {
            lines::range(io, file, end.saturating_sub(READ).max(body.min(end)), end).map_err(|e| self.error("read", e))
        };
        let before = rows(read(old, self.file.head().body, end)?);
        let theirs = match &found.file {
            Some(file) => rows(read(file, found.head.body, found.len)?),
            None => Vec::new(),
        };
        let theirs: HashSet<_> = theirs.iter().filter_map(|line| row::id_of(line)).collect();
        let common = before.iter().rposition(|line| row::id_of(line).is_some_and(|id| theirs.contains(&id)));
        Ok(before.into_iter().skip(common.map_or(0, |at| at + 1)).collect())
    }
}
