//! Commands whose network is held, and a server that they try to reach.

use futures_util::future::BoxFuture;
use lisle::domain::ids::CallId;
use lisle::domain::permission::Sandbox;
use lisle::domain::tool::{CallFacts, Outcome, Touch};
use lisle::sandbox::proxy::KnownHosts;
use lisle::sandbox::{Allowances, Network, system_support};
use lisle::tools::host::{Completion, Host};
use lisle::tools::read_tracker::Seen;
use lisle::tools::registry::Registry;
use lisle::tools::{CallPlace, RunContext};
use serde_json::json;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;

pub const LISLE: &str = env!("CARGO_BIN_EXE_lisle");

/// The program itself reports what this system can do.
pub fn held() -> bool {
    if lisle::sandbox::is_enforced() && system_support::own_network(Path::new(LISLE)).is_ok() {
        return true;
    }
    eprintln!("skipped: commands get no network of their own on this system");
    false
}

/// Says yes to these hosts, and keeps what it was asked.
#[derive(Default)]
pub struct Door {
    pub open: Vec<String>,
    pub asked: Mutex<Vec<CallFacts>>,
}

impl Host for Door {
    fn complete(&self, _: Completion) -> BoxFuture<'static, Result<String, String>> {
        Box::pin(async { Err("There is no model.".to_owned()) })
    }

    fn may_reach(&self, _: CallId, facts: CallFacts) -> BoxFuture<'static, Result<(), String>> {
        let open = facts.touches.iter().all(|touch| match touch {
            Touch::Connect { host, known, .. } => known.is_some() || self.open.contains(host),
            _ => false,
        });
        self.asked.lock().unwrap().push(facts);
        Box::pin(async move { if open { Ok(()) } else { Err("The user refused this host.".to_owned()) } })
    }
}

pub struct Bench {
    _dir: tempfile::TempDir,
    pub place: CallPlace,
    pub door: Arc<Door>,
}

impl Bench {
    pub fn new(network: Network, open: &[String], private: &[String]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let cwd = root.join("work");
        std::fs::create_dir(&cwd).unwrap();
        let place = CallPlace {
            folder: None,
            known: Arc::new(KnownHosts::of(&cwd, private, None)),
            cwd,
            session_dir: root.join("session"),
            own_dirs: vec![],
            runner: LISLE.into(),
            allowances: Arc::new(Allowances { network, ..Allowances::default() }),
            window: 200_000,
        };
        Self { _dir: dir, place, door: Arc::new(Door { open: open.to_vec(), ..Door::default() }) }
    }

    pub fn run(&self, command: &str) -> Outcome {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let bash = Registry::standard().find("bash").unwrap();
        let seen = Arc::new(Seen::default());
        let input = json!({"command": command, "timeout_s": 60});
        let facts = bash.inspect(&input, &self.place, &seen).unwrap();
        let (progress, _shown) = tokio::sync::mpsc::channel(8);
        let with = RunContext {
            sandbox: Sandbox::Workspace,
            place: self.place.clone(),
            facts,
            seen,
            stop: CancellationToken::new(),
            call: CallId::new("call-1"),
            progress,
            jobs: Arc::default(),
            host: self.door.clone(),
        };
        runtime.block_on(bash.run(input, with)).unwrap()
    }

    pub fn asked(&self) -> Vec<(String, bool)> {
        let asked = self.door.asked.lock().unwrap();
        let touches = asked.iter().flat_map(|facts| &facts.touches);
        let connects = touches.filter_map(|touch| match touch {
            Touch::Connect { host, private, .. } => Some((host.clone(), *private)),
            _ => None,
        });
        connects.collect()
    }
}

/// Answers every connection with a page; the value counts them.
pub fn server() -> (SocketAddr, Arc<Mutex<u32>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    let count = Arc::new(Mutex::new(0));
    let counted = count.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            *counted.lock().unwrap() += 1;
            let (mut head, mut byte) = (Vec::new(), [0]);
            while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|n| n == 1) {
                head.push(byte[0]);
            }
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\ninside");
        }
    });
    (at, count)
}

/// A request through the proxy by the shell alone.
pub fn through_proxy(to: SocketAddr) -> String {
    format!(
        "exec 3<>/dev/tcp/127.0.0.1/43128; printf 'GET http://{to}/ HTTP/1.1\\r\\nHost: {to}\\r\\nConnection: \
         close\\r\\n\\r\\n' >&3; cat <&3"
    )
}
