//! Writing one session: rows, the header, and what can still change. Blocking; one owner at a time.
//!
//! Everything is in memory until it is on disk: after an error, rows and live entries wait in order, and the next call
//! tries them again. The data is in groups that own their fields (`session_file`, `header_state`, `row_queue`, `sync_state`,
//! `row_copies`, `ownership`, `lifecycle`); the order of writes is here. `tail_repair` repairs the file before the first
//! write. When to call what is the writer's business.

use super::header_state::HeaderState;
use super::lifecycle::Lifecycle;
use super::live_file::LiveFile;
use super::lock::Lock;
use super::ownership::{Ownership, busy};
use super::row_copies::RowCopies;
use super::row_queue::RowQueue;
use super::session_file::SessionFile;
use super::sync_state::SyncState;
use crate::domain::message::{Body, Message};
use crate::domain::session::SessionMeta;
use crate::domain::{MessageId, SessionId};
use crate::protocol::Queued;
use crate::store::format::header::{self, Counted};
use crate::store::format::live::{self, Live};
use crate::store::format::{layout, row};
use crate::store::io::{How, whole_file};
use crate::store::read::session::{FoundSession, Head};
use crate::store::{Durability, Fsync, Store, StoreError};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Number of times that written bytes are checked before they count as saved.
const PROOFS: u32 = 4;

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
    pub(in crate::store) ownership: Ownership,
    pub(in crate::store) file: SessionFile,
    pub(in crate::store) header: HeaderState,
    pub(in crate::store) row_queue: RowQueue,
    pub(in crate::store) sync_state: SyncState,
    pub(in crate::store) copies: RowCopies,
    pub(in crate::store) live: LiveFile,
    pub(in crate::store) lifecycle: Lifecycle,
}

impl Journal {
    /// The journal of a session that is to be made in this empty directory.
    pub(in crate::store) fn new(store: Store, meta: SessionMeta, dir: PathBuf, lock: Lock) -> Self {
        let fields = Self::fresh_fields(&meta, &dir, &store);
        let head = Head { fields, hash: header::hash(b""), ..Head::default() };
        let found = FoundSession { file: None, ino: 0, len: 0, modified: 0, head, odd: Vec::new() };
        let counted = Counted { last_message: meta.last_message, used: meta.used, ..Counted::default() };
        let mut journal = Self::opened_in(dir, store, meta.id.clone(), lock, found, meta);
        journal.header.set_counted(counted);
        journal.file.set_repaired();
        journal
    }

    /// The journal of a session that was found.
    pub(in crate::store) fn opened(
        store: Store,
        id: SessionId,
        lock: Lock,
        found: FoundSession,
        base: SessionMeta,
    ) -> Self {
        Self::opened_in(store.inner.layout.session(&id), store, id, lock, found, base)
    }

    fn opened_in(
        dir: PathBuf,
        store: Store,
        id: SessionId,
        lock: Lock,
        found: FoundSession,
        base: SessionMeta,
    ) -> Self {
        let live = LiveFile::new(store.clone(), dir.clone());
        let mut copies = RowCopies::new();
        if store.inner.foreign {
            copies.start_log(&store, &dir);
        } else if !lock.granted() {
            copies.start_log_for_now(&store, &dir);
        }
        Self {
            ownership: Ownership::new(lock, &found),
            header: HeaderState::new(base, found.head.own.clone(), found.head.unfinished),
            file: SessionFile::new(found),
            row_queue: RowQueue::new(),
            sync_state: SyncState::default(),
            copies,
            live,
            lifecycle: Lifecycle::default(),
            id,
            dir,
            store,
        }
    }

