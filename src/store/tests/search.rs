//! Searching sessions, and showing the rows around what was found.

use super::*;
use crate::domain::fold;
use crate::domain::message::{Failure, Info, InfoKind, Plan, Thinking};
use crate::domain::notice::Level;
use crate::domain::property::{Label, Properties};
use crate::domain::query::{self, Query};
use crate::domain::search_hit::{HitIn, Searched, SessionHits};
use crate::protocol::Queued;
use crate::store::io::{Fault, Watched};
use proptest::prelude::*;
use serde_json::json;
use std::sync::atomic::{AtomicBool, Ordering};

fn search_with(store: &Store, query: &str, properties: &Properties) -> (Vec<SessionHits>, Searched) {
    let query = Query::parse(query).unwrap_or_else(|error| panic!("{query}: {error}"));
    let mut found = Vec::new();
    let searched = store.search(&query, properties, &AtomicBool::new(false), &mut |hits| found.push(hits));
    found.sort_by(|a: &SessionHits, b| a.session.cmp(&b.session));
    (found, searched)
}

fn search(store: &Store, query: &str) -> Vec<SessionHits> {
    let (found, searched) = search_with(store, query, &Properties::default());
    assert_eq!((searched.unreadable, &searched.error), (0, &None));
    found
}

fn sessions(store: &Store, query: &str) -> Vec<String> {
    search(store, query).iter().map(|found| found.session.as_str().to_owned()).collect()
}

/// Place, and the marked line with `[` and `]`.
fn shown(found: &[SessionHits]) -> Vec<(HitIn, String)> {
    let marked = |line: &str, marks: &[(usize, usize)]| {
        let mut line = line.to_owned();
        for (start, end) in marks.iter().rev() {
            line.insert(*end, ']');
            line.insert(*start, '[');
        }
        line
    };
    found.iter().flat_map(|found| &found.hits).map(|hit| (hit.place, marked(&hit.line, &hit.marks))).collect()
}

fn row(n: u64, body: Body) -> Message {
    Message::new(MessageId::new(format!("msg-{n}")), NOW.plus(n * 1000), body)
}

fn said(n: u64, text: &str) -> Message {
    row(n, Body::Assistant(AssistantText { text: text.into(), ..AssistantText::default() }))
}

fn asked(n: u64, text: &str) -> Message {
    row(n, Body::User(UserText { text: text.into(), ..UserText::default() }))
}

fn called(n: u64, name: &str, input: serde_json::Value, result: &str) -> Message {
    let subject = ["command", "path"].iter().find_map(|key| input.get(key)?.as_str()).unwrap_or_default().to_owned();
    let call = ToolCall {
        id: CallId::new(format!("toolu_{n}")),
        name: name.into(),
        input,
        subject,
        status: ToolStatus::Completed,
        result: Some(result.into()),
        millis: None,
        figures: ToolFigures::default(),
        decision: None,
    };
    row(n, Body::Tool(Box::new(call)))
}

fn make(store: &Store, meta: &SessionMeta, rows: &[Message]) -> Journal {
    let (_, mut journal) = store.create(meta).unwrap();
    journal.append(rows, Durability::Written).unwrap();
    journal.flush().unwrap();
    journal
}

fn append(root: &Path, id: &str, bytes: &[u8]) {
    use std::io::Write;
    let mut file = std::fs::OpenOptions::new().append(true).open(session_file(root, id)).unwrap();
    file.write_all(bytes).unwrap();
}

