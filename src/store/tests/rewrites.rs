//! Another program at the same session: it writes the whole file anew from its memory, by temp, unlink and rename.

use super::*;
use crate::protocol::Queued;
use crate::store::io::{Fault, Watched};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// The other program: what it knows of the session, and its rows.
struct Craft {
    path: PathBuf,
    header: serde_json::Value,
    rows: Vec<String>,
    said: u64,
}

impl Craft {
    /// A workspace of its own with one session.
    fn new(root: &Path) -> Self {
        let path = session_file(root, "a");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(root.join("work/config.json"), r#"{"id":"w","name":"Theirs","slug":"theirs"}"#).unwrap();
        let header = serde_json::json!({
            "id": "a", "workspaceRootPath": "~/w", "createdAt": NOW.0, "lastUsedAt": NOW.0, "name": "Named there",
            "sessionStatus": "todo", "messageCount": 1,
        });
        let mut craft = Self { path, header, rows: Vec::new(), said: 0 };
        craft.say();
        std::fs::write(&craft.path, craft.text()).unwrap();
        craft
    }

    fn say(&mut self) {
        self.said += 1;
        self.header["messageCount"] = (self.rows.len() + 1).into();
        let row = serde_json::json!({
            "id": format!("theirs-{}", self.said), "type": "user", "content": "x", "timestamp": NOW.0,
        });
        self.rows.push(row.to_string());
    }

    fn text(&self) -> String {
        let rows: String = self.rows.iter().map(|row| format!("{row}\n")).collect();
        format!("{}\n{rows}", self.header)
    }

    fn write(&self) {
        std::fs::write(self.path.with_file_name("session.jsonl.tmp"), self.text()).unwrap();
        let _ = std::fs::remove_file(&self.path);
    }

    fn place(&self) {
        std::fs::rename(self.path.with_file_name("session.jsonl.tmp"), &self.path).unwrap();
    }

    fn save(&mut self) {
        self.say();
        self.write();
        self.place();
    }

    /// Reads the session, as when it is opened there: it knows our rows from then on.
    fn reopen(&mut self) {
        let text = std::fs::read_to_string(&self.path).unwrap();
        self.rows = text.lines().skip(1).map(str::to_owned).collect();
    }
}

fn rows_of(path: &Path) -> BTreeMap<String, u64> {
    let mut out = BTreeMap::new();
    for line in std::fs::read_to_string(path).unwrap().lines().skip(1) {
        let row: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        *out.entry(row["id"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    out
}

/// Every row of either is in the file once.
fn assert_both(path: &Path, ours: &[String], said: u64, when: &str) {
    let rows = rows_of(path);
    let mut expected: BTreeMap<String, u64> = ours.iter().map(|id| (id.clone(), 1)).collect();
    expected.extend((1..=said).map(|n| (format!("theirs-{n}"), 1)));
    assert_eq!(rows, expected, "{when}");
}

/// Our own writes meanwhile.
fn live_on(store: &Store, from: u64) -> Vec<String> {
    let loaded = store.load(&id("a"), 100).unwrap();
    let mut given = loaded.meta.clone();
    let mut journal = writer_of(loaded);
    let _ = journal.look();
    let mut ours = Vec::new();
    let mut append = |journal: &mut Journal, row: Message| {
        ours.push(row.id.as_str().to_owned());
        let _ = journal.append(&[row], Durability::Synced);
    };
    append(&mut journal, user(from));
    let _ = journal.turn(true);
    let _ = journal.live(call(from + 1, ToolStatus::Executing, None), Durability::Synced);
    append(&mut journal, call(from + 1, ToolStatus::Completed, Some("fine")));
    given.status = format!("status-{from}");
    journal.set_meta(given, serde_json::json!({"from": from}));
    let _ = journal.save_header();
    append(&mut journal, answer(from + 2));
    let _ = journal.turn(false);
    let _ = journal.save_header();
    for _ in 0..4 {
        let _ = journal.flush();
    }
    journal.close().unwrap();
    ours
}

#[test]
fn a_rewrite_at_any_call_of_ours_loses_no_row_of_either() {
    let mut at = 0;
    loop {
        at += 1;
        // Right before our call; with the file missing for the calls that follow; and both at once and once more.
        let mut calls = 0;
        for gap in [0, 1, 3] {
            let root = folder();
            let craft = Arc::new(Mutex::new(Craft::new(root.path())));
            let count = Arc::new(AtomicU64::new(0));
            let (theirs, seen) = (craft.clone(), count.clone());
            let hook = move |_: &str| {
                let n = seen.fetch_add(1, SeqCst) + 1;
                let mut craft = theirs.lock().unwrap();
                if n == at && gap == 0 {
                    craft.save();
                } else if n == at {
                    craft.say();
                    craft.write();
                } else if gap > 0 && n == at + gap {
                    craft.place();
                } else if gap > 1 && n == at + gap + 2 {
                    craft.save();
                }
                Ok(())
            };
            let store = store_with(root.path(), Arc::new(Hooked(hook)));
            let when = format!("call {at}, gap {gap}");
            let ours = live_on(&store, 10);
            calls = count.load(SeqCst);
            {
                let craft = craft.lock().unwrap();
                if craft.path.with_file_name("session.jsonl.tmp").exists() {
                    craft.place();
                }
                drop(craft);
            }
            // Whatever was left out at the very end comes with the next opening.
            let path = session_file(root.path(), "a");
            let calm = super::store(root.path());
            let loaded = calm.load(&id("a"), 100).unwrap();
            let said = craft.lock().unwrap().said;
            assert_eq!(loaded.meta.messages, 3 + said, "{when}");
            assert_eq!(loaded.rows.len() as u64, 3 + said, "{when}");
            let mut journal = writer_of(loaded);
            journal.append(&[user(99)], Durability::Synced).unwrap();
            journal.close().unwrap();
            drop(journal);
            let ours: Vec<String> = ours.into_iter().chain(["msg-u99".to_owned()]).collect();
            assert_both(&path, &ours, said, &when);
            assert_well_formed(&path);
            let now = calm.list().sessions.remove(0);
            assert_eq!((now.title.as_str(), now.messages), ("Named there", 4 + said), "{when}");
        }
        if at > calls {
            assert!(at > 60, "{at}");
            break;
        }
    }
}

#[test]
fn a_death_at_any_call_beside_another_program_keeps_what_was_promised() {
    let mut at = 0;
    loop {
        at += 1;
        let mut last = 0;
        for fault in [Fault::DieBefore(at), Fault::DieAmid(at)] {
            let root = folder();
            let mut craft = Craft::new(root.path());
            let io = Arc::new(Watched::new(Arc::new(Quick), fault));
            let store = store_with(root.path(), io.clone());
            let mut promised = Vec::new();
            if let Ok(loaded) = store.load(&id("a"), 9)
                && let Access::Writer(mut journal) = loaded.access
            {
                for n in 1..4 {
                    if journal.append(&[user(n)], Durability::Synced).is_ok() {
                        promised.push(format!("msg-u{n}"));
                    }
                    let _ = journal.save_header();
                    craft.save();
                    let _ = journal.look();
                }
            }
            last = io.calls();
            let when = format!("{fault:?}");
            let loaded = super::store(root.path()).load(&id("a"), 100).unwrap();
            let shown = ids(&loaded.rows).into_iter().filter(|id| id.starts_with("msg-")).collect::<Vec<_>>();
            // One more at the most: its write may have been made without being answered.
            let extra = shown.len() - promised.len();
            assert!(extra <= 1 && promised.iter().all(|id| shown.contains(&id.as_str())), "{when}: {shown:?}");
            let ours: Vec<String> = shown.into_iter().map(str::to_owned).chain(["msg-u99".to_owned()]).collect();
            let mut journal = writer_of(loaded);
            journal.append(&[user(99)], Durability::Synced).unwrap_or_else(|e| panic!("{when}: {e}"));
            journal.close().unwrap_or_else(|e| panic!("{when}: {e}"));
            assert_both(&session_file(root.path(), "a"), &ours, craft.said, &when);
        }
        if at > last {
            assert!(at > 60, "{at}");
            break;
        }
    }
}

#[test]
fn an_error_at_any_call_beside_another_program_loses_nothing() {
    let calls = {
        let root = folder();
        Craft::new(root.path());
        let io = Arc::new(Watched::new(Arc::new(Quick), Fault::None));
        live_on(&store_with(root.path(), io.clone()), 10);
        io.calls()
    };
    for at in 8..calls {
        for errno in [28, 5, 30] {
            let root = folder();
            let mut craft = Craft::new(root.path());
            let fault = Fault::Fail { at, times: 2, errno };
            let store = store_with(root.path(), Arc::new(Watched::new(Arc::new(Quick), fault)));
            let Ok(loaded) = store.load(&id("a"), 9) else { continue };
            let Access::Writer(mut journal) = loaded.access else { continue };
            for n in 1..4 {
                let _ = journal.append(&[user(n)], Durability::Synced);
                let _ = journal.save_header();
                craft.save();
            }
            for _ in 0..6 {
                let _ = journal.look();
                let _ = journal.flush();
            }
            journal.close().unwrap_or_else(|e| panic!("call {at}: {e}"));
            let ours: Vec<String> = (1..4).map(|n| format!("msg-u{n}")).collect();
            assert_both(&session_file(root.path(), "a"), &ours, craft.said, &format!("call {at}, error {errno}"));
        }
    }
}

/// The other program saves every `pace`, we write as fast as we can, for as long as `time`.
fn beside_each_other(time: Duration, pace: Duration) -> (u64, u64) {
    let root = folder();
    let mut craft = Craft::new(root.path());
    let store = store_with(root.path(), Arc::new(Quick));
    let path = craft.path.clone();
    let mut journal = writer_of(store.load(&id("a"), 9).unwrap());
    let done = AtomicBool::new(false);
    let (ours, saves) = std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            let mut saves = 0;
            while !done.load(SeqCst) {
                craft.save();
                saves += 1;
                std::thread::park_timeout(pace);
            }
            saves
        });
        let start = Instant::now();
        let mut ours = Vec::new();
        while start.elapsed() < time {
            let row = if ours.len() % 2 == 0 { user(ours.len() as u64) } else { answer(ours.len() as u64) };
            ours.push(row.id.as_str().to_owned());
            let _ = journal.append(&[row], Durability::Synced);
            if ours.len() % 5 == 0 {
                let _ = journal.save_header();
            }
            if ours.len() % 16 == 0 {
                let _ = journal.look();
                std::thread::park_timeout(pace / 4);
            }
        }
        done.store(true, SeqCst);
        (ours, other.join().unwrap())
    });
    for _ in 0..4 {
        let _ = journal.look();
        let _ = journal.flush();
    }
    assert!(matches!(journal.elsewhere(), Elsewhere::Rewritten(_)));
    journal.close().unwrap();
    assert_both(&path, &ours, craft.said, "at the end");
    assert_well_formed(&path);
    assert_eq!(store.list().sessions[0].messages, ours.len() as u64 + craft.said);
    (ours.len() as u64, saves)
}

