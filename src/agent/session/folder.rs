//! Working directory of a session: the folder that was chosen, and refusal of one that is no place to work in.

use super::SessionActor;
use crate::provider::ProviderError;
use crate::sandbox::working_folder::WorkingFolder;
use crate::tools::files::classify;
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
    fn is_by_user(&self, cwd: &Path) -> bool {
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

impl SessionActor {
    /// Notes the working directory of a session that was read. One that lisle was started in is the user's choice.
    pub(super) fn note_folder(&self) {
        let cwd = &self.machine.meta().cwd;
        if *cwd == self.shared.setup.settings.cwd && !self.calls.folder().is_by_user(cwd) {
            self.calls.folder().choose(cwd);
        }
        self.calls.folder().at(cwd);
    }

    /// Why nothing is done in a directory; `by_user`: the user chose it for this session.
    pub(super) fn refusal_of(&self, cwd: &Path, by_user: bool) -> Option<String> {
        let own = &self.shared.setup.settings.own_dirs;
        let refusal = classify::no_place_to_work(cwd, own)?;
        (refusal.always || !by_user).then(|| {
            let why = if refusal.always {
                format!("{} {}, and no session works there. Choose another directory", cwd.display(), refusal.why)
            } else {
                format!("{} {}, and only the session's file names it. Choose the directory", cwd.display(), refusal.why)
            };
            let session = &self.machine.meta().id;
            format!("{why} with /cwd DIR, or with `lisle sessions set {session} --cwd DIR` and a start in it.")
        })
    }

    /// Error of a turn in a directory that is no place to work in.
    pub(super) fn refused_folder(&self) -> Option<ProviderError> {
        let cwd = &self.machine.meta().cwd;
        let text = self.refusal_of(cwd, self.calls.folder().is_by_user(cwd))?;
        Some(ProviderError {
            code: "invalid_request",
            title: "Not a working directory".to_owned(),
            text,
            detail: String::new(),
            retry: false,
            after: None,
        })
    }
}
