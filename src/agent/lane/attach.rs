//! Files that go along with a message to come: copied into the session, and removed again where they were not sent.

use super::super::desk::blocking;
use super::super::files::Standing;
use super::super::step::Safety;
use super::{Lane, ToLane};
use crate::domain::Event;
use crate::domain::contract::Act;
use crate::tools::keep;
use std::path::{Path, PathBuf};

/// The copies that no message has yet: only these may be removed when they are wanted no longer.
#[derive(Debug, Default)]
pub(super) struct Loose(Vec<PathBuf>);

impl Loose {
    /// A copy was made, or stands in a draft.
    pub(super) fn add(&mut self, path: &Path) {
        if !self.0.iter().any(|known| known == path) {
            self.0.push(path.to_owned());
        }
    }

    /// Whether it was one; it is none any more.
    pub(super) fn take(&mut self, path: &Path) -> bool {
        let before = self.0.len();
        self.0.retain(|known| known != path);
        self.0.len() != before
    }
}

impl Lane {
    /// Copies the file beside other work; the answer is an event.
    pub(super) async fn attach(&mut self, path: PathBuf) {
        // A copy in a session that is nowhere would be found by nobody.
        if matches!(self.files.standing(), Standing::New { .. }) {
            self.keep_meta(Safety::Written).await;
        }
        if matches!(self.files.standing(), Standing::New { .. }) {
            let made = Err("The session could not be written, so there is no place for a copy.".to_owned());
            return self.out.send(Event::Attached { path, made }).await;
        }
        let (place, me, written) = (self.site(None).place, self.me.clone(), path.clone());
        tokio::spawn(async move {
            let made = blocking(move || keep::take(&written, &place)).await;
            let made = made.unwrap_or_else(|| Err("The file could not be looked at; the log says more.".to_owned()));
            // A lane that ended has nobody to tell.
            let _ = me.send(ToLane::Attached { path, made }).await;
        });
    }

    /// A copy was made, or not.
    pub(super) async fn attached(
        &mut self,
        path: PathBuf,
        made: Result<crate::domain::attachment::Attachment, String>,
    ) {
        if let Ok(file) = &made {
            self.loose.add(&file.path);
        }
        self.out.send(Event::Attached { path, made }).await;
    }

    /// A copy is wanted no longer.
    pub(super) async fn detach(&mut self, path: PathBuf) {
        if !self.loose.take(&path) {
            return;
        }
        let session = self.shared.setup.store.session_dir(&self.machine.meta.id);
        blocking(move || keep::remove(&path, &session)).await;
    }

    /// What is sent belongs to a message from now on.
    pub(super) fn note_sent(&mut self, act: &Act) {
        if let Act::Send { attachments, .. } | Act::Steer { attachments, .. } = act {
            for file in attachments {
                self.loose.take(&file.path);
            }
        }
    }
}