#[test]
fn every_part_of_a_session_is_searched() {
    let root = folder();
    let store = store(root.path());
    let mut meta = meta("261121-calm-brook");
    meta.title = "The Zürich title".into();
    meta.labels = vec!["prio::high".into()];
    let dir = store.session_dir(&meta.id);
    let rows = [
        asked(1, "first line\nthe userword here"),
        said(2, "the \"assistantword\" \\ said"),
        row(3, Body::Thinking(Thinking { text: "a thoughtword".into(), ..Thinking::default() })),
        called(4, "bash", json!({"command": "grep commandword", "deep": [{"x": "inputword"}]}), "a\n  outputword\nb"),
        called(5, "read", json!({"path": dir.join("data/pathword.rs").to_string_lossy()}), ""),
        called(6, "mcp__linear__create", json!({}), "made"),
        row(
            7,
            Body::Error(Failure {
                code: "codeword".into(),
                title: "t".into(),
                text: "errorword".into(),
                detail: "detailword".into(),
                actions: vec![],
            }),
        ),
        row(8, Body::Info(Info { text: "infoword".into(), level: Level::Info, kind: InfoKind::Remark, carried: None })),
        row(9, Body::Plan(Plan { path: "p.md".into(), markdown: "# planword".into() })),
    ];
    let _journal = make(&store, &meta, &rows);
    append(
        root.path(),
        meta.id.as_str(),
        b"{\"id\":\"x\",\"type\":\"new\",\"content\":\"odd\\u0077ord\",\"timestamp\":1}\n",
    );
    append(root.path(), meta.id.as_str(), b"{\"torn \xff rawword\n");
    let label = |id: &str, name: &str, children| Label {
        id: id.into(),
        name: name.into(),
        color: None,
        value_type: None,
        children,
        rules: vec![],
    };
    let properties = Properties {
        labels: vec![label("top", "Top", vec![label("prio", "Urgency", vec![])])],
        ..Properties::default()
    };
    for (query, place, line) in [
        ("zurich", HitIn::Title, "The [Zürich] title"),
        ("calm-br", HitIn::Id, "261121-[calm-br]ook"),
        ("urgency", HitIn::Label, "[Urgency]: high"),
        ("prio::", HitIn::Label, "[prio::]high"),
        ("USERWORD", HitIn::User, "the [userword] here"),
        ("\"\\\"assistantword\\\" \\ \"", HitIn::Assistant, "the [\"assistantword\" \\ ]said"),
        ("thoughtword", HitIn::Assistant, "a [thoughtword]"),
        ("commandword", HitIn::Tool, "grep [commandword]"),
        ("inputword", HitIn::Tool, "[inputword]"),
        ("outputword", HitIn::Tool, "[outputword]"),
        ("pathword", HitIn::Tool, ""),
        ("linear", HitIn::Tool, "mcp__[linear]__create"),
        ("errorword", HitIn::Other, "[errorword]"),
        ("detailword", HitIn::Other, "[detailword]"),
        ("codeword", HitIn::Other, "[codeword]"),
        ("infoword", HitIn::Other, "[infoword]"),
        ("planword", HitIn::Other, "# [planword]"),
        ("oddword", HitIn::Other, "[oddword]"),
        ("rawword", HitIn::Other, "{\"torn \u{fffd} [rawword]"),
    ] {
        let (found, searched) = search_with(&store, query, &properties);
        assert_eq!((searched.sessions, searched.unreadable), (1, 0));
        assert_eq!(found.len(), 1, "{query}");
        let shown = shown(&found);
        // The id is also in the path of the directory.
        assert!(shown.len() == 1 || place == HitIn::Id, "{query}: {shown:?}");
        assert_eq!(shown[0].0, place, "{query}");
        if !line.is_empty() {
            assert_eq!(shown[0].1, line, "{query}");
        }
    }
    // Keys, types and escapes are no text.
    for query in ["toolUseId", "\"\\nthe\"", "timestamp", "SESSION_PATH", "nosuchword"] {
        assert!(search(&store, query).is_empty(), "{query}");
    }
    // The token stands for the directory.
    let path = dir.join("data/pathword.rs");
    let found = search(&store, &format!("\"{}\"", path.display()));
    assert_eq!(shown(&found).len(), 1);
    assert_eq!(sessions(&store, "sessions/261121 file:data/pathword"), ["261121-calm-brook"]);
}

