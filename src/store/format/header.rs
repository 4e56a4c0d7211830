//! Line 1 of `session.jsonl`: what is known of a session without its messages.
//!
//! Known keys become a [`SessionMeta`], and only keys whose value changed are written back: unknown keys, unknown
//! values and the order survive. The line is padded with blanks so that it can be overwritten in place. Where the
//! bytes go is left to the journal.

use super::json::JsonFields;
use super::portable_paths;
use crate::domain::session::{Activity, BranchedFrom, SessionMeta, ThinkingLevel, TitleFrom};
use crate::domain::usage::Usage;
use crate::domain::{At, ConnectionName, MessageId, Mode, SessionId};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// Keys of `tokenUsage` that exist only while they are known.
const FIGURES: [&str; 3] = ["cacheReadTokens", "cacheCreationTokens", "contextWindow"];

/// The usual length of line 1 with its newline.
pub const SLOT: usize = 4096;
/// Maximum length with its newline: what other programs read for their list.
pub const SLOT_MAX: usize = 8192;

/// Location of a session, for the paths in its header.
#[derive(Clone, Copy, Debug)]
pub struct Home<'a> {
    /// The session's directory.
    pub dir: &'a Path,
    /// The user's home directory.
    pub home: &'a Path,
}

/// Content of a file's first bytes.
#[derive(Clone, Debug)]
pub enum First {
    /// A header.
    Header {
        /// Keys.
        fields: JsonFields,
        /// Start of the line: after a BOM and blank lines.
        start: usize,
        /// Start of the next line, or the end of the bytes.
        end: usize,
        /// The line ends with a newline.
        ended: bool,
        /// It held bytes that are not UTF-8.
        lossy: bool,
    },
    /// The first line is a message, beginning here.
    Message {
        /// Start of the line.
        start: usize,
    },
    /// The first line is neither.
    Broken {
        /// Start of the next line, or the end of the bytes.
        end: usize,
        /// Reason, in words.
        why: String,
    },
    /// Nothing but blanks.
    Empty,
}

/// Looks at the first bytes of a file, which reach at least to the end of the header.
pub fn first(bytes: &[u8]) -> First {
    let mut start = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    loop {
        let rest = &bytes[start..];
        let newline = memchr::memchr(b'\n', rest);
        let line = &rest[..newline.unwrap_or(rest.len())];
        let end = start + newline.map_or(rest.len(), |n| n + 1);
        if line.iter().all(u8::is_ascii_whitespace) {
            match newline {
                Some(_) => start = end,
                None => return First::Empty,
            }
            continue;
        }
        let text = String::from_utf8_lossy(line);
        let lossy = matches!(text, std::borrow::Cow::Owned(_));
        return match JsonFields::parse(text.trim()) {
            Ok(fields) if super::row::is_message(&fields) => First::Message { start },
            Ok(fields) => First::Header { fields, start, end, ended: newline.is_some(), lossy },
            Err(_) if line.iter().all(|b| *b == 0) => First::Broken { end, why: "line 1 is empty bytes".to_owned() },
            Err(why) => {
                let why = match serde_json::from_str::<Value>(&text) {
                    Ok(other) => format!("line 1 should be the header and is {}", sort_of(&other)),
                    Err(_) => format!("line 1, the header, cannot be read ({why})"),
                };
                First::Broken { end, why }
            }
        };
    }
}

fn sort_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

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
    match fields.value("labels") {
        None => {}
        Some(Value::Array(items)) if items.iter().all(Value::is_string) => {
            meta.labels = items.into_iter().filter_map(|i| i.as_str().map(str::to_owned)).collect();
        }
        Some(other) => read.wrong("labels", &other),
    }
    if let Some(word) = read.text("permissionMode") {
        match Mode::parse(&word) {
            Some(mode) => meta.mode = mode,
            None => read.unknown("permissionMode", &word, "Ask to Edit is used"),
        }
    }
    if let Some(word) = read.text("thinkingLevel") {
        match ThinkingLevel::parse(&word) {
            Some(level) => meta.thinking = level,
            None => read.unknown("thinkingLevel", &word, "medium is used"),
        }
    }
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
    match fields.value("messageCount") {
        None => {}
        Some(value) => match value.as_u64() {
            Some(n) => meta.messages = n,
            None => read.wrong("messageCount", &value),
        },
    }
    match fields.raw("tokenUsage").map(super::json::value_of) {
        None => {}
        Some(value) => match usage(value.clone()) {
            Some(usage) => meta.usage = usage,
            None => read.wrong("tokenUsage", &value),
        },
    }
    let own = fields.raw("lisle").and_then(|raw| JsonFields::parse(raw).ok()).unwrap_or_default();
    meta.title_from = match own.value("titleFrom").and_then(|v| serde_json::from_value(v).ok()) {
        Some(from) => from,
        // A title of another program may be the user's: it is never overwritten.
        None if !meta.title.trim().is_empty() => TitleFrom::User,
        None => TitleFrom::Provisional,
    };
    meta.last_role = read.text("lastMessageRole");
    meta.worktree = own.raw("worktree").and_then(|raw| serde_json::from_str(raw).ok());
    meta.parent = own.raw("parent").and_then(|raw| serde_json::from_str(raw).ok());
    meta.pending_execution = read.object("pendingPlanExecution");
    let ends_with_plan = meta.last_role.as_deref() == Some("plan");
    meta.plan_pending = own.flag("planPending").unwrap_or(ends_with_plan);
    meta.unfinished = own.raw("unfinished").and_then(|raw| serde_json::from_str(raw).ok());
    if let Some(theirs) = read.text("id").filter(|theirs| theirs != id.as_str()) {
        read.odd.push(format!("The header says that this is session {theirs:?}; the directory's name counts."));
    }
    meta.odd = read.odd;
    meta.activity = Activity::Idle;
    meta
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

