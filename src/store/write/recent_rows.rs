//! The rows that this writer wrote last, in memory, in case that the file is replaced by an older copy while it is open:
//! by a restore, by a program that keeps folders alike, by hand.
//!
//! A copy that took the file's name leaves the old file open here, which has everything. One that was written over the file
//! in place leaves nothing but what is kept here.

use super::journal::Journal;
use crate::store::StoreError;
use crate::store::format::row;
use crate::store::io::lines;
use crate::store::read::session::Found;
use std::collections::{HashSet, VecDeque};
use std::fs::File;

/// Bytes of rows that are kept.
const KEPT: usize = 2 << 20;
/// Bytes of the last row that are compared before the next one is written.
const COMPARED: usize = 4096;
/// Bytes after its position in which the last row is searched.
const SHIFTED: u64 = 1 << 20;
/// Bytes from its end that are read of a replaced file.
const READ: u64 = 64 << 20;

/// Rows that were written, oldest first.
#[derive(Debug, Default)]
pub(in crate::store) struct Recent {
    lines: VecDeque<String>,
    bytes: usize,
    /// The file they went to, and where the last one ends in it.
    ino: u64,
    end: u64,
}

impl Recent {
    /// A row was written to the file `ino`, and ends at `end`.
    pub(in crate::store) fn add(&mut self, line: &str, ino: u64, end: u64) {
        (self.ino, self.end) = (ino, end);
        self.bytes += line.len();
        self.lines.push_back(line.to_owned());
        while self.bytes > KEPT && self.lines.len() > 1 {
            self.bytes -= self.lines.pop_front().map_or(0, |line| line.len());
        }
    }

    /// The end of the last row, where it is in this file.
    fn last(&self, ino: u64) -> Option<(u64, &[u8])> {
        let line = self.lines.back().filter(|_| ino == self.ino)?.as_bytes();
        let end = &line[line.len().saturating_sub(COMPARED)..];
        Some((self.end.checked_sub(end.len() as u64)?, end))
    }

    /// The file is another one, or begins anew: where the last row is in it is not known.
    pub(in crate::store) fn moved(&mut self) {
        self.ino = 0;
    }

    /// The rows are gone, by our own will.
    pub(in crate::store) fn clear(&mut self) {
        *self = Self::default();
    }
}

impl Journal {
    /// The file is the one that was written last, but does not have the last row where it was written.
    pub(in crate::store) fn is_overwritten(&self, ino: u64) -> Result<bool, StoreError> {
        let (Some((at, end)), Some(file)) = (self.recent.last(ino), &self.file) else { return Ok(false) };
        // What the system may have lost is written again where it was.
        if self.unproven.failed {
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
    pub(in crate::store) fn remember_ours(&mut self, found: &Found) -> Result<(), StoreError> {
        if self.ours.is_some() {
            return Ok(());
        }
        let mut lines: Vec<String> = Vec::new();
        if found.ino != self.ino
            && let Some(old) = self.file.as_ref().or(self.found.as_ref())
        {
            lines = self.newer(old, found)?;
        }
        let mut known: HashSet<String> = lines.iter().cloned().collect();
        // Older than those, as far as they are not among them.
        let before: Vec<String> =
            self.recent.lines.iter().filter(|line| known.insert((*line).clone())).cloned().collect();
        lines.splice(0..0, before);
        lines.extend(self.unsure.drain(..).filter(|line| known.insert(line.clone())));
        self.unsure = lines;
        Ok(())
    }

    /// Rows of the old file behind the last one that the new file has, too.
    fn newer(&self, old: &File, found: &Found) -> Result<Vec<String>, StoreError> {
        let io = self.store.io();
        let end = io.stat_of(old).map_err(|e| self.error("read", e))?.len;
        let rows = |bytes: Vec<u8>| -> Vec<String> {
            let lines = bytes.split_inclusive(|byte| *byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
            lines.filter(|line| line.ends_with('\n') && row::id_of(line).is_some()).map(str::to_owned).collect()
        };
        let read = |file: &File, body: u64, end: u64| {
            lines::range(io, file, end.saturating_sub(READ).max(body.min(end)), end).map_err(|e| self.error("read", e))
        };
        let before = rows(read(old, self.head.body, end)?);
        let theirs = match &found.file {
            Some(file) => rows(read(file, found.head.body, found.len)?),
            None => Vec::new(),
        };
        let theirs: HashSet<_> = theirs.iter().filter_map(|line| row::id_of(line)).collect();
        let common = before.iter().rposition(|line| row::id_of(line).is_some_and(|id| theirs.contains(&id)));
        Ok(before.into_iter().skip(common.map_or(0, |at| at + 1)).collect())
    }
}