/// `LISLE_TEST_REWRITES` says for how many seconds at its usual pace, which is every 500 ms.
#[test]
fn no_row_of_either_is_missing_after_many_rewrites() {
    match std::env::var("LISLE_TEST_REWRITES").ok().and_then(|n| n.parse().ok()) {
        Some(seconds) => {
            let (rows, saves) = beside_each_other(Duration::from_secs(seconds), Duration::from_millis(500));
            println!("{rows} rows of ours beside {saves} rewrites in {seconds} s");
        }
        None => {
            let (rows, saves) = beside_each_other(Duration::from_secs(2), Duration::from_millis(2));
            assert!(rows > 2 && saves > 2, "{rows} rows, {saves} rewrites");
        }
    }
}

#[test]
fn what_the_other_one_changed_stands_and_ours_is_kept_beside_it() {
    let root = folder();
    let mut craft = Craft::new(root.path());
    let store = store_with(root.path(), Arc::new(Quick));
    let mut journal = writer_of(store.load(&id("a"), 9).unwrap());
    journal.append(&[user(1), answer(2)], Durability::Synced).unwrap();
    craft.reopen();
    craft.rows.iter_mut().for_each(|row| *row = row.replace("question 1", "edited there"));
    craft.save();
    journal.look().unwrap();
    assert_eq!(*journal.elsewhere(), Elsewhere::Rewritten(1));
    let salvage = craft.path.with_file_name("session.jsonl.salvage");
    let kept = std::fs::read_to_string(&salvage).unwrap();
    assert!(kept.contains("question 1") && !kept.contains("answer 2"), "{kept}");
    craft.save();
    journal.append(&[user(3)], Durability::Synced).unwrap();
    assert_eq!(std::fs::read_to_string(&salvage).unwrap(), kept);
    let text = std::fs::read_to_string(&craft.path).unwrap();
    assert!(text.contains("edited there") && !text.contains("question 1"));
    // All messages gone is what a person did there.
    craft.rows.clear();
    craft.header["messageCount"] = 0.into();
    craft.write();
    craft.place();
    journal.append(&[user(4)], Durability::Synced).unwrap();
    journal.close().unwrap();
    drop(journal);
    assert_eq!(rows_of(&craft.path).into_keys().collect::<Vec<_>>(), ["msg-u4"]);
    let kept = std::fs::read_to_string(&salvage).unwrap();
    assert!(kept.contains("answer 2") && kept.contains("question 3"), "{kept}");
    assert_eq!(ids(&store.load(&id("a"), 9).unwrap().rows), ["msg-u4"]);
}

