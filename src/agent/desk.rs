//! Many sessions at once: takes commands from a client and hands them to the lane of their session.
//!
//! It routes and does nothing else; a lane does the work of its session.

use super::children::{Birth, Family};
use super::connections::Connections;
use super::labels::AutoLabels;
use super::lane::{Lane, ToLane, UndoAsk};
use super::link::{self, EngineEnd, Link};
use super::machine::Automatic;
use super::others::Watching;
use super::outbox::Outbox;
use super::rules::RuleBook;
use super::search::Searching;
use super::tally::Tally;
use super::whole::{Out, Stands, Whole};
use crate::domain::contract::{Act, Configured, NewSession};
use crate::domain::model::LevelMeaning;
use crate::domain::notice::{Level, Notice};
use crate::domain::property::Properties;
use crate::domain::session::{ThinkingLevel, TitleFrom};
use crate::domain::undo::UndoAim;
use crate::domain::usage::RequestUsage;
use crate::domain::{At, Command, ConnectionName, Event, Mode, SessionId, SessionMeta};
use crate::provider::figures::built_in;
use crate::store::Store;
use crate::store::usage_log::Books;
use crate::tools::registry::Registry;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{mpsc, oneshot};

/// Parts of the engine. `runtime` and `cli` make them from the configuration.
pub struct Setup {
    /// The workspace's files.
    pub store: Store,
    /// The connections, the default one first.
    pub connections: Connections,
    /// Usage log.
    pub books: Arc<Books>,
    /// The tools.
    pub tools: Registry,
    /// The files of rules.
    pub rules: Arc<dyn RuleBook>,
    /// Settings that the engine goes by.
    pub settings: Settings,
    /// Called when the user chose a connection, so that it is the default next time.
    pub chosen: Box<dyn Fn(&ConnectionName) + Send + Sync>,
}

/// Settings that the engine goes by.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Mode of new sessions.
    pub mode: Mode,
    /// The modes that Shift+Tab goes through.
    pub cycle: Vec<Mode>,
    /// Working directory of new sessions.
    pub cwd: PathBuf,
    /// Requests a turn may make.
    pub requests_per_turn: u32,
    /// Settings that change the mode table.
    pub policy: crate::permit::Policy,
    /// The part of the window, in percent, at which a conversation is compacted by itself; 0 for never.
    pub compact_at: f64,
    /// Prompts stay long in the vendor's cache.
    pub long_cache: bool,
    /// Describe tools to the model in full.
    pub full_tools: bool,
    /// The folder with the user's own project memory and preferences.
    pub config: Option<PathBuf>,
    /// No person to ask.
    pub headless: bool,
    /// Enter steers while a turn runs, instead of queuing.
    pub steer_by_default: bool,
    /// lisle's own folders: protected from the tools.
    pub own_dirs: Vec<PathBuf>,
    /// The own binary, which starts commands.
    pub runner: PathBuf,
    /// Access that the user's settings grant commands.
    pub allowances: Arc<crate::sandbox::Allowances>,
    /// State of the sandbox.
    pub sandbox: crate::domain::permission::Holding,
    /// Automatic changes of sessions.
    pub inbox: Inbox,
    /// Requests that may cost more US dollars are announced.
    pub warn_cost: f64,
    /// Limits of what is kept for undo.
    pub undo: super::undo::UndoSettings,
}

/// Automatic changes of sessions, and the folder of worktrees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inbox {
    /// A session's status follows the work, in a workspace of our own.
    pub auto_status: bool,
    /// Days without a message before a session is archived; `None`: never.
    pub archive_idle_days: Option<u32>,
    /// Days before the trash deletes a session. 0: sessions are deleted at once.
    pub trash_days: u32,
    /// lisle's data folder, in which worktrees are made.
    pub data: PathBuf,
}

impl Default for Inbox {
    fn default() -> Self {
        Self { auto_status: true, archive_idle_days: None, trash_days: 30, data: PathBuf::new() }
    }
}

