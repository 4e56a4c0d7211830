//! Writing a session's header: `header.json`, then line 1 in place, or the whole file anew where line 1 has no room.
//!
//! Its content is merged from three sides: properties set by the engine, counts of the rows, and
//! changes by others. The format is in `header`.

use super::journal::Journal;
use crate::domain::session::SessionMeta;
use crate::store::format::header::{self, Home, Second};
use crate::store::format::json::Fields;
use crate::store::format::{layout, portable_paths};
use crate::store::interop::merge::merge;
use crate::store::interop::other_writers::busy;
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
    pub(in crate::store) fn fresh_fields(meta: &SessionMeta, dir: &Path, store: &Store) -> Fields {
        let mut fields = Fields::default();
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
        if self.closed {
            return;
        }
        self.touched = true;
        self.counted.used = self.counted.used.max(meta.used);
        self.give(meta, own);
    }

    /// Sets what the next write of the header says, without being a reason to write: a session that is only looked at
    /// stays as it is. With the first write of anything else it is written, and a changed mode before the mark of a
    /// running turn leaves the live file, so that a death in between cannot give back a mode that was lowered.
    pub fn prime(&mut self, meta: SessionMeta, own: Value) {
        if self.closed {
            return;
        }
        self.give(meta, own);
    }

    fn give(&mut self, meta: SessionMeta, own: Value) {
        self.header_due = true;
        // What another program changed meanwhile is in ours already, and not known to whoever gives this.
        self.meta = merge(&self.given, &meta, &self.meta);
        self.given = meta;
        self.own = own;
        self.refused = None;
    }

    /// Brings the header on disk up to date: `header.json`, then line 1 in place.
    ///
    /// # Errors
    /// When it could not be written yet, or when it is too long; it stays due.
    pub fn save_header(&mut self) -> Result<(), StoreError> {
        if !self.touched || !self.header_due {
            return Ok(());
        }
        // The header counts rows: they come first.
        self.retry()?;
        if let Some(excess) = self.refused {
            return Err(StoreError::HeaderTooLong { path: self.path(), excess });
        }
        if self.header_due {
            self.mine()?;
            self.write_header(false)?;
            self.header_due = false;
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
        let new = self.ino == 0 && self.len == 0;
        let mut in_place = None;
        if !new {
            if self.present()?.ino != self.ino {
                self.adopt()?;
            }
            if self.head.slot > 0 && !self.head.long {
                in_place = self.reread_line()?;
            }
            if self.mended && (self.reconcile || !self.pending.is_empty()) {
                // The header says who wrote last: before it, everything that the other one left out is there again.
                self.rows()?;
            }
        }
        let place = Home { dir: &self.dir, home: &self.store.inner.home };
        let mut meta = self.meta.clone();
        meta.id = self.id.clone();
        self.counted.put_into(&mut meta);
        let mut fields = self.head.fields.clone();
        if !self.head.sound && !fields.has("createdAt") {
            fields = Self::fresh_fields(&meta, &self.dir, &self.store);
        }
        header::encode(&mut fields, Some(&self.base), &meta, place);
        let root = &self.store.inner.layout.workspace;
        if !fields.has("workspaceId") || !header::lives_in(&fields, root, place) {
            let id = self.store.workspace_id();
            header::settle(&mut fields, &meta, place, (root, id.as_deref()));
        }
        header::encode_counted(&mut fields, &self.counted);
        let in_second_only = |fields: &Fields| Second {
            before: self.head.hash.clone(),
            after: self.head.hash.clone(),
            length: self.len,
            header: fields.clone(),
            own: self.own.clone(),
            old: None,
        };
        let second = self.dir.join(layout::HEADER);
        let sync = self.fsyncs();
        if self.head.long {
            whole_file::replace(&*io, &second, in_second_only(&fields).render().as_bytes(), sync)?;
        } else {
            let (line, slot) = match header::line(&mut fields, self.head.slot) {
                Ok(fits) => fits,
                Err(excess) => {
                    self.refused = Some(excess);
                    return Err(StoreError::HeaderTooLong { path: self.path(), excess });
                }
            };
            let after = header::hash(line.as_bytes());
            if self.head.slot == slot {
                // Never by its name, which may be another file's by now: only where line 1 was just read.
                let same = |file: &std::fs::File| io.stat_of(file).is_ok_and(|stat| stat.ino == self.ino);
                let Some(file) = in_place.filter(same) else { return Ok(false) };
                let record = Second { after: after.clone(), ..in_second_only(&fields) };
                whole_file::replace(&*io, &second, record.render().as_bytes(), sync)?;
                if after != self.head.hash {
                    io.write_at(&file, 0, line.as_bytes()).map_err(|e| self.error("write", e))?;
                }
                self.head.hash = after;
            } else if !self.head.sound || (self.lock.granted() && (anew || self.len <= REWRITTEN)) {
                let length = slot as u64 + self.len.saturating_sub(self.head.body);
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
        if !new && !io.stat(&self.path()).is_ok_and(|stat| stat.ino == self.ino) {
            // It may have gone to the old file: what is there now does not have it.
            return Ok(false);
        }
        self.head.fields = fields;
        self.head.foreign = false;
        if self.base.last_read != meta.last_read {
            self.was_read.extend(self.base.last_read.take());
        }
        self.base = meta;
        Ok(true)
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
        let slot = self.head.slot as u64;
        let bytes = lines::range(&*io, &file, 0, slot).map_err(|e| self.error("read", e))?;
        let ours = bytes.strip_suffix(b"\n").is_some_and(|line| header::hash(line) == self.head.hash);
        if ours {
            return Ok(Some(file));
        }
        let found = session::find(&*io, &self.dir)?;
        // Ours was left half written: `header.json` has it, and the line is in place to be written again.
        if found.head.body == slot && !found.head.sound && !found.head.foreign {
            self.head.hash = found.head.hash;
            return Ok(Some(file));
        }
        self.adopt().map(|()| None)
    }
}
