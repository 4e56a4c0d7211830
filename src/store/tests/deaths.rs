//! Deaths and errors at every file call of a life, and cuts at every byte of its files.

use super::io::{Fault, Watched};
use super::*;
use crate::protocol::Queued;

/// Promises made before a death.
#[derive(Default)]
struct Promised {
    id: Option<SessionId>,
    /// Ids of rows whose append returned well, in order.
    rows: Vec<String>,
    /// Ids of live rows that were opened and neither dropped nor finished.
    live: Vec<String>,
    queue: Vec<Queued>,
    title: String,
}

fn store(root: &Path) -> Store {
    store_with(root, Arc::new(Quick))
}

fn queued(n: u64) -> Queued {
    Queued {
        id: MessageId::new(format!("q{n}")),
        text: format!("queued {n}"),
        at: NOW,
        redelivered: false,
        attachments: Vec::new(),
        piped: None,
        client: None,
    }
}

/// A life in which every call may fail. Rows whose append failed are in `late`: they must come sometime, in order.
fn live_on(journal: &mut Journal, promised: &mut Promised, late: &mut bool, from: u64) {
    let mut append = |journal: &mut Journal, promised: &mut Promised, row: Message| {
        let key = row.id.as_str().to_owned();
        match journal.append(&[row], Durability::Synced) {
            Ok(()) => {
                promised.live.retain(|id| *id != key);
                promised.rows.push(key);
            }
            Err(_) => *late = true,
        }
    };
    let started = |done: Result<(), StoreError>, promised: &mut Promised, key: &str| {
        if done.is_ok() {
            promised.live.push(key.to_owned());
        }
    };
    append(journal, promised, user(from));
    let _ = journal.turn(true);
    let running = call(from + 1, ToolStatus::Executing, None);
    let key = running.id.as_str().to_owned();
    let done = journal.live(running, Durability::Synced);
    started(done, promised, &key);
    if journal.queue(vec![queued(1), queued(2)]).is_ok() {
        promised.queue = vec![queued(1), queued(2)];
    }
    append(journal, promised, call(from + 1, ToolStatus::Completed, Some("fine")));
    let text = answer(from + 2);
    let key = text.id.as_str().to_owned();
    let done = journal.live(text, Durability::Written);
    started(done, promised, &key);
    journal.grow(&MessageId::new(&*key), "more");
    let _ = journal.flush_text();
    let mut meta = meta("a");
    meta.title = format!("Title {from}");
    journal.set_meta(meta, serde_json::json!({"from": from}));
    if journal.save_header().is_ok() {
        promised.title = format!("Title {from}");
    }
    append(journal, promised, answer(from + 2));
    if journal.queue(vec![queued(2)]).is_ok() {
        promised.queue = vec![queued(2)];
    }
    let _ = journal.turn(false);
    let _ = journal.save_header();
}

fn life(root: &Path, io: Arc<dyn Io>) -> (Promised, bool) {
    let mut promised = Promised::default();
    let mut late = false;
    let store = store_with(root, io);
    let Ok((id, mut journal)) = store.create(&meta("a")) else { return (promised, true) };
    promised.id = Some(id.clone());
    live_on(&mut journal, &mut promised, &mut late, 10);
    let _ = journal.close();
    drop(journal);
    if let Ok(loaded) = store.load(&id, 100)
        && let Access::Writer(mut journal) = loaded.access
    {
        live_on(&mut journal, &mut promised, &mut late, 20);
        let _ = journal.close();
    }
    (promised, late)
}

