//! Many sessions at once: takes commands from a client and hands them to the actor of their session.
//!
//! It routes and does nothing else; an actor does the work of its session.

mod creations;

use self::creations::{CreationNews, Creations};
use super::asker::Asker;
use super::blocking::blocking;
use super::client_link::{ClientInfo, FromClient, Link};
use super::engine_setup::Setup;
use super::event_outbox::EngineOutbox;
use super::file_gates::FileGates;
use super::hub::{ClientId, ClientNews, Hub};
use super::list_watcher::ListWatcher;
use super::mailbox::{Control, Mailbox, Restore, SHOWN};
use super::model_queries;
use super::registry::SessionRegistry;
use super::scopes;
use super::search::Searching;
use super::session::SessionActor;
use super::session_ops::{BranchPlace, SessionOps};
use super::shared_state::Shared;
use super::spawned::family::{Families, SpawnRequest};
use crate::domain::notice::{Level, Notice};
use crate::domain::property::Properties;
use crate::domain::undo::UndoAim;
use crate::domain::{MessageId, SessionId, SessionMeta};
use crate::protocol::{ClientRequest, Command, Configured, EngineCommand, EngineEvent, ErrorCode, SessionCommand};
use futures_util::FutureExt;
use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot, watch};

/// Requests that may wait for the supervisor.
const REQUESTS: usize = 256;

/// Two crashes of a session that are no more apart have the same cause: it is not reopened by itself a second time.
const CRASHES_APART: Duration = Duration::from_mins(1);

/// Handle of an engine, for whoever owns it. The engine ends with [`Engine::shutdown`], by the command
/// [`EngineCommand::Shutdown`], or once all handles and links are dropped.
#[derive(Clone)]
pub struct Engine {
    hub: Arc<Hub>,
    requests: mpsc::Sender<FromClient>,
    ended: watch::Receiver<bool>,
    running_jobs: Arc<AtomicUsize>,
}

impl Engine {
    /// Connects a client: it is greeted with `EngineEvent::Configured`. After the end its link is closed.
    #[must_use]
    pub fn connect(&self, info: ClientInfo) -> Link {
        let (client, reader) = self.hub.connect(info);
        Link::local(client, self.requests.clone(), reader)
    }

    /// Ends the engine as [`EngineCommand::Shutdown`] does, and waits until everything that can be saved is.
    pub async fn shutdown(&self) {
        self.hub.shut_down();
        self.ended().await;
    }

    /// Number of background jobs that run, in all sessions. The last half second may be missing.
    #[must_use]
    pub fn running_jobs(&self) -> usize {
        self.running_jobs.load(Ordering::Relaxed)
    }

    /// Waits until the engine has ended, whoever ended it.
    pub async fn ended(&self) {
        // A supervisor that is gone has ended, too.
        let _ = self.ended.clone().wait_for(|ended| *ended).await;
    }
}

/// Starts the engine on the current runtime.
#[must_use]
pub fn open(setup: Setup) -> Engine {
    let (requests, asked) = mpsc::channel(REQUESTS);
    let (hub, news) = Hub::new();
    let (end, ended) = watch::channel(false);
    let out = EngineOutbox::new(hub.clone());
    let (spawn_requests, born) = mpsc::unbounded_channel();
    let (creation_news, creations) = mpsc::unbounded_channel();
    let (crashes, crashed) = mpsc::unbounded_channel();
    let running_jobs = Arc::<AtomicUsize>::default();
    let shared = Arc::new(Shared {
        setup,
        hub: hub.clone(),
        sessions: SessionRegistry::default(),
        gates: FileGates::default(),
        workspace: Mutex::default(),
        out: out.clone(),
        intros: Arc::default(),
        spawn_requests,
        families: Families::default(),
        running_jobs: running_jobs.clone(),
    });
    let ops = SessionOps { shared: shared.clone(), out: out.clone() };
    let supervisor = Supervisor {
        out,
        shared,
        ops,
        searches: HashMap::new(),
        listed: false,
        others: None,
        creations: Creations::default(),
        creation_news,
        ends: Vec::new(),
        crashes,
        reopened: HashMap::new(),
        configured: Configured::default(),
        end,
    };
    tokio::spawn(supervisor.work(Inlets { asked, news, born, creations, crashed }));
    Engine { hub, requests, ended, running_jobs }
}