/// State shared by all session actors.
pub(super) struct Shared {
    pub(super) setup: Setup,
    pub(super) events: mpsc::Sender<crate::domain::Stamped>,
    pub(super) lanes: Mutex<HashMap<SessionId, mpsc::Sender<ToLane>>>,
    /// The properties of live sessions, newer than the files say.
    pub(super) metas: Mutex<HashMap<SessionId, SessionMeta>>,
    /// Ids that were taken when their sessions were first written, and the ids that those got. Kept until the client uses
    /// the new one: what it sent before it knew must not go to the session that has the old id.
    renamed: Mutex<HashMap<SessionId, SessionId>>,
    /// Shared by those who change files without a lane, held alone by a lane that asks for a lock: to it, it would seem
    /// that somebody else had the session open.
    pub(super) apart: Arc<tokio::sync::RwLock<()>>,
    /// Statuses, labels and views of the workspace.
    pub(super) workspace: Mutex<Workspace>,
    /// The way out for what is no session's own event.
    pub(super) out: Out,
    /// Introductions to repositories, for rewriting drafts.
    pub(super) intros: super::enhance::Intros,
    /// Sessions that calls spawned, for which lanes are wanted.
    pub(super) births: mpsc::UnboundedSender<Birth>,
    /// The spawned sessions that work now, by their parents.
    pub(super) families: Mutex<HashMap<SessionId, Family>>,
}

/// Definitions of the workspace, and values derived from them.
#[derive(Clone, Default)]
pub(super) struct Workspace {
    pub(super) properties: Arc<Properties>,
    pub(super) automatic: Automatic,
}

impl Shared {
    /// Usage recorder of a session; `None` if it has no connection.
    pub(super) fn tally(&self, meta: &SessionMeta, turn: Option<At>) -> Option<Tally> {
        Some(Tally {
            books: self.setup.books.clone(),
            workspace: self.setup.store.dir().to_owned(),
            session: meta.id.clone(),
            turn,
            connection: meta.asked().cloned()?,
        })
    }

    /// Cost of the next request's prompt without a cache. `None` if the price is unknown.
    pub(super) fn next_cost(&self, meta: &SessionMeta) -> Option<f64> {
        let name = meta.asked()?;
        let (info, provider) = (self.setup.connections.info(name)?, self.setup.connections.provider(name)?);
        let model = meta.model.as_deref().filter(|model| !model.is_empty()).unwrap_or(&info.default_model);
        let used = RequestUsage { input: meta.usage.context_tokens, ..RequestUsage::default() };
        provider.knows_price(model).then(|| provider.figures(model, used).1)
    }

    /// The task of a session, if it has one.
    pub(super) fn lane(&self, session: &SessionId) -> Option<mpsc::Sender<ToLane>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner).get(session).cloned()
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
            if !self.lanes.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&id) {
                return id;
            }
        }
    }

    /// A session got another id.
    pub(super) fn reidentify(&self, old: &SessionId, new: &SessionId, lane: mpsc::Sender<ToLane>) {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        lanes.remove(old);
        lanes.insert(new.clone(), lane);
        self.metas.lock().unwrap_or_else(PoisonError::into_inner).remove(old);
        self.renamed.lock().unwrap_or_else(PoisonError::into_inner).insert(old.clone(), new.clone());
    }

    /// Whoever names this id means the session that has it now.
    fn know(&self, session: &SessionId) {
        self.renamed.lock().unwrap_or_else(PoisonError::into_inner).remove(session);
    }

    /// A session is gone: nothing of it is known any more.
    pub(super) fn forget(&self, session: &SessionId) {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner).remove(session);
        self.metas.lock().unwrap_or_else(PoisonError::into_inner).remove(session);
    }

    /// Session for an id that a client sent.
    fn meant(&self, session: &SessionId) -> SessionId {
        let mut renamed = self.renamed.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever uses the new id knows of it.
        renamed.retain(|_, new| new != session);
        renamed.get(session).unwrap_or(session).clone()
    }
}