/// Every promise is kept by what is on disk, and the file can be gone on with.
fn assert_kept(root: &Path, promised: &Promised, when: &str) {
    let store = store(root);
    let Some(id) = &promised.id else {
        assert!(store.list().sessions.iter().all(|m| m.odd.is_empty()), "{when}: {:?}", store.list());
        return;
    };
    let loaded = store.load(id, 100).unwrap_or_else(|e| panic!("{when}: {e}"));
    let rows: Vec<String> = loaded.rows.iter().map(|row| row.id.as_str().to_owned()).collect();
    let mut wanted = promised.rows.iter();
    let mut next = wanted.next();
    for row in &rows {
        if Some(row) == next {
            next = wanted.next();
        }
    }
    assert_eq!(next, None, "{when}: {rows:?} lacks rows of {:?}", promised.rows);
    for row in &promised.live {
        assert!(rows.contains(row), "{when}: {rows:?} lacks the live {row}");
    }
    let unique: std::collections::HashSet<_> = rows.iter().collect();
    assert_eq!(unique.len(), rows.len(), "{when}: {rows:?}");
    if !promised.queue.is_empty() {
        // The first one may be gone: taking it out may have been written without being answered.
        assert!(loaded.queue.iter().any(|q| q.id == queued(2).id), "{when}: {:?}", loaded.queue);
    }
    if promised.title == "Title 20" {
        assert_eq!(loaded.meta.title, "Title 20", "{when}");
    }
    // A row that was being written is shown torn, and goes to salvage with the first write.
    let torn = loaded.rows.iter().filter(|row| matches!(row.body, Body::Odd(_))).count();
    assert!(torn <= 1, "{when}: {rows:?}");
    assert_eq!(loaded.meta.messages, (rows.len() - torn) as u64, "{when}: {rows:?}");
    let mut journal = writer_of(loaded);
    journal.append(&[user(99)], Durability::Synced).unwrap_or_else(|e| panic!("{when}: {e}"));
    journal.close().unwrap_or_else(|e| panic!("{when}: {e}"));
    drop(journal);
    assert_well_formed(&session_file(root, id.as_str()));
    let again = store.load(id, 100).unwrap();
    assert_eq!(again.rows.len(), rows.len() - torn + 1, "{when}");
    assert!(again.meta.odd.is_empty() && !again.died_in_turn, "{when}: {:?}", again.meta.odd);
    let left = std::fs::read_dir(store.session_dir(id)).unwrap();
    let left: Vec<_> = left.map(|e| e.unwrap().file_name()).filter(|n| n.to_string_lossy().starts_with('.')).collect();
    assert!(left.is_empty(), "{when}: {left:?}");
}

fn calls_of_a_life() -> u64 {
    let root = folder();
    let io = Arc::new(Watched::new(Arc::new(Quick), Fault::None));
    let (promised, late) = life(root.path(), io.clone());
    assert!(!late && promised.rows.len() == 6);
    assert_kept(root.path(), &promised, "undisturbed");
    io.calls()
}

#[test]
fn a_death_at_any_call_keeps_what_was_promised() {
    let calls = calls_of_a_life();
    assert!(calls > 100);
    for at in 1..=calls + 1 {
        // After a call is before the next one.
        for fault in [Fault::DieBefore(at), Fault::DieAmid(at)] {
            let root = folder();
            let (promised, _) = life(root.path(), Arc::new(Watched::new(Arc::new(Quick), fault)));
            assert_kept(root.path(), &promised, &format!("{fault:?}"));
        }
    }
}

#[test]
fn an_error_at_any_call_loses_nothing_while_the_process_lives() {
    let calls = calls_of_a_life();
    for at in 1..=calls {
        for fault in [
            Fault::Fail { at, times: 1, errno: 28 },
            Fault::Fail { at, times: 7, errno: 5 },
            Fault::Tear { at, errno: 28 },
        ] {
            let root = folder();
            let when = format!("{fault:?}");
            let disturbed = store_with(root.path(), Arc::new(Watched::new(Arc::new(Quick), fault)));
            let Ok((id, mut journal)) = disturbed.create(&meta("a")) else {
                let left = store(root.path()).list().sessions;
                assert!(left.iter().all(|m| m.odd.is_empty() && m.messages == 0), "{when}: {left:?}");
                continue;
            };
            let (mut promised, mut late) = (Promised::default(), false);
            live_on(&mut journal, &mut promised, &mut late, 10);
            // The disk recovers: everything comes, in order and once.
            for _ in 0..8 {
                let _ = journal.flush();
            }
            // What was written is looked at while closing, which may meet the error too.
            let closed = (0..8).map(|_| journal.close()).find(Result::is_ok);
            assert!(closed.is_some(), "{when}: {:?}", journal.close());
            assert!(!journal.unsaved(), "{when}");
            drop(journal);
            let loaded = store(root.path()).load(&id, 100).unwrap();
            assert_eq!(ids(&loaded.rows), ["msg-u10", "msg-t11", "msg-a12"], "{when}");
            assert_eq!(loaded.queue.len(), 1, "{when}");
            assert_eq!((loaded.meta.title.as_str(), loaded.meta.messages), ("Title 10", 3), "{when}");
            assert_eq!(loaded.meta.odd, [] as [&str; 0], "{when}");
        }
    }
}

