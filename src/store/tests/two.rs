//! Two at once: one writes, the other is told who.

use super::*;

#[test]
fn the_second_reads_and_names_the_holder() {
    let root = tempfile::tempdir().unwrap();
    let (first, second) = (store(root.path()), store(root.path()));
    let (id, mut journal) = first.create(&meta("a")).unwrap();
    journal.append(&[user(1)], Durability::Synced).unwrap();
    journal.live(call(2, ToolStatus::Executing, None), Durability::Synced).unwrap();
    let loaded = second.load(&id, 10).unwrap();
    let Access::Reader { held_by } = &loaded.access else { panic!("two writers") };
    assert!(held_by.contains(&format!("process {}", std::process::id())), "{held_by}");
    assert_eq!(loaded.meta.held_by.as_ref(), Some(held_by));
    // The call goes on over there: nothing is interrupted.
    assert_eq!(loaded.rows[1].tool().unwrap().status, ToolStatus::Executing);
    assert!(!loaded.died_in_turn);
    drop(journal);
    let loaded = second.load(&id, 10).unwrap();
    assert_eq!(loaded.rows[1].tool().unwrap().result.as_deref(), Some("interrupted"));
    assert_eq!(writer_of(loaded).epoch(), 2);
}

#[test]
fn a_file_that_another_program_wrote_anew_is_gone_on_with() {
    let root = tempfile::tempdir().unwrap();
    let store = store(root.path());
    let (id, mut journal) = store.create(&meta("a")).unwrap();
    journal.append(&[user(1)], Durability::Synced).unwrap();
    journal.save_header().unwrap();
    let path = session_file(root.path(), "a");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut header: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    header["theirs"] = serde_json::json!(1);
    let theirs = format!("{header}\n{}\n", text.lines().nth(1).unwrap());
    std::fs::write(path.with_extension("tmp"), theirs).unwrap();
    std::fs::remove_file(&path).unwrap();
    std::fs::rename(path.with_extension("tmp"), &path).unwrap();
    journal.append(&[answer(2)], Durability::Synced).unwrap();
    journal.close().unwrap();
    drop(journal);
    assert_well_formed(&path);
    assert!(std::fs::read_to_string(&path).unwrap().contains("\"theirs\":1"));
    assert_eq!(ids(&store.load(&id, 10).unwrap().rows), ["msg-u1", "msg-a2"]);
}
