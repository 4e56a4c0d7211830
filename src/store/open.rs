//! The store of one workspace: opening it, loading and creating sessions.
//!
//! Blocking throughout; async callers use a blocking task. Nothing is written before the first session is created or
//! opened for writing.

use super::format::header;
use super::format::layout::{self};
use super::format::live::{self, Live};
use super::interop::merge::without_the_past;
use super::interop::shadow_log::{self, Ours, may_lack};
use super::io::lines;
use super::read::session::{self, FoundSession, RowPage, SessionReader};
use super::{Fsync, Store, StoreError};
use crate::store::io::whole_file;

use super::write::journal::{Journal, Left};
use super::write::lock::{self, LockOutcome};
use crate::domain::message::{Body, InfoKind, Message};
use crate::domain::session::SessionMeta;
use crate::domain::{At, MessageId, SessionId};
use crate::protocol::Queued;
use serde_json::Value;
use std::path::Path;

/// Number of rows read at a time where all are wanted.
const CONTEXT_PAGE: usize = 2000;

/// Access to a loaded session.
#[derive(Debug)]
pub enum Access {
    /// This process writes.
    Writer(Box<Journal>),
    /// Another process writes, or nobody can.
    Reader {
        /// Holder or reason, in words.
        held_by: String,
    },
}

/// A session as it was opened.
#[derive(Debug)]
pub struct LoadedSession {
    /// Properties.
    pub meta: SessionMeta,
    /// The engine's own data of it; `null` when there is none.
    pub own: Value,
    /// The last rows, oldest first: those of the file, then what a death left unfinished (interrupted calls, partial
    /// texts). The journal writes the latter to the file by itself with its first write.
    pub rows: Vec<Message>,
    /// End of the page before.
    pub earlier: Option<u64>,
    /// Messages queued when the process died.
    pub queue: Vec<Queued>,
    /// A turn was running when the process died.
    pub died_in_turn: bool,
    /// Writer that it was taken over from and that still had it, in words.
    pub taken_from: Option<String>,
    /// Another program wrote it last.
    pub foreign_last_write: bool,
    /// Access.
    pub access: Access,
}

/// A session as it was read by somebody who will not write it. The fields are those of [`LoadedSession`].
#[derive(Clone, Debug)]
pub struct ReadTranscript {
    /// Properties.
    pub meta: SessionMeta,
    /// The engine's own data of it; `null` when there is none.
    pub own: Value,
    /// The last rows, oldest first, and what is live or what a death left unfinished.
    pub rows: Vec<Message>,
    /// End of the page before.
    pub earlier: Option<u64>,
    /// Queued messages.
    pub queue: Vec<Queued>,
    /// A turn was running when the process died.
    pub died_in_turn: bool,
    /// Another program wrote it last.
    pub foreign_last_write: bool,
}

/// State of the last writer of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LastWriter {
    /// Continues its open session.
    Works,
    /// The process ended, or died.
    Died,
    /// The process had the session when it was taken over.
    TakenOver,
}

/// Content that was read, with what a writer needs besides.
struct OpenedFiles {
    found: FoundSession,
    seen: ReadTranscript,
    base: SessionMeta,
    left: Left,
}

impl Store {
    pub(super) fn reader<'a>(&'a self, id: &'a SessionId) -> SessionReader<'a> {
        SessionReader { io: self.io(), id, dir: self.inner.layout.session(id), home: &self.inner.home }
    }

    /// The live file of a session.
    pub(super) fn live(&self, dir: &Path) -> Result<(Live, bool), StoreError> {
        let bytes = whole_file::read(self.io(), &dir.join(layout::LIVE))?;
        let there = bytes.as_ref().is_some_and(|bytes| !bytes.is_empty());
        Ok((bytes.map(|bytes| Live::parse(&bytes, dir)).unwrap_or_default(), there))
    }

    /// The live rows that are not final yet.
    pub(super) fn open_rows(
        &self,
        reader: &SessionReader<'_>,
        found: &FoundSession,
        live: &Live,
    ) -> Result<Vec<Message>, StoreError> {
        match live.rows.iter().map(|entry| entry.from).min() {
            Some(from) => Ok(live.open_rows(&reader.finals(found, from)?)),
            None => Ok(Vec::new()),
        }
    }

