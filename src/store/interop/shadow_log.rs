//! `ours.jsonl`: our rows once more, where another program may write `session.jsonl` anew from its memory.
//!
//! A row stands here before it stands there, so that it is never in neither. After a rewrite, [`pair`] says which of
//! ours are missing and which the other program changed. What is done about it is the journal's business.

use crate::store::format::json::JsonFields;
use crate::store::format::layout;
use crate::store::io::{How, lines, whole_file};
use crate::store::read::session::FoundSession;
use crate::store::{Store, StoreError};
use serde_json::Value;
use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Bytes from its end in which a session that only we wrote has our last row.
const TAIL: u64 = 256 * 1024;

/// The file, for writing.
#[derive(Debug)]
pub struct Ours {
    store: Store,
    path: PathBuf,
    file: Option<File>,
    unsynced: bool,
    /// An fsync failed: what was written before may be nowhere.
    doubted: bool,
}

/// Fate of our rows in a file that another program wrote.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Paired {
    /// Lines that are not there.
    pub missing: Vec<String>,
    /// Lines whose row has other content there.
    pub displaced: Vec<String>,
    /// Lines that are there.
    pub kept: Vec<String>,
    /// True if there is no row at all: a person cleared the session.
    pub cleared: bool,
}

impl Ours {
    /// The file of the session in `dir`, which may not exist.
    pub fn new(store: Store, dir: &Path) -> Self {
        Self { store, path: dir.join(layout::OURS), file: None, unsynced: false, doubted: false }
    }

    fn error(&self, doing: &'static str, source: std::io::Error) -> StoreError {
        StoreError::io(doing, &self.path, source)
    }

    /// Adds a line.
    ///
    /// # Errors
    /// When it could not be written; it is then not there, or torn, which is as good.
    pub fn append(&mut self, line: &str) -> Result<(), StoreError> {
        let io = self.store.inner.io.clone();
        let mut prefix = "";
        let file = match self.file.take() {
            Some(file) => file,
            None => {
                let file = io.open(&self.path, How::Append).map_err(|e| self.error("write", e))?;
                let len = io.stat(&self.path).map_err(|e| self.error("write", e))?.len;
                let last = lines::range(&*io, &file, len.saturating_sub(1), len).map_err(|e| self.error("read", e))?;
                // Behind a torn line, ours begins on its own.
                if len > 0 && last != b"\n" {
                    prefix = "\n";
                }
                file
            }
        };
        // After an error the file is looked at anew.
        let text = format!("{prefix}{line}");
        io.append(&file, text.as_bytes()).map_err(|e| self.error("write", e))?;
        self.file = Some(file);
        self.unsynced = true;
        Ok(())
    }

    /// Forces what was added to the disk. `recent` are the rows that were added since the last time.
    ///
    /// # Errors
    /// When that failed.
    pub fn sync(&mut self, recent: &[(u64, String)]) -> Result<(), StoreError> {
        if self.doubted {
            // To another file: of this one the system takes as written what it could not write.
            let mut lines = self.read()?;
            for (_, line) in recent {
                if !lines.contains(line) {
                    lines.push(line.clone());
                }
            }
            self.replace(&lines)?;
        } else if let Some(file) = self.file.as_ref().filter(|_| self.unsynced)
            && let Err(error) = self.store.io().fsync(file)
        {
            self.doubted = true;
            return Err(self.error("save", error));
        }
        (self.unsynced, self.doubted) = (false, false);
        Ok(())
    }

    /// All whole lines, in order.
    ///
    /// # Errors
    /// When the file is there and cannot be read.
    pub fn read(&self) -> Result<Vec<String>, StoreError> {
        let bytes = whole_file::read(self.store.io(), &self.path)?.unwrap_or_default();
        Ok(lines(&bytes).map(|line| format!("{line}\n")).collect())
    }

    /// Leaves only these lines.
    ///
    /// # Errors
    /// When that failed; the file is then as it was.
    pub fn replace(&mut self, lines: &[String]) -> Result<(), StoreError> {
        self.file = None;
        whole_file::replace(self.store.io(), &self.path, lines.concat().as_bytes(), true)
    }

    /// Removes the file.
    ///
    /// # Errors
    /// When that failed.
    pub fn remove(&mut self) -> Result<(), StoreError> {
        self.file = None;
        match self.store.io().remove(&self.path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(self.error("remove", error)),
            _ => Ok(()),
        }
    }

    /// The last whole line.
    ///
    /// # Errors
    /// When the file is there and cannot be read.
    pub fn last(&self) -> Result<Option<String>, StoreError> {
        let io = self.store.io();
        let file = match io.open(&self.path, How::Read) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.error("read", error)),
        };
        let len = io.stat(&self.path).map_err(|e| self.error("read", e))?.len;
        // The last one may be torn, the one before it never is.
        let found = lines::before(io, &file, 0, len, 2).map_err(|e| self.error("read", e))?;
        let whole = found.lines.iter().rev().filter_map(|line| std::str::from_utf8(&line.bytes).ok());
        Ok(whole.filter(|line| id(line).is_some()).map(str::to_owned).next())
    }

    /// True if `session` with `len` bytes, which no other program wrote since we did, contains our
    /// last line: a crash may have come before it was written there.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn is_there(&self, last: &str, session: &File, len: u64) -> Result<bool, StoreError> {
        let span = TAIL.max(2 * last.len() as u64);
        let bytes = lines::range(self.store.io(), session, len.saturating_sub(span), len);
        let bytes = bytes.map_err(|e| self.error("read", e))?;
        Ok(memchr::memmem::find(&bytes, last.as_bytes()).is_some())
    }
}

