//! Stores of session keys on the command line of the real binary: the list and the cleanup, as text and as JSON, on
//! lisle's own stores and on one of another program.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const DAY: i64 = 86_400_000;

/// A home of lisle's own, and a folder with a store in OpenClaw's layout.
struct Place {
    home: tempfile::TempDir,
    now: i64,
}

impl Place {
    fn new() -> Self {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        let place = Self { home: tempfile::tempdir().unwrap(), now: i64::try_from(since.as_millis()).unwrap() };
        let folder = place.folder();
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(place.store(), serde_json::to_string_pretty(&place.rows()).unwrap()).unwrap();
        for id in ["1f0c-main", "2a9e-ana", "3b77-group", "4d11-old"] {
            std::fs::write(folder.join(format!("{id}.jsonl")), "{\"type\":\"session\",\"version\":3}\n").unwrap();
        }
        place
    }

    /// Rows as OpenClaw writes them, with a key that lisle does not know.
    fn rows(&self) -> Value {
        json!({
            "agent:main:main": {
                "sessionId": "1f0c-main", "updatedAt": self.now - 40 * DAY, "chatType": "direct",
                "systemSent": true, "model": "sonnet", "modelProvider": "anthropic",
                "inputTokens": 12, "outputTokens": 340, "totalTokens": 12_400, "totalTokensFresh": true,
                "contextTokens": 200_000, "thinkingLevel": "high", "someNewerKey": {"kept": [1, 2.5, null]},
            },
            "agent:main:telegram:direct:ana": {
                "sessionId": "2a9e-ana", "updatedAt": self.now - 3 * 60_000, "totalTokens": 900,
                "totalTokensFresh": false, "contextTokens": 8_000, "modelOverride": "haiku",
            },
            "agent:main:telegram:group:-100123456789": {
                "sessionId": "3b77-group", "updatedAt": self.now - 3 * DAY, "groupActivation": "always",
                "abortedLastRun": true,
            },
            "agent:main:discord:channel:42": {"sessionId": "4d11-old", "updatedAt": self.now - 45 * DAY},
            "agent:main:irc:direct:bob": {"sessionId": "5e00-gone", "updatedAt": self.now - 5 * DAY},
        })
    }

    fn folder(&self) -> PathBuf {
        self.home.path().join("openclaw/agents/main/sessions")
    }

    fn store(&self) -> PathBuf {
        self.folder().join("sessions.json")
    }

    fn kept(&self) -> Value {
        serde_json::from_slice(&std::fs::read(self.store()).unwrap()).unwrap()
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder()).unwrap();
        let mut names: Vec<String> = entries.map(|one| one.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn config(&self, text: &str) {
        let folder = self.home.path().join("lisle/config");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("config.toml"), text).unwrap();
    }

    fn lisle(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lisle"));
        command.arg("sessions").args(args).current_dir(self.home.path());
        command.env("LISLE_HOME", self.home.path().join("lisle")).stdin(Stdio::null());
        command.output().unwrap()
    }

    /// Output of a command that goes well and complains of nothing; the home's path is `~`.
    fn out(&self, args: &[&str]) -> String {
        let output = self.lisle(args);
        assert_eq!((output.status.code(), err(&output).as_str()), (Some(0), ""), "{args:?}");
        String::from_utf8(output.stdout).unwrap().replace(self.home.path().to_str().unwrap(), "~")
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.out(args)).unwrap()
    }
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

const STORE: &str = "openclaw/agents/main/sessions/sessions.json";

#[test]
fn the_list_of_a_store_has_the_columns_of_its_own_program() {
    let place = Place::new();
    assert_eq!(
        place.out(&["list", "--routes", "--store", STORE]),
        "\
Session store: ~/openclaw/agents/main/sessions/sessions.json
Sessions listed: 5
Kind   Key                        Age       Model          Tokens (ctx %)       Flags
direct agent:main:teleg...ct:ana  3m ago    haiku          unknown/8.0k (?%)    id:2a9e-ana
group  agent:main:teleg...456789  3d ago    -              -                    activation:always aborted id:3b77-group
direct agent:main:irc:direct:bob  5d ago    -              -                    id:5e00-gone
direct agent:main:main            40d ago   sonnet         12k/200k (6%)        think:high system id:1f0c-main
group  agent:main:disco...nel:42  45d ago   -              -                    id:4d11-old
"
    );
    assert_eq!(place.kept(), place.rows(), "a list changes nothing");
}

