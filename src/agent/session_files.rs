//! One session's files as its actor has them: who may write, what could not be saved yet, and how saving goes.
//!
//! It speaks to the store and to nobody else. What was read becomes a machine in `session`, which tells the clients.

use super::blocking::blocking;
use super::mailbox::{Mailbox, Report};
use crate::domain::message::{Message, UserText};
use crate::domain::notice::{Level, Notice};
use crate::domain::unsaved::{KEPT_IN_MEMORY, Refuge, SAVED_AGAIN, Unsaved};
use crate::domain::{MessageId, SessionId, SessionMeta};
use crate::store::{
    Access, Around, Durability, Elsewhere, FolderWatch, Follower, Health, Journal, LoadedSession, RowPage, Store,
    StoreError, Writer,
};
use serde_json::Value;
use std::time::Duration;
use tokio::net::unix::pipe;
use tokio::sync::watch;

/// Delay before a touched lock is checked.
const LOCK_SETTLES: Duration = Duration::from_millis(250);

/// Rows that are read in any case: among them stands the message that a death left in the queue too.
const FEW: usize = 8;

/// Reason for reporting unsent text at the end.
const DRAFT: &str = "Can't save the unsent text as a draft.";

/// Relation of a session to its files.
#[derive(Debug)]
pub(super) enum FilesState {
    /// Not looked at, or given back when nobody looked.
    Unloaded,
    /// A new session without files; what could not be saved waits here.
    New {
        /// Rows in order.
        unsaved: Vec<Message>,
        /// The user knows that they are not saved.
        told: bool,
    },
    /// Read, and nobody writes, so far as is known. The lock was let go: looking keeps nobody out.
    Seen,
    /// We write.
    Ours(Writer),
    /// Another process writes; its description.
    Theirs(String),
}

/// The files of one session.
#[derive(Debug)]
pub(super) struct SessionFiles {
    store: Store,
    id: SessionId,
    mailbox: Mailbox,
    ownership: FilesState,
    last_health: Option<String>,
}

/// A session as it was read.
pub(super) struct ReadSession {
    pub(super) loaded: LoadedSession,
    pub(super) draft: UserText,
    /// Tells what somebody else does to it from then on.
    pub(super) follower: Option<Follower>,
    /// Says when to ask, where the system does.
    pub(super) news: Option<FolderWatch>,
}

/// Result of asking for the writer.
pub(super) enum Writing {
    /// The writer.
    Ready(Writer),
    /// The session was made on disk for it: with this id, and these rows were not saved before.
    Made(Writer, SessionId, Vec<Message>),
    /// No writer; the notice gives the reason unless it was shown before.
    None(Option<Notice>),
}

impl SessionFiles {
    /// The files of a session that is new, or was not looked at.
    pub(super) fn new(store: Store, id: SessionId, is_new: bool, mailbox: Mailbox) -> Self {
        let ownership =
            if is_new { FilesState::New { unsaved: Vec::new(), told: false } } else { FilesState::Unloaded };
        Self { store, id, mailbox, ownership, last_health: None }
    }

    pub(super) fn ownership(&self) -> &FilesState {
        &self.ownership
    }

    /// The writer, where it is ours already.
    pub(super) fn ours(&self) -> Option<&Writer> {
        match &self.ownership {
            FilesState::Ours(writer) => Some(writer),
            _ => None,
        }
    }

    /// Forgets what was seen: whoever held it may be gone by now, or somebody else may have come. What is ours stays.
    pub(super) fn look_again(&mut self) {
        if matches!(self.ownership, FilesState::Seen | FilesState::Theirs(_)) {
            self.ownership = FilesState::Unloaded;
        }
    }