/// Lines that are rows.
fn lines(bytes: &[u8]) -> impl Iterator<Item = &str> {
    bytes.split(|b| *b == b'\n').filter_map(|line| std::str::from_utf8(line).ok()).filter(|line| id(line).is_some())
}

fn id(line: &str) -> Option<String> {
    JsonFields::parse(line).ok().filter(crate::store::format::row::is_message)?.text("id")
}

/// Pairs our lines with the rows of another program's file by id and n-th occurrence. Without a row it was cleared, if it
/// is `sound` and has a header.
pub fn pair(ours: Vec<String>, rows: &[u8], sound: bool) -> Paired {
    let mut theirs: HashMap<String, std::collections::VecDeque<&str>> = HashMap::new();
    for line in lines(rows) {
        if let Some(id) = id(line) {
            theirs.entry(id).or_default().push_back(line);
        }
    }
    let mut out = Paired { cleared: sound && theirs.is_empty(), ..Paired::default() };
    if out.cleared {
        out.displaced = ours;
        return out;
    }
    for line in ours {
        let there = id(&line).and_then(|id| theirs.get_mut(&id)?.pop_front());
        match there {
            None => out.missing.push(line),
            Some(there) if same_row(&line, there) => out.kept.push(line),
            Some(_) => out.displaced.push(line),
        }
    }
    out
}

/// The other program may have added keys and left out those that only we know.
fn same_row(ours: &str, theirs: &str) -> bool {
    if ours.trim_end() == theirs.trim_end() {
        return true;
    }
    let (Ok(Value::Object(mut ours)), Ok(theirs)) = (serde_json::from_str(ours), serde_json::from_str(theirs)) else {
        return false;
    };
    ours.remove("lisle");
    same(&Value::Object(ours), &theirs)
}

/// Every value of `ours` stands in `theirs`. Numbers are compared as JavaScript has them.
fn same(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs)) => {
            ours.iter().all(|(key, value)| same(value, theirs.get(key).unwrap_or(&Value::Null)))
        }
        (Value::Array(ours), Value::Array(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(ours, theirs)| same(ours, theirs))
        }
        (Value::Number(ours), Value::Number(theirs)) => ours == theirs || ours.as_f64() == theirs.as_f64(),
        (ours, theirs) => ours == theirs,
    }
}

/// The session may lack rows of ours: another program wrote it since, or a death came before our last one.
pub(in crate::store) fn may_lack(kept: &Ours, found: &FoundSession, last: Option<String>) -> Result<bool, StoreError> {
    match (last, &found.file) {
        (None, _) => Ok(false),
        (Some(last), Some(file)) => Ok(found.head.foreign || !kept.is_there(&last, file, found.len)?),
        (Some(_), None) => Ok(true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, text: &str) -> String {
        format!("{{\"id\":\"{id}\",\"type\":\"user\",\"content\":\"{text}\",\"timestamp\":1}}\n")
    }

    #[test]
    fn rows_are_paired_by_id_and_how_often_it_came() {
        let header = "{\"id\":\"a\",\"createdAt\":1}\n";
        let theirs = [header.to_owned(), row("x", "1"), row("t", "t"), row("y", "other")].concat();
        let ours = vec![row("x", "1"), row("x", "2"), row("y", "mine"), row("z", "1")];
        let paired = pair(ours.clone(), theirs.as_bytes(), true);
        assert_eq!(paired.missing, [row("x", "2"), row("z", "1")]);
        assert_eq!(
            (paired.displaced, paired.kept, paired.cleared),
            (vec![row("y", "mine")], vec![row("x", "1")], false)
        );
        assert_eq!(pair(ours.clone(), b"", false).missing, ours);
        let cleared = pair(ours.clone(), header.as_bytes(), true);
        assert_eq!(cleared, Paired { displaced: ours, cleared: true, ..Paired::default() });
    }

    #[test]
    fn what_only_one_side_knows_of_a_row_makes_it_no_other() {
        let ours = "{\"id\":\"x\",\"type\":\"tool\",\"content\":\"c\",\"toolInput\":{\"n\":1},\"lisle\":{\"v\":1}}";
        for (theirs, same) in [
            ("{\"type\":\"tool\",\"id\":\"x\",\"toolInput\":{\"n\":1.0},\"content\":\"c\",\"annotations\":[1]}", true),
            ("{\"type\":\"tool\",\"id\":\"x\",\"toolInput\":{\"n\":2},\"content\":\"c\"}", false),
            ("{\"type\":\"tool\",\"id\":\"x\",\"content\":\"c\"}", false),
        ] {
            assert_eq!(same_row(ours, theirs), same, "{theirs}");
        }
    }
}
