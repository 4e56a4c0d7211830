//! Checkpoints: what is kept, listed and removed, also when every file call may fail or be the last.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::{Bounds, Checkpoints, Record, Sync};
use crate::domain::undo::{Attributes, PathEntry, UndoEntry};
use crate::domain::{At, CallId, SessionId};
use crate::store::format::header;
use crate::store::io::{Disk, Fault, Io, Watched};
use crate::store::{Options, Store};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

fn id(name: &str) -> SessionId {
    SessionId::parse(name).unwrap()
}

fn opened(home: &Path, io: Arc<dyn Io>) -> Store {
    let mut options = Options::new(home.join("w"), home.join("state"));
    options.io = io;
    Store::open(options).unwrap()
}

/// The checkpoints of a session that has a directory.
fn of(home: &Path, name: &str) -> Checkpoints {
    let store = opened(home, Arc::new(Disk));
    std::fs::create_dir_all(store.session_dir(&id(name))).unwrap();
    store.checkpoints(&id(name))
}

fn begun(change: u64, at: i64, before: PathEntry) -> Record {
    let entries = vec![UndoEntry { path: "/w/a".into(), before, after: PathEntry::Absent }];
    let (call, turn) = (CallId::new("c"), None);
    Record::Begun { change, call, row: None, turn, at: At(at), tool: "write".into(), subject: "a".into(), entries }
}

fn file(hash: &str) -> PathEntry {
    PathEntry::File { hash: hash.to_owned(), mode: 0o644, attributes: Attributes::default() }
}

#[test]
fn a_content_is_kept_once_for_all_sessions_and_for_nobody_else() {
    let home = tempfile::tempdir().unwrap();
    let (one, other) = (of(home.path(), "260101-a-b"), of(home.path(), "260101-c-d"));
    let hash = one.keep(b"content", Sync::Yes).unwrap();
    assert_eq!(other.keep(b"content", Sync::No).unwrap(), hash);
    assert_eq!(one.all().unwrap().len(), 1);
    assert_eq!(other.content(&hash).unwrap().as_deref(), Some(&b"content"[..]));
    let path = home.path().join("w/checkpoints").join(&hash[..2]).join(&hash[2..]);
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(
        (mode(&path), mode(path.parent().unwrap()), mode(&home.path().join("w/checkpoints"))),
        (0o600, 0o700, 0o700)
    );
    for wrong in ["", "../../etc/passwd", "zz", &hash[1..]] {
        assert!(!one.has(wrong) && one.content(wrong).unwrap().is_none());
    }
    // What is not what its name says is not given back, and is written anew by whoever needs it safe.
    std::fs::write(&path, "CONTENT").unwrap();
    assert_eq!(one.content(&hash).unwrap(), None);
    one.keep(b"content", Sync::Yes).unwrap();
    assert!(one.content(&hash).unwrap().is_some());
}

