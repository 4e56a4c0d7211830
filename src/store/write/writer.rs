//! The thread that owns a session's journal, for async callers.
//!
//! Calls are carried out in the order in which they were made. Text and header changes are gathered for a moment, text
//! without waking the thread; what could not be saved is tried again by itself. Where another program may write the
//! session, the thread looks now and then. After a defect in it the thread goes on to keep and tell what is unsaved
//! (`last`). What is worth saving when is the caller's business.

mod last;

use super::journal::Journal;
use super::ownership::Elsewhere;
use crate::domain::message::UserText;
use crate::domain::session::SessionMeta;
use crate::domain::trash::TrashId;
use crate::domain::unsaved::Unsaved;
use crate::domain::{At, Message, MessageId};
use crate::protocol::Queued;
use crate::store::format::header::Counted;
use crate::store::interop::merge::Merged;
use crate::store::{Durability, StoreError};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{oneshot, watch};

/// Streaming text is at most this far ahead of the disk.
const TEXT: Duration = Duration::from_millis(350);
/// A header that may wait is written after this.
const HEADER: Duration = Duration::from_millis(500);
/// First delay before unsaved content is written again; it doubles with each attempt …
const RETRY: Duration = Duration::from_millis(100);
/// … but at least as often as this.
const RETRY_MOST: Duration = Duration::from_secs(3);
/// Interval of checks of a session that another program may write.
const LOOK: Duration = Duration::from_secs(2);

/// When a header is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// At once: a person changed it.
    Now,
    /// Within half a second.
    Soon,
}

/// Health of saving.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Health {
    /// Everything that was given is on disk, or is about to be.
    #[default]
    Saved,
    /// Content waits in memory; the reason, and what to do.
    Unsaved(String),
    /// Nothing more is saved here; why, and where what came too late is.
    Over(String),
}

type Reply = oneshot::Sender<Result<(), StoreError>>;
/// The answer to the call that closed the session.
type Closed = (Reply, Result<(), StoreError>);

enum Op {
    Append(Vec<Message>, Durability, Reply),
    Live(Box<Message>, Durability, Reply),
    /// Text was gathered.
    Grown,
    DropLive(MessageId, Reply),
    Queue(Vec<Queued>, Reply),
    Turn(bool, Reply),
    Meta(Box<SessionMeta>, Value, Urgency, Reply),
    Clear(At, Arc<OnceLock<TrashId>>, Reply),
    Flush(Reply),
    /// Checks if another process took the session over.
    Mine(Reply),
    Rescue(String, UserText, oneshot::Sender<Option<Unsaved>>),
    Close(Reply),
}

/// Text that was not handed over yet, each row's in one piece where nothing came between.
type Grown = Vec<(MessageId, String)>;

/// A call, and the text that came before it.
type Call = (Grown, Op);

/// The writer of one session. Clones speak to the same thread, which saves everything when the last one is dropped.
#[derive(Clone, Debug)]
pub struct Writer {
    ops: Sender<Call>,
    /// Locked while a call is sent, so that text and calls keep their order.
    grown: Arc<Mutex<Grown>>,
    health: watch::Receiver<Health>,
    counted: watch::Receiver<Counted>,
    elsewhere: watch::Receiver<Elsewhere>,
    merged: watch::Receiver<Option<Merged>>,
    dir: PathBuf,
}

impl Writer {
    /// Starts the thread. Where none can be had, every call fails with [`StoreError::Closed`].
    pub fn spawn(journal: Journal) -> Self {
        let (ops, inbox) = channel();
        let (health, health_seen) = watch::channel(Health::Saved);
        let (counted, counted_seen) = watch::channel(journal.counted().clone());
        let (elsewhere, elsewhere_seen) = watch::channel(journal.elsewhere().clone());
        let (merged, merged_seen) = watch::channel(None);
        let dir = journal.dir().to_owned();
        let grown = Arc::new(Mutex::new(Vec::new()));
        let look = journal.watched().then(Instant::now);
        let desk = WriterThread {
            journal,
            grown: grown.clone(),
            health,
            counted,
            elsewhere,
            merged,
            text: None,
            header: None,
            retry: None,
            wait: RETRY,
            look,
        };
        let started = std::thread::Builder::new()
            .name("lisle-journal".to_owned())
            .stack_size(2 << 20)
            .spawn(move || last::run(desk, &inbox));
        if let Err(error) = started {
            tracing::error!(%error, "no thread for the writer of {}", dir.display());
        }
        Self {
            ops,
            grown,
            health: health_seen,
            counted: counted_seen,
            elsewhere: elsewhere_seen,
            merged: merged_seen,
            dir,
        }
    }

