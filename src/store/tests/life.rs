//! A session's life without accidents, and reading what it left.

use super::*;
use crate::protocol::Queued;
use crate::store::io::{Fault, Watched};
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::Ordering::SeqCst;

#[test]
fn nothing_is_on_disk_before_the_first_session() {
    let root = folder();
    let store = store(root.path());
    assert!(!store.is_foreign());
    assert_eq!(store.list(), Listing::default());
    assert_eq!(store.history(), Vec::<String>::new());
    store.fresh_id(NOW);
    assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 0);
}

#[test]
fn a_workspace_that_only_says_that_lisle_made_it_is_another_programs() {
    let (root, other) = (folder(), folder());
    let (_, journal) = store(root.path()).create(&meta("a")).unwrap();
    drop(journal);
    assert!(!store(root.path()).is_foreign(), "made here");
    // Another one that came to the same place: its folder was replaced, or a repository brought it.
    let config = store(root.path()).dir().join("config.json");
    let own = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, r#"{"id":"ws_00000000","name":"work","slug":"work","madeBy":"lisle"}"#).unwrap();
    assert!(store(root.path()).is_foreign());
    std::fs::write(&config, own).unwrap();
    // Copied from a machine where lisle made it.
    let copy = other.path().join("copy");
    std::fs::create_dir_all(copy.join("sessions")).unwrap();
    std::fs::copy(store(root.path()).dir().join("config.json"), copy.join("config.json")).unwrap();
    let open = |ours: Option<PathBuf>| {
        let state = store(root.path()).inner.layout.state.clone();
        Store::open(Options { ours, ..Options::new(&copy, state) }).unwrap()
    };
    assert!(open(None).is_foreign());
    assert!(open(Some(root.path().to_owned())).is_foreign());
    assert!(!open(Some(other.path().to_owned())).is_foreign(), "where lisle keeps its own");
    // A name that only begins with that folder is somewhere else.
    let ours = other.path().join("ours");
    std::fs::create_dir(&ours).unwrap();
    std::os::unix::fs::symlink(&copy, ours.join("link")).unwrap();
    for path in [ours.join("../copy"), ours.join("link")] {
        let options = Options::new(&path, root.path().join("state"));
        let store = Store::open(Options { ours: Some(ours.clone()), ..options }).unwrap();
        assert!(store.is_foreign() && !store.is_in_data_folder(), "{}", path.display());
    }
}

#[test]
fn what_changes_is_added_to_the_live_file_and_not_written_anew() {
    let root = folder();
    let renames = Arc::new(std::sync::atomic::AtomicU64::new(0));
    let seen = renames.clone();
    let hook = move |call: &str| {
        seen.fetch_add(u64::from(call == "rename"), SeqCst);
        Ok(())
    };
    let store = store_with(root.path(), Arc::new(Hooked(hook)));
    let (id, mut journal) = store.create(&meta("a")).unwrap();
    journal.turn(true).unwrap();
    journal.live(answer(1), Durability::Written).unwrap();
    let before = renames.load(SeqCst);
    for n in 2..60 {
        assert!(journal.grow(&MessageId::new("msg-a1"), "word "));
        journal.flush_text().unwrap();
        journal.live(call(n, ToolStatus::Executing, None), Durability::Synced).unwrap();
        journal.append(&[call(n, ToolStatus::Completed, Some("fine"))], Durability::Written).unwrap();
    }
    assert_eq!(renames.load(SeqCst), before);
    drop(journal);
    let rows = store.read(&id, 99).unwrap().rows;
    let Some(Body::Assistant(text)) = rows.last().map(|row| &row.body) else { panic!("{rows:?}") };
    assert_eq!((rows.len(), text.text.matches("word ").count()), (59, 58));
}

