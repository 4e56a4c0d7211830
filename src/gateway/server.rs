//! The gateway process: accepts connections, opens engines on demand, knows its clients, and ends.
//!
//! One connection is left to `connection`.

use super::access::NetworkAccess;
use super::client_state::ClientState;
use super::connection::{self, Door};
use super::frame::{FrameReader, LONGEST_FIRST};
use super::handshake::Connect;
use super::home::{self, OwnError, OwnedHome};
use super::methods::{ClientShown, HttpShown, Status};
use super::session_lists::SessionLists;
use super::shares::SharedPages;
use super::tokens::TokenFile;
use crate::agent::prompt_files::PromptFolders;
use crate::agent::{self, Engine, Setup};
use crate::channels::{ChannelEngines, Channels, EngineFuture};
use crate::domain::session::Activity;
use crate::domain::workspace::Workspace;
use crate::protocol::{self, Scopes};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::net::UnixListener;
use tokio::sync::watch;

/// A client that lost its line is kept so long.
const PARKED: Duration = Duration::from_secs(60);
/// Interval at which the socket and the clients are looked at.
const LOOK: Duration = Duration::from_secs(1);
/// Time for each engine to save and end.
const LAST_SAVE: Duration = Duration::from_secs(8);
/// Time for the last events to reach the clients.
const LAST_EVENTS: Duration = Duration::from_millis(300);
/// Connections at a time: more are closed at once.
const MOST_CONNECTIONS: usize = 1_000;
/// Clients whose request numbers are remembered after they left.
const REMEMBERED: usize = 1_000;

/// Opens workspaces.
pub trait WorkspaceOpener: Send + Sync {
    /// The folder that a client means; `None` for the one that was used last.
    ///
    /// # Errors
    /// A sentence.
    fn folder(&self, named: Option<&Path>) -> Result<PathBuf, String>;

    /// The workspaces that there are.
    fn list(&self) -> Vec<Workspace>;

    /// Parts of an engine for a folder.
    ///
    /// # Errors
    /// A sentence.
    fn setup(&self, folder: &Path) -> Result<Setup, String>;

    /// Named texts of a workspace.
    ///
    /// # Errors
    /// A sentence.
    fn prompts(&self, folder: &Path) -> Result<PromptFolders, String>;
}

/// Settings of a gateway.
pub struct ServeOptions {
    /// Opens workspaces.
    pub workspaces: Arc<dyn WorkspaceOpener>,
    /// Ends after this time without clients and without turns.
    pub idle_exit: Option<Duration>,
    /// Ways in beside the socket.
    pub listeners: Vec<Box<dyn Listener>>,
    /// Channels of messages.
    pub channels: Channels,
}

/// Way in beside the socket, which is bound already.
pub trait Listener: Send {
    /// Way in, for the state of the gateway.
    fn shown(&self) -> HttpShown;

    /// Accepts clients until the runtime ends.
    fn start(self: Box<Self>, gateway: Arc<Gateway>);
}

/// Why a gateway ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopTime {
    No,
    WhenIdle,
    Now,
}

/// The gateway, as its connections share it.
pub struct Gateway {
    pub(super) instance: String,
    pub(super) secret: String,
    pub(super) owner: home::Owner,
    /// Clients over the network.
    pub(super) access: NetworkAccess,
    /// Channels of messages.
    pub(super) channels: Channels,
    /// Way in over the network, and for readers of shared pages.
    pub(super) http: Option<HttpShown>,
    shares: Option<HttpShown>,
    began: Instant,
    workspaces: Arc<dyn WorkspaceOpener>,
    engines: tokio::sync::Mutex<HashMap<PathBuf, Engine>>,
    shared: Mutex<SharedClients>,
    /// Sessions of the open workspaces.
    pub(super) lists: SessionLists,
    /// Requests over the network that are answered now, and the end of the last one.
    visits: Mutex<Visits>,
    pub(super) stop: watch::Sender<StopTime>,
}

#[derive(Default)]
struct SharedClients {
    all: HashMap<String, Arc<ClientState>>,
    /// Request numbers taken from clients that were forgotten, oldest first.
    taken: Vec<(String, u64)>,
    connections: usize,
    open: Vec<PathBuf>,
}

#[derive(Debug, Default)]
struct Visits {
    now: usize,
    last: Option<Instant>,
}

/// A request over the network, as long as it is answered: the gateway is not idle meanwhile.
pub(super) struct Visit(Arc<Gateway>);

impl Visit {
    pub fn new(gateway: &Arc<Gateway>) -> Self {
        gateway.visits().now += 1;
        Self(gateway.clone())
    }
}

