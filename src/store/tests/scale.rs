//! Many sessions, and the list's cache: it saves work and never changes what is listed.

use super::*;
use crate::domain::notice::Level;
use crate::store::io::{Fault, Watched};
use proptest::prelude::*;
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

#[path = "../../../benches/support/stores.rs"]
mod stores;

const SECOND: i64 = 1_000_000_000;

/// A disk whose files have the times of a clock that the test moves, in whole ticks; and that can be full or refuse.
#[derive(Debug)]
struct Clocked {
    now: AtomicI64,
    tick: i64,
    /// Last change of content and of anything, by inode.
    times: Mutex<HashMap<u64, (i64, i64)>>,
    /// Bytes that were read.
    read: AtomicU64,
    full: AtomicBool,
    refused: Mutex<Option<PathBuf>>,
}

impl Clocked {
    fn new(tick: i64) -> Arc<Self> {
        let now = AtomicI64::new(1_795_300_000 * SECOND);
        let (times, full, refused) = (Mutex::default(), AtomicBool::new(false), Mutex::default());
        Arc::new(Self { now, tick, times, read: AtomicU64::new(0), full, refused })
    }

    fn pass(&self, nanos: i64) {
        self.now.fetch_add(nanos, Ordering::SeqCst);
    }

    /// The file was changed now; `modified` is the time that it says.
    fn touched(&self, path: &Path, modified: Option<i64>) {
        let Ok(stat) = Disk.stat(path) else { return };
        let now = self.now.load(Ordering::SeqCst) / self.tick * self.tick;
        self.times.lock().unwrap().insert(stat.ino, (modified.unwrap_or(now), now));
    }

    fn full(&self) -> std::io::Result<()> {
        if self.full.load(Ordering::SeqCst) { Err(std::io::Error::from_raw_os_error(28)) } else { Ok(()) }
    }

    fn allowed(&self, path: &Path) -> std::io::Result<()> {
        let refused = self.refused.lock().unwrap();
        if refused.as_ref().is_some_and(|refused| path.starts_with(refused)) {
            return Err(std::io::Error::from_raw_os_error(13));
        }
        Ok(())
    }
}