    /// Takes over what a death left: rows for the file, and what stays live. `seen` are rows that are there.
    pub(in crate::store) fn carry(&mut self, left: Left, seen: &[Message]) {
        self.header.set_due(left.counted.messages != self.header.base().messages);
        self.header.set_counted(left.counted);
        if let Some(meta) = left.meta {
            self.header.restore(meta);
        }
        self.live.content = left.live;
        self.live.stale = left.live_there;
        seen.iter().for_each(|row| self.row_queue.seen(row.at));
        if left.ours {
            self.copies.start_log(&self.store, &self.dir);
            self.copies.keep_log();
            self.copies.set_unpaired(left.reconcile);
        }
        for row in left.folded {
            self.row_queue.unfinished(row.id.clone());
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
        self.header.counted()
    }

    /// The header differs from what is on disk, and saving it may help.
    pub fn header_due(&self) -> bool {
        self.header.is_due() && self.header.refused().is_none()
    }

    /// True if rows wait in memory because a write failed.
    pub fn unsaved(&self) -> bool {
        self.header.refused().is_some()
            || !self.row_queue.is_empty()
            || (self.lifecycle.is_touched() && self.live.stale)
            || self.sync_state.is_wanted()
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
        self.lifecycle.touch();
        self.header.set_due(true);
        self.file.set_headless();
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
        let synced = self.fsyncs() && (always || durability == Durability::Synced);
        self.sync_state.want(synced);
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
                self.header.count(&row);
                self.row_queue.seen(row.at);
            }
            let id = row::id_of(&line);
            line.push('\n');
            self.row_queue.push(line, id, false);
        }
        self.header.set_due(true);
        self.retry()
    }

    /// The row with a time that is not before that of the rows before it.
    fn dated<'a>(&mut self, row: &'a Message) -> Cow<'a, Message> {
        let open = self.live.content.rows.iter().find(|entry| entry.row.id == row.id);
        self.row_queue.dated(row, open.map(|entry| entry.row.at))
    }

    fn take(&mut self, row: &Message, folded: bool) {
        let row = if folded { Cow::Borrowed(row) } else { self.dated(row) };
        let row = &*row;
        let Some(mut line) = row::write(row, &self.dir) else { return };
        line.push('\n');
        self.row_queue.push(line, Some(row.id.clone()), folded);
        self.header.count(row);
        self.header.set_due(true);
        if matches!(row.body, Body::User(_)) {
            // The other program's provider knows nothing of what is said from here on.
            self.file.edit_fields(|fields| fields.remove("sdkSessionId"));
            self.header.first_message();
        }
    }

    pub(in crate::store) fn open_for_writing(&mut self) -> Result<(), StoreError> {
        if self.lifecycle.is_closed() {
            return Err(StoreError::Closed { path: self.dir.clone() });
        }
        self.lifecycle.touch();
        Ok(())
    }

    /// Tries what waits once more.
    ///
    /// # Errors
    /// When it still cannot be written.
    pub fn retry(&mut self) -> Result<(), StoreError> {
        if !self.lifecycle.is_touched() {
            return Ok(());
        }
        self.rows()?;
        if self.ownership.lost().is_some() {
            // Found out right after the last row: the next call says so.
            return Ok(());
        }
        if self.header_due() && self.header.meta().mode != self.header.base().mode {
            // Before the mark of a running turn leaves the live file; see `prime`.
            self.mine()?;
            match self.write_header(false) {
                Ok(()) => self.header.saved(),
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
        let waits = !self.row_queue.is_empty() || self.copies.is_unpaired() || self.sync_state.is_wanted();
        if self.file.is_repaired() && !waits {
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
        let writes = !self.row_queue.is_empty();
        while self.copies.is_unpaired() || !self.row_queue.is_empty() {
            self.bound()?;
            self.keep()?;
            let len = self.there()?;
            self.mine()?;
            // It waits until it is written, whatever happens meanwhile.
            let front = self.row_queue.first().map(|row| (row.line.clone(), row.id.clone()));
            let Some((line, id)) = front else { break };
            let io = self.store.inner.io.clone();
            let path = self.path();
            let at = self.file.write_row(&*io, &path, &line, len)?;
            self.row_queue.written();
            self.sync_state.row_written();
            self.copies.written(id, &line, self.file.ino(), self.file.len());
            if self.fsyncs() {
                self.sync_state.keep(at, line.clone());
            }
            self.written(&line)?;
            if self.sync_state.is_full() {
                self.sync_state.want(true);
                self.sync()?;
            }
        }
        if self.sync_state.is_wanted() {
            self.sync()?;
            self.sync_state.granted();
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
        let Some(row) = self.row_queue.first_unkept().filter(|row| row.line.len() > row::MOST) else {
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
        if let (Some(ours), Some(row)) = (self.copies.log_mut(), self.row_queue.first_unkept()) {
            ours.append(&row.line)?;
            row.kept = true;
        }
        Ok(())
    }

    /// The session cannot be written now, because another program is at it: what waits survives a death beside it.
    fn keep_aside(&mut self) -> Result<(), StoreError> {
        let ours = self.copies.start_log_for_now(&self.store, &self.dir);
        for row in self.row_queue.unkept() {
            ours.append(&row.line)?;
            row.kept = true;
        }
        if self.sync_state.is_wanted() && self.store.inner.fsync != Fsync::Off {
            let lines: Vec<(u64, String)> = self.row_queue.iter().map(|row| (0, row.line.clone())).collect();
            ours.sync(&lines)?;
        }
        Ok(())
    }

    pub(in crate::store) fn sync(&mut self) -> Result<(), StoreError> {
        if self.sync_state.is_unsynced() && self.fsyncs() {
            if self.sync_state.has_failed() {
                self.write_again()?;
            }
            if let Some(file) = self.file.appending()
                && let Err(error) = self.store.io().fsync(file)
            {
                self.sync_state.fail();
                return Err(self.error("save", error));
            }
            if let Some(ours) = self.copies.log_mut() {
                ours.sync(self.sync_state.lines())?;
            }
            self.sync_state.done();
        }
        Ok(())
    }

    /// Writes rows once more, each at its place. After a failed fsync the system counts what it had as written, so that
    /// the next one would say that all is well.
    fn write_again(&self) -> Result<(), StoreError> {
        let io = self.store.io();
        let file = io.open(&self.path(), How::Change).map_err(|e| self.error("write", e))?;
        if io.stat_of(&file).map_err(|e| self.error("write", e))?.ino != self.file.ino() {
            // Another program's file by now: rows that it lacks come again with the next write.
            return Ok(());
        }
        for (at, line) in self.sync_state.lines() {
            io.write_at(&file, *at, line.as_bytes()).map_err(|e| self.error("write", e))?;
        }
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
        self.live.content.set(row, self.file.len());
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
        !self.lifecycle.is_closed() && self.live.content.grow(id, add)
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
        self.lifecycle.touch();
        self.add_live(&additions, Durability::Written)?;
        self.live.content.saved();
        // A file that somebody else may write is no place to get it back from.
        if self.ownership.lock().granted() && self.live.is_open() {
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
        self.sync_state.want(self.fsyncs());
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
        if !self.lifecycle.is_touched() {
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
            let head = self.file.head();
            let unpadded = self.lifecycle.is_touched() && head.sound && !head.long && head.slot == 0;
            if unpadded { self.write_header(true) } else { Ok(()) }
        });
        let flushed = flushed.and_then(|()| self.prove());
        // Of one that was taken over, nothing more is to be written, and what was not is told and kept.
        let over = self.ownership.lost().is_some() && self.row_queue.is_empty();
        self.lifecycle.close(flushed.is_ok() || over);
        flushed
    }

    /// The file that was written is still the one of the session's name, and as long as we left it. Where it is not, what it
    /// lacks is written again.
    fn prove(&mut self) -> Result<(), StoreError> {
        for _ in 0..PROOFS {
            if !self.lifecycle.is_touched() || !self.file.is_repaired() || self.ownership.lost().is_some() {
                return Ok(());
            }
            self.there()?;
            if self.is_whole() {
                return Ok(());
            }
            self.mine()?;
            self.flush()?;
        }
        Err(self.error("save", busy()))
    }

    /// Everything that was given stands in files that are ours and have the session's name.
    pub(in crate::store) fn is_whole(&self) -> bool {
        let there = |stat: crate::store::io::Stat| stat.ino == self.file.ino() && stat.len >= self.file.len();
        let proved = self.file.ino() == 0 || self.store.io().stat(&self.path()).is_ok_and(there);
        let ours = self.ownership.lost().is_none() && self.ownership.lock().lost().is_none();
        proved && !self.unsaved() && !self.header_due() && ours
    }

    /// Keeps a final row in memory where nothing can be written any more.
    pub(in crate::store) fn hold(&mut self, row: &Message) {
        self.take(row, false);
        self.live.content.drop_row(&row.id);
    }

    /// Keeps a row that can still change in memory where nothing can be written any more.
    pub(in crate::store) fn hold_live(&mut self, row: Message) {
        self.live.content.set(row, self.file.len());
    }

    /// The rows are gone: nothing of them is live, and nothing waits.
    pub(in crate::store) fn forget_rows(&mut self) {
        self.live.content = Live::default();
        self.live.stale = true;
        self.row_queue.forget();
        self.copies.forget();
    }

    /// True if the journal takes no more rows.
    pub fn is_closed(&self) -> bool {
        self.lifecycle.is_closed()
    }

    /// Number of this writer among all writers of the session.
    pub fn epoch(&self) -> u64 {
        self.ownership.lock().epoch()
    }
}
