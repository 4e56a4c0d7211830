//! Deaths: the engine is killed (SIGKILL) at the n-th file call of the store while it streams and runs tools, and reopens with
//! every row that had been shown and, of a row still streaming, all but the last 500 ms.
//!
//! A program of its own instead of the usual test harness, because it starts itself as the one that dies.
//! `LISLE_TEST_DEATHS` says how many deaths (20 without it).

// Clippy knows a test by its harness, which this one does without.
#![allow(clippy::expect_used, clippy::panic, clippy::print_stdout)]

use lisle::agent::{self, Connections, EngineSettings, Setup};
use lisle::domain::message::{Body, Message, UserText};
use lisle::domain::{At, ConnectionName, MessageId, Mode, SessionId};
use lisle::protocol::{
    Command, ConnectionInfo, EngineCommand, EngineEvent, Event, NewSession, SessionCommand, SessionEvent, Stamped,
};
use lisle::provider::rehearsal::Rehearsal;
use lisle::runtime::rules::{Places, RuleFiles};
use lisle::store::io::{Disk, Fault, Watched};
use lisle::store::{Access, Durability, Options, Store, Writer};
use lisle::tools::registry::Registry;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const FIRST: &str = "stream 60 then run printf 'one\\ntwo\\n' then write a.txt: hello then read a.txt then stream 40";
const SECOND: &str = "think about it then list then replace hello with bye in a.txt";
const PACE: Duration = Duration::from_millis(8);
/// Text may be so far behind.
const BEHIND_MS: i64 = 500;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    if let [_, word, folder, at] = args.as_slice()
        && word == "__child"
    {
        live(Path::new(folder), at.parse().expect("a number"));
        return ExitCode::SUCCESS;
    }
    let deaths: u64 = std::env::var("LISLE_TEST_DEATHS").ok().and_then(|n| n.parse().ok()).unwrap_or(20);
    let calls = {
        let home = tempfile::tempdir().expect("a folder");
        let life = Life::run(home.path(), 0);
        life.check(home.path());
        assert_eq!(life.turns_ended, 2, "the undisturbed life runs to its end");
        life.calls.expect("a life that ends tells its calls")
    };
    // Two at a time: the machine that runs this may have no more cores.
    let next = std::sync::atomic::AtomicU64::new(0);
    let shown = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                    if seed >= deaths {
                        return;
                    }
                    let at = 1 + fastrand::Rng::with_seed(seed).u64(..calls);
                    let home = tempfile::tempdir().expect("a folder");
                    let life = Life::run(home.path(), at);
                    life.check(home.path());
                    shown.fetch_add(life.rows.len(), std::sync::atomic::Ordering::SeqCst);
                }
            });
        }
    });
    println!("{deaths} deaths among {calls} file calls survived; {} rows had been shown", shown.into_inner());
    println!("{deaths} passed, 0 failed");
    ExitCode::SUCCESS
}

fn store(folder: &Path, fault: Option<u64>) -> (Store, Arc<Watched>) {
    let fault = fault.map_or(Fault::None, Fault::KillBefore);
    let io = Arc::new(Watched::new(Arc::new(Disk), fault));
    let mut options = Options::new(folder.join("data"), folder.join("state"));
    options.io = io.clone();
    (Store::open(options).expect("the store opens"), io)
}

// ---- the one that dies ----

