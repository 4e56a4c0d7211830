//! Files of another program: listed, opened as far as can be, and left as they are where nobody edits them.

use super::*;
use crate::domain::message::InfoKind;
use std::collections::BTreeMap;

const NO_SESSION: [&str; 2] = ["damaged-no-file", "stray-file"];

fn dirs(root: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(root.join("work/sessions"))
        .unwrap()
        .map(|e| e.unwrap())
        .filter(|e| e.file_type().unwrap().is_dir())
        .map(|e| e.file_name().into_string().unwrap())
        .filter(|name| !NO_SESSION.contains(&name.as_str()))
        .collect();
    names.sort();
    names
}

#[test]
fn the_list_has_every_session_of_a_whole_workspace() {
    let root = copy_of("main");
    let store = store(root.path());
    assert!(store.is_foreign());
    assert_eq!(store.workspace_name(), "Fixture Workspace");
    let listing = store.list();
    let mut sessions: BTreeMap<String, SessionMeta> =
        listing.sessions.iter().map(|m| (m.id.as_str().to_owned(), m.clone())).collect();
    sessions.remove("damaged-no-file");
    assert_eq!(sessions.keys().cloned().collect::<Vec<_>>(), dirs(root.path()));
    assert_eq!(sessions.len(), 30);
    let which = |pick: fn(&SessionMeta) -> bool| {
        sessions.values().filter(|m| pick(m)).map(|m| m.id.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(which(|m| m.archived), ["260910-amber-ridge"]);
    assert_eq!(which(|m| m.hidden), ["260912-hidden-grove"]);
    assert_eq!(which(|m| m.flagged && !m.archived), ["260902-swift-river", "260908-noble-island"]);
    assert_eq!(which(|m| m.plan_pending), ["260906-bright-summit"]);
    let swift = &sessions["260902-swift-river"];
    assert_eq!(swift.title, "Release checklist 2.4");
    assert_eq!(swift.labels, ["code", "priority::3", "due::2026-09-30", "project::lisle"]);
    assert_eq!(swift.cwd, Path::new("/home/ada/code/demo"));
    assert_eq!((swift.messages, swift.unread, swift.thinking.word()), (2, true, "xhigh"));
    assert!(swift.odd.is_empty() && swift.usage.total_tokens > 0);
    let old = &sessions["260924-old-timer"];
    assert_eq!((old.status.as_str(), old.mode, old.thinking.word()), ("done", Mode::Explore, "medium"));
    let maple = &sessions["260923-royal-maple"];
    assert_eq!(maple.status, "shipped");
    assert_eq!(maple.odd.len(), 2, "{:?}", maple.odd);
    // Listing writes nothing there, not even a lock; its cache lies elsewhere.
    let state: Vec<_> = std::fs::read_dir(root.path().join("state")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(state, ["index"]);
    assert!(!root.path().join("work/sessions/260902-swift-river/lisle.lock").exists());
}

#[test]
fn every_damaged_session_is_listed_and_says_what_is_odd() {
    let root = copy_of("damaged");
    let store = store(root.path());
    let sessions = store.list().sessions;
    let mut listed: Vec<&str> = sessions.iter().map(|m| m.id.as_str()).collect();
    listed.sort_unstable();
    assert_eq!(listed, dirs(root.path()));
    let header_odd = [
        ("damaged-bom", false),
        ("damaged-header-20k", true),
        ("damaged-header-8193", true),
        ("damaged-header-array", true),
        ("damaged-header-null", true),
        ("damaged-header-torn", true),
        ("damaged-header-wrong-types", true),
        ("damaged-id-mismatch", true),
        ("damaged-leading-blank", false),
        ("damaged-no-header", true),
        ("damaged-nul-all", true),
        ("damaged-only-tmp", true),
        ("damaged-only-tmp-torn", true),
        ("damaged-zero-bytes", true),
        ("261026-sound-anchor", false),
    ];
    for (name, odd) in header_odd {
        let meta = sessions.iter().find(|m| m.id.as_str() == name).unwrap();
        assert_eq!(!meta.odd.is_empty(), odd, "{name}: {:?}", meta.odd);
    }
}

/// Rows, and a word of one of the sentences about what is odd.
const DAMAGED: [(&str, usize, &str); 33] = [
    ("261026-sound-anchor", 6, ""),
    ("261202-sound-bell", 6, ""),
    ("damaged-bom", 6, "byte order mark"),
    ("damaged-copy", 6, "header names session"),
    ("damaged-corrupt-bytes", 6, "Line 4 unreadable"),
    ("damaged-corrupt-middle", 6, "Lines 3, 5 unreadable"),
    ("damaged-corrupt-values", 12, "Lines 3, 4, 5, 6, 7, 8 are no message"),
    ("damaged-crlf", 6, "CRLF"),
    ("damaged-deep-nesting", 7, ""),
    ("damaged-glued-lines", 6, "Line 3 holds several rows"),
    ("damaged-header-20k", 6, "has 2"),
    ("damaged-header-8193", 6, "has 8194 bytes"),
    ("damaged-header-array", 6, "is a list"),
    ("damaged-header-null", 6, "is null"),
    ("damaged-header-torn", 6, "Line 1, the header, is unreadable"),
    ("damaged-header-twice", 7, "Line 4 is no message"),
    ("damaged-header-wrong-types", 6, "name: a number"),
    ("damaged-huge-line", 7, "unreadable"),
    ("damaged-id-mismatch", 6, "header names session"),
    ("damaged-leading-blank", 6, "Line 1 is blank"),
    ("damaged-no-final-newline", 6, "has no newline"),
    ("damaged-no-header", 6, "header is missing"),
    ("damaged-nul-all", 0, "empty bytes"),
    ("damaged-nul-tail", 7, "Line 8 unreadable"),
    ("damaged-only-tmp", 6, "session.jsonl is missing"),
    ("damaged-only-tmp-torn", 6, "session.jsonl is missing"),
    ("damaged-tmp-newer", 6, ""),
    ("damaged-tmp-torn", 6, ""),
    ("damaged-torn-tail", 6, "unreadable"),
    ("damaged-torn-tail-utf8", 6, "unreadable"),
    ("damaged-torn-then-appended", 6, "Line 4 holds several rows"),
    ("damaged-zero-bytes", 0, "is empty"),
    ("damaged-no-file", 0, "-"),
];

#[test]
fn every_damaged_session_opens_as_far_as_it_can() {
    let root = copy_of("damaged");
    let store = store(root.path());
    for (name, rows, word) in DAMAGED {
        let loaded = store.load(&id(name), 100);
        if word == "-" {
            let error = loaded.unwrap_err().to_string();
            assert!(error.contains("no session"), "{error}");
            continue;
        }
        let loaded = loaded.unwrap();
        assert_eq!(loaded.rows.len(), rows, "{name}: {:?}", loaded.rows);
        let odd = &loaded.meta.odd;
        if word.is_empty() {
            assert!(odd.is_empty(), "{name}: {odd:?}");
        } else {
            assert!(odd.iter().any(|o| o.contains(word)), "{name}: {odd:?}");
        }
        assert!(loaded.foreign_last_write && loaded.earlier.is_none() && !loaded.died_in_turn, "{name}");
        // Pages of one row are the same rows.
        let mut pages = Vec::new();
        let mut cursor = Some(u64::MAX);
        while let Some(to) = cursor {
            let page = store.page(&id(name), to, 1).unwrap();
            pages.splice(0..0, page.rows);
            cursor = page.earlier;
        }
        assert_eq!(ids(&pages), ids(&loaded.rows), "{name}");
        assert_eq!(ids(&store.context(&id(name)).unwrap()), ids(&loaded.rows), "{name}");
    }
    let unreadable: Vec<_> = store.load(&id("damaged-corrupt-middle"), 9).unwrap().rows;
    assert!(matches!(&unreadable[1].body, Body::Odd(odd) if odd.line == 3 && odd.raw.contains("not JSON")));
}

fn age_temps(root: &Path) {
    for name in dirs(root) {
        let temp = root.join("work/sessions").join(name).join("session.jsonl.tmp");
        if temp.exists() {
            let file = std::fs::File::options().append(true).open(temp).unwrap();
            file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(3600)).unwrap();
        }
    }
}

#[test]
fn lines_that_nobody_edited_stay_byte_for_byte_in_every_session() {
    for workspace in ["main", "damaged"] {
        let root = copy_of(workspace);
        age_temps(root.path());
        let store = store(root.path());
        for name in dirs(root.path()).into_iter().filter(|n| n != "damaged-no-file") {
            let path = session_file(root.path(), &name);
            let dir = path.parent().unwrap();
            let before = std::fs::read(&path).unwrap_or_default();
            let loaded = store.load(&id(&name), 5).unwrap();
            let count = loaded.meta.messages;
            let long = loaded.meta.odd.iter().any(|o| o.contains("other programs read only"));
            let mut journal = writer_of(loaded);
            journal.append(&[user(1), answer(2)], Durability::Synced).unwrap();
            journal.close().unwrap();
            drop(journal);
            let after = std::fs::read(&path).unwrap();
            let salvage = std::fs::read(dir.join("session.jsonl.salvage")).unwrap_or_default();
            let kept = |line: &[u8]| {
                memchr::memmem::find(&after, line).is_some() || memchr::memmem::find(&salvage, line).is_some()
            };
            // Line 1 was read as the header, if it could be; everything else is there as it was.
            let header = match super::header::first(&before) {
                super::header::First::Header { end, .. } => end,
                _ => 0,
            };
            for line in before[header..].split(|b| *b == b'\n').filter(|line| !line.is_empty()) {
                assert!(kept(line), "{name}: {}", String::from_utf8_lossy(line));
            }
            let start = after.iter().position(|b| *b == b'\n').unwrap() + 1;
            assert!(long || start == 4096 || start == 8192, "{name}: line 1 has {start} bytes");
            assert!(after.ends_with(b"\n"));
            let again = store.load(&id(&name), 2).unwrap();
            assert_eq!(ids(&again.rows), ["msg-u1", "msg-a2"], "{name}");
            assert_eq!(again.meta.messages, count + 2, "{name}");
            assert!(!again.foreign_last_write, "{name}");
        }
        let ids = dirs(root.path());
        let lost: Vec<_> =
            store.list().sessions.into_iter().filter(|m| !ids.contains(&m.id.as_str().to_owned())).collect();
        assert_eq!(lost, []);
    }
}

#[test]
fn opening_and_closing_without_a_word_changes_nothing() {
    for workspace in ["main", "damaged"] {
        let root = copy_of(workspace);
        let store = store(root.path());
        for name in dirs(root.path()) {
            let dir = session_file(root.path(), &name).parent().unwrap().to_owned();
            let files = |dir: &Path| -> BTreeMap<_, _> {
                std::fs::read_dir(dir)
                    .unwrap()
                    .map(|e| e.unwrap())
                    .filter(|e| e.file_type().unwrap().is_file() && e.file_name() != "lisle.lock")
                    .map(|e| (e.file_name(), std::fs::read(e.path()).unwrap()))
                    .collect()
            };
            let before = files(&dir);
            let mut journal = writer_of(store.load(&id(&name), 5).unwrap());
            journal.close().unwrap();
            drop(journal);
            assert_eq!(files(&dir), before, "{name}");
        }
    }
}

#[test]
fn header_keys_that_are_not_known_survive_a_change_of_those_that_are() {
    let root = copy_of("main");
    let store = store(root.path());
    let name = "260923-royal-maple";
    let loaded = store.load(&id(name), 5).unwrap();
    let mut meta = loaded.meta.clone();
    let mut journal = writer_of(loaded);
    meta.title = "Renamed".into();
    journal.set_meta(meta, serde_json::json!({"plan": 1}));
    journal.save_header().unwrap();
    let text = std::fs::read_to_string(session_file(root.path(), name)).unwrap();
    let line = text.lines().next().unwrap();
    assert_eq!(line.len() + 1, 4096);
    for part in [
        r#""schemaVersion":7"#,
        r#""x-other":{"deep":[1,2,{"a":null}],"big":12345678901234567890,"exp":1e21,"neg0":-0,"f":0.1}"#,
        r#""zzz":"kept?""#,
        r#""thinkingLevel":"ultra""#,
        r#""permissionMode":"yolo""#,
        r#""sessionStatus":"shipped""#,
        r#""name":"Renamed""#,
    ] {
        assert!(line.contains(part), "{part} in {line}");
    }
    drop(journal);
    assert_eq!(store.load(&id(name), 1).unwrap().own, serde_json::json!({"plan": 1}));
}

#[test]
fn a_session_that_goes_on_here_loses_the_other_programs_provider_session() {
    let root = copy_of("main");
    let store = store(root.path());
    let path = session_file(root.path(), "260902-swift-river");
    assert!(std::fs::read_to_string(&path).unwrap().contains("\"sdkSessionId\""));
    let mut journal = writer_of(store.load(&id("260902-swift-river"), 5).unwrap());
    journal.append(&[user(1)], Durability::Synced).unwrap();
    journal.close().unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let header: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(header.get("sdkSessionId"), None);
    assert_eq!(header["messageCount"], 3);
    assert_eq!(header["lastMessageRole"], "user");
    assert_eq!(header["lastFinalMessageId"], "msg-1788336003234-00lxxs");
    assert_eq!(header["sharedUrl"], "https://example.invalid/s/abc123");
}

#[test]
fn a_long_header_stays_and_its_changes_are_in_the_second_file() {
    let root = copy_of("damaged");
    let store = store(root.path());
    let path = session_file(root.path(), "damaged-header-20k");
    let before = std::fs::read(&path).unwrap();
    let loaded = store.load(&id("damaged-header-20k"), 5).unwrap();
    let mut meta = loaded.meta.clone();
    meta.title = "Renamed".into();
    let mut journal = writer_of(loaded);
    journal.set_meta(meta, serde_json::Value::Null);
    journal.append(&[user(1)], Durability::Written).unwrap();
    journal.close().unwrap();
    drop(journal);
    assert!(std::fs::read(&path).unwrap().starts_with(&before));
    let again = store.load(&id("damaged-header-20k"), 5).unwrap();
    assert_eq!((again.meta.title.as_str(), again.meta.messages), ("Renamed", 7));
    let listed = store.list().sessions.into_iter().find(|m| m.id.as_str() == "damaged-header-20k").unwrap();
    assert_eq!(listed.title, "Renamed");
}

#[test]
fn calls_without_a_result_are_interrupted_and_a_compaction_ends_the_context() {
    let root = copy_of("main");
    let store = store(root.path());
    let rows = store.load(&id("260904-bold-canyon"), 100).unwrap().rows;
    assert_eq!(rows.len(), 20);
    let results: Vec<_> = rows.iter().filter_map(Message::tool).map(|c| (c.name.as_str(), c.status)).collect();
    assert!(results.contains(&("write", ToolStatus::Error)) && results.contains(&("todo", ToolStatus::Completed)));
    assert!(rows.iter().filter_map(Message::tool).all(|call| call.result.is_some()));
    let context = store.context(&id("260905-warm-meadow")).unwrap();
    assert!(matches!(&context[0].body, Body::Info(info) if info.kind == InfoKind::Compacted));
    assert_eq!(context.len(), 5);
    assert!(matches!(&context[4].body, Body::Info(info) if info.kind == InfoKind::Interrupted));
}

#[test]
fn a_temporary_file_is_left_alone_while_it_is_young() {
    let root = copy_of("damaged");
    let store = store(root.path());
    let path = session_file(root.path(), "damaged-only-tmp");
    let mut journal = writer_of(store.load(&id("damaged-only-tmp"), 5).unwrap());
    let error = journal.append(&[user(1)], Durability::Written).unwrap_err().to_string();
    assert!(error.contains("another program is writing"), "{error}");
    assert!(!path.exists() && journal.unsaved());
    age_temps(root.path());
    journal.retry().unwrap();
    journal.close().unwrap();
    let loaded = store.load(&id("damaged-only-tmp"), 100).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(loaded.rows.len(), 7);
    assert!(path.with_file_name("session.jsonl.tmp").exists());
    assert!(path.with_file_name("session.jsonl.salvage").exists());
}
