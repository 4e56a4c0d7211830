//! Changes of sessions that nobody has open, and the trash; with deaths and errors at every file call.

use super::io::{Fault, PathKind, Watched};
use super::*;
use crate::domain::property_change::PropertyChange;
use crate::domain::trash::TrashId;
use std::collections::BTreeMap;

pub(super) fn quick(root: &Path) -> Store {
    store_with(root, Arc::new(Quick))
}

pub(super) fn disturbed(root: &Path, fault: Fault) -> (Store, Arc<Watched>) {
    let io = Arc::new(Watched::new(Arc::new(Quick), fault));
    (store_with(root, io.clone()), io)
}

/// A disk of which every directory is one of its own: nothing is renamed from one to another.
#[derive(Debug)]
struct Apart;

impl Io for Apart {
    fn open(&self, path: &Path, how: How) -> std::io::Result<File> {
        Disk.open(path, how)
    }
    fn read_at(&self, file: &File, at: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        Disk.read_at(file, at, buffer)
    }
    fn write_at(&self, file: &File, at: u64, bytes: &[u8]) -> std::io::Result<()> {
        Disk.write_at(file, at, bytes)
    }
    fn append(&self, file: &File, bytes: &[u8]) -> std::io::Result<()> {
        Disk.append(file, bytes)
    }
    fn truncate(&self, file: &File, len: u64) -> std::io::Result<()> {
        Disk.truncate(file, len)
    }
    fn fsync(&self, _file: &File) -> std::io::Result<()> {
        Ok(())
    }
    fn fsync_dir(&self, _path: &Path) -> std::io::Result<()> {
        Ok(())
    }
    fn rename(&self, from: &Path, to: &Path) -> std::io::Result<()> {
        if from.parent() == to.parent() {
            Disk.rename(from, to)
        } else {
            Err(std::io::ErrorKind::CrossesDevices.into())
        }
    }
    fn link(&self, _from: &Path, _to: &Path) -> std::io::Result<()> {
        Err(std::io::ErrorKind::CrossesDevices.into())
    }
    fn mkdir(&self, path: &Path) -> std::io::Result<()> {
        Disk.mkdir(path)
    }
    fn list(&self, path: &Path) -> std::io::Result<Vec<OsString>> {
        Disk.list(path)
    }
    fn stat(&self, path: &Path) -> std::io::Result<Stat> {
        Disk.stat(path)
    }
    fn remove(&self, path: &Path) -> std::io::Result<()> {
        Disk.remove(path)
    }
    fn try_lock(&self, file: &File) -> std::io::Result<bool> {
        Disk.try_lock(file)
    }
    fn is_locked(&self, file: &File) -> std::io::Result<bool> {
        Disk.is_locked(file)
    }
    fn swap(&self, one: &Path, other: &Path) -> std::io::Result<()> {
        Disk.swap(one, other)
    }
    fn is_remote(&self, path: &Path) -> std::io::Result<bool> {
        Disk.is_remote(path)
    }
}

/// Errors and deaths at the n-th call.
pub(super) fn faults(at: u64) -> [Fault; 7] {
    [
        Fault::DieBefore(at),
        Fault::DieAmid(at),
        Fault::Fail { at, times: 1, errno: 5 },
        Fault::Fail { at, times: 1, errno: 28 },
        Fault::Fail { at, times: 1, errno: 13 },
        Fault::Fail { at, times: u64::MAX, errno: 30 },
        Fault::Tear { at, errno: 28 },
    ]
}

/// Pages of sessions that can be revoked, or not.
#[derive(Debug, Default)]
struct Pages {
    revoked: std::sync::Mutex<Vec<SessionId>>,
    stay: bool,
}

impl PublicPages for Pages {
    fn revoke(&self, _: &Path, session: &SessionId) -> std::io::Result<usize> {
        if self.stay {
            return Err(std::io::Error::other("the disk says no"));
        }
        self.revoked.lock().unwrap().push(session.clone());
        Ok(1)
    }
}

