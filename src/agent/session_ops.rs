//! Operations on whole sessions: changed in batches, deleted, restored, branched, checked. Beside
//! the session actors.
//!
//! A session with an actor is asked for first, so that nobody works on files that somebody here writes; the others are
//! changed where they lie. Errors are reported once, with their sessions.

use super::automatic_labels::AutoLabels;
use super::blocking::blocking;
use super::clock::now;
use super::event_outbox::EngineOutbox;
use super::mailbox::{Control, Mailbox, Released, Running, SHOWN};
use super::session_files::trouble;
use super::shared_state::Shared;
use crate::domain::audit_log::AuditLog;
use crate::domain::export::Format;
use crate::domain::notice::{Level, Notice};
use crate::domain::property::Definition;
use crate::domain::property_change::PropertyChange;
use crate::domain::session::Activity;
use crate::domain::spending::Spending;
use crate::domain::trash::TrashId;
use crate::domain::{At, MessageId, SessionId, SessionMeta};
use crate::local_export::{LocalExport, PicturedExport};
use crate::local_time::day;
use crate::protocol::EngineEvent;
use crate::store::{Exported, HistoryKind, Imported, IndexMark, NotIncluded, Store, StoreError};
use futures_util::future::join_all;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::oneshot;

/// Use of an exported conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExportPurpose {
    /// For the user.
    Keep,
    /// A page for others.
    Share,
    /// Lines that the client uploads.
    Upload,
}

/// Number of headers written side by side: most of their time is the disk's.
const AT_ONCE: usize = 8;
/// Calls in an audit log at most; older ones are only counted.
const MOST_CALLS: usize = 20_000;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Number of sessions named when many could not be changed.
const NAMED: usize = 3;
/// Number of changed sessions up to which they are sent one by one instead of all sessions.
const FEW: usize = 16;

/// Title and place of a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BranchPlace {
    /// Beside the session that it came from, under this title or the next number.
    Beside(Option<String>),
    /// In the place of the session that it came from: the user went back in it.
    InPlace,
}

/// Worker for whole sessions.
#[derive(Clone)]
pub(super) struct SessionOps {
    pub(super) shared: Arc<Shared>,
    pub(super) out: EngineOutbox,
}

/// Error for a session: its id, and the reason as the middle of a sentence.
type Failure = (SessionId, String);

impl SessionOps {
    pub(super) fn store(&self) -> Store {
        self.shared.setup.store.clone()
    }

    // ---- the list ----

    /// Sends what the last list left behind, for the first frame.
    pub(super) async fn list_cached(&self) -> Option<IndexMark> {
        let store = self.store();
        let (sessions, mark) = blocking(move || store.cached()).await.flatten()?;
        self.listed(sessions).await;
        Some(mark)
    }

    /// Sends what is other than what the last list left behind; false where all sessions are to be sent, or known.
    pub(super) async fn list_changed(&self, mark: IndexMark) -> bool {
        if self.shared.setup.settings.inbox.archive_idle_days.is_some() {
            return false;
        }
        let store = self.store();
        let Some(changed) = blocking(move || store.changed_since(mark)).await.flatten() else { return false };
        if changed.len() > FEW {
            return false;
        }
        for meta in changed {
            let live = self.shared.sessions.is_live(&meta.id);
            if !live {
                self.out.send(EngineEvent::SessionChanged(Box::new(meta)));
            }
        }
        true
    }

    /// Reads all sessions and sends them. They come back where somebody wants them.
    pub(super) async fn list(&self) -> Vec<SessionMeta> {
        let store = self.store();
        let Some(listing) = blocking(move || store.list()).await else { return Vec::new() };
        for notice in listing.notices {
            self.out.send(EngineEvent::Notice(notice));
        }
        let wanted = self.shared.setup.settings.inbox.archive_idle_days.is_some();
        let kept = if wanted { listing.sessions.clone() } else { Vec::new() };
        self.listed(listing.sessions).await;
        kept
    }

