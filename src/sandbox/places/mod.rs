//! The places of a profile: what a command may read and write, what of that it may not, and what it does not get to see.
//!
//! Looked up on the disk right before a command starts, so it is kept cheap: `readable` is a list in the user's own format
//! on this machine, `scan` what is secret or protected below the working directory, kept between commands, `caches` the
//! folders that are the workspace's own instead of the user's. How a profile is enforced is not known here.

pub mod caches;
pub mod dependencies;
pub mod drafts;
mod excludes;
mod folders;
pub(super) mod git_index;
mod git_secrets;
mod git_tracked;
pub mod hidden;
mod inherited;
mod link_targets;
mod lisle_folders;
mod mount_points;
mod opened;
mod python_environment;
mod reach;
mod readable;
pub mod removal;
pub mod scan;
mod secrecy;
mod server;
mod settled;
mod sight;
mod site;
mod watch;

#[cfg(test)]
pub(super) use self::git_index::tests::{index as tests_index, index_of as tests_index_of};
pub use folders::{below_temp, session_temp};
pub use link_targets::led_to;
pub use opened::link_below;
pub use secrecy::SecrecyView;
pub use server::server;
pub use site::{Moves, Site};

use super::profile::{Bounds, Namespaces, Network, Profile, Replaced};
use super::repository::{self, Repository};
use super::{own_folders, plain_file};
use crate::domain::paths::{is_protected_for_commands, is_secret};
use folders::{SESSION, TEMP, TEMPS, own_temp, programs, search_path, temp, toolchains};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Folders of the system that hold settings and programs of this machine's own, and among them keys.
const SYSTEM: &[&str] = &["/etc", "/opt"];
/// Mounts for protected paths, folders above them included. What is more is looked at after the command.
const MOST_MOUNTS: usize = 200;
/// Mounts that hide secrets. With more of them whole folders are hidden.
const MOST_MASKS: usize = 400;

/// The workspace profile for a command that runs there. Blocks.
#[must_use]
pub fn workspace(site: &Site<'_>) -> Profile {
    settled::profile(site, workspace_of)
}

fn workspace_of(site: &Site<'_>, found: &scan::ScanFindings, repository: Option<&Repository>) -> Profile {
    let mut bounds = shared(site, found, repository, false);
    bounds.writable.push(site.cwd.to_owned());
    // git writes there, also from a folder deep in its tree.
    let folders = repository.iter().flat_map(|one| [&one.common, &one.own]);
    bounds.writable.extend(folders.filter(|folder| !folder.starts_with(site.cwd)).cloned());
    caches_and_temp(site, &mut bounds);
    let (protected, pinned) = mounted(site, found, repository, &bounds.replaced);
    (bounds.protected, bounds.pinned) = (protected, pinned);
    for dir in site.own_dirs {
        if let Ok(below) = dir.strip_prefix(site.cwd)
            && !below.as_os_str().is_empty()
        {
            // What is not there cannot be held: a command would make it, with settings of its own. A file is held by its
            // folder, which is another one of them.
            let folder = if dir.extension().is_some() { dir.parent().unwrap_or(dir) } else { dir };
            let _ = std::fs::create_dir_all(folder);
            bounds.pinned.extend(dir.ancestors().skip(1).take_while(|above| *above != site.cwd).map(Path::to_owned));
        }
        bounds.protected.push(dir.clone());
    }
    opened::to_command(site, &mut bounds);
    drafts::open(&drafts::of(&site.allowances.granted.writable, site.cwd), site.session_dir, &mut bounds);
    only_shown(site, found, &mut bounds);
    reach::with_reach(site, found, repository, bounds)
}

/// Opens the workspace's own caches and the folders of temporary files for writing.
fn caches_and_temp(site: &Site<'_>, bounds: &mut Bounds) {
    match site.namespaces {
        Namespaces::With => bounds.replaced.extend(own_caches(site)),
        Namespaces::Without => {
            bounds.writable.extend(temp(site.home));
            bounds.writable.extend(site.allowances.private.clone().filter(|dir| caches::folder(dir).is_some()));
        }
    }
}

