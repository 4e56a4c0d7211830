//! A session's list of changes: `checkpoints/list.jsonl`, one JSON object a line, only ever appended to.
//!
//! A change is two lines, one before the tool runs and one after, so that a death in between is seen. A line that was
//! torn by a death is left out when the list is read, and ended before the next one is written.

use super::{Checkpoints, Sync};
use crate::domain::undo::UndoEntry;
use crate::domain::{At, CallId, MessageId, SessionId};
use crate::store::StoreError;
use crate::store::format::layout;
use crate::store::io::How;
use crate::store::io::whole_file::{self, make_dirs};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// One line of the list. Numbers rise by one, over changes and restorations together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case")]
pub enum Record {
    /// A call is about to run that may change files.
    Begun {
        /// The number of the change.
        change: u64,
        /// The call.
        call: CallId,
        /// The row of the call in the session that the list belongs to: ids of calls repeat, those of rows do not. `None`
        /// in lists of earlier versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        row: Option<MessageId>,
        /// The user's message that the turn began with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<MessageId>,
        /// Time.
        at: At,
        /// The tool.
        tool: String,
        /// The path or the command, on one line.
        subject: String,
        /// Entries that the call is known to change, with the state before it.
        #[serde(default)]
        entries: Vec<UndoEntry>,
    },
    /// The call has run.
    Ended {
        /// The number of the change.
        change: u64,
        /// Changed entries.
        #[serde(default)]
        entries: Vec<UndoEntry>,
        /// Gaps in what is known of it: one sentence each.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        gaps: Vec<String>,
        /// Time; `None` in lists of earlier versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<At>,
        /// True if nobody else can have made these changes. A command may run while the user, or
        /// another session, writes into the same directory, and nothing tells whose change it was.
        #[serde(default)]
        sure: bool,
        /// git made a commit meanwhile, or went to another branch.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        commits: bool,
        /// Another command ran when this one began: what lay there may have been its work, which is taken back a moment
        /// later where it configures or runs code.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        crowded: bool,
    },
    /// Files are about to be restored.
    Restoring {
        /// The number of the restoration.
        restore: u64,
        /// Time.
        at: At,
        /// The changes that it takes back.
        #[serde(default)]
        undoes: Vec<u64>,
        /// The restoration that it takes back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        redoes: Option<u64>,
        /// Planned state of each path.
        entries: Vec<UndoEntry>,
    },
    /// The changes were restored.
    Restored {
        /// The number of the restoration.
        restore: u64,
        /// Resulting state of each path.
        entries: Vec<UndoEntry>,
    },
}

impl Record {
    /// Number of the change.
    #[must_use]
    pub fn number(&self) -> u64 {
        match self {
            Record::Begun { change: n, .. }
            | Record::Ended { change: n, .. }
            | Record::Restoring { restore: n, .. }
            | Record::Restored { restore: n, .. } => *n,
        }
    }

    /// The paths in it.
    #[must_use]
    pub fn entries(&self) -> &[UndoEntry] {
        match self {
            Record::Begun { entries, .. }
            | Record::Ended { entries, .. }
            | Record::Restoring { entries, .. }
            | Record::Restored { entries, .. } => entries,
        }
    }
}

pub(super) const LIST: &str = "list.jsonl";

impl Checkpoints {
    fn list(&self) -> PathBuf {
        self.dir.join(LIST)
    }

    /// Adds a line to the session's list.
    ///
    /// # Errors
    /// When the session has no directory, or the line cannot be written.
    pub fn add(&self, record: &Record, sync: Sync) -> Result<(), StoreError> {
        let io = self.store.io();
        let path = self.list();
        let error = |e| StoreError::io("write", &path, e);
        let session = self.dir.parent().unwrap_or(&self.dir);
        // A session that was never written, or is gone, is not made by its undo.
        io.stat(session).map_err(error)?;
        let mut line = serde_json::to_vec(record).map_err(|e| error(e.into()))?;
        line.push(b'\n');
        make_dirs(io, &self.dir)?;
        let file = io.open(&path, How::Append).map_err(error)?;
        let len = io.stat_of(&file).map_err(error)?.len;
        let mut last = [b'\n'];
        if len > 0 {
            io.read_at(&file, len - 1, &mut last).map_err(error)?;
        }
        if last != [b'\n'] {
            line.insert(0, b'\n');
        }
        io.append(&file, &line).map_err(error)?;
        if self.syncs(sync) {
            io.fsync(&file).map_err(error)?;
            if len == 0 {
                io.fsync_dir(&self.dir).map_err(error)?;
            }
        }
        Ok(())
    }

    /// The lists of the other sessions of the workspace that were written at `since` or later. One that cannot be read is
    /// left out.
    #[must_use]
    pub fn others(&self, since: At) -> Vec<(SessionId, Vec<Record>)> {
        let io = self.store.io();
        let sessions = self.store.inner.layout.sessions();
        let own = self.dir.parent().and_then(Path::file_name);
        let names = io.list(&sessions).unwrap_or_default();
        let other = |name: OsString| {
            let id = SessionId::parse(name.to_str()?).ok().filter(|_| Some(name.as_os_str()) != own)?;
            let path = sessions.join(&name).join(layout::CHECKPOINTS).join(LIST);
            let written = io.stat(&path).ok().filter(|stat| stat.modified >= since.0)?;
            let bytes = whole_file::read(io, &path).ok().flatten().filter(|_| written.len > 0)?;
            Some((id, parse(&bytes)))
        };
        names.into_iter().filter_map(other).collect()
    }

    /// The session's list, oldest first; empty when there is none. Lines that cannot be read are left out.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn records(&self) -> Result<Vec<Record>, StoreError> {
        let bytes = whole_file::read(self.store.io(), &self.list())?.unwrap_or_default();
        Ok(parse(&bytes))
    }
}

pub(super) fn parse(bytes: &[u8]) -> Vec<Record> {
    bytes.split(|b| *b == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
}
