//! Spawned sessions that work now, by their parents: how many there may be, and how the parent's mode and end reach them.

use super::progress::ChildLink;
use crate::agent::mailbox::{Control, Mailbox};
use crate::domain::ids::SessionId;
use crate::domain::message::CutBy;
use crate::domain::permission::Mode;
use crate::domain::session::SessionMeta;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Semaphore, oneshot};

/// Number of a session's children that work at a time; others wait for their turn.
const AT_ONCE: usize = 4;
/// Number of children that may work or wait.
const MOST: usize = 16;

/// The children of one session.
#[derive(Debug)]
struct Family {
    gate: Arc<Semaphore>,
    members: Vec<(SessionId, Mailbox)>,
    /// Number including those that wait for their turn.
    count: usize,
    /// What ended the parent's turn the last time.
    cut_by: Option<CutBy>,
}

impl Default for Family {
    fn default() -> Self {
        Self { gate: Arc::new(Semaphore::new(AT_ONCE)), members: Vec::new(), count: 0, cut_by: None }
    }
}

/// A session that was spawned, for the supervisor to start an actor for.
pub(in crate::agent) struct SpawnRequest {
    pub(in crate::agent) meta: SessionMeta,
    pub(in crate::agent) link: Box<ChildLink>,
    pub(in crate::agent) prompt: String,
    /// Told when the actor is there.
    pub(in crate::agent) ready: oneshot::Sender<Mailbox>,
}

/// Spawned sessions that work now, by their parents.
#[derive(Debug, Default)]
pub(in crate::agent) struct Families(Mutex<HashMap<SessionId, Family>>);

impl Families {
    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Family>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The children of this session follow its mode down.
    pub(in crate::agent) fn set_ceiling(&self, parent: &SessionId, mode: Mode) {
        let members: Vec<Mailbox> = {
            let families = self.lock();
            families
                .get(parent)
                .map_or_else(Vec::new, |family| family.members.iter().map(|(_, to)| to.clone()).collect())
        };
        for child in members {
            // One that ended runs nothing.
            let _ = child.control(Control::Ceiling(mode));
        }
    }

    /// A session's turn was ended early: its children end for the same reason.
    pub(in crate::agent) fn cut(&self, parent: &SessionId, by: CutBy) {
        let mut families = self.lock();
        if let Some(family) = families.get_mut(parent) {
            family.cut_by = Some(by);
        }
    }

    /// What ended the turn of the parent; the user, where nobody says.
    pub(in crate::agent) fn cut_by(&self, parent: &SessionId) -> CutBy {
        let families = self.lock();
        families.get(parent).and_then(|family| family.cut_by).unwrap_or(CutBy::User)
    }

    /// A place for one more child; where there is none, a sentence says so.
    pub(in crate::agent) fn join(&self, parent: &SessionId) -> Result<Arc<Semaphore>, String> {
        let mut families = self.lock();
        let family = families.entry(parent.clone()).or_default();
        if family.count >= MOST {
            return Err(format!("{MOST} spawned sessions work or wait already. Wait for their answers first."));
        }
        family.count += 1;
        Ok(family.gate.clone())
    }

    /// A place is given back.
    pub(in crate::agent) fn leave(&self, parent: &SessionId, child: Option<&SessionId>) {
        let mut families = self.lock();
        let Some(family) = families.get_mut(parent) else { return };
        family.count = family.count.saturating_sub(1);
        family.members.retain(|(id, _)| Some(id) != child);
        if family.count == 0 {
            families.remove(parent);
        }
    }

    /// A child is there from now on.
    pub(in crate::agent) fn add(&self, parent: &SessionId, child: &SessionId, to: Mailbox) {
        let mut families = self.lock();
        families.entry(parent.clone()).or_default().members.push((child.clone(), to));
    }
}