#[test]
fn a_cut_at_any_byte_opens_and_goes_on() {
    let root = folder();
    let (id, mut journal) = store(root.path()).create(&meta("a")).unwrap();
    journal.append(&[user(1), answer(2)], Durability::Synced).unwrap();
    journal.save_header().unwrap();
    journal.turn(true).unwrap();
    journal.live(call(3, ToolStatus::Executing, None), Durability::Synced).unwrap();
    journal.live(answer(4), Durability::Written).unwrap();
    journal.grow(&MessageId::new("msg-a4"), "more {{SESSION_PATH}} \u{1f600}");
    journal.flush_text().unwrap();
    drop(journal);
    let path = session_file(root.path(), "a");
    let live_path = path.with_file_name("live.jsonl");
    let (whole, live) = (std::fs::read(&path).unwrap(), std::fs::read(&live_path).unwrap());
    let check = |rows: std::ops::RangeInclusive<usize>, when: String| {
        let loaded = store(root.path()).load(&id, 100).unwrap_or_else(|e| panic!("{when}: {e}"));
        let shown = loaded.rows.len();
        assert!(rows.contains(&shown), "{when}: {:?}", ids(&loaded.rows));
        let odd = loaded.rows.iter().filter(|row| matches!(row.body, Body::Odd(_))).count();
        let mut journal = writer_of(loaded);
        journal.append(&[user(9)], Durability::Written).unwrap_or_else(|e| panic!("{when}: {e}"));
        journal.close().unwrap_or_else(|e| panic!("{when}: {e}"));
        drop(journal);
        assert_well_formed(&path);
        // A torn line left for salvage; everything else and the new row are there.
        assert_eq!(store(root.path()).load(&id, 100).unwrap().rows.len(), shown - odd + 1, "{when}");
    };
    let clean = || {
        for name in ["session.jsonl.salvage", "lisle.lock"] {
            let _ = std::fs::remove_file(path.with_file_name(name));
        }
    };
    let second = std::fs::read(path.with_file_name("header.json")).unwrap();
    // The padding is alike everywhere.
    let header = 4096 - 3..4096 + 3;
    for cut in (0..40).chain(header).chain(4096..whole.len()) {
        for with_second in [true, false] {
            clean();
            std::fs::write(&path, &whole[..cut]).unwrap();
            std::fs::write(&live_path, &live).unwrap();
            if with_second {
                std::fs::write(path.with_file_name("header.json"), &second).unwrap();
            } else {
                let _ = std::fs::remove_file(path.with_file_name("header.json"));
            }
            check(2..=4, format!("session.jsonl cut at {cut}, header.json {with_second}"));
        }
    }
    for cut in 0..live.len() {
        clean();
        std::fs::write(&path, &whole).unwrap();
        std::fs::write(path.with_file_name("header.json"), &second).unwrap();
        std::fs::write(&live_path, &live[..cut]).unwrap();
        check(2..=4, format!("live.jsonl cut at {cut}"));
    }
}

#[test]
fn text_that_is_in_the_file_only_is_whole_after_a_write_anew() {
    let life = |io: Arc<Watched>, root: &Path| -> Option<(SessionId, bool)> {
        let (id, mut journal) = store_with(root, io).create(&meta("a")).ok()?;
        let _ = journal.append(&[user(1)], Durability::Synced);
        let mut text = answer(2);
        text.body = Body::Assistant(AssistantText::default());
        let _ = journal.live(text, Durability::Written);
        for n in 0..5 {
            journal.grow(&MessageId::new("msg-a2"), &format!("{n} \u{1f600} "));
            let _ = journal.flush_text();
        }
        // With the end of the turn the file is written anew.
        let _ = journal.turn(false);
        let _ = journal.flush();
        Some((id, journal.unsaved()))
    };
    let count = Arc::new(Watched::new(Arc::new(Quick), Fault::None));
    let root = folder();
    assert!(life(count.clone(), root.path()).is_some());
    let mut whole = 0;
    for at in 0..=count.calls() {
        for times in [1, 3] {
            let root = folder();
            let io = Arc::new(Watched::new(Arc::new(Quick), Fault::Fail { at, times, errno: 28 }));
            // Where opening fails, there is nothing to be saved.
            let Some((id, false)) = life(io, root.path()) else { continue };
            let loaded = store(root.path()).load(&id, 10).unwrap();
            let Body::Assistant(text) = &loaded.rows[1].body else { panic!("text") };
            assert_eq!(
                text.text, "0 \u{1f600} 1 \u{1f600} 2 \u{1f600} 3 \u{1f600} 4 \u{1f600} ",
                "call {at}, {times} times"
            );
            whole += 1;
        }
    }
    assert!(whole > 20, "{whole}");
}
