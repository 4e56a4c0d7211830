//! Whole histories of gemini-cli, opencode, pi, OpenClaw, fabric and aichat as sessions here.

use super::import::{asked, call_of, fixture, infos, left_of, rows_of};
use super::lifecycle::quick;
use super::*;
use crate::domain::message::{Body, InfoKind};
use crate::domain::session::TitleFrom;
use crate::store::io::Fault;
use crate::store::{HistoryKind, histories};

const GEMINI: &str = "gemini-home/tmp/work/chats/session-2026-11-22T22-23-c431ac11.jsonl";
const OPENCODE: &str = "opencode/export.json";
const PI: &str =
    "pi/agent/sessions/--home-ann-proj--/2026-11-22T22-24-32-028Z_01a2055c-691b-71b1-8ba6-1520432519ba.jsonl";
const OPENCLAW: &str = "openclaw/agents/main/sessions/5f0c7a52-1d1e-4a58-9d4c-3a52f4c6d001.jsonl";

fn partial(rows: &[Message]) -> usize {
    rows.iter().filter(|row| matches!(&row.body, Body::Assistant(said) if said.partial)).count()
}

fn changes(rows: &[Message], name: &str) -> Vec<(u32, u32, bool)> {
    let calls = rows.iter().filter_map(Message::tool).filter(|call| call.name == name);
    calls.flat_map(|call| call.figures.changes()).map(|diff| (diff.added, diff.removed, diff.is_new)).collect()
}

#[test]
fn a_whole_history_of_gemini() {
    let (_root, imported, rows) = rows_of(GEMINI);
    let wanted = [
        "Grüße 修复: please list files",
        "now fix add()",
        "write a long text",
        "go on after that",
        "run a slow command",
        "what now?",
        "hello after resume",
        "branch A question",
        "branch C question",
    ];
    assert_eq!(asked(&rows), wanted);
    let meta = &imported.meta;
    assert_eq!((imported.program, meta.model.as_deref()), ("Gemini CLI", Some("gemini-2.5-flash")));
    assert_eq!((meta.cwd.as_path(), meta.created), (Path::new("/home/ann/proj"), At(1_795_386_210_472)));
    assert_eq!(meta.usage.input_tokens, 5 * meta.usage.output_tokens, "{:?}", meta.usage);
    assert_eq!((meta.usage.input_tokens % 100, meta.usage.context_tokens), (0, 100));
    let failed = call_of(&rows, "cat nope; exit 3");
    assert_eq!((failed.name.as_str(), failed.status, failed.figures.exit), ("bash", ToolStatus::Error, Some(3)));
    assert_eq!(failed.result.as_deref(), Some("cat: nope: No such file or directory\nexit 3"));
    let listed = call_of(&rows, "ls -la; echo ünï");
    assert_eq!((listed.figures.exit, listed.result.as_ref().unwrap().lines().rev().nth(1)), (Some(0), Some("ünï")));
    let slow = call_of(&rows, "sleep 30");
    assert_eq!((slow.status, slow.result.as_deref()), (ToolStatus::Error, Some("interrupted")));
    assert_eq!(changes(&rows, "edit"), [(1, 1, false)]);
    assert_eq!(changes(&rows, "write"), [(2, 0, true)]);
    assert!(rows.iter().filter_map(Message::tool).any(|call| call.name == "todo"));
    assert_eq!(infos(&rows, InfoKind::Interrupted), 2);
    // The remark stands behind what was stopped.
    let place = |wanted: &dyn Fn(&Message) -> bool| rows.iter().position(wanted).unwrap();
    let call = place(&|row| row.tool().is_some_and(|call| call.subject == "sleep 30"));
    assert!(matches!(&rows[call + 1].body, Body::Info(info) if info.kind == InfoKind::Interrupted));
    let said = format!("{rows:?}");
    assert!(!said.contains("branch B") && said.contains("answer on branch C") && !said.contains("session_context"));
    assert_eq!(left_of(&imported), ["Rewound messages not included: 1."]);
    // What a resume left behind has no messages.
    let store = quick(_root.path());
    let empty = fixture("gemini-home/tmp/work/chats/session-2026-11-22T22-24-c431ac11.jsonl");
    let error = store.import(&empty, Path::new(""), Mode::Ask, NOW).unwrap_err().to_string();
    assert!(error.contains("no messages"), "{error}");
}

