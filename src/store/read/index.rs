//! The list's cache: what the list last made of each session, and of which files, in one file a workspace.
//!
//! It lies in lisle's state directory and is never the truth: a row counts only while the files that it was made of are
//! the same, and a cache that is missing, broken, of another version or of another place is made anew. When it is read
//! and written is the list's business.
//!
//! | part of the file | what |
//! |---|---|
//! | [`MAGIC`] | format and version |
//! | 4 bytes | CRC-32 of all that follows |
//! | bytes | the place: workspace and home directory, which paths in rows depend on |
//! | entries, by id | length of the rest, id, [`Basis`], the row |
//!
//! `entry` has the bytes of an entry.

mod entry;

pub use entry::{basis, decode, encode};

use crate::domain::SessionId;
use crate::store::Store;
use crate::store::format::layout;
use crate::store::io::{How, Io, Stat, lines, whole_file};
use entry::{In, put_bytes};
use std::io::ErrorKind;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// To be raised with every change of the format, and of what [`crate::store::format::header::decode`] or the list make of a file.
const MAGIC: &[u8] = b"lisle list 8\n";
/// A file that changed less than this before it was read may change once more without a newer time.
const SETTLED_NS: i64 = 2_000_000_000;
/// A larger file than this is not what lisle wrote.
const AT_MOST: u64 = 1 << 28;
/// Age above which the leavings of a dead writer of the cache are removed.
const LEFT_MS: i64 = 60_000;

/// A file as it was when it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    ino: u64,
    len: u64,
    modified_ns: i64,
    changed_ns: i64,
}

impl Stamp {
    fn settled(self, now_ns: i64) -> bool {
        self.modified_ns.max(self.changed_ns).saturating_add(SETTLED_NS) <= now_ns
    }
}

impl From<Stat> for Stamp {
    fn from(stat: Stat) -> Self {
        let Stat { ino, len, modified_ns, changed_ns, is_dir: _, modified: _ } = stat;
        Self { ino, len, modified_ns, changed_ns }
    }
}

/// Source of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// A source that may have changed since without a trace: it is read again.
    Passing,
    /// Line 1 of `session.jsonl`.
    Line(Stamp),
    /// Any of `session.jsonl`, `header.json` and another program's `session.jsonl.tmp`.
    Files([Option<Stamp>; 3]),
}

const FILES: [&str; 3] = [layout::SESSION, layout::HEADER, layout::THEIR_TEMP];

impl Basis {
    /// The files of a session as they are before it is read; none where one cannot be looked at.
    pub fn files(io: &dyn Io, dir: &Path) -> Option<[Option<Stamp>; 3]> {
        let mut stamps = [None; 3];
        for (stamp, name) in stamps.iter_mut().zip(FILES) {
            *stamp = match io.stat(&dir.join(name)) {
                Ok(stat) => Some(stat.into()),
                Err(error) if error.kind() == ErrorKind::NotFound => None,
                Err(_) => return None,
            };
        }
        Some(stamps)
    }

    /// The files are as they were.
    pub fn holds(&self, io: &dyn Io, dir: &Path) -> bool {
        match self {
            Self::Passing => false,
            Self::Line(stamp) => io.stat(&dir.join(layout::SESSION)).is_ok_and(|stat| Stamp::from(stat) == *stamp),
            Self::Files(stamps) => Self::files(io, dir).is_some_and(|now| now == *stamps),
        }
    }

    /// The same for files that were read at `now_ns`: [`Basis::Passing`] where one of them is too young.
    pub fn read_at(self, now_ns: i64) -> Self {
        let settled = match &self {
            Self::Passing => true,
            Self::Line(stamp) => stamp.settled(now_ns),
            Self::Files(stamps) => stamps.iter().flatten().all(|stamp| stamp.settled(now_ns)),
        };
        if settled { self } else { Self::Passing }
    }
}

/// Tells one content of a cache from another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexMark {
    crc: u32,
    len: usize,
}

/// The cache as it was read. Rows are decoded when they are asked for.
#[derive(Debug, Default)]
pub struct Index {
    bytes: Vec<u8>,
    mark: IndexMark,
    /// Position of each entry's id, and of the whole entry, by id.
    entries: Vec<(Range<usize>, Range<usize>)>,
}