#[test]
fn words_are_anded_over_the_session_and_the_best_rows_come_first() {
    let root = folder();
    let store = store(root.path());
    let mut both = meta("a-both");
    both.title = "about cargo".into();
    let _a =
        make(&store, &both, &[asked(1, "cargo test"), said(2, "clippy"), said(3, "cargo clippy"), said(4, "none")]);
    let _b = make(&store, &meta("b-one"), &[asked(1, "cargo"), said(2, "test")]);
    let _c = make(&store, &meta("c-none"), &[asked(1, "question")]);
    assert_eq!(sessions(&store, "cargo"), ["a-both", "b-one"]);
    assert_eq!(sessions(&store, "cargo clippy"), ["a-both"]);
    assert_eq!(sessions(&store, "clippy missing"), Vec::<String>::new());
    assert_eq!(sessions(&store, "cargo -clippy"), ["b-one"]);
    assert_eq!(sessions(&store, "-cargo"), ["c-none"]);
    assert_eq!(sessions(&store, "-cargo -question"), Vec::<String>::new());
    assert_eq!(sessions(&store, ""), ["a-both", "b-one", "c-none"]);
    let found = search(&store, "clippy cargo");
    assert_eq!(found[0].total, 4);
    let lines: Vec<String> = shown(&found).into_iter().map(|(_, line)| line).collect();
    assert_eq!(lines, ["[cargo] [clippy]", "about [cargo]", "[cargo] test", "[clippy]"]);
    assert_eq!(shown(&search(&store, "in:title cargo")), [(HitIn::Title, "about [cargo]".into())]);
    assert_eq!(sessions(&store, "in:user cargo test"), ["a-both"]);
    // A word in the title and one in a row are both in the session.
    assert_eq!(sessions(&store, "about none"), ["a-both"]);
}

#[test]
fn filters_choose_rows_and_sessions() {
    let root = folder();
    let store = store(root.path());
    let mut done = meta("a-done");
    done.status = "done".into();
    let rows = [
        asked(1, "look at main.rs"),
        called(2, "bash", json!({"command": "cat src/main.rs"}), "fn main"),
        called(3, "read", json!({"path": "src/main.rs"}), "fn main"),
        called(4, "todo", json!({"items": ["fn"]}), "noted"),
    ];
    let _a = make(&store, &done, &rows);
    let _b = make(&store, &meta("b-todo"), &[asked(90_000, "fn main")]);
    for (query, count) in [
        ("main", 4),
        ("tool:bash", 1),
        ("tool:Bash \"fn main\"", 1),
        ("tool:TodoWrite", 1),
        ("tool:todo tool:read", 2),
        ("file:main.rs", 1),
        ("-tool:bash file:.rs fn", 1),
        ("in:tool main", 2),
        ("in:user main", 2),
        ("status:done main", 3),
        ("status:todo main", 1),
    ] {
        let found = search(&store, query);
        assert_eq!(found.iter().map(|found| found.total).sum::<u64>(), count, "{query}: {found:?}");
    }
    // Without a word nothing in a session is looked at.
    let (found, searched) = search_with(&store, "status:done", &Properties::default());
    assert_eq!((found.len(), found[0].total, searched.sessions, searched.bytes), (1, 0, 1, 0));
    let day = jiff::Timestamp::from_millisecond(NOW.0 + 90_000_000).unwrap().to_zoned(jiff::tz::TimeZone::system());
    assert_eq!(sessions(&store, &format!("after:{}", day.date())), ["b-todo"]);
    assert_eq!(sessions(&store, &format!("main after:{}", day.date())), ["b-todo"]);
    assert_eq!(sessions(&store, &format!("main before:{}", day.date())), ["a-done"]);
    let (found, searched) = search_with(&store, "status:nope x", &Properties::default());
    assert!(found.is_empty() && searched.error.unwrap().contains("No status \"nope\""));
}

