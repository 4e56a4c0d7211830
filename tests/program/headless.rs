//! The command line of the real binary: what comes out, what it ends with, and that the app's sessions are the same.

#![allow(clippy::unwrap_used, reason = "a failing test should stop where it fails")]

use crate::support;

use lisle::domain::SessionId;
use lisle::store::{Options, Store};
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use support::model_server::{Gate, ModelServer, Script, chunk};

pub struct Place {
    pub home: tempfile::TempDir,
    pub project: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Self {
        let place = Self { home: tempfile::tempdir().unwrap(), project: tempfile::tempdir().unwrap() };
        std::fs::write(place.project.path().join("README.md"), "# A project\n\nWith a README.\n").unwrap();
        place
    }

    pub fn config(&self, text: &str) {
        let dir = self.home.path().join("config");
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("config.toml"), text).unwrap();
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lisle"));
        command.args(args).current_dir(self.project.path()).env("LISLE_HOME", self.home.path()).stdin(Stdio::null());
        for name in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"] {
            command.env_remove(name);
        }
        support::with_signals(&mut command);
        command
    }

    pub fn lisle(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    pub fn start(&self, args: &[&str]) -> Child {
        self.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Properties of all sessions.
    pub fn sessions(&self) -> Vec<Value> {
        serde_json::from_str(&out(&self.lisle(&["sessions", "list", "--json", "--all"]))).unwrap()
    }

    /// The id of the only session.
    pub fn session(&self) -> String {
        let sessions = self.sessions();
        assert_eq!(sessions.len(), 1, "{sessions:?}");
        sessions[0]["id"].as_str().unwrap().to_owned()
    }

    /// Texts of the user in a session.
    pub fn said(&self, session: &str) -> Vec<String> {
        let shown: Value = serde_json::from_str(&out(&self.lisle(&["sessions", "show", session, "--json"]))).unwrap();
        let rows = shown["messages"].as_array().unwrap().iter().filter(|row| row["body"]["row"] == "user");
        rows.map(|row| row["body"]["text"].as_str().unwrap().to_owned()).collect()
    }

    fn rehearse(&self, prompt: &str) -> Output {
        self.lisle(&["run", "--connection", "demo", prompt])
    }
}

pub fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}
pub fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
pub fn code(output: &Output) -> Option<i32> {
    output.status.code()
}

#[test]
fn the_answer_is_all_of_stdout() {
    let place = Place::new();
    let done = place.rehearse("read README.md");
    assert_eq!(code(&done), Some(0), "{}", err(&done));
    assert!(out(&done).contains("README.md"), "{}", out(&done));
    assert_eq!(err(&done), "");
    assert_eq!(place.sessions()[0]["connection"], "demo");
    let used: Value = serde_json::from_str(&out(&place.lisle(&["usage", "--json", "--by", "model"]))).unwrap();
    assert!(!used.to_string().contains("rehearsal"), "{used}");
    let limit = place.lisle(&["run", "--timeout", "-5", "x"]);
    assert!(err(&limit).contains("it is a time like"), "{}", err(&limit));
}

#[test]
fn a_plan_is_printed_and_is_a_good_end() {
    let place = Place::new();
    let done = place.lisle(&["run", "--connection", "demo", "--mode", "explore", "list, then plan a tidy-up"]);
    assert_eq!(code(&done), Some(0));
    assert!(out(&done).starts_with("# a tidy-up"), "{}", out(&done));
    assert!(!place.project.path().join("TIDY-UP.md").exists());
}

#[test]
fn what_would_ask_is_refused_and_told() {
    let place = Place::new();
    for mode in ["explore", "ask"] {
        let done = place.lisle(&["run", "--connection", "demo", "--mode", mode, "write a.txt: hello"]);
        assert_eq!(code(&done), Some(3), "{mode}");
        assert!(err(&done).contains("refused: write a.txt"), "{}", err(&done));
        assert!(!place.project.path().join("a.txt").exists());
    }
    let done = place.lisle(&["run", "--connection", "demo", "--mode", "execute", "write a.txt: hello"]);
    assert_eq!(code(&done), Some(0));
    assert_eq!(std::fs::read_to_string(place.project.path().join("a.txt")).unwrap().trim(), "hello");
    let done = place.lisle(&["run", "--connection", "demo", "--mode", "execute", "run rm -rf /"]);
    assert_eq!(code(&done), Some(3), "what is catastrophic is refused in every mode");
    let done = place.lisle(&["run", "--connection", "demo", "ask which way? | left | right"]);
    assert!(out(&done).to_lowercase().contains("this run is non-interactive"), "{}", out(&done));
}

#[test]
fn wrong_arguments_and_missing_connections_have_their_own_codes() {
    let place = Place::new();
    assert_eq!(code(&place.lisle(&["run"])), Some(2));
    assert_eq!(code(&place.lisle(&["--mode", "yolo", "run", "x"])), Some(2));
    let none = place.lisle(&["run", "hello"]);
    assert_eq!((code(&none), out(&none)), (Some(4), String::new()));
    assert!(err(&none).contains("--connection demo"), "{}", err(&none));
    let unknown = place.lisle(&["run", "--connection", "nope", "hello"]);
    assert_eq!(code(&unknown), Some(2));
    assert!(err(&unknown).contains("demo"), "it names what there is: {}", err(&unknown));
    let found = place.command(&["run", "hello"]).env("OPENAI_API_KEY", "sk-secret-1234567890").output().unwrap();
    assert_eq!(code(&found), Some(4), "a key that was found is not used before it was chosen");
    assert!(err(&found).contains("openai") && !err(&found).contains("sk-secret"), "{}", err(&found));
    let version = place.lisle(&["--version"]);
    assert_eq!((code(&version), out(&version).starts_with("lisle ")), (Some(0), true));
    let verbose = place.lisle(&["--version", "--verbose"]);
    assert_eq!(code(&verbose), Some(0));
    let lines = out(&verbose);
    for about in ["commit:", "build:", "sandbox:", "program:", "config:", "data:", "state:"] {
        assert!(lines.lines().any(|line| line.starts_with(about)), "{about} is missing:\n{lines}");
    }
    assert_eq!(code(&place.lisle(&["--verbose"])), Some(2), "it is of --version alone");
}