    /// The session that was made with a key; of several, as a copy by another program leaves, the oldest.
    pub(super) async fn made_with(&self, key: String) -> Option<SessionId> {
        let store = self.store();
        let all = blocking(move || store.list()).await?.sessions;
        let made = all.into_iter().filter(|meta| meta.names.key.as_ref() == Some(&key));
        made.min_by(|a, b| (a.created, &a.id).cmp(&(b.created, &b.id))).map(|meta| meta.id)
    }

    /// Lists the sessions; the actors' state is newer than the files.
    async fn listed(&self, sessions: Vec<SessionMeta>) {
        let live = self.shared.sessions.metas();
        let newest = |meta: SessionMeta| match live.get(&meta.id) {
            Some(now) => SessionMeta { odd: meta.odd, ..now.clone() },
            None => meta,
        };
        let sessions = sessions.into_iter().map(newest).collect();
        self.out.send(EngineEvent::Listed { sessions });
    }

    // ---- what the workspace defines ----

    /// Reads what the workspace defines and tells it where that is news.
    pub(super) async fn properties(&self) {
        let (store, known) = (self.store(), self.shared.properties());
        let read = move || {
            let mut properties = store.properties();
            // Rules that cannot be run are mistakes in the files, too.
            let rules = AutoLabels::new(&properties.labels);
            properties.problems.extend_from_slice(rules.problems());
            properties
        };
        let Some(properties) = blocking(read).await else { return };
        if properties == *known {
            return;
        }
        self.shared.define(properties.clone());
        // One message without a screen has no use for what is wrong with labels, and takes a warning for its end.
        let told = !self.shared.setup.settings.headless;
        for problem in properties.problems.iter().filter(|problem| told && !known.problems.contains(problem)) {
            self.out.send(EngineEvent::Notice(problem.clone()));
        }
        self.out.send(EngineEvent::Properties(Box::new(properties)));
    }

    /// Adds a definition to the workspace's files.
    pub(super) async fn define(self, definition: Definition) {
        let store = self.store();
        match blocking(move || store.define(&definition)).await {
            Some(Ok(())) => self.properties().await,
            Some(Err(error)) => self.out.tell(Some(trouble(&error))),
            None => {}
        }
    }

    // ---- what happens at the start ----

    /// Empties the trash of what is old, and archives what is idle, where the settings say so.
    pub(super) async fn tidy(self, sessions: Vec<SessionMeta>) {
        let inbox = self.shared.setup.settings.inbox.clone();
        let (store, at) = (self.store(), now());
        let older_than = At(at.0.saturating_sub(i64::from(inbox.trash_days).saturating_mul(DAY_MS)));
        if let Some(Err(error)) = blocking(move || store.empty_trash(older_than)).await {
            self.out.tell(Some(trouble(&error)));
        }
        if let Some(days) = inbox.archive_idle_days {
            let idle = idle(&sessions, at, days);
            if !idle.is_empty() {
                self.change(idle, PropertyChange::Archived(true)).await;
            }
        }
    }

    // ---- changes ----

    /// Changes all of them; those that could not be are named in one notice.
    pub(super) async fn change(self, sessions: Vec<SessionId>, change: PropertyChange) {
        let mut failed = Vec::new();
        if let PropertyChange::Name(Some(name)) = &change
            && let Err(why) = self.may_be_named(&sessions, name.clone()).await
        {
            failed.extend(sessions.into_iter().map(|id| (id, why.clone())));
            return self.out.tell(failures("not changed", failed));
        }
        for some in sessions.chunks(AT_ONCE) {
            let done = join_all(some.iter().map(|id| self.change_one(id, &change))).await;
            for (id, done) in some.iter().zip(done) {
                match done {
                    Ok(Some(meta)) => self.out.send(EngineEvent::SessionChanged(Box::new(meta))),
                    Ok(None) => {}
                    Err(why) => failed.push((id.clone(), why)),
                }
            }
        }
        self.out.tell(failures("not changed", failed));
    }