#[test]
fn the_json_of_a_list_has_the_keys_of_its_own_program() {
    let place = Place::new();
    let mut list = place.json(&["list", "--routes", "--store", STORE, "--json"]);
    let mut sessions = list["sessions"].take();
    assert_eq!(
        list,
        json!({"path": format!("~/{STORE}"), "count": 5, "activeMinutes": null, "sessions": null}),
        "one store: its path"
    );
    let main = sessions.as_array_mut().unwrap().iter_mut().find(|one| one["key"] == "agent:main:main").unwrap();
    let age = main.as_object_mut().unwrap().remove("ageMs").unwrap();
    assert!((40 * DAY..40 * DAY + 600_000).contains(&age.as_i64().unwrap()), "{age}");
    assert_eq!(
        *main,
        json!({
            "key": "agent:main:main", "updatedAt": place.now - 40 * DAY, "sessionId": "1f0c-main", "systemSent": true,
            "thinkingLevel": "high", "inputTokens": 12, "outputTokens": 340, "modelProvider": "anthropic",
            "totalTokens": 12_400, "totalTokensFresh": true, "model": "sonnet", "contextTokens": 200_000,
            "agentId": "main", "kind": "direct",
        })
    );
    let ana = &sessions[0];
    assert_eq!((&ana["totalTokens"], &ana["totalTokensFresh"]), (&Value::Null, &Value::Bool(false)), "stale: unknown");
    assert_eq!((&ana["model"], &ana["modelOverride"]), (&json!("haiku"), &json!("haiku")));
}

#[test]
fn a_cleanup_says_what_it_would_remove_and_removes_it_with_enforce() {
    let place = Place::new();
    let before = place.names();
    let said = "\
Session store: ~/openclaw/agents/main/sessions/sessions.json
Maintenance mode: warn
Entries: 5 -> 3 (remove 2)
Would prune missing conversations: 1
Would prune stale: 1
Planned session actions:
Action         Key                        Age       Model          Flags
keep           agent:main:main            40d ago   sonnet         main
keep           agent:main:teleg...ct:ana  3m ago    haiku
keep           agent:main:teleg...456789  3d ago    -
prune-stale    agent:main:disco...nel:42  45d ago   -
prune-missing  agent:main:irc:direct:bob  5d ago    -
Archive conversation 4d11-old.jsonl
Nothing changed. Apply with --enforce.
";
    assert_eq!(place.out(&["cleanup", "--store", STORE, "--fix-missing"]), said);
    assert_eq!(place.out(&["cleanup", "--store", STORE, "--fix-missing", "--dry-run"]), said);
    assert_eq!((place.kept(), place.names()), (place.rows(), before), "nothing was changed");
    assert_eq!(
        place.out(&["cleanup", "--store", STORE, "--fix-missing", "--enforce"]),
        "\
Session store: ~/openclaw/agents/main/sessions/sessions.json
Maintenance mode: enforce
Entries: 5 -> 3 (remove 2)
Applied maintenance. Current entries: 3
"
    );
    let mut left = place.rows();
    for key in ["agent:main:discord:channel:42", "agent:main:irc:direct:bob"] {
        left.as_object_mut().unwrap().shift_remove(key);
    }
    assert_eq!(
        std::fs::read_to_string(place.store()).unwrap(),
        serde_json::to_string_pretty(&left).unwrap(),
        "other rows are as they were, with their unknown keys"
    );
    let names = place.names();
    assert!(names.iter().any(|name| name.starts_with("4d11-old.jsonl.deleted.20")), "{names:?}");
    assert_eq!(names.len(), 5, "no lock and no temporary file stays: {names:?}");
}

