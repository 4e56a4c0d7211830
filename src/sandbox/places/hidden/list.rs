//! The list as a file: read on where it was left, added to, and written anew. Its writers wait for each other.

use super::{HiddenName, Identity};
use crate::sandbox::plain_file;
use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Lines from which on it is worth a look what of them still counts.
const LONG: usize = 1_000;
/// So often the file is opened anew that another process replaced meanwhile.
const TRIES: usize = 10;

/// A line of the list: the first one of an identity is where it was hidden first, the last one where it is.
#[derive(Serialize, Deserialize)]
struct NameLine {
    number: u64,
    born: i64,
    path: PathBuf,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    facts: Option<(u64, i64)>,
}

#[derive(Default)]
pub(super) struct List {
    path: Option<PathBuf>,
    /// Bytes and lines that are known, and the number of the file.
    read: u64,
    lines: usize,
    number: u64,
}

impl List {
    pub(super) fn of(path: PathBuf) -> Self {
        Self { path: Some(path), ..Self::default() }
    }

    pub(super) fn lines(&self) -> usize {
        self.lines
    }

    pub(super) fn is_long(&self) -> bool {
        self.lines >= LONG
    }

    /// Names that were added since the last time.
    pub(super) fn read_on(&mut self) -> Vec<HiddenName> {
        let mut new = Vec::new();
        let Some(mut file) = self.path.as_ref().and_then(|list| plain_file::open(list).ok()) else { return new };
        let Ok(meta) = file.metadata() else { return new };
        if meta.len() < self.read || meta.ino() != self.number {
            // It was removed, or written anew.
            (self.read, self.lines, self.number) = (0, 0, meta.ino());
        }
        if meta.len() == self.read || file.seek(SeekFrom::Start(self.read)).is_err() {
            return new;
        }
        let (mut lines, mut line) = (BufReader::new(file), Vec::new());
        while lines.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
            // One that is written at this moment is read the next time.
            if line.last() != Some(&b'\n') {
                break;
            }
            self.read += line.len() as u64;
            self.lines += 1;
            if let Ok(NameLine { number, born, path, facts }) = serde_json::from_slice(&line) {
                new.push(HiddenName { identity: Identity { number, born }, path, facts });
            }
            line.clear();
        }
        new
    }

    /// Adds names. A list that cannot be written is no reason to hide less: this process remembers anyway.
    pub(super) fn append(&self, names: &[HiddenName]) {
        let Some(list) = &self.path else { return };
        let _ = locked(list).and_then(|mut file| file.write_all(&text(names)));
    }

    /// Replaces the list by these names. False where that failed, or another process added something meanwhile.
    pub(super) fn rewrite(&mut self, names: &[HiddenName]) -> bool {
        let Some(list) = &self.path else { return false };
        let Ok(file) = locked(list) else { return false };
        if !file.metadata().is_ok_and(|meta| meta.len() == self.read && meta.ino() == self.number) {
            return false;
        }
        let (new, text) = (list.with_extension("new"), text(names));
        let _ = std::fs::remove_file(&new);
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new);
        let made = made.and_then(|mut made| {
            made.write_all(&text)?;
            made.sync_data()?;
            made.metadata()
        });
        let Ok(meta) = made else { return false };
        if std::fs::rename(&new, list).is_err() {
            return false;
        }
        (self.read, self.lines, self.number) = (text.len() as u64, names.len(), meta.ino());
        true
    }
}

fn text(names: &[HiddenName]) -> Vec<u8> {
    let mut text = Vec::new();
    for HiddenName { identity: Identity { number, born }, path, facts } in names {
        let line = NameLine { number: *number, born: *born, path: path.clone(), facts: *facts };
        let start = text.len();
        match serde_json::to_writer(&mut text, &line) {
            Ok(()) => text.push(b'\n'),
            // A path that is no text has no line.
            Err(_) => text.truncate(start),
        }
    }
    text
}

/// The list for this process alone, to be added to.
fn locked(list: &Path) -> std::io::Result<File> {
    let open = || OpenOptions::new().append(true).create(true).mode(0o600).open(list);
    let mut file = open()?;
    for _ in 0..TRIES {
        rustix::fs::flock(&file, FlockOperation::LockExclusive)?;
        let here = list.symlink_metadata().is_ok_and(|meta| file.metadata().is_ok_and(|own| own.ino() == meta.ino()));
        if here {
            break;
        }
        file = open()?;
    }
    Ok(file)
}
