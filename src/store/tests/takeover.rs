//! A session is taken over from a holder that does not answer, and that goes on afterwards.

use super::*;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

fn rows_of(path: &Path) -> BTreeMap<String, u64> {
    let mut out = BTreeMap::new();
    for line in std::fs::read_to_string(path).unwrap().lines().skip(1) {
        let row: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        *out.entry(row["id"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    out
}

fn assert_once(path: &Path, ids: &[String], when: &str) {
    let rows = rows_of(path);
    for id in ids {
        assert_eq!(rows.get(id), Some(&1), "{when}: {id} in {rows:?}");
    }
    assert!(rows.values().all(|n| *n == 1), "{when}: {rows:?}");
}

/// The holder's life; ids of rows that it was told are written.
fn old_life(journal: &mut Journal) -> (Vec<String>, Vec<String>) {
    let (mut written, mut refused) = (Vec::new(), Vec::new());
    let mut append = |journal: &mut Journal, row: Message| {
        let id = row.id.as_str().to_owned();
        match journal.append(&[row], Durability::Synced) {
            Ok(()) => written.push(id),
            Err(_) => refused.push(id),
        }
    };
    append(journal, user(10));
    let _ = journal.turn(true);
    let _ = journal.live(call(11, ToolStatus::Executing, None), Durability::Synced);
    append(journal, call(11, ToolStatus::Completed, Some("fine")));
    let mut given = meta("a");
    given.title = "Of the old one".into();
    journal.set_meta(given, serde_json::json!({}));
    let _ = journal.save_header();
    append(journal, answer(12));
    let _ = journal.turn(false);
    let _ = journal.save_header();
    (written, refused)
}

/// Stops at one call, says so, and goes on when it is told to.
type Stop = (u64, SyncSender<()>, Mutex<Receiver<()>>);

#[test]
fn a_holder_that_stops_at_any_call_and_goes_on_doubles_and_loses_nothing() {
    let mut at = 0;
    loop {
        at += 1;
        let root = folder();
        drop(store_with(root.path(), Arc::new(Quick)).create(&meta("a")).unwrap());
        // It stops while it writes, not while it opens.
        let calls = Arc::new(AtomicU64::new(u64::MAX / 2));
        let (stopped, stops) = sync_channel(1);
        let (go, goes) = sync_channel::<()>(1);
        let stop: Stop = (at, stopped.clone(), Mutex::new(goes));
        let seen = calls.clone();
        let hook = move |_: &str| {
            if seen.fetch_add(1, SeqCst) + 1 == stop.0 {
                let _ = stop.1.send(());
                let _ = stop.2.lock().unwrap().recv();
            }
            Ok(())
        };
        let old_store = store_with(root.path(), Arc::new(Hooked(hook)));
        let loaded = old_store.load(&id("a"), 9).unwrap();
        calls.store(0, SeqCst);
        let mut old = writer_of(loaded);
        let path = session_file(root.path(), "a");
        let when = format!("call {at}");
        let (done, new_rows) = std::thread::scope(|scope| {
            // Gone with a panic, so that nobody waits for it.
            let go = go;
            let old = scope.spawn(move || {
                let told = old_life(&mut old);
                let _ = old.close();
                let elsewhere = old.elsewhere().clone();
                drop(old);
                let _ = stopped.send(());
                (told, elsewhere)
            });
            stops.recv().unwrap();
            let mut new_rows = Vec::new();
            let store = store_with(root.path(), Arc::new(Quick));
            let loaded = store.take_over(&id("a"), 9).unwrap();
            let mut new = writer_of(loaded);
            let mut append = |new: &mut Journal, n: u64| {
                new.append(&[user(n)], Durability::Synced).unwrap_or_else(|e| panic!("{when}: {e}"));
                new_rows.push(format!("msg-u{n}"));
            };
            append(&mut new, 20);
            append(&mut new, 21);
            new.live(answer(22), Durability::Written).unwrap();
            let _ = go.send(());
            let told = old.join().unwrap();
            append(&mut new, 23);
            new.append(&[answer(22)], Durability::Synced).unwrap();
            new_rows.push("msg-a22".into());
            new.look().unwrap();
            new.close().unwrap_or_else(|e| panic!("{when}: {e}"));
            (told, new_rows)
        });
        let ((written, refused), elsewhere) = done;
        let all: Vec<String> = written.iter().chain(&new_rows).cloned().collect();
        let salvage = std::fs::read_to_string(path.with_file_name("session.jsonl.salvage")).unwrap_or_default();
        assert_once(&path, &all, &when);
        for id in &refused {
            assert!(salvage.contains(id.as_str()) || rows_of(&path).contains_key(id), "{when}: {id}");
        }
        assert_well_formed(&path);
        assert!(!path.with_file_name("ours.jsonl").exists(), "{when}");
        let over = at > calls.load(SeqCst);
        assert!(refused.is_empty() || matches!(elsewhere, Elsewhere::Lost(_)), "{when}: {elsewhere:?}");
        let loaded = store(root.path()).load(&id("a"), 99).unwrap();
        assert_eq!(loaded.meta.messages, loaded.rows.len() as u64, "{when}");
        assert!(loaded.meta.odd.is_empty() && matches!(loaded.access, Access::Writer(_)), "{when}");
        if over {
            assert!(at > 40 && refused.is_empty(), "{at}");
            break;
        }
    }
}

// ---- with processes ----

/// Task and place of the other process; without it, `other_process` has nothing to do.
const CHILD: &str = "LISLE_TEST_STORE_CHILD";

fn start(what: &str, root: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "store::tests::takeover::other_process", "--nocapture", "--ignored", "--test-threads=1"])
        .env(CHILD, format!("{what}:{}", root.display()))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Ids that the other process says it has written, one a line.
fn told(line: &str) -> Option<String> {
    // The harness writes the test's name before the first one.
    line.split("wrote ").nth(1).map(str::to_owned)
}

#[test]
#[ignore = "it is the other process of the tests here"]
fn other_process() {
    let Ok(job) = std::env::var(CHILD) else { return };
    let (what, root) = job.split_once(':').unwrap();
    let store = store_with(Path::new(root), Arc::new(Quick));
    match what {
        "write" => {
            let mut journal = writer_of(store.load(&id("a"), 9).unwrap());
            for n in 1000..200_000 {
                match journal.append(&[user(n)], Durability::Synced) {
                    Ok(()) => println!("wrote msg-u{n}"),
                    Err(StoreError::TakenOver { .. }) => {
                        println!("lost");
                        return;
                    }
                    Err(error) => panic!("{error}"),
                }
            }
        }
        "hammer" => hammer(&store, 5000, |id| println!("wrote {id}")),
        other => panic!("{other}"),
    }
}

/// Opens, writes a row, closes, over and over.
fn hammer(store: &Store, from: u64, mut wrote: impl FnMut(String)) {
    let mut n = from;
    while n < from + 60 {
        let Access::Writer(mut journal) = store.load(&id("a"), 3).unwrap().access else {
            std::thread::yield_now();
            continue;
        };
        journal.append(&[user(n)], Durability::Synced).unwrap();
        journal.close().unwrap();
        wrote(format!("msg-u{n}"));
        n += 1;
    }
}

#[test]
fn a_process_that_was_stopped_and_wakes_up_writes_nothing_more() {
    for round in 0..4 {
        let root = folder();
        let store = store_with(root.path(), Arc::new(Quick));
        drop(store.create(&meta("a")).unwrap());
        let mut child = start("write", root.path());
        let pid = rustix::process::Pid::from_child(&child);
        let mut out = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let mut written: Vec<String> = out.by_ref().filter_map(|line| told(&line)).take(5 + 7 * round).collect();
        rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
        let loaded = store.load(&id("a"), 3).unwrap();
        let Access::Reader { held_by } = loaded.access else { panic!("it lives") };
        assert!(held_by.contains(&child.id().to_string()), "{held_by}");
        let mut new = writer_of(store.take_over(&id("a"), 3).unwrap());
        for n in 1..6 {
            new.append(&[user(n)], Durability::Synced).unwrap();
            written.push(format!("msg-u{n}"));
        }
        rustix::process::kill_process(pid, rustix::process::Signal::CONT).unwrap();
        let rest: Vec<String> = out.collect();
        assert!(child.wait().unwrap().success());
        assert!(rest.iter().any(|line| line.contains("lost")), "{rest:?}");
        written.extend(rest.iter().filter_map(|line| told(line)));
        for n in 6..9 {
            new.append(&[user(n)], Durability::Synced).unwrap();
            written.push(format!("msg-u{n}"));
        }
        new.close().unwrap();
        drop(new);
        let path = session_file(root.path(), "a");
        assert_once(&path, &written, &format!("round {round}"));
        assert_well_formed(&path);
        assert!(matches!(store.load(&id("a"), 3).unwrap().access, Access::Writer(_)));
    }
}

#[test]
fn two_processes_that_hammer_one_session_write_one_after_the_other() {
    let root = folder();
    let store = store_with(root.path(), Arc::new(Quick));
    drop(store.create(&meta("a")).unwrap());
    let mut child = start("hammer", root.path());
    let out = BufReader::new(child.stdout.take().unwrap());
    let mut written = Vec::new();
    hammer(&store, 1, |id| written.push(id));
    written.extend(out.lines().filter_map(|line| told(&line.unwrap())));
    assert!(child.wait().unwrap().success());
    assert_eq!(written.len(), 120);
    assert_once(&session_file(root.path(), "a"), &written, "at the end");
    assert_well_formed(&session_file(root.path(), "a"));
    assert_eq!(store.list().sessions[0].messages, 120);
}