#[test]
fn the_json_of_a_cleanup_has_the_keys_of_its_own_program() {
    let place = Place::new();
    place.config("[session.maintenance]\npruneAfter = \"90d\"\nmaxEntries = 3\nmaxDiskBytes = \"1gb\"\n");
    let size = place.names().iter().map(|name| place.folder().join(name).metadata().unwrap().len()).sum::<u64>();
    let report = |dry: bool| {
        json!({
            "agentId": "main", "storePath": format!("~/{STORE}"), "mode": "warn", "dryRun": dry,
            "beforeCount": 5, "afterCount": 3, "missing": 0, "pruned": 0, "capped": 2,
            "diskBudget": {
                "totalBytesBefore": size, "totalBytesAfter": size, "removedFiles": 0, "removedEntries": 0,
                "freedBytes": 0, "maxBytes": 1_u64 << 30, "highWaterBytes": 858_993_459_u64, "overBudget": false,
            },
            "wouldMutate": true,
        })
    };
    assert_eq!(place.json(&["cleanup", "--store", STORE, "--json"]), report(false));
    assert_eq!(place.json(&["cleanup", "--store", STORE, "--dry-run", "--json"]), report(true));
    let active = &["cleanup", "--store", STORE, "--active-key", "discord:channel:42", "--enforce", "--json"];
    let mut wanted = report(false);
    wanted["mode"] = "enforce".into();
    wanted["applied"] = true.into();
    wanted["appliedCount"] = 3.into();
    assert_eq!(place.json(active), wanted);
    let kept = place.kept();
    let keys: Vec<&String> = kept.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["agent:main:main", "agent:main:telegram:direct:ana", "agent:main:discord:channel:42"]);
}

/// A store of an agent of lisle's own with one row.
fn own_store(home: &Path, agent: &str, session: &str, updated: i64) {
    let folder = home.join("lisle/data/agents").join(agent).join("sessions");
    std::fs::create_dir_all(&folder).unwrap();
    let rows = json!({format!("agent:{agent}:irc:direct:ana"): {"sessionId": session, "updatedAt": updated}});
    std::fs::write(folder.join("sessions.json"), rows.to_string()).unwrap();
}

#[test]
fn conversations_of_own_agents_are_sessions_and_go_to_the_trash() {
    let place = Place::new();
    assert_eq!(
        place.out(&["list", "--routes"]),
        "Session store: ~/lisle/data/agents/main/sessions/sessions.json\nSessions listed: 0\nNo sessions found.\n"
    );
    assert_eq!(
        place.out(&["cleanup", "--enforce"]),
        "Session store: ~/lisle/data/agents/main/sessions/sessions.json\nMaintenance mode: enforce\n\
         Entries: 0 -> 0 (remove 0)\nApplied maintenance. Current entries: 0\n"
    );
    assert!(!place.home.path().join("lisle/data/agents").exists(), "nothing is made for nothing");
    let workspace = place.home.path().join("lisle/data/workspaces/work");
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/craft/main/sessions/260903-calm-forest");
    let session = workspace.join("sessions/260903-calm-forest");
    std::fs::create_dir_all(&session).unwrap();
    std::fs::copy(sample.join("session.jsonl"), session.join("session.jsonl")).unwrap();
    own_store(place.home.path(), "work", "260903-calm-forest", place.now - 31 * DAY);
    own_store(place.home.path(), "main", "260101-lost-one", place.now - 2 * DAY);

    let list = place.out(&["list", "--routes"]);
    assert!(list.starts_with("Session stores: 2 (main, work)\nSessions listed: 2\nAgent      Kind "), "{list}");
    let json = place.json(&["list", "--routes", "--json"]);
    assert_eq!((&json["path"], json["stores"].as_array().unwrap().len()), (&Value::Null, 2));

    let all = place.json(&["cleanup", "--all-agents", "--fix-missing", "--dry-run", "--json"]);
    assert_eq!((&all["allAgents"], &all["mode"], &all["dryRun"]), (&json!(true), &json!("warn"), &json!(true)));
    let counts: Vec<(&Value, &Value, &Value)> = all["stores"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (&one["agentId"], &one["missing"], &one["pruned"]))
        .collect();
    assert_eq!(counts, [(&json!("main"), &json!(1), &json!(0)), (&json!("work"), &json!(0), &json!(1))]);

    let done = place.out(&["cleanup", "--agent", "work", "--enforce"]);
    assert!(done.ends_with("Applied maintenance. Current entries: 0\n"), "{done}");
    assert!(!session.exists());
    let trash = place.lisle(&["trash", "--workspace", workspace.to_str().unwrap()]);
    assert!(String::from_utf8_lossy(&trash.stdout).starts_with("260903-calm-forest-"), "{trash:?}");
}

