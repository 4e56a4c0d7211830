//! Two processes at one session: one writes, the other is told who.

use super::*;
use crate::domain::session::ThinkingLevel;

#[test]
fn the_second_reads_and_names_the_holder() {
    let root = folder();
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
    assert_eq!(
        loaded.rows[1].tool().unwrap().result.as_deref(),
        Some(
            "interrupted: lisle was restarted before the call had ended, so whether it was done is not known; the user did not stop it"
        )
    );
    assert_eq!(writer_of(loaded).epoch(), 2);
}

#[test]
fn a_call_that_waited_for_approval_when_lisle_died_did_not_run() {
    let root = folder();
    let store = store(root.path());
    let (id, mut journal) = store.create(&meta("a")).unwrap();
    journal.live(call(2, ToolStatus::Pending, None), Durability::Synced).unwrap();
    drop(journal);
    let loaded = store.load(&id, 10).unwrap();
    let call = loaded.rows[0].tool().unwrap();
    let why = "not run: lisle was restarted before the call began; the user did not refuse it";
    assert_eq!((call.status, call.result.as_deref()), (ToolStatus::Error, Some(why)));
}

#[test]
fn reading_alone_leaves_every_file_as_it_is() {
    let root = copy_of("main");
    let store = store(root.path());
    let name = id("260904-bold-canyon");
    let dir = store.session_dir(&name);
    let names = || {
        let mut names: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = names();
    let seen = store.read(&name, usize::MAX).unwrap();
    assert_eq!(names(), before);
    let loaded = store.load(&name, usize::MAX).unwrap();
    assert_eq!((seen.rows, seen.earlier, &seen.meta), (loaded.rows, None, &loaded.meta));
    assert!(matches!(store.read(&id("nobody"), 1), Err(StoreError::NoSession { .. })));
}

#[test]
fn reading_beside_a_writer_shows_what_runs_and_takes_nothing_from_it() {
    let root = folder();
    let store = store(root.path());
    let (id, mut journal) = store.create(&meta("a")).unwrap();
    journal.live(call(2, ToolStatus::Executing, None), Durability::Synced).unwrap();
    let seen = store.read(&id, 10).unwrap();
    assert_eq!(seen.rows[0].tool().unwrap().status, ToolStatus::Executing);
    assert!(!seen.died_in_turn && seen.meta.held_by.unwrap().contains("process"));
    drop(journal);
    // As if that process had died: another one has its number since.
    let lock = store.session_dir(&id).join("lisle.lock");
    let text = std::fs::read_to_string(&lock).unwrap();
    let mut holder: serde_json::Value = serde_json::from_str(&text).unwrap();
    holder["started"] = 1.into();
    std::fs::write(&lock, holder.to_string()).unwrap();
    let seen = store.read(&id, 10).unwrap();
    assert_eq!(
        seen.rows[0].tool().unwrap().result.as_deref(),
        Some(
            "interrupted: lisle was restarted before the call had ended, so whether it was done is not known; the user did not stop it"
        )
    );
    assert!(seen.died_in_turn && seen.meta.held_by.is_none());
    assert_eq!(std::fs::read_to_string(&lock).unwrap(), holder.to_string());
}

/// Rewrites the file as Craft Agents does, with line 1 changed and the rows that `keep` names.
fn rewritten(path: &Path, change: impl FnOnce(&mut serde_json::Value), keep: impl Fn(&str) -> bool) {
    let text = std::fs::read_to_string(path).unwrap();
    let mut header: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    change(&mut header);
    let rows: String = text.lines().skip(1).filter(|row| keep(row)).map(|row| format!("{row}\n")).collect();
    std::fs::write(path.with_extension("tmp"), format!("{header}\n{rows}")).unwrap();
    std::fs::remove_file(path).unwrap();
    std::fs::rename(path.with_extension("tmp"), path).unwrap();
}

#[test]
fn what_another_program_changes_in_the_header_meanwhile_stays() {
    let root = folder();
    let store = store(root.path());
    let mut ours = meta("a");
    ours.title = "Made by a model".into();
    ours.title_from = crate::domain::session::TitleFrom::Generated;
    let (id, mut journal) = store.create(&ours).unwrap();
    journal.append(&[user(1), answer(2)], Durability::Synced).unwrap();
    journal.set_meta(ours.clone(), serde_json::json!(1));
    journal.save_header().unwrap();
    let path = session_file(root.path(), "a");
    let rename = |header: &mut serde_json::Value| {
        header["name"] = "Named there".into();
        header["isFlagged"] = true.into();
        header["labels"] = serde_json::json!(["code", "due::2026-12-01"]);
        header["sessionStatus"] = "done".into();
        header["messageCount"] = 1.into();
    };
    rewritten(&path, rename, |row| !row.contains("msg-a2"));
    journal.append(&[user(3)], Durability::Synced).unwrap();
    assert_eq!(journal.counted().messages, 3, "our row that it left out comes again");
    // What we change from here on is ours, the rest stays theirs; also with more than one write of ours.
    for (title, thinking) in [("Made by a model", ThinkingLevel::High), ("Made again", ThinkingLevel::Max)] {
        ours.title = title.into();
        ours.thinking = thinking;
        ours.unread = true;
        journal.set_meta(ours.clone(), serde_json::json!(2));
        journal.save_header().unwrap();
        let now = store.list().sessions.remove(0);
        assert_eq!((now.title.as_str(), now.flagged, now.status.as_str()), ("Named there", true, "done"));
        assert_eq!(now.labels, ["code", "due::2026-12-01"]);
        assert_eq!((now.thinking, now.unread, now.messages), (thinking, true, 3));
    }
    journal.close().unwrap();
    drop(journal);
    assert_well_formed(&path);
    let loaded = store.load(&id, 9).unwrap();
    assert_eq!(ids(&loaded.rows), ["msg-u1", "msg-a2", "msg-u3"]);
    assert_eq!((loaded.own, loaded.meta.messages), (serde_json::json!(2), 3));
    assert_eq!(loaded.meta.title_from, crate::domain::session::TitleFrom::User);
}

#[test]
fn a_change_that_waits_here_and_one_made_there_are_both_kept() {
    let root = folder();
    let store = store(root.path());
    let mut ours = meta("a");
    let (_id, mut journal) = store.create(&ours).unwrap();
    let path = session_file(root.path(), "a");
    ours.status = "in-progress".into();
    journal.set_meta(ours.clone(), serde_json::Value::Null);
    rewritten(&path, |header| header["isFlagged"] = true.into(), |_| true);
    journal.save_header().unwrap();
    let now = store.list().sessions.remove(0);
    assert_eq!((now.status.as_str(), now.flagged), ("in-progress", true));
    // Taking the flag away there is a change as well.
    rewritten(&path, |header| header["isFlagged"] = false.into(), |_| true);
    ours.status = "done".into();
    journal.set_meta(ours, serde_json::Value::Null);
    journal.save_header().unwrap();
    let now = store.list().sessions.remove(0);
    assert_eq!((now.status.as_str(), now.flagged), ("done", false));
}

#[test]
fn a_file_that_another_program_wrote_anew_is_gone_on_with() {
    let root = folder();
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