/// News and commands for the supervisor.
struct Inlets {
    asked: mpsc::Receiver<FromClient>,
    news: mpsc::UnboundedReceiver<ClientNews>,
    born: mpsc::UnboundedReceiver<SpawnRequest>,
    creations: mpsc::UnboundedReceiver<CreationNews>,
    crashed: mpsc::UnboundedReceiver<SessionId>,
}

struct Supervisor {
    shared: Arc<Shared>,
    out: EngineOutbox,
    ops: SessionOps,
    /// Searches that run, one a client.
    searches: HashMap<ClientId, Searching>,
    /// A client asked for the list: what is done once for it was done.
    listed: bool,
    /// Watcher of another program's changes.
    others: Option<ListWatcher>,
    /// Keys of new sessions.
    creations: Creations,
    /// News of new sessions that take a while.
    creation_news: mpsc::UnboundedSender<CreationNews>,
    ends: Vec<tokio::task::JoinHandle<()>>,
    /// Sessions whose actor panicked.
    crashes: mpsc::UnboundedSender<SessionId>,
    /// Those that were reopened after a crash, and when.
    reopened: HashMap<SessionId, Instant>,
    /// Greeting of a new client.
    configured: Configured,
    /// Says that the engine has ended.
    end: watch::Sender<bool>,
}

impl Supervisor {
    async fn work(mut self, mut inlets: Inlets) {
        self.configured().await;
        // Whoever is there from the start is greeted before anything else is sent.
        let mut goes_on = true;
        while let Ok(news) = inlets.news.try_recv() {
            goes_on &= self.hear(news);
        }
        if goes_on {
            self.begin_work().await;
        }
        while goes_on {
            goes_on = tokio::select! {
                biased;
                Some(news) = inlets.news.recv() => self.hear(news),
                Some(news) = inlets.creations.recv() => { self.hear_of_creation(news); true }
                Some(request) = inlets.born.recv() => { self.raise(request); true }
                Some(session) = inlets.crashed.recv() => { self.reopen(&session); true }
                from = inlets.asked.recv() => from.is_some_and(|from| self.take(from)),
            };
        }
        self.shutdown(inlets.crashed).await;
    }

    /// Takes news of clients in. False when the engine is to end.
    fn hear(&mut self, news: ClientNews) -> bool {
        match news {
            ClientNews::Connected(client) => {
                let known = self.shared.properties();
                client.answer(
                    0,
                    EngineEvent::Configured(Box::new(self.configured.clone())),
                    self.shared.hub.position(),
                );
                if *known != Properties::default() {
                    client.answer(0, EngineEvent::Properties(Box::new((*known).clone())), self.shared.hub.position());
                }
                tracing::debug!("client {:?} ({}) is connected", client.id(), client.info().name);
            }
            ClientNews::Gone(client, open) => {
                if let Some(mut search) = self.searches.remove(&client) {
                    search.stop();
                }
                for session in open {
                    self.to_actor_of(&session, Control::Gone(client));
                }
            }
            ClientNews::Shutdown => return false,
        }
        true
    }

    /// Takes a request of a client. False when the engine is to end.
    fn take(&mut self, from: FromClient) -> bool {
        let FromClient { client, request: ClientRequest { id, message, command } } = from;
        let command = scopes::within(command, &client.info().scopes, self.shared.setup.settings.mode);
        let needed = scopes::needed(&command);
        let asker = Asker::new(client, id, message);
        if !asker.client().info().scopes.cover(needed) {
            let why = format!("This client is not allowed to do that: it needs the scope {}.", needed.name());
            asker.fail(ErrorCode::Forbidden, why);
            return true;
        }
        let goes_on = command != Command::Engine(EngineCommand::Shutdown);
        self.route(command, Some(asker));
        goes_on
    }

    /// Hands a command to whoever does it. Waits for nothing, so that no session holds up another one.
    fn route(&mut self, command: Command, asker: Option<Asker>) {
        match command {
            Command::Engine(command) => self.engine(command, asker),
            Command::Session { id, command } => self.session(&id, command, asker),
        }
    }