/// The read-only profile for a command that runs there. Blocks.
#[must_use]
pub fn read_only(site: &Site<'_>) -> Profile {
    settled::profile(site, read_only_of)
}

fn read_only_of(site: &Site<'_>, found: &scan::ScanFindings, repository: Option<&Repository>) -> Profile {
    let mut bounds = shared(site, found, repository, true);
    // The user's own caches are whole, and nothing is written here; where there is none the workspace's is read.
    if site.namespaces == Namespaces::With {
        bounds.replaced.extend(own_caches(site).into_iter().filter(|one| !one.at.is_dir()));
    }
    lisle_folders::cover(site, &mut bounds);
    mount_points::make(&bounds);
    Profile::ReadOnly(bounds)
}

/// A file below this working directory is kept from commands where that can be enforced. Blocks.
#[must_use]
pub fn holds_secret(cwd: &Path, home: Option<&Path>) -> bool {
    let top = Repository::of(cwd).map(|repository| repository.top).filter(|top| cwd.starts_with(top));
    !scan::look(cwd, &toolchains(cwd, home)).masked().is_empty()
        || top.is_some_and(|top| !scan::look(&top, &toolchains(&top, home)).masked().is_empty())
}

/// Number of places that would be hidden from a command each by itself, where it is more than can be: it cannot be started.
#[must_use]
pub fn too_many_hidden(bounds: &Bounds) -> Option<usize> {
    let count = bounds.masked.len();
    (bounds.namespaces == Namespaces::With && count > settled::most_hidden()).then_some(count)
}

/// A folder beside the working directory holds a secret, or more than can be looked at. Blocks.
#[must_use]
pub fn holds_beside(folder: &Path) -> bool {
    let found = scan::look_beside(folder);
    !found.masked().is_empty() || !found.whole
}

/// Places that every command reads: of the system and the user's tools, and the working directory.
#[must_use]
pub fn usual(home: Option<&Path>, cwd: &Path) -> Vec<PathBuf> {
    let env = |name: &str| std::env::var(name).ok();
    let mut out = readable::apart(readable::system().0, &Vec::from_iter(home));
    out.extend(readable::of_user(home, &env));
    out.push(cwd.to_owned());
    out
}

/// Looks at a working directory, and at the system, ahead of its first command. Blocks. Not at the home directory, where it
/// may take long and commands are rare.
pub fn prepare(cwd: &Path) {
    SYSTEM.iter().for_each(|top| drop(scan::look_at_system(Path::new(top))));
    if !std::env::home_dir().is_some_and(|home| home.starts_with(cwd)) && cwd.is_dir() {
        let _ = scan::look(cwd, &[]);
    }
}

/// Variables of a command: the workspace's own caches where those cannot be put in the place of the user's, and what git
/// is not to take for files. Blocks.
#[must_use]
pub fn redirected(site: &Site<'_>) -> Vec<(String, PathBuf)> {
    let Some(private) = site.allowances.private.as_deref().filter(|_| site.namespaces == Namespaces::Without) else {
        return excludes::variables(site);
    };
    let caches =
        site.allowances.caches.iter().filter(|cache| cache.at.is_dir() || cache.at.parent().is_some_and(Path::is_dir));
    caches.filter_map(|cache| Some((cache.tell.clone()?, caches::private(cache, private)?))).collect()
}

/// Folders outside of the working directory that its manifests name as packages. Blocks.
#[must_use]
pub fn packages_outside(cwd: &Path) -> Vec<PathBuf> {
    const LARGEST: u64 = 256 * 1024;
    const MOST: usize = 200;
    let found = scan::look(cwd, &[]);
    let read = |path: &PathBuf| Some((path.clone(), plain_file::text(path, LARGEST)?));
    let manifests: Vec<dependencies::Manifest> = found.manifests.iter().filter_map(read).take(MOST).collect();
    dependencies::outside(cwd, &manifests)
}

