//! A directory as a table of what stands in it: what changed between two looks, and the contents worth keeping.
//!
//! Links are never followed, other file systems never entered, and what is named to be skipped is not looked into. A
//! file is read only where its facts say that it may have changed. Who keeps the contents is the caller's business.

use super::attributes;
use crate::domain::undo::{Attributes, PathEntry, UndoEntry};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::collections::{BTreeMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio_util::sync::CancellationToken;

/// Folders below folders at the most.
const DEEPEST: usize = 128;
/// Times of files may lag so far behind the clock, in nanoseconds: a file that was changed this shortly before it was
/// looked at may change again without its times telling.
pub const LAG: i64 = 50_000_000;

/// Limits of a look at a tree.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes of one file.
    pub file: u64,
    /// Bytes in all.
    pub all: u64,
    /// Entries of the directory.
    pub entries: usize,
    /// Exclusions.
    pub skip: Skip,
}

/// Exclusions from a table: by name anywhere, or by path below the directory.
#[derive(Clone, Debug, Default)]
pub struct Skip {
    names: globset::GlobSet,
    paths: Vec<PathBuf>,
}

impl Skip {
    /// Patterns of names (`target`, `*.iso`) or paths below the directory (`out/cache`), and absolute paths that are left
    /// out beside them.
    ///
    /// # Errors
    /// The pattern that is none, and why.
    pub fn new(patterns: &[String], paths: Vec<PathBuf>) -> Result<Self, String> {
        let mut names = globset::GlobSetBuilder::new();
        for pattern in patterns {
            let glob = globset::GlobBuilder::new(pattern.trim_matches('/')).literal_separator(true).build();
            names.add(glob.map_err(|error| format!("invalid pattern {pattern:?}: {}", error.kind()))?);
        }
        let names = names.build().map_err(|error| error.to_string())?;
        Ok(Self { names, paths })
    }

    fn skips(&self, root: &Path, below: &Path, name: &OsStr) -> bool {
        is_repository(name)
            || self.names.is_match(Path::new(name))
            || self.names.is_match(below)
            || self.paths.iter().any(|path| root.join(below) == *path)
    }
}

/// A repository's own folder is never touched: undo of files must not undo half of what git did.
fn is_repository(name: &OsStr) -> bool {
    [".git", ".hg", ".jj", ".svn"].iter().any(|own| name == *own)
}

/// Entry under one path, with the stamp that tells if it changed.
#[derive(Clone, Debug, PartialEq)]
struct TreeNode {
    facts: EntryFacts,
    thing: PathEntry,
    /// It changed so shortly before it was looked at that the next look has to read it again.
    fresh: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct EntryFacts {
    mode: u32,
    ino: u64,
    len: u64,
    modified: i64,
    changed: i64,
}

/// A directory as it was at one look.
#[derive(Clone, Debug, Default)]
pub struct DirectoryTable {
    root: PathBuf,
    nodes: BTreeMap<PathBuf, TreeNode>,
    /// Repositories' own folders and files, by number: that one went is told.
    repositories: BTreeMap<PathBuf, u64>,
    /// The folders that were listed to their end; `None` for all of them.
    listed: Option<HashSet<PathBuf>>,
    /// Bytes of the contents that are kept.
    kept: u64,
    gaps: Vec<String>,
}

/// A look ended without a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

/// Keeps a content and gives its hash, or says why not.
pub type Keep<'a> = &'a mut dyn FnMut(&[u8]) -> Result<String, String>;

impl DirectoryTable {
    /// The directory.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Paths that could not be looked at, one sentence each.
    #[must_use]
    pub fn gaps(&self) -> &[String] {
        &self.gaps
    }

    /// Looks at the directory `root`, which is resolved. What did not change since `before` is not read again.
    ///
    /// # Errors
    /// [`Stopped`] when `stop` was cancelled.
    pub fn look(
        root: &Path,
        before: Option<&DirectoryTable>,
        limits: &Limits,
        keep: Keep<'_>,
        stop: &CancellationToken,
    ) -> Result<DirectoryTable, Stopped> {
        let before = before.filter(|table| table.root == root);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let mut look = TreeLook {
            table: DirectoryTable { root: root.to_owned(), listed: Some(HashSet::new()), ..DirectoryTable::default() },
            before,
            limits,
            keep,
            stop,
            began: i64::try_from(now).unwrap_or(i64::MAX),
            device: 0,
            full: false,
            unkept: None,
        };
        match super::open_folder_of(root) {
            Ok(folder) => {
                look.device = rustix::fs::fstat(&folder).map(|stat| stat.st_dev).unwrap_or_default();
                look.folder(&folder, Path::new(""), 0)?;
            }
            Err(error) => look.table.gaps.push(format!("Can't read {}: {error}.", root.display())),
        }
        let TreeLook { mut table, full, unkept, .. } = look;
        if full {
            table.gaps.push(format!(
                "{} has more than {} entries; some were not checked.",
                root.display(),
                limits.entries
            ));
        } else {
            table.listed = None;
        }
        table.gaps.extend(unkept.map(|why| format!("Some files were not recorded: {why}.")));
        Ok(table)
    }