    /// Hands a command to the actor of its session.
    fn session(&mut self, id: &SessionId, command: SessionCommand, asker: Option<Asker>) {
        if command == SessionCommand::Leave {
            return self.to_actor_of(id, Control::Command(command, asker));
        }
        // An actor for each id that somebody makes up would never end.
        if let Some(asker) = asker.as_ref().filter(|asker| asker.client().info().limits.is_some())
            && self.shared.sessions.mailbox(&self.shared.sessions.meant(id)).is_none()
            && !self.shared.setup.store.session_dir(id).is_dir()
        {
            return asker.fail(ErrorCode::Failed, format!("No session {id}"));
        }
        // Only what is listed is opened: the session that has this id.
        if matches!(
            command,
            SessionCommand::Open { .. } | SessionCommand::OpenAt { .. } | SessionCommand::Resume { .. }
        ) {
            self.shared.sessions.know(id);
        }
        self.to(id, Control::Command(command, asker));
    }

    fn engine(&mut self, command: EngineCommand, asker: Option<Asker>) {
        let out = self.out.of(&asker);
        match command {
            EngineCommand::List => self.list(out),
            EngineCommand::Create(new) => self.create(new, out),
            EngineCommand::Rewind { session, at, files } => self.rewind(&session, at, files, out),
            EngineCommand::Models { connection } => {
                model_queries::models(&self.shared.setup.connections, connection, out)
            }
            EngineCommand::AddServer { address } => {
                model_queries::add_server(&self.shared.setup.connections, address, self.out.clone(), out)
            }
            EngineCommand::Figures { connection, models } => {
                model_queries::figures(&self.shared.setup.connections, connection, &models, &out)
            }
            EngineCommand::Levels { connection, model } => {
                model_queries::levels(&self.shared.setup.connections, connection, &model, &out)
            }
            EngineCommand::Remember { text } => self.remember(text),
            EngineCommand::Search { search, query } => {
                let (store, properties) = (self.shared.setup.store.clone(), self.shared.properties());
                let client = asker.as_ref().map_or_else(ClientId::default, Asker::id);
                self.searches.entry(client).or_default().begin(store, properties, search, &query, out);
            }
            EngineCommand::Change { sessions, change } => {
                self.beside(out, |ops, shared| ops.change(shared.sessions.meant_all(&sessions), change))
            }
            EngineCommand::Delete { sessions, now } => {
                let now = now || self.shared.setup.settings.inbox.trash_days == 0;
                self.beside(out, |ops, shared| ops.delete(shared.sessions.meant_all(&sessions), now));
            }
            EngineCommand::Trash => self.beside(out, |ops, _| ops.trash()),
            EngineCommand::Restore { trash } => self.beside(out, |ops, _| ops.restore(trash)),
            EngineCommand::Define(definition) => self.beside(out, |ops, _| ops.define(definition)),
            EngineCommand::Branch { session, at, title } => {
                self.beside(out, |ops, shared| {
                    ops.branch(shared.sessions.meant(&session), at, BranchPlace::Beside(title))
                });
            }
            EngineCommand::Verify { session, repair } => {
                self.beside(out, |ops, shared| ops.verify(shared.sessions.meant(&session), repair))
            }
            EngineCommand::Export { session, to, format } => {
                self.beside(out, |ops, shared| ops.export(shared.sessions.meant(&session), to, format));
            }
            EngineCommand::Import { path, from } => self.beside(out, |ops, _| ops.import(path, from)),
            EngineCommand::Share { session, upload } => {
                self.beside(out, |ops, shared| ops.share(shared.sessions.meant(&session), upload))
            }
            EngineCommand::Audit { session } => {
                self.beside(out, |ops, shared| ops.audit(shared.sessions.meant(&session)))
            }
            EngineCommand::Usage { session } => {
                self.beside(out, |ops, shared| ops.usage(session.map(|session| shared.sessions.meant(&session))));
            }
            // The loop ends with it.
            EngineCommand::Shutdown => {}
        }
    }

