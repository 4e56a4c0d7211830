//! The command line of the real binary: what comes out, what it ends with, and that the app's sessions are the same.

#![allow(clippy::unwrap_used, reason = "a failing test should stop where it fails")]

mod support;

use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use support::model_server::{ModelServer, Script};

struct Place {
    home: tempfile::TempDir,
    project: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { home: tempfile::tempdir().unwrap(), project: tempfile::tempdir().unwrap() };
        std::fs::write(place.project.path().join("README.md"), "# A project\n\nWith a README.\n").unwrap();
        place
    }

    fn config(&self, text: &str) {
        let dir = self.home.path().join("config");
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("config.toml"), text).unwrap();
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lisle"));
        command.args(args).current_dir(self.project.path()).env("LISLE_HOME", self.home.path()).stdin(Stdio::null());
        for name in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"] {
            command.env_remove(name);
        }
        command
    }

    fn lisle(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    fn rehearse(&self, prompt: &str) -> Output {
        self.lisle(&["run", "--connection", "rehearsal", prompt])
    }
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}
fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
fn code(output: &Output) -> Option<i32> {
    output.status.code()
}

#[test]
fn the_answer_is_all_of_stdout() {
    let place = Place::new();
    let done = place.rehearse("read README.md");
    assert_eq!(code(&done), Some(0), "{}", err(&done));
    assert!(out(&done).contains("README.md"), "{}", out(&done));
    assert_eq!(err(&done), "");
}

#[test]
fn a_plan_is_printed_and_is_a_good_end() {
    let place = Place::new();
    let done = place.lisle(&["run", "--connection", "rehearsal", "--mode", "explore", "list, then plan a tidy-up"]);
    assert_eq!(code(&done), Some(0));
    assert!(out(&done).starts_with("# a tidy-up"), "{}", out(&done));
    assert!(!place.project.path().join("TIDY-UP.md").exists());
}

#[test]
fn what_would_ask_is_refused_and_told() {
    let place = Place::new();
    for mode in ["explore", "ask"] {
        let done = place.lisle(&["run", "--connection", "rehearsal", "--mode", mode, "write a.txt: hello"]);
        assert_eq!(code(&done), Some(3), "{mode}");
        assert!(err(&done).contains("refused: write a.txt"), "{}", err(&done));
        assert!(!place.project.path().join("a.txt").exists());
    }
    let done = place.lisle(&["run", "--connection", "rehearsal", "--mode", "execute", "write a.txt: hello"]);
    assert_eq!(code(&done), Some(0));
    assert_eq!(std::fs::read_to_string(place.project.path().join("a.txt")).unwrap().trim(), "hello");
    let done = place.lisle(&["run", "--connection", "rehearsal", "--mode", "execute", "run rm -rf /"]);
    assert_eq!(code(&done), Some(3), "what is catastrophic is refused in every mode");
    let done = place.lisle(&["run", "--connection", "rehearsal", "ask which way? | left | right"]);
    assert!(out(&done).to_lowercase().contains("nobody can answer"), "{}", out(&done));
}

#[test]
fn wrong_arguments_and_missing_connections_have_their_own_codes() {
    let place = Place::new();
    assert_eq!(code(&place.lisle(&["run"])), Some(2));
    assert_eq!(code(&place.lisle(&["--mode", "yolo", "run", "x"])), Some(2));
    let none = place.lisle(&["run", "hello"]);
    assert_eq!((code(&none), out(&none)), (Some(4), String::new()));
    assert!(err(&none).contains("--connection rehearsal"), "{}", err(&none));
    let unknown = place.lisle(&["run", "--connection", "nope", "hello"]);
    assert_eq!(code(&unknown), Some(2));
    assert!(err(&unknown).contains("rehearsal"), "it names what there is: {}", err(&unknown));
    let found = place.command(&["run", "hello"]).env("OPENAI_API_KEY", "sk-secret-1234567890").output().unwrap();
    assert_eq!(code(&found), Some(4), "a key that was found is not used before it was chosen");
    assert!(err(&found).contains("openai") && !err(&found).contains("sk-secret"), "{}", err(&found));
    let version = place.lisle(&["--version"]);
    assert_eq!((code(&version), out(&version).starts_with("lisle ")), (Some(0), true));
}

#[test]
fn what_is_piped_in_is_added() {
    let place = Place::new();
    let mut child = place
        .command(&["run", "--connection", "rehearsal", "what is this?"])
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
    let done = place.lisle(&["run", "--connection", "rehearsal", "--output", "json", "list"]);
    let events: Vec<Value> = out(&done).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = events.iter().filter_map(|event| event["event"]["event"].as_str()).collect();
    for kind in ["opened", "turn-started", "row", "delta", "turn-ended", "ended"] {
        assert!(kinds.contains(&kind), "{kind} is missing in {kinds:?}");
    }
    assert_eq!(kinds.last(), Some(&"ended"));
    assert!(events.iter().all(|event| event["v"] == 1));
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
    assert_eq!(code(&none), Some(1));
    assert!(err(&none).contains("no session"), "{}", err(&none));
}

fn served(place: &Place, server: &ModelServer) {
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
        .command(&["run", "--connection", "rehearsal", "read README.md"])
        .env("LISLE_HOME", file.join("home"))
        .output()
        .unwrap();
    assert_eq!(code(&done), Some(0));
    assert!(out(&done).contains("README.md"));
    assert!(err(&done).contains("cannot be saved"), "{}", err(&done));
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