    async fn may_be_named(&self, sessions: &[SessionId], name: String) -> Result<(), String> {
        let [session] = sessions else { return Err("a name is for one session".to_owned()) };
        // Of a session without files yet, which is in no list.
        let taken = |(id, meta): (&SessionId, &SessionMeta)| id != session && meta.names.alias.as_ref() == Some(&name);
        if let Some((other, _)) = self.shared.sessions.metas().iter().find(|one| taken(*one)) {
            return Err(format!("{other} has the name {name:?}"));
        }
        let (store, session) = (self.store(), session.clone());
        blocking(move || store.may_be_named(&session, &name)).await.unwrap_or_else(|| Err("see the log".to_owned()))
    }

    /// `None`: its actor told it.
    pub(super) async fn change_one(
        &self,
        id: &SessionId,
        change: &PropertyChange,
    ) -> Result<Option<SessionMeta>, String> {
        for last in [false, true] {
            if let Some(mailbox) = self.shared.sessions.mailbox(id) {
                let (done, answer) = oneshot::channel();
                let change = change.clone();
                if mailbox.control(Control::Change { change, done }).is_ok()
                    && let Ok(done) = answer.await
                {
                    return done.map(|()| None);
                }
            }
            let (store, at, change, session) = (self.store(), now(), change.clone(), id.clone());
            let _alone = self.shared.gates.enter(id).await;
            match blocking(move || store.change(&session, &change, at)).await {
                // It may have been opened here meanwhile; then its actor does it.
                Some(Err(StoreError::Held { .. })) if !last && self.shared.sessions.mailbox(id).is_some() => {}
                Some(Err(error)) => return Err(why(&error)),
                Some(Ok(meta)) => return Ok(Some(meta)),
                None => return Err("internal error, see the log".to_owned()),
            }
        }
        Err("it is opening".to_owned())
    }

    // ---- the trash ----

    /// Moves them to the trash, or deletes them for good with `at_once`.
    pub(super) async fn delete(self, sessions: Vec<SessionId>, at_once: bool) {
        let (mut failed, mut pages) = (Vec::new(), 0);
        for id in self.with_children(sessions).await {
            match self.delete_one(&id, at_once).await {
                Ok((trash, revoked)) => {
                    pages += revoked;
                    self.out.send(EngineEvent::Deleted { session: id, trash, pages: revoked });
                }
                Err(why) => failed.push((id, why)),
            }
        }
        self.out.tell((pages > 0).then(|| Notice::new(Level::Info, format!("Shared pages revoked: {pages}"))));
        self.out.tell(failures("not deleted", failed));
    }

    /// These sessions, and behind each the ones that it spawned: nobody else would ever find them.
    async fn with_children(&self, sessions: Vec<SessionId>) -> Vec<SessionId> {
        let store = self.store();
        let listed = blocking(move || store.list().sessions).await.unwrap_or_default();
        let mut all = Vec::new();
        for id in sessions {
            let below = listed.iter().filter(|meta| meta.parent.as_ref().is_some_and(|parent| parent.session == id));
            let below: Vec<SessionId> = below.map(|meta| meta.id.clone()).collect();
            for id in std::iter::once(id).chain(below) {
                if !all.contains(&id) {
                    all.push(id);
                }
            }
        }
        all
    }

    async fn delete_one(&self, id: &SessionId, at_once: bool) -> Result<(Option<TrashId>, usize), String> {
        let mailbox = self.shared.sessions.mailbox(id);
        let released = match &mailbox {
            Some(mailbox) => released(mailbox, Running::Stops).await?,
            None => None,
        };
        let (trash, worktree, pages) = match released {
            Some(Released::Nowhere(worktree)) => (None, worktree, 0),
            Some(Released::OnDisk) | None => {
                let (store, at, session) = (self.store(), now(), id.clone());
                let _alone = self.shared.gates.enter(id).await;
                let deleted = blocking(move || {
                    // Its worktree is known only while it is there.
                    let worktree = store.read(&session, 0)?.meta.worktree;
                    if at_once {
                        return Ok((None, worktree, store.delete_now(&session)?));
                    }
                    let gone = store.delete(&session, at)?;
                    Ok((Some(gone.trash), worktree, gone.pages))
                });
                match deleted.await {
                    Some(deleted) => deleted.map_err(|error| why(&error))?,
                    None => return Err("internal error, see the log".to_owned()),
                }
            }
        };
        self.shared.sessions.remove(id);
        if let Some(mailbox) = mailbox {
            // One that ended already needs no end.
            let _ = mailbox.control(Control::Shutdown);
        }
        if let Some(worktree) = worktree {
            self.remove_worktree(id, worktree).await;
        }
        Ok((trash, pages))
    }

