//! Imports that a signal or a kill ends, by the real binary: nothing half made is ever shown, and nothing comes twice.

use crate::headless::{Place, code, err, out};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

const CONVERSATIONS: usize = 8;
const TURNS: usize = 150;

/// A folder with transcripts of Claude Code.
fn histories(folder: &Path) -> PathBuf {
    let dir = folder.join("histories");
    std::fs::create_dir_all(&dir).unwrap();
    for number in 0..CONVERSATIONS {
        let mut lines = String::new();
        let (mut before, session) = (Value::Null, format!("session-{number}"));
        for turn in 0..TURNS {
            for kind in ["user", "assistant"] {
                let id = format!("{number}-{turn}-{kind}");
                let content = match kind {
                    "user" => json!(format!("question {turn} of {number}")),
                    _ => json!([{"type": "text", "text": "word ".repeat(200)}]),
                };
                let line = json!({
                    "type": kind, "uuid": id, "parentUuid": before, "sessionId": session, "cwd": "/w", "isSidechain": false,
                    "timestamp": format!("2026-05-26T07:{:02}:{:02}.000Z", turn / 60, turn % 60),
                    "message": {"role": kind, "model": "m", "content": content},
                });
                lines += &format!("{line}\n");
                before = json!(id);
            }
        }
        std::fs::write(dir.join(format!("{session}.jsonl")), lines).unwrap();
    }
    dir
}

/// Names in the folder of sessions: those that lists show, and hidden ones.
fn names(place: &Place) -> (usize, usize) {
    let workspaces = std::fs::read_dir(place.home.path().join("data/workspaces")).into_iter().flatten().flatten();
    let dirs = workspaces.flat_map(|dir| std::fs::read_dir(dir.path().join("sessions"))).flatten().flatten();
    let (hidden, shown): (Vec<_>, Vec<_>) =
        dirs.partition(|entry| entry.file_name().to_string_lossy().starts_with('.'));
    (shown.len(), hidden.len())
}

#[track_caller]
fn until(child: &mut Child, mut condition: impl FnMut() -> bool) {
    while !condition() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it was stopped");
        std::thread::yield_now();
    }
}

fn import(place: &Place, dir: &Path) -> Child {
    let mut command = place.command(&["sessions", "import"]);
    command.arg(dir).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[track_caller]
fn assert_whole(place: &Place, dir: &Path) {
    let sessions = place.sessions();
    let whole = sessions.iter().all(|meta| meta["messages"] == json!(2 * TURNS));
    assert!(whole, "{sessions:#?}");
    let again = import(place, dir).wait_with_output().unwrap();
    assert_eq!(code(&again), Some(0), "{}", err(&again));
    assert_eq!((place.sessions().len(), names(place)), (CONVERSATIONS, (CONVERSATIONS, 0)), "{}", err(&again));
    let verified = place.lisle(&["sessions", "verify"]);
    assert_eq!(code(&verified), Some(0), "{}{}", out(&verified), err(&verified));
}

#[test]
fn a_killed_import_leaves_no_ghosts_and_the_next_goes_on() {
    for shown in [0, 2, 5] {
        let place = Place::new();
        let dir = histories(place.project.path());
        let mut child = import(&place, &dir);
        until(&mut child, || {
            let (there, hidden) = names(&place);
            there >= shown && hidden > 0
        });
        child.kill().unwrap();
        child.wait().unwrap();
        assert_whole(&place, &dir);
    }
}

#[test]
fn a_signal_ends_an_import_in_good_order() {
    for (signal, status) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let place = Place::new();
        let dir = histories(place.project.path());
        let mut child = import(&place, &dir);
        until(&mut child, || names(&place).0 >= 2);
        kill_process(Pid::from_child(&child), signal).unwrap();
        let done = child.wait_with_output().unwrap();
        assert_eq!(code(&done), Some(status), "{}", err(&done));
        assert_eq!(names(&place).1, 0, "{}", err(&done));
        let ids: Vec<String> = place.sessions().iter().map(|meta| meta["id"].as_str().unwrap().to_owned()).collect();
        let mut printed: Vec<&str> = Vec::new();
        let text = out(&done);
        printed.extend(text.lines());
        printed.sort_unstable();
        let mut ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        ids.sort_unstable();
        assert_eq!(printed, ids, "{}", err(&done));
        assert!(err(&done).contains(&format!("of {CONVERSATIONS} left. Import again")), "{}", err(&done));
        assert_whole(&place, &dir);
    }
}

#[test]
fn deleted_imports_are_counted_in_the_trash() {
    let place = Place::new();
    let dir = histories(place.project.path());
    assert_eq!(code(&import(&place, &dir).wait_with_output().unwrap()), Some(0));
    let id = place.sessions()[0]["id"].as_str().unwrap().to_owned();
    let deleted = place.lisle(&["sessions", "delete", "--yes", &id]);
    let trash = out(&deleted).trim().to_owned();
    let again = import(&place, &dir).wait_with_output().unwrap();
    let said = format!("0 imported, {} unchanged, 1 in the trash", CONVERSATIONS - 1);
    assert!(code(&again) == Some(0) && err(&again).contains(&said), "{}", err(&again));
    assert!(err(&again).contains(&format!("lisle sessions restore {trash}")), "{}", err(&again));
    assert_eq!(code(&place.lisle(&["sessions", "restore", &trash])), Some(0));
    assert_eq!(place.sessions().len(), CONVERSATIONS);
}