/// Starts the engine on the current runtime and returns the client's end.
#[must_use]
pub fn open(setup: Setup) -> Link {
    let (link, EngineEnd { commands, events }) = link::pair();
    let out = Out::new(Outbox::new(events.clone(), None));
    let (births, born) = mpsc::unbounded_channel();
    let shared = Arc::new(Shared {
        setup,
        events,
        lanes: Mutex::default(),
        metas: Mutex::default(),
        renamed: Mutex::default(),
        apart: Arc::default(),
        workspace: Mutex::default(),
        out: out.clone(),
        intros: Arc::default(),
        births,
        families: Mutex::default(),
    });
    let whole = Whole { shared: shared.clone(), out: out.clone() };
    let desk =
        Desk { out, shared, whole, search: Searching::default(), listed: Listed::No, others: None, ends: Vec::new() };
    tokio::spawn(desk.work(commands, born));
    link
}

struct Desk {
    shared: Arc<Shared>,
    out: Out,
    whole: Whole,
    search: Searching,
    listed: Listed,
    /// Watcher of another program's changes.
    others: Option<Watching>,
    ends: Vec<tokio::task::JoinHandle<()>>,
}

/// State of the list of sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Listed {
    No,
    Yes,
}

impl Desk {
    async fn work(mut self, mut commands: mpsc::Receiver<Command>, mut born: mpsc::UnboundedReceiver<Birth>) {
        self.configured().await;
        let (ready, mut made) = mpsc::unbounded_channel();
        loop {
            let command = tokio::select! {
                command = commands.recv() => command,
                Some(meta) = made.recv() => {
                    self.begin(meta);
                    continue;
                }
                Some(birth) = born.recv() => {
                    self.raise(birth).await;
                    continue;
                }
            };
            let Some(command) = command else { break };
            let whole = self.whole.clone();
            match command {
                Command::List => self.list(),
                Command::Create(new) => {
                    let alone = new.worktree;
                    let meta = self.create(new);
                    if alone {
                        // A checkout of a large repository takes its time.
                        let ready = ready.clone();
                        tokio::spawn(async move {
                            if let Some(meta) = whole.with_worktree(meta).await {
                                // Without a desk there is no session either.
                                let _ = ready.send(meta);
                            }
                        });
                    } else {
                        self.begin(meta);
                    }
                }
                Command::Open { session, rows } => {
                    // Only what is listed is opened: the session that has this id.
                    self.shared.know(&session);
                    self.to(&session, ToLane::Open { rows }).await;
                }
                Command::OpenAt { session, at, rows } => {
                    self.shared.know(&session);
                    self.to(&session, ToLane::OpenAt { at, rows }).await;
                }
                Command::Later { session, cursor, rows } => {
                    self.to(&session, ToLane::Later { cursor, rows }).await;
                }
                Command::Earlier { session, cursor, rows } => {
                    self.to(&session, ToLane::Earlier { cursor, rows }).await;
                }
                Command::Leave { session } => self.to_lane_of(&session, ToLane::Leave).await,
                Command::To { session, act } => self.to(&session, ToLane::Act(act)).await,
                Command::Rules { session } => self.to(&session, ToLane::Rules).await,
                Command::Forget { session, rule, scope } => self.to(&session, ToLane::Forget(*rule, scope)).await,
                Command::Trust { session, request } => self.to(&session, ToLane::Trust(Box::new(request))).await,
                Command::AskKey { session, connection } => self.to(&session, ToLane::AskKey(connection)).await,
                Command::Models { connection } => self.models(connection),
                Command::Figures { connection, models } => self.figures(connection, models).await,
                Command::Levels { connection, model } => self.levels(connection, model).await,
                Command::Enhance { session, number, draft } => {
                    self.to(&session, ToLane::Enhance { number, draft }).await;
                }
                Command::Remember { text } => self.remember(text),
                // What follows is done beside the other commands: it may take a while.
                Command::Change { sessions, change } => {
                    let sessions = self.meant(sessions);
                    tokio::spawn(whole.change(sessions, change));
                }
                Command::Delete { sessions, now } => {
                    let sessions = self.meant(sessions);
                    let now = now || self.shared.setup.settings.inbox.trash_days == 0;
                    tokio::spawn(whole.delete(sessions, now));
                }
                Command::Trash => drop(tokio::spawn(whole.trash())),
                Command::Restore { trash } => drop(tokio::spawn(whole.restore(trash))),
                Command::Define(definition) => drop(tokio::spawn(whole.define(definition))),
                Command::Search { search, query } => {
                    let (store, properties) = (self.shared.setup.store.clone(), self.shared.properties());
                    self.search.begin(store, properties, search, &query, self.out.clone());
                }
                Command::Branch { session, at, title } => {
                    tokio::spawn(whole.branch(self.shared.meant(&session), at, Stands::Beside(title)));
                }
                Command::Rewind { session, at, files } => {
                    let mut restored = None;
                    if let Some(also) = files {
                        let (done, wait) = oneshot::channel();
                        restored = Some(wait);
                        self.to(&session, ToLane::Stop).await;
                        let aim = UndoAim::Since(at.clone());
                        self.to(&session, ToLane::Undo(UndoAsk::Restore { aim, also, done: Some(done) })).await;
                    }
                    let session = self.shared.meant(&session);
                    tokio::spawn(async move {
                        if let Some(restored) = restored {
                            // A lane that ended restores nothing, and has told so.
                            let _ = restored.await;
                        }
                        whole.branch(session, Some(at), Stands::InPlace).await;
                    });
                }
                Command::PlanUndo { session, aim } => self.to(&session, ToLane::Undo(UndoAsk::Plan(aim))).await,
                Command::Undo { session, aim, also } => {
                    self.to(&session, ToLane::Undo(UndoAsk::Restore { aim, also, done: None })).await;
                }
                Command::FilesChanged { session } => self.to(&session, ToLane::Undo(UndoAsk::Changes)).await,
                Command::Context { session } => self.to(&session, ToLane::Context).await,
                Command::Clear { session } => self.to(&session, ToLane::Clear).await,
                Command::Verify { session, repair } => {
                    tokio::spawn(whole.verify(self.shared.meant(&session), repair));
                }
                Command::Export { session, to, format } => {
                    tokio::spawn(whole.export(self.shared.meant(&session), to, format));
                }
                Command::Import { path, from } => {
                    tokio::spawn(whole.import(path, from));
                }
                Command::Share { session } => {
                    tokio::spawn(whole.share(self.shared.meant(&session)));
                }
                Command::Audit { session } => {
                    tokio::spawn(whole.audit(self.shared.meant(&session)));
                }
                Command::Usage { session } => {
                    tokio::spawn(whole.usage(session.map(|session| self.shared.meant(&session))));
                }
                Command::Shutdown => break,
            }
        }
        self.shutdown().await;
    }