fn scanned(site: &Site<'_>) -> std::sync::Arc<scan::ScanFindings> {
    scan::look_for(site.cwd, &toolchains(site.cwd, site.home), &linked(site))
}

/// Secrets of the home directory and lisle's own that have another name, which may lie in the working directory.
fn linked(site: &Site<'_>) -> HashSet<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    const FOLDERS: &[&str] = &["", ".ssh", ".aws", ".gnupg", ".config/gh", ".docker", ".kube", ".azure", ".cargo"];
    let home = site.home.filter(|home| !home.starts_with(site.cwd));
    let of_home = home.into_iter().flat_map(|home| FOLDERS.iter().map(move |folder| (home, Path::new(folder))));
    let of_home = of_home.flat_map(|(home, folder)| {
        let below = names(&home.join(folder)).map(move |name| folder.join(name));
        below.filter(|path| is_secret(path)).map(|path| home.join(path))
    });
    let own = site.own_dirs.iter().flat_map(|dir| OWN.iter().map(move |name| dir.join(name)));
    of_home
        .chain(own)
        .filter_map(|path| path.symlink_metadata().ok())
        .filter(|meta| meta.is_file() && meta.nlink() > 1)
        .map(|meta| (meta.dev(), meta.ino()))
        .collect()
}

/// Secrets that no command sees unasked: of the working directory, its repositories, the system, and the folders that were opened.
fn kept_from_all(
    site: &Site<'_>,
    found: &scan::ScanFindings,
    repository: Option<&Repository>,
    named: &[PathBuf],
) -> Vec<PathBuf> {
    let mut out = secrets(site, found);
    let gits: HashSet<&PathBuf> = repository.iter().flat_map(|one| [&one.common, &one.own]).collect();
    out.extend(gits.into_iter().chain(&found.repositories).flat_map(|git| git_secrets::below(git)));
    let top = repository.map(|one| &one.top).filter(|top| site.cwd.starts_with(top) && *top != site.cwd);
    out.extend(top.iter().flat_map(|top| scan::look(top, &toolchains(top, site.home)).masked()));
    out.extend(SYSTEM.iter().flat_map(|top| private_in(Path::new(top))));
    out.extend(opened::secrets(site, named));
    out
}