#[test]
fn a_session_goes_with_its_pages_or_not_at_all() {
    type Delete = fn(&Store, &SessionId) -> Result<(), StoreError>;
    let ways: [(&str, Delete); 2] = [
        ("trash", |store, id| store.delete(id, NOW).map(drop)),
        ("for good", |store, id| store.delete_now(id).map(drop)),
    ];
    for (way, delete) in ways {
        for stay in [false, true] {
            let root = folder();
            let pages = Arc::new(Pages { stay, ..Pages::default() });
            let options = Options::new(root.path().join("work"), root.path().join("state"));
            let store = Store::open(Options { home: HOME.into(), pages: Some(pages.clone()), ..options }).unwrap();
            let id = a_session(root.path(), "a");
            let done = delete(&store, &id);
            assert_eq!((done.is_err(), store.read(&id, 1).is_ok()), (stay, stay), "{way}: {done:?}");
            assert_eq!(pages.revoked.lock().unwrap().contains(&id), !stay, "{way}");
            if let Err(error) = done {
                assert!(error.to_string().contains("shared pages of"), "{error}");
            }
        }
    }
}

#[test]
fn a_session_that_another_one_writes_keeps_its_pages() {
    let root = folder();
    let pages = Arc::new(Pages::default());
    let options = Options::new(root.path().join("work"), root.path().join("state"));
    let store = Store::open(Options { home: HOME.into(), pages: Some(pages.clone()), ..options }).unwrap();
    let id = a_session(root.path(), "a");
    let _loaded = store.load(&id, 5).unwrap();
    assert!(store.delete(&id, NOW).is_err() && store.delete_now(&id).is_err());
    assert_eq!(*pages.revoked.lock().unwrap(), []);
}

/// Two rows, files, a draft, and a flag.
fn a_session(root: &Path, name: &str) -> SessionId {
    let store = quick(root);
    let mut meta = meta(name);
    meta.title = "Kept title".into();
    meta.flagged = true;
    let (id, mut journal) = store.create(&meta).unwrap();
    journal.append(&[user(1), answer(2)], Durability::Synced).unwrap();
    journal.close().unwrap();
    let dir = journal.dir().to_owned();
    drop(journal);
    std::fs::create_dir_all(dir.join("plans/deep")).unwrap();
    std::fs::write(dir.join("plans/deep/p.md"), "# plan").unwrap();
    std::os::unix::fs::symlink("/etc/hostname", dir.join("plans/link")).unwrap();
    store.save_draft(&id, &"half a thought".into()).unwrap();
    id
}

/// Every file below a directory but the lock and temporary ones, with length and hash; links as what they name.
pub(super) fn tree(dir: &Path) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for entry in crate::store::io::trees::below(&Disk, dir).unwrap() {
        let path = dir.join(&entry.path);
        let content = match entry.kind {
            PathKind::File => std::fs::read(&path).unwrap(),
            PathKind::Link => std::fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes(),
            _ => continue,
        };
        let content = format!("{} {}", content.len(), super::header::hash(&content));
        out.insert(entry.path.to_str().unwrap().to_owned(), content);
    }
    out.retain(|name, _| name != "lisle.lock" && !crate::store::format::layout::is_temp(name));
    out
}

#[test]
fn a_change_writes_the_header_and_leaves_the_rows() {
    let root = copy_of("main");
    let store = store(root.path());
    let name = id("260923-royal-maple");
    let path = session_file(root.path(), name.as_str());
    let before = std::fs::read_to_string(&path).unwrap();
    let meta = store.change(&name, &PropertyChange::Archived(true), NOW).unwrap();
    assert_eq!((meta.archived, meta.archived_at), (true, Some(NOW)));
    let after = std::fs::read_to_string(&path).unwrap();
    assert_eq!(after.split_once('\n').unwrap().1, before.split_once('\n').unwrap().1);
    for part in [r#""schemaVersion":7"#, r#""zzz":"kept?""#, r#""sessionStatus":"shipped""#, r#""isArchived":true"#] {
        assert!(after.contains(part), "{part}");
    }
    let listed = store.list().sessions.into_iter().find(|m| m.id == name).unwrap();
    assert_eq!((listed.archived, listed.archived_at, listed.messages), (true, Some(NOW), meta.messages));
    // What is so already is not written again.
    let inode = |path: &Path| std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(path).unwrap());
    let second = inode(&path.with_file_name("header.json"));
    store.change(&name, &PropertyChange::Archived(true), NOW.plus(5)).unwrap();
    assert_eq!(inode(&path.with_file_name("header.json")), second);
    store.change(&name, &PropertyChange::Archived(false), NOW).unwrap();
    assert!(!std::fs::read_to_string(&path).unwrap().contains("archivedAt"));
    // Nobody is said to hold what was let go.
    assert_eq!(store.read(&name, 1).unwrap().meta.held_by, None);
}

