//! States of files, and what could not be looked at. An error is not emptiness: a folder that cannot be listed may hold anything.

use super::change::FolderRights;
use crate::sandbox::repository;
use crate::sandbox::unseen::hides;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The most bytes of a file whose content is kept while the command runs, and of all of them.
const SMALL: u64 = 4 * 1024 * 1024;
pub(super) const ALL: u64 = 16 * 1024 * 1024;
/// Times of files lag behind the clock by up to this.
pub(super) const LAG: Duration = Duration::from_millis(50);

/// State of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileState {
    pub seen: Seen,
    pub mode: u32,
    /// Number of its names.
    pub names: u64,
    pub content: Option<Arc<[u8]>>,
    /// A command of another process of lisle may have made it so: it is nothing to go back to.
    pub doubtful: bool,
}

/// Stamp that a changed file cannot keep: device, number, length, time of change.
pub(super) type Seen = (u64, u64, u64, i64, i64);

/// Files at and below paths.
#[derive(Debug, Default)]
pub(super) struct Looked {
    pub files: BTreeMap<PathBuf, FileState>,
    /// There were not more than were asked for.
    pub whole: bool,
    pub unseen: Vec<PathBuf>,
}

/// The files at and below these paths, at most so many of them.
pub(super) fn states(paths: &[PathBuf], most: usize) -> Looked {
    let (mut room, mut whole) = (ALL, true);
    let mut files = BTreeMap::new();
    let unseen = walk(paths, |path, meta| {
        // git's examples are never run, and each new repository has more than ten of them.
        if repository::is_example(path) {
            return true;
        }
        whole = files.len() < most;
        if whole {
            let seen = seen(meta);
            let content = content(path, meta, &mut room, Reading::Remembered(seen));
            files.insert(
                path.to_owned(),
                FileState { seen, mode: meta.mode(), names: meta.nlink(), content, doubtful: false },
            );
        }
        whole
    });
    Looked { files, whole, unseen }
}

/// Rights of the protected folders among these paths, and of those below them that hold one of these files.
pub(super) fn rights<'a>(
    paths: impl Iterator<Item = &'a PathBuf>,
    files: impl Iterator<Item = &'a PathBuf>,
) -> BTreeMap<PathBuf, FolderRights> {
    let known = paths.filter_map(|path| Some((path.clone(), FolderRights::of(path)?)));
    let mut out: BTreeMap<PathBuf, FolderRights> = known.collect();
    let tops: HashSet<PathBuf> = out.keys().cloned().collect();
    let is_below = |folder: &&Path| folder.ancestors().any(|above| tops.contains(above));
    let parents: HashSet<&Path> = files.filter_map(|file| file.parent()).collect();
    for folder in parents.into_iter().flat_map(|parent| parent.ancestors().take_while(is_below)) {
        if !out.contains_key(folder) {
            out.extend(FolderRights::of(folder).map(|rights| (folder.to_owned(), rights)));
        }
    }
    out
}

/// Looks at each file at and below these paths, in their order, while `on` wants more. Paths that could not be looked at.
pub(super) fn walk(paths: &[PathBuf], mut on: impl FnMut(&Path, &Metadata) -> bool) -> Vec<PathBuf> {
    let mut unseen = Vec::new();
    let mut open: Vec<PathBuf> = paths.iter().rev().cloned().collect();
    while let Some(path) = open.pop() {
        let meta = match path.symlink_metadata() {
            Ok(meta) => meta,
            Err(error) => {
                unseen.extend(hides(&path, &error).then_some(path));
                continue;
            }
        };
        if meta.is_dir() {
            match entries(&path) {
                Ok(names) => open.extend(names),
                Err(error) => unseen.extend(hides(&path, &error).then_some(path)),
            }
        } else if !on(&path, &meta) {
            break;
        }
    }
    unseen
}

fn entries(dir: &Path) -> std::io::Result<Vec<PathBuf>> {
    std::fs::read_dir(dir)?.map(|entry| Ok(entry?.path())).collect()
}

pub(super) fn seen(meta: &Metadata) -> Seen {
    (meta.dev(), meta.ino(), meta.len(), meta.ctime(), meta.ctime_nsec())
}

/// Contents by the stamp of their files.
#[derive(Debug, Default)]
struct Contents {
    known: HashMap<Seen, Arc<[u8]>>,
    bytes: usize,
}

impl Contents {
    fn insert(&mut self, seen: Seen, bytes: Arc<[u8]>) {
        if self.known.len() >= REMEMBERED.0 || self.bytes + bytes.len() > REMEMBERED.1 {
            *self = Self::default();
        }
        self.bytes += bytes.len();
        self.known.insert(seen, bytes);
    }
}

/// Contents of files that were read before, so that they are not read before each command.
static READ: Mutex<Option<Contents>> = Mutex::new(None);
/// Files that are remembered so, and their bytes.
const REMEMBERED: (usize, usize) = (4_000, 32 * 1024 * 1024);

/// Source of a file's bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// The disk: a command that mapped the file into its memory writes it without any stamp being moved.
    Fresh,
    /// An earlier look at this stamp, before a command.
    Remembered(Seen),
}

/// Content of a file; of a link, where it leads. `None` for one that is too large.
pub(super) fn content(path: &Path, meta: &Metadata, room: &mut u64, how: Reading) -> Option<Arc<[u8]>> {
    if meta.is_symlink() {
        // Where it leads is what counts.
        return std::fs::read_link(path).ok().map(|target| target.as_os_str().as_encoded_bytes().into());
    }
    if !meta.is_file() || meta.len() > SMALL.min(*room) {
        return None;
    }
    *room = room.saturating_sub(meta.len());
    let Reading::Remembered(seen) = how else { return straight(path).map(Into::into) };
    let known = || READ.lock().unwrap_or_else(PoisonError::into_inner).as_ref()?.known.get(&seen).cloned();
    if let Some(known) = known() {
        return Some(known);
    }
    let bytes: Arc<[u8]> = straight(path)?.into();
    // A file that changed while it was read is read again the next time, and one that changed just now, which may change
    // again within the same tick of the clock.
    if is_settled(meta) && path.symlink_metadata().is_ok_and(|now| self::seen(&now) == seen) {
        let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
        read.get_or_insert_default().insert(seen, Arc::clone(&bytes));
    }
    Some(bytes)
}

/// Remembers a content under the stamp of a file.
#[cfg(test)]
pub(super) fn remember(meta: &Metadata, bytes: &[u8]) {
    READ.lock().unwrap().get_or_insert_default().insert(seen(meta), bytes.into());
}

fn is_settled(meta: &Metadata) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    changed(&seen(meta)) + LAG < now
}

/// Time of the last change, since the epoch.
pub(super) fn changed(seen: &Seen) -> Duration {
    let seconds = u64::try_from(seen.3).unwrap_or_default();
    Duration::new(seconds, u32::try_from(seen.4).unwrap_or_default())
}

/// Reads a file with no link on the way to it: another command may lay one at this moment, to get at a file outside.
#[cfg(target_os = "linux")]
fn straight(path: &Path) -> Option<Vec<u8>> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
    use std::io::Read;
    let how = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = openat2(CWD, path, how, Mode::empty(), ResolveFlags::NO_SYMLINKS).ok()?;
    let mut bytes = Vec::new();
    std::fs::File::from(file).take(SMALL).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(not(target_os = "linux"))]
fn straight(path: &Path) -> Option<Vec<u8>> {
    std::fs::read(path).ok()
}
