//! Files that go along with a message to come: copied into the session, and removed again where they were not sent.

use super::super::asker::Asker;
use super::super::blocking::blocking;
use super::super::mailbox::Report;
use super::super::session_files::FilesState;
use super::SessionActor;
use crate::agent::machine_io::Safety;
use crate::domain::attachment::{Attachment, AttachmentKind};
use crate::domain::notice::{Level, Notice};
use crate::protocol::{SessionCommand, SessionEvent};
use crate::tools::files::attachments;
use std::path::PathBuf;

impl SessionActor {
    /// Copies the file beside other work; the answer is an event.
    pub(super) async fn attach(&mut self, path: PathBuf) {
        // A copy in a session that is nowhere would be found by nobody.
        if matches!(self.files.ownership(), FilesState::New { .. }) {
            self.keep_meta(Safety::Written).await;
        }
        if matches!(self.files.ownership(), FilesState::New { .. }) {
            let made = Err("Not attached: can't write to the session.".to_owned());
            return self.out.send(SessionEvent::Attached { path, made });
        }
        let (place, mailbox, written) = (self.site(None).place, self.mailbox.clone(), path.clone());
        let asker = self.out.asker().cloned();
        tokio::spawn(async move {
            let made = blocking(move || attachments::take(&written, &place)).await;
            let made = made.unwrap_or_else(|| Err("Can't read the file; see the log.".to_owned()));
            // An actor that ended has nobody to tell.
            let _ = mailbox.report(Report::Attached { path, made, asker }).await;
        });
    }

    /// A copy was made, or not.
    pub(super) async fn attached(&mut self, path: PathBuf, made: Result<Attachment, String>, asker: Option<&Asker>) {
        let unseen = made.as_ref().ok().and_then(|file| self.unseen(std::slice::from_ref(file)));
        if let Ok(file) = &made {
            self.attachments.add(&file.path);
        }
        self.answer(SessionEvent::Attached { path, made }, asker);
        self.tell_unseen(unseen).await;
    }

    /// Files that the session's model is known to be unable to see, in words.
    fn unseen(&self, files: &[Attachment]) -> Option<String> {
        let (info, provider) = self.connection()?;
        let model = self.own_model(&info);
        let known = provider.known(&model);
        let of = |kind: AttachmentKind, can: Option<bool>| {
            let names =
                files.iter().filter(|file| file.kind == kind && can == Some(false)).map(|file| file.name.as_str());
            names.collect::<Vec<_>>().join(", ")
        };
        let (pictures, documents) = (of(AttachmentKind::Image, known.vision), of(AttachmentKind::Pdf, known.pdf));
        let model = if model.is_empty() { info.name.to_string() } else { model };
        let what = match (pictures.as_str(), documents.as_str()) {
            ("", "") => return None,
            (pictures, "") => format!("can't read images: {pictures}"),
            ("", documents) => format!("can't read PDF: {documents}"),
            (pictures, documents) => format!("can't read images or PDF: {pictures}, {documents}"),
        };
        Some(format!("{model} {what}. Only the name is sent."))
    }

    async fn tell_unseen(&mut self, words: Option<String>) {
        // Once for the same files and the same model.
        let Some(words) = self.attachments.news_of_unseen(words) else { return };
        let notice = Notice::new(Level::Warning, words).hint("/model to switch");
        self.out.send(SessionEvent::Notice(notice));
    }

    /// Before a message goes: what of it the model cannot look at, where that was not said when it was attached.
    pub(super) async fn warn_of_unseen(&mut self, act: &SessionCommand) {
        if let SessionCommand::Send { attachments, .. } | SessionCommand::Steer { attachments, .. } = act {
            let unseen = self.unseen(attachments);
            self.tell_unseen(unseen).await;
        }
    }

    /// A copy is wanted no longer.
    pub(super) async fn detach(&mut self, path: PathBuf) {
        if !self.attachments.take(&path) {
            return;
        }
        let session = self.shared.setup.store.session_dir(&self.machine.meta().id);
        blocking(move || attachments::remove(&path, &session)).await;
    }

    /// Notes that the files now belong to a message.
    pub(super) fn note_sent(&mut self, act: &SessionCommand) {
        if let SessionCommand::Send { attachments, .. } | SessionCommand::Steer { attachments, .. } = act {
            self.attachments.sent(attachments);
        }
    }
}