#[test]
fn a_session_of_an_older_gemini_is_one_document() {
    let root = folder();
    let store = quick(root.path());
    let document = serde_json::json!({
        "sessionId": "s1", "projectHash": "h", "startTime": "2026-01-02T03:04:05.000Z",
        "lastUpdated": "2026-01-02T03:05:05.000Z",
        "messages": [
            {"id": "m1", "timestamp": "2026-01-02T03:04:06.000Z", "type": "user", "content": "hello"},
            {"id": "m2", "timestamp": "2026-01-02T03:04:07.000Z", "type": "gemini", "content": "hi", "model": "g",
             "thoughts": [], "tokens": {"input": 100, "output": 20, "cached": 40}},
        ],
    });
    let path = root.path().join("session-2026-01-02T03-04-s1.json");
    std::fs::write(&path, serde_json::to_string_pretty(&document).unwrap()).unwrap();
    let imported = store.import(&path, Path::new(""), Mode::Ask, NOW).unwrap();
    let rows = store.read(&imported.meta.id, 9).unwrap().rows;
    assert_eq!((asked(&rows), rows.len()), (vec!["hello"], 2));
    assert_eq!((imported.meta.usage.input_tokens, imported.meta.usage.cache_read_tokens), (100, Some(40)));
}

#[test]
fn a_compaction_of_gemini_keeps_what_was_before() {
    let root = folder();
    let store = quick(root.path());
    let message = |id: &str, kind: &str, text: &str| serde_json::json!({"id": id, "timestamp": "2026-01-02T03:04:06.000Z", "type": kind, "content": text});
    let head = serde_json::json!({"sessionId": "s1", "projectHash": "h", "startTime": "2026-01-02T03:04:05.000Z"});
    let summary = message("s", "user", "<state_snapshot>so far</state_snapshot>");
    let lines = [
        head,
        message("a", "user", "one"),
        message("b", "gemini", "first"),
        serde_json::json!({"$set": {"messages": [summary, message("k", "gemini", "Got it.")]}}),
        message("c", "user", "two"),
    ];
    let path = root.path().join("session-x.jsonl");
    std::fs::write(&path, lines.map(|line| format!("{line}\n")).concat()).unwrap();
    let imported = store.import(&path, Path::new(""), Mode::Ask, NOW).unwrap();
    let rows = store.read(&imported.meta.id, 9).unwrap().rows;
    assert_eq!((asked(&rows), infos(&rows, InfoKind::Compacted), rows.len()), (vec!["one", "two"], 1, 4));
}

/// Result that both forms of a session of opencode give.
fn is_opencode(imported: &Imported, rows: &[Message]) {
    let wanted = [
        "Grüße 修复: please list files",
        "now fix add()",
        "use a subagent",
        "write a long text",
        "go on after that",
        "run a slow command",
        "what now?",
        "\"hello after resume\"",
    ];
    assert_eq!(asked(rows), wanted);
    let meta = &imported.meta;
    assert_eq!((meta.title.as_str(), imported.program), ("Bench session", "opencode"));
    assert_eq!((meta.cwd.as_path(), meta.created), (Path::new("/home/ann/proj"), At(1_795_386_021_937)));
    assert_eq!((meta.usage.input_tokens, meta.usage.output_tokens, meta.usage.context_tokens), (1300, 260, 100));
    let failed = call_of(rows, "cat nope; exit 3");
    assert_eq!((failed.name.as_str(), failed.status, failed.figures.exit), ("bash", ToolStatus::Error, Some(3)));
    assert!(failed.millis.is_some());
    let slow = call_of(rows, "sleep 30");
    assert_eq!((slow.status, slow.result.as_deref()), (ToolStatus::Error, Some("interrupted")));
    assert_eq!(changes(rows, "edit"), [(1, 1, false)]);
    assert_eq!(changes(rows, "write"), [(2, 0, true)]);
    assert_eq!((infos(rows, InfoKind::Interrupted), infos(rows, InfoKind::Compacted), partial(rows)), (2, 1, 1));
    assert!(rows.iter().filter_map(Message::tool).any(|call| call.name == "spawn"));
    assert_eq!(left_of(imported), ["Subagent sessions not included: 1."]);
}

