//! Usage log: a line per request in `usage/YYYY-MM.jsonl` of lisle's data folder, for all workspaces together.
//!
//! A line is appended by one write that begins and ends with a line feed, so several processes can write at once and a line
//! that a death cut spoils no other. Lines that cannot be read are left out. Months older than [`MONTHS`] are removed.

use crate::domain::At;
use crate::domain::spending::Spent;
use crate::plain_file;
use std::collections::VecDeque;
use std::fs::DirBuilder;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Number of months that are kept.
pub const MONTHS: usize = 24;
/// A longer line is none of ours.
const LONGEST: usize = 16 * 1024;

/// The records of what requests used.
#[derive(Clone, Debug)]
pub struct UsageLog {
    folder: PathBuf,
    /// Records that are not written yet, oldest first.
    waits: Arc<Mutex<VecDeque<Spent>>>,
}

impl UsageLog {
    /// Below lisle's data folder. Nothing is made before the first record.
    #[must_use]
    pub fn new(data: &Path) -> Self {
        Self { folder: data.join("usage"), waits: Arc::default() }
    }

    /// Folder of the log.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Adds a record. Blocks.
    ///
    /// # Errors
    /// When it cannot be written yet: it is kept, and tried again with the next one; or is longer than a record can be.
    pub fn note(&self, spent: &Spent) -> io::Result<()> {
        self.add(spent.clone());
        self.settle()
    }

    /// Keeps a record in memory until [`UsageLog::settle`] writes it.
    pub fn add(&self, spent: Spent) {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner).push_back(spent);
    }

    /// Writes the records that wait, in order. Blocks.
    ///
    /// # Errors
    /// When one cannot be written: it waits on, with those behind it.
    pub fn settle(&self) -> io::Result<()> {
        let mut waits = self.waits.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(first) = waits.front() {
            match self.write(first) {
                // It would never be written.
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                    waits.pop_front();
                    return Err(error);
                }
                written => written?,
            }
            waits.pop_front();
        }
        Ok(())
    }

    /// Records that are not written yet.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn write(&self, spent: &Spent) -> io::Result<()> {
        let line = serde_json::to_string(spent)?;
        if line.len() > LONGEST {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the record is too long"));
        }
        let file = self.folder.join(format!("{}.jsonl", month(spent.at)));
        let mut out = match plain_file::append(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
                plain_file::append(&file)?
            }
            other => other?,
        };
        let first = out.metadata()?.len() == 0;
        out.write_all(format!("\n{line}\n").as_bytes())?;
        if first {
            self.forget_old();
        }
        Ok(())
    }

    /// All records of the months from that of `since` on, oldest month first. Blocks.
    ///
    /// # Errors
    /// When the folder is there and cannot be read.
    pub fn read(&self, since: At) -> io::Result<Vec<Spent>> {
        let from = month(since);
        let mut all = Vec::new();
        for (name, path) in self.files()? {
            if name >= from {
                read_file(&path, since, &mut all)?;
            }
        }
        Ok(all)
    }

    /// The files by month, oldest first.
    fn files(&self) -> io::Result<Vec<(String, PathBuf)>> {
        let entries = match std::fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other?,
        };
        let mut files = Vec::new();
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".jsonl"));
            if let Some(name) = name.filter(|name| is_month(name)) {
                files.push((name.to_owned(), path.clone()));
            }
        }
        files.sort();
        Ok(files)
    }

    fn forget_old(&self) {
        let Ok(files) = self.files() else { return };
        let many = files.len().saturating_sub(MONTHS);
        for (_, path) in files.into_iter().take(many) {
            if let Err(error) = std::fs::remove_file(&path) {
                tracing::warn!(%error, "can't remove {}", path.display());
            }
        }
    }
}

fn read_file(path: &Path, since: At, all: &mut Vec<Spent>) -> io::Result<()> {
    let mut reader = BufReader::new(plain_file::open_through_links(path)?);
    let mut line = Vec::new();
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        if let Ok(spent) = serde_json::from_slice::<Spent>(&line)
            && spent.at >= since
        {
            all.push(spent);
        }
    }
}

/// The month of an instant, in UTC: `2026-11`.
fn month(at: At) -> String {
    jiff::Timestamp::from_millisecond(at.0).unwrap_or_default().strftime("%Y-%m").to_string()
}