#[test]
fn every_session_of_another_program_can_be_changed_and_keeps_its_rows() {
    for workspace in ["main", "damaged"] {
        let root = copy_of(workspace);
        let store = store(root.path());
        for listed in store.list().sessions {
            if listed.id.as_str().contains("only-tmp") {
                // Left by another program a moment ago.
                assert!(store.change(&listed.id, &PropertyChange::Flagged(true), NOW).is_err());
                continue;
            }
            let rows = store.read(&listed.id, 500).unwrap();
            let flagged = !listed.flagged;
            let meta = match store.change(&listed.id, &PropertyChange::Flagged(flagged), NOW) {
                Err(StoreError::HeaderTooLong { .. }) if listed.id.as_str().contains("edge-harbor") => continue,
                done => done.unwrap(),
            };
            assert_eq!((meta.flagged, &meta.title), (flagged, &listed.title), "{}", listed.id);
            let after = store.read(&listed.id, 500).unwrap();
            let whole = |rows: &[Message]| ids(rows).iter().filter(|i| !i.starts_with("line-")).count();
            assert_eq!(whole(&after.rows), whole(&rows.rows), "{}", listed.id);
            assert_eq!((after.meta.flagged, after.meta.messages), (flagged, meta.messages), "{}", listed.id);
        }
    }
}

#[test]
fn rows_that_a_death_left_uncounted_are_counted_with_a_change() {
    let root = folder();
    let store = quick(root.path());
    let (id, mut journal) = store.create(&meta("a")).unwrap();
    journal.append(&[user(1), answer(2)], Durability::Synced).unwrap();
    journal.live(call(3, ToolStatus::Executing, None), Durability::Synced).unwrap();
    // The header still says that there are none.
    drop(journal);
    let changed = store.change(&id, &PropertyChange::Flagged(true), NOW).unwrap();
    assert_eq!((changed.messages, changed.preview.as_str()), (2, "question 1"));
    let loaded = store.load(&id, 9).unwrap();
    assert_eq!((loaded.meta.messages, loaded.rows.len(), loaded.died_in_turn), (3, 3, true));
}

