//! Servers by the library: one process each.

use super::Test;
use lisle::domain::permission::Sandbox;
use lisle::domain::tool::{CallFacts, Outcome, Touch};
use lisle::sandbox::{Namespaces, system_support};
use lisle::sources::config::craft_source;
use lisle::sources::log;
use lisle::sources::permissions::SourcePermissions;
use lisle::sources::server::CallFault;
use lisle::sources::tool::SourceTool;
use lisle::sources::{Reach, Server, ServerState, Servers, SourceConfig, Surroundings};
use lisle::tools::command::jobs::Jobs;
use lisle::tools::host::Alone;
use lisle::tools::read_tracker::Seen;
use lisle::tools::registry::Registry;
use lisle::tools::{CallPlace, RunContext, RunError};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

pub const TESTS: &[Test] = &[
    ("tools_are_listed_and_called", tools_are_listed_and_called),
    ("every_kind_of_content_comes_back", every_kind_of_content_comes_back),
    ("a_crash_in_a_call_is_an_error_and_the_server_comes_back", a_crash_in_a_call),
    ("a_server_that_keeps_dying_is_not_started_for_ever", a_server_that_keeps_dying),
    ("starts_that_fail_say_why", starts_that_fail_say_why),
    ("a_slow_start_is_waited_for", a_slow_start_is_waited_for),
    ("hostile_names_schemas_and_lists_are_cut", hostile_definitions),
    ("a_stopped_call_has_its_result_and_a_late_one_is_ignored", a_stopped_call),
    ("a_tool_that_changed_after_the_answer_is_asked_about_again", a_changed_tool),
    ("a_flood_on_the_standard_error_holds_nobody_up", a_flood),
    ("a_server_writes_its_own_folder_and_sees_no_keys", a_server_is_held),
    ("only_what_is_opened_is_written_and_what_runs_code_stays", only_what_is_opened),
    ("what_comes_after_the_start_is_hidden_and_protected", what_comes_after_the_start),
    ("keys_come_back_in_no_form", keys_come_back_in_no_form),
    ("one_broken_tool_spoils_no_other", one_broken_tool),
    ("a_message_that_is_too_long_ends_the_call_with_a_reason", a_long_message),
    ("progress_is_shown", progress_is_shown),
    ("nothing_outlives_the_last_user", nothing_outlives_the_last_user),
];

/// A key as no program writes it in one way.
const KEY: &str = "k3y\"k3y\\k3y/ü";

struct Ground {
    _dir: tempfile::TempDir,
    root: PathBuf,
    servers: Servers,
}

fn ground() -> Ground {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    for folder in ["ws/sources/t", "project", "state", "session"] {
        std::fs::create_dir_all(root.join(folder)).unwrap();
    }
    let enforced = lisle::sandbox::is_enforced();
    let servers = Servers::new(Surroundings {
        runner: env!("CARGO_BIN_EXE_lisle").into(),
        folder: root.join("state/sources"),
        workspace: root.join("ws"),
        own_dirs: vec![root.join("ws"), root.join("state")],
        allowances: Arc::default(),
        sandbox: if enforced { Sandbox::Workspace } else { Sandbox::None },
        variable: Box::new(|name| (name == "SECRET_TOKEN").then(|| KEY.to_owned())),
    });
    Ground { _dir: dir, root, servers }
}

fn source(ground: &Ground, kind: &str, more: Value) -> SourceConfig {
    let program = std::env::current_exe().unwrap();
    let mut config = json!({"type": "mcp", "mcp": {"command": program, "args": ["__serve", kind],
        "env": {"GIVEN_TOKEN": "${SECRET_TOKEN}"}}});
    for (key, value) in more.as_object().unwrap() {
        config[key] = value.clone();
    }
    let file = ground.root.join("ws/sources/t/config.json");
    let mut source = craft_source(&file, &config.to_string()).unwrap();
    source.trusted = true;
    source.permissions = SourcePermissions { read_only: ["echo".to_owned()].into(), trust_annotations: false };
    source
}

fn server(ground: &Ground, kind: &str) -> Arc<Server> {
    let server = ground.servers.of(&source(ground, kind, json!({})), &ground.root.join("project"), Reach::Configured);
    server.start();
    server
}

fn block<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(Duration::from_secs(90), work).await.expect("it took too long") })
}

/// Calls of a registry with the tools of a server.
struct Caller {
    tools: Registry,
    place: CallPlace,
    seen: Arc<Seen>,
    stop: CancellationToken,
    lines: mpsc::Receiver<String>,
    progress: mpsc::Sender<String>,
}

