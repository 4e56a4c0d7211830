//! Rows, results and facts as the readers of all programs give them, and what several read alike.

use super::inline_files::InlineFile;
use crate::domain::diff::{DiffKind, DiffLine, FileDiff, Hunk};
use crate::domain::message::{AssistantText, Body, Carried, Info, InfoKind, Message, Thinking};
use crate::domain::notice::Level;
use crate::domain::session::{ThinkingLevel, TitleFrom};
use crate::domain::tool::{ToolCall, ToolStatus};
use crate::domain::usage::{RequestUsage, Usage};
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
    /// Level that was chosen last.
    pub(super) thinking: Option<ThinkingLevel>,
    /// The conversation is a subagent's.
    pub(super) subagent: bool,
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
#[derive(Clone, Debug)]
pub(super) struct ConversationFile {
    pub(super) path: PathBuf,
    pub(super) form: RecordForm,
    /// Only its rows with an ordinal below this are part of it.
    pub(super) before: Option<u64>,
    /// Segment that its rows have beside their numbers, which other files of the conversation have too; empty for the
    /// first one.
    pub(super) segment: String,
    /// Number of records that come before its own and are not at hand.
    pub(super) lacks: u64,
}

impl ConversationFile {
    pub(super) fn new(path: &std::path::Path, form: RecordForm) -> Self {
        Self { path: path.to_owned(), form, before: None, segment: String::new(), lacks: 0 }
    }
}

/// Form of the records in a file.
#[derive(Clone, Debug)]
pub(super) enum RecordForm {
    /// A JSON object a line, in the order of the conversation.
    Lines,
    /// A JSON object a line, of which these are the conversation, in this order.
    Log(Vec<LogPosition>),
    /// One JSON or YAML document.
    Document,
    /// A file of opencode's older storage: the messages lie in folders beside it.
    Storage,
    /// The rows of this session in a database.
    Database(String),
}

/// Position of a record in a file of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LogPosition {
    /// Bytes of the line.
    pub(super) line: (u64, u64),
    /// Index among the messages of the line; `None`: the line is the record.
    pub(super) index: Option<usize>,
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
    /// A file of the message that follows.
    File(InlineFile),
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
    /// Pictures and documents that the model got with the text.
    pub(super) files: Vec<InlineFile>,
}

impl Answered {
    pub(super) fn new(call: &str, text: String, failed: bool) -> Self {
        Self { call: call.to_owned(), text, failed, exit: None, millis: None, diffs: Vec::new(), files: Vec::new() }
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

/// What a program told the model while the user typed nothing: a job or a subagent that ended.
pub(super) fn job_ended(at: At, text: String) -> ImportedLine {
    let info = Info { text, level: Level::Info, kind: InfoKind::JobEnded, carried: None };
    ImportedLine::Rows(vec![made(at, Body::Info(info))])
}

/// Text between two marks.
pub(super) fn between<'t>(text: &'t str, open: &str, close: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(open)?;
    rest.split_once(close).map(|(inner, _)| inner)
}

/// Level of thinking that a program names; `None` for a word that nobody knows.
pub(super) fn thinking_level(word: &str) -> Option<ThinkingLevel> {
    match word {
        "none" => Some(ThinkingLevel::Off),
        "minimal" => Some(ThinkingLevel::Low),
        word => ThinkingLevel::parse(word),
    }
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

/// A time in milliseconds since 1970.
pub(super) fn millis(value: &Value, key: &str) -> At {
    At(value.get(key).and_then(Value::as_i64).unwrap_or(0))
}

pub(super) fn number(value: &Value, key: &str) -> u64 {
    value.get(key).and_then(Value::as_u64).unwrap_or(0)
}

pub(super) fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Title on one line; `None` if nothing is left of it.
pub(super) fn title(text: &str) -> Option<String> {
    let title = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!title.is_empty()).then_some(title)
}

pub(super) fn said(text: &str) -> Body {
    Body::Assistant(AssistantText { text: text.to_owned(), ..AssistantText::default() })
}

pub(super) fn thought(text: &str) -> Body {
    Body::Thinking(Thinking { text: text.to_owned(), ..Thinking::default() })
}

/// Row of a compaction.
pub(super) fn compacted(at: At, carried: Carried) -> Message {
    let text = "Older messages were summarized here.".to_owned();
    let carried = Some(Box::new(carried));
    made(at, Body::Info(Info { text, level: Level::Info, kind: InfoKind::Compacted, carried }))
}

/// Adds a request whose input was counted without what a cache had of it.
pub(super) fn add_usage(total: &mut Usage, [input, output, read, written]: [u64; 4], cost: f64) {
    let used = RequestUsage {
        input: input.saturating_add(read).saturating_add(written),
        output,
        cache_read: read,
        cache_creation: written,
        cache_hour: 0,
    };
    if used.input > 0 || used.output > 0 {
        total.add(used, cost, None);
    }
}

/// Change of a file from a unified diff.
pub(super) fn unified(path: &str, text: &str) -> FileDiff {
    let mut out = FileDiff { path: path.to_owned(), ..FileDiff::default() };
    for line in text.lines() {
        if let Some(place) = line.strip_prefix("@@ -") {
            let start = |text: Option<&str>| -> Option<u32> { text?.split([',', ' ']).next()?.parse().ok() };
            let mut sides = place.split('+');
            let (old, new) = (start(sides.next()).unwrap_or(1), start(sides.next()).unwrap_or(1));
            out.is_new |= place.starts_with("0,0 ");
            out.hunks.push(Hunk { old_start: old, new_start: new, lines: Vec::new() });
        } else if let Some(hunk) = out.hunks.last_mut() {
            let kind = match line.as_bytes().first() {
                Some(b'+') => DiffKind::Added,
                Some(b'-') => DiffKind::Removed,
                Some(b' ') | None => DiffKind::Same,
                Some(_) => continue,
            };
            hunk.lines.push(DiffLine { kind, text: line.get(1..).unwrap_or_default().to_owned() });
        }
    }
    counts(&mut out);
    out
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
