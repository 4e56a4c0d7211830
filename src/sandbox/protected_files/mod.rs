//! Looks after a command whether it made or changed what configures or runs code, which it may do by asking alone.
//!
//! Before a command where such a file may not even have existed, nothing can be made read-only; and without namespaces
//! nothing can be taken out of a folder that may be written. So the known paths are looked at before and after: their
//! content, their rights, and the time of change that nobody can set back. Whoever ran the command puts back what is told
//! as its doing; what git makes for itself, and what others did meanwhile, is told apart here.

mod look;

use super::places::{self, Site};
use super::profile::{Bounds, Namespaces};
use super::repository::{self, Repository};
use super::unseen::{self, Unseen, is_in_the_way, is_too_long};
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
}

/// Change of a protected file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GuardedChange {
    /// The file.
    pub path: PathBuf,
    /// Kind of change.
    pub what: What,
    /// Author of the change.
    pub by: ChangedBy,
}

/// Author of a change of a protected file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangedBy {
    /// The command, without having asked.
    Command,
    /// Git, which was asked to move between states of the repository, or to change its settings.
    Git,
    /// Git, with a repository or a working tree that the command brought: the files are those of its commits.
    NewRepository,
    /// The command, or somebody else: it could not be changed from there, or not all was known before.
    Unknown,
}

/// Kind of change of a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// New file.
    Made,
    /// Changed file; with what it was before, where that was kept.
    Changed(Option<Earlier>),
    /// Removed file; with what it was.
    Gone(Option<Earlier>),
    /// It cannot be looked at, nor what is in it.
    Unseen(Unseen),
}

/// A file as it was.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Earlier {
    /// Content; of a link, its target.
    pub content: Vec<u8>,
    /// Kind and rights, as the system gives them.
    pub mode: u32,
}

impl Earlier {
    /// True for a symbolic link.
    #[must_use]
    pub fn is_link(&self) -> bool {
        is_link(self.mode)
    }
}

fn is_link(mode: u32) -> bool {
    mode & 0o170_000 == 0o120_000
}

impl FileState {
    fn earlier(&self) -> Option<Earlier> {
        let content = self.content.as_ref().filter(|_| !self.doubtful)?;
        Some(Earlier { content: content.to_vec(), mode: self.mode })
    }
}

impl GuardedChange {
    /// Place in the order in which changes are taken back: first what could hide others, then what git runs.
    #[must_use]
    pub fn rank(&self) -> u8 {
        match self.what {
            What::Unseen(_) => 0,
            _ if is_of_git(&self.path) => 1,
            _ => 2,
        }
    }
}

fn is_of_git(path: &Path) -> bool {
    path.iter().any(|part| part == ".git" || part == "hooks")
        || ["config", "config.worktree", "commondir", "gitdir", "attributes"].iter().any(|name| path.ends_with(name))
}

