//! Progress of saving: the draft, and what writes came to.

use crate::domain::message::UserText;
use crate::store::StoreError;

/// Unsent text of a session.
#[derive(Debug, Default)]
pub(super) struct Draft {
    said: UserText,
    /// It could not be saved.
    unsaved: bool,
}

impl Draft {
    pub(super) fn said(&self) -> &UserText {
        &self.said
    }

    /// The draft as the files have it.
    pub(super) fn read(&mut self, said: UserText) {
        self.said = said;
    }

    /// A draft that is not saved yet.
    pub(super) fn set(&mut self, said: &UserText) {
        self.said.clone_from(said);
        self.unsaved = true;
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