    /// Differences of `after`, by path.
    #[must_use]
    pub fn changes(&self, after: &DirectoryTable) -> Vec<UndoEntry> {
        let mut out = Vec::new();
        let mut add = |below: &PathBuf, before: PathEntry, now: PathEntry| {
            out.push(UndoEntry { path: self.root.join(below), before, after: now });
        };
        for (path, node) in &after.nodes {
            match self.nodes.get(path) {
                // One that was kept at one look alone is the same file all the same.
                Some(old)
                    if old.facts == node.facts
                        && [&old.thing, &node.thing].iter().any(|thing| matches!(thing, PathEntry::Unkept { .. })) => {}
                // Of an unread file its facts alone tell.
                Some(old)
                    if old.thing == node.thing
                        && (old.facts == node.facts || !matches!(node.thing, PathEntry::Unkept { .. })) => {}
                Some(old) => add(path, old.thing.clone(), node.thing.clone()),
                None if self.knew(path) => add(path, PathEntry::Absent, node.thing.clone()),
                None => {}
            }
        }
        for (path, old) in &self.nodes {
            if !after.nodes.contains_key(path) && after.knew(path) {
                add(path, old.thing.clone(), PathEntry::Absent);
            }
        }
        for (path, number) in &self.repositories {
            if after.knew(path) && after.repositories.get(path) != Some(number) {
                add(path, PathEntry::unkept("undo skips a repository's own files"), PathEntry::Absent);
            }
        }
        out.sort_by(|a, b| a.path.cmp(&b.path));
        out
    }

    /// Last change of an entry at an absolute path, names and rights included: nanoseconds since
    /// the epoch. Nobody can set that time back.
    #[must_use]
    pub fn changed_at(&self, path: &Path) -> Option<i64> {
        let node = self.nodes.get(path.strip_prefix(&self.root).ok()?)?;
        Some(node.facts.changed)
    }

    /// True if an entry at `path` would have been seen.
    fn knew(&self, path: &Path) -> bool {
        let Some(listed) = &self.listed else { return true };
        path.ancestors().skip(1).all(|above| {
            // A folder that was not there was seen not to be there, where the one above it was listed.
            listed.contains(above) || (!self.nodes.contains_key(above) && above != Path::new(""))
        })
    }

