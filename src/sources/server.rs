//! One server from start to end: it starts when it is wanted, is started again when it dies, and ends when nobody uses it.

use super::config::SourceConfig;
use super::connection::{self, CallError, Connection, Hold};
use super::definition::{self, Definition, Definitions};
use super::launch::{self, FilledLaunch};
use super::log::SourceLog;
use super::program::{self, Covers};
use super::surroundings::{Reach, Surroundings};
use crate::domain::count::count;
use crate::domain::source::SourceState;
use rmcp::model::{CallToolResult, JsonObject};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

/// Limit for the first answers of a server that was started, the list of tools included.
pub const START: Duration = Duration::from_secs(30);
/// Starts of one server within [`WINDOW`].
const MOST_STARTS: usize = 3;
const WINDOW: Duration = Duration::from_secs(60);
/// Wait before the first start after a death; twice as long before each further one.
const PAUSE: Duration = Duration::from_millis(500);
/// Wait for the status of a program whose pipe closed.
const STATUS: Duration = Duration::from_secs(3);

/// State of a server.
#[derive(Clone)]
pub enum ServerState {
    /// Not started.
    Idle,
    /// Starting, for the first time or again.
    Starting,
    /// Its tools can be called.
    Ready(Arc<ReadyServer>),
    /// It does not run; why, a sentence. Not sanitised.
    Failed(String),
}

/// A server that answers.
pub struct ReadyServer {
    connection: Connection,
    /// Its tools.
    pub definitions: Definitions,
}

impl ReadyServer {
    /// The server's words about itself, for models. Not sanitised.
    #[must_use]
    pub fn instructions(&self) -> Option<&str> {
        self.connection.instructions.as_deref()
    }
}

/// Result of a call that did not come to an answer.
#[derive(Debug)]
pub enum CallFault {
    /// It was stopped.
    Stopped,
    /// A sentence. Not sanitised.
    Failed(String),
}

/// One server. It ends when this is dropped.
pub struct Server {
    source: SourceConfig,
    state: watch::Sender<ServerState>,
    shared: Arc<ServerTask>,
    _ends: DropGuard,
}

/// Parts of a server that its task has as well.
struct ServerTask {
    source: SourceConfig,
    cwd: PathBuf,
    reach: Reach,
    around: Arc<Surroundings>,
    log: Arc<SourceLog>,
    state: watch::Sender<ServerState>,
    starts: Mutex<VecDeque<Instant>>,
    ends: CancellationToken,
    /// Paths that the profile of its program covers.
    covers: Mutex<Option<Covers>>,
    /// Asks for another start.
    renew: Notify,
}

/// Why a connection is over.
enum Over {
    /// Nobody uses it.
    Unused,
    /// It is to be started again.
    Renewed,
    /// It died; how, in a few words.
    Died(String),
}

impl Server {
    pub(super) fn new(source: SourceConfig, (cwd, reach): (&Path, Reach), around: Arc<Surroundings>) -> Self {
        let (state, _) = watch::channel(ServerState::Idle);
        let ends = CancellationToken::new();
        let shared = ServerTask {
            source: source.clone(),
            cwd: cwd.to_owned(),
            reach,
            log: Arc::new(SourceLog::new(&around.folder_of(&source))),
            around,
            state: state.clone(),
            starts: Mutex::default(),
            ends: ends.clone(),
            covers: Mutex::default(),
            renew: Notify::new(),
        };
        Self { source, state, shared: Arc::new(shared), _ends: ends.drop_guard() }
    }

    /// Its configuration.
    #[must_use]
    pub fn source(&self) -> &SourceConfig {
        &self.source
    }

    /// State now.
    #[must_use]
    pub fn state(&self) -> ServerState {
        self.state.borrow().clone()
    }

    /// The same for clients.
    #[must_use]
    pub fn view(&self) -> SourceState {
        match &*self.state.borrow() {
            ServerState::Idle => SourceState::Idle,
            ServerState::Starting => SourceState::Starting,
            ServerState::Ready(_) => SourceState::Ready,
            ServerState::Failed(why) => SourceState::Failed { why: why.clone() },
        }
    }

