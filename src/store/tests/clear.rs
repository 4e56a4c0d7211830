//! Taking the messages out of a session, with faults at every file call.

use super::io::Fault;
use super::lifecycle::{disturbed, faults, quick, tree};
use super::*;
use crate::domain::trash::TrashId;
use crate::domain::usage::Usage;
use crate::protocol::Queued;

fn a_session(root: &Path) -> SessionId {
    let store = quick(root);
    let mut meta = meta("a");
    meta.title = "Kept title".into();
    meta.flagged = true;
    meta.status = "in-progress".into();
    meta.labels = vec!["code".into()];
    meta.plan_pending = true;
    meta.usage = Usage {
        output_tokens: 7,
        cost_usd: 1.5,
        context_window: Some(9),
        cache_read_tokens: Some(5),
        cache_creation_tokens: Some(3),
        ..Usage::default()
    };
    let (id, mut journal) = store.create(&meta).unwrap();
    journal.append(&[user(1), answer(2)], Durability::Synced).unwrap();
    journal.set_meta(meta, serde_json::json!({"plan": 1}));
    journal.close().unwrap();
    let dir = journal.dir().to_owned();
    drop(journal);
    std::fs::create_dir_all(dir.join("plans/deep")).unwrap();
    std::fs::write(dir.join("plans/deep/p.md"), "# plan").unwrap();
    std::fs::write(dir.join("notes.md"), "mine").unwrap();
    id
}

fn cleared(store: &Store, id: &SessionId) -> Result<TrashId, StoreError> {
    let Access::Writer(mut journal) = store.load(id, 9)?.access else {
        return Err(StoreError::Closed { path: store.session_dir(id) });
    };
    let done = journal.clear(NOW.plus(50))?;
    journal.close()?;
    Ok(done)
}

#[test]
fn the_messages_go_to_the_trash_and_everything_else_stays() {
    let root = folder();
    let (store, id) = (quick(root.path()), a_session(root.path()));
    let mut journal = writer_of(store.load(&id, 9).unwrap());
    let queued = Queued {
        id: MessageId::new("q1"),
        text: "next".into(),
        at: NOW,
        redelivered: false,
        attachments: Vec::new(),
        piped: None,
        client: None,
    };
    journal.queue(vec![queued]).unwrap();
    let inode = std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(session_file(root.path(), "a")).unwrap());
    let trash = journal.clear(NOW.plus(50)).unwrap();
    assert_eq!((journal.counted().messages, journal.counted().preview.as_str()), (0, ""));
    // The session goes on as if it were new.
    journal.append(&[user(3)], Durability::Synced).unwrap();
    journal.close().unwrap();
    drop(journal);
    assert_well_formed(&session_file(root.path(), "a"));
    let loaded = store.load(&id, 9).unwrap();
    assert_eq!((ids(&loaded.rows), loaded.queue.len(), &loaded.own), (vec!["msg-u3"], 0, &serde_json::Value::Null));
    let meta = &loaded.meta;
    assert_eq!((meta.title.as_str(), meta.flagged, meta.status.as_str()), ("Kept title", true, "in-progress"));
    assert_eq!((&meta.labels, meta.plan_pending, meta.messages), (&vec!["code".to_owned()], false, 1));
    assert_eq!(meta.usage, Usage { context_window: Some(9), ..Usage::default() });
    assert_eq!((meta.preview.as_str(), &meta.odd), ("question 3", &vec![]));
    drop(loaded);
    let names: Vec<_> = tree(&store.session_dir(&id)).into_keys().collect();
    assert_eq!(names, ["header.json", "live.jsonl", "notes.md", "session.jsonl"]);
    // The trash has the old body, which comes back beside the session.
    let there = store.trash();
    assert!(there.len() == 1 && there[0].cleared && there[0].trash == trash && there[0].title == "Kept title");
    let kept = root.path().join("work/trash").join(&trash.0);
    assert_eq!(std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(kept.join("session.jsonl")).unwrap()), inode);
    let back = store.restore(&trash).unwrap();
    assert_eq!((back.id.as_str(), back.title.as_str(), back.usage.output_tokens), ("a-2", "Kept title", 7));
    let loaded = store.load(&back.id, 9).unwrap();
    assert_eq!((ids(&loaded.rows), loaded.queue.len()), (vec!["msg-u1", "msg-a2"], 1));
    assert!(store.session_dir(&back.id).join("plans/deep/p.md").exists());
}

