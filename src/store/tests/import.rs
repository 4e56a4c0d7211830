//! Sessions of other programs as sessions here, and what is told of the rest.

use super::lifecycle::{quick, tree};
use super::*;
use crate::domain::message::{Body, InfoKind};
use crate::domain::session::TitleFrom;

pub(super) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/import").join(name)
}

pub(super) fn imported(name: &str, mode: Mode) -> (tempfile::TempDir, Imported, Vec<String>) {
    let root = folder();
    let store = quick(root.path());
    let before = std::fs::read(fixture(name)).unwrap();
    let imported = store.import(&fixture(name), Path::new(""), mode, NOW).unwrap();
    assert!(std::fs::read(fixture(name)).unwrap() == before, "the source is only read");
    assert!(store.verify(&imported.meta.id).unwrap().is_sound());
    let rows = store.read(&imported.meta.id, 500).unwrap().rows;
    assert_eq!(imported.meta.messages as usize, rows.len());
    // What was not included is told at the end, but for a line that may still be written.
    let last = rows.last().map(|row| format!("{:?}", row.body)).unwrap_or_default();
    let left = left_of(&imported);
    let mut noted = left.iter().filter(|sentence| !sentence.starts_with("Half-written"));
    assert!(noted.all(|sentence| last.contains(sentence.as_str())), "{last}");
    let said = rows.iter().filter(|row| !matches!(row.body, Body::Info(_)));
    let words = said.map(|row| match &row.body {
        Body::User(said) => format!("you: {}", said.text),
        Body::Assistant(said) => format!("assistant: {}", said.text),
        Body::Thinking(thought) => format!("thinking: {}", thought.text),
        Body::Tool(call) => {
            format!("{} {} [{:?}]: {}", call.name, call.subject, call.status, call.result.clone().unwrap_or_default())
        }
        other => format!("{other:?}"),
    });
    let words = words.collect();
    (root, imported, words)
}

/// Sentences on what an import left out.
pub(super) fn left_of(imported: &Imported) -> Vec<String> {
    imported.left.iter().map(crate::store::NotIncluded::words).collect()
}

#[test]
fn a_transcript_of_claude_code() {
    let (root, imported, words) = imported("claude.jsonl", Mode::Execute);
    let wanted = [
        "you: Why does the redirect drop the query?",
        "thinking: Look at the redirect.",
        "assistant: I look first.",
        "read /home/ada/app/src/redirect.rs [Completed]: fn redirect() {}",
        "bash cargo test redirect [Error]: 1 failed",
        "assistant: `next` is decoded **twice**.",
        "you: And this picture?",
        "bash sleep 60 [Error]: interrupted",
    ];
    assert_eq!(words, wanted);
    let meta = &imported.meta;
    assert_eq!((meta.title.as_str(), meta.cwd.as_path()), ("Redirect keeps its query", Path::new("/home/ada/app")));
    assert_eq!((meta.created, meta.mode), (At(1_779_780_459_000), Mode::Ask));
    assert!(meta.id.as_str().starts_with("260526-"), "{}", meta.id);
    assert_eq!((imported.program, meta.last_message), ("Claude Code", At(1_779_780_480_000)));
    let left = ["Lines that are not JSON not included: 1.", "Subagent records not included: 1."];
    assert_eq!(left_of(&imported), left);
    let rows = quick(root.path()).read(&meta.id, 99).unwrap().rows;
    let files: Vec<_> = rows
        .iter()
        .filter_map(|row| match &row.body {
            Body::User(said) => Some(&said.attachments),
            _ => None,
        })
        .flatten()
        .collect();
    let kept = files.iter().map(|file| std::fs::metadata(&file.path).unwrap().len()).collect::<Vec<_>>();
    assert_eq!((files.len(), kept), (1, vec![files[0].bytes]), "{files:?}");
}

#[test]
fn rollouts_of_codex() {
    let (_root, imported, words) = imported("codex.jsonl", Mode::Explore);
    let wanted = [
        "you: How many files are here?",
        "thinking: **Counting files**",
        "bash ls | wc -l [Completed]: 12\nexit 0",
        "patch  [Error]: failed",
        "assistant: There are 12.",
    ];
    assert_eq!(words, wanted);
    assert_eq!(left_of(&imported), ["Web searches not included: 1."]);
    assert_eq!((imported.meta.mode, imported.meta.shown_title()), (Mode::Explore, "How many files are here?"));
    let (_root, imported, words) = self::imported("codex-older.jsonl", Mode::Ask);
    assert_eq!(words, ["you: Say hello", "bash echo hello [Completed]: hello", "assistant: hello"]);
    assert_eq!((imported.left.len(), imported.program), (0, "Codex"));
}