    /// Changes of the state.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<ServerState> {
        self.state.subscribe()
    }

    /// Starts it where it does not run, and may be started. Returns at once.
    pub fn start(&self) {
        let begins = self.state.send_if_modified(|state| match state {
            ServerState::Starting | ServerState::Ready(_) => false,
            ServerState::Idle | ServerState::Failed(_) if !self.shared.may_start() => false,
            ServerState::Idle | ServerState::Failed(_) => {
                *state = ServerState::Starting;
                true
            }
        });
        if begins {
            tokio::spawn(Arc::clone(&self.shared).work());
        }
    }

    /// Waits until it is ready.
    ///
    /// # Errors
    /// A sentence why it is not.
    pub async fn ready(&self) -> Result<Arc<ReadyServer>, String> {
        let mut changes = self.watch();
        loop {
            match &*changes.borrow_and_update() {
                ServerState::Ready(ready) => return Ok(Arc::clone(ready)),
                ServerState::Failed(why) => return Err(why.clone()),
                ServerState::Idle => return Err("It was not started.".to_owned()),
                ServerState::Starting => {}
            }
            if changes.changed().await.is_err() {
                return Err("It has ended.".to_owned());
            }
        }
    }

    /// Waits until it is ready, and closed off from all that is to be hidden or protected by now: a file may have come since it
    /// was started. It is started again then.
    async fn covered(&self) -> Result<Arc<ReadyServer>, String> {
        for _ in 0..MOST_STARTS {
            let ready = self.ready().await?;
            let shared = Arc::clone(&self.shared);
            let is_outdated = tokio::task::spawn_blocking(move || shared.is_outdated()).await.unwrap_or(true);
            if !is_outdated {
                return Ok(ready);
            }
            self.shared.renew.notify_one();
            self.passed(&ready).await;
        }
        Err("files to be hidden or protected come all the time.".to_owned())
    }

    /// Definition of a tool as it is now; `None` where the server does not run or has no such tool.
    #[must_use]
    pub fn definition(&self, remote: &str) -> Option<Definition> {
        match &*self.state.borrow() {
            ServerState::Ready(ready) => {
                ready.definitions.tools.iter().find(|definition| definition.remote == remote).cloned()
            }
            ServerState::Idle | ServerState::Starting | ServerState::Failed(_) => None,
        }
    }

    /// Calls a tool of the definition with this digest.
    ///
    /// # Errors
    /// See [`CallFault`].
    pub async fn call(
        &self,
        (tool, digest): (&str, &str),
        arguments: JsonObject,
        progress: &mpsc::Sender<String>,
        stop: &CancellationToken,
    ) -> Result<CallToolResult, CallFault> {
        let failed = |why: String| CallFault::Failed(format!("Source {}: {why}", self.source.slug));
        let ready = tokio::select! {
            () = stop.cancelled() => return Err(CallFault::Stopped),
            ready = self.covered() => ready.map_err(failed)?,
        };
        if !ready.definitions.tools.iter().any(|one| one.remote == tool && one.digest == digest) {
            return Err(failed("the tool changed or is gone.".to_owned()));
        }
        match ready.connection.call(tool, arguments, progress, stop).await {
            Ok(result) => Ok(result),
            Err(CallError::Stopped) => Err(CallFault::Stopped),
            Err(CallError::Failed(why)) => Err(failed(self.shared.log.keys().masked(&why))),
            Err(CallError::Gone) => {
                self.passed(&ready).await;
                let how = ready.connection.end().await;
                Err(failed(format!("{} Nobody knows if the call was done.", self.shared.died(&how))))
            }
        }
    }

    /// Waits until a connection that is gone is no longer the one that calls go to.
    async fn passed(&self, gone: &Arc<ReadyServer>) {
        let mut changes = self.watch();
        let is_other = |state: &ServerState| !matches!(state, ServerState::Ready(now) if Arc::ptr_eq(now, gone));
        // Its task may be gone as well, at the end of everything.
        let _ = tokio::time::timeout(STATUS, changes.wait_for(is_other)).await;
    }

    /// Text without the keys that the server was given.
    #[must_use]
    pub fn hidden(&self, text: &str) -> String {
        self.shared.log.keys().hidden(text)
    }
}

impl ServerTask {
    /// Counts a start; false where there were too many lately.
    fn may_start(&self) -> bool {
        let mut starts = self.starts.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        while starts.front().is_some_and(|at| now.duration_since(*at) >= WINDOW) {
            starts.pop_front();
        }
        let may = starts.len() < MOST_STARTS;
        if may {
            starts.push_back(now);
        }
        may
    }

    /// Its profile would cover more now than when it was started. Blocks.
    fn is_outdated(&self) -> bool {
        let Some(before) = self.covers.lock().unwrap_or_else(PoisonError::into_inner).clone() else { return false };
        match launch::fill(&self.source, (&self.cwd, self.reach), &self.around).1 {
            Ok(FilledLaunch::Program(order)) => {
                program::covers(&order, &self.around).is_none_or(|now| !now.is_subset(&before))
            }
            Ok(FilledLaunch::Http { .. }) | Err(_) => false,
        }
    }

    fn died(&self, how: &str) -> String {
        let words = self.log.last_words();
        let words = if words.is_empty() { String::new() } else { format!(" Its last words: {words}") };
        format!("the server ended ({how}).{words}")
    }

