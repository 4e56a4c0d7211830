//! The files of rules of one workspace: which there are for a directory, read again when one of them changed.

use super::extensions::ExtensionFiles;
use super::sources::SourceFiles;
use crate::agent::{Book, RuleBook};
use crate::config::rules::{self, RuleFile};
use crate::config::trust::{self, Trusted};
use crate::domain::request::{TrustRequest, TrustWhat};
use crate::domain::rule::{PermissionsFile, Rule, RuleScope};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// Directories whose rules are kept in memory.
const MOST: usize = 64;

/// Paths of the rule files.
#[derive(Clone, Debug)]
pub struct Places {
    /// The folder of the user's own file, and of what is trusted.
    pub config: PathBuf,
    /// The workspace's folder.
    pub workspace: PathBuf,
    /// Origin of the workspace.
    pub origin: WorkspaceOrigin,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// Rules of the command line.
    pub given: Vec<Rule>,
}

/// Origin of a workspace, as far as its rules go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkspaceOrigin {
    /// lisle made it in its own data folder, which nobody else writes.
    DataFolder,
    /// lisle made it elsewhere, for instance in a repository: a pull may bring other rules there.
    Elsewhere,
    /// Another program or machine made it.
    Foreign,
}

/// The files of rules of one workspace.
pub struct RuleFiles {
    places: Places,
    known: Mutex<HashMap<PathBuf, Known>>,
}

/// Content of the files, with the stamps they had.
type Known = (Vec<Stamp>, Arc<Book>);

/// Identity of a file's state.
type Stamp = Option<(PathBuf, Option<SystemTime>, u64, u64)>;

impl RuleFiles {
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

    /// Files of sources of the same places.
    #[must_use]
    pub fn sources(&self) -> SourceFiles {
        SourceFiles::new(&self.places)
    }

    /// Skills, agents and commands of the same places.
    #[must_use]
    pub fn extensions(&self) -> ExtensionFiles {
        ExtensionFiles::new(&self.places)
    }

    fn load(&self, cwd: &Path, real: PathBuf) -> Book {
        let (trusted, problem) = Trusted::read(&self.trusted_file());
        let ours = self.places.origin != WorkspaceOrigin::Foreign || trusted.workspace(&self.places.workspace);
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
            let asked = self.request(scope, &path, &trusted, &found);
            // An unknown workspace asks for itself below, and its rules with it.
            let counts = asked.is_none() && (scope != RuleScope::Workspace || ours);
            book.untrusted.extend(asked.filter(|_| scope != RuleScope::Workspace || ours));
            let RuleFile { written, .. } = found;
            book.files.push((scope, path, if counts { written } else { PermissionsFile::tightening(written) }));
        }
        book.untrusted.extend(self.sources().requests(&real, &trusted));
        book.untrusted.extend(self.extensions().requests(&real, &trusted));
        if !self.places.given.is_empty() {
            let given = PermissionsFile { rules: self.places.given.clone(), ..PermissionsFile::default() };
            book.files.push((RuleScope::Session, PathBuf::from("the command line"), given));
        }
        if !ours {
            book.untrusted.push(self.workspace_request(&trusted));
        }
        book.here = vec![cwd.to_owned()];
        if real != cwd {
            book.here.push(real);
        }
        book
    }

    /// Request for trust in rules that would loosen something; `None` where they count as they are.
    ///
    /// A file counts by its bytes wherever somebody else may write it.
    fn request(&self, scope: RuleScope, path: &Path, trusted: &Trusted, found: &RuleFile) -> Option<TrustRequest> {
        if !found.written.loosens() {
            return None;
        }
        match (scope, self.places.origin) {
            (RuleScope::Session | RuleScope::User, _) | (RuleScope::Workspace, WorkspaceOrigin::DataFolder) => None,
            // The folder of another program's workspace is trusted together with its rules.
            (RuleScope::Workspace, WorkspaceOrigin::Foreign) => {
                trusted.asks_of_workspace(&self.places.workspace, found)
            }
            (RuleScope::Workspace, WorkspaceOrigin::Elsewhere) | (RuleScope::Repository, _) => {
                trusted.asks(path, found)
            }
        }
    }

    fn workspace_request(&self, trusted: &Trusted) -> TrustRequest {
        let folder = self.places.workspace.clone();
        let found = rules::read(&folder.join("permissions.json"));
        let asked = found.as_ref().and_then(|found| trusted.asks_of_workspace(&folder, found));
        asked.unwrap_or_else(|| {
            let (hash, text) = found.map(|found| (found.hash, found.text)).unwrap_or_default();
            TrustRequest { what: TrustWhat::Workspace, path: folder, hash, text, changed: false, starts: Vec::new() }
        })
    }

    /// Changes rules by the user's answer: a file that counted as it was counts afterwards too.
    fn change(&self, scope: RuleScope, path: &Path, act: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
        let trusted = || Trusted::read(&self.trusted_file()).0;
        let request = |found: &RuleFile| self.request(scope, path, &trusted(), found);
        let known = scope != RuleScope::Workspace || self.trusts_workspace();
        let counted = known && rules::read(path).as_ref().is_none_or(|found| request(found).is_none());
        act()?;
        let Some(found) = rules::read(path).filter(|_| counted) else { return Ok(()) };
        let Some(asked) = request(&found) else { return Ok(()) };
        trust::keep(&self.trusted_file(), &asked, &found.text, &jiff::Timestamp::now().to_string())
    }
}