    /// Reads the session with its last `rows` rows, and asks for its lock. What to do with the answer is said with
    /// [`SessionFiles::take`]. `None` when it failed inside lisle.
    pub(super) async fn load(&self, rows: usize) -> Option<Result<ReadSession, StoreError>> {
        let (store, id) = (self.store.clone(), self.id.clone());
        blocking(move || {
            let rows = rows.max(FEW);
            let news = if store.is_foreign() { None } else { store.news(&id) };
            let mut loaded = store.load(&id, rows)?;
            let follows = match &loaded.access {
                Access::Reader { .. } => true,
                Access::Writer(_) => store.is_foreign() || store.is_remote(),
            };
            let mut follower = None;
            if follows {
                follower = store.follow(&id).ok();
                // Whatever is written from here on is followed, so it has to be read up to here.
                drop(loaded);
                loaded = store.load(&id, rows)?;
            } else if let Some(news) = &news {
                // The lock is ours until what was read is taken: nothing is missed, and our own noise is forgotten.
                follower = store.follow(&id).ok().map(Follower::at_rest);
                news.drain();
            }
            Ok(ReadSession { loaded, draft: store.draft(&id), follower, news })
        })
        .await
    }

    /// Takes what the lock's answer allows, or lets the lock go unless it `stays`. With `first`, the first write of
    /// anything writes these properties too.
    /// Gives what others do with the session, as far as it is known now.
    pub(super) fn take(&mut self, access: Access, first: Option<(SessionMeta, Value)>, stays: bool) -> Elsewhere {
        let mut elsewhere = Elsewhere::Quiet;
        self.ownership = match access {
            Access::Writer(journal) if !stays => {
                elsewhere.clone_from(journal.elsewhere());
                FilesState::Seen
            }
            Access::Writer(mut journal) => {
                elsewhere.clone_from(journal.elsewhere());
                if let Some((meta, own)) = first {
                    journal.prime(meta, own);
                }
                FilesState::Ours(self.spawn(*journal))
            }
            Access::Reader { held_by } => FilesState::Theirs(held_by),
        };
        elsewhere
    }

    fn spawn(&self, journal: Journal) -> Writer {
        let id = journal.id().clone();
        let writer = Writer::spawn(journal);
        pass_on(writer.health(), self.mailbox.clone(), Report::Health);
        pass_on(writer.elsewhere(), self.mailbox.clone(), Report::Elsewhere);
        pass_on(writer.merged(), self.mailbox.clone(), |merged| Report::Merged(merged.map(Box::new)));
        watch_lock(self.store.clone(), id, writer.health(), self.mailbox.clone());
        writer
    }

    /// The word to the user when saving goes otherwise than it did.
    pub(super) fn health(&mut self, health: Health) -> Option<Notice> {
        let (now, hint) = match health {
            Health::Saved => (None, ""),
            Health::Unsaved(why) => (Some(why), KEPT_IN_MEMORY),
            Health::Over(why) => (Some(why), ""),
        };
        if now == self.last_health {
            return None;
        }
        self.last_health.clone_from(&now);
        Some(match now {
            Some(trouble) => Notice::new(Level::Error, trouble).hint(hint),
            None => Notice::new(Level::Info, SAVED_AGAIN),
        })
    }

    /// The writer; with the first write of a new session its files are made.
    pub(super) async fn writer(&mut self, meta: &SessionMeta) -> Writing {
        if let FilesState::Ours(writer) = &self.ownership {
            return Writing::Ready(writer.clone());
        }
        let FilesState::New { unsaved, told } = &mut self.ownership else { return Writing::None(None) };
        let (unsaved, told) = (std::mem::take(unsaved), *told);
        let (store, meta) = (self.store.clone(), meta.clone());
        match blocking(move || store.create(&meta)).await {
            Some(Ok((id, journal))) => {
                let writer = self.spawn(journal);
                self.ownership = FilesState::Ours(writer.clone());
                self.id.clone_from(&id);
                Writing::Made(writer, id, unsaved)
            }
            failed => {
                self.ownership = FilesState::New { unsaved, told: true };
                let why = failed.and_then(Result::err).map_or_else(String::new, |error| trouble(&error).text);
                let notice = Notice::new(Level::Error, format!("Can't save the session: {why}"))
                    .hint("It stays in memory; lisle retries with each message.");
                Writing::None(Some(notice).filter(|_| !told))
            }
        }
    }