const CLAUDE: &str = "claude-code/c421e2c1-1672-41c4-91a6-c00c8c5489b8.jsonl";
const CODEX: &str = "codex-home/sessions/2026/11/22/rollout-2026-11-22T22-";
/// The file that the conversation began with, and the one that a rewind began.
const FILES: [&str; 2] = [
    "11-05-01a20550-1af5-7842-91fb-d724bae3891f.jsonl",
    "12-51-01a20550-1af5-7842-91fb-d724bae3891f_01a20551-b83e-7ad0-9c18-464718304bd5.jsonl",
];

/// The rows that an imported session has, with what it is.
pub(super) fn rows_of(name: &str) -> (tempfile::TempDir, Imported, Vec<Message>) {
    let (root, imported, _) = imported(name, Mode::Ask);
    let rows = quick(root.path()).read(&imported.meta.id, 500).unwrap().rows;
    (root, imported, rows)
}

pub(super) fn asked(rows: &[Message]) -> Vec<&str> {
    let said = rows.iter().filter_map(|row| match &row.body {
        Body::User(said) => Some(said.text.as_str()),
        _ => None,
    });
    said.collect()
}

pub(super) fn call_of<'r>(rows: &'r [Message], subject: &str) -> &'r ToolCall {
    let calls: Vec<&ToolCall> = rows.iter().filter_map(Message::tool).filter(|call| call.subject == subject).collect();
    assert_eq!(calls.len(), 1, "{subject}");
    calls[0]
}

pub(super) fn infos(rows: &[Message], wanted: InfoKind) -> usize {
    rows.iter().filter(|row| matches!(&row.body, Body::Info(info) if info.kind == wanted)).count()
}

#[test]
fn a_whole_history_of_claude_code() {
    let (_root, imported, rows) = rows_of(CLAUDE);
    let wanted = [
        "Grüße 修复: please list files",
        "now fix add()",
        "use a subagent",
        "make a task list",
        "write a long text",
        "go on after that",
        "run a slow command",
        "look at @README.md please",
        "first of two",
        "and also this one, typed while busy",
        "what now?",
        "hello after resume",
        "branch B question",
    ];
    assert_eq!(asked(&rows), wanted);
    let meta = &imported.meta;
    assert_eq!((meta.title.as_str(), meta.title_from), ("Mein Titel 修复", TitleFrom::User));
    assert_eq!(meta.model.as_deref(), Some("claude-opus-4-8"));
    // One of 100 in and 20 out for each answer.
    assert_eq!(meta.usage.input_tokens, 5 * meta.usage.output_tokens, "{:?}", meta.usage);
    assert_eq!(meta.usage.context_tokens, 100);
    let failed = call_of(&rows, "cat nope; exit 3");
    assert_eq!((failed.status, failed.figures.exit), (ToolStatus::Error, Some(3)));
    assert_eq!((failed.name.as_str(), call_of(&rows, "ls -la; echo ünï").figures.exit), ("bash", Some(0)));
    let edit = rows.iter().filter_map(Message::tool).find(|call| call.name == "edit").unwrap();
    assert_eq!(
        edit.input,
        serde_json::json!({"path": "/home/ann/proj/main.py", "edits": [{"old": "a - b", "new": "a + b"}]})
    );
    let diff = edit.figures.diff.as_ref().unwrap();
    assert_eq!((diff.added, diff.removed, diff.is_new), (1, 1, false));
    let write = rows.iter().filter_map(Message::tool).find(|call| call.name == "write").unwrap();
    assert!(write.figures.diff.as_ref().is_some_and(|diff| diff.is_new && diff.added == 3));
    assert_eq!((infos(&rows, InfoKind::Interrupted), infos(&rows, InfoKind::Compacted)), (2, 1));
    let partial = |row: &&Message| matches!(&row.body, Body::Assistant(said) if said.partial);
    assert_eq!(rows.iter().filter(partial).count(), 1, "the answer that was stopped");
    let steers = rows.iter().filter(|row| matches!(&row.body, Body::User(said) if said.steer));
    assert_eq!(steers.count(), 1);
    let typed = call_of(&rows, "echo mine ü");
    assert!(typed.id.as_str().starts_with("typed-"), "{}", typed.id);
    assert_eq!(typed.result.as_deref(), Some("mine ü"));
    let left = left_of(&imported).join("\n");
    assert!(left.contains("Rewound messages not included: 1."), "{left}");
    assert!(left.contains("Subagent records not included: 1."), "{left}");
    let said = format!("{rows:?}");
    assert!(
        !said.contains("answer on branch A") && said.contains("answer on branch B") && !said.contains("<bash-input>")
    );
}