#[test]
fn a_whole_history_of_opencode() {
    let (root, imported, rows) = rows_of(OPENCODE);
    is_opencode(&imported, &rows);
    // The database has the same sessions.
    let store = quick(root.path());
    let path = fixture("opencode/opencode.db");
    let error = store.import(&path, Path::new(""), Mode::Ask, NOW).unwrap_err().to_string();
    assert!(error.contains("several sessions"), "{error}");
}

#[test]
fn a_whole_history_of_pi() {
    let (_root, imported, rows) = rows_of(PI);
    let wanted = [
        "Grüße 修复: please list files",
        "now fix add()",
        "write a long text",
        "go on after that",
        "run a slow command",
        "first of two",
        "and also this one, typed while busy",
        "what now?",
        "hello after resume",
        "branch B question",
    ];
    assert_eq!(asked(&rows), wanted);
    let meta = &imported.meta;
    assert_eq!((meta.title.as_str(), meta.title_from, imported.program), ("Mein Titel 修复", TitleFrom::User, "pi"));
    assert_eq!((meta.cwd.as_path(), meta.model.as_deref()), (Path::new("/home/ann/proj"), Some("bench")));
    assert_eq!((meta.usage.input_tokens, meta.usage.output_tokens), (1400, 280));
    let failed = call_of(&rows, "cat nope; exit 3");
    assert_eq!((failed.name.as_str(), failed.status, failed.figures.exit), ("bash", ToolStatus::Error, Some(3)));
    assert_eq!(failed.result.as_deref(), Some("cat: nope: No such file or directory\nexit 3"));
    let slow = call_of(&rows, "sleep 30");
    assert_eq!((slow.status, slow.result.as_deref()), (ToolStatus::Error, Some("interrupted")));
    assert_eq!(changes(&rows, "edit"), [(1, 1, false)]);
    let typed = call_of(&rows, "echo mine ü");
    assert_eq!((typed.id.as_str().starts_with("typed-"), typed.figures.exit), (true, Some(0)));
    assert_eq!(typed.result.as_deref(), Some("mine ü\nexit 0"));
    assert_eq!((infos(&rows, InfoKind::Interrupted), infos(&rows, InfoKind::Compacted), partial(&rows)), (2, 1, 1));
    let steers = rows.iter().filter(|row| matches!(&row.body, Body::User(said) if said.steer));
    assert_eq!(steers.count(), 1);
    // The compaction kept everything.
    let kept = rows.iter().find_map(|row| match &row.body {
        Body::Info(info) => info.carried.as_ref()?.keeps.clone(),
        _ => None,
    });
    assert_eq!(kept.as_ref(), Some(&rows[0].id));
    let said = format!("{rows:?}");
    assert!(!said.contains("answer on branch A") && said.contains("answer on branch B"));
    assert_eq!(left_of(&imported), ["Rewound messages not included: 1."]);
}

