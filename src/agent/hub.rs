//! Clients of the engine, and what waits for each of them. Nobody who sends waits for a client.
//!
//! Clients share an event: each has a queue of pointers in the order of sending. Text of one row is merged in the queue of a
//! client that lags; one that lags too far is cut off.

use super::client_link::{ClientInfo, Follows};
use crate::domain::SessionId;
use crate::protocol::{EngineEvent, Event, SessionEvent, Stamped, ToClient};
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync::{Notify, mpsc};

/// Number of a client in this engine, from 1; 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ClientId(u64);

/// News of clients for the supervisor.
#[derive(Debug)]
pub(super) enum ClientNews {
    /// It is connected.
    Connected(Arc<ClientEnd>),
    /// It is gone, and had these sessions open.
    Gone(ClientId, Vec<SessionId>),
    /// Whoever owns the engine ends it.
    Shutdown,
}

/// A client that has this many entries before it lags: text for it is merged.
const LAGS: usize = 64;
/// Bytes of an event beside its text, roughly.
const ENVELOPE: usize = 200;
/// Answers may take so many times the bytes of events: the client asked for them.
const ANSWERS: usize = 8;

/// Queue of one client.
#[derive(Debug, Default)]
struct Queue {
    items: VecDeque<(ToClient, Instant)>,
    /// Bytes of the events and answers in it, where they are limited.
    bytes: usize,
    /// Nothing more comes.
    closed: bool,
}