#[test]
fn a_whole_history_of_codex_from_either_of_its_files() {
    for ending in FILES {
        let (_root, imported, rows) = rows_of(&format!("{CODEX}{ending}"));
        let wanted = [
            "Grüße 修复: please list files",
            "now fix add()",
            "look at the picture",
            "write a long text",
            "go on after that",
            "run a slow command",
            "first of two",
            "and also this one, typed while busy",
            "what now?",
            "hello after resume",
            "branch B question",
        ];
        assert_eq!(asked(&rows), wanted, "{ending}");
        let meta = &imported.meta;
        assert_eq!((meta.title.as_str(), meta.title_from), ("Mein Titel 修复", TitleFrom::User));
        assert_eq!(meta.model.as_deref(), Some("gpt-5.3-codex"));
        assert_eq!((meta.usage.input_tokens, meta.usage.output_tokens, meta.usage.context_tokens), (1500, 300, 100));
        let failed = call_of(&rows, "cat nope; exit 3");
        assert_eq!((failed.status, failed.figures.exit), (ToolStatus::Error, Some(3)));
        assert_eq!(failed.result.as_deref(), Some("cat: nope: No such file or directory\nexit 3"));
        let slow = call_of(&rows, "sleep 30");
        assert_eq!((slow.status, slow.result.as_deref()), (ToolStatus::Error, Some("interrupted")));
        assert_eq!(call_of(&rows, "sleep 2; echo slept").result.as_deref(), Some("slept\nexit 0"));
        let patch = rows.iter().filter_map(Message::tool).find(|call| call.subject.starts_with("apply_patch")).unwrap();
        let changes: Vec<_> = patch.figures.changes().map(|diff| (diff.added, diff.removed, diff.is_new)).collect();
        assert_eq!(changes, [(1, 1, false), (2, 0, true)]);
        assert!(patch.result.as_deref().unwrap().starts_with("Success."));
        assert_eq!((infos(&rows, InfoKind::Interrupted), infos(&rows, InfoKind::Compacted)), (2, 1));
        let typed = call_of(&rows, "echo mine ü");
        assert_eq!((typed.id.as_str().starts_with("typed-"), typed.figures.exit), (true, Some(0)));
        assert_eq!(typed.result.as_deref(), Some("mine ü\nexit 0"));
        let said = format!("{rows:?}");
        assert!(!said.contains("answer on branch A") && said.contains("answer on branch B"));
        // The summary stands in its row alone.
        let answers =
            rows.iter().filter(|row| matches!(&row.body, Body::Assistant(said) if said.text.contains("SUMMARY:")));
        assert_eq!(answers.count(), 0);
        assert!(asked(&rows).iter().all(|text| !text.contains("<user_shell_command>")));
    }
}

#[test]
fn a_turn_that_older_codex_took_back_stays_out() {
    let root = folder();
    let line = |kind: &str, payload: serde_json::Value| {
        format!("{}\n", serde_json::json!({"timestamp": "2026-01-02T03:04:05.000Z", "type": kind, "payload": payload}))
    };
    let said = |role: &str, text: &str| {
        let kind = if role == "user" { "input_text" } else { "output_text" };
        line(
            "response_item",
            serde_json::json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]}),
        )
    };
    let text = [
        line("session_meta", serde_json::json!({"id": "t", "cwd": "/w"})),
        said("user", "one"),
        said("assistant", "first"),
        said("user", "two"),
        said("assistant", "second"),
        line("event_msg", serde_json::json!({"type": "thread_rolled_back", "num_turns": 1})),
        said("user", "three"),
    ];
    std::fs::write(root.path().join("rollout-t.jsonl"), text.concat()).unwrap();
    let store = quick(root.path());
    let imported = store.import(Path::new("rollout-t.jsonl"), root.path(), Mode::Ask, NOW).unwrap();
    assert_eq!(asked(&store.read(&imported.meta.id, 9).unwrap().rows), ["one", "three"]);
}

