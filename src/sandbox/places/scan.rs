//! Scan of a working directory for paths that a command must not see or change: secrets and protected paths at any
//! depth.
//!
//! A tree is walked once and then kept: its folders are watched (`watch`), and a lookup lists those alone in which
//! something happened. Folders that cannot be watched are compared by their own times, which costs one call each. So a
//! lookup in a tree where nothing changed costs the same however large it is.
//!
//! Links are never followed. A file that git has with just this content is no secret: a command can add names to git's list,
//! but no content that it does not know. A file that was hidden once stays so under every name (`hidden`).

use super::git_tracked::{Stamp, TrackedFiles, stamp};
use super::inherited::Inherited;
use super::sight::{self, FolderSight, Unlooked};
use super::watch::{Watch, WatchEvents};
use super::{hidden, python_environment};
use crate::domain::paths::{is_protected_for_commands, is_secret_entry, is_secret_folder, protected_entries};
use crate::domain::secret::Content;
use crate::sandbox::own_folders;
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::os::unix::fs::{DirEntryExt, FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Entries of a working directory that are looked at; what lies deepest is left out of a larger one.
const MOST: usize = 1_000_000;
/// The same of a folder that is only read, and of one of the system.
const MOST_BESIDE: usize = 200_000;
const MOST_OF_SYSTEM: usize = 20_000;
/// Trees that are kept, the ones used last: those of several sessions, and of the system.
const TREES: usize = 16;
/// First bytes of every file that is looked into …
const BEGINNING: u64 = 64 * 1024;
/// … and of one that is looked into further, as long as not so many were read of a tree. Of the others the last bytes count,
/// too.
const FURTHER: u64 = 4 * 1024 * 1024;
const MOST_READ: u64 = 256 * 1024 * 1024;
/// Smaller files are always read as a whole: whoever makes large ones cannot use up what they need.
const SMALL: u64 = 256 * 1024;
/// Larger files whose name says that they are secret are taken at their word.
const PUBLIC: u64 = 1024 * 1024;

/// Folders of a version control system, which reads its settings there.
const STORES: &[&str] = &[".hg", ".jj", ".jj/repo", ".svn", ".sl", ".bzr/branch", ".pijul", "_darcs/prefs"];
/// Entries by which git takes a folder for a repository: `HEAD` with `objects` and `refs`, which `commondir` may name
/// elsewhere.
const GIT_FOLDER: &[&str] = &["HEAD", "objects", "refs", "commondir"];

/// Files that say where other packages lie.
const MANIFESTS: &[&str] =
    &["Cargo.toml", "package.json", "pnpm-workspace.yaml", "pyproject.toml", "requirements.txt", "go.mod", "go.work"];

/// Findings below one directory, shallow paths first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScanFindings {
    /// Files and folders that are to be masked.
    pub secrets: Vec<PathBuf>,
    /// Files and folders that configure or run code, those of the directory's own repository left out.
    pub protected: Vec<PathBuf>,
    /// Git folders of other repositories below the directory, also those that have no working tree.
    pub repositories: Vec<PathBuf>,
    /// Files that may name packages outside of the directory.
    pub manifests: Vec<PathBuf>,
    /// Sockets, each a way to whatever program listens there.
    pub sockets: Vec<PathBuf>,
    /// Folders of which not everything was looked at, and files that could not be read.
    pub cut: Vec<PathBuf>,
    /// True where the directory itself could not be looked at, or what was hidden in it cannot be found any more.
    pub unknown: bool,
    /// Folders that could not be listed.
    pub unlisted: Vec<PathBuf>,
    /// Everything was looked at.
    pub whole: bool,
    /// Number of these findings, which is another one after every change.
    pub state: u64,
}

impl ScanFindings {
    /// Paths that are hidden: the secrets, and folders that may hold others.
    #[must_use]
    pub fn masked(&self) -> Vec<PathBuf> {
        self.secrets.iter().chain(&self.cut).cloned().collect()
    }
}

/// Findings below `root`, which is absolute and resolved. `skip` are folders in it that are not looked into.
#[must_use]
pub fn look(root: &Path, skip: &[PathBuf]) -> Arc<ScanFindings> {
    look_at(root, skip, MOST, &HashSet::new())
}

/// The same where the files of these numbers (device, number) are secrets under any name.
#[must_use]
pub fn look_for(root: &Path, skip: &[PathBuf], elsewhere: &HashSet<(u64, u64)>) -> Arc<ScanFindings> {
    look_at(root, skip, MOST, elsewhere)
}

/// The same of a folder beside the working directory, which may be anything.
#[must_use]
pub fn look_beside(root: &Path) -> Arc<ScanFindings> {
    look_at(root, &[], MOST_BESIDE, &HashSet::new())
}

/// The same of a folder of the system: what lies deepest in a large one is other people's programs.
#[must_use]
pub fn look_at_system(root: &Path) -> Arc<ScanFindings> {
    look_at(root, &[], MOST_OF_SYSTEM, &HashSet::new())
}

