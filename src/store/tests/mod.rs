//! Tests of the store as a whole: other programs' files, lives with deaths and errors in them, two at once.

mod branch;
mod clear;
mod craft;
mod deaths;
mod export;
mod follow;
mod histories;
mod import;
mod import_ends;
mod interop;
mod large;
mod last_words;
mod life;
mod lifecycle;
mod pipes;
mod programs;
mod properties;
mod replaced;
mod rewrites;
mod scale;
mod search;
mod takeover;
mod two;
mod verify;

use super::io::{Disk, How, Io, Stat};
use super::*;
use crate::domain::message::{AssistantText, Body, Message, UserText};
use crate::domain::session::SessionMeta;
use crate::domain::tool::{ToolCall, ToolFigures, ToolStatus};
use crate::domain::{At, CallId, MessageId, Mode, SessionId};
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(super) const HOME: &str = "/home/ada";
pub(super) const NOW: At = At(1_795_300_000_000);

/// A new folder, in memory where the system has such a place: tens of thousands of files are made and removed here, and a
/// disk takes minutes for that.
pub(super) fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

pub(super) fn store_with(root: &Path, io: Arc<dyn Io>) -> Store {
    let options = Options::new(root.join("work"), root.join("state"));
    Store::open(Options { home: HOME.into(), temp: root.to_owned(), io, ..options }).unwrap()
}

pub(crate) fn store(root: &Path) -> Store {
    store_with(root, Arc::new(Disk))
}

/// The disk without its waits: nobody cuts the power here, and thousands of lives are lived.
#[derive(Debug, Default)]
pub(super) struct Quick;

/// A disk that tells of each call before it is made, and makes it only if that is fine.
pub(crate) struct Hooked<F>(pub F);

impl<F> std::fmt::Debug for Hooked<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hooked")
    }
}

/// Passes calls on to the disk. `hook` is asked before each, with the call's name.
macro_rules! passed_on {
    ($self:ident, $hook:expr, $sync:expr) => {
        fn open(&$self, path: &Path, how: How) -> std::io::Result<File> {
            $hook("open").and_then(|()| Disk.open(path, how))
        }
        fn read_at(&$self, file: &File, at: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
            $hook("read_at").and_then(|()| Disk.read_at(file, at, buffer))
        }
        fn write_at(&$self, file: &File, at: u64, bytes: &[u8]) -> std::io::Result<()> {
            $hook("write_at").and_then(|()| Disk.write_at(file, at, bytes))
        }
        fn append(&$self, file: &File, bytes: &[u8]) -> std::io::Result<()> {
            $hook("append").and_then(|()| Disk.append(file, bytes))
        }
        fn truncate(&$self, file: &File, len: u64) -> std::io::Result<()> {
            $hook("truncate").and_then(|()| Disk.truncate(file, len))
        }
        fn fsync(&$self, file: &File) -> std::io::Result<()> {
            $hook("fsync").and_then(|()| if $sync { Disk.fsync(file) } else { Ok(()) })
        }
        fn fsync_dir(&$self, path: &Path) -> std::io::Result<()> {
            $hook("fsync_dir").and_then(|()| if $sync { Disk.fsync_dir(path) } else { Ok(()) })
        }
        fn rename(&$self, from: &Path, to: &Path) -> std::io::Result<()> {
            $hook("rename").and_then(|()| Disk.rename(from, to))
        }
        fn mkdir(&$self, path: &Path) -> std::io::Result<()> {
            $hook("mkdir").and_then(|()| Disk.mkdir(path))
        }
        fn list(&$self, path: &Path) -> std::io::Result<Vec<OsString>> {
            $hook("list").and_then(|()| Disk.list(path))
        }
        fn stat(&$self, path: &Path) -> std::io::Result<Stat> {
            $hook("stat").and_then(|()| Disk.stat(path))
        }
        fn stat_of(&$self, file: &File) -> std::io::Result<Stat> {
            $hook("stat_of").and_then(|()| Disk.stat_of(file))
        }
        fn remove(&$self, path: &Path) -> std::io::Result<()> {
            $hook("remove").and_then(|()| Disk.remove(path))
        }
        fn try_lock(&$self, file: &File) -> std::io::Result<bool> {
            $hook("try_lock").and_then(|()| Disk.try_lock(file))
        }
        fn is_locked(&$self, file: &File) -> std::io::Result<bool> {
            $hook("is_locked").and_then(|()| Disk.is_locked(file))
        }
        fn swap(&$self, one: &Path, other: &Path) -> std::io::Result<()> {
            $hook("swap").and_then(|()| Disk.swap(one, other))
        }
        fn is_remote(&$self, path: &Path) -> std::io::Result<bool> {
            $hook("is_remote").and_then(|()| Disk.is_remote(path))
        }
    };
}