#[test]
fn a_scan_of_a_folder_counts_by_content() {
    let place = Place::new();
    let dir = histories(place.project.path());
    let scan = place.lisle(&["sessions", "import", "--scan", "--json", dir.to_str().unwrap()]);
    let lines: Value = serde_json::from_str(&out(&scan)).unwrap();
    let counts: Vec<_> = lines.as_array().unwrap().iter().map(|line| (&line["kind"], &line["sessions"])).collect();
    assert_eq!(counts, [(&json!("claude-code"), &json!(CONVERSATIONS))], "{lines}");
    // Of another program none can be imported, and that is no success.
    let none = place.lisle(&["sessions", "import", "--from", "pi", dir.to_str().unwrap()]);
    assert!(code(&none) == Some(1) && err(&none).contains("0 imported, 8 skipped (0 B)"), "{}", err(&none));
}

/// Two files of one conversation, the second longer, and a third in which it went another way.
#[test]
fn a_scan_counts_the_sessions_that_an_import_makes() {
    let place = Place::new();
    let dir = histories(place.project.path());
    let text = std::fs::read_to_string(dir.join("session-3.jsonl")).unwrap();
    let beginning: String = text.lines().take(10).map(|line| format!("{line}\n")).collect();
    std::fs::write(dir.join("session-30.jsonl"), &beginning).unwrap();
    let other = text.lines().nth(10).unwrap().replace("\"uuid\":\"3-", "\"uuid\":\"other-");
    std::fs::write(dir.join("session-31.jsonl"), format!("{beginning}{other}\n")).unwrap();
    let scan = place.lisle(&["sessions", "import", "--scan", "--json", dir.to_str().unwrap()]);
    let lines: Value = serde_json::from_str(&out(&scan)).unwrap();
    let done = import(&place, &dir).wait_with_output().unwrap();
    assert!(code(&done) == Some(0) && place.sessions().len() == CONVERSATIONS + 1, "{}", err(&done));
    assert_eq!(lines[0]["sessions"], json!(CONVERSATIONS + 1), "{lines}");
}

#[test]
fn an_import_of_many_says_why_one_is_a_new_session() {
    let place = Place::new();
    let dir = histories(place.project.path());
    assert_eq!(code(&import(&place, &dir).wait_with_output().unwrap()), Some(0));
    // The conversation went another way after its tenth line.
    let file = dir.join("session-3.jsonl");
    let text = std::fs::read_to_string(&file).unwrap();
    let other = |(at, line): (usize, &str)| match at {
        0..10 => format!("{line}\n"),
        10 => format!("{}\n", line.replace("\"uuid\":\"3-", "\"uuid\":\"other-")),
        _ => format!("{}\n", line.replace("uuid\":\"3-", "uuid\":\"other-").replace("Uuid\":\"3-", "Uuid\":\"other-")),
    };
    std::fs::write(&file, text.lines().enumerate().map(other).collect::<String>()).unwrap();
    let again = import(&place, &dir).wait_with_output().unwrap();
    let said = err(&again);
    assert_eq!(code(&again), Some(0), "{said}");
    let why: Vec<&str> = said.lines().filter(|line| line.contains("session-3.jsonl: ")).collect();
    assert!(matches!(why.as_slice(), [line] if line.contains("imported as a new session")), "{said}");
    assert!(said.contains(&format!("1 imported, {} unchanged", CONVERSATIONS - 1)), "{said}");
}

#[test]
fn files_that_are_none_of_a_format_are_named_for_what_they_are() {
    let place = Place::new();
    for (name, text, says) in [
        ("empty.jsonl", "", "empty file"),
        ("blank.json", " \n", "empty file"),
        ("cut.json", "{\"type\": \"user\", \"mess", "truncated or broken JSON"),
        ("other.json", "{\"a\": 1}", "unknown format"),
        ("other.txt", "hello", "unknown format"),
    ] {
        let file = place.project.path().join(name);
        std::fs::write(&file, text).unwrap();
        let done = place.lisle(&["sessions", "import", file.to_str().unwrap()]);
        assert_eq!((code(&done), out(&done)), (Some(1), String::new()));
        assert!(err(&done).contains(says), "{name}: {}", err(&done));
    }
    let near = place.lisle(&["sessions", "import", "--from", "codx"]);
    assert!(err(&near).contains("Did you mean codex?"), "{}", err(&near));
}

#[test]
fn a_scan_names_what_it_passes_over_behind_its_table() {
    let place = Place::new();
    let dir = histories(place.project.path());
    std::fs::write(dir.join("empty.jsonl"), "").unwrap();
    let scan = place.lisle(&["sessions", "import", "--scan", "./histories/../histories/"]);
    let path = dir.canonicalize().unwrap();
    assert!(out(&scan).trim_end().ends_with(path.to_str().unwrap()), "{}", out(&scan));
    assert!(err(&scan).contains("empty file"), "{}", err(&scan));
}
