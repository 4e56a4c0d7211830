//! The engine as a client has it: commands go down, events come up, and the files are a folder of the test's own.

mod answering_connection;
mod attention;
mod children;
mod clients;
mod context;
mod crashes;
mod folder;
mod last_words;
mod lifecycle;
mod looking;
mod others;
mod plan;
mod refused;
mod remembered;
mod strangers;
mod stuck;
mod undo;

use super::{ClientInfo, Connections, EngineSettings, Follows, Inbox, Link, Setup, open};
use crate::domain::message::{Body, Message, UserText};
use crate::domain::property_change::PropertyChange;
use crate::domain::request::{Request, TrustRequest};
use crate::domain::rule::{PermissionsFile, Rule, RuleScope};
use crate::domain::{At, ConnectionName, MessageId, Mode, Notice, SessionId, SessionMeta};
use crate::protocol::{
    Command, ConnectionInfo, EngineCommand, EngineEvent, Event, NewSession, Opened, QueueEdit, SessionCommand,
    SessionEvent, TurnEnd,
};
use crate::provider::Provider;
use crate::provider::rehearsal::Rehearsal;
use crate::store::{Access, Durability, Journal, Options, Store};
use crate::tools::registry::Registry;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// An event that does not come in this time does not come at all.
const PATIENCE: Duration = Duration::from_secs(20);

/// An engine over a folder, and what it said.
struct Engine {
    handle: super::Engine,
    link: Link,
    store: Store,
    seen: Vec<(Option<SessionId>, Event)>,
    /// Number of events read.
    read: usize,
}

fn store(home: &Path) -> Store {
    let options = Options::new(home.join("data/workspaces/w"), home.join("state"));
    Store::open(Options { temp: home.to_owned(), ..options }).unwrap()
}

/// The rules of the workspace, in memory.
struct WorkspaceRules {
    foreign: bool,
    kept: Mutex<Vec<Rule>>,
}

impl super::RuleBook for WorkspaceRules {
    fn read(&self, cwd: &std::path::Path) -> Arc<super::Book> {
        let file = PermissionsFile { rules: self.kept.lock().unwrap().clone(), ..PermissionsFile::default() };
        Arc::new(super::Book {
            files: vec![(RuleScope::Workspace, "permissions.json".into(), file)],
            here: vec![cwd.to_owned()],
            trusted: !self.foreign,
            ..super::Book::default()
        })
    }
    fn add(&self, scope: RuleScope, _: &std::path::Path, rules: &[Rule]) -> Result<(), String> {
        assert_eq!(scope, RuleScope::Workspace);
        self.kept.lock().unwrap().extend_from_slice(rules);
        Ok(())
    }
    fn remove(&self, _: RuleScope, _: &std::path::Path, _: &Rule) -> Result<(), String> {
        Err("there are no files".to_owned())
    }
    fn trust(&self, _: &TrustRequest) -> Result<(), String> {
        Err("there are no files".to_owned())
    }
    fn trusts_workspace(&self) -> bool {
        !self.foreign
    }
}

impl Engine {
    /// The next request to the user.
    async fn asked(&mut self) -> Request {
        self.until(|event| match event {
            Event::Session { event: SessionEvent::Asked(request), .. } => Some((**request).clone()),
            _ => None,
        })
        .await
    }

    fn new(home: &Path) -> Self {
        Self::with(home, |_| {})
    }

    fn with(home: &Path, change: impl FnOnce(&mut EngineSettings)) -> Self {
        Self::on(store(home), home, change)
    }

    fn on(store: Store, home: &Path, change: impl FnOnce(&mut EngineSettings)) -> Self {
        Self::asking(Arc::new(Rehearsal::new(Duration::ZERO)), store, home, change)
    }

    fn asking(
        provider: Arc<dyn Provider>,
        store: Store,
        home: &Path,
        change: impl FnOnce(&mut EngineSettings),
    ) -> Self {
        let mut connections = Connections::new();
        let info = ConnectionInfo {
            name: ConnectionName::new("rehearsal"),
            provider: "rehearsal".into(),
            default_model: "rehearsal".into(),
            small_model: String::new(),
            models: vec![],
            host: String::new(),
            key_from: None,
            missing: None,
            offered: false,
        };
        connections.add(info, Some(provider));
        let project = home.join("project");
        std::fs::create_dir_all(&project).unwrap();
        let mut settings = EngineSettings {
            mode: Mode::Ask,
            cycle: Mode::ALL.to_vec(),
            cwd: project,
            requests_per_turn: 50,
            policy: crate::permit::Policy::default(),
            headless: false,
            compact_at: 77.5,
            config: None,
            steer_by_default: false,
            own_dirs: vec![],
            runner: "lisle".into(),
            allowances: Arc::default(),
            sandbox: crate::domain::permission::SandboxState::default(),
            inbox: Inbox { data: home.join("data"), ..Inbox::default() },
            warn_cost: 0.5,
            long_cache: false,
            full_tools: true,
            history_places: Vec::new(),
            prompts: Arc::new(crate::store::prompt_files::PromptFolders {
                workspace: home.join("workspace"),
                config: home.join("config"),
                fabric: None,
            }),
            undo: crate::agent::UndoSettings::default(),
        };
        change(&mut settings);
        let setup = Setup {
            store: store.clone(),
            connections,
            books: Arc::new(crate::store::usage_log::UsageLog::new(&home.join("data"))),
            tools: Registry::standard(),
            sources: Arc::new(crate::agent::NoSources),
            extensions: Arc::new(crate::agent::NoExtensions),
            servers: crate::sources::Servers::default(),
            rules: Arc::new(WorkspaceRules { foreign: store.is_foreign(), kept: Mutex::default() }),
            settings,
            chosen: Box::new(|_, model| model.is_some()),
        };
        let handle = open(setup);
        // Also what nobody opened: most tests look at what the engine does by itself.
        let link = handle.connect(ClientInfo { follows: Follows::Everything, ..ClientInfo::local("test") });
        Self { handle, link, store, seen: Vec::new(), read: 0 }
    }