impl Caller {
    async fn new(ground: &Ground, server: &Arc<Server>) -> Self {
        let ready = server.ready().await.unwrap();
        let tools = ready.definitions.tools.iter().cloned();
        let tools =
            tools.map(|tool| Arc::new(SourceTool::new(Arc::clone(server), tool)) as Arc<dyn lisle::tools::Tool>);
        let place = CallPlace {
            cwd: ground.root.join("project"),
            folder: None,
            session_dir: ground.root.join("session"),
            own_dirs: Vec::new(),
            runner: env!("CARGO_BIN_EXE_lisle").into(),
            allowances: Arc::default(),
            known: Arc::default(),
            window: 200_000,
        };
        let (progress, lines) = mpsc::channel(16);
        let stop = CancellationToken::new();
        Self { tools: Registry::standard().with(tools), place, seen: Arc::default(), stop, lines, progress }
    }

    fn facts(&self, tool: &str, input: &Value) -> CallFacts {
        self.tools.find(&format!("mcp__t__{tool}")).unwrap().inspect(input, &self.place, &self.seen).unwrap()
    }

    async fn call(&self, tool: &str, input: Value) -> Result<Outcome, RunError> {
        let facts = self.facts(tool, &input);
        self.run(tool, input, facts).await
    }

    async fn run(&self, tool: &str, input: Value, facts: CallFacts) -> Result<Outcome, RunError> {
        let with = RunContext {
            place: self.place.clone(),
            facts,
            sandbox: Sandbox::None,
            seen: Arc::clone(&self.seen),
            stop: self.stop.clone(),
            call: lisle::domain::CallId::new("c"),
            progress: self.progress.clone(),
            jobs: Arc::new(Jobs::default()),
            host: Arc::new(Alone),
        };
        self.tools.find(&format!("mcp__t__{tool}")).unwrap().run(input, with).await
    }
}

fn names(server: &Server) -> Vec<String> {
    match server.state() {
        ServerState::Ready(ready) => ready.definitions.tools.iter().map(|tool| tool.spec.name.clone()).collect(),
        _ => Vec::new(),
    }
}