#[test]
fn mistakes_are_told_and_change_nothing() {
    let place = Place::new();
    for (args, code, says) in [
        (&["cleanup", "--agent", "work"][..], 1, "unknown agent \"work\". Available: main"),
        (&["cleanup", "--agent", "main", "--all-agents"], 2, "cannot be used with"),
        (&["cleanup", "--store", STORE, "--agent", "main"], 2, "cannot be used with"),
        (&["cleanup", "--dry-run", "--enforce"], 2, "cannot be used with"),
        (&["cleanup", "--store", STORE, "--active-key", "agent:main"], 2, "--active-key: session key is incomplete"),
        (&["cleanup", "--store", "nowhere.json"], 1, "can't read "),
        (&["list", "--store", STORE], 2, "--routes"),
        (&["list", "--routes", "--flagged"], 2, "cannot be used with"),
    ] {
        let output = place.lisle(args);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(code), 0), "{args:?}");
        assert!(err(&output).contains(says), "{args:?}: {}", err(&output));
    }
    let unknown = place.lisle(&["cleanup", "--store", STORE, "--active-key", "irc:direct:eve"]);
    assert!(err(&unknown).contains("no row for the active key agent:main:irc:direct:eve."), "{}", err(&unknown));
    place.config("[session]\ndmScope = \"main\"\n[session.maintenance]\npruneAfter = \"a year\"\n");
    let output = place.lisle(&["cleanup", "--store", STORE, "--enforce"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).contains("config.toml:4: [session]: invalid duration \"a year\""), "{}", err(&output));
    assert!(err(&output).contains("nothing was done"), "{}", err(&output));
    assert_eq!(place.kept(), place.rows());
}

#[test]
fn a_damaged_store_is_kept_and_reported() {
    let place = Place::new();
    std::fs::write(place.store(), "{\"agent:main:main\": {\"sess").unwrap();
    for args in [&["list", "--routes", "--store", STORE][..], &["cleanup", "--store", STORE]] {
        let output = place.lisle(args);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{args:?}");
        assert!(err(&output).contains("is damaged: invalid JSON"), "{}", err(&output));
        assert!(place.store().exists());
    }
    let output = place.lisle(&["cleanup", "--store", STORE, "--enforce"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).contains("It was moved to "), "{}", err(&output));
    let names = place.names();
    let aside = names.iter().find(|name| name.starts_with("sessions.json.corrupt.20")).unwrap();
    assert!(!place.store().exists(), "{names:?}");
    assert_eq!(std::fs::read(place.folder().join(aside)).unwrap(), b"{\"agent:main:main\": {\"sess");
}

// ---- import ----

/// A picture of one pixel, in base64.
const PICTURE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// Transcript of OpenClaw with another id.
fn transcript(id: &str) -> String {
    let fixture = "tests/fixtures/import/openclaw/agents/main/sessions/5f0c7a52-1d1e-4a58-9d4c-3a52f4c6d001.jsonl";
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(fixture)).unwrap();
    let whole: Vec<&str> = text.lines().filter(|line| serde_json::from_str::<Value>(line).is_ok()).collect();
    whole.join("\n").replace("aGVsbG8=", PICTURE).replace("5f0c7a52-1d1e-4a58-9d4c-3a52f4c6d001", id) + "\n"
}

impl Place {
    /// A place whose store has real transcripts: of a row, of a path that moved, of a topic, and of none.
    fn with_transcripts() -> Self {
        let place = Self::new();
        let mut rows = place.rows();
        rows["agent:main:telegram:direct:ana"]["sessionFile"] = json!("/elsewhere/sessions/2a9e-ana.jsonl");
        rows["agent:main:telegram:direct:ana"]["status"] = json!("running");
        rows["agent:desk:telegram:group:-7:topic:9"] = json!({"sessionId": "6f00-topic", "updatedAt": place.now});
        rows["agent:main"] = json!({"sessionId": "1f0c-main", "updatedAt": 1});
        rows["agent:main:damaged"] = json!("no row");
        place.write_rows(&rows);
        for (file, id) in [
            ("1f0c-main.jsonl", "1f0c-main"),
            ("2a9e-ana.jsonl", "2a9e-ana"),
            ("6f00-topic-topic-9.jsonl", "6f00-topic"),
            ("7a00-before.jsonl.reset.2026-04-19T19-03-37.979Z", "7a00-before"),
            ("8b00-gone.jsonl.deleted.2026-04-19T19-03-37.979Z", "8b00-gone"),
            ("1f0c-main.checkpoint.4d1c.jsonl", "1f0c-main"),
        ] {
            std::fs::write(place.folder().join(file), transcript(id)).unwrap();
        }
        place
    }

