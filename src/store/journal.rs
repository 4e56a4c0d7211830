//! Writing one session: rows, the header, and what can still change. Blocking; one owner at a time.
//!
//! Everything is in memory until it is on disk: after an error, rows and live entries wait in order, and the next call
//! tries them again. `mend` repairs the file before the first write. When to call what is the writer's business.

use super::header::{self, Counted};
use super::io::How;
use super::live::{self, Live, LiveFile};
use super::lock::Lock;
use super::open::Fsync;
use super::ours::Ours;
use super::session::{self, Found, Head};
use super::watch::Elsewhere;
use super::{Store, StoreError, layout, row, tail};
use crate::domain::contract::Queued;
use crate::domain::message::{Body, Message};
use crate::domain::session::SessionMeta;
use crate::domain::{At, MessageId, SessionId};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{HashSet, VecDeque};
use std::fs::File;
use std::path::{Path, PathBuf};

/// What an append waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// The write returned: it survives the death of lisle.
    Written,
    /// It is forced to the disk as well: it survives the death of the machine.
    Synced,
}

/// A row that is to be written.
#[derive(Debug)]
pub(super) struct Pending {
    pub line: String,
    pub id: Option<MessageId>,
    /// It stands in `ours.jsonl`.
    pub kept: bool,
    /// A death left it unfinished.
    pub folded: bool,
}

/// What a death left of a session, and another program of our rows.
#[derive(Debug, Default)]
pub(super) struct Left {
    /// Rows for the file.
    pub folded: Vec<Message>,
    /// What stays live.
    pub live: Live,
    /// The live file says more than that.
    pub live_there: bool,
    /// What the file's rows say of themselves.
    pub counted: Counted,
    /// There is an `ours.jsonl` …
    pub ours: bool,
    /// … and `session.jsonl` may lack rows of it.
    pub reconcile: bool,
}

