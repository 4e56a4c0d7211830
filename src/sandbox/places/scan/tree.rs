//! Tree of one directory: its folders as they were listed last, brought up to date with as few calls as possible.

use super::ScanFindings;
use super::content::is_public;
use crate::domain::paths::{is_protected_for_commands, is_secret_entry, is_secret_folder, lexical, protected_entries};
use crate::domain::secret::Content;
use crate::sandbox::own_folders;
use crate::sandbox::places::folders::below_temp;
use crate::sandbox::places::git_tracked::{Stamp, TrackedFiles, stamp};
use crate::sandbox::places::inherited::Inherited;
use crate::sandbox::places::sight::{self, FolderSight, Unlooked};
use crate::sandbox::places::watch::{Watch, WatchEvents};
use crate::sandbox::places::{hidden, python_environment};
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs::Metadata;
use std::os::unix::fs::{DirEntryExt, FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// First bytes of every file that is looked into …
const BEGINNING: u64 = 64 * 1024;
/// … and of one that is looked into further, as long as not so many were read of a tree. Of the others the last bytes count,
/// too.
const FURTHER: u64 = 4 * 1024 * 1024;
pub(super) const MOST_READ: u64 = 256 * 1024 * 1024;

/// Smaller files are always read as a whole: whoever makes large ones cannot use up what they need.
pub(super) const SMALL: u64 = 256 * 1024;

/// Folders of a version control system, which reads its settings there.
const STORES: &[&str] = &[".hg", ".jj", ".jj/repo", ".svn", ".sl", ".bzr/branch", ".pijul", "_darcs/prefs"];

/// Entries by which git takes a folder for a repository: `HEAD` with `objects` and `refs`, which `commondir` may name
/// elsewhere.
const GIT_FOLDER: &[&str] = &["HEAD", "objects", "refs", "commondir"];

/// Files that say where other packages lie.
const MANIFESTS: &[&str] =
    &["Cargo.toml", "package.json", "pnpm-workspace.yaml", "pyproject.toml", "requirements.txt", "go.mod", "go.work"];

static STATE: AtomicU64 = AtomicU64::new(1);

/// A directory with all below it.
#[derive(Debug)]
pub(super) struct Tree {
    root: PathBuf,
    skip: HashSet<PathBuf>,
    pub(super) folders: HashMap<PathBuf, Folder>,
    pub(super) watch: Option<Watch>,
    /// Folders that are not watched, or not known.
    pub(super) unwatched: HashSet<PathBuf>,
    entries: usize,
    most: usize,
    /// Bytes of files that were looked into.
    pub(super) read: u64,
    pub(super) whole: bool,
    tracked: TrackedFiles,
    /// Secret files with more than one name: the others are looked for.
    pub(super) wanted: HashSet<(u64, u64)>,
    pub(super) found: Arc<ScanFindings>,
}

/// One folder of the tree.
#[derive(Debug, Default)]
pub(super) struct Folder {
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
    pub(super) cut: Option<Unlooked>,
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
    pub(super) fn new(root: PathBuf, skip: &[PathBuf], most: usize) -> Self {
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

    pub(super) fn list_all(&mut self) {
        let folders: Vec<(PathBuf, Inherited)> =
            self.folders.iter().map(|(path, folder)| (path.clone(), folder.inherited)).collect();
        for (folder, inherited) in folders {
            self.list(folder, inherited);
        }
        self.found = Arc::new(self.assemble());
    }

    pub(super) fn refresh(&mut self) -> Arc<ScanFindings> {
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

/// True for a link to a folder that commands write and where nobody looks for repositories: git's own, lisle's, and one for
/// temporary files. Links to files are those of large contents.
fn leads_unseen(root: &Path, link: &Path) -> bool {
    let Ok(to) = std::fs::read_link(link) else { return false };
    let is_of_git = |path: &Path| path.iter().any(|part| part == ".git");
    // Links that stay below their folder lead to what is looked at, or to a link that is.
    if !is_of_git(&to) && !to.is_absolute() && !to.iter().any(|part| part == "..") {
        return false;
    }
    // What is not there yet may be a folder later, when nobody looks at the link.
    if link.metadata().is_ok_and(|meta| !meta.is_dir()) {
        return false;
    }
    let Some(real) = leads_to(link, &to) else { return true };
    let is_written = || own_folders::holds(&real) || is_temporary(root, &real);
    is_of_git(&to) || real.strip_prefix(root).map_or_else(|_| is_written(), is_of_git)
}

/// The place that a link leads to, also where nothing is there; `None` where that is not known.
fn leads_to(link: &Path, to: &Path) -> Option<PathBuf> {
    if let Ok(real) = link.canonicalize() {
        return Some(real);
    }
    let whole = link.parent()?.canonicalize().ok()?.join(to);
    let (above, real) = whole.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)))?;
    Some(lexical(&real, whole.strip_prefix(above).ok()?))
}

/// True for a place among temporary files, seen from a project that does not lie there itself.
pub(super) fn is_temporary(root: &Path, real: &Path) -> bool {
    below_temp(real).is_some() && below_temp(root).is_none()
}

/// The end of a path, by which entries are protected: no rule names more than two folders.
fn last_two(dir: &Path) -> PathBuf {
    let names = dir.iter().count();
    dir.iter().skip(names.saturating_sub(2)).collect()
}