    /// Works on whole sessions beside the other commands: it may take a while.
    fn beside<F>(&self, out: EngineOutbox, work: impl FnOnce(SessionOps, &Shared) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let ops = SessionOps { shared: self.shared.clone(), out };
        tokio::spawn(work(ops, &self.shared));
    }

    /// Goes back to a message, after the files were restored where that is wanted.
    fn rewind(&mut self, session: &SessionId, at: MessageId, files: Option<Vec<PathBuf>>, out: EngineOutbox) {
        let restored = files.map(|also| {
            let (done, restored) = oneshot::channel();
            self.to(session, Control::Stop);
            let aim = UndoAim::Since(at.clone());
            self.to(session, Control::Restore(Restore { aim, also, done: Some(done) }));
            restored
        });
        let session = self.shared.sessions.meant(session);
        self.beside(out, |ops, _| async move {
            if let Some(restored) = restored {
                // An actor that ended restores nothing, and has told so.
                let _ = restored.await;
            }
            ops.branch(session, Some(at), BranchPlace::InPlace).await;
        });
    }

    /// Notes what clients are greeted with.
    async fn configured(&mut self) {
        let store = self.shared.setup.store.clone();
        let history = blocking(move || store.history()).await.unwrap_or_default();
        let settings = &self.shared.setup.settings;
        self.configured = Configured {
            workspace: self.shared.setup.store.workspace_name().to_owned(),
            instance: self.shared.hub.instance().to_owned(),
            connections: self.shared.setup.connections.infos(),
            vendors: self.shared.setup.connections.vendors(),
            cycle: settings.cycle.clone(),
            sandbox: settings.sandbox,
            warn_cost: settings.warn_cost,
            history,
        };
    }

    /// Does what is done once, at the start.
    async fn begin_work(&mut self) {
        self.ops.properties().await;
        // What the server tells of its models, their windows above all, is there before it is needed. Only for a screen, and only
        // from a connection that was chosen.
        let preferred = self
            .shared
            .setup
            .connections
            .preferred()
            .filter(|info| !info.offered && info.missing.is_none() && !info.host.is_empty());
        if let Some(info) = preferred.filter(|_| !self.shared.setup.settings.headless) {
            model_queries::models(&self.shared.setup.connections, info.name, self.out.clone());
        }
    }

    fn list(&mut self, out: EngineOutbox) {
        let first = !std::mem::replace(&mut self.listed, true);
        let quick = out.asker().as_ref().map_or(first, |asker| asker.client().asks_for_a_first_list());
        let store = &self.shared.setup.store;
        if first && !self.shared.setup.settings.headless && (store.is_foreign() || store.is_remote()) {
            self.others = Some(ListWatcher::begin(self.ops.clone()));
        }
        let ops = SessionOps { shared: self.shared.clone(), out };
        tokio::spawn(async move {
            let mark = if quick { ops.list_cached().await } else { None };
            let sessions = match mark {
                Some(mark) if ops.list_changed(mark).await => Vec::new(),
                _ => ops.list().await,
            };
            // Files that were changed are seen when a list is asked for; at the start they were read just now.
            if !first {
                ops.properties().await;
            } else if !ops.shared.setup.settings.headless {
                ops.tidy(sessions).await;
            }
        });
    }

    /// A session that a call spawned begins its work.
    fn raise(&mut self, request: SpawnRequest) {
        let SpawnRequest { meta, link, prompt, ready } = request;
        let (id, parent) = (meta.id.clone(), meta.parent.as_ref().map(|parent| parent.session.clone()));
        let mailbox = self.start(id.clone(), Some(meta));
        let mut first = vec![Control::Spawned(link), Control::Command(SessionCommand::send(prompt), None)];
        if let Some(parent) = parent {
            self.shared.families.add(&parent, &id, mailbox.clone());
            // Later changes of the parent's mode are sent; earlier ones are visible here.
            if let Some(mode) = self.shared.mode_of(&parent) {
                first.insert(1, Control::Ceiling(mode));
            }
        }
        for what in first {
            // A fresh actor takes what comes.
            let _ = mailbox.control(what);
        }
        // Whoever spawned it may have ended meanwhile.
        let _ = ready.send(mailbox);
    }

