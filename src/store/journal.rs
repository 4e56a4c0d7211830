//! Writing one session: rows, the header, and what can still change. Blocking; one owner at a time.
//!
//! Everything is in memory until it is on disk: after an error, rows and live entries wait in order, and the next call
//! tries them again. `mend` repairs the file before the first write. When to call what is the writer's business.

use super::header::{self, Counted, Home, Second};
use super::io::How;
use super::json::Fields;
use super::live::{self, Live, LiveFile};
use super::lock::Lock;
use super::merge::merge;
use super::open::Fsync;
use super::session::{self, Found, Head, Reader};
use super::{Store, StoreError, layout, row, tail};
use crate::domain::contract::Queued;
use crate::domain::message::{Body, Message};
use crate::domain::session::SessionMeta;
use crate::domain::{MessageId, SessionId};
use serde_json::Value;
use std::collections::VecDeque;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// What an append waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// The write returned: it survives the death of lisle.
    Written,
    /// It is forced to the disk as well: it survives the death of the machine.
    Synced,
}

/// Files up to this size are written anew when their header has no room.
const REWRITTEN: u64 = 1 << 20;

/// The writer of one session. The session's lock is held while it lives.
#[derive(Debug)]
pub struct Journal {
    pub(super) store: Store,
    pub(super) id: SessionId,
    pub(super) dir: PathBuf,
    pub(super) lock: Lock,
    /// `session.jsonl` for appending, once there was a first write.
    pub(super) file: Option<File>,
    pub(super) ino: u64,
    /// Its length as we left it.
    pub(super) len: u64,
    pub(super) head: Head,
    /// The file was looked at and repaired.
    pub(super) mended: bool,
    /// Something was asked of this journal; without that, closing leaves the files alone.
    pub(super) touched: bool,
    /// What the header's fields hold.
    base: SessionMeta,
    /// What they are to hold.
    meta: SessionMeta,
    /// What we were given last: what differs from it in what comes next is a change of ours.
    given: SessionMeta,
    own: Value,
    pub(super) counted: Counted,
    pending: VecDeque<String>,
    /// Rows were written that were not forced to the disk.
    pub(super) unsynced: bool,
    want_sync: bool,
    header_due: bool,
    /// The header was so many bytes too long; not tried again before it changes.
    refused: Option<usize>,
    live: LiveFile,
    closed: bool,
}

impl Journal {
    /// The journal of a session that is to be made in its claimed, empty directory.
    pub(super) fn new(store: Store, meta: SessionMeta, lock: Lock) -> Self {
        let dir = store.inner.layout.session(&meta.id);
        let fields = Self::fresh_fields(&meta, &dir, &store);
        let head = Head { fields, hash: header::hash(b""), ..Head::default() };
        let found = Found { file: None, ino: 0, len: 0, modified: 0, head, odd: Vec::new() };
        let counted = Counted { last_message: meta.last_message, used: meta.used, ..Counted::default() };
        let mut journal = Self::opened(store, meta.id.clone(), lock, found, meta);
        journal.counted = counted;
        journal.mended = true;
        journal
    }

    /// The journal of a session that was found.
    pub(super) fn opened(store: Store, id: SessionId, lock: Lock, found: Found, base: SessionMeta) -> Self {
        let dir = store.inner.layout.session(&id);
        let live = LiveFile::new(store.clone(), dir.clone());
        Self {
            dir,
            store,
            id,
            lock,
            file: None,
            ino: found.ino,
            len: if found.ino == 0 { 0 } else { found.len },
            own: found.head.own.clone(),
            header_due: found.head.unfinished,
            head: found.head,
            mended: false,
            touched: false,
            meta: base.clone(),
            given: base.clone(),
            base,
            counted: Counted::default(),
            pending: VecDeque::new(),
            unsynced: false,
            want_sync: false,
            refused: None,
            live,
            closed: false,
        }
    }

    /// Takes over what a death left: rows for the file, and what stays live.
    pub(super) fn carry(&mut self, folded: Vec<Message>, live: Live, live_there: bool, counted: Counted) {
        self.header_due |= counted.messages != self.base.messages;
        self.counted = counted;
        self.live.content = live;
        self.live.stale = live_there;
        for row in &folded {
            self.take(row);
        }
    }

    /// The session's id.
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// The session's directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What the rows say of themselves: how many, the last one's time, the preview.
    pub fn counted(&self) -> &Counted {
        &self.counted
    }

    /// The header differs from what is on disk, and saving it may help.
    pub fn header_due(&self) -> bool {
        self.header_due && self.refused.is_none()
    }

    /// Something waits in memory because a write failed.
    pub fn unsaved(&self) -> bool {
        self.refused.is_some() || !self.pending.is_empty() || (self.touched && self.live.stale) || self.want_sync
    }