fn look_at(root: &Path, skip: &[PathBuf], most: usize, elsewhere: &HashSet<(u64, u64)>) -> Arc<ScanFindings> {
    let tree = {
        let mut trees = TREES_KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        let at = trees.iter().position(|(path, _)| path == root);
        let tree = at.map(|at| trees.remove(at)).unwrap_or_else(|| (root.to_owned(), Arc::default()));
        trees.push(tree.clone());
        if trees.len() > TREES {
            trees.remove(0);
        }
        tree.1
    };
    hidden::refresh();
    let mut tree = tree.lock().unwrap_or_else(PoisonError::into_inner);
    let tree = tree.get_or_insert_with(|| {
        let tree = Tree::new(root.to_owned(), skip, most);
        if tree.whole && tree.found.cut.is_empty() {
            hidden::tidy(root);
        }
        tree
    });
    if elsewhere.difference(&tree.wanted).next().is_some() {
        tree.wanted.extend(elsewhere);
        tree.list_all();
    }
    let found = tree.refresh();
    let mut moved = hidden::moved_below(root);
    moved.retain(|path| !found.secrets.iter().any(|secret| path.starts_with(secret)));
    // What lies too deep is masked with the folder there.
    let lost = hidden::is_lost_below(root) && !tree.folders.values().any(|folder| folder.cut == Some(Unlooked::Depth));
    if moved.is_empty() && !lost {
        return found;
    }
    let mut found = ScanFindings::clone(&found);
    found.secrets.extend(moved);
    found.unknown |= lost;
    found.into()
}

static STATE: AtomicU64 = AtomicU64::new(1);

type Kept = Arc<Mutex<Option<Tree>>>;
static TREES_KEPT: Mutex<Vec<(PathBuf, Kept)>> = Mutex::new(Vec::new());

/// A directory with all below it.
#[derive(Debug)]
struct Tree {
    root: PathBuf,
    skip: HashSet<PathBuf>,
    folders: HashMap<PathBuf, Folder>,
    watch: Option<Watch>,
    /// Folders that are not watched, or not known.
    unwatched: HashSet<PathBuf>,
    entries: usize,
    most: usize,
    /// Bytes of files that were looked into.
    read: u64,
    whole: bool,
    tracked: TrackedFiles,
    /// Secret files with more than one name: the others are looked for.
    wanted: HashSet<(u64, u64)>,
    found: Arc<ScanFindings>,
}

/// One folder of the tree.
#[derive(Debug, Default)]
struct Folder {
    stamp: Option<Stamp>,
    entries: usize,
    /// Folders in it, with their numbers.
    folders: Vec<(OsString, u64)>,
    secrets: Vec<OsString>,
    protected: Vec<OsString>,
    manifests: Vec<OsString>,
    /// Other names of files that are wanted.
    linked: Vec<OsString>,
    sockets: Vec<OsString>,
    /// Not all of its entries were looked at.
    cut: Option<Unlooked>,
    /// Files that could not be read.
    unread: Vec<OsString>,
    /// Holds a repository.
    git: bool,
    /// Repository without a working tree, as far as its names tell.
    bare: bool,
    inherited: Inherited,
    /// Files whose content is known not to be a key: number and time of change, in order.
    checked: Vec<(u64, i64, i64)>,
}

impl Tree {
    fn new(root: PathBuf, skip: &[PathBuf], most: usize) -> Self {
        let mut out = Self {
            skip: skip.iter().filter(|path| **path != root && path.starts_with(&root)).cloned().collect(),
            root,
            folders: HashMap::new(),
            watch: Watch::new(),
            unwatched: HashSet::new(),
            entries: 0,
            most,
            read: 0,
            whole: true,
            tracked: TrackedFiles::default(),
            wanted: HashSet::new(),
            found: Arc::default(),
        };
        out.list(out.root.clone(), Inherited::default());
        out.settle();
        out
    }

    /// Makes the lists anew, after the folders were listed.
    fn settle(&mut self) {
        let before = self.wanted.len();
        for (dir, folder) in &self.folders {
            for name in &folder.secrets {
                let meta = dir.join(name).symlink_metadata().ok();
                self.wanted.extend(
                    meta.filter(|meta| meta.is_file() && meta.nlink() > 1).map(|meta| (meta.dev(), meta.ino())),
                );
            }
        }
        if self.wanted.len() > before {
            return self.list_all();
        }
        self.found = Arc::new(self.assemble());
    }

    fn list_all(&mut self) {
        let folders: Vec<(PathBuf, Inherited)> =
            self.folders.iter().map(|(path, folder)| (path.clone(), folder.inherited)).collect();
        for (folder, inherited) in folders {
            self.list(folder, inherited);
        }
        self.found = Arc::new(self.assemble());
    }

    fn refresh(&mut self) -> Arc<ScanFindings> {
        // Nothing watches what stands above: another folder may be at this path by now.
        let number = |stamp: Stamp| (stamp.0, stamp.1);
        let now = self.root.symlink_metadata().ok().map(|meta| number(stamp(&meta)));
        let known = self.folders.get(&self.root).and_then(|folder| folder.stamp).map(number);
        if now != known {
            let root = self.root.clone();
            self.forget(&root);
            self.list(root, Inherited::default());
            self.settle();
            return Arc::clone(&self.found);
        }
        let mut changed: Vec<PathBuf> = match self.watch.as_mut().map(Watch::news) {
            Some(WatchEvents::Folders(folders)) => folders,
            Some(WatchEvents::TooMuch) => self.folders.keys().cloned().collect(),
            None => Vec::new(),
        };
        let differs = |path: &&PathBuf| {
            let now = path.symlink_metadata().ok().map(|meta| stamp(&meta));
            now.is_none() || self.folders.get(*path).is_none_or(|folder| folder.stamp != now)
        };
        let unwatched: Vec<PathBuf> = self.unwatched.iter().filter(differs).cloned().collect();
        let failed = |path: &PathBuf| self.folders.get(path).is_some_and(|folder| folder.stamp.is_none());
        let lists = self.tracked.changed();
        let only_again = changed.is_empty() && !lists && unwatched.iter().all(failed);
        changed.extend(unwatched);
        if changed.is_empty() && !lists {
            return Arc::clone(&self.found);
        }
        // From the top, so that what is below a folder that is gone is not looked at.
        changed.sort();
        for folder in changed {
            if let Some(inherited) = self.folders.get(&folder).map(|known| known.inherited) {
                self.list(folder, inherited);
            }
        }
        let before = Arc::clone(&self.found);
        self.settle();
        // What could not be looked at and still cannot is no change.
        if only_again && (ScanFindings { state: before.state, ..ScanFindings::clone(&self.found) }) == *before {
            self.found = before;
        }
        Arc::clone(&self.found)
    }