    /// The files are not what they were: nothing of them is known any more. What waits to be saved goes on waiting with
    /// the writer that has it.
    pub(super) fn forget(&mut self) {
        self.ownership = FilesState::Unloaded;
    }

    /// Keeps rows of a new session in memory.
    pub(super) fn keep_in_memory(&mut self, rows: Vec<Message>) {
        if let FilesState::New { unsaved, .. } = &mut self.ownership {
            unsaved.extend(rows);
        }
    }

    /// Saves what waits and lets the lock go. After an error everything stays as it was, and the writer goes on trying.
    pub(super) async fn close(&mut self) -> Result<(), StoreError> {
        if let FilesState::Ours(writer) = &self.ownership {
            writer.close().await?;
        }
        self.ownership = FilesState::Unloaded;
        Ok(())
    }

    /// Saves what waits for the last time and lets the lock go. What could not be saved comes back, with where it was put;
    /// `draft` is text that could not be saved either.
    pub(super) async fn end(&mut self, meta: &SessionMeta, draft: UserText) -> Option<Unsaved> {
        let (store, meta) = (self.store.clone(), meta.clone());
        match std::mem::replace(&mut self.ownership, FilesState::Unloaded) {
            FilesState::Ours(writer) => match writer.close().await {
                Ok(()) => blocking(move || draft_alone(&store, &meta, &draft)).await?,
                Err(error) => {
                    let why = trouble(&error).text;
                    match error.salvaged() {
                        // Its writer has ended with this.
                        Some((rows, salvage)) => {
                            let (title, refuge) = (meta.shown_title().to_owned(), Refuge::Salvage(salvage));
                            Some(Unsaved { session: meta.id, title, why, rows, refuge })
                        }
                        None => writer.rescue(why, draft).await,
                    }
                }
            },
            FilesState::New { unsaved, .. } if !unsaved.is_empty() => {
                blocking(move || save_new(&store, &meta, &unsaved, &draft)).await?
            }
            FilesState::New { .. } | FilesState::Unloaded | FilesState::Seen | FilesState::Theirs(_) => {
                blocking(move || draft_alone(&store, &meta, &draft)).await?
            }
        }
    }

    /// Saves what waits and lets the lock go; what was read stays.
    pub(super) async fn rest(&mut self) -> Result<(), StoreError> {
        self.close().await?;
        self.ownership = FilesState::Seen;
        Ok(())
    }

    /// Saves what waits.
    pub(super) async fn flush(&self) -> Result<(), StoreError> {
        match &self.ownership {
            FilesState::Ours(writer) => writer.flush().await,
            _ => Ok(()),
        }
    }

    pub(super) async fn save_draft(&self, draft: UserText) -> Option<Result<(), StoreError>> {
        let (store, id) = (self.store.clone(), self.id.clone());
        blocking(move || store.save_draft(&id, &draft)).await
    }

    /// All rows that the model is to know.
    pub(super) async fn context(&self) -> Option<Result<Vec<Message>, StoreError>> {
        let (store, id) = (self.store.clone(), self.id.clone());
        blocking(move || store.context(&id)).await
    }

    /// Rows around a place.
    pub(super) async fn page_at(&self, at: u64, rows: usize) -> Option<Result<Around, StoreError>> {
        let (store, id) = (self.store.clone(), self.id.clone());
        blocking(move || store.page_at(&id, at, rows)).await
    }

    /// Rows from a place on, and where those behind them begin.
    pub(super) async fn page_after(
        &self,
        cursor: u64,
        rows: usize,
    ) -> Option<Result<(Vec<Message>, Option<u64>), StoreError>> {
        let (store, id) = (self.store.clone(), self.id.clone());
        blocking(move || store.page_after(&id, cursor, rows.max(1))).await
    }

