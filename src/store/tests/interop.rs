//! Sessions that other programs wrote, in the forms that they document, and what they save beside us.

use super::lifecycle::quick;
use super::*;
use crate::domain::export::Format;
use std::time::{Duration, SystemTime};

/// The example of Craft's documentation.
const DOCUMENTED: &str = r#"{"id":"session-abc123","workspaceId":"ws-2024-01","createdAt":1705334400000,"lastUsedAt":1705420800000,"tokenUsage":{"inputTokens":1250,"outputTokens":830}}
{"id":"msg-1","type":"user","content":"Help me refactor this function","timestamp":1705334401000}
{"id":"msg-2","type":"assistant","content":"I'll help you refactor that function. Let me read the file first.","timestamp":1705334402000}
{"id":"msg-3","type":"tool","toolName":"Read","input":{"filePath":"./src/utils.ts"},"result":"...","timestamp":1705334403000}
"#;

fn workspace(root: &Path) {
    std::fs::create_dir_all(root.join("work/sessions")).unwrap();
    std::fs::write(root.join("work/config.json"), r#"{"id":"ws-2024-01","name":"Theirs","slug":"theirs"}"#).unwrap();
}

fn put(root: &Path, id: &str, text: &str) -> PathBuf {
    let path = session_file(root, id);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path
}

fn header_of(path: &Path) -> serde_json::Value {
    let text = std::fs::read_to_string(path).unwrap();
    serde_json::from_str(text.lines().next().unwrap()).unwrap()
}

#[test]
fn the_documented_example_is_a_whole_session() {
    let root = folder();
    workspace(root.path());
    let path = put(root.path(), "session-abc123", DOCUMENTED);
    let store = quick(root.path());
    let listed = store.list().sessions.remove(0);
    assert_eq!((listed.messages, listed.preview.as_str()), (3, "Help me refactor this function"));
    assert_eq!(listed.shown_title(), "Help me refactor this function");
    assert_eq!((listed.usage.input_tokens, listed.usage.context_tokens, listed.usage.output_tokens), (1250, 1250, 830));
    let loaded = store.load(&id("session-abc123"), 9).unwrap();
    assert!(loaded.meta.odd.is_empty(), "{:?}", loaded.meta.odd);
    assert_eq!((loaded.meta.messages, loaded.meta.connection.clone()), (3, None));
    let call = loaded.rows[2].tool().unwrap().clone();
    assert_eq!((call.name.as_str(), call.subject.as_str(), call.id.as_str()), ("read", "./src/utils.ts", "msg-3"));
    assert_eq!((call.status, call.result.as_deref()), (ToolStatus::Completed, Some("...")));
    assert_eq!(call.input, serde_json::json!({"filePath": "./src/utils.ts"}));
    let mut journal = writer_of(loaded);
    journal.append(&[user(4)], Durability::Synced).unwrap();
    journal.close().unwrap();
    drop(journal);
    let header = header_of(&path);
    assert_eq!((&header["workspaceId"], &header["messageCount"]), (&"ws-2024-01".into(), &4.into()));
    let rest = DOCUMENTED.split_once('\n').unwrap().1;
    assert!(std::fs::read_to_string(&path).unwrap().contains(rest), "lines that nobody edited stay");
}

#[test]
fn a_status_is_read_and_kept_under_the_name_that_it_has() {
    let root = folder();
    workspace(root.path());
    let text = "{\"id\":\"a\",\"createdAt\":5,\"status\":\"in_progress\"}\n";
    let path = put(root.path(), "a", text);
    let store = quick(root.path());
    assert_eq!(store.list().sessions[0].status, "in-progress");
    store.alter(&id("a"), |meta| meta.status = "done".into()).unwrap();
    let header = header_of(&path);
    assert_eq!((&header["status"], &header["sessionStatus"]), (&"done".into(), &"done".into()));
    // The other one counts where both stand.
    put(root.path(), "b", "{\"id\":\"b\",\"createdAt\":5,\"status\":\"todo\",\"sessionStatus\":\"done\"}\n");
    assert_eq!(store.list().sessions.iter().find(|meta| meta.id == id("b")).unwrap().status, "done");
}

#[test]
fn usage_is_added_up_and_written_under_both_names_of_the_cost() {
    let root = folder();
    let store = quick(root.path());
    let (session, mut journal) = store.create(&meta("a")).unwrap();
    let path = session_file(root.path(), session.as_str());
    let mut now = meta("a");
    let one =
        crate::domain::usage::RequestUsage { input: 100, output: 20, cache_read: 10, cache_creation: 5, cache_hour: 0 };
    now.usage.add(one, 0.25, Some(1000));
    now.usage.add(one, 0.25, Some(1000));
    journal.set_meta(now.clone(), serde_json::Value::Null);
    journal.save_header().unwrap();
    let usage = header_of(&path)["tokenUsage"].clone();
    let wanted = serde_json::json!({
        "inputTokens": 200, "outputTokens": 40, "totalTokens": 240, "contextTokens": 100, "costUsd": 0.5,
        "totalCost": 0.5, "cacheReadTokens": 10, "cacheCreationTokens": 5, "contextWindow": 1000,
    });
    assert_eq!(usage, wanted);
    // What is zeroed leaves nothing behind.
    now.usage = crate::domain::usage::Usage::default();
    journal.set_meta(now, serde_json::Value::Null);
    journal.close().unwrap();
    let usage = header_of(&path)["tokenUsage"].clone();
    assert!(usage.get("cacheReadTokens").is_none() && usage.get("cacheCreationTokens").is_none(), "{usage}");
    assert_eq!((&usage["inputTokens"], &usage["totalCost"]), (&0.into(), &0.into()));
    drop(journal);
    // A cost that only stands under the documented name counts.
    put(root.path(), "b", "{\"id\":\"b\",\"createdAt\":5,\"tokenUsage\":{\"inputTokens\":7,\"totalCost\":1.5}}\n");
    let read = store.read(&id("b"), 1).unwrap().meta.usage;
    assert!((read.cost_usd - 1.5).abs() < 1e-9 && read.context_tokens == 7, "{read:?}");
}

/// Every text of the header, with where it stands.
fn texts(value: &serde_json::Value, out: &mut Vec<String>) {
    match value {
        serde_json::Value::String(text) => out.push(text.clone()),
        serde_json::Value::Array(items) => items.iter().for_each(|item| texts(item, out)),
        serde_json::Value::Object(fields) => fields.values().for_each(|field| texts(field, out)),
        _ => {}
    }
}

/// A header whose every path leads to where the session was before.
fn of_elsewhere(old: &Path) -> String {
    let dir = old.join("sessions/a");
    let header = serde_json::json!({
        "id": "a", "workspaceRootPath": old, "workspaceId": "ws_old", "createdAt": NOW.0, "name": "There",
        "sdkCwd": dir, "workingDirectory": dir.join("data"), "branchFromMessageId": "m",
        "branchFromSessionPath": old.join("sessions/parent"), "branchFromSdkCwd": dir, "messageCount": 1,
    });
    format!("{header}\n{{\"id\":\"m1\",\"type\":\"user\",\"content\":\"x\",\"timestamp\":1}}\n")
}

#[test]
fn no_path_of_a_header_leads_to_where_the_session_was_before() {
    // Imported from another workspace.
    let other = folder();
    workspace(other.path());
    let old = other.path().join("work");
    put(other.path(), "a", &of_elsewhere(&old));
    let root = folder();
    let store = quick(root.path());
    let imported = store.import(&old.join("sessions/a"), Path::new(""), Mode::Ask, NOW).unwrap().meta;
    let dir = store.session_dir(&imported.id);
    let header = header_of(&dir.join("session.jsonl"));
    let mut all = Vec::new();
    texts(&header, &mut all);
    assert!(all.iter().all(|text| !text.contains(old.to_str().unwrap())), "{header}");
    assert_eq!(header["workspaceRootPath"], store.dir().to_str().unwrap());
    assert_eq!(imported.cwd, dir.join("data"));
    assert_ne!(header["workspaceId"], "ws_old");
    // Copied, with all of its workspace, by hand.
    let moved = folder();
    workspace(moved.path());
    put(moved.path(), "a", &of_elsewhere(&old));
    let store = quick(moved.path());
    let dir = store.session_dir(&id("a"));
    assert_eq!(store.read(&id("a"), 1).unwrap().meta.cwd, dir.join("data"));
    store.alter(&id("a"), |meta| meta.flagged = true).unwrap();
    let header = header_of(&dir.join("session.jsonl"));
    let wanted = |key: &str, path: &Path| assert_eq!(header[key], path.to_str().unwrap(), "{key}");
    wanted("workspaceRootPath", store.dir());
    wanted("branchFromSessionPath", &dir.with_file_name("parent"));
    assert_eq!((&header["workspaceId"], &header["sdkCwd"]), (&"ws-2024-01".into(), &"{{SESSION_PATH}}".into()));
    assert_eq!(store.read(&id("a"), 1).unwrap().meta.cwd, dir.join("data"));
}

fn age(path: &Path) {
    let file = std::fs::File::options().append(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(3600)).unwrap();
}

#[test]
fn what_only_the_temporary_file_has_survives_the_first_write() {
    let whole = "{\"id\":\"a\",\"createdAt\":5,\"name\":\"T\",\"messageCount\":2}\n\
                 {\"id\":\"m1\",\"type\":\"user\",\"content\":\"one\",\"timestamp\":6}\n\
                 {\"id\":\"m2\",\"type\":\"assistant\",\"content\":\"two\",\"timestamp\":7}\n";
    for (cut, rows) in [(whole.len(), 2), (whole.len() - 1, 2), (whole.len() - 9, 1)] {
        for rename in [false, true] {
            let root = folder();
            workspace(root.path());
            let path = put(root.path(), "a", "");
            let temp = path.with_file_name("session.jsonl.tmp");
            std::fs::remove_file(&path).unwrap();
            std::fs::write(&temp, &whole[..cut]).unwrap();
            age(&temp);
            let store = quick(root.path());
            if rename {
                store.alter(&id("a"), |meta| meta.title = "Ours".into()).unwrap();
            } else {
                let mut journal = writer_of(store.load(&id("a"), 9).unwrap());
                journal.append(&[user(3)], Durability::Synced).unwrap();
                journal.close().unwrap();
            }
            // The other program removes what it left there.
            std::fs::remove_file(&temp).unwrap();
            let read = store.read(&id("a"), 9).unwrap();
            let said = read.rows.iter().filter(|row| row.id.as_str().starts_with('m') && row.id.as_str().len() == 2);
            assert_eq!(said.count(), rows, "{cut} {rename}");
            assert_eq!(read.meta.title, if rename { "Ours" } else { "T" });
            if cut < whole.len() - 1 {
                let salvage = std::fs::read_to_string(path.with_file_name("session.jsonl.salvage")).unwrap();
                assert!(salvage.contains("\"m2\""), "{salvage}");
            }
        }
    }
}

#[test]
fn what_waits_for_another_program_survives_a_death() {
    let root = folder();
    workspace(root.path());
    let path = put(root.path(), "a", "");
    std::fs::remove_file(&path).unwrap();
    let temp = path.with_file_name("session.jsonl.tmp");
    std::fs::write(
        &temp,
        "{\"id\":\"a\",\"createdAt\":5}\n{\"id\":\"m1\",\"type\":\"user\",\"content\":\"x\",\"timestamp\":6}\n",
    )
    .unwrap();
    let store = quick(root.path());
    let mut journal = writer_of(store.load(&id("a"), 9).unwrap());
    journal.append(&[user(2), answer(3)], Durability::Synced).unwrap_err();
    // A death: nothing is closed.
    drop(journal);
    assert_eq!(ids(&store.read(&id("a"), 9).unwrap().rows), ["m1", "msg-u2", "msg-a3"]);
    age(&temp);
    let mut journal = writer_of(store.load(&id("a"), 9).unwrap());
    journal.append(&[user(4)], Durability::Synced).unwrap();
    journal.close().unwrap();
    drop(journal);
    assert_eq!(ids(&store.read(&id("a"), 9).unwrap().rows), ["m1", "msg-u2", "msg-a3", "msg-u4"]);
}

/// A session that goes on here from 100 to 500 tokens, with another model, connection and mark of what is read.
fn goes_on(meta: &mut SessionMeta) {
    meta.usage.input_tokens = 500;
    meta.usage.output_tokens = 90;
    meta.model = Some("ours".into());
    meta.connection = Some(crate::domain::ConnectionName::new("work"));
    meta.last_read = Some(MessageId::new("msg-a3"));
    meta.unread = false;
}

#[test]
fn a_save_of_what_they_had_before_us_takes_nothing_back() {
    let root = folder();
    workspace(root.path());
    let header = |name: &str| {
        format!(
            "{{\"id\":\"a\",\"createdAt\":5,\"name\":\"{name}\",\"messageCount\":1,\"model\":\"theirs\",\"hasUnread\":true,\
             \"llmConnection\":\"c\",\"lastReadMessageId\":\"m0\",\"tokenUsage\":{{\"inputTokens\":100,\"outputTokens\":9}}}}\n\
             {{\"id\":\"m1\",\"type\":\"user\",\"content\":\"x\",\"timestamp\":6}}\n"
        )
    };
    for live in [true, false] {
        let path = put(root.path(), "a", &header("Before"));
        for file in ["ours.jsonl", "header.json"] {
            let _ = std::fs::remove_file(path.with_file_name(file));
        }
        let store = quick(root.path());
        let loaded = store.load(&id("a"), 9).unwrap();
        let mut now = loaded.meta.clone();
        let mut journal = writer_of(loaded);
        journal.append(&[user(2), answer(3)], Durability::Synced).unwrap();
        goes_on(&mut now);
        journal.set_meta(now, serde_json::Value::Null);
        journal.flush().unwrap();
        if !live {
            journal.close().unwrap();
        }
        // Renamed there, from what was in memory.
        std::fs::write(path.with_file_name("session.jsonl.new"), header("Renamed there")).unwrap();
        std::fs::rename(path.with_file_name("session.jsonl.new"), &path).unwrap();
        if live {
            journal.look().unwrap();
            let told = journal.take_merged().unwrap();
            let mut mine = SessionMeta { title: "Before".into(), ..crate::store::tests::meta("a") };
            goes_on(&mut mine);
            let mine = SessionMeta { mode: Mode::Explore, ..mine };
            let merged = told.onto(&mine);
            assert_eq!((merged.title.as_str(), merged.mode), ("Renamed there", Mode::Explore));
            journal.close().unwrap();
        }
        drop(journal);
        let mut journal = writer_of(store.load(&id("a"), 9).unwrap());
        journal.append(&[user(4)], Durability::Synced).unwrap();
        journal.close().unwrap();
        drop(journal);
        let meta = store.read(&id("a"), 9).unwrap().meta;
        assert_eq!(meta.title, "Renamed there", "{live}");
        assert_eq!((meta.usage.input_tokens, meta.usage.output_tokens), (500, 90), "{live}");
        assert_eq!((meta.model.as_deref(), meta.unread), (Some("ours"), false), "{live}");
        assert_eq!(meta.connection.map(|name| name.as_str().to_owned()).as_deref(), Some("work"), "{live}");
        assert_eq!(meta.last_read, Some(MessageId::new("msg-a3")), "{live}");
    }
}

#[test]
fn no_format_of_an_export_and_no_history_gives_a_secret_away() {
    let root = folder();
    let store = quick(root.path());
    let all = crate::domain::secret::examples();
    let mut titled = meta("a");
    titled.cwd = root.path().to_owned();
    titled.title = format!("Use {}", all[0].0);
    let (session, mut journal) = store.create(&titled).unwrap();
    for (n, (text, _)) in (1..).zip(&all) {
        let mut asked = user(n);
        asked.body = Body::User(UserText::from(format!("a*`{text}`_<b>\"{text}\"\n{text}").as_str()));
        let mut called = call(n, ToolStatus::Completed, Some(text));
        if let Body::Tool(call) = &mut called.body {
            call.input = serde_json::json!({"command": format!("echo \"{text}\"")});
            call.subject = format!("echo \"{text}\"");
        }
        journal.append(&[asked, called], Durability::Written).unwrap();
        store.remember(&format!("use \"{text}\"\n")).unwrap();
    }
    journal.close().unwrap();
    drop(journal);
    for format in Format::ALL {
        let done = store.export(&session, Some(format), None, &|at: At| at.0.to_string()).unwrap();
        let name = done.path.file_name().unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(&done.path).unwrap() + &name;
        let plain = text.replace('\\', "");
        for (_, secret) in &all {
            assert!(!text.contains(secret) && !plain.contains(secret), "{format:?} {secret}");
            assert!(!name.contains(&secret.to_lowercase()), "{name}");
        }
    }
    let history = store.history().join("\n");
    assert!(all.iter().all(|(_, secret)| !history.contains(secret)), "{history}");
}

/// A session of two rows of theirs and two of ours, whose file they replaced by the one that they knew.
fn saved_over(root: &Path) -> (Store, SessionId) {
    workspace(root);
    let theirs = "{\"id\":\"a\",\"createdAt\":5,\"name\":\"T\",\"messageCount\":2}\n\
                  {\"id\":\"m1\",\"type\":\"user\",\"content\":\"theirs one\",\"timestamp\":6}\n\
                  {\"id\":\"m2\",\"type\":\"assistant\",\"content\":\"theirs two\",\"timestamp\":7}\n";
    let path = put(root, "a", theirs);
    let store = quick(root);
    let said = |n, text: &str| Message { body: Body::User(UserText::from(text)), ..user(n) };
    let mut journal = writer_of(store.load(&id("a"), 9).unwrap());
    let rows = [said(3, "a quokka of ours"), said(4, "a second wombat")];
    journal.append(&rows, Durability::Synced).unwrap();
    journal.close().unwrap();
    drop(journal);
    let temp = path.with_file_name("session.jsonl.tmp");
    std::fs::write(&temp, theirs).unwrap();
    std::fs::rename(&temp, &path).unwrap();
    assert_eq!(ids(&store.read(&id("a"), 9).unwrap().rows), ["m1", "m2", "msg-u3", "msg-u4"]);
    (store, id("a"))
}

#[test]
fn an_export_has_our_rows_that_they_left_out_once_each() {
    let root = folder();
    let (store, session) = saved_over(root.path());
    for format in Format::ALL {
        let mut out = Vec::new();
        let mut write = |bytes: &[u8]| {
            out.extend_from_slice(bytes);
            Ok(())
        };
        store.export_to(&session, format, &|at: At| at.0.to_string(), &mut write).unwrap();
        let text = String::from_utf8(out).unwrap();
        let rows = text.split_once("theirs one").map(|(_, rest)| rest).unwrap();
        let places = ["theirs two", "a quokka of ours", "a second wombat"].map(|said| rows.find(said));
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{format:?} {places:?}: {text}");
        assert_eq!(text.matches("a second wombat").count(), 1, "{format:?}: {text}");
        if format == Format::Json {
            let lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
            assert_eq!(lines.count(), 5, "{text}");
        }
    }
    // A branch and a copy of it have them too.
    let branch = store.branch(&session, None, NOW).unwrap();
    assert_eq!((store.read(&branch.id, 9).unwrap().rows.len(), branch.messages), (4, 4));
    let cut = store.branch(&session, Some(&MessageId::new("msg-u3")), NOW).unwrap();
    assert_eq!(ids(&store.read(&cut.id, 9).unwrap().rows), ["m1", "m2", "msg-u3"]);
}

#[test]
fn a_search_finds_our_rows_that_they_left_out() {
    use crate::domain::property::Properties;
    use crate::domain::query::Query;
    let root = folder();
    let (store, session) = saved_over(root.path());
    for (words, hits) in [("quokka", 1), ("quokka ours", 1), ("quokka wombat", 2), ("theirs", 2), ("quokka -second", 0)]
    {
        let mut found = 0;
        let stop = std::sync::atomic::AtomicBool::new(false);
        let searched = store.search(&Query::parse(words).unwrap(), &Properties::default(), &stop, &mut |hits| {
            assert_eq!(hits.session, session);
            found += hits.total;
        });
        assert_eq!((found, searched.unreadable), (hits, 0), "{words}");
    }
}

#[test]
fn a_place_and_what_follows_it_show_our_rows_that_they_left_out() {
    let root = folder();
    let (store, session) = saved_over(root.path());
    let around = store.page_at(&session, u64::MAX, 9).unwrap();
    assert_eq!((ids(&around.rows), around.later), (vec!["m1", "m2", "msg-u3", "msg-u4"], None));
    let mut all = Vec::new();
    let mut cursor = Some(0);
    while let Some(from) = cursor {
        let (rows, next) = store.page_after(&session, from, 1).unwrap();
        all.extend(rows);
        cursor = next;
    }
    assert_eq!(ids(&all), ["m1", "m2", "msg-u3", "msg-u4"]);
}

#[tokio::test]
async fn what_waited_for_a_temporary_file_comes_behind_it_once_that_is_old() {
    for name in ["damaged-only-tmp", "damaged-only-tmp-torn"] {
        let root = copy_of("damaged");
        let store = quick(root.path());
        let (session, path) = (id(name), session_file(root.path(), name));
        let before = ids(&store.read(&session, 100).unwrap().rows).len();
        let mut journal = writer_of(store.load(&session, 100).unwrap());
        journal.append(&[user(2)], Durability::Synced).unwrap_err();
        let _ = journal.close();
        drop(journal);
        assert!(path.with_file_name("ours.jsonl").exists() && !path.exists());
        age(&path.with_file_name("session.jsonl.tmp"));
        // Looked at alone, nothing of it changes, and nothing fails.
        let mut journal = writer_of(store.load(&session, 100).unwrap());
        journal.look().unwrap();
        journal.close().unwrap();
        drop(journal);
        assert!(!path.exists(), "{name}");
        let writer = Writer::spawn(writer_of(store.load(&session, 100).unwrap()));
        let health = writer.health();
        writer.append(vec![user(3)], Durability::Synced).await.unwrap();
        assert_eq!(*health.borrow(), Health::Saved, "{name}");
        writer.close().await.unwrap();
        assert!(path.exists(), "{name}");
        let rows = store.read(&session, 100).unwrap().rows;
        let rows = ids(&rows);
        // The half of a line goes to salvage.
        let whole = before - usize::from(name.ends_with("torn"));
        assert_eq!(rows.len(), whole + 2, "{name}: {rows:?}");
        assert_eq!(rows[whole..], ["msg-u2", "msg-u3"], "{name}");
    }
}
