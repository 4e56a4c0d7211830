//! Properties of a session read from its header, whoever wrote it.

use super::{Home, sort_of};
use crate::domain::prompt_text::is_prompt_name;
use crate::domain::session::{Activity, BranchedFrom, SessionMeta, ThinkingLevel, TitleFrom};
use crate::domain::usage::Usage;
use crate::domain::{At, ConnectionName, MessageId, Mode, SessionId};
use crate::store::format::json::{self, JsonFields};
use crate::store::format::portable_paths;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Properties in the header, and its irregularities. `otherwise` replaces a missing time of creation.
pub fn decode(fields: &JsonFields, id: &SessionId, place: Home<'_>, otherwise: At) -> SessionMeta {
    let mut read = HeaderDecoder { fields, place, odd: Vec::new() };
    let created = read.time("createdAt");
    let used = read.time("lastUsedAt");
    let created_or = created.or(used).unwrap_or(otherwise);
    let mut meta = SessionMeta::new(id.clone(), created_or, Mode::default(), place.dir.to_owned());
    meta.used = used.unwrap_or(created_or);
    meta.last_message = read.time("lastMessageAt").unwrap_or(meta.used);
    meta.title = read.text("name").unwrap_or_default();
    meta.preview = read.text("preview").unwrap_or_default();
    meta.flagged = read.flag("isFlagged");
    meta.archived = read.flag("isArchived");
    meta.archived_at = read.time("archivedAt").filter(|_| meta.archived);
    meta.last_read = read.text("lastReadMessageId").map(MessageId::new);
    meta.hidden = read.flag("hidden");
    meta.unread = read.flag("hasUnread");
    meta.connection_locked = read.flag("connectionLocked");
    meta.connection = read.text("llmConnection").map(ConnectionName::new);
    meta.model = read.text("model");
    if let Some(status) = read.text("sessionStatus").or_else(|| read.text("todoState")).or_else(|| read.text("status"))
    {
        meta.status = status.replace('_', "-");
    }
    choices(&mut read, &mut meta);
    let ghost = ghost(fields, id, place);
    let lives = |path: String| {
        let path = portable_paths::absolute(&path, place.home);
        match ghost.as_ref().and_then(|ghost| path.strip_prefix(ghost).ok()) {
            Some(rest) if rest.as_os_str().is_empty() => place.dir.to_owned(),
            Some(rest) => place.dir.join(rest),
            None => path,
        }
    };
    let fixed = read.text("sdkCwd").map(lives);
    if let Some(cwd) = read.text("workingDirectory").map(lives).or_else(|| fixed.clone()) {
        meta.cwd = cwd;
    }
    meta.first_cwd = fixed;
    // Craft stores the parent's directory; its last part is the id.
    if let (Some(path), Some(message)) = (read.text("branchFromSessionPath"), read.text("branchFromMessageId"))
        && let Some(Ok(session)) = Path::new(&path).file_name().and_then(|n| n.to_str()).map(SessionId::parse)
    {
        meta.branched_from = Some(BranchedFrom { session, message: MessageId::new(message) });
    }
    figures(&mut read, &mut meta);
    let own = fields.raw("lisle").and_then(|raw| JsonFields::parse(raw).ok()).unwrap_or_default();
    meta.title_from = match own.value("titleFrom").and_then(|v| serde_json::from_value(v).ok()) {
        Some(from) => from,
        // A title of another program may be the user's: it is never overwritten.
        None if !meta.title.trim().is_empty() => TitleFrom::User,
        None => TitleFrom::Provisional,
    };
    meta.names.alias = own.text("alias").filter(|alias| is_prompt_name(alias));
    meta.names.key = own.text("creationKey");
    meta.names.program = own.text("origin").and_then(|origin| Some(origin.split_once(':')?.0.to_owned()));
    meta.last_role = read.text("lastMessageRole");
    meta.worktree = own.raw("worktree").and_then(|raw| serde_json::from_str(raw).ok());
    meta.parent = own.raw("parent").and_then(|raw| serde_json::from_str(raw).ok());
    meta.pending_execution = read.object("pendingPlanExecution");
    let ends_with_plan = meta.last_role.as_deref() == Some("plan");
    meta.plan_pending = own.flag("planPending").unwrap_or(ends_with_plan);
    meta.unfinished = own.raw("unfinished").and_then(|raw| serde_json::from_str(raw).ok());
    if let Some(theirs) = read.text("id").filter(|theirs| theirs != id.as_str()) {
        read.odd.push(format!("The header names session {theirs:?}; using the directory's name."));
    }
    meta.odd = read.odd;
    meta.activity = Activity::Idle;
    meta
}

