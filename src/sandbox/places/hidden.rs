//! Files and folders that were hidden from commands once, whatever they are called since: a command can rename a folder in
//! which a file is a secret by its place or its content.
//!
//! They are known by number and time of birth, which a rename keeps and nobody can set. While commands run they are held open
//! without being read (`held`), so that the system says what they are called. The list lies in lisle's own data folder, where no
//! command reads or writes, a line of JSON a name (`list`); every process of lisle adds to it.

mod held;
mod list;

pub use held::HeldPlaces;

use held::{LostPlace, Whereabouts};
use list::List;
use std::collections::{HashMap, HashSet};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::UNIX_EPOCH;

/// Files of one folder that are known each by itself; the rest is known by its folder.
const MOST_IN_FOLDER: usize = 500;
/// The same of a tree: what is more is hidden by its name, place and content alone.
const MOST_IN_TREE: usize = 20_000;

/// A file or folder under any name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Identity {
    number: u64,
    /// Nanoseconds since the epoch.
    born: i64,
}

impl Identity {
    /// `None` for other things, and where the file system keeps no time of birth.
    fn of(meta: &Metadata) -> Option<Self> {
        let is_one = meta.is_file() || meta.is_dir();
        let born = is_one.then(|| meta.created().ok()).flatten()?.duration_since(UNIX_EPOCH).ok()?;
        Some(Self { number: meta.ino(), born: i64::try_from(born.as_nanos()).ok()? })
    }

    fn at(path: &Path) -> Option<Self> {
        Self::of(&path.symlink_metadata().ok()?)
    }
}

/// Length and time of the last write of a file, in nanoseconds: no command changes them while the file is masked.
type Facts = (u64, i64);

fn facts(meta: &Metadata) -> Option<Facts> {
    let written = || meta.mtime().checked_mul(1_000_000_000)?.checked_add(meta.mtime_nsec());
    meta.is_file().then(written).flatten().map(|written| (meta.len(), written))
}

/// A name of a hidden file or folder.
#[derive(Clone, Debug, PartialEq, Eq)]
struct HiddenName {
    identity: Identity,
    path: PathBuf,
    /// Facts of a file at its first path.
    facts: Option<Facts>,
}

impl HiddenName {
    fn at(path: &Path) -> Option<(Self, u64)> {
        let meta = path.symlink_metadata().ok()?;
        let name = Self { identity: Identity::of(&meta)?, path: path.to_owned(), facts: facts(&meta) };
        Some((name, meta.nlink()))
    }
}

/// Paths of a hidden file or folder.
#[derive(Clone, Debug)]
struct HiddenNames {
    first: PathBuf,
    now: PathBuf,
    facts: Option<Facts>,
}

#[derive(Default)]
struct Hidden {
    files: HashMap<Identity, HiddenNames>,
    numbers: Arc<HashSet<u64>>,
    list: List,
    lost: Vec<LostPlace>,
}

static HIDDEN: Mutex<Option<Hidden>> = Mutex::new(None);

fn hidden() -> MutexGuard<'static, Option<Hidden>> {
    HIDDEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps the list in this file from now on. Without it this process alone remembers.
pub fn keep_in(list: PathBuf) {
    hidden().get_or_insert_default().list = List::of(list);
}

/// Reads what other processes added. Blocks.
pub(super) fn refresh() {
    hidden().get_or_insert_default().read_on();
}

/// Numbers of such files: what has another number is none.
pub(super) fn numbers() -> Arc<HashSet<u64>> {
    Arc::clone(&hidden().get_or_insert_default().numbers)
}

/// True if the file, or a folder that it lies in, was hidden from commands at another path.
#[must_use]
pub fn is_moved(path: &Path) -> bool {
    let hidden = hidden();
    let Some(hidden) = hidden.as_ref().filter(|hidden| !hidden.files.is_empty()) else { return false };
    let is_one = |path: &Path| {
        let names = Identity::at(path).and_then(|identity| hidden.files.get(&identity));
        names.is_some_and(|names| names.first != path)
    };
    path.ancestors().take_while(|one| one.components().count() > 2).any(is_one)
}