/// The writer of one session. The session's lock is held while it lives.
#[derive(Debug)]
pub struct Journal {
    pub(super) store: Store,
    pub(super) id: SessionId,
    pub(super) dir: PathBuf,
    pub(super) lock: Lock,
    /// `session.jsonl` for appending, once there was a first write.
    pub(super) file: Option<File>,
    /// The file as it was found, held open so that its inode is given to no other while we know it by that.
    pub(super) found: Option<File>,
    pub(super) ino: u64,
    /// Its length as we left it.
    pub(super) len: u64,
    pub(super) head: Head,
    /// The file was looked at and repaired.
    pub(super) mended: bool,
    /// Something was asked of this journal; without that, closing leaves the files alone.
    pub(super) touched: bool,
    /// What the header's fields hold.
    pub(super) base: SessionMeta,
    /// What they are to hold.
    pub(super) meta: SessionMeta,
    /// What we were given last: what differs from it in what comes next is a change of ours.
    pub(super) given: SessionMeta,
    pub(super) own: Value,
    pub(super) counted: Counted,
    pub(super) pending: VecDeque<Pending>,
    /// Rows that a death left unfinished, from then on.
    pub(super) folded: HashSet<MessageId>,
    /// The newest row: no row that begins later says that it is older, wherever the clock jumped.
    newest: At,
    /// A row was written in part, or may have been.
    pub(super) torn: bool,
    /// Another one wrote the end of the file.
    pub(super) fresh: bool,
    /// Our rows once more, where another program may write the file anew.
    pub(super) ours: Option<Ours>,
    /// Only for as long as the lock is not granted.
    pub(super) ours_for_now: bool,
    /// They are to be paired with those of the file.
    pub(super) reconcile: bool,
    /// Rows that may have gone to a file that was replaced, where there is no `ours`.
    pub(super) unsure: Vec<String>,
    pub(super) rewrites: u64,
    pub(super) elsewhere: Elsewhere,
    /// Who took the session over.
    pub(super) lost: Option<String>,
    /// Rows that were not written because of that.
    pub(super) unwritten: usize,
    /// Rows were written that were not forced to the disk.
    pub(super) unsynced: bool,
    pub(super) want_sync: bool,
    pub(super) header_due: bool,
    /// The header was so many bytes too long; not tried again before it changes.
    pub(super) refused: Option<usize>,
    live: LiveFile,
    pub(super) closed: bool,
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
        let ours = store.inner.foreign || !lock.granted();
        let elsewhere = super::watch::at_opening(&lock, &found);
        Self {
            id,
            lock,
            file: None,
            found: found.file,
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
            folded: HashSet::new(),
            newest: At(0),
            torn: false,
            fresh: false,
            ours_for_now: ours && !store.inner.foreign,
            ours: ours.then(|| Ours::new(store.clone(), &dir)),
            reconcile: false,
            unsure: Vec::new(),
            rewrites: 0,
            elsewhere,
            lost: None,
            unwritten: 0,
            unsynced: false,
            want_sync: false,
            refused: None,
            live,
            closed: false,
            dir,
            store,
        }
    }

    /// Takes over what a death left: rows for the file, and what stays live. `seen` are rows that are there.
    pub(super) fn carry(&mut self, left: Left, seen: &[Message]) {
        self.header_due |= left.counted.messages != self.base.messages;
        self.counted = left.counted;
        self.live.content = left.live;
        self.live.stale = left.live_there;
        self.newest = seen.iter().map(|row| row.at).max().unwrap_or(At(0));
        if left.ours {
            self.ours.get_or_insert_with(|| Ours::new(self.store.clone(), &self.dir));
            self.ours_for_now = false;
            self.reconcile = left.reconcile;
        }
        for row in left.folded {
            self.folded.insert(row.id.clone());
            self.take(&row, true);
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

    pub(super) fn fsyncs(&self) -> bool {
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
            self.take(row, false);
            self.live.content.drop_row(&row.id);
        }
        let always = self.store.inner.fsync == Fsync::Always;
        self.want_sync |= self.fsyncs() && (always || durability == Durability::Synced);
        self.retry()
    }

    /// The row with a time that is not before that of the rows before it. One that is live has its time already.
    fn dated<'a>(&mut self, row: &'a Message) -> Cow<'a, Message> {
        let open = self.live.content.rows.iter().find(|entry| entry.row.id == row.id);
        let at = open.map_or(row.at.max(self.newest), |entry| row.at.max(entry.row.at));
        self.newest = self.newest.max(at);
        if at == row.at { Cow::Borrowed(row) } else { Cow::Owned(Message { at, ..row.clone() }) }
    }

    fn take(&mut self, row: &Message, folded: bool) {
        let row = if folded { Cow::Borrowed(row) } else { self.dated(row) };
        let row = &*row;
        let Some(mut line) = row::write(row, &self.dir) else { return };
        line.push('\n');
        self.pending.push_back(Pending { line, id: Some(row.id.clone()), kept: false, folded });
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

    pub(super) fn open_for_writing(&mut self) -> Result<(), StoreError> {
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
        self.rows()?;
        if self.lost.is_some() {
            // Found out right after the last row: the next call says so.
            return Ok(());
        }
        if self.header_due() && self.meta.mode != self.base.mode {
            // Before the mark of a running turn leaves the live file; see `prime`.
            self.mine()?;
            match self.write_header(false) {
                Ok(()) => self.header_due = false,
                // For its labels. They are refused to whoever asked for them, and hold back no row.
                Err(StoreError::HeaderTooLong { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        if self.live.stale {
            self.mine()?;
            self.rewrite_live()?;
        }
        Ok(())
    }

    /// Writes the rows that wait, and forces them to the disk if that was asked for.
    pub(super) fn rows(&mut self) -> Result<(), StoreError> {
        if self.mended && self.pending.is_empty() && !self.reconcile && !self.want_sync {
            return self.retire_ours();
        }
        self.mine()?;
        self.mend()?;
        // A row that came to a file which was replaced meanwhile comes again, now and then more than once.
        let writes = !self.pending.is_empty();
        while self.reconcile || !self.pending.is_empty() {
            self.keep()?;
            let len = self.there()?;
            self.mine()?;
            let Some(row) = self.pending.pop_front() else { break };
            if let Err(error) = self.write_row(&row.line, len) {
                self.pending.push_front(row);
                return Err(error);
            }
            self.unsynced = true;
            self.written(&row.line)?;
        }
        if self.want_sync {
            self.sync()?;
            self.want_sync = false;
        }
        self.retire_ours()?;
        if writes {
            // They are written; the next call says that nothing more is.
            let _ = self.mine();
        }
        Ok(())
    }

    /// Our row stands in `ours.jsonl` before it stands in the session.
    fn keep(&mut self) -> Result<(), StoreError> {
        if let (Some(ours), Some(row)) = (&mut self.ours, self.pending.front_mut().filter(|row| !row.kept)) {
            ours.append(&row.line)?;
            row.kept = true;
        }
        Ok(())
    }

    pub(super) fn sync(&mut self) -> Result<(), StoreError> {
        if self.unsynced && self.fsyncs() {
            if let Some(file) = &self.file {
                self.store.io().fsync(file).map_err(|e| self.error("save", e))?;
            }
            if let Some(ours) = &mut self.ours {
                ours.sync()?;
            }
            self.unsynced = false;
        }
        Ok(())
    }

    /// One row, with one write, to a file that has `len` bytes. Whatever an earlier attempt left of it is taken away first.
    fn write_row(&mut self, line: &str, len: u64) -> Result<(), StoreError> {
        let path = self.path();
        let io = self.store.inner.io.clone();
        let mut suspect = self.fresh;
        let file = match self.file.take() {
            Some(file) => file,
            None => {
                suspect = true;
                io.open(&path, How::Extend).map_err(|e| self.error("write", e))?
            }
        };
        let file = self.file.insert(file);
        let error = |doing, source| StoreError::io(doing, &path, source);
        if len > self.len {
            let end = len.min(self.len + line.len() as u64 + 1);
            let added = tail::range(&*io, file, self.len, end).map_err(|e| error("read", e))?;
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
            let last = tail::range(&*io, file, self.len - 1, self.len).map_err(|e| error("read", e))?;
            if last != b"\n" {
                prefix = "\n";
            }
        }
        self.torn = true;
        let text = if prefix.is_empty() { Cow::Borrowed(line) } else { Cow::Owned(format!("{prefix}{line}")) };
        if let Err(failed) = io.append(file, text.as_bytes()) {
            // What came of it is taken away at once, so that nobody reads half a row meanwhile; the next attempt does the
            // same where this cannot.
            let end = io.stat_of(file).map_or(0, |stat| stat.len);
            if end > self.len
                && end - self.len < text.len() as u64
                && let Ok(added) = tail::range(&*io, file, self.len, end)
                && text.as_bytes().starts_with(&added)
            {
                let _ = io.truncate(file, self.len);
            }
            return Err(error("write", failed));
        }
        self.len += (prefix.len() + line.len()) as u64;
        (self.fresh, self.torn) = (false, false);
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
        let row = self.dated(&row).into_owned();
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
        // A file that somebody else may write is no place to get it back from.
        if self.lock.granted() {
            self.live.content.let_go();
        }
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
        self.mine()?;
        // Without the lock, the one that was taken over from may have written the file in between.
        let anew = self.live.overgrown() || (!self.lock.granted() && self.live.is_changed());
        let written = if anew { self.rewrite_live() } else { self.live.append(lines, durability) };
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
        // What it finds is written or reported by what follows.
        let _ = self.look();
        let flushed = self.flush().and_then(|()| {
            let unpadded = self.touched && self.head.sound && !self.head.long && self.head.slot == 0;
            if unpadded { self.write_header(true) } else { Ok(()) }
        });
        // Of one that was taken over, nothing more is to be written, and what was not is told and kept.
        let over = self.lost.is_some() && self.pending.is_empty();
        self.closed |= flushed.is_ok() || over;
        flushed
    }

    /// The rows are gone: nothing of them is live, and nothing waits.
    pub(super) fn forget_rows(&mut self) {
        self.live.content = Live::default();
        self.live.stale = true;
        self.pending.clear();
        self.folded.clear();
        self.unsure.clear();
        self.reconcile = false;
    }

    /// It takes no more rows.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// This writer's number among all writers of the session.
    pub fn epoch(&self) -> u64 {
        self.lock.epoch()
    }
}
