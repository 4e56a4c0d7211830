//! The program in Explore against a model that tries to write, to read secrets and to run what a repository brings along;
//! and keys that a server repeats.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test ends where its program cannot go on")]

use crate::support;

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use support::model_server::{ModelServer, Script};

const KEY: &str = "topsecretkey-1234567890";

struct Room {
    _dir: tempfile::TempDir,
    root: PathBuf,
}

impl Room {
    /// A repository with secrets behind links and programs that take the names of the system's.
    fn new(server: &ModelServer) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for folder in ["home/config", "repo/sub", "repo/bin", "other/.ssh"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        let config =
            format!("[connections.x]\nprovider = \"openai-compatible\"\nbase_url = \"{}\"\n", server.base_url());
        std::fs::write(root.join("home/config/config.toml"), config + "models = [\"m\"]\n").unwrap();
        std::fs::write(root.join("home/config/credentials"), format!("x = \"{KEY}\"\n")).unwrap();
        std::fs::set_permissions(root.join("home/config/credentials"), std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::write(root.join("other/.ssh/id_rsa"), "HIDDEN one").unwrap();
        std::fs::write(root.join("repo/.env"), "X=HIDDEN two").unwrap();
        std::fs::write(root.join("repo/a.txt"), "hello\n").unwrap();
        symlink(root.join("other/.ssh/id_rsa"), root.join("repo/link")).unwrap();
        symlink(root.join("other/.ssh"), root.join("repo/dirlink")).unwrap();
        symlink(".env", root.join("repo/envlink")).unwrap();
        symlink("/dev/zero", root.join("repo/zero")).unwrap();
        for folder in ["repo", "repo/bin"] {
            for name in lisle::domain::permission::READERS {
                let program = root.join(folder).join(name);
                std::fs::write(&program, format!("#!/bin/sh\n: > '{}/repo/ran-{name}'\n", root.display())).unwrap();
                std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
            }
        }
        std::fs::write(root.join("repo/start"), format!(": > '{}/repo/ran-start'\n", root.display())).unwrap();
        Self { _dir: dir, root }
    }

    fn run(&self, mode: &str, prompt: &str) -> Output {
        let repo = self.root.join("repo");
        let path = std::env::var("PATH").unwrap();
        Command::new(env!("CARGO_BIN_EXE_lisle"))
            .args(["run", "--output", "json", "--connection", "x", "--mode", mode, prompt])
            .current_dir(&repo)
            .env("LISLE_HOME", self.root.join("home"))
            .env("LISLE_LOG", "trace")
            .env("PATH", format!(".:{}:bin::{path}", repo.join("bin").display()))
            .env("BASH_ENV", repo.join("start"))
            .env("ENV", repo.join("start"))
            .env("BASH_FUNC_cat%%", "() { : > ran-function; }")
            .env("GREP_OPTIONS", "-r")
            .env("X_API_KEY", KEY)
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    /// Every file of the repository with its content, rights, times and links.
    fn files(&self) -> BTreeMap<PathBuf, (Vec<u8>, [i64; 6])> {
        let mut out = BTreeMap::new();
        for folder in ["repo", "repo/sub", "repo/bin", "other/.ssh"] {
            for entry in std::fs::read_dir(self.root.join(folder)).unwrap().flatten() {
                let meta = entry.path().symlink_metadata().unwrap();
                let content = if meta.is_file() { std::fs::read(entry.path()).unwrap() } else { vec![] };
                // A change of attributes shows in the time of change.
                let times = [meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec()];
                let [a, b, c, d] = times;
                out.insert(entry.path(), (content, [a, b, c, d, i64::from(meta.mode()), meta.nlink() as i64]));
            }
        }
        out
    }

    /// Audit log of the only session, as `lisle audit` prints it.
    fn log(&self) -> Vec<Value> {
        let lisle = |args: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_lisle"));
            command.args(args).env("LISLE_HOME", self.root.join("home")).stdin(Stdio::null());
            let out = command.output().unwrap();
            assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
            String::from_utf8(out.stdout).unwrap()
        };
        let sessions: Value = serde_json::from_str(&lisle(&["sessions", "list", "--json"])).unwrap();
        let id = sessions[0]["id"].as_str().unwrap();
        let lines = lisle(&["audit", id, "--json"]);
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Results of calls that the model got, in their order.
fn results(asked: &Value) -> Vec<String> {
    let messages = asked["messages"].as_array().unwrap();
    let tool = messages.iter().filter(|message| message["role"] == "tool");
    tool.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn nothing_is_written_no_secret_read_and_no_program_of_the_repository_run() {
    let refused: Vec<&str> = include_str!("../explore/refused.txt").lines().filter(|line| !line.is_empty()).collect();
    let allowed: Vec<&str> = include_str!("../explore/allowed.txt").lines().filter(|line| !line.is_empty()).collect();
    assert!(refused.len() > 150 && allowed.len() > 20);
    let mut calls: Vec<(&str, Value)> = Vec::new();
    calls.extend(refused.iter().chain(&allowed).map(|line| ("bash", json!({"command": line}))));
    let files = [
        ("write", json!({"path": "new.txt", "content": "x"})),
        ("write", json!({"path": "../other/x", "content": "x"})),
        ("write", json!({"path": "/proc/self/cwd/x", "content": "x"})),
        ("read", json!({"path": "link"})),
        ("read", json!({"path": "envlink"})),
        ("read", json!({"path": "dirlink/id_rsa"})),
        ("read", json!({"path": ".ENV"})),
        ("grep", json!({"pattern": "HIDDEN", "path": "link"})),
        ("list", json!({"path": "dirlink"})),
    ];
    calls.extend(files.clone());
    let server = ModelServer::start([Script::calls(&calls), Script::says("done")]);
    let room = Room::new(&server);
    let before = room.files();
    let out = room.run("explore", "go");
    assert_eq!(room.files(), before);
    let said = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    assert!(!said.contains("HIDDEN one") && !said.contains("HIDDEN two"), "{said}");
    assert_eq!(out.status.code(), Some(3), "{said}");
    let asked = server.asked();
    assert_eq!(asked.len(), 2, "{said}");
    let results = results(&asked[1].json());
    assert_eq!(results.len(), calls.len());
    for (command, result) in refused.iter().zip(&results) {
        assert!(result.starts_with("Explore is read-only"), "{command}: {result}");
    }
    for (command, result) in allowed.iter().zip(&results[refused.len()..]) {
        assert!(result.contains("exit "), "{command}: {result}");
    }
    let log = room.log();
    assert_eq!(log.len(), calls.len(), "every call stands in the audit log");
    for (entry, result) in log.iter().zip(&results) {
        let refused = result.starts_with("Explore is read-only");
        assert_eq!(entry["fate"] == "refused", refused, "{entry}");
        if refused {
            assert_eq!(entry["decision"]["reason"], result.as_str(), "{entry}");
        }
        if let Some(decision) = entry.get("decision") {
            assert_eq!((&decision["mode"], &decision["by"]), (&json!("safe"), &json!("mode")), "{entry}");
        }
    }
    for ((tool, input), result) in files.iter().zip(&results[refused.len() + allowed.len()..]) {
        let missing = result.contains("does not exist");
        assert!(result.starts_with("Explore is read-only") || missing, "{tool} {input}: {result}");
    }
}

/// The judge's record of tricks: what it lets pass for reading runs in the read-only profile, and the files of the repository,
/// the hidden texts and the home folder tell whether it did anything.
#[test]
fn no_trick_of_the_record_changes_or_shows_anything() {
    let lines: Vec<String> = include_str!("../judge/tricks.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("## "))
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| line.to_owned()))
        .collect();
    assert!(lines.len() > 500);
    let told: Vec<(&str, bool)> =
        lines.iter().map(|line| line.strip_prefix("+ ").map_or((line.as_str(), false), |line| (line, true))).collect();
    let calls: Vec<(&str, Value)> = told.iter().map(|(line, _)| ("bash", json!({"command": line}))).collect();
    let server = ModelServer::start([Script::calls(&calls), Script::says("done")]);
    let room = Room::new(&server);
    let before = room.files();
    let out = room.run("explore", "go");
    assert_eq!(room.files(), before);
    let said = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    assert!(!said.contains("HIDDEN one") && !said.contains("HIDDEN two"), "{said}");
    let results = results(&server.asked()[1].json());
    assert_eq!(results.len(), told.len());
    let wrong: Vec<String> = told
        .iter()
        .zip(&results)
        .filter(|((_, reads), result)| refused(result) == *reads)
        .map(|((line, _), result)| format!("{line}: {result}"))
        .collect();
    assert!(wrong.is_empty(), "{} went otherwise:\n{}", wrong.len(), wrong.join("\n"));
}

/// A command that was not started: refused by the mode, or no command line at all.
fn refused(result: &str) -> bool {
    result.starts_with("Explore is read-only") || result.contains("holds a NUL character")
}

/// Whatever stands in files below a folder, the file of the keys excepted.
fn all_text(folder: &Path, out: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            all_text(&path, out);
        } else if path.file_name().is_some_and(|name| name != "credentials") {
            out.push_str(&String::from_utf8_lossy(&std::fs::read(&path).unwrap()));
        }
    }
}

#[test]
fn a_key_that_a_server_repeats_stands_nowhere() {
    let says = format!("Incorrect API key provided: {KEY}. Bearer {KEY} was sent.");
    for (script, exit) in [
        (Script::json(401, &json!({"error": {"message": says, "code": "invalid_api_key"}})), 4),
        (Script::new(401, "text/html", format!("<html>{says}</html>")), 4),
        (Script::new(404, "text/html", format!("<!doctype html><h1>{says}</h1>")), 1),
        (Script::json(200, &json!({"error": {"message": says, "type": "invalid_request_error"}})), 1),
        (Script::sse(format!("data: {}\n\n", json!({"error": {"message": says, "code": 400}}))), 1),
        (Script::new(307, "text/plain", &says).header("location", &format!("https://x.test/?k={KEY}")), 1),
    ] {
        let server = ModelServer::start([script]);
        let room = Room::new(&server);
        let out = room.run("ask", "hello");
        let mut seen = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
        let sentence = seen.clone();
        all_text(&room.root.join("home"), &mut seen);
        assert!(!seen.contains(KEY), "{sentence}");
        assert_eq!(out.status.code(), Some(exit), "{sentence}");
        assert!(server.asked()[0].header("authorization").is_some_and(|value| value.ends_with(KEY)));
    }
}

/// True if a process runs with this word among its arguments.
fn runs(word: &str) -> bool {
    std::fs::read_dir("/proc").into_iter().flatten().flatten().any(|entry| {
        std::fs::read(entry.path().join("cmdline"))
            .is_ok_and(|line| line.split(|b| *b == 0).any(|part| part == word.as_bytes()))
    })
}

#[test]
fn patches_jobs_and_scripts_change_nothing_either() {
    let repo = |room: &Room| room.root.join("repo").display().to_string();
    let patch = |body: &str| json!({"patch": format!("*** Begin Patch\n{body}\n*** End Patch")});
    let background = |command: &str| json!({"command": command, "background": true});
    let script = |script: &str, inputs: &[&str], output: &str| json!({"language": "bash", "script": script, "inputs": inputs, "output": output});
    let evil = "cd \"$(dirname \"$1\")\"; echo x > made; rm -f a.txt; : > a.txt; chmod 777 a.txt; touch a.txt; \
        ln -s /etc link2; mv sub moved; mkdir -p ../other/made; (exec 3<>/dev/tcp/127.0.0.1/80) && echo connected; \
        cat \"$1\" > \"$2\"; echo over";
    let calls = [
        ("read", json!({"path": "a.txt"})),
        ("patch", patch("*** Update File: a.txt\n@@\n-hello\n+bye")),
        ("patch", patch("*** Delete File: a.txt")),
        ("patch", patch("*** Update File: a.txt\n*** Move to: sub/a.txt")),
        ("patch", patch("*** Add File: made\n+x\n*** Add File: ../other/made\n+x")),
        ("bash", background("touch made; sleep 4711")),
        ("bash", background("echo x > made")),
        ("transform_data", script("cat \"$1\" > \"$2\"", &[".env"], "secret.txt")),
        ("transform_data", script("cat \"$1\" > \"$2\"", &["envlink"], "secret.txt")),
        ("transform_data", script("echo x > \"$1\"", &[], "../../made")),
        // These run, and can do nothing.
        ("transform_data", script(evil, &["a.txt"], "copy.txt")),
        ("bash", background("sleep 61234")),
        ("job_output", json!({"job": "none"})),
        ("job_kill", json!({"job": "none"})),
    ];
    let calls: Vec<(&str, Value)> = calls.to_vec();
    let server = ModelServer::start([Script::calls(&calls), Script::says("done")]);
    let room = Room::new(&server);
    let before = room.files();
    let out = room.run("explore", "go");
    assert_eq!(room.files(), before);
    assert!(
        !room.root.join("repo/made").exists()
            && !room.root.join("other/made").exists()
            && !room.root.join("made").exists()
    );
    let said = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    assert!(!said.contains("HIDDEN"), "{said}");
    let results = results(&server.asked()[1].json());
    assert_eq!(results.len(), calls.len(), "{said}");
    let refused = "Explore is read-only";
    for (at, result) in results.iter().enumerate().skip(1).take(8) {
        assert!(result.starts_with(refused), "{at} {}: {result}", calls[at].1);
    }
    assert!(results[9].contains("must be the name of a file in `data/`"), "{}", results[9]);
    if lisle::sandbox::is_enforced() {
        let result = &results[10];
        assert!(
            result.contains("copy.txt: 6 bytes. It begins:\nhello")
                && result.contains("\nover\n")
                && result.ends_with("exit 0"),
            "{result}"
        );
        assert!(!result.contains("connected"), "{result}");
        assert!(results[11].contains("continues in the background as job"), "{}", results[11]);
    } else {
        assert!(results[10].starts_with(refused) && results[11].starts_with(refused), "{results:?}");
    }
    assert!(results[12].contains("No job `none`") && results[13].contains("No job `none`"));
    assert!(!runs("61234") && !runs("4711"), "jobs end with the program: {}", repo(&room));
}