#[test]
fn a_second_import_adds_what_came_since() {
    let root = folder();
    let store = quick(root.path());
    let whole = std::fs::read_to_string(fixture(CLAUDE)).unwrap();
    let path = root.path().join("c421.jsonl");
    // As it was in the middle of the conversation.
    let lines: Vec<&str> = whole.lines().collect();
    let upto = lines.iter().position(|line| line.contains("\"go on after that\"")).unwrap();
    std::fs::write(&path, lines[..upto].join("\n") + "\n").unwrap();
    let first = store.import(&path, Path::new(""), Mode::Ask, NOW).unwrap().meta;
    std::fs::write(&path, &whole).unwrap();
    let second = store.import(&path, Path::new(""), Mode::Ask, NOW).unwrap();
    assert_eq!(second.meta.id, first.id);
    assert!(matches!(&second.again, Some(Reimport::Added(id, more)) if *id == first.id && *more > 0), "{second:?}");
    let rows = store.read(&first.id, 500).unwrap().rows;
    assert_eq!(asked(&rows).last(), Some(&"branch B question"));
    let mut ids: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!((ids.len(), second.meta.title.as_str()), (count, "Mein Titel 修复"));
    // Nothing new: nothing changes.
    let before = tree(&store.session_dir(&first.id));
    let third = store.import(&path, Path::new(""), Mode::Ask, NOW).unwrap();
    assert_eq!((third.meta.id.clone(), store.list().sessions.len()), (first.id.clone(), 1));
    assert_eq!((third.again, third.left), (Some(Reimport::Added(first.id.clone(), 0)), Vec::new()));
    assert_eq!(tree(&store.session_dir(&first.id)).len(), before.len());
    // One that went on here alone stays as it is, and nothing is made.
    let mut journal = writer_of(store.load(&first.id, 1).unwrap());
    journal.append(&[user(1)], Durability::Written).unwrap();
    journal.close().unwrap();
    drop(journal);
    let fourth = store.import(&path, Path::new(""), Mode::Ask, NOW).unwrap();
    assert_eq!((fourth.again, store.list().sessions.len()), (Some(Reimport::Added(first.id.clone(), 0)), 1));
    // One that went on on both sides is another one.
    let last = whole.lines().rev().find(|line| line.contains("\"uuid\"")).unwrap();
    let parent: serde_json::Value = serde_json::from_str(last).unwrap();
    let more = serde_json::json!({
        "type": "user", "uuid": "later", "parentUuid": parent["uuid"], "sessionId": parent["sessionId"],
        "isSidechain": false, "timestamp": "2026-11-23T00:00:00.000Z", "message": {"role": "user", "content": "later"},
    });
    std::fs::write(&path, format!("{whole}{more}\n")).unwrap();
    let fifth = store.import(&path, Path::new(""), Mode::Ask, NOW).unwrap();
    assert_ne!(fifth.meta.id, first.id);
    assert!(matches!(&fifth.again, Some(Reimport::Another(why)) if why.contains("was continued here")), "{fifth:?}");
    assert!(store.verify(&first.id).unwrap().is_sound());
    // And the newest of them goes on being updated.
    let sixth = store.import(&path, Path::new(""), Mode::Ask, NOW).unwrap();
    assert_eq!((sixth.meta.id, store.list().sessions.len()), (fifth.meta.id, 2));
}

#[test]
fn a_picture_goes_with_the_message_of_its_own_record_alone() {
    let root = folder();
    let store = quick(root.path());
    let path = root.path().join("t.jsonl");
    let picture = serde_json::json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}});
    let said = |text: &str| serde_json::json!({"type": "text", "text": text});
    let mut lines = String::new();
    for (n, content) in [
        (1, serde_json::json!([said("first")])),
        (2, serde_json::json!([picture, said("[Request interrupted by user]")])),
        (3, serde_json::json!([said("later")])),
    ] {
        let parent = (n > 1).then(|| format!("u{}", n - 1));
        let row = serde_json::json!({
            "type": "user", "uuid": format!("u{n}"), "parentUuid": parent, "sessionId": "s", "isSidechain": false,
            "cwd": "/w", "timestamp": format!("2026-01-02T03:04:0{n}.000Z"), "message": {"role": "user", "content": content},
        });
        lines.push_str(&format!("{row}\n"));
    }
    std::fs::write(&path, lines).unwrap();
    let imported = store.import(&path, Path::new(""), Mode::Ask, NOW).unwrap();
    assert_eq!(left_of(&imported), ["Attached files not included: 1."]);
    let rows = store.read(&imported.meta.id, 99).unwrap().rows;
    assert!(rows.iter().all(|row| !matches!(&row.body, Body::User(said) if !said.attachments.is_empty())));
}