/// True if a file or folder with the number of a hidden one is to be hidden whatever the rules for names, places and contents
/// say now: a file where nobody wrote into it since, and whatever was hidden at another path. A folder at its first path
/// is what the rules make of it.
pub(super) fn stays(path: &Path) -> bool {
    let meta = match path.symlink_metadata() {
        Ok(meta) => meta,
        // It was there a moment ago.
        Err(error) => return error.kind() != std::io::ErrorKind::NotFound,
    };
    let Some(identity) = Identity::of(&meta) else { return false };
    let hidden = hidden();
    let Some(names) = hidden.as_ref().and_then(|hidden| hidden.files.get(&identity)) else { return false };
    names.first != path || names.facts.is_some() && names.facts == facts(&meta)
}

/// Paths below a folder of what was hidden elsewhere. Blocks.
pub(super) fn moved_below(root: &Path) -> Vec<PathBuf> {
    let mut hidden = hidden();
    let Some(hidden) = hidden.as_mut().filter(|hidden| !hidden.files.is_empty()) else { return Vec::new() };
    let moved = hidden.files.iter().filter(|(_, names)| names.now != names.first && names.now.starts_with(root));
    let there = moved.filter(|(identity, names)| Identity::at(&names.now).as_ref() == Some(identity));
    there.map(|(_, names)| names.now.clone()).collect()
}

/// Something that was hidden below this folder lies where the system does not tell. Blocks.
pub(super) fn is_lost_below(root: &Path) -> bool {
    let mut hidden = hidden();
    let Some(hidden) = hidden.as_mut().filter(|hidden| !hidden.lost.is_empty()) else { return false };
    for lost in std::mem::take(&mut hidden.lost) {
        hidden.seek(lost);
    }
    hidden.lost.iter().any(|lost| lost.path.starts_with(root))
}

/// Remembers files and folders below `root` that are hidden now. Blocks.
pub(super) fn note<'a>(root: &Path, paths: impl Iterator<Item = &'a PathBuf>) {
    let names: Vec<(HiddenName, u64)> = paths.filter_map(|path| HiddenName::at(path)).collect();
    hidden().get_or_insert_default().take(root, names);
}

/// Forgets what is not below `root` any more, where that is worth writing the list anew. To be called after all of `root` was
/// looked at: what has another name there is known by it. Blocks.
pub(super) fn tidy(root: &Path) {
    hidden().get_or_insert_default().tidy(root);
}

impl Hidden {
    /// Takes names in, and writes those down that are new.
    fn take(&mut self, root: &Path, names: Vec<(HiddenName, u64)>) {
        let is_new = |(name, links): &(HiddenName, u64)| match self.files.get(&name.identity) {
            // Of more names than one any counts.
            Some(_) if *links > 1 && name.facts.is_some() => false,
            Some(known) => known.now != name.path || name.path == known.first && name.facts != known.facts,
            None => true,
        };
        let new: Vec<HiddenName> = names.into_iter().filter(is_new).map(|(name, _)| name).collect();
        if !new.is_empty() {
            let new = self.bounded(root, new);
            self.list.append(&new);
            self.remember(new);
        }
    }

    /// The names without those that are more than are known each by itself, and the folders that hold these.
    fn bounded(&self, root: &Path, names: Vec<HiddenName>) -> Vec<HiddenName> {
        let mut counts: HashMap<PathBuf, usize> = HashMap::new();
        let mut all = 0;
        for names in self.files.values().filter(|names| names.now.starts_with(root)) {
            all += 1;
            *counts.entry(names.now.parent().unwrap_or(root).to_owned()).or_default() += 1;
        }
        let (mut out, mut folders) = (Vec::new(), HashSet::new());
        for name in names {
            if self.files.contains_key(&name.identity) {
                out.push(name);
                continue;
            }
            let above = name.path.parent().unwrap_or(root).to_owned();
            let count = counts.entry(above.clone()).or_default();
            if all < MOST_IN_TREE && *count < MOST_IN_FOLDER {
                (*count, all) = (*count + 1, all + 1);
                out.push(name);
            } else if all < MOST_IN_TREE && above != root && folders.insert(above.clone()) {
                let folder = HiddenName::at(&above).map(|(name, _)| name);
                out.extend(folder.filter(|folder| !self.files.contains_key(&folder.identity)));
            }
        }
        out
    }

