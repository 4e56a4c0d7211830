//! Maintenance of an agent's store: from rows, files, time and settings to a list of actions.
//!
//! A dry run prints the list; enforcing runs the same list. `state` is the model that actions apply to, `report` words
//! the result. Deleting, moving and copying files is the store's.
//!
//! Invariants: active, running, flagged and main rows are safe in every step; a second run has no actions.

mod report;
mod state;
#[cfg(test)]
mod tests;

pub use report::{DiskBudget, StoreReport, all_stores, report_lines};
pub use state::{
    ArchiveReason, FileKind, MaintainedRow, MaintenanceAction, RowRemoval, STORE_FILE, StoreFile, StoreState,
    archive_name, archive_time, iso_name,
};

use super::config::{DAY, MaintenanceConfig, MaintenanceMode};
use crate::domain::ids::At;
use std::collections::BTreeSet;

/// Copies of the store's file that are kept.
const KEPT_BACKUPS: usize = 3;

/// Way of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaintenanceRun {
    /// As `session.maintenance.mode` says.
    ByMode,
    /// Show only, whatever the mode.
    DryRun,
    /// Apply, whatever the mode.
    Enforce,
}

/// Request of a run.
#[derive(Clone, Copy, Debug)]
pub struct MaintenanceRequest<'a> {
    /// Time.
    pub now: At,
    /// Settings.
    pub config: &'a MaintenanceConfig,
    /// Way.
    pub run: MaintenanceRun,
    /// Also remove rows whose conversation does not exist.
    pub fix_missing: bool,
    /// Keys in use, which are safe.
    pub active: &'a BTreeSet<String>,
}

/// Result of [`plan`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaintenancePlan {
    /// Actions in order.
    pub actions: Vec<MaintenanceAction>,
    /// The actions are to be applied.
    pub applies: bool,
    /// Counts.
    pub report: StoreReport,
}

/// Decides if the actions of a run are applied.
#[must_use]
pub fn will_apply(request: &MaintenanceRequest<'_>) -> bool {
    match request.run {
        MaintenanceRun::ByMode => request.config.mode == MaintenanceMode::Enforce,
        MaintenanceRun::DryRun => false,
        MaintenanceRun::Enforce => true,
    }
}

/// Actions of a run on one store.
#[must_use]
pub fn plan(store: &StoreState, request: &MaintenanceRequest<'_>) -> MaintenancePlan {
    let mut planner = Planner { state: store.clone(), actions: Vec::new(), now: request.now, active: request.active };
    let config = request.config;
    if request.fix_missing {
        planner.remove_missing();
    }
    planner.prune(config.prune_after.0);
    planner.cap(config.max_entries);
    planner.archive_conversations(store);
    planner.delete_archives(config.prune_after.0, config.reset_retention());
    planner.rotate(config.rotate_bytes.0);
    let budget = config.disk_limits().map(|(max, high)| planner.keep_budget(max, high));
    let enforced = request.run == MaintenanceRun::Enforce;
    let report = StoreReport {
        mode: if enforced { MaintenanceMode::Enforce } else { config.mode },
        dry_run: request.run == MaintenanceRun::DryRun,
        ..StoreReport::new(store, &planner.state, &planner.actions, budget)
    };
    MaintenancePlan { actions: planner.actions, applies: will_apply(request), report }
}

/// Actions that remove the rows of scheduled runs that are older than `retention` milliseconds; none if `None`.
#[must_use]
pub fn sweep_runs(
    store: &StoreState,
    now: At,
    retention: Option<u64>,
    active: &BTreeSet<String>,
) -> Vec<MaintenanceAction> {
    let Some(retention) = retention else { return Vec::new() };
    let mut planner = Planner { state: store.clone(), actions: Vec::new(), now, active };
    let old = |row: &MaintainedRow| row.is_run && row.updated_at.is_some_and(|at| now.since(at) > retention);
    planner.remove_rows(RowRemoval::ExpiredRun, old);
    planner.archive_conversations(store);
    planner.actions
}

/// State of the model while a list is made.
struct Planner<'a> {
    state: StoreState,
    actions: Vec<MaintenanceAction>,
    now: At,
    active: &'a BTreeSet<String>,
}

