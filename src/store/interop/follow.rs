//! Following a session that another process writes, without writing anything.
//!
//! A poll compares what stat says of three files and asks whether the lock can be had; only what was added is read. The
//! live file is read before `session.jsonl`: what leaves it is final there by then. Who polls how often, and what is
//! done when the lock is free, is the engine's business.

use crate::domain::session::{Activity, SessionMeta};
use crate::domain::{Message, MessageId, SessionId};
use crate::protocol::Queued;
use crate::store::format::live::{self, Live};
use crate::store::format::{layout, row};
use crate::store::io::{How, Io, Stat, lines};
use crate::store::read::session::{self, SessionReader};
use crate::store::write::lock;
use crate::store::{Store, StoreError};
use std::collections::HashMap;
use std::fs::File;
use std::io::ErrorKind;
use std::path::PathBuf;

/// Bytes before the read position that are compared when the file was replaced.
const SAME: u64 = 64 * 1024;
/// The same for the live file.
const LIVE_TAIL: usize = 256;

/// Event of a followed session.
#[derive(Clone, Debug, PartialEq)]
pub enum Followed {
    /// Properties; running if a turn runs over there.
    Meta(Box<SessionMeta>),
    /// A row that is new or changed: it replaces the one of its id, else it comes at the end.
    Row(Box<Message>),
    /// Text was added to a row that came before.
    Delta {
        /// The row.
        id: MessageId,
        /// The text.
        add: String,
    },
    /// A row does not stay.
    Dropped(MessageId),
    /// The whole queue.
    Queue(Vec<Queued>),
    /// The messages are others than those read so far: the session is to be loaded anew.
    Rewritten,
    /// No process writes it any more, and its lock can be had.
    Free,
    /// Another process has begun to write it: its lock is no longer to be had.
    Held,
    /// Its directory or its file is gone.
    Gone,
}

/// A reader that is told what another process writes. Made before the session is loaded, it misses nothing: what was
/// written in between comes once more, as rows that replace those of their id.
#[derive(Debug)]
pub struct Follower {
    store: Store,
    id: SessionId,
    dir: PathBuf,
    /// The file as it was read last: held open, so that its inode is given to no other.
    file: Option<File>,
    stat: Option<Stat>,
    /// Start of its rows, and the end of the complete lines read.
    body: u64,
    read: u64,
    header: Option<Stat>,
    /// True if a turn ran when the properties were reported last.
    turn: Option<bool>,
    live_stat: Option<Stat>,
    live_read: u64,
    /// The bytes before that place: a file that was emptied and has grown since is another one.
    live_tail: Vec<u8>,
    live: Live,
    /// Start of the last final row of an id, for ids that matter to the live file.
    finals: HashMap<MessageId, u64>,
    /// The live rows as they were told.
    told: Vec<FollowedRow>,
    /// Nothing was told since the beginning.
    first: bool,
    queue: Vec<Queued>,
    meta: Option<SessionMeta>,
    missing: bool,
    gone: bool,
    /// The lock could be had at the last look.
    free: Option<bool>,
}

/// A live row.
#[derive(Debug)]
struct FollowedRow {
    row: Message,
    /// Whoever is told knows exactly this. Without it, that one may have read a later state by itself.
    sure: bool,
}

impl Store {
    /// Follows a session that another process writes, or may begin to, from now on.
    ///
    /// # Errors
    /// When there is no such session, or it cannot be read.
    pub fn follow(&self, id: &SessionId) -> Result<Follower, StoreError> {
        let mut follower = Follower {
            store: self.clone(),
            id: id.clone(),
            dir: self.inner.layout.session(id),
            file: None,
            stat: None,
            body: 0,
            read: 0,
            header: None,
            turn: None,
            live_stat: None,
            live_read: 0,
            live_tail: Vec::new(),
            live: Live::default(),
            finals: HashMap::new(),
            told: Vec::new(),
            first: true,
            queue: Vec::new(),
            meta: None,
            missing: false,
            gone: false,
            free: None,
        };
        follower.begin()?;
        Ok(follower)
    }
}