#[test]
fn what_is_open_right_now_is_searched() {
    let root = folder();
    let store = store(root.path());
    let mut journal = make(&store, &meta("a-live"), &[asked(1, "question")]);
    journal.live(said(2, "it streams"), Durability::Written).unwrap();
    journal.grow(&MessageId::new("msg-2"), " and grows").then_some(()).unwrap();
    journal.flush_text().unwrap();
    let queued = Queued {
        id: MessageId::new("q"),
        text: "waits in line".into(),
        at: NOW,
        redelivered: false,
        attachments: Vec::new(),
        piped: None,
        client: None,
    };
    journal.queue(vec![queued]).unwrap();
    assert_eq!(shown(&search(&store, "grows")), [(HitIn::Assistant, "it streams and [grows]".into())]);
    assert_eq!(shown(&search(&store, "waits")), [(HitIn::User, "[waits] in line".into())]);
    assert_eq!(shown(&search(&store, "question grows")).len(), 2);
    let at = search(&store, "grows")[0].hits[0].at;
    assert_eq!(at + 1, std::fs::metadata(session_file(root.path(), "a-live")).unwrap().len());
    // Once it is final it is found once.
    journal.append(&[said(2, "it streams and grows")], Durability::Written).unwrap();
    assert_eq!(search(&store, "grows")[0].total, 1);
}

#[test]
fn many_hits_are_counted_and_the_best_kept() {
    let root = folder();
    let store = store(root.path());
    let mut rows: Vec<Message> = (0..300).map(|n| said(n, &format!("needle {n}"))).collect();
    rows.push(said(300, "needle and thread"));
    let _journal = make(&store, &meta("a-many"), &rows);
    let found = search(&store, "needle");
    assert_eq!((found[0].total, found[0].hits.len()), (301, 50));
    assert_eq!(found[0].hits[49].line, "needle 49");
    let found = search(&store, "needle thread");
    assert_eq!((found[0].total, found[0].hits.len()), (301, 50));
    assert_eq!(found[0].hits[0].line, "needle and thread");
    assert_eq!(found[0].hits[1].line, "needle 0");
    // What stands everywhere is not counted to the end.
    let rows: Vec<Message> = (0..700).map(|n| said(n, if n == 699 { "hay and x" } else { "hay" })).collect();
    let _journal = make(&store, &meta("b-full"), &rows);
    assert_eq!(search(&store, "hay")[0].total, 500);
    assert_eq!(search(&store, "hay x")[0].total, 700);
    assert!(search(&store, "hay -x").is_empty());
}

#[test]
fn a_search_stops_when_it_is_told_to() {
    let root = folder();
    let store = store(root.path());
    let journals: Vec<Journal> = (0..40).map(|n| make(&store, &meta(&format!("s-{n}")), &[asked(1, "word")])).collect();
    let stop = AtomicBool::new(false);
    let mut count = 0;
    let searched = store.search(&Query::parse("word").unwrap(), &Properties::default(), &stop, &mut |_| {
        count += 1;
        stop.store(true, Ordering::Relaxed);
    });
    assert!(searched.stopped && count >= 1);
    assert_eq!(
        store.search(&Query::parse("word").unwrap(), &Properties::default(), &stop, &mut |_| panic!()).sessions,
        0
    );
    drop(journals);
}

#[test]
fn sessions_that_cannot_be_read_are_counted() {
    let root = folder();
    let store = store(root.path());
    let _a = make(&store, &meta("a-good"), &[asked(1, "word")]);
    let _b = make(&store, &meta("b-bad"), &[asked(1, "word")]);
    let sessions = store.list().sessions;
    let path = session_file(root.path(), "b-bad");
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    let mut found = Vec::new();
    let query = Query::parse("word").unwrap();
    let stop = AtomicBool::new(false);
    let searched = store.search_among(&sessions, &query, &Properties::default(), &stop, &mut |hits| found.push(hits));
    assert_eq!((searched.sessions, searched.unreadable, found.len()), (2, 1, 1));
    // Whatever call fails: the session is counted, and the others are found.
    for at in 1.. {
        let io = Arc::new(Watched::new(Arc::new(Disk), Fault::Fail { at, times: 1, errno: 5 }));
        let store = store_with(root.path(), io.clone());
        let begun = io.calls();
        if begun >= at {
            continue;
        }
        let mut found = 0;
        let good: Vec<SessionMeta> = sessions.iter().filter(|meta| meta.id.as_str() == "a-good").cloned().collect();
        let searched = store.search_among(&good, &query, &Properties::default(), &stop, &mut |_| found += 1);
        assert_eq!(searched.sessions, 1);
        if io.calls() < at {
            assert_eq!((searched.unreadable, found), (0, 1));
            break;
        }
        assert_eq!(searched.unreadable, 1, "call {at}");
    }
}