    async fn work(self: Arc<Self>) {
        let mut pause = PAUSE;
        loop {
            self.log.begin();
            let began = tokio::select! {
                () = self.ends.cancelled() => return,
                began = self.begin() => began,
            };
            let (ready, hold) = match began {
                Ok(began) => began,
                Err(why) => return self.fail(why),
            };
            self.log.add("lisle", vec![format!("ready, {}", count(ready.definitions.tools.len(), "tool", "tools"))]);
            let left_out = &ready.definitions.left_out;
            self.log.add("lisle", left_out.iter().take(50).cloned().collect());
            self.state.send_replace(ServerState::Ready(Arc::clone(&ready)));
            let how = match self.serve(ready, hold).await {
                Over::Unused => return,
                Over::Renewed => {
                    self.log.add("lisle", vec!["started again: there is more to hide or to protect".to_owned()]);
                    self.state.send_replace(ServerState::Starting);
                    continue;
                }
                Over::Died(how) => how,
            };
            let why = self.died(&how);
            self.log.add("lisle", vec![why.clone()]);
            if !self.may_start() {
                return self
                    .fail(format!("{why} Started {MOST_STARTS} times within a minute. The next message tries again."));
            }
            self.state.send_replace(ServerState::Starting);
            tokio::select! {
                () = self.ends.cancelled() => return,
                () = tokio::time::sleep(pause) => pause *= 2,
            }
        }
    }

    fn fail(&self, why: String) {
        let why = self.log.keys().masked(&why);
        self.log.add("lisle", vec![format!("not started: {why}")]);
        self.state.send_replace(ServerState::Failed(why));
    }

    async fn begin(&self) -> Result<(Arc<ReadyServer>, Hold), String> {
        let started = connection::start(&self.source, (&self.cwd, self.reach), &self.around, &self.log).await?;
        *self.covers.lock().unwrap_or_else(PoisonError::into_inner) = started.covers();
        let ready = async {
            let (connection, hold) = started.connect(&self.log).await?;
            let definitions = self.list(&connection).await?;
            Ok((Arc::new(ReadyServer { connection, definitions }), hold))
        };
        tokio::time::timeout(START, ready).await.unwrap_or_else(|_| {
            let words = self.log.last_words();
            let words = if words.is_empty() { String::new() } else { format!(" It said: {words}") };
            Err(format!("No answer within {} s.{words}", START.as_secs()))
        })
    }

    async fn list(&self, connection: &Connection) -> Result<Definitions, String> {
        let tools = connection.tools().await?;
        let source = &self.source;
        let keys = self.log.keys();
        let hide = |text: &str| keys.hidden(text);
        Ok(definition::checked(&source.slug, &source.identity(), &source.permissions, tools, &hide))
    }

    /// Stays with a connection until it is over.
    async fn serve(&self, ready: Arc<ReadyServer>, hold: Hold) -> Over {
        let Hold { service, program } = hold;
        let closer = service.cancellation_token();
        let changed = Arc::clone(&ready.connection.changed);
        let ended = ready.connection.ended.clone();
        let peer_of = ready;
        let gone = service.waiting();
        tokio::pin!(gone);
        loop {
            tokio::select! {
                over = self.let_go() => {
                    closer.cancel();
                    // The program sees its input close, then it is asked to end, then it is ended.
                    let _ = tokio::time::timeout(Duration::from_secs(1), gone).await;
                    let _ = tokio::time::timeout(Duration::from_secs(1), ended).await;
                    drop(program);
                    return over;
                }
                _ = &mut gone => {
                    let how = match program {
                        Some(_) => peer_of.connection.end().await,
                        None => "connection closed".to_owned(),
                    };
                    return Over::Died(how);
                }
                () = changed.notified() => {
                    tokio::select! {
                        () = self.ends.cancelled() => {}
                        listed = self.list(&peer_of.connection) => match listed {
                            Ok(definitions) => self.relisted(definitions),
                            Err(why) => self.log.add("lisle", vec![why]),
                        },
                    }
                }
            }
        }
    }

    /// Waits until the server is to end, and says why.
    async fn let_go(&self) -> Over {
        tokio::select! {
            () = self.ends.cancelled() => Over::Unused,
            () = self.renew.notified() => Over::Renewed,
        }
    }

    /// The server has other tools from now on.
    fn relisted(&self, definitions: Definitions) {
        self.log.add("lisle", vec![format!("tools changed, {} now", definitions.tools.len())]);
        self.state.send_if_modified(|state| match state {
            ServerState::Ready(ready) if ready.definitions != definitions => {
                let connection = ready.connection.again();
                *state = ServerState::Ready(Arc::new(ReadyServer { connection, definitions }));
                true
            }
            _ => false,
        });
    }
}
