//! Health and repairs: every damaged session, and faults at every file call.

use super::io::Fault;
use super::lifecycle::{disturbed, faults, quick, tree};
use super::*;
use crate::domain::session_health::HealthReport;
use crate::protocol::Queued;
use std::collections::BTreeSet;

/// Sessions that stay odd, with a word of what cannot be helped.
const NOT_HELPED: [(&str, &str); 10] = [
    ("damaged-header-20k", "other programs read only"),
    ("damaged-header-8193", "other programs read only"),
    ("damaged-header-wrong-types", "Ignored"),
    ("damaged-tmp-newer", "left session.jsonl.tmp"),
    ("damaged-tmp-torn", "left session.jsonl.tmp"),
    ("260903-calm-forest", ""),
    ("260906-bright-summit", ""),
    ("260923-royal-maple", "Unknown"),
    ("260926-crooked-arrow", ""),
    ("260907-gentle-harbor", ""),
];

fn lines(path: &Path) -> Vec<Vec<u8>> {
    let bytes = std::fs::read(path).unwrap_or_default();
    bytes.split(|b| *b == b'\n').map(|line| line.trim_ascii().to_vec()).filter(|line| !line.is_empty()).collect()
}

/// Everything that another program left is old enough to be taken over.
fn aged(root: &Path) {
    for entry in std::fs::read_dir(root.join("work/sessions")).unwrap() {
        let temp = entry.unwrap().path().join("session.jsonl.tmp");
        if let Ok(file) = std::fs::File::options().append(true).open(temp) {
            file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(3600)).unwrap();
        }
    }
}

/// Every byte of the rows before is in the session, in salvage, or stays in parts there.
fn assert_nothing_lost(dir: &Path, before: &[Vec<u8>], when: &str) {
    let now = [std::fs::read(dir.join("session.jsonl")).unwrap_or_default(), b"\n".to_vec()].concat();
    let now = [now, std::fs::read(dir.join("session.jsonl.salvage")).unwrap_or_default()].concat();
    let there = |part: &[u8]| memchr::memmem::find(&now, part).is_some();
    for line in before {
        let parts = crate::store::format::damaged_line::of(line);
        assert!(
            there(line) || parts.iter().all(|piece| there(line[piece.at.clone()].trim_ascii())),
            "{when}: {}",
            String::from_utf8_lossy(line)
        );
    }
}

#[test]
fn every_session_is_sound_after_a_repair_and_nothing_is_lost() {
    for workspace in ["main", "damaged"] {
        let root = copy_of(workspace);
        aged(root.path());
        let store = quick(root.path());
        for listed in store.list().sessions {
            let name = listed.id.as_str();
            let path = session_file(root.path(), name);
            let dir = path.parent().unwrap().to_owned();
            let tree_before = tree(&dir);
            let looked = store.verify(&listed.id).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(tree(&dir), tree_before, "{name}: looking changes nothing");
            let seen = store.read(&listed.id, 5000).unwrap();
            let whole = |rows: &[Message]| -> Vec<String> {
                let rows = rows.iter().filter(|row| !matches!(row.body, Body::Odd(_)));
                // Rows without an id have the place of their line for one.
                rows.map(|row| row.id.as_str().split_once("line-").map_or(row.id.as_str(), |_| "line").to_owned())
                    .collect()
            };
            assert_eq!(looked.messages, whole(&seen.rows).len() as u64, "{name}");
            let source = if path.exists() { path.clone() } else { dir.join("session.jsonl.tmp") };
            let original = std::fs::read(&source).unwrap();
            let mut rows = lines(&source);
            let header = matches!(super::header::first(&original), super::header::First::Header { .. });
            if header {
                rows.remove(0);
            }
            let report = store.repair(&listed.id).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(report.repaired, !looked.repairs.is_empty(), "{name}");
            assert_eq!(report.repairs, looked.repairs, "{name}");
            assert_nothing_lost(&dir, &rows, name);
            let after = store.load(&listed.id, 5000).unwrap();
            assert_eq!(whole(&after.rows), whole(&seen.rows), "{name}");
            assert!(after.meta.messages >= report.messages, "{name}");
            if report.repaired {
                // The copy is what was there, byte for byte.
                let kept = std::fs::read_dir(&dir).unwrap().map(|e| e.unwrap().path());
                let copies: Vec<_> =
                    kept.filter(|p| p.to_str().unwrap().contains("session.jsonl.before-repair-")).collect();
                assert_eq!(copies.len(), 1, "{name}");
                assert!(std::fs::read(&copies[0]).unwrap() == original, "{name}");
            } else {
                assert_eq!(tree(&dir), tree_before, "{name}: a sound one stays as it is");
            }
            drop(after);
            let again = store.verify(&listed.id).unwrap();
            assert_eq!(again.repairs, [] as [&str; 0], "{name}");
            match NOT_HELPED.iter().find(|(odd, _)| *odd == name) {
                Some((_, word)) if !word.is_empty() => {
                    assert!(again.odd.iter().any(|(text, _)| text.contains(word)), "{name}: {:?}", again.odd);
                }
                Some(_) => {}
                None => {
                    let helpless = ["unknown to", "not UTF-8", "other programs read only", "Unknown", "Ignored"];
                    let known = |text: &str| helpless.iter().any(|word| text.contains(word));
                    assert!(again.odd.iter().all(|(text, _)| known(text)), "{name}: {again:?}");
                    assert!(again.missing.is_empty() && again.unfinished == 0, "{name}: {again:?}");
                }
            }
        }
    }
}