    fn fsyncs(&self) -> bool {
        self.store.inner.fsync != Fsync::Off
    }

    pub(super) fn path(&self) -> PathBuf {
        self.dir.join(layout::SESSION)
    }

    pub(super) fn error(&self, doing: &'static str, source: std::io::Error) -> StoreError {
        StoreError::io(doing, &self.path(), source)
    }

    /// Writes the files of a new session.
    pub(super) fn make(&mut self) -> Result<(), StoreError> {
        self.touched = true;
        self.header_due = true;
        self.head.sound = false;
        self.save_header()?;
        self.store.sync_dir(&self.dir)
    }

    /// Adds final rows at the end, each with one write. The live entry of the same id is gone with it.
    ///
    /// # Errors
    /// When they could not be written yet; they are kept and tried again with the next call.
    pub fn append(&mut self, rows: &[Message], durability: Durability) -> Result<(), StoreError> {
        self.open_for_writing()?;
        for row in rows {
            self.take(row);
            self.live.content.drop_row(&row.id);
        }
        let always = self.store.inner.fsync == Fsync::Always;
        self.want_sync |= self.fsyncs() && (always || durability == Durability::Synced);
        self.retry()
    }

    fn take(&mut self, row: &Message) {
        let Some(mut line) = row::write(row, &self.dir) else { return };
        line.push('\n');
        self.pending.push_back(line);
        session::count(&mut self.counted, row);
        self.header_due = true;
        if matches!(row.body, Body::User(_)) {
            // The other program's provider knows nothing of what is said from here on.
            self.head.fields.remove("sdkSessionId");
            if self.meta.first_cwd.is_none() {
                self.meta.first_cwd = Some(self.meta.cwd.clone());
            }
        }
    }

    fn open_for_writing(&mut self) -> Result<(), StoreError> {
        if self.closed {
            return Err(StoreError::Closed { path: self.dir.clone() });
        }
        self.touched = true;
        Ok(())
    }