impl Io for Quick {
    passed_on!(self, |_: &str| Ok(()), false);
}

impl<F: Fn(&str) -> std::io::Result<()> + Send + Sync> Io for Hooked<F> {
    passed_on!(self, (self.0), false);
}

/// A disk that is full while the switch is on.
pub(super) fn fills_up() -> (Arc<dyn Io>, Arc<std::sync::atomic::AtomicBool>) {
    let full = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let seen = full.clone();
    let hook = move |_: &str| match seen.load(std::sync::atomic::Ordering::SeqCst) {
        true => Err(std::io::Error::from_raw_os_error(28)),
        false => Ok(()),
    };
    (Arc::new(Hooked(hook)), full)
}

/// A copy of one of the workspaces in `tests/fixtures/craft`, as `work` below a new directory.
pub(super) fn copy_of(workspace: &str) -> tempfile::TempDir {
    fn copy(from: &Path, to: &Path) {
        std::fs::create_dir_all(to).unwrap();
        for entry in std::fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            let to = to.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                copy(&entry.path(), &to);
            } else {
                std::fs::write(&to, std::fs::read(entry.path()).unwrap()).unwrap();
            }
        }
    }
    let root = folder();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/craft").join(workspace);
    copy(&from, &root.path().join("work"));
    // A directory without a file, which version control does not keep.
    std::fs::create_dir_all(root.path().join("work/sessions/damaged-no-file")).unwrap();
    root
}

pub(super) fn session_file(root: &Path, id: &str) -> PathBuf {
    root.join("work/sessions").join(id).join("session.jsonl")
}

pub(super) fn id(text: &str) -> SessionId {
    SessionId::parse(text).unwrap()
}

pub(crate) fn meta(name: &str) -> SessionMeta {
    SessionMeta::new(id(name), NOW, Mode::Ask, "/home/ada/code".into())
}

pub(super) fn user(n: u64) -> Message {
    let body = Body::User(UserText { text: format!("question {n}"), ..UserText::default() });
    Message::new(MessageId::new(format!("msg-u{n}")), NOW.plus(n), body)
}

pub(super) fn answer(n: u64) -> Message {
    let body = Body::Assistant(AssistantText { text: format!("answer {n} \u{1f600}"), ..AssistantText::default() });
    Message::new(MessageId::new(format!("msg-a{n}")), NOW.plus(n), body)
}

pub(super) fn call(n: u64, status: ToolStatus, result: Option<&str>) -> Message {
    let call = ToolCall {
        id: CallId::new(format!("toolu_{n}")),
        name: "bash".into(),
        input: serde_json::json!({"command": "cargo test"}),
        subject: "cargo test".into(),
        status,
        result: result.map(str::to_owned),
        millis: None,
        figures: ToolFigures::default(),
        decision: None,
    };
    Message::new(MessageId::new(format!("msg-t{n}")), NOW.plus(n), Body::Tool(Box::new(call)))
}

pub(super) fn writer_of(loaded: LoadedSession) -> Journal {
    match loaded.access {
        Access::Writer(journal) => *journal,
        Access::Reader { held_by } => panic!("held by {held_by}"),
    }
}

pub(super) fn ids(rows: &[Message]) -> Vec<&str> {
    rows.iter().map(|row| row.id.as_str()).collect()
}

/// Line 1 is a padded header, and every line is JSON with its newline.
pub(super) fn assert_well_formed(path: &Path) {
    let bytes = std::fs::read(path).unwrap();
    assert!(bytes.ends_with(b"\n"), "{}", path.display());
    let first = bytes.iter().position(|b| *b == b'\n').unwrap() + 1;
    assert!(first == 4096 || first == 8192, "line 1 has {first} bytes");
    for line in bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty()) {
        serde_json::from_slice::<serde_json::Value>(line).unwrap();
    }
}
