//! Folders that are open beside the working directory, whoever opened them: the line names them, settings, a configuration or an
//! answer. Their secrets are hidden, and what configures or runs code in them stays as it is.

use super::{Site, opened, readable, scan};
use crate::domain::paths::is_secret;
use crate::sandbox::profile::Bounds;
use crate::sandbox::repository;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Secrets of all that is open beside the working directory; `named` are the folders that the line names. A folder may hold the
/// working directory, whose own secrets are looked for elsewhere. Blocks.
pub(super) fn secrets(site: &Site<'_>, named: &[PathBuf]) -> Vec<PathBuf> {
    let allowances = site.allowances;
    let granted = &allowances.granted;
    // One that is a secret itself was decided on as a whole.
    let approved = site.approved.iter().filter(|path| !is_secret(path));
    let all =
        named.iter().chain(&allowances.readable).chain(&granted.readable).chain(&granted.writable).chain(approved);
    let real: HashSet<PathBuf> = all.filter_map(|path| path.canonicalize().ok()).collect();
    let beside = real.iter().filter(|path| path.is_dir() && !path.starts_with(site.cwd));
    let secrets = beside.flat_map(|path| scan::look_beside(path).masked());
    secrets.filter(|path| !path.starts_with(site.cwd)).flat_map(|path| around(path, site.cwd)).collect()
}

/// What is to be hidden of a folder that the working directory lies in: all but the way there.
fn around(path: PathBuf, cwd: &Path) -> Vec<PathBuf> {
    if cwd.starts_with(&path) { readable::without(vec![path], &[cwd.to_owned()]) } else { vec![path] }
}

/// Opens the paths that an answer lets a command write: a protected one loses its protection, one outside is added with all that
/// lies in it, which a command may remove as a whole. Of a repository what runs code stays as it is. Blocks.
pub(super) fn to_command(site: &Site<'_>, bounds: &mut Bounds) {
    for path in opened(site).filter(|path| !path.starts_with(site.cwd)) {
        bounds.writable.push(path.clone());
        bounds.protected.extend(repository::folder_of(path).iter().flat_map(|git| repository::protected_in(git)));
    }
}

/// Keeps what is protected in the paths that a configuration lets a server write. `written` is the working directory where it is
/// written as well, and looked after elsewhere. Blocks.
pub(super) fn to_server(site: &Site<'_>, written: Option<&Path>, bounds: &mut Bounds) {
    let all: Vec<&PathBuf> = opened(site).collect();
    for path in all.iter().filter(|path| !written.is_some_and(|dir| path.starts_with(dir))) {
        bounds.writable.push((*path).clone());
        let of_git = repositories_in(path).into_iter().flat_map(|git| repository::protected_in(&git));
        let found = path.is_dir().then(|| scan::look_beside(path));
        let found = found.iter().flat_map(|found| found.protected.iter().filter(|path| path.exists()).cloned());
        let closed: Vec<PathBuf> = of_git.chain(found).filter(|one| !is_meant(one, &all, written)).collect();
        closed.iter().for_each(|one| pin(one, path, bounds));
        bounds.protected.extend(closed);
    }
}

/// The link that leads away on a way through the project: what lies there may come from a repository. Both paths may have a link
/// above the project.
#[must_use]
pub fn link_below(path: &Path, cwd: &Path) -> Option<PathBuf> {
    let real = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
    let is_link = |path: &&Path| path.symlink_metadata().is_ok_and(|meta| meta.is_symlink());
    let is_within = |path: &&Path| {
        let above = path.parent().and_then(|above| above.canonicalize().ok());
        above.is_some_and(|above| above.starts_with(&real))
    };
    let found = path.ancestors().filter(is_within).find(is_link);
    found.map(Path::to_owned)
}

/// What is named itself is meant, and nothing stands in the way of what is.
fn is_meant(path: &Path, opened: &[&PathBuf], written: Option<&Path>) -> bool {
    written.is_some_and(|dir| path.starts_with(dir)) || opened.iter().any(|one| *one == path || one.starts_with(path))
}

/// Keeps the folders above a protected path where they are, up to the folder that is opened: with another name nothing would
/// protect it.
pub(super) fn pin(path: &Path, top: &Path, bounds: &mut Bounds) {
    if path.exists() {
        let above = path.ancestors().skip(1).take_while(|above| *above != top && above.starts_with(top));
        bounds.pinned.extend(above.map(Path::to_owned));
    }
}

/// Folders of repositories at or below the path. Blocks.
pub(super) fn repositories_in(path: &Path) -> Vec<PathBuf> {
    let mut out: Vec<PathBuf> = repository::folder_of(path).into_iter().collect();
    if path.is_dir() {
        out.extend(scan::look_beside(path).repositories.iter().filter(|git| git.is_dir()).cloned());
    }
    out.sort();
    out.dedup();
    out
}