impl Visit {
    /// The gateway that is visited.
    pub fn gateway(&self) -> &Gateway {
        &self.0
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        let mut visits = self.0.visits();
        visits.now -= 1;
        visits.last = Some(Instant::now());
    }
}

/// Engines for the channels. They do not keep the gateway.
struct GatewayEngines(Weak<Gateway>);

impl ChannelEngines for GatewayEngines {
    fn engine(&self, folder: PathBuf) -> EngineFuture<'_> {
        Box::pin(async move {
            match self.0.upgrade() {
                Some(gateway) => gateway.engine(&folder).await,
                None => Err("The gateway is ending.".to_owned()),
            }
        })
    }
}

/// Counts a connection as long as it lives.
struct Counted(Arc<Gateway>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.shared().connections -= 1;
    }
}

/// Client that a connection goes on with.
pub(super) struct Seated {
    pub client: Arc<ClientState>,
    pub resumed: bool,
}

impl Gateway {
    fn shared(&self) -> MutexGuard<'_, SharedClients> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn visits(&self) -> MutexGuard<'_, Visits> {
        self.visits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The client that connects: the one whose line was lost, if it can go on, else a new one.
    pub(super) fn seat(&self, connect: &Connect, scopes: Scopes) -> Seated {
        let mut shared = self.shared();
        let id = &connect.client.id;
        let before = shared.all.get(id).cloned();
        let wanted = connect.resume.as_ref().filter(|resume| resume.instance == self.instance);
        if let (Some(client), Some(resume)) = (&before, wanted)
            && !client.gone.is_cancelled()
            && client.resume(resume.seq)
        {
            return Seated { client: client.clone(), resumed: true };
        }
        let taken = match &before {
            Some(client) => client.line().taken,
            None => shared.taken.iter().find(|(of, _)| of == id).map_or(0, |(_, taken)| *taken),
        };
        // Numbers begin anew with each run of a client, and go on only where it says that it had this instance.
        let taken = if wanted.is_some() { taken } else { 0 };
        if let Some(client) = before {
            client.forget(None);
        }
        let client = Arc::new(ClientState::new(connect, scopes, taken));
        shared.all.insert(id.clone(), client.clone());
        Seated { client, resumed: false }
    }

    /// Forgets a client, unless another of the same id took its place.
    pub(super) fn forget(&self, client: &Arc<ClientState>, why: Option<&str>) {
        client.forget(why);
        let mut shared = self.shared();
        let id = &client.name.id;
        if shared.all.get(id).is_some_and(|there| Arc::ptr_eq(there, client)) {
            shared.all.remove(id);
            let taken = client.line().taken;
            shared.taken.retain(|(of, _)| of != id);
            shared.taken.push((id.clone(), taken));
            if shared.taken.len() > REMEMBERED {
                shared.taken.remove(0);
            }
        }
    }

    /// The client of this id.
    pub(super) fn client(&self, id: &str) -> Option<Arc<ClientState>> {
        self.shared().all.get(id).cloned()
    }

    /// Attaches a client to a workspace, whose engine is opened if it is not yet. Returns its folder.
    ///
    /// # Errors
    /// A sentence.
    pub(super) async fn attach(&self, client: &Arc<ClientState>, named: Option<&Path>) -> Result<PathBuf, String> {
        if let Some(folder) = named.filter(|folder| client.is_attached(folder)) {
            return Ok(folder.to_owned());
        }
        let (workspaces, named) = (self.workspaces.clone(), named.map(Path::to_owned));
        let folder = blocking(move || workspaces.folder(named.as_deref())).await?;
        let engine = self.engine(&folder).await?;
        client.attach(folder.clone(), &engine);
        Ok(folder)
    }

    /// Folder of the workspace that was used last.
    ///
    /// # Errors
    /// A sentence.
    pub(super) async fn last_folder(&self) -> Result<PathBuf, String> {
        let workspaces = self.workspaces.clone();
        blocking(move || workspaces.folder(None)).await
    }

    /// Named texts of a workspace.
    ///
    /// # Errors
    /// A sentence.
    pub(super) async fn prompts(&self, folder: PathBuf) -> Result<PromptFolders, String> {
        let workspaces = self.workspaces.clone();
        blocking(move || workspaces.prompts(&folder)).await
    }

    /// The workspaces that there are.
    pub(super) async fn workspaces(&self) -> Vec<Workspace> {
        let workspaces = self.workspaces.clone();
        blocking(move || Ok(workspaces.list())).await.unwrap_or_default()
    }

    /// The engine of a folder, opened if it is not yet.
    ///
    /// # Errors
    /// A sentence.
    pub(super) async fn engine(&self, folder: &Path) -> Result<Engine, String> {
        let mut engines = self.engines.lock().await;
        if *self.stop.borrow() == StopTime::Now {
            return Err("The gateway is ending.".to_owned());
        }
        if let Some(engine) = engines.get(folder) {
            return Ok(engine.clone());
        }
        let (workspaces, opened) = (self.workspaces.clone(), folder.to_owned());
        let engine = agent::open(blocking(move || workspaces.setup(&opened)).await?);
        engines.insert(folder.to_owned(), engine.clone());
        self.shared().open.push(folder.to_owned());
        self.lists.follow(&engine, folder.to_owned());
        Ok(engine)
    }

    /// State of the gateway.
    pub(super) fn status(&self) -> Status {
        let (clients, workspaces) = {
            let shared = self.shared();
            (
                shared.all.values().filter(|client| client.line().connected && client.looks()).count(),
                shared.open.clone(),
            )
        };
        Status {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            protocol: protocol::VERSION,
            host: self.owner.host.clone(),
            pid: self.owner.pid,
            instance: self.instance.clone(),
            uptime_seconds: self.began.elapsed().as_secs(),
            socket: self.owner.socket.clone(),
            workspaces,
            clients,
            running: self.lists.with(is_running),
            waiting: self.lists.with(|activity| matches!(activity, Activity::NeedsYou(_))),
            stopping: *self.stop.borrow() != StopTime::No,
            http: self.http.clone(),
            shares: self.shares.clone(),
        }
    }

    /// Clients and browsers, by name.
    pub(super) fn clients(&self) -> Vec<ClientShown> {
        let all: Vec<Arc<ClientState>> = self.shared().all.values().cloned().collect();
        let mut shown: Vec<ClientShown> = all
            .iter()
            .filter(|client| client.looks())
            .map(|client| {
                let (connected, since) = {
                    let line = client.line();
                    (line.connected, line.since)
                };
                ClientShown {
                    id: client.name.id.clone(),
                    name: client.name.name.clone(),
                    version: client.name.version.clone(),
                    connected,
                    seconds: since.elapsed().as_secs(),
                    workspaces: client.workspaces(),
                    token: None,
                }
            })
            .collect();
        shown.extend(self.access.browsers(Instant::now()));
        shown.sort_by(|a, b| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
        shown
    }

    /// Forgets clients that did not come back.
    fn forget_lost(&self) {
        let lost: Vec<Arc<ClientState>> = {
            let shared = self.shared();
            let is_lost = |client: &&Arc<ClientState>| {
                let line = client.line();
                !line.connected && line.since.elapsed() > PARKED
            };
            shared.all.values().filter(is_lost).cloned().collect()
        };
        lost.iter().for_each(|client| self.forget(client, None));
    }

    fn turns_run(&self) -> bool {
        !self.lists.with(is_running).is_empty()
    }

    /// True if nobody was connected since then, and nothing runs or waits for the user.
    fn is_idle(&self, since: Instant) -> bool {
        let nobody = self.shared().all.values().all(|client| !client.line().connected);
        let unvisited = {
            let visits = self.visits();
            visits.now == 0 && visits.last.is_none_or(|last| last < since)
        };
        // Held while an engine is opened: somebody works then, and the look waits for nothing.
        let no_jobs =
            self.engines.try_lock().is_ok_and(|engines| engines.values().all(|engine| engine.running_jobs() == 0));
        let figures = self.channels.figures();
        let no_messages = figures.messages == 0 && figures.replies == 0;
        nobody && unvisited && no_jobs && no_messages && self.lists.are_idle()
    }

    /// Saves and ends all engines.
    async fn shutdown(&self) {
        let engines: Vec<Engine> = self.engines.lock().await.drain().map(|(_, engine)| engine).collect();
        let all =
            engines.iter().map(|engine| async { tokio::time::timeout(LAST_SAVE, engine.shutdown()).await.is_ok() });
        let ended = futures_util::future::join_all(all).await;
        if ended.contains(&false) {
            tracing::error!("a workspace was not saved before the gateway ended: its disk or a command held it up");
        }
        let clients: Vec<Arc<ClientState>> = self.shared().all.values().cloned().collect();
        tokio::time::sleep(LAST_EVENTS).await;
        clients.iter().for_each(|client| client.line().end.cancel());
        tokio::time::sleep(LAST_EVENTS).await;
    }
}

fn is_running(activity: &Activity) -> bool {
    matches!(activity, Activity::Running(_) | Activity::Stopping)
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, String> + Send + 'static) -> Result<T, String> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(format!("Internal error: {error}. See the log.")))
}

/// Serves clients until `end` completes, a client asks for the end, or nothing was to do for a while. Says with `ready` that it
/// listens.
///
/// # Errors
/// When the socket cannot be had.
pub async fn serve(
    mut owned: OwnedHome,
    options: ServeOptions,
    ready: impl FnOnce(&home::Owner),
    end: impl Future<Output = ()>,
) -> Result<(), OwnError> {
    let mut listener = listen(&mut owned)?;
    let instance = home::random_hex(8).map_err(|error| OwnError::Io {
        what: "can't read",
        path: PathBuf::from("/dev/urandom"),
        error,
    })?;
    let (stop, mut stopped) = watch::channel(StopTime::No);
    let ServeOptions { workspaces, idle_exit, listeners, channels } = options;
    let shown = |shares| listeners.iter().map(|one| one.shown()).find(|shown| shown.shares == shares);
    let gateway = Arc::new(Gateway {
        instance,
        secret: owned.secret().to_owned(),
        owner: owned.owner().clone(),
        access: NetworkAccess::new(TokenFile::of(owned.files())),
        channels,
        http: shown(false),
        shares: shown(true),
        began: Instant::now(),
        workspaces,
        engines: tokio::sync::Mutex::default(),
        shared: Mutex::default(),
        lists: SessionLists::default(),
        visits: Mutex::default(),
        stop,
    });
    begin(&gateway, &owned, listeners).await;
    ready(owned.owner());
    tracing::info!(pid = gateway.owner.pid, "the gateway listens");
    let mut idle_since = Instant::now();
    let mut last_look = idle_since;
    let mut look = tokio::time::interval(LOOK);
    tokio::pin!(end);
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => admit(&gateway, stream),
                Err(error) => {
                    // Without descriptors for a while: those who are connected go on.
                    tracing::warn!(%error, "can't accept a connection");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            },
            _ = look.tick() => {
                if !owned.is_reachable() {
                    tracing::warn!("the gateway's socket was removed and is made again");
                    listener = listen(&mut owned)?;
                }
                owned.keep_secret();
                gateway.forget_lost();
                let looked = Instant::now();
                if !gateway.is_idle(last_look) {
                    idle_since = looked;
                }
                last_look = looked;
                let idle_for_long = idle_exit.is_some_and(|limit| idle_since.elapsed() >= limit);
                let awaited = *gateway.stop.borrow() == StopTime::WhenIdle && !gateway.turns_run();
                if idle_for_long || awaited {
                    break;
                }
            }
            _ = stopped.wait_for(|stop| *stop == StopTime::Now) => break,
            () = &mut end => break,
        }
    }
    gateway.stop.send_replace(StopTime::Now);
    tracing::info!("the gateway ends");
    gateway.channels.end();
    gateway.shutdown().await;
    drop(owned);
    Ok(())
}

