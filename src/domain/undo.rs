//! Undo: what stood under a path before and after a change, what would be restored, and what a session changed.
//!
//! Values alone. What is kept on disk is the store's, what is restored when is the agent's.

use super::diff::FileDiff;
use super::ids::{At, MessageId};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What stands under a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Thing {
    /// Nothing.
    Absent,
    /// A folder; what is in it is told of each path.
    Folder {
        /// Permission bits.
        mode: u32,
    },
    /// A file of this content.
    File {
        /// SHA-256 in hexadecimal.
        hash: String,
        /// Permission bits.
        mode: u32,
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
        /// What it says.
        #[serde(with = "native")]
        target: PathBuf,
    },
    /// A pipe, a socket, a device.
    Special,
    /// Something whose content was not kept.
    Unkept {
        /// Why not, as the end of a sentence.
        why: String,
    },
}

impl Thing {
    /// Something whose content was not kept.
    #[must_use]
    pub fn unkept(why: impl Into<String>) -> Self {
        Thing::Unkept { why: why.into() }
    }

    /// The hash of its content, where that is known.
    #[must_use]
    pub fn hash(&self) -> Option<&str> {
        match self {
            Thing::File { hash, .. } => Some(hash),
            _ => None,
        }
    }
}

/// What a change did to one path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The path: absolute, without links.
    #[serde(with = "native")]
    pub path: PathBuf,
    /// What stood there before.
    pub before: Thing,
    /// What stood there after.
    pub after: Thing,
}

/// What is to be taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "undo", content = "with")]
pub enum UndoAim {
    /// The last turn that changed files.
    Last,
    /// The last undo.
    Redo,
    /// All that calls after this message changed.
    Since(MessageId),
}

/// What an undo would do. Nothing in it was done yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoPlan {
    /// What was asked for.
    pub aim: UndoAim,
    /// When the first of the changes was made; for a redo, when it was undone.
    pub at: At,
    /// What the user had asked for in that turn, on one line; empty where it is not known.
    pub about: String,
    /// There is something to be taken back, be it only that nothing of it can be.
    pub any: bool,
    /// The files, by path.
    pub files: Vec<UndoFile>,
    /// What is not known of these changes: one sentence each.
    pub gaps: Vec<String>,
}

/// One file of an [`UndoPlan`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoFile {
    /// The path: absolute, without links.
    #[serde(with = "native")]
    pub path: PathBuf,
    /// As the user reads it: relative to the working directory where it lies below it. Not sanitised.
    pub shown: String,
    /// What would happen to it.
    pub deed: UndoDeed,
    /// Lines that would come and go; `None` where it is no text.
    pub lines: Option<(u32, u32)>,
    /// Whether it can.
    pub state: UndoState,
    /// The command that ran while it was changed: by it, or by whoever wrote there meanwhile. `None` where it is certain
    /// whose change it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub during: Option<String>,
}

/// What an undo does to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UndoDeed {
    /// It was made, and goes.
    Remove,
    /// It was removed, and comes back.
    Bring,
    /// Its content goes back.
    Change,
    /// Only its permissions go back.
    Mode,
}

/// Whether a path can be restored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "state", content = "why")]
pub enum UndoState {
    /// It is as the change left it.
    Ready,
    /// Somebody changed it since: it is left unless it is named. Why that is thought, as a sentence.
    Changed(String),
    /// Somebody changed it between two of the changes: it goes back to what was written then, and before that only if it
    /// is named. Why that is thought, as a sentence.
    Between(String),
    /// It cannot be restored; why, as a sentence.
    Lost(String),
}

/// What a session changed, against what stood there first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// The files, by path.
    pub files: Vec<ChangedFile>,
    /// More files than are shown.
    pub more: usize,
    /// What is not known: one sentence each.
    pub gaps: Vec<String>,
}

/// A file that a session changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedFile {
    /// As the user reads it. Not sanitised.
    pub shown: String,
    /// What became of it.
    pub kind: ChangeKind,
    /// The change, where both sides are text and known.
    pub diff: Option<FileDiff>,
    /// Why there is no diff, or what else changed, in a few words.
    pub note: String,
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Either {
        Text(String),
        Bytes(Vec<u8>),
    }

    /// Writes a path.
    ///
    /// # Errors
    /// The serializer's.
    pub fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        let either = match path.to_str() {
            Some(text) => Either::Text(text.to_owned()),
            None => Either::Bytes(path.as_os_str().as_encoded_bytes().to_vec()),
        };
        either.serialize(to)
    }

    /// Reads a path.
    ///
    /// # Errors
    /// When it is neither a text nor a list of bytes.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        Ok(match Either::deserialize(from)? {
            Either::Text(text) => PathBuf::from(text),
            Either::Bytes(bytes) => super::from_bytes(bytes),
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
            let entry = Entry { path, before: Thing::Absent, after: Thing::Link { target: from_bytes(vec![0xe9]) } };
            let text = serde_json::to_string(&entry).unwrap();
            assert_eq!(serde_json::from_str::<Entry>(&text).unwrap(), entry);
        }
    }
}