impl Io for Clocked {
    fn open(&self, path: &Path, how: How) -> std::io::Result<File> {
        self.allowed(path)?;
        Disk.open(path, how)
    }
    fn read_at(&self, file: &File, at: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = Disk.read_at(file, at, buffer)?;
        self.read.fetch_add(read as u64, Ordering::SeqCst);
        Ok(read)
    }
    fn write_at(&self, file: &File, at: u64, bytes: &[u8]) -> std::io::Result<()> {
        self.full().and_then(|()| Disk.write_at(file, at, bytes))
    }
    fn append(&self, file: &File, bytes: &[u8]) -> std::io::Result<()> {
        self.full().and_then(|()| Disk.append(file, bytes))
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
        Disk.rename(from, to)
    }
    fn mkdir(&self, path: &Path) -> std::io::Result<()> {
        self.full().and_then(|()| Disk.mkdir(path))
    }
    fn list(&self, path: &Path) -> std::io::Result<Vec<OsString>> {
        Disk.list(path)
    }
    fn stat(&self, path: &Path) -> std::io::Result<Stat> {
        self.allowed(path)?;
        let stat = Disk.stat(path)?;
        let times = self.times.lock().unwrap();
        let (modified_ns, changed_ns) = times.get(&stat.ino).copied().unwrap_or((SECOND, SECOND));
        Ok(Stat { modified: modified_ns / 1_000_000, modified_ns, changed_ns, ..stat })
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
    fn now_ns(&self) -> i64 {
        self.now.load(Ordering::SeqCst)
    }
}

fn by_id(mut sessions: Vec<SessionMeta>) -> Vec<SessionMeta> {
    sessions.sort_by(|a, b| a.id.cmp(&b.id));
    sessions
}

fn listed(store: &Store) -> Vec<SessionMeta> {
    by_id(store.list().sessions)
}

fn cached(store: &Store) -> Option<Vec<SessionMeta>> {
    store.cached().map(|(sessions, _)| sessions)
}

/// List made without a cache.
fn anew(root: &Path, io: Arc<dyn Io>) -> Vec<SessionMeta> {
    let nowhere = folder();
    let options = Options { home: HOME.into(), io, ..Options::new(root.join("work"), nowhere.path().join("state")) };
    listed(&Store::open(options).unwrap())
}

fn cache(root: &Path) -> PathBuf {
    let mut files = std::fs::read_dir(root.join("state/index")).unwrap();
    let one = files.next().unwrap().unwrap().path();
    assert!(files.next().is_none());
    one
}

/// A workspace of 60 sessions, 27 of them damaged, whose files have been as they are for long.
fn some(io: &Arc<Clocked>) -> (tempfile::TempDir, Store) {
    let root = folder();
    let plan = stores::Plan { sessions: 60, damaged: stores::DAMAGES.len(), rows: 6, padded: false, seed: 7 };
    stores::fill(&root.path().join("work"), plan);
    let store = store_with(root.path(), io.clone());
    (root, store)
}

#[test]
fn thousands_are_listed_and_the_damaged_among_them_say_so() {
    let root = folder();
    let plan = stores::Plan { sessions: 2000, damaged: 60, rows: 4, padded: false, seed: 1 };
    let damaged = stores::fill(&root.path().join("work"), plan);
    assert_eq!(damaged.len(), 60);
    let store = store(root.path());
    let listing = store.list();
    assert!(listing.notices.is_empty());
    let sessions = by_id(listing.sessions);
    assert_eq!(sessions.len(), 2000);
    let how: HashMap<&str, &str> = damaged.iter().map(|(id, how)| (id.as_str(), *how)).collect();
    for meta in &sessions {
        let how = how.get(meta.id.as_str()).copied().unwrap_or_default();
        let seen = how.starts_with("file") || how.starts_with("header");
        assert_eq!(!meta.odd.is_empty(), seen, "{} {how}: {:?}", meta.id, meta.odd);
    }
    assert_eq!(by_id(cached(&store).unwrap()), sessions);
    assert_eq!(listed(&super::store(root.path())), sessions);
}

#[test]
fn an_unchanged_store_costs_the_cache_the_directory_and_a_stat_for_each_session() {
    let io = Clocked::new(1);
    let root = folder();
    let plan = stores::Plan { sessions: 100, damaged: 0, rows: 3, padded: true, seed: 7 };
    stores::fill(&root.path().join("work"), plan);
    let first = listed(&store_with(root.path(), io.clone()));
    let watched = Arc::new(Watched::new(io, Fault::None));
    let store = store_with(root.path(), watched.clone());
    let opened = watched.calls();
    let written = std::fs::metadata(cache(root.path())).unwrap().modified().unwrap();
    assert_eq!(listed(&store), first);
    // To open, to look at and to read the cache; to see that the folder is no link, and to list it; and 100.
    assert_eq!(watched.calls() - opened, 3 + 2 + 100);
    assert_eq!(std::fs::metadata(cache(root.path())).unwrap().modified().unwrap(), written);
    assert_eq!(by_id(cached(&store).unwrap()), first);
}

#[test]
fn what_changed_since_the_cache_was_read_is_told_alone() {
    let io = Clocked::new(1);
    let (root, store) = some(&io);
    store.list();
    let (_, mark) = store.cached().unwrap();
    assert_eq!(store.changed_since(mark), Some(vec![]));
    let sessions = root.path().join("work/sessions");
    let plan = stores::Plan { sessions: 1, damaged: 0, rows: 1, padded: false, seed: 9 };
    for name in ["new".to_owned(), stores::id(1)] {
        let path = sessions.join(&name).join("session.jsonl");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, stores::Session::make(&name, 0, plan).bytes()).unwrap();
    }
    let changed = by_id(store.changed_since(mark).unwrap());
    assert_eq!(changed.iter().map(|meta| meta.id.to_string()).collect::<Vec<_>>(), [stores::id(1), "new".to_owned()]);
    // The cache was renewed with that: whoever read the one before does not know what changed.
    assert_eq!(store.changed_since(mark), None);
    let (_, mark) = store.cached().unwrap();
    assert_eq!(store.changed_since(mark), Some(vec![]));
    std::fs::remove_dir_all(sessions.join("new")).unwrap();
    assert_eq!(store.changed_since(mark), None);
    assert_eq!(store.list().sessions.len(), 60);
}

