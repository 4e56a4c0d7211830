//! Undo: kept, recorded, restored, on real directories.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::{CallToRecord, Done, Known, Since, UndoRecorder, UndoSettings, changes, plan, restore};
use crate::domain::permission::Sandbox;
use crate::domain::tool::{CallFacts, PathPlace, Proposal, Touch};
use crate::domain::undo::{ChangeKind, UndoAim, UndoDeed, UndoState};
use crate::domain::{At, CallId, MessageId, SessionId};
use crate::store::checkpoints::{Bounds, Checkpoints};
use crate::store::{Options, Store};
use crate::tools::protected_files;
use proptest::prelude::*;
use std::collections::{BTreeMap, HashSet};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

mod attributes;
mod guarded;
mod others;

/// A working directory, a workspace, and who keeps what changes.
struct Bench {
    _dir: Option<tempfile::TempDir>,
    home: PathBuf,
    work: PathBuf,
    store: Store,
    session: SessionId,
    recorder: Arc<UndoRecorder>,
    settings: UndoSettings,
    runtime: tokio::runtime::Runtime,
    calls: u64,
    /// Moments, for all sessions of the directory.
    clock: Arc<AtomicI64>,
}

fn free() -> Bounds {
    // The machine of the test may be nearly full.
    Bounds { free: 0, free_percent: 0, ..Bounds::default() }
}

impl Bench {
    fn new() -> Self {
        Self::with(UndoSettings { bounds: free(), ..UndoSettings::default() })
    }

    fn with(settings: UndoSettings) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        let work = home.join("work");
        std::fs::create_dir(&work).unwrap();
        let store = Store::open(Options::new(home.join("w"), home.join("state"))).unwrap();
        let session = SessionId::parse("260101-a-b").unwrap();
        std::fs::create_dir_all(store.session_dir(&session)).unwrap();
        let recorder = Arc::new(UndoRecorder::new(settings.clone(), vec![home.join("w")], home.join("none")));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let clock = Arc::default();
        Self { _dir: Some(dir), home, work, store, session, recorder, settings, runtime, calls: 0, clock }
    }

    /// Another session in the same directory.
    fn beside(&self) -> Self {
        let session = SessionId::parse("260101-c-d").unwrap();
        std::fs::create_dir_all(self.store.session_dir(&session)).unwrap();
        let recorder =
            Arc::new(UndoRecorder::new(self.settings.clone(), vec![self.home.join("w")], self.home.join("none")));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self {
            _dir: None,
            home: self.home.clone(),
            work: self.work.clone(),
            store: self.store.clone(),
            session,
            recorder,
            settings: self.settings.clone(),
            runtime,
            calls: 0,
            clock: self.clock.clone(),
        }
    }

    fn tick(&self) -> At {
        At(self.clock.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// lisle was ended and started again.
    fn restart(&mut self) {
        self.recorder =
            Arc::new(UndoRecorder::new(self.settings.clone(), vec![self.home.join("w")], self.home.join("none")));
    }

    fn checkpoints(&self) -> Checkpoints {
        self.store.checkpoints(&self.session)
    }

    fn about(&mut self, turn: &str, touch: Touch) -> CallToRecord {
        self.calls += 1;
        CallToRecord {
            checkpoints: self.checkpoints(),
            // A server may give every call the same id.
            call: CallId::new("call_0"),
            row: Some(MessageId::new(format!("r{}", self.calls))),
            turn: Some(MessageId::new(turn)),
            at: self.tick(),
            facts: CallFacts {
                tool: "t".into(),
                subject: "s".into(),
                touches: vec![touch],
                proposal: Proposal::Plain,
                secrets_here: false,
                left_out: Vec::new(),
            },
            sandbox: Sandbox::None,
            cwd: self.work.clone(),
        }
    }

    /// Runs a command with this effect.
    fn command(&mut self, turn: &str, act: impl FnOnce(&Path)) -> Vec<String> {
        self.command_of(turn, "x", act)
    }

    /// Runs this command with this effect.
    fn command_of(&mut self, turn: &str, command: &str, act: impl FnOnce(&Path)) -> Vec<String> {
        let command = Touch::command(command, self.work.clone());
        let about = self.about(turn, command);
        self.call(about, true, |bench| act(&bench.work))
    }

    /// Runs a call with this effect, which ends well or not.
    fn call(&mut self, about: CallToRecord, did: bool, act: impl FnOnce(&Self)) -> Vec<String> {
        let kept = self.runtime.block_on(self.recorder.begin(about));
        act(self);
        kept.map(|kept| self.runtime.block_on(self.recorder.end(kept, did, self.tick()))).unwrap_or_default()
    }

    /// Runs a file tool with this effect.
    fn tool(&mut self, turn: &str, path: &str, act: impl FnOnce(&Path)) -> Vec<String> {
        let path = self.work.join(path);
        let about = self.about(turn, Touch::Write { path: path.clone(), place: PathPlace::Inside });
        self.call(about, true, |_| act(&path))
    }

    fn known(&self) -> Known {
        Known { cwd: self.work.clone(), ..Known::default() }
    }

    fn undo(&self, aim: UndoAim, also: &[&str]) -> Done {
        let also: Vec<PathBuf> = also.iter().map(|name| self.work.join(name)).collect();
        let done = restore(&self.checkpoints(), aim, &also, &self.known(), At(1_000)).unwrap();
        self.recorder.look_again();
        done
    }

    fn tree(&self) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
        tree(&self.work)
    }
}

