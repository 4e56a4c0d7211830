//! Undo: what stood under a path before and after a change, what would be restored, and what a session changed.
//!
//! Values alone. What is kept on disk is the store's, what is restored when is the agent's.

use super::diff::FileDiff;
use super::ids::{At, MessageId};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

/// Work of git that undo leaves.
pub const COMMITS_STAY: &str = "Commits, branches and the index stay; files are restored";

/// Kind of entry under a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum PathEntry {
    /// Nothing.
    Absent,
    /// A folder; its content has entries of its own.
    Folder {
        /// Permission bits.
        mode: u32,
        /// Its owner and extended attributes.
        #[serde(default, skip_serializing_if = "Attributes::is_unknown")]
        attributes: Attributes,
    },
    /// A file of this content.
    File {
        /// SHA-256 in hexadecimal.
        hash: String,
        /// Permission bits.
        mode: u32,
        /// Its owner and extended attributes.
        #[serde(default, skip_serializing_if = "Attributes::is_unknown")]
        attributes: Attributes,
    },
    /// A file that is too large to be read every time.
    Large {
        /// Its bytes.
        bytes: u64,
        /// Last change of its content, nanoseconds since the epoch.
        modified: i64,
        /// Permission bits.
        mode: u32,
    },
    /// A symbolic link. It is never followed.
    Link {
        /// Target of the link.
        #[serde(with = "native")]
        target: PathBuf,
        /// Its owner; users hang no attributes on links.
        #[serde(default, skip_serializing_if = "Attributes::is_unknown")]
        attributes: Attributes,
    },
    /// A pipe, a socket, a device.
    Special,
    /// Content that was not kept.
    Unkept {
        /// Reason, as the end of a sentence.
        why: String,
    },
}

/// Owner and extended attributes of a file, access lists among them.
///
/// Unknown attributes equal any: lists of earlier versions tell nothing of them, and no file differs for that.
#[derive(Clone, Debug, Default)]
pub struct Attributes(Option<Arc<KnownAttributes>>);

/// Attributes that are known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KnownAttributes {
    /// User and group; `None` for those of this process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<(u32, u32)>,
    /// Extended attributes by name; the values in hexadecimal.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub extended: BTreeMap<String, String>,
}

impl Attributes {
    /// Attributes that were looked at. Most files have none of their own, which takes no room.
    #[must_use]
    pub fn of(known: KnownAttributes) -> Self {
        static PLAIN: LazyLock<Arc<KnownAttributes>> = LazyLock::new(Arc::default);
        Self(Some(if known == **PLAIN { PLAIN.clone() } else { Arc::new(known) }))
    }

    /// The attributes; `None` where they are not known.
    #[must_use]
    pub fn known(&self) -> Option<&KnownAttributes> {
        self.0.as_deref()
    }

    /// Nothing is known of them.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        self.0.is_none()
    }
}

impl Serialize for Attributes {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.known().serialize(to)
    }
}

impl JsonSchema for Attributes {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Option::<KnownAttributes>::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Option::<KnownAttributes>::json_schema(generator)
    }
}

impl<'de> Deserialize<'de> for Attributes {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Option::<KnownAttributes>::deserialize(from)?.map_or_else(Self::default, Self::of))
    }
}

impl PartialEq for Attributes {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other) || one == other,
            _ => true,
        }
    }
}

impl Eq for Attributes {}

impl std::hash::Hash for Attributes {
    // Equal ones must hash alike, and the unknown equal all.
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}

impl PathEntry {
    /// Content that was not kept.
    #[must_use]
    pub fn unkept(why: impl Into<String>) -> Self {
        PathEntry::Unkept { why: why.into() }
    }

    /// The hash of its content, where that is known.
    #[must_use]
    pub fn hash(&self) -> Option<&str> {
        match self {
            PathEntry::File { hash, .. } => Some(hash),
            _ => None,
        }
    }
}

/// Change of one path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoEntry {
    /// The path: absolute, without links.
    #[serde(with = "native")]
    pub path: PathBuf,
    /// Entry before the change.
    pub before: PathEntry,
    /// Entry after the change.
    pub after: PathEntry,
}

/// Target of an undo.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "undo", content = "with")]
pub enum UndoAim {
    /// The last turn that changed files.
    Last,
    /// The last undo.
    Redo,
    /// All that calls after this message changed.
    Since(MessageId),
}

