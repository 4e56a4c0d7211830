//! Sessions without a screen, by the real binary: the list and its filters, changes, the trash,
//! labels, statuses and views. What comes out on stdout is the result and nothing else.

#![allow(clippy::unwrap_used, reason = "a failing test should stop where it fails")]

use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use serde_json::Value;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A home of lisle's own, and a workspace that is a copy of another program's.
struct Place {
    home: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { home: tempfile::tempdir().unwrap() };
        copy_tree(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/craft/main"), &place.workspace());
        place
    }

    fn workspace(&self) -> PathBuf {
        self.home.path().join("craft")
    }

    fn session(&self, id: &str) -> PathBuf {
        self.workspace().join("sessions").join(id)
    }

    fn lisle(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lisle"));
        command.args(args).arg("--workspace").arg(self.workspace());
        command.current_dir(self.home.path()).env("LISLE_HOME", self.home.path().join("lisle")).stdin(Stdio::null());
        command.output().unwrap()
    }

    /// Output of a command that goes well.
    fn out(&self, args: &[&str]) -> String {
        let output = self.lisle(args);
        assert_eq!(code(&output), 0, "{args:?}: {}", err(&output));
        out(&output)
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.out(args)).unwrap()
    }

    /// The ids of a list.
    fn ids(&self, args: &[&str]) -> Vec<String> {
        let mut all = vec!["sessions", "list", "--json"];
        all.extend(args);
        let list = self.json(&all);
        list.as_array().unwrap().iter().map(|meta| meta["id"].as_str().unwrap().to_owned()).collect()
    }

    fn meta(&self, id: &str) -> Value {
        self.json(&["sessions", "show", id, "--json"])["meta"].take()
    }
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}
fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
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

const SWIFT: &str = "260902-swift-river";
const CALM: &str = "260903-calm-forest";
const MISTY: &str = "260911-misty-valley";

#[test]
fn the_list_is_filtered_by_what_sessions_are() {
    let place = Place::new();
    for (args, ids) in [
        (&["--archived"][..], &["260910-amber-ridge"][..]),
        (&["--flagged"], &["260908-noble-island", SWIFT]),
        (&["--flagged", "--all"], &["260910-amber-ridge", "260908-noble-island", SWIFT]),
        (&["--unread"], &["260919-steady-glacier", "260906-bright-summit", SWIFT]),
        (&["--unread", "--flagged"], &[SWIFT]),
        (&["--status", "blocked-by-vendor"], &["260914-vivid-lotus", "260907-gentle-harbor"]),
        (
            &["--status", "Blocked by VENDOR", "--status", "shipped"],
            &["260923-royal-maple", "260914-vivid-lotus", "260907-gentle-harbor"],
        ),
        (&["--label", "development"], &["260908-noble-island", "260907-gentle-harbor", SWIFT]),
        (&["--label", "Priority", "--label", "bug"], &["260908-noble-island"]),
        (&["--view", "plan"], &["260906-bright-summit"]),
        (&["--view", "Big"], &["260919-steady-glacier"]),
        (&["--view", "view-old-alias", "--all"], &["260910-amber-ridge"]),
    ] {
        assert_eq!(place.ids(args), ids, "{args:?}");
    }
    assert!(
        place.ids(&["--status", "todo"]).contains(&"260909-silver-pine".to_owned()),
        "an unknown status is the default one"
    );
    let text = place.out(&["sessions", "list", "--flagged"]);
    let line = text.lines().find(|line| line.starts_with(SWIFT)).unwrap();
    assert!(
        line.contains("Release checklist 2.4") && line.contains("[Needs Review 👀, flagged, unread, #Code"),
        "{line}"
    );
    assert!(line.contains("#Priority: 3, #Due: Sep 30, 2026, #Project: lisle]"), "{line}");
}

