//! `session.jsonl` as a journal holds it: open handles, inode, length and header of the file that it left.
//!
//! Every change of one of these is a method here. When a method is called, and what is written before it, is the
//! journal's business.

use crate::store::StoreError;
use crate::store::format::header;
use crate::store::format::json::JsonFields;
use crate::store::io::{How, Io, Stat, lines};
use crate::store::read::session::{FoundSession, Head};
use std::borrow::Cow;
use std::fs::File;
use std::path::Path;

/// The session's file.
#[derive(Debug)]
pub(in crate::store) struct SessionFile {
    /// Handle for appending, once there was a first write.
    appending: Option<File>,
    /// Handle of the file as it was found, held open so that its inode is given to no other while we know it by that.
    found: Option<File>,
    /// Inode; 0 when there is no file.
    ino: u64,
    /// Length as we left it.
    len: u64,
    /// Header of the file.
    head: Head,
    /// The file was checked and repaired.
    repaired: bool,
    /// A row was written in part, or may have been.
    torn: bool,
    /// Another program wrote the end of the file.
    others_end: bool,
}

impl SessionFile {
    /// The file as it was found. It is repaired before the first write.
    pub(in crate::store) fn new(found: FoundSession) -> Self {
        Self {
            appending: None,
            found: found.file,
            ino: found.ino,
            len: if found.ino == 0 { 0 } else { found.len },
            head: found.head,
            repaired: false,
            torn: false,
            others_end: false,
        }
    }

    /// Inode of the file; 0 when there is none.
    pub(in crate::store) fn ino(&self) -> u64 {
        self.ino
    }

    /// Length as we left it.
    pub(in crate::store) fn len(&self) -> u64 {
        self.len
    }

    /// The header.
    pub(in crate::store) fn head(&self) -> &Head {
        &self.head
    }

    /// Handle for appending.
    pub(in crate::store) fn appending(&self) -> Option<&File> {
        self.appending.as_ref()
    }

    /// Any handle of the file: that for appending, else the one that it was found with.
    pub(in crate::store) fn held(&self) -> Option<&File> {
        self.appending.as_ref().or(self.found.as_ref())
    }

    /// True once the file was checked and repaired.
    pub(in crate::store) fn is_repaired(&self) -> bool {
        self.repaired
    }

    /// True if the end of the file may be a part of a row of ours.
    pub(in crate::store) fn is_torn(&self) -> bool {
        self.torn
    }

    /// The file needs no repair. From here on, the handle for appending is held.
    pub(in crate::store) fn set_repaired(&mut self) {
        self.repaired = true;
        self.found = None;
    }

    /// The file has this inode and length.
    pub(in crate::store) fn measured(&mut self, stat: Stat) {
        (self.ino, self.len) = (stat.ino, stat.len);
    }

    /// Handle for appending from now on.
    pub(in crate::store) fn hold(&mut self, file: File) {
        self.appending = Some(file);
    }

    /// The last line got its newline.
    pub(in crate::store) fn newline_added(&mut self) {
        self.len += 1;
        if self.head.body + 1 == self.len {
            self.head.body = self.len;
        }
    }

    /// Everything from `at` on was cut off.
    pub(in crate::store) fn cut_off(&mut self, at: u64) {
        self.len = at;
        if self.head.body > at {
            self.head.body = at;
            self.head.displaced = false;
            self.head.hash = header::hash(b"");
        }
    }

    /// The name is gone. A repaired file that is still open here keeps its length and header: it comes back.
    pub(in crate::store) fn name_lost(&mut self) {
        self.ino = 0;
        if !self.repaired {
            self.len = 0;
            self.head.sound = false;
            self.head.slot = 0;
            self.head.body = 0;
            self.head.displaced = false;
            self.head.hash = header::hash(b"");
        }
    }

    /// The file that was found is the one to go on with. False when its name is another file's by now.
    pub(in crate::store) fn adopt(&mut self, found: FoundSession, io: &dyn Io, path: &Path) -> bool {
        (self.ino, self.len, self.head) = (found.ino, found.len, found.head);
        (self.torn, self.others_end) = (false, true);
        // Not made where it is missing: between their unlink and their rename it would be an empty one, soon lost.
        let file = io.open(path, How::Extend).ok();
        let file = file.filter(|file| io.stat_of(file).is_ok_and(|stat| stat.ino == self.ino));
        let same = file.is_some();
        // Held open, so that its inode is given to no other while we know it by its inode.
        self.appending = file.or(found.file);
        same
    }

