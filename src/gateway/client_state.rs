//! State of one client, from its first connection until it left or did not come back.

use super::client_queue::{ClientQueue, QueuedFrame};
use super::frame::{self, ErrorCode, FrameError};
use super::handshake::{ClientName, Connect};
use crate::agent::{ClientInfo, Engine, Incoming, Link, Requests};
use crate::protocol::{ClientRequest, Command, EngineCommand, Reply, Scopes, ToClient};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync::Notify;
use tokio::sync::mpsc::error::TrySendError;
use tokio_util::sync::CancellationToken;

/// One client.
pub(super) struct ClientState {
    pub name: ClientName,
    /// Working directory of the sessions that it makes.
    pub cwd: Option<PathBuf>,
    /// Nobody can be asked.
    headless: bool,
    /// Commands that it may send.
    scopes: Scopes,
    /// Reason why it was forgotten.
    cut: Mutex<Option<String>>,
    queue: Mutex<ClientQueue>,
    /// There is something to send.
    pub filled: Notify,
    /// There is room in the queue.
    drained: Notify,
    links: Mutex<HashMap<PathBuf, Requests>>,
    line: Mutex<ClientLine>,
    /// Cancelled when the client is forgotten: its links end.
    pub gone: CancellationToken,
}

/// State of the line to a client.
#[derive(Debug)]
pub(super) struct ClientLine {
    /// Number of the connection; an older one ends.
    pub number: u64,
    /// Ends the connection that there is.
    pub end: CancellationToken,
    pub connected: bool,
    pub since: Instant,
    /// Highest request number that was taken.
    pub taken: u64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ClientState {
    pub fn new(connect: &Connect, scopes: Scopes, taken: u64) -> Self {
        let line =
            ClientLine { number: 0, end: CancellationToken::new(), connected: false, since: Instant::now(), taken };
        Self {
            name: connect.client.clone(),
            cwd: connect.cwd.clone(),
            headless: connect.headless,
            scopes,
            cut: Mutex::default(),
            queue: Mutex::default(),
            filled: Notify::new(),
            drained: Notify::new(),
            links: Mutex::default(),
            line: Mutex::new(line),
            gone: CancellationToken::new(),
        }
    }

    pub fn line(&self) -> MutexGuard<'_, ClientLine> {
        lock(&self.line)
    }