#[test]
fn what_is_not_known_is_said_with_what_there_is() {
    let place = Place::new();
    for (args, says) in [
        (&["--status", "blokced-by-vendor"][..], "Did you mean \"blocked-by-vendor\"?"),
        (&["--label", "zzzzzzzz"], "Available: development, code"),
        (&["--view", "Broken"], "no view \"Broken\""),
    ] {
        let output = place.lisle(&[&["sessions", "list"], args].concat());
        assert_eq!((code(&output), out(&output)), (2, String::new()), "{args:?}");
        assert!(err(&output).contains(says), "{}", err(&output));
        assert!(err(&output).contains("views.json, line"), "mistakes in the definitions are told: {}", err(&output));
    }
    assert_eq!(err(&place.lisle(&["sessions", "list"])), "", "not to who did not ask by them");
}

#[test]
fn properties_are_set_and_stay() {
    let place = Place::new();
    let project = place.home.path().join("project");
    std::fs::create_dir(&project).unwrap();
    let set = [
        "sessions",
        "set",
        CALM,
        "--title",
        " A  new\ttitle ",
        "--status",
        "Needs review 👀",
        "--label",
        "bug",
        "--label",
        "priority::7",
        "--label",
        "due::2026-12-24",
        "--flag",
        "--unread",
        "--hide",
        "--mode",
        "explore",
        "--cwd",
        project.to_str().unwrap(),
    ];
    assert_eq!(place.out(&set), "");
    let meta = place.meta(CALM);
    assert_eq!((meta["title"].as_str(), meta["title_from"].as_str()), (Some("A new title"), Some("user")));
    assert_eq!((meta["status"].as_str(), meta["mode"].as_str()), (Some("needs-review"), Some("safe")));
    assert_eq!(meta["labels"], serde_json::json!(["bug", "priority::7", "due::2026-12-24"]));
    assert_eq!((&meta["flagged"], &meta["unread"], &meta["hidden"]), (&true.into(), &true.into(), &true.into()));
    assert_eq!(meta["cwd"].as_str(), project.canonicalize().unwrap().to_str());
    // The rows of the session are untouched, and its header says the same to other programs.
    let file = std::fs::read_to_string(place.session(CALM).join("session.jsonl")).unwrap();
    let header: Value = serde_json::from_str(file.lines().next().unwrap()).unwrap();
    assert_eq!((header["name"].as_str(), header["isFlagged"].as_bool()), (Some("A new title"), Some(true)));
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/craft/main/sessions").join(CALM);
    let before = std::fs::read_to_string(fixture.join("session.jsonl")).unwrap();
    assert!(file.lines().skip(1).eq(before.lines().skip(1)));
    let back = [
        "sessions",
        "set",
        CALM,
        "--unlabel",
        "Priority",
        "--unlabel",
        "due",
        "--label",
        "bug",
        "--unflag",
        "--read",
        "--unhide",
        "--json",
    ];
    let metas = place.json(&back);
    assert_eq!(metas[0]["labels"], serde_json::json!(["bug"]));
    assert_eq!(
        (&metas[0]["flagged"], &metas[0]["unread"], &metas[0]["hidden"]),
        (&false.into(), &false.into(), &false.into())
    );
    assert_eq!(place.meta(CALM)["labels"], serde_json::json!(["bug"]));
}

#[test]
fn what_cannot_be_set_changes_nothing() {
    let place = Place::new();
    let before = std::fs::read(place.session(CALM).join("session.jsonl")).unwrap();
    for (args, status, says) in [
        (&[][..], 2, "nothing to change"),
        (&["--status", "nope"], 2, "no status"),
        (&["--label", "nope"], 2, "no label"),
        (&["--label", "priority::high"], 2, "expected a number"),
        (&["--label", "due::2026-02-30"], 2, "date such as"),
        (&["--label", "bug::x"], 2, "takes no value"),
        (&["--title", "  "], 2, "empty title"),
        (&[SWIFT, "--title", "x"], 2, "a title needs exactly one session"),
        (&[SWIFT, "--name", "x"], 2, "a name needs exactly one session"),
        (&["--name", "../x"], 2, "invalid session name"),
        (&["--name", "260902-other-river"], 2, "has the form of an id"),
        (&["--flag", "--unflag"], 2, "cannot be used with"),
        (&["--mode", "yolo"], 2, "expected explore"),
    ] {
        let output = place.lisle(&[&["sessions", "set", CALM], args].concat());
        assert_eq!((code(&output), out(&output)), (status, String::new()), "{args:?}: {}", err(&output));
        assert!(err(&output).contains(says), "{args:?}: {}", err(&output));
    }
    assert_eq!(std::fs::read(place.session(CALM).join("session.jsonl")).unwrap(), before);
}