#[test]
fn a_later_import_says_what_was_not_included_since() {
    let root = folder();
    let store = quick(root.path());
    let path = root.path().join("t.jsonl");
    let line = |n: usize, content: serde_json::Value| {
        let parent = (n > 1).then(|| format!("u{}", n - 1));
        let row = serde_json::json!({
            "type": "user", "uuid": format!("u{n}"), "parentUuid": parent, "sessionId": "s", "isSidechain": false,
            "cwd": "/w", "timestamp": format!("2026-01-02T03:04:0{n}.000Z"), "message": {"role": "user", "content": content},
        });
        format!("{row}\n")
    };
    let picture = |n: usize| line(n, serde_json::json!([{"type": "text", "text": "see"}, {"type": "image"}]));
    let mut text = picture(1);
    for (more, left) in [
        (String::new(), vec!["Attached files not included: 1."]),
        (line(2, "plain".into()), vec![]),
        (picture(3) + &picture(4), vec!["Attached files not included: 2."]),
        (String::new(), vec![]),
    ] {
        text.push_str(&more);
        std::fs::write(&path, &text).unwrap();
        let imported = store.import(&path, Path::new(""), Mode::Ask, NOW).unwrap();
        assert_eq!(left_of(&imported), left);
        let rows = store.read(&imported.meta.id, 99).unwrap().rows;
        let last = format!("{:?}", rows.last().unwrap().body);
        assert!(left.iter().all(|sentence| last.contains(sentence)), "{last}");
        assert_eq!(asked(&rows).len(), text.lines().count());
        assert_eq!(store.list().sessions.len(), 1);
    }
}

#[test]
fn a_rewind_of_codex_that_came_after_an_import_makes_another_session() {
    let root = folder();
    let store = quick(root.path());
    let home = root.path().join("codex/sessions/2026/11/22");
    std::fs::create_dir_all(&home).unwrap();
    let [began, rewound] = FILES.map(|ending| format!("rollout-2026-11-22T22-{ending}"));
    let put =
        |name: &str| std::fs::copy(fixture("codex-home/sessions/2026/11/22").join(name), home.join(name)).unwrap();
    put(&began);
    let import = || store.import(&home.join(&began), Path::new(""), Mode::Ask, NOW).unwrap();
    let first = import();
    let of = |id: &SessionId| format!("{:?}", store.read(id, 500).unwrap().rows);
    assert!(of(&first.meta.id).contains("answer on branch A"));
    put(&rewound);
    let second = import();
    assert!(
        matches!(&second.again, Some(Reimport::Another(why)) if why.contains("was rewound in Codex")),
        "{second:?}"
    );
    let rows = of(&second.meta.id);
    assert!(rows.contains("answer on branch B") && !rows.contains("answer on branch A"), "{rows}");
    // The earlier one stays, and the newest goes on being updated.
    assert!(of(&first.meta.id).contains("answer on branch A") && !of(&first.meta.id).contains("answer on branch B"));
    let third = import();
    assert_eq!(
        (third.meta.id.clone(), third.again),
        (second.meta.id.clone(), Some(Reimport::Added(second.meta.id, 0)))
    );
    assert_eq!(store.list().sessions.len(), 2);
}

#[test]
fn answers_keep_the_model_that_wrote_them() {
    for (name, model) in [(CLAUDE, "claude-opus-4-8"), (&*format!("{CODEX}{}", FILES[1]), "gpt-5.3-codex")] {
        let (_root, _, rows) = rows_of(name);
        let answers: Vec<_> = rows.iter().filter(|row| matches!(row.body, Body::Assistant(_))).collect();
        assert!(!answers.is_empty() && answers.iter().all(|row| row.model.as_deref() == Some(model)), "{answers:?}");
        assert!(rows.iter().all(|row| row.model.is_none() || !matches!(row.body, Body::User(_) | Body::Info(_))));
    }
}

