//! Log of requests: a line of JSON for each, without tokens and without bodies, in a file beside the gateway's secret.

use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Bytes of the file before it is begun anew; the one before is kept.
const LONGEST: u64 = 4 << 20;

/// One request.
#[derive(Debug, Serialize)]
pub(super) struct LogLine<'a> {
    /// Milliseconds since 1970.
    pub at: i64,
    pub address: String,
    pub method: &'a str,
    /// Path without its query. Parts that let somebody in are left out.
    pub path: &'a str,
    pub status: u16,
    /// Milliseconds until the response began.
    pub ms: u64,
    /// Name of the token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<&'a str>,
}

/// The file.
#[derive(Debug)]
pub(super) struct AccessLog {
    path: PathBuf,
    open: Mutex<Option<(File, u64)>>,
}

impl AccessLog {
    pub fn new(path: PathBuf) -> Self {
        Self { path, open: Mutex::default() }
    }

    /// Adds a line. A disk that is full or gone stops no request.
    pub fn add(&self, line: &LogLine<'_>) {
        let mut text = serde_json::to_vec(line).unwrap_or_default();
        text.push(b'\n');
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let written = self.write(&mut open, &text);
        if let Err(error) = written {
            tracing::warn!(%error, path = %self.path.display(), "can't write the request log");
            *open = None;
        }
    }

    fn write(&self, open: &mut Option<(File, u64)>, text: &[u8]) -> io::Result<()> {
        if open.as_ref().is_some_and(|(_, length)| *length >= LONGEST) {
            *open = None;
            std::fs::rename(&self.path, self.path.with_extension("1.log"))?;
        }
        let (file, length) = match open {
            Some(open) => open,
            None => {
                let file = OpenOptions::new().create(true).append(true).mode(0o600).open(&self.path)?;
                let length = file.metadata()?.len();
                open.insert((file, length))
            }
        };
        file.write_all(text)?;
        *length += text.len() as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_that_is_long_is_begun_anew_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("http.log");
        let log = AccessLog::new(path.clone());
        let long = "x".repeat(1 << 20);
        for _ in 0..10 {
            let address = "127.0.0.1".to_owned();
            log.add(&LogLine { at: 1, address, method: "GET", path: &long, status: 200, ms: 0, token: None });
        }
        let mut names: Vec<String> =
            std::fs::read_dir(dir.path()).unwrap().map(|one| one.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        assert_eq!(names, ["http.1.log", "http.log"]);
        assert!(std::fs::metadata(path).unwrap().len() <= LONGEST + (2 << 20));
    }
}
