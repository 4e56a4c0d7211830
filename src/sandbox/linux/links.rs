//! Resolved paths for the root of a command: links on the way to a place are followed and remembered, except those that a
//! command could have laid.

use crate::sandbox::profile::{Bounds, Replaced};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// Resolves paths and remembers the links that it met.
pub(in crate::sandbox) struct Paths {
    /// Folders that commands write.
    written: Vec<PathBuf>,
    links: BTreeMap<PathBuf, PathBuf>,
    /// Paths that are no links.
    plain: std::collections::BTreeSet<PathBuf>,
}

/// At most so many links lead to one place, as for the kernel.
const MOST_LINKS: usize = 40;

impl Paths {
    pub(in crate::sandbox) fn new(bounds: &Bounds) -> Self {
        let written = bounds.writable.iter().chain(&bounds.pinned).filter_map(|path| path.canonicalize().ok());
        Self { written: written.collect(), links: BTreeMap::new(), plain: std::collections::BTreeSet::new() }
    }

    /// Path at which a place appears and path of its content, by the path that leads to it; below one that is
    /// replaced, it may lie in what replaces it.
    pub(in crate::sandbox) fn shown(&mut self, path: &Path, replaced: &[Replaced]) -> Option<(PathBuf, PathBuf)> {
        if let Some(real) = self.real(path) {
            return Some((real.clone(), real));
        }
        let (one, rest) = replaced.iter().find_map(|one| Some((one, path.strip_prefix(&one.at).ok()?)))?;
        let from = self.real(&one.with.join(rest))?;
        Some((path.to_owned(), from))
    }

    /// Links that it met, and what they say.
    pub(in crate::sandbox) fn links(self) -> BTreeMap<PathBuf, PathBuf> {
        self.links
    }

    /// The path after its links; `None` where nothing is, or where a command could have laid one of them.
    pub(in crate::sandbox) fn real(&mut self, path: &Path) -> Option<PathBuf> {
        if !path.is_absolute() {
            return None;
        }
        let mut left: Vec<std::ffi::OsString> = parts(path);
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
            let laid = self.written.iter().any(|folder| done.starts_with(folder) && done != *folder);
            if met > MOST_LINKS || laid {
                return None;
            }
            done.pop();
            if target.is_absolute() {
                done = PathBuf::from("/");
            }
            left.extend(parts(&target));
        }
        Some(done)
    }
}

/// The parts of a path, the first one last.
fn parts(path: &Path) -> Vec<std::ffi::OsString> {
    let named = path.components().rev().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    });
    named.collect()
}