#[test]
fn a_new_session_is_whole_private_and_its_id_claimed() {
    let root = folder();
    let store = store(root.path());
    let (first, mut journal) = store.create(&meta("261121-calm-brook")).unwrap();
    let (second, _other) = store.create(&meta("261121-calm-brook")).unwrap();
    assert_eq!((first.as_str(), second.as_str()), ("261121-calm-brook", "261121-calm-brook-2"));
    journal.append(&[user(1), answer(2)], Durability::Synced).unwrap();
    journal.close().unwrap();
    let path = session_file(root.path(), "261121-calm-brook");
    assert_well_formed(&path);
    let header: serde_json::Value =
        serde_json::from_slice(std::fs::read(&path).unwrap().split(|b| *b == b'\n').next().unwrap()).unwrap();
    for (key, value) in [
        ("id", serde_json::json!("261121-calm-brook")),
        ("sdkCwd", serde_json::json!("~/code")),
        ("workingDirectory", serde_json::json!("~/code")),
        ("createdAt", serde_json::json!(NOW.0)),
        ("lastMessageAt", serde_json::json!(NOW.0 + 2)),
        ("permissionMode", serde_json::json!("ask")),
        ("sessionStatus", serde_json::json!("todo")),
        ("messageCount", serde_json::json!(2)),
        ("lastMessageRole", serde_json::json!("assistant")),
        ("preview", serde_json::json!("question 1")),
        ("lastFinalMessageId", serde_json::json!("msg-a2")),
    ] {
        assert_eq!(header[key], value, "{key}");
    }
    assert_eq!(header["tokenUsage"]["costUsd"], serde_json::json!(0));
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    for entry in std::fs::read_dir(path.parent().unwrap()).unwrap() {
        assert_eq!(mode(&entry.unwrap().path()), 0o600);
    }
    // The workspace is ours from now on.
    let again = super::store(root.path());
    assert!(!again.is_foreign());
    assert_eq!(again.list().sessions.len(), 2);
}

#[test]
fn rows_of_every_sort_come_back_as_they_were() {
    let root = folder();
    let store = store(root.path());
    let (id, mut journal) = store.create(&meta("a")).unwrap();
    let rows = crate::store::format::row::samples(journal.dir());
    journal.append(&rows, Durability::Written).unwrap();
    journal.close().unwrap();
    drop(journal);
    assert_eq!(store.load(&id, 100).unwrap().rows, rows);
}

#[test]
fn what_was_live_is_folded_in_and_written_once() {
    let root = folder();
    let store = store(root.path());
    let (id, mut journal) = store.create(&meta("a")).unwrap();
    let queued = Queued {
        id: MessageId::new("q1"),
        text: "next {{SESSION_PATH}}".into(),
        at: NOW,
        redelivered: false,
        attachments: Vec::new(),
        piped: None,
        client: None,
    };
    journal.append(&[user(1)], Durability::Synced).unwrap();
    journal.turn(true).unwrap();
    journal.live(call(2, ToolStatus::Executing, Some("line 1")), Durability::Synced).unwrap();
    journal.live(call(3, ToolStatus::Executing, None), Durability::Synced).unwrap();
    journal.live(call(4, ToolStatus::Executing, None), Durability::Synced).unwrap();
    journal.append(&[call(3, ToolStatus::Completed, Some("fine"))], Durability::Written).unwrap();
    journal.drop_live(&MessageId::new("msg-t4")).unwrap();
    let mut text = answer(5);
    text.body = Body::Assistant(AssistantText::default());
    journal.live(text, Durability::Written).unwrap();
    journal.grow(&MessageId::new("msg-a5"), "half a ");
    journal.flush_text().unwrap();
    journal.grow(&MessageId::new("msg-a5"), "sentence");
    journal.flush_text().unwrap();
    journal.grow(&MessageId::new("msg-a5"), " that was not flushed");
    journal.queue(vec![queued.clone()]).unwrap();
    drop(journal);

    let expected = ["msg-u1", "msg-t3", "msg-t2", "msg-a5"];
    let loaded = store.load(&id, 100).unwrap();
    assert!(loaded.died_in_turn);
    assert_eq!(loaded.queue, [Queued { redelivered: true, ..queued }]);
    assert_eq!(ids(&loaded.rows), expected);
    let call = loaded.rows[2].tool().unwrap();
    assert_eq!(
        (call.status, call.result.as_deref()),
        (
            ToolStatus::Error,
            Some(
                "line 1\ninterrupted: lisle was restarted before the call had ended, so whether it was done is not known; the user did not stop it"
            )
        )
    );
    let Body::Assistant(text) = &loaded.rows[3].body else { panic!("text") };
    assert_eq!((text.text.as_str(), text.partial), ("half a sentence", true));
    assert_eq!(ids(&store.context(&id).unwrap()), expected);
    drop(loaded);

    let mut journal = writer_of(store.load(&id, 100).unwrap());
    journal.append(&[user(6)], Durability::Synced).unwrap();
    drop(journal);
    for _ in 0..2 {
        let loaded = store.load(&id, 100).unwrap();
        assert_eq!(ids(&loaded.rows), ["msg-u1", "msg-t3", "msg-t2", "msg-a5", "msg-u6"]);
        assert!(!loaded.died_in_turn && loaded.queue[0].redelivered);
        assert_eq!(loaded.meta.messages, 5);
    }
    let mut journal = writer_of(store.load(&id, 100).unwrap());
    journal.queue(Vec::new()).unwrap();
    journal.turn(false).unwrap();
    assert_eq!(std::fs::read(journal.dir().join("live.jsonl")).unwrap(), b"");
}

