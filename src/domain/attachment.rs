//! Files that go along with a message or a result: kept below the session's folder, sent as the provider can take them.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A file of a session that goes to the model beside text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// Its name as the user knows it.
    pub name: String,
    /// The copy that the session keeps: absolute.
    pub path: PathBuf,
    /// What it is.
    pub kind: AttachmentKind,
    /// Its media type: `image/png`, `application/pdf`, `text/plain` …
    pub mime: String,
    /// Bytes of the copy.
    pub bytes: u64,
}

/// What a file is to a model. The words are Craft Agents'.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AttachmentKind {
    /// A picture that models can look at.
    Image,
    /// A PDF.
    Pdf,
    /// Text that is sent as text.
    Text,
    /// Anything else: the model is told that it is there.
    Unknown,
}