/// Everything below a directory, byte for byte.
fn tree(root: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut out = BTreeMap::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(dir) = waiting.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let meta = std::fs::symlink_metadata(&path).unwrap();
            let content = if meta.is_symlink() {
                std::fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
            } else if meta.is_dir() {
                waiting.push(path.clone());
                Vec::new()
            } else {
                std::fs::read(&path).unwrap()
            };
            out.insert(path, (meta.mode(), content));
        }
    }
    out
}

fn write(path: &Path, content: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

fn chmod(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_turn_of_tools_and_commands_is_undone_and_redone_also_after_a_restart() {
    let mut bench = Bench::new();
    write(&bench.work.join("src/a.rs"), "one\n");
    write(&bench.work.join("gone.txt"), "going\n");
    chmod(&bench.work.join("gone.txt"), 0o640);
    symlink("src/a.rs", bench.work.join("link")).unwrap();
    let before = bench.tree();
    bench.tool("m1", "src/a.rs", |path| write(path, "two\n"));
    bench.tool("m1", "deep/er/new.rs", |path| write(path, "new\n"));
    let gaps = bench.command("m1", |work| {
        std::fs::remove_file(work.join("gone.txt")).unwrap();
        std::fs::rename(work.join("src"), work.join("lib")).unwrap();
        std::fs::remove_file(work.join("link")).unwrap();
        symlink("lib", work.join("link")).unwrap();
        write(&work.join("made/x"), "x");
        chmod(&work.join("made/x"), 0o755);
    });
    assert_eq!(gaps, Vec::<String>::new());
    let after = bench.tree();
    bench.restart();
    let worked = plan(&bench.checkpoints(), UndoAim::Last, &bench.known()).unwrap().plan;
    assert!(worked.any && worked.files.iter().all(|file| file.state == UndoState::Ready), "{worked:#?}");
    let deed = |name: &str| worked.files.iter().find(|file| file.shown == name).unwrap().deed;
    assert_eq!(
        (deed("gone.txt"), deed("made/x"), deed("src/a.rs")),
        (UndoDeed::Bring, UndoDeed::Remove, UndoDeed::Bring)
    );
    let done = bench.undo(UndoAim::Last, &[]);
    assert_eq!((done.left, bench.tree()), (vec![], before.clone()));
    assert!(bench.undo(UndoAim::Last, &[]).nothing);
    bench.restart();
    let done = bench.undo(UndoAim::Redo, &[]);
    assert_eq!((done.left, bench.tree()), (vec![], after));
    assert!(bench.undo(UndoAim::Redo, &[]).nothing);
    bench.undo(UndoAim::Last, &[]);
    assert_eq!(bench.tree(), before);
}

#[test]
fn a_folder_that_a_command_moved_goes_back_with_files_that_are_older() {
    let mut bench = Bench::new();
    let old = bench.work.join("src/deep/a.rs");
    write(&old, "one\n");
    let before = bench.tree();
    let changed = old.metadata().unwrap();
    let changed = Duration::new(changed.ctime().unsigned_abs(), changed.ctime_nsec() as u32);
    let lag = Duration::from_nanos(2 * crate::tools::files::directory_table::LAG.unsigned_abs());
    while SystemTime::now().duration_since(UNIX_EPOCH).unwrap() < changed + lag {
        std::thread::yield_now();
    }
    bench.command("m1", |work| std::fs::rename(work.join("src"), work.join("lib")).unwrap());
    let after = bench.tree();
    let done = bench.undo(UndoAim::Last, &[]);
    assert_eq!((done.left, bench.tree()), (vec![], before));
    let done = bench.undo(UndoAim::Redo, &[]);
    assert_eq!((done.left, bench.tree()), (vec![], after));
}

#[test]
fn turns_are_undone_one_after_another() {
    let mut bench = Bench::new();
    write(&bench.work.join("f"), "0");
    for turn in ["m1", "m2", "m3"] {
        bench.tool(turn, "f", |path| write(path, turn));
        bench.tool(turn, "f", |path| write(path, &format!("{turn}!")));
    }
    let content = |bench: &Bench| std::fs::read_to_string(bench.work.join("f")).unwrap();
    bench.undo(UndoAim::Last, &[]);
    assert_eq!(content(&bench), "m2!");
    bench.undo(UndoAim::Last, &[]);
    assert_eq!(content(&bench), "m1!");
    bench.undo(UndoAim::Redo, &[]);
    assert_eq!(content(&bench), "m2!");
    bench.undo(UndoAim::Redo, &[]);
    assert_eq!(content(&bench), "m3!");
    // A new change ends what could be redone.
    bench.undo(UndoAim::Last, &[]);
    bench.tool("m4", "f", |path| write(path, "m4"));
    assert!(bench.undo(UndoAim::Redo, &[]).nothing);
    bench.undo(UndoAim::Last, &[]);
    assert_eq!(content(&bench), "m2!");
    // Also of undos before it, when it was undone and redone in between.
    bench.undo(UndoAim::Redo, &[]);
    assert_eq!(content(&bench), "m4");
    assert!(bench.undo(UndoAim::Redo, &[]).nothing);
    assert_eq!(content(&bench), "m4");
}

#[test]
fn a_file_that_somebody_changed_since_is_left_unless_it_is_named() {
    let mut bench = Bench::new();
    for name in ["a", "b", "c"] {
        write(&bench.work.join(name), "old");
        bench.tool("m1", name, |path| write(path, "new"));
    }
    write(&bench.work.join("b"), "the user's");
    std::fs::remove_file(bench.work.join("c")).unwrap();
    let worked = plan(&bench.checkpoints(), UndoAim::Last, &bench.known()).unwrap().plan;
    let changed = worked.files.iter().filter(|file| matches!(file.state, UndoState::Changed(_))).count();
    assert_eq!((worked.files.len(), changed), (3, 2));
    let done = bench.undo(UndoAim::Last, &["c"]);
    assert_eq!(done.restored, ["a", "c"]);
    assert_eq!(done.left.iter().map(|(file, _)| file.as_str()).collect::<Vec<_>>(), ["b"]);
    let content = |name: &str| std::fs::read_to_string(bench.work.join(name)).unwrap();
    assert_eq!((content("a"), content("b"), content("c")), ("old".into(), "the user's".into(), "old".into()));
    // What was there is there again, c's absence too.
    bench.undo(UndoAim::Redo, &[]);
    assert!(content("a") == "new" && content("b") == "the user's" && !bench.work.join("c").exists());
}

#[test]
fn nothing_is_brought_back_into_a_folder_that_became_a_repository() {
    let mut bench = Bench::new();
    let file = bench.work.join("lib/config");
    write(&file, "[core]\n\tfsmonitor = x\n");
    bench.tool("m1", "lib/config", |path| std::fs::remove_file(path).unwrap());
    for folder in ["objects", "refs"] {
        std::fs::create_dir_all(bench.work.join("lib").join(folder)).unwrap();
    }
    write(&bench.work.join("lib/HEAD"), "ref: refs/heads/main\n");
    let done = bench.undo(UndoAim::Last, &["lib/config"]);
    assert_eq!((done.restored.len(), done.left.len()), (0, 1), "{done:?}");
    assert!(!file.exists());
}

#[test]
fn what_makes_a_repository_is_brought_back_only_if_it_is_named() {
    let mut bench = Bench::new();
    let lib = bench.work.join("lib");
    write(&lib.join("HEAD"), "ref: refs/heads/main\n");
    write(&lib.join("objects/x"), "x");
    write(&lib.join("refs/x"), "x");
    write(&lib.join("notes"), "x");
    bench.command("m1", |_| {
        for name in ["objects", "refs"] {
            std::fs::remove_dir_all(lib.join(name)).unwrap();
        }
        std::fs::remove_file(lib.join("HEAD")).unwrap();
        std::fs::remove_file(lib.join("notes")).unwrap();
    });
    // Nobody looks at it while the folder is no repository.
    write(&lib.join("config"), "[core]\n\tfsmonitor = x\n");
    let done = bench.undo(UndoAim::Last, &[]);
    assert!(done.restored.contains(&"lib/notes".to_owned()), "{done:?}");
    assert_eq!(done.left.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["lib/HEAD"]);
    assert!(!lib.join("HEAD").exists() && lib.join("objects/x").exists());
}

#[test]
fn what_another_command_may_have_made_and_runs_code_is_brought_back_only_if_it_is_named() {
    let mut bench = Bench::new();
    let work = bench.work.clone();
    for (name, is_crowded) in [(".envrc", true), (".vscode/tasks.json", false)] {
        write(&work.join(name), "x");
        write(&work.join("a"), "x");
        let job = is_crowded.then(|| protected_files::running_in(&work));
        bench.command("m1", |work| {
            std::fs::remove_file(work.join(name)).unwrap();
            std::fs::remove_file(work.join("a")).unwrap();
        });
        drop(job);
        bench.restart();
        let done = bench.undo(UndoAim::Last, &[]);
        assert_eq!(done.left.iter().any(|(left, _)| left == name), is_crowded, "{done:?}");
        assert!(work.join(name).exists() != is_crowded && work.join("a").exists());
    }
}

#[test]
fn a_list_that_others_may_have_written_restores_nothing_by_itself_and_nothing_elsewhere() {
    let mut bench = Bench::new();
    let (work, elsewhere) = (bench.work.clone(), bench.work.parent().unwrap().join("elsewhere"));
    write(&work.join("a"), "old");
    write(&elsewhere, "old");
    bench.tool("m1", "a", |path| write(path, "new"));
    bench.tool("m1", &elsewhere.to_string_lossy(), |path| write(path, "new"));
    let planned = |is_doubtful: bool| {
        let known =
            Known { doubt: is_doubtful.then_some("Recorded in a workspace that you don't trust."), ..bench.known() };
        let files = plan(&bench.checkpoints(), UndoAim::Last, &known).unwrap().plan.files;
        files.into_iter().map(|file| file.state).collect::<Vec<_>>()
    };
    let of_own = planned(false);
    assert!(of_own.contains(&UndoState::Ready), "{of_own:?}");
    assert!(
        of_own.iter().any(|state| matches!(state, UndoState::Risky(why) if why.starts_with("Outside"))),
        "{of_own:?}"
    );
    let of_others = planned(true);
    assert!(!of_others.contains(&UndoState::Ready), "{of_others:?}");
    assert!(
        of_others.iter().any(|state| matches!(state, UndoState::Lost(why) if why.starts_with("Outside"))),
        "{of_others:?}"
    );
    let known = Known { doubt: Some("Recorded in a workspace that you don't trust."), ..bench.known() };
    restore(&bench.checkpoints(), UndoAim::Last, &[work.join("a"), elsewhere.clone()], &known, At(1_000)).unwrap();
    assert_eq!(std::fs::read_to_string(&elsewhere).unwrap(), "new", "also where it is named");
    assert_eq!(std::fs::read_to_string(work.join("a")).unwrap(), "old");
}

#[test]
fn steps_of_a_turn_that_led_back_do_not_hold_up_the_turn_before() {
    let mut bench = Bench::new();
    let path = bench.work.join("h");
    bench.tool("m1", "h", |path| write(path, "one"));
    bench.command("m2", |_| std::fs::remove_file(&path).unwrap());
    // There, away and there again.
    bench.command("m3", |_| symlink("a", &path).unwrap());
    bench.command("m3", |_| std::fs::remove_file(&path).unwrap());
    bench.command("m3", |_| symlink("a", &path).unwrap());
    for wanted in [None, Some("one"), None] {
        let done = bench.undo(UndoAim::Last, &[]);
        assert_eq!((done.left, std::fs::read_to_string(&path).ok().as_deref()), (vec![], wanted));
    }
    for wanted in [Some("one"), None] {
        let done = bench.undo(UndoAim::Redo, &[]);
        assert_eq!((done.left, std::fs::read_to_string(&path).ok().as_deref()), (vec![], wanted));
    }
    assert_eq!(bench.undo(UndoAim::Redo, &[]).left, vec![]);
    assert_eq!(std::fs::read_link(&path).unwrap(), Path::new("a"));
}

#[test]
fn an_undo_that_left_everything_can_be_done_later() {
    let mut bench = Bench::new();
    write(&bench.work.join("a"), "old");
    bench.tool("m1", "a", |path| write(path, "new"));
    write(&bench.work.join("a"), "the user's");
    let done = bench.undo(UndoAim::Last, &[]);
    assert!(done.restored.is_empty() && done.left.len() == 1 && !done.nothing);
    bench.restart();
    let done = bench.undo(UndoAim::Last, &["a"]);
    assert_eq!(done.restored, ["a"]);
    assert_eq!(std::fs::read_to_string(bench.work.join("a")).unwrap(), "old");
}

#[test]
fn a_file_that_was_replaced_all_the_same_can_be_redone() {
    let mut bench = Bench::new();
    write(&bench.work.join("b"), "old");
    bench.tool("m1", "b", |path| write(path, "new"));
    write(&bench.work.join("b"), "the user's");
    bench.undo(UndoAim::Last, &["b"]);
    assert_eq!(std::fs::read_to_string(bench.work.join("b")).unwrap(), "old");
    bench.undo(UndoAim::Redo, &[]);
    assert_eq!(std::fs::read_to_string(bench.work.join("b")).unwrap(), "the user's");
}

#[test]
fn nothing_is_written_through_a_link_that_came_in_between() {
    let mut bench = Bench::new();
    write(&bench.work.join("sub/f"), "old");
    bench.tool("m1", "sub/f", |path| write(path, "new"));
    let outside = bench.home.join("outside");
    write(&outside.join("f"), "new");
    std::fs::rename(bench.work.join("sub"), bench.work.join("away")).unwrap();
    symlink(&outside, bench.work.join("sub")).unwrap();
    let done = bench.undo(UndoAim::Last, &["sub/f"]);
    assert_eq!((done.restored.len(), done.left.len()), (0, 1), "{done:?}");
    assert_eq!(std::fs::read_to_string(outside.join("f")).unwrap(), "new");
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1);
}

#[test]
fn folders_that_a_tool_made_go_when_they_are_empty() {
    let mut bench = Bench::new();
    bench.tool("m1", "a/b/c", |path| write(path, "x"));
    write(&bench.work.join("a/mine"), "mine");
    bench.undo(UndoAim::Last, &[]);
    assert!(!bench.work.join("a/b").exists() && bench.work.join("a/mine").exists());
}

#[test]
fn the_repository_and_what_is_skipped_are_left_alone() {
    let mut settings = UndoSettings { bounds: free(), ..UndoSettings::default() };
    settings.skip.push("out/cache".into());
    settings.skip.push("*.iso".into());
    let mut bench = Bench::with(settings);
    for name in [".git/HEAD", "target/x", "sub/node_modules/y", "out/cache/z", "a.iso", "kept"] {
        write(&bench.work.join(name), "old");
    }
    bench.command("m1", |work| {
        for name in [".git/HEAD", "target/x", "sub/node_modules/y", "out/cache/z", "a.iso", "kept"] {
            write(&work.join(name), "new");
        }
    });
    let done = bench.undo(UndoAim::Last, &[]);
    assert_eq!(done.restored, ["kept"]);
    assert_eq!(std::fs::read_to_string(bench.work.join(".git/HEAD")).unwrap(), "new");
}

#[test]
fn hooks_and_configuration_of_the_repository_come_back() {
    let mut bench = Bench::new();
    for name in ["HEAD", "objects/x", "refs/x", "config", "hooks/pre-push", "hooks/pre-push.sample"] {
        write(&bench.work.join(".git").join(name), "old");
    }
    bench.command("m1", |work| {
        for name in ["HEAD", "config", "hooks/pre-push.sample", "hooks/pre-commit", "info/attributes"] {
            write(&work.join(".git").join(name), "new");
        }
        std::fs::remove_file(work.join(".git/hooks/pre-push")).unwrap();
    });
    let done = bench.undo(UndoAim::Last, &[]);
    let expected = ["config", "hooks/pre-commit", "hooks/pre-push", "info/attributes"];
    assert_eq!(done.restored, expected.map(|name| format!(".git/{name}")));
    let content = |name: &str| std::fs::read_to_string(bench.work.join(".git").join(name)).ok();
    assert_eq!(content("config").as_deref(), Some("old"));
    assert_eq!(content("hooks/pre-push").as_deref(), Some("old"));
    assert_eq!((content("hooks/pre-commit"), content("info/attributes")), (None, None));
    assert_eq!(content("HEAD").as_deref(), Some("new"), "the rest of the repository is left alone");
}

#[test]
fn what_is_too_much_is_told() {
    let bounds = free();
    let settings = UndoSettings { file: 10, all: 30, entries: 6, bounds, ..UndoSettings::default() };
    let mut bench = Bench::with(settings);
    write(&bench.work.join("large"), &"x".repeat(20));
    for name in ["a", "b", "c", "d"] {
        write(&bench.work.join(name), "12345678");
    }
    let gaps = bench.command("m1", |work| {
        write(&work.join("large"), &"y".repeat(21));
        write(&work.join("d"), "changed");
        write(&work.join("a"), "changed");
    });
    assert!(gaps.iter().any(|gap| gap.contains("in all")), "{gaps:?}");
    let worked = plan(&bench.checkpoints(), UndoAim::Last, &bench.known()).unwrap().plan;
    let state = |name: &str| &worked.files.iter().find(|file| file.shown == name).unwrap().state;
    assert_eq!(state("a"), &UndoState::Ready);
    assert!(matches!(state("large"), UndoState::Lost(_)) && matches!(state("d"), UndoState::Lost(_)));
    for n in 0..10 {
        write(&bench.work.join(format!("more{n}")), "x");
    }
    let gaps = bench.command("m2", |work| write(&work.join("a"), "again"));
    assert!(gaps.iter().any(|gap| gap.contains("more than 6 entries")), "{gaps:?}");
    let worked = plan(&bench.checkpoints(), UndoAim::Last, &bench.known()).unwrap().plan;
    assert_eq!(worked.files.iter().map(|file| file.shown.as_str()).collect::<Vec<_>>(), ["a"], "only what is known");
}

#[test]
fn a_disk_that_is_nearly_full_holds_up_nothing() {
    let bounds = Bounds { free: u64::MAX, free_percent: 101, ..free() };
    let mut bench = Bench::with(UndoSettings { bounds, ..UndoSettings::default() });
    write(&bench.work.join("f"), "old");
    let gaps = bench.tool("m1", "f", |path| write(path, "new"));
    assert!(gaps[0].contains("disk nearly full"), "{gaps:?}");
    assert!(bench.recorder.news().is_some() && bench.recorder.news().is_none(), "it is told once");
    let gaps = bench.command("m1", |work| write(&work.join("f"), "newer"));
    assert!(gaps[0].contains("disk nearly full"));
    let worked = plan(&bench.checkpoints(), UndoAim::Last, &bench.known()).unwrap().plan;
    assert_eq!((worked.any, worked.files.len(), worked.gaps.len()), (true, 0, 2));
    // Going past it leads to what was before.
    let done = bench.undo(UndoAim::Last, &[]);
    assert!(done.restored.is_empty() && done.gaps.iter().all(|gap| gap.contains("disk nearly full")), "{done:?}");
    assert_eq!(done.gaps.len(), 1, "each is told once");
    assert!(bench.undo(UndoAim::Last, &[]).nothing);
    assert_eq!(std::fs::read_to_string(bench.work.join("f")).unwrap(), "newer");
}

#[test]
fn a_death_while_a_call_runs_is_told() {
    let mut bench = Bench::new();
    write(&bench.work.join("f"), "old");
    let path = bench.work.join("f");
    let about = bench.about("m1", Touch::Write { path: path.clone(), place: PathPlace::Inside });
    let kept = bench.runtime.block_on(bench.recorder.begin(about));
    write(&path, "new");
    drop(kept);
    bench.restart();
    let worked = plan(&bench.checkpoints(), UndoAim::Last, &bench.known()).unwrap().plan;
    assert!(worked.gaps[0].contains("lisle quit while"), "{worked:?}");
    assert!(matches!(worked.files[0].state, UndoState::Changed(_)));
    bench.undo(UndoAim::Last, &["f"]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
}

#[test]
fn a_call_that_changed_nothing_is_no_change() {
    let mut bench = Bench::new();
    write(&bench.work.join("f"), "old");
    bench.tool("m1", "f", |_| {});
    bench.command("m1", |_| {});
    assert!(bench.undo(UndoAim::Last, &[]).nothing);
    let settings = UndoSettings { enabled: false, ..UndoSettings::default() };
    let recorder = Arc::new(UndoRecorder::new(settings, vec![], PathBuf::from("none")));
    let about = bench.about("m1", Touch::command("x".to_owned(), bench.work.clone()));
    assert!(bench.runtime.block_on(recorder.begin(about.clone())).is_none());
    let held = CallToRecord { sandbox: Sandbox::ReadOnly, ..about };
    assert!(bench.runtime.block_on(bench.recorder.begin(held)).is_none(), "what cannot write is not kept");
}

#[test]
fn two_sessions_in_one_directory_do_not_undo_each_other() {
    let mut one = Bench::new();
    write(&one.work.join("a"), "0");
    write(&one.work.join("b"), "0");
    let session = SessionId::parse("260101-c-d").unwrap();
    std::fs::create_dir_all(one.store.session_dir(&session)).unwrap();
    one.tool("m1", "a", |path| write(path, "one"));
    one.tool("m1", "b", |path| write(path, "one"));
    let first = std::mem::replace(&mut one.session, session);
    one.restart();
    one.tool("m9", "b", |path| write(path, "other"));
    one.session = first;
    one.restart();
    let done = one.undo(UndoAim::Last, &[]);
    assert_eq!((done.restored, done.left.len()), (vec!["a".to_owned()], 1));
    assert_eq!(std::fs::read_to_string(one.work.join("b")).unwrap(), "other");
}

#[test]
fn going_back_restores_what_later_calls_changed() {
    let mut bench = Bench::new();
    write(&bench.work.join("f"), "0");
    for turn in ["m1", "m2", "m3"] {
        bench.tool(turn, "f", |path| write(path, turn));
    }
    let rows = HashSet::from([MessageId::new("r2"), MessageId::new("r3")]);
    let since = Since { at: At(1), rows, calls: HashSet::from([CallId::new("call_0")]) };
    let known = Known { since, ..bench.known() };
    let aim = UndoAim::Since(MessageId::new("m"));
    let done = restore(&bench.checkpoints(), aim, &[], &known, At(9)).unwrap();
    assert_eq!((done.restored.len(), std::fs::read_to_string(bench.work.join("f")).unwrap()), (1, "m1".to_owned()));
}

#[test]
fn changes_are_shown_against_what_was_there_first() {
    let mut bench = Bench::new();
    write(&bench.work.join("a"), "one\ntwo\n");
    write(&bench.work.join("gone"), "x\n");
    write(&bench.work.join("pic"), "\0\0\0");
    bench.tool("m1", "a", |path| write(path, "one\n2\n"));
    bench.command("m2", |work| {
        write(&work.join("a"), "one\n2\nthree\n");
        std::fs::remove_file(work.join("gone")).unwrap();
        write(&work.join("new"), "n\n");
        write(&work.join("pic"), "\0\0\0\0");
    });
    let all = changes(&bench.checkpoints(), &bench.known()).unwrap();
    let told: Vec<_> = all
        .files
        .iter()
        .map(|file| (file.shown.as_str(), file.kind, file.diff.as_ref().map(|diff| (diff.added, diff.removed))))
        .collect();
    let wanted = [
        ("a", ChangeKind::Changed, Some((2, 1))),
        ("gone", ChangeKind::Removed, Some((0, 1))),
        ("new", ChangeKind::Made, Some((1, 0))),
        ("pic", ChangeKind::Changed, None),
    ];
    assert_eq!(told, wanted);
    bench.undo(UndoAim::Last, &[]);
    bench.undo(UndoAim::Last, &[]);
    assert!(changes(&bench.checkpoints(), &bench.known()).unwrap().files.is_empty());
}

/// One thing that happens to the directory.
#[derive(Clone, Debug)]
enum Deed {
    Write(usize, String),
    Remove(usize),
    Rename(usize, usize),
    Mode(usize, u32),
    Link(usize, String),
    Folder(usize),
}

const PATHS: [&str; 7] = ["a", "b", "d/x", "d/y", "d/e/z", "f/g", "h"];

fn deed() -> impl Strategy<Value = Deed> {
    let n = PATHS.len();
    prop_oneof![
        (0..n, "[a-c]{0,4}").prop_map(|(at, text)| Deed::Write(at, text)),
        (0..n).prop_map(Deed::Remove),
        (0..n, 0..n).prop_map(|(from, to)| Deed::Rename(from, to)),
        (0..n, prop_oneof![Just(0o600), Just(0o644), Just(0o755), Just(0o444)])
            .prop_map(|(at, mode)| Deed::Mode(at, mode)),
        (0..n, "[a-c]{1,3}").prop_map(|(at, text)| Deed::Link(at, text)),
        (0..n).prop_map(Deed::Folder),
    ]
}

/// Does it as far as it can be done.
fn perform(work: &Path, deed: &Deed) {
    let at = |n: usize| work.join(PATHS[n]);
    let make = |path: &Path| drop(std::fs::create_dir_all(path.parent().unwrap()));
    match deed {
        Deed::Write(n, text) => {
            make(&at(*n));
            drop(std::fs::write(at(*n), text));
        }
        Deed::Remove(n) => {
            if std::fs::remove_file(at(*n)).is_err() {
                drop(std::fs::remove_dir_all(at(*n)));
            }
        }
        Deed::Rename(from, to) => {
            make(&at(*to));
            drop(std::fs::rename(at(*from), at(*to)));
        }
        Deed::Mode(n, mode) => {
            if std::fs::symlink_metadata(at(*n)).is_ok_and(|meta| meta.is_file()) {
                chmod(&at(*n), *mode);
            }
        }
        Deed::Link(n, text) => {
            make(&at(*n));
            drop(symlink(text, at(*n)));
        }
        Deed::Folder(n) => drop(std::fs::create_dir_all(at(*n))),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Whatever tools and commands did in any number of turns, undoing all of it gives the tree as it was, redoing all of
    /// it the tree as it became: names, bytes and rights.
    #[test]
    fn all_is_undone_and_all_is_redone(
        first in prop::collection::vec(deed(), 0..8),
        turns in prop::collection::vec(prop::collection::vec((any::<bool>(), prop::collection::vec(deed(), 1..4)), 1..4), 1..4),
    ) {
        let mut bench = Bench::new();
        for deed in &first {
            perform(&bench.work, deed);
        }
        let mut trees = vec![bench.tree()];
        for (n, turn) in turns.iter().enumerate() {
            let name = format!("m{n}");
            for (command, deeds) in turn {
                match (command, &deeds[0]) {
                    (false, deed @ Deed::Write(path, _)) => {
                        bench.tool(&name, PATHS[*path], |path| {
                            // A file tool makes a new file, with its folders, or replaces one.
                            let is_free = std::fs::symlink_metadata(path).is_err();
                            if is_free || path.is_file() && !path.is_symlink() {
                                let work = path.ancestors().find(|above| above.ends_with("work")).unwrap();
                                perform(work, deed);
                            }
                        });
                    }
                    _ => drop(bench.command(&name, |work| deeds.iter().for_each(|deed| perform(work, deed)))),
                }
            }
            if bench.tree() != *trees.last().unwrap() {
                trees.push(bench.tree());
            }
        }
        let last = bench.tree();
        let mut undone = 0;
        loop {
            let done = bench.undo(UndoAim::Last, &[]);
            if done.nothing {
                break;
            }
            prop_assert_eq!(&done.left, &vec![]);
            undone += 1;
        }
        prop_assert_eq!(bench.tree(), trees[0].clone());
        for _ in 0..undone {
            let done = bench.undo(UndoAim::Redo, &[]);
            prop_assert!(!done.nothing);
            prop_assert_eq!(&done.left, &vec![]);
        }
        prop_assert_eq!(bench.tree(), last);
    }
}
