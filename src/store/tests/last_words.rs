//! Content that a session's files do not take: it is known and reported, and its text is in a file
//! that people and programs read.

use super::*;
use crate::domain::unsaved::{Refuge, Unsaved};
use crate::protocol::Queued;
use crate::store::io::{Fault, Watched};
use std::os::unix::fs::PermissionsExt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

const WHY: &str = "The disk is full.";

fn nothing() -> UserText {
    UserText::default()
}

fn file_of(unsaved: &Unsaved) -> PathBuf {
    match &unsaved.refuge {
        Refuge::File(path) => path.clone(),
        other => panic!("{other:?}"),
    }
}

/// The rows of a session that an import made of the file.
fn imported(root: &Path, file: &Path) -> Vec<String> {
    let store = store(&root.join("elsewhere"));
    let made = store.import(file, root, Mode::Ask, NOW).unwrap();
    let rows = store.read(&made.meta.id, 100).unwrap().rows;
    rows.iter().map(|row| row.id.as_str().to_owned()).collect()
}

#[test]
fn a_folder_that_is_deleted_in_mid_run_is_no_end_without_words() {
    for rows_after in [0, 1] {
        let root = folder();
        std::fs::create_dir_all(root.path().join("elsewhere")).unwrap();
        let store = store(root.path());
        let (_, mut journal) = store.create(&meta("a")).unwrap();
        journal.append(&[user(1)], Durability::Synced).unwrap();
        journal.save_header().unwrap();
        assert!(journal.is_whole());
        std::fs::remove_dir_all(journal.dir()).unwrap();
        assert!(!journal.is_whole());
        if rows_after == 1 {
            journal.append(&[answer(2)], Durability::Synced).unwrap_err();
        }
        let error = journal.close().unwrap_err();
        assert!(!journal.is_closed() && error.to_string().contains("Check if it was moved or deleted"), "{error}");
        let unsaved = journal.rescue(WHY, &UserText::with("half a thought", vec![])).unwrap();
        assert_eq!((unsaved.rows, unsaved.why.as_str()), (1 + rows_after, WHY));
        let file = file_of(&unsaved);
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let text = std::fs::read_to_string(&file).unwrap();
        for words in ["question 1", "half a thought", WHY] {
            assert!(text.contains(words), "{text}");
        }
        assert_eq!(imported(root.path(), &file), ["msg-u1", "msg-a2"][..1 + rows_after]);
    }
}

#[test]
fn of_a_full_disk_only_what_the_files_lack_is_put_elsewhere() {
    let root = folder();
    let (io, full) = fills_up();
    let (_, mut journal) = store_with(root.path(), io).create(&meta("a")).unwrap();
    journal.append(&[user(1)], Durability::Synced).unwrap();
    assert_eq!(journal.rescue(WHY, &nothing()).map(|unsaved| unsaved.rows), Some(0), "the header waits");
    journal.save_header().unwrap();
    assert_eq!(journal.rescue(WHY, &nothing()), None);
    full.store(true, SeqCst);
    journal.append(&[answer(2)], Durability::Synced).unwrap_err();
    journal.live(answer(3), Durability::Written).unwrap_err();
    let queued = Queued {
        id: MessageId::new("q"),
        text: "and then".into(),
        at: NOW,
        redelivered: false,
        attachments: vec![],
        piped: None,
        client: None,
    };
    journal.queue(vec![queued]).unwrap_err();
    journal.close().unwrap_err();
    let unsaved = journal.rescue(WHY, &nothing()).unwrap();
    let text = std::fs::read_to_string(file_of(&unsaved)).unwrap();
    assert_eq!(unsaved.rows, 2);
    assert!(text.contains("answer 2") && text.contains("answer 3") && text.contains("and then"), "{text}");
    assert!(!text.contains("msg-u1"), "{text}");
}

#[test]
fn where_no_file_can_be_written_the_text_itself_is_told() {
    let root = folder();
    let options = Options::new(root.path().join("work"), root.path().join("state"));
    let store = Store::open(Options { temp: root.path().join("nowhere"), ..options }).unwrap();
    let unsaved = store.rescue_new(&meta("a"), &[user(1), answer(2)], WHY, &nothing());
    let Refuge::Nowhere { why, text } = &unsaved.refuge else { panic!("{unsaved:?}") };
    assert!(why.contains("nowhere") && text.contains("answer 2") && unsaved.rows == 2, "{unsaved:?}");
}

