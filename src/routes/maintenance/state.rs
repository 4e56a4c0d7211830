//! Model of a store's directory, and the actions on it.

use crate::domain::ids::{At, SessionId};
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Name of a store's file.
pub const STORE_FILE: &str = "sessions.json";

/// Facts of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaintainedRow {
    /// Key.
    pub key: String,
    /// Conversation.
    pub session: SessionId,
    /// File of the conversation, where the row names one; no path.
    pub file: Option<String>,
    /// Last change.
    pub updated_at: Option<At>,
    /// A turn runs.
    pub running: bool,
    /// A person flagged the conversation.
    pub flagged: bool,
    /// Main session of the agent.
    pub is_main: bool,
    /// Run of a scheduled job.
    pub is_run: bool,
    /// Model, for the report.
    pub model: Option<String>,
}

impl MaintainedRow {
    /// Tells if a file is this row's conversation.
    #[must_use]
    pub fn owns(&self, file: &StoreFile) -> bool {
        match &file.kind {
            FileKind::Conversation { session } => *session == self.session || Some(&file.name) == self.file.as_ref(),
            FileKind::Store | FileKind::StoreBackup { .. } | FileKind::Archive { .. } | FileKind::Other => false,
        }
    }
}

/// Reason for an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveReason {
    /// A reset.
    Reset,
    /// The row was removed.
    Deleted,
    /// The file was rewritten.
    Backup,
}

impl ArchiveReason {
    fn word(self) -> &'static str {
        match self {
            Self::Reset => "reset",
            Self::Deleted => "deleted",
            Self::Backup => "bak",
        }
    }
}

/// Kind of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// `sessions.json`
    Store,
    /// `sessions.json.bak.<ms>`
    StoreBackup {
        /// Time of the copy.
        at: At,
    },
    /// Conversation, with its topics and checkpoints.
    Conversation {
        /// Conversation.
        session: SessionId,
    },
    /// Conversation that was put away, such as one in the trash.
    Archive {
        /// Reason.
        reason: ArchiveReason,
        /// Time.
        at: At,
    },
    /// Anything else, which is counted and never touched.
    Other,
}

impl FileKind {
    /// Kind by the name of a file, in the reference's layout.
    #[must_use]
    pub fn of_name(name: &str) -> Self {
        if name == STORE_FILE {
            return Self::Store;
        }
        let backup = name.strip_prefix(STORE_FILE).and_then(|rest| rest.strip_prefix(".bak."));
        if let Some(at) = backup.and_then(|ms| ms.parse().ok()) {
            return Self::StoreBackup { at: At(at) };
        }
        for reason in [ArchiveReason::Reset, ArchiveReason::Deleted, ArchiveReason::Backup] {
            let time = name.rsplit_once(&format!(".jsonl.{}.", reason.word())).map(|(_, time)| time);
            if let Some(at) = time.and_then(archive_time) {
                return Self::Archive { reason, at };
            }
        }
        let stem = name.strip_suffix(".jsonl").map(|stem| stem.split_once(".checkpoint.").map_or(stem, |(id, _)| id));
        let id = stem.map(|stem| stem.split_once("-topic-").map_or(stem, |(id, _)| id));
        match id.and_then(|id| SessionId::parse(id).ok()) {
            Some(session) => Self::Conversation { session },
            None => Self::Other,
        }
    }
}

/// Name of an archive: `<file>.<reason>.<time>`, where the time has dashes for colons.
#[must_use]
pub fn archive_name(file: &str, reason: ArchiveReason, at: At) -> String {
    format!("{file}.{}.{}", reason.word(), iso_name(at))
}

/// Time in names of files: ISO-8601 in UTC with dashes for colons.
#[must_use]
pub fn iso_name(at: At) -> String {
    let time = Timestamp::from_millisecond(at.0).unwrap_or_default().to_zoned(TimeZone::UTC);
    time.strftime("%Y-%m-%dT%H-%M-%S%.3fZ").to_string()
}

/// Time in the name of an archive.
#[must_use]
pub fn archive_time(text: &str) -> Option<At> {
    let (date, time) = text.split_once('T')?;
    let time: Timestamp = format!("{date}T{}", time.replace('-', ":")).parse().ok()?;
    Some(At(time.as_millisecond()))
}

/// Name of a copy of the store.
pub(super) fn backup_name(at: At) -> String {
    format!("{STORE_FILE}.bak.{}", at.0)
}

/// File of a store's directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreFile {
    /// Name in the directory.
    pub name: String,
    /// Bytes.
    pub bytes: u64,
    /// Last change.
    pub modified: At,
    /// Kind.
    pub kind: FileKind,
    /// Never touched: a conversation that runs, is flagged, or has no route.
    pub keep: bool,
}

