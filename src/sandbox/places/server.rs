//! Profile of a server: a program that stays, such as the tools of a source, and belongs to no call.
//!
//! It reads what commands read, and writes its own folder, its own copies of package caches and the folders that its
//! configuration opens. The session's folder of the site is the server's own. What configures or runs code in those folders
//! stays as it is.

use super::{Site, caches_and_temp, drafts, link_below, only_shown, opened, scan, settled, workspace_of};
use crate::sandbox::profile::{Bounds, Profile};
use crate::sandbox::repository::{self, Repository};
use std::path::{Path, PathBuf};

/// The profile of a server that is started there. Blocks.
#[must_use]
pub fn server(site: &Site<'_>) -> Profile {
    let mut allowances = site.allowances.clone();
    // A link may have been put there since the configuration was read.
    let granted = &mut allowances.granted;
    let is_there = |path: &PathBuf| link_below(path, site.cwd).is_none();
    granted.writable.retain(is_there);
    granted.readable.retain(is_there);
    let writable = &mut granted.writable;
    for path in writable.iter_mut() {
        *path = path.canonicalize().unwrap_or_else(|_| path.clone());
    }
    // A folder that holds the working directory opens just that. What configures or runs code there is protected as from a
    // command; a path that is opened beside would lose its protection, as one that the user answered about.
    let writes_here = writable.iter().any(|path| site.cwd.starts_with(path));
    writable.retain(|path| !(site.cwd.starts_with(path) || writes_here && path.starts_with(site.cwd)));
    let site = Site { allowances: &allowances, ..*site };
    settled::profile(&site, if writes_here { here } else { server_of })
}

/// The profile of a server that writes the working directory.
fn here(site: &Site<'_>, found: &scan::ScanFindings, repository: Option<&Repository>) -> Profile {
    let mut profile = workspace_of(site, found, repository);
    if let Some(bounds) = profile.bounds_mut() {
        let of_site = repository.iter().flat_map(|one| [one.common.clone(), one.own.clone()]);
        let gits: Vec<PathBuf> =
            of_site.chain(found.repositories.iter().filter(|path| path.is_dir()).cloned()).collect();
        gits.iter().for_each(|git| close(git, bounds));
        // The working directory is looked after as that of a command.
        protect(site, |path| !path.starts_with(site.cwd), bounds);
    }
    profile
}

fn server_of(site: &Site<'_>, found: &scan::ScanFindings, repository: Option<&Repository>) -> Profile {
    let mut bounds = super::shared(site, found, repository, false);
    caches_and_temp(site, &mut bounds);
    bounds.protected.extend(site.own_dirs.iter().cloned());
    bounds.writable.extend(opened(site).cloned());
    protect(site, |_| true, &mut bounds);
    drafts::open(&drafts::of(&site.allowances.granted.writable, site.cwd), site.session_dir, &mut bounds);
    only_shown(site, found, &mut bounds);
    super::reach::with_reach(site, found, repository, bounds)
}

/// Protects what configures or runs code in the paths that the configuration opens, as far as `counts` says; of a repository there
/// its own folder as a whole. What the configuration names itself is meant, and nothing stands in its way. Blocks.
fn protect(site: &Site<'_>, counts: impl Fn(&Path) -> bool, bounds: &mut Bounds) {
    let all: Vec<&PathBuf> = opened(site).collect();
    let is_named = |path: &Path| all.iter().any(|one| *one == path);
    let leads_to_named = |path: &Path| all.iter().any(|one| one.starts_with(path));
    for top in all.iter().filter(|path| counts(path) && path.is_dir()) {
        let found = scan::look_beside(top);
        let mut closed: Vec<PathBuf> = found.protected.iter().filter(|path| path.exists()).cloned().collect();
        let below = found.repositories.iter().filter(|git| git.is_dir()).cloned();
        for git in repository::folder_of(top).into_iter().chain(below).filter(|git| counts(git) && !is_named(git)) {
            if leads_to_named(&git) {
                closed.extend(repository::protected_in(&git));
            } else {
                close(&git, bounds);
                pin(&git, top, bounds);
            }
        }
        for path in closed.into_iter().filter(|path| counts(path) && !leads_to_named(path)) {
            pin(&path, top, bounds);
            bounds.protected.push(path);
        }
    }
}

/// Keeps the folders above a protected path where they are, up to the folder that is opened: with another name nothing would
/// protect it.
fn pin(path: &Path, top: &Path, bounds: &mut Bounds) {
    if path.exists() {
        let above = path.ancestors().skip(1).take_while(|above| *above != top && above.starts_with(top));
        bounds.pinned.extend(above.map(Path::to_owned));
    }
}

/// Makes a repository's own folder one that is only read. Nobody looks afterwards whether a file was added to it that leads
/// git elsewhere, as is done for commands.
fn close(git: &Path, bounds: &mut Bounds) {
    let is_other = |path: &PathBuf| !path.starts_with(git);
    bounds.writable.retain(is_other);
    bounds.pinned.retain(is_other);
    bounds.protected.retain(is_other);
    bounds.protected.push(git.to_owned());
}
