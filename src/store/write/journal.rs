//! Writing one session: rows, the header, and what can still change. Blocking; one owner at a time.
//!
//! Everything is in memory until it is on disk: after an error, rows and live entries wait in order, and the next call
//! tries them again. `tail_repair` repairs the file before the first write. When to call what is the writer's business.

use super::live_file::LiveFile;
use super::lock::Lock;
use super::recent_rows::Recent;
use crate::domain::contract::Queued;
use crate::domain::message::{Body, Message};
use crate::domain::session::SessionMeta;
use crate::domain::{At, MessageId, SessionId};
use crate::store::format::header::{self, Counted};
use crate::store::format::live::{self, Live};
use crate::store::format::{layout, row};
use crate::store::interop::merge::Merged;
use crate::store::interop::other_writers::Elsewhere;
use crate::store::interop::shadow_log::Ours;
use crate::store::io::{How, lines, whole_file};
use crate::store::read::session::{self, Found, Head};
use crate::store::{Durability, Fsync, Store, StoreError};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{HashSet, VecDeque};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Bytes of rows that are kept in memory until they are forced to the disk; then they are, whoever asked for it.
const UNPROVEN: usize = 1 << 20;
/// Number of times that written bytes are checked before they count as saved.
const PROOFS: u32 = 4;

/// Rows that are written and not yet forced to the disk.
#[derive(Debug, Default)]
pub(in crate::store) struct Unproven {
    /// Start of each line, and the line.
    pub lines: Vec<(u64, String)>,
    /// Bytes of the lines.
    pub bytes: usize,
    /// An fsync of them failed.
    pub failed: bool,
}

impl Unproven {
    fn add(&mut self, at: u64, line: String) {
        self.bytes += line.len();
        self.lines.push((at, line));
    }
}

/// A row that is to be written.
#[derive(Debug)]
pub(in crate::store) struct Pending {
    pub line: String,
    pub id: Option<MessageId>,
    /// It stands in `ours.jsonl`.
    pub kept: bool,
    /// A death left it unfinished.
    pub folded: bool,
}

/// Remains of a session after a crash, and of our rows after another program's write.
#[derive(Debug, Default)]
pub(in crate::store) struct Left {
    /// Rows for the file.
    pub folded: Vec<Message>,
    /// Rows that stay live.
    pub live: Live,
    /// The live file says more than that.
    pub live_there: bool,
    /// Counts of the file's rows.
    pub counted: Counted,
    /// There is an `ours.jsonl` …
    pub ours: bool,
    /// … and `session.jsonl` may lack rows of it.
    pub reconcile: bool,
    /// Properties, if they differ from line 1.
    pub meta: Option<SessionMeta>,
}

