//! Looks after a command whether it made or changed what configures or runs code, which it may do by asking alone.
//!
//! Before a command where such a file may not even have existed, nothing can be made read-only; and without namespaces
//! nothing can be taken out of a folder that may be written. So the known paths are looked at before and after: their
//! content, their rights, and the time of change that nobody can set back. Whoever ran the command puts back what is told
//! as its doing; what git makes for itself, and what others did meanwhile, is told apart here.

mod change;
mod look;
#[cfg(test)]
mod tests;

pub use change::{ChangedBy, Earlier, FolderRights, GuardedChange, What};

use super::places::{self, Site};
use super::profile::{Bounds, Namespaces};
use super::repository::{self, CommandEffects, Repository};
use super::unseen::{self, is_in_the_way, is_too_long};
use change::is_of_git;
use look::{ALL, FileState, LAG, Looked, Reading};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Files of which the state before a command is kept. Where there are more it does not run: a command that made many would
/// make one of them pass for old.
const MOST: usize = 100_000;

/// Changes that are told at a time. After a command everything is looked at: what it made many of must not hide one.
pub const MOST_CHANGES: usize = 20_000;

/// New files of one folder from which on it is told, and taken back, as one.
const MANY: usize = 20;

/// State of protected files before a command.
#[derive(Clone, Debug)]
pub struct Guard {
    before: BTreeMap<PathBuf, FileState>,
    /// All of it was looked at.
    whole: bool,
    repository: Option<Repository>,
    /// Folders of repositories that were there.
    known: Vec<PathBuf>,
    /// Paths that the command could not change.
    held: HashSet<PathBuf>,
    began: SystemTime,
    /// Folders all of whose protected files were looked at: the working directory, and its repository.
    scope: Vec<PathBuf>,
    /// Links among the folders above protected files, as the user laid them.
    links: HashSet<PathBuf>,
    /// Paths to which protected links led, whether or not something was there.
    led: HashSet<PathBuf>,
    /// Places that the command could read.
    readable: Vec<PathBuf>,
    /// Rights of protected folders: whoever may write one replaces what lies in it.
    rights: BTreeMap<PathBuf, FolderRights>,
}

impl Guard {
    /// Looks at what is there before a command runs at `site`, held to `bounds`. Blocks.
    #[must_use]
    pub fn before(site: &Site<'_>, bounds: Option<&Bounds>) -> Self {
        let began = SystemTime::now();
        let ((repository, mut guarded, looked), unseen) = unseen::again(|| {
            let repository = Repository::of(site.cwd);
            let mut guarded = places::guarded(site, repository.as_ref());
            let mut looked = look::states(&guarded.paths, MOST);
            let unseen = [std::mem::take(&mut guarded.unlisted), std::mem::take(&mut looked.unseen)].concat();
            ((repository, guarded, looked), unseen)
        });
        let Looked { files: before, whole, .. } = looked;
        let mounted = bounds.filter(|bounds| bounds.namespaces == Namespaces::With);
        let held = mounted.into_iter().flat_map(|bounds| &bounds.protected);
        let own = repository.iter().flat_map(|one| [one.common.clone(), one.own.clone()]);
        let known: Vec<PathBuf> = repository.iter().map(|one| one.common.clone()).chain(guarded.repositories).collect();
        Self {
            rights: look::rights(guarded.paths.iter().chain(&known), before.keys()),
            scope: std::iter::once(site.cwd.to_owned()).chain(own).collect(),
            readable: bounds.map(|bounds| [&bounds.readable[..], &bounds.writable].concat()).unwrap_or_default(),
            links: BentFolders::default().links_above(before.keys().chain(&guarded.paths)),
            before,
            led: std::mem::take(&mut guarded.linked),
            whole: whole && guarded.whole && unseen.is_empty(),
            known,
            repository,
            held: held.filter(|path| path.symlink_metadata().is_ok()).cloned().collect(),
            began,
        }
    }

