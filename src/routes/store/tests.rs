//! Stores on the disk: deaths and errors at every file call, the lock, damaged files, maintenance.

use super::lock::{StoreLock, is_locked, path_of};
use super::*;
use crate::domain::ids::{At, SessionId};
use crate::routes::config::{Bytes, DAY, Days, MaintenanceConfig};
use crate::routes::key::{AgentId, KeyNames};
use crate::routes::maintenance::{ArchiveReason, MaintenanceRequest, MaintenanceRun, StoreReport, archive_name};
use crate::routes::row::{SessionRow, StoredRow};
use crate::store::io::{Disk, Fault, Io, Watched};
use crate::store::{Options, Store, process_start};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// 2026-11-20T00:00:00Z
const NOW: At = At(1_795_132_800_000);

fn disk() -> Arc<dyn Io> {
    Arc::new(Disk)
}

fn ago(days: u64) -> i64 {
    NOW.0 - i64::try_from(days * DAY).unwrap()
}

/// A folder with a store of these rows.
fn folder_with(rows: &Value) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("sessions.json"), serde_json::to_string_pretty(rows).unwrap()).unwrap();
    dir
}

fn store_in(dir: &Path, io: Arc<dyn Io>) -> RouteStore {
    RouteStore::new(io, dir.join("sessions.json"))
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn content(dir: &Path) -> String {
    fs::read_to_string(dir.join("sessions.json")).unwrap()
}

fn rows() -> Value {
    json!({
        "agent:main:main": {"sessionId": "s1", "updatedAt": ago(1), "futureKey": {"b": 1, "a": [null, 1.0]}},
        "agent:main:telegram:group:-5": {"updatedAt": ago(2), "sessionId": "s2", "room": "old name"},
        "strange": {"updatedAt": "yesterday", "sessionId": "s3"},
    })
}

fn add(store: &RouteStore, key: &str) -> Result<(), RouteStoreError> {
    let row = SessionRow::new(SessionId::parse("new").unwrap(), NOW);
    store.change(NOW, |rows| {
        rows.set(key, &row).unwrap();
        Ok(())
    })
}

#[test]
fn a_change_keeps_every_other_row_as_it_was() {
    let dir = folder_with(&rows());
    let store = store_in(dir.path(), disk());
    let before = content(dir.path());
    store.change(NOW, |_| Ok(())).unwrap();
    assert_eq!(content(dir.path()), before, "nothing to write");
    add(&store, "agent:main:new").unwrap();
    let after: Value = serde_json::from_str(&content(dir.path())).unwrap();
    let mut wanted = rows();
    wanted["agent:main:new"] = after["agent:main:new"].clone();
    assert_eq!(serde_json::to_string_pretty(&wanted).unwrap(), content(dir.path()));
    let mode = fs::metadata(store.path()).unwrap().permissions().mode();
    assert_eq!((mode & 0o777, names(dir.path())), (0o600, vec!["sessions.json".to_owned()]));
    let rows = store.read().unwrap();
    assert_eq!((rows.len(), rows.is_empty()), (4, false));
    assert!(matches!(rows.get("agent:main:new"), Some(StoredRow::Row(row)) if row.updated_at == Some(NOW)));
    assert!(matches!(rows.get("strange"), Some(StoredRow::Unreadable(_))));
}

#[test]
fn a_store_is_made_with_its_folder_and_a_link_stays_one() {
    let dir = tempfile::tempdir().unwrap();
    let store = store_in(&dir.path().join("agents/main/sessions"), disk());
    assert!(!store.exists() && store.read().unwrap().is_empty());
    add(&store, "agent:main:main").unwrap();
    let link = dir.path().join("link.json");
    std::os::unix::fs::symlink(store.path(), &link).unwrap();
    add(&RouteStore::new(disk(), &link), "agent:main:other").unwrap();
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!(store.read().unwrap().len(), 2);
}

#[test]
fn a_death_or_an_error_at_any_call_leaves_the_old_or_the_new_file() {
    let count = {
        let dir = folder_with(&rows());
        let watched = Arc::new(Watched::new(disk(), Fault::None));
        add(&store_in(dir.path(), watched.clone()), "new").unwrap();
        watched.calls()
    };
    assert!(count > 8, "{count}");
    let (mut old, mut new) = (0, 0);
    for at in 1..=count {
        for fault in [Fault::DieBefore(at), Fault::DieAmid(at), Fault::Fail { at, times: 1, errno: 28 }] {
            let dir = folder_with(&rows());
            let before = content(dir.path());
            let done = add(&store_in(dir.path(), Arc::new(Watched::new(disk(), fault))), "new");
            let after = content(dir.path());
            let has_new = serde_json::from_str::<Value>(&after).unwrap().get("new").is_some();
            assert!(has_new || after == before, "{fault:?}: {after}");
            assert!(has_new || done.is_err(), "{fault:?}: a change that is not there was promised");
            if has_new {
                new += 1
            } else {
                old += 1
            }
            // The lock of a dead process would go; this process lives.
            let _ = fs::remove_file(path_of(&dir.path().join("sessions.json")));
            add(&store_in(dir.path(), disk()), "next").unwrap();
            assert!(content(dir.path()).contains("\"next\""), "{fault:?}");
        }
    }
    assert!(old > 5 && new > 1, "{old} {new}");
}

#[test]
fn two_writers_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &'static str| {
        let store = store_in(dir.path(), disk());
        std::thread::spawn(move || (0..20).for_each(|n| add(&store, &format!("{name}:{n}")).unwrap()))
    };
    let threads = [write("a"), write("b"), write("c")];
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(store_in(dir.path(), disk()).read().unwrap().len(), 60);
    assert_eq!(names(dir.path()), ["sessions.json"]);
}