/// The writer of one session. The session's lock is held while it lives.
#[derive(Debug)]
pub struct Journal {
    pub(in crate::store) store: Store,
    pub(in crate::store) id: SessionId,
    pub(in crate::store) dir: PathBuf,
    pub(in crate::store) lock: Lock,
    /// `session.jsonl` for appending, once there was a first write.
    pub(in crate::store) file: Option<File>,
    /// The file as it was found, held open so that its inode is given to no other while we know it by that.
    pub(in crate::store) found: Option<File>,
    pub(in crate::store) ino: u64,
    /// Length as we left it.
    pub(in crate::store) len: u64,
    pub(in crate::store) head: Head,
    /// The file was looked at and repaired.
    pub(in crate::store) mended: bool,
    /// True once this journal was used; without that, closing leaves the files alone.
    pub(in crate::store) touched: bool,
    /// Properties in the header's fields.
    pub(in crate::store) base: SessionMeta,
    /// Properties that they should have.
    pub(in crate::store) meta: SessionMeta,
    /// Properties given last: a difference from them in the next ones is a change of ours.
    pub(in crate::store) given: SessionMeta,
    pub(in crate::store) own: Value,
    pub(in crate::store) counted: Counted,
    pub(in crate::store) pending: VecDeque<Pending>,
    /// Rows that a death left unfinished, from then on.
    pub(in crate::store) folded: HashSet<MessageId>,
    /// The newest row: no row that begins later says that it is older, wherever the clock jumped.
    newest: At,
    /// A row was written in part, or may have been.
    pub(in crate::store) torn: bool,
    /// Another one wrote the end of the file.
    pub(in crate::store) fresh: bool,
    /// Our rows once more, where another program may write the file anew.
    pub(in crate::store) ours: Option<Ours>,
    /// Only for as long as the lock is not granted.
    pub(in crate::store) ours_for_now: bool,
    /// True if they must be paired with those of the file.
    pub(in crate::store) reconcile: bool,
    /// Rows that may have gone to a file that was replaced, where there is no `ours`.
    pub(in crate::store) unsure: Vec<String>,
    /// Rows written last.
    pub(in crate::store) recent: Recent,
    pub(in crate::store) rewrites: u64,
    /// The last row that was written here.
    pub(in crate::store) last_written: Option<MessageId>,
    /// Marks of what is read that were replaced by newer ones here.
    pub(in crate::store) was_read: Vec<MessageId>,
    /// Changes of another program in the properties, until they are asked for.
    pub(in crate::store) merged: Option<Merged>,
    pub(in crate::store) elsewhere: Elsewhere,
    /// Process that took the session over.
    pub(in crate::store) lost: Option<String>,
    /// Rows that were not written because of that.
    pub(in crate::store) unwritten: usize,
    /// Rows were written that were not forced to the disk.
    pub(in crate::store) unsynced: bool,
    /// These rows, and where they stand, until that was done: a failed fsync may have thrown them away.
    pub(in crate::store) unproven: Unproven,
    /// The thread that owns the journal died of a defect: nothing more is written.
    pub(in crate::store) broken: bool,
    pub(in crate::store) want_sync: bool,
    pub(in crate::store) header_due: bool,
    /// The header was so many bytes too long; not tried again before it changes.
    pub(in crate::store) refused: Option<usize>,
    pub(in crate::store) live: LiveFile,
    pub(in crate::store) closed: bool,
}

impl Journal {
    /// The journal of a session that is to be made in its claimed, empty directory.
    pub(in crate::store) fn new(store: Store, meta: SessionMeta, lock: Lock) -> Self {
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
    pub(in crate::store) fn opened(store: Store, id: SessionId, lock: Lock, found: Found, base: SessionMeta) -> Self {
        let dir = store.inner.layout.session(&id);
        let live = LiveFile::new(store.clone(), dir.clone());
        let ours = store.inner.foreign || !lock.granted();
        let elsewhere = crate::store::interop::other_writers::at_opening(&lock, &found);
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
            recent: Recent::default(),
            rewrites: 0,
            last_written: None,
            was_read: Vec::new(),
            merged: None,
            elsewhere,
            lost: None,
            unwritten: 0,
            unsynced: false,
            unproven: Unproven::default(),
            broken: false,
            want_sync: false,
            refused: None,
            live,
            closed: false,
            dir,
            store,
        }
    }

