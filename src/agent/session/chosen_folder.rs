//! Working directory of a session as it was when it was chosen.

use crate::sandbox::working_folder::WorkingFolder;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The working directory as it was when it was chosen.
#[derive(Debug, Default)]
pub(super) struct ChosenFolder(Mutex<Option<Chosen>>);

#[derive(Clone, Debug)]
struct Chosen {
    path: PathBuf,
    folder: WorkingFolder,
    /// The user chose it for this very session, and no file of the session did.
    by_user: bool,
}

impl ChosenFolder {
    /// The user chose this directory. Blocks.
    pub(super) fn choose(&self, path: &Path) {
        self.set(Chosen { path: path.to_owned(), folder: WorkingFolder::of(path), by_user: true });
    }

    /// The folder at the working directory as it was first seen for the session. Blocks.
    pub(super) fn at(&self, cwd: &Path) -> WorkingFolder {
        self.noted(cwd).folder
    }

    /// The user chose this directory.
    pub(super) fn is_by_user(&self, cwd: &Path) -> bool {
        self.noted(cwd).by_user
    }

    fn noted(&self, cwd: &Path) -> Chosen {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        known.filter(|known| known.path == cwd).unwrap_or_else(|| {
            let seen = Chosen { path: cwd.to_owned(), folder: WorkingFolder::of(cwd), by_user: false };
            self.set(seen.clone());
            seen
        })
    }

    fn set(&self, chosen: Chosen) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(chosen);
    }
}