    /// Hands a command to a session, and starts its actor where there is none. Waits for nothing.
    fn to(&mut self, session: &SessionId, command: Control) {
        let session = &self.shared.sessions.meant(session);
        let mailbox = self.shared.sessions.mailbox(session).unwrap_or_else(|| self.start(session.clone(), None));
        if let Err(command) = mailbox.control(command) {
            let mailbox = self.take_over(session);
            // A fresh actor takes what comes.
            let _ = mailbox.control(command);
        }
    }

    /// Puts a new actor in the place of one that panicked, which the log has: the files are whole, the turn in it counts as
    /// interrupted, and nobody waits for it any more.
    fn take_over(&mut self, session: &SessionId) -> Mailbox {
        let text = format!("Session {session} crashed and was reopened.");
        self.out.send(EngineEvent::Notice(Notice::new(Level::Error, text)));
        self.reopened.insert(session.clone(), Instant::now());
        let mailbox = self.start(session.clone(), None);
        let _ = mailbox.control(Control::Command(SessionCommand::Open { rows: SHOWN }, None));
        mailbox
    }

    /// Reopens a session that crashed. One that crashes as soon as it is open stays closed until somebody wants it.
    fn reopen(&mut self, session: &SessionId) {
        let session = &self.shared.sessions.meant(session);
        let taken_over = self.shared.sessions.mailbox(session).is_none_or(|mailbox| !mailbox.is_closed());
        let again = self.reopened.get(session).is_some_and(|at| at.elapsed() < CRASHES_APART);
        if taken_over {
            return;
        }
        if again {
            let text = format!("Session {session} crashed again. Open it to go on.");
            self.out.send(EngineEvent::Notice(Notice::new(Level::Error, text)));
            return;
        }
        self.take_over(session);
    }

    /// Only to an actor that there is.
    fn to_actor_of(&self, session: &SessionId, command: Control) {
        if let Some(mailbox) = self.shared.sessions.mailbox(&self.shared.sessions.meant(session)) {
            // One that ended needs nothing any more.
            let _ = mailbox.control(command);
        }
    }

    fn start(&mut self, session: SessionId, new: Option<SessionMeta>) -> Mailbox {
        let (to, from) = Mailbox::new();
        self.shared.sessions.insert(session.clone(), to.clone());
        let actor = SessionActor::new(self.shared.clone(), session.clone(), new, to.clone());
        self.ends.retain(|end| !end.is_finished());
        let crashes = self.crashes.clone();
        self.ends.push(tokio::spawn(async move {
            // What the actor had is dropped with it, and the next one reads the files.
            if AssertUnwindSafe(actor.work(from)).catch_unwind().await.is_err() {
                tracing::error!("the task of session {session} panicked");
                // An engine that ends reopens nothing.
                let _ = crashes.send(session);
            }
        }));
        to
    }

    fn remember(&self, text: String) {
        let store = self.shared.setup.store.clone();
        tokio::task::spawn_blocking(move || {
            if let Err(error) = store.remember(&text) {
                tracing::warn!(%error, "the input history was not saved");
            }
        });
    }

    async fn shutdown(mut self, mut crashed: mpsc::UnboundedReceiver<SessionId>) {
        self.searches.values_mut().for_each(Searching::stop);
        for mailbox in self.shared.sessions.mailboxes() {
            let _ = mailbox.control(Control::Shutdown);
        }
        for end in self.ends {
            // Its panics are caught.
            let _ = end.await;
        }
        while let Ok(session) = crashed.try_recv() {
            let text = format!("Session {session} crashed while it was closed.");
            self.out.send(EngineEvent::Notice(Notice::new(Level::Error, text)));
        }
        let books = self.shared.setup.books.clone();
        let settled = blocking(move || books.settle().map_err(|error| (error, books.waiting())));
        if let Some(Err((error, waiting))) = settled.await {
            let requests = if waiting == 1 { "1 request" } else { &format!("{waiting} requests") };
            let text = format!("Can't record usage of {requests}: {error}.");
            self.out.send(EngineEvent::Notice(Notice::new(Level::Error, text)));
        }
        self.out.send(EngineEvent::Ended);
        self.shared.hub.end();
        // Nobody may wait for it.
        let _ = self.end.send(true);
    }
}
