//! lisle's own folders, where a command would see them: below its working directory, as the home directory is one, or below
//! another place that it reads. They hold the transcripts of others, copies of files for undo, secrets among them, and rules
//! of permission.
//!
//! An empty folder is in the place of each, with what a command gets of its own session in it. A list of files to hide would
//! never be complete. Without namespaces nothing can be put over anything; lisle's folders are compared after the command
//! then, as far as they are protected.

use super::site::Site;
use crate::sandbox::own_folders;
use crate::sandbox::profile::{Bounds, Namespaces, Replaced};
use std::path::{Path, PathBuf};

/// Name of the empty folder in the session's, which no command sees by this path.
const EMPTY: &str = "covered";

/// Puts an empty folder over each of lisle's folders that these bounds would show. Blocks.
pub(super) fn cover(site: &Site<'_>, bounds: &mut Bounds) {
    if site.namespaces == Namespaces::Without {
        return;
    }
    let covered = shown(site, bounds);
    if covered.is_empty() {
        bounds.protected.retain(|path| !is_own(site, path) || path.starts_with(site.cwd));
        return;
    }
    let with = own_folders::in_session(site.session_dir, EMPTY).ok();
    let below = |path: &Path| covered.iter().any(|dir| path.starts_with(dir));
    let of_session = |path: &Path| path.starts_with(site.session_dir);
    bounds.protected.retain(|path| !below(path) && (!is_own(site, path) || path.starts_with(site.cwd)));
    bounds.pinned.retain(|path| !below(path));
    bounds.masked.retain(|path| !below(path) || of_session(path));
    let allowed = |path: &PathBuf| !below(path) || of_session(path) || site.approved.contains(path);
    bounds.readable.retain(allowed);
    bounds.writable.retain(|path| !below(path) || of_session(path));
    for at in covered {
        bounds.pinned.extend(above(&at, site.cwd));
        match with.clone() {
            Some(with) => bounds.replaced.push(Replaced { at, with }),
            // Rather the session's own files are out of reach as well.
            None => bounds.masked.push(at),
        }
    }
    bounds.pinned.sort();
    bounds.pinned.dedup();
}

/// True for a path that is kept as lisle's in these bounds, or lies in such a folder.
fn is_own(site: &Site<'_>, path: &Path) -> bool {
    site.own_dirs.iter().any(|own| path.starts_with(own))
}

/// lisle's folders that the bounds would show, the outer ones alone.
pub(super) fn shown(site: &Site<'_>, bounds: &Bounds) -> Vec<PathBuf> {
    let lists = [&bounds.readable, &bounds.writable, &bounds.pinned];
    let places: Vec<&Path> = lists.into_iter().flatten().map(PathBuf::as_path).chain([site.cwd]).collect();
    let is_shown = |dir: &PathBuf| places.iter().any(|place| dir.starts_with(place) && dir != place);
    let mut out: Vec<PathBuf> =
        all(site).into_iter().filter(|dir| !site.cwd.starts_with(dir) && is_shown(dir) && dir.is_dir()).collect();
    out.sort();
    out.dedup_by(|inner, outer| inner.starts_with(outer));
    out
}

/// True for a path in one of lisle's folders, that of a session left out: what changes there is not a command's doing, where
/// no command gets there.
pub(super) fn holds(site: &Site<'_>, path: &Path) -> bool {
    site.namespaces == Namespaces::With
        && all(site).iter().any(|dir| path.starts_with(dir) && !site.cwd.starts_with(dir))
}

/// lisle's folders, with the workspace of the session wherever it lies.
fn all(site: &Site<'_>) -> Vec<PathBuf> {
    own_folders::with_workspace(site.own_dirs, site.session_dir)
}

/// Folders between a path and the working directory: one that is moved away would uncover what lies in it.
fn above(path: &Path, cwd: &Path) -> Vec<PathBuf> {
    if !path.starts_with(cwd) {
        return Vec::new();
    }
    path.ancestors().skip(1).take_while(|above| *above != cwd).map(Path::to_owned).collect()
}
