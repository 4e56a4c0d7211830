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