#[test]
fn rows_that_were_left_out_while_nobody_looked_come_with_the_next_opening() {
    let root = folder();
    let mut craft = Craft::new(root.path());
    let store = store_with(root.path(), Arc::new(Quick));
    live_on(&store, 10);
    craft.save();
    assert_eq!(rows_of(&craft.path).len(), 2);
    // Whoever only reads sees them, too.
    let seen = store.read(&id("a"), 9).unwrap();
    assert_eq!(ids(&seen.rows), ["theirs-1", "theirs-2", "msg-u10", "msg-t11", "msg-a12"]);
    assert_eq!(store.context(&id("a")).unwrap(), seen.rows);
    let mut journal = writer_of(store.load(&id("a"), 9).unwrap());
    journal.look().unwrap();
    assert_eq!(rows_of(&craft.path).len(), 5);
    journal.close().unwrap();
    drop(journal);
    // A session that is whole is left as it is by looking.
    let before = std::fs::read(&craft.path).unwrap();
    let mut journal = writer_of(store.load(&id("a"), 9).unwrap());
    journal.look().unwrap();
    journal.close().unwrap();
    assert_eq!(std::fs::read(&craft.path).unwrap(), before);
}

#[test]
fn a_file_that_is_removed_comes_back_and_a_directory_that_is_moved_is_waited_for() {
    let root = folder();
    let store = store_with(root.path(), Arc::new(Quick));
    let (name, mut journal) = store.create(&meta("a")).unwrap();
    journal.append(&[user(1)], Durability::Synced).unwrap();
    let path = session_file(root.path(), "a");
    std::fs::remove_file(&path).unwrap();
    journal.append(&[answer(2)], Durability::Synced).unwrap();
    assert_eq!(rows_of(&path).len(), 2);
    let (dir, moved) = (store.session_dir(&name), root.path().join("elsewhere"));
    std::fs::rename(&dir, &moved).unwrap();
    let error = journal.append(&[user(3)], Durability::Synced).unwrap_err().to_string();
    assert!(error.contains("moved or deleted"), "{error}");
    assert_eq!((journal.elsewhere(), journal.unsaved()), (&Elsewhere::Gone, true));
    assert!(!dir.exists() && rows_of(&moved.join("session.jsonl")).len() == 2);
    std::fs::rename(&moved, &dir).unwrap();
    journal.retry().unwrap();
    assert_eq!((journal.elsewhere(), rows_of(&path).len()), (&Elsewhere::Quiet, 3));
    journal.close().unwrap();
}