/// Rows and files of one agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreState {
    /// Agent.
    pub agent: String,
    /// Path of the store's file.
    pub path: String,
    /// Rows.
    pub rows: Vec<MaintainedRow>,
    /// Files.
    pub files: Vec<StoreFile>,
}

/// Reason for the removal of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowRemoval {
    /// Its conversation does not exist.
    PruneMissing,
    /// It is too old.
    PruneStale,
    /// There are too many rows.
    CapOverflow,
    /// The directory is too big.
    EvictBudget,
    /// The run of a scheduled job is too old.
    ExpiredRun,
}

impl RowRemoval {
    /// Word in reports.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::PruneMissing => "prune-missing",
            Self::PruneStale => "prune-stale",
            Self::CapOverflow => "cap-overflow",
            Self::EvictBudget => "evict-budget",
            Self::ExpiredRun => "expired-run",
        }
    }
}

/// Action on a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MaintenanceAction {
    /// Remove a row.
    RemoveRow {
        /// Key.
        key: String,
        /// Reason.
        reason: RowRemoval,
    },
    /// Put a conversation away: the trash in lisle's workspaces, the other name in a foreign directory.
    ArchiveConversation {
        /// File.
        file: String,
        /// Name of the archive.
        archive: String,
    },
    /// Delete an archive that is too old.
    DeleteArchive {
        /// File.
        file: String,
    },
    /// Copy the store's file. The file itself stays: other actions remove rows, and it is replaced whole.
    CopyStore {
        /// Name of the copy.
        backup: String,
    },
    /// Delete an old copy of the store.
    DeleteBackup {
        /// File.
        file: String,
    },
    /// Delete a file because the directory is too big.
    DeleteFile {
        /// File.
        file: String,
    },
}

impl MaintenanceAction {
    /// Line for people.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::RemoveRow { key, reason: RowRemoval::PruneMissing } => format!("Remove row {key}: no conversation"),
            Self::RemoveRow { key, reason: RowRemoval::PruneStale } => format!("Remove row {key}: too old"),
            Self::RemoveRow { key, reason: RowRemoval::CapOverflow } => format!("Remove row {key}: too many rows"),
            Self::RemoveRow { key, reason: RowRemoval::EvictBudget } => format!("Remove row {key}: disk limit"),
            Self::RemoveRow { key, reason: RowRemoval::ExpiredRun } => format!("Remove row {key}: run expired"),
            Self::ArchiveConversation { file, .. } => format!("Archive conversation {file}"),
            Self::DeleteArchive { file } => format!("Delete archive {file}: too old"),
            Self::CopyStore { backup } => format!("Copy store to {backup}"),
            Self::DeleteBackup { file } => format!("Delete store copy {file}"),
            Self::DeleteFile { file } => format!("Delete {file}: disk limit"),
        }
    }
}

impl StoreState {
    /// Bytes of all files.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.files.iter().fold(0, |sum, file| sum.saturating_add(file.bytes))
    }

    /// Copies of the store, newest first.
    pub(super) fn backups(&self) -> Vec<(At, String)> {
        let of = |file: &StoreFile| match file.kind {
            FileKind::StoreBackup { at } => Some((at, file.name.clone())),
            _ => None,
        };
        let mut backups: Vec<(At, String)> = self.files.iter().filter_map(of).collect();
        backups.sort_by(|a, b| b.cmp(a));
        backups
    }

    /// Applies an action to the model.
    pub fn apply(&mut self, action: &MaintenanceAction) {
        match action {
            MaintenanceAction::RemoveRow { key, .. } => self.rows.retain(|row| row.key != *key),
            MaintenanceAction::ArchiveConversation { file, archive } => {
                let at = archive.rsplit_once(".deleted.").and_then(|(_, time)| archive_time(time)).unwrap_or_default();
                if let Some(found) = self.files.iter_mut().find(|one| one.name == *file) {
                    found.name.clone_from(archive);
                    found.kind = FileKind::Archive { reason: ArchiveReason::Deleted, at };
                }
            }
            MaintenanceAction::CopyStore { backup } => {
                let store = self.files.iter().find(|file| file.kind == FileKind::Store);
                let kind = FileKind::of_name(backup);
                if let (Some(store), FileKind::StoreBackup { at }) = (store, &kind) {
                    let copy = StoreFile { name: backup.clone(), bytes: store.bytes, modified: *at, kind, keep: false };
                    self.files.push(copy);
                }
            }
            MaintenanceAction::DeleteArchive { file }
            | MaintenanceAction::DeleteBackup { file }
            | MaintenanceAction::DeleteFile { file } => {
                self.files.retain(|one| one.name != *file);
            }
        }
    }
}