#[test]
fn a_name_is_given_to_one_session_and_taken_away() {
    let place = Place::new();
    place.out(&["sessions", "set", SWIFT, "--name", "notes"]);
    let taken = place.lisle(&["sessions", "set", CALM, "--name", "notes"]);
    assert_eq!(code(&taken), 2);
    assert!(err(&taken).contains(&format!("{SWIFT} has the name")), "{}", err(&taken));
    place.out(&["sessions", "set", SWIFT, "--name", "notes"]);
    let names = || place.out(&["run", "--listsessions"]);
    assert!(names().lines().any(|name| name == "notes"), "{}", names());
    place.out(&["sessions", "set", SWIFT, "--name", ""]);
    assert!(names().lines().any(|name| name == SWIFT), "{}", names());
}

#[test]
fn one_that_cannot_be_changed_does_not_keep_the_others_from_it() {
    let place = Place::new();
    let output = place.lisle(&["sessions", "archive", SWIFT, "260101-no-where", CALM, SWIFT]);
    assert_eq!((code(&output), out(&output)), (2, String::new()));
    assert_eq!(err(&output).lines().count(), 1, "{}", err(&output));
    assert!(err(&output).contains("no session 260101-no-where"), "{}", err(&output));
    assert_eq!(place.ids(&["--archived"]).len(), 3);
    assert!(place.meta(SWIFT)["archived_at"].as_i64().unwrap() > 1_700_000_000_000);
    place.out(&["sessions", "unarchive", SWIFT, CALM, "260910-amber-ridge"]);
    assert_eq!(place.ids(&["--archived"]), Vec::<String>::new());
    assert!(!place.session("260101-no-where").exists());
}

#[test]
fn an_unknown_session_is_said_with_the_nearest_one() {
    let place = Place::new();
    place.out(&["sessions", "set", SWIFT, "--name", "notes"]);
    assert!(place.out(&["sessions", "list"]).contains("named notes"));
    let typo = SWIFT.replace("swift", "swfit");
    for args in [
        &["sessions", "show"][..],
        &["sessions", "set", "--flag"],
        &["sessions", "delete", "--yes"],
        &["sessions", "export"],
        &["sessions", "branch"],
        &["sessions", "verify"],
        &["audit"],
        &["share"],
        &["run", "x", "--session"],
    ] {
        for (word, near) in [(typo.as_str(), SWIFT), ("ntoes", "notes")] {
            // A name that is free makes a new session.
            if args[0] == "run" && near == "notes" {
                continue;
            }
            let output = place.lisle(&[args, &[word]].concat());
            let expected = format!("lisle: no session {word} in workspace ");
            assert_eq!((code(&output), out(&output)), (2, String::new()), "{args:?}: {}", err(&output));
            let said = err(&output);
            let line = said.lines().find(|line| line.starts_with(&expected)).unwrap_or_else(|| panic!("{said}"));
            assert!(line.ends_with(&format!(". Did you mean {near}?")), "{line}");
        }
    }
}

#[test]
fn an_export_goes_into_what_is_no_file() {
    let place = Place::new();
    let id = place.ids(&[]).remove(0);
    let text = place.out(&["sessions", "export", &id]);
    assert_eq!(place.out(&["sessions", "export", &id, "-o", "-"]), text);
    assert_eq!(place.out(&["sessions", "export", &id, "-o", "/dev/stdout"]), text);
    let pipe = place.home.path().join("pipe.html");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let read = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe).unwrap()
    });
    place.out(&["sessions", "export", &id, "-o", pipe.to_str().unwrap()]);
    assert!(read.join().unwrap().starts_with("<!DOCTYPE html>"));
    let full = place.lisle(&["sessions", "export", &id, "-o", "/dev/full"]);
    assert_eq!((code(&full), out(&full)), (1, String::new()));
    assert!(err(&full).contains("/dev/full"), "{}", err(&full));
}