fn tools_are_listed_and_called() {
    let ground = ground();
    block(async {
        let server = server(&ground, "plain");
        let caller = Caller::new(&ground, &server).await;
        assert_eq!(names(&server).len(), 10, "{:?}", names(&server));
        let facts = caller.facts("echo", &json!({"text": "hi", "intent": "say it"}));
        assert!(
            matches!(&facts.touches[..], [Touch::Source { read_only: true, tool, .. }] if tool == "echo"),
            "{facts:?}"
        );
        // What its server says of itself counts for nothing by itself.
        let facts = caller.facts("act", &json!({}));
        assert!(matches!(&facts.touches[..], [Touch::Source { read_only: false, .. }]), "{facts:?}");
        let said = caller.call("echo", json!({"text": "hi", "intent": "say it"})).await.unwrap();
        assert_eq!((said.failed, said.text.as_str()), (false, r#"said hi {"text":"hi"}"#));
        let failed = caller.call("fail", json!({})).await.unwrap();
        assert_eq!((failed.failed, failed.text.as_str()), (true, "no such thing"));
    });
}

fn every_kind_of_content_comes_back() {
    let ground = ground();
    block(async {
        let server = server(&ground, "plain");
        let caller = Caller::new(&ground, &server).await;
        let all = caller.call("all", json!({})).await.unwrap();
        assert!(!all.text.contains('\u{1b}') && all.text.starts_with('a'), "{}", all.text);
        assert_eq!(all.figures.media.len(), 1);
        assert!(all.figures.media[0].path.starts_with(ground.root.join("session")));
        for words in ["can't be shown", "sound, audio/wav", "[link] x file:///x (a file)", "memo://1:\nof a resource"] {
            assert!(all.text.contains(words), "{words}: {}", all.text);
        }
    });
}

fn a_crash_in_a_call() {
    let ground = ground();
    block(async {
        let server = server(&ground, "plain");
        let caller = Caller::new(&ground, &server).await;
        let crashed = caller.call("crash", json!({})).await.unwrap();
        assert!(crashed.failed, "{}", crashed.text);
        for words in ["Source t", "exit 3", "out of cheese", "Nobody knows if the call was done"] {
            assert!(crashed.text.contains(words), "{words}: {}", crashed.text);
        }
        let again = caller.call("echo", json!({"text": "back"})).await.unwrap();
        assert_eq!(again.text, r#"said back {"text":"back"}"#);
    });
}

fn a_server_that_keeps_dying() {
    let ground = ground();
    block(async {
        let server = server(&ground, "plain");
        let caller = Caller::new(&ground, &server).await;
        for _ in 0..3 {
            let _ = caller.call("crash", json!({})).await;
        }
        let mut changes = server.watch();
        changes.wait_for(|state| matches!(state, ServerState::Failed(_))).await.unwrap();
        let after = caller.call("echo", json!({})).await.unwrap();
        assert!(after.failed && after.text.contains("3 times within a minute"), "{}", after.text);
        server.start();
        assert!(matches!(server.state(), ServerState::Failed(_)), "a message does not start it again at once");
    });
}

fn starts_that_fail_say_why() {
    let ground = ground();
    block(async {
        let why = server(&ground, "dies").ready().await.err().unwrap();
        assert!(why.contains("exit 7") && why.contains("no database at /nowhere"), "{why}");
        for (command, words) in [
            ("no-such-program-here", "No program no-such-program-here on PATH"),
            ("/no/such/file", "No program /no/such/file"),
        ] {
            let source = source(&ground, "plain", json!({"mcp": {"command": command}}));
            let server = ground.servers.of(&source, &ground.root.join("project"), Reach::Configured);
            server.start();
            let why = server.ready().await.err().unwrap();
            assert!(why.contains(words), "{why}");
        }
        let source = source(&ground, "plain", json!({"mcp": {"command": "x", "env": {"A": "${NOT_THERE}"}}}));
        let server = ground.servers.of(&source, &ground.root.join("project"), Reach::Configured);
        server.start();
        assert_eq!(server.ready().await.err().unwrap(), "The variable NOT_THERE is not set.");
    });
}

fn a_slow_start_is_waited_for() {
    let ground = ground();
    block(async {
        let server = server(&ground, "slow");
        assert!(matches!(server.state(), ServerState::Starting));
        assert!(server.ready().await.is_ok());
    });
}

fn hostile_definitions() {
    let ground = ground();
    block(async {
        let odd = server(&ground, "odd");
        let caller = Caller::new(&ground, &odd).await;
        let names = names(&odd);
        assert_eq!(names.len(), 3, "{names:?}");
        assert!(names.contains(&"mcp__t__bash".to_owned()) && names.contains(&"mcp__t__mcp__other__read".to_owned()));
        assert!(names.iter().all(|name| name.is_ascii() && !name.contains('\u{1b}')), "{names:?}");
        // lisle's own tool stays what it is, whatever the model is told.
        let own = caller.tools.find("bash").unwrap();
        assert!(own.spec().description.len() > 100 && !own.spec().description.contains("Ignore"));
        assert!(!caller.tools.find("mcp__t__bash").unwrap().reads_only(), "its hint counts for nothing");
        let ServerState::Ready(ready) = odd.state() else { panic!("not ready") };
        assert!(ready.definitions.left_out.iter().any(|why| why.contains("huge")), "{:?}", ready.definitions.left_out);
        let endless = server(&ground, "endless");
        endless.ready().await.unwrap();
        let count = super::servers::names(&endless).len();
        assert!((1..=256).contains(&count), "{count}");
    });
}

fn a_stopped_call() {
    let ground = ground();
    for kind in ["plain", "late"] {
        block(async {
            let server = server(&ground, kind);
            let mut caller = Caller::new(&ground, &server).await;
            let stop = caller.stop.clone();
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(200)).await;
                stop.cancel();
            });
            match caller.call("wait", json!({})).await {
                Err(RunError::Stopped(stopped)) => assert!(stopped.text.contains("told to stop"), "{stopped:?}"),
                other => panic!("{other:?}"),
            }
            // The next call gets its own answer.
            caller.stop = CancellationToken::new();
            let next = caller.call("echo", json!({"text": "next"})).await.unwrap();
            assert!(next.text.starts_with("said next"), "{}", next.text);
        });
    }
}

