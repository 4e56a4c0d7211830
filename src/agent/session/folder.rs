//! Refusal of a working directory that is no place to work in.

use super::SessionActor;
use crate::provider::ProviderError;
use crate::tools::files::classify;
use std::path::Path;

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