    /// Takes them out of the trash.
    pub(super) async fn restore(self, trash: Vec<TrashId>) {
        let mut failed = Vec::new();
        for trash in trash {
            let (store, id) = (self.store(), trash.clone());
            let _alone = match trash.session() {
                Some(session) => Some(self.shared.gates.enter(&session).await),
                None => None,
            };
            match blocking(move || store.restore(&id)).await {
                Some(Ok(meta)) => self.out.send(EngineEvent::SessionChanged(Box::new(meta))),
                Some(Err(error)) => failed.push(format!("{}: {}", trash.0, why(&error))),
                None => failed.push(trash.0),
            }
        }
        if !failed.is_empty() {
            let text = format!("Not restored: {}.", shorten(&failed));
            self.out.tell(Some(Notice::new(Level::Error, text)));
        }
    }

    /// Sends what is in the trash.
    pub(super) async fn trash(self) {
        let store = self.store();
        if let Some(trash) = blocking(move || store.trash()).await {
            self.out.send(EngineEvent::Trash(trash));
        }
    }

    // ---- branches ----

    /// Makes a branch. `rewound`: it takes the session's place, whose turn ends.
    pub(super) async fn branch(self, from: SessionId, at: Option<MessageId>, stands: BranchPlace) {
        let rewound = stands == BranchPlace::InPlace;
        if let Some(mailbox) = self.shared.sessions.mailbox(&from) {
            if rewound {
                // Without the actor nothing runs either.
                let _ = mailbox.control(Control::Stop);
            }
            flushed(&mailbox).await;
        }
        let (store, session, time) = (self.store(), from.clone(), now());
        let made = move || {
            let made = store.branch(&session, at.as_ref(), time)?;
            match stands {
                BranchPlace::InPlace => Ok::<_, StoreError>(made),
                BranchPlace::Beside(title) => Ok(store.title_branch(made, title)),
            }
        };
        match blocking(made).await {
            Some(Ok(meta)) => {
                let to = meta.id.clone();
                self.out.send(EngineEvent::SessionChanged(Box::new(meta)));
                self.out.send(EngineEvent::Branched { from, to, rewound });
            }
            Some(Err(error)) => {
                let text = format!("Can't branch {from}: {error}.");
                self.out.tell(Some(Notice::new(Level::Error, text)));
            }
            None => {}
        }
    }

    // ---- health ----

    /// Looks at a session's files, and repairs them where that is wanted and nothing runs.
    pub(super) async fn verify(self, id: SessionId, repair: bool) {
        let mailbox = self.shared.sessions.mailbox(&id);
        if let Some(mailbox) = &mailbox {
            flushed(mailbox).await;
            if repair && let Err(why) = released(mailbox, Running::Stays).await {
                let text = format!("Can't repair session {id}: {why}.");
                return self.out.tell(Some(Notice::new(Level::Warning, text)));
            }
        }
        let (store, session) = (self.store(), id.clone());
        let report = {
            let _alone = self.shared.gates.enter(&id).await;
            blocking(move || if repair { store.repair(&session) } else { store.verify(&session) }).await
        };
        match report {
            Some(Ok(report)) => self.out.send(EngineEvent::Health(Box::new(report))),
            Some(Err(error)) => {
                let text = format!("Can't check the files of {id}: {error}.");
                self.out.tell(Some(Notice::new(Level::Error, text)));
            }
            None => {}
        }
        if let Some(mailbox) = mailbox.filter(|_| repair) {
            // One that nobody looks at stays as it is.
            let _ = mailbox.control(Control::Reload { rows: SHOWN });
        }
    }

    // ---- files for people ----

