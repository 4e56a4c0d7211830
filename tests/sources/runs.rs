//! Whole runs of the program with a source, against a scripted model.

use super::Test;
use super::support::model_server::{ModelServer, Script};
use serde_json::{Value, json};
use std::process::{Command, Output, Stdio};

pub const TESTS: &[Test] = &[
    ("a_run_offers_and_calls_the_tools_of_a_source", a_run_calls_tools),
    ("explore_calls_what_is_known_to_be_read_only_and_nothing_else", explore_reads_alone),
    ("a_source_that_fails_is_said_in_the_conversation", a_failure_is_said),
    ("servers_of_a_project_are_off_until_they_are_trusted", a_project_is_off),
    ("the_command_line_adds_lists_tests_logs_and_removes", the_command_line),
    ("a_server_of_the_network_is_called_by_its_address", a_web_server),
];

struct Place {
    home: tempfile::TempDir,
    project: tempfile::TempDir,
}

impl Place {
    fn new(model: &ModelServer) -> Self {
        let place = Self { home: tempfile::tempdir().unwrap(), project: tempfile::tempdir().unwrap() };
        let config = place.home.path().join("config");
        std::fs::create_dir_all(&config).unwrap();
        let text = format!(
            "[connections.m]\nprovider = \"openai-compatible\"\nbase_url = \"{}\"\ndefault_model = \"m\"\n",
            model.base_url()
        );
        std::fs::write(config.join("config.toml"), text).unwrap();
        place
    }

    fn lisle(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lisle"));
        command.args(args).current_dir(self.project.path()).env("LISLE_HOME", self.home.path()).stdin(Stdio::null());
        for name in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"] {
            command.env_remove(name);
        }
        command.env("TEST_SOURCE_TOKEN", "t0ken-t0ken");
        command.output().unwrap()
    }

    fn add(&self, name: &str, kind: &str) {
        let program = std::env::current_exe().unwrap();
        let program = program.to_str().unwrap();
        let done = self.lisle(&[
            "sources",
            "add",
            name,
            "--env",
            "A_TOKEN=${TEST_SOURCE_TOKEN}",
            "--",
            program,
            "__serve",
            kind,
        ]);
        assert!(done.status.success(), "{}", err(&done));
    }

    fn run(&self, mode: &str) -> Output {
        self.lisle(&["run", "--connection", "m", "--mode", mode, "go"])
    }
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Names of the tools that a request offers.
fn offered(request: &Value) -> Vec<String> {
    let tools = request["tools"].as_array().cloned().unwrap_or_default();
    tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap_or_default().to_owned()).collect()
}

fn results(request: &Value) -> String {
    let messages = request["messages"].as_array().cloned().unwrap_or_default();
    let tools = messages.iter().filter(|message| message["role"] == "tool");
    tools.map(|message| message["content"].to_string()).collect::<Vec<_>>().join("\n")
}

fn a_run_calls_tools() {
    let calls = [("mcp__t__act", json!({"text": "x"})), ("mcp__t__echo", json!({"text": "there"}))];
    let model = ModelServer::for_program([Script::calls(&calls), Script::says("All done.")]);
    let place = Place::new(&model);
    place.add("t", "plain");
    let guide = place.home.path().join("data/workspaces/default/sources/t/guide.md");
    std::fs::write(&guide, "Use echo for greetings.").unwrap();
    let done = place.run("execute");
    assert!(done.status.success(), "{}", err(&done));
    assert_eq!(out(&done).trim(), "All done.");
    let asked: Vec<Value> = model.asked().iter().map(|asked| asked.json()).collect();
    let offered = offered(&asked[0]);
    assert!(offered.contains(&"read".to_owned()) && offered.contains(&"mcp__t__act".to_owned()), "{offered:?}");
    let system = asked[0]["messages"][0]["content"].to_string();
    assert!(system.contains("Use echo for greetings.") && system.contains("says about itself"), "{system}");
    assert!(!system.contains("\\u001b"));
    let results = results(&asked[1]);
    assert!(results.contains("done") && results.contains("said there"), "{results}");
}