/// Starts what runs beside the socket.
async fn begin(gateway: &Arc<Gateway>, owned: &OwnedHome, listeners: Vec<Box<dyn Listener>>) {
    gateway.channels.start(Arc::new(GatewayEngines(Arc::downgrade(gateway)))).await;
    listeners.into_iter().for_each(|listener| listener.start(gateway.clone()));
    tokio::spawn(SharedPages::of(owned.files()).sweep());
}

fn listen(owned: &mut OwnedHome) -> Result<UnixListener, OwnError> {
    let path = owned.owner().socket.clone();
    UnixListener::from_std(owned.listen()?).map_err(|error| OwnError::Io { what: "can't listen on", path, error })
}

/// Begins a connection, if it may be one.
fn admit(gateway: &Arc<Gateway>, stream: tokio::net::UnixStream) {
    let same_user = stream.peer_cred().is_ok_and(|peer| peer.uid() == rustix::process::geteuid().as_raw());
    if !same_user {
        tracing::warn!("a connection of another user was refused");
        return;
    }
    {
        let mut shared = gateway.shared();
        if shared.connections >= MOST_CONNECTIONS {
            tracing::warn!("a connection was refused: there are {MOST_CONNECTIONS}");
            return;
        }
        shared.connections += 1;
    }
    let counted = Counted(gateway.clone());
    tokio::spawn(async move {
        let (read, write) = stream.into_split();
        connection::serve(&counted.0, Door::Socket, FrameReader::new(read, LONGEST_FIRST), write).await;
        drop(counted);
    });
}