    fn meant(&self, sessions: Vec<SessionId>) -> Vec<SessionId> {
        sessions.iter().map(|session| self.shared.meant(session)).collect()
    }

    async fn configured(&mut self) {
        let store = self.shared.setup.store.clone();
        let history = blocking(move || store.history()).await.unwrap_or_default();
        let settings = &self.shared.setup.settings;
        let configured = Configured {
            workspace: self.shared.setup.store.workspace_name().to_owned(),
            connections: self.shared.setup.connections.infos(),
            vendors: self.shared.setup.connections.vendors(),
            cycle: settings.cycle.clone(),
            sandbox: settings.sandbox,
            warn_cost: settings.warn_cost,
            history,
        };
        self.out.send(Event::Configured(Box::new(configured))).await;
        self.whole.properties().await;
        // What the server tells of its models, their windows above all, is there before it is needed. Only for a screen, and only
        // from a connection that was chosen.
        let preferred = self
            .shared
            .setup
            .connections
            .preferred()
            .filter(|info| !info.offered && info.missing.is_none() && !info.host.is_empty());
        if let Some(info) = preferred.filter(|_| !self.shared.setup.settings.headless) {
            self.models(info.name);
        }
    }

    fn list(&mut self) {
        let first = std::mem::replace(&mut self.listed, Listed::Yes) == Listed::No;
        let store = &self.shared.setup.store;
        if first && !self.shared.setup.settings.headless && (store.is_foreign() || store.is_remote()) {
            self.others = Some(Watching::begin(self.whole.clone()));
        }
        let whole = self.whole.clone();
        tokio::spawn(async move {
            let mark = if first { whole.list_cached().await } else { None };
            let sessions = match mark {
                Some(mark) if whole.list_changed(mark).await => Vec::new(),
                _ => whole.list().await,
            };
            // Files that were changed are seen when a list is asked for; at the start they were read just now.
            if !first {
                whole.properties().await;
            } else if !whole.shared.setup.settings.headless {
                whole.tidy(sessions).await;
            }
        });
    }