impl Guard {
    /// Looks at what is there before a command runs at `site`, held to `bounds`. Blocks.
    #[must_use]
    pub fn before(site: &Site<'_>, bounds: Option<&Bounds>) -> Self {
        let began = SystemTime::now();
        let ((repository, guarded, looked), unseen) = unseen::again(|| {
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
        Self {
            scope: std::iter::once(site.cwd.to_owned()).chain(own).collect(),
            before,
            whole: whole && guarded.whole && unseen.is_empty(),
            known: repository.iter().map(|one| one.common.clone()).chain(guarded.repositories).collect(),
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
        self.whole &= running.whole;
        self.began = self.began.min(running.began);
        if self.repository.as_ref().is_some_and(|one| running.covers(&one.common)) {
            self.repository.clone_from(&running.repository);
        }
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
        out.extend(unseen);
        out.sort_by(|a, b| a.path.cmp(&b.path));
        self.tell_by_git(site, &mut out);
        out
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
        let mut unseen = look::walk(&names, |path, meta| {
            let what = self.change(path, meta, &mut room);
            if let Some(what) = what
                && !skip.contains(path)
                && told.insert(path.to_owned())
                && let Some(by) = self.by(site, path, &what)
            {
                out.push(GuardedChange { path: path.to_owned(), what, by });
            }
            out.len() < MOST_CHANGES
        });
        unseen.extend(guarded.unlisted);
        let is_gone = |path: &Path| path.symlink_metadata().is_err_and(|error| !is_in_the_way(&error));
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
        let is_plain = || repository::is_plain(path, &self.known, &self.scope);
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
        let in_order = is_same || before.seen == now && before.content.is_none() || before.doubtful && is_plain();
        (!in_order).then(|| What::Changed(before.earlier()))
    }

    /// Author of the change, as far as it is known without git's list of files; `None` for what is in order.
    fn by(&self, site: &Site<'_>, path: &Path, what: &What) -> Option<ChangedBy> {
        if repository::is_unfinished(path) {
            return match what {
                What::Gone(_) => None,
                What::Changed(Some(before)) if repository::runs_no_more(&before.content, path) => None,
                What::Changed(_) if repository::is_plain(path, &self.known, &self.scope) => None,
                _ => Some(ChangedBy::Command),
            };
        }
        if path.ancestors().any(|above| self.held.contains(above)) {
            // The cover of a file comes off for an instant when somebody else replaces it. What makes git run programs is
            // put back all the same: whoever wrote it can do so again when no command runs.
            let runs = matches!(what, What::Changed(Some(before))
                if repository::is_config(path) && !repository::only_harmless(&before.content, path));
            return Some(if runs || self.has_another_name(path) { ChangedBy::Command } else { ChangedBy::Unknown });
        }
        let own = self.repository.as_ref().filter(|one| path.starts_with(&one.common) || path.starts_with(&one.own));
        match what {
            // Git removes the folder of a working tree that it is told to forget, and that of a submodule.
            What::Gone(_) if own.is_some_and(|own| own.lost_whole(path)) => None,
            What::Changed(Some(before)) if site.moves.notes && repository::is_config(path) => {
                (!repository::only_harmless(&before.content, path)).then_some(ChangedBy::Command)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::Allowances;
    use crate::sandbox::places::Moves;

    fn site<'a>(cwd: &'a Path, session_dir: &'a Path, allowances: &'a Allowances) -> Site<'a> {
        Site {
            cwd,
            session_dir,
            own_dirs: &[],
            allowances,
            named: &[],
            approved: &[],
            moves: Moves::default(),
            home: None,
            namespaces: Namespaces::Without,
        }
    }

    #[test]
    fn a_change_of_the_same_length_with_its_time_set_back_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (cwd, session_dir) = (root.join("p"), root.join("session"));
        std::fs::create_dir_all(cwd.join("sub")).unwrap();
        let file = cwd.join("sub/.envrc");
        std::fs::write(&file, "use flake").unwrap();
        let allowances = Allowances::default();
        let site = site(&cwd, &session_dir, &allowances);
        let guard = Guard::before(&site, None);
        let times = std::fs::metadata(&file).unwrap().modified().unwrap();
        let change = |text: &str| {
            let open = std::fs::OpenOptions::new().write(true).open(&file).unwrap();
            std::io::Write::write_all(&mut &open, text.as_bytes()).unwrap();
            open.set_modified(times).unwrap();
        };
        change("use evil!");
        let found = guard.after(&site, &HashSet::new());
        let [GuardedChange { path, what: What::Changed(Some(earlier)), by: ChangedBy::Command }] = &found[..] else {
            panic!("{found:?}")
        };
        assert_eq!((path, &earlier.content[..], earlier.is_link()), (&file, &b"use flake"[..], false));
        change("use flake");
        assert_eq!(guard.after(&site, &HashSet::new()), []);
        // What was away with its folder is gone, and what came with another one is new.
        std::fs::rename(cwd.join("sub"), cwd.join("other")).unwrap();
        let found: Vec<PathBuf> = guard.after(&site, &HashSet::new()).into_iter().map(|change| change.path).collect();
        assert_eq!(found, [cwd.join("other/.envrc"), file.clone()]);
    }

    #[test]
    fn many_files_hide_no_other_one() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (cwd, session_dir) = (root.join("p"), root.join("session"));
        let write = |name: &str, text: &str| {
            std::fs::create_dir_all(cwd.join(name).parent().unwrap()).unwrap();
            std::fs::write(cwd.join(name), text).unwrap();
        };
        (0..2_500).for_each(|n| write(&format!(".vscode/old/{n}"), "x"));
        let allowances = Allowances::default();
        let site = site(&cwd, &session_dir, &allowances);
        let guard = Guard::before(&site, None);
        assert!(guard.is_whole());
        for name in ["HEAD", "objects/x", "refs/x"] {
            write(&format!("v/.git/{name}"), "x");
        }
        (0..MOST_CHANGES + 10).for_each(|n| write(&format!("v/.git/hooks/{n}.sample"), ""));
        write("z/.envrc", "x");
        write(".idea/a/b/c/d/e/f/g/h.xml", "x");
        let found = guard.after(&site, &HashSet::new());
        let made: Vec<(&Path, ChangedBy)> =
            found.iter().map(|change| (change.path.strip_prefix(&cwd).unwrap(), change.by)).collect();
        let expected = [".idea/a/b/c/d/e/f/g/h.xml", "z/.envrc"].map(|path| (Path::new(path), ChangedBy::Command));
        assert_eq!(made, expected);
    }

    #[test]
    fn steps_of_a_rebase_that_run_programs_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (cwd, session_dir) = (root.join("p"), root.join("session"));
        for folder in [".git/objects", ".git/refs", ".git/rebase-merge"] {
            std::fs::create_dir_all(cwd.join(folder)).unwrap();
        }
        std::fs::write(cwd.join(".git/HEAD"), "x").unwrap();
        let allowances = Allowances::default();
        let site = site(&cwd, &session_dir, &allowances);
        let todo = cwd.join(".git/rebase-merge/git-rebase-todo");
        let guard = Guard::before(&site, None);
        std::fs::write(&todo, "pick 0123 one\n").unwrap();
        assert_eq!(guard.after(&site, &HashSet::new()), []);
        std::fs::write(&todo, "pick 0123 one\nexec make\n").unwrap();
        assert!(matches!(
            &guard.after(&site, &HashSet::new())[..],
            [GuardedChange { what: What::Made, by: ChangedBy::Command, .. }]
        ));
        // The user's own steps go on.
        let guard = Guard::before(&site, None);
        std::fs::write(&todo, "exec make\n").unwrap();
        assert_eq!(guard.after(&site, &HashSet::new()), []);
        std::fs::write(&todo, "x make install\n").unwrap();
        assert!(matches!(
            &guard.after(&site, &HashSet::new())[..],
            [GuardedChange { what: What::Changed(_), by: ChangedBy::Command, .. }]
        ));
        std::fs::remove_file(&todo).unwrap();
        assert_eq!(guard.after(&site, &HashSet::new()), []);
    }

    #[test]
    fn what_is_made_changed_and_removed_is_found_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let cwd = root.join("p");
        for folder in [".git/objects", ".git/refs", ".git/hooks", ".vscode", "src"] {
            std::fs::create_dir_all(cwd.join(folder)).unwrap();
        }
        let write = |name: &str, text: &str| std::fs::write(cwd.join(name), text).unwrap();
        write(".git/HEAD", "x");
        write(".git/config", "[core]\n");
        write(".envrc", "a");
        write(".vscode/tasks.json", "{}");
        let session_dir = root.join("session");
        let allowances = Allowances::default();
        let site = site(&cwd, &session_dir, &allowances);
        let guard = Guard::before(&site, None);
        assert_eq!(guard.after(&site, &HashSet::new()), []);
        write("src/main.rs", "fn main() {}");
        write(".git/index", "x");
        write(".git/hooks/pre-commit.sample", "x");
        // Written anew with the same text.
        write(".git/config", "[core]\n");
        assert_eq!(guard.after(&site, &HashSet::new()), []);
        write(".git/hooks/pre-commit", "#!/bin/sh\n");
        write(".git/config", "[core]\nfsmonitor = x\n");
        std::fs::remove_file(cwd.join(".envrc")).unwrap();
        std::fs::create_dir_all(cwd.join(".github/workflows")).unwrap();
        write(".github/workflows/ci.yml", "x");
        let expected = [
            "gone .envrc a",
            "changed .git/config [core]\n",
            "made .git/hooks/pre-commit",
            "made .github/workflows/ci.yml",
        ];
        assert_eq!(found(&guard, &site), expected);
    }