    /// Takes in that something lies at another path by now.
    fn take_moved(&mut self, from: &Path, to: HiddenName) {
        let known = self.files.get(&to.identity);
        if known.is_some_and(|known| known.now == to.path) {
            return;
        }
        let first = known.is_none().then(|| HiddenName { path: from.to_owned(), ..to.clone() });
        let new: Vec<HiddenName> = first.into_iter().chain([to]).collect();
        self.list.append(&new);
        self.remember(new);
    }

    /// Notes where a place is by now that is held.
    fn seek(&mut self, lost: LostPlace) {
        match Whereabouts::of(&lost.place) {
            Whereabouts::At(name) => self.take_moved(&lost.path, name),
            Whereabouts::Gone => {}
            Whereabouts::Unknown => self.lost.push(lost),
        }
    }

    fn remember(&mut self, names: Vec<HiddenName>) {
        let numbers = Arc::make_mut(&mut self.numbers);
        for HiddenName { identity, path, facts } in names {
            numbers.insert(identity.number);
            let known = self.files.entry(identity).or_insert_with(|| HiddenNames {
                first: path.clone(),
                now: path.clone(),
                facts: None,
            });
            if path == known.first {
                known.facts = facts;
            }
            known.now = path;
        }
    }

    fn read_on(&mut self) {
        let new = self.list.read_on();
        self.remember(new);
    }