impl Index {
    /// Reads the cache of a workspace; an empty one where there is none that can be used.
    pub fn read(store: &Store) -> Self {
        let path = store.inner.layout.index();
        let read = || -> std::io::Result<Vec<u8>> {
            let io = store.io();
            let file = io.open(&path, How::Read)?;
            let len = io.stat(&path)?.len;
            if len > AT_MOST { Ok(Vec::new()) } else { lines::range(io, &file, 0, len) }
        };
        read().ok().and_then(|bytes| Self::parse(bytes, &place(store))).unwrap_or_default()
    }

    fn parse(bytes: Vec<u8>, place: &[u8]) -> Option<Self> {
        let mut input = In(bytes.strip_prefix(MAGIC)?);
        let crc = input.array().map(u32::from_le_bytes)?;
        if crc32fast::hash(input.0) != crc || input.bytes()? != place {
            return None;
        }
        let mut entries: Vec<(Range<usize>, Range<usize>)> = Vec::new();
        while !input.0.is_empty() {
            let start = bytes.len() - input.0.len();
            let mut entry = In(input.bytes()?);
            let end = bytes.len() - input.0.len();
            let id = entry.bytes()?.len();
            entries.push((start + 8..start + 8 + id, start..end));
        }
        entries.is_sorted_by(|a, b| bytes[a.0.clone()] < bytes[b.0.clone()]).then(|| {
            let mark = IndexMark { crc, len: bytes.len() };
            Self { bytes, mark, entries }
        })
    }

    /// Mark of the content.
    pub fn mark(&self) -> IndexMark {
        self.mark
    }

    /// The entry says something else of the session than this one.
    pub fn is_news(&self, id: &SessionId, entry: Option<&[u8]>) -> bool {
        entry.is_some_and(|entry| self.entry(id) != Some(entry))
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// A session's entry.
    pub fn entry(&self, id: &SessionId) -> Option<&[u8]> {
        let at = self.entries.binary_search_by(|(found, _)| self.bytes[found.clone()].cmp(id.as_str().as_bytes()));
        self.entries.get(at.ok()?).map(|(_, all)| &self.bytes[all.clone()])
    }

    /// Ids and entries, by id.
    pub fn pairs(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.entries.iter().map(|(id, all)| (&self.bytes[id.clone()], &self.bytes[all.clone()]))
    }

    /// All entries, by id.
    pub fn entries(&self) -> Vec<&[u8]> {
        self.entries.iter().map(|(_, all)| &self.bytes[all.clone()]).collect()
    }
}

/// Writes the cache of a workspace. `entries` are by id.
///
/// # Errors
/// When it cannot be written: the one before stays.
pub fn write<'a>(store: &Store, entries: impl Iterator<Item = &'a [u8]>) -> Result<(), crate::store::StoreError> {
    let mut body = Vec::new();
    put_bytes(&mut body, &place(store));
    entries.for_each(|entry| body.extend_from_slice(entry));
    let mut bytes = Vec::with_capacity(body.len() + MAGIC.len() + 4);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&crc32fast::hash(&body).to_le_bytes());
    bytes.append(&mut body);
    let path = store.inner.layout.index();
    let dir = path.parent().unwrap_or(&path);
    whole_file::make_dirs(store.io(), dir)?;
    sweep(store.io(), dir);
    whole_file::replace(store.io(), &path, &bytes, false)
}

/// Removes what died under its temporary name.
fn sweep(io: &dyn Io, dir: &Path) {
    let now = io.now_ns() / 1_000_000;
    for name in io.list(dir).unwrap_or_default() {
        let path = dir.join(&name);
        let old = || io.stat(&path).is_ok_and(|stat| stat.modified.saturating_add(LEFT_MS) < now);
        if name.to_str().is_some_and(layout::is_temp) && old() {
            // Best effort; the next one tries again.
            let _ = io.remove(&path);
        }
    }
}

/// State that the rows depend on beside the files.
fn place(store: &Store) -> Vec<u8> {
    let mut place = Vec::new();
    put_bytes(&mut place, store.inner.layout.workspace.as_os_str().as_bytes());
    put_bytes(&mut place, store.inner.home.as_os_str().as_bytes());
    place
}