#[test]
fn a_clock_that_jumps_back_makes_no_row_older_than_the_one_before() {
    let root = folder();
    let store = store_with(root.path(), Arc::new(Quick));
    let (name, mut journal) = store.create(&meta("a")).unwrap();
    let early = |row: Message| Message { at: NOW, ..row };
    journal.append(&[user(500)], Durability::Synced).unwrap();
    journal.live(early(call(501, ToolStatus::Executing, None)), Durability::Synced).unwrap();
    journal.append(&[early(answer(502))], Durability::Synced).unwrap();
    journal.append(&[early(call(501, ToolStatus::Completed, Some("x")))], Durability::Synced).unwrap();
    journal.close().unwrap();
    drop(journal);
    let mut journal = writer_of(store.load(&name, 9).unwrap());
    journal.append(&[early(user(503)), user(504)], Durability::Synced).unwrap();
    drop(journal);
    let loaded = store.load(&name, 9).unwrap();
    let times: Vec<i64> = loaded.rows.iter().map(|row| row.at.0 - NOW.0).collect();
    assert_eq!(times, [500, 500, 500, 500, 504]);
}

#[tokio::test]
async fn the_writer_tells_of_the_other_program() {
    let root = folder();
    let mut craft = Craft::new(root.path());
    let store = store_with(root.path(), Arc::new(Quick));
    let writer = Writer::spawn(writer_of(store.load(&id("a"), 9).unwrap()));
    let mut elsewhere = writer.elsewhere();
    writer.append(vec![user(1)], Durability::Synced).await.unwrap();
    // It was written just now, and not by us.
    assert!(matches!(*elsewhere.borrow_and_update(), Elsewhere::Also(_)));
    craft.save();
    // Without being asked to: it looks by itself.
    elsewhere.changed().await.unwrap();
    assert_eq!(*elsewhere.borrow(), Elsewhere::Rewritten(1));
    writer
        .queue(vec![Queued {
            id: MessageId::new("q"),
            text: "next".into(),
            at: NOW,
            redelivered: false,
            attachments: Vec::new(),
            piped: None,
            client: None,
        }])
        .await
        .unwrap();
    writer.close().await.unwrap();
    assert_eq!(rows_of(&craft.path).into_keys().collect::<Vec<_>>(), ["msg-u1", "theirs-1", "theirs-2"]);
}
