//! Profile of a server: a program that stays, such as the tools of a source, and belongs to no call.
//!
//! It reads what commands read, and writes its own folder, its own copies of package caches and the folders that its
//! configuration opens. The session's folder of the site is the server's own. What configures or runs code in those folders
//! stays as it is.

use super::{Site, caches_and_temp, drafts, only_shown, opened, protected_in, scan, settled, workspace_of};
use crate::sandbox::profile::{Bounds, Profile};
use crate::sandbox::repository::{self, Repository};
use std::path::Path;

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
    settled::profile(&site, if writes_here { workspace_of } else { server_of })
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
    bounds.protected.extend(repository::folder_of(path).iter().flat_map(|git| repository::protected_in(git)));
    let there = if path.is_dir() { protected_in(path, home) } else { Vec::new() };
    // What the configuration names itself is meant.
    bounds.protected.extend(there.into_iter().filter(|protected| protected != path));
}