fn is_month(name: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    name.len() == 7
        && name.split_once('-').is_some_and(|(year, month)| year.len() == 4 && digits(year) && digits(month))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::usage::RequestUsage;
    use crate::domain::{ConnectionName, SessionId};
    use std::os::unix::fs::MetadataExt;

    const DAY: i64 = 24 * 60 * 60 * 1000;

    fn spent(at: i64) -> Spent {
        Spent {
            at: At(at),
            workspace: "/w".into(),
            session: SessionId::parse("260101-a-b").unwrap(),
            turn: None,
            connection: ConnectionName::new("c"),
            model: "m".to_owned(),
            used: RequestUsage { input: 3, output: 1, ..RequestUsage::default() },
            cost: Some(0.25),
        }
    }

    #[test]
    fn records_come_back_by_time_and_torn_lines_are_left_out() {
        let home = tempfile::tempdir().unwrap();
        let books = UsageLog::new(home.path());
        assert_eq!(books.read(At(0)).unwrap(), []);
        for at in [5, 6, 40 * DAY, 80 * DAY] {
            books.note(&spent(at)).unwrap();
        }
        let first = books.folder().join("1970-01.jsonl");
        assert_eq!(std::fs::metadata(&first).unwrap().mode() & 0o777, 0o600);
        // A death cut a line; what is written after it is whole.
        std::fs::OpenOptions::new().append(true).open(&first).unwrap().write_all(b"{\"at\":7,\"sess").unwrap();
        books.note(&spent(8)).unwrap();
        let at = |since: i64| books.read(At(since)).unwrap().iter().map(|one| one.at.0).collect::<Vec<_>>();
        assert_eq!(at(0), [5, 6, 8, 40 * DAY, 80 * DAY]);
        assert_eq!(at(6), [6, 8, 40 * DAY, 80 * DAY]);
        assert_eq!(at(41 * DAY), [80 * DAY]);
    }

    #[test]
    fn old_months_go_when_a_new_one_begins() {
        let home = tempfile::tempdir().unwrap();
        let books = UsageLog::new(home.path());
        for month in 0..30 {
            books.note(&spent(month * 31 * DAY)).unwrap();
        }
        std::fs::write(books.folder().join("notes.txt"), "mine").unwrap();
        books.note(&spent(40 * 31 * DAY)).unwrap();
        let files = books.files().unwrap();
        assert_eq!(files.len(), MONTHS);
        assert!(books.folder().join("notes.txt").exists());
        assert_eq!(books.read(At(0)).unwrap().last().unwrap().at.0, 40 * 31 * DAY);
    }

    #[test]
    fn what_cannot_be_written_waits_and_comes_in_its_order() {
        let home = tempfile::tempdir().unwrap();
        let books = UsageLog::new(home.path());
        // No folder can be made there: as good as a full disk.
        std::fs::write(books.folder(), "in the way").unwrap();
        for at in [1, 2] {
            assert!(books.note(&spent(at)).is_err());
        }
        let too_long = Spent { model: "m".repeat(LONGEST), ..spent(3) };
        books.add(too_long);
        books.add(spent(4));
        assert_eq!(books.waiting(), 4);
        std::fs::remove_file(books.folder()).unwrap();
        assert_eq!(books.settle().unwrap_err().kind(), io::ErrorKind::InvalidData);
        books.note(&spent(5)).unwrap();
        let at: Vec<i64> = books.read(At(0)).unwrap().iter().map(|one| one.at.0).collect();
        assert_eq!((at, books.waiting()), (vec![1, 2, 4, 5], 0));
    }

    #[test]
    fn many_write_at_once() {
        let home = tempfile::tempdir().unwrap();
        let books = UsageLog::new(home.path());
        std::thread::scope(|scope| {
            for n in 0..8 {
                let books = &books;
                scope.spawn(move || (0..50).for_each(|m| books.note(&spent(n * 50 + m)).unwrap()));
            }
        });
        let mut at: Vec<i64> = books.read(At(0)).unwrap().iter().map(|one| one.at.0).collect();
        at.sort_unstable();
        assert_eq!(at, (0..400).collect::<Vec<_>>());
    }
}