#[test]
fn the_cache_of_another_place_is_not_used() {
    let io = Clocked::new(1);
    let (root, store) = some(&io);
    store.list();
    let elsewhere =
        Options { home: "/home/eve".into(), io, ..Options::new(root.path().join("work"), root.path().join("state")) };
    let other = Store::open(elsewhere).unwrap();
    assert_eq!(cached(&other), None);
    let of = |sessions: Vec<SessionMeta>| sessions.iter().filter(|meta| meta.cwd.starts_with("/home/eve")).count();
    assert!(of(other.list().sessions) > 30);
    assert!(of(cached(&other).unwrap()) > 30);
}

#[test]
fn a_broken_cache_is_made_anew() {
    let io = Clocked::new(1);
    let (root, store) = some(&io);
    let right = listed(&store);
    let whole = std::fs::read(cache(root.path())).unwrap();
    let mut broken: Vec<Vec<u8>> = vec![Vec::new(), b"lisle list 999\n".to_vec(), b"{}".to_vec(), vec![0xff; 5000]];
    broken.extend((1..40).map(|n| whole[..whole.len() * n / 40].to_vec()));
    broken.push([&whole[..], b"x"].concat());
    for n in 0..200 {
        let mut flipped = whole.clone();
        flipped[whole.len() * n / 200] ^= 1 << (n % 8);
        broken.push(flipped);
    }
    let path = cache(root.path());
    for bytes in broken {
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(cached(&store), None);
        assert_eq!(listed(&store), right);
        assert_eq!(std::fs::read(&path).unwrap(), whole);
    }
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    std::fs::write(path.join("x"), "").unwrap();
    assert_eq!((cached(&store), listed(&store)), (None, right));
    // What a writer could not bring under its name is not left behind.
    assert_eq!(std::fs::read_dir(root.path().join("state/index")).unwrap().count(), 1);
}

#[test]
fn what_a_dead_writer_left_goes_with_the_next_one() {
    let io = Clocked::new(1);
    let (root, store) = some(&io);
    store.list();
    let (old, young) = (root.path().join("state/index/.lisle-1-a.tmp"), root.path().join("state/index/.lisle-2-b.tmp"));
    for path in [&old, &young] {
        std::fs::write(path, "half").unwrap();
        io.touched(path, None);
        io.pass(45 * SECOND);
    }
    std::fs::remove_dir_all(root.path().join("work/sessions").join(stores::id(1))).unwrap();
    store.list();
    assert_eq!((old.exists(), young.exists()), (false, true));
}

#[test]
fn a_full_disk_costs_the_cache_and_nothing_else() {
    let io = Clocked::new(1);
    let (root, store) = some(&io);
    io.full.store(true, Ordering::SeqCst);
    let right = anew(root.path(), io.clone());
    assert_eq!((listed(&store), cached(&store)), (right.clone(), None));
    io.full.store(false, Ordering::SeqCst);
    assert_eq!(listed(&store), right);
    io.full.store(true, Ordering::SeqCst);
    let gone = stores::id(1);
    std::fs::remove_dir_all(root.path().join("work/sessions").join(&gone)).unwrap();
    let fewer: Vec<SessionMeta> = right.iter().filter(|meta| meta.id.as_str() != gone).cloned().collect();
    assert_eq!(listed(&store), fewer);
    // The one before stays whole.
    assert_eq!(by_id(cached(&store).unwrap()), right);
}

#[test]
fn no_death_and_no_error_leaves_a_cache_that_is_wrong() {
    let io = Clocked::new(1);
    let root = folder();
    let plan = stores::Plan { sessions: 6, damaged: 5, rows: 3, padded: false, seed: 7 };
    stores::fill(&root.path().join("work"), plan);
    std::fs::write(root.path().join("work/sessions").join(stores::id(4)).join("header.json"), second(1)).unwrap();
    let right = listed(&store_with(root.path(), io.clone()));
    for at in 1.. {
        for fault in [Fault::DieBefore(at), Fault::DieAmid(at), Fault::Fail { at, times: 1, errno: 5 }] {
            std::fs::remove_file(cache(root.path())).unwrap();
            store_with(root.path(), Arc::new(Watched::new(io.clone(), fault))).list();
            assert_eq!(listed(&store_with(root.path(), io.clone())), right, "{fault:?}");
            // And one that is there already.
            store_with(root.path(), Arc::new(Watched::new(io.clone(), fault))).list();
            assert_eq!(listed(&store_with(root.path(), io.clone())), right, "{fault:?}");
        }
        std::fs::remove_file(cache(root.path())).unwrap();
        let watched = Arc::new(Watched::new(io.clone(), Fault::None));
        store_with(root.path(), watched.clone()).list();
        if watched.calls() < at {
            break;
        }
    }
}