#[test]
fn the_report_says_what_is_where() {
    let root = copy_of("damaged");
    let store = quick(root.path());
    let report = store.verify(&id("damaged-glued-lines")).unwrap();
    assert_eq!((report.session.as_str(), report.messages, report.lines), ("damaged-glued-lines", 6, 6));
    assert!(report.odd.iter().any(|(text, lines)| text.contains("Line 3 holds several rows") && *lines == [3]));
    assert_eq!(report.last_writer.as_deref(), Some("another program"));
    let young = store.repair(&id("damaged-only-tmp")).unwrap_err().to_string();
    assert!(young.contains("try again in a minute"), "{young}");
    assert!(store.session_dir(&id("damaged-only-tmp")).join("session.jsonl.tmp").exists());
    let root = copy_of("main");
    let store = quick(root.path());
    let dir = store.session_dir(&id("260906-bright-summit"));
    std::fs::write(dir.join("plans/nobody knows.md"), "x").unwrap();
    let plans: BTreeSet<_> = store.verify(&id("260906-bright-summit")).unwrap().orphans.into_iter().collect();
    assert!(plans.contains("plans/nobody knows.md"), "{plans:?}");
    let report = store.verify(&id("260903-calm-forest")).unwrap();
    assert!(report.missing.iter().any(|path| path.ends_with("_thumb.png")), "{report:?}");
    assert!(report.files >= 3 && report.bytes > 3000 && !report.is_sound());
    let sound = store.verify(&id("260902-swift-river")).unwrap();
    assert!(sound.is_sound() && sound.repairs.is_empty(), "{sound:?}");
}

/// A session of ours that a death left: live rows, a queue, a torn line, a temporary file.
fn left_by_a_death(root: &Path) -> SessionId {
    let (id, mut journal) = quick(root).create(&meta("a")).unwrap();
    journal.append(&[user(1), answer(2)], Durability::Synced).unwrap();
    journal.turn(true).unwrap();
    journal.live(call(3, ToolStatus::Executing, None), Durability::Synced).unwrap();
    let queued = Queued {
        id: MessageId::new("q1"),
        text: "next".into(),
        at: NOW,
        redelivered: false,
        attachments: Vec::new(),
        piped: None,
        client: None,
    };
    journal.queue(vec![queued]).unwrap();
    let dir = journal.dir().to_owned();
    drop(journal);
    let path = dir.join("session.jsonl");
    let torn = [std::fs::read(&path).unwrap(), b"{\"id\":\"msg-x\",\"type\":\"us".to_vec()].concat();
    std::fs::write(&path, torn).unwrap();
    std::fs::write(dir.join(".lisle-1-00000000.tmp"), "x").unwrap();
    id
}

fn assert_repaired(store: &Store, id: &SessionId, report: &HealthReport, when: &str) {
    assert!(report.repaired && report.odd.is_empty() && report.unfinished == 1, "{when}: {report:?}");
    let loaded = store.load(id, 9).unwrap();
    assert_eq!(ids(&loaded.rows), ["msg-u1", "msg-a2", "msg-t3"], "{when}");
    assert_eq!((loaded.queue.len(), loaded.meta.messages, loaded.died_in_turn), (1, 3, false), "{when}");
    let salvage = std::fs::read_to_string(store.session_dir(id).join("session.jsonl.salvage")).unwrap();
    assert!(salvage.contains("{\"id\":\"msg-x\",\"type\":\"us\n"), "{when}: {salvage}");
}

#[test]
fn what_a_death_left_is_told_and_folded_in() {
    let root = folder();
    let (store, id) = (quick(root.path()), left_by_a_death(root.path()));
    let report = store.verify(&id).unwrap();
    assert_eq!((report.messages, report.unfinished, report.lines), (2, 2, 4), "{report:?}");
    assert!(report.odd.iter().any(|(text, lines)| text.contains("Line 4 unreadable") && *lines == [4]));
    assert!(report.odd.iter().any(|(text, _)| text.contains("1 temporary file was left")));
    // While somebody writes it, all that is normal, and a repair is refused.
    let loaded = store.load(&id, 9).unwrap();
    let held = store.verify(&id).unwrap();
    assert!(held.unfinished == 0 && held.held_by.is_some_and(|who| who.contains("this lisle")));
    assert!(matches!(store.repair(&id), Err(StoreError::Held { .. })));
    drop(loaded);
    let report = store.repair(&id).unwrap();
    assert_repaired(&store, &id, &report, "at once");
}

#[test]
fn a_fault_at_any_call_of_a_repair_loses_nothing_and_it_can_be_tried_again() {
    let root = folder();
    let id = left_by_a_death(root.path());
    let (store, io) = disturbed(root.path(), Fault::None);
    store.repair(&id).unwrap();
    assert!(io.calls() > 60);
    for fault in (1..=io.calls()).flat_map(faults) {
        let root = folder();
        left_by_a_death(root.path());
        let dir = root.path().join("work/sessions/a");
        let before = lines(&dir.join("session.jsonl"));
        let done = disturbed(root.path(), fault).0.repair(&id);
        let when = format!("{fault:?} {:?}", done.as_ref().map(|report| report.repaired));
        assert_nothing_lost(&dir, &before[1..], &when);
        let store = quick(root.path());
        assert_eq!((store.list().notices, store.list().sessions.len()), (vec![], 1), "{when}");
        let rows = store.read(&id, 9).unwrap().rows;
        for wanted in ["msg-u1", "msg-a2", "msg-t3"] {
            assert!(ids(&rows).contains(&wanted), "{when}: {rows:?}");
        }
        // What the first attempt did need not be done again.
        let again = store.repair(&id).unwrap_or_else(|e| panic!("{when}: {e}"));
        let report = HealthReport { repaired: true, ..again };
        assert_repaired(&store, &id, &report, &when);
    }
}
