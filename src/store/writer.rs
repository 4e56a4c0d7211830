//! The thread that owns a session's journal, for async callers.
//!
//! Calls are carried out in the order in which they were made. Text and header changes are gathered for a moment;
//! what could not be saved is tried again by itself. What is worth saving when is the caller's business.

use super::StoreError;
use super::header::Counted;
use super::journal::{Durability, Journal};
use crate::domain::contract::Queued;
use crate::domain::session::SessionMeta;
use crate::domain::{Message, MessageId};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};
use tokio::sync::{oneshot, watch};

/// Streaming text is at most this far ahead of the disk.
const TEXT: Duration = Duration::from_millis(350);
/// A header that may wait is written after this.
const HEADER: Duration = Duration::from_millis(500);
/// What could not be saved is tried again after this.
const RETRY: Duration = Duration::from_secs(3);

/// When a header is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// At once: a person changed it.
    Now,
    /// Within half a second.
    Soon,
}

/// How saving goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Health {
    /// Everything that was given is on disk, or is about to be.
    #[default]
    Saved,
    /// Something waits in memory; why, and what to do.
    Unsaved(String),
}

type Reply = oneshot::Sender<Result<(), StoreError>>;

enum Op {
    Append(Vec<Message>, Durability, Reply),
    Live(Box<Message>, Durability, Reply),
    Grow(MessageId, String),
    DropLive(MessageId, Reply),
    Queue(Vec<Queued>, Reply),
    Turn(bool, Reply),
    Meta(Box<SessionMeta>, Value, Urgency, Reply),
    Flush(Reply),
    Close(Reply),
}

/// The writer of one session. Clones speak to the same thread, which saves everything when the last one is dropped.
#[derive(Clone, Debug)]
pub struct Writer {
    ops: Sender<Op>,
    health: watch::Receiver<Health>,
    counted: watch::Receiver<Counted>,
    dir: PathBuf,
}

impl Writer {
    /// Starts the thread. Where none can be had, every call fails with [`StoreError::Closed`].
    pub fn spawn(journal: Journal) -> Self {
        let (ops, inbox) = channel();
        let (health, health_seen) = watch::channel(Health::Saved);
        let (counted, counted_seen) = watch::channel(journal.counted().clone());
        let dir = journal.dir().to_owned();
        let desk = Desk { journal, health, counted, text: None, header: None, retry: None };
        let started = std::thread::Builder::new()
            .name("lisle-journal".to_owned())
            .stack_size(2 << 20)
            .spawn(move || desk.run(&inbox));
        if let Err(error) = started {
            tracing::error!(%error, "no thread for the writer of {}", dir.display());
        }
        Self { ops, health: health_seen, counted: counted_seen, dir }
    }

    async fn ask(&self, op: impl FnOnce(Reply) -> Op) -> Result<(), StoreError> {
        let closed = || StoreError::Closed { path: self.dir.clone() };
        let (reply, answer) = oneshot::channel();
        self.ops.send(op(reply)).map_err(|_| closed())?;
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
        // A closed writer says so to the next call that has an answer.
        let _ = self.ops.send(Op::Grow(id, add));
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

    /// Writes everything that waits.
    ///
    /// # Errors
    /// As [`Writer::append`].
    pub async fn flush(&self) -> Result<(), StoreError> {
        self.ask(Op::Flush).await
    }

    /// Writes everything that waits, ends the thread and lets the session's lock go. After an error the thread goes
    /// on trying, and so can the caller.
    ///
    /// # Errors
    /// As [`Writer::append`].
    pub async fn close(&self) -> Result<(), StoreError> {
        self.ask(Op::Close).await
    }

    /// How saving goes, now and from now on.
    pub fn health(&self) -> watch::Receiver<Health> {
        self.health.clone()
    }

    /// What the rows say of themselves: how many, the time of the last message, the preview.
    pub fn counted(&self) -> watch::Receiver<Counted> {
        self.counted.clone()
    }
}

struct Desk {
    journal: Journal,
    health: watch::Sender<Health>,
    counted: watch::Sender<Counted>,
    text: Option<Instant>,
    header: Option<Instant>,
    retry: Option<Instant>,
}

impl Desk {
    fn run(mut self, inbox: &Receiver<Op>) {
        loop {
            let due = [self.text, self.header, self.retry].into_iter().flatten().min();
            let op = match due {
                None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(due) => inbox.recv_timeout(due.saturating_duration_since(Instant::now())),
            };
            match op {
                Ok(Op::Close(reply)) => {
                    let closed = self.journal.close();
                    let done = closed.is_ok();
                    self.told(&closed);
                    if done {
                        // The lock goes before the answer, so that whoever waits for it can have the session.
                        drop(self);
                        let _ = reply.send(closed);
                        return;
                    }
                    let _ = reply.send(closed);
                }
                Ok(op) => self.act(op),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    if let Err(error) = self.journal.close() {
                        tracing::error!(%error, "a session was not saved whole");
                    }
                    return;
                }
            }
            // Also after a message: a steady stream of them must not hold back what is due.
            self.tick();
        }
    }

    fn act(&mut self, op: Op) {
        let soon = |slot: &mut Option<Instant>, wait| _ = slot.get_or_insert_with(|| Instant::now() + wait);
        let (done, reply) = match op {
            Op::Grow(id, add) => {
                if self.journal.grow(&id, &add) {
                    soon(&mut self.text, TEXT);
                }
                return;
            }
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
        if is_due(&mut self.text) {
            let written = self.journal.flush_text();
            self.told(&written);
        }
        if is_due(&mut self.header) {
            let saved = self.journal.retry().and_then(|()| self.journal.save_header());
            self.told(&saved);
        }
    }

    /// Passes on how a call went; after a failure it is tried again in a while.
    fn told(&mut self, done: &Result<(), StoreError>) {
        let now = match done {
            Ok(()) if !self.journal.unsaved() => Health::Saved,
            Ok(()) => self.health.borrow().clone(),
            Err(error) => {
                // One that is too long stays so until it changes.
                if !matches!(error, StoreError::HeaderTooLong { .. }) {
                    self.retry.get_or_insert_with(|| Instant::now() + RETRY);
                }
                Health::Unsaved(error.to_string())
            }
        };
        self.health.send_if_modified(|health| {
            let changed = *health != now;
            *health = now;
            changed
        });
        self.counted.send_if_modified(|counted| {
            let changed = counted != self.journal.counted();
            if changed {
                counted.clone_from(self.journal.counted());
            }
            changed
        });
    }
}