/// The header says that the session lives in this workspace.
pub fn lives_in(fields: &JsonFields, root: &Path, place: Home<'_>) -> bool {
    fields.text("workspaceRootPath").is_some_and(|there| portable_paths::absolute(&there, place.home) == root)
}

/// Makes every path of a header that came from elsewhere one of where the session lives now, so that no program writes
/// where it lived before. `workspace` is its folder and, where it is known, its id.
pub fn settle(fields: &mut JsonFields, meta: &SessionMeta, place: Home<'_>, workspace: (&Path, Option<&str>)) {
    let (root, id) = workspace;
    if let Some(id) = id {
        fields.set("workspaceId", json!(id).to_string());
    }
    let there = fields.text("workspaceRootPath").map(|there| portable_paths::absolute(&there, place.home));
    if lives_in(fields, root, place) {
        return;
    }
    fields.set("workspaceRootPath", portable_paths::render_text(&portable_paths::homely(root, place.home), place.dir));
    let path = |path: &Path| match path.strip_prefix(place.dir) {
        Ok(_) => portable_paths::render_text(&path.to_string_lossy(), place.dir),
        Err(_) => portable_paths::render_text(&portable_paths::homely(path, place.home), place.dir),
    };
    if fields.has("workingDirectory") {
        fields.set("workingDirectory", path(&meta.cwd));
    }
    if let Some(cwd) = meta.first_cwd.as_deref().filter(|_| fields.has("sdkCwd")) {
        fields.set("sdkCwd", path(cwd));
    }
    let Some(parent) = fields.text("branchFromSessionPath").map(|path| portable_paths::absolute(&path, place.home))
    else {
        return;
    };
    if let (Some(name), true) = (parent.file_name(), there.is_some_and(|there| parent.starts_with(there))) {
        fields.set("branchFromSessionPath", json!(place.dir.with_file_name(name)).to_string());
    }
}

struct HeaderDecoder<'a> {
    fields: &'a JsonFields,
    place: Home<'a>,
    odd: Vec<String>,
}