#[test]
fn a_session_that_may_not_be_read_says_so_until_it_may() {
    let io = Clocked::new(1);
    let (root, store) = some(&io);
    let right = listed(&store);
    let sessions = root.path().join("work/sessions");
    let name = stores::id(1);
    for refused in [sessions.join(&name), sessions.join(&name).join("session.jsonl")] {
        *io.refused.lock().unwrap() = Some(refused);
        for _ in 0..2 {
            let now = listed(&store);
            assert_eq!(now.len(), right.len());
            for (now, was) in now.iter().zip(&right) {
                if now.id.as_str() == name {
                    assert!(now.odd[0].contains("Can't read session.jsonl: Permission denied"), "{:?}", now.odd);
                } else {
                    assert_eq!(now, was);
                }
            }
        }
        *io.refused.lock().unwrap() = None;
        assert_eq!(listed(&store), right);
    }
}

#[test]
fn names_of_any_length_are_listed_or_named() {
    let root = folder();
    let sessions = root.path().join("work/sessions");
    let plan = stores::Plan { sessions: 1, damaged: 0, rows: 1, padded: false, seed: 7 };
    stores::fill(&root.path().join("work"), plan);
    let bytes = stores::Session::make("a", 0, plan).bytes();
    let (longest, too_long) = ("n".repeat(200), "n".repeat(255));
    for name in [&longest, &too_long] {
        std::fs::create_dir(sessions.join(name)).unwrap();
        std::fs::write(sessions.join(name).join("session.jsonl"), &bytes).unwrap();
    }
    std::fs::write(sessions.join("f".repeat(255)), "a file").unwrap();
    let store = store(root.path());
    for _ in 0..2 {
        let listing = store.list();
        let ids: Vec<String> = by_id(listing.sessions).iter().map(|meta| meta.id.to_string()).collect();
        assert_eq!(ids, [stores::id(0), longest.clone()]);
        assert_eq!(listing.notices.len(), 1);
        assert_eq!(listing.notices[0].level, Level::Warning);
        assert!(
            listing.notices[0].text.contains(&too_long)
                && !listing.notices[0].text.contains('f'.to_string().repeat(9).as_str())
        );
    }
}

#[test]
fn files_from_the_future_are_read_each_time() {
    let io = Clocked::new(1);
    let (root, store) = some(&io);
    let id = stores::id(1);
    let path = session_file(root.path(), &id);
    let text = std::fs::read_to_string(&path).unwrap();
    let title = |n: char| {
        let at = text.find("\"name\":\"").unwrap() + 8;
        format!("{}{n}{}", &text[..at], &text[at + 1..])
    };
    io.touched(&path, None);
    // The clock went back by an hour: what comes next may well have the very same times.
    io.pass(-3600 * SECOND);
    for letter in ['X', 'Y', 'Z'] {
        std::fs::write(&path, title(letter)).unwrap();
        let now = listed(&store);
        let meta = now.iter().find(|meta| meta.id.as_str() == id).unwrap();
        assert!(meta.title.starts_with(letter), "{}", meta.title);
    }
}

#[test]
fn of_a_large_session_its_end_alone_is_read() {
    let io = Clocked::new(1);
    let root = folder();
    let store = store_with(root.path(), io.clone());
    stores::large(&root.path().join("work/sessions/a"), 6000, 8_000_000, 1);
    let whole = std::fs::metadata(session_file(root.path(), "a")).unwrap().len();
    let read = |act: &dyn Fn() -> Option<u64>| {
        let before = io.read.load(Ordering::SeqCst);
        let next = act();
        (next, io.read.load(Ordering::SeqCst) - before)
    };
    let (mut cursor, opening) = read(&|| {
        let mut loaded = store.load(&id("a"), 200).unwrap();
        assert_eq!((loaded.rows.len(), loaded.meta.messages), (200, 6000));
        let mut journal = match std::mem::replace(&mut loaded.access, Access::Reader { held_by: String::new() }) {
            Access::Writer(journal) => journal,
            Access::Reader { held_by } => panic!("held by {held_by}"),
        };
        journal.append(&[user(1)], Durability::Written).unwrap();
        journal.close().unwrap();
        loaded.earlier
    });
    assert!(opening < whole / 4, "{opening} of {whole}");
    let mut rows = 200;
    while let Some(to) = cursor {
        let (next, bytes) = read(&|| {
            let page = store.page(&id("a"), to, 400).unwrap();
            assert!(page.rows.len() == 400 || page.earlier.is_none());
            page.earlier
        });
        assert!(bytes < whole / 2, "{bytes} of {whole}");
        rows += 400;
        cursor = next;
    }
    assert!((6000..6400).contains(&rows));
    assert_eq!(store.context(&id("a")).unwrap().len(), 6001);
}

