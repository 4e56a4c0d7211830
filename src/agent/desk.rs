//! Many sessions at once: takes commands from a client and hands them to the lane of their session.
//!
//! It routes and does nothing else; a lane does the work of its session.

use super::blocking::blocking;
use super::clock::now;
use super::family::{Birth, Families};
use super::lane::Lane;
use super::link::{self, EngineEnd, Link};
use super::mailbox::{SHOWN, ToLane, UndoAsk};
use super::others::Watching;
use super::outbox::{Out, Outbox};
use super::search::Searching;
use super::setup::Setup;
use super::shared::Shared;
use super::whole::{Stands, Whole};
use crate::domain::contract::{Act, Configured, NewSession};
use crate::domain::model::LevelMeaning;
use crate::domain::notice::{Level, Notice};
use crate::domain::session::{ThinkingLevel, TitleFrom};
use crate::domain::undo::UndoAim;
use crate::domain::{Command, ConnectionName, Event, SessionId, SessionMeta};
use crate::provider::figures::built_in;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{mpsc, oneshot};

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
        families: Families::default(),
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
        let now = now();
        let id = self.shared.new_id(now);
        let settings = &self.shared.setup.settings;
        let mode = new.mode.unwrap_or(settings.mode).stricter(self.shared.loosest());
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
            self.shared.families.add(&parent, &id, lane.clone());
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
            let _ = lane.send(ToLane::Open { rows: SHOWN }).await;
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
