//! Files that go along with a message or a result: kept below the session's folder, sent as the provider can take them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The folder of a session that holds them.
pub const FOLDER: &str = "attachments";

/// Bytes of the largest file that can be attached.
pub const LARGEST: u64 = 20 * 1024 * 1024;

/// A file of a session that goes to the model beside text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Attachment {
    /// Its name as the user knows it.
    pub name: String,
    /// The copy that the session keeps: absolute. Empty where another program kept none.
    pub path: PathBuf,
    /// Kind of file.
    pub kind: AttachmentKind,
    /// Its media type: `image/png`, `application/pdf`, `text/plain` …
    pub mime: String,
    /// Bytes of the copy.
    pub bytes: u64,
    /// The file beside it that holds its text, where it is not text itself and that was taken out of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<PathBuf>,
}

/// Kind of an attached file. The words are Craft Agents'.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AttachmentKind {
    /// A picture that models can look at.
    Image,
    /// A PDF.
    Pdf,
    /// Text that is sent as text.
    Text,
    /// A document of an office program: sent as the text that was taken out of it.
    Office,
    /// Sound: the model only learns that it exists.
    Audio,
    /// Anything else: the model only learns that it exists.
    #[default]
    #[serde(other)]
    Unknown,
}

impl Attachment {
    /// The copy of this name in a session's own folder, whatever path was written down: a session that was moved still
    /// finds its files, and nothing outside is ever read for it.
    #[must_use]
    pub fn copy_in(&self, session: &Path) -> Option<PathBuf> {
        copy_in(session, &self.path)
    }
}

/// The media type of a picture that every provider takes, by its first bytes.
#[must_use]
pub fn image_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        _ if bytes.starts_with(b"\x89PNG\r\n\x1a\n") => Some("image/png"),
        _ if bytes.starts_with(b"\xff\xd8\xff") => Some("image/jpeg"),
        _ if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") => Some("image/gif"),
        _ if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") => Some("image/webp"),
        _ => None,
    }
}

/// Path of the file of this name in a session's own folder of attachments.
#[must_use]
pub fn copy_in(session: &Path, path: &Path) -> Option<PathBuf> {
    Some(session.join(FOLDER).join(path.file_name()?))
}