    /// True if all protected files were looked at. Otherwise nobody could tell what a command made of them.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    /// Takes the state before a command that still runs for what is there, as far as that one may have changed it.
    pub fn take_over(&mut self, running: &Self) {
        if !running.meets(self) {
            return;
        }
        self.before.retain(|path, _| !running.covers(path));
        self.before.extend(running.before.clone());
        self.held.retain(|path| !running.covers(path) || running.before.keys().any(|known| known.starts_with(path)));
        self.known.retain(|path| !running.covers(path));
        self.known.extend(running.known.iter().cloned());
        self.links.retain(|path| !running.covers(path));
        self.links.extend(running.links.iter().cloned());
        self.led.extend(running.led.iter().cloned());
        self.rights.retain(|path, _| !running.covers(path));
        self.rights.extend(running.rights.clone());
        self.whole &= running.whole;
        self.began = self.began.min(running.began);
        if self.repository.as_ref().is_some_and(|one| running.covers(&one.common)) {
            self.repository.clone_from(&running.repository);
        }
    }

    fn reach(&self) -> CommandEffects<'_> {
        CommandEffects { known: &self.known, within: &self.scope, readable: &self.readable }
    }

    fn covers(&self, path: &Path) -> bool {
        self.scope.iter().any(|folder| path.starts_with(folder))
    }

    /// A path is looked at by both.
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        other.scope.iter().any(|folder| self.covers(folder)) || self.scope.iter().any(|folder| other.covers(folder))
    }

    /// Takes a file as it is now for what was there before: another command was allowed to change it. Blocks.
    pub fn accept(&mut self, path: &Path) {
        if self.covers(path) {
            self.before.remove(path);
            self.before.extend(look::states(&[path.to_owned()], MOST).files);
        }
    }

    /// The scope of a command that is to run in this folder.
    #[must_use]
    pub fn scope_of(cwd: &Path) -> Vec<PathBuf> {
        let own = Repository::of(cwd).into_iter().flat_map(|one| [one.common, one.own]);
        std::iter::once(cwd.to_owned()).chain(own).collect()
    }

    /// Folders all of whose protected files were looked at.
    #[must_use]
    pub fn scope(&self) -> &[PathBuf] {
        &self.scope
    }

    /// Protected files that were there.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.before.keys().map(PathBuf::as_path)
    }

    /// Files here that are new since a command in `scope` began, before which `files` were there. What git has is none of
    /// them. Blocks.
    #[must_use]
    pub fn made_by(&self, began: SystemTime, scope: &[PathBuf], files: &HashSet<PathBuf>) -> Vec<GuardedChange> {
        let began = began.duration_since(UNIX_EPOCH).unwrap_or_default();
        let is_new = |path: &Path, state: &FileState| {
            scope.iter().any(|folder| path.starts_with(folder))
                && !files.contains(path)
                && look::changed(&state.seen) + LAG >= began
                && !repository::is_plain(path, self.reach())
        };
        let new = self.before.iter().filter(|(path, state)| is_new(path, state)).map(|(path, _)| path.clone());
        let new: Vec<PathBuf> = new.take(MOST_CHANGES).collect();
        let is_tracked = |path: &PathBuf| {
            let of = path.parent().and_then(Repository::of);
            of.is_some_and(|of| of.tracked(std::slice::from_ref(path)).contains(path))
        };
        let made = |path| GuardedChange { path, what: What::Made, by: ChangedBy::Command };
        new.into_iter().filter(|path| !is_tracked(path)).map(made).collect()
    }

    /// Takes nothing for a state to go back to that was made since then: commands of another process of lisle ran.
    pub fn doubt(&mut self, since: SystemTime) {
        let since = since.duration_since(UNIX_EPOCH).unwrap_or_default();
        for state in self.before.values_mut() {
            state.doubtful |= look::changed(&state.seen) + LAG >= since;
        }
    }

    /// True if all in a folder came there since, as far as is known: it may be moved as a whole.
    #[must_use]
    pub fn may_move(&self, folder: &Path) -> bool {
        let mut from = self.before.range::<Path, _>((std::ops::Bound::Included(folder), std::ops::Bound::Unbounded));
        let was_there = from.next().is_some_and(|(path, _)| path.starts_with(folder));
        let holds = |one: &PathBuf| one.starts_with(folder);
        is_too_long(folder) || !(was_there || self.scope.iter().any(holds) || self.known.iter().any(holds))
    }

    /// Differences now, by path, but for those of `skip`; of many the first [`MOST_CHANGES`]: when they are put back, the
    /// others come. What cannot be looked at is opened first, where it is the user's own. Blocks.
    #[must_use]
    pub fn after(&self, site: &Site<'_>, skip: &HashSet<PathBuf>) -> Vec<GuardedChange> {
        let (mut out, unseen) = unseen::again(|| self.differences(site, skip));
        let unseen = unseen.into_iter().filter(|(path, _)| !skip.contains(path));
        let unseen: Vec<GuardedChange> =
            unseen.map(|(path, why)| GuardedChange { path, what: What::Unseen(why), by: ChangedBy::Command }).collect();
        // Whatever lies in what cannot be looked at goes with it.
        out.retain(|change| !unseen.iter().any(|place| change.path.starts_with(&place.path)));
        // What lies behind a link that was laid or bent is looked at once the link is settled.
        if out.iter().any(|change| self.is_link(change)) {
            out.retain(|change| self.is_link(change));
        }
        out.extend(unseen);
        out.sort_by(|a, b| a.path.cmp(&b.path));
        self.tell_by_git(site, &mut out);
        out.extend(self.opened(skip));
        out
    }

    /// Protected folders that other users may write since.
    fn opened<'a>(&'a self, skip: &'a HashSet<PathBuf>) -> impl Iterator<Item = GuardedChange> + 'a {
        self.rights.iter().filter(|(path, _)| !skip.contains(*path)).filter_map(|(path, before)| {
            let what = What::Opened(*before);
            let wider = FolderRights::of(path)?.is_wider(before);
            wider.then(|| GuardedChange { path: path.clone(), what, by: ChangedBy::Command })
        })
    }

    /// A link that is new, or one of before that changed: others are looked at again after it.
    #[must_use]
    pub fn is_link(&self, change: &GuardedChange) -> bool {
        let was = self.before.get(&change.path).and_then(FileState::earlier).is_some_and(|earlier| earlier.is_link());
        was || change.what == What::Made && change.path.symlink_metadata().is_ok_and(|meta| meta.is_symlink())
    }

    /// Changes without their order, and paths that could not be looked at.
    fn differences(&self, site: &Site<'_>, skip: &HashSet<PathBuf>) -> (Vec<GuardedChange>, Vec<PathBuf>) {
        // One that the command made counts, and the one of before also where its pointer was bent.
        let now = Repository::of(site.cwd);
        let mut guarded = places::guarded(site, now.as_ref());
        let mut names = std::mem::take(&mut guarded.paths);
        if now != self.repository {
            let before = places::guarded(site, self.repository.as_ref());
            names.extend(before.paths);
            guarded.unlisted.extend(before.unlisted);
        }
        // What was moved away with its folder is not among them any more.
        names.extend(self.before.keys().cloned());
        let mut seen = HashSet::new();
        names.retain(|path| seen.insert(path.clone()));
        names.sort_by_key(|path| !is_of_git(path));
        let (mut out, mut told, mut room) = (Vec::new(), HashSet::new(), ALL);
        // A link that was bent is told; what it leads to by now is nobody's doing, unless it is new as well.
        let began = self.began.duration_since(UNIX_EPOCH).unwrap_or_default();
        let is_old = |meta: &Metadata| look::changed(&look::seen(meta)) + LAG < began;
        // Where a link of before led to nothing, whatever comes to lie there is new.
        let is_led = |path: &Path| {
            path.ancestors().any(|above| guarded.linked.contains(above))
                && !path.ancestors().any(|above| self.led.contains(above))
        };
        // What stood below a folder that is a link by now is gone, whatever the link leads to.
        let mut bent = BentFolders::default();
        let mut is_bent = |path: &Path| bent.links_above([path]).iter().any(|link| !self.links.contains(link));
        let behind: HashSet<&Path> = self.before.keys().map(PathBuf::as_path).filter(|path| is_bent(path)).collect();
        let mut unseen = look::walk(&names, |path, meta| {
            if behind.contains(path) {
                return true;
            }
            let what = self.change(path, meta, &mut room);
            let what = what.filter(|what| *what != What::Made || !is_old(meta) || !is_led(path));
            if let Some(what) = what
                && !skip.contains(path)
                && told.insert(path.to_owned())
                && let Some(by) = self.by(site, path, &what)
            {
                out.push(GuardedChange { path: path.to_owned(), what, by });
            }
            out.len() < MOST_CHANGES
        });
        // By the path of a link that was there before the same file is told twice: the link is the user's, and stays.
        out.retain(|change| {
            let above = change.path.parent().and_then(|above| above.canonicalize().ok());
            let real = above.zip(change.path.file_name()).map(|(above, name)| above.join(name));
            let is_alias = real.is_some_and(|real| real != change.path && told.contains(&real));
            change.what != What::Made || !is_alias || is_bent(&change.path)
        });
        unseen.extend(guarded.unlisted);
        let is_gone = |path: &Path| path.symlink_metadata().is_err_and(|error| !is_in_the_way(&error));
        let is_gone = |path: &Path| behind.contains(path) || is_gone(path);
        for (path, state) in self.before.iter().filter(|(path, _)| is_gone(path) && !skip.contains(*path)) {
            let what = What::Gone(state.earlier());
            let by = if state.doubtful { Some(ChangedBy::Unknown) } else { self.by(site, path, &what) };
            if let Some(by) = by {
                out.push(GuardedChange { path: path.clone(), what, by });
            }
        }
        (self.folded(out, &names), unseen)
    }

    /// The same with one change for a protected folder of which all is new, where that is much.
    fn folded(&self, changes: Vec<GuardedChange>, names: &[PathBuf]) -> Vec<GuardedChange> {
        if changes.len() <= MANY {
            return changes;
        }
        let folders: HashSet<&Path> = names.iter().map(PathBuf::as_path).collect();
        let of = |change: &GuardedChange| {
            let new = change.what == What::Made && change.by == ChangedBy::Command;
            new.then(|| change.path.ancestors().skip(1).find(|above| folders.contains(above)).map(Path::to_owned))?
        };
        let mut counts: HashMap<PathBuf, usize> = HashMap::new();
        for folder in changes.iter().filter_map(of) {
            *counts.entry(folder).or_default() += 1;
        }
        counts.retain(|folder, count| *count > MANY && self.may_move(folder));
        let (many, mut out): (Vec<GuardedChange>, Vec<GuardedChange>) =
            changes.into_iter().partition(|change| of(change).is_some_and(|folder| counts.contains_key(&folder)));
        drop(many);
        out.extend(counts.into_keys().map(|path| GuardedChange { path, what: What::Made, by: ChangedBy::Command }));
        out
    }

    /// Change of a file that is there.
    fn change(&self, path: &Path, meta: &Metadata, room: &mut u64) -> Option<What> {
        let is_plain = || repository::is_plain(path, self.reach());
        let Some(before) = self.before.get(path) else { return (!is_plain()).then_some(What::Made) };
        let now = look::seen(meta);
        // What was written in the last moment before may be written again within the same tick of the clock.
        let began = self.began.duration_since(UNIX_EPOCH).unwrap_or_default();
        if before.seen == now && look::changed(&now) + LAG < began {
            return None;
        }
        // Stamps tell nothing of a file that is mapped into the memory of a command.
        let is_same = before.mode == meta.mode()
            && before.content.is_some()
            && before.content == look::content(path, meta, room, Reading::Fresh);
        if is_same && meta.is_file() && meta.nlink() > before.names {
            return Some(What::Linked(before.earlier()));
        }
        let in_order = is_same || before.seen == now && before.content.is_none() || before.doubtful && is_plain();
        (!in_order).then(|| What::Changed(before.earlier()))
    }

    /// Author of the change, as far as it is known without git's list of files; `None` for what is in order.
    fn by(&self, site: &Site<'_>, path: &Path, what: &What) -> Option<ChangedBy> {
        if repository::is_unfinished(path) {
            return match what {
                What::Gone(_) => None,
                What::Changed(Some(before)) if repository::runs_no_more(&before.content, path) => None,
                What::Changed(_) if repository::is_plain(path, self.reach()) => None,
                _ => Some(ChangedBy::Command),
            };
        }
        if path.ancestors().any(|above| self.held.contains(above)) {
            // The cover of a file comes off for an instant when somebody else replaces it. What makes git run programs is
            // put back all the same: whoever wrote it can do so again when no command runs.
            let runs = matches!(what, What::Changed(Some(before))
                if repository::is_config(path) && !repository::only_harmless(&before.content, path, self.reach()));
            return Some(if runs || self.has_another_name(path) { ChangedBy::Command } else { ChangedBy::Unknown });
        }
        let own = self.repository.as_ref().filter(|one| path.starts_with(&one.common) || path.starts_with(&one.own));
        match what {
            // Git removes the folder of a working tree that it is told to forget, and that of a submodule.
            What::Gone(_) if own.is_some_and(|own| own.lost_whole(path)) => None,
            What::Changed(Some(before)) if site.moves.notes && repository::is_config(path) => {
                (!repository::only_harmless(&before.content, path, self.reach())).then_some(ChangedBy::Command)
            }
            _ => Some(ChangedBy::Command),
        }
    }

    /// True for a file that is there as before and had several names: a cover lies over one of them, and whoever writes
    /// through another one writes this one.
    fn has_another_name(&self, path: &Path) -> bool {
        let Some(before) = self.before.get(path).filter(|before| before.names > 1) else { return false };
        path.symlink_metadata().is_ok_and(|now| (now.dev(), now.ino()) == (before.seen.0, before.seen.1))
    }

    /// Marks what git changed because it was asked to: files outside of its own folders that it has, or had; and what came
    /// with a new repository or working tree.
    fn tell_by_git(&self, site: &Site<'_>, changes: &mut [GuardedChange]) {
        let mut tracked: HashMap<PathBuf, (Repository, HashSet<PathBuf>)> = HashMap::new();
        let paths: Vec<PathBuf> = changes.iter().map(|change| change.path.clone()).collect();
        for change in changes.iter_mut().filter(|change| change.by == ChangedBy::Command) {
            let own = self.repository.as_ref();
            let in_own =
                own.is_some_and(|one| change.path.starts_with(&one.common) || change.path.starts_with(&one.own));
            if site.moves.settings && own.is_some_and(|one| one.is_setting(&change.path)) {
                change.by = ChangedBy::Git;
                continue;
            }
            if in_own {
                continue;
            }
            if matches!(change.what, What::Unseen(_)) {
                continue;
            }
            let Some(of) = change.path.parent().and_then(Repository::of) else { continue };
            let is_own = own.is_some_and(|one| one.top == of.top && one.common == of.common);
            let (_, has) = tracked.entry(of.top.clone()).or_insert_with(|| {
                let has = of.tracked(&paths);
                (of.clone(), has)
            });
            let has = has.contains(&change.path);
            if is_own && site.moves.tree && (has || matches!(change.what, What::Gone(_))) {
                change.by = ChangedBy::Git;
            } else if !is_own && has && change.what == What::Made && self.is_new(site, &of.top) {
                change.by = ChangedBy::NewRepository;
            }
        }
    }

    /// A folder in the working directory that was made since the command began. What was moved there was not.
    fn is_new(&self, site: &Site<'_>, folder: &Path) -> bool {
        let made = folder.symlink_metadata().and_then(|meta| meta.created()).ok();
        folder != site.cwd && folder.starts_with(site.cwd) && made.is_some_and(|made| made + LAG >= self.began)
    }
}

/// Folders that are links, each looked at once.
#[derive(Default)]
struct BentFolders(HashMap<PathBuf, bool>);

impl BentFolders {
    /// Links among the folders above these paths. Blocks.
    fn links_above<P: AsRef<Path>>(&mut self, paths: impl IntoIterator<Item = P>) -> HashSet<PathBuf> {
        let mut out = HashSet::new();
        for path in paths {
            for above in path.as_ref().ancestors().skip(1) {
                let is_link = match self.0.get(above) {
                    Some(known) => *known,
                    None => {
                        let is_link = above.symlink_metadata().is_ok_and(|meta| meta.is_symlink());
                        self.0.insert(above.to_owned(), is_link);
                        is_link
                    }
                };
                if is_link {
                    out.insert(above.to_owned());
                }
            }
        }
        out
    }
}