/// Shared parts of both profiles; `reads` is the one that only reads.
fn shared(site: &Site<'_>, found: &scan::ScanFindings, repository: Option<&Repository>, reads: bool) -> Bounds {
    let env = |name: &str| std::env::var(name).ok();
    let (system, hidden) = readable::system();
    let (mut masked, mut unread) = (Vec::new(), Vec::new());
    // Where nothing can be put over lisle's folders they are left out.
    let own = site.own_dirs.iter().filter(|_| site.namespaces == Namespaces::Without).map(PathBuf::as_path);
    let own: Vec<&Path> = site.home.into_iter().chain(own).collect();
    let mut readable = readable::apart(system, &own);
    readable.extend(readable::of_user(site.home, &env));
    readable.push(site.cwd.to_owned());
    readable.extend(repository.iter().flat_map(|one| [&one.top, &one.common, &one.own]).cloned());
    let linked: Vec<PathBuf> = repository.iter().flat_map(|one| one.linked()).collect();
    readable.extend(linked.iter().cloned());
    // Nothing of a session in which a link stands in the place of one of these.
    let is_sound = own_folders::fault(site.session_dir).is_none();
    let of_session = SESSION.iter().filter(|_| is_sound).map(|name| site.session_dir.join(name));
    readable.extend(of_session.filter(|path| path.exists()));
    readable.extend(site.allowances.readable.iter().filter(|path| path.exists()).cloned());
    readable.extend(site.allowances.granted.readable.iter().cloned());
    let named = named(site, &readable);
    let mut replaced = Vec::new();
    match site.namespaces {
        Namespaces::With => {
            masked.extend(hidden);
            masked.extend(kept_from_all(site, found, repository, &named));
            if let Ok(temp) = own_folders::in_session(site.session_dir, TEMP) {
                let own = own_temp(site.home).filter(|own| !TEMPS.iter().any(|top| own.starts_with(top)));
                let tops = TEMPS.iter().map(PathBuf::from).chain(own);
                replaced.extend(tops.map(|at| Replaced { at, with: temp.clone() }));
            }
            masked.retain(|path| !site.allowances.granted.shows(path) && !site.cwd.starts_with(path));
        }
        // Nothing can be put over anything.
        Namespaces::Without => {
            readable = readable::without(readable, &hidden);
            if reads {
                unread = kept_from_all(site, found, repository, &named);
                // What a session needs of them is named by itself.
                unread.extend(own_folders::with_workspace(site.own_dirs, site.session_dir));
                unread.retain(|path| !site.allowances.granted.shows(path));
            }
            let temps = temp(site.home);
            // A home that lies there is none of it, but where a command makes what it reads.
            readable.extend(if reads { readable::apart(temps, &own) } else { temps });
        }
    }
    readable.extend(named);
    let of_git = repository.iter().flat_map(|one| [&one.common, &one.own]);
    let mut laid: Vec<PathBuf> = std::iter::once(site.cwd.to_owned()).chain(of_git.cloned()).collect();
    laid.extend(opened(site).cloned());
    // Other sessions write linked working trees, and folders that settings open: found without a link they stay so.
    laid.extend(linked.iter().flat_map(|file| {
        let tree = file.parent().filter(|tree| !site.home.is_some_and(|home| home.starts_with(tree)));
        [tree.map(Path::to_owned), Some(file.clone())].into_iter().flatten()
    }));
    laid.extend(site.allowances.readable.iter().chain(&site.allowances.private).cloned());
    if site.namespaces == Namespaces::Without {
        laid.extend(temp(site.home).iter().filter_map(|path| path.canonicalize().ok()));
    }
    for list in [&mut readable, &mut masked, &mut unread] {
        list.sort();
        list.dedup();
    }
    Bounds {
        readable,
        writable: is_sound.then(|| site.session_dir.join("data")).into_iter().collect(),
        masked,
        unread,
        laid,
        replaced,
        devices: site.allowances.devices.clone(),
        sockets: site.allowances.granted.sockets.clone(),
        network: Network::Open,
        namespaces: site.namespaces,
        ..Bounds::default()
    }
}

/// Paths that an answer opened for writing. lisle's own folders are never among them.
fn opened<'a>(site: &Site<'a>) -> impl Iterator<Item = &'a PathBuf> + use<'a> {
    let own = site.own_dirs;
    let is_own = move |path: &PathBuf| own.iter().any(|own| path.starts_with(own) || own.starts_with(path));
    site.allowances.granted.writable.iter().filter(move |path| !is_own(path))
}

/// Secrets that an answer or a rule shows are not changed by that. What the line itself names was decided on with the line.
fn only_shown(site: &Site<'_>, found: &scan::ScanFindings, bounds: &mut Bounds) {
    let granted = &site.allowances.granted;
    let named = granted.readable.iter().chain(site.allowances.readable.iter().filter(|path| is_secret(path)));
    let shown = named.filter(|path| {
        found.secrets.contains(path) && !granted.writable.contains(path) && !site.approved.contains(path)
    });
    bounds.protected.extend(shown.cloned());
}

/// Secrets below the working directory, as they are now. Blocks.
#[must_use]
pub fn secrets_in(cwd: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    scan::look(cwd, &toolchains(cwd, home)).secrets.clone()
}

/// Files and folders below a working directory that configure or run code, those of its repository left out. Blocks.
#[must_use]
pub fn protected_in(cwd: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    scan::look(cwd, &toolchains(cwd, home)).protected.clone()
}