fn a_changed_tool() {
    let ground = ground();
    block(async {
        let server = server(&ground, "plain");
        let caller = Caller::new(&ground, &server).await;
        let input = json!({"text": "x"});
        let decided = caller.facts("echo", &input);
        let mut changes = server.watch();
        changes.borrow_and_update();
        caller.call("change", json!({})).await.unwrap();
        changes.changed().await.unwrap();
        match caller.run("echo", input.clone(), decided.clone()).await {
            Err(RunError::FactsChanged(now)) => assert_ne!(now.touches, decided.touches),
            other => panic!("{other:?}"),
        }
        // Whoever does not look again is refused, too.
        let Touch::Source { definition, .. } = &decided.touches[0] else { panic!("{decided:?}") };
        let (progress, stop) = (caller.progress.clone(), CancellationToken::new());
        let called = server.call(("echo", definition), serde_json::Map::new(), &progress, &stop).await;
        assert!(matches!(called, Err(CallFault::Failed(why)) if why.contains("changed")));
        assert!(caller.call("echo", input).await.is_ok());
    });
}

fn a_flood() {
    let ground = ground();
    block(async {
        let server = server(&ground, "flood");
        let caller = Caller::new(&ground, &server).await;
        for _ in 0..20 {
            assert!(!caller.call("echo", json!({})).await.unwrap().failed);
        }
        let folder = ground.servers.surroundings().folder_of(server.source());
        let size = std::fs::metadata(folder.join(log::FILE)).map_or(0, |meta| meta.len());
        assert!(size < 2 << 20, "{size}");
    });
}

fn a_server_is_held() {
    let ground = ground();
    block(async {
        let server = server(&ground, "plain");
        let caller = Caller::new(&ground, &server).await;
        let own = ground.servers.surroundings().folder_of(server.source()).join("data/x");
        let write = async |path: &Path| caller.call("write", json!({"text": path})).await.unwrap().text;
        assert_eq!(write(&own).await, "written");
        if lisle::sandbox::is_enforced() {
            for path in ["project/x", "ws/sources/t/permissions.json", "ws/x", "x"] {
                let said = write(&ground.root.join(path)).await;
                assert!(said.starts_with("refused") || path == "x", "{path}: {said}");
                // In its own temporary folder it may write what it likes.
                assert!(!ground.root.join(path).exists(), "{path}");
            }
        }
        // A key that it was given is shown nowhere, not even when it says it.
        let env = async |name: &str| caller.call("env", json!({"text": name})).await.unwrap().text;
        assert_eq!(env("GIVEN_TOKEN").await, "GIVEN_TOKEN=***");
        assert_eq!(env("SOME_OTHER_TOKEN").await, "SOME_OTHER_TOKEN=");
    });
}