fn live(folder: &Path, at: u64) {
    let (store, io) = store(folder, (at > 0).then_some(at));
    let mut connections = Connections::new();
    let name = ConnectionName::new("rehearsal");
    let info = ConnectionInfo {
        name: name.clone(),
        provider: "rehearsal".into(),
        default_model: "rehearsal".into(),
        small_model: String::new(),
        models: vec![],
        host: String::new(),
        key_from: None,
        missing: None,
        offered: false,
    };
    connections.add(info, Some(Arc::new(Rehearsal::new(PACE))));
    let project = folder.join("project");
    std::fs::create_dir_all(&project).expect("a project");
    let rules = RuleFiles::new(Places {
        given: Vec::new(),
        config: folder.join("config"),
        workspace: folder.to_owned(),
        origin: lisle::runtime::rules::WorkspaceOrigin::Elsewhere,
        home: None,
    });
    let setup = Setup {
        store,
        connections,
        sources: std::sync::Arc::new(agent::NoSources),
        extensions: std::sync::Arc::new(agent::NoExtensions),
        servers: lisle::sources::Servers::default(),
        rules: std::sync::Arc::new(rules),
        books: std::sync::Arc::new(lisle::store::usage_log::UsageLog::new(&folder.join("data"))),
        tools: Registry::standard(),
        settings: EngineSettings {
            mode: Mode::Execute,
            cycle: Mode::ALL.to_vec(),
            cwd: project.canonicalize().expect("a path"),
            requests_per_turn: 50,
            policy: lisle::permit::Policy::default(),
            headless: false,
            compact_at: 77.5,
            config: None,
            steer_by_default: false,
            own_dirs: vec![],
            runner: env!("CARGO_BIN_EXE_lisle").into(),
            allowances: std::sync::Arc::default(),
            sandbox: lisle::domain::permission::SandboxState::default(),
            inbox: agent::Inbox::default(),
            warn_cost: 0.5,
            long_cache: false,
            full_tools: true,
            history_places: Vec::new(),
            prompts: Arc::default(),
            undo: lisle::agent::UndoSettings::default(),
        },
        chosen: Box::new(|_, _| false),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("threads");
    runtime.block_on(async {
        let mut link = agent::open(setup).connect(agent::ClientInfo::local("crash"));
        link.requests
            .send(Command::Engine(EngineCommand::Create(NewSession::default())))
            .await
            .expect("the engine listens");
        let mut ended = 0;
        while let Some(stamped) = link.events.event().await {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock").as_millis();
            let mut out = std::io::stdout().lock();
            let line = serde_json::to_string(&stamped).expect("an event is JSON");
            writeln!(out, "{now} {line}").expect("the parent listens");
            out.flush().expect("the parent listens");
            drop(out);
            let session = stamped.event.session().cloned();
            match (&stamped.event, session) {
                (Event::Session { event: SessionEvent::Opened(_), .. }, Some(session)) => {
                    for text in [FIRST, SECOND] {
                        let act = SessionCommand::send(text);
                        link.requests
                            .send(Command::Session { id: session.clone(), command: act })
                            .await
                            .expect("it listens");
                    }
                }
                (Event::Session { event: SessionEvent::TurnEnded { .. }, .. }, _) => {
                    ended += 1;
                    if ended == 2 {
                        link.requests.send(Command::Engine(EngineCommand::Shutdown)).await.expect("the engine listens");
                    }
                }
                (Event::Engine(EngineEvent::Ended), _) => break,
                _ => {}
            }
        }
    });
    println!("CALLS {}", io.calls());
}

// ---- what was seen of its life ----

#[derive(Default)]
struct Life {
    at: u64,
    session: Option<SessionId>,
    /// The rows as they were shown last, and of growing ones what had been shown long enough ago.
    rows: BTreeMap<String, Message>,
    growing: BTreeMap<String, Vec<(i64, String)>>,
    queued: Vec<String>,
    last: i64,
    turns_ended: usize,
    calls: Option<u64>,
}

impl Life {
    fn run(folder: &Path, at: u64) -> Self {
        let mut child = std::process::Command::new(std::env::current_exe().expect("a path"))
            .args(["__child", folder.to_str().expect("text"), &at.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut life = Life { at, ..Life::default() };
        let out = BufReader::new(child.stdout.take().expect("its stdout"));
        for line in out.lines() {
            let line = line.expect("text");
            if let Some(calls) = line.strip_prefix("CALLS ") {
                life.calls = calls.parse().ok();
                continue;
            }
            // The last line may be cut by the death.
            let Some((time, json)) = line.split_once(' ') else { continue };
            if let (Ok(time), Ok(stamped)) = (time.parse(), serde_json::from_str::<Stamped>(json)) {
                life.hear(time, stamped);
            }
        }
        let status = child.wait().expect("it ends");
        if at > 0 && life.calls.is_none() {
            use std::os::unix::process::ExitStatusExt;
            assert_eq!(status.signal(), Some(9), "death {at}: it died of something else");
        }
        life
    }

    fn hear(&mut self, time: i64, stamped: Stamped) {
        self.last = time;
        if let Some(session) = stamped.event.session() {
            self.session = Some(session.clone());
        }
        match stamped.event {
            Event::Session { event: SessionEvent::Reidentified { to }, .. } => self.session = Some(to),
            Event::Session { event: SessionEvent::Row(row), .. } => {
                let id = row.id.to_string();
                self.growing.insert(id.clone(), vec![(time, text_of(&row).unwrap_or_default().to_owned())]);
                self.rows.insert(id, *row);
            }
            Event::Session { event: SessionEvent::Delta { id, add }, .. } => {
                self.growing.entry(id.to_string()).or_default().push((time, add))
            }
            Event::Session { event: SessionEvent::Dropped { id }, .. } => {
                self.rows.remove(id.as_str());
                self.growing.remove(id.as_str());
            }
            Event::Session { event: SessionEvent::Queue { items, .. }, .. } => {
                self.queued = items.into_iter().map(|item| item.text).collect()
            }
            Event::Session { event: SessionEvent::TurnEnded { .. }, .. } => self.turns_ended += 1,
            _ => {}
        }
    }

    /// Part of a text that must be there: all that had been shown for longer than it may be behind.
    fn owed(&self, id: &str) -> String {
        let parts = self.growing.get(id).map(Vec::as_slice).unwrap_or_default();
        parts.iter().filter(|(time, _)| *time <= self.last - BEHIND_MS).map(|(_, text)| text.as_str()).collect()
    }

    fn check(&self, folder: &Path) {
        let at = self.at;
        let Some(session) = &self.session else { return };
        let (store, _) = store(folder, None);
        let loaded = match store.load(session, usize::MAX) {
            Ok(loaded) => loaded,
            Err(error) => {
                assert!(self.rows.is_empty() && self.queued.is_empty(), "death {at}: rows were shown, but: {error}");
                return;
            }
        };
        let found: BTreeMap<&str, &Message> = loaded.rows.iter().map(|row| (row.id.as_str(), row)).collect();
        for (id, shown) in &self.rows {
            let Some(row) = found.get(id.as_str()) else { panic!("death {at}: {shown:?} is lost") };
            match (&shown.body, &row.body) {
                (Body::Tool(shown), Body::Tool(row)) => {
                    assert!(row.result.is_some(), "death {at}: {row:?} has no result");
                    if shown.status.ended() {
                        assert_eq!(shown.result, row.result, "death {at}");
                    }
                }
                (Body::User(shown), Body::User(row)) => assert_eq!(shown.text, row.text, "death {at}"),
                _ => {
                    let (owed, have) = (self.owed(id), text_of(row).unwrap_or_default());
                    assert!(have.starts_with(&owed), "death {at}: {id} should begin with {owed:?}, but is {have:?}");
                }
            }
        }
        for text in &self.queued {
            let waits = loaded.queue.iter().any(|item| item.text == *text);
            let sent = loaded.rows.iter().any(|row| matches!(&row.body, Body::User(user) if user.text == *text));
            assert!(waits || sent, "death {at}: the queued message {text:?} is lost");
        }
        let before = loaded.rows.len();
        let Access::Writer(journal) = loaded.access else { panic!("death {at}: the lock outlived its holder") };
        self.write_on(folder, session, *journal, before);
    }

    /// The reopened session takes new rows, and the file holds well-formed lines only.
    fn write_on(&self, folder: &Path, session: &SessionId, journal: lisle::store::Journal, before: usize) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a thread");
        runtime.block_on(async {
            let writer = Writer::spawn(journal);
            let body = Body::User(UserText { text: "and on".into(), ..UserText::default() });
            let row = Message::new(MessageId::new("msg-1-afterw"), At(1), body);
            writer.append(vec![row], Durability::Synced).await.expect("it can be written");
            writer.close().await.expect("it can be closed");
        });
        let (store, _) = store(folder, None);
        let file = store.session_dir(session).join("session.jsonl");
        let text = std::fs::read_to_string(file).expect("it is there");
        for line in text.lines() {
            let parsed: Result<serde_json::Value, _> = serde_json::from_str(line);
            assert!(parsed.is_ok_and(|value| value.is_object()), "death {}: {line:?}", self.at);
        }
        let rows = store.load(session, usize::MAX).expect("it opens").rows;
        assert_eq!(rows.len(), before + 1, "death {}: rows came or went", self.at);
    }
}

fn text_of(row: &Message) -> Option<&str> {
    match &row.body {
        Body::Assistant(said) => Some(&said.text),
        Body::Thinking(thought) => Some(&thought.text),
        Body::Info(info) => Some(&info.text),
        Body::Error(failure) => Some(&failure.text),
        _ => None,
    }
}
