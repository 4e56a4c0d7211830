//! Obstacles of a command that removes or moves folders as a whole.
//!
//! A mount cannot be removed, so such a command would stop halfway: whoever lets it run is asked about just these paths.

use super::{Site, excludes, protected_of, scanned, topmost};
use crate::sandbox::repository::Repository;
use std::path::{Path, PathBuf};

/// Obstacles that would stop a command halfway which removes or moves a folder as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeldBelow {
    /// Read-only paths that are there; of a repository its folder.
    pub protected: Vec<PathBuf>,
    /// Hidden secrets.
    pub secrets: Vec<PathBuf>,
}

/// The paths at or below `tree` that the workspace profile holds. Blocks.
#[must_use]
pub fn held_below(site: &Site<'_>, tree: &Path) -> HeldBelow {
    let found = scanned(site);
    let repository = Repository::of(site.cwd);
    let below = |path: &PathBuf| path.starts_with(tree) && path.symlink_metadata().is_ok();
    let whole = |path: PathBuf| {
        let git = path.ancestors().find(|above| above.ends_with(".git") && above.starts_with(tree));
        git.map_or(path.clone(), Path::to_owned)
    };
    let all = protected_of(site, &found, repository.as_ref()).into_iter().filter(below).map(whole);
    let secrets = found.secrets.iter().filter(|path| below(path)).cloned().collect();
    HeldBelow { protected: topmost(all.collect()), secrets: topmost(secrets) }
}

/// Protected files below the working directory that git does not track: `git clean` and `git stash -u` remove them.
/// With `ignored` also those that it ignores, and hidden secrets. Blocks.
#[must_use]
pub fn untracked(site: &Site<'_>, ignored: bool) -> HeldBelow {
    let Some(repository) = Repository::of(site.cwd) else { return HeldBelow::default() };
    let found = scanned(site);
    let nested: Vec<&Path> = found.repositories.iter().filter_map(|git| git.parent()).collect();
    let here = |path: &&PathBuf| {
        !nested.iter().any(|top| path.starts_with(top)) && path.symlink_metadata().is_ok() && !path.ends_with(".git")
    };
    let mut protected: Vec<PathBuf> = found.protected.iter().filter(here).cloned().collect();
    let tracked = repository.tracked(&protected);
    let rules = excludes::of_repository(&repository);
    protected.retain(|path| {
        !tracked.iter().any(|file| file.starts_with(path))
            && (ignored || !found.secrets.contains(path))
            && (ignored || !rules.matched_path_or_any_parents(path, path.is_dir()).is_ignore())
    });
    let secrets = if ignored { found.secrets.iter().filter(here).cloned().collect() } else { Vec::new() };
    HeldBelow { protected: topmost(protected), secrets: topmost(secrets) }
}
