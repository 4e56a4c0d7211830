//! Properties of a session written into its header: only what changed, so that what others keep there stays.

use super::Home;
use crate::domain::At;
use crate::domain::session::{BranchedFrom, SessionMeta};
use crate::domain::usage::Usage;
use crate::store::format::json::{self, JsonFields};
use crate::store::format::portable_paths;
use serde_json::{Value, json};
use std::path::Path;

/// Keys of `tokenUsage` that exist only while they are known.
const FIGURES: [&str; 3] = ["cacheReadTokens", "cacheCreationTokens", "contextWindow"];

/// Writes what changed from `base` to `meta` into the header; everything, without a base.
pub fn encode(fields: &mut JsonFields, base: Option<&SessionMeta>, meta: &SessionMeta, place: Home<'_>) {
    let text = |text: &str| portable_paths::render_text(text, place.dir);
    let path = |path: &Path| match path.strip_prefix(place.dir) {
        // The token wins over `~`, as everywhere in the file.
        Ok(_) => text(&path.to_string_lossy()),
        Err(_) => text(&portable_paths::homely(path, place.home)),
    };
    let time = |at: At| at.0.to_string();
    // Under this name other programs document it.
    let has_status = fields.has("status");
    let mut put = |key: &str, changed: bool, json: Option<String>| match (changed, json) {
        (true, Some(json)) => fields.set(key, json),
        (true, None) => fields.remove(key),
        (false, _) => {}
    };
    let flag = |on: bool| Some(on.to_string());
    macro_rules! changed {
        ($field:ident) => {
            base.is_none_or(|base| base.$field != meta.$field)
        };
    }
    // A new header leaves out what is at its default, as Craft does.
    let new = base.is_none();
    put("id", true, Some(text(meta.id.as_str())));
    put("createdAt", changed!(created), Some(time(meta.created)));
    put("lastUsedAt", changed!(used), Some(time(meta.used)));
    put("lastMessageAt", changed!(last_message), Some(time(meta.last_message)));
    put("name", changed!(title) && !(new && meta.title.is_empty()), Some(text(&meta.title)));
    put("isFlagged", changed!(flagged) && (!new || meta.flagged), flag(meta.flagged));
    put("sessionStatus", changed!(status), Some(text(&meta.status)));
    put("status", changed!(status) && has_status, Some(text(&meta.status)));
    put("labels", changed!(labels) && !(new && meta.labels.is_empty()), {
        Some(portable_paths::render(&meta.labels, place.dir))
    });
    put("hidden", changed!(hidden) && (!new || meta.hidden), flag(meta.hidden));
    put("hasUnread", changed!(unread) && (!new || meta.unread), flag(meta.unread));
    put("permissionMode", changed!(mode), Some(text(meta.mode.stored())));
    put("workingDirectory", changed!(cwd), Some(path(&meta.cwd)));
    let other_model = base.is_none_or(|base| base.stored_model() != meta.stored_model());
    put("model", other_model, meta.stored_model().map(text));
    put("llmConnection", changed!(connection), meta.connection.as_ref().map(|c| text(c.stored())));
    put("connectionLocked", changed!(connection_locked) && (!new || meta.connection_locked), {
        flag(meta.connection_locked)
    });
    put("thinkingLevel", changed!(thinking), Some(text(meta.thinking.word())));
    put("isArchived", changed!(archived) && (!new || meta.archived), flag(meta.archived));
    if changed!(archived) || changed!(archived_at) {
        // Craft takes the time away when a session comes back.
        put("archivedAt", true, meta.archived.then(|| time(meta.archived_at.unwrap_or(meta.used))));
    }
    put("lastReadMessageId", changed!(last_read), meta.last_read.as_ref().map(|id| text(id.as_str())));
    put("sdkCwd", changed!(first_cwd), meta.first_cwd.as_deref().map(path));
    if changed!(branched_from) {
        let from = meta.branched_from.as_ref();
        put("branchFromMessageId", true, from.map(|from| text(from.message.as_str())));
        // Craft writes the whole path here; so does its loader expect it.
        let parent = |from: &BranchedFrom| json!(place.dir.with_file_name(from.session.as_str())).to_string();
        put("branchFromSessionPath", true, from.map(parent));
    }
    put("messageCount", changed!(messages), Some(meta.messages.to_string()));
    put("preview", changed!(preview) && !(new && meta.preview.is_empty()), Some(text(&meta.preview)));
    if changed!(usage) {
        put_usage(fields, &meta.usage);
    }
    if changed!(pending_execution) {
        put_pending_execution(fields, meta, place);
    }
    let turn = changed!(plan_pending) || changed!(unfinished);
    if changed!(title_from)
        || base.is_none_or(|base| base.names.alias != meta.names.alias)
        || turn
        || changed!(worktree)
        || changed!(parent)
    {
        put_own(fields, meta);
    }
}