#[test]
fn a_page_of_long_rows_has_fewer_of_them() {
    let root = folder();
    let store = store(root.path());
    let (id, mut journal) = store.create(&meta("a")).unwrap();
    let rows: Vec<Message> = (0..20)
        .map(|n| {
            let body = Body::User(UserText { text: "x".repeat(1 << 20), ..UserText::default() });
            Message::new(MessageId::new(format!("m{n}")), NOW.plus(n), body)
        })
        .collect();
    journal.append(&rows, Durability::Written).unwrap();
    journal.close().unwrap();
    drop(journal);
    let loaded = store.load(&id, 200).unwrap();
    assert_eq!(loaded.rows, rows[16..]);
    let page = store.page(&id, loaded.earlier.unwrap(), 200).unwrap();
    assert_eq!(page.rows, rows[12..16]);
    assert_eq!(store.context(&id).unwrap(), rows);
}

#[test]
fn a_row_that_cannot_be_read_has_the_number_of_its_line_on_every_page() {
    let root = folder();
    let plan = stores::Plan { sessions: 1, damaged: 0, rows: 40, padded: true, seed: 7 };
    stores::fill(&root.path().join("work"), plan);
    let name = stores::id(0);
    let path = session_file(root.path(), &name);
    let mut lines: Vec<String> = std::fs::read_to_string(&path).unwrap().lines().map(str::to_owned).collect();
    for number in [5, 20, 36] {
        lines[number - 1] = "@@@".to_owned();
    }
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    let store = store(root.path());
    let mut found = Vec::new();
    let mut cursor = Some(u64::MAX);
    while let Some(to) = cursor {
        let page = store.page(&id(&name), to, 7).unwrap();
        let odd = page.rows.iter().rev().filter_map(|row| match &row.body {
            Body::Odd(odd) => Some(odd.line),
            _ => None,
        });
        found.extend(odd);
        cursor = page.earlier;
    }
    assert_eq!(found, [36, 20, 5]);
}

/// Event in a workspace between two lists.
#[derive(Clone, Debug)]
enum Step {
    /// A session's file gets other content, of the same length or not, in place or by a rename.
    Write {
        who: usize,
        what: usize,
        anew: bool,
    },
    /// In place, and its time of change is set back to what it was.
    Backdated {
        who: usize,
        what: usize,
    },
    /// `header.json` or another program's temporary file comes, changes or goes.
    Beside {
        who: usize,
        which: bool,
        what: Option<usize>,
    },
    Delete {
        who: usize,
    },
    Rename {
        from: usize,
        to: usize,
    },
    /// Two sessions change their directories.
    Swap {
        a: usize,
        b: usize,
    },
    Wait {
        millis: i64,
    },
    List,
}

const WHO: usize = 5;

fn step() -> impl Strategy<Value = Step> {
    let who = 0..WHO;
    prop_oneof![
        4 => (who.clone(), 0..9usize, any::<bool>()).prop_map(|(who, what, anew)| Step::Write { who, what, anew }),
        2 => (who.clone(), 0..9usize).prop_map(|(who, what)| Step::Backdated { who, what }),
        2 => (who.clone(), any::<bool>(), prop::option::of(0..9usize))
            .prop_map(|(who, which, what)| Step::Beside { who, which, what }),
        1 => who.clone().prop_map(|who| Step::Delete { who }),
        1 => (who.clone(), who.clone()).prop_map(|(from, to)| Step::Rename { from, to }),
        1 => (who.clone(), who).prop_map(|(a, b)| Step::Swap { a, b }),
        3 => (0..5000i64).prop_map(|millis| Step::Wait { millis }),
        5 => Just(Step::List),
    ]
}