/// Engine's end of a link.
#[derive(Debug)]
pub(super) struct ClientEnd {
    id: ClientId,
    info: ClientInfo,
    queue: Mutex<Queue>,
    wake: Notify,
    /// Sessions that it has open; `None` once it is gone.
    open: Mutex<Option<HashSet<SessionId>>>,
    /// It asked for a list before.
    listed: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ClientEnd {
    pub(super) fn id(&self) -> ClientId {
        self.id
    }

    pub(super) fn info(&self) -> &ClientInfo {
        &self.info
    }

    /// Notes that it asks for a list. True if that of before will do, as long as what differs follows.
    pub(super) fn asks_for_a_first_list(&self) -> bool {
        !self.listed.swap(true, Ordering::Relaxed) && self.info.reads_on
    }

    /// It gets the events of all sessions.
    pub(super) fn follows_everything(&self) -> bool {
        self.info.follows == Follows::Everything
    }

    /// Notes that it opened a session. False when it is gone.
    pub(super) fn open(&self, session: SessionId) -> bool {
        let mut open = lock(&self.open);
        open.as_mut().map(|open| open.insert(session)).is_some()
    }

    /// Notes that it has a session open no longer.
    pub(super) fn close_session(&self, session: &SessionId) {
        if let Some(open) = lock(&self.open).as_mut() {
            open.remove(session);
        }
    }

    /// Puts it into the client's queue, unless the client is gone.
    pub(super) fn push(&self, item: ToClient) {
        let now = Instant::now();
        {
            let mut queue = lock(&self.queue);
            if queue.closed {
                return;
            }
            if queue.merge(&item) {
                return;
            }
            if self.info.limits.is_some() {
                queue.bytes += weight(&item);
            }
            queue.items.push_back((item, now));
            if let Some(why) = self.lags_too_far(&queue, now) {
                queue.items.clear();
                queue.items.push_back((ToClient::CutOff { why }, now));
                queue.closed = true;
            }
        }
        self.wake.notify_one();
    }

    /// Sends what belongs to a request of this client. `seq`: number of the event before it.
    pub(super) fn answer(&self, re: u64, event: EngineEvent, seq: u64) {
        let stamped = Stamped { re: Some(re), ..Stamped::new(seq, Event::Engine(event)) };
        self.push(ToClient::Event(Arc::new(stamped)));
    }

    fn lags_too_far(&self, queue: &Queue, now: Instant) -> Option<String> {
        let limits = self.info.limits?;
        let (first, since) = queue.items.front()?;
        let answers = matches!(first, ToClient::Event(stamped) if stamped.re.is_some());
        let most = if answers { limits.bytes.saturating_mul(ANSWERS) } else { limits.bytes };
        if queue.items.len() > 1 && queue.bytes > most {
            return Some(format!("Client disconnected: more than {most} bytes behind."));
        }
        let age = now.saturating_duration_since(*since);
        (age > limits.age).then(|| format!("Client disconnected: no reads for {} seconds.", age.as_secs()))
    }

    /// Nothing more comes.
    pub(super) fn close(&self) {
        lock(&self.queue).closed = true;
        self.wake.notify_one();
    }

    fn pop(&self) -> Popped {
        let mut queue = lock(&self.queue);
        match queue.items.pop_front() {
            Some((item, _)) => {
                if self.info.limits.is_some() {
                    queue.bytes = queue.bytes.saturating_sub(weight(&item));
                }
                Popped::Item(item)
            }
            None if queue.closed => Popped::Closed,
            None => Popped::Empty,
        }
    }
}

enum Popped {
    Item(ToClient),
    Empty,
    Closed,
}

impl Queue {
    /// Adds text to the entry that it continues: always where nobody else has that entry, else for a client that lags.
    fn merge(&mut self, item: &ToClient) -> bool {
        let ToClient::Event(stamped) = item else { return false };
        let Event::Session { id: session, event: SessionEvent::Delta { id: row, add } } = &stamped.event else {
            return false;
        };
        let lags = self.items.len() >= LAGS;
        let far = if lags { LAGS } else { 1 };
        for (entry, _) in self.items.iter_mut().rev().take(far) {
            let ToClient::Event(known) = entry else { return false };
            if known.event.session() != Some(session) {
                continue;
            }
            let same =
                matches!(&known.event, Event::Session { event: SessionEvent::Delta { id, .. }, .. } if id == row);
            if !same || (!lags && Arc::get_mut(known).is_none()) {
                return false;
            }
            let known = Arc::make_mut(known);
            if let Event::Session { event: SessionEvent::Delta { add: text, .. }, .. } = &mut known.event {
                text.push_str(add);
                self.bytes += add.len();
            }
            known.merged += stamped.merged + 1;
            known.seq = stamped.seq;
            return true;
        }
        false
    }
}

/// Bytes that an entry holds, roughly. Texts count, and what a list or a page holds is counted as JSON: those are few.
fn weight(item: &ToClient) -> usize {
    let ToClient::Event(stamped) = item else { return ENVELOPE };
    weight_of(stamped)
}

/// Bytes that an event holds, roughly.
#[must_use]
pub fn weight_of(stamped: &Stamped) -> usize {
    ENVELOPE
        + match &stamped.event {
            Event::Session { event: SessionEvent::Delta { add, .. }, .. } => add.len(),
            event => json_length(event),
        }
}

/// Length as JSON, without making it.
fn json_length(event: &Event) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // Values of the protocol are JSON; what were none would weigh nothing.
    let _ = serde_json::to_writer(&mut count, event);
    count.0
}

/// Client's end of its queue.
#[derive(Debug)]
pub(super) struct HubReader {
    client: Arc<ClientEnd>,
    hub: Arc<Hub>,
}

impl HubReader {
    pub(super) async fn recv(&mut self) -> Option<ToClient> {
        loop {
            match self.client.pop() {
                Popped::Item(item) => return Some(item),
                Popped::Closed => return None,
                // A wake that came since the look at the queue is kept for this wait.
                Popped::Empty => self.client.wake.notified().await,
            }
        }
    }

    pub(super) fn try_recv(&mut self) -> Option<ToClient> {
        match self.client.pop() {
            Popped::Item(item) => Some(item),
            Popped::Empty | Popped::Closed => None,
        }
    }
}

impl Drop for HubReader {
    fn drop(&mut self) {
        self.hub.remove(&self.client);
    }
}

/// Clients of an engine.
#[derive(Debug)]
pub(super) struct Hub {
    /// Id of this run of the engine.
    instance: String,
    clients: Mutex<Clients>,
    news: mpsc::UnboundedSender<ClientNews>,
    /// Number of clients that follow everything: mostly none, and nobody looks for them then.
    followers: AtomicUsize,
    /// Number of the last event of the engine. Held while one is sent, so that the numbers stay in order.
    seq: Mutex<u64>,
}