impl HeaderDecoder<'_> {
    fn wrong(&mut self, key: &str, value: &Value) {
        self.odd.push(format!("The header's {key} is {}; it is not used, and stays in the file.", sort_of(value)));
    }

    fn unknown(&mut self, key: &str, word: &str, instead: &str) {
        self.odd.push(format!("The header's {key} {word:?} is not known; {instead}, and it stays in the file."));
    }

    fn text(&mut self, key: &str) -> Option<String> {
        let raw = self.fields.raw(key)?;
        match super::json::value_of(&portable_paths::expand(raw, self.place.dir)) {
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
        let value = super::json::value_of(&portable_paths::expand(raw, self.place.dir));
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

/// Counts of the rows in the header, updated with every append.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Rows in the file.
    pub messages: u64,
    /// Last user or final assistant message.
    pub last_message: At,
    /// Newest row.
    pub used: At,
    /// Start of the first user message.
    pub preview: String,
    /// Craft's name for the last row's sort, where it has one.
    pub last_role: Option<&'static str>,
    /// The last assistant message that is not intermediate.
    pub last_final: Option<String>,
}

impl Counted {
    /// Puts what the rows decide into a session's properties, whatever these said.
    pub fn put_into(&self, meta: &mut SessionMeta) {
        meta.messages = self.messages;
        meta.last_message = self.last_message;
        meta.used = self.used;
        meta.preview.clone_from(&self.preview);
        meta.last_role = self.last_role.map(str::to_owned);
    }
}

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
    put("llmConnection", changed!(connection), meta.connection.as_ref().map(|c| text(c.as_str())));
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
        let mut usage = match fields.value("tokenUsage") {
            Some(Value::Object(there)) => there,
            _ => serde_json::Map::new(),
        };
        if let Value::Object(mut now) = json!(meta.usage) {
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
                        if matches!(key.as_str(), "costUsd" | "totalCost")
                            && cost.fract() == 0.0
                            && cost.abs() < 1e15 =>
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
    if changed!(pending_execution) {
        match &meta.pending_execution {
            None => fields.remove("pendingPlanExecution"),
            Some(pending) => {
                // What another program keeps there besides stays.
                let mut there = match fields.raw("pendingPlanExecution").map(super::json::value_of) {
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
    let turn = changed!(plan_pending) || changed!(unfinished);
    if changed!(title_from) || turn || changed!(worktree) || changed!(parent) {
        let mut own = fields.raw("lisle").and_then(|raw| JsonFields::parse(raw).ok()).unwrap_or_default();
        own.set("titleFrom", json!(meta.title_from).to_string());
        own.set("planPending", json!(meta.plan_pending).to_string());
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
}

/// Keys that only the rows decide.
pub fn encode_counted(fields: &mut JsonFields, counted: &Counted) {
    match counted.last_role {
        Some(role) => fields.set("lastMessageRole", format!("{role:?}")),
        None => fields.remove("lastMessageRole"),
    }
    if let Some(id) = &counted.last_final {
        fields.set("lastFinalMessageId", json!(id).to_string());
    }
}

/// Line 1 without its newline, padded for a slot of at least `slot` bytes; the preview is shortened where it must be.
///
/// # Errors
/// The bytes that are too many, when even without a preview the line is longer than [`SLOT_MAX`].
pub fn line(fields: &mut JsonFields, slot: usize) -> Result<(String, usize), usize> {
    let mut json = fields.render();
    while json.len() + 1 > SLOT_MAX {
        let preview = fields.text("preview").unwrap_or_default();
        if preview.is_empty() {
            return Err(json.len() + 1 - SLOT_MAX);
        }
        let keep = preview.chars().count() / 2;
        let shorter: String = preview.chars().take(keep).collect();
        // Not through `portable_paths`: a token in it was expanded neither here nor in the text before.
        fields.set("preview", json!(shorter).to_string());
        json = fields.render();
    }
    let slot = if json.len() < SLOT.max(slot.min(SLOT_MAX)) { slot.clamp(SLOT, SLOT_MAX) } else { SLOT_MAX };
    while json.len() + 1 < slot {
        json.push(' ');
    }
    Ok((json, slot))
}

/// SHA-256 of line 1 without its newline, in hex.
pub fn hash(line: &[u8]) -> String {
    use std::fmt::Write;
    Sha256::digest(line).iter().fold(String::with_capacity(64), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// `header.json`: the header once more, with what only lisle knows of the session.
#[derive(Clone, Debug)]
pub struct Second {
    /// SHA-256 of line 1 before the refresh.
    pub before: String,
    /// SHA-256 of line 1 after it; the same where line 1 was left as it is.
    pub after: String,
    /// Length of `session.jsonl` that the counts cover.
    pub length: u64,
    /// The header.
    pub header: JsonFields,
    /// The engine's own data of the session.
    pub own: Value,
    /// Content that applies instead as long as line 1 is the one before the refresh: the rows belong to it.
    pub old: Option<Box<Second>>,
}

impl Second {
    /// Reads the file; `None` when it is not what lisle writes.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        Self::of(&JsonFields::parse(std::str::from_utf8(bytes).ok()?).ok()?)
    }

    fn of(fields: &JsonFields) -> Option<Self> {
        let old = fields.raw("old").and_then(|raw| JsonFields::parse(raw).ok());
        Some(Self {
            old: old.and_then(|old| Self::of(&old)).map(Box::new),
            before: fields.text("before")?,
            after: fields.text("after")?,
            length: fields.number("length").and_then(|n| u64::try_from(n).ok()).unwrap_or(0),
            header: JsonFields::parse(fields.raw("header")?).ok()?,
            own: fields.value("own").unwrap_or(Value::Null),
        })
    }

    /// Content for a file whose line 1 has this hash.
    #[must_use]
    pub fn for_line(self, hash: &str) -> Self {
        match self.old {
            Some(old) if hash == self.before && hash != self.after => *old,
            _ => self,
        }
    }

    /// The file's content.
    pub fn render(&self) -> String {
        let mut out = self.fields().render();
        out.push('\n');
        out
    }

    fn fields(&self) -> JsonFields {
        let mut fields = JsonFields::default();
        fields.set("v", "1".to_owned());
        fields.set("before", json!(self.before).to_string());
        fields.set("after", json!(self.after).to_string());
        fields.set("length", self.length.to_string());
        fields.set("header", self.header.render());
        fields.set("own", self.own.to_string());
        if let Some(old) = &self.old {
            fields.set("old", old.fields().render());
        }
        fields
    }
}

/// The start of a message for the list: blanks collapsed, at most 150 characters.
pub fn preview(text: &str) -> String {
    let mut out = String::new();
    let mut count = 0;
    for word in text.split_whitespace() {
        let gap = usize::from(!out.is_empty());
        let space = 150usize.saturating_sub(count + gap);
        if space == 0 {
            break;
        }
        if gap == 1 {
            out.push(' ');
        }
        let before = out.len();
        out.extend(word.chars().take(space));
        count += gap + out[before..].chars().count();
    }
    out
}

#[cfg(test)]
mod tests;