    /// Marks the content of entries changed at `time` (nanoseconds since the epoch) or later as not
    /// kept: they were perhaps looked at too late.
    pub fn doubt_since(&mut self, time: i64) {
        for node in self.nodes.values_mut().filter(|node| node.facts.changed >= time) {
            if !matches!(node.thing, PathEntry::Folder { .. }) {
                node.thing = PathEntry::unkept("it changed before it was recorded");
            }
        }
    }
}

struct TreeLook<'a, 'k> {
    table: DirectoryTable,
    before: Option<&'a DirectoryTable>,
    limits: &'a Limits,
    keep: Keep<'k>,
    stop: &'a CancellationToken,
    began: i64,
    device: u64,
    full: bool,
    unkept: Option<String>,
}

impl TreeLook<'_, '_> {
    fn folder(&mut self, folder: &OwnedFd, below: &Path, depth: usize) -> Result<(), Stopped> {
        if depth > DEEPEST {
            self.table.gaps.push(format!("{} is too deep to check.", below.display()));
            return Ok(());
        }
        // Some more than are looked at: in the order of their names they are the same ones at every look.
        let names = match names_in(folder, self.limits.entries.saturating_mul(10)) {
            Ok(names) => names,
            Err(error) => {
                self.table.gaps.push(format!("Can't list {}: {error}.", self.table.root.join(below).display()));
                return Ok(());
            }
        };
        let mut folders = Vec::new();
        for name in names {
            if self.stop.is_cancelled() {
                return Err(Stopped);
            }
            if self.table.nodes.len() >= self.limits.entries {
                self.full = true;
                return Ok(());
            }
            let path = below.join(&name);
            if self.limits.skip.skips(&self.table.root, &path, &name) {
                if is_repository(&name)
                    && let Ok(stat) = rustix::fs::statat(folder, &name, AtFlags::SYMLINK_NOFOLLOW)
                {
                    self.table.repositories.insert(path, facts(&stat).ino);
                }
                continue;
            }
            // What is gone since it was listed is not there.
            let Ok(stat) = rustix::fs::statat(folder, &name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            let is_folder = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
            if is_folder && stat.st_dev != self.device {
                continue;
            }
            if let Some(node) = self.node(folder, &name, &path, &stat) {
                self.table.nodes.insert(path.clone(), node);
                if is_folder {
                    folders.push((path, name));
                }
            }
        }
        for (path, name) in folders {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            match rustix::fs::openat(folder, &name, flags, Mode::empty()) {
                Ok(inner) => self.folder(&inner, &path, depth + 1)?,
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {}
                Err(error) => {
                    let path = self.table.root.join(&path);
                    self.table.gaps.push(format!("Can't open {}: {error}.", path.display()));
                }
            }
        }
        if !self.full
            && let Some(listed) = &mut self.table.listed
        {
            listed.insert(below.to_owned());
        }
        Ok(())
    }

    fn node(&mut self, folder: &OwnedFd, name: &OsStr, path: &Path, stat: &Stat) -> Option<TreeNode> {
        let facts = facts(stat);
        let known = self.before.and_then(|before| before.nodes.get(path));
        if let Some(known) = known.filter(|known| known.facts == facts && !known.fresh) {
            if matches!(known.thing, PathEntry::File { .. }) {
                self.table.kept += facts.len;
            }
            return Some(known.clone());
        }
        let mode = facts.mode & 0o7777;
        let fresh = facts.changed >= self.began - LAG;
        let thing = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => PathEntry::Folder { mode, attributes: attributes::of_folder(folder, name) },
            FileType::Symlink => match rustix::fs::readlinkat(folder, name, Vec::new()) {
                Ok(target) => PathEntry::Link {
                    target: PathBuf::from(OsStr::from_bytes(target.as_bytes())),
                    attributes: attributes::of_link(stat),
                },
                Err(_) => return None,
            },
            FileType::RegularFile if facts.len > self.limits.file => {
                PathEntry::Large { bytes: facts.len, modified: facts.modified, mode }
            }
            FileType::RegularFile if self.table.kept + facts.len > self.limits.all => {
                let why = format!("the directory has more than {} in all", super::text::size(self.limits.all));
                self.unkept.get_or_insert(why.clone());
                PathEntry::unkept(why)
            }
            FileType::RegularFile => match read(folder, name, self.limits.file) {
                Ok(None) => return None,
                Ok(Some((bytes, attributes))) => match (self.keep)(&bytes) {
                    Ok(hash) => {
                        self.table.kept += bytes.len() as u64;
                        PathEntry::File { hash, mode, attributes }
                    }
                    Err(why) => {
                        self.unkept.get_or_insert(why.clone());
                        PathEntry::unkept(why)
                    }
                },
                Err(why) => PathEntry::unkept(why),
            },
            _ => PathEntry::Special,
        };
        Some(TreeNode { facts, thing, fresh })
    }
}

/// Reads a file; `None` when it is gone.
fn read(folder: &OwnedFd, name: &OsStr, most: u64) -> Result<Option<(Vec<u8>, Attributes)>, String> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
    let fd = match rustix::fs::openat(folder, name, flags, Mode::empty()) {
        Ok(fd) => fd,
        Err(Errno::NOENT | Errno::LOOP) => return Ok(None),
        Err(error) => return Err(format!("can't read it: {error}")),
    };
    let stat = rustix::fs::fstat(&fd).map_err(|error| format!("can't read it: {error}"))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Ok(None);
    }
    let attributes = attributes::of(&fd, &stat);
    let mut bytes = Vec::new();
    File::from(fd).take(most + 1).read_to_end(&mut bytes).map_err(|error| format!("can't read it: {error}"))?;
    if bytes.len() as u64 > most { Err("it grew while being read".to_owned()) } else { Ok(Some((bytes, attributes))) }
}

/// Names in a folder, in their order; about `most` of them.
fn names_in(folder: &OwnedFd, most: usize) -> Result<Vec<OsString>, Errno> {
    let mut names: Vec<OsString> = Vec::new();
    for entry in Dir::read_from(folder)? {
        let Ok(entry) = entry else { break };
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(OsString::from_vec(name.to_vec()));
        }
        if names.len() > most {
            break;
        }
    }
    names.sort();
    Ok(names)
}

#[allow(clippy::unnecessary_cast, clippy::cast_possible_wrap, clippy::cast_sign_loss, clippy::useless_conversion)]
fn facts(stat: &Stat) -> EntryFacts {
    let nanos = |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
    EntryFacts {
        mode: stat.st_mode as u32,
        ino: stat.st_ino as u64,
        len: stat.st_size.max(0) as u64,
        modified: nanos(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
        changed: nanos(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
    }
}
