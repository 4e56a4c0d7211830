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

/// Hidden parts of a folder that the working directory lies in: all but the way there.
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