#[test]
fn locks_of_dead_processes_go_and_those_of_living_ones_stay() {
    let me = std::process::id();
    let start = process_start("self");
    let (now, old) = ("2999-01-01T00:00:00.000Z", "2020-01-01T00:00:00.000Z");
    for (text, age, is_free, why) in [
        (json!({"pid": me, "createdAt": now, "starttime": start}).to_string(), 0, false, "it is this process"),
        (json!({"pid": me, "createdAt": old, "starttime": start}).to_string(), 0, false, "also a slow one"),
        (json!({"pid": me, "createdAt": now, "starttime": 1}).to_string(), 0, true, "an earlier one with the number"),
        (json!({"pid": 99_999_999, "createdAt": now}).to_string(), 0, true, "no such process"),
        (json!({"pid": me, "createdAt": now}).to_string(), 0, false, "no start, young"),
        (json!({"pid": me, "createdAt": old}).to_string(), 0, true, "no start, old"),
        ("{\"pid\":".to_owned(), 0, false, "may be half written"),
        (String::new(), 60, true, "nobody writes for so long"),
    ] {
        let dir = folder_with(&json!({}));
        let path = dir.path().join("sessions.json");
        fs::write(path_of(&path), &text).unwrap();
        let modified = SystemTime::now() - Duration::from_secs(age);
        fs::File::options().append(true).open(path_of(&path)).unwrap().set_modified(modified).unwrap();
        assert_eq!(is_locked(&Disk, &path), !is_free, "{why}");
        let taken = StoreLock::take(&disk(), &path, Duration::ZERO);
        assert_eq!(taken.is_ok(), is_free, "{why}: {taken:?}");
        match taken {
            Ok(lock) => {
                assert!(lock.is_held() && is_locked(&Disk, &path));
                drop(lock);
                assert_eq!(names(dir.path()), ["sessions.json"]);
            }
            Err(error) => {
                assert!(error.to_string().contains("locked by"), "{error}");
                assert_eq!(fs::read_to_string(path_of(&path)).unwrap(), text, "{why}");
            }
        }
    }
}

#[test]
fn a_lock_that_was_taken_away_stops_the_write_and_is_not_removed() {
    let dir = folder_with(&rows());
    let store = store_in(dir.path(), disk());
    let before = content(dir.path());
    let lock = path_of(store.path());
    let done = store.change(NOW, |rows| {
        fs::rename(&lock, dir.path().join("kept")).unwrap();
        fs::write(&lock, "another").unwrap();
        rows.remove("agent:main:main");
        Ok(())
    });
    assert!(matches!(done, Err(RouteStoreError::LockLost { .. })), "{done:?}");
    assert_eq!((content(dir.path()), fs::read_to_string(&lock).unwrap()), (before, "another".to_owned()));
}

#[test]
fn what_is_no_store_is_moved_aside_and_never_overwritten() {
    for damaged in ["", " \n", "{\"a\": {", "[1]", "null", "\u{feff}{}"] {
        let dir = folder_with(&json!({}));
        fs::write(dir.path().join("sessions.json"), damaged).unwrap();
        let store = store_in(dir.path(), disk());
        assert!(matches!(store.read(), Err(RouteStoreError::Damaged { moved: None, .. })), "{damaged:?}");
        assert_eq!(names(dir.path()), ["sessions.json"], "reading moves nothing");
        let error = add(&store, "a").unwrap_err();
        let RouteStoreError::Damaged { moved: Some(moved), .. } = &error else { panic!("{error}") };
        assert!(error.to_string().contains("sessions.json.corrupt.2026-11-20T00-00-00.000Z"), "{error}");
        assert_eq!(fs::read_to_string(moved).unwrap(), damaged);
        add(&store, "a").unwrap();
        // A second one at the same time has another name.
        fs::write(store.path(), damaged).unwrap();
        add(&store, "b").unwrap_err();
        assert_eq!(fs::read_to_string(moved).unwrap(), damaged);
        assert_eq!(names(dir.path()).len(), 2, "{:?}", names(dir.path()));
    }
}

