//! Resolved paths for the root of a command: links on the way to a place are followed and remembered, except those that a
//! command could have laid.

use super::mounts::{place, straight};
use crate::domain::paths::{climbs, parts_to_walk};
use crate::sandbox::profile::{Bounds, Replaced};
use rustix::io::Errno;
use std::collections::{BTreeMap, HashSet};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// Resolves paths and remembers the links that it met.
pub(in crate::sandbox) struct Paths {
    /// Folders that this command writes.
    written: Vec<PathBuf>,
    /// Folders, by paths without links, that any command of the session writes: one that is a link by now was exchanged.
    laid: Vec<PathBuf>,
    links: BTreeMap<PathBuf, PathBuf>,
    /// Paths that are no links.
    plain: std::collections::BTreeSet<PathBuf>,
}

/// A resolved path, and what was there.
pub(in crate::sandbox) struct RealPlace {
    pub(in crate::sandbox) path: PathBuf,
    /// `None` where it could not be opened, or has gone since.
    pub(in crate::sandbox) held: Option<OwnedFd>,
}

/// At most so many links lead to one place, as for the kernel.
const MOST_LINKS: usize = 40;

impl Paths {
    pub(in crate::sandbox) fn new(bounds: &Bounds) -> Self {
        let written = bounds.writable.iter().filter_map(|path| resolved(path).ok());
        Self {
            written: written.collect(),
            laid: bounds.laid.clone(),
            links: BTreeMap::new(),
            plain: std::collections::BTreeSet::new(),
        }
    }

    /// Path at which a place appears, path of its content and the content, by the path that leads to it; below one that
    /// is replaced, it may lie in what replaces it.
    pub(in crate::sandbox) fn shown(&mut self, path: &Path, replaced: &[Replaced]) -> Option<(PathBuf, RealPlace)> {
        if let Some(real) = self.open(path) {
            return Some((real.path.clone(), real));
        }
        let (one, rest) = replaced.iter().find_map(|one| Some((one, path.strip_prefix(&one.at).ok()?)))?;
        Some((path.to_owned(), self.open(&one.with.join(rest))?))
    }

    /// The place after the links of a path. Most have none, which the call that opens it tells; only the others are
    /// resolved part by part.
    pub(in crate::sandbox) fn open(&mut self, path: &Path) -> Option<RealPlace> {
        // After a link `..` is another folder than the text says.
        if !path.is_absolute() || climbs(path) {
            return None;
        }
        match straight(path) {
            Ok(held) => Some(RealPlace { path: path.components().collect(), held: Some(held) }),
            // Nothing is there, and no link led on.
            Err(Errno::NOENT | Errno::NOTDIR) => None,
            Err(_) => {
                let path = self.real(path)?;
                let held = place(&path).ok();
                Some(RealPlace { path, held })
            }
        }
    }

    /// Links that it met, and what they say.
    pub(in crate::sandbox) fn links(self) -> BTreeMap<PathBuf, PathBuf> {
        self.links
    }

    /// The path after its links; `None` where nothing is, or where a command could have laid one of them.
    pub(in crate::sandbox) fn real(&mut self, path: &Path) -> Option<PathBuf> {
        if !path.is_absolute() || climbs(path) {
            return None;
        }
        let mut left = parts_to_walk(path);
        let mut done = PathBuf::from("/");
        let mut met = 0;
        while let Some(part) = left.pop() {
            if part == ".." {
                done.pop();
                continue;
            }
            done.push(&part);
            if self.plain.contains(&done) {
                continue;
            }
            let target = match self.links.get(&done) {
                Some(target) => target.clone(),
                None if done.symlink_metadata().ok()?.is_symlink() => {
                    let target = std::fs::read_link(&done).ok()?;
                    self.links.insert(done.clone(), target.clone());
                    target
                }
                None => {
                    self.plain.insert(done.clone());
                    continue;
                }
            };
            met += 1;
            let laid = self.written.iter().any(|folder| done.starts_with(folder) && done != *folder)
                || self.laid.iter().any(|folder| done.starts_with(folder));
            if met > MOST_LINKS || laid {
                return None;
            }
            done.pop();
            if target.is_absolute() {
                done = PathBuf::from("/");
            }
            left.extend(parts_to_walk(&target));
        }
        Some(done)
    }
}

/// The path after all its links, as `canonicalize` gives it, which asks for each part of a path. Most have no link, and one
/// call tells.
pub(in crate::sandbox) fn resolved(path: &Path) -> std::io::Result<PathBuf> {
    if path.is_absolute() && !climbs(path) && straight(path).is_ok() {
        return Ok(path.components().collect());
    }
    path.canonicalize()
}

/// Places that are kept from being written: what each protected path leads to, and a link itself. Of what is not there
/// nothing, and nothing outside the places that are written: a command cannot write there, and a link in a project must not
/// show it what no list names. A link to all of a written place protects nothing in it.
pub(in crate::sandbox) fn protected_places(bounds: &Bounds) -> Vec<PathBuf> {
    let written = bounds.writable.iter().filter_map(|path| resolved(path).ok());
    let written: HashSet<PathBuf> = written.collect();
    let mut all = with_links(&bounds.protected);
    all.retain(|path| path.ancestors().skip(1).any(|above| written.contains(above)));
    all
}

/// Places that these paths stand for: what each leads to, and a link itself. Of what is not there nothing.
fn with_links(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut out = Vec::with_capacity(paths.len());
    for path in paths.iter().filter(|path| !climbs(path)) {
        out.extend(resolved(path));
        if path.symlink_metadata().is_ok_and(|meta| meta.is_symlink())
            && let (Some(above), Some(name)) = (path.parent(), path.file_name())
        {
            out.extend(resolved(above).map(|above| above.join(name)));
        }
    }
    out
}