impl Planner<'_> {
    fn act(&mut self, action: MaintenanceAction) {
        self.state.apply(&action);
        self.actions.push(action);
    }

    fn is_safe(&self, row: &MaintainedRow) -> bool {
        row.is_main || row.running || row.flagged || self.active.contains(&row.key)
    }

    /// Rows that may be removed, oldest first; those without a time are the oldest.
    fn removable(&self) -> Vec<MaintainedRow> {
        let mut rows: Vec<MaintainedRow> = self.state.rows.iter().filter(|row| !self.is_safe(row)).cloned().collect();
        rows.sort_by(|a, b| (a.updated_at, &a.key).cmp(&(b.updated_at, &b.key)));
        rows
    }

    fn remove_rows(&mut self, reason: RowRemoval, which: impl Fn(&MaintainedRow) -> bool) {
        for row in self.removable().into_iter().filter(|row| which(row)) {
            self.act(MaintenanceAction::RemoveRow { key: row.key, reason });
        }
    }

    fn remove_missing(&mut self) {
        let files = self.state.files.clone();
        self.remove_rows(RowRemoval::PruneMissing, |row| !files.iter().any(|file| row.owns(file)));
    }

    /// Removes rows that are older than `age`. Rows without a time are kept.
    fn prune(&mut self, age: u64) {
        let now = self.now;
        self.remove_rows(RowRemoval::PruneStale, |row| row.updated_at.is_some_and(|at| now.since(at) > age));
    }

    /// Removes the oldest rows above `most`. Safe rows count, and stay.
    fn cap(&mut self, most: usize) {
        let over = self.state.rows.len().saturating_sub(most);
        for row in self.removable().into_iter().take(over) {
            self.act(MaintenanceAction::RemoveRow { key: row.key, reason: RowRemoval::CapOverflow });
        }
    }

    /// Archives the conversations of removed rows that no other row refers to.
    fn archive_conversations(&mut self, before: &StoreState) {
        let rows = &self.state.rows;
        let kept: BTreeSet<&str> = rows.iter().map(|row| row.key.as_str()).collect();
        let removed: Vec<&MaintainedRow> = before.rows.iter().filter(|row| !kept.contains(row.key.as_str())).collect();
        let orphaned = |file: &&StoreFile| {
            removed.iter().any(|row| row.owns(file)) && !file.keep && !rows.iter().any(|row| row.owns(file))
        };
        let names: Vec<String> = self.state.files.iter().filter(orphaned).map(|file| file.name.clone()).collect();
        for file in names {
            let archive = archive_name(&file, ArchiveReason::Deleted, self.now);
            self.act(MaintenanceAction::ArchiveConversation { file, archive });
        }
    }

    fn delete_archives(&mut self, deleted_age: u64, reset_age: Option<u64>) {
        let now = self.now;
        let old = |file: &&StoreFile| match file.kind {
            FileKind::Archive { reason: ArchiveReason::Deleted, at } => now.since(at) > deleted_age,
            FileKind::Archive { reason: ArchiveReason::Reset, at } => reset_age.is_some_and(|age| now.since(at) > age),
            FileKind::Archive { reason: ArchiveReason::Backup, .. }
            | FileKind::Store
            | FileKind::StoreBackup { .. }
            | FileKind::Conversation { .. }
            | FileKind::Other => false,
        };
        let files: Vec<String> =
            self.state.files.iter().filter(|file| !file.keep).filter(old).map(|file| file.name.clone()).collect();
        for file in files {
            self.act(MaintenanceAction::DeleteArchive { file });
        }
    }

    /// Copies a store's file that is too big, at most once a day: rows that are in use do not shrink, so every save
    /// would make another copy.
    fn rotate(&mut self, most: u64) {
        let too_big = self.state.files.iter().any(|file| file.kind == FileKind::Store && file.bytes > most);
        let recent = |file: &StoreFile| match file.kind {
            FileKind::StoreBackup { at } => self.now.since(at) < DAY,
            _ => false,
        };
        if too_big && !self.state.files.iter().any(recent) {
            self.act(MaintenanceAction::CopyStore { backup: state::backup_name(self.now) });
        }
        for (_, file) in self.state.backups().into_iter().skip(KEPT_BACKUPS) {
            self.act(MaintenanceAction::DeleteBackup { file });
        }
    }

    /// Deletes archives and conversations without a row, then the oldest rows, until `high` bytes are left.
    fn keep_budget(&mut self, max: u64, high: u64) -> DiskBudget {
        let before = self.state.total_bytes();
        let actions = self.actions.len();
        if before > max {
            self.delete_files(high);
            self.evict_rows(high);
        }
        let made = self.actions.get(actions..).unwrap_or_default();
        let after = self.state.total_bytes();
        let rows = made.iter().filter(|action| matches!(action, MaintenanceAction::RemoveRow { .. })).count();
        DiskBudget {
            total_bytes_before: before,
            total_bytes_after: after,
            removed_files: made.len() - rows,
            removed_entries: rows,
            freed_bytes: before.saturating_sub(after),
            max_bytes: max,
            high_water_bytes: high,
            over_budget: before > max,
        }
    }

    fn delete_files(&mut self, high: u64) {
        // The newest copy of the store stays: without it, the next run would make it again.
        let newest = self.state.backups().into_iter().next().map(|(_, name)| name);
        let rows = &self.state.rows;
        let free = |file: &&StoreFile| match file.kind {
            FileKind::Archive { .. } => true,
            FileKind::StoreBackup { .. } => Some(&file.name) != newest.as_ref(),
            FileKind::Conversation { .. } => !rows.iter().any(|row| row.owns(file)),
            FileKind::Store | FileKind::Other => false,
        };
        let mut files: Vec<(At, String)> = self
            .state
            .files
            .iter()
            .filter(|file| !file.keep)
            .filter(free)
            .map(|file| (file.modified, file.name.clone()))
            .collect();
        files.sort();
        for (_, file) in files {
            if self.state.total_bytes() <= high {
                return;
            }
            self.act(MaintenanceAction::DeleteFile { file });
        }
    }

    fn evict_rows(&mut self, high: u64) {
        for row in self.removable() {
            if self.state.total_bytes() <= high {
                return;
            }
            let shared = |file: &StoreFile| self.state.rows.iter().any(|one| self.is_safe(one) && one.owns(file));
            let frees = self.state.files.iter().any(|file| row.owns(file) && !file.keep && !shared(file));
            if !frees {
                continue;
            }
            self.act(MaintenanceAction::RemoveRow { key: row.key.clone(), reason: RowRemoval::EvictBudget });
            let rows = &self.state.rows;
            let free = |file: &&StoreFile| row.owns(file) && !file.keep && !rows.iter().any(|one| one.owns(file));
            let names: Vec<String> = self.state.files.iter().filter(free).map(|file| file.name.clone()).collect();
            for file in names {
                self.act(MaintenanceAction::DeleteFile { file });
            }
        }
    }
}