/// Maintenance of a folder in the reference's layout.
fn maintained(
    dir: &Path,
    io: &Arc<dyn Io>,
    config: &MaintenanceConfig,
    run: MaintenanceRun,
    fix_missing: bool,
) -> Result<Maintained, RouteStoreError> {
    let store = store_in(dir, io.clone());
    let place = MaintainedStore {
        store: &store,
        agent: &AgentId::default(),
        names: &KeyNames::default(),
        conversations: &FolderConversations::beside(io.clone(), store.path()),
    };
    let active = BTreeSet::from(["telegram:group:-7".to_owned()]);
    maintain(place, &MaintenanceRequest { now: NOW, config, run, fix_missing, active: &active })
}

/// A store with everything that maintenance must tell apart; each transcript is named after its row.
fn full_folder() -> tempfile::TempDir {
    let row = |id: &str, days: u64| json!({"sessionId": id, "updatedAt": ago(days), "model": "m"});
    let mut rows = json!({
        "agent:main:main": row("main", 90),
        "agent:main:telegram:group:-1": row("young", 1),
        "agent:main:telegram:group:-2": row("old", 40),
        "agent:main:telegram:group:-3": row("shared", 40),
        "agent:main:telegram:group:-4": row("shared", 2),
        "agent:main:telegram:group:-5": row("running", 40),
        "agent:main:telegram:group:-6": row("locked", 40),
        "agent:main:telegram:group:-7": row("active", 40),
        "agent:main:telegram:group:-8": row("gone", 3),
        "agent:main:telegram:group:-9": row("elsewhere", 3),
        "agent:main:telegram:group:-10": row("forked", 3),
        "damaged": {"sessionId": "damaged", "updatedAt": "x"},
    });
    rows["agent:main:telegram:group:-5"]["status"] = "running".into();
    rows["agent:main:telegram:group:-10"]["sessionFile"] = "2026-04-19T19-03-37.979Z_forked.jsonl".into();
    let dir = folder_with(&rows);
    let outside = dir.path().join("other/elsewhere.jsonl");
    fs::create_dir(dir.path().join("other")).unwrap();
    fs::write(&outside, "x").unwrap();
    let store = dir.path().join("sessions.json");
    rows["agent:main:telegram:group:-9"]["sessionFile"] = outside.display().to_string().into();
    fs::write(&store, serde_json::to_string_pretty(&rows).unwrap()).unwrap();
    for id in ["main", "young", "old", "shared", "running", "locked", "active", "damaged", "orphan"] {
        fs::write(dir.path().join(format!("{id}.jsonl")), "{}\n").unwrap();
    }
    fs::write(dir.path().join("old-topic-7.jsonl"), "{}\n").unwrap();
    fs::write(dir.path().join(".lisle-99999999-0000abcd.tmp"), "half").unwrap();
    fs::write(dir.path().join(format!(".lisle-{}-0000abcd.tmp", std::process::id())), "in use").unwrap();
    fs::write(dir.path().join("2026-04-19T19-03-37.979Z_forked.jsonl"), "{}\n").unwrap();
    let lock = json!({"pid": std::process::id(), "createdAt": "x", "starttime": process_start("self")});
    fs::write(dir.path().join("locked.jsonl.lock"), lock.to_string()).unwrap();
    let archive = archive_name("a.jsonl", ArchiveReason::Deleted, At(ago(50)));
    fs::write(dir.path().join(archive), "{}\n").unwrap();
    dir
}