/// Preview of an undo. Nothing in it was done yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UndoPlan {
    /// Target.
    pub aim: UndoAim,
    /// Time of the first change; for a redo, of the undo.
    pub at: At,
    /// The user's request in that turn, on one line; empty if unknown.
    pub about: String,
    /// True if there is a change to undo, even if none of it can be.
    pub any: bool,
    /// The files, by path.
    pub files: Vec<UndoFile>,
    /// Gaps in what is known of these changes: one sentence each.
    pub gaps: Vec<String>,
    /// A command of these changes, or after them, made a commit or went to another branch. That stays.
    #[serde(default)]
    pub commits: bool,
}

/// One file of an [`UndoPlan`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UndoFile {
    /// The path: absolute, without links.
    #[serde(with = "native")]
    #[schemars(with = "native::NativePath")]
    pub path: PathBuf,
    /// As the user reads it: relative to the working directory where it lies below it. Not sanitised.
    pub shown: String,
    /// Planned action.
    pub deed: UndoDeed,
    /// Lines that would come and go; `None` where it is no text.
    pub lines: Option<(u32, u32)>,
    /// Possibility of the restoration.
    pub state: UndoState,
    /// The command that ran while it was changed: by it, or by whoever wrote there meanwhile. `None` where it is certain
    /// whose change it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub during: Option<String>,
}

/// Action of an undo on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UndoDeed {
    /// It was made, and goes.
    Remove,
    /// It was removed, and comes back.
    Bring,
    /// Content is restored.
    Change,
    /// Only its permissions, owner or attributes go back.
    Mode,
}

/// Possibility of restoring a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "state", content = "why")]
pub enum UndoState {
    /// It is as the change left it.
    Ready,
    /// Somebody changed it since: it is left unless it is named. Evidence, as a sentence.
    Changed(String),
    /// Somebody changed it between two of the changes: the content written then is restored, and
    /// the one before only if it is named. Evidence, as a sentence.
    Between(String),
    /// Restored it might make programs run what nobody approved: it is left unless it is named. Why, as a sentence.
    Risky(String),
    /// It cannot be restored; why, as a sentence.
    Lost(String),
}

/// Changes of a session, against the first known content.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Changes {
    /// The files, by path.
    pub files: Vec<ChangedFile>,
    /// More files than are shown.
    pub more: usize,
    /// Gaps in what is known: one sentence each.
    pub gaps: Vec<String>,
}

/// A file that a session changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedFile {
    /// As the user reads it. Not sanitised.
    pub shown: String,
    /// Kind of change.
    pub kind: ChangeKind,
    /// The change, where both sides are text and known.
    pub diff: Option<FileDiff>,
    /// Reason why there is no diff, or other changes, in a few words.
    pub note: String,
}

/// Kind of a file's change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeKind {
    /// It is new.
    Made,
    /// It is gone.
    Removed,
    /// It is another one.
    Changed,
}

/// Paths as text where they are text, else as a list of bytes: names of files need not be text.
pub mod native {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::path::{Path, PathBuf};

    /// Path as JSON.
    #[derive(Serialize, Deserialize, schemars::JsonSchema)]
    #[serde(untagged)]
    pub(super) enum NativePath {
        /// The usual path.
        Text(String),
        /// A path that is no text.
        Bytes(Vec<u8>),
    }

    /// Writes a path.
    ///
    /// # Errors
    /// The serializer's.
    pub fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        let either = match path.to_str() {
            Some(text) => NativePath::Text(text.to_owned()),
            None => NativePath::Bytes(path.as_os_str().as_encoded_bytes().to_vec()),
        };
        either.serialize(to)
    }

    /// Reads a path.
    ///
    /// # Errors
    /// If it is neither a text nor a list of bytes.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        Ok(match NativePath::deserialize(from)? {
            NativePath::Text(text) => PathBuf::from(text),
            NativePath::Bytes(bytes) => crate::domain::undo::from_bytes(bytes),
        })
    }
}

#[cfg(unix)]
fn from_bytes(bytes: Vec<u8>) -> PathBuf {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(not(unix))]
fn from_bytes(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_no_text_are_kept() {
        for path in [PathBuf::from("/w/a b"), from_bytes(b"/w/\xff\xfe".to_vec())] {
            let after = PathEntry::Link { target: from_bytes(vec![0xe9]), attributes: Attributes::default() };
            let entry = UndoEntry { path, before: PathEntry::Absent, after };
            let text = serde_json::to_string(&entry).unwrap();
            assert_eq!(serde_json::from_str::<UndoEntry>(&text).unwrap(), entry);
        }
    }
}
