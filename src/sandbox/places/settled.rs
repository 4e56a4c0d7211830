//! Profile whose hidden places are just those that were found: they are held from the look on, and nothing was moved between
//! the look and the hold. Whoever starts the command covers them by what is held, wherever it is by then.

use super::folders::toolchains;
use super::hidden::HeldPlaces;
use super::scan::{self, ScanFindings};
use super::{Site, scanned};
use crate::sandbox::profile::{Bounds, Namespaces, Profile};
use crate::sandbox::repository::Repository;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// So often it is looked again where another program moves what is hidden.
const TRIES: usize = 50;

/// Places that are hidden each by itself: a mount each, and a file held open.
const MOST_HIDDEN: usize = 4_000;

/// The same on this system, which may allow fewer open files.
#[cfg(target_os = "linux")]
pub(super) fn most_hidden() -> usize {
    MOST_HIDDEN.min(crate::sandbox::own_process::descriptors::spare())
}

/// Hidden places at most; no descriptors are held on this system.
#[cfg(not(target_os = "linux"))]
pub(super) fn most_hidden() -> usize {
    MOST_HIDDEN
}

/// Findings of a working directory, and of the repository that it lies in.
type Looks = (Arc<ScanFindings>, Option<Arc<ScanFindings>>);

/// The profile that `make` makes of what is found. Where that cannot be settled the working directory itself is among what is
/// hidden, so that nothing is started there. Blocks.
pub(super) fn profile(site: &Site<'_>, make: fn(&Site<'_>, &ScanFindings, Option<&Repository>) -> Profile) -> Profile {
    let repository = Repository::of(site.cwd);
    let top = repository.as_ref().map(|one| one.top.as_path());
    let top = top.filter(|top| site.cwd.starts_with(top) && *top != site.cwd);
    let of_top = || top.map(|top| scan::look(top, &toolchains(top, site.home)));
    let mut before: Looks = (scanned(site), of_top());
    let mut tries = 0;
    loop {
        let mut profile = make(site, &before.0, repository.as_ref());
        if let Some(bounds) = profile.bounds_mut() {
            bounds.settle();
        }
        let Some(bounds) = profile.bounds_mut().filter(|bounds| bounds.namespaces == Namespaces::With) else {
            return profile;
        };
        if bounds.masked.len() > most_hidden() {
            // Nothing is started with less.
            bounds.masked.push(site.cwd.to_owned());
            return profile;
        }
        if before.1.as_ref().is_some_and(|found| found.unknown) {
            // Of the rest of the repository nothing is known.
            bounds.readable.retain(|path| Some(path.as_path()) != top);
        }
        let is_held = hold(bounds, top.unwrap_or(site.cwd));
        let after: Looks = (scan::look(site.cwd, &toolchains(site.cwd, site.home)), of_top());
        let is_same = is_held && states(&after) == states(&before);
        if before.0.unknown || !is_same && tries >= TRIES {
            bounds.masked.push(site.cwd.to_owned());
            return profile;
        }
        if is_same {
            return profile;
        }
        (before, tries) = (after, tries + 1);
    }
}

/// Parts of findings that another program may have changed.
type FindingsState<'a> = (u64, &'a [PathBuf]);

fn states((found, of_top): &Looks) -> (FindingsState<'_>, Option<FindingsState<'_>>) {
    (state(found), of_top.as_deref().map(state))
}

/// Holds what is hidden, and puts it first. False if something of it is gone that lies where commands write.
fn hold(bounds: &mut Bounds, written: &Path) -> bool {
    let held = HeldPlaces::of(&bounds.masked);
    let paths: HashSet<&PathBuf> = held.paths().collect();
    let (mut first, rest): (Vec<PathBuf>, Vec<PathBuf>) =
        bounds.masked.drain(..).partition(|path| paths.contains(path));
    let none_gone = cfg!(not(target_os = "linux")) || !rest.iter().any(|path| path.starts_with(written));
    first.extend(rest);
    bounds.masked = first;
    bounds.held = Arc::new(held);
    none_gone
}

fn state(found: &ScanFindings) -> FindingsState<'_> {
    (found.state, &found.secrets)
}
