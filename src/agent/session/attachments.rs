//! Files that go along with messages: copies that no message has yet, and the shelf of what is sent.

use crate::agent::model_context::media::Shelf;
use crate::domain::attachment::Attachment;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Attachments of a session.
#[derive(Debug, Default)]
pub(super) struct Attachments {
    /// Copies of files that no message has yet: only these may be removed when they are wanted no longer.
    loose: Vec<PathBuf>,
    /// Files that go along, as they are sent.
    shelf: Arc<Shelf>,
    /// Last notice about files that the model cannot see.
    told_unseen: Option<String>,
}

impl Attachments {
    /// A copy was made, or stands in a draft.
    pub(super) fn add(&mut self, path: &Path) {
        if !self.loose.iter().any(|known| known == path) {
            self.loose.push(path.to_owned());
        }
    }

    /// Forgets a copy; true if no message has it.
    pub(super) fn take(&mut self, path: &Path) -> bool {
        let before = self.loose.len();
        self.loose.retain(|known| known != path);
        self.loose.len() != before
    }

    /// The files belong to a message from now on.
    pub(super) fn sent(&mut self, files: &[Attachment]) {
        for file in files {
            self.take(&file.path);
        }
    }

    /// The shelf, for files of this session's folder.
    pub(super) fn shelf(&self, session_dir: &Path) -> Arc<Shelf> {
        self.shelf.belongs_to(session_dir);
        Arc::clone(&self.shelf)
    }

    /// Words about files that the model cannot see, unless they were said last.
    pub(super) fn news_of_unseen(&mut self, words: Option<String>) -> Option<String> {
        let words = words.filter(|words| self.told_unseen.as_ref() != Some(words))?;
        self.told_unseen = Some(words.clone());
        Some(words)
    }
}