#[test]
fn what_another_process_has_open_is_left_alone() {
    let place = Place::new();
    let path = place.session(SWIFT).join("lisle.lock");
    let lock = std::fs::File::create(&path).unwrap();
    lock.lock().unwrap();
    for args in [
        &["sessions", "set", SWIFT, "--flag"][..],
        &["sessions", "archive", SWIFT],
        &["sessions", "delete", SWIFT, "--yes"],
        &["sessions", "delete", SWIFT, "--yes", "--now"],
    ] {
        let output = place.lisle(args);
        assert_eq!((code(&output), out(&output)), (1, String::new()), "{args:?}");
        assert!(err(&output).contains("open in another program. Close it there"), "{}", err(&output));
    }
    assert!(place.session(SWIFT).exists() && place.ids(&[]).contains(&SWIFT.to_owned()));
    drop(lock);
    place.out(&["sessions", "archive", SWIFT]);
}

#[test]
fn sessions_go_to_the_trash_and_come_back() {
    let place = Place::new();
    let body = |id: &str| {
        let text = std::fs::read_to_string(place.session(id).join("session.jsonl")).unwrap();
        text.split_once('\n').unwrap().1.to_owned()
    };
    let before = body(SWIFT);
    let nobody = place.lisle(&["sessions", "delete", SWIFT]);
    assert_eq!((code(&nobody), out(&nobody)), (2, String::new()));
    assert!(err(&nobody).contains("--yes"), "{}", err(&nobody));
    let names = place.out(&["sessions", "delete", SWIFT, CALM, "--yes"]);
    let names: Vec<&str> = names.lines().collect();
    assert!(names.len() == 2 && names[0].starts_with(SWIFT) && names[1].starts_with(CALM), "{names:?}");
    assert!(!place.session(SWIFT).exists() && !place.ids(&["--all"]).contains(&SWIFT.to_owned()));
    let trash = place.json(&["sessions", "trash", "--json"]);
    assert_eq!(trash.as_array().unwrap().len(), 2);
    assert!(trash[0]["bytes"].as_u64().unwrap() > 1000);
    let text = place.out(&["sessions", "trash"]);
    assert!(text.contains("Release checklist 2.4") && text.contains(" kB  "), "{text}");
    assert_eq!(place.out(&["sessions", "restore", names[0]]), format!("{SWIFT}\n"));
    // Of several with one id the newest comes back.
    let newer = place.out(&["sessions", "delete", SWIFT, "--yes"]);
    assert_eq!(place.out(&["sessions", "restore", SWIFT]), format!("{SWIFT}\n"));
    assert!(!place.out(&["sessions", "trash"]).contains(newer.trim()));
    assert_eq!(code(&place.lisle(&["sessions", "restore", SWIFT])), 1, "it is no longer there");
    assert_eq!(body(SWIFT), before);
    let again = place.lisle(&["sessions", "restore", names[0], names[1], "--json"]);
    assert_eq!(code(&again), 1);
    assert!(err(&again).contains("can't restore"), "{}", err(&again));
    assert_eq!(serde_json::from_str::<Value>(&out(&again)).unwrap()[0]["id"], CALM);
    assert_eq!(place.out(&["sessions", "trash"]), "");
    assert_eq!(place.out(&["sessions", "delete", CALM, "--yes", "--now"]), "");
    assert_eq!(place.out(&["sessions", "trash"]), "");
    assert!(!place.session(CALM).exists());
}