/// Protected paths that are compared before and after a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guarded {
    /// Paths that configure or run code: in the working directory, in the home directory where that may be written, and in
    /// the repositories. Those of repositories are named also where they are not there.
    pub paths: Vec<PathBuf>,
    /// Folders of the repositories below the working directory, and of those that files `.git` lead to.
    pub repositories: Vec<PathBuf>,
    /// Those among the paths that count alone because a link leads there.
    pub linked: HashSet<PathBuf>,
    /// Folders that could not be listed.
    pub unlisted: Vec<PathBuf>,
    /// All of the working directory was looked at.
    pub whole: bool,
}

/// Protected paths to compare before and after a command there. Blocks.
#[must_use]
pub fn guarded(site: &Site<'_>, repository: Option<&Repository>) -> Guarded {
    let found = scanned(site);
    let mut paths = protected_of(site, &found, repository);
    paths.retain(|path| !lisle_folders::holds(site, path));
    let own_right: HashSet<PathBuf> = paths.iter().cloned().collect();
    let ways = link_targets::ways(&paths, site.cwd);
    let linked: HashSet<PathBuf> = ways.targets.into_iter().filter(|path| !own_right.contains(path)).collect();
    paths.extend(linked.iter().cloned());
    paths.extend(ways.links);
    paths.extend(repository.map(Repository::pointers).unwrap_or_default());
    let mut repositories: Vec<PathBuf> = found.repositories.iter().filter(|path| path.is_dir()).cloned().collect();
    let own: Vec<&Path> = repository.iter().map(|one| one.common.as_path()).collect();
    let pointer = [site.cwd.join(".git")];
    let entries: Vec<PathBuf> = pointer.into_iter().chain(found.repositories.iter().cloned()).collect();
    let inner: HashSet<PathBuf> = own.iter().flat_map(|git| repository::inner(git)).collect();
    let is_inner = |git: &PathBuf| own.contains(&git.as_path()) || inner.contains(git);
    let granted = site.allowances.granted.writable.iter().map(PathBuf::as_path);
    let within: Vec<&Path> = std::iter::once(site.cwd).chain(own.iter().copied()).chain(granted).collect();
    let led: Vec<PathBuf> = repository::led_to(&entries, &within).into_iter().filter(|git| !is_inner(git)).collect();
    paths.extend(led.iter().flat_map(|git| repository::protected_in(git)));
    repositories.extend(led);
    paths.extend(repositories.iter().flat_map(|git| repository::pointers_in(git)));
    let mut unlisted = found.unlisted.clone();
    unlisted.extend(own.into_iter().chain(repositories.iter().map(PathBuf::as_path)).flat_map(repository::unlisted_in));
    let mut seen = HashSet::new();
    paths.retain(|path| seen.insert(path.clone()));
    Guarded { paths, repositories, linked, unlisted, whole: found.whole }
}

fn protected_of(site: &Site<'_>, found: &scan::ScanFindings, repository: Option<&Repository>) -> Vec<PathBuf> {
    let mut out = repository.map(Repository::protected).unwrap_or_default();
    // The file of a worktree says where its repository is.
    let pointer = site.cwd.join(".git");
    if pointer.symlink_metadata().is_ok_and(|meta| !meta.is_dir()) {
        out.push(pointer);
    }
    if let Some(home) = site.home.filter(|home| home.starts_with(site.cwd) && *home != site.cwd) {
        out.extend(in_folder(home));
    }
    // A mount holds all programs of the user; without one those are looked at that run by their bare name.
    out.extend(search_path(site.cwd, site.home));
    out.extend(repository.iter().flat_map(|one| one.named(site.cwd, site.home)));
    // A skill of the home may be a link into the project.
    out.extend(site.allowances.extensions.iter().filter(|path| path.starts_with(site.cwd)).cloned());
    // Before the repositories of others, of which there may be more than get a mount.
    out.extend(found.protected.iter().cloned());
    for git in found.repositories.iter().filter(|path| path.is_dir()) {
        out.extend(repository::protected_in(git));
        let inner = git.parent().filter(|_| git.ends_with(".git")).and_then(Repository::of);
        out.extend(inner.iter().flat_map(|one| one.named(site.cwd, site.home)));
    }
    let mut seen = HashSet::new();
    out.retain(|path| seen.insert(path.clone()));
    out
}