#[test]
fn a_torn_line_is_left_out_and_the_next_one_is_whole() {
    let home = tempfile::tempdir().unwrap();
    let one = of(home.path(), "260101-a-b");
    let lines = [begun(1, 1, PathEntry::Absent), begun(2, 2, file("x"))];
    one.add(&lines[0], Sync::Yes).unwrap();
    let list = home.path().join("w/sessions/260101-a-b/checkpoints/list.jsonl");
    let mut bytes = std::fs::read(&list).unwrap();
    bytes.extend_from_slice(b"{\"record\":\"begun\",\"cha");
    std::fs::write(&list, bytes).unwrap();
    one.add(&lines[1], Sync::Yes).unwrap();
    assert_eq!(one.records().unwrap(), lines);
    assert_eq!(std::fs::metadata(&list).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_session_that_is_nowhere_gets_no_list() {
    let home = tempfile::tempdir().unwrap();
    let store = opened(home.path(), Arc::new(Disk));
    let none = store.checkpoints(&id("260101-a-b"));
    assert!(none.add(&begun(1, 1, PathEntry::Absent), Sync::No).is_err());
    assert!(!home.path().join("w").exists() && none.records().unwrap().is_empty());
}

/// Keeps a content and lists it, with a fault at each call in turn.
#[test]
fn every_death_and_every_error_leaves_contents_and_list_whole() {
    let mut calls = 0;
    for at in 1.. {
        let mut ends = 0;
        for fault in [
            Fault::Fail { at, times: 1, errno: 28 },
            Fault::Tear { at, errno: 5 },
            Fault::DieBefore(at),
            Fault::DieAmid(at),
        ] {
            let home = tempfile::tempdir().unwrap();
            let sound = of(home.path(), "260101-a-b");
            sound.add(&begun(1, 1, PathEntry::Absent), Sync::Yes).unwrap();
            let io = Arc::new(Watched::new(Arc::new(Disk), fault));
            let store = opened(home.path(), io.clone());
            let one = store.checkpoints(&id("260101-a-b"));
            let kept = one.keep(b"what was there", Sync::Yes);
            let listed = kept.as_ref().ok().map(|hash| one.add(&begun(2, 2, file(hash)), Sync::Yes));
            // Whoever looks afterwards finds whole contents and whole lines only.
            let hash = header::hash(b"what was there");
            let found = sound.content(&hash).unwrap();
            assert!(!sound.has(&hash) || found.as_deref() == Some(&b"what was there"[..]), "{fault:?}");
            let records = sound.records().unwrap();
            assert_eq!(records[0], begun(1, 1, PathEntry::Absent), "{fault:?}");
            assert!(records.len() == 1 || records[1] == begun(2, 2, file(&hash)), "{fault:?}");
            // What was promised is there.
            assert!(kept.is_err() || found.is_some(), "{fault:?}");
            assert!(!matches!(listed, Some(Ok(()))) || records.len() == 2, "{fault:?}");
            // And it works again.
            sound.keep(b"what was there", Sync::Yes).unwrap();
            sound.add(&begun(3, 3, file(&hash)), Sync::Yes).unwrap();
            assert_eq!(sound.records().unwrap().last(), Some(&begun(3, 3, file(&hash))), "{fault:?}");
            ends += u64::from(io.calls() < at);
        }
        if ends == 4 {
            calls = at;
            break;
        }
    }
    assert!(calls > 8, "every call was reached: {calls}");
}

#[test]
fn the_oldest_go_first_and_the_trash_holds_nothing() {
    let home = tempfile::tempdir().unwrap();
    let one = of(home.path(), "260101-a-b");
    let bounds = Bounds { most: 2_500, ..Bounds::default() };
    let put = |n: u8| one.keep(&[n; 1_000], Sync::No).unwrap();
    let hashes: Vec<String> = (0..4).map(put).collect();
    // All are old; the first is named by a later change than the second, the third by nobody, the fourth in the trash.
    for hash in &hashes {
        let path = home.path().join("w/checkpoints").join(&hash[..2]).join(&hash[2..]);
        let old = std::time::SystemTime::now() - std::time::Duration::from_secs(3 * 24 * 3600);
        std::fs::File::options().append(true).open(path).unwrap().set_modified(old).unwrap();
    }
    let now = one.store.io().now_ns() / 1_000_000;
    one.add(&begun(1, now - 20, file(&hashes[1])), Sync::No).unwrap();
    one.add(&begun(2, now - 10, file(&hashes[0])), Sync::No).unwrap();
    let trash = home.path().join("w/trash/260101-e-f-20260101T000000000Z/checkpoints");
    std::fs::create_dir_all(&trash).unwrap();
    let line = serde_json::to_string(&begun(1, now, file(&hashes[3]))).unwrap();
    std::fs::write(trash.join("list.jsonl"), line).unwrap();
    let freed = one.bound(bounds).unwrap();
    assert_eq!((freed.contents, freed.bytes), (2, 2_000));
    assert_eq!(hashes.iter().map(|hash| one.has(hash)).collect::<Vec<_>>(), [true, true, false, false]);
    // Under the bound nothing is done; over it, the older of those that are named goes.
    assert_eq!(one.bound(bounds).unwrap().contents, 0);
    let tight = Bounds { most: 1_500, ..bounds };
    assert_eq!(one.bound(tight).unwrap().contents, 1);
    assert_eq!((one.has(&hashes[0]), one.has(&hashes[1])), (true, false));
}

#[test]
fn what_is_young_and_not_named_yet_stays() {
    let home = tempfile::tempdir().unwrap();
    let one = of(home.path(), "260101-a-b");
    let hash = one.keep(&[7; 1_000], Sync::No).unwrap();
    assert_eq!(one.bound(Bounds { most: 10, ..Bounds::default() }).unwrap().contents, 0);
    assert!(one.has(&hash));
}

#[test]
fn nothing_begins_on_a_disk_that_is_nearly_full() {
    let home = tempfile::tempdir().unwrap();
    let one = of(home.path(), "260101-a-b");
    let none = Bounds { free: 0, free_percent: 0, ..Bounds::default() };
    assert!(one.room(none).is_ok());
    // The lesser of the two counts.
    assert!(
        one.room(Bounds { free: u64::MAX, ..none }).is_ok() && one.room(Bounds { free_percent: 101, ..none }).is_ok()
    );
    assert!(one.room(Bounds { free: u64::MAX, free_percent: 101, ..none }).is_err());
}