    /// Writes a session's conversation to a file.
    pub(super) async fn export(self, id: SessionId, to: Option<PathBuf>, format: Option<Format>) {
        self.written(id, ExportPurpose::Keep, move |store, id| {
            store.export(id, format, to.as_deref(), &PicturedExport)
        })
        .await;
    }

    /// Writes a session's conversation into its own folder: a page, or its lines for an upload.
    pub(super) async fn share(self, id: SessionId, upload: bool) {
        let (format, purpose) = match upload {
            true => (Format::Json, ExportPurpose::Upload),
            false => (Format::Html, ExportPurpose::Share),
        };
        self.written(id, purpose, move |store, id| store.share(id, format, &LocalExport)).await;
    }

    async fn written(
        self,
        id: SessionId,
        purpose: ExportPurpose,
        write: impl FnOnce(&Store, &SessionId) -> Result<Exported, StoreError> + Send + 'static,
    ) {
        if let Some(mailbox) = self.shared.sessions.mailbox(&id) {
            flushed(&mailbox).await;
        }
        let (store, session) = (self.store(), id.clone());
        match blocking(move || write(&store, &session)).await {
            Some(Ok(Exported { path, masked })) => {
                let (shared, upload) = (purpose != ExportPurpose::Keep, purpose == ExportPurpose::Upload);
                self.out.send(EngineEvent::Exported { session: id, path, masked, shared, upload });
            }
            Some(Err(StoreError::NoSession { .. })) => {
                self.out.tell(Some(Notice::new(Level::Info, "No messages in this session yet.")));
            }
            Some(Err(error)) => {
                let text = format!("Can't export the conversation: {error}.");
                self.out.tell(Some(Notice::new(Level::Error, text)));
            }
            None => {}
        }
    }

    /// Makes a session of one of another program.
    pub(super) async fn import(self, path: PathBuf, from: Option<PathBuf>) {
        let at_most = self.shared.loosest().stricter(self.shared.setup.settings.mode);
        let (store, from) = (self.store(), from.unwrap_or_else(|| self.shared.setup.settings.cwd.clone()));
        // A program by its name, where no file has it.
        let program =
            path.to_str().and_then(HistoryKind::parse).filter(|_| from.join(&path).symlink_metadata().is_err());
        if let Some(kind) = program {
            return self.import_all(kind).await;
        }
        let import = || {
            let (store, path, from) = (store.clone(), path.clone(), from.clone());
            blocking(move || store.import(&path, &from, at_most, now()))
        };
        let mut done = import().await;
        // The session of an earlier import is open here: it lets its files go for that.
        let mut mailbox = None;
        if let Some(Err(StoreError::Held { path: dir, .. })) = &done {
            let id = dir.file_name().and_then(|name| SessionId::parse(name.to_string_lossy()).ok());
            mailbox = id.and_then(|id| self.shared.sessions.mailbox(&id));
            if let Some(mailbox) = &mailbox {
                flushed(mailbox).await;
                match released(mailbox, Running::Stays).await {
                    Ok(_) => done = import().await,
                    Err(why) => {
                        let text = format!("Import failed: in the session of the earlier import {why}.");
                        return self.out.tell(Some(Notice::new(Level::Warning, text)));
                    }
                }
            }
        }
        if let Some(mailbox) = mailbox {
            let _ = mailbox.control(Control::Reload { rows: SHOWN });
        }
        match done {
            Some(Ok(Imported { meta, program, left, again })) => {
                let (session, again, left) =
                    (meta.id.clone(), again.map(|again| again.words()), NotIncluded::all(&left));
                self.out.send(EngineEvent::SessionChanged(Box::new(meta)));
                self.out.send(EngineEvent::Imported { session, program: program.to_owned(), left, again });
            }
            Some(Err(error)) => {
                let text = format!("Import failed: {error}.");
                self.out.tell(Some(Notice::new(Level::Error, text)));
            }
            None => {}
        }
    }

    // ---- the audit log ----