impl Follower {
    /// The session.
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// Marks that no process writes the session at this point: a new writer is reported as [`Followed::Held`].
    #[must_use]
    pub fn at_rest(self) -> Self {
        Self { free: Some(true), ..self }
    }

    fn reader(&self) -> SessionReader<'_> {
        SessionReader { io: self.store.io(), id: &self.id, dir: self.dir.clone(), home: &self.store.inner.home }
    }

    /// Goes on from the end of what is there.
    fn begin(&mut self) -> Result<(), StoreError> {
        let io = self.store.inner.io.clone();
        let path = self.dir.join(layout::SESSION);
        let stat = io.stat(&path).ok();
        let found = session::find(&*io, &self.dir)?;
        self.live = Live::default();
        self.live_stat = None;
        self.live_read = 0;
        self.live_tail.clear();
        self.read_live()?;
        let from = self.live.rows.iter().map(|entry| entry.from).min();
        self.finals = from.map(|from| self.reader().finals(&found, from)).transpose()?.unwrap_or_default();
        let unsure = |row| FollowedRow { row, sure: false };
        self.told = self.live.open_rows(&self.finals).into_iter().map(unsure).collect();
        self.first = true;
        self.body = found.head.body;
        // A line that is being written is read once it is whole.
        self.read = match &found.file {
            Some(file) => {
                let page = lines::before(&*io, file, self.body.min(found.len), found.len, 1);
                let line = page.map_err(|e| StoreError::io("read", &path, e))?.lines.pop();
                line.filter(|line| line.at + (line.bytes.len() as u64) >= found.len).map_or(found.len, |line| line.at)
            }
            None => 0,
        };
        self.file = found.file;
        self.stat = stat.map(|stat| Stat { len: self.read, ..stat });
        self.header = None;
        Ok(())
    }

    /// Events since the last call. Costs a few stats if there are none.
    ///
    /// # Errors
    /// When a file cannot be read; the next call tries again.
    pub fn poll(&mut self) -> Result<Vec<Followed>, StoreError> {
        let mut out = Vec::new();
        let io = self.store.inner.io.clone();
        if !self.there(&*io, &mut out)? {
            return Ok(out);
        }
        let live = self.read_live()?;
        let rows = self.read_rows(&mut out)?;
        // A live file that is another one since the beginning may have lost what was read of it in between.
        if rows == Some(FileFinding::Anew) || (self.first && live == Some(FileFinding::Anew)) {
            self.begin()?;
            out.push(Followed::Rewritten);
        }
        if live.is_some() || rows.is_some() || self.first {
            self.tell_live(&mut out);
        }
        self.first = false;
        let header = io.stat(&self.dir.join(layout::HEADER)).ok();
        if rows.is_some() || header != self.header || self.turn != Some(self.live.turn) {
            self.tell_meta(&mut out)?;
            self.header = header;
            self.turn = Some(self.live.turn);
        }
        let free = lock::is_free(&*io, &self.dir.join(layout::LOCK));
        match (self.free.replace(free), free) {
            (None | Some(false), true) => out.push(Followed::Free),
            (Some(true), false) => out.push(Followed::Held),
            (None | Some(false), false) | (Some(true), true) => {}
        }
        Ok(out)
    }

    /// True if the session's file is where it was. Another program that replaces it removes it
    /// first: only a file that is missing twice is gone.
    fn there(&mut self, io: &dyn Io, out: &mut Vec<Followed>) -> Result<bool, StoreError> {
        let path = self.dir.join(layout::SESSION);
        match io.stat(&path) {
            Ok(_) => {
                (self.missing, self.gone) = (false, false);
                return Ok(true);
            }
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            Err(error) => return Err(StoreError::io("read", &path, error)),
        }
        let replaced =
            io.stat(&self.dir).is_ok() && (!self.missing || io.stat(&self.dir.join(layout::THEIR_TEMP)).is_ok());
        self.missing = true;
        if !replaced && !self.gone {
            self.gone = true;
            out.push(Followed::Gone);
        }
        Ok(false)
    }

    /// Reads what was added to the live file, or all of it when it is another one. `None` when it is as it was.
    fn read_live(&mut self) -> Result<Option<FileFinding>, StoreError> {
        let path = self.dir.join(layout::LIVE);
        let io = self.store.inner.io.clone();
        let stat = io.stat(&path).ok();
        if stat == self.live_stat {
            return Ok(None);
        }
        let file = match stat.map(|_| io.open(&path, How::Read)) {
            Some(Ok(file)) => Some(file),
            Some(Err(error)) if error.kind() != ErrorKind::NotFound => {
                return Err(StoreError::io("read", &path, error));
            }
            _ => None,
        };
        let error = |e| StoreError::io("read", &path, e);
        let end = stat.map_or(0, |stat| stat.len);
        let from = self.live_read.saturating_sub(self.live_tail.len() as u64);
        let mut bytes = match &file {
            Some(file) => lines::range(&*io, file, from, end).map_err(error)?,
            None => Vec::new(),
        };
        let same_file = stat.map(|stat| stat.ino) == self.live_stat.map(|stat| stat.ino);
        let anew = !same_file || !bytes.starts_with(&self.live_tail);
        // Of an empty file it cannot be told whether it was emptied once more since the beginning.
        let unsure = self.first && self.live_tail.is_empty();
        if anew {
            self.live = Live::default();
            self.live_read = 0;
            self.live_tail.clear();
            if let Some(file) = &file {
                bytes = lines::range(&*io, file, 0, end).map_err(error)?;
            }
        } else {
            bytes.drain(..self.live_tail.len());
        }
        let whole = memchr::memrchr(b'\n', &bytes).map_or(0, |at| at + 1);
        self.live.take_all(&bytes[..whole], &self.dir);
        self.live_read += whole as u64;
        self.live_tail.extend_from_slice(&bytes[..whole]);
        let excess = self.live_tail.len().saturating_sub(LIVE_TAIL);
        self.live_tail.drain(..excess);
        if anew {
            // Not of a file that only grew: its rows may be behind the final ones.
            self.finals.retain(|id, _| self.live.rows.iter().any(|entry| entry.row.id == *id));
        }
        self.live_stat = stat;
        Ok(Some(if anew || unsure { FileFinding::Anew } else { FileFinding::Added }))
    }

    /// Reads the rows that were added. `None` when the file is as it was.
    fn read_rows(&mut self, out: &mut Vec<Followed>) -> Result<Option<FileFinding>, StoreError> {
        let path = self.dir.join(layout::SESSION);
        let io = self.store.inner.io.clone();
        let error = |e| StoreError::io("read", &path, e);
        let Ok(now) = io.stat(&path) else { return Ok(None) };
        let Some(old) = self.stat.filter(|_| self.file.is_some()) else { return Ok(Some(FileFinding::Anew)) };
        if now == old {
            return Ok(None);
        }
        if now.ino != old.ino && !self.moved_on(&*io)? {
            return Ok(Some(FileFinding::Anew));
        }
        let Some(file) = &self.file else { return Ok(Some(FileFinding::Anew)) };
        if now.len < self.read {
            return Ok(Some(FileFinding::Anew));
        }
        let bytes = lines::range(&*io, file, self.read, now.len).map_err(error)?;
        let whole = memchr::memrchr(b'\n', &bytes).map_or(0, |at| at + 1);
        let mut at = self.read;
        for line in bytes[..whole].split_inclusive(|b| *b == b'\n') {
            if !line.trim_ascii().is_empty() {
                for mut row in row::read(line.strip_suffix(b"\n").unwrap_or(line), at, 0, &self.dir).rows {
                    row::settle(&mut row);
                    self.finals.insert(row.id.clone(), at);
                    self.told.retain(|told| told.row.id != row.id);
                    out.push(Followed::Row(Box::new(row)));
                }
            }
            at += line.len() as u64;
        }
        self.read += whole as u64;
        // What was not read yet is looked at again once it is longer.
        self.stat = Some(now);
        Ok(Some(FileFinding::Added))
    }

    /// The file is another one. True when it holds the same rows so far, as after its header was given room.
    fn moved_on(&mut self, io: &dyn Io) -> Result<bool, StoreError> {
        let path = self.dir.join(layout::SESSION);
        let error = |e| StoreError::io("read", &path, e);
        let found = session::find(io, &self.dir)?;
        let (Some(new), Some(old)) = (found.file, &self.file) else { return Ok(false) };
        let read = found.head.body + self.read.saturating_sub(self.body);
        let span = (self.read.saturating_sub(self.body)).min(SAME);
        if found.len < read {
            return Ok(false);
        }
        let before = lines::range(io, old, self.read - span, self.read).map_err(error)?;
        if before != lines::range(io, &new, read - span, read).map_err(error)? {
            return Ok(false);
        }
        // Entries of the live file say where their row may be; the rows moved by as much as the header grew.
        let moved = |at: u64| at.saturating_sub(self.body) + found.head.body;
        self.finals.values_mut().for_each(|at| *at = moved(*at));
        (self.file, self.body, self.read) = (Some(new), found.head.body, read);
        Ok(true)
    }

    /// Tells how the live rows and the queue differ from what was told.
    fn tell_live(&mut self, out: &mut Vec<Followed>) {
        let open = self.live.open_rows(&self.finals);
        for row in &open {
            match self.told.iter_mut().find(|told| told.row.id == row.id) {
                None => {
                    out.push(Followed::Row(Box::new(row.clone())));
                    self.told.push(FollowedRow { row: row.clone(), sure: true });
                }
                Some(told) if told.sure && told.row == *row => {}
                Some(told) => {
                    match live::grown(&told.row, row).filter(|_| told.sure) {
                        Some(add) => out.push(Followed::Delta { id: row.id.clone(), add }),
                        None => out.push(Followed::Row(Box::new(row.clone()))),
                    }
                    *told = FollowedRow { row: row.clone(), sure: true };
                }
            }
        }
        // A final row was taken from this list when it came. What came and went between two calls may have been read.
        let mut gone = std::mem::take(&mut self.live.dropped);
        gone.retain(|id| self.first && !self.finals.contains_key(id));
        gone.extend(self.told.iter().map(|told| told.row.id.clone()));
        gone.retain(|id| open.iter().all(|row| row.id != *id));
        self.told.retain(|told| !gone.contains(&told.row.id));
        gone.dedup();
        out.extend(gone.into_iter().map(Followed::Dropped));
        if self.queue != self.live.queue {
            self.queue.clone_from(&self.live.queue);
            out.push(Followed::Queue(self.queue.clone()));
        }
    }

    fn tell_meta(&mut self, out: &mut Vec<Followed>) -> Result<(), StoreError> {
        let found = match session::find(self.store.io(), &self.dir) {
            Ok(found) => found,
            // It went away just now: the next poll says so.
            Err(StoreError::NoSession { .. }) => return Ok(()),
            Err(error) => return Err(error),
        };
        let mut meta = self.reader().meta(&found);
        if self.live.turn {
            meta.activity = Activity::Running(meta.used);
        }
        meta.held_by = lock::last_holder(self.store.io(), &self.dir.join(layout::LOCK)).map(|holder| holder.words());
        if self.meta.as_ref() != Some(&meta) {
            self.meta = Some(meta.clone());
            out.push(Followed::Meta(Box::new(meta)));
        }
        Ok(())
    }
}

/// Finding about the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileFinding {
    /// Rows may have been added.
    Added,
    /// Another file: read again from its start.
    Anew,
}
