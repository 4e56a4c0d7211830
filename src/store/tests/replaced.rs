//! A session's own files replaced or removed while they are open: by a restore, by a program that keeps folders alike.

use super::*;
use crate::store::write::journal::Journal;

fn ids(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let rows = text.lines().skip(1).map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    rows.map(|row| row["id"].as_str().unwrap().to_owned()).collect()
}

fn row_ids(rows: &[Message]) -> Vec<String> {
    rows.iter().map(|row| row.id.to_string()).collect()
}

/// Way in which a copy replaces the file.
#[derive(Clone, Copy, Debug)]
enum How {
    Renamed,
    InPlace,
}

impl How {
    fn put(self, bytes: &[u8], path: &Path) {
        match self {
            How::Renamed => {
                let temp = path.with_file_name("restored");
                std::fs::write(&temp, bytes).unwrap();
                std::fs::rename(&temp, path).unwrap();
            }
            How::InPlace => std::fs::write(path, bytes).unwrap(),
        }
    }
}

/// A session with a row of an earlier run, one that the copy has, one that it lacks, and the copy.
fn session(store: &Store, file: &Path) -> (Journal, Vec<Message>, Vec<u8>) {
    let (id, mut journal) = store.create(&meta("a")).unwrap();
    let rows: Vec<Message> = (1..=5).map(user).collect();
    journal.append(&rows[..1], Durability::Synced).unwrap();
    journal.close().unwrap();
    drop(journal);
    let mut journal = writer_of(store.load(&id, 10).unwrap());
    journal.append(&rows[1..2], Durability::Synced).unwrap();
    journal.save_header().unwrap();
    let copy = std::fs::read(file).unwrap();
    journal.append(&rows[2..3], Durability::Synced).unwrap();
    journal.save_header().unwrap();
    (journal, rows, copy)
}

#[test]
fn an_older_copy_loses_no_row_that_was_written_since() {
    for how in [How::Renamed, How::InPlace] {
        for at_the_end in [false, true] {
            let root = folder();
            let store = store(root.path());
            let file = session_file(root.path(), "a");
            let (mut journal, rows, copy) = session(&store, &file);
            how.put(&copy, &file);
            let mut expected = row_ids(&rows[..3]);
            if !at_the_end {
                journal.append(&rows[3..4], Durability::Synced).unwrap();
                journal.append(&rows[4..], Durability::Written).unwrap();
                expected = row_ids(&rows);
                assert!(matches!(journal.elsewhere(), Elsewhere::Rewritten(1)), "{how:?}");
            }
            journal.close().unwrap();
            assert_eq!(ids(&file), expected, "{how:?}, at the end: {at_the_end}");
            drop(journal);
            let loaded = store.load(&id("a"), 100).unwrap();
            assert_eq!(loaded.meta.messages, expected.len() as u64, "{how:?}");
        }
    }
}

#[test]
fn rows_of_before_that_an_older_copy_lacks_come_again_too_and_what_was_taken_out_stays_out() {
    let root = folder();
    let store = store(root.path());
    let file = session_file(root.path(), "a");
    let (mut journal, rows, copy) = session(&store, &file);
    journal.close().unwrap();
    drop(journal);
    let mut journal = writer_of(store.load(&id("a"), 10).unwrap());
    journal.append(&rows[3..4], Durability::Synced).unwrap();
    // Without row 3, which no run of now wrote, and with row 2 taken out by hand.
    let text = String::from_utf8(copy).unwrap();
    let header = text.lines().next().unwrap();
    let first = text.lines().nth(1).unwrap();
    let fourth = std::fs::read_to_string(&file).unwrap().lines().last().unwrap().to_owned();
    How::Renamed.put(format!("{header}\n{first}\n").as_bytes(), &file);
    journal.append(&rows[4..], Durability::Synced).unwrap();
    assert_eq!(ids(&file), row_ids(&rows), "an older copy: what is newer than it comes again");
    let text = std::fs::read_to_string(&file).unwrap();
    let without: String =
        text.lines().filter(|line| !line.contains(rows[1].id.as_str())).map(|l| format!("{l}\n")).collect();
    assert!(without.contains(&fourth));
    How::Renamed.put(without.as_bytes(), &file);
    journal.append(&[user(6)], Durability::Synced).unwrap();
    journal.close().unwrap();
    assert!(!ids(&file).contains(&rows[1].id.to_string()), "what was taken out by hand stays out: {:?}", ids(&file));
    assert_eq!(ids(&file).len(), 5);
}

#[test]
fn a_lock_that_was_removed_is_made_again_before_anybody_else_writes() {
    let root = folder();
    let (first, second) = (store(root.path()), store(root.path()));
    let (id, mut journal) = first.create(&meta("a")).unwrap();
    journal.append(&[user(1)], Durability::Synced).unwrap();
    std::fs::remove_file(first.session_dir(&id).join("lisle.lock")).unwrap();
    journal.append(&[user(2)], Durability::Synced).unwrap();
    let Access::Reader { .. } = second.load(&id, 10).unwrap().access else { panic!("two writers") };
    journal.append(&[user(3)], Durability::Synced).unwrap();
    journal.close().unwrap();
    drop(journal);
    assert_eq!(second.load(&id, 10).unwrap().rows.len(), 3);
}

#[test]
fn who_finds_that_another_one_locked_the_removed_lock_anew_writes_nothing_more() {
    let root = folder();
    let (first, second) = (store(root.path()), store(root.path()));
    let (id, mut old) = first.create(&meta("a")).unwrap();
    old.append(&[user(1)], Durability::Synced).unwrap();
    std::fs::remove_file(first.session_dir(&id).join("lisle.lock")).unwrap();
    let mut new = writer_of(second.load(&id, 10).unwrap());
    new.append(&[user(2)], Durability::Synced).unwrap();
    let refused = old.append(&[user(3)], Durability::Synced);
    assert!(matches!(refused, Err(StoreError::TakenOver { .. })), "{refused:?}");
    assert!(matches!(old.elsewhere(), Elsewhere::Lost(_)));
    new.append(&[user(4)], Durability::Synced).unwrap();
    new.close().unwrap();
    let _ = old.close();
    let file = session_file(root.path(), "a");
    assert_eq!(ids(&file), row_ids(&[user(1), user(2), user(4)]));
    let salvage = std::fs::read_to_string(file.with_file_name("session.jsonl.salvage")).unwrap();
    assert!(salvage.contains(user(3).id.as_str()), "the row is beside the session: {salvage}");
}