#[derive(Debug, Default)]
struct Clients {
    all: BTreeMap<ClientId, Arc<ClientEnd>>,
    last: u64,
    /// The engine has ended.
    ended: bool,
}

impl Hub {
    pub(super) fn new() -> (Arc<Self>, mpsc::UnboundedReceiver<ClientNews>) {
        let (news, heard) = mpsc::unbounded_channel();
        let instance = format!("{:016x}", fastrand::u64(..));
        (
            Arc::new(Self {
                instance,
                clients: Mutex::default(),
                news,
                followers: AtomicUsize::new(0),
                seq: Mutex::default(),
            }),
            heard,
        )
    }

    /// Takes a client in. One that comes after the end gets nothing.
    pub(super) fn connect(self: &Arc<Self>, info: ClientInfo) -> (Arc<ClientEnd>, HubReader) {
        let mut clients = lock(&self.clients);
        clients.last += 1;
        let client = Arc::new(ClientEnd {
            id: ClientId(clients.last),
            info,
            queue: Mutex::default(),
            wake: Notify::new(),
            open: Mutex::new(Some(HashSet::new())),
            listed: AtomicBool::new(false),
        });
        if clients.ended {
            client.close();
        } else {
            self.followers.fetch_add(usize::from(client.follows_everything()), Ordering::Relaxed);
            clients.all.insert(client.id, client.clone());
        }
        drop(clients);
        // A supervisor that ended takes no news.
        let _ = self.news.send(ClientNews::Connected(client.clone()));
        (client.clone(), HubReader { client, hub: self.clone() })
    }

    /// Id of this run of the engine.
    pub(super) fn instance(&self) -> &str {
        &self.instance
    }

    /// The engine is to end.
    pub(super) fn shut_down(&self) {
        let _ = self.news.send(ClientNews::Shutdown);
    }

    fn remove(&self, client: &ClientEnd) {
        if lock(&self.clients).all.remove(&client.id).is_some() {
            self.followers.fetch_sub(usize::from(client.follows_everything()), Ordering::Relaxed);
        }
        {
            let mut queue = lock(&client.queue);
            queue.closed = true;
            queue.items.clear();
        }
        let open = lock(&client.open).take().into_iter().flatten().collect();
        let _ = self.news.send(ClientNews::Gone(client.id, open));
    }

    /// Sends an event of the engine to all.
    pub(super) fn broadcast(&self, event: EngineEvent) {
        let mut seq = lock(&self.seq);
        *seq += 1;
        self.to_all(&Arc::new(Stamped::new(*seq, Event::Engine(event))));
    }

    /// Number of the last event of the engine.
    pub(super) fn position(&self) -> u64 {
        *lock(&self.seq)
    }

    /// Puts an event into the queues of all clients.
    pub(super) fn to_all(&self, stamped: &Arc<Stamped>) {
        lock(&self.clients).all.values().for_each(|client| client.push(ToClient::Event(stamped.clone())));
    }

    /// Puts an event into the queues of the clients that follow everything.
    pub(super) fn to_followers(&self, stamped: &Arc<Stamped>) {
        if self.followers.load(Ordering::Relaxed) == 0 {
            return;
        }
        let clients = lock(&self.clients);
        let followers = clients.all.values().filter(|client| client.follows_everything());
        followers.for_each(|client| client.push(ToClient::Event(stamped.clone())));
    }

    /// Clients that have a session open.
    pub(super) fn who_has(&self, session: &SessionId) -> Vec<Arc<ClientEnd>> {
        let clients = lock(&self.clients);
        clients
            .all
            .values()
            .filter(|client| lock(&client.open).as_ref().is_some_and(|open| open.contains(session)))
            .cloned()
            .collect()
    }

    /// Nothing follows, for anybody.
    pub(super) fn end(&self) {
        let mut clients = lock(&self.clients);
        clients.ended = true;
        clients.all.values().for_each(|client| client.close());
    }
}