    /// Lists a folder, and all below it that is new.
    fn list(&mut self, start: PathBuf, inherited: Inherited) {
        let mut open = std::collections::VecDeque::from([(start, inherited)]);
        while let Some((dir, inherited)) = open.pop_front() {
            let meta = match dir.symlink_metadata() {
                Ok(meta) if meta.is_dir() => meta,
                Err(error) if !sight::is_gone(&error) => {
                    self.forget(&dir);
                    self.unwatched.insert(dir.clone());
                    self.folders.insert(dir, Folder { cut: Some(Unlooked::Failure), inherited, ..Folder::default() });
                    continue;
                }
                _ => {
                    self.forget(&dir);
                    continue;
                }
            };
            // Watched before it is listed, so that nothing comes in between.
            if self.watch.as_mut().is_some_and(|watch| watch.add(&dir)) {
                self.unwatched.remove(&dir);
            } else {
                self.unwatched.insert(dir.clone());
            }
            let before = self.folders.remove(&dir).unwrap_or_default();
            self.entries = self.entries.saturating_sub(before.entries);
            let folder = self.entries(&dir, &meta, inherited, &before.checked);
            // A watch does not tell of rights, and none of what failed.
            if folder.stamp.is_none() || folder.cut == Some(Unlooked::Rights) {
                self.unwatched.insert(dir.clone());
            }
            for (name, number) in &before.folders {
                if !folder.folders.iter().any(|(other, now)| other == name && now == number) {
                    self.forget(&dir.join(name));
                }
            }
            for (name, _) in &folder.folders {
                let below = dir.join(name);
                if !self.folders.contains_key(&below) && !self.skip.contains(&below) {
                    let inherited = inherited.below(&below);
                    open.push_back((below, inherited));
                }
            }
            self.folders.insert(dir, folder);
        }
    }

    fn entries(&mut self, dir: &Path, meta: &Metadata, inherited: Inherited, checked: &[(u64, i64, i64)]) -> Folder {
        let mut out = Folder { stamp: Some(stamp(meta)), inherited, ..Folder::default() };
        let entries = match FolderSight::of(dir, meta) {
            FolderSight::Entries(entries) => entries,
            FolderSight::Nothing => return out,
            FolderSight::Cut(cut) => {
                out.cut = Some(cut);
                // What failed is tried again.
                out.stamp = out.stamp.filter(|_| cut != Unlooked::Failure);
                return out;
            }
        };
        let above = dir.file_name().filter(|_| dir != self.root && !inherited.environment).map(Path::new);
        let folders = last_two(dir.strip_prefix(&self.root).unwrap_or(dir));
        let store = STORES.iter().any(|one| dir.ends_with(one));
        let is_own = (!inherited.dependency || store) && !inherited.protected;
        let numbers = hidden::numbers();
        let stays = |entry: &std::fs::DirEntry, path: &Path| numbers.contains(&entry.ino()) && hidden::stays(path);
        let mut names_of_git: HashSet<&str> = HashSet::new();
        for entry in entries {
            if self.entries >= self.most {
                (self.whole, out.cut) = (false, Some(Unlooked::Count));
                break;
            }
            let Ok(entry) = entry else {
                (out.cut, out.stamp) = (Some(Unlooked::Failure), None);
                break;
            };
            self.entries += 1;
            out.entries += 1;
            let name = entry.file_name();
            let kind = match entry.file_type() {
                Ok(kind) => kind,
                Err(error) if sight::is_gone(&error) => continue,
                Err(_) => {
                    out.unread.push(name);
                    out.stamp = None;
                    continue;
                }
            };
            let withheld = inherited.named && !python_environment::is_of_tools(&name);
            let below = above.map_or_else(|| PathBuf::from(&name), |above| above.join(&name));
            // Of a link nobody sees what lies behind it: one in the place of `.github` is protected itself.
            let judged = folders.join(&name);
            let holds = kind.is_symlink() && !protected_entries(&judged).is_empty();
            // Nobody looks for repositories in git's own folder.
            let is_unseen = kind.is_symlink() && leads_unseen(&self.root, &dir.join(&name));
            let is_protected = is_unseen || is_own && (holds || is_protected_for_commands(&judged));
            names_of_git.extend(GIT_FOLDER.iter().filter(|one| name == **one));
            if kind.is_dir() {
                if name == ".git" {
                    // Looked into by `repository` alone.
                    out.git = true;
                    continue;
                }
                let path = dir.join(&name);
                let secret = inherited.secret || withheld || is_secret_folder(&below);
                if secret && !python_environment::is_one(&path) || stays(&entry, &path) {
                    out.secrets.push(name.clone());
                }
                if is_protected {
                    out.protected.push(name.clone());
                }
                out.folders.push((name, entry.ino()));
                continue;
            }
            if name == ".git" {
                // The file of a working tree or submodule says where its repository is.
                out.git = true;
                out.protected.extend((!inherited.protected).then_some(name));
                continue;
            }
            if kind.is_socket() {
                out.sockets.push(name.clone());
            }
            let path = || dir.join(&name);
            if !self.wanted.is_empty() && kind.is_file() && self.wanted.contains(&(meta.dev(), entry.ino())) {
                out.linked.push(name.clone());
            }
            let is_secret = inherited.secret || withheld || (is_secret_entry(&below) && !is_public(&path(), &name));
            if is_secret || stays(&entry, &path()) {
                out.secrets.push(name.clone());
            } else if kind.is_file() && Content::of(Path::new(&name)) != Content::PassedOver {
                self.look_into(dir, name.clone(), (&entry, inherited.dependency), checked, &mut out);
            }
            if is_protected {
                out.protected.push(name);
            } else if !inherited.dependency && MANIFESTS.iter().any(|manifest| name == *manifest) {
                out.manifests.push(name);
            }
        }
        let has = |names: &[&str]| names.iter().all(|name| names_of_git.contains(name));
        out.bare = has(&["HEAD", "objects", "refs"]) || has(&["HEAD", "commondir"]);
        out.checked.sort_unstable();
        out.checked.shrink_to_fit();
        out
    }

