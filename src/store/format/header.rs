//! Line 1 of `session.jsonl`: what is known of a session without its messages.
//!
//! Known keys become a [`SessionMeta`], and only keys whose value changed are written back: unknown keys, unknown
//! values and the order survive. The line is padded with blanks so that it can be overwritten in place. Where the
//! bytes go is left to the journal.

mod decode;
mod encode;
#[cfg(test)]
mod tests;

pub use decode::decode;
pub use encode::encode;

use super::json::JsonFields;
use super::portable_paths;
use crate::domain::At;
use crate::domain::hex::sha256_hex;
use crate::domain::session::SessionMeta;
use serde_json::{Value, json};
use std::path::Path;

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
        /// True if it held bytes that are not UTF-8.
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
                    Ok(other) => format!("line 1 should be the header but is {}", sort_of(&other)),
                    Err(_) => format!("line 1, the header, is unreadable ({why})"),
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
    sha256_hex(line)
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