#[test]
fn a_transcript_of_openclaw() {
    let (root, imported, rows) = rows_of(OPENCLAW);
    assert_eq!((asked(&rows), imported.program), (vec!["Remind me of the train", "Thanks"], "OpenClaw"));
    let listed = quick(root.path()).list().sessions;
    assert_eq!(listed[0].names.program.as_deref(), Some("OpenClaw"), "the list tells where it came from");
    assert_eq!((imported.meta.title.as_str(), imported.meta.usage.cost_usd), ("Trains", 0.02));
    assert_eq!((imported.meta.model.as_deref(), infos(&rows, InfoKind::Compacted)), (Some("claude-opus-4-8"), 1));
    assert_eq!(call_of(&rows, "date").name, "bash");
    // What the gateway said itself is no model's.
    let said = rows.iter().find(|row| matches!(&row.body, Body::Assistant(said) if said.text.starts_with("The train")));
    assert_eq!(said.unwrap().model, None);
    assert_eq!(left_of(&imported), ["Half-written last lines not included: 1."]);
}

#[test]
fn sessions_of_fabric_and_of_aichat() {
    let (_root, imported, rows) = rows_of("fabric/trip.json");
    assert_eq!(asked(&rows), ["Grüße 修复: a long article", "and this picture?"]);
    assert_eq!((imported.program, imported.meta.title.as_str()), ("fabric", "trip"));
    assert_eq!(left_of(&imported), ["Attached files not included: 1.", "Command lines not included: 2."]);
    // Each turn has its system message again.
    let notes: Vec<&str> = rows
        .iter()
        .filter_map(|row| match &row.body {
            Body::Info(info) => Some(info.text.as_str()).filter(|text| text.starts_with("System message")),
            _ => None,
        })
        .collect();
    assert_eq!(notes, ["System message: # IDENTITY\nYou summarize."]);
    assert!(rows.iter().any(|row| matches!(&row.body, Body::Thinking(thought) if thought.text == "A picture.")));
    let (_root, imported, rows) = rows_of("aichat/trip.yaml");
    assert_eq!(asked(&rows), ["Grüße 修复:\nwhere to go?", "and the weather?"]);
    assert_eq!((imported.program, imported.meta.model.as_deref()), ("aichat", Some("gpt-4o")));
    assert_eq!(infos(&rows, InfoKind::Compacted), 1);
    let call = rows.iter().find_map(Message::tool).unwrap();
    assert_eq!((call.name.as_str(), call.result.as_deref()), ("get_weather", Some("{\"sky\":\"grey\"}")));
    assert_eq!(left_of(&imported), ["Attached files not included: 1."]);
}

/// The first `count` records of a history, in its own form.
fn cut(whole: &str, name: &str, count: usize) -> String {
    let document = |value: serde_json::Value| serde_json::to_string(&value).unwrap();
    match name {
        OPENCODE => {
            let mut value: serde_json::Value = serde_json::from_str(whole).unwrap();
            value["messages"].as_array_mut().unwrap().truncate(count);
            document(value)
        }
        "fabric/trip.json" => {
            let mut value: serde_json::Value = serde_json::from_str(whole).unwrap();
            value.as_array_mut().unwrap().truncate(count);
            document(value)
        }
        _ => whole.lines().take(count).map(|line| format!("{line}\n")).collect(),
    }
}

#[test]
fn a_history_that_grew_is_brought_up_to_date() {
    for (name, count) in [(GEMINI, 9), (OPENCODE, 5), (PI, 12), (OPENCLAW, 5), ("fabric/trip.json", 4)] {
        let root = folder();
        let store = quick(root.path());
        let whole = std::fs::read_to_string(fixture(name)).unwrap();
        let path = root.path().join(Path::new(name).file_name().unwrap());
        std::fs::write(&path, cut(&whole, name, count)).unwrap();
        let import = || store.import(&path, Path::new(""), Mode::Ask, NOW).unwrap();
        let first = import();
        std::fs::write(&path, &whole).unwrap();
        let second = import();
        assert_eq!(second.meta.id, first.meta.id, "{name}: {second:?}");
        assert!(matches!(&second.again, Some(Reimport::Added(_, more)) if *more > 0), "{name}: {second:?}");
        let third = import();
        assert_eq!((third.again, third.left), (Some(Reimport::Added(first.meta.id.clone(), 0)), Vec::new()), "{name}");
        let rows = store.read(&first.meta.id, 500).unwrap().rows;
        let mut ids: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
        ids.sort_unstable();
        let all = ids.len();
        ids.dedup();
        assert_eq!((ids.len(), store.list().sessions.len()), (all, 1), "{name}");
        let (_other, _, at_once) = rows_of(name);
        assert_eq!(asked(&rows), asked(&at_once), "{name}");
    }
}

