//! Log of JSON lines that does not grow without limit: at its length it is begun again, and the one before is kept.

use crate::plain_file;
use serde::Serialize;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Bytes of a log before it is begun again.
pub const USUAL: u64 = 4 << 20;

/// Log file. Only its owner reads it.
#[derive(Debug)]
pub struct JsonLog {
    path: PathBuf,
    longest: u64,
    open: Mutex<Option<(File, u64)>>,
}

impl JsonLog {
    /// Log in a file of at most `longest` bytes and a line, which is made with its first line.
    #[must_use]
    pub fn new(path: PathBuf, longest: u64) -> Self {
        Self { path, longest, open: Mutex::default() }
    }

    /// Adds a line. A disk that is full or gone stops nobody. Blocks.
    pub fn add(&self, line: &impl Serialize) {
        if let Err(error) = self.written(line, false) {
            tracing::warn!(%error, path = %self.path.display(), "can't write a log");
        }
    }

    /// Adds a line and waits until it is on the disk. Blocks.
    ///
    /// # Errors
    /// Fails if it can't be written.
    pub fn keep(&self, line: &impl Serialize) -> io::Result<()> {
        self.written(line, true)
    }

    fn written(&self, line: &impl Serialize, sync: bool) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let written = self.write(&mut open, &text, sync);
        if written.is_err() {
            *open = None;
        }
        written
    }

    fn write(&self, open: &mut Option<(File, u64)>, text: &[u8], sync: bool) -> io::Result<()> {
        if open.as_ref().is_some_and(|(_, length)| *length >= self.longest) {
            *open = None;
            std::fs::rename(&self.path, before(&self.path))?;
        }
        let (file, length) = match open {
            Some(open) => open,
            None => {
                let file = plain_file::append(&self.path)?;
                let length = file.metadata()?.len();
                open.insert((file, length))
            }
        };
        file.write_all(text)?;
        *length += text.len() as u64;
        if sync { file.sync_data() } else { Ok(()) }
    }
}

/// Name of the log before: `http.1.log` of `http.log`.
fn before(path: &Path) -> PathBuf {
    let ending = path.extension().unwrap_or_default().to_string_lossy();
    path.with_extension(format!("1.{ending}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_that_is_long_is_begun_again_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("http.log");
        let log = JsonLog::new(path.clone(), USUAL);
        let long = "x".repeat(1 << 20);
        for n in 0..10 {
            if n % 2 == 0 { log.add(&long) } else { log.keep(&long).unwrap() }
        }
        let mut names: Vec<String> =
            std::fs::read_dir(dir.path()).unwrap().map(|one| one.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        assert_eq!(names, ["http.1.log", "http.log"]);
        assert!(std::fs::metadata(path).unwrap().len() <= USUAL + (2 << 20));
        let nowhere = JsonLog::new(dir.path().join("no/such.log"), USUAL);
        nowhere.add(&long);
        assert!(nowhere.keep(&long).is_err());
    }
}