#[test]
fn rows_that_came_after_the_header_was_written_are_counted_on_opening() {
    let root = folder();
    let store = store(root.path());
    let (id, mut journal) = store.create(&meta("a")).unwrap();
    journal.append(&[user(1)], Durability::Written).unwrap();
    journal.save_header().unwrap();
    journal.append(&[answer(2), user(3)], Durability::Written).unwrap();
    drop(journal);
    let meta = store.load(&id, 1).unwrap().meta;
    assert_eq!((meta.messages, meta.last_message, meta.preview.as_str()), (3, NOW.plus(3), "question 1"));
}

#[test]
fn a_header_that_outgrows_its_line_gets_a_longer_one_and_then_is_refused() {
    let root = folder();
    let store = store(root.path());
    let mut now = meta("a");
    let (id, mut journal) = store.create(&now).unwrap();
    journal.append(&[user(1), answer(2)], Durability::Written).unwrap();
    for (labels, line) in [(10, 4096), (400, 8192), (10, 8192)] {
        now.labels = (0..labels).map(|n| format!("label-{n:04}")).collect();
        journal.set_meta(now.clone(), serde_json::Value::Null);
        journal.save_header().unwrap();
        let bytes = std::fs::read(session_file(root.path(), "a")).unwrap();
        assert_eq!(bytes.iter().position(|b| *b == b'\n').unwrap() + 1, line);
        assert_well_formed(&session_file(root.path(), "a"));
    }
    let good = now.clone();
    now.labels = (0..4000).map(|n| format!("label-{n:04}")).collect();
    journal.set_meta(now, serde_json::Value::Null);
    let error = journal.save_header().unwrap_err();
    assert!(matches!(error, StoreError::HeaderTooLong { .. }), "{error}");
    journal.set_meta(good.clone(), serde_json::Value::Null);
    journal.close().unwrap();
    drop(journal);
    let loaded = store.load(&id, 10).unwrap();
    assert_eq!((loaded.meta.labels, loaded.rows.len()), (good.labels, 2));
}

/// A session in Execute whose process died in a turn.
fn died_in_execute() -> (tempfile::TempDir, SessionId) {
    let root = folder();
    let given = SessionMeta { mode: Mode::Execute, ..meta("a") };
    let (id, mut journal) = store(root.path()).create(&given).unwrap();
    journal.append(&[user(1)], Durability::Synced).unwrap();
    journal.turn(true).unwrap();
    (root, id)
}

/// It is opened, and its mode lowered.
fn lowered(root: &Path, id: &SessionId, io: Arc<dyn Io>) -> Journal {
    let loaded = store_with(root, io).load(id, 9).unwrap();
    assert!(loaded.died_in_turn && loaded.meta.mode == Mode::Execute);
    let meta = SessionMeta { mode: Mode::Ask, ..loaded.meta.clone() };
    let mut journal = writer_of(loaded);
    journal.prime(meta, serde_json::json!({"redo": 1}));
    journal
}

