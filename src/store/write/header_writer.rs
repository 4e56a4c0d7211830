//! Writing a session's header: `header.json`, then line 1 in place, or the whole file anew where line 1 has no room.
//!
//! Its content is merged from three sides: properties set by the engine, counts of the rows, and
//! changes by others. The format is in `header`.

use super::journal::Journal;
use super::ownership::busy;
use crate::domain::session::SessionMeta;
use crate::store::format::header::{self, Home, Second};
use crate::store::format::json::JsonFields;
use crate::store::format::{layout, portable_paths};
use crate::store::io::{How, lines, whole_file};
use crate::store::read::session;
use crate::store::{Store, StoreError};
use serde_json::Value;
use std::io::ErrorKind;
use std::path::Path;

/// Number of attempts to write a header while another program replaces the file under it.
const TRIES: u32 = 8;
/// Files up to this size are written anew when their header has no room.
const REWRITTEN: u64 = 1 << 20;

impl Journal {
    /// The header as `header` writes it, for a session that is made.
    pub(in crate::store) fn fresh_fields(meta: &SessionMeta, dir: &Path, store: &Store) -> JsonFields {
        let mut fields = JsonFields::default();
        let home = &store.inner.home;
        let place = header::Home { dir, home };
        let workspace = portable_paths::homely(&store.inner.layout.workspace, home);
        fields.set("id", serde_json::json!(meta.id).to_string());
        fields.set("workspaceRootPath", portable_paths::render_text(&workspace, dir));
        if let Some(id) = store.workspace_id() {
            fields.set("workspaceId", serde_json::json!(id).to_string());
        }
        header::encode(&mut fields, None, meta, place);
        fields
    }

    /// Sets the session's properties and the engine's own data; [`Journal::save_header`] writes them. The number of
    /// rows, the preview and the time of the last message are counted here, whatever `meta` says.
    pub fn set_meta(&mut self, meta: SessionMeta, own: Value) {
        if self.lifecycle.is_closed() {
            return;
        }
        self.lifecycle.touch();
        self.header.used(&meta);
        self.header.give(meta, own);
    }

    /// Sets what the next write of the header says, without being a reason to write: a session that is only looked at
    /// stays as it is. With the first write of anything else it is written, and a changed mode before the mark of a
    /// running turn leaves the live file, so that a death in between cannot give back a mode that was lowered.
    pub fn prime(&mut self, meta: SessionMeta, own: Value) {
        if self.lifecycle.is_closed() {
            return;
        }
        self.header.give(meta, own);
    }

    /// Brings the header on disk up to date: `header.json`, then line 1 in place.
    ///
    /// # Errors
    /// When it could not be written yet, or when it is too long; it stays due.
    pub fn save_header(&mut self) -> Result<(), StoreError> {
        if !self.lifecycle.is_touched() || !self.header.is_due() {
            return Ok(());
        }
        // The header counts rows: they come first.
        self.retry()?;
        if let Some(excess) = self.header.refused() {
            return Err(StoreError::HeaderTooLong { path: self.path(), excess });
        }
        if self.header.is_due() {
            self.mine()?;
            self.write_header(false)?;
            self.header.saved();
        }
        Ok(())
    }

    /// Writes the header. `anew`: also by writing a large file anew, where line 1 has no room.
    pub(in crate::store) fn write_header(&mut self, anew: bool) -> Result<(), StoreError> {
        for _ in 0..TRIES {
            if self.try_header(anew)? {
                return Ok(());
            }
        }
        Err(self.error("write", busy()))
    }