#[test]
fn a_branch_is_a_session_of_its_own() {
    let place = Place::new();
    let rows = |id: &str| place.json(&["sessions", "show", id, "--json"])["messages"].as_array().unwrap().clone();
    let of = rows(CALM);
    assert_eq!(of.len(), 3);
    let id = place.out(&["sessions", "branch", CALM]);
    let id = id.trim_end();
    assert_eq!(rows(id).len(), 3);
    let at = of[1]["id"].as_str().unwrap();
    let branch = place.json(&["sessions", "branch", CALM, "--at", at, "--json"]);
    let second = branch["id"].as_str().unwrap();
    assert_eq!(branch["branched_from"], serde_json::json!({"session": CALM, "message": at}));
    assert_eq!(rows(second).len(), 2);
    assert_eq!(rows(CALM), of);
    assert!(place.ids(&[])[..2].contains(&second.to_owned()), "it is listed as made now");
    let none = place.lisle(&["sessions", "branch", CALM, "--at", "nowhere"]);
    assert_eq!((code(&none), out(&none)), (1, String::new()));
    assert!(err(&none).contains("can't branch 260903-calm-forest"), "{}", err(&none));
}

#[test]
fn files_are_verified_and_repaired() {
    let place = Place::new();
    let sound = place.out(&["sessions", "verify", SWIFT]);
    assert!(sound.starts_with("260902-swift-river  ok: 2 messages, "), "{sound}");
    let file = place.session(MISTY).join("session.jsonl");
    let mut text = std::fs::read_to_string(&file).unwrap();
    text.push_str("{\"id\": torn");
    std::fs::write(&file, &text).unwrap();
    let odd = place.lisle(&["sessions", "verify", MISTY]);
    assert_eq!((code(&odd), err(&odd)), (1, String::new()));
    assert!(
        out(&odd).contains("problems") && out(&odd).contains("Line 4") && out(&odd).contains("With --repair: "),
        "{}",
        out(&odd)
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text, "looking changes nothing");
    let all = place.lisle(&["sessions", "verify"]);
    assert_eq!(code(&all), 1);
    assert!(
        out(&all).contains("\n260911-misty-valley  problems") || out(&all).starts_with("260911-misty-valley  problems"),
        "{}",
        out(&all)
    );
    assert!(out(&all).contains("30 sessions, "), "{}", out(&all));
    let repaired = place.json(&["sessions", "verify", MISTY, "--repair", "--json"]);
    assert_eq!((&repaired[0]["repaired"], &repaired[0]["messages"]), (&true.into(), &2.into()));
    assert!(place.out(&["sessions", "verify", MISTY]).contains("  ok: 2 messages"));
    let none = place.lisle(&["sessions", "verify", "260101-no-where"]);
    assert_eq!((code(&none), out(&none)), (2, String::new()));
    assert!(err(&none).contains("no session 260101-no-where"), "{}", err(&none));
}

/// Output of the program in a terminal when this is typed, and its exit status.
fn in_a_terminal(place: &Place, args: &[&str], typed: &str) -> (String, u32) {
    let pair = native_pty_system().openpty(PtySize { rows: 24, cols: 100, pixel_width: 0, pixel_height: 0 }).unwrap();
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_lisle"));
    command.args(args);
    command.arg("--workspace");
    command.arg(place.workspace());
    command.env("LISLE_HOME", place.home.path().join("lisle"));
    command.cwd(place.home.path());
    let mut child = pair.slave.spawn_command(command).unwrap();
    drop(pair.slave);
    let mut reader = pair.master.try_clone_reader().unwrap();
    let mut writer = pair.master.take_writer().unwrap();
    writer.write_all(typed.as_bytes()).unwrap();
    let mut text = Vec::new();
    // The end of a terminal whose programs are gone is an error on Linux.
    let _ = reader.read_to_end(&mut text);
    (String::from_utf8_lossy(&text).into_owned(), child.wait().unwrap().exit_code())
}

#[test]
fn in_a_terminal_deleting_asks() {
    let place = Place::new();
    let (text, status) = in_a_terminal(&place, &["sessions", "delete", SWIFT], "n\r");
    assert!(
        text.contains("Move to the trash:") && text.contains("Release checklist 2.4") && text.contains("[y/N]"),
        "{text}"
    );
    assert!(text.contains("nothing deleted") && status == 1, "{status} {text}");
    assert!(place.session(SWIFT).exists());
    let (text, status) = in_a_terminal(&place, &["sessions", "delete", SWIFT, "--now"], "yes\r");
    assert!(text.contains("Delete permanently") && status == 0, "{status} {text}");
    assert!(!place.session(SWIFT).exists() && place.out(&["sessions", "trash"]).is_empty());
}

