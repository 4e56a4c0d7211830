//! The stored keys: `credentials`, a TOML file of `connection = "key"`, readable by its owner alone.

use super::files::write_private;
use crate::domain::ids::ConnectionName;
use crate::domain::problem::Problem;
use crate::domain::secret::Key;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// The stored keys by connection.
#[derive(Clone, Debug, Default)]
pub struct Credentials {
    keys: BTreeMap<ConnectionName, Key>,
}

/// Error of storing a key.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file that is there could not be understood, and is not overwritten.
    #[error("{0} The key was not stored, to keep that file intact.")]
    Unreadable(Problem),
    /// The key has characters that no key has.
    #[error("not a valid key: empty, or contains spaces or non-ASCII characters")]
    NoKey,
    /// Writing failed.
    #[error("can't store the key in {path}: {source}; check the folder's permissions")]
    Write {
        /// The file.
        path: std::path::PathBuf,
        /// Error of the system.
        source: io::Error,
    },
}

impl Credentials {
    /// Reads the file; no file is no keys. A file that others can read is used, and told of.
    #[must_use]
    pub fn read(path: &Path) -> (Self, Vec<Problem>) {
        let (out, mut problems) = Self::read_text(path);
        problems.extend(open_to_others(path));
        (out, problems)
    }

    /// The same without a look at the rights: every problem is something that could not be read.
    fn read_text(path: &Path) -> (Self, Vec<Problem>) {
        match super::files::read_text(path) {
            Ok(text) => Self::parse(path, text.as_deref().unwrap_or("")),
            Err(problem) => (Self::default(), vec![problem]),
        }
    }

    fn parse(path: &Path, text: &str) -> (Self, Vec<Problem>) {
        let line = |at: usize| Some(1 + text.bytes().take(at).filter(|b| *b == b'\n').count());
        // The text of the file never gets into a message: it is keys.
        let table = match toml::de::DeTable::parse(text) {
            Ok(table) => table,
            Err(error) => {
                let problem = Problem {
                    path: path.to_owned(),
                    line: error.span().and_then(|span| line(span.start)),
                    text: "Not valid TOML; no keys were read.".to_owned(),
                    fix: "Write each line as `connection = \"key\"`.".to_owned(),
                };
                return (Self::default(), vec![problem]);
            }
        };
        let (mut out, mut problems) = (Self::default(), Vec::new());
        for (name, value) in table.get_ref() {
            match value.get_ref().as_str().and_then(Key::new) {
                Some(key) => drop(out.keys.insert(ConnectionName::new(name.get_ref().as_ref()), key)),
                None => problems.push(Problem {
                    path: path.to_owned(),
                    line: line(value.span().start),
                    text: format!("Not a valid key for `{}`.", name.get_ref()),
                    fix: "Put the key in quotes, without spaces.".to_owned(),
                }),
            }
        }
        (out, problems)
    }

    /// The key of a connection.
    #[must_use]
    pub fn key(&self, connection: &ConnectionName) -> Option<&Key> {
        self.keys.get(connection)
    }

    /// The connections that have a key.
    pub fn names(&self) -> impl Iterator<Item = &ConnectionName> {
        self.keys.keys()
    }
}

/// Stores a key, or takes it out with `None`. The file is replaced as a whole and is the owner's alone.
///
/// # Errors
/// [`StoreError`]; the file is as it was then.
pub fn store(path: &Path, connection: &ConnectionName, key: Option<&str>) -> Result<(), StoreError> {
    let (mut all, problems) = Credentials::read_text(path);
    // Whatever could not be read would be lost by writing.
    if let Some(problem) = problems.into_iter().next() {
        return Err(StoreError::Unreadable(problem));
    }
    match key {
        Some(key) => drop(all.keys.insert(connection.clone(), Key::new(key).ok_or(StoreError::NoKey)?)),
        None => drop(all.keys.remove(connection)),
    }
    let text: String =
        all.keys.iter().map(|(name, key)| format!("{} = {}\n", quoted(name.as_str()), quoted(key.reveal()))).collect();
    write_private(path, text.as_bytes()).map_err(|source| StoreError::Write { path: path.to_owned(), source })
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

#[cfg(unix)]
fn open_to_others(path: &Path) -> Option<Problem> {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(path).ok()?.permissions().mode();
    (mode & 0o077 != 0).then(|| {
        Problem::whole(
            path,
            "Other users of this machine can read this file's keys.",
            format!("Run `chmod 600 {}`, and rotate the keys if others may have read them.", path.display()),
        )
    })
}

#[cfg(not(unix))]
fn open_to_others(_: &Path) -> Option<Problem> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn name(text: &str) -> ConnectionName {
        ConnectionName::new(text)
    }

    #[test]
    fn keys_are_stored_found_and_taken_out() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config/credentials");
        store(&path, &name("a \"b\""), Some(" sk-1\n")).unwrap();
        store(&path, &name("c"), Some("sk-2")).unwrap();
        store(&path, &name("c"), Some("sk-3")).unwrap();
        let (keys, problems) = Credentials::read(&path);
        assert_eq!(problems, vec![]);
        assert_eq!(keys.key(&name("a \"b\"")).unwrap().reveal(), "sk-1");
        assert_eq!(keys.key(&name("c")).unwrap().reveal(), "sk-3");
        store(&path, &name("c"), None).unwrap();
        let (keys, _) = Credentials::read(&path);
        assert_eq!(keys.names().collect::<Vec<_>>(), [&name("a \"b\"")]);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        // The usual umask would leave 755.
        let folder = std::fs::metadata(path.parent().unwrap()).unwrap();
        assert_eq!(folder.permissions().mode() & 0o777, 0o700);
        let left: Vec<_> = std::fs::read_dir(path.parent().unwrap()).unwrap().collect();
        assert_eq!(left.len(), 1);
        assert!(matches!(store(&path, &name("d"), Some("two words")), Err(StoreError::NoKey)));
    }

    #[test]
    fn a_broken_file_is_told_without_its_text_and_never_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("credentials");
        std::fs::write(&path, "a = \"sk-1\"\nb = sk-2\n").unwrap();
        let (keys, problems) = Credentials::read(&path);
        assert_eq!(keys.names().count(), 0);
        assert_eq!(problems[0].line, Some(2));
        assert!(problems.iter().all(|p| !p.to_string().contains("sk-")), "{problems:?}");
        assert!(matches!(store(&path, &name("c"), Some("sk-3")), Err(StoreError::Unreadable(_))));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "a = \"sk-1\"\nb = sk-2\n");
    }

    #[test]
    fn open_rights_are_told_and_mended_by_writing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("credentials");
        std::fs::write(&path, "a = \"sk-1\"\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let (keys, problems) = Credentials::read(&path);
        assert!(keys.key(&name("a")).is_some());
        assert!(problems.len() == 1 && problems[0].fix.contains("chmod 600"), "{problems:?}");
        store(&path, &name("b"), Some("sk-2")).unwrap();
        assert_eq!(Credentials::read(&path).1, vec![]);
    }
}
