//! Properties of a session that nobody has open: its header is read, changed and written under its lock.
//!
//! The rows are not read, but for those that a death left uncounted. What the changes mean is `domain::property_change`'s.

use super::journal::{Journal, Left};
use super::lock::{self, Lock, LockOutcome};
use crate::domain::property_change::PropertyChange;
use crate::domain::session::SessionMeta;
use crate::domain::{At, SessionId};
use crate::store::format::layout;
use crate::store::interop::shadow_log::{Ours, may_lack};
use crate::store::read::session::{self, FoundSession};
use crate::store::{Store, StoreError};

impl Store {
    /// Changes a session that nobody has open, and gives its properties as they are then.
    ///
    /// # Errors
    /// [`StoreError::Held`] when another one writes the session; when there is none, or it cannot be written.
    pub fn change(&self, id: &SessionId, change: &PropertyChange, now: At) -> Result<SessionMeta, StoreError> {
        self.alter(id, |meta| change.apply(meta, now))
    }

    /// The same for any change. Nothing is written when nothing differs and nothing
    /// was left half done. What the rows decide (their number, the
    /// preview, the time of the last message) stays as it is counted, whatever `change` makes of it.
    ///
    /// # Errors
    /// As [`Store::change`].
    pub fn alter(&self, id: &SessionId, change: impl FnOnce(&mut SessionMeta)) -> Result<SessionMeta, StoreError> {
        let (lock, found) = self.hold(id)?;
        let base = self.reader(id).meta(&found);
        let mut meta = base.clone();
        change(&mut meta);
        meta.id = id.clone();
        // A refresh that a death left unfinished is finished: lists read line 1 alone.
        if meta == base && !found.head.unfinished {
            return Ok(base);
        }
        self.rewrite_header(id, lock, found, base, meta)
    }

    /// Writes the header anew although nothing changed, as after the directory got another name.
    pub(in crate::store) fn refresh(&self, id: &SessionId) -> Result<SessionMeta, StoreError> {
        let (lock, found) = self.hold(id)?;
        let base = self.reader(id).meta(&found);
        self.rewrite_header(id, lock, found, base.clone(), base)
    }

    fn rewrite_header(
        &self,
        id: &SessionId,
        lock: Lock,
        found: FoundSession,
        base: SessionMeta,
        meta: SessionMeta,
    ) -> Result<SessionMeta, StoreError> {
        let reader = self.reader(id);
        let dir = reader.dir.clone();
        let counted = reader.up_to_date(&found, &base)?;
        let own = found.head.own.clone();
        // The live file stays as it is: what a death left there is for whoever opens the session.
        let mut left = Left { counted, ..Left::default() };
        let ours = Ours::new(self.clone(), &dir);
        if let Some(last) = ours.last()? {
            left.ours = true;
            left.reconcile = may_lack(&ours, &found, Some(last))?;
        }
        let mut journal = Journal::opened(self.clone(), id.clone(), lock, found, base);
        journal.carry(left, &[]);
        journal.set_meta(meta.clone(), own);
        journal.close()?;
        drop(journal);
        Ok(session::find(self.io(), &dir).map_or(meta, |found| reader.meta(&found)))
    }

    /// Takes the lock of a session that nobody has open, and looks at it.
    pub(in crate::store) fn hold(&self, id: &SessionId) -> Result<(Lock, FoundSession), StoreError> {
        let dir = self.inner.layout.session(id);
        // First: asking for the lock of a session that does not exist would make a file.
        session::find(self.io(), &dir)?;
        let lock = self.lock_briefly(id)?;
        // Once more: whoever held it meanwhile may have changed or moved it.
        let found = session::find(self.io(), &dir)?;
        Ok((lock, found))
    }

    pub(in crate::store) fn lock_briefly(&self, id: &SessionId) -> Result<Lock, StoreError> {
        self.refuse_links(id)?;
        let dir = self.inner.layout.session(id);
        let path = dir.join(layout::LOCK);
        match lock::ask_briefly(&self.inner.io, &path).map_err(|e| StoreError::io("lock", &path, e))? {
            LockOutcome::Granted(lock) => Ok(lock),
            LockOutcome::Held(holder) => Err(StoreError::Held { path: dir, holder }),
        }
    }
}
