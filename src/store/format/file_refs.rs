//! References from rows to files of their session.
//!
//! Rows name files by `{{SESSION_PATH}}/plans/…` or by the whole path, anywhere in a text, so that the end of a name
//! cannot be told from the text alone. So the names of the files that are there are looked for in the text.

use super::json::{JsonFields, value_of};
use super::portable_paths;
use crate::store::StoreError;
use crate::store::io::{Io, PathKind, trees};
use memchr::memmem::Finder;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

/// The directories of a session that hold what rows refer to.
pub const DIRS: [&str; 5] = ["plans", "attachments", "data", "long_responses", "downloads"];
/// Keys of rows whose whole value is the path of a file that was there when the row was written.
const PATHS: [&str; 4] = ["planPath", "storedPath", "thumbnailPath", "markdownPath"];

/// The files of one session, and those that were referred to so far.
#[derive(Debug)]
pub struct Refers {
    /// Start of a path into the session in the text of a row.
    begin: [Finder<'static>; 2],
    /// Paths below the session, by how they stand in JSON.
    names: HashMap<Vec<u8>, PathBuf>,
    lengths: BTreeSet<usize>,
    used: BTreeSet<PathBuf>,
}

impl Refers {
    /// Looks at what is in the session's directory. Symbolic links and what is behind them are no files of it.
    ///
    /// # Errors
    /// When a directory cannot be read.
    pub fn of(io: &dyn Io, dir: &Path) -> Result<Self, StoreError> {
        let mut names = HashMap::new();
        for top in DIRS {
            // A link to a directory elsewhere is none of the session's.
            match io.lstat(&dir.join(top)) {
                Ok((PathKind::Dir, _)) => {}
                Ok(_) => continue,
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(StoreError::io("read", &dir.join(top), error)),
            }
            let entries = trees::below(io, &dir.join(top))?;
            for path in entries.into_iter().filter(|e| e.kind == PathKind::File).map(|e| Path::new(top).join(e.path)) {
                // Another name cannot stand in a row.
                if let Some(text) = path.to_str() {
                    names.insert(escaped(text).into_bytes(), path);
                }
            }
        }
        let lengths = names.keys().map(Vec::len).collect();
        let begin = [portable_paths::TOKEN.to_owned(), escaped(&dir.to_string_lossy())]
            .map(|text| Finder::new(format!("{text}/").as_bytes()).into_owned());
        Ok(Self { begin, names, lengths, used: BTreeSet::new() })
    }

    /// Notes what a line refers to.
    pub fn look(&mut self, line: &[u8]) {
        if self.names.len() == self.used.len() {
            return;
        }
        for begin in &self.begin {
            for at in begin.find_iter(line) {
                let rest = &line[at + begin.needle().len()..];
                let found = self.lengths.iter().take_while(|len| **len <= rest.len());
                self.used.extend(found.filter_map(|len| self.names.get(&rest[..*len])).cloned());
            }
        }
    }

    /// Files that were referred to, relative to the session.
    pub fn used(&self) -> impl Iterator<Item = &Path> {
        self.used.iter().map(PathBuf::as_path)
    }

    /// Files that were not, in order.
    pub fn unused(&self) -> Vec<String> {
        let mut out: Vec<_> = self.names.values().filter(|path| !self.used.contains(*path)).collect();
        out.sort();
        out.into_iter().map(|path| path.to_string_lossy().into_owned()).collect()
    }
}

fn escaped(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap_or_default();
    quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default().to_owned()
}

/// Paths below the session in `dir` of which the row in `line` says that they are files.
pub fn named(line: &[u8], dir: &Path) -> Vec<PathBuf> {
    let text = String::from_utf8_lossy(line);
    let mut out = Vec::new();
    // Most rows have none.
    if !PATHS.iter().any(|key| text.contains(key)) {
        return out;
    }
    let Ok(fields) = JsonFields::parse(&portable_paths::expand(text.trim(), dir)) else { return out };
    let mut take = |value: &Value| {
        let below = value.as_str().and_then(|text| Path::new(text).strip_prefix(dir).ok());
        let inside = |path: &&Path| {
            let mut parts = path.components();
            let top = parts.next().is_some_and(|top| DIRS.iter().any(|dir| top.as_os_str() == *dir));
            top && parts.all(|part| matches!(part, Component::Normal(_)))
        };
        out.extend(below.filter(inside).map(Path::to_owned));
    };
    for key in PATHS {
        if let Some(value) = fields.raw(key).map(value_of) {
            take(&value);
        }
        if let Some(Value::Array(items)) = fields.raw("attachments").map(value_of) {
            items.iter().filter_map(|item| item.get(key)).for_each(&mut take);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::io::Disk;

    #[test]
    fn files_are_found_by_their_names_in_any_text() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("s");
        for name in ["plans/a b.md", "plans/a", "data/deep/x.json", "data/y\"q.json", "downloads/z", "notes.md"] {
            let path = dir.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        }
        std::os::unix::fs::symlink("/etc", dir.join("attachments")).unwrap();
        std::os::unix::fs::symlink("/etc/hostname", dir.join("data/hostname")).unwrap();
        let look = |lines: &[String]| {
            let mut refers = Refers::of(&Disk, &dir).unwrap();
            lines.iter().for_each(|line| refers.look(line.as_bytes()));
            (refers.used().map(|p| p.to_str().unwrap().to_owned()).collect::<Vec<_>>(), refers.unused().len())
        };
        let whole = dir.to_str().unwrap();
        for (line, used) in [
            (r#"{"content":"see {{SESSION_PATH}}/plans/a b.md, and"}"#.to_owned(), &["plans/a", "plans/a b.md"][..]),
            (format!(r#"{{"x":"{whole}/data/deep/x.json"}}"#), &["data/deep/x.json"]),
            (r#"{"x":"{{SESSION_PATH}}/data/y\"q.json"}"#.to_owned(), &["data/y\"q.json"]),
            (r#"{"x":"\u007b{SESSION_PATH}}/plans/a"}"#.to_owned(), &[]),
            (format!(r#"{{"x":"{whole}-2/plans/a, {{{{SESSION_PATH}}}}-2/plans/a"}}"#), &[]),
            (r#"{"x":"{{SESSION_PATH}}/attachments/hostname {{SESSION_PATH}}/data/hostname"}"#.to_owned(), &[]),
        ] {
            assert_eq!(
                look(std::slice::from_ref(&line)),
                (used.iter().map(|u| (*u).to_owned()).collect(), 5 - used.len()),
                "{line}"
            );
        }
    }

    #[test]
    fn only_whole_paths_of_known_keys_are_claims_that_a_file_is_there() {
        let dir = Path::new("/w/sessions/a");
        let line = br#"{"id":"1","planPath":"{{SESSION_PATH}}/plans/p.md","content":"{{SESSION_PATH}}/plans/no",
            "attachments":[{"storedPath":"/w/sessions/a/attachments/x y.png"},{"storedPath":"/etc/passwd"},
            {"storedPath":"{{SESSION_PATH}}/data/../../b"},{"markdownPath":7}],"toolInput":{"planPath":"x"}}"#;
        assert_eq!(named(line, dir), [Path::new("plans/p.md"), Path::new("attachments/x y.png")]);
        assert_eq!(named(b"{\"planPath\":", dir), Vec::<PathBuf>::new());
    }
}