    async fn ask(&self, op: impl FnOnce(Reply) -> Op) -> Result<(), StoreError> {
        let closed = || StoreError::Closed { path: self.dir.clone() };
        let (reply, answer) = oneshot::channel();
        {
            let mut grown = self.grown.lock().unwrap_or_else(PoisonError::into_inner);
            self.ops.send((std::mem::take(&mut *grown), op(reply))).map_err(|_| closed())?;
        }
        answer.await.map_err(|_| closed())?
    }

    /// Adds final rows. Returns when they are on disk.
    ///
    /// # Errors
    /// When they are not yet; they are kept, in order, and tried again. So with every call here.
    pub async fn append(&self, rows: Vec<Message>, durability: Durability) -> Result<(), StoreError> {
        self.ask(|reply| Op::Append(rows, durability, reply)).await
    }

    /// Opens or replaces a row that can still change. Synced for a call that may change something.
    ///
    /// # Errors
    /// As [`Writer::append`].
    pub async fn live(&self, row: Message, durability: Durability) -> Result<(), StoreError> {
        self.ask(|reply| Op::Live(Box::new(row), durability, reply)).await
    }

    /// Adds text to a live row; on disk within 400 ms.
    pub fn grow(&self, id: MessageId, add: String) {
        let mut grown = self.grown.lock().unwrap_or_else(PoisonError::into_inner);
        match grown.last_mut() {
            Some((last, text)) if *last == id => text.push_str(&add),
            Some(_) => grown.push((id, add)),
            None => {
                grown.push((id, add));
                // The first one wakes the thread, which takes all when it is time to. A closed writer says so to the
                // next call that has an answer.
                let _ = self.ops.send((Vec::new(), Op::Grown));
            }
        }
    }

    /// Takes a live row away.
    ///
    /// # Errors
    /// As [`Writer::append`].
    pub async fn drop_live(&self, id: MessageId) -> Result<(), StoreError> {
        self.ask(|reply| Op::DropLive(id, reply)).await
    }

    /// Replaces the queue, forced to the disk.
    ///
    /// # Errors
    /// As [`Writer::append`].
    pub async fn queue(&self, queue: Vec<Queued>) -> Result<(), StoreError> {
        self.ask(|reply| Op::Queue(queue, reply)).await
    }

    /// A turn began, or ended: then everything of it is forced to the disk.
    ///
    /// # Errors
    /// As [`Writer::append`].
    pub async fn turn(&self, started: bool) -> Result<(), StoreError> {
        self.ask(|reply| Op::Turn(started, reply)).await
    }

    /// Sets the session's properties and the engine's own data of it. With [`Urgency::Soon`] it returns at once.
    ///
    /// # Errors
    /// As [`Writer::append`]; [`StoreError::HeaderTooLong`] when there are too many labels.
    pub async fn meta(&self, meta: SessionMeta, own: Value, urgency: Urgency) -> Result<(), StoreError> {
        self.ask(|reply| Op::Meta(Box::new(meta), own, urgency, reply)).await
    }

    /// Takes all messages out of the session, as [`Journal::clear`]; they have the name that comes back in the trash.
    ///
    /// # Errors
    /// When it could not be done; then the session is as it was.
    pub async fn clear(&self, now: At) -> Result<TrashId, StoreError> {
        let name = Arc::new(OnceLock::new());
        let there = name.clone();
        self.ask(|reply| Op::Clear(now, there, reply)).await?;
        name.get().cloned().ok_or_else(|| StoreError::Closed { path: self.dir.clone() })
    }

    /// Writes everything that waits.
    ///
    /// # Errors
    /// As [`Writer::append`].
    pub async fn flush(&self) -> Result<(), StoreError> {
        self.ask(Op::Flush).await
    }

    /// Looks whether somebody took the session over.
    ///
    /// # Errors
    /// [`StoreError::TakenOver`]: nothing more is written.
    pub async fn is_ours(&self) -> Result<(), StoreError> {
        self.ask(Op::Mine).await
    }