    /// Tries what waits once more.
    ///
    /// # Errors
    /// When it still cannot be written.
    pub fn retry(&mut self) -> Result<(), StoreError> {
        if !self.touched {
            return Ok(());
        }
        self.mend()?;
        while !self.pending.is_empty() {
            let len = self.there()?;
            let Some(line) = self.pending.pop_front() else { break };
            if let Err(error) = self.write_row(&line, len) {
                self.pending.push_front(line);
                return Err(error);
            }
            self.unsynced = true;
        }
        if self.want_sync {
            self.sync()?;
            self.want_sync = false;
        }
        if self.header_due() && self.meta.mode != self.base.mode {
            // Before the mark of a running turn leaves the live file; see `prime`.
            match self.write_header(false) {
                Ok(()) => self.header_due = false,
                // For its labels. They are refused to whoever asked for them, and hold back no row.
                Err(StoreError::HeaderTooLong { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        if self.live.stale {
            self.rewrite_live()?;
        }
        Ok(())
    }

    pub(super) fn sync(&mut self) -> Result<(), StoreError> {
        if self.unsynced && self.fsyncs() {
            if let Some(file) = &self.file {
                self.store.io().fsync(file).map_err(|e| self.error("save", e))?;
            }
            self.unsynced = false;
        }
        Ok(())
    }

    /// How long the file is, which is looked at before each row: another program may have replaced it.
    fn there(&mut self) -> Result<u64, StoreError> {
        let stat = self.store.io().stat(&self.path()).map_err(|e| self.error("write", e))?;
        if stat.ino == self.ino {
            return Ok(stat.len);
        }
        self.adopt()?;
        Ok(self.len)
    }

    /// One row, with one write, to a file that has `len` bytes. Whatever an earlier attempt left of it is taken away first.
    fn write_row(&mut self, line: &str, len: u64) -> Result<(), StoreError> {
        let path = self.path();
        let io = self.store.inner.io.clone();
        let mut suspect = false;
        let file = match self.file.take() {
            Some(file) => file,
            None => {
                suspect = true;
                io.open(&path, How::Append).map_err(|e| self.error("write", e))?
            }
        };
        let file = self.file.insert(file);
        let error = |doing, source| StoreError::io(doing, &path, source);
        if len > self.len {
            let end = len.min(self.len + line.len() as u64 + 1);
            let added = tail::range(&*io, file, self.len, end).map_err(|e| error("read", e))?;
            if line.as_bytes().starts_with(&added) {
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
            let last = tail::range(&*io, file, self.len - 1, self.len).map_err(|e| error("read", e))?;
            if last != b"\n" {
                prefix = "\n";
            }
        }
        if prefix.is_empty() {
            io.append(file, line.as_bytes())
        } else {
            io.append(file, format!("{prefix}{line}").as_bytes())
        }
        .map_err(|e| error("write", e))?;
        self.len += (prefix.len() + line.len()) as u64;
        Ok(())
    }

    /// Another program replaced the file or its line 1: what is there now is the base of what we write, but for what
    /// we changed and did not write yet.
    fn adopt(&mut self) -> Result<(), StoreError> {
        let io = self.store.inner.io.clone();
        let found = session::find(&*io, &self.dir)?;
        let reader = Reader { io: &*io, id: &self.id, dir: self.dir.clone(), home: &self.store.inner.home };
        let theirs = reader.meta(&found);
        let mut counted = reader.recount(&found, &theirs)?;
        for line in &self.pending {
            row::read(line.as_bytes(), 0, 0, &self.dir).rows.iter().for_each(|row| session::count(&mut counted, row));
        }
        self.counted = counted;
        self.meta = merge(&self.base, &self.meta, &theirs);
        self.base = theirs;
        self.refused = None;
        self.ino = found.ino;
        self.len = found.len;
        self.file = None;
        self.head = found.head;
        self.header_due = true;
        Ok(())
    }

    /// Opens or replaces a row that can still change, at once.
    ///
    /// # Errors
    /// When it could not be written yet; it is kept and tried again.
    pub fn live(&mut self, row: Message, durability: Durability) -> Result<(), StoreError> {
        self.open_for_writing()?;
        let id = row.id.clone();
        // First, so that the length of the file is that of a mended one with all rows that are final by now.
        let ready = self.retry();
        self.live.content.set(row, self.len);
        if ready.is_err() {
            self.live.stale = true;
            return ready;
        }
        let line = match self.live.content.rows.iter_mut().find(|entry| entry.row.id == id) {
            Some(entry) => {
                entry.saved = live::text(&entry.row).map_or(0, String::len);
                live::row_line(entry, &self.dir)
            }
            None => return Ok(()),
        };
        self.add_live(&line, durability)
    }

    /// Adds text to a live row, in memory; [`Journal::flush_text`] writes it. False when there is no such row.
    pub fn grow(&mut self, id: &MessageId, add: &str) -> bool {
        !self.closed && self.live.content.grow(id, add)
    }

    /// Writes the text that live rows grew by.
    ///
    /// # Errors
    /// When it could not be written yet.
    pub fn flush_text(&mut self) -> Result<(), StoreError> {
        let additions = self.live.content.additions(&self.dir);
        if additions.is_empty() {
            return Ok(());
        }
        self.touched = true;
        self.add_live(&additions, Durability::Written)?;
        self.live.content.saved();
        Ok(())
    }

    /// Takes a live row away.
    ///
    /// # Errors
    /// When that could not be written yet.
    pub fn drop_live(&mut self, id: &MessageId) -> Result<(), StoreError> {
        self.open_for_writing()?;
        if !self.live.content.drop_row(id) {
            return Ok(());
        }
        self.add_live(&live::drop_line(id), Durability::Written)
    }

    /// Replaces the queue, forced to the disk.
    ///
    /// # Errors
    /// When it could not be written yet.
    pub fn queue(&mut self, queue: Vec<Queued>) -> Result<(), StoreError> {
        self.open_for_writing()?;
        if self.live.content.queue == queue {
            return self.retry();
        }
        self.live.content.queue = queue;
        let line = self.live.content.queue_line(&self.dir);
        self.add_live(&line, Durability::Synced)
    }

    /// A turn began or ended, so that a death in it is known. Its end is forced to the disk.
    ///
    /// # Errors
    /// When that could not be written yet.
    pub fn turn(&mut self, runs: bool) -> Result<(), StoreError> {
        self.open_for_writing()?;
        self.live.content.turn = runs;
        if runs {
            return self.add_live(&live::turn_line(true), Durability::Written);
        }
        self.want_sync |= self.fsyncs();
        // With the turn, everything of it is final: what is left of the live file is the queue.
        self.live.stale = true;
        self.retry()
    }

    fn add_live(&mut self, lines: &str, durability: Durability) -> Result<(), StoreError> {
        if let Err(error) = self.retry() {
            self.live.stale = true;
            return Err(error);
        }
        let written = if self.live.overgrown() { self.rewrite_live() } else { self.live.append(lines, durability) };
        if written.is_err() {
            self.live.stale = true;
        }
        written
    }

    /// Writes the live file anew. What leaves it is in `session.jsonl`, which is forced to the disk first.
    fn rewrite_live(&mut self) -> Result<(), StoreError> {
        self.sync()?;
        self.live.rewrite()
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
            self.write_header(false)?;
            self.header_due = false;
        }
        Ok(())
    }

    /// Writes the header. `anew`: also by writing a large file anew, where line 1 has no room.
    pub(super) fn write_header(&mut self, anew: bool) -> Result<(), StoreError> {
        let io = self.store.inner.io.clone();
        let there = io.stat(&self.path());
        let new = there.as_ref().is_err_and(|error| error.kind() == ErrorKind::NotFound);
        match there {
            Ok(stat) if stat.ino != self.ino => self.adopt()?,
            Ok(_) if self.head.slot > 0 && !self.head.long => self.reread_line()?,
            // Missing: it is being made.
            _ => {}
        }
        let place = Home { dir: &self.dir, home: &self.store.inner.home };
        let mut meta = self.meta.clone();
        meta.id = self.id.clone();
        meta.messages = self.counted.messages;
        meta.last_message = self.counted.last_message;
        meta.used = self.counted.used;
        meta.preview.clone_from(&self.counted.preview);
        meta.last_role = self.counted.last_role.map(str::to_owned);
        let mut fields = self.head.fields.clone();
        if !self.head.sound && !fields.has("createdAt") {
            fields = Self::fresh_fields(&meta, &self.dir, &self.store);
        }
        header::encode(&mut fields, Some(&self.base), &meta, place);
        header::encode_counted(&mut fields, &self.counted);
        let in_second_only = |fields: &Fields| Second {
            before: self.head.hash.clone(),
            after: self.head.hash.clone(),
            length: self.len,
            header: fields.clone(),
            own: self.own.clone(),
        };
        let second = self.dir.join(layout::HEADER);
        let sync = self.fsyncs();
        if self.head.long {
            session::replace(&*io, &second, in_second_only(&fields).render().as_bytes(), sync)?;
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
                let record = Second { after: after.clone(), ..in_second_only(&fields) };
                session::replace(&*io, &second, record.render().as_bytes(), sync)?;
                if after != self.head.hash {
                    let file = io.open(&self.path(), How::Change).map_err(|e| self.error("write", e))?;
                    io.write_at(&file, 0, line.as_bytes()).map_err(|e| self.error("write", e))?;
                }
                self.head.hash = after;
            } else if anew || !self.head.sound || self.len <= REWRITTEN {
                let length = slot as u64 + self.len.saturating_sub(self.head.body);
                let record = Second { after, length, ..in_second_only(&fields) }.render();
                // Of an old file the second header comes first, so that a death between the two is known. A new
                // session begins with `session.jsonl`: before it there is nothing to list.
                if new {
                    self.rewrite(&line)?;
                    session::replace(&*io, &second, record.as_bytes(), sync)?;
                } else {
                    session::replace(&*io, &second, record.as_bytes(), sync)?;
                    self.rewrite(&line)?;
                }
            } else {
                session::replace(&*io, &second, in_second_only(&fields).render().as_bytes(), sync)?;
            }
        }
        self.head.fields = fields;
        self.head.foreign = false;
        self.base = meta;
        Ok(())
    }

    /// Reads line 1 right before it is overwritten. Another program's line is taken as the base of ours.
    fn reread_line(&mut self) -> Result<(), StoreError> {
        let io = self.store.inner.io.clone();
        let file = io.open(&self.path(), How::Read).map_err(|e| self.error("read", e))?;
        let slot = self.head.slot as u64;
        let bytes = tail::range(&*io, &file, 0, slot).map_err(|e| self.error("read", e))?;
        let ours = bytes.strip_suffix(b"\n").is_some_and(|line| header::hash(line) == self.head.hash);
        if ours {
            return Ok(());
        }
        let found = session::find(&*io, &self.dir)?;
        // Ours was left half written: `header.json` has it, and the line is in place to be written again.
        if found.head.body == slot && !found.head.sound && !found.head.foreign {
            self.head.hash = found.head.hash;
            return Ok(());
        }
        self.adopt()
    }

    /// Saves everything and writes the header, also where that takes writing a large file anew.
    ///
    /// # Errors
    /// When something could not be saved.
    pub fn flush(&mut self) -> Result<(), StoreError> {
        if !self.touched {
            return Ok(());
        }
        self.flush_text()?;
        self.retry()?;
        self.save_header()
    }

    /// Flushes and takes no more rows. Without a write before, the files stay as they are.
    ///
    /// # Errors
    /// When something could not be saved.
    pub fn close(&mut self) -> Result<(), StoreError> {
        let flushed = self.flush().and_then(|()| {
            let unpadded = self.touched && self.head.sound && !self.head.long && self.head.slot == 0;
            if unpadded { self.write_header(true) } else { Ok(()) }
        });
        self.closed |= flushed.is_ok();
        flushed
    }

    /// This writer's number among all writers of the session.
    pub fn epoch(&self) -> u64 {
        self.lock.epoch()
    }
}