    fn write_rows(&self, rows: &Value) {
        std::fs::write(self.store(), serde_json::to_string_pretty(rows).unwrap()).unwrap();
    }

    /// Everything in the folder of the other program.
    fn contents(&self) -> Vec<(String, Vec<u8>)> {
        let read = |name: String| (name.clone(), std::fs::read(self.folder().join(name)).unwrap());
        self.names().into_iter().map(read).collect()
    }

    fn import(&self) -> Value {
        let output = self.lisle(&["import", "--routes", "openclaw", "--json"]);
        assert_eq!(output.status.code(), Some(0), "{}", err(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Row of lisle's own store.
    fn own_row(&self, agent: &str, key: &str) -> Value {
        let path = self.home.path().join("lisle/data/agents").join(agent).join("sessions/sessions.json");
        let rows: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        rows[key].clone()
    }

    fn sessions_of(&self, agent: &str) -> usize {
        let folder = self.home.path().join("lisle/data/workspaces").join(agent).join("sessions");
        std::fs::read_dir(folder)
            .map_or(0, |entries| entries.filter(|one| one.as_ref().unwrap().path().is_dir()).count())
    }
}

fn sources(report: &Value, part: &str) -> Vec<String> {
    let name = |line: &Value| line["source"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let mut names: Vec<String> = report[part].as_array().unwrap().iter().map(name).collect();
    names.sort();
    names
}

#[test]
fn an_import_makes_rows_and_sessions_of_those_of_another_program() {
    let place = Place::with_transcripts();
    let before = place.contents();
    let report = place.import();
    assert_eq!(
        sources(&report, "rows"),
        ["agent:desk:telegram:group:-7:topic:9", "agent:main:main", "agent:main:telegram:direct:ana"],
        "{report:#}"
    );
    assert_eq!(sources(&report, "earlier"), ["7a00-before.jsonl.reset.2026-04-19T19-03-37.979Z"]);
    // Without a transcript, without a message, malformed, damaged.
    let skipped = ["4d11-old.jsonl", "agent:main", "agent:main:damaged", "agent:main:discord:channel:42"];
    assert!(skipped[1..].iter().all(|key| sources(&report, "skipped").contains(&(*key).to_owned())), "{report:#}");
    assert_eq!((report["unchanged"].as_u64(), sources(&report, "failed").len()), (Some(0), 0));
    assert_eq!(place.contents(), before, "the source is only read");

    let main = place.own_row("main", "agent:main:main");
    assert_eq!(main["thinkingLevel"], "high");
    assert_eq!(main["someNewerKey"], json!({"kept": [1, 2.5, null]}));
    assert_eq!((main.get("systemSent"), main["totalTokens"].as_u64()), (None, Some(12_400)));
    let file = PathBuf::from(main["sessionFile"].as_str().unwrap());
    assert!(std::fs::read_to_string(&file).unwrap().contains("Remind me of the train"), "{}", file.display());
    assert!(file.parent().unwrap().ends_with(main["sessionId"].as_str().unwrap()));
    assert_eq!(place.own_row("main", "agent:main:telegram:direct:ana").get("status"), None);
    assert_ne!(place.own_row("desk", "agent:desk:telegram:group:-7:topic:9"), Value::Null);
    assert_eq!((place.sessions_of("main"), place.sessions_of("desk")), (3, 1));
    let listed = place.json(&["list", "--routes", "--json"]);
    assert_eq!(listed["count"], 3, "{listed:#}");
    let cleaned = place.json(&["cleanup", "--fix-missing", "--dry-run", "--json"]);
    assert_eq!(cleaned["missing"], 0, "{cleaned:#}");
}

#[test]
fn a_second_import_doubles_nothing_and_the_row_that_changed_last_stays() {
    let place = Place::with_transcripts();
    let first = place.import();
    let second = place.import();
    assert_eq!((sources(&second, "rows").len(), sources(&second, "earlier").len()), (0, 0), "{second:#}");
    assert_eq!((second["unchanged"].as_u64(), sources(&first, "skipped")), (Some(4), sources(&second, "skipped")));
    assert_eq!((place.sessions_of("main"), place.sessions_of("desk")), (3, 1));

    // A reset there: the row changed, its old transcript has none.
    let mut rows = place.kept();
    rows["agent:main:main"] = json!({"sessionId": "9c00-new", "updatedAt": place.now});
    rows["agent:main:telegram:direct:ana"]["updatedAt"] = json!(1);
    rows["agent:main:telegram:direct:ana"]["label"] = json!("older");
    place.write_rows(&rows);
    std::fs::write(place.folder().join("9c00-new.jsonl"), transcript("9c00-new")).unwrap();
    let before = place.own_row("main", "agent:main:main");
    let third = place.import();
    assert_eq!(sources(&third, "rows"), ["agent:main:main"], "{third:#}");
    assert_ne!(place.own_row("main", "agent:main:main")["sessionId"], before["sessionId"]);
    assert_eq!(place.own_row("main", "agent:main:telegram:direct:ana").get("label"), None);
    assert_eq!(place.sessions_of("main"), 4);
}

#[test]
fn an_import_without_a_store_says_what_to_name() {
    let place = Place::new();
    for (args, code, says) in [
        (&["import", "--routes", "nowhere"][..], 1, "no sessions.json of an agent in "),
        (&["import", "--routes", "--from", "codex"], 2, "use --from openclaw"),
        (&["import", "--routes", "--scan"], 2, "cannot be used with"),
    ] {
        let output = place.lisle(args);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(code), 0), "{args:?}");
        assert!(err(&output).contains(says), "{args:?}: {}", err(&output));
    }
}

/// Texts of the people in a transcript, checked to be one chain of entries.
fn asked_in_chain(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((lines[0]["type"].as_str(), lines[0]["version"].as_u64()), (Some("session"), Some(3)));
    let mut parent = Value::Null;
    for entry in &lines[1..] {
        assert_eq!(entry["parentId"], parent, "{entry}");
        parent = entry["id"].clone();
    }
    let is_asked = |entry: &&Value| entry["message"]["role"] == "user";
    let asked = lines.iter().filter(is_asked).map(|entry| entry["message"]["content"][0]["text"].as_str().unwrap());
    asked.map(str::to_owned).collect()
}

#[test]
fn an_export_is_read_again_as_what_it_was() {
    let place = Place::with_transcripts();
    place.import();
    let output = place.lisle(&["export", "--routes", "-o", "out"]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    assert!(err(&output).contains("3 session keys exported."), "{}", err(&output));
    let folder = place.home.path().join("out/agents/main/sessions");
    let rows: Value = serde_json::from_slice(&std::fs::read(folder.join("sessions.json")).unwrap()).unwrap();
    let own = place.own_row("main", "agent:main:main");
    assert_eq!(rows["agent:main:main"]["sessionId"], own["sessionId"]);
    assert_eq!(rows["agent:main:main"]["someNewerKey"], json!({"kept": [1, 2.5, null]}));
    assert_eq!(rows["agent:main:main"].get("sessionFile"), None);
    let file = folder.join(format!("{}.jsonl", own["sessionId"].as_str().unwrap()));
    assert_eq!(asked_in_chain(&file), ["Remind me of the train", "Thanks"]);
    let text = std::fs::read_to_string(&file).unwrap();
    for kept in ["\"toolResult\"", "\"compaction\"", PICTURE, "A train at nine."] {
        assert!(text.contains(kept), "{kept}: {text}");
    }

    // Into an empty home: the same rows, with conversations that say the same.
    let other = Place::new();
    let out = place.home.path().join("out");
    let output = other.lisle(&["import", "--routes", out.to_str().unwrap(), "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((report["rows"].as_array().map(Vec::len), &report["skipped"]), (Some(3), &json!([])), "{report:#}");
    let again = other.own_row("main", "agent:main:main");
    assert_eq!((&again["updatedAt"], &again["thinkingLevel"]), (&own["updatedAt"], &own["thinkingLevel"]));
    let output = other.lisle(&["export", "--routes", "-o", "out"]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let id = again["sessionId"].as_str().unwrap();
    let file = other.home.path().join(format!("out/agents/main/sessions/{id}.jsonl"));
    assert_eq!(asked_in_chain(&file), ["Remind me of the train", "Thanks"]);

    // What is there stays.
    let output = place.lisle(&["export", "--routes", "-o", "out"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    assert!(err(&output).contains("it exists. Name another folder"), "{}", err(&output));
    assert_eq!(place.lisle(&["export", "--routes"]).status.code(), Some(2));
}
