//! File of the records: appended by a thread of its own, so that all records that wait are one write and one fsync.
//!
//! A line counts once it is whole. A line that a death tore is cut off when the file is opened; what was promised to
//! anybody is never in it.

use super::record::ChannelRecord;
use crate::plain_file;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;

/// Most lines that are one write.
const BATCH: usize = 4096;

/// Result of writing.
pub(super) type Written = oneshot::Receiver<Result<(), String>>;

enum JournalWrite {
    Append(Vec<u8>, oneshot::Sender<Result<(), String>>),
    /// Begin the file again with these lines.
    Replace(Vec<u8>),
}

/// Journal of the channels.
#[derive(Debug)]
pub(super) struct Journal {
    to: Sender<JournalWrite>,
}

/// Bytes of a journal. It is begun again long before.
const LONGEST: u64 = 1 << 30;

/// Reads the records of a file, and cuts off a torn line. Lines that are no records are named and left out.
///
/// # Errors
/// Fails if the file can't be read or cut.
pub(super) fn read(path: &Path) -> io::Result<Vec<ChannelRecord>> {
    let bytes = match plain_file::read(path, LONGEST) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    if whole < bytes.len() {
        plain_file::change(path)?.set_len(whole as u64)?;
    }
    let (mut records, mut odd) = (Vec::new(), false);
    let lines = bytes.get(..whole).unwrap_or_default().split(|byte| *byte == b'\n');
    for (index, line) in lines.enumerate().filter(|(_, line)| !line.is_empty()) {
        match serde_json::from_slice(line) {
            Ok(record) => records.push(record),
            Err(error) => {
                odd = true;
                tracing::error!(%error, line = index + 1, path = %path.display(), "a record of channels can't be read");
            }
        }
    }
    if odd {
        // It begins again without them.
        let copy = path.with_extension(format!("corrupt.{}", jiff::Timestamp::now().as_millisecond()));
        plain_file::create_new(&copy)?.write_all(&bytes)?;
        tracing::error!(copy = %copy.display(), "the records of channels that can't be read are kept");
    }
    Ok(records)
}

/// Lines of records.
fn lines(records: &[ChannelRecord]) -> Vec<u8> {
    let mut out = Vec::new();
    for record in records {
        // Records have string keys and no numbers that JSON lacks.
        match serde_json::to_vec(record) {
            Ok(line) => {
                out.extend(line);
                out.push(b'\n');
            }
            Err(error) => tracing::error!(%error, "can't write a record of channels as JSON"),
        }
    }
    out
}

impl Journal {
    /// Journal in a file, which begins again with these records.
    ///
    /// # Errors
    /// Fails if the file can't be written.
    pub fn open(path: PathBuf, records: &[ChannelRecord]) -> io::Result<Self> {
        let file = begin(&path, &lines(records))?;
        let (to, from) = channel();
        std::thread::Builder::new().name("channels".to_owned()).spawn(move || JournalFile { path, file }.run(&from))?;
        Ok(Self { to })
    }

    /// Adds records. They are on disk once the answer is there.
    pub fn append(&self, records: &[ChannelRecord]) -> Written {
        let (done, written) = oneshot::channel();
        // Without its thread the answer is an error.
        let _ = self.to.send(JournalWrite::Append(lines(records), done));
        written
    }

    /// Begins the file again with these records, which make the same state.
    pub fn replace(&self, records: &[ChannelRecord]) {
        let _ = self.to.send(JournalWrite::Replace(lines(records)));
    }
}

/// Writes a new file in the place of the old one.
fn begin(path: &Path, bytes: &[u8]) -> io::Result<File> {
    let new = path.with_extension("new");
    match std::fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = plain_file::create_new(&new)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    let folder = plain_file::folder(path.parent().unwrap_or(Path::new(".")))?;
    std::fs::rename(&new, path)?;
    // The new file has the name from here on: whatever is added belongs there.
    if let Err(error) = folder.sync_all() {
        tracing::warn!(%error, path = %path.display(), "the name of a new file may not be on the disk yet");
    }
    Ok(file)
}

struct JournalFile {
    path: PathBuf,
    file: File,
}

impl JournalFile {
    /// Writes what comes until nobody can send any more.
    fn run(mut self, from: &Receiver<JournalWrite>) {
        while let Ok(first) = from.recv() {
            let mut bytes = Vec::new();
            let mut asked = Vec::new();
            let mut next = Some(first);
            let mut replace = None;
            while let Some(write) = next.take() {
                match write {
                    JournalWrite::Append(lines, done) => {
                        bytes.extend(lines);
                        asked.push(done);
                    }
                    JournalWrite::Replace(lines) => {
                        replace = Some(lines);
                        break;
                    }
                }
                if asked.len() < BATCH {
                    next = from.try_recv().ok();
                }
            }
            let written = self.write(&bytes).map_err(|error| format!("can't write {}: {error}", self.path.display()));
            for done in asked {
                let _ = done.send(written.clone());
            }
            if let Some(lines) = replace.filter(|_| written.is_ok()) {
                match begin(&self.path, &lines) {
                    Ok(file) => self.file = file,
                    Err(error) => tracing::warn!(%error, "can't shorten {}", self.path.display()),
                }
            }
        }
    }

    /// Appends whole lines, or nothing.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let before = self.file.metadata()?.len();
        let written = self.file.write_all(bytes).and_then(|()| self.file.sync_data());
        if written.is_err() {
            // Half a line would spoil the next one.
            self.file.set_len(before)?;
        }
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delivered(reply: u64) -> ChannelRecord {
        ChannelRecord::Delivered { reply }
    }

    #[tokio::test]
    async fn records_are_on_disk_once_they_are_answered_and_a_torn_line_is_cut_off() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.jsonl");
        assert_eq!(read(&path).unwrap(), []);
        let journal = Journal::open(path.clone(), &[delivered(1)]).unwrap();
        let all: Vec<Written> = (2..100).map(|n| journal.append(&[delivered(n)])).collect();
        for written in all {
            assert_eq!(written.await.unwrap(), Ok(()));
        }
        let whole = std::fs::read(&path).unwrap();
        assert_eq!(read(&path).unwrap(), (1..100).map(delivered).collect::<Vec<_>>());
        std::fs::write(&path, [&whole, &b"{\"record\":\"deliv"[..]].concat()).unwrap();
        assert_eq!(read(&path).unwrap().len(), 99);
        assert_eq!(std::fs::read(&path).unwrap(), whole, "what a death tore is gone");
        std::fs::write(&path, [b"no record\n", &whole[..]].concat()).unwrap();
        assert_eq!(read(&path).unwrap().len(), 99, "the others count");
    }

    #[tokio::test]
    async fn a_file_that_is_begun_again_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.jsonl");
        let journal = Journal::open(path.clone(), &[]).unwrap();
        let first = journal.append(&[delivered(1), delivered(2)]);
        journal.replace(&[delivered(7)]);
        let last = journal.append(&[delivered(8)]);
        assert_eq!((first.await.unwrap(), last.await.unwrap()), (Ok(()), Ok(())));
        assert_eq!(read(&path).unwrap(), [delivered(7), delivered(8)]);
    }
}