    /// A new file took the name: the old rows behind a new line 1 of `slot` bytes with this hash.
    pub(in crate::store) fn replaced(&mut self, file: File, ino: u64, hash: String, slot: usize) {
        let body = self.head.body;
        self.head.hash = hash;
        self.head.slot = slot;
        self.head.sound = true;
        self.head.body = slot as u64;
        self.len = slot as u64 + self.len.saturating_sub(body);
        self.appending = Some(file);
        self.ino = ino;
    }

    /// The file has no header yet.
    pub(in crate::store) fn set_headless(&mut self) {
        self.head.sound = false;
    }

    /// Line 1 cannot be overwritten in place.
    pub(in crate::store) fn set_without_slot(&mut self) {
        self.head.slot = 0;
    }

    /// Hash of what stands before the rows.
    pub(in crate::store) fn set_hash(&mut self, hash: String) {
        self.head.hash = hash;
    }

    /// Bytes before the rows that are no header are in salvage.
    pub(in crate::store) fn displaced_saved(&mut self) {
        self.head.displaced = false;
    }

    /// Start of the rows; returns the start so far.
    pub(in crate::store) fn set_body(&mut self, body: u64) -> u64 {
        std::mem::replace(&mut self.head.body, body)
    }

    /// Keys of the header.
    pub(in crate::store) fn set_fields(&mut self, fields: JsonFields) {
        self.head.fields = fields;
    }

    /// The header was written by us, with these keys.
    pub(in crate::store) fn header_written(&mut self, fields: JsonFields) {
        self.head.fields = fields;
        self.head.foreign = false;
    }

    /// Changes keys of the header.
    pub(in crate::store) fn edit_fields(&mut self, edit: impl FnOnce(&mut JsonFields)) {
        edit(&mut self.head.fields);
    }

    /// Writes one row, with one write, to a file that has `len` bytes. A part of it that an earlier attempt left is cut off
    /// first. Returns the start of the row.
    pub(in crate::store) fn write_row(
        &mut self,
        io: &dyn Io,
        path: &Path,
        line: &str,
        len: u64,
    ) -> Result<u64, StoreError> {
        let error = |doing, source| StoreError::io(doing, path, source);
        let mut suspect = self.others_end;
        let file = match self.appending.take() {
            Some(file) => file,
            None => {
                suspect = true;
                io.open(path, How::Extend).map_err(|e| error("write", e))?
            }
        };
        let file = self.appending.insert(file);
        if len > self.len {
            let end = len.min(self.len + line.len() as u64 + 1);
            let added = lines::range(io, file, self.len, end).map_err(|e| error("read", e))?;
            if self.torn && line.as_bytes().starts_with(&added) {
                io.truncate(file, self.len).map_err(|e| error("write", e))?;
            } else {
                suspect = true;
                self.len = len;
            }
        } else if len < self.len {
            suspect = true;
            self.len = len;
        }
        let mut prefix = "";
        if suspect && self.len > 0 {
            // Whoever wrote last may have left a torn line; ours begins on its own.
            let last = lines::range(io, file, self.len - 1, self.len).map_err(|e| error("read", e))?;
            if last != b"\n" {
                prefix = "\n";
            }
        }
        self.torn = true;
        let text = if prefix.is_empty() { Cow::Borrowed(line) } else { Cow::Owned(format!("{prefix}{line}")) };
        if let Err(failed) = io.append(file, text.as_bytes()) {
            remove_part(io, file, self.len, text.as_bytes());
            return Err(error("write", failed));
        }
        let at = self.len + prefix.len() as u64;
        self.len = at + line.len() as u64;
        (self.others_end, self.torn) = (false, false);
        Ok(at)
    }
}

/// Cuts off the part that a failed write of `text` left behind `len`, so that nobody reads half a row meanwhile. Best
/// effort: the next attempt does the same.
fn remove_part(io: &dyn Io, file: &File, len: u64, text: &[u8]) {
    let end = io.stat_of(file).map_or(0, |stat| stat.len);
    if end > len
        && end - len < text.len() as u64
        && let Ok(added) = lines::range(io, file, len, end)
        && text.starts_with(&added)
    {
        let _ = io.truncate(file, len);
    }
}
