//! Errors of reading and saving, with the path and what to do.

use super::format::layout;
use std::path::{Path, PathBuf};

/// Error of reading or saving.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A file call failed.
    #[error("can't {doing} {}: {source}{}", .path.display(), advice(.doing, .source))]
    Io {
        /// Operation: `read`, `write` …
        doing: &'static str,
        /// With which file.
        path: PathBuf,
        /// Error of the system.
        source: std::io::Error,
    },
    /// No such session.
    #[error("no session in {}: session.jsonl is missing. Choose another one from the list", .path.display())]
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
    #[error("{} was taken over by {holder}; writing stopped here{}. Reopen it to continue reading", .path.display(), unwritten_words(*.unwritten))]
    TakenOver {
        /// The session's directory.
        path: PathBuf,
        /// New holder.
        holder: String,
        /// Number of rows that were not written; they are kept in `session.jsonl.salvage`.
        unwritten: usize,
    },
    /// The named path is no session of a known program.
    #[error("can't import {}: {why}", .path.display())]
    NoImport {
        /// The file or directory.
        path: PathBuf,
        /// Reason, and what to name instead.
        why: &'static str,
    },
    /// Its import lies in the trash, which counts as imported.
    #[error("its import is in the trash as {trash}: restore it with `lisle sessions restore {trash}`")]
    Trashed {
        /// Name in the trash.
        trash: String,
    },
    /// An import was stopped by its user; nothing of the session that it was at stays.
    #[error("the import was stopped")]
    Stopped,
    /// The header does not fit into what other programs read of it.
    #[error("header of {} too long by {excess} bytes. Remove some labels or shorten the title", .path.display())]
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
    #[error("no message {message} in the session in {}. Choose another one", .path.display())]
    NoMessage {
        /// The session's directory.
        path: PathBuf,
        /// The message's id.
        message: String,
    },
    /// Nothing of this name lies in the trash.
    #[error("not in the trash: {}. List the trash to see its contents", .path.display())]
    NotInTrash {
        /// The directory that it would be.
        path: PathBuf,
    },
    /// A definition cannot be added.
    #[error("{} unchanged: {why}.", .path.display())]
    Definition {
        /// The file.
        path: PathBuf,
        /// Reason.
        why: String,
    },
    /// A link stands where lisle keeps a folder or file of its own.
    #[error("{} is a link, and lisle follows none to its own files: nothing was read or written. Put the folder or file itself there, or remove the link", .path.display())]
    Linked {
        /// The link.
        path: PathBuf,
    },
    /// The session's writer failed inside lisle.
    #[error("internal error writing {}, see the log. Copy what you need and restart lisle", .path.display())]
    Broken {
        /// The session's directory.
        path: PathBuf,
    },
    /// The session's writer has ended.
    #[error("session {} is closed. Reopen it to write", .path.display())]
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

    /// The error in words for a process that ends with it: nothing stays in its memory.
    #[must_use]
    pub fn at_end(&self) -> String {
        match self {
            Self::Io { doing, path, source } => {
                format!("can't {doing} {}: {source}{}", path.display(), advice("export", source))
            }
            other => other.to_string(),
        }
    }

    /// The error of an import, which keeps nothing in memory for later: `sessions` is where it wrote.
    pub(super) fn of_import(self, sessions: &Path) -> Self {
        use std::io::ErrorKind as Kind;
        match self {
            Self::Io { source, .. }
                if matches!(source.kind(), Kind::StorageFull | Kind::QuotaExceeded | Kind::ReadOnlyFilesystem) =>
            {
                Self::io(IMPORTS, sessions, source)
            }
            other => other,
        }
    }

    /// True for a pipe, a device or a folder in the place of a file, and for a file that is too long to be lisle's.
    pub(super) fn is_of_no_file(&self) -> bool {
        use std::io::ErrorKind as Kind;
        matches!(self, Self::Io { source, .. } if matches!(source.kind(), Kind::InvalidInput | Kind::FileTooLarge))
    }

    pub(crate) fn io(doing: &'static str, path: &Path, source: std::io::Error) -> Self {
        Self::Io { doing, path: path.to_owned(), source }
    }
}

/// Verb of an import's errors where it writes.
const IMPORTS: &str = "import to";

/// Fate of rows that came too late.
fn unwritten_words(rows: usize) -> String {
    match rows {
        0 => String::new(),
        1 => "; 1 late row saved in its session.jsonl.salvage".to_owned(),
        n => format!("; {n} late rows saved in its session.jsonl.salvage"),
    }
}

/// Advice for an error, as the end of a sentence.
fn advice(doing: &str, error: &std::io::Error) -> &'static str {
    use std::io::ErrorKind as Kind;
    // What only looks at something keeps nothing for later.
    let looks = matches!(doing, IMPORTS | "import" | "export" | "search" | "open the workspace" | "work in");
    match error.kind() {
        Kind::StorageFull | Kind::QuotaExceeded if looks => ". Free some space and try again",
        Kind::ReadOnlyFilesystem if looks => ". The file system is read-only; mount it writable",
        Kind::NotADirectory if looks => ". Name a directory",
        Kind::StorageFull | Kind::QuotaExceeded => ". Free some space; unsaved data stays in memory and is retried",
        Kind::ReadOnlyFilesystem => ". The file system is read-only; mount it writable. Unsaved data stays in memory",
        Kind::PermissionDenied => ". Check owner and permissions of the file and its parent directories",
        Kind::NotFound => ". Check if it was moved or deleted",
        Kind::InvalidInput | Kind::FileTooLarge => ". Move it out of the way",
        _ if looks => ". Check the disk and try again",
        _ => ". Check the disk; unsaved data stays in memory and is retried",
    }
}