#[test]
fn rows_that_came_after_a_takeover_are_told_with_where_they_are() {
    let root = folder();
    let store = store(root.path());
    let (id, mut journal) = store.create(&meta("a")).unwrap();
    journal.append(&[user(1)], Durability::Synced).unwrap();
    let _new = store.take_over(&id, 10).unwrap();
    journal.append(&[answer(2)], Durability::Synced).unwrap_err();
    journal.close().unwrap_err();
    let unsaved = journal.rescue(WHY, &nothing()).unwrap();
    let Refuge::Salvage(path) = &unsaved.refuge else { panic!("{unsaved:?}") };
    assert!(std::fs::read_to_string(path).unwrap().contains("answer 2"));
    assert_eq!(unsaved.rows, 1);
}

#[test]
fn an_fsync_that_failed_is_believed_only_after_the_rows_were_written_again() {
    let root = folder();
    let (fails, path) = (Arc::new(AtomicBool::new(false)), session_file(root.path(), "a"));
    let (failing, file) = (fails.clone(), path.clone());
    let io = Arc::new(Hooked(move |call: &str| {
        if call != "fsync" || !failing.swap(false, SeqCst) {
            return Ok(());
        }
        // As the system does: what it could not write it forgets.
        let bytes = std::fs::read(&file).unwrap();
        let lost = bytes[..bytes.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
        let zeros = vec![0; bytes.len() - lost];
        std::os::unix::fs::FileExt::write_all_at(
            &std::fs::OpenOptions::new().write(true).open(&file).unwrap(),
            &zeros,
            lost as u64,
        )
        .unwrap();
        Err(std::io::Error::from_raw_os_error(5))
    }));
    let (id, mut journal) = store_with(root.path(), io).create(&meta("a")).unwrap();
    journal.append(&[user(1)], Durability::Synced).unwrap();
    fails.store(true, SeqCst);
    journal.append(&[answer(2)], Durability::Synced).unwrap_err();
    assert!(journal.unsaved());
    assert_eq!(journal.rescue(WHY, &nothing()).unwrap().rows, 1, "what was lost is known");
    journal.append(&[user(3)], Durability::Synced).unwrap();
    journal.close().unwrap();
    assert_well_formed(&path);
    drop(journal);
    assert_eq!(ids(&store(root.path()).read(&id, 10).unwrap().rows), ["msg-u1", "msg-a2", "msg-u3"]);
}

#[test]
fn saved_again_is_said_only_once_the_files_are_there() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let root = folder();
        let (_, journal) = store(root.path()).create(&meta("a")).unwrap();
        let (dir, away) = (journal.dir().to_owned(), root.path().join("away"));
        let writer = Writer::spawn(journal);
        let mut health = writer.health();
        writer.append(vec![user(1)], Durability::Synced).await.unwrap();
        writer.live(answer(2), Durability::Written).await.unwrap();
        std::fs::rename(&dir, &away).unwrap();
        let mut meta = meta("a");
        meta.title = "Of a folder that is gone".into();
        writer.meta(meta, serde_json::Value::Null, Urgency::Now).await.unwrap_err();
        // None of them writes a row, and none of them has a place to write to.
        for n in 0..3 {
            writer.grow(MessageId::new("msg-a2"), format!(" and {n}"));
            let _ = writer.queue(Vec::new()).await;
            let _ = writer.drop_live(MessageId::new("none")).await;
            assert!(matches!(&*health.borrow_and_update(), Health::Unsaved(_)), "{n}");
        }
        std::fs::rename(&away, &dir).unwrap();
        health.wait_for(|health| *health == Health::Saved).await.unwrap();
        writer.close().await.unwrap();
        let header = std::fs::read_to_string(dir.join("session.jsonl")).unwrap();
        assert!(header.contains("Of a folder that is gone"), "{header}");
    });
}