    fn tidy(&mut self, root: &Path) {
        self.read_on();
        if !self.list.is_long() {
            return;
        }
        let below = self.files.iter().filter(|(_, names)| names.now.starts_with(root));
        let gone = below.filter(|(identity, names)| Identity::at(&names.now).as_ref() != Some(identity));
        let gone: HashSet<Identity> = gone.map(|(identity, _)| *identity).collect();
        let kept = || self.files.iter().filter(|(identity, _)| !gone.contains(identity));
        let lines: usize = kept().map(|(_, names)| if names.now == names.first { 1 } else { 2 }).sum();
        if lines * 2 > self.list.lines() {
            return;
        }
        let names = kept().flat_map(|(identity, names)| {
            let first = HiddenName { identity: *identity, path: names.first.clone(), facts: names.facts };
            let moved = names.now != names.first;
            let now = HiddenName { identity: *identity, path: names.now.clone(), facts: None };
            [Some(first), moved.then_some(now)].into_iter().flatten()
        });
        let names: Vec<HiddenName> = names.collect();
        if self.list.rewrite(&names) {
            self.files.retain(|identity, _| !gone.contains(identity));
            self.numbers = Arc::new(self.files.keys().map(|identity| identity.number).collect());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> Option<(tempfile::TempDir, PathBuf)> {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        root.metadata().unwrap().created().is_ok().then_some((dir, root))
    }

    fn names(paths: &[PathBuf]) -> Vec<(HiddenName, u64)> {
        paths.iter().filter_map(|path| HiddenName::at(path)).collect()
    }

    fn files(root: &Path, count: usize) -> Vec<PathBuf> {
        let paths: Vec<PathBuf> = (0..count).map(|n| root.join(format!(".env.{n}"))).collect();
        paths.iter().for_each(|path| std::fs::write(path, "x").unwrap());
        paths
    }

    fn lines(list: &Path) -> usize {
        std::fs::read_to_string(list).unwrap_or_default().lines().count()
    }

    #[test]
    fn the_list_has_a_line_a_name_and_one_command_adds_so_many() {
        let Some((_dir, root)) = folder() else { return eprintln!("not tested: no time of birth") };
        let list = root.join("list");
        let mut hidden = Hidden { list: List::of(list.clone()), ..Hidden::default() };
        let tree = root.join("p");
        std::fs::create_dir_all(tree.join("sub")).unwrap();
        let paths = files(&tree.join("sub"), MOST_IN_FOLDER + 300);
        for _ in 0..3 {
            hidden.take(&tree, names(&paths));
            assert_eq!(lines(&list), MOST_IN_FOLDER + 1, "the folder counts for the others");
        }
        // A file that has new content, and is still hidden.
        std::fs::write(&paths[0], "longer").unwrap();
        hidden.take(&tree, names(&paths));
        hidden.take(&tree, names(&paths));
        assert_eq!(lines(&list), MOST_IN_FOLDER + 2);
        let mut other = Hidden { list: List::of(list), ..Hidden::default() };
        other.read_on();
        assert_eq!(other.files.len(), MOST_IN_FOLDER + 1);
        let known = other.files.values().find(|names| names.first == paths[0]).unwrap();
        assert_eq!(known.facts.map(|facts| facts.0), Some(6));
    }

    #[test]
    fn a_list_of_what_is_mostly_gone_is_written_anew_and_keeps_what_was_moved() {
        let Some((_dir, root)) = folder() else { return eprintln!("not tested: no time of birth") };
        let list = root.join("list");
        let mut hidden = Hidden { list: List::of(list.clone()), ..Hidden::default() };
        let mut all = Vec::new();
        for name in ["a", "b", "c", "d"] {
            std::fs::create_dir_all(root.join("p").join(name)).unwrap();
            all.extend(files(&root.join("p").join(name), 400));
        }
        let tree = root.join("p");
        hidden.take(&tree, names(&all));
        let moved = tree.join("a/notes");
        std::fs::rename(&all[0], &moved).unwrap();
        hidden.take(&tree, names(std::slice::from_ref(&moved)));
        assert_eq!(lines(&list), 1_601);
        hidden.tidy(&tree);
        assert_eq!(lines(&list), 1_601, "nothing is gone");
        let mut other = Hidden { list: List::of(list.clone()), ..Hidden::default() };
        other.read_on();
        all[400..].iter().for_each(|path| std::fs::remove_file(path).unwrap());
        // Of another folder nothing is known.
        hidden.tidy(&root.join("q"));
        assert_eq!(lines(&list), 1_601);
        hidden.tidy(&tree);
        assert_eq!(lines(&list), 401);
        assert_eq!(hidden.files.len(), 400);
        // A process that read the longer one goes on with the new one.
        let late = files(&tree, 1);
        hidden.take(&tree, names(&late));
        other.read_on();
        assert!(other.files.values().any(|names| names.first == late[0]));
        let mut new = Hidden { list: List::of(list), ..Hidden::default() };
        new.read_on();
        let kept = new.files.values().find(|names| names.now == moved).unwrap();
        assert_eq!(kept.first, all[0]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_lies_deeper_than_a_path_can_say_is_lost_until_it_is_near_again() {
        use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat, renameat};
        let Some((_dir, root)) = folder() else { return eprintln!("not tested: no time of birth") };
        std::fs::create_dir(root.join("sub")).unwrap();
        std::fs::write(root.join("sub/.env"), "x").unwrap();
        let held = HeldPlaces::of(&[root.join("sub/.env"), root.join("missing")]);
        assert_eq!(held.len(), 1);
        let how = OFlags::RDONLY | OFlags::DIRECTORY;
        let top = openat(CWD, &root, how, Mode::empty()).unwrap();
        let (name, mut deep) = ("D".repeat(240), openat(CWD, &root, how, Mode::empty()).unwrap());
        for _ in 0..18 {
            mkdirat(&deep, &*name, Mode::RWXU).unwrap();
            deep = openat(&deep, &*name, how, Mode::empty()).unwrap();
        }
        assert!(!is_lost_below(&root));
        renameat(&top, "sub", &deep, "sub").unwrap();
        held.note_moves();
        assert!(is_lost_below(&root) && !is_lost_below(&root.join("other")));
        renameat(&deep, "sub", &top, "near").unwrap();
        assert!(!is_lost_below(&root));
        assert!(is_moved(&root.join("near/.env")));
        renameat(&top, "near", &deep, "sub").unwrap();
        held.note_moves();
        assert!(is_lost_below(&root));
        rustix::fs::unlinkat(&deep, "sub/.env", rustix::fs::AtFlags::empty()).unwrap();
        assert!(!is_lost_below(&root), "it is gone");
    }
}