    /// Takes over what a death left: rows for the file, and what stays live. `seen` are rows that are there.
    pub(in crate::store) fn carry(&mut self, left: Left, seen: &[Message]) {
        self.header_due |= left.counted.messages != self.base.messages;
        self.counted = left.counted;
        if let Some(meta) = left.meta {
            (self.given, self.meta) = (meta.clone(), meta);
            self.header_due = true;
        }
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

    /// Counts of the rows: how many, the last one's time, the preview.
    pub fn counted(&self) -> &Counted {
        &self.counted
    }

    /// The header differs from what is on disk, and saving it may help.
    pub fn header_due(&self) -> bool {
        self.header_due && self.refused.is_none()
    }

    /// True if rows wait in memory because a write failed.
    pub fn unsaved(&self) -> bool {
        self.refused.is_some() || !self.pending.is_empty() || (self.touched && self.live.stale) || self.want_sync
    }

    pub(in crate::store) fn fsyncs(&self) -> bool {
        self.store.inner.fsync != Fsync::Off
    }

    pub(in crate::store) fn path(&self) -> PathBuf {
        self.dir.join(layout::SESSION)
    }

    pub(in crate::store) fn error(&self, doing: &'static str, source: std::io::Error) -> StoreError {
        StoreError::io(doing, &self.path(), source)
    }

    /// Writes the files of a new session.
    pub(in crate::store) fn make(&mut self) -> Result<(), StoreError> {
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

    /// Adds rows as another file has them, byte for byte.
    ///
    /// # Errors
    /// When they could not be written yet; they are kept and tried again with the next call.
    pub(in crate::store) fn append_lines(&mut self, lines: Vec<String>) -> Result<(), StoreError> {
        self.open_for_writing()?;
        for mut line in lines {
            for row in row::read(line.as_bytes(), 0, 0, &self.dir).rows {
                session::count(&mut self.counted, &row);
                self.newest = self.newest.max(row.at);
            }
            let id = row::id_of(&line);
            line.push('\n');
            self.pending.push_back(Pending { line, id, kept: false, folded: false });
        }
        self.header_due = true;
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

    pub(in crate::store) fn open_for_writing(&mut self) -> Result<(), StoreError> {
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
    pub(in crate::store) fn rows(&mut self) -> Result<(), StoreError> {
        if self.mended && self.pending.is_empty() && !self.reconcile && !self.want_sync {
            return self.retire_ours();
        }
        self.mine()?;
        if let Err(error) = self.mend() {
            if matches!(&error, StoreError::Io { source, .. } if source.kind() == std::io::ErrorKind::WouldBlock) {
                self.keep_aside()?;
            }
            return Err(error);
        }
        // A row that came to a file which was replaced meanwhile comes again, now and then more than once.
        let writes = !self.pending.is_empty();
        while self.reconcile || !self.pending.is_empty() {
            self.bound()?;
            self.keep()?;
            let len = self.there()?;
            self.mine()?;
            // It waits until it is written, whatever happens meanwhile.
            let front = self.pending.front().map(|row| (row.line.clone(), row.id.clone()));
            let Some((line, id)) = front else { break };
            let at = self.write_row(&line, len)?;
            self.pending.pop_front();
            self.unsynced = true;
            self.last_written = id;
            self.recent.add(&line, self.ino, self.len);
            if self.fsyncs() {
                self.unproven.add(at, line.clone());
            }
            self.written(&line)?;
            if self.unproven.bytes > UNPROVEN {
                self.want_sync = true;
                self.sync()?;
            }
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

    /// Moves content that is too long for a row into a file of its own, before the row is written.
    fn bound(&mut self) -> Result<(), StoreError> {
        let Some(row) = self.pending.front_mut().filter(|row| row.line.len() > row::MOST && !row.kept) else {
            return Ok(());
        };
        let id = row.id.as_ref().map_or("row", MessageId::as_str);
        let Some(bounded) = row::bounded(&row.line, id, &self.dir, row::MOST) else { return Ok(()) };
        let folder = self.dir.join(row::FOLDER);
        let io = self.store.io();
        if !bounded.files.is_empty() && io.stat(&folder).is_err() {
            io.mkdir(&folder).map_err(|e| StoreError::io("make", &folder, e))?;
        }
        for (name, text) in &bounded.files {
            whole_file::replace(io, &folder.join(name), text.as_bytes(), self.store.inner.fsync != Fsync::Off)?;
        }
        row.line = bounded.line;
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

    /// The session cannot be written now, because another program is at it: what waits survives a death beside it.
    fn keep_aside(&mut self) -> Result<(), StoreError> {
        let ours = self.ours.get_or_insert_with(|| {
            self.ours_for_now = true;
            Ours::new(self.store.clone(), &self.dir)
        });
        for row in self.pending.iter_mut().filter(|row| !row.kept) {
            ours.append(&row.line)?;
            row.kept = true;
        }
        if self.want_sync && self.store.inner.fsync != Fsync::Off {
            let lines: Vec<(u64, String)> = self.pending.iter().map(|row| (0, row.line.clone())).collect();
            ours.sync(&lines)?;
        }
        Ok(())
    }

    pub(in crate::store) fn sync(&mut self) -> Result<(), StoreError> {
        if self.unsynced && self.fsyncs() {
            if self.unproven.failed {
                self.write_again()?;
            }
            if let Some(file) = &self.file
                && let Err(error) = self.store.io().fsync(file)
            {
                self.unproven.failed = true;
                return Err(self.error("save", error));
            }
            if let Some(ours) = &mut self.ours {
                ours.sync(&self.unproven.lines)?;
            }
            self.unsynced = false;
            self.unproven = Unproven::default();
        }
        Ok(())
    }

    /// Writes rows once more, each at its place. After a failed fsync the system counts what it had as written, so that
    /// the next one would say that all is well.
    fn write_again(&self) -> Result<(), StoreError> {
        let io = self.store.io();
        let file = io.open(&self.path(), How::Change).map_err(|e| self.error("write", e))?;
        if io.stat_of(&file).map_err(|e| self.error("write", e))?.ino != self.ino {
            // Another program's file by now: rows that it lacks come again with the next write.
            return Ok(());
        }
        for (at, line) in &self.unproven.lines {
            io.write_at(&file, *at, line.as_bytes()).map_err(|e| self.error("write", e))?;
        }
        Ok(())
    }

    /// One row, with one write, to a file that has `len` bytes. Whatever an earlier attempt left of it is taken away first.
    /// Returns where the row begins.
    fn write_row(&mut self, line: &str, len: u64) -> Result<u64, StoreError> {
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
            let added = lines::range(&*io, file, self.len, end).map_err(|e| error("read", e))?;
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
            let last = lines::range(&*io, file, self.len - 1, self.len).map_err(|e| error("read", e))?;
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
                && let Ok(added) = lines::range(&*io, file, self.len, end)
                && text.as_bytes().starts_with(&added)
            {
                let _ = io.truncate(file, self.len);
            }
            return Err(error("write", failed));
        }
        let at = self.len + prefix.len() as u64;
        self.len = at + line.len() as u64;
        (self.fresh, self.torn) = (false, false);
        Ok(at)
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
        if self.lock.granted() && self.live.is_open() {
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
        // Somebody removed it, or the one that was taken over from wrote it in between.
        let anew = self.live.overgrown() || self.live.is_changed();
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
        let flushed = flushed.and_then(|()| self.prove());
        // Of one that was taken over, nothing more is to be written, and what was not is told and kept.
        let over = self.lost.is_some() && self.pending.is_empty();
        self.closed |= flushed.is_ok() || over;
        flushed
    }

    /// The file that was written is still the one of the session's name, and as long as we left it. Where it is not, what it
    /// lacks is written again.
    fn prove(&mut self) -> Result<(), StoreError> {
        for _ in 0..PROOFS {
            if !self.touched || !self.mended || self.lost.is_some() {
                return Ok(());
            }
            self.there()?;
            if self.is_whole() {
                return Ok(());
            }
            self.mine()?;
            self.flush()?;
        }
        Err(self.error("save", crate::store::interop::other_writers::busy()))
    }

    /// Everything that was given stands in files that are ours and have the session's name.
    pub(in crate::store) fn is_whole(&self) -> bool {
        let there = |stat: crate::store::io::Stat| stat.ino == self.ino && stat.len >= self.len;
        let proved = self.ino == 0 || self.store.io().stat(&self.path()).is_ok_and(there);
        proved && !self.unsaved() && !self.header_due() && self.lost.is_none() && self.lock.lost().is_none()
    }

    /// Keeps a final row in memory where nothing can be written any more.
    pub(in crate::store) fn hold(&mut self, row: &Message) {
        self.take(row, false);
        self.live.content.drop_row(&row.id);
    }

    /// Keeps a row that can still change in memory where nothing can be written any more.
    pub(in crate::store) fn hold_live(&mut self, row: Message) {
        self.live.content.set(row, self.len);
    }

    /// The rows are gone: nothing of them is live, and nothing waits.
    pub(in crate::store) fn forget_rows(&mut self) {
        self.live.content = Live::default();
        self.live.stale = true;
        self.pending.clear();
        self.folded.clear();
        self.unsure.clear();
        self.recent.clear();
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