// ---- many at once ----

fn all_fixtures() -> PathBuf {
    fixture("")
}

#[test]
fn each_program_has_its_place() {
    let home = Path::new("/home/ann");
    let none = |_: &str| None;
    let set = |name: &str| Some(format!("/x/{}", name.to_lowercase()));
    for (kind, usual, moved) in [
        (HistoryKind::ClaudeCode, "/home/ann/.claude/projects", "/x/claude_config_dir/projects"),
        (HistoryKind::Codex, "/home/ann/.codex/sessions", "/x/codex_home/sessions"),
        (HistoryKind::Gemini, "/home/ann/.gemini/tmp", "/x/gemini_cli_home/.gemini/tmp"),
        (HistoryKind::Opencode, "/home/ann/.local/share/opencode/opencode.db", "/x/xdg_data_home/opencode/opencode.db"),
        (HistoryKind::Pi, "/home/ann/.pi/agent/sessions", "/x/pi_coding_agent_dir/sessions"),
        (HistoryKind::Openclaw, "/home/ann/.openclaw/agents", "/x/openclaw_state_dir/agents"),
        (HistoryKind::Aichat, "/home/ann/.config/aichat/sessions", "/x/aichat_sessions_dir"),
        (HistoryKind::Fabric, "/home/ann/.config/fabric/sessions", "/x/xdg_config_home/fabric/sessions"),
        (HistoryKind::Craft, "/home/ann/.craft-agent/workspaces", "/x/craft_config_dir/workspaces"),
        (HistoryKind::FabricAgents, "/home/ann/.fabric-agent/workspaces", "/home/ann/.fabric-agent/workspaces"),
    ] {
        assert_eq!(kind.places(home, &none)[0], Path::new(usual));
        assert_eq!(kind.places(home, &set)[0], Path::new(moved));
        assert_eq!(HistoryKind::parse(kind.word()), Some(kind));
    }
}

#[test]
fn the_sessions_of_a_folder_are_listed_by_program() {
    let root = all_fixtures();
    for (kind, below, count) in [
        (HistoryKind::ClaudeCode, "claude-code", 2),
        // Two files, one thread.
        (HistoryKind::Codex, "codex-home", 1),
        (HistoryKind::Gemini, "gemini-home", 2),
        // Neither the subagent's nor the export, which somebody has to name.
        (HistoryKind::Opencode, "opencode", 2),
        (HistoryKind::Pi, "pi", 1),
        (HistoryKind::Openclaw, "openclaw", 1),
        (HistoryKind::Aichat, "aichat", 1),
        (HistoryKind::Fabric, "fabric", 1),
    ] {
        let found = histories(&root.join(below), Some(kind));
        assert_eq!(found.items.len(), count, "{below}: {found:?}");
        assert!(found.bytes() > 500, "{below}: {found:?}");
    }
    let craft = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/craft/main");
    let found = histories(&craft, Some(HistoryKind::Craft));
    assert!(found.items.len() > 2 && found.items.iter().all(|item| item.is_folder), "{found:?}");
}

