//! State that the supervisor, the session actors and their tasks share.

use super::automatic_labels::AutoLabels;
use super::engine_setup::Setup;
use super::event_outbox::EngineOutbox;
use super::file_gates::FileGates;
use super::hub::Hub;
use super::machine::Automatic;
use super::registry::SessionRegistry;
use super::side_requests::enhance::Intros;
use super::spawned::family::{Families, SpawnRequest};
use super::usage_recorder::UsageRecorder;
use crate::domain::property::Properties;
use crate::domain::usage::RequestUsage;
use crate::domain::{At, Mode, SessionId, SessionMeta};
use std::path::Path;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;

/// State shared by all session actors.
pub(super) struct Shared {
    pub(super) setup: Setup,
    /// Clients of the engine.
    pub(super) hub: Arc<Hub>,
    /// Sessions that have an actor.
    pub(super) sessions: SessionRegistry,
    /// Gates to the files of sessions, for those who change them beside their actors.
    pub(super) gates: FileGates,
    /// Statuses, labels and views of the workspace.
    pub(super) workspace: Mutex<Workspace>,
    /// The way out for what is no session's own event.
    pub(super) out: EngineOutbox,
    /// Introductions to repositories, for rewriting drafts.
    pub(super) intros: Intros,
    /// Sessions that calls spawned, for which actors are wanted.
    pub(super) spawn_requests: mpsc::UnboundedSender<SpawnRequest>,
    /// The spawned sessions that work now, by their parents.
    pub(super) families: Families,
    /// Number of background jobs that run, in all sessions.
    pub(super) running_jobs: Arc<AtomicUsize>,
}

/// Definitions of the workspace, and values derived from them.
#[derive(Clone, Default)]
pub(super) struct Workspace {
    pub(super) properties: Arc<Properties>,
    pub(super) automatic: Automatic,
}

impl Shared {
    /// Loosest mode: a workspace of another program has no Execute before the user trusts it.
    pub(super) fn loosest(&self) -> Mode {
        if self.setup.rules.trusts_workspace() { Mode::Execute } else { Mode::Ask }
    }

    /// Usage recorder of a session; `None` if it has no connection.
    pub(super) fn recorder(&self, meta: &SessionMeta, turn: Option<At>) -> Option<UsageRecorder> {
        Some(UsageRecorder {
            books: self.setup.books.clone(),
            workspace: self.setup.store.dir().to_owned(),
            session: meta.id.clone(),
            turn,
            connection: meta.asked().cloned()?,
        })
    }

    /// Mode of a live session.
    pub(super) fn mode_of(&self, session: &SessionId) -> Option<Mode> {
        self.sessions.meta(session).map(|meta| meta.mode)
    }

    /// Cost of the next request's prompt without a cache. `None` if the price is unknown.
    pub(super) fn next_cost(&self, meta: &SessionMeta) -> Option<f64> {
        let name = meta.asked()?;
        let (info, provider) = (self.setup.connections.info(name)?, self.setup.connections.provider(name)?);
        let model = meta.model.as_deref().filter(|model| !model.is_empty()).unwrap_or(&info.default_model);
        let used = RequestUsage { input: meta.usage.context_tokens, ..RequestUsage::default() };
        provider.knows_price(model).then(|| provider.figures(model, used).1)
    }

    pub(super) fn automatic(&self) -> Automatic {
        self.workspace.lock().unwrap_or_else(PoisonError::into_inner).automatic.clone()
    }

    pub(super) fn properties(&self) -> Arc<Properties> {
        self.workspace.lock().unwrap_or_else(PoisonError::into_inner).properties.clone()
    }

    /// The workspace defines this from now on.
    pub(super) fn define(&self, properties: Properties) {
        let by_status = self.setup.settings.inbox.auto_status && !self.setup.store.is_foreign();
        let automatic = Automatic {
            statuses: if by_status { properties.statuses.clone().into() } else { Arc::default() },
            labels: Arc::new(AutoLabels::new(&properties.labels)),
        };
        *self.workspace.lock().unwrap_or_else(PoisonError::into_inner) =
            Workspace { properties: Arc::new(properties), automatic };
    }

    /// An id that no session has.
    pub(super) fn new_id(&self, now: At) -> SessionId {
        loop {
            let id = self.setup.store.fresh_id(now);
            if self.sessions.mailbox(&id).is_none() {
                return id;
            }
        }
    }
}

/// A folder that is no place to work in has no Execute either.
pub(super) fn loosest_in(cwd: &Path) -> Mode {
    if crate::tools::files::classify::is_fit(cwd) { Mode::Execute } else { Mode::Ask }
}