/// Paths among them that get a mount, and the folders above them, which must not be moved away.
fn mounted(
    site: &Site<'_>,
    found: &scan::ScanFindings,
    repository: Option<&Repository>,
    replaced: &[Replaced],
) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let mut pinned = Vec::new();
    if let Some(repository) = repository {
        // In the folder that it lies in it could be moved away, and another one be made in its place.
        pinned.push(repository.common.clone());
        if repository.own != repository.common {
            pinned.push(repository.own.clone());
        }
    }
    let mut all = protected_of(site, found, repository);
    // A cache of this workspace lies over the user's own.
    let within = replaced.iter().filter(|one| one.at.starts_with(site.cwd));
    let caches: Vec<PathBuf> = within.map(|one| one.at.clone()).collect();
    all.extend(readable::without(programs(site.cwd, site.home), &caches));
    let mut known: HashSet<PathBuf> = all.iter().cloned().collect();
    all.extend(led_to(&all, site.cwd).into_iter().filter(|path| known.insert(path.clone())));
    if let Some(repository) = repository.filter(|_| site.moves.tree) {
        let tracked = repository.tracked(&all);
        all.retain(|path| !tracked.contains(path));
    }
    if site.moves.notes {
        // Compared afterwards: git notes there what is harmless, and nothing else stays.
        all.retain(|path| !repository::is_config(path));
    }
    if let Some(repository) = repository.filter(|_| site.moves.settings) {
        all.retain(|path| !repository.is_setting(path));
    }
    // Neither a mount nor a folder held for one may stand in the way of what was answered for.
    let open: Vec<&PathBuf> = opened(site).collect();
    let is_open = |path: &PathBuf| open.iter().any(|open| path.starts_with(open));
    all.retain(|path| !is_open(path) && !open.iter().any(|open| open.starts_with(path)));
    pinned.retain(|path| !is_open(path));
    let mut protected: Vec<PathBuf> = Vec::new();
    let mut known: HashSet<PathBuf> = pinned.iter().cloned().collect();
    for path in all {
        let is_there = path.symlink_metadata().is_ok();
        let new: Vec<PathBuf> = path
            .ancestors()
            .skip(1)
            .take_while(|above| *above != site.cwd)
            .filter(|above| above.starts_with(site.cwd) && !known.contains(*above))
            .map(Path::to_owned)
            .collect();
        if is_there && protected.len() + pinned.len() + new.len() >= MOST_MOUNTS {
            continue;
        }
        if is_there {
            known.extend(new.iter().cloned());
            pinned.extend(new);
        }
        protected.push(path);
    }
    (protected, pinned)
}

/// Protected entries of one folder, and of the folders in it that hold such among others.
fn in_folder(dir: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for name in names(dir) {
        if is_protected_for_commands(Path::new(&name)) {
            out.push(dir.join(&name));
        } else if name == ".github" {
            let below = names(&dir.join(&name)).map(|inner| Path::new(&name).join(inner));
            out.extend(below.filter(|path| is_protected_for_commands(path)).map(|path| dir.join(path)));
        }
    }
    out
}

fn names(dir: &Path) -> impl Iterator<Item = std::ffi::OsString> + use<> {
    std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.file_name())
}

/// The workspace's own folders in the place of the user's caches. Blocks while they are made.
fn own_caches(site: &Site<'_>) -> Vec<Replaced> {
    let Some(private) = &site.allowances.private else { return Vec::new() };
    let caches = site.allowances.caches.iter();
    // A tool that is not there needs none: nothing is made in the home directory.
    let caches = caches.filter(|cache| cache.at.is_dir() || cache.at.parent().is_some_and(Path::is_dir));
    caches
        .filter(|cache| !site.cwd.starts_with(&cache.at))
        .filter_map(|cache| Some(Replaced { at: cache.at.clone(), with: caches::private(cache, private)? }))
        .collect()
}