#[test]
fn a_panic_of_the_writing_thread_is_told_and_loses_nothing_that_was_given() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let root = folder();
        let panics = Arc::new(AtomicBool::new(false));
        let armed = panics.clone();
        let io = Arc::new(Hooked(move |call: &str| {
            assert!(call != "append" || !armed.swap(false, SeqCst), "a defect");
            Ok(())
        }));
        let (_, journal) = store_with(root.path(), io).create(&meta("a")).unwrap();
        let writer = Writer::spawn(journal);
        let mut health = writer.health();
        writer.append(vec![user(1)], Durability::Synced).await.unwrap();
        panics.store(true, SeqCst);
        // The thread dies with this one in its hands.
        writer.append(vec![answer(2)], Durability::Synced).await.unwrap_err();
        health.wait_for(|health| matches!(health, Health::Over(why) if why.contains("internal error"))).await.unwrap();
        writer.append(vec![user(3)], Durability::Synced).await.unwrap_err();
        writer.live(answer(4), Durability::Written).await.unwrap_err();
        writer.grow(MessageId::new("msg-a4"), " and more".into());
        writer.close().await.unwrap_err();
        let unsaved = writer.rescue(WHY.into(), nothing()).await.unwrap();
        let text = std::fs::read_to_string(file_of(&unsaved)).unwrap();
        assert_eq!(unsaved.rows, 3, "{text}");
        assert!(["answer 2", "question 3", "and more"].iter().all(|words| text.contains(words)), "{text}");
    });
}

#[test]
fn text_that_is_only_in_a_live_file_that_was_removed_is_written_again() {
    let root = folder();
    let store = store(root.path());
    let (id, mut journal) = store.create(&meta("a")).unwrap();
    journal.append(&[user(1)], Durability::Synced).unwrap();
    journal.live(answer(2), Durability::Written).unwrap();
    journal.grow(&MessageId::new("msg-a2"), " of the stream");
    journal.flush_text().unwrap();
    std::fs::remove_file(journal.dir().join("live.jsonl")).unwrap();
    journal.grow(&MessageId::new("msg-a2"), " goes on");
    journal.flush_text().unwrap();
    drop(journal);
    let rows = store.read(&id, 10).unwrap().rows;
    let Body::Assistant(text) = &rows[1].body else { panic!("{rows:?}") };
    assert!(text.text.ends_with("of the stream goes on"), "{text:?}");
}

/// The live file grows by what is new, also under a writer that has no lock yet.
#[test]
fn the_live_file_is_not_written_whole_with_each_change() {
    for taken in [false, true] {
        let root = folder();
        let renames = Arc::new(AtomicU64::new(0));
        let counted = renames.clone();
        let io = Arc::new(Hooked(move |call: &str| {
            counted.fetch_add(u64::from(call == "rename"), SeqCst);
            Ok(())
        }));
        let held = store(root.path());
        let (id, first) = held.create(&meta("a")).unwrap();
        let first = Mutex::new(first);
        let other = store_with(root.path(), io);
        let mut journal = if taken {
            writer_of(other.take_over(&id, 10).unwrap())
        } else {
            drop(first.into_inner().unwrap());
            writer_of(other.load(&id, 10).unwrap())
        };
        journal.append(&[user(1)], Durability::Synced).unwrap();
        journal.turn(true).unwrap();
        journal.live(answer(2), Durability::Written).unwrap();
        let before = renames.load(SeqCst);
        for n in 0..50 {
            journal.live(call(100 + n, ToolStatus::Executing, None), Durability::Synced).unwrap();
            journal.grow(&MessageId::new("msg-a2"), "more");
            journal.flush_text().unwrap();
        }
        assert_eq!(renames.load(SeqCst) - before, 0, "taken over: {taken}");
    }
}

#[test]
fn an_error_at_any_call_leaves_everything_in_the_files_or_in_the_refuge() {
    let mut at = 0;
    loop {
        at += 1;
        let root = folder();
        let fault = Fault::Fail { at, times: u64::MAX, errno: 28 };
        let io = Arc::new(Watched::new(Arc::new(Quick), fault));
        let calls = io.clone();
        let Ok((id, mut journal)) = store_with(root.path(), io).create(&meta("a")) else { continue };
        let _ = journal.append(&[user(1)], Durability::Synced);
        let _ = journal.live(answer(2), Durability::Written);
        let _ = journal.append(&[answer(2)], Durability::Written);
        let _ = journal.turn(false);
        let closed = journal.close();
        let unsaved = journal.rescue(WHY, &nothing());
        drop(journal);
        let rows = store(root.path()).read(&id, 10).map(|read| read.rows).unwrap_or_default();
        let there = ids(&rows);
        let text = unsaved.as_ref().map(|one| std::fs::read_to_string(file_of(one)).unwrap()).unwrap_or_default();
        for id in ["msg-u1", "msg-a2"] {
            assert!(there.contains(&id) || text.contains(id), "call {at}: {there:?}");
        }
        if closed.is_ok() {
            assert_eq!((there, unsaved), (vec!["msg-u1", "msg-a2"], None), "call {at}");
        }
        if calls.calls() < at {
            return;
        }
    }
}