#[test]
fn a_run_removes_what_its_dry_run_said_and_a_second_run_has_nothing_to_do() {
    let dir = full_folder();
    let config = MaintenanceConfig { max_disk_bytes: Some(Bytes(1 << 20)), ..MaintenanceConfig::default() };
    let before = (names(dir.path()), content(dir.path()));
    let dry = maintained(dir.path(), &disk(), &config, MaintenanceRun::DryRun, true).unwrap();
    let warned = maintained(dir.path(), &disk(), &config, MaintenanceRun::ByMode, true).unwrap();
    assert_eq!((names(dir.path()), content(dir.path())), before, "neither changes anything");
    assert_eq!((warned.report.applied, warned.report.dry_run), (None, false));
    let done = maintained(dir.path(), &disk(), &config, MaintenanceRun::Enforce, true).unwrap();
    let report = &done.report;
    assert_eq!((report.before_count, report.after_count, report.applied_count), (12, 9, Some(9)));
    assert_eq!((report.missing, report.pruned, report.capped), (1, 2, 0));
    let same = StoreReport { mode: report.mode, dry_run: false, ..dry.report.clone() };
    assert_eq!(same.applied(9), *report, "bytes and all");
    assert_eq!(done.warnings, ["row \"damaged\" is damaged; kept"]);
    let left = store_in(dir.path(), disk()).read().unwrap();
    for removed in ["-2", "-3", "-8"] {
        assert_eq!(left.get(&format!("agent:main:telegram:group:{removed}")), None, "{removed}");
    }
    let files = names(dir.path());
    let archived: Vec<&String> = files.iter().filter(|name| name.contains(".deleted.")).collect();
    assert_eq!(
        archived,
        ["old-topic-7.jsonl.deleted.2026-11-20T00-00-00.000Z", "old.jsonl.deleted.2026-11-20T00-00-00.000Z"]
    );
    for kept in ["main", "young", "shared", "running", "locked", "active", "damaged", "orphan"] {
        assert!(files.contains(&format!("{kept}.jsonl")), "{kept}: {files:?}");
    }
    assert!(dir.path().join("other/elsewhere.jsonl").exists());
    let temporary: Vec<&String> = files.iter().filter(|name| name.ends_with(".tmp")).collect();
    assert_eq!(temporary, [&format!(".lisle-{}-0000abcd.tmp", std::process::id())]);
    let second = maintained(dir.path(), &disk(), &config, MaintenanceRun::Enforce, true).unwrap();
    assert!(!second.report.would_mutate, "{:?}", second.lines);
}

#[test]
fn a_death_at_any_call_of_a_run_leaves_no_row_without_its_conversation() {
    let config = MaintenanceConfig { rotate_bytes: Bytes(1), ..MaintenanceConfig::default() };
    let count = {
        let watched = Arc::new(Watched::new(disk(), Fault::None));
        let io: Arc<dyn Io> = watched.clone();
        maintained(full_folder().path(), &io, &config, MaintenanceRun::Enforce, false).unwrap();
        watched.calls()
    };
    for at in 1..=count {
        for fault in [Fault::DieBefore(at), Fault::DieAmid(at)] {
            let dir = full_folder();
            let before: Value = serde_json::from_str(&content(dir.path())).unwrap();
            let io: Arc<dyn Io> = Arc::new(Watched::new(disk(), fault));
            let _ = maintained(dir.path(), &io, &config, MaintenanceRun::Enforce, false);
            let after: Value = serde_json::from_str(&content(dir.path())).unwrap();
            for (key, row) in after.as_object().unwrap() {
                assert_eq!(Some(row), before.get(key), "{fault:?}");
                let id = row["sessionId"].as_str().unwrap();
                let has_none = ["gone", "elsewhere", "forked"].contains(&id);
                assert!(has_none || dir.path().join(format!("{id}.jsonl")).exists(), "{fault:?}: {id}");
            }
            let _ = fs::remove_file(path_of(&dir.path().join("sessions.json")));
            let next = maintained(dir.path(), &disk(), &config, MaintenanceRun::Enforce, false).unwrap();
            assert_eq!(next.report.applied_count, Some(10), "{fault:?}");
        }
    }
}

#[test]
fn a_file_that_is_too_big_is_copied_under_its_own_name() {
    let dir = folder_with(&rows());
    let own = dir.path().join("routes.json");
    fs::rename(dir.path().join("sessions.json"), &own).unwrap();
    let store = RouteStore::new(disk(), &own);
    let place = MaintainedStore {
        store: &store,
        agent: &AgentId::default(),
        names: &KeyNames::default(),
        conversations: &FolderConversations::beside(disk(), &own),
    };
    let config = MaintenanceConfig { rotate_bytes: Bytes(10), ..MaintenanceConfig::default() };
    let active = BTreeSet::new();
    let run = MaintenanceRun::Enforce;
    let request = MaintenanceRequest { now: NOW, config: &config, run, fix_missing: false, active: &active };
    let before = fs::read(&own).unwrap();
    maintain(place, &request).unwrap();
    assert_eq!(names(dir.path()), ["routes.json".to_owned(), format!("routes.json.bak.{}", NOW.0)]);
    assert_eq!(fs::read(dir.path().join(format!("routes.json.bak.{}", NOW.0))).unwrap(), before);
    assert!(!maintain(place, &request).unwrap().report.would_mutate);
}