#[test]
fn a_session_of_another_program_forgets_its_provider_session() {
    let root = copy_of("main");
    let store = quick(root.path());
    for name in ["260902-swift-river", "260913-keen-falcon", "260918-vast-ocean", "260923-royal-maple"] {
        let rows = store.read(&id(name), 2000).unwrap().rows;
        let trash = cleared(&store, &id(name)).unwrap();
        let text = std::fs::read_to_string(session_file(root.path(), name)).unwrap();
        assert!(!text.contains("sdkSessionId") && !text.contains("lastFinalMessageId"), "{text}");
        assert_eq!(text.lines().count(), 1, "{name}");
        let loaded = store.load(&id(name), 9).unwrap();
        assert!(loaded.rows.is_empty() && !loaded.foreign_last_write, "{name}");
        let back = store.restore(&trash).unwrap();
        // Rows without an id have the place of their line for one.
        let named = |rows: &[Message]| -> Vec<String> {
            ids(rows).into_iter().filter(|id| !id.starts_with("line-")).map(str::to_owned).collect()
        };
        let again = store.read(&back.id, 2000).unwrap().rows;
        assert_eq!((again.len(), named(&again)), (rows.len(), named(&rows)), "{name}");
    }
}

#[test]
fn a_fault_at_any_call_leaves_the_messages_or_none_and_loses_nothing() {
    let root = folder();
    let id = a_session(root.path());
    let (store, io) = disturbed(root.path(), Fault::None);
    cleared(&store, &id).unwrap();
    assert!(io.calls() > 60);
    for fault in (1..=io.calls()).flat_map(faults) {
        let root = folder();
        a_session(root.path());
        let before = quick(root.path()).read(&id, 9).unwrap();
        let done = cleared(&disturbed(root.path(), fault).0, &id);
        let when = format!("{fault:?} {done:?}");
        let store = quick(root.path());
        assert_eq!(store.list().notices, [], "{when}");
        let now = store.load(&id, 9).unwrap_or_else(|e| panic!("{when}: {e}"));
        assert_eq!((now.meta.title.as_str(), now.meta.flagged, &now.meta.odd), ("Kept title", true, &vec![]), "{when}");
        assert_eq!(now.meta.messages, now.rows.len() as u64, "{when}");
        let plan = store.session_dir(&id).join("plans/deep/p.md");
        if now.rows.is_empty() {
            // All of it is in the trash, files included.
            let trash = store.trash();
            assert_eq!(now.meta.usage.output_tokens, 0, "{when}");
            let back = store.restore(&trash[0].trash).unwrap();
            assert_eq!(ids(&store.read(&back.id, 9).unwrap().rows), ids(&before.rows), "{when}");
            assert_eq!(back.usage, before.meta.usage, "{when}");
            assert!(store.session_dir(&back.id).join("plans/deep/p.md").exists(), "{when}");
        } else {
            assert!(done.is_err(), "{when}");
            assert_eq!(
                (&now.rows, &now.meta.usage, &now.own),
                (&before.rows, &before.meta.usage, &before.own),
                "{when}"
            );
            assert!(plan.exists() && !now.foreign_last_write, "{when}");
            drop(now);
            cleared(&store, &id).unwrap_or_else(|e| panic!("{when}: {e}"));
        }
    }
}

#[tokio::test]
async fn the_writer_clears_too() {
    let root = folder();
    let (store, id) = (quick(root.path()), a_session(root.path()));
    let writer = Writer::spawn(writer_of(store.load(&id, 9).unwrap()));
    let trash = writer.clear(NOW).await.unwrap();
    assert_eq!(writer.counted().borrow().messages, 0);
    writer.close().await.unwrap();
    assert_eq!(store.trash()[0].trash, trash);
    assert!(store.load(&id, 9).unwrap().rows.is_empty());
}