#[test]
fn a_primed_header_alone_writes_nothing() {
    let (root, id) = died_in_execute();
    let file = session_file(root.path(), "a");
    let before = std::fs::read(&file).unwrap();
    lowered(root.path(), &id, Arc::new(Disk)).close().unwrap();
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

#[test]
fn a_lowered_mode_is_on_disk_before_it_is_forgotten_that_a_turn_ran() {
    let mut at = 0;
    loop {
        let (root, id) = died_in_execute();
        let count = Arc::new(Watched::new(Arc::new(Disk), Fault::None));
        drop(lowered(root.path(), &id, count.clone()));
        at = at.max(count.calls()) + 1;
        let io = Arc::new(Watched::new(Arc::new(Disk), Fault::DieBefore(at)));
        let mut journal = lowered(root.path(), &id, io);
        let whole = journal.queue(vec![]).is_ok();
        drop(journal);
        let loaded = store(root.path()).load(&id, 9).unwrap();
        assert!(loaded.died_in_turn || loaded.meta.mode == Mode::Ask, "call {at}");
        if whole {
            assert!(!loaded.died_in_turn);
            assert_eq!((loaded.meta.mode, loaded.own), (Mode::Ask, serde_json::json!({"redo": 1})));
            break;
        }
    }
}

#[test]
fn a_large_file_is_paged_from_its_end() {
    let root = folder();
    let store = store(root.path());
    let (id, mut journal) = store.create(&meta("a")).unwrap();
    let rows: Vec<Message> = (0..3000).map(user).collect();
    journal.append(&rows, Durability::Written).unwrap();
    journal.close().unwrap();
    drop(journal);
    let watched = Arc::new(Watched::new(Arc::new(Disk), Fault::None));
    let store = store_with(root.path(), watched);
    let loaded = store.load(&id, 50).unwrap();
    assert_eq!(loaded.rows, rows[2950..]);
    let page = store.page(&id, loaded.earlier.unwrap(), 1000).unwrap();
    assert_eq!(page.rows, rows[1950..2950]);
    assert_eq!(store.context(&id).unwrap(), rows);
}

#[test]
fn drafts_and_history() {
    let root = folder();
    let store = store(root.path());
    let name = id("260902-swift-river");
    assert_eq!(store.draft(&name).text, "");
    store.save_draft(&name, &"half a\nthought".into()).unwrap();
    assert_eq!(super::store(root.path()).draft(&name).text, "half a\nthought");
    store.save_draft(&name, &"".into()).unwrap();
    store.save_draft(&name, &"".into()).unwrap();
    assert_eq!(store.draft(&name).text, "");
    for n in 0..1005 {
        store.remember(&format!("text {n}\nmore")).unwrap();
    }
    store.remember("  ").unwrap();
    let history = store.history();
    assert_eq!((history.len(), history[0].as_str()), (1000, "text 5\nmore"));
}

#[tokio::test]
async fn the_writer_thread_keeps_the_order_and_lets_go_of_the_lock() {
    let root = folder();
    let store = store(root.path());
    let (id, journal) = store.create(&meta("a")).unwrap();
    let writer = Writer::spawn(journal);
    writer.turn(true).await.unwrap();
    writer.append(vec![user(1)], Durability::Synced).await.unwrap();
    writer.live(answer(2), Durability::Written).await.unwrap();
    writer.grow(MessageId::new("msg-a2"), " and more".into());
    writer.append(vec![answer(2)], Durability::Written).await.unwrap();
    writer.turn(false).await.unwrap();
    let mut renamed = meta("a");
    renamed.title = "Named".into();
    writer.meta(renamed, serde_json::json!(7), Urgency::Now).await.unwrap();
    assert_eq!(store.list().sessions[0].title, "Named");
    assert_eq!((writer.counted().borrow().messages, writer.health().borrow().clone()), (2, Health::Saved));
    writer.clone().close().await.unwrap();
    let error = writer.append(vec![user(3)], Durability::Written).await.unwrap_err();
    assert!(matches!(error, StoreError::Closed { .. }));
    let loaded = store.load(&id, 10).unwrap();
    assert!(matches!(loaded.access, Access::Writer(_)));
    assert_eq!((ids(&loaded.rows), loaded.own.clone()), (vec!["msg-u1", "msg-a2"], serde_json::json!(7)));
}

#[tokio::test]
async fn a_full_disk_is_told_and_everything_is_saved_once_there_is_room() {
    let root = folder();
    let calm = store(root.path());
    let (id, journal) = calm.create(&meta("a")).unwrap();
    drop(journal);
    let (io, full) = fills_up();
    let store = store_with(root.path(), io);
    let writer = Writer::spawn(writer_of(store.load(&id, 10).unwrap()));
    full.store(true, SeqCst);
    let error = writer.append(vec![user(1)], Durability::Synced).await.unwrap_err().to_string();
    assert!(error.contains("No space left"), "{error}");
    assert_eq!(*writer.health().borrow(), Health::Unsaved(error));
    full.store(false, SeqCst);
    writer.append(vec![user(2)], Durability::Synced).await.unwrap();
    // Once the header is on disk as well, which may wait a moment.
    writer.health().wait_for(|health| *health == Health::Saved).await.unwrap();
    writer.close().await.unwrap();
    assert_eq!(ids(&calm.load(&id, 10).unwrap().rows), ["msg-u1", "msg-u2"]);
}

#[tokio::test]
async fn a_writer_that_cannot_close_keeps_everything_and_goes_on() {
    let root = folder();
    let calm = store(root.path());
    let (id, journal) = calm.create(&meta("a")).unwrap();
    drop(journal);
    let (io, switch) = fills_up();
    let full = store_with(root.path(), io);
    let writer = Writer::spawn(writer_of(full.load(&id, 10).unwrap()));
    switch.store(true, SeqCst);
    assert!(writer.append(vec![user(1)], Durability::Synced).await.is_err());
    assert!(writer.close().await.unwrap_err().to_string().contains("No space left"));
    assert!(matches!(*writer.health().borrow(), Health::Unsaved(_)));
    assert!(matches!(calm.load(&id, 10).unwrap().access, Access::Reader { .. }));
    switch.store(false, SeqCst);
    writer.append(vec![user(2)], Durability::Synced).await.unwrap();
    writer.close().await.unwrap();
    let loaded = calm.load(&id, 10).unwrap();
    assert_eq!((ids(&loaded.rows), loaded.meta.messages), (vec!["msg-u1", "msg-u2"], 2));
}

#[test]
fn a_header_that_is_too_long_is_not_tried_again_before_it_changes() {
    let root = folder();
    let io = Arc::new(Watched::new(Arc::new(Disk), Fault::None));
    let store = store_with(root.path(), io.clone());
    let mut now = meta("a");
    let (id, mut journal) = store.create(&now).unwrap();
    now.labels = (0..4000).map(|n| format!("label-{n:04}")).collect();
    journal.set_meta(now.clone(), serde_json::Value::Null);
    assert!(matches!(journal.save_header(), Err(StoreError::HeaderTooLong { .. })));
    assert!(!journal.header_due() && journal.unsaved());
    let calls = io.calls();
    assert!(matches!(journal.save_header(), Err(StoreError::HeaderTooLong { .. })));
    assert_eq!(io.calls(), calls);
    // Rows do not wait for it, not even with a mode that wants to be written.
    now.mode = Mode::Explore;
    journal.set_meta(now.clone(), serde_json::Value::Null);
    assert!(journal.save_header().is_err());
    journal.append(&[user(1)], Durability::Synced).unwrap();
    assert!(journal.unsaved());
    now.labels.truncate(3);
    journal.set_meta(now, serde_json::Value::Null);
    assert!(journal.header_due());
    journal.close().unwrap();
    assert!(!journal.unsaved());
    drop(journal);
    let loaded = store.load(&id, 9).unwrap();
    assert_eq!((loaded.meta.labels.len(), loaded.meta.mode, loaded.meta.messages), (3, Mode::Explore, 1));
}

#[test]
fn a_home_that_cannot_be_written_still_gives_a_store() {
    let root = folder();
    let fault = Fault::Fail { at: 1, times: u64::MAX, errno: 30 };
    let store = store_with(root.path(), Arc::new(Watched::new(Arc::new(Disk), fault)));
    let error = store.create(&meta("a")).unwrap_err().to_string();
    assert!(error.contains("read-only") && error.contains("work"), "{error}");
    assert!(store.save_draft(&id("a"), &"x".into()).is_err());
}