#[test]
fn conversations_of_a_workspace_go_to_its_trash_unless_flagged_open_or_without_a_route() {
    let root = tempfile::tempdir().unwrap();
    let workspace = crate::store::tests::store(root.path());
    let made: Vec<SessionId> = (0..4)
        .map(|n| {
            let mut meta = crate::store::tests::meta("a");
            meta.flagged = n == 1;
            let (id, mut journal) = workspace.create(&meta).unwrap();
            journal.close().unwrap();
            id
        })
        .collect();
    let [old, flagged, opened, unrouted] = made.as_slice() else { panic!("four") };
    let held = workspace.load(opened, 1).unwrap();
    // One file may have the keys of several agents.
    let desk = Store::open(Options::new(root.path().join("desk"), root.path().join("state"))).unwrap();
    let (of_desk, mut journal) = desk.create(&crate::store::tests::meta("a")).unwrap();
    journal.close().unwrap();
    drop(journal);
    let store = RouteStore::new(disk(), root.path().join("sessions.json"));
    store
        .change(NOW, |rows| {
            for (agent, id) in [("main", old), ("main", flagged), ("main", opened), ("desk", &of_desk)] {
                let row = SessionRow::new(id.clone(), At(ago(40)));
                rows.set(&format!("agent:{agent}:telegram:direct:{id}"), &row).unwrap();
            }
            Ok(())
        })
        .unwrap();
    let config = MaintenanceConfig { prune_after: Days(30 * DAY), ..MaintenanceConfig::default() };
    let active = BTreeSet::new();
    let open = |agent: &AgentId| Ok(if agent.as_str() == "main" { workspace.clone() } else { desk.clone() });
    let place = MaintainedStore {
        store: &store,
        agent: &AgentId::default(),
        names: &KeyNames::default(),
        conversations: &WorkspaceConversations { io: disk(), agent: &AgentId::default(), open: &open },
    };
    let run = MaintenanceRun::Enforce;
    let request = MaintenanceRequest { now: NOW, config: &config, run, fix_missing: true, active: &active };
    let done = maintain(place, &request).unwrap();
    assert_eq!(
        (done.report.pruned, done.report.missing, done.warnings.as_slice()),
        (2, 0, &[][..]),
        "{:?}",
        done.lines
    );
    let left: BTreeSet<SessionId> = workspace.list().sessions.into_iter().map(|meta| meta.id).collect();
    assert_eq!(left, BTreeSet::from([flagged.clone(), opened.clone(), unrouted.clone()]));
    assert_eq!((workspace.trash().len(), desk.trash().len()), (1, 1));
    drop(held);

    // A folder that can't be listed is no folder without sessions.
    let sessions = workspace.session_dir(old).parent().unwrap().to_owned();
    fs::rename(&sessions, root.path().join("elsewhere")).unwrap();
    std::os::unix::fs::symlink(root.path().join("elsewhere"), &sessions).unwrap();
    let error = maintain(place, &request).unwrap_err();
    assert!(matches!(error, RouteStoreError::Unlisted(_)), "{error}");
    assert_eq!(store.read().unwrap().len(), 2);
}

#[test]
fn stores_of_the_agents_are_found() {
    let root = tempfile::tempdir().unwrap();
    for name in ["work", "main", "Not An Agent"] {
        fs::create_dir(root.path().join(name)).unwrap();
    }
    let home = Path::new("/home/ana");
    let found = |setting| -> Vec<(String, String)> {
        let stores = agent_stores(&Disk, root.path(), setting, home);
        let text = |store: AgentStore| (store.agent.to_string(), store.path.display().to_string());
        stores.into_iter().map(text).collect()
    };
    let at = |agent: &str| (agent.to_owned(), format!("{}/{agent}/sessions/sessions.json", root.path().display()));
    assert_eq!(found(None), [at("main"), at("work")]);
    let pair = |agent: &str, path: &str| (agent.to_owned(), path.to_owned());
    assert_eq!(
        found(Some("~/r/{agentId}.json")),
        [pair("main", "/home/ana/r/main.json"), pair("work", "/home/ana/r/work.json")]
    );
    assert_eq!(found(Some("/r/all.json")), [pair("main", "/r/all.json")]);
    for (path, agent) in [
        ("/h/.openclaw/agents/work/sessions/sessions.json", "work"),
        ("/h/sessions.json", "main"),
        ("sessions.json", "main"),
    ] {
        assert_eq!(agent_of(Path::new(path)).as_str(), agent, "{path}");
    }
}