#[test]
fn all_sessions_of_a_folder_are_imported_once_by_any_number_of_threads() {
    let root = folder();
    let store = quick(root.path());
    let found = histories(&all_fixtures(), None);
    // Twice in the list, as where a folder has copies.
    let items: Vec<_> = found.items.iter().chain(&found.items).collect();
    let (mut made, mut skipped) = (0, Vec::new());
    {
        let run = store.import_run(Mode::Ask, NOW).unwrap();
        // Another one has to wait.
        let error = store.import_run(Mode::Ask, NOW).unwrap_err().to_string();
        assert!(error.contains("another import is running"), "{error}");
        let next = std::sync::atomic::AtomicUsize::new(0);
        let results = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..3)
                .map(|_| {
                    scope.spawn(|| {
                        let mut out = Vec::new();
                        while let Some(item) = items.get(next.fetch_add(1, std::sync::atomic::Ordering::SeqCst)) {
                            out.push((item.words(), run.import(item, None)));
                        }
                        out
                    })
                })
                .collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        for (words, result) in results {
            match result {
                Ok(imported) => made += usize::from(imported.again.is_none()),
                Err(error) => skipped.push(format!("{words}: {error}")),
            }
        }
    }
    assert_eq!(made, store.list().sessions.len());
    // The empty one of Gemini; the export of opencode is the database's session.
    assert!(made >= 12 && skipped.len() == 2, "{made} {skipped:#?}");
    let titles: Vec<String> = store.list().sessions.iter().map(|meta| meta.title.clone()).collect();
    assert_eq!(titles.iter().filter(|title| *title == "Bench session").count(), 1, "{titles:?}");
    // A second run changes nothing.
    let run = store.import_run(Mode::Ask, NOW).unwrap();
    for item in &found.items {
        if let Ok(imported) = run.import(item, None) {
            assert!(matches!(imported.again, Some(Reimport::Added(_, 0))), "{}: {imported:?}", item.words());
        }
    }
}

#[test]
fn the_database_of_opencode_is_read_as_the_export_and_stays_as_it_is() {
    let root = folder();
    let dir = root.path().join("opencode");
    std::fs::create_dir(&dir).unwrap();
    let path = dir.join("opencode.db");
    std::fs::copy(fixture("opencode/opencode.db"), &path).unwrap();
    let before = std::fs::read(&path).unwrap();
    let store = quick(root.path());
    let found = histories(&path, Some(HistoryKind::Opencode));
    let run = store.import_run(Mode::Ask, NOW).unwrap();
    let imported: Vec<Imported> = found.items.iter().map(|item| run.import(item, None).unwrap()).collect();
    let rows = store.read(&imported[0].meta.id, 500).unwrap().rows;
    is_opencode(&imported[0], &rows);
    assert_eq!(imported[1].meta.title, "Bench session (fork #1)");
    assert_eq!(found.passed.len(), 1, "the subagent's session");
    assert!(std::fs::read(&path).unwrap() == before);
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 1, "nothing lies beside it");
    // One that its program has open, with what it wrote last in the log.
    let open = rusqlite::Connection::open(&path).unwrap();
    open.pragma_update(None, "journal_mode", "wal").unwrap();
    open.execute("UPDATE session SET title = 'Renamed' WHERE parent_id IS NULL AND title = 'Bench session'", [])
        .unwrap();
    assert!(dir.join("opencode.db-wal").metadata().unwrap().len() > 0);
    let again = run.import(&found.items[0], None).unwrap();
    assert_eq!((again.meta.id.clone(), again.meta.title.as_str()), (imported[0].meta.id.clone(), "Renamed"));
}

// ---- bad input ----

#[test]
fn links_and_folders_that_cannot_be_read_are_passed_over_with_a_word() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let root = folder();
    let place = root.path().join("projects");
    let elsewhere = root.path().join("elsewhere");
    std::fs::create_dir_all(place.join("-w")).unwrap();
    std::fs::create_dir_all(&elsewhere).unwrap();
    std::fs::copy(fixture("claude.jsonl"), elsewhere.join("a.jsonl")).unwrap();
    symlink(elsewhere.join("a.jsonl"), place.join("-w/a.jsonl")).unwrap();
    symlink(&elsewhere, place.join("-linked")).unwrap();
    symlink(&place, place.join("-w/circle")).unwrap();
    std::fs::create_dir(place.join("-closed")).unwrap();
    std::fs::set_permissions(place.join("-closed"), std::fs::Permissions::from_mode(0o0)).unwrap();
    let found = histories(&place, Some(HistoryKind::ClaudeCode));
    std::fs::set_permissions(place.join("-closed"), std::fs::Permissions::from_mode(0o700)).unwrap();
    assert!(found.items.is_empty(), "{found:?}");
    assert!(
        found.passed.iter().any(|(path, why)| path.ends_with("-w/a.jsonl") && why.contains("symlink")),
        "{found:?}"
    );
    let gone = histories(&root.path().join("nowhere"), None);
    assert_eq!((gone.items.len(), gone.passed.len()), (0, 1));
}