    /// True if a row of this id is in the files. Where they cannot be read, it is not known to be.
    pub(super) async fn holds_message(&self, message: &MessageId) -> bool {
        let (store, id, message) = (self.store.clone(), self.id.clone(), message.clone());
        match blocking(move || store.holds_message(&id, &message)).await {
            Some(Ok(holds)) => holds,
            Some(Err(error)) => {
                tracing::warn!(session = %self.id, %error, "could not look for a message");
                false
            }
            None => false,
        }
    }

    /// Takes the session from whoever has its lock. What to do with it is said with [`SessionFiles::take`].
    pub(super) async fn take_over(&self, rows: usize) -> Option<Result<ReadSession, StoreError>> {
        let (store, id) = (self.store.clone(), self.id.clone());
        blocking(move || {
            let loaded = store.take_over(&id, rows.max(FEW))?;
            Ok(ReadSession { loaded, draft: store.draft(&id), follower: None, news: None })
        })
        .await
    }

    /// Rows before a place.
    pub(super) async fn page(&self, cursor: u64, rows: usize) -> Option<Result<RowPage, StoreError>> {
        let (store, id) = (self.store.clone(), self.id.clone());
        blocking(move || store.page(&id, cursor, rows.max(1))).await
    }
}

/// Tells the actor what a writer says, until one of them ends.
fn pass_on<T: Clone + Send + Sync + 'static>(
    mut news: watch::Receiver<T>,
    mailbox: Mailbox,
    word: impl Fn(T) -> Report + Send + 'static,
) {
    tokio::spawn(async move {
        while news.changed().await.is_ok() {
            let now = news.borrow_and_update().clone();
            if mailbox.report(word(now)).await.is_err() {
                return;
            }
        }
    });
}

/// Passes on that somebody touched the session's lock, as whoever takes it over does, while its writer lives.
fn watch_lock(store: Store, id: SessionId, mut writer: watch::Receiver<Health>, mailbox: Mailbox) {
    tokio::spawn(async move {
        // Each time anew: the file may be another one by now.
        while let Some(news) = store.lock_news(&id) {
            let Ok(news) = pipe::Receiver::from_owned_fd_unchecked(news.into()) else { return };
            let ended = async { while writer.changed().await.is_ok() {} };
            tokio::select! {
                touched = news.readable() => if touched.is_err() { return },
                () = ended => return,
            }
            // Whoever removes the whole session is at it for a moment.
            tokio::time::sleep(LOCK_SETTLES).await;
            if mailbox.report(Report::LockTouched).await.is_err() {
                return;
            }
        }
        // Without news the next write finds out.
    });
}

/// Rows that were not saved before, to a writer that was made for them.
pub(super) async fn save(writer: &Writer, rows: Vec<Message>) -> Result<(), StoreError> {
    if rows.is_empty() { Ok(()) } else { writer.append(rows, Durability::Synced).await }
}

/// The last attempt to make a new session, for rows that only memory has.
fn save_new(store: &Store, meta: &SessionMeta, rows: &[Message], draft: &UserText) -> Option<Unsaved> {
    match store.create(meta) {
        Ok((_, mut journal)) => match journal.append(rows, Durability::Synced).and_then(|()| journal.close()) {
            Ok(()) => draft_alone(store, meta, draft),
            Err(error) => journal.rescue(&trouble(&error).text, draft),
        },
        Err(error) => Some(store.rescue_new(meta, rows, &trouble(&error).text, draft)),
    }
}

/// Puts a text that was not sent into a file of its own, where there is one that could not be saved.
fn draft_alone(store: &Store, meta: &SessionMeta, draft: &UserText) -> Option<Unsaved> {
    (!draft.is_empty()).then(|| store.rescue_new(meta, &[], DRAFT, draft))
}

/// An error of the store as a whole sentence.
pub(super) fn trouble(error: &StoreError) -> Notice {
    Notice::new(Level::Error, format!("{error}."))
}
