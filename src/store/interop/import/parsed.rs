//! Rows, results and facts as the readers of both programs give them, and what both read alike.

use crate::domain::diff::{DiffKind, FileDiff};
use crate::domain::message::{Body, Message};
use crate::domain::session::TitleFrom;
use crate::domain::tool::{ToolCall, ToolStatus};
use crate::domain::usage::Usage;
use crate::domain::{At, CallId, MessageId, foreign};
use crate::store::format::row;
use serde_json::Value;
use std::path::PathBuf;

/// Facts for the header of the new session.
#[derive(Clone, Debug, Default)]
pub(super) struct ImportFacts {
    /// The other program's name for it.
    pub(super) id: Option<String>,
    pub(super) created: Option<At>,
    pub(super) cwd: Option<PathBuf>,
    pub(super) title: Option<String>,
    pub(super) title_from: TitleFrom,
    pub(super) model: Option<String>,
    pub(super) usage: Usage,
}

impl ImportFacts {
    /// The time and the directory of a line.
    pub(super) fn see(&mut self, at: At, cwd: &str) {
        if at > At(0) {
            self.created = Some(self.created.map_or(at, |known| known.min(at)));
        }
        if self.cwd.is_none() && !cwd.is_empty() {
            self.cwd = Some(cwd.into());
        }
    }
}

/// A file of a conversation.
#[derive(Debug)]
pub(super) struct ConversationFile {
    pub(super) path: PathBuf,
    /// Only its rows with an ordinal below this are part of it.
    pub(super) before: Option<u64>,
    /// Segment that its rows have beside their numbers, which other files of the conversation have too; empty for the
    /// first one.
    pub(super) segment: String,
}

/// Meaning of a line.
pub(super) enum ImportedLine {
    /// Rows of the conversation.
    Rows(Vec<Message>),
    /// The result of a call of before.
    Results(Vec<Answered>),
    /// More about a call whose result is to come.
    Known(Answered),
    /// The user stopped what ran.
    Interrupted(At),
    /// Nothing that belongs into a conversation.
    Nothing,
    /// Omitted item: its name, in the plural.
    Left(&'static str),
}

/// Result of a call.
pub(super) struct Answered {
    pub(super) call: String,
    pub(super) text: String,
    pub(super) failed: bool,
    pub(super) exit: Option<i32>,
    pub(super) millis: Option<u64>,
    pub(super) diffs: Vec<FileDiff>,
}

impl Answered {
    pub(super) fn new(call: &str, text: String, failed: bool) -> Self {
        Self { call: call.to_owned(), text, failed, exit: None, millis: None, diffs: Vec::new() }
    }
}

pub(super) fn row_id(program: &str, row: &str, index: usize) -> MessageId {
    MessageId::new(if index == 0 { format!("{program}-{row}") } else { format!("{program}-{row}-{index}") })
}

/// A row of this time.
pub(super) fn made(at: At, body: Body) -> Message {
    Message::new(MessageId::new(""), at, body)
}

/// A call that has no result yet.
pub(super) fn call(id: &str, name: &str, input: Value) -> Body {
    // In our words: a model that goes on imitates what it sees.
    let ours = foreign::tool(name);
    let input = ours.map_or_else(|| input.clone(), |ours| foreign::input(ours, &input).into_owned());
    Body::Tool(Box::new(ToolCall {
        id: CallId::new(id),
        name: ours.unwrap_or(name).to_owned(),
        subject: row::subject(&input),
        input,
        status: ToolStatus::Executing,
        result: None,
        millis: None,
        figures: Default::default(),
        decision: None,
    }))
}

/// A command that the user typed. It is told from others by its id.
pub(super) fn typed(id: &str, command: &str) -> Body {
    call(&typed_id(id), "bash", serde_json::json!({"command": command}))
}

pub(super) fn typed_id(id: &str) -> String {
    format!("typed-{id}")
}

/// Output of a command, in one text.
pub(super) fn answered_text(parts: &[&str]) -> String {
    let parts: Vec<&str> = parts.iter().map(|part| part.trim_end()).filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}

/// Counts the lines of a change.
pub(super) fn counts(diff: &mut FileDiff) {
    let all = |kind| diff.hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.kind == kind).count();
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let (added, removed) = (number(all(DiffKind::Added)), number(all(DiffKind::Removed)));
    (diff.added, diff.removed) = (added, removed);
}

pub(super) fn word<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn is_true(value: &Value, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool).unwrap_or(false)
}

/// The time of a line.
pub(super) fn time(value: &Value) -> At {
    let text = value.get("timestamp").and_then(Value::as_str);
    let parsed = text.and_then(|text| text.parse::<jiff::Timestamp>().ok());
    At(parsed.map_or(0, jiff::Timestamp::as_millisecond))
}

/// The text of content that is one text, or blocks of which some are text.
pub(super) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block.get("text").and_then(Value::as_str));
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}