#[test]
fn a_folder_keeps_its_status_and_what_it_used() {
    let other = copy_of("main");
    let from = quick(other.path());
    let root = folder();
    let store = quick(root.path());
    let mut used = 0;
    for parent in from.list().sessions {
        let meta = store.import(&from.session_dir(&parent.id), Path::new(""), Mode::Execute, NOW).unwrap().meta;
        assert_eq!((&meta.usage, &meta.status), (&parent.usage, &parent.status), "{}", parent.id);
        used += usize::from(meta.usage.output_tokens > 0);
    }
    assert!(used > 0);
}

#[test]
fn a_folder_that_is_imported_twice_is_one_session() {
    let other = copy_of("main");
    let root = folder();
    let store = quick(root.path());
    let dir = other.path().join("work/sessions/260903-calm-forest");
    let file = dir.join("session.jsonl");
    let whole = std::fs::read_to_string(&file).unwrap();
    let import = || store.import(&dir, Path::new(""), Mode::Ask, NOW).unwrap();
    let keep = |count: usize| {
        let kept: String = whole.lines().take(count).map(|line| format!("{line}\n")).collect();
        std::fs::write(&file, kept).unwrap();
    };
    // As it was after its first message, with a file of the last one not there yet.
    keep(2);
    let first = import();
    assert_eq!((first.again, first.meta.messages), (None, 1));
    let id = first.meta.id;
    // A branch of it is no import.
    let branch = store.branch(&id, None, NOW.plus(1)).unwrap().id;
    std::fs::write(&file, &whole).unwrap();
    let second = import();
    assert_eq!((&second.meta.id, second.again), (&id, Some(Reimport::Added(id.clone(), 2))));
    let lines = |dir: &Path| -> Vec<String> {
        let text = std::fs::read_to_string(dir.join("session.jsonl")).unwrap();
        text.lines().skip(1).map(str::to_owned).collect()
    };
    assert_eq!(lines(&store.session_dir(&id)), lines(&dir));
    for name in tree(&dir.join("attachments")).keys() {
        assert!(store.session_dir(&id).join("attachments").join(name).is_file(), "{name:?}");
    }
    assert_eq!((import().again, store.read(&branch, 9).unwrap().rows.len()), (Some(Reimport::Added(id.clone(), 0)), 1));
    // A row that changed there since: the old ones go to the trash.
    let changed = whole.replacen("\"content\":\"", "\"content\":\"Changed. ", 1);
    assert_ne!(changed, whole);
    std::fs::write(&file, &changed).unwrap();
    let third = import();
    assert_eq!((&third.meta.id, third.again), (&id, Some(Reimport::Anew(id.clone()))));
    assert_eq!(lines(&store.session_dir(&id)), lines(&dir));
    assert_eq!((store.trash().len(), third.meta.usage.clone()), (1, second.meta.usage));
    // It went on on both sides.
    let mut journal = writer_of(store.load(&id, 1).unwrap());
    journal.append(&[user(1)], Durability::Written).unwrap();
    journal.close().unwrap();
    drop(journal);
    assert_eq!(import().again, Some(Reimport::Added(id.clone(), 0)));
    let more = "{\"id\":\"msg-later\",\"type\":\"user\",\"content\":\"later\",\"timestamp\":1795300000000}\n";
    std::fs::write(&file, format!("{changed}{more}")).unwrap();
    let last = import();
    assert!(matches!(last.again, Some(Reimport::Another(_))) && last.meta.id != id, "{last:?}");
    // Its thumbnails were never there.
    assert!([&id, &last.meta.id].iter().all(|id| store.verify(id).unwrap().odd.is_empty()));
}

#[test]
fn a_folder_comes_with_every_line_and_its_times() {
    for workspace in ["main", "damaged"] {
        let other = copy_of(workspace);
        let from = quick(other.path());
        let root = folder();
        let store = quick(root.path());
        for parent in from.list().sessions {
            let dir = from.session_dir(&parent.id);
            let before = tree(&dir);
            let imported = store.import(&dir, Path::new(""), Mode::Execute, NOW).unwrap();
            assert_eq!(tree(&dir), before, "{}", parent.id);
            let meta = imported.meta;
            assert_eq!((meta.created, meta.last_message), (parent.created, parent.last_message), "{}", parent.id);
            // What lay in the session's own directory lies in the new one's.
            let here = |path: &Path| match path.strip_prefix(&dir) {
                Ok(rest) if rest.as_os_str().is_empty() => store.session_dir(&meta.id),
                Ok(rest) => store.session_dir(&meta.id).join(rest),
                Err(_) => path.to_owned(),
            };
            assert_eq!((&meta.cwd, &meta.branched_from), (&here(&parent.cwd), &None));
            // A path into the session leads into the new one.
            assert!(meta.title == parent.title || meta.title.contains(meta.id.as_str()), "{}", meta.title);
            let theirs = from.read(&parent.id, 5000).unwrap().rows;
            let ours = store.read(&meta.id, 5000).unwrap().rows.len();
            // The half of a line that a death left is none.
            let half = theirs.last().is_some_and(|row| matches!(row.body, Body::Odd(_)));
            assert!(ours == theirs.len() || half && ours + 1 == theirs.len(), "{}", parent.id);
        }
    }
}

