//! Imports that end early, imports of what was deleted, and files that lisle wrote itself.

use super::import::{fixture, left_of};
use super::io::Fault;
use super::lifecycle::{disturbed, quick};
use super::*;
use crate::store::{HistoryKind, histories};

const ALL: [&str; 3] = ["claude.jsonl", "codex.jsonl", "codex-older.jsonl"];

fn import(store: &Store, name: &str) -> Result<Imported, StoreError> {
    store.import(&fixture(name), Path::new(""), Mode::Ask, NOW)
}

#[test]
fn a_death_at_any_call_of_an_import_leaves_no_session_or_a_whole_one_and_the_next_doubles_nothing() {
    for name in ALL {
        let (calls, whole) = {
            let root = folder();
            let (store, io) = disturbed(root.path(), Fault::None);
            let before = io.calls();
            let imported = import(&store, name).unwrap();
            ((before, io.calls()), imported.meta)
        };
        for at in calls.0..=calls.1 {
            let root = folder();
            let (store, _) = disturbed(root.path(), Fault::DieBefore(at));
            let _ = import(&store, name);
            drop(store);
            let store = quick(root.path());
            for meta in store.list().sessions {
                assert_eq!((meta.messages, &meta.title), (whole.messages, &whole.title), "{name}, call {at}");
            }
            import(&store, name).unwrap_or_else(|error| panic!("{name}, call {at}: {error}"));
            let sessions = store.list().sessions;
            assert_eq!(sessions.len(), 1, "{name}, call {at}: {sessions:?}");
            assert!(store.verify(&sessions[0].id).unwrap().is_sound(), "{name}, call {at}");
        }
    }
}

#[test]
fn an_import_that_is_stopped_makes_nothing_of_the_session_that_it_was_at() {
    let root = folder();
    let store = quick(root.path());
    let found = histories(&fixture("pi"), Some(HistoryKind::Pi));
    let run = store.import_run(Mode::Ask, NOW).unwrap();
    run.stop().set();
    for item in &found.items {
        assert!(matches!(run.import(item, None), Err(StoreError::Stopped)));
    }
    assert!(store.list().sessions.is_empty() && run.stop().is_set());
}

#[test]
fn an_import_in_the_trash_counts_as_imported_and_is_restored_once() {
    let root = folder();
    let store = quick(root.path());
    let first = import(&store, ALL[0]).unwrap().meta;
    let trash = store.delete(&first.id, NOW).unwrap().trash;
    let error = import(&store, ALL[0]).unwrap_err();
    assert!(matches!(&error, StoreError::Trashed { trash: name } if *name == trash.0), "{error}");
    assert!(error.to_string().contains(&format!("lisle sessions restore {}", trash.0)), "{error}");
    store.restore(&trash).unwrap();
    assert!(matches!(import(&store, ALL[0]).unwrap().again, Some(Reimport::Added(_, 0))));
    assert_eq!(store.list().sessions.len(), 1);
    // Once the trash is empty nothing knows of it.
    store.delete(&first.id, NOW).unwrap();
    store.empty_trash(At(i64::MAX)).unwrap();
    assert_eq!(import(&store, ALL[0]).unwrap().again, None);
}

#[test]
fn an_export_of_lisle_is_known_by_its_content() {
    let root = folder();
    let store = quick(root.path());
    let (id, mut journal) = store.create(&meta("a")).unwrap();
    journal.append(&[user(1), answer(2)], Durability::Written).unwrap();
    journal.close().unwrap();
    drop(journal);
    let mut bytes = Vec::new();
    let minute = |at: At| at.0.to_string();
    let out = &mut |piece: &[u8]| {
        bytes.extend_from_slice(piece);
        Ok(())
    };
    store.export_to(&id, crate::domain::export::Format::Json, &minute, out).unwrap();
    for name in ["e.json", "e.jsonl", "e"] {
        let elsewhere = folder();
        let path = elsewhere.path().join(name);
        std::fs::write(&path, &bytes).unwrap();
        let store = quick(&elsewhere.path().join("home"));
        let imported = store.import(&path, Path::new(""), Mode::Ask, NOW).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(imported.meta.messages, 2, "{name}");
        let again = store.import(&path, Path::new(""), Mode::Ask, NOW).unwrap();
        assert_eq!(again.again, Some(Reimport::Added(imported.meta.id, 0)), "{name}");
    }
}

#[test]
fn lines_beyond_the_limit_are_said_to_be_too_long() {
    let root = folder();
    let store = quick(root.path());
    let path = root.path().join("long.jsonl");
    let mut bytes = std::fs::read(fixture(ALL[0])).unwrap();
    bytes.extend_from_slice(b"{\"type\":\"user\",\"text\":\"");
    bytes.resize(bytes.len() + crate::store::io::lines::LONGEST, b'a');
    bytes.extend_from_slice(b"\"}\n");
    std::fs::write(&path, &bytes).unwrap();
    let imported = store.import(&path, Path::new(""), Mode::Ask, NOW).unwrap();
    let left = left_of(&imported);
    assert!(left.contains(&"Lines longer than 64 MB not included: 1.".to_owned()), "{left:?}");
    // The fixture has one of its own.
    assert!(left.contains(&"Lines that are not JSON not included: 1.".to_owned()), "{left:?}");
}

#[test]
fn a_look_at_histories_counts_what_an_import_imports() {
    let root = folder();
    let store = quick(root.path());
    let found = histories(&fixture(""), None);
    let mut kinds = std::collections::BTreeMap::<&str, std::collections::BTreeSet<String>>::new();
    for item in &found.items {
        if let Ok(look) = store.look_at_history(item, None) {
            kinds.entry(look.kind.name()).or_default().insert(look.origin.unwrap_or_else(|| item.words()));
        }
    }
    let run = store.import_run(Mode::Ask, NOW).unwrap();
    let mut imported = std::collections::BTreeMap::<&str, usize>::new();
    for item in &found.items {
        if let Ok(done) = run.import(item, None)
            && done.again.is_none()
        {
            *imported.entry(done.program).or_default() += 1;
        }
    }
    let counted = kinds.into_iter().map(|(kind, origins)| (kind, origins.len())).collect();
    assert_eq!(imported, counted);
}

#[test]
fn a_full_disk_is_not_said_to_be_tried_again() {
    let root = folder();
    let (store, io) = disturbed(root.path(), Fault::None);
    let before = io.calls();
    import(&store, ALL[0]).unwrap();
    let middle = (before + io.calls()) / 2;
    let root = folder();
    let (store, _) = disturbed(root.path(), Fault::Fail { at: middle, times: u64::MAX, errno: 28 });
    let error = import(&store, ALL[0]).unwrap_err().to_string();
    assert!(error.contains("Free some space and try again") && !error.contains("retried"), "{error}");
}