    /// A session as it is wanted. It has its id though it is not on disk yet.
    fn create(&self, new: NewSession) -> SessionMeta {
        let now = super::lane::now();
        let id = self.shared.new_id(now);
        let settings = &self.shared.setup.settings;
        let mode = new.mode.unwrap_or(settings.mode).stricter(super::lane::loosest(&self.shared));
        let mut meta = SessionMeta::new(id, now, mode, new.cwd.unwrap_or_else(|| settings.cwd.clone()));
        let connections = &self.shared.setup.connections;
        meta.connection = new.connection.or_else(|| connections.preferred().map(|info| info.name));
        meta.thinking = new.thinking.unwrap_or_default();
        meta.labels = new.labels;
        if let Some(title) = new.title.filter(|title| !title.trim().is_empty()) {
            (meta.title, meta.title_from) = (title, TitleFrom::User);
        }
        meta.model = new.model.or_else(|| {
            let info = meta.asked().and_then(|name| connections.info(name))?;
            Some(info.default_model).filter(|model| !model.is_empty())
        });
        meta
    }

    /// A session that a call spawned begins its work.
    async fn raise(&mut self, birth: Birth) {
        let Birth { meta, raised, prompt, ready } = birth;
        let (id, parent) = (meta.id.clone(), meta.parent.as_ref().map(|parent| parent.session.clone()));
        let lane = self.start(id.clone(), Some(meta));
        let mut first = vec![ToLane::Raised(raised), ToLane::Act(Act::send(prompt))];
        if let Some(parent) = parent {
            self.shared.raise(&parent, &id, lane.clone());
            // Later changes of the parent's mode are sent; earlier ones are visible here.
            if let Some(mode) = self.shared.mode_of(&parent) {
                first.insert(1, ToLane::Ceiling(mode));
            }
        }
        for what in first {
            // A fresh lane has room.
            let _ = lane.send(what).await;
        }
        // Whoever spawned it may have ended meanwhile.
        let _ = ready.send(lane);
    }

    fn begin(&mut self, meta: SessionMeta) {
        let lane = self.start(meta.id.clone(), Some(meta));
        // A fresh lane has room.
        let _ = lane.try_send(ToLane::Open { rows: 0 });
    }

    async fn to(&mut self, session: &SessionId, what: ToLane) {
        let session = &self.shared.meant(session);
        let lane = self.shared.lane(session);
        let lane = lane.unwrap_or_else(|| self.start(session.clone(), None));
        if let Err(mpsc::error::SendError(what)) = lane.send(what).await {
            // Its task died of a defect; the log has it. The files are whole, so a new one takes over.
            let text = format!("The session {session} ended inside lisle and was opened again.");
            self.out.send(Event::Notice(Notice::new(Level::Error, text))).await;
            let lane = self.start(session.clone(), None);
            let _ = lane.send(ToLane::Open { rows: super::lane::SHOWN }).await;
            let _ = lane.send(what).await;
        }
    }