fn only_what_is_opened() {
    // Without namespaces a folder that is open is open as a whole.
    let spaces = system_support::spaces(Path::new(env!("CARGO_BIN_EXE_lisle")));
    if !lisle::sandbox::is_enforced() || spaces == Namespaces::Without {
        return;
    }
    // Elsewhere: the folder that is opened is not the working directory.
    for (writable, reach, opens) in [
        ("${PROJECT}/../project", Reach::Configured, true),
        (".", Reach::Configured, true),
        ("${PROJECT}", Reach::Configured, true),
        ("${PROJECT}/out", Reach::Configured, false),
        (".", Reach::Own, false),
    ] {
        let ground = ground();
        let project = ground.root.join("project");
        for folder in [".git/hooks", ".git/objects", ".git/refs", ".vscode", "out/.vscode"] {
            std::fs::create_dir_all(project.join(folder)).unwrap();
        }
        let kept = [".git/config", ".git/hooks/pre-commit", ".vscode/tasks.json", "out/.vscode/tasks.json"];
        std::fs::write(project.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        for file in kept {
            std::fs::write(project.join(file), "before").unwrap();
        }
        std::fs::write(project.join("text"), "before").unwrap();
        block(async {
            let early = format!("early={}", project.join("text").display());
            let source = source(
                &ground,
                &early,
                json!({"writable": [writable.replace("${PROJECT}", project.to_str().unwrap())]}),
            );
            let cwd = if writable.contains("..") { ground.root.join("session") } else { project.clone() };
            let server = ground.servers.of(&source, &cwd, reach);
            server.start();
            let caller = Caller::new(&ground, &server).await;
            for file in kept {
                caller.call("write", json!({"text": project.join(file)})).await.unwrap();
                let now = std::fs::read_to_string(project.join(file)).unwrap();
                assert_eq!(now, "before", "{writable} {reach:?}: {file}");
            }
            // Nor is git led elsewhere, or what is protected given another name.
            let moved = format!("{0}/.git|{0}/.gitx", project.display());
            for text in [project.join(".git/commondir").display().to_string(), moved] {
                let said = caller.call("write", json!({"text": text})).await.unwrap().text;
                assert!(said.starts_with("refused"), "{writable} {reach:?}: {text}");
            }
            let written = std::fs::read_to_string(project.join("text")).unwrap() == "x";
            assert_eq!(written, opens, "{writable} {reach:?}");
            let below = caller.call("write", json!({"text": project.join("out/new")})).await.unwrap();
            assert_eq!(below.text == "written", reach == Reach::Configured, "{writable} {reach:?}: {}", below.text);
        });
    }
}

fn what_comes_after_the_start() {
    let spaces = system_support::spaces(Path::new(env!("CARGO_BIN_EXE_lisle")));
    if !lisle::sandbox::is_enforced() || spaces == Namespaces::Without {
        return;
    }
    let ground = ground();
    let project = ground.root.join("project");
    block(async {
        let source = source(&ground, "plain", json!({"writable": ["."]}));
        let server = ground.servers.of(&source, &project, Reach::Configured);
        server.start();
        let caller = Caller::new(&ground, &server).await;
        let text = |name: &str| json!({"text": project.join(name)});
        std::fs::write(project.join("notes"), "plain").unwrap();
        assert_eq!(caller.call("env", text("notes")).await.unwrap().text, "plain");
        std::fs::create_dir_all(project.join("sub/.vscode")).unwrap();
        for (file, content) in [(".env", "S=after"), ("sub/.vscode/tasks.json", "before"), (".envrc", "before")] {
            std::fs::write(project.join(file), content).unwrap();
        }
        let read = caller.call("env", text(".env")).await.unwrap().text;
        assert!(!read.contains("S=after"), "{read}");
        for file in ["sub/.vscode/tasks.json", ".envrc"] {
            let said = caller.call("write", text(file)).await.unwrap().text;
            assert!(said.starts_with("refused"), "{file}: {said}");
            assert_eq!(std::fs::read_to_string(project.join(file)).unwrap(), "before", "{file}");
        }
        assert_eq!(caller.call("write", text("sub/new")).await.unwrap().text, "written", "and it goes on");
    });
}

fn keys_come_back_in_no_form() {
    let ground = ground();
    block(async {
        let server = server(&ground, "leaks");
        let caller = Caller::new(&ground, &server).await;
        let ready = server.ready().await.unwrap();
        let offered: Vec<String> = ready.definitions.tools.iter().map(|tool| format!("{:?}", tool.spec)).collect();
        assert_eq!(offered.len(), 2, "{offered:?}");
        let said = [
            offered.join(" "),
            ready.definitions.left_out.join(" "),
            ready.instructions().unwrap_or_default().to_owned(),
            caller.call("echo", json!({})).await.unwrap().text,
        ];
        for said in said {
            assert!(said.contains("***") && !said.contains("k3y"), "{said}");
        }
    });
}

fn one_broken_tool() {
    let ground = ground();
    block(async {
        let server = server(&ground, "broken");
        let ready = server.ready().await.unwrap();
        assert_eq!(names(&server), ["mcp__t__good"]);
        let left_out = ready.definitions.left_out.join(" ");
        assert!(left_out.contains("`none` is left out: its schema is not an object"), "{left_out}");
    });
}

fn a_long_message() {
    let ground = ground();
    block(async {
        let server = server(&ground, "big");
        let caller = Caller::new(&ground, &server).await;
        let said = caller.call("echo", json!({})).await.unwrap();
        assert!(said.failed && said.text.contains("a message of more than 16 MB"), "{}", said.text);
        assert!(server.ready().await.is_ok(), "it is started again");
    });
}

fn progress_is_shown() {
    let ground = ground();
    block(async {
        let server = server(&ground, "plain");
        let mut caller = Caller::new(&ground, &server).await;
        assert_eq!(caller.call("steps", json!({})).await.unwrap().text, "all steps");
        let first = caller.lines.recv().await.unwrap();
        assert!(first.starts_with("33 % · step") && !first.contains('\u{1b}'), "{first}");
    });
}

fn nothing_outlives_the_last_user() {
    let ground = ground();
    block(async {
        let server = server(&ground, "plain");
        let caller = Caller::new(&ground, &server).await;
        let children = || lisle::sandbox::runner::processes::descendants(i32::try_from(std::process::id()).unwrap());
        let serves = |pid: &i32| {
            std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.ends_with(b"\0__serve\0plain\0"))
        };
        assert!(children().iter().any(serves));
        drop((server, caller));
        for _ in 0..200 {
            if !children().iter().any(serves) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("the server goes on");
    });
}