    /// Notes whether a file holds a key. What packages bring holds examples: of those private keys count alone.
    fn look_into(
        &mut self,
        dir: &Path,
        name: OsString,
        (entry, package): (&std::fs::DirEntry, bool),
        checked: &[(u64, i64, i64)],
        out: &mut Folder,
    ) {
        let meta = match entry.metadata() {
            Ok(meta) if meta.len() == 0 => return,
            Ok(meta) => meta,
            Err(error) if sight::is_gone(&error) => return,
            Err(_) => {
                out.unread.push(name);
                out.stamp = None;
                return;
            }
        };
        let facts = (meta.ino(), meta.ctime(), meta.ctime_nsec());
        if checked.binary_search(&facts).is_ok() {
            out.checked.push(facts);
            return;
        }
        let path = dir.join(&name);
        let bytes = match (package, meta.len() <= SMALL || self.read < MOST_READ) {
            (true, _) => sight::beginning(&path, BEGINNING),
            (false, true) => sight::beginning(&path, FURTHER),
            (false, false) => sight::ends(&path, BEGINNING),
        };
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(error) if sight::is_gone(&error) => return,
            Err(error) if sight::is_refused(&error) && !sight::is_own(&meta) => return out.checked.push(facts),
            Err(error) => {
                out.unread.push(name);
                // A change of its rights is told.
                out.stamp = out.stamp.filter(|_| sight::is_refused(&error));
                return;
            }
        };
        if meta.len() > SMALL {
            self.read += bytes.len() as u64;
        }
        let kind = if package { Content::Text } else { Content::of(Path::new(&name)) };
        if kind.is_secret(&bytes) {
            out.secrets.push(name);
        } else {
            out.checked.push(facts);
        }
    }

    /// Drops a folder with all below it.
    fn forget(&mut self, dir: &Path) {
        let mut open = vec![dir.to_owned()];
        while let Some(dir) = open.pop() {
            if let Some(folder) = self.folders.remove(&dir) {
                self.entries = self.entries.saturating_sub(folder.entries);
                open.extend(folder.folders.iter().map(|(name, _)| dir.join(name)));
            }
            self.unwatched.remove(&dir);
            if let Some(watch) = &mut self.watch {
                watch.remove(&dir);
            }
        }
    }

    fn assemble(&mut self) -> ScanFindings {
        // What other people's packages bring counts after what is the user's own.
        let mut folders: Vec<(&PathBuf, &Folder)> = self.folders.iter().collect();
        folders.sort_by(|(a, one), (b, other)| {
            let rank = |folder: &Folder| (folder.inherited.dependency, folder.inherited.depth);
            rank(one).cmp(&rank(other)).then_with(|| a.cmp(b))
        });
        let (mut candidates, mut out) = (Vec::new(), ScanFindings { whole: self.whole, ..ScanFindings::default() });
        for (dir, folder) in folders {
            let full = |names: &[OsString]| names.iter().map(|name| dir.join(name)).collect::<Vec<_>>();
            candidates.extend(full(&folder.secrets));
            candidates.extend(
                full(&folder.linked).into_iter().filter(|path| !folder.secrets.iter().any(|name| path.ends_with(name))),
            );
            out.protected.extend(full(&folder.protected));
            out.manifests.extend(full(&folder.manifests));
            out.sockets.extend(full(&folder.sockets));
            if folder.git && *dir != self.root {
                out.repositories.push(dir.join(".git"));
            }
            if folder.bare {
                out.repositories.push(dir.clone());
            }
            out.cut.extend(folder.cut.map(|_| dir.clone()));
            out.cut.extend(full(&folder.unread));
            // Those that hold too much are no fault: how much counts for the findings as a whole.
            out.unlisted.extend(folder.cut.filter(|cut| *cut != Unlooked::Count).map(|_| dir.clone()));
        }
        let own = self.folders.get(&self.root).and_then(|folder| folder.cut);
        out.unknown = own.is_some_and(|cut| cut != Unlooked::Count);
        out.state = STATE.fetch_add(1, Ordering::Relaxed);
        let masked = self.tracked.without(candidates);
        hidden::note(&self.root, masked.iter());
        out.secrets = self.outermost(masked);
        out
    }

    /// Paths without those that lie in a masked folder: they are not there.
    fn outermost(&self, masked: Vec<PathBuf>) -> Vec<PathBuf> {
        let folders: HashSet<PathBuf> =
            masked.iter().filter(|path| self.folders.contains_key(*path)).cloned().collect();
        let lies_in_one = |path: &PathBuf| path.ancestors().skip(1).any(|above| folders.contains(above));
        masked.into_iter().filter(|path| !lies_in_one(path)).collect()
    }
}