#[test]
fn what_is_no_session_makes_none() {
    let root = folder();
    let store = quick(root.path());
    for (name, content) in [("notes.txt", "hello\n"), ("a.jsonl", "{\"a\":1}\n"), ("b.bin", "\u{0}\u{1}")] {
        std::fs::write(root.path().join(name), content).unwrap();
        let error = store.import(Path::new(name), root.path(), Mode::Ask, NOW).unwrap_err().to_string();
        assert!(error.contains("unknown format"), "{error}");
    }
    for (name, content, why) in
        [("empty.jsonl", "", "empty file"), ("cut.json", "{\"a\": [1,", "truncated or broken JSON")]
    {
        std::fs::write(root.path().join(name), content).unwrap();
        let error = store.import(Path::new(name), root.path(), Mode::Ask, NOW).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    assert!(store.import(Path::new("gone"), root.path(), Mode::Ask, NOW).is_err());
    assert!(store.import(root.path(), Path::new(""), Mode::Ask, NOW).is_err(), "a folder without a session");
    assert!(store.list().sessions.is_empty());
}

#[test]
fn a_folder_of_transcripts_and_the_work_of_a_subagent_make_no_session() {
    let root = folder();
    let store = quick(root.path());
    let folder = root.path().join("-home-ada-app");
    std::fs::create_dir(&folder).unwrap();
    let line = serde_json::json!({
        "type": "user", "uuid": "u1", "sessionId": "s1", "isSidechain": true, "cwd": "/home/ada/app",
        "timestamp": "2026-05-26T07:27:39.000Z", "message": {"role": "user", "content": "look around"},
    });
    std::fs::write(folder.join("agent-1.jsonl"), format!("{line}\n")).unwrap();
    for (path, says) in
        [(folder.clone(), "choose one of its *.jsonl"), (folder.join("agent-1.jsonl"), "a subagent's transcript")]
    {
        let error = store.import(&path, Path::new(""), Mode::Ask, NOW).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
    assert!(store.list().sessions.is_empty());
}

#[test]
fn only_regular_files_are_imported() {
    let root = folder();
    let store = quick(root.path());
    let folder = root.path().join("linked");
    std::fs::create_dir(&folder).unwrap();
    let secret = root.path().join("secret");
    std::fs::write(&secret, "root:x:0:0\n").unwrap();
    std::os::unix::fs::symlink(&secret, folder.join("session.jsonl")).unwrap();
    let tmp = root.path().join("linked-tmp");
    std::fs::create_dir(&tmp).unwrap();
    std::os::unix::fs::symlink(&secret, tmp.join("session.jsonl.tmp")).unwrap();
    let pipe = root.path().join("pipe");
    let piped = root.path().join("piped");
    std::fs::create_dir(&piped).unwrap();
    for path in [&pipe, &piped.join("session.jsonl")] {
        rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    }
    let empty = root.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    for (path, why) in [
        (folder.clone(), "is a symlink"),
        (folder.join("session.jsonl"), "is a symlink"),
        (tmp, "is a symlink"),
        (pipe, "is a pipe, socket or device"),
        (piped, "is a pipe, socket or device"),
        (empty, "no session.jsonl"),
        (secret, "unknown format"),
        (root.path().join("nowhere"), "was moved or deleted"),
    ] {
        let error = store.import(&path, Path::new(""), Mode::Ask, NOW).unwrap_err().to_string();
        assert!(error.contains(why) && error.contains(path.to_str().unwrap()), "{error}");
        assert!(!error.contains("from the list") && !error.contains("unsaved"), "{error}");
    }
    assert!(store.list().sessions.is_empty());
}