    /// One attempt. False when another program replaced the file meanwhile.
    fn try_header(&mut self, anew: bool) -> Result<bool, StoreError> {
        let io = self.store.inner.io.clone();
        // Missing: it is being made.
        let new = self.file.ino() == 0 && self.file.len() == 0;
        let mut in_place = None;
        if !new {
            if self.present()?.ino != self.file.ino() {
                self.adopt()?;
            }
            if self.file.head().slot > 0 && !self.file.head().long {
                in_place = self.reread_line()?;
            }
            if self.file.is_repaired() && (self.copies.is_unpaired() || !self.row_queue.is_empty()) {
                // The header says who wrote last: before it, everything that the other one left out is there again.
                self.rows()?;
            }
        }
        let (meta, mut fields) = self.header_to_write();
        let in_second_only = |fields: &JsonFields| Second {
            before: self.file.head().hash.clone(),
            after: self.file.head().hash.clone(),
            length: self.file.len(),
            header: fields.clone(),
            own: self.header.own().clone(),
            old: None,
        };
        let second = self.dir.join(layout::HEADER);
        let sync = self.fsyncs();
        if self.file.head().long {
            whole_file::replace(&*io, &second, in_second_only(&fields).render().as_bytes(), sync)?;
        } else {
            let (line, slot) = match header::line(&mut fields, self.file.head().slot) {
                Ok(fits) => fits,
                Err(excess) => {
                    self.header.refuse(excess);
                    return Err(StoreError::HeaderTooLong { path: self.path(), excess });
                }
            };
            let after = header::hash(line.as_bytes());
            if self.file.head().slot == slot {
                // Never by its name, which may be another file's by now: only where line 1 was just read.
                let same = |file: &std::fs::File| io.stat_of(file).is_ok_and(|stat| stat.ino == self.file.ino());
                let Some(file) = in_place.filter(same) else { return Ok(false) };
                let record = Second { after: after.clone(), ..in_second_only(&fields) };
                whole_file::replace(&*io, &second, record.render().as_bytes(), sync)?;
                if after != self.file.head().hash {
                    io.write_at(&file, 0, line.as_bytes()).map_err(|e| self.error("write", e))?;
                }
                self.file.set_hash(after);
            } else if !self.file.head().sound
                || (self.ownership.lock().granted() && (anew || self.file.len() <= REWRITTEN))
            {
                let length = slot as u64 + self.file.len().saturating_sub(self.file.head().body);
                let record = Second { after, length, ..in_second_only(&fields) }.render();
                // Of an old file the second header comes first, so that a death between the two is known. A new
                // session begins with `session.jsonl`: before it there is nothing to list.
                if new {
                    self.rewrite(&line)?;
                    whole_file::replace(&*io, &second, record.as_bytes(), sync)?;
                } else {
                    whole_file::replace(&*io, &second, record.as_bytes(), sync)?;
                    if !self.rewrite(&line)? {
                        return Ok(false);
                    }
                }
            } else {
                whole_file::replace(&*io, &second, in_second_only(&fields).render().as_bytes(), sync)?;
            }
        }
        if !new && !io.stat(&self.path()).is_ok_and(|stat| stat.ino == self.file.ino()) {
            // It may have gone to the old file: what is there now does not have it.
            return Ok(false);
        }
        self.file.header_written(fields);
        self.header.written(meta);
        Ok(true)
    }

    /// Properties and keys of the header as they should be.
    fn header_to_write(&self) -> (SessionMeta, JsonFields) {
        let place = Home { dir: &self.dir, home: &self.store.inner.home };
        let mut meta = self.header.meta().clone();
        meta.id = self.id.clone();
        self.header.counted().put_into(&mut meta);
        let mut fields = self.file.head().fields.clone();
        if !self.file.head().sound && !fields.has("createdAt") {
            fields = Self::fresh_fields(&meta, &self.dir, &self.store);
        }
        header::encode(&mut fields, Some(self.header.base()), &meta, place);
        let root = &self.store.inner.layout.workspace;
        if !fields.has("workspaceId") || !header::lives_in(&fields, root, place) {
            let id = self.store.workspace_id();
            header::settle(&mut fields, &meta, place, (root, id.as_deref()));
        }
        header::encode_counted(&mut fields, self.header.counted());
        (meta, fields)
    }

    /// Reads line 1 right before it is overwritten. Another program's line is taken as the base of ours.
    fn reread_line(&mut self) -> Result<Option<std::fs::File>, StoreError> {
        let io = self.store.inner.io.clone();
        let file = match io.open(&self.path(), How::Change) {
            Ok(file) => file,
            // Another program is between its unlink and its rename.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.error("read", error)),
        };
        let slot = self.file.head().slot as u64;
        let bytes = lines::range(&*io, &file, 0, slot).map_err(|e| self.error("read", e))?;
        let ours = bytes.strip_suffix(b"\n").is_some_and(|line| header::hash(line) == self.file.head().hash);
        if ours {
            return Ok(Some(file));
        }
        let found = session::find(&*io, &self.dir)?;
        // Ours was left half written: `header.json` has it, and the line is in place to be written again.
        if found.head.body == slot && !found.head.sound && !found.head.foreign {
            self.file.set_hash(found.head.hash);
            return Ok(Some(file));
        }
        self.adopt().map(|()| None)
    }
}