/// Paths that the command line names outside of the working directory and of the read list. A path
/// that contains the home directory or lisle's own folders is not opened by its name.
fn named(site: &Site<'_>, readable: &[PathBuf]) -> Vec<PathBuf> {
    let Site { cwd, session_dir, own_dirs, allowances, home, .. } = *site;
    let view = SecrecyView { cwd, session_dir, own_dirs, allowances, home };
    let sound = |path: &&PathBuf| {
        let Ok(real) = path.canonicalize() else { return false };
        let own = site.own_dirs.iter().any(|own| own.starts_with(&real) || real.starts_with(own));
        let wide = site.home.is_some_and(|home| home.starts_with(&real)) || real.components().count() < 3;
        let kernel = readable::KERNEL.iter().any(|top| real.starts_with(top));
        let known = readable.iter().any(|place| real.starts_with(place));
        let hidden = || is_secret(&real) || is_secret(path) || view.is_apart(&real) || view.is_key(&real);
        !(own || wide || kernel || known || real.starts_with(site.cwd) || hidden())
    };
    site.named.iter().filter(sound).cloned().collect()
}

/// Secrets in a folder of the system, of which every user may read what is no secret there, such as `/etc/passwd`.
fn private_in(system: &Path) -> Vec<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let is_private = |path: &&PathBuf| path.symlink_metadata().is_ok_and(|meta| meta.permissions().mode() & 0o004 == 0);
    scan::look_at_system(system).secrets.iter().filter(is_private).cloned().collect()
}

/// Secret places that may be read otherwise: those below the working directory, and those of the home directory and
/// lisle's own where they lie below something that may be read.
fn secrets(site: &Site<'_>, found: &scan::ScanFindings) -> Vec<PathBuf> {
    let mut out = found.masked();
    if let Some(home) = site.home {
        for folder in ["", ".config", ".local/share", ".cargo", ".docker", ".config/gh", "snap", "Library"] {
            let below = names(&home.join(folder)).map(|name| Path::new(folder).join(name));
            out.extend(below.filter(|path| is_secret(path)).map(|path| home.join(path)));
        }
    }
    for dir in site.own_dirs.iter().filter(|dir| dir.exists()) {
        let holds_more = [site.session_dir, site.cwd].iter().any(|path| path.starts_with(dir));
        if dir.starts_with(site.cwd) && !holds_more {
            out.push(dir.clone());
        } else {
            out.extend(OWN.iter().map(|name| dir.join(name)).filter(|path| path.exists()));
        }
    }
    // What the command works in cannot be empty, and what was answered for is open.
    let is_open = |path: &PathBuf| site.allowances.granted.shows(path);
    out.retain(|path| !site.cwd.starts_with(path) && !site.session_dir.starts_with(path) && !is_open(path));
    let mut out = topmost(out);
    if out.len() > MOST_MASKS {
        let (single, many) = out.split_at(MOST_MASKS);
        let folders = many.iter().map(|path| match path.parent() {
            Some(above) if above.starts_with(site.cwd) && above != site.cwd => above.to_owned(),
            _ => path.clone(),
        });
        out = topmost(single.iter().cloned().chain(folders).collect());
    }
    out
}

/// Files of lisle's own folders that commands do not get to see.
const OWN: &[&str] = &["credentials", "config.toml", "trusted.toml", "gateway.sock", "gateway.lock", "gateway"];

/// The paths without those below others, in the order of the outer ones.
fn topmost(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let all: HashSet<PathBuf> = paths.iter().cloned().collect();
    let mut seen = HashSet::new();
    paths.retain(|path| !path.ancestors().skip(1).any(|above| all.contains(above)) && seen.insert(path.clone()));
    paths
}

#[cfg(test)]
mod tests;