#[test]
fn other_programs_files_are_searched_whatever_is_odd_about_them() {
    for workspace in ["main", "damaged"] {
        let root = copy_of(workspace);
        let store = store(root.path());
        let sessions = store.list().sessions;
        assert!(sessions.len() > 20);
        let mut words = std::collections::BTreeSet::new();
        for meta in &sessions {
            let rows = store.read(&meta.id, usize::MAX).map(|seen| seen.rows).unwrap_or_default();
            for row in &rows {
                for text in query::texts(&row.body) {
                    words.extend(text.split_whitespace().filter(|word| word.len() < 60).step_by(7).map(str::to_owned));
                }
            }
        }
        for word in words.iter().step_by(words.len() / 24 + 1) {
            let Some(word) = query::QueryWord::new(word) else { continue };
            let query = Query { words: vec![word], ..Query::default() };
            assert_eq!(both_ways(&store, &sessions, &query).1, 0);
        }
    }
}

/// Searches with the sieve and without it; both find the same. How many sessions were found, and could not be read.
fn both_ways(store: &Store, sessions: &[SessionMeta], query: &Query) -> (usize, u64) {
    let ways = [true, false].map(|sifted| {
        let mut found = Vec::new();
        let stop = AtomicBool::new(false);
        let end = store.scan(sessions, query, &Properties::default(), sifted, &stop, &mut |hits| found.push(hits));
        found.sort_by(|a: &SessionHits, b| a.session.cmp(&b.session));
        (found, end.unreadable)
    });
    let [(sifted, unreadable), (plain, _)] = ways;
    assert_eq!(sifted, plain, "{query:?}");
    (sifted.len(), unreadable)
}

/// Texts that JSON, folding and the token make trouble of.
const PARTS: [&str; 34] = [
    "a",
    "K",
    "\u{212a}",
    "ſ",
    "ss",
    "ß",
    "\"",
    "\\",
    "\\u0061",
    "\n",
    "\t",
    " ",
    "\u{1b}[31m",
    "\0",
    "/",
    "é",
    "e\u{301}",
    "漢字",
    "は",
    "ば",
    "ｶﾞ",
    "😀",
    "{{SESSION_PATH}}",
    "{{SESSION_PATH}}-2",
    "falcon",
    "DIR",
    "DIR/data",
    "{\"a\":[1,2]}",
    "ﬁ",
    "\u{fffd}",
    "u0061",
    "İ",
    ":",
    ",",
];