fn explore_reads_alone() {
    let calls = [("mcp__t__echo", json!({"text": "a"})), ("mcp__t__act", json!({"text": "b"}))];
    let scripts = || [Script::calls(&calls), Script::says("Done.")];
    for (permissions, echo, act) in [
        (r#"{"allowedMcpPatterns": ["echo"]}"#, "said a", "Explore is read-only"),
        (r#"{"allowedMcpPatterns": [".*"]}"#, "Explore is read-only", "Explore is read-only"),
    ] {
        let model = ModelServer::for_program(scripts());
        let place = Place::new(&model);
        place.add("t", "plain");
        let file = place.home.path().join("data/workspaces/default/sources/t/permissions.json");
        std::fs::write(file, permissions).unwrap();
        place.run("explore");
        let second = model.asked()[1].json();
        let messages: Vec<String> = second["messages"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|message| message["role"] == "tool")
            .map(|message| message["content"].to_string())
            .collect();
        assert!(messages[0].contains(echo) && messages[1].contains(act), "{permissions}: {messages:?}");
    }
    // Nobody can be asked in a run, and a rule by name answers.
    for (rules, words) in [
        (r#"{"rules": [{"effect": "allow", "tool": "mcp__t__act"}]}"#, "done"),
        (
            r#"{"rules": [{"effect": "allow", "tool": "mcp__t__act", "definition": "00000000000000000000"}]}"#,
            "Needs approval",
        ),
    ] {
        let model = ModelServer::for_program([Script::calls(&calls[1..]), Script::says("Done.")]);
        let place = Place::new(&model);
        place.add("t", "plain");
        std::fs::write(place.home.path().join("config/permissions.json"), rules).unwrap();
        place.run("ask");
        let results = results(&model.asked()[1].json());
        assert!(results.contains(words), "{rules}: {results}");
    }
}

fn a_failure_is_said() {
    let model = ModelServer::for_program([Script::says("Fine without.")]);
    let place = Place::new(&model);
    place.add("gone", "dies");
    let done = place.run("ask");
    assert!(done.status.success() && out(&done).contains("Fine without."), "{}", err(&done));
    assert!(!offered(&model.asked()[0].json()).iter().any(|name| name.starts_with("mcp__")));
    let sessions: Value = serde_json::from_str(&out(&place.lisle(&["sessions", "list", "--json"]))).unwrap();
    let shown = out(&place.lisle(&["sessions", "show", sessions[0]["id"].as_str().unwrap(), "--json"]));
    assert!(shown.contains("Source gone is not available") && shown.contains("exit 7"), "{shown}");
}

fn a_project_is_off() {
    let model = ModelServer::for_program([Script::says("One."), Script::says("Two.")]);
    let place = Place::new(&model);
    let program = std::env::current_exe().unwrap();
    let servers = json!({"mcpServers": {"p": {"command": program, "args": ["__serve", "plain"]}}});
    std::fs::write(place.project.path().join(".mcp.json"), servers.to_string()).unwrap();
    assert!(place.run("ask").status.success());
    assert!(!offered(&model.asked()[0].json()).iter().any(|name| name.starts_with("mcp__")));
    let listed = out(&place.lisle(&["sources", "list"]));
    assert!(listed.contains("p  not trusted"), "{listed}");
    let tested = place.lisle(&["sources", "test", "p"]);
    assert!(!tested.status.success() && err(&tested).contains("not trusted"), "{}", err(&tested));
}

fn the_command_line() {
    let model = ModelServer::for_program([]);
    let place = Place::new(&model);
    place.add("t", "plain");
    let listed: Value = serde_json::from_str(&out(&place.lisle(&["sources", "list", "--json"]))).unwrap();
    assert_eq!((listed[0]["slug"].as_str(), listed[0]["state"].as_str()), (Some("t"), Some("on")));
    let tested = place.lisle(&["sources", "test", "t"]);
    assert!(tested.status.success() && out(&tested).contains("t: 10 tools"), "{}{}", out(&tested), err(&tested));
    let json: Value = serde_json::from_str(&out(&place.lisle(&["sources", "test", "t", "--json"]))).unwrap();
    assert_eq!(json["tools"].as_array().unwrap().len(), 10);
    let logs = out(&place.lisle(&["sources", "logs", "t"]));
    assert!(logs.contains("ready, 10 tools"), "{logs}");
    for (args, code) in [
        (&["sources", "add", "t", "--", "x"][..], 2),
        (&["sources", "add", "a__b", "--", "x"], 2),
        (&["sources", "add", "x"], 2),
        (&["sources", "add", "x", "ftp://x"], 2),
        (&["sources", "add", "x", "--env", "NOPE", "--", "y"], 2),
        (&["sources", "test", "nope"], 2),
        (&["sources", "remove", "../t"], 2),
    ] {
        assert_eq!(place.lisle(args).status.code(), Some(code), "{args:?}");
    }
    assert!(place.lisle(&["sources", "remove", "t"]).status.success());
    assert_eq!(out(&place.lisle(&["sources", "list", "--json"])).trim(), "[]");
    // No key is in any of it.
    assert!(!logs.contains("t0ken"));
}

fn a_web_server() {
    let web = |id: u64, result: Value| Script::json(200, &json!({"jsonrpc": "2.0", "id": id, "result": result}));
    let tools = json!({"tools": [{"name": "ask", "inputSchema": {"type": "object"}}]});
    let start = json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "w", "version": "1"}});
    let not_found = json!({"jsonrpc": "2.0", "id": 0, "error": {"code": -32601, "message": "Method not found"}});
    let server = ModelServer::for_program([
        Script::json(200, &not_found),
        web(1, start),
        Script::new(202, "text/plain", ""),
        web(2, tools),
    ]);
    let model = ModelServer::for_program([]);
    let place = Place::new(&model);
    let url = format!("http://{}/mcp", server.address());
    let header = "Authorization=Bearer ${TEST_SOURCE_TOKEN}";
    assert!(place.lisle(&["sources", "add", "w", &url, "--header", header]).status.success());
    let tested = place.lisle(&["sources", "test", "w"]);
    let asked = server.asked();
    let shown: Vec<String> = asked.iter().map(|asked| format!("{} {}", asked.method, asked.body)).collect();
    assert!(out(&tested).contains("mcp__w__ask"), "{}{}{shown:#?}", out(&tested), err(&tested));
    assert!(asked.iter().all(|asked| asked.header("authorization") == Some("Bearer t0ken-t0ken")), "{shown:#?}");
    // A server that sends its client elsewhere is not followed, and a refusal names no key.
    for script in [
        Script::new(307, "text/plain", "").header("location", "http://127.0.0.1:9/"),
        Script::new(401, "text/plain", "t0ken-t0ken"),
    ] {
        let server = ModelServer::for_program((0..4).map(|_| script.clone()));
        let place = Place::new(&model);
        let url = format!("http://{}/mcp", server.address());
        assert!(place.lisle(&["sources", "add", "w", &url, "--header", header]).status.success());
        let tested = place.lisle(&["sources", "test", "w"]);
        assert!(!tested.status.success() && !err(&tested).contains("t0ken"), "{}", err(&tested));
    }
}