#[test]
fn what_another_one_writes_is_neither_changed_nor_deleted() {
    let root = folder();
    let (store, id) = (quick(root.path()), a_session(root.path(), "a"));
    let loaded = store.load(&id, 5).unwrap();
    let before = tree(&store.session_dir(&id));
    let refusals = [
        store.change(&id, &PropertyChange::Flagged(false), NOW).map(drop),
        store.delete(&id, NOW).map(drop),
        store.delete_now(&id).map(drop),
    ];
    for refused in refusals {
        match refused {
            Err(StoreError::Held { holder, .. }) => assert!(holder.contains("this lisle"), "{holder}"),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(tree(&store.session_dir(&id)), before);
    drop(loaded);
    assert!(store.change(&id, &PropertyChange::Flagged(false), NOW).is_ok());
    for missing in [
        store.change(&super::id("b"), &PropertyChange::Flagged(true), NOW).map(drop),
        store.delete_now(&super::id("b")).map(drop),
    ] {
        assert!(matches!(missing, Err(StoreError::NoSession { .. })), "{missing:?}");
    }
    assert!(!store.session_dir(&super::id("b")).exists());
}

#[test]
fn a_deleted_session_comes_back_as_it_was() {
    let root = folder();
    let (store, id) = (store(root.path()), a_session(root.path(), "260902-swift-river"));
    let before = tree(&store.session_dir(&id));
    let trash = store.delete(&id, NOW).unwrap().trash;
    assert_eq!(trash.session().as_ref(), Some(&id));
    assert!(store.list().sessions.is_empty() && !store.session_dir(&id).exists());
    assert_eq!(store.draft(&id).text, "");
    let there = store.trash();
    assert_eq!(there.len(), 1);
    let one = &there[0];
    assert_eq!((&one.trash, &one.session, one.title.as_str(), one.deleted), (&trash, &id, "Kept title", NOW));
    assert!(one.bytes > 4096 && !one.cleared);
    assert!(matches!(store.delete(&id, NOW), Err(StoreError::NoSession { .. })));
    let meta = store.restore(&trash).unwrap();
    assert_eq!((meta.id.as_str(), meta.title.as_str(), meta.flagged), (id.as_str(), "Kept title", true));
    assert_eq!(tree(&store.session_dir(&id)), before);
    assert_eq!(store.draft(&id).text, "half a thought");
    assert!(matches!(store.restore(&trash), Err(StoreError::NotInTrash { .. })));
    assert!(store.trash().is_empty());
}

#[test]
fn a_restored_session_whose_id_is_taken_gets_the_next_one_and_says_so() {
    let root = folder();
    let (store, id) = (quick(root.path()), a_session(root.path(), "a"));
    let first = store.delete(&id, NOW).unwrap().trash;
    assert_eq!(a_session(root.path(), "a"), id);
    let second = store.delete(&id, NOW).unwrap().trash;
    assert_ne!(first, second);
    assert_eq!(store.restore(&second).unwrap().id, id);
    let other = store.restore(&first).unwrap();
    assert_eq!((other.id.as_str(), other.odd.len()), ("a-2", 0), "{:?}", other.odd);
    let loaded = store.load(&other.id, 9).unwrap();
    assert_eq!((ids(&loaded.rows), loaded.meta.odd), (vec!["msg-u1", "msg-a2"], vec![]));
    for strange in ["../sessions/a", "a", "", "..", "a-20261122T013000123Z/../../sessions/a"] {
        let refused = store.restore(&TrashId(strange.to_owned()));
        assert!(matches!(refused, Err(StoreError::NotInTrash { .. })), "{strange}: {refused:?}");
    }
    assert_eq!(store.list().sessions.len(), 2);
}

#[test]
fn emptying_takes_what_is_old_and_ours_and_follows_no_link() {
    let root = folder();
    let store = quick(root.path());
    for n in 1..=3 {
        let id = a_session(root.path(), &format!("s{n}"));
        store.delete(&id, NOW.plus(n * 1000)).unwrap();
    }
    let trash = root.path().join("work/trash");
    let elsewhere = root.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::write(elsewhere.join("precious"), "x").unwrap();
    std::os::unix::fs::symlink(&elsewhere, trash.join("s9-20200101T000000000Z")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, trash.join(store.trash()[2].trash.0.clone()).join("data")).unwrap();
    std::fs::create_dir(trash.join("somebody else's")).unwrap();
    std::fs::create_dir(trash.join(".lisle-1-00000000.tmp")).unwrap();
    let left = root.path().join("work/sessions/.lisle-1-00000001.tmp");
    std::fs::create_dir(&left).unwrap();
    std::fs::File::open(&left).unwrap().set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(store.list().notices, []);
    assert_eq!(store.empty_trash(NOW.plus(2500)).unwrap(), 3);
    assert_eq!(store.trash().iter().map(|t| t.session.as_str()).collect::<Vec<_>>(), ["s3"]);
    assert!(elsewhere.join("precious").exists() && trash.join("somebody else's").exists());
    // A temporary directory that is young may be another process's work.
    assert!(trash.join(".lisle-1-00000000.tmp").exists() && !left.exists());
    assert_eq!(store.empty_trash(At(i64::MAX)).unwrap(), 1);
    assert!(store.trash().is_empty());
    // Without a trash there is nothing to empty.
    let empty = folder();
    assert_eq!(quick(empty.path()).empty_trash(NOW).unwrap(), 0);
    assert!(quick(empty.path()).trash().is_empty());
}

#[test]
fn deleting_at_once_leaves_nothing() {
    let root = folder();
    let (store, id) = (quick(root.path()), a_session(root.path(), "a"));
    store.delete_now(&id).unwrap();
    assert_eq!(std::fs::read_dir(root.path().join("work/sessions")).unwrap().count(), 0);
    assert!(!root.path().join("work/trash").exists() && store.draft(&id).is_empty());
    assert_eq!(std::fs::read_to_string("/etc/hostname").is_ok(), Path::new("/etc/hostname").exists());
}

#[test]
fn a_trash_on_another_disk_gets_a_whole_copy() {
    let root = folder();
    let id = a_session(root.path(), "a");
    let links = root.path().join("work/sessions/a/plans/link");
    std::fs::remove_file(&links).unwrap();
    let before = tree(&quick(root.path()).session_dir(&id));
    let store = store_with(root.path(), Arc::new(Apart));
    let trash = store.delete(&id, NOW).unwrap().trash;
    assert!(store.list().sessions.is_empty() && !store.session_dir(&id).exists());
    assert_eq!(store.trash()[0].title, "Kept title");
    assert_eq!(store.restore(&trash).unwrap().id, id);
    assert_eq!(tree(&store.session_dir(&id)), before);
    assert_eq!(store.draft(&id).text, "half a thought");
    assert!(store.trash().is_empty());
    // A link cannot be taken along: nothing is moved then.
    std::os::unix::fs::symlink("/etc/hostname", &links).unwrap();
    let error = store.delete(&id, NOW).unwrap_err().to_string();
    assert!(error.contains("plans/link") && error.contains("not a file"), "{error}");
    assert!(store.load(&id, 9).is_ok() && store.trash().is_empty());
    assert_eq!(std::fs::read_dir(root.path().join("work/trash")).unwrap().count(), 0);
    std::fs::remove_file(&links).unwrap();
    let calls = {
        let io = Arc::new(Watched::new(Arc::new(Apart), Fault::None));
        let store = store_with(root.path(), io.clone());
        store.restore(&store.delete(&id, NOW).unwrap().trash).unwrap();
        io.calls()
    };
    for fault in (1..=calls).flat_map(|at| [Fault::DieBefore(at), Fault::Fail { at, times: 1, errno: 28 }]) {
        let root = folder();
        a_session(root.path(), "a");
        std::fs::remove_file(root.path().join("work/sessions/a/plans/link")).unwrap();
        let before = tree(&quick(root.path()).session_dir(&id));
        let io = Arc::new(Watched::new(Arc::new(Apart), fault));
        let store = store_with(root.path(), io);
        let done = store.delete(&id, NOW).and_then(|gone| store.restore(&gone.trash));
        assert_whole(root.path(), &before, true, &format!("{fault:?} {done:?}"));
    }
}

/// The session as a whole is in one place, here or in the trash, and nothing but it is listed.
fn assert_whole(root: &Path, before: &BTreeMap<String, String>, draft: bool, when: &str) {
    let store = quick(root);
    let listing = store.list();
    let there = store.trash();
    assert_eq!(listing.notices, [], "{when}");
    assert!(!(listing.sessions.is_empty() && there.is_empty()), "{when}: lost");
    for session in &listing.sessions {
        let mut now = tree(&store.session_dir(&session.id));
        let kept = now.remove("draft.txt").is_some();
        assert_eq!(&now, before, "{when}");
        assert!(!draft || kept || store.draft(&session.id).text == "half a thought", "{when}: the draft is lost");
        assert!(store.load(&session.id, 9).is_ok(), "{when}");
    }
    for one in &there {
        let mut now = tree(&root.join("work/trash").join(&one.trash.0));
        let kept = now.remove("draft.txt").is_some();
        assert!(!draft || kept || store.draft(&one.session).text == "half a thought", "{when}: the draft is lost");
        assert_eq!(&now, before, "{when}");
    }
}

#[test]
fn a_fault_at_any_call_of_deleting_and_restoring_leaves_one_whole_session() {
    let calls = |act: &dyn Fn(&Store)| {
        let root = folder();
        a_session(root.path(), "a");
        let (store, io) = disturbed(root.path(), Fault::None);
        act(&store);
        io.calls()
    };
    let name = id("a");
    let whole = calls(&|store| drop(store.restore(&store.delete(&name, NOW).unwrap().trash).unwrap()));
    assert!(whole > 20, "{whole}");
    for at in 1..=whole {
        for fault in faults(at) {
            let root = folder();
            a_session(root.path(), "a");
            let before = tree(&quick(root.path()).session_dir(&name));
            let (store, _) = disturbed(root.path(), fault);
            let deleted = store.delete(&name, NOW);
            let when = format!("{fault:?} deleting: {deleted:?}");
            assert_whole(root.path(), &before, true, &when);
            if let Ok(gone) = deleted {
                let restored = store.restore(&gone.trash);
                let when = format!("{fault:?} restoring: {restored:?}");
                assert_whole(root.path(), &before, true, &when);
            } else if !matches!(fault, Fault::DieBefore(_) | Fault::DieAmid(_)) {
                assert_eq!(quick(root.path()).list().sessions.len(), 1, "{when}");
            }
            // Whatever stayed, it can be deleted and brought back.
            let store = quick(root.path());
            for session in store.list().sessions {
                store.delete(&session.id, NOW.plus(9)).unwrap();
            }
            let trash = store.trash().remove(0).trash;
            assert!(store.restore(&trash).is_ok(), "{when}");
        }
    }
    let gone = calls(&|store| {
        store.delete_now(&name).unwrap();
    });
    for fault in (1..=gone).flat_map(faults) {
        let root = folder();
        a_session(root.path(), "a");
        let before = tree(&quick(root.path()).session_dir(&name));
        let done = disturbed(root.path(), fault).0.delete_now(&name);
        let sessions = quick(root.path()).list();
        assert_eq!(sessions.notices, [], "{fault:?}");
        if sessions.sessions.is_empty() {
            assert!(!session_file(root.path(), "a").exists(), "{fault:?}: in parts");
        } else {
            assert!(done.is_err(), "{fault:?}");
            assert_whole(root.path(), &before, false, &format!("{fault:?}"));
        }
    }
}

#[test]
fn a_fault_at_any_call_of_a_change_leaves_the_old_or_the_new_header() {
    for foreign in [false, true] {
        let make = || {
            let root = folder();
            if !foreign {
                let name = a_session(root.path(), "a");
                return (root, name);
            }
            let name = "sessions/260902-swift-river/session.jsonl";
            let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/craft/main").join(name);
            let to = root.path().join("work").join(name);
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::copy(from, to).unwrap();
            (root, id("260902-swift-river"))
        };
        let act = |store: &Store, name: &SessionId| {
            store.alter(name, |meta| {
                meta.status = "done".into();
                meta.title = "Another".into();
            })
        };
        let (root, name) = make();
        let (store, io) = disturbed(root.path(), Fault::None);
        let old = quick(root.path()).read(&name, 99).unwrap();
        act(&store, &name).unwrap();
        for fault in (1..=io.calls()).flat_map(faults) {
            let (root, name) = make();
            let (store, _) = disturbed(root.path(), fault);
            let done = act(&store, &name);
            let now = quick(root.path()).read(&name, 99).unwrap();
            let when = format!("{fault:?} {done:?}");
            let state = (now.meta.status.as_str(), now.meta.title.as_str());
            let before = (old.meta.status.as_str(), old.meta.title.as_str());
            assert!(state == ("done", "Another") || (done.is_err() && state == before), "{when}: {state:?}");
            assert_eq!(
                (&now.rows, now.meta.messages, &now.meta.odd),
                (&old.rows, old.meta.messages, &old.meta.odd),
                "{when}"
            );
            // It can be changed again, and nothing is left lying about.
            assert!(act(&quick(root.path()), &name).is_ok() || done.is_ok(), "{when}");
            assert_eq!(quick(root.path()).list().sessions.into_iter().find(|m| m.id == name).unwrap().status, "done");
        }
    }
}
