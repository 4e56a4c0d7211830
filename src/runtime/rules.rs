//! The files of rules of one workspace: which there are for a directory, read again when one of them changed.

use crate::agent::{Book, RuleBook};
use crate::config::rules::{self, Found};
use crate::config::trust::{self, Trusted};
use crate::domain::request::{TrustRequest, TrustWhat};
use crate::domain::rule::{Rule, RuleScope, Written};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// Directories whose rules are kept in memory.
const MOST: usize = 64;

/// Where the files lie.
#[derive(Clone, Debug)]
pub struct Places {
    /// The folder of the user's own file, and of what is trusted.
    pub config: PathBuf,
    /// The workspace's folder.
    pub workspace: PathBuf,
    /// Another program made the workspace.
    pub foreign: bool,
    /// The user's home.
    pub home: Option<PathBuf>,
}

/// The files of rules of one workspace.
pub struct Files {
    places: Places,
    known: Mutex<HashMap<PathBuf, (Vec<Stamp>, Arc<Book>)>>,
}

/// What tells one state of a file from another.
type Stamp = Option<(PathBuf, Option<SystemTime>, u64, u64)>;

impl Files {
    /// Nothing is read yet.
    #[must_use]
    pub fn new(places: Places) -> Self {
        Self { places, known: Mutex::default() }
    }

    fn trusted_file(&self) -> PathBuf {
        self.places.config.join("trusted.toml")
    }

    fn file(&self, scope: RuleScope, cwd: &Path) -> Option<PathBuf> {
        match scope {
            RuleScope::Session => None,
            RuleScope::Workspace => Some(self.places.workspace.join("permissions.json")),
            RuleScope::User => Some(self.places.config.join("permissions.json")),
            RuleScope::Repository => Some(repository(cwd).join(".lisle/permissions.json")),
        }
    }

    fn load(&self, cwd: &Path, real: PathBuf) -> Book {
        let (trusted, problem) = Trusted::read(&self.trusted_file());
        let ours = !self.places.foreign || trusted.workspace(&self.places.workspace);
        let mut book = Book {
            problems: problem.into_iter().collect(),
            home: self.places.home.clone(),
            trusted: ours,
            ..Book::default()
        };
        for scope in [RuleScope::Workspace, RuleScope::User, RuleScope::Repository] {
            let Some(path) = self.file(scope, &real) else { continue };
            let Some(found) = rules::read(&path) else { continue };
            book.problems.extend(found.problems.iter().cloned());
            let counts = match scope {
                RuleScope::Workspace => ours,
                RuleScope::Repository if found.written.loosens() => {
                    let asked = trusted.asks(&path, &found);
                    let counts = asked.is_none();
                    book.untrusted.extend(asked);
                    counts
                }
                _ => true,
            };
            let Found { written, .. } = found;
            book.files.push((scope, path, if counts { written } else { Written::tightening(written) }));
        }
        if !ours {
            book.untrusted.push(self.workspace_request());
        }
        book.here = vec![cwd.to_owned()];
        if real != cwd {
            book.here.push(real);
        }
        book
    }

    fn workspace_request(&self) -> TrustRequest {
        let path = self.places.workspace.join("permissions.json");
        let text = rules::read(&path).map(|found| found.text).unwrap_or_default();
        let folder = self.places.workspace.clone();
        TrustRequest { what: TrustWhat::Workspace, path: folder, hash: String::new(), text, changed: false }
    }
}

/// The folder of the repository that a directory lies in; the directory itself where it lies in none.
fn repository(cwd: &Path) -> PathBuf {
    cwd.ancestors().find(|folder| folder.join(".git").symlink_metadata().is_ok()).unwrap_or(cwd).to_owned()
}

fn stamp(path: &Path) -> Stamp {
    let meta = std::fs::metadata(path).ok()?;
    #[cfg(unix)]
    let inode = std::os::unix::fs::MetadataExt::ino(&meta);
    #[cfg(not(unix))]
    let inode = 0;
    Some((path.to_owned(), meta.modified().ok(), meta.len(), inode))
}

impl RuleBook for Files {
    fn read(&self, cwd: &Path) -> Arc<Book> {
        let real = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
        let scopes = [RuleScope::Workspace, RuleScope::User, RuleScope::Repository];
        let files = scopes.into_iter().filter_map(|scope| self.file(scope, &real)).chain([self.trusted_file()]);
        let stamps: Vec<Stamp> = files.map(|path| stamp(&path)).collect();
        let known = |all: &HashMap<PathBuf, (Vec<Stamp>, Arc<Book>)>| {
            let (seen, book) = all.get(cwd)?;
            (*seen == stamps && book.here.contains(&real)).then(|| book.clone())
        };
        if let Some(book) = known(&self.known.lock().unwrap_or_else(PoisonError::into_inner)) {
            return book;
        }
        // Looked at before it was read: what changes in between is read again next time.
        let book = Arc::new(self.load(cwd, real));
        let mut all = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST {
            all.clear();
        }
        all.insert(cwd.to_owned(), (stamps, book.clone()));
        book
    }

    fn add(&self, scope: RuleScope, cwd: &Path, rules: &[Rule]) -> Result<(), String> {
        let Some(path) = self.file(scope, cwd) else { return Ok(()) };
        rules::add(&path, &self.places.config, rules)
    }

    fn remove(&self, scope: RuleScope, cwd: &Path, rule: &Rule) -> Result<(), String> {
        let real = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
        let Some(path) = self.file(scope, &real) else { return Ok(()) };
        rules::remove(&path, &self.places.config, rule)
    }

    fn trust(&self, request: &TrustRequest) -> Result<(), String> {
        let text = match request.what {
            TrustWhat::Workspace if request.path == self.places.workspace => {
                if self.workspace_request() != *request {
                    return Err(changed(&request.path));
                }
                String::new()
            }
            TrustWhat::Workspace => return Err(format!("{} is not this workspace.", request.path.display())),
            TrustWhat::Repository => match rules::read(&request.path) {
                Some(found) if !found.hash.is_empty() && found.hash == request.hash => found.text,
                _ => return Err(changed(&request.path)),
            },
        };
        trust::keep(&self.trusted_file(), request, &text, &jiff::Timestamp::now().to_string())
    }

    fn trusts_workspace(&self) -> bool {
        !self.places.foreign || Trusted::read(&self.trusted_file()).0.workspace(&self.places.workspace)
    }
}

fn changed(path: &Path) -> String {
    format!("{} is not what was shown any more, so it is not trusted. Look at it again.", path.display())
}