    fn found(guard: &Guard, site: &Site<'_>) -> Vec<String> {
        let said = |change: GuardedChange| {
            let path = change.path.strip_prefix(site.cwd).unwrap().display().to_string();
            let text = |earlier: Option<Earlier>| String::from_utf8(earlier.unwrap().content).unwrap();
            let by = if change.by == ChangedBy::Command { String::new() } else { format!(" {:?}", change.by) };
            match change.what {
                What::Made => format!("made {path}{by}"),
                What::Changed(earlier) => format!("changed {path} {}{by}", text(earlier)),
                What::Gone(earlier) => format!("gone {path} {}{by}", text(earlier)),
                What::Unseen(why) => format!("unseen {path} {why:?}"),
            }
        };
        guard.after(site, &HashSet::new()).into_iter().map(said).collect()
    }

    /// A repository's folder as `git init` makes it.
    fn repository(git: &Path) {
        for folder in ["objects", "refs", "hooks"] {
            std::fs::create_dir_all(git.join(folder)).unwrap();
        }
        std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        std::fs::write(git.join("config"), "[core]\n\tbare = false\n").unwrap();
        std::fs::write(git.join("hooks/pre-push.sample"), "x").unwrap();
    }

    struct Folder {
        _dir: tempfile::TempDir,
        cwd: PathBuf,
        session: PathBuf,
        allowances: Allowances,
        moves: Moves,
    }

