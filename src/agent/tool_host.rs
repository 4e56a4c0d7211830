//! Requests of running calls to the engine: a side request to a model, the sessions, a session for a task.

use super::blocking::blocking;
use super::machine_io::{Input, RunNo, TurnCompany};
use super::mailbox::{Control, Mailbox, Report};
use super::session_ops::SessionOps;
use super::shared_state::Shared;
use super::undo::UndoTarget;
use super::usage_recorder::UsageRecorder;
use crate::domain::permission::Mode;
use crate::domain::property::Properties;
use crate::domain::property_change::PropertyChange;
use crate::domain::session::ThinkingLevel;
use crate::domain::tool::CallFacts;
use crate::domain::{CallId, Message, SessionId, SessionMeta};
use crate::protocol::EngineEvent;
use crate::provider::{Chunk, ConversationItem, ModelRequest, Provider, ProviderError};
use crate::tools::host::{Completion, Host, NotDone, Spawned, Task, WhichModel};
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::oneshot;

/// A longer answer to a question apart is cut off here, in bytes.
const MOST_ANSWER: usize = 200_000;

/// The engine, as calls of one session see it.
#[derive(Clone)]
pub(super) struct ToolHost {
    pub(super) shared: Arc<Shared>,
    pub(super) meta: SessionMeta,
    pub(super) mailbox: Mailbox,
    /// The run that the call belongs to.
    pub(super) run: RunNo,
    /// The mode that the call was decided in.
    pub(super) mode: Mode,
    /// Store for undo of the turn's changes.
    pub(super) undo: UndoTarget,
    /// Company of the turn, and of the sessions that it spawns.
    pub(super) company: TurnCompany,
}

impl ToolHost {
    /// Host for calls of this session.
    pub(super) fn of(
        shared: &Arc<Shared>,
        meta: &SessionMeta,
        mailbox: Mailbox,
        undo: UndoTarget,
        company: TurnCompany,
    ) -> Self {
        Self { shared: shared.clone(), meta: meta.clone(), mailbox, run: RunNo(0), mode: meta.mode, undo, company }
    }

    /// The same for one call.
    pub(super) fn decided(mut self, decided: Decided) -> Self {
        (self.run, self.mode) = (decided.run, decided.mode);
        self
    }

    /// True if the turn may know of a session.
    fn knows(&self, session: &SessionMeta) -> bool {
        let own = |id: &SessionId| *id == self.meta.id;
        !self.company.stranger || own(&session.id) || session.parent.as_ref().is_some_and(|by| own(&by.session))
    }

    /// Refuses a session that the turn may not know of, in the words for one that there is not.
    async fn check(&self, session: &SessionId) -> Result<(), String> {
        if !self.company.stranger || self.sessions().await?.iter().any(|meta| meta.id == *session) {
            return Ok(());
        }
        Err(format!("No session {session} in this workspace. `list_sessions` has the ids."))
    }

    fn recorder(&self) -> Option<UsageRecorder> {
        self.shared.recorder(&self.meta, None)
    }

    /// The connection of the session and the name of the model that is meant.
    fn model(&self, which: &WhichModel) -> Result<(Arc<dyn Provider>, String), String> {
        let connections = &self.shared.setup.connections;
        let known = self.meta.asked().and_then(|name| Some((connections.info(name)?, name)));
        let Some((info, name)) = known else { return Err("No connection in this session.".to_owned()) };
        if let Some(why) = &info.missing {
            return Err(format!("Can't use connection {name}: {why}."));
        }
        let Some(provider) = connections.provider(name) else {
            return Err(format!("This version can't use connection {name}."));
        };
        let own = || self.meta.model.clone().filter(|model| !model.is_empty());
        let model = match which {
            WhichModel::Named(model) => Some(model.clone()),
            WhichModel::Small => Some(info.small_model.clone()).filter(|model| !model.is_empty()).or_else(own),
            WhichModel::Session => own(),
        };
        Ok((provider, model.unwrap_or_else(|| info.default_model.clone())))
    }
}

impl Host for ToolHost {
    fn small_model(&self) -> Option<String> {
        let info = self.shared.setup.connections.info(self.meta.asked()?)?;
        Some(info.small_model.clone()).filter(|model| !model.is_empty() && info.missing.is_none())
    }