    /// Writes everything that waits, ends the thread and lets the session's lock go. After an error the thread goes
    /// on trying, and so can the caller.
    ///
    /// # Errors
    /// As [`Writer::append`].
    pub async fn close(&self) -> Result<(), StoreError> {
        self.ask(Op::Close).await
    }

    /// Puts what the files lack into a file of its own, after [`Writer::close`] failed with `why`; the draft with it, if it
    /// could not be saved. `None` when nothing is missing.
    pub async fn rescue(&self, why: String, draft: UserText) -> Option<Unsaved> {
        let (reply, answer) = oneshot::channel();
        {
            let mut grown = self.grown.lock().unwrap_or_else(PoisonError::into_inner);
            self.ops.send((std::mem::take(&mut *grown), Op::Rescue(why, draft, reply))).ok()?;
        }
        answer.await.ok()?
    }

    /// Health of saving, now and from now on.
    pub fn health(&self) -> watch::Receiver<Health> {
        self.health.clone()
    }

    /// Actions of others on the session, now and from now on.
    pub fn elsewhere(&self) -> watch::Receiver<Elsewhere> {
        self.elsewhere.clone()
    }

    /// Changes of another program in the session's properties, from now on.
    pub fn merged(&self) -> watch::Receiver<Option<Merged>> {
        self.merged.clone()
    }

    /// Counts of the rows: how many, the time of the last message, the preview.
    pub fn counted(&self) -> watch::Receiver<Counted> {
        self.counted.clone()
    }
}

struct WriterThread {
    journal: Journal,
    grown: Arc<Mutex<Grown>>,
    health: watch::Sender<Health>,
    counted: watch::Sender<Counted>,
    elsewhere: watch::Sender<Elsewhere>,
    merged: watch::Sender<Option<Merged>>,
    text: Option<Instant>,
    header: Option<Instant>,
    retry: Option<Instant>,
    /// After how long the next retry comes.
    wait: Duration,
    look: Option<Instant>,
}

