//! Report of a run: the reference's JSON, and lines for people.

use super::state::{MaintainedRow, MaintenanceAction, RowRemoval, StoreState};
use super::{MaintenancePlan, MaintenanceRequest};
use crate::routes::config::MaintenanceMode;
use crate::routes::words::{age, short_key};
use serde::Serialize;
use serde_json::{Value, json};

/// Result of the disk budget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DiskBudget {
    /// Bytes before.
    pub total_bytes_before: u64,
    /// Bytes after.
    pub total_bytes_after: u64,
    /// Files deleted.
    pub removed_files: usize,
    /// Rows removed.
    pub removed_entries: usize,
    /// Bytes freed.
    pub freed_bytes: u64,
    /// Limit.
    pub max_bytes: u64,
    /// Bytes to leave.
    pub high_water_bytes: u64,
    /// The limit was exceeded.
    pub over_budget: bool,
}

/// Result of a run on one store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StoreReport {
    /// Agent.
    pub agent_id: String,
    /// Path of the store's file.
    pub store_path: String,
    /// Mode.
    pub mode: MaintenanceMode,
    /// Dry run.
    pub dry_run: bool,
    /// Rows before.
    pub before_count: usize,
    /// Rows after.
    pub after_count: usize,
    /// Rows removed because their conversation does not exist.
    pub missing: usize,
    /// Rows removed because of their age.
    pub pruned: usize,
    /// Rows removed because of their number.
    pub capped: usize,
    /// Disk budget; `None` without a limit.
    pub disk_budget: Option<DiskBudget>,
    /// There are actions.
    pub would_mutate: bool,
    /// The actions were applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applied: Option<bool>,
    /// Rows after they were applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applied_count: Option<usize>,
}

impl StoreReport {
    pub(super) fn new(
        before: &StoreState,
        after: &StoreState,
        actions: &[MaintenanceAction],
        budget: Option<DiskBudget>,
    ) -> Self {
        let count = |wanted: RowRemoval| {
            actions
                .iter()
                .filter(|action| matches!(action, MaintenanceAction::RemoveRow { reason, .. } if *reason == wanted))
                .count()
        };
        Self {
            agent_id: before.agent.clone(),
            store_path: before.path.clone(),
            mode: MaintenanceMode::Warn,
            dry_run: false,
            before_count: before.rows.len(),
            after_count: after.rows.len(),
            missing: count(RowRemoval::PruneMissing),
            pruned: count(RowRemoval::PruneStale),
            capped: count(RowRemoval::CapOverflow),
            disk_budget: budget,
            would_mutate: !actions.is_empty(),
            applied: None,
            applied_count: None,
        }
    }

    /// Report once the actions were applied; `rows` are there now.
    #[must_use]
    pub fn applied(mut self, rows: usize) -> Self {
        self.applied = Some(true);
        self.applied_count = Some(rows);
        self
    }
}

/// JSON of several stores.
#[must_use]
pub fn all_stores(mode: MaintenanceMode, dry_run: bool, stores: &[StoreReport]) -> Value {
    json!({ "allAgents": true, "mode": mode, "dryRun": dry_run, "stores": stores })
}

/// Lines for people. A run that is not applied, in warn mode too, lists what would go.
#[must_use]
pub fn report_lines(store: &StoreState, request: &MaintenanceRequest<'_>, plan: &MaintenancePlan) -> Vec<String> {
    let report = &plan.report;
    let mode = match report.mode {
        MaintenanceMode::Warn => "warn",
        MaintenanceMode::Enforce => "enforce",
    };
    let removed = report.before_count - report.after_count.min(report.before_count);
    let mut lines = vec![
        format!("Session store: {}", report.store_path),
        format!("Maintenance mode: {mode}"),
        format!("Entries: {} -> {} (remove {removed})", report.before_count, report.after_count),
    ];
    if let Some(count) = report.applied_count {
        lines.push(format!("Applied maintenance. Current entries: {count}"));
        return lines;
    }
    for (label, count) in [
        ("Would prune missing conversations", report.missing),
        ("Would prune stale", report.pruned),
        ("Would cap overflow", report.capped),
    ] {
        if count > 0 {
            lines.push(format!("{label}: {count}"));
        }
    }
    lines.extend(report.disk_budget.as_ref().filter(|budget| budget.over_budget).map(|budget| {
        format!(
            "Would enforce disk limit: {} -> {} bytes ({} files, {} entries)",
            budget.total_bytes_before, budget.total_bytes_after, budget.removed_files, budget.removed_entries
        )
    }));
    if !store.rows.is_empty() {
        lines.push("Planned session actions:".to_owned());
        lines.push(format!("{:<14} {:<26} {:<9} {:<14} Flags", "Action", "Key", "Age", "Model"));
        lines.extend(store.rows.iter().map(|row| row_line(row, request, plan)));
    }
    let others = plan.actions.iter().filter(|action| !matches!(action, MaintenanceAction::RemoveRow { .. }));
    lines.extend(others.map(MaintenanceAction::text));
    lines
}

fn row_line(row: &MaintainedRow, request: &MaintenanceRequest<'_>, plan: &MaintenancePlan) -> String {
    let action = plan.actions.iter().find_map(|action| match action {
        MaintenanceAction::RemoveRow { key, reason } if *key == row.key => Some(reason.word()),
        _ => None,
    });
    let flags: Vec<&str> = [
        (row.is_main, "main"),
        (row.running, "running"),
        (row.flagged, "flagged"),
        (request.active.contains(&row.key), "active"),
    ]
    .into_iter()
    .filter_map(|(is, word)| is.then_some(word))
    .collect();
    let age = age(request.now, row.updated_at);
    let model = row.model.as_deref().unwrap_or("-");
    let line = format!(
        "{:<14} {:<26} {age:<9} {model:<14} {}",
        action.unwrap_or("keep"),
        short_key(&row.key),
        flags.join(" ")
    );
    line.trim_end().to_owned()
}