/// The folder of the repository that a directory lies in; the directory itself where it lies in none.
pub(super) fn repository(cwd: &Path) -> PathBuf {
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

impl RuleBook for RuleFiles {
    fn read(&self, cwd: &Path) -> Arc<Book> {
        let real = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
        let scopes = [RuleScope::Workspace, RuleScope::User, RuleScope::Repository];
        let files = scopes.into_iter().filter_map(|scope| self.file(scope, &real)).chain([self.trusted_file()]);
        let files = files.chain(self.sources().files(&real)).chain(self.extensions().files(&real));
        let stamps: Vec<Stamp> = files.map(|path| stamp(&path)).collect();
        let known = |all: &HashMap<PathBuf, Known>| {
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
        self.change(scope, &path, || rules::add(&path, &self.places.config, rules))
    }

    fn remove(&self, scope: RuleScope, cwd: &Path, rule: &Rule) -> Result<(), String> {
        let real = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
        let Some(path) = self.file(scope, &real) else { return Ok(()) };
        self.change(scope, &path, || rules::remove(&path, &self.places.config, rule))
    }

    fn trust(&self, request: &TrustRequest) -> Result<(), String> {
        let now = jiff::Timestamp::now().to_string();
        let text = match request.what {
            TrustWhat::Extensions => {
                let (file, known) = (self.trusted_file(), Trusted::read(&self.trusted_file()).0);
                let kept = self.extensions().keep(request, (&file, &known), &now);
                return kept.unwrap_or_else(|| Err(changed(&request.path)));
            }
            TrustWhat::Workspace if request.path == self.places.workspace => {
                if self.workspace_request(&Trusted::read(&self.trusted_file()).0) != *request {
                    return Err(changed(&request.path));
                }
                rules::read(&request.path.join("permissions.json")).map(|found| found.text).unwrap_or_default()
            }
            TrustWhat::Workspace => return Err(format!("Not this workspace: {}", request.path.display())),
            TrustWhat::Sources => self.sources().text_of(request).ok_or_else(|| changed(&request.path))?,
            TrustWhat::Repository => match rules::read(&request.path) {
                Some(found) if !found.hash.is_empty() && found.hash == request.hash => found.text,
                _ => return Err(changed(&request.path)),
            },
        };
        trust::keep(&self.trusted_file(), request, &text, &now)
    }

    fn trusts_workspace(&self) -> bool {
        self.places.origin != WorkspaceOrigin::Foreign
            || Trusted::read(&self.trusted_file()).0.workspace(&self.places.workspace)
    }
}

fn changed(path: &Path) -> String {
    format!("Not trusted: {} changed since it was shown. Review it again.", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::rule::RuleEffect;

    struct Ground {
        _dir: tempfile::TempDir,
        root: PathBuf,
    }

    fn ground() -> Ground {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for sub in ["config", "ws", "repo/.git", "repo/.lisle", "repo/src"] {
            std::fs::create_dir_all(root.join(sub)).unwrap();
        }
        Ground { _dir: dir, root }
    }

    fn files(ground: &Ground, origin: WorkspaceOrigin) -> RuleFiles {
        let (config, workspace) = (ground.root.join("config"), ground.root.join("ws"));
        RuleFiles::new(Places { config, workspace, origin, home: None, given: Vec::new() })
    }

    fn write(ground: &Ground, path: &str, text: &str) {
        std::fs::write(ground.root.join(path), text).unwrap();
    }

    fn effects(book: &Book, scope: RuleScope) -> Vec<RuleEffect> {
        let files = book.files.iter().filter(|(of, ..)| *of == scope);
        files.flat_map(|(_, _, written)| written.rules.iter().map(|rule| rule.effect)).collect()
    }

    const BOTH: &str = r#"{"rules": [{"effect": "allow", "tool": "bash", "program": "make"},
        {"effect": "deny", "tool": "bash", "program": "git"}]}"#;

    #[test]
    fn rules_of_a_repository_only_tighten_until_these_bytes_are_trusted() {
        let ground = ground();
        let files = files(&ground, WorkspaceOrigin::DataFolder);
        let cwd = ground.root.join("repo/src");
        write(&ground, "repo/.lisle/permissions.json", BOTH);
        let book = files.read(&cwd);
        assert_eq!(effects(&book, RuleScope::Repository), [RuleEffect::Deny]);
        assert!(book.trusted && Arc::ptr_eq(&book, &files.read(&cwd)), "what did not change is not read again");
        let asked = book.untrusted[0].clone();
        assert_eq!((asked.what, asked.changed, asked.text.as_str()), (TrustWhat::Repository, false, BOTH));
        // What was shown is what is trusted, and nothing else.
        write(&ground, "repo/.lisle/permissions.json", &BOTH.replace("make", "evil"));
        let error = files.trust(&asked).unwrap_err();
        assert!(error.contains("changed since it was shown"), "{error}");
        write(&ground, "repo/.lisle/permissions.json", BOTH);
        files.trust(&asked).unwrap();
        let book = files.read(&cwd);
        assert_eq!(effects(&book, RuleScope::Repository), [RuleEffect::Allow, RuleEffect::Deny]);
        assert!(book.untrusted.is_empty());
        // A change asks again, with the difference, and only tightens meanwhile.
        write(&ground, "repo/.lisle/permissions.json", &BOTH.replace("make", "evil"));
        let book = files.read(&cwd);
        assert_eq!(effects(&book, RuleScope::Repository), [RuleEffect::Deny]);
        let asked = &book.untrusted[0];
        assert!(asked.changed && asked.text.contains("\"evil\"") && asked.text.starts_with('-'), "{asked:?}");
        // A file that only tightens needs no trust.
        write(&ground, "repo/.lisle/permissions.json", r#"{"blockedTools": ["Bash"]}"#);
        assert!(files.read(&cwd).untrusted.is_empty());
    }

    #[test]
    fn another_programs_workspace_only_tightens_until_it_is_trusted() {
        let ground = ground();
        let files = files(&ground, WorkspaceOrigin::Foreign);
        let cwd = ground.root.join("repo");
        write(&ground, "ws/permissions.json", BOTH);
        write(&ground, "config/permissions.json", BOTH);
        let book = files.read(&cwd);
        assert!(!book.trusted && !files.trusts_workspace());
        assert_eq!(effects(&book, RuleScope::Workspace), [RuleEffect::Deny]);
        assert_eq!(effects(&book, RuleScope::User), [RuleEffect::Allow, RuleEffect::Deny]);
        assert_eq!(book.file_rules().rules.scopes, [RuleScope::Session]);
        let asked = book.untrusted.iter().find(|one| one.what == TrustWhat::Workspace).unwrap().clone();
        files.trust(&asked).unwrap();
        let book = files.read(&cwd);
        assert!(book.trusted && files.trusts_workspace() && book.untrusted.is_empty());
        assert_eq!(effects(&book, RuleScope::Workspace), [RuleEffect::Allow, RuleEffect::Deny]);
        assert_eq!(book.file_rules().rules.scopes, [RuleScope::Session, RuleScope::Workspace]);
        // Rules are added to the one key.
        files.add(RuleScope::Workspace, &cwd, &[Rule::allow("edit")]).unwrap();
        assert_eq!(effects(&files.read(&cwd), RuleScope::Workspace).len(), 3);
        files.remove(RuleScope::Workspace, &cwd, &Rule::allow("edit")).unwrap();
        assert_eq!(std::fs::read_to_string(ground.root.join("ws/permissions.json")).unwrap(), BOTH);
        // What somebody else writes there later was not shown.
        write(&ground, "ws/permissions.json", &BOTH.replace("make", "evil"));
        let book = files.read(&cwd);
        assert_eq!(effects(&book, RuleScope::Workspace), [RuleEffect::Deny]);
        let asked = book.untrusted.iter().find(|one| one.what == TrustWhat::Workspace).unwrap().clone();
        assert!(asked.changed && asked.text.contains("\"evil\""), "{asked:?}");
        assert!(files.trusts_workspace(), "its sessions are the user's still");
        files.trust(&asked).unwrap();
        assert_eq!(effects(&files.read(&cwd), RuleScope::Workspace), [RuleEffect::Allow, RuleEffect::Deny]);
    }

    #[test]
    fn rules_of_a_workspace_outside_the_data_folder_count_by_their_bytes() {
        let ground = ground();
        let files = files(&ground, WorkspaceOrigin::Elsewhere);
        let cwd = ground.root.join("repo");
        let found = || effects(&files.read(&cwd), RuleScope::Workspace);
        // The user's own answers count at once, in a new file as in one that only tightens.
        files.add(RuleScope::Workspace, &cwd, &[Rule::allow("edit")]).unwrap();
        assert_eq!(found(), [RuleEffect::Allow]);
        files.remove(RuleScope::Workspace, &cwd, &Rule::allow("edit")).unwrap();
        files.add(RuleScope::Workspace, &cwd, &[Rule::allow("write")]).unwrap();
        assert_eq!(found(), [RuleEffect::Allow]);
        // A pull brings other rules: they only tighten, and an answer does not let them pass.
        write(&ground, "ws/permissions.json", BOTH);
        assert_eq!(found(), [RuleEffect::Deny]);
        files.add(RuleScope::Workspace, &cwd, &[Rule::allow("edit")]).unwrap();
        assert_eq!(found(), [RuleEffect::Deny]);
        let book = files.read(&cwd);
        assert!(book.trusted && files.trusts_workspace(), "its sessions are the user's own");
        let [asked] = &book.untrusted[..] else { panic!("{:?}", book.untrusted) };
        assert_eq!((asked.what, &asked.path), (TrustWhat::Repository, &ground.root.join("ws/permissions.json")));
        files.trust(asked).unwrap();
        assert_eq!(found().len(), 3);
        // Trust in its rules is no trust in another program's workspace that comes to the same place.
        let later = super::tests::files(&ground, WorkspaceOrigin::Foreign);
        assert!(!later.trusts_workspace());
        assert_eq!(effects(&later.read(&cwd), RuleScope::Workspace), [RuleEffect::Deny]);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_file() {
        let ground = ground();
        let files = files(&ground, WorkspaceOrigin::DataFolder);
        write(&ground, "config/permissions.json", "{ no");
        let book = files.read(&ground.root);
        assert!(book.problems[0].to_string().contains("config/permissions.json:1: Not valid JSON"));
    }
}