    impl Folder {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let root = dir.path().canonicalize().unwrap();
            let (cwd, session) = (root.join("p"), root.join("session"));
            std::fs::create_dir_all(&cwd).unwrap();
            repository(&cwd.join(".git"));
            Self { _dir: dir, cwd, session, allowances: Allowances::default(), moves: Moves::default() }
        }

        /// Changes that are found after this was done.
        fn after(&self, act: impl FnOnce(&dyn Fn(&str, &str))) -> Vec<String> {
            let site = Site { moves: self.moves, ..site(&self.cwd, &self.session, &self.allowances) };
            let guard = Guard::before(&site, None);
            act(&|name, text| {
                let path = self.cwd.join(name);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            });
            found(&guard, &site)
        }
    }

    #[test]
    fn all_that_a_repository_reads_is_looked_at_whether_it_was_there_or_not() {
        let folder = Folder::new();
        let own = folder.cwd.join(".git/worktrees/w");
        std::fs::create_dir_all(&own).unwrap();
        std::fs::create_dir_all(folder.cwd.join("w")).unwrap();
        std::fs::write(own.join("commondir"), "../..\n").unwrap();
        std::fs::write(own.join("gitdir"), folder.cwd.join("w/.git").display().to_string()).unwrap();
        std::fs::write(folder.cwd.join("w/.git"), format!("gitdir: {}\n", own.display())).unwrap();
        let found = folder.after(|write| {
            repository(&folder.cwd.join(".git/modules/m"));
            write(".git/modules/m/config", "[core]\n\tfsmonitor = x\n");
            write(".git/modules/m/hooks/pre-commit", "x");
            write(".git/commondir", "/elsewhere\n");
            write(".git/config.worktree", "[core]\n\tpager = x\n");
            write(".git/info/attributes", "* filter=x\n");
            write(".git/worktrees/w/commondir", "/elsewhere\n");
        });
        let expected = [
            "made .git/commondir",
            "made .git/config.worktree",
            "made .git/info/attributes",
            "made .git/modules/m/config",
            "made .git/modules/m/hooks/pre-commit",
            "changed .git/worktrees/w/commondir ../..\n",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_settings_name_is_looked_at() {
        let folder = Folder::new();
        let config = "[core]\n\thooksPath = hooks\n[filter \"f\"]\n\tclean = python3 tools/clean.py\n[include]\n\tpath = ../more\n";
        std::fs::write(folder.cwd.join(".git/config"), config).unwrap();
        std::fs::create_dir_all(folder.cwd.join("tools")).unwrap();
        std::fs::write(folder.cwd.join("tools/clean.py"), "x").unwrap();
        let long = "n".repeat(300);
        std::fs::write(folder.cwd.join(".git/config.worktree"), format!("[core]\n\thooksPath = {long}\n")).unwrap();
        let found = folder.after(|write| {
            write("tools/clean.py", "evil");
            write("tools/other.py", "x");
            write("hooks/pre-commit", "x");
            write("more", "[core]\n\tpager = x\n");
        });
        assert_eq!(found, ["made hooks/pre-commit", "made more", "changed tools/clean.py x"]);
    }

    #[test]
    fn bytes_count_and_not_stamps_where_a_command_may_have_written() {
        let folder = Folder::new();
        let file = folder.cwd.join(".envrc");
        std::fs::write(&file, "mine").unwrap();
        let site = site(&folder.cwd, &folder.session, &folder.allowances);
        // Another content was read under the stamp that the file has at the end.
        let guard = Guard::before(&site, None);
        std::fs::write(&file, "evil").unwrap();
        let meta = file.symlink_metadata().unwrap();
        look::remember(&meta, b"mine");
        let found: Vec<What> = guard.after(&site, &HashSet::new()).into_iter().map(|change| change.what).collect();
        assert!(matches!(&found[..], [What::Changed(Some(earlier))] if earlier.content == b"mine"), "{found:?}");
    }

    #[test]
    fn nothing_is_put_back_that_a_command_of_another_process_may_have_made() {
        let folder = Folder::new();
        let at = |name: &str| folder.cwd.join(name);
        let site = site(&folder.cwd, &folder.session, &folder.allowances);
        std::fs::write(at(".envrc"), "mine").unwrap();
        let since = loop {
            // The clock of files is behind.
            let since = SystemTime::now();
            let changed = look::changed(&look::seen(&at(".envrc").symlink_metadata().unwrap()));
            if since.duration_since(UNIX_EPOCH).unwrap() > changed + LAG * 2 {
                break since;
            }
            std::thread::yield_now();
        };
        for name in [".git/commondir", ".git/info/attributes"] {
            std::fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            std::fs::write(at(name), "evil").unwrap();
        }
        let mut guard = Guard::before(&site, None);
        guard.doubt(since);
        // The other process takes back what its command did, and this one's changes what is the user's.
        std::fs::remove_file(at(".git/commondir")).unwrap();
        std::fs::write(at(".git/info/attributes"), "other").unwrap();
        std::fs::write(at(".envrc"), "evil").unwrap();
        let found = guard.after(&site, &HashSet::new());
        let said: Vec<(PathBuf, bool, ChangedBy)> = found
            .iter()
            .map(|one| (one.path.clone(), matches!(one.what, What::Changed(Some(_)) | What::Gone(Some(_))), one.by))
            .collect();
        let expected = [
            (at(".envrc"), true, ChangedBy::Command),
            (at(".git/commondir"), false, ChangedBy::Unknown),
            (at(".git/info/attributes"), false, ChangedBy::Command),
        ];
        assert_eq!(said, expected);
    }

    #[test]
    fn what_is_written_through_another_name_is_the_commands_doing() {
        let folder = Folder::new();
        let at = |name: &str| folder.cwd.join(name);
        std::fs::create_dir_all(at(".git/hooks")).unwrap();
        for name in ["linked", "alone"] {
            std::fs::write(at(&format!(".git/hooks/{name}")), "mine").unwrap();
        }
        std::fs::hard_link(at(".git/hooks/linked"), at("script")).unwrap();
        let site = site(&folder.cwd, &folder.session, &folder.allowances);
        let bounds = Bounds { protected: vec![at(".git/hooks")], namespaces: Namespaces::With, ..Bounds::default() };
        let guard = Guard::before(&site, Some(&bounds));
        std::fs::write(at("script"), "evil").unwrap();
        std::fs::remove_file(at("script")).unwrap();
        // Saved by somebody outside, whom no cover stops.
        std::fs::remove_file(at(".git/hooks/alone")).unwrap();
        std::fs::write(at(".git/hooks/alone"), "new").unwrap();
        let found: Vec<_> = guard.after(&site, &HashSet::new()).into_iter().map(|one| (one.path, one.by)).collect();
        let expected = [(at(".git/hooks/alone"), ChangedBy::Unknown), (at(".git/hooks/linked"), ChangedBy::Command)];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_link_that_is_protected_is_looked_at_with_what_it_leads_to() {
        let folder = Folder::new();
        std::fs::write(folder.cwd.join("env"), "a").unwrap();
        std::os::unix::fs::symlink("env", folder.cwd.join(".envrc")).unwrap();
        assert_eq!(folder.after(|write| write("env", "evil")), ["changed env a"]);
        let found = folder.after(|_| {
            std::fs::remove_file(folder.cwd.join(".envrc")).unwrap();
            std::os::unix::fs::symlink("other", folder.cwd.join(".envrc")).unwrap();
        });
        assert_eq!(found, ["changed .envrc env"]);
    }

    #[test]
    fn a_new_repository_is_no_alarm_and_one_that_runs_something_is() {
        let folder = Folder::new();
        let found = folder.after(|write| {
            repository(&folder.cwd.join("new/.git"));
            write("new/.git/config", "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://example.org/x\n");
            write("new/.envrc", "use flake");
            write("new/sub/.envrc", "not in a commit");
            std::fs::write(folder.cwd.join("new/.git/index"), crate::sandbox::places::tests_index(&[".envrc"]))
                .unwrap();
        });
        assert_eq!(found, ["made new/.envrc NewRepository", "made new/sub/.envrc"]);
        let found = folder.after(|write| {
            repository(&folder.cwd.join("other/.git"));
            write("other/.git/config", "[core]\n\tfsmonitor = x\n");
            write("other/.git/hooks/post-checkout", "x");
            // A folder that a pointer leads to, and that has another name.
            repository(&folder.cwd.join("lure"));
            write("lure/config", "[core]\n\tpager = x\n\tworktree = ../tree\n");
            write("tree/.git", "gitdir: ../lure\n");
        });
        let expected =
            ["made lure/config", "made other/.git/config", "made other/.git/hooks/post-checkout", "made tree/.git"];
        assert_eq!(found, expected);
        // One that is made of the working directory itself makes nothing its own.
        let bare = Folder::new();
        std::fs::remove_dir_all(bare.cwd.join(".git")).unwrap();
        let found = bare.after(|write| {
            repository(&bare.cwd.join(".git"));
            write(".envrc", "evil");
            std::fs::write(bare.cwd.join(".git/index"), crate::sandbox::places::tests_index(&[".envrc"])).unwrap();
        });
        assert_eq!(found, ["made .envrc"]);
    }

    #[test]
    fn git_may_note_what_runs_nothing_where_it_was_asked_to() {
        let mut folder = Folder::new();
        folder.moves = Moves { notes: true, ..Moves::default() };
        let track = "[core]\n\tbare = false\n[branch \"x\"]\n\tremote = .\n\tmerge = refs/heads/x\n";
        assert_eq!(folder.after(|write| write(".git/config", track)), Vec::<String>::new());
        let found = folder.after(|write| write(".git/config", "[core]\n\tpager = x\n"));
        assert_eq!(found, [format!("changed .git/config {track}")]);
        folder.moves = Moves { settings: true, ..Moves::default() };
        let found = folder.after(|write| write(".git/config", track));
        assert_eq!(found, ["changed .git/config [core]\n\tpager = x\n Git"]);
    }
}