#[test]
fn labels_statuses_and_views_are_listed_and_added() {
    let place = Place::new();
    assert_eq!(place.out(&["labels", "add", "Flaky Test", "--under", "Bug"]), "flaky-test\n");
    assert_eq!(place.out(&["labels", "add", "重要"]), "label-1\n");
    assert_eq!(place.out(&["labels", "add", "Effort", "--value", "number"]), "effort\n");
    assert_eq!(place.out(&["statuses", "add", "Paused", "--closed"]), "paused\n");
    assert_eq!(place.out(&["views", "add", "Mine", "isFlagged and not contains(labels, \"bug\")"]), "view-mine\n");
    assert_eq!(place.out(&["views", "add", "mine", "isFlagged"]), "view-mine\n");
    let labels = place.out(&["labels", "list"]);
    assert!(labels.contains("    flaky-test") && labels.contains("Effort  (number)"), "{labels}");
    let statuses = place.out(&["statuses", "list"]);
    assert!(
        statuses.lines().last().unwrap().starts_with("paused") && statuses.contains("closed  Paused"),
        "{statuses}"
    );
    assert_eq!(place.json(&["views", "list", "--json"]).as_array().unwrap().last().unwrap()["expression"], "isFlagged");
    place.out(&["sessions", "set", SWIFT, "--status", "paused", "--label", "flaky-test"]);
    assert_eq!(place.ids(&["--label", "bug", "--status", "paused", "--view", "mine"]), [SWIFT]);
    for (args, status, says) in [
        (&["labels", "add", "Bug", "--under", "development"][..], 1, "already"),
        (&["labels", "add", "New", "--under", "nowhere"], 2, "no label"),
        (&["statuses", "add", " "], 1, "empty name"),
        (&["views", "add", "Odd", "messageCount > \"1\""], 1, "> expects a number, found a text"),
    ] {
        let output = place.lisle(args);
        assert_eq!((code(&output), out(&output)), (status, String::new()), "{args:?}");
        assert!(err(&output).contains(says), "{args:?}: {}", err(&output));
    }
    std::fs::write(place.workspace().join("views.json"), "{\n  \"views\": [,]\n}").unwrap();
    let broken = place.lisle(&["views", "list"]);
    assert!(out(&broken).contains("Processing") && err(&broken).contains("views.json, line 2"), "{}", err(&broken));
    let output = place.lisle(&["views", "add", "X", "isFlagged"]);
    assert_eq!((code(&output), err(&output).contains("unchanged")), (1, true), "{}", err(&output));
    assert_eq!(std::fs::read_to_string(place.workspace().join("views.json")).unwrap(), "{\n  \"views\": [,]\n}");
}

#[test]
fn mistakes_in_the_definitions_do_not_keep_anybody_from_working() {
    let place = Place::new();
    std::fs::write(place.workspace().join("views.json"), "{").unwrap();
    let done = place.lisle(&["run", "--connection", "demo", "hello"]);
    assert_eq!(code(&done), 0, "{}", err(&done));
    assert!(!out(&done).is_empty(), "{}", err(&done));
    // Whoever looks at the list is told.
    assert!(err(&place.lisle(&["views", "list"])).contains("views.json, line 1"));
}

#[test]
fn help_tells_what_there_is() {
    let place = Place::new();
    for (args, says) in [
        (&["sessions", "--help"][..], &["list", "set", "delete", "restore", "Exit status: 0 done"][..]),
        (&["sessions", "set", "--help"], &["--title", "--unlabel", "LABEL[::VALUE]", "--mode"]),
        (&["sessions", "list", "--help"], &["--status", "by id or name", "--view"]),
        (&["views", "add", "--help"], &["daysSince(lastUsedAt)"]),
    ] {
        let text = place.out(args);
        for word in says {
            assert!(text.contains(word), "{args:?} {word}: {text}");
        }
    }
}

