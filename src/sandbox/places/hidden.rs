//! Files and folders that were hidden from commands once, whatever they are called since: a command can rename a folder in
//! which a file is a secret by its place or its content.
//!
//! They are known by number and time of birth, which a rename keeps and nobody can set. While commands run they are held open
//! without being read, so that the system says what they are called. The list lies in lisle's own data folder, where no
//! command reads or writes, a line of JSON a name; every process of lisle adds to it.

use crate::sandbox::plain_file;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::fs::{Metadata, OpenOptions};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::UNIX_EPOCH;

/// A file or folder under any name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Identity {
    number: u64,
    /// Nanoseconds since the epoch.
    born: i64,
}

impl Identity {
    /// `None` for other things, and where the file system keeps no time of birth.
    fn of(meta: &Metadata) -> Option<Self> {
        let is_one = meta.is_file() || meta.is_dir();
        let born = is_one.then(|| meta.created().ok()).flatten()?.duration_since(UNIX_EPOCH).ok()?;
        Some(Self { number: meta.ino(), born: i64::try_from(born.as_nanos()).ok()? })
    }

    fn at(path: &Path) -> Option<Self> {
        Self::of(&path.symlink_metadata().ok()?)
    }
}

/// A line of the list: the first one of an identity is where it was hidden first, the last one where it is.
#[derive(Serialize, Deserialize)]
struct NameLine {
    number: u64,
    born: i64,
    path: PathBuf,
}

struct HiddenNames {
    first: PathBuf,
    now: PathBuf,
}

#[derive(Default)]
struct Hidden {
    files: HashMap<Identity, HiddenNames>,
    numbers: Arc<HashSet<u64>>,
    list: Option<PathBuf>,
    /// Bytes of the list that are known.
    read: u64,
}

static HIDDEN: Mutex<Option<Hidden>> = Mutex::new(None);

fn hidden() -> MutexGuard<'static, Option<Hidden>> {
    HIDDEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps the list in this file from now on. Without it this process alone remembers.
pub fn keep_in(list: PathBuf) {
    let mut hidden = hidden();
    let hidden = hidden.get_or_insert_default();
    (hidden.list, hidden.read) = (Some(list), 0);
}

/// Reads what other processes added. Blocks.
pub(super) fn refresh() {
    hidden().get_or_insert_default().read_on();
}

/// Numbers of such files: what has another number is none.
pub(super) fn numbers() -> Arc<HashSet<u64>> {
    Arc::clone(&hidden().get_or_insert_default().numbers)
}

/// True if the file was hidden at another path. At its first one the rules for names, places and contents decide, since
/// whoever may change it may also have taken the secret out.
#[must_use]
pub fn is_moved(path: &Path) -> bool {
    let Some(identity) = Identity::at(path) else { return false };
    hidden().as_ref().and_then(|hidden| hidden.files.get(&identity)).is_some_and(|names| names.first != path)
}

/// Paths below a folder of what was hidden elsewhere. Blocks.
pub(super) fn moved_below(root: &Path) -> Vec<PathBuf> {
    let mut hidden = hidden();
    let Some(hidden) = hidden.as_mut().filter(|hidden| !hidden.files.is_empty()) else { return Vec::new() };
    let moved = hidden.files.iter().filter(|(_, names)| names.now != names.first && names.now.starts_with(root));
    let there = moved.filter(|(identity, names)| Identity::at(&names.now).as_ref() == Some(identity));
    there.map(|(_, names)| names.now.clone()).collect()
}

/// Remembers files and folders that are hidden now. Blocks.
pub(super) fn note<'a>(paths: impl Iterator<Item = &'a PathBuf>) {
    let new: Vec<(Identity, PathBuf)> = paths.filter_map(|path| Some((Identity::at(path)?, path.clone()))).collect();
    let mut hidden = hidden();
    hidden.get_or_insert_default().take(new, false);
}

/// Hidden files and folders of a command, held while it runs.
#[derive(Debug, Default)]
pub struct HeldPlaces(Vec<(OwnedFd, PathBuf)>);

impl HeldPlaces {
    /// Of these paths those that are there. Blocks.
    #[must_use]
    #[cfg(target_os = "linux")]
    pub fn of(paths: &[PathBuf]) -> Self {
        use rustix::fs::{CWD, Mode, OFlags};
        let how = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let open = |path: &PathBuf| Some((rustix::fs::openat(CWD, path, how, Mode::empty()).ok()?, path.clone()));
        Self(paths.iter().filter_map(open).collect())
    }

    /// The same where nothing can be held without being read: what is moved is not known.
    #[must_use]
    #[cfg(not(target_os = "linux"))]
    pub fn of(_: &[PathBuf]) -> Self {
        Self::default()
    }

    /// Notes what was moved since. Blocks.
    pub fn note_moves(&self) {
        let moved = |(place, path): &(OwnedFd, PathBuf)| {
            let now = std::fs::read_link(format!("/proc/self/fd/{}", place.as_raw_fd())).ok()?;
            (now != *path).then(|| Some((Identity::at(&now)?, now)))?
        };
        let moved: Vec<(Identity, PathBuf)> = self.0.iter().filter_map(moved).collect();
        if !moved.is_empty() {
            hidden().get_or_insert_default().take(moved, true);
        }
    }
}

impl Hidden {
    /// Takes names in, and writes those down that are new. `moved`: they are the present ones of what is known.
    fn take(&mut self, names: Vec<(Identity, PathBuf)>, moved: bool) {
        let is_new = |(identity, path): &(Identity, PathBuf)| match self.files.get(identity) {
            Some(known) => moved && known.now != *path,
            None => !moved,
        };
        let new: Vec<(Identity, PathBuf)> = names.into_iter().filter(is_new).collect();
        if !new.is_empty() {
            self.append(&new);
            self.remember(new);
        }
    }

    fn remember(&mut self, names: Vec<(Identity, PathBuf)>) {
        let numbers = Arc::make_mut(&mut self.numbers);
        for (identity, path) in names {
            numbers.insert(identity.number);
            let known =
                self.files.entry(identity).or_insert_with(|| HiddenNames { first: path.clone(), now: path.clone() });
            known.now = path;
        }
    }

    fn read_on(&mut self) {
        let Some(mut file) = self.list.as_ref().and_then(|list| plain_file::open(list).ok()) else { return };
        let length = file.metadata().map_or(0, |meta| meta.len());
        if length < self.read {
            // It was removed, and begun anew.
            self.read = 0;
        }
        if length == self.read || file.seek(SeekFrom::Start(self.read)).is_err() {
            return;
        }
        let mut lines = BufReader::new(file);
        let (mut line, mut new) = (Vec::new(), Vec::new());
        while lines.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
            // One that is written at this moment is read the next time.
            if line.last() != Some(&b'\n') {
                break;
            }
            self.read += line.len() as u64;
            if let Ok(NameLine { number, born, path }) = serde_json::from_slice(&line) {
                new.push((Identity { number, born }, path));
            }
            line.clear();
        }
        self.remember(new);
    }

    /// A list that cannot be written is no reason to hide less: this process remembers anyway.
    fn append(&self, names: &[(Identity, PathBuf)]) {
        let Some(list) = &self.list else { return };
        let mut text = Vec::new();
        for (Identity { number, born }, path) in names {
            let line = NameLine { number: *number, born: *born, path: path.clone() };
            if serde_json::to_writer(&mut text, &line).is_ok() {
                text.push(b'\n');
            }
        }
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(list);
        let _ = file.and_then(|mut file| file.write_all(&text));
    }
}
