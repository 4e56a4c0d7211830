//! The store on a real disk that is full: nothing is lost while lisle lives, and what was there before stays.
//!
//! Wants a small file system of its own in `LISLE_TEST_SMALL_DISK` (`.ci/run` mounts a tmpfs of 4 MiB), so these are
//! ignored otherwise; the same faults are put into every call of the store by number in its unit tests.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failing test should stop where it fails")]

use lisle::domain::message::{Body, Message, UserText};
use lisle::domain::session::SessionMeta;
use lisle::domain::{At, MessageId, Mode, SessionId};
use lisle::store::{Durability, Journal, Options, Store, StoreError};
use std::io::Write;
use std::path::{Path, PathBuf};

const NOW: At = At(1_795_300_000_000);

/// A fresh directory on the small disk, which every test has for itself: they take their turns.
struct Small {
    root: PathBuf,
    _turn: std::sync::MutexGuard<'static, ()>,
}

static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());

impl Small {
    fn new(name: &str) -> Self {
        let turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let disk = std::env::var_os("LISLE_TEST_SMALL_DISK").expect("LISLE_TEST_SMALL_DISK names a small file system");
        let root = Path::new(&disk).join(name);
        let _ = std::fs::remove_dir_all(&root);
        std::fs::create_dir_all(&root).unwrap();
        Self { root, _turn: turn }
    }

    fn store(&self) -> Store {
        let options =
            Options { home: self.root.clone(), ..Options::new(self.root.join("work"), self.root.join("state")) };
        Store::open(options).unwrap()
    }

    fn ballast(&self) -> PathBuf {
        self.root.join("ballast")
    }

    /// Fills the disk to its last byte.
    fn fill(&self) {
        let mut file = std::fs::File::create(self.ballast()).unwrap();
        for size in [1 << 16, 1 << 12, 512, 1] {
            while file.write_all(&vec![b'.'; size]).is_ok() {}
        }
    }

    /// Leaves so many bytes free, about.
    fn fill_but(&self, bytes: u64) {
        self.fill();
        let file = std::fs::OpenOptions::new().write(true).open(self.ballast()).unwrap();
        let len = file.metadata().unwrap().len();
        file.set_len(len.saturating_sub(bytes)).unwrap();
    }

    fn free(&self) {
        std::fs::remove_file(self.ballast()).unwrap();
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.root);
    }
}

fn meta(name: &str) -> SessionMeta {
    SessionMeta::new(SessionId::parse(name).unwrap(), NOW, Mode::Ask, "/".into())
}

fn user(n: u64) -> Message {
    let body = Body::User(UserText { text: format!("question {n} {}", "x".repeat(3_000)), ..UserText::default() });
    Message::new(MessageId::new(format!("msg-u{n}")), NOW.plus(n), body)
}

fn ids(store: &Store, id: &SessionId) -> Vec<String> {
    store.read(id, usize::MAX).unwrap().rows.iter().map(|row| row.id.to_string()).collect()
}

fn expected(count: u64) -> Vec<String> {
    (0..count).map(|n| format!("msg-u{n}")).collect()
}

fn begun(store: &Store) -> (SessionId, Journal) {
    let (id, mut journal) = store.create(&meta("a")).unwrap();
    journal.append(&[user(0)], Durability::Synced).unwrap();
    journal.flush().unwrap();
    (id, journal)
}

#[test]
#[ignore = "wants a small disk: .ci/run mounts one"]
fn rows_wait_in_memory_while_the_disk_is_full_and_are_saved_in_order_afterwards() {
    for left in [0, 100, 4_096, 5_000, 20_000] {
        let disk = Small::new("rows");
        let store = disk.store();
        let (id, mut journal) = begun(&store);
        disk.fill_but(left);
        let mut refused = 0;
        for n in 1..20 {
            refused += u64::from(journal.append(&[user(n)], Durability::Synced).is_err());
        }
        assert!(refused > 0 && journal.unsaved(), "{left} bytes were enough");
        // Whoever opens it meanwhile finds whole rows, and only from the beginning on.
        let there = ids(&store, &id);
        assert_eq!(there, expected(there.len() as u64));
        disk.free();
        journal.retry().unwrap();
        journal.close().unwrap();
        assert_eq!(ids(&store, &id), expected(20));
        assert!(store.read(&id, 1).unwrap().meta.odd.is_empty());
    }
}

#[test]
#[ignore = "wants a small disk: .ci/run mounts one"]
fn a_death_on_a_full_disk_leaves_what_was_written_and_no_torn_row_in_the_way() {
    let disk = Small::new("death");
    let store = disk.store();
    let (id, mut journal) = begun(&store);
    disk.fill_but(1_000);
    for n in 1..5 {
        let _ = journal.append(&[user(n)], Durability::Written);
    }
    // As a kill would: nothing is flushed.
    drop(journal);
    disk.free();
    let loaded = store.load(&id, usize::MAX).unwrap();
    let lisle::store::Access::Writer(mut journal) = loaded.access else { panic!("nobody holds it") };
    journal.append(&[user(9)], Durability::Synced).unwrap();
    journal.close().unwrap();
    let there = ids(&store, &id);
    assert_eq!((there.first().unwrap().as_str(), there.last().unwrap().as_str()), ("msg-u0", "msg-u9"));
    assert!(store.read(&id, 1).unwrap().meta.odd.is_empty());
}

#[test]
#[ignore = "wants a small disk: .ci/run mounts one"]
fn a_new_session_on_a_full_disk_is_refused_whole_and_made_later() {
    let disk = Small::new("new");
    let store = disk.store();
    drop(begun(&store));
    disk.fill();
    let error = store.create(&meta("b")).unwrap_err();
    assert!(matches!(error, StoreError::Io { .. }) && error.to_string().contains("Free some space"), "{error}");
    assert_eq!(store.list().sessions.len(), 1);
    disk.free();
    store.create(&meta("b")).unwrap();
    assert_eq!(store.list().sessions.len(), 2);
}

#[test]
#[ignore = "wants a small disk: .ci/run mounts one"]
fn a_header_on_a_full_disk_stays_readable_and_is_written_later() {
    let disk = Small::new("header");
    let store = disk.store();
    let (id, mut journal) = begun(&store);
    disk.fill();
    let renamed = SessionMeta { title: "Renamed".into(), ..store.read(&id, 1).unwrap().meta };
    journal.set_meta(renamed, serde_json::Value::Null);
    assert!(journal.save_header().is_err());
    assert_eq!(store.list().sessions[0].title, "");
    disk.free();
    journal.close().unwrap();
    assert_eq!(store.list().sessions[0].title, "Renamed");
}
