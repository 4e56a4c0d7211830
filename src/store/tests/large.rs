//! Very long rows: they are bounded when they are written, and those that are there already are counted and found.

use super::*;
use std::io::Write;

#[test]
fn a_row_that_is_too_long_has_its_rest_in_a_file_and_is_found_and_counted() {
    let root = folder();
    let store = store_with(root.path(), Arc::new(Quick));
    let (id, mut journal) = store.create(&meta("a")).unwrap();
    let long = "0123456789abcdef".repeat(20 << 16);
    journal.append(&[user(1), call(2, ToolStatus::Completed, Some(&long))], Durability::Synced).unwrap();
    journal.append(&[answer(3)], Durability::Synced).unwrap();
    journal.close().unwrap();
    let path = session_file(root.path(), "a");
    assert_well_formed(&path);
    assert!(std::fs::metadata(&path).unwrap().len() < 1 << 20);
    drop(journal);
    let loaded = store.load(&id, 2).unwrap();
    assert_eq!(ids(&loaded.rows), ["msg-t2", "msg-a3"]);
    let Body::Tool(tool) = &loaded.rows[0].body else { panic!("{:?}", loaded.rows) };
    let result = tool.result.as_ref().unwrap();
    let file = path.parent().unwrap().join("long_responses/msg-t2.txt");
    assert!(result.starts_with("0123456789abcdef") && result.contains(file.to_str().unwrap()));
    assert_eq!(std::fs::read_to_string(file).unwrap(), long);
    let report = store.verify(&id).unwrap();
    assert_eq!((report.messages, &report.odd[..]), (3, &[][..]));
}

/// A row of an earlier version, or of another program.
#[test]
fn a_row_of_more_bytes_than_are_held_is_counted_and_not_folded_in_once_more() {
    let root = folder();
    let store = store_with(root.path(), Arc::new(Quick));
    let (id, mut journal) = store.create(&meta("a")).unwrap();
    journal.append(&[user(1)], Durability::Synced).unwrap();
    journal.turn(true).unwrap();
    journal.live(call(2, ToolStatus::Executing, None), Durability::Synced).unwrap();
    let path = session_file(root.path(), "a");
    drop(journal);
    // The death came right after the row and before its live entry went.
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    let row = |text: &str| {
        let row = call(2, ToolStatus::Completed, Some(text));
        crate::store::format::row::write(&row, path.parent().unwrap()).unwrap()
    };
    let (before, after) = {
        let row = row("LONG");
        row.split_once("LONG").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap()
    };
    writeln!(file, "{before}{}{after}", "x".repeat((64 << 20) + 10)).unwrap();
    drop(file);
    let loaded = store.load(&id, 10).unwrap();
    assert_eq!(ids(&loaded.rows), ["msg-t2"], "a page of its own, and once");
    let mut journal = writer_of(loaded);
    journal.append(&[answer(3)], Durability::Synced).unwrap();
    journal.close().unwrap();
    drop(journal);
    assert_eq!(ids(&store.read(&id, 10).unwrap().rows), ["msg-t2", "msg-a3"]);
    let report = store.verify(&id).unwrap();
    assert_eq!((report.messages, &report.odd[..]), (3, &[][..]));
}
