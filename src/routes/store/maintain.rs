//! Maintenance of a store on the disk: facts for the plan, and the plan's actions.
//!
//! A run that applies reads, plans and acts under one lock. The rows are written before a conversation is moved: a death
//! in between leaves a conversation without a row, never a row without its conversation.

use super::conversations::{Conversations, NamedFile, named_file};
use super::error::RouteStoreError;
use super::rows::RouteRows;
use super::store_file::{LockedStore, RouteStore};
use crate::domain::ids::{At, SessionId};
use crate::routes::key::{AgentId, KeyNames, SessionKey};
use crate::routes::maintenance::{
    FileKind, MaintainedRow, MaintenanceAction, MaintenancePlan, MaintenanceRequest, StoreFile, StoreReport,
    StoreState, plan, report_lines, will_apply,
};
use crate::routes::row::{SessionRow, StoredRow};
use serde_json::Value;
use std::collections::BTreeSet;

/// Store to maintain.
#[derive(Clone, Copy)]
pub struct MaintainedStore<'a> {
    /// Store.
    pub store: &'a RouteStore,
    /// Agent that it belongs to.
    pub agent: &'a AgentId,
    /// Names that its keys are read with.
    pub names: &'a KeyNames,
    /// Conversations.
    pub conversations: &'a dyn Conversations,
}

/// Result of [`maintain`].
#[derive(Clone, Debug)]
pub struct Maintained {
    /// Report.
    pub report: StoreReport,
    /// The same in lines.
    pub lines: Vec<String>,
    /// Damaged rows, which were kept, and actions that failed.
    pub warnings: Vec<String>,
    /// An action failed.
    pub has_failed: bool,
}

/// Plans the maintenance of a store, and applies it where the request says so. `request.active` has keys in any spelling.
///
/// # Errors
/// Fails if the store or a folder can't be read, or the rows can't be written. A file that can't be moved or deleted is
/// a warning.
pub fn maintain(place: MaintainedStore<'_>, request: &MaintenanceRequest<'_>) -> Result<Maintained, RouteStoreError> {
    // Without a store there is nothing to lock.
    if !will_apply(request) || !place.store.exists() {
        let rows = place.store.read()?;
        return Ok(planned(place, &rows, request)?.told(will_apply(request).then_some(rows.len())));
    }
    let locked = place.store.lock()?;
    let mut rows = locked.read(request.now)?;
    let mut planned = planned(place, &rows, request)?;
    apply(place, &locked, &mut rows, &mut planned, request.now)?;
    // Last, so that the plan is that of a dry run.
    place.store.remove_left_over();
    Ok(planned.told(Some(rows.len())))
}

/// Plan with what it was made of.
struct Planned<'a> {
    state: StoreState,
    plan: MaintenancePlan,
    request: MaintenanceRequest<'a>,
    active: BTreeSet<String>,
    warnings: Vec<String>,
    has_failed: bool,
}

impl Planned<'_> {
    /// Result; `applied` is the number of rows that are left.
    fn told(mut self, applied: Option<usize>) -> Maintained {
        if let Some(rows) = applied {
            self.plan.report = self.plan.report.applied(rows);
        }
        let request = MaintenanceRequest { active: &self.active, ..self.request };
        let lines = report_lines(&self.state, &request, &self.plan);
        Maintained { report: self.plan.report, lines, warnings: self.warnings, has_failed: self.has_failed }
    }
}

fn planned<'a>(
    place: MaintainedStore<'_>,
    rows: &RouteRows,
    request: &MaintenanceRequest<'a>,
) -> Result<Planned<'a>, RouteStoreError> {
    let key_of = |text: &str| SessionKey::resolve(text, place.agent, place.names).ok();
    let wanted: Vec<SessionKey> = request.active.iter().filter_map(|text| key_of(text)).collect();
    let is_active = |text: &str| request.active.contains(text) || key_of(text).is_some_and(|key| wanted.contains(&key));
    let active: BTreeSet<String> =
        rows.iter().map(|(text, _)| text).filter(|text| is_active(text)).map(str::to_owned).collect();
    let (state, damaged) = state_of(place, rows)?;
    let mut plan = plan(&state, &MaintenanceRequest { active: &active, ..*request });
    // They count as rows, and no action removes them.
    plan.report.before_count += damaged.len();
    plan.report.after_count += damaged.len();
    let mut warnings: Vec<String> = damaged.iter().map(|key| format!("row {key:?} is damaged; kept")).collect();
    let is_here = |key: &SessionKey| key.agent().is_none_or(|agent| agent == place.agent);
    if active.is_empty() {
        warnings.extend(wanted.iter().filter(|key| is_here(key)).map(|key| format!("no row for the active key {key}")));
    }
    Ok(Planned { state, plan, request: *request, active, warnings, has_failed: false })
}