/// Spelling of a text by a line's writer.
fn spelled(line: &str, style: u8) -> Vec<u8> {
    match style % 4 {
        // As other programs do that write only ASCII.
        1 => line
            .chars()
            .flat_map(|c| {
                let mut units = [0; 2];
                let units: Vec<String> =
                    c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect();
                if c.is_ascii() { c.to_string().into_bytes() } else { units.concat().into_bytes() }
            })
            .collect(),
        2 => line.replace('/', "\\/").into_bytes(),
        3 => line.replace("falcon", "\\u0066alcon").replace('K', "\\u004b").into_bytes(),
        _ => line.as_bytes().to_vec(),
    }
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop_oneof![4 => prop::sample::select(&PARTS[..]).prop_map(str::to_owned), 1 => "[a-cK]{1,3}"],
        1..6,
    )
    .prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn the_sieve_lets_everything_pass_that_is_a_hit(
        rows in prop::collection::vec((text(), 0u8..6, any::<u8>()), 1..6), word in text(), two in text(), form in 0u8..9, whole in any::<bool>(),
    ) {
        let root = folder();
        let store = store_with(root.path(), Arc::new(Quick));
        let meta = meta("260913-keen-falcon");
        let dir = store.session_dir(&meta.id);
        let real = |text: &str| text.replace("DIR", &dir.to_string_lossy());
        let mut file = b"{\"id\":\"260913-keen-falcon\",\"createdAt\":1}\n".to_vec();
        for (n, (text, kind, style)) in rows.iter().enumerate() {
            let text = real(text);
            let n = n as u64;
            let row = match kind {
                0 => asked(n, &text),
                1 => said(n, &text),
                2 => called(n, "bash", json!({"command": text}), &text),
                3 => called(n, "read", json!({"path": text}), "x"),
                4 => {
                    // A content that is no text is searched as its JSON.
                    let line = json!({"id": "n", "type": "user", "content": {"parts": [text, 1]}, "timestamp": 1});
                    file.extend(spelled(&line.to_string(), *style));
                    file.push(b'\n');
                    continue;
                }
                _ => {
                    file.extend(spelled(&json!({"id": "o", "type": "odd", "x": text}).to_string(), *style));
                    file.extend(if *style % 2 == 0 { &b"\xff{torn\n"[..] } else { b"\n" });
                    continue;
                }
            };
            file.extend(spelled(&crate::store::format::row::write(&row, &dir).unwrap(), *style));
            file.push(b'\n');
        }
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("session.jsonl"), file).unwrap();
        let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\\\""));
        // Half of the words stand in a row for sure.
        let word = if whole { real(&rows[0].0) } else { real(&word) };
        let text = match form {
            0 => quoted(&real(&two)) + " " + &quoted(&word),
            1 => quoted(&word) + " -" + &quoted(&real(&two)),
            2 => format!("tool:bash {}", quoted(&word)),
            3 => format!("in:user in:assistant {}", quoted(&word)),
            4 => format!("file:{}", quoted(&word)),
            _ => quoted(&word),
        };
        if let Ok(query) = Query::parse(&text) {
            let (found, unreadable) = both_ways(&store, &store.list().sessions, &query);
            prop_assert_eq!(unreadable, 0);
            if whole && rows[0].1 < 3 && form > 4 && !fold::fold(&word).is_empty() && !word.contains(['\\', '\0']) {
                prop_assert_eq!(found, 1, "{} in {:?}", text, rows[0]);
            }
        }
    }
}

#[test]
fn pages_around_a_place_join_to_the_whole() {
    let root = folder();
    let store = store(root.path());
    let rows: Vec<Message> =
        (0..60).map(|n| said(n, &format!("row {n} {}", "x".repeat(n as usize * 97 % 900)))).collect();
    let _journal = make(&store, &meta("a-long"), &rows);
    let id = id("a-long");
    let hit = |n: u64| search(&store, &format!("\"row {n} \""))[0].hits[0].clone();
    for n in [0, 1, 30, 58, 59] {
        let hit = hit(n);
        for (at, want) in [(hit.at, 10), (hit.at + 5, 10), (hit.at, 1)] {
            let around = store.page_at(&id, at, want).unwrap();
            assert!(around.rows.len() <= want + 1 && around.rows.len() >= want.min(10), "{n} {}", around.rows.len());
            assert!(around.rows.iter().any(|row| Some(&row.id) == hit.row.as_ref()), "{n}");
            let mut all = around.rows.clone();
            let mut earlier = around.earlier;
            while let Some(cursor) = earlier {
                let page = store.page(&id, cursor, 7).unwrap();
                all.splice(0..0, page.rows);
                earlier = page.earlier;
            }
            let mut later = around.later;
            while let Some(cursor) = later {
                let (rows, next) = store.page_after(&id, cursor, 7).unwrap();
                all.extend(rows);
                later = next;
            }
            assert_eq!(all, rows, "{n}");
        }
    }
    let first = store.page_at(&id, 0, 10).unwrap();
    assert_eq!((ids(&first.rows)[0], first.earlier), ("msg-0", None));
    let last = store.page_at(&id, u64::MAX, 10).unwrap();
    assert_eq!((*ids(&last.rows).last().unwrap(), last.later), ("msg-59", None));
    assert!(store.page_at(&super::id("no-such"), 0, 10).is_err());
}