#[test]
fn odd_lines_cost_themselves_alone() {
    let deep = format!("{{\"type\":\"user\",\"uuid\":\"u\",\"x\":{}{}}}\n", "[".repeat(5000), "]".repeat(5000));
    let head = "{\"type\":\"session\",\"version\":3,\"id\":\"../../../etc/x\",\"timestamp\":\"2026-01-02T03:04:05.000Z\",\"cwd\":\"/w/../..\"}\n";
    let said = "{\"type\":\"message\",\"id\":\"../a\",\"parentId\":null,\"timestamp\":\"2026-01-02T03:04:05.000Z\",\
                \"message\":{\"role\":\"user\",\"content\":\"\u{1b}]0;owned\u{7}hi\"}}\n";
    let named = "{\"type\":\"session_info\",\"id\":\"b\",\"parentId\":\"../a\",\"name\":\"a\\u001b[2J\\nb\"}\n";
    let text = format!(
        "\n{head}{deep}\u{0}\u{1}\n{}{named}[1]\n{{\"type\":\"mess",
        said.replace('\u{1b}', "\\u001b").replace('\u{7}', "\\u0007")
    );
    let root = folder();
    let path = root.path().join("x.jsonl");
    std::fs::write(&path, text).unwrap();
    let store = quick(root.path());
    let imported = store.import(&path, Path::new(""), Mode::Ask, NOW).unwrap();
    assert_eq!(
        left_of(&imported),
        ["Lines that are not JSON not included: 3.", "Half-written last lines not included: 1."]
    );
    let rows = store.read(&imported.meta.id, 9).unwrap().rows;
    assert_eq!(asked(&rows).len(), 1);
    assert!(store.session_dir(&imported.meta.id).starts_with(root.path()));
    assert!(store.verify(&imported.meta.id).unwrap().is_sound());
}

#[test]
fn a_disk_that_fails_in_the_middle_leaves_nothing_half_made() {
    let (calls, whole) = {
        let root = folder();
        let (store, io) = super::lifecycle::disturbed(root.path(), Fault::None);
        let before = io.calls();
        let imported = store.import(&fixture(PI), Path::new(""), Mode::Ask, NOW).unwrap();
        ((before, io.calls()), imported.meta.messages)
    };
    for at in (calls.0..=calls.1).step_by(3) {
        let root = folder();
        let fault = Fault::Fail { at, times: 1, errno: 28 };
        let (store, _) = super::lifecycle::disturbed(root.path(), fault);
        let done = store.import(&fixture(PI), Path::new(""), Mode::Ask, NOW);
        let sessions = quick(root.path()).list().sessions;
        match done {
            Ok(imported) => assert_eq!(sessions.len(), 1, "call {at}: {imported:?}"),
            // At the end it is whole, and only could not be read back.
            Err(error) => {
                assert!(sessions.iter().all(|meta| meta.messages == whole), "call {at}: {error}: {sessions:?}")
            }
        }
        // And the next one goes through.
        let again = quick(root.path()).import(&fixture(PI), Path::new(""), Mode::Ask, NOW).unwrap();
        let store = quick(root.path());
        assert_eq!((store.list().sessions.len(), asked(&store.read(&again.meta.id, 99).unwrap().rows).len()), (1, 10));
    }
}
