//! Log of a source: what its program writes to its standard error, messages that the server logs, starts and ends.
//!
//! Keys that it was given never get into it, whoever prints them. A program that floods it is cut by the second.

use super::hidden_values::HiddenValues;
use crate::domain::sanitise::clean_line;
use crate::json_log::JsonLog;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Bytes of a log before it is begun again.
const LONGEST: u64 = 1 << 20;
/// Name of the log in the folder of a source.
pub const FILE: &str = "source.log";
/// Lines of one second; of more only the number is kept.
const MOST_A_SECOND: usize = 200;
/// Characters of a line.
const LONGEST_LINE: usize = 2_000;
/// Name of lisle's own lines.
const OWN: &str = "lisle";
/// Last lines of the source that are kept in memory, for errors.
const LAST: usize = 5;

/// One line of a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLine {
    /// Time, as `2026-11-22T05:00:00Z`.
    pub time: String,
    /// `stderr`, `server` or `lisle`.
    pub from: String,
    /// Text. Sanitised.
    pub text: String,
}

/// Log of one source.
#[derive(Debug)]
pub struct SourceLog {
    file: JsonLog,
    folder: PathBuf,
    keys: Mutex<HiddenValues>,
    recent: Mutex<Recent>,
}

#[derive(Debug)]
struct Recent {
    /// As they came.
    last: VecDeque<String>,
    second: Instant,
    count: usize,
}

impl SourceLog {
    /// Log in the folder of a source.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        let recent = Recent { last: VecDeque::new(), second: Instant::now(), count: 0 };
        let file = JsonLog::new(folder.join(FILE), LONGEST);
        Self { file, folder: folder.to_owned(), keys: Mutex::default(), recent: Mutex::new(recent) }
    }

    /// Values that must not get into it from now on.
    pub fn hide(&self, keys: HiddenValues) {
        *self.keys.lock().unwrap_or_else(PoisonError::into_inner) = keys;
    }

    /// Values that are hidden.
    #[must_use]
    pub fn keys(&self) -> HiddenValues {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Adds lines, off the async threads.
    pub fn add(self: &Arc<Self>, from: &'static str, lines: Vec<String>) {
        self.add_at(from, lines, Instant::now());
    }

    fn add_at(self: &Arc<Self>, from: &'static str, lines: Vec<String>, now: Instant) {
        let keys = self.keys();
        let mut kept = Vec::new();
        {
            let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
            for line in lines {
                if line.trim().is_empty() {
                    continue;
                }
                let line: String = line.chars().take(LONGEST_LINE).collect();
                if now.saturating_duration_since(recent.second) > Duration::from_secs(1) {
                    if let Some(more) = recent.count.checked_sub(MOST_A_SECOND).filter(|more| *more > 0) {
                        kept.push(format!("({more} more lines in one second were left out)"));
                    }
                    (recent.second, recent.count) = (now, 0);
                }
                recent.count += 1;
                if from != OWN {
                    recent.last.push_back(line.clone());
                }
                if recent.last.len() > LAST {
                    recent.last.pop_front();
                }
                if recent.count <= MOST_A_SECOND {
                    // What is left out costs no search for keys.
                    kept.push(shown(&line, &keys));
                }
            }
        }
        if kept.is_empty() {
            return;
        }
        let log = Arc::clone(self);
        // Nobody waits for it.
        drop(tokio::task::spawn_blocking(move || {
            let time = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
            // A source without a program has no folder yet.
            let _ = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&log.folder);
            for text in kept {
                log.file.add(&LogLine { time: time.clone(), from: from.to_owned(), text });
            }
        }));
    }

    /// The last lines, for an error; empty where it said nothing since the start.
    #[must_use]
    pub fn last_words(&self) -> String {
        let keys = self.keys();
        let recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent.last.iter().map(|line| shown(line, &keys)).collect::<Vec<_>>().join(" · ")
    }

    /// Forgets the last lines: a new start has its own.
    pub fn begin(&self) {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner).last.clear();
    }
}

/// A line as everybody may see it.
fn shown(line: &str, keys: &HiddenValues) -> String {
    clean_line(&keys.masked(line)).into_owned()
}

/// Lines of the log in the folder of a source, oldest first, at most `most`. Blocks.
#[must_use]
pub fn read(folder: &Path, most: usize) -> Vec<LogLine> {
    let before: PathBuf = folder.join(FILE).with_extension("1.log");
    let mut lines = Vec::new();
    for path in [before, folder.join(FILE)] {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        lines.extend(text.lines().filter_map(|line| serde_json::from_str::<LogLine>(line).ok()));
    }
    let skipped = lines.len().saturating_sub(most);
    lines.split_off(skipped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn keys_and_floods_stay_out_of_the_log() {
        let dir = tempfile::tempdir().unwrap();
        let log = Arc::new(SourceLog::new(dir.path()));
        log.hide(HiddenValues::new(vec!["hunter2-hunter2".into(), "abc".into()]));
        let now = Instant::now();
        log.add_at("stderr", vec!["token hunter2-hunter2 abc".into(), "\u{1b}[31mred".into()], now);
        log.add_at("stderr", (0..5_000).map(|n| format!("line {n}")).collect(), now);
        assert!(log.last_words().ends_with("line 4999"));
        let lines = loop {
            let lines = read(dir.path(), 10_000);
            if lines.len() >= MOST_A_SECOND {
                break lines;
            }
            tokio::task::yield_now().await;
        };
        assert_eq!(lines.len(), MOST_A_SECOND);
        assert_eq!(lines[0].text, "token *** abc");
        assert!(!lines[1].text.contains('\u{1b}'));
        assert_eq!(read(dir.path(), 3).len(), 3);
    }
}