    /// Reads the audit log of a session from its rows.
    pub(super) async fn audit(self, id: SessionId) {
        if let Some(mailbox) = self.shared.sessions.mailbox(&id) {
            flushed(&mailbox).await;
        }
        let (store, session) = (self.store(), id.clone());
        let read = blocking(move || {
            let rows = match store.read(&session, usize::MAX) {
                Ok(seen) => seen.rows,
                // Nothing is on disk before the first message.
                Err(StoreError::NoSession { .. }) => Vec::new(),
                Err(error) => return Err(error),
            };
            Ok(AuditLog::of(session, &rows, MOST_CALLS))
        });
        match read.await {
            Some(Ok(log)) => self.out.send(EngineEvent::Audit(Box::new(log))),
            Some(Err(error)) => {
                let text = format!("Can't read the audit log of {id}: {error}.");
                self.out.tell(Some(Notice::new(Level::Error, text)));
            }
            None => {}
        }
    }
}

/// The sessions that nobody wrote in for so many days: never flagged, running or unread ones, nor any that waits for
/// the user.
fn idle(sessions: &[SessionMeta], now: At, days: u32) -> Vec<SessionId> {
    let since = At(now.0.saturating_sub(i64::from(days).saturating_mul(DAY_MS)));
    let is_idle = |meta: &&SessionMeta| {
        let kept = meta.flagged || meta.unread || meta.archived || meta.hidden || meta.plan_pending;
        // One that cannot be read says nothing of its age.
        !kept && meta.last_message > At(0) && meta.last_message < since && meta.activity == Activity::Idle
    };
    sessions.iter().filter(is_idle).map(|meta| meta.id.clone()).collect()
}

/// Asks an actor for its files. `None` when it ended meanwhile.
async fn released(mailbox: &Mailbox, running: Running) -> Result<Option<Released>, String> {
    let (done, answer) = oneshot::channel();
    if mailbox.control(Control::Release { running, done }).is_err() {
        return Ok(None);
    }
    answer.await.map_or(Ok(None), |released| released.map(Some))
}

async fn flushed(mailbox: &Mailbox) {
    let (done, answer) = oneshot::channel();
    if mailbox.control(Control::Flush { done }).is_ok() {
        // An actor that ended has saved everything.
        let _ = answer.await;
    }
}

/// An error as the middle of a sentence.
fn why(error: &StoreError) -> String {
    match error {
        StoreError::Held { holder, .. } => format!("{holder} has it open"),
        error => error.to_string(),
    }
}

/// One notice for all.
fn failures(what: &str, failed: Vec<Failure>) -> Option<Notice> {
    let named: Vec<String> = failed.iter().map(|(id, why)| format!("{id} ({why})")).collect();
    let count = match named.len() {
        0 => return None,
        1 => "1 session".to_owned(),
        many => format!("{many} sessions"),
    };
    Some(Notice::new(Level::Error, format!("{count} {what}: {}.", shorten(&named))))
}

/// The first few, and how many more there are.
fn shorten(all: &[String]) -> String {
    let first = all.get(..NAMED.min(all.len())).unwrap_or_default().join(", ");
    match all.len().saturating_sub(NAMED) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

impl SessionOps {
    // ---- what was used ----

    /// Adds up what requests used.
    pub(super) async fn usage(self, session: Option<SessionId>) {
        let (store, books) = (self.store(), self.shared.setup.books.clone());
        let live: Vec<SessionMeta> = self.shared.sessions.metas().into_values().collect();
        let read = blocking(move || {
            let all = books.read(At(0))?;
            let mut metas = store.list().sessions;
            metas.retain(|meta| live.iter().all(|newer| newer.id != meta.id));
            metas.extend(live);
            Ok::<_, std::io::Error>(Spending::of(&all, &metas, session, &day(now()), day))
        });
        match read.await {
            Some(Ok(spending)) => self.out.send(EngineEvent::Usage(Box::new(spending))),
            Some(Err(error)) => {
                let folder = self.shared.setup.books.folder().display().to_string();
                let text = format!("Can't read usage from {folder}: {error}.");
                self.out.tell(Some(Notice::new(Level::Error, text)));
            }
            None => {}
        }
    }
}