    /// Opens a session with its last `rows` rows, and asks for its lock.
    ///
    /// # Errors
    /// When there is no such session, or it cannot be read at all.
    pub fn load(&self, id: &SessionId, rows: usize) -> Result<LoadedSession, StoreError> {
        self.refuse_links(id)?;
        let dir = self.inner.layout.session(id);
        // Looked for first: asking for the lock of a session that does not exist would make a file.
        session::find(self.io(), &dir)?;
        let lock_path = dir.join(layout::LOCK);
        // The lock comes before reading, so that what was read stays true for a writer.
        let (asked, another) = match lock::ask(&self.inner.io, &lock_path) {
            Ok(asked) => (asked, true),
            Err(error) => (LockOutcome::Held(format!("nobody: {}", StoreError::io("lock", &lock_path, error))), false),
        };
        self.loaded(id, rows, asked, another)
    }

    /// Opens a session for writing though another one has its lock: one that stopped, or that runs on another machine.
    /// If that one goes on, it finds out and writes nothing more.
    ///
    /// # Errors
    /// When there is no such session, it cannot be read, or the other one cannot be told.
    pub fn take_over(&self, id: &SessionId, rows: usize) -> Result<LoadedSession, StoreError> {
        self.refuse_links(id)?;
        let dir = self.inner.layout.session(id);
        session::find(self.io(), &dir)?;
        let lock_path = dir.join(layout::LOCK);
        let lock = lock::take_over(&self.inner.io, &lock_path).map_err(|e| StoreError::io("lock", &lock_path, e))?;
        self.loaded(id, rows, LockOutcome::Granted(lock), true)
    }

    /// `another`: who has the lock may be another process.
    pub(super) fn loaded(
        &self,
        id: &SessionId,
        rows: usize,
        asked: LockOutcome,
        another: bool,
    ) -> Result<LoadedSession, StoreError> {
        // What another process has open goes on there; otherwise its process died.
        let writer = match &asked {
            LockOutcome::Held(_) if another => LastWriter::Works,
            LockOutcome::Granted(lock) if lock.taken_from().is_some() => LastWriter::TakenOver,
            LockOutcome::Held(_) | LockOutcome::Granted(_) => LastWriter::Died,
        };
        let OpenedFiles { found, mut seen, base, mut left } = self.look(id, rows, writer)?;
        let taken_from = match &asked {
            LockOutcome::Granted(lock) => lock.taken_from().map(str::to_owned),
            LockOutcome::Held(_) => None,
        };
        let access = match asked {
            LockOutcome::Held(held_by) => {
                seen.meta.held_by = Some(held_by.clone());
                Access::Reader { held_by }
            }
            LockOutcome::Granted(lock) => {
                left.live = Live { queue: seen.queue.clone(), ..Live::default() };
                let mut journal = Journal::opened(self.clone(), id.clone(), lock, found, base);
                journal.carry(left, &seen.rows);
                Access::Writer(Box::new(journal))
            }
        };
        let ReadTranscript { meta, own, rows, earlier, queue, died_in_turn, foreign_last_write } = seen;
        Ok(LoadedSession { meta, own, rows, earlier, queue, died_in_turn, taken_from, foreign_last_write, access })
    }

    /// Reads a session with its last `rows` rows. Asks for no lock and writes nothing; whether its writer still lives
    /// is taken from what the lock's file says.
    ///
    /// # Errors
    /// When there is no such session, or it cannot be read at all.
    pub fn read(&self, id: &SessionId, rows: usize) -> Result<ReadTranscript, StoreError> {
        self.refuse_links(id)?;
        let lock = self.inner.layout.session(id).join(layout::LOCK);
        let held = |holder: &lock::Holder| holder.lives() && !lock::is_free(self.io(), &lock);
        let holder = lock::last_holder(self.io(), &lock).filter(held);
        let writer = if holder.is_some() { LastWriter::Works } else { LastWriter::Died };
        let mut seen = self.look(id, rows, writer)?.seen;
        seen.meta.held_by = holder.map(|holder| holder.words());
        Ok(seen)
    }