    fn complete(&self, wanted: Completion) -> BoxFuture<'static, Result<String, String>> {
        let asked = self.model(&wanted.model);
        let mailbox = self.mailbox.clone();
        let recorder = self.recorder();
        Box::pin(async move {
            let (provider, model) = asked?;
            let request = ModelRequest {
                model: model.clone(),
                system: wanted.system,
                items: vec![ConversationItem::User(wanted.text.into())],
                tools: Vec::new(),
                thinking: ThinkingLevel::Off,
            };
            let answer = answer(provider, request, &model, mailbox, recorder);
            match tokio::time::timeout(wanted.patience, answer).await {
                Ok(answer) => answer.map_err(|error| error.to_string()),
                Err(_) => Err(format!("No response from {model} within {} s.", wanted.patience.as_secs())),
            }
        })
    }

    fn own(&self) -> Option<SessionMeta> {
        Some(self.shared.sessions.meta(&self.meta.id).unwrap_or_else(|| self.meta.clone()))
    }

    fn properties(&self) -> Arc<Properties> {
        self.shared.properties()
    }

    fn sessions(&self) -> BoxFuture<'static, Result<Vec<SessionMeta>, String>> {
        let (host, shared) = (self.clone(), self.shared.clone());
        Box::pin(async move {
            let store = shared.setup.store.clone();
            let listing = blocking(move || store.list()).await.ok_or("Can't list the sessions.")?;
            // What actors know is newer than what files say.
            let live = shared.sessions.metas();
            let mut sessions = listing.sessions;
            for meta in &mut sessions {
                if let Some(now) = live.get(&meta.id) {
                    *meta = now.clone();
                }
            }
            sessions.retain(|meta| host.knows(meta));
            Ok(sessions)
        })
    }

    fn said(&self, session: SessionId, rows: usize) -> BoxFuture<'static, Result<Vec<Message>, String>> {
        let (host, shared) = (self.clone(), self.shared.clone());
        Box::pin(async move {
            host.check(&session).await?;
            if let Some(mailbox) = shared.sessions.mailbox(&session) {
                let (done, flushed) = oneshot::channel();
                if mailbox.control(Control::Flush { done }).is_ok() {
                    // One that ended meanwhile has flushed.
                    let _ = flushed.await;
                }
            }
            let store = shared.setup.store.clone();
            match blocking(move || store.read(&session, rows)).await {
                Some(Ok(seen)) => Ok(seen.rows),
                Some(Err(error)) => Err(error.to_string()),
                None => Err("Can't read the session.".to_owned()),
            }
        })
    }

    fn change(&self, session: SessionId, change: PropertyChange) -> BoxFuture<'static, Result<(), String>> {
        let ops = SessionOps { shared: self.shared.clone(), out: self.shared.out.clone() };
        let host = self.clone();
        Box::pin(async move {
            host.check(&session).await?;
            match ops.change_one(&session, &change).await {
                Ok(Some(meta)) => {
                    ops.out.send(EngineEvent::SessionChanged(Box::new(meta)));
                    Ok(())
                }
                Ok(None) => Ok(()),
                Err(why) => Err(format!("Can't change session {session}: {why}.")),
            }
        })
    }

    fn may_reach(&self, call: CallId, facts: CallFacts) -> BoxFuture<'static, Result<(), String>> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let mailbox = self.mailbox.clone();
        Box::pin(async move {
            let ended = |_| "The session has ended.".to_owned();
            let _waits = Waits { mailbox: mailbox.clone(), number };
            let (done, answer) = oneshot::channel();
            mailbox
                .report(Report::MayReach { number, call, facts: Box::new(facts), done })
                .await
                .map_err(|_| ended(()))?;
            answer.await.map_err(|_| ended(()))?
        })
    }

    fn spawn(&self, task: Task) -> BoxFuture<'static, Result<Spawned, NotDone>> {
        Box::pin(self.clone().raise(task))
    }
}

/// Takes a question back when nobody waits for its answer any more.
struct Waits {
    mailbox: Mailbox,
    number: u64,
}

impl Drop for Waits {
    fn drop(&mut self) {
        let (mailbox, number) = (self.mailbox.clone(), self.number);
        // At the end of the program there is nobody who could be told.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let _ = mailbox.report(Report::Input(Input::NoLongerReaches(number))).await;
            });
        }
    }
}

/// The whole text of one answer; what it used is reported to the actor.
pub(super) async fn answer(
    provider: Arc<dyn Provider>,
    request: ModelRequest,
    model: &str,
    mailbox: Mailbox,
    recorder: Option<UsageRecorder>,
) -> Result<String, ProviderError> {
    let mut chunks = provider.stream(request);
    let (mut text, mut used) = (String::new(), None);
    while let Some(chunk) = chunks.next().await {
        match chunk? {
            Chunk::Text(add) => text.push_str(&add),
            Chunk::Usage(now) => used = Some(now),
            Chunk::Stopped(_) => break,
            _ => {}
        }
        if text.len() > MOST_ANSWER {
            break;
        }
    }
    if let Some(used) = used {
        let only = provider.only().filter(|_| model.is_empty());
        let model = only.as_deref().unwrap_or(model);
        let (_, cost) = provider.figures(model, used);
        if let Some(recorder) = recorder {
            recorder.note(&*provider, model, used);
        }
        // An actor that ended counts no more.
        let _ = mailbox.report(Report::SideUsage(used, cost)).await;
    }
    Ok(text.trim().to_owned())
}

/// The run that a call belongs to, and the mode that it was decided in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decided {
    pub(super) run: RunNo,
    pub(super) mode: Mode,
}
