//! Errors of reading and saving, with the path and what to do.

use super::format::layout;
use std::path::{Path, PathBuf};

/// Error of reading or saving.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A file call failed.
    #[error("cannot {doing} {}: {source}{}", .path.display(), advice(.doing, .source))]
    Io {
        /// Operation: `read`, `write` …
        doing: &'static str,
        /// With which file.
        path: PathBuf,
        /// Error of the system.
        source: std::io::Error,
    },
    /// No such session.
    #[error("there is no session in {}: it has no session.jsonl. Choose another one from the list", .path.display())]
    NoSession {
        /// The directory.
        path: PathBuf,
    },
    /// Another process took the session's lock first.
    #[error("{} is being written by {holder}. Close it there, or choose another session", .path.display())]
    Held {
        /// The session's directory.
        path: PathBuf,
        /// Holder.
        holder: String,
    },
    /// Another process took the session over while this one wrote it.
    #[error("{} was taken over by {holder}: nothing more is written here{}. Open it again to read on", .path.display(), unwritten_words(*.unwritten))]
    TakenOver {
        /// The session's directory.
        path: PathBuf,
        /// New holder.
        holder: String,
        /// Number of rows that were not written; they are kept in `session.jsonl.salvage`.
        unwritten: usize,
    },
    /// The named path is no session of a known program.
    #[error("cannot import {}: {why}", .path.display())]
    NoImport {
        /// The file or directory.
        path: PathBuf,
        /// Reason, and what to name instead.
        why: &'static str,
    },
    /// The header does not fit into what other programs read of it.
    #[error("the header of {} would be {excess} bytes too long. Remove some labels or shorten the title", .path.display())]
    HeaderTooLong {
        /// The session's file.
        path: PathBuf,
        /// Number of excess bytes.
        excess: usize,
    },
    /// No id was free.
    #[error("no free name for a session in {}. Remove some of today's sessions", .path.display())]
    NoName {
        /// The directory of all sessions.
        path: PathBuf,
    },
    /// No such row.
    #[error("the session in {} has no message {message} (any more). Choose another one", .path.display())]
    NoMessage {
        /// The session's directory.
        path: PathBuf,
        /// The message's id.
        message: String,
    },
    /// Nothing of this name lies in the trash.
    #[error("{} does not lie in the trash (any more). Look at what is there", .path.display())]
    NotInTrash {
        /// The directory that it would be.
        path: PathBuf,
    },
    /// A definition cannot be added.
    #[error("{} is left as it is: {why}.", .path.display())]
    Definition {
        /// The file.
        path: PathBuf,
        /// Reason.
        why: String,
    },
    /// The session's writer failed inside lisle.
    #[error("writing {} failed inside lisle, the log has it. Copy what you need and start lisle again", .path.display())]
    Broken {
        /// The session's directory.
        path: PathBuf,
    },
    /// The session's writer has ended.
    #[error("the session {} is closed and takes no more rows. Open it again", .path.display())]
    Closed {
        /// The session's directory.
        path: PathBuf,
    },
}

impl StoreError {
    /// Rows that came after a takeover, and the file that has them.
    pub fn salvaged(&self) -> Option<(usize, PathBuf)> {
        match self {
            Self::TakenOver { path, unwritten, .. } if *unwritten > 0 => Some((*unwritten, path.join(layout::SALVAGE))),
            _ => None,
        }
    }

    pub(crate) fn io(doing: &'static str, path: &Path, source: std::io::Error) -> Self {
        Self::Io { doing, path: path.to_owned(), source }
    }
}

/// Fate of rows that came too late.
fn unwritten_words(rows: usize) -> String {
    match rows {
        0 => String::new(),
        1 => "; one row that came too late is kept in its session.jsonl.salvage".to_owned(),
        n => format!("; {n} rows that came too late are kept in its session.jsonl.salvage"),
    }
}

/// Advice for an error, as the end of a sentence.
fn advice(doing: &str, error: &std::io::Error) -> &'static str {
    use std::io::ErrorKind as Kind;
    // What only looks at something keeps nothing for later.
    let looks = matches!(doing, "import" | "export" | "search" | "open the workspace" | "work in");
    match error.kind() {
        Kind::StorageFull | Kind::QuotaExceeded if looks => ". Free some space and try again",
        Kind::ReadOnlyFilesystem if looks => ". The file system is read-only; mount it writable",
        Kind::NotADirectory if looks => ". Name a directory",
        Kind::StorageFull | Kind::QuotaExceeded => {
            ". Free some space; what is unsaved is kept in memory and tried again"
        }
        Kind::ReadOnlyFilesystem => {
            ". The file system is read-only; mount it writable, what is unsaved is kept in memory"
        }
        Kind::PermissionDenied => ". Check the owner and the rights of the file and of the directories above it",
        Kind::NotFound => ". Was it moved or deleted?",
        _ if looks => ". Check the disk and try again",
        _ => ". Check the disk; what is unsaved is kept in memory and tried again",
    }
}