/// Contents of `session.jsonl`; the first six have one length.
fn content(what: usize) -> Vec<u8> {
    let session = |title: char| {
        format!(
            "{{\"id\":\"s0\",\"createdAt\":5,\"name\":\"title {title}\"}}\n{{\"id\":\"m\",\"content\":\"x\",\"timestamp\":7,\"type\":\"user\"}}\n"
        )
    };
    let mut bytes = session('a').into_bytes();
    match what {
        0 => {}
        1 => bytes = session('b').into_bytes(),
        2 => bytes.fill(0),
        3 => bytes[3] = b'@',
        4 => bytes = String::from_utf8(bytes).unwrap().replacen("createdAt", "madeAtTim", 1).into_bytes(),
        5 => bytes[0] = b'[',
        6 => bytes = session('c').split_once('\n').unwrap().1.into(),
        7 => bytes.clear(),
        _ => bytes.insert(0, b'\n'),
    }
    bytes
}

/// `header.json` that lisle wrote for some line 1.
fn second(what: usize) -> Vec<u8> {
    let header = format!("{{\"id\":\"s0\",\"createdAt\":5,\"name\":\"second {what}\"}}");
    format!("{{\"v\":1,\"before\":\"x\",\"after\":\"y\",\"length\":0,\"header\":{header},\"own\":null}}\n").into_bytes()
}

fn take(step: &Step, sessions: &Path, io: &Clocked) {
    let dir = |who: usize| sessions.join(format!("s{who}"));
    let write = |path: &Path, bytes: &[u8]| {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    };
    match *step {
        Step::Write { who, what, anew } => {
            let path = dir(who).join("session.jsonl");
            if anew {
                let temp = dir(who).join("temp");
                write(&temp, &content(what));
                std::fs::rename(temp, &path).unwrap();
            } else {
                write(&path, &content(what));
            }
            io.touched(&path, None);
        }
        Step::Backdated { who, what } => {
            let path = dir(who).join("session.jsonl");
            let before = io.stat(&path).ok().map(|stat| stat.modified_ns);
            write(&path, &content(what));
            io.touched(&path, before);
        }
        Step::Beside { who, which, what } => {
            let path = dir(who).join(if which { "header.json" } else { "session.jsonl.tmp" });
            match what {
                Some(what) => write(&path, &if which { second(what) } else { content(what) }),
                None => drop(std::fs::remove_file(&path)),
            }
            io.touched(&path, None);
        }
        Step::Delete { who } => drop(std::fs::remove_dir_all(dir(who))),
        Step::Rename { from, to } => drop(std::fs::rename(dir(from), dir(to))),
        Step::Swap { a, b } => {
            let aside = sessions.join("aside");
            if std::fs::rename(dir(a), &aside).is_ok() {
                let _ = std::fs::rename(dir(b), dir(a));
                std::fs::rename(aside, dir(b)).unwrap();
            }
        }
        Step::Wait { millis } => io.pass(millis * 1_000_000),
        Step::List => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn with_its_cache_the_list_is_what_it_would_be_without(
        steps in prop::collection::vec(step(), 1..60), tick in prop::sample::select(vec![1, 4_000_000, SECOND, 2 * SECOND]),
    ) {
        let io = Clocked::new(tick);
        let root = folder();
        let sessions = root.path().join("work/sessions");
        std::fs::create_dir_all(&sessions).unwrap();
        let store = store_with(root.path(), io.clone());
        for step in steps.iter().chain([&Step::List]) {
            take(step, &sessions, &io);
            if matches!(step, Step::List) {
                let right = anew(root.path(), io.clone());
                if let Some((sessions, mark)) = store.cached()
                    && let Some(changed) = store.changed_since(mark)
                {
                    let mut now: HashMap<SessionId, SessionMeta> =
                        sessions.into_iter().chain(changed).map(|meta| (meta.id.clone(), meta)).collect();
                    prop_assert_eq!(&by_id(now.drain().map(|(_, meta)| meta).collect()), &right);
                }
                prop_assert_eq!(&listed(&store), &right);
                if !right.is_empty() {
                    prop_assert_eq!(by_id(cached(&store).unwrap()), right);
                }
            }
        }
    }
}