#[test]
fn what_is_piped_in_is_added() {
    let place = Place::new();
    let mut child = place
        .command(&["run", "--connection", "demo", "what is this?"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all("the piped text\n".as_bytes()).unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
    let list: Value = serde_json::from_str(&out(&place.lisle(&["sessions", "list", "--json"]))).unwrap();
    let id = list[0]["id"].as_str().unwrap().to_owned();
    let shown = out(&place.lisle(&["sessions", "show", &id]));
    assert!(shown.contains("what is this?\n\nthe piped text"), "{shown}");
}

#[test]
fn json_is_the_events_one_a_line() {
    let place = Place::new();
    let done = place.lisle(&["run", "--connection", "demo", "--output", "json", "list"]);
    let events: Vec<Value> = out(&done).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = events.iter().filter_map(|event| event["event"].as_str()).collect();
    for kind in ["opened", "turn-started", "row", "delta", "turn-ended", "ended"] {
        assert!(kinds.contains(&kind), "{kind} is missing in {kinds:?}");
    }
    assert_eq!(kinds.last(), Some(&"ended"));
    assert!(events.iter().all(|event| event["v"] == lisle::protocol::VERSION));
}

#[test]
fn a_session_goes_on_where_it_was() {
    let place = Place::new();
    assert_eq!(code(&place.rehearse("list")), Some(0));
    let again = place.lisle(&["run", "--continue", "read README.md"]);
    assert_eq!(code(&again), Some(0), "{}", err(&again));
    let list: Value = serde_json::from_str(&out(&place.lisle(&["sessions", "list", "--json"]))).unwrap();
    assert_eq!(list.as_array().unwrap().len(), 1);
    let id = list[0]["id"].as_str().unwrap();
    let shown: Value = serde_json::from_str(&out(&place.lisle(&["sessions", "show", id, "--json"]))).unwrap();
    let users = shown["messages"].as_array().unwrap().iter().filter(|row| row["body"]["row"] == "user").count();
    assert_eq!(users, 2);
    let none = place.lisle(&["sessions", "show", "260101-no-where"]);
    assert_eq!(code(&none), Some(2));
    assert!(err(&none).contains("no session"), "{}", err(&none));
}

pub fn served(place: &Place, server: &ModelServer) {
    place.config(&format!(
        "default_connection = \"local\"\n[connections.local]\nprovider = \"openai-compatible\"\nbase_url = \"{}\"\ndefault_model = \"m\"\n",
        server.base_url()
    ));
}

#[test]
fn a_server_is_talked_to_with_tools() {
    let place = Place::new();
    let server = ModelServer::start([
        Script::calls(&[("read", json!({"path": "README.md"})), ("bash", json!({"command": "touch x"}))]),
        Script::says("It is a project."),
    ]);
    served(&place, &server);
    let done = place.lisle(&["run", "what is here?"]);
    assert_eq!(code(&done), Some(3), "touch was refused: {}", err(&done));
    assert_eq!(out(&done), "It is a project.\n");
    assert!(!place.project.path().join("x").exists());
}

#[test]
fn servers_that_fail_are_told_apart() {
    let cases = [
        (Script::json(401, &json!({"error": {"message": "Incorrect API key provided"}})), 4, "key"),
        (
            Script::json(
                404,
                &json!({"error": {"message": "The model `m` does not exist", "code": "model_not_found"}}),
            ),
            1,
            "model",
        ),
        (Script::html(), 1, "web page"),
    ];
    for (script, status, word) in cases {
        let place = Place::new();
        let server = ModelServer::start([script]);
        served(&place, &server);
        let done = place.lisle(&["run", "hello"]);
        assert_eq!(code(&done), Some(status), "{word}: {}", err(&done));
        assert!(err(&done).to_lowercase().contains(&word.to_lowercase()), "{word}: {}", err(&done));
        assert_eq!(out(&done), "");
    }
}

#[test]
fn a_broken_configuration_is_told_with_its_line_and_the_program_goes_on() {
    let place = Place::new();
    place.config("[ui]\nfps = \"fast\"\n[permission]\n");
    let done = place.rehearse("list");
    assert_eq!(code(&done), Some(0));
    assert!(err(&done).contains("config.toml:2:") && err(&done).contains("config.toml:3:"), "{}", err(&done));
}

#[test]
fn without_a_place_to_write_it_works_in_memory_and_says_so() {
    let place = Place::new();
    let file = place.home.path().join("a-file");
    std::fs::write(&file, "").unwrap();
    let done = place
        .command(&["run", "--connection", "demo", "read README.md"])
        .env("LISLE_HOME", file.join("home"))
        .output()
        .unwrap();
    assert_eq!(code(&done), Some(6));
    assert!(out(&done).contains("README.md"));
    assert!(err(&done).contains("Can't save") && err(&done).contains("The text is in"), "{}", err(&done));
}

#[test]
fn another_programs_workspace_is_listed_and_left_alone() {
    let place = Place::new();
    let copy = place.home.path().join("craft");
    copy_tree(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/craft/main"), &copy);
    let workspace = copy.to_str().unwrap();
    let list = |more: &[&str]| -> Vec<Value> {
        let mut args = vec!["sessions", "list", "--json", "--workspace", workspace];
        args.extend(more);
        serde_json::from_str(&out(&place.lisle(&args))).unwrap()
    };
    let shown = list(&[]);
    let all = list(&["--all"]);
    assert_eq!((shown.len(), all.len()), (28, 30), "one is hidden, one is archived");
    let archived: Vec<&Value> = all.iter().filter(|meta| meta["archived"] == true).collect();
    assert_eq!(archived[0]["id"], "260910-amber-ridge");
    let before = std::fs::read(copy.join("sessions/260902-swift-river/session.jsonl")).unwrap();
    let show = place.lisle(&["sessions", "show", "260902-swift-river", "--workspace", workspace]);
    assert!(out(&show).contains("Set up the release checklist for 2.4"), "{}", out(&show));
    assert_eq!(before, std::fs::read(copy.join("sessions/260902-swift-river/session.jsonl")).unwrap());
}

fn copy_tree(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn a_search_tells_the_sessions_and_the_lines() {
    let place = Place::new();
    assert_eq!(code(&place.rehearse("read README.md and find Giraffes")), Some(0));
    let found = place.lisle(&["sessions", "search", "GIRAFFES", "-zebras"]);
    assert_eq!((code(&found), err(&found)), (Some(0), String::new()));
    let text = out(&found);
    let (session, lines) = text.split_once('\n').unwrap();
    assert!(lines.contains("  user: read README.md and find Giraffes\n"), "{text}");
    let id = session.split_whitespace().next().unwrap();

    let found = place.lisle(&["sessions", "search", "--json", "tool:read", "readme"]);
    assert_eq!(code(&found), Some(0), "{}", err(&found));
    let lines: Vec<Value> = out(&found).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 1);
    assert_eq!((lines[0]["session"].as_str(), lines[0]["hits"][0]["place"].as_str()), (Some(id), Some("tool")));
    let (line, mark) = (lines[0]["hits"][0]["line"].as_str().unwrap(), &lines[0]["hits"][0]["marks"][0]);
    let at = |n: usize| usize::try_from(mark[n].as_u64().unwrap()).unwrap();
    assert_eq!(line[at(0)..at(1)].to_lowercase(), "readme");

    let none = place.lisle(&["sessions", "search", "-giraffes"]);
    assert_eq!((code(&none), out(&none), err(&none)), (Some(1), String::new(), String::new()));
    let wrong = place.lisle(&["sessions", "search", "x", "afer:7d"]);
    assert_eq!((code(&wrong), out(&wrong)), (Some(2), String::new()));
    assert!(err(&wrong).contains("Did you mean after:?") && err(&wrong).ends_with("\n    ^\n"), "{}", err(&wrong));
    let unknown = place.lisle(&["sessions", "search", "status:nope"]);
    assert_eq!(code(&unknown), Some(2));
    assert!(err(&unknown).contains("in-progress"), "it names what there is: {}", err(&unknown));
}

#[test]
fn the_doctor_says_what_there_is_and_no_key() {
    let place = Place::new();
    place.config(
        "[connections.x]\nprovider = \"openai-compatible\"\nbase_url = \"http://127.0.0.1:9/v1\"\n[ui]\nfp = 1\n",
    );
    let config = place.home.path().join("config");
    std::fs::write(config.join("credentials"), "x = \"sk-very-secret\"\n").unwrap();
    std::fs::set_permissions(config.join("credentials"), std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let done = place.command(&["doctor"]).env("MY_API_KEY", "sk-also-secret").output().unwrap();
    let said = out(&done);
    assert_eq!(code(&done), Some(0), "{said}{}", err(&done));
    for about in ["version", "config", "data", "workspace", "trash", "terminal", "clipboard", "sandbox", "bash", "git"]
    {
        assert!(said.lines().any(|line| line.split_whitespace().nth(1) == Some(about)), "{about} in {said}");
    }
    assert!(said.contains("connection") && said.contains("x (openai-compatible)"), "{said}");
    assert!(said.lines().any(|line| line.starts_with("warn") && line.contains("ui.fp")), "{said}");
    assert!(!said.contains("sk-"), "{said}");
    let json: Value = serde_json::from_str(&out(&place.lisle(&["doctor", "--json"]))).unwrap();
    assert!(json.as_array().unwrap().iter().all(|fact| fact["about"].is_string() && fact["says"].is_string()));
    // The folders of the program stay as they were.
    let mut left: Vec<_> = std::fs::read_dir(place.project.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["README.md"]);
}

fn asked_times(server: &ModelServer, times: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(server.asked_times(times));
}

#[test]
fn a_spawned_session_answers_its_parent_and_not_the_run() {
    let task = json!({"title": "Count", "prompt": "Count the rivers."});
    let scripts = || {
        [Script::calls(&[("spawn", task.clone())]), Script::says("The child's answer."), Script::says("The answer.")]
    };
    for output in ["text", "json"] {
        let place = Place::new();
        let server = ModelServer::start(scripts());
        served(&place, &server);
        let done = place.lisle(&["run", "--mode", "execute", "--output", output, "how many rivers?"]);
        assert_eq!(code(&done), Some(0), "{}{}", out(&done), err(&done));
        assert_eq!(server.asked().len(), 3, "the turn goes on to its end");
        if output == "text" {
            assert_eq!(out(&done), "The answer.\n");
            continue;
        }
        let events: Vec<Value> = out(&done).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let of = |kind: &str| events.iter().filter(|event| event["event"] == kind).collect::<Vec<_>>();
        let run = &of("opened")[0]["session"];
        let ends = of("turn-ended");
        assert_eq!(ends.len(), 2, "{ends:?}");
        assert!(ends[0]["session"] != *run && ends[1]["session"] == *run, "{ends:?}");
        let accepted = of("accepted").into_iter().find(|event| event["session"] == *run).unwrap();
        let id = &accepted["with"]["id"];
        let asked = of("row").into_iter().find(|event| event["with"]["id"] == *id).unwrap();
        assert_eq!(asked["with"]["body"]["text"], "how many rivers?");
    }
}

/// Nobody can be asked, so what would open it is named: the rule, which then does.
#[test]
fn what_the_sandbox_keeps_is_told_with_the_rule_that_opens_it() {
    let lisle = Path::new(env!("CARGO_BIN_EXE_lisle"));
    if lisle::sandbox::system_support::namespaces(lisle).is_err() {
        return;
    }
    let place = Place::new();
    std::fs::write(place.project.path().join(".env"), "KEY=real\n").unwrap();
    std::fs::write(place.project.path().join("reads.sh"), "f=.en; grep real ${f}v\n").unwrap();
    let run = |command: &str| place.lisle(&["run", "--connection", "demo", "--mode", "execute", command]);
    let hidden = run("run sh reads.sh");
    assert!(
        err(&hidden).contains("blocked by the sandbox in bash sh reads.sh: hidden secret: .env"),
        "{}",
        err(&hidden)
    );
    let named = run("run cat .env");
    let rule = r#"{"effect":"allow","tool":"sandbox","readable":["./.env"]}"#;
    assert!(err(&named).contains("refused: bash cat .env") && err(&named).contains(rule), "{}", err(&named));
    let rules = place.home.path().join("config/permissions.json");
    std::fs::create_dir_all(rules.parent().unwrap()).unwrap();
    std::fs::write(&rules, format!("{{\"rules\": [{rule}]}}")).unwrap();
    for command in ["run sh reads.sh", "run cat .env", "read .env"] {
        let shown = run(command);
        assert_eq!((code(&shown), err(&shown).as_str()), (Some(0), ""), "{command}");
    }
    // Explore stays as it is.
    let explore = place.lisle(&["run", "--connection", "demo", "--mode", "explore", "run cat .env"]);
    assert_eq!(code(&explore), Some(3), "{}", err(&explore));
    // A repository's file opens nothing.
    std::fs::remove_file(&rules).unwrap();
    std::fs::create_dir(place.project.path().join(".lisle")).unwrap();
    std::fs::write(place.project.path().join(".lisle/permissions.json"), format!("{{\"rules\": [{rule}]}}")).unwrap();
    assert_eq!(code(&run("run cat .env")), Some(3));
}

/// The rule that a refusal names, pasted as it is, lets the very command run.
#[test]
fn the_rule_that_a_refusal_names_works_when_it_is_pasted() {
    let lisle = Path::new(env!("CARGO_BIN_EXE_lisle"));
    if lisle::sandbox::system_support::namespaces(lisle).is_err() {
        return;
    }
    let place = Place::new();
    // Commands have a `/tmp` of their own.
    let outside = [Some(PathBuf::from(env!("CARGO_TARGET_TMPDIR"))), std::env::home_dir()];
    let outside =
        outside.into_iter().flatten().find(|dir| !["/tmp", "/var/tmp"].iter().any(|top| dir.starts_with(top)));
    let Some(outside) = outside.filter(|dir| dir.is_dir()) else {
        return eprintln!("not tested: the sources and the home directory lie in a folder for temporary files");
    };
    let beside = tempfile::tempdir_in(outside).unwrap();
    let git = |dir: &Path, args: &[&str]| {
        let mut git = Command::new("git");
        git.current_dir(dir).args(["-c", "user.name=D", "-c", "user.email=d@e"]).args(args);
        assert!(git.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap().status.success(), "{args:?}");
    };
    let remote = beside.path().join("r.git");
    git(beside.path(), &["init", "-q", "--bare", "r.git"]);
    git(place.project.path(), &["init", "-q", "-b", "main", "."]);
    git(place.project.path(), &["commit", "-q", "--allow-empty", "-m", "one"]);
    git(place.project.path(), &["remote", "add", "origin", remote.to_str().unwrap()]);
    let rules = place.home.path().join("config/permissions.json");
    std::fs::create_dir_all(rules.parent().unwrap()).unwrap();
    let clone = format!("git clone -q . {}/copy", beside.path().display());
    for (command, made) in [
        ("git push -q origin main", "r.git/refs/heads/main"),
        // Which branch follows which is harmless.
        ("git push -q -u origin main", "r.git/refs/heads/main"),
        (clone.as_str(), "copy/.git/HEAD"),
    ] {
        for mode in ["execute", "ask"] {
            let run = || place.lisle(&["run", "--connection", "demo", "--mode", mode, &format!("run {command}")]);
            let refused = err(&run());
            let (_, named) = refused.split_once("to permissions.json: ").unwrap_or_else(|| panic!("{refused}"));
            std::fs::write(&rules, format!("{{\"rules\": [{}]}}", named.lines().next().unwrap())).unwrap();
            let done = run();
            assert_eq!((code(&done), err(&done).as_str()), (Some(0), ""), "{mode} {command}");
            let made = beside.path().join(made);
            assert!(made.exists(), "{mode} {command}");
            std::fs::remove_file(&rules).unwrap();
            if made.ends_with("HEAD") {
                std::fs::remove_dir_all(beside.path().join("copy")).unwrap();
            }
        }
    }
}

#[test]
fn a_session_that_another_process_has_is_refused_at_once() {
    let place = Place::new();
    let gate = Gate::new();
    let server = ModelServer::start([
        Script::says("First."),
        Script::sse("").then_wait(&gate).then(chunk(json!({"content": "Second."}), json!("stop"))),
    ]);
    served(&place, &server);
    assert_eq!(out(&place.lisle(&["run", "one"])), "First.\n");
    let id = place.session();
    let holds = place.start(&["run", "--session", &id, "two"]);
    asked_times(&server, 2);
    for which in [&["--session", &id][..], &["--continue"]] {
        let refused = place.lisle(&[&["run"], which, &["--mode", "execute", "three"]].concat());
        assert_eq!((code(&refused), out(&refused)), (Some(5), String::new()), "{}", err(&refused));
        assert!(err(&refused).contains("nothing sent: session open in"), "{}", err(&refused));
    }
    gate.open();
    let held = holds.wait_with_output().unwrap();
    assert_eq!((code(&held), out(&held)), (Some(0), "Second.\n".to_owned()), "{}", err(&held));
    assert_eq!(place.said(&id), ["one", "two"]);
}

#[test]
fn each_of_many_runs_on_one_session_prints_its_own_answer_or_is_refused() {
    let place = Place::new();
    let name = |n: usize| format!("file-{n}.txt");
    for n in 0..6 {
        std::fs::write(place.project.path().join(name(n)), format!("text of {n}\n")).unwrap();
    }
    assert_eq!(code(&place.rehearse("list")), Some(0));
    let id = place.session();
    let all: Vec<Child> =
        (0..6).map(|n| place.start(&["run", "--session", &id, &format!("read {}", name(n))])).collect();
    let mut answered = vec!["list".to_owned()];
    for (n, run) in all.into_iter().enumerate() {
        let done = run.wait_with_output().unwrap();
        match code(&done) {
            Some(0) => {
                let others = (0..6).filter(|other| *other != n).any(|other| out(&done).contains(&name(other)));
                assert!(out(&done).contains(&name(n)) && !others, "{n}: {}", out(&done));
                answered.push(format!("read {}", name(n)));
            }
            Some(5) => {
                assert_eq!(out(&done), "", "{n}");
                assert!(err(&done).contains("session open in"), "{n}: {}", err(&done));
            }
            other => panic!("{n}: {other:?} {}{}", out(&done), err(&done)),
        }
    }
    assert!(answered.len() > 1, "nobody had it");
    let mut said = place.said(&id);
    said.sort();
    answered.sort();
    assert_eq!(said, answered, "what was answered was sent, and nothing else");
}

#[test]
fn a_run_whose_session_is_taken_over_says_so_and_prints_nothing_of_the_other() {
    let place = Place::new();
    let gate = Gate::new();
    let server = ModelServer::start([
        Script::says("First."),
        Script::sse(chunk(json!({"content": "Sec"}), Value::Null))
            .then_wait(&gate)
            .then(chunk(json!({"content": "ond."}), json!("stop"))),
    ]);
    served(&place, &server);
    assert_eq!(out(&place.lisle(&["run", "one"])), "First.\n");
    let id = place.session();
    let run = place.start(&["run", "--session", &id, "two"]);
    asked_times(&server, 2);
    let home = place.home.path();
    let store = Store::open(Options::new(home.join("data/workspaces/default"), home.join("state"))).unwrap();
    let taken = store.take_over(&SessionId::parse(&id).unwrap(), 10).unwrap();
    gate.open();
    let done = run.wait_with_output().unwrap();
    assert_eq!(code(&done), Some(5), "{}{}", out(&done), err(&done));
    assert!(err(&done).contains("taken over by"), "{}", err(&done));
    assert!(!out(&done).contains("First."), "{}", out(&done));
    drop(taken);
}

#[test]
fn a_server_that_never_answers_ends_with_the_time_that_was_given() {
    let place = Place::new();
    let server = ModelServer::start([Script::silence()]);
    served(&place, &server);
    let done = place.lisle(&["run", "--timeout", "1", "hello"]);
    assert_eq!((code(&done), out(&done)), (Some(1), String::new()));
    assert!(err(&done).contains("timeout:"), "{}", err(&done));
    assert_eq!(place.said(&place.session()), ["hello"]);
}

#[test]
fn an_answer_whose_session_was_deleted_is_printed_and_said_to_be_unsaved() {
    let place = Place::new();
    let gate = Gate::new();
    let server = ModelServer::start([Script::sse(chunk(json!({"content": "The "}), Value::Null))
        .then_wait(&gate)
        .then(chunk(json!({"content": "Danube."}), json!("stop")))]);
    served(&place, &server);
    let temp = tempfile::tempdir().unwrap();
    let mut command = place.command(&["run", "which river is long?"]);
    let run = command.env("TMPDIR", temp.path()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    asked_times(&server, 1);
    let session = place.home.path().join("data/workspaces/default/sessions").join(place.session());
    std::fs::remove_dir_all(&session).unwrap();
    gate.open();
    let done = run.wait_with_output().unwrap();
    assert_eq!((code(&done), out(&done)), (Some(6), "The Danube.\n".to_owned()), "{}", err(&done));
    assert!(err(&done).contains("Not saved"), "{}", err(&done));
    let kept = std::fs::read_dir(temp.path()).unwrap().map(|entry| entry.unwrap().path());
    assert!(kept.into_iter().any(|file| std::fs::read_to_string(file).is_ok_and(|text| text.contains("The Danube."))));
}

#[test]
fn a_session_without_a_connection_asks_the_default_one() {
    let place = Place::new();
    let server = ModelServer::start(["One.", "Two."].map(Script::says));
    served(&place, &server);
    assert_eq!(out(&place.lisle(&["run", "one"])), "One.\n");
    let dir = place.home.path().join("data/workspaces/default/sessions").join(place.session());
    let rows = std::fs::read_to_string(dir.join("session.jsonl")).unwrap();
    let (header, rest) = rows.split_once('\n').unwrap();
    let mut header: Value = serde_json::from_str(header).unwrap();
    header.as_object_mut().unwrap().remove("llmConnection").unwrap();
    std::fs::write(dir.join("session.jsonl"), format!("{header}\n{rest}")).unwrap();
    std::fs::remove_file(dir.join("header.json")).unwrap();
    let done = place.lisle(&["run", "--continue", "two"]);
    assert_eq!((code(&done), out(&done)), (Some(0), "Two.\n".to_owned()), "{}", err(&done));
}

#[test]
fn an_open_pipe_that_sends_nothing_is_left_alone_unless_it_is_asked_for() {
    let place = Place::new();
    let begin = |words: &[&str]| {
        let mut command = place.command(&[&["run", "--connection", "demo"], words].concat());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let mut left = begin(&["list"]);
    let open = left.stdin.take();
    let done = left.wait_with_output().unwrap();
    assert_eq!(code(&done), Some(0), "{}", err(&done));
    assert!(err(&done).contains("waiting for stdin") && err(&done).contains("sending without it"), "{}", err(&done));
    drop(open);
    let mut endless = begin(&["--timeout", "1", "-"]);
    let open = endless.stdin.take();
    let done = endless.wait_with_output().unwrap();
    assert_eq!(code(&done), Some(1), "{}", err(&done));
    assert!(err(&done).contains("nothing sent"), "{}", err(&done));
    drop(open);
    for (words, said) in [(&["-"][..], "read README.md"), (&["please", "-"], "please\n\nread README.md")] {
        let mut asked = begin(words);
        asked.stdin.take().unwrap().write_all(b"read README.md\n").unwrap();
        let done = asked.wait_with_output().unwrap();
        assert_eq!((code(&done), err(&done)), (Some(0), String::new()));
        let sessions = place.sessions();
        let found = sessions.iter().any(|meta| place.said(meta["id"].as_str().unwrap()) == [said]);
        assert!(found, "{said}");
    }
}

#[test]
fn a_word_that_is_no_command_goes_to_no_model() {
    let place = Place::new();
    for words in [&["sesions"][..], &["sesions", "list"], &["--connection", "demo", "hello"]] {
        let done = place.lisle(words);
        assert_eq!((code(&done), out(&done)), (Some(2), String::new()), "{words:?}");
        assert!(err(&done).contains("unknown command") && err(&done).contains("lisle run"), "{}", err(&done));
    }
    assert_eq!(std::fs::read_dir(place.home.path()).unwrap().count(), 0, "nothing was begun");
}

#[test]
#[cfg(target_os = "linux")]
fn a_result_that_cannot_be_written_is_told() {
    let place = Place::new();
    for words in [&["run", "--connection", "demo", "say it"][..], &["doctor"], &["sessions", "list", "--json"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let done = place.command(words).stdout(full).output().unwrap();
        assert_eq!(code(&done), Some(1), "{words:?}: {}", err(&done));
        assert!(err(&done).contains("can't write stdout"), "{words:?}: {}", err(&done));
    }
}

fn with_small_model(place: &Place, server: &ModelServer) {
    served(place, server);
    let config = place.home.path().join("config/config.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, text + "small_model = \"tiny\"\n").unwrap();
}

#[test]
fn a_run_has_a_title_of_the_small_model() {
    let place = Place::new();
    let server = ModelServer::start([
        Script::says("The Danube."),
        Script::says("Rivers of Europe").for_model("tiny"),
        Script::says("The Volga."),
    ]);
    with_small_model(&place, &server);
    assert_eq!(out(&place.lisle(&["run", "which river is long?"])), "The Danube.\n");
    assert_eq!(place.sessions()[0]["title"], "Rivers of Europe");
    assert_eq!(out(&place.lisle(&["run", "--continue", "which one is longer?"])), "The Volga.\n");
    assert_eq!(place.sessions()[0]["title"], "Rivers of Europe");
    assert_eq!(server.asked().len(), 3);
}

#[test]
fn a_title_that_does_not_come_is_not_waited_for() {
    let place = Place::new();
    let server = ModelServer::start([Script::says("The Danube."), Script::silence().for_model("tiny")]);
    with_small_model(&place, &server);
    let done = place.lisle(&["run", "which river is long?"]);
    assert_eq!((code(&done), out(&done), err(&done)), (Some(0), "The Danube.\n".to_owned(), String::new()));
    assert_eq!(place.sessions()[0]["title"], "which river is long?");
}

#[test]
fn a_connection_that_is_not_here_is_named_and_another_one_can_answer_for_it() {
    let place = Place::new();
    let server = ModelServer::start(["One.", "Two.", "Three."].map(Script::says));
    served(&place, &server);
    assert_eq!(out(&place.lisle(&["run", "one"])), "One.\n");
    let id = place.session();
    let config = place.home.path().join("config/config.toml");
    let text = std::fs::read_to_string(&config).unwrap();

    // A second one beside it: the session stays where its messages went.
    let second = text.replace("default_connection = \"local\"\n", "").replace("local", "other");
    std::fs::write(&config, format!("{text}{second}")).unwrap();
    let stays = place.lisle(&["run", "--session", &id, "--connection", "other", "two"]);
    assert_eq!(code(&stays), Some(2), "{}", err(&stays));
    assert!(err(&stays).contains("uses connection local"), "{}", err(&stays));

    std::fs::write(&config, text.replace("local", "other")).unwrap();
    let missing = place.lisle(&["run", "--session", &id, "two"]);
    assert_eq!((code(&missing), out(&missing)), (Some(4), String::new()));
    for word in ["connection local", "not configured here", "other", "--connection NAME"] {
        assert!(err(&missing).contains(word), "{word}: {}", err(&missing));
    }
    assert_eq!(place.said(&id), ["one"], "nothing was sent");
    let mapped = place.lisle(&["run", "--session", &id, "--connection", "other", "two"]);
    assert_eq!((code(&mapped), out(&mapped)), (Some(0), "Two.\n".to_owned()), "{}", err(&mapped));
    let again = place.lisle(&["run", "--session", &id, "three"]);
    assert_eq!((code(&again), out(&again)), (Some(0), "Three.\n".to_owned()), "{}", err(&again));
}

#[test]
fn a_log_that_cannot_be_written_is_told_once_and_by_lisle_alone() {
    let place = Place::new();
    let log = place.home.path().join("state/log");
    std::fs::create_dir_all(&log).unwrap();
    std::os::unix::fs::symlink("/dev/full", log.join("lisle.log")).unwrap();
    // Each title that is not made is a line of the log.
    let no_title = || Script::json(400, &json!({"error": {"message": "no"}})).for_model("tiny");
    let server = ModelServer::start([Script::says("The Danube."), no_title(), no_title()]);
    with_small_model(&place, &server);
    let done = place.lisle(&["run", "which river is long?"]);
    assert_eq!((code(&done), out(&done)), (Some(0), "The Danube.\n".to_owned()));
    let said = err(&done);
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("Can't write the log"), "{said}");
}

/// Attempts of one response: the first one breaks off, and the second one says something else.
fn starts_over(first: &str, second: &str) -> (Place, ModelServer) {
    let place = Place::new();
    let broken = Script::sse(chunk(json!({"content": first}), Value::Null)).then_drop();
    let server = ModelServer::start([broken, Script::says(second)]);
    served(&place, &server);
    (place, server)
}

/// Lines of stream-json, and the text of each message that they add up to.
fn events_of(done: &Output) -> (Vec<Value>, Vec<(String, String)>) {
    let events: Vec<Value> = out(done).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut texts: Vec<(String, String)> = Vec::new();
    for event in &events {
        let id = event["id"].as_str().unwrap_or_default().to_owned();
        match event["type"].as_str() {
            Some("dropped") => texts.retain(|(of, _)| *of != id),
            Some("text") => match texts.iter_mut().find(|(of, _)| *of == id) {
                Some((_, text)) => text.push_str(event["add"].as_str().unwrap()),
                None => texts.push((id, event["add"].as_str().unwrap().to_owned())),
            },
            _ => {}
        }
    }
    (events, texts)
}

#[test]
fn a_response_that_starts_over_is_printed_from_its_beginning() {
    let long = "word ".repeat(300);
    let second = "Swift vixens leap. A different answer, whole.";
    let longer = format!("{second} {}", long.trim_end());
    for (first, second, args, printed) in [
        ("The quick brown fox jump", second, &[][..], false),
        ("The quick brown fox jump", second, &["-s"], true),
        // What is said again goes on where it broke off.
        ("Swift vixens", second, &["-s"], false),
        (second, "Swift", &["-s"], true),
        (&long, second, &[], true),
        (&long, &longer, &[], true),
    ] {
        let (place, _server) = starts_over(first, second);
        let file = place.project.path().join("answer");
        let done = place.lisle(&[&["run", "-o", file.to_str().unwrap(), "go"], args].concat());
        let second = second.trim_end();
        let expected = if printed { format!("{first}\n{second}\n") } else { format!("{second}\n") };
        assert_eq!(code(&done), Some(0), "{}", err(&done));
        assert_eq!(out(&done), expected, "{first} {args:?}");
        assert_eq!(err(&done).contains("the response starts over"), printed, "{}", err(&done));
        assert_eq!(std::fs::read_to_string(file).unwrap(), format!("{second}\n"));
    }
}

#[test]
fn stream_json_drops_what_does_not_count_any_more() {
    let second = "Swift vixens leap.";
    let (place, _server) = starts_over("The quick brown fox jump", second);
    let (events, texts) = events_of(&place.lisle(&["run", "--format", "stream-json", "go"]));
    assert_eq!(texts.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(), [second], "{events:?}");
    assert!(events.iter().any(|event| event["type"] == "dropped" && event["id"] == texts[0].0.as_str()));
    assert_eq!(events.last().map(|event| &event["text"]), Some(&json!(second)));

    let place = Place::new();
    let server = ModelServer::start([Script::says("no"), Script::says("{\"n\": 1}")]);
    served(&place, &server);
    std::fs::write(place.project.path().join("schema.json"), r#"{"type": "object"}"#).unwrap();
    let done = place.lisle(&["run", "--format", "stream-json", "--json-schema", "schema.json", "a number"]);
    let (events, texts) = events_of(&done);
    assert_eq!(texts.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(), ["{\"n\": 1}"], "{events:?}");
}

#[test]
fn failures_before_the_session_are_results_for_whoever_reads_json() {
    let place = Place::new();
    let none = place.command(&["run", "--format", "json", "x"]).output().unwrap();
    for (args, status, why) in [
        (&["x"][..], 4, "no connection chosen"),
        (&["x", "--connection", "demmo"], 2, "Did you mean demo?"),
        (&["x", "--connection", "demo", "--session", "260101-no-where"], 2, "no session 260101-no-where"),
        (&["x", "--connection", "demo", "--allow", "nonsense[["], 2, "neither a tool nor a program"),
        (&[" ", "--connection", "demo"], 2, "empty message"),
    ] {
        for format in ["json", "stream-json"] {
            let done = place.lisle(&[&["run", "--format", format], args].concat());
            let line: Value = serde_json::from_str(&out(&done)).unwrap_or_else(|_| panic!("{args:?}: {}", out(&done)));
            assert_eq!((code(&done), &line["exit"]), (Some(status), &json!(status)), "{args:?}: {}", err(&done));
            assert_eq!((&line["type"], &line["status"]), (&json!("result"), &json!("failed")));
            assert!(line["error"].as_str().unwrap().contains(why), "{line}");
            assert_eq!(line["usage"]["cost_usd"], Value::Null);
        }
    }
    assert_eq!(code(&none), Some(4));
}

#[test]
fn places_of_nothing_are_refused_or_said() {
    let place = Place::new();
    let file = place.lisle(&["--cwd", "README.md", "run", "--connection", "demo", "list"]);
    assert_eq!((code(&file), out(&file)), (Some(2), String::new()));
    assert!(err(&file).contains("not a directory"), "{}", err(&file));
    let new = place.lisle(&["--workspace", "./typo", "run", "--connection", "demo", "list"]);
    assert_eq!(code(&new), Some(0));
    assert!(err(&new).contains("typo: new workspace"), "{}", err(&new));
    let known = place.lisle(&["--workspace", "./typo", "run", "--connection", "demo", "list"]);
    assert_eq!(err(&known), "");
    place.config("workspace = \"nowhere\"\n[ui]\ntheme = \"lisle-drak\"\n[fabric]\nhome = \"/nowhere\"\n");
    let check = place.lisle(&["config", "check"]);
    assert_eq!(code(&check), Some(1));
    for line in [
        "config.toml:3: unknown theme `lisle-drak`; did you mean `lisle-dark`?",
        "config.toml:1: workspace ",
        "config.toml:5: fabric.home /nowhere does not exist",
    ] {
        assert!(out(&check).contains(line), "{line}: {}", out(&check));
    }
}

#[test]
fn a_dry_run_has_the_texts_of_its_session_and_refuses_what_the_run_refuses() {
    let place = Place::new();
    let contexts = place.home.path().join("config/contexts");
    std::fs::create_dir_all(&contexts).unwrap();
    std::fs::write(contexts.join("writer"), "Be brief.\n").unwrap();
    let made = place.lisle(&["run", "--connection", "demo", "--context", "writer", "--session", "notes", "list"]);
    assert_eq!(code(&made), Some(0), "{}", err(&made));
    let dry = |args: &[&str]| place.lisle(&[&["run", "--dry-run", "--session", "notes", "go"], args].concat());
    assert!(out(&dry(&[])).contains("[context writer]\nBe brief."), "{}", out(&dry(&[])));
    assert!(!out(&dry(&["--context", "none"])).contains("Be brief."));
    std::fs::write(place.project.path().join("empty"), "").unwrap();
    for file in ["nowhere.txt", "empty"] {
        let refused = dry(&["-a", file]);
        assert_eq!((code(&refused), out(&refused)), (Some(2), String::new()), "{}", err(&refused));
        assert!(err(&refused).contains(file), "{}", err(&refused));
    }
    assert_eq!(code(&dry(&["-a", "README.md"])), Some(0));
}

#[test]
fn a_schema_is_no_part_of_the_title() {
    let place = Place::new();
    let server = ModelServer::start([Script::says("{\"n\": 1}")]);
    served(&place, &server);
    std::fs::write(place.project.path().join("schema.json"), r#"{"type": "object"}"#).unwrap();
    let done = place.lisle(&["run", "--json-schema", "schema.json", "a number"]);
    assert_eq!(code(&done), Some(0), "{}", err(&done));
    assert_eq!(place.sessions()[0]["title"], "a number");
}