    async fn send(&self, command: Command) {
        self.link.requests.send(command).await.unwrap();
    }

    async fn act(&self, session: &SessionId, act: SessionCommand) {
        self.send(Command::Session { id: session.clone(), command: act }).await;
    }

    async fn open(&mut self, session: &SessionId) -> Opened {
        self.send(Command::Session { id: session.clone(), command: SessionCommand::Open { rows: 50 } }).await;
        self.opened().await
    }

    async fn opened(&mut self) -> Opened {
        self.until(|event| {
            if let Event::Session { event: SessionEvent::Opened(opened), .. } = event {
                Some((**opened).clone())
            } else {
                None
            }
        })
        .await
    }

    /// The next event of this kind.
    async fn until<T>(&mut self, mut what: impl FnMut(&Event) -> Option<T>) -> T {
        loop {
            while self.read < self.seen.len() {
                self.read += 1;
                if let Some(found) = what(&self.seen[self.read - 1].1) {
                    return found;
                }
            }
            let next = tokio::time::timeout(PATIENCE, self.link.events.event()).await;
            let stamped = next.unwrap_or_else(|_| panic!("it did not come; there was {:#?}", self.seen)).unwrap();
            self.seen.push((stamped.event.session().cloned(), stamped.event));
        }
    }

    async fn notice(&mut self, words: &str) -> Notice {
        self.until(|event| match event {
            Event::Session { event: SessionEvent::Notice(notice), .. } | Event::Engine(EngineEvent::Notice(notice))
                if notice.text.contains(words) =>
            {
                Some(notice.clone())
            }
            _ => None,
        })
        .await
    }

    async fn changed(&mut self, what: impl Fn(&SessionMeta) -> bool) -> SessionMeta {
        self.until(|event| match event {
            Event::Session { event: SessionEvent::Changed(meta), .. }
            | Event::Engine(EngineEvent::SessionChanged(meta))
                if what(meta) =>
            {
                Some((**meta).clone())
            }
            _ => None,
        })
        .await
    }

    async fn ended(&mut self) -> TurnEnd {
        self.until(|event| {
            if let Event::Session { event: SessionEvent::TurnEnded { end }, .. } = event { Some(*end) } else { None }
        })
        .await
    }

    /// A new session in which this was said, on disk.
    async fn talked(&mut self, text: &str) -> SessionId {
        self.send(Command::Engine(EngineCommand::Create(NewSession::default()))).await;
        let id = self.opened().await.meta.id;
        self.act(&id, SessionCommand::send(text)).await;
        self.ended().await;
        id
    }

    /// Events since the last call, without waiting for more.
    fn rest(&mut self) -> Vec<Event> {
        while let Some(stamped) = self.link.events.try_event() {
            self.seen.push((stamped.event.session().cloned(), stamped.event));
        }
        let rest = self.seen[self.read..].iter().map(|(_, event)| event.clone()).collect();
        self.read = self.seen.len();
        rest
    }

    /// Ends the engine; what came until then.
    async fn end(mut self) -> Vec<Event> {
        self.send(Command::Engine(EngineCommand::Shutdown)).await;
        self.until(|event| matches!(event, Event::Engine(EngineEvent::Ended)).then_some(())).await;
        self.seen.into_iter().map(|(_, event)| event).collect()
    }
}

fn id(text: &str) -> SessionId {
    SessionId::parse(text).unwrap()
}

fn said(id: &str, text: &str) -> Message {
    Message::new(MessageId::new(id), At(1_000), Body::User(UserText { text: text.into(), ..UserText::default() }))
}

/// A session on disk that nobody has open.
fn stored(store: &Store, name: &str, change: impl FnOnce(&mut SessionMeta)) -> SessionId {
    drop(written(store, name, change));
    id(name)
}

/// The same, still open.
fn written(store: &Store, name: &str, change: impl FnOnce(&mut SessionMeta)) -> Journal {
    let mut meta = SessionMeta::new(id(name), At(1_000), Mode::Ask, "/w".into());
    change(&mut meta);
    let (_, mut journal) = store.create(&meta).unwrap();
    journal.append(&[said(&format!("{name}-1"), "hello")], Durability::Synced).unwrap();
    journal.set_meta(meta, serde_json::Value::Null);
    journal.flush().unwrap();
    journal
}

/// The lock can be had by somebody else.
fn is_free(store: &Store, session: &SessionId) -> bool {
    matches!(store.load(session, 1).unwrap().access, Access::Writer(_))
}