#[test]
fn conversations_are_exported_and_imported() {
    let place = Place::new();
    let id = place.ids(&[]).remove(0);
    let text = place.out(&["sessions", "export", &id]);
    assert!(text.starts_with("# ") && text.contains("\n## You · "), "{text}");
    let page = place.out(&["sessions", "export", &id, "-o", "a.html"]);
    assert_eq!(Path::new(page.trim()), place.home.path().canonicalize().unwrap().join("a.html"));
    assert!(std::fs::read_to_string(page.trim()).unwrap().starts_with("<!DOCTYPE html>"));
    let again = place.out(&["sessions", "export", &id, "-o", "a.html"]);
    assert!(again.trim().ends_with("a-2.html"), "{again}");
    assert_eq!(code(&place.lisle(&["sessions", "export", &id, "--format", "pdf"])), 2);
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/import/claude.jsonl");
    let output = place.lisle(&["sessions", "import", fixture.to_str().unwrap()]);
    assert_eq!(code(&output), 0, "{}", err(&output));
    assert!(err(&output).contains("Subagent records not included: 1."), "{}", err(&output));
    let meta = place.meta(out(&output).trim());
    assert_eq!(
        (meta["title"].as_str(), meta["cwd"].as_str()),
        (Some("Redirect keeps its query"), Some("/home/ada/app"))
    );
    assert_eq!(code(&place.lisle(&["sessions", "import", "nowhere.jsonl"])), 1);
}

#[test]
fn histories_of_other_programs_are_found_and_imported_at_once() {
    let place = Place::new();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/import");
    let home = place.home.path().join("ann");
    copy_tree(&fixtures.join("pi"), &home.join(".pi"));
    copy_tree(&fixtures.join("gemini-home"), &home.join(".gemini"));
    let lisle = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lisle"));
        command.args(["sessions", "import"]).args(args).arg("--workspace").arg(place.workspace());
        command.current_dir(place.home.path()).env("LISLE_HOME", place.home.path().join("lisle")).env("HOME", &home);
        for name in ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "PI_CODING_AGENT_DIR"] {
            command.env_remove(name);
        }
        command.stdin(Stdio::null()).output().unwrap()
    };
    let before = place.ids(&[]).len();
    let scan = lisle(&["--scan"]);
    let text = out(&scan);
    assert!(
        code(&scan) == 0 && text.contains("gemini              1") && text.contains("/.pi/agent/sessions"),
        "{text}"
    );
    let scan: Value = serde_json::from_str(&out(&lisle(&["--scan", "--json", "--from", "pi"]))).unwrap();
    assert_eq!((scan[0]["kind"].as_str(), scan[0]["sessions"].as_u64()), (Some("pi"), Some(1)));
    assert_eq!(place.ids(&[]).len(), before, "a scan imports nothing");
    let gemini = lisle(&["--from", "gemini"]);
    assert_eq!((code(&gemini), out(&gemini).lines().count()), (0, 1), "{}", err(&gemini));
    assert!(err(&gemini).contains("1 imported, 1 skipped") && err(&gemini).contains("no messages"), "{}", err(&gemini));
    let report = err(&gemini).lines().find_map(|line| line.strip_prefix("lisle: report: ").map(str::to_owned)).unwrap();
    let report: Value = serde_json::from_str(&std::fs::read_to_string(report).unwrap()).unwrap();
    assert_eq!(report["skipped"].as_array().map(Vec::len), Some(1), "{report}");
    let folder: Value = serde_json::from_str(&out(&lisle(&["ann", "--json"]))).unwrap();
    assert_eq!(
        (folder["imported"].as_array().map(Vec::len), folder["unchanged"].as_u64()),
        (Some(1), Some(1)),
        "{folder}"
    );
    assert_eq!(place.ids(&[]).len(), before + 2);
    for (args, status, says) in [
        (vec!["--from", "codex"], 1, "no sessions of Codex in"),
        (vec!["--from", "word"], 2, "expected one of claude-code"),
        (vec![], 2, "required"),
        (vec!["--from", "codex", "ann"], 1, "no sessions in"),
    ] {
        let output = lisle(&args);
        assert!(code(&output) == status && err(&output).contains(says), "{args:?}: {}", err(&output));
    }
}
