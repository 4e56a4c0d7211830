//! Profile of a server: a program that stays, such as the tools of a source, and belongs to no call.
//!
//! It reads what commands read, and writes its own folder, its own copies of package caches and the folders that its
//! configuration opens. The session's folder of the site is the server's own. What configures or runs code in those folders
//! stays as it is.

use super::folders::toolchains;
use super::{Site, caches_and_temp, drafts, only_shown, opened, scan, settled, workspace_of};
use crate::sandbox::profile::{Bounds, Profile};
use crate::sandbox::repository::{self, Repository};
use std::path::{Path, PathBuf};

/// The profile of a server that is started there. Blocks.
#[must_use]
pub fn server(site: &Site<'_>) -> Profile {
    let mut allowances = site.allowances.clone();
    let writable = &mut allowances.granted.writable;
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
    }
    profile
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

fn server_of(site: &Site<'_>, found: &scan::ScanFindings, repository: Option<&Repository>) -> Profile {
    let mut bounds = super::shared(site, found, repository);
    caches_and_temp(site, &mut bounds);
    bounds.protected.extend(site.own_dirs.iter().cloned());
    for path in opened(site) {
        open(path, site.home, &mut bounds);
    }
    drafts::open(&drafts::of(&site.allowances.granted.writable, site.cwd), site.session_dir, &mut bounds);
    only_shown(site, found, &mut bounds);
    super::reach::with_reach(site, found, repository, bounds)
}

/// Opens a folder for writing, but for what is protected in it.
fn open(path: &Path, home: Option<&Path>, bounds: &mut Bounds) {
    bounds.writable.push(path.to_owned());
    if !path.is_dir() {
        return;
    }
    let found = scan::look(path, &toolchains(path, home));
    bounds.masked.extend(found.masked());
    let gits =
        repository::folder_of(path).into_iter().chain(found.repositories.iter().filter(|path| path.is_dir()).cloned());
    // What the configuration names itself is meant.
    let closed: Vec<PathBuf> =
        found.protected.iter().cloned().chain(gits).filter(|closed| closed != path && closed.exists()).collect();
    for one in &closed {
        // Folders above it stay where they are: with another name nothing would protect it.
        let above = one.ancestors().skip(1).take_while(|above| *above != path && above.starts_with(path));
        bounds.pinned.extend(above.map(Path::to_owned));
    }
    bounds.protected.extend(closed);
}
