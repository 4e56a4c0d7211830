//! Progress of saving: the draft, and what writes came to.

use crate::domain::message::UserText;
use crate::store::StoreError;

/// Unsent text of a session.
#[derive(Debug, Default)]
pub(super) struct Draft {
    /// Newest draft, which the files have.
    said: UserText,
    /// Drafts of clients by name, newest last.
    by_client: Vec<(String, UserText)>,
    /// It could not be saved.
    unsaved: bool,
}

impl Draft {
    /// Draft for this client: its own, else the newest.
    pub(super) fn said(&self, client: &str) -> &UserText {
        self.by_client.iter().find(|(name, _)| name == client).map_or(&self.said, |(_, said)| said)
    }

    /// The draft as the files have it.
    pub(super) fn read(&mut self, said: UserText) {
        self.said = said;
    }

    /// A client's draft, not saved yet. Returns what the files are to have: this one, or the newest of another client
    /// where it is empty.
    pub(super) fn set(&mut self, client: &str, said: UserText) -> UserText {
        self.by_client.retain(|(name, _)| name != client);
        if !said.is_empty() {
            self.by_client.push((client.to_owned(), said));
        }
        self.said = self.by_client.last().map(|(_, said)| said.clone()).unwrap_or_default();
        self.unsaved = true;
        self.said.clone()
    }

    /// Nobody typed anything.
    pub(super) fn is_empty(&self) -> bool {
        self.said.is_empty() && self.by_client.is_empty()
    }

    /// The draft is on disk.
    pub(super) fn saved(&mut self) {
        self.unsaved = false;
    }

    /// The draft where it could not be saved; empty otherwise.
    pub(super) fn unsaved(&self) -> UserText {
        if self.unsaved { self.said.clone() } else { UserText::default() }
    }
}

/// Results of writes.
#[derive(Debug, Default)]
pub(super) struct Saving {
    /// Error of the last attempt to save the properties.
    refused: Option<StoreError>,
    /// Another process took the session over, which a write found out: nothing new begins here.
    taken_over: bool,
    /// Properties were chosen before anything was said; the first message brings them to disk.
    postponed: bool,
}

impl Saving {
    /// Notes the result of writing messages or the queue.
    pub(super) fn note(&mut self, kept: &Result<(), StoreError>) {
        self.taken_over |= matches!(kept, Err(StoreError::TakenOver { .. }));
    }

    /// Another process took the session over.
    pub(super) fn is_taken_over(&self) -> bool {
        self.taken_over
    }

    /// Properties wait for the first message.
    pub(super) fn postpone(&mut self) {
        self.postponed = true;
    }

    /// True if properties wait for the first message.
    pub(super) fn is_postponed(&self) -> bool {
        self.postponed
    }

    /// Takes the mark that properties wait.
    pub(super) fn take_postponed(&mut self) -> bool {
        std::mem::take(&mut self.postponed)
    }

    /// The files were read anew.
    pub(super) fn reset(&mut self) {
        self.taken_over = false;
    }

    /// Notes that the properties could not be saved.
    pub(super) fn refuse(&mut self, error: StoreError) {
        self.refused = Some(error);
    }

    /// Takes the error of the last attempt to save the properties.
    pub(super) fn take_refused(&mut self) -> Option<StoreError> {
        self.refused.take()
    }
}