    /// True if the file of a session has a row of this id.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn holds_message(&self, id: &SessionId, message: &MessageId) -> Result<bool, StoreError> {
        /// Bytes that are looked at together.
        const PART: u64 = 1 << 20;
        let dir = self.inner.layout.session(id);
        let found = match session::find(self.io(), &dir) {
            Ok(found) => found,
            Err(StoreError::NoSession { .. }) => return Ok(false),
            Err(error) => return Err(error),
        };
        let Some(file) = &found.file else { return Ok(false) };
        let wanted = format!("\"{message}\"");
        // A place that two parts share is in both.
        let overlap = wanted.len() as u64;
        let mut at = 0;
        while at < found.len {
            let bytes = lines::range(self.io(), file, at, (at + PART + overlap).min(found.len))
                .map_err(|error| StoreError::io("read", &dir.join(layout::SESSION), error))?;
            if memchr::memmem::find(&bytes, wanted.as_bytes()).is_some() {
                return Ok(true);
            }
            at += PART;
        }
        Ok(false)
    }

    /// Reads a session.
    fn look(&self, id: &SessionId, rows: usize, writer: LastWriter) -> Result<OpenedFiles, StoreError> {
        let alive = writer == LastWriter::Works;
        let reader = self.reader(id);
        let found = session::find(self.io(), &reader.dir)?;
        let mut meta = reader.meta(&found);
        let mut counted = session::counted_of(&meta, &found);
        meta.odd.extend(reader.scan(&found, &mut counted)?);
        let page = reader.page(&found, found.len, rows, meta.created)?;
        let (live, live_there) = self.live(&reader.dir)?;
        // What another process misses, it writes again by itself.
        let kept = Ours::new(self.clone(), &reader.dir);
        let last = kept.last()?;
        let ours = last.is_some();
        let reconcile = !alive && may_lack(&kept, &found, last)?;
        let missing = if reconcile { self.missing(&reader, &found, &kept)? } else { Vec::new() };
        let mut open = self.open_rows(&reader, &found, &live)?;
        open.retain(|row| missing.iter().all(|final_row| final_row.id != row.id));
        let died_in_turn = !alive && (live.turn || !open.is_empty());
        let folded = match writer {
            LastWriter::Works => open,
            LastWriter::Died => live::folded(open),
            LastWriter::TakenOver => live::folded_at_takeover(open),
        };
        let queue = live.queue.into_iter().map(|q| Queued { redelivered: q.redelivered || !alive, ..q }).collect();
        let base = meta.clone();
        // They saved what they had in memory before we went on.
        if let Some(ours) = found.head.ours.as_ref().filter(|_| !missing.is_empty()) {
            let place = header::Home { dir: &reader.dir, home: reader.home };
            meta = without_the_past(&header::decode(ours, id, place, At(found.modified)), &meta);
        }
        let known = (meta != base).then(|| meta.clone());
        let mut shown = counted.clone();
        missing.iter().chain(&folded).for_each(|row| session::count(&mut shown, row));
        (meta.messages, meta.last_message, meta.preview) = (shown.messages, shown.last_message, shown.preview);
        let mut rows = page.rows;
        rows.extend(missing.into_iter().chain(folded.iter().cloned()));
        let own = found.head.own.clone();
        let foreign_last_write = found.head.foreign;
        let earlier = page.earlier;
        let seen = ReadTranscript { meta, own, rows, earlier, queue, died_in_turn, foreign_last_write };
        let left = Left { folded, live_there, counted, ours, reconcile, live: Live::default(), meta: known };
        Ok(OpenedFiles { found, seen, base, left })
    }

    /// Rows of ours that the session lacks.
    pub(super) fn missing(
        &self,
        reader: &SessionReader<'_>,
        found: &FoundSession,
        kept: &Ours,
    ) -> Result<Vec<Message>, StoreError> {
        let lines = self.missing_lines(reader, found, kept)?;
        Ok(lines.iter().flat_map(|line| super::format::row::read(line.as_bytes(), 0, 0, &reader.dir).rows).collect())
    }

    /// Lines of ours that the session lacks, for whoever reads its file by himself: they come behind it.
    pub(super) fn lacking_lines(
        &self,
        reader: &SessionReader<'_>,
        found: &FoundSession,
    ) -> Result<Vec<String>, StoreError> {
        let kept = Ours::new(self.clone(), &reader.dir);
        let lacks = may_lack(&kept, found, kept.last()?)?;
        if lacks { self.missing_lines(reader, found, &kept) } else { Ok(Vec::new()) }
    }

    /// The same as rows.
    pub(super) fn lacking_rows(
        &self,
        reader: &SessionReader<'_>,
        found: &FoundSession,
    ) -> Result<Vec<Message>, StoreError> {
        let lines = self.lacking_lines(reader, found)?;
        Ok(lines.iter().flat_map(|line| super::format::row::read(line.as_bytes(), 0, 0, &reader.dir).rows).collect())
    }

    fn missing_lines(
        &self,
        reader: &SessionReader<'_>,
        found: &FoundSession,
        kept: &Ours,
    ) -> Result<Vec<String>, StoreError> {
        let bytes = match &found.file {
            Some(file) => lines::range(self.io(), file, found.head.body, found.len)
                .map_err(|e| StoreError::io("read", &reader.dir.join(layout::SESSION), e))?,
            None => Vec::new(),
        };
        Ok(shadow_log::pair(kept.read()?, &bytes, found.head.sound).missing)
    }

    /// Rows before `cursor`, at most `rows` of them.
    ///
    /// # Errors
    /// When the session cannot be read.
    pub fn page(&self, id: &SessionId, cursor: u64, rows: usize) -> Result<RowPage, StoreError> {
        let reader = self.reader(id);
        let found = session::find(self.io(), &reader.dir)?;
        let created = reader.meta(&found).created;
        reader.page(&found, cursor, rows, created)
    }

    /// All rows back to the last compaction, its row and those that it keeps included, and with what a death left
    /// unfinished: what a model is to know. Meant for a session that was just loaded; rows that are live right now look interrupted here.
    ///
    /// # Errors
    /// When the session cannot be read.
    pub fn context(&self, id: &SessionId) -> Result<Vec<Message>, StoreError> {
        let reader = self.reader(id);
        let found = session::find(self.io(), &reader.dir)?;
        let created = reader.meta(&found).created;
        let (live, _) = self.live(&reader.dir)?;
        let mut last = self.lacking_rows(&reader, &found)?;
        let mut open = self.open_rows(&reader, &found, &live)?;
        open.retain(|row| last.iter().all(|final_row| final_row.id != row.id));
        last.extend(live::folded(open));
        let mut pages = vec![last];
        let mut end = Some(found.len);
        let mut wants = Wants::Compaction;
        while let Some(to) = end {
            let mut page = reader.page(&found, to, CONTEXT_PAGE, created)?;
            end = page.earlier;
            if let Some(first) = wants.first(&page.rows) {
                page.rows.drain(..first);
                end = None;
            }
            pages.push(page.rows);
        }
        // A page is let go as soon as its rows have moved: they are never there twice.
        let mut rows = Vec::with_capacity(pages.iter().map(Vec::len).sum());
        pages.into_iter().rev().for_each(|mut page| rows.append(&mut page));
        Ok(rows)
    }

    /// Makes a session on disk: claims `meta.id`, or the next free one like it, which comes back.
    ///
    /// # Errors
    /// When the directories or files cannot be made; then nothing of the session stays.
    pub fn create(&self, meta: &SessionMeta) -> Result<(SessionId, Journal), StoreError> {
        let io = self.io();
        let layout = &self.inner.layout;
        self.make_workspace(meta.created)?;
        let id = self.claim(&meta.id, meta.created)?;
        let dir = layout.session(&id);
        let made = || -> Result<Journal, StoreError> {
            let journal = self.begin_in(&dir, SessionMeta { id: id.clone(), ..meta.clone() })?;
            if self.inner.fsync != Fsync::Off {
                io.fsync_dir(&layout.sessions()).map_err(|e| StoreError::io("save", &layout.sessions(), e))?;
            }
            Ok(journal)
        };
        match made() {
            Ok(journal) => Ok((id, journal)),
            Err(error) => {
                // Ours alone since the mkdir, and without a row. The session's own file goes last, so that what cannot
                // be removed is a sound, empty session.
                let mut names = io.list(&dir).unwrap_or_default();
                names.sort_by_key(|name| name == layout::SESSION);
                let gone = names.iter().all(|name| io.remove(&dir.join(name)).is_ok());
                if gone {
                    let _ = io.remove(&dir);
                }
                Err(error)
            }
        }
    }

    /// Writes the files of a new session to an empty directory.
    pub(super) fn begin_in(&self, dir: &Path, meta: SessionMeta) -> Result<Journal, StoreError> {
        let path = dir.join(layout::LOCK);
        let lock = match lock::ask(&self.inner.io, &path).map_err(|e| StoreError::io("lock", &path, e))? {
            LockOutcome::Granted(lock) => lock,
            LockOutcome::Held(holder) => return Err(StoreError::Held { path: dir.to_owned(), holder }),
        };
        let mut journal = Journal::new(self.clone(), meta, dir.to_owned(), lock);
        journal.make()?;
        Ok(journal)
    }
}

/// Row to which the pages are read back.
enum Wants {
    /// The last compaction.
    Compaction,
    /// The first row that it keeps.
    Row(MessageId),
}

impl Wants {
    /// Start of the wanted rows, if it is among these. Pages come from the last one on.
    fn first(&mut self, rows: &[Message]) -> Option<usize> {
        let mut before = rows.len();
        if let Wants::Compaction = self {
            let (at, carried) = rows.iter().enumerate().rev().find_map(|(at, row)| match &row.body {
                Body::Info(info) if info.kind == InfoKind::Compacted => Some((at, info.carried.as_ref())),
                _ => None,
            })?;
            let Some(keeps) = carried.and_then(|carried| carried.keeps.clone()) else { return Some(at) };
            before = at;
            *self = Wants::Row(keeps);
        }
        let Wants::Row(id) = self else { return None };
        rows.iter().take(before).rposition(|row| row.id == *id)
    }
}
