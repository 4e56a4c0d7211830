//! The list of a workspace that another program writes too: what it makes, renames, changes and deletes there is shown.
//!
//! Sessions that somebody has open here are followed by their actors; everything else is looked at now and then.

use super::blocking::blocking;
use super::session_ops::SessionOps;
use crate::domain::{SessionId, SessionMeta};
use crate::protocol::EngineEvent;
use std::collections::HashMap;
use std::time::{Duration, Instant};
use tokio::task::AbortHandle;

/// Interval of looks at the list …
const EVERY: Duration = Duration::from_secs(2);
/// … but no more than this part of the time goes into it.
const SHARE: u32 = 50;

/// A task that looks at the list until this is dropped.
pub(super) struct ListWatcher(AbortHandle);

impl Drop for ListWatcher {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl ListWatcher {
    /// Begins with what the list has by now.
    pub(super) fn begin(ops: SessionOps) -> Self {
        let task = tokio::spawn(async move {
            let mut known: Option<HashMap<SessionId, SessionMeta>> = None;
            let mut took = Duration::ZERO;
            loop {
                tokio::time::sleep(EVERY.max(took * SHARE)).await;
                let began = Instant::now();
                if let Some(now) = ops.look_at_list().await {
                    if let Some(known) = &known {
                        ops.tell_of_others(known, &now).await;
                    }
                    known = Some(now);
                }
                took = began.elapsed();
            }
        });
        Self(task.abort_handle())
    }
}

impl SessionOps {
    async fn look_at_list(&self) -> Option<HashMap<SessionId, SessionMeta>> {
        let store = self.shared.setup.store.clone();
        let listing = blocking(move || store.list()).await?;
        // A list that could not be read says nothing of who is gone.
        let complete = listing.notices.is_empty() || !listing.sessions.is_empty();
        complete.then(|| listing.sessions.into_iter().map(|meta| (meta.id.clone(), meta)).collect())
    }

    /// Sends what differs between two looks at the list, but for what is open here.
    async fn tell_of_others(&self, before: &HashMap<SessionId, SessionMeta>, now: &HashMap<SessionId, SessionMeta>) {
        for (id, meta) in now {
            let open = self.shared.sessions.is_live(id);
            if !open && before.get(id) != Some(meta) {
                self.out.send(EngineEvent::SessionChanged(Box::new(meta.clone())));
            }
        }
        let gone: Vec<&SessionId> = before.keys().filter(|id| !now.contains_key(*id)).collect();
        if gone.is_empty() {
            return;
        }
        let store = self.shared.setup.store.clone();
        let trashed = blocking(move || store.trash()).await.unwrap_or_default();
        for id in gone {
            let trash = trashed.iter().filter(|one| one.session == *id && !one.cleared).max_by_key(|one| one.deleted);
            let trash = trash.map(|one| one.trash.clone());
            self.out.send(EngineEvent::Deleted { session: id.clone(), trash, pages: 0 });
        }
    }
}
