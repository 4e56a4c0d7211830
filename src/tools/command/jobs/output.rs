//! Output of a job: its end in memory, with the read position, and all of it up to a limit in a file.

use super::{Job, Whole, locked};
use crate::tools::CallPlace;
use crate::tools::results::downloads;
use std::path::PathBuf;
use std::time::Duration;
use tokio::io::AsyncWriteExt;

/// Bytes of the end that are kept in memory.
const RING: usize = 256 * 1024;
/// Bytes that go to the file.
const MOST_IN_FILE: u64 = 16_000_000;

/// Request for a job's output.
#[derive(Clone, Debug, Default)]
pub(in crate::tools) struct OutputRequest {
    /// Time to wait for its end.
    pub wait: Duration,
    /// Until this is in what was not read yet.
    pub until: Option<String>,
    /// The last lines, whatever was read; what is new otherwise.
    pub tail: Option<usize>,
}

/// The end of what a job wrote, and how far it was read.
#[derive(Debug, Default)]
pub(super) struct OutputTail {
    end: Vec<u8>,
    total: u64,
    read: u64,
    whole: Whole,
}

impl OutputTail {
    pub fn add(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        self.end.extend(bytes);
        // Twice what is kept, so that moving it stays rare.
        if self.end.len() > 2 * RING {
            self.end.drain(..self.end.len() - RING);
        }
    }

    pub fn total(&self) -> u64 {
        self.total
    }

    /// The end of it.
    pub fn end(&self) -> &[u8] {
        self.end.get(self.end.len().saturating_sub(RING)..).unwrap_or_default()
    }

    pub fn lies_in(&mut self, path: PathBuf) {
        self.whole = Some(path);
    }

    /// Unread bytes, as far as they are still kept.
    fn new_bytes(&self) -> &[u8] {
        let unread = usize::try_from(self.total - self.read).unwrap_or(usize::MAX);
        let end = self.end();
        end.get(end.len().saturating_sub(unread)..).unwrap_or_default()
    }

    pub fn has_new(&self, wanted: &str) -> bool {
        memchr::memmem::find(self.new_bytes(), wanted.as_bytes()).is_some()
    }

    /// New output, or the last lines. All output so far then counts as read.
    pub fn take(&mut self, tail: Option<usize>) -> String {
        let lies = |what: String| match &self.whole {
            Some(path) => format!("[{what}; all that it wrote is in {}]\n", path.display()),
            None => format!("[{what}]\n"),
        };
        let out = match tail {
            Some(count) => {
                let text = String::from_utf8_lossy(self.end());
                let lines: Vec<&str> = text.lines().collect();
                let cut = lines.len().saturating_sub(count);
                let more = cut > 0 || self.total > self.end().len() as u64;
                let head = if more { lies(format!("The last {} lines", lines.len() - cut)) } else { String::new() };
                head + &lines.get(cut..).unwrap_or_default().join("\n")
            }
            None => {
                let new = self.new_bytes();
                let lost = self.total - self.read - new.len() as u64;
                let head = match (lost, self.total == self.read) {
                    (_, true) => "(nothing new)".to_owned(),
                    (0, _) => String::new(),
                    (lost, _) => lies(format!("{lost} bytes before this were not kept here")),
                };
                head + &String::from_utf8_lossy(new)
            }
        };
        self.read = self.total;
        out
    }
}

/// The file with all that a job writes.
pub(super) struct OutputFile {
    place: CallPlace,
    name: String,
    file: Option<tokio::fs::File>,
    written: u64,
    /// True if it could not be made, or is full: nothing more goes there.
    is_done: bool,
}

impl OutputFile {
    pub fn new(place: CallPlace, id: &str) -> Self {
        Self { place, name: format!("job-{id}"), file: None, written: 0, is_done: false }
    }

    /// Adds to it. Gives its path when it was made just now.
    pub async fn add(&mut self, bytes: &[u8]) -> Option<PathBuf> {
        if self.is_done {
            return None;
        }
        let mut made = None;
        if self.file.is_none() {
            let (place, name) = (self.place.clone(), self.name.clone());
            let path =
                tokio::task::spawn_blocking(move || downloads::create(&place, "long_responses", &name, "txt", b""));
            let path = path.await.ok().and_then(Result::ok);
            self.file = match &path {
                Some(path) => tokio::fs::OpenOptions::new().append(true).open(path).await.ok(),
                None => None,
            };
            made = path.filter(|_| self.file.is_some());
        }
        let room = usize::try_from(MOST_IN_FILE.saturating_sub(self.written)).unwrap_or(usize::MAX);
        let part = bytes.get(..room.min(bytes.len())).unwrap_or(bytes);
        let kept = match &mut self.file {
            Some(file) => file.write_all(part).await.is_ok(),
            None => false,
        };
        self.written += part.len() as u64;
        // A disk that is full costs the file and not the job.
        self.is_done = !kept || part.len() < bytes.len();
        if self.is_done
            && kept
            && let Some(file) = &mut self.file
        {
            let note = format!("\n[only the first {MOST_IN_FILE} bytes are kept here]\n");
            let _ = file.write_all(note.as_bytes()).await;
        }
        made
    }

    /// Everything is in it from here on.
    pub async fn close(&mut self, job: &Job) {
        if let Some(mut file) = self.file.take() {
            let flushed = file.flush().await;
            if let Err(error) = flushed {
                tracing::warn!(%error, "the output of a job could not be kept whole");
                locked(&job.state).written.whole = None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_new_is_given_once() {
        let mut written = OutputTail::default();
        assert_eq!(written.take(None), "(nothing new)");
        written.add(b"one\ntwo\n");
        assert!(written.has_new("two"));
        assert_eq!(written.take(None), "one\ntwo\n");
        assert!(!written.has_new("two"));
        written.add(b"three\n");
        assert_eq!(written.take(None), "three\n");
        assert_eq!(written.take(None), "(nothing new)");
        assert_eq!(written.take(Some(2)), "[The last 2 lines]\ntwo\nthree");
        assert_eq!(written.take(Some(9)), "one\ntwo\nthree");
    }

    #[test]
    fn much_output_leaves_its_end_and_the_path_of_all() {
        let mut written = OutputTail::default();
        written.lies_in("/s/long_responses/x.txt".into());
        for _ in 0..20 {
            written.add(&vec![b'x'; 50_000]);
        }
        written.add(b"\nend\n");
        let text = written.take(None);
        let lost = 1_000_005 - RING as u64;
        assert!(
            text.starts_with(&format!("[{lost} bytes before this were not kept here; all that it wrote is in /s/long"))
        );
        assert!(text.ends_with("x\nend\n") && written.end().len() == RING);
    }
}