/// Writes tokens and cost. Keys that another program keeps there stay.
fn put_usage(fields: &mut JsonFields, now: &Usage) {
    let mut usage = match fields.value("tokenUsage") {
        Some(Value::Object(there)) => there,
        _ => serde_json::Map::new(),
    };
    if let Value::Object(mut now) = json!(now) {
        // A figure that is not there any more is not what it was.
        for key in FIGURES.iter().filter(|key| !now.contains_key(**key)) {
            usage.remove(*key);
        }
        if let Some(cost) = now.get("costUsd").cloned() {
            now.insert("totalCost".to_owned(), cost);
        }
        for (key, value) in now {
            // JavaScript has one sort of number: a whole cost is written without a fraction.
            #[allow(clippy::cast_possible_truncation)]
            let value = match value.as_f64() {
                Some(cost)
                    if matches!(key.as_str(), "costUsd" | "totalCost") && cost.fract() == 0.0 && cost.abs() < 1e15 =>
                {
                    json!(cost as i64)
                }
                _ => value,
            };
            usage.insert(key, value);
        }
    }
    fields.set("tokenUsage", Value::Object(usage).to_string());
}

/// Writes the plan whose execution is to begin. Keys that another program keeps there stay.
fn put_pending_execution(fields: &mut JsonFields, meta: &SessionMeta, place: Home<'_>) {
    match &meta.pending_execution {
        None => fields.remove("pendingPlanExecution"),
        Some(pending) => {
            // What another program keeps there besides stays.
            let mut there = match fields.raw("pendingPlanExecution").map(json::value_of) {
                Some(Value::Object(there)) => there,
                _ => serde_json::Map::new(),
            };
            if let Value::Object(now) = json!(pending) {
                there.extend(now);
            }
            fields.set("pendingPlanExecution", portable_paths::render(&Value::Object(there), place.dir));
        }
    }
}

/// Writes the properties that only lisle has.
fn put_own(fields: &mut JsonFields, meta: &SessionMeta) {
    let mut own = fields.raw("lisle").and_then(|raw| JsonFields::parse(raw).ok()).unwrap_or_default();
    own.set("titleFrom", json!(meta.title_from).to_string());
    own.set("planPending", json!(meta.plan_pending).to_string());
    match &meta.names.alias {
        Some(alias) => own.set("alias", json!(alias).to_string()),
        None => own.remove("alias"),
    }
    match &meta.names.key {
        Some(key) => own.set("creationKey", json!(key).to_string()),
        None => own.remove("creationKey"),
    }
    match &meta.worktree {
        Some(worktree) => own.set("worktree", json!(worktree).to_string()),
        None => own.remove("worktree"),
    }
    match &meta.unfinished {
        Some(last) => own.set("unfinished", json!(last).to_string()),
        None => own.remove("unfinished"),
    }
    match &meta.parent {
        Some(parent) => own.set("parent", json!(parent).to_string()),
        None => own.remove("parent"),
    }
    fields.set("lisle", own.render());
}