/// True for a link to a folder that commands write and where nobody looks for repositories: git's own, and lisle's. Links to
/// files are those of large contents.
fn leads_unseen(root: &Path, link: &Path) -> bool {
    let Ok(to) = std::fs::read_link(link) else { return false };
    let is_of_git = |path: &Path| path.iter().any(|part| part == ".git");
    // Links that stay below their folder lead to what is looked at, or to a link that is.
    if !is_of_git(&to) && !to.is_absolute() && !to.iter().any(|part| part == "..") {
        return false;
    }
    if !link.metadata().is_ok_and(|meta| meta.is_dir()) {
        return false;
    }
    let Ok(real) = link.canonicalize() else { return true };
    is_of_git(&to) || real.strip_prefix(root).map_or_else(|_| own_folders::holds(&real), is_of_git)
}

/// The end of a path, by which entries are protected: no rule names more than two folders.
fn last_two(dir: &Path) -> PathBuf {
    let names = dir.iter().count();
    dir.iter().skip(names.saturating_sub(2)).collect()
}

fn has_ending(name: &OsStr, endings: &[&str]) -> bool {
    Path::new(name).extension().is_some_and(|end| endings.iter().any(|ending| end == *ending))
}

/// A file with the name of a key that holds certificates and public keys alone.
fn is_public(path: &Path, name: &OsStr) -> bool {
    if !has_ending(name, &["pem", "key", "crt", "PEM", "KEY"]) {
        return false;
    }
    let Some(bytes) = sight::beginning(path, PUBLIC + 1).ok().filter(|bytes| bytes.len() as u64 <= PUBLIC) else {
        return false;
    };
    let has = |what: &[u8]| memchr::memmem::find(&bytes, what).is_some();
    (has(b"-----BEGIN CERTIFICATE") || has(b"-----BEGIN PUBLIC KEY")) && !has(b"PRIVATE KEY")
}