    pub fn queue(&self) -> MutexGuard<'_, ClientQueue> {
        lock(&self.queue)
    }

    /// A connection begins; the one before ends. Returns its number, and what ends it.
    pub fn connected(&self) -> (u64, CancellationToken) {
        let mut line = self.line();
        line.end.cancel();
        line.end = CancellationToken::new();
        line.number += 1;
        (line.connected, line.since) = (true, Instant::now());
        self.queue().belongs_to(line.number);
        (line.number, line.end.clone())
    }

    /// A connection ended. True if no newer one took its place.
    pub fn disconnected(&self, number: u64) -> bool {
        let mut line = self.line();
        let last = line.number == number;
        if last {
            (line.connected, line.since) = (false, Instant::now());
        }
        last
    }

    /// Goes on after the event that the client saw last, over a connection to come. False if that is gone.
    pub fn resume(&self, seq: u64) -> bool {
        self.line().end.cancel();
        let mut queue = self.queue();
        queue.belongs_to(u64::MAX);
        queue.resume(seq)
    }

    /// Takes the next line to send over a connection.
    pub fn take(&self, connection: u64) -> Option<Vec<u8>> {
        let taken = self.queue().take(connection);
        self.drained.notify_one();
        taken.map(|(seq, frame)| frame.line(seq))
    }

    /// Folders of the workspaces that the client looks at.
    pub fn workspaces(&self) -> Vec<PathBuf> {
        let mut all: Vec<PathBuf> = lock(&self.links).keys().cloned().collect();
        all.sort();
        all
    }

    /// It looks at a workspace: others only ask the gateway something.
    pub fn looks(&self) -> bool {
        !lock(&self.links).is_empty()
    }

    pub fn is_attached(&self, workspace: &Path) -> bool {
        lock(&self.links).contains_key(workspace)
    }

    /// Attaches the client to the engine of a workspace.
    pub fn attach(self: &Arc<Self>, workspace: PathBuf, engine: &Engine) {
        let mut links = lock(&self.links);
        if !links.contains_key(&workspace) {
            let name = &self.name.name;
            let info = ClientInfo { interactive: !self.headless, ..ClientInfo::remote(name, self.scopes.clone()) };
            let Link { requests, events } = engine.connect(info);
            links.insert(workspace.clone(), requests);
            tokio::spawn(pump(self.clone(), workspace, events));
        }
    }

    /// Hands the command of a request to the engine of a workspace. False if that is not attached, or has ended.
    ///
    /// Requests that the engine takes are noted as taken and the other way round, also when the connection ends meanwhile.
    pub async fn command(&self, workspace: &Path, request: ClientRequest) -> bool {
        let requests = lock(&self.links).get(workspace).cloned();
        let Some(requests) = requests else { return false };
        let id = request.id;
        let request = ClientRequest { command: self.with_own_directory(request.command), ..request };
        loop {
            requests.ready().await;
            let mut line = self.line();
            if id <= line.taken {
                return true;
            }
            match requests.try_forward(request.clone()) {
                Ok(()) => line.taken = id,
                Err(TrySendError::Full(_)) => continue,
                Err(TrySendError::Closed(_)) => return false,
            }
            return true;
        }
    }

    /// A directory that a command leaves out is the client's own, and not the gateway's.
    fn with_own_directory(&self, mut command: Command) -> Command {
        if let Command::Engine(EngineCommand::Create(new)) = &mut command {
            new.cwd = new.cwd.take().or_else(|| self.cwd.clone());
        } else if let Command::Engine(EngineCommand::Import { from, .. }) = &mut command {
            *from = from.take().or_else(|| self.cwd.clone());
        }
        command
    }

    /// The client is forgotten, and told why if it was cut off.
    pub fn forget(&self, why: Option<&str>) {
        if let Some(why) = why {
            lock(&self.cut).get_or_insert_with(|| why.to_owned());
        }
        self.gone.cancel();
        self.line().end.cancel();
        lock(&self.links).clear();
    }

    /// Reason why it was cut off.
    pub fn cut(&self) -> Option<String> {
        lock(&self.cut).clone()
    }

    /// Puts what an engine sends into the queue.
    fn put(&self, workspace: &Arc<Path>, item: ToClient) {
        let frame = match item {
            ToClient::Event(stamped) => QueuedFrame::Event(workspace.clone(), stamped),
            ToClient::Reply(Reply { id, error }) => {
                let error = error.map(|error| FrameError {
                    code: ErrorCode::Refused,
                    message: error.message,
                    retryable: error.retryable,
                    retry_after_ms: None,
                    details: Some(error.code),
                    told: error.told,
                });
                QueuedFrame::Reply(frame::reply(Some(id), error.as_ref().map_or(Ok(&()), Err)).into())
            }
            ToClient::CutOff { why } => return self.forget(Some(&why)),
        };
        self.queue().push(frame);
    }
}

/// Puts what an engine sends into the client's queue, as long as there is room; then the engine's limits for slow clients count.
async fn pump(client: Arc<ClientState>, folder: PathBuf, mut events: Incoming) {
    let workspace: Arc<Path> = folder.as_path().into();
    loop {
        while client.queue().is_full() {
            tokio::select! {
                () = client.drained.notified() => {}
                () = client.gone.cancelled() => return,
            }
        }
        let item = tokio::select! {
            item = events.recv() => item,
            () = client.gone.cancelled() => return,
        };
        let Some(item) = item else { break };
        client.put(&workspace, item);
        client.filled.notify_one();
    }
    // The engine ended.
    lock(&client.links).remove(&folder);
}
