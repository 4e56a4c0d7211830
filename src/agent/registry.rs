//! Registry of the sessions that have an actor, behind one lock.

use super::mailbox::Mailbox;
use crate::domain::{SessionId, SessionMeta};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Sessions that have an actor, and their ids.
#[derive(Debug, Default)]
pub(super) struct SessionRegistry(Mutex<Sessions>);

#[derive(Debug, Default)]
struct Sessions {
    mailboxes: HashMap<SessionId, Mailbox>,
    /// The properties of live sessions, newer than the files say.
    metas: HashMap<SessionId, SessionMeta>,
    /// Ids that were taken when their sessions were first written, and the ids that those got. Kept until the client uses
    /// the new one: what it sent before it knew must not go to the session that has the old id.
    renamed: HashMap<SessionId, SessionId>,
}

impl SessionRegistry {
    fn lock(&self) -> MutexGuard<'_, Sessions> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    // ---- actors ----

    /// The mailbox of a session, if it has an actor.
    pub(super) fn mailbox(&self, session: &SessionId) -> Option<Mailbox> {
        self.lock().mailboxes.get(session).cloned()
    }

    /// The mailboxes of all actors.
    pub(super) fn mailboxes(&self) -> Vec<Mailbox> {
        self.lock().mailboxes.values().cloned().collect()
    }

    /// A session has an actor from now on.
    pub(super) fn insert(&self, session: SessionId, mailbox: Mailbox) {
        self.lock().mailboxes.insert(session, mailbox);
    }

    /// A session is gone: nothing of it is known any more.
    pub(super) fn remove(&self, session: &SessionId) {
        let mut sessions = self.lock();
        sessions.mailboxes.remove(session);
        sessions.metas.remove(session);
    }

    // ---- properties ----

    /// The properties of a session that is live.
    pub(super) fn meta(&self, session: &SessionId) -> Option<SessionMeta> {
        self.lock().metas.get(session).cloned()
    }

    /// The properties of all live sessions.
    pub(super) fn metas(&self) -> HashMap<SessionId, SessionMeta> {
        self.lock().metas.clone()
    }

    /// True if the registry has newer properties of this session than its files.
    pub(super) fn is_live(&self, session: &SessionId) -> bool {
        self.lock().metas.contains_key(session)
    }

    pub(super) fn set_meta(&self, meta: SessionMeta) {
        self.lock().metas.insert(meta.id.clone(), meta);
    }

    /// The list goes by the files of this session again.
    pub(super) fn forget_meta(&self, session: &SessionId) {
        self.lock().metas.remove(session);
    }

    // ---- ids ----

    /// A session got another id.
    pub(super) fn reidentify(&self, old: &SessionId, new: &SessionId, mailbox: Mailbox) {
        let mut sessions = self.lock();
        sessions.mailboxes.remove(old);
        sessions.mailboxes.insert(new.clone(), mailbox);
        sessions.metas.remove(old);
        sessions.renamed.insert(old.clone(), new.clone());
    }

    /// Whoever names this id means the session that has it now.
    pub(super) fn know(&self, session: &SessionId) {
        self.lock().renamed.remove(session);
    }

    /// Session for an id that a client sent.
    pub(super) fn meant(&self, session: &SessionId) -> SessionId {
        let mut sessions = self.lock();
        // Whoever uses the new id knows of it.
        sessions.renamed.retain(|_, new| new != session);
        sessions.renamed.get(session).unwrap_or(session).clone()
    }

    /// Sessions for ids that a client sent.
    pub(super) fn meant_all(&self, sessions: &[SessionId]) -> Vec<SessionId> {
        sessions.iter().map(|session| self.meant(session)).collect()
    }
}