/// Labels, mode and thinking level.
fn choices(read: &mut HeaderDecoder<'_>, meta: &mut SessionMeta) {
    match read.fields.value("labels") {
        None => {}
        Some(Value::Array(items)) if items.iter().all(Value::is_string) => {
            meta.labels = items.into_iter().filter_map(|i| i.as_str().map(str::to_owned)).collect();
        }
        Some(other) => read.wrong("labels", &other),
    }
    if let Some(word) = read.text("permissionMode") {
        match Mode::parse(&word) {
            Some(mode) => meta.mode = mode,
            None => read.unknown("permissionMode", &word, "using Ask to Edit"),
        }
    }
    if let Some(word) = read.text("thinkingLevel") {
        match ThinkingLevel::parse(&word) {
            Some(level) => meta.thinking = level,
            None => read.unknown("thinkingLevel", &word, "using medium"),
        }
    }
}

/// Number of messages, tokens and cost.
fn figures(read: &mut HeaderDecoder<'_>, meta: &mut SessionMeta) {
    match read.fields.value("messageCount") {
        None => {}
        Some(value) => match value.as_u64() {
            Some(n) => meta.messages = n,
            None => read.wrong("messageCount", &value),
        },
    }
    match read.fields.raw("tokenUsage").map(json::value_of) {
        None => {}
        Some(value) => match usage(value.clone()) {
            Some(usage) => meta.usage = usage,
            None => read.wrong("tokenUsage", &value),
        },
    }
}

/// Tokens and cost as any program counts them.
fn usage(mut value: Value) -> Option<Usage> {
    let fields = value.as_object_mut()?;
    // Documented under one name and written under the other.
    if let Some(cost) = fields.get("totalCost").cloned() {
        fields.entry("costUsd").or_insert(cost);
    }
    let mut usage: Usage = serde_json::from_value(value).ok()?;
    if usage.context_tokens == 0 {
        // Craft leaves it at 0, and has the context in the other one.
        usage.context_tokens = usage.input_tokens;
    }
    Some(usage)
}

/// The directory in which the header says that the session lives, where it does not: it was copied or moved.
fn ghost(fields: &JsonFields, id: &SessionId, place: Home<'_>) -> Option<PathBuf> {
    let root = portable_paths::absolute(&fields.text("workspaceRootPath")?, place.home);
    let named = fields.text("id").unwrap_or_else(|| id.as_str().to_owned());
    let dir = root.join("sessions").join(named);
    (dir != place.dir).then_some(dir)
}

struct HeaderDecoder<'a> {
    fields: &'a JsonFields,
    place: Home<'a>,
    odd: Vec<String>,
}

impl HeaderDecoder<'_> {
    fn wrong(&mut self, key: &str, value: &Value) {
        self.odd.push(format!("Ignored the header's {key}: {}; kept in the file.", sort_of(value)));
    }

    fn unknown(&mut self, key: &str, word: &str, instead: &str) {
        self.odd.push(format!("Unknown {key} {word:?} in the header; {instead}. Kept in the file."));
    }

    fn text(&mut self, key: &str) -> Option<String> {
        let raw = self.fields.raw(key)?;
        match json::value_of(&portable_paths::expand(raw, self.place.dir)) {
            Value::String(text) => Some(text),
            Value::Null => None,
            other => {
                self.wrong(key, &other);
                None
            }
        }
    }

    fn object<T: serde::de::DeserializeOwned>(&mut self, key: &str) -> Option<T> {
        let raw = self.fields.raw(key)?;
        let value = json::value_of(&portable_paths::expand(raw, self.place.dir));
        if value.is_null() {
            return None;
        }
        let object = serde_json::from_value(value.clone()).ok();
        if object.is_none() {
            self.wrong(key, &value);
        }
        object
    }

    fn flag(&mut self, key: &str) -> bool {
        match self.fields.value(key) {
            None => false,
            Some(Value::Bool(flag)) => flag,
            Some(other) => {
                self.wrong(key, &other);
                false
            }
        }
    }

    fn time(&mut self, key: &str) -> Option<At> {
        match self.fields.value(key) {
            None => None,
            Some(Value::Number(_)) => self.fields.number(key).map(At),
            Some(other) => {
                self.wrong(key, &other);
                None
            }
        }
    }
}