impl WriterThread {
    /// Carries calls out until one closes the session, whose answer comes back, or nobody can call any more.
    fn run(&mut self, inbox: &Receiver<Call>) -> Option<Closed> {
        loop {
            let now = Instant::now();
            let due = [self.text, self.header, self.retry, self.look].into_iter().flatten().min();
            let call = match due {
                Some(_) if self.text.is_some_and(|due| due <= now) => self.ready(inbox),
                None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(due) => inbox.recv_timeout(due.saturating_duration_since(now)),
            };
            let op = call.map(|(grown, op)| {
                self.grow(grown);
                op
            });
            match op {
                Ok(Op::Close(reply)) => {
                    let closed = self.journal.close();
                    let done = self.journal.is_closed();
                    self.told(&closed);
                    if done {
                        return Some((reply, closed));
                    }
                    let _ = reply.send(closed);
                }
                Ok(op) => self.act(op),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    let gathered = std::mem::take(&mut *self.grown.lock().unwrap_or_else(PoisonError::into_inner));
                    self.grow(gathered);
                    if let Err(error) = self.journal.close() {
                        self.abandoned(&error);
                    }
                    return None;
                }
            }
            // Also after a message: a steady stream of them must not hold back what is due.
            self.tick();
        }
    }

    /// A call that waits, or, when there is none, the text that was gathered: it came after all calls before it.
    fn ready(&mut self, inbox: &Receiver<Call>) -> Result<Call, RecvTimeoutError> {
        let mut grown = self.grown.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok(call) = inbox.try_recv() {
            return Ok(call);
        }
        let gathered = std::mem::take(&mut *grown);
        drop(grown);
        self.grow(gathered);
        self.text = None;
        let written = self.journal.flush_text();
        self.told(&written);
        Err(RecvTimeoutError::Timeout)
    }

    fn grow(&mut self, grown: Grown) {
        for (id, add) in grown {
            if self.journal.grow(&id, &add) {
                self.text.get_or_insert_with(|| Instant::now() + TEXT);
            }
        }
    }

    fn act(&mut self, op: Op) {
        let soon = |slot: &mut Option<Instant>, wait| _ = slot.get_or_insert_with(|| Instant::now() + wait);
        let (done, reply) = match op {
            Op::Grown => return soon(&mut self.text, TEXT),
            Op::Append(rows, durability, reply) => (self.journal.append(&rows, durability), reply),
            Op::Live(row, durability, reply) => (self.journal.live(*row, durability), reply),
            Op::DropLive(id, reply) => (self.journal.drop_live(&id), reply),
            Op::Queue(queue, reply) => (self.journal.queue(queue), reply),
            Op::Turn(false, reply) => {
                // The end of a turn brings the header up to date, whatever became of the rows.
                let ended = self.journal.turn(false);
                let header = self.journal.save_header();
                (ended.and(header), reply)
            }
            Op::Turn(true, reply) => (self.journal.turn(true), reply),
            Op::Meta(meta, own, urgency, reply) => {
                self.journal.set_meta(*meta, own);
                let done = match urgency {
                    Urgency::Now => self.journal.save_header(),
                    Urgency::Soon => Ok(()),
                };
                (done, reply)
            }
            Op::Clear(now, name, reply) => (self.journal.clear(now).map(|to| _ = name.set(to)), reply),
            Op::Rescue(why, draft, reply) => {
                let _ = reply.send(self.journal.rescue(&why, &draft));
                return;
            }
            Op::Mine(reply) => (self.journal.still_mine(), reply),
            Op::Flush(reply) | Op::Close(reply) => (self.journal.flush(), reply),
        };
        if self.journal.header_due() {
            soon(&mut self.header, HEADER);
        } else {
            self.header = None;
        }
        self.told(&done);
        // A caller that no longer waits is no error.
        let _ = reply.send(done);
    }

    fn tick(&mut self) {
        let now = Instant::now();
        let is_due = |slot: &mut Option<Instant>| slot.take_if(|due| *due <= now).is_some();
        if is_due(&mut self.retry) {
            let tried = self.journal.flush();
            self.told(&tried);
        }
        if is_due(&mut self.look) {
            let looked = self.journal.look();
            self.told(&looked);
            self.look = self.journal.watched().then(|| Instant::now() + LOOK);
        }
        if is_due(&mut self.header) {
            let saved = self.journal.retry().and_then(|()| self.journal.save_header());
            self.told(&saved);
        }
    }

    /// Nothing waits because it failed. After a failure that is said only when the files were looked at.
    fn is_saved(&mut self) -> bool {
        if *self.health.borrow() == Health::Saved {
            return !self.journal.unsaved();
        }
        let whole = self.journal.is_whole();
        if !whole && self.retry.is_none() && self.journal.ownership.lost().is_none() {
            self.retry = Some(Instant::now() + self.wait);
            self.wait = (self.wait * 2).min(RETRY_MOST);
        }
        whole
    }

    /// Passes on how a call went; after a failure it is tried again in a while.
    fn told(&mut self, done: &Result<(), StoreError>) {
        let now = match done {
            Ok(()) if self.is_saved() => {
                self.wait = RETRY;
                Health::Saved
            }
            Ok(()) => self.health.borrow().clone(),
            Err(error) => {
                // One that is too long stays so until it changes; one that was taken over is over.
                let lasts = matches!(error, StoreError::HeaderTooLong { .. } | StoreError::TakenOver { .. });
                if !lasts && self.retry.is_none() {
                    self.retry = Some(Instant::now() + self.wait);
                    self.wait = (self.wait * 2).min(RETRY_MOST);
                }
                if matches!(error, StoreError::TakenOver { .. }) {
                    Health::Over(error.to_string())
                } else {
                    Health::Unsaved(error.to_string())
                }
            }
        };
        self.health.send_if_modified(|health| {
            let changed = *health != now;
            *health = now;
            changed
        });
        self.elsewhere.send_if_modified(|elsewhere| {
            let changed = elsewhere != self.journal.elsewhere();
            if changed {
                elsewhere.clone_from(self.journal.elsewhere());
            }
            changed
        });
        if let Some(merged) = self.journal.take_merged() {
            self.merged.send_replace(Some(merged));
        }
        self.counted.send_if_modified(|counted| {
            let changed = counted != self.journal.counted();
            if changed {
                counted.clone_from(self.journal.counted());
            }
            changed
        });
    }
}