/// Rows and files as the plan takes them, and the keys of damaged rows.
fn state_of(place: MaintainedStore<'_>, rows: &RouteRows) -> Result<(StoreState, Vec<String>), RouteStoreError> {
    let survey = place.conversations.survey(rows)?;
    let mut state = StoreState {
        agent: place.agent.to_string(),
        path: place.store.path().display().to_string(),
        rows: Vec::new(),
        files: place.store.files()?,
    };
    state.files.extend(survey.files);
    let mut damaged = Vec::new();
    for (text, row) in rows.iter() {
        match row {
            StoredRow::Row(row) => {
                let key = SessionKey::resolve(text, place.agent, place.names).ok();
                let session = &row.conversation.session_id;
                state.rows.push(MaintainedRow {
                    file: file_in_folder(&row, place.store),
                    running: is_running(&row) || survey.running.contains(session),
                    flagged: survey.flagged.contains(session),
                    is_main: key.as_ref().is_some_and(SessionKey::is_main),
                    is_run: key.as_ref().is_some_and(SessionKey::is_run),
                    model: row.shown_model().map(str::to_owned),
                    updated_at: row.updated_at,
                    session: row.conversation.session_id,
                    key: text.to_owned(),
                });
            }
            StoredRow::Unreadable(value) => {
                keep_files_of(&value, place.store, &mut state.files);
                damaged.push(text.to_owned());
            }
        }
    }
    Ok((state, damaged))
}

fn is_running(row: &SessionRow) -> bool {
    row.conversation.run.status.as_ref().is_some_and(|status| status == "running")
}

fn file_in_folder(row: &SessionRow, store: &RouteStore) -> Option<String> {
    match named_file(row.conversation.session_file.as_deref()?, store.folder()) {
        NamedFile::Inside(name) => Some(name),
        NamedFile::Outside(_) => None,
    }
}

/// Keeps the conversation of a row that can't be read.
fn keep_files_of(row: &Value, store: &RouteStore, files: &mut [StoreFile]) {
    let text = |key: &str| row.get(key).and_then(Value::as_str);
    let session = text("sessionId").and_then(|id| SessionId::parse(id).ok());
    let named = text("sessionFile").map(|file| named_file(file, store.folder()));
    for file in files {
        let is_its = matches!(&file.kind, FileKind::Conversation { session: of } if Some(of) == session.as_ref());
        let is_named = matches!(&named, Some(NamedFile::Inside(name)) if *name == file.name);
        file.keep |= is_its || is_named;
    }
}

/// Applies a plan: the copy of the store, the rows, then the files.
fn apply(
    place: MaintainedStore<'_>,
    locked: &LockedStore<'_>,
    rows: &mut RouteRows,
    planned: &mut Planned<'_>,
    now: At,
) -> Result<(), RouteStoreError> {
    let actions = &planned.plan.actions;
    for action in actions {
        if let MaintenanceAction::CopyStore { backup } = action {
            place.store.copy_to(backup)?;
        }
    }
    let mut removed = false;
    for action in actions {
        if let MaintenanceAction::RemoveRow { key, .. } = action {
            removed |= rows.remove(key);
        }
    }
    if removed {
        locked.write(rows)?;
    }
    for action in actions {
        let done = match action {
            MaintenanceAction::RemoveRow { .. } | MaintenanceAction::CopyStore { .. } => Ok(()),
            MaintenanceAction::ArchiveConversation { file, archive } => place.conversations.archive(file, archive, now),
            MaintenanceAction::DeleteBackup { file } => place.store.delete_copy(file),
            MaintenanceAction::DeleteArchive { file } | MaintenanceAction::DeleteFile { file } => {
                match FileKind::of_name(file) {
                    FileKind::StoreBackup { .. } => place.store.delete_copy(file),
                    _ => place.conversations.delete(file, now),
                }
            }
        };
        planned.has_failed |= done.is_err();
        planned.warnings.extend(done.err().map(|error| error.to_string()));
    }
    Ok(())
}