/// True if this file's content makes it a secret. Blocks.
#[must_use]
pub fn is_key(path: &Path) -> bool {
    let kind = Content::of(path);
    kind != Content::PassedOver
        && sight::beginning(path, crate::domain::secret::MOST as u64).is_ok_and(|all| kind.is_secret(&all))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::places::git_index::tests::index;

    fn root() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        (dir, root)
    }

    fn write(path: PathBuf, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn below(root: &Path, paths: &[PathBuf]) -> Vec<String> {
        let mut out: Vec<String> =
            paths.iter().map(|path| path.strip_prefix(root).unwrap().display().to_string()).collect();
        out.sort();
        out
    }

    fn key() -> String {
        format!("-----BEGIN {} KEY-----\nabc\n", "PRIVATE")
    }

    #[test]
    fn links_into_folders_of_a_session_are_protected() {
        let (_dir, top) = root();
        let root = top.join("p");
        for folder in ["p/src/sub", "sessions/s/tmp/lib", "beside/lib"] {
            std::fs::create_dir_all(top.join(folder)).unwrap();
        }
        write(top.join("sessions/s/session.jsonl"), "");
        let link = |to: &str, at: &str| std::os::unix::fs::symlink(to, root.join(at)).unwrap();
        link(top.join("sessions/s/tmp/lib").to_str().unwrap(), "absolute");
        link("../sessions/s/tmp", "relative");
        link("../../../sessions/s", "src/sub/deep");
        link("../beside/lib", "beside");
        link("sub", "src/inner");
        link("../sessions/s/session.jsonl", "file");
        link("relative/lib", "chain");
        let found = look(&root, &[]);
        assert_eq!(below(&root, &found.protected), ["absolute", "relative", "src/sub/deep"]);
    }

    #[test]
    fn secrets_are_found_by_name_and_by_content_at_any_depth() {
        let (_dir, root) = root();
        let token = "a1B2c3D4e5F6g7H8i9";
        for (path, text) in [
            (".env.example", "A="),
            ("a/b/c/d/e/.env.local", "A=1"),
            (".hidden/.npmrc", "x"),
            ("node_modules/x/.env", "x"),
            ("deploy", key().as_str()),
            ("conf/notes.txt", key().as_str()),
            ("certs/ca.pem", "-----BEGIN CERTIFICATE-----\n"),
            ("certs/server.pem", key().as_str()),
            (".aws/config", "x"),
            (".env/pyvenv.cfg", "x"),
            (".env/bin/python", "x"),
            (".env/lib/python3.13/site.py", "x"),
            (".env/prod", "x"),
            ("src/credentials/mod.rs", "x"),
            ("src/keys.rs", "x"),
            ("src/token.rs", format!("let x = \"ghp_{token}\";").as_str()),
            ("README.md", format!("ghp_{token}").as_str()),
            ("conf/app.yml", format!("token: ghp_{token}").as_str()),
            ("node_modules/x/app.yml", format!("token: ghp_{token}").as_str()),
            ("deploy_token", "x"),
            ("infra/terraform.tfstate.backup", "{}"),
        ] {
            write(root.join(path), text);
        }
        write(root.join("app/.env"), "A=1");
        let found = look(&root, &[]);
        let expected = [
            ".aws",
            ".env/prod",
            ".hidden/.npmrc",
            "a/b/c/d/e/.env.local",
            "app/.env",
            "certs/server.pem",
            "conf/app.yml",
            "conf/notes.txt",
            "deploy",
            "deploy_token",
            "infra/terraform.tfstate.backup",
            "node_modules/x/.env",
        ];
        assert_eq!(below(&root, &found.secrets), expected);
        assert!(found.whole);
    }

    #[test]
    fn protected_paths_are_found_at_any_depth_but_not_in_packages() {
        let (_dir, root) = root();
        for path in [
            ".envrc",
            "sub/.envrc",
            "sub/deep/.vscode/tasks.json",
            "sub/.github/workflows/ci.yml",
            "sub/.github/CODEOWNERS",
            "lib/.git/config",
            "module/.git",
            ".hg/hgrc",
            ".hg/store/.envrc",
            ".jj/repo/config.toml",
            ".jj/repo/store/.envrc",
            "sub/all.code-workspace",
            "node_modules/x/.envrc",
            "target/.cargo/config.toml",
            "src/main.rs",
        ] {
            write(root.join(path), "x");
        }
        let found = look(&root, &[]);
        let expected = [
            ".envrc",
            ".hg/hgrc",
            ".jj/repo/config.toml",
            "module/.git",
            "sub/.envrc",
            "sub/.github/workflows",
            "sub/all.code-workspace",
            "sub/deep/.vscode",
        ];
        assert_eq!(below(&root, &found.protected), expected);
        assert_eq!(below(&root, &found.repositories), ["lib/.git", "module/.git"]);
        assert_eq!(found.protected[0], root.join(".envrc"), "shallow ones first");
    }

    #[test]
    fn a_link_in_the_place_of_a_folder_that_holds_protected_files_is_protected() {
        let (_dir, root) = root();
        write(root.join("elsewhere/workflows/ci.yml"), "x");
        write(root.join("sub/a"), "x");
        for link in [".github", "sub/.github", ".vscode", "other"] {
            std::os::unix::fs::symlink(root.join("elsewhere"), root.join(link)).unwrap();
        }
        assert_eq!(below(&root, &look(&root, &[]).protected), [".github", ".vscode", "sub/.github"]);
    }

    #[test]
    fn a_link_to_a_folder_of_gits_own_is_protected() {
        let (_dir, root) = root();
        write(root.join(".git/hide/zz/HEAD"), "x");
        write(root.join(".git/annex/objects/a"), "x");
        for (link, to) in
            [("lib", ".git/hide/zz"), ("picture", ".git/annex/objects/a"), ("node_modules/x", "../.git/hide")]
        {
            write(root.join("node_modules/y"), "x");
            std::os::unix::fs::symlink(to, root.join(link)).unwrap();
        }
        assert_eq!(below(&root, &look(&root, &[]).protected), ["lib", "node_modules/x"]);
    }

    #[test]
    fn folders_that_cannot_be_listed_are_named_and_listed_when_they_can_be() {
        use std::os::unix::fs::PermissionsExt;
        if rustix::process::geteuid().is_root() {
            return eprintln!("not tested: root lists everything");
        }
        let (_dir, root) = root();
        write(root.join("a/b/.envrc"), "x");
        let mode = |mode| std::fs::set_permissions(root.join("a"), PermissionsExt::from_mode(mode)).unwrap();
        for closed in [0o311, 0o000] {
            mode(closed);
            assert!(!look(&root, &[]).unlisted.is_empty(), "{closed:o}");
            mode(0o755);
            let found = look(&root, &[]);
            assert_eq!((below(&root, &found.protected), &found.unlisted), (vec!["a/b/.envrc".to_owned()], &Vec::new()));
        }
    }

    #[test]
    fn what_git_has_with_its_content_is_no_secret() {
        let (_dir, root) = root();
        for folder in ["objects", "refs"] {
            std::fs::create_dir_all(root.join(".git").join(folder)).unwrap();
        }
        write(root.join(".git/HEAD"), "x");
        write(root.join("a/.env"), "x");
        write(root.join(".env.local"), "x");
        std::fs::write(root.join(".git/index"), index(&["a/.env", "b/.env"])).unwrap();
        assert_eq!(below(&root, &look(&root, &[]).secrets), [".env.local"]);
        // An entry alone, which a command can make, opens nothing.
        write(root.join("b/.env"), "y");
        std::fs::write(root.join(".git/index"), index(&[".env.local", "a/.env", "b/.env"])).unwrap();
        assert_eq!(below(&root, &look(&root, &[]).secrets), ["b/.env"]);
        write(root.join("a/.env"), "changed since");
        assert_eq!(below(&root, &look(&root, &[]).secrets), ["a/.env", "b/.env"]);
        // Nor does one below a file, which git never makes.
        std::fs::write(root.join(".git/index"), index(&["a/.env/x", "b/.env", "b/.env/y"])).unwrap();
        assert_eq!(below(&root, &look(&root, &[]).secrets), [".env.local", "a/.env", "b/.env"]);
    }

    #[test]
    fn what_was_hidden_stays_so_wherever_it_is_moved() {
        let (_dir, root) = root();
        if std::fs::metadata(&root).unwrap().created().is_err() {
            return eprintln!("not tested: the file system keeps no time of birth");
        }
        write(root.join("cfg/.docker/config.json"), "{}");
        write(root.join("conf/app.yml"), &format!("token: ghp_{}\n", "a1B2c3D4e5F6".repeat(3)));
        assert_eq!(below(&root, &look(&root, &[]).secrets), ["cfg/.docker/config.json", "conf/app.yml"]);
        std::fs::rename(root.join("cfg/.docker"), root.join("cfg/docker2")).unwrap();
        std::fs::create_dir(root.join("node_modules")).unwrap();
        std::fs::rename(root.join("conf"), root.join("node_modules/conf")).unwrap();
        let moved = ["cfg/docker2/config.json", "node_modules/conf/app.yml"];
        assert_eq!(below(&root, &look(&root, &[]).secrets), moved);
        // What takes its number later is another file.
        std::fs::remove_file(root.join(moved[0])).unwrap();
        for name in ["a", "b", "c"] {
            write(root.join("cfg").join(name), "plain");
        }
        assert_eq!(below(&root, &look(&root, &[]).secrets), moved[1..]);
    }

    #[test]
    fn what_changes_is_seen_at_the_next_look() {
        let (_dir, root) = root();
        write(root.join("a/b/x"), "x");
        let names = || below(&root, &look(&root, &[]).secrets);
        assert!(names().is_empty());
        write(root.join("a/b/.env"), "x");
        assert_eq!(names(), ["a/b/.env"]);
        write(root.join("new/deep/.env"), "x");
        assert_eq!(names(), ["a/b/.env", "new/deep/.env"]);
        std::fs::rename(root.join("a"), root.join("moved")).unwrap();
        assert_eq!(names(), ["moved/b/.env", "new/deep/.env"]);
        std::fs::remove_dir_all(root.join("new")).unwrap();
        assert_eq!(names(), ["moved/b/.env"]);
        // The same name, another folder.
        std::fs::rename(root.join("moved"), root.join("away")).unwrap();
        write(root.join("moved/c/.env"), "x");
        assert_eq!(names(), ["away/b/.env", "moved/c/.env"]);
        // A file that was there becomes a key.
        write(root.join("away/b/x"), &key());
        assert_eq!(names(), ["away/b/.env", "away/b/x", "moved/c/.env"]);
        write(root.join("moved/c/.envrc"), "x");
        assert_eq!(below(&root, &look(&root, &[]).protected), ["moved/c/.envrc"]);
    }

    #[test]
    fn another_folder_at_the_same_path_is_another_tree() {
        let (_dir, root) = root();
        let at = root.join("p");
        assert!(look(&at, &[]).secrets.is_empty());
        write(at.join(".env"), "x");
        assert_eq!(below(&at, &look(&at, &[]).secrets), [".env"]);
        std::fs::rename(&at, root.join("away")).unwrap();
        write(at.join("sub/.env"), "x");
        assert_eq!(below(&at, &look(&at, &[]).secrets), ["sub/.env"]);
    }

    #[test]
    fn a_tree_that_cannot_be_watched_is_compared() {
        let (_dir, root) = root();
        write(root.join("a/x"), "x");
        let mut tree = Tree::new(root.clone(), &[], MOST);
        tree.watch = None;
        tree.unwatched = tree.folders.keys().cloned().collect();
        assert!(tree.refresh().secrets.is_empty());
        write(root.join("a/.env"), "x");
        assert_eq!(below(&root, &tree.refresh().secrets), ["a/.env"]);
    }

    #[test]
    fn other_names_of_a_secret_are_secret() {
        let (_dir, root) = root();
        for name in ["p/.env", "home/.netrc", "p/x"] {
            write(root.join(name), "x");
        }
        let at = root.join("p");
        assert_eq!(below(&at, &look(&at, &[]).secrets), [".env"]);
        write(at.join("sub/y"), "y");
        std::fs::hard_link(at.join(".env"), at.join("sub/main.rs")).unwrap();
        assert_eq!(below(&at, &look(&at, &[]).secrets), [".env", "sub/main.rs"]);
        // One that lies elsewhere.
        std::fs::hard_link(root.join("home/.netrc"), at.join("sub/notes.txt")).unwrap();
        let meta = root.join("home/.netrc").metadata().unwrap();
        let elsewhere = HashSet::from([(meta.dev(), meta.ino())]);
        let found = look_for(&at, &[], &elsewhere);
        assert_eq!(below(&at, &found.secrets), [".env", "sub/main.rs", "sub/notes.txt"]);
    }

    #[test]
    fn a_repository_without_a_working_tree_is_one() {
        let (_dir, root) = root();
        for name in
            ["x/HEAD", "x/objects/y", "x/refs/z", "y/HEAD", "y/refs/z", "s/HEAD", "s/commondir", "target/x/HEAD"]
        {
            write(root.join(name), "x");
        }
        assert_eq!(below(&root, &look(&root, &[]).repositories), ["s", "x"]);
    }

    #[test]
    fn a_repository_counts_wherever_it_lies() {
        let (_dir, root) = root();
        let names = ["vendor", "node_modules/a", "target/b", ".venv/c", ".svn", ".hg/d", ".jj"];
        for dir in names.iter().map(|name| root.join(name)) {
            for name in ["bare/HEAD", "bare/objects/y", "bare/refs/z", "common/HEAD", "common/commondir"] {
                write(dir.join(name), "x");
            }
            write(dir.join("file/.git"), "gitdir: ../bare");
            std::os::unix::fs::symlink("../bare", dir.join(".git")).unwrap();
        }
        let found = look(&root, &[]);
        for dir in names.iter().map(|name| root.join(name)) {
            for path in ["bare", "common", "file/.git", ".git"].map(|name| dir.join(name)) {
                assert!(found.repositories.contains(&path), "{}", path.display());
            }
            assert!(found.protected.contains(&dir.join("file/.git")) && found.protected.contains(&dir.join(".git")));
        }
    }

    #[test]
    fn what_lies_deeper_than_can_be_masked_is_masked_with_its_folder() {
        use crate::sandbox::unseen;
        use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
        let (_dir, root) = root();
        let how = OFlags::RDONLY | OFlags::DIRECTORY;
        let (name, mut deep) = ("D".repeat(240), openat(CWD, &root, how, Mode::empty()).unwrap());
        for _ in 0..18 {
            mkdirat(&deep, &*name, Mode::RWXU).unwrap();
            deep = openat(&deep, &*name, how, Mode::empty()).unwrap();
        }
        let found = look(&root, &[]);
        let [cut] = &found.cut[..] else { panic!("{}", found.cut.len()) };
        assert!(unseen::is_too_long(cut) && !unseen::is_too_long(cut.parent().unwrap()) && !found.unknown);
        assert_eq!((&found.masked(), &found.unlisted), (&vec![cut.clone()], &vec![cut.clone()]));
        assert!(look(cut, &[]).unknown, "nothing can be masked in it");
    }

    #[test]
    fn what_cannot_be_listed_or_read_is_not_taken_for_empty() {
        use std::os::unix::fs::PermissionsExt;
        if rustix::process::geteuid().is_root() {
            return eprintln!("not tested: root lists everything");
        }
        let (_dir, root) = root();
        let mode = |name: &str, mode: u32| {
            std::fs::set_permissions(root.join(name), std::fs::Permissions::from_mode(mode)).unwrap();
        };
        for name in ["a/.env", "b/.env", "c/notes.txt"] {
            write(root.join(name), "x");
        }
        let masked = || below(&root, &look(&root, &[]).masked());
        assert_eq!(masked(), ["a/.env", "b/.env"]);
        for rights in [0o311, 0o444, 0] {
            mode("a", rights);
            mode("c/notes.txt", 0);
            assert_eq!(masked(), ["a", "b/.env", "c/notes.txt"], "{rights:o}");
            let state = look(&root, &[]).state;
            assert_eq!(look(&root, &[]).state, state);
            mode("a", 0o755);
            mode("c/notes.txt", 0o644);
            assert_eq!(masked(), ["a/.env", "b/.env"]);
        }
        mode("", 0o311);
        assert!(look(&root, &[]).unknown);
        mode("", 0o755);
        assert!(!look(&root, &[]).unknown);
    }

    #[test]
    fn what_was_hidden_once_stays_so_whatever_is_made_around_it() {
        let (_dir, root) = root();
        if std::fs::metadata(&root).unwrap().created().is_err() {
            return eprintln!("not tested: the file system keeps no time of birth");
        }
        let token = format!("token: ghp_{}\n", "a1B2c3D4e5F6".repeat(3));
        write(root.join("config/env/lib/dev.json"), &token);
        write(root.join("env/.vscode/tasks.json"), "{}");
        let fresh = || Tree::new(root.clone(), &[], MOST).found;
        assert_eq!(below(&root, &fresh().secrets), ["config/env/lib/dev.json"]);
        // A layout of Python, and one that is half of it.
        for name in ["config/env", "env"] {
            write(root.join(name).join("pyvenv.cfg"), "x");
            assert_eq!(below(&root, &fresh().secrets), ["config/env/lib/dev.json"]);
            write(root.join(name).join("bin/python"), "x");
            write(root.join(name).join("lib/python3.13/x"), "x");
        }
        let found = fresh();
        assert_eq!(below(&root, &found.secrets), ["config/env/lib/dev.json"]);
        assert_eq!(below(&root, &found.protected), ["env/.vscode"]);
        // Whoever writes into it takes it out.
        write(root.join("config/env/lib/dev.json"), "{}");
        assert!(fresh().secrets.is_empty());
    }

    #[test]
    fn large_files_do_not_use_up_what_small_ones_need() {
        let (_dir, root) = root();
        let mut tree = Tree::new(root.clone(), &[], MOST);
        tree.read = MOST_READ;
        let filler = |length: u64| "#\n".repeat(usize::try_from(length / 2).unwrap());
        write(root.join("small.txt"), &format!("{}{}", filler(SMALL / 2), key()));
        write(root.join("end.txt"), &format!("{}{}", filler(SMALL * 2), key()));
        write(root.join("middle.txt"), &format!("{}{}{}", filler(SMALL), key(), filler(SMALL)));
        assert_eq!(below(&root, &tree.refresh().secrets), ["end.txt", "small.txt"]);
    }
}