    /// Only to a lane that there is.
    async fn to_lane_of(&self, session: &SessionId, what: ToLane) {
        if let Some(lane) = self.shared.lane(&self.shared.meant(session)) {
            // One that ended needs nothing any more.
            let _ = lane.send(what).await;
        }
    }

    fn start(&mut self, session: SessionId, new: Option<SessionMeta>) -> mpsc::Sender<ToLane> {
        let (to, from) = mpsc::channel(256);
        self.shared.lanes.lock().unwrap_or_else(PoisonError::into_inner).insert(session.clone(), to.clone());
        let lane = Lane::new(self.shared.clone(), session, new, to.clone());
        self.ends.retain(|end| !end.is_finished());
        self.ends.push(tokio::spawn(lane.work(from)));
        to
    }

    fn models(&self, connection: ConnectionName) {
        let connections = self.shared.setup.connections.clone();
        let provider = connections.provider(&connection);
        let out = self.out.clone();
        tokio::spawn(async move {
            let models = match provider {
                Some(provider) => provider.models().await.map_err(|error| error.to_string()),
                None => Err(format!("There is no connection named {connection} here.")),
            };
            let learned = models.as_ref().is_ok_and(|models| connections.learn(&connection, models));
            if learned {
                out.send(Event::Connections(connections.infos())).await;
            }
            out.send(Event::Models { connection, models }).await;
        });
    }

    /// Figures of models, also of a connection that cannot be used yet.
    async fn figures(&self, connection: ConnectionName, models: Vec<String>) {
        let provider = self.shared.setup.connections.provider(&connection);
        let known = |model: &String| match &provider {
            Some(provider) => provider.known(model).told(model),
            None => built_in(model).told(model),
        };
        let models = models.iter().map(known).collect();
        self.out.send(Event::Figures { connection, models }).await;
    }

    async fn levels(&self, connection: ConnectionName, model: String) {
        let Some(provider) = self.shared.setup.connections.provider(&connection) else { return };
        let meaning = |level| LevelMeaning { level, meaning: provider.level(&model, level) };
        let levels = ThinkingLevel::ALL.into_iter().map(meaning).collect();
        self.out.send(Event::Levels { connection, model, levels }).await;
    }

    fn remember(&self, text: String) {
        let store = self.shared.setup.store.clone();
        tokio::task::spawn_blocking(move || {
            if let Err(error) = store.remember(&text) {
                tracing::warn!(%error, "the input history was not saved");
            }
        });
    }

    async fn shutdown(mut self) {
        self.search.stop();
        let lanes: Vec<_> =
            self.shared.lanes.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        for lane in lanes {
            let _ = lane.send(ToLane::Shutdown).await;
        }
        for end in self.ends {
            if let Err(error) = end.await {
                tracing::error!(%error, "a session's task ended badly");
                let notice = Notice::new(Level::Error, format!("A session's task ended badly: {error}"));
                self.out.send(Event::Notice(notice)).await;
            }
        }
        let books = self.shared.setup.books.clone();
        let settled = blocking(move || books.settle().map_err(|error| (error, books.waiting())));
        if let Some(Err((error, waiting))) = settled.await {
            let requests = if waiting == 1 { "1 request" } else { &format!("{waiting} requests") };
            let text = format!("What {requests} used was not written down: {error}.");
            self.out.send(Event::Notice(Notice::new(Level::Error, text))).await;
        }
        self.out.send(Event::Ended).await;
    }
}

/// Runs file work off the async threads; `None` only if it panicked, which is logged.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(value) => Some(value),
        Err(error) => {
            tracing::error!(%error, "file work ended badly");
            None
        }
    }
}
