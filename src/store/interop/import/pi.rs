//! Sessions of pi, and transcripts of OpenClaw and Fased, which are the same: a JSON object a line.
//!
//! The entries are a tree. The conversation is the way from the last entry up to the root; what is not on it was rewound.
//! In the first version they are a list without ids.

use super::inline_files::{self, InlineFile};
use super::parsed::{
    Answered, ImportFacts, ImportedLine, add_usage, answered_text, call, compacted, counts, is_true, made, number,
    row_id, said, text_of, thinking_level, thought, time, title, typed, typed_id, word,
};
use super::transcript::{ForeignTranscript, LinePosition};
use crate::domain::At;
use crate::domain::diff::{DiffKind, DiffLine, FileDiff, Hunk};
use crate::domain::message::{Carried, Message, UserText};
use crate::domain::session::TitleFrom;
use crate::plain_file;
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;

/// Models that a gateway names where none answered.
const NO_MODELS: [&str; 2] = ["gateway-injected", "delivery-mirror"];

/// True if a line belongs to this format.
pub(super) fn is(value: &Value) -> bool {
    word(value, "type") == "session" && value.get("cwd").is_some() && value.get("timestamp").is_some()
}

#[derive(Clone)]
struct PiNode {
    parent: Option<String>,
    /// The user typed it.
    asked: bool,
}

/// A session while it is read.
#[derive(Clone, Default)]
pub(super) struct PiSession {
    facts: ImportFacts,
    nodes: HashMap<String, PiNode>,
    last: Option<String>,
    /// Position of each entry of the conversation, from its end.
    chain: HashMap<String, usize>,
    rewound: usize,
    /// Entries that became rows, with their positions.
    rows: Vec<(usize, String)>,
    /// The record before was the result of a call.
    calling: bool,
    prefix: &'static str,
}

impl PiSession {
    pub(super) fn new(prefix: &'static str) -> Self {
        Self { prefix, ..Self::default() }
    }
}

impl ForeignTranscript for PiSession {
    fn first(&mut self, value: &Value, _: LinePosition<'_>) {
        self.facts.see(time(value), word(value, "cwd"));
        let id = word(value, "id");
        match word(value, "type") {
            "session" => {
                self.facts.id = self.facts.id.take().or_else(|| Some(id.to_owned()).filter(|id| !id.is_empty()));
                return;
            }
            "session_info" => {
                if let Some(title) = title(word(value, "name")) {
                    (self.facts.title, self.facts.title_from) = (Some(title), TitleFrom::User);
                }
            }
            "thinking_level_change" => {
                self.facts.thinking = thinking_level(word(value, "thinkingLevel")).or(self.facts.thinking);
            }
            _ => {}
        }
        let message = value.get("message").unwrap_or(&Value::Null);
        if word(message, "role") == "assistant" {
            self.count(message);
        }
        if !id.is_empty() {
            let parent = value.get("parentId").and_then(Value::as_str).map(str::to_owned);
            self.nodes.insert(id.to_owned(), PiNode { parent, asked: word(message, "role") == "user" });
            self.last = Some(id.to_owned());
        }
    }

    /// Finds the conversation among the entries.
    fn ready(&mut self, path: &Path) {
        let mut at = self.last.clone();
        while let Some(id) = at.filter(|id| !self.chain.contains_key(id)) {
            let Some(node) = self.nodes.get(&id) else { break };
            at = node.parent.clone();
            self.chain.insert(id, self.chain.len());
        }
        self.rewound = self.nodes.iter().filter(|(id, node)| node.asked && !self.chain.contains_key(*id)).count();
        self.nodes = HashMap::new();
        if self.facts.title.is_none() {
            self.facts.title = self.facts.id.as_deref().and_then(|id| label(path, id));
        }
    }

    fn read(&mut self, value: &Value, line: LinePosition<'_>) -> Vec<ImportedLine> {
        let id = word(value, "id");
        if word(value, "type") == "session" || (!id.is_empty() && !self.chain.contains_key(id)) {
            return vec![ImportedLine::Nothing];
        }
        let at = time(value);
        let out = match word(value, "type") {
            "message" => self.message(at, value, line),
            "compaction" => vec![self.compaction(at, value)],
            "branch_summary" => vec![ImportedLine::Left("branch summaries")],
            "custom_message" => vec![ImportedLine::Left("program notes")],
            "model_change" | "thinking_level_change" | "session_info" | "label" | "custom" => {
                vec![ImportedLine::Nothing]
            }
            _ => vec![ImportedLine::Left("records of unknown kinds")],
        };
        let has_rows = |read: &ImportedLine| matches!(read, ImportedLine::Rows(rows) if !rows.is_empty());
        if let Some(place) = self.chain.get(id).filter(|_| out.iter().any(has_rows)) {
            self.rows.push((*place, id.to_owned()));
        }
        out
    }

    fn facts(&self) -> &ImportFacts {
        &self.facts
    }

    fn rewound(&self) -> usize {
        self.rewound
    }

    fn again(&self) -> Box<dyn ForeignTranscript> {
        Box::new(self.clone())
    }
}

impl PiSession {
    fn count(&mut self, message: &Value) {
        let model = word(message, "model");
        if !model.is_empty() && !NO_MODELS.contains(&model) {
            self.facts.model = Some(model.to_owned());
        }
        let Some(usage) = message.get("usage") else { return };
        let cost = usage.get("cost").and_then(|cost| cost.get("total")?.as_f64()).unwrap_or(0.0);
        let figures = ["input", "output", "cacheRead", "cacheWrite"].map(|key| number(usage, key));
        add_usage(&mut self.facts.usage, figures, cost);
    }

    fn message(&mut self, at: At, value: &Value, line: LinePosition<'_>) -> Vec<ImportedLine> {
        let message = value.get("message").unwrap_or(&Value::Null);
        let content = message.get("content").unwrap_or(&Value::Null);
        let calling = std::mem::replace(&mut self.calling, word(message, "role") == "toolResult");
        match word(message, "role") {
            "user" => {
                let blocks = content.as_array().map(Vec::as_slice).unwrap_or_default();
                // Typed while the calls before ran: the model was not asked yet about their results.
                let (text, files) = with_files(&text_of(content), inline_files::files(blocks));
                inline_files::asked(at, files, UserText { text, steer: calling, ..UserText::default() })
            }
            "assistant" => answer(at, &self.row(value, line), message, content),
            "toolResult" => {
                let blocks = content.as_array().map(Vec::as_slice).unwrap_or_default();
                inline_files::answered(answered(message, content), blocks)
            }
            "bashExecution" => {
                let id = format!("{}-{}", self.prefix, self.row(value, line));
                let exit = message.get("exitCode").and_then(Value::as_i64).and_then(|exit| i32::try_from(exit).ok());
                let failed = is_true(message, "cancelled") || exit.is_some_and(|exit| exit != 0);
                let text = answered_text(&[word(message, "output")]);
                let result = Answered { exit, ..Answered::new(&typed_id(&id), text, failed) };
                let row = made(at, typed(&id, word(message, "command")));
                vec![ImportedLine::Rows(vec![row]), ImportedLine::Results(vec![result])]
            }
            _ => vec![ImportedLine::Left("program notes")],
        }
    }

    /// A compaction keeps what follows an entry that may have become no row: then the next one that did.
    fn compaction(&self, at: At, value: &Value) -> ImportedLine {
        let first = self.chain.get(word(value, "firstKeptEntryId"));
        let keeps = first.and_then(|first| self.rows.iter().find(|(place, _)| place <= first));
        let keeps = keeps.map(|(_, id)| row_id(self.prefix, id, 0));
        let carried = Carried { text: word(value, "summary").to_owned(), keeps, ..Carried::default() };
        ImportedLine::Rows(vec![compacted(at, carried)])
    }
}

/// Text of a message without the files that stand before it, and those files: `<file name="PATH">TEXT</file>`, of which
/// one without a text names the next picture.
fn with_files(text: &str, pictures: Vec<ImportedLine>) -> (String, Vec<ImportedLine>) {
    let (mut rest, mut pictures, mut files) = (text, pictures.into_iter(), Vec::new());
    while let Some((name, inner)) = rest.strip_prefix("<file name=\"").and_then(|rest| rest.split_once('"'))
        && let Some((_, inner)) = inner.split_once('>').filter(|(more, _)| !more.contains(['<', '\n']))
        && let Some((inner, after)) = inner.split_once("</file>")
    {
        let inner = inner.strip_prefix('\n').unwrap_or(inner);
        let inner = inner.strip_suffix('\n').unwrap_or(inner);
        files.push(match inner {
            "" => match pictures.next() {
                Some(ImportedLine::File(picture)) => ImportedLine::File(picture.named(name)),
                Some(other) => other,
                None => ImportedLine::Left("attached files"),
            },
            text => ImportedLine::File(InlineFile::of_text(name, text)),
        });
        rest = after.trim_start_matches('\n');
    }
    files.extend(pictures);
    (rest.to_owned(), files)
}

fn answer(at: At, turn: &str, message: &Value, content: &Value) -> Vec<ImportedLine> {
    let model = Some(word(message, "model").to_owned());
    let model = model.filter(|model| !model.is_empty() && !NO_MODELS.contains(&model.as_str()));
    let mut out = Vec::new();
    let mut bodies = Vec::new();
    if let Value::String(text) = content {
        bodies.push(said(text));
    }
    for block in content.as_array().map(Vec::as_slice).unwrap_or_default() {
        match word(block, "type") {
            "text" if word(block, "text").trim().is_empty() => {}
            "text" => bodies.push(said(word(block, "text"))),
            "thinking" if word(block, "thinking").trim().is_empty() => {}
            "thinking" => bodies.push(thought(word(block, "thinking"))),
            "toolCall" => {
                let input = block.get("arguments").cloned().unwrap_or_default();
                bodies.push(call(word(block, "id"), word(block, "name"), input));
            }
            _ => out.push(ImportedLine::Left("response parts of unknown kinds")),
        }
    }
    let row = |body| Message { turn: Some(turn.to_owned()), model: model.clone(), ..made(at, body) };
    out.insert(0, ImportedLine::Rows(bodies.into_iter().map(row).collect()));
    match word(message, "stopReason") {
        "aborted" => out.push(ImportedLine::Interrupted(at)),
        "error" => out.push(ImportedLine::Left("error messages")),
        _ => {}
    }
    out
}

fn answered(message: &Value, content: &Value) -> Answered {
    let mut text = text_of(content);
    let failed = is_true(message, "isError");
    let mut exit = None;
    if word(message, "toolName") == "bash" {
        exit = (!failed).then_some(0);
        if let Some((body, code)) = text.rsplit_once("Command exited with code ")
            && failed
            && let Ok(code) = code.trim().parse()
        {
            exit = Some(code);
            text = body.trim_end().to_owned();
        } else if failed && text.trim() == "Command aborted" {
            "interrupted".clone_into(&mut text);
        }
    }
    let diff = message.get("details").map(|details| word(details, "diff")).filter(|diff| !diff.is_empty());
    Answered {
        exit,
        diffs: diff.map(diff_of).into_iter().collect(),
        ..Answered::new(word(message, "toolCallId"), text, failed)
    }
}

/// A change whose lines have a sign and their number before them.
fn diff_of(text: &str) -> FileDiff {
    let mut hunk = Hunk { old_start: 0, new_start: 0, lines: Vec::new() };
    for line in text.lines() {
        let Some((sign, rest)) = line.split_at_checked(1) else { continue };
        let rest = rest.trim_start();
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let Ok(number) = rest[..digits].parse::<u32>() else { continue };
        let kind = match sign {
            "+" => DiffKind::Added,
            "-" => DiffKind::Removed,
            _ => DiffKind::Same,
        };
        if hunk.lines.is_empty() {
            (hunk.old_start, hunk.new_start) = (number, number);
        }
        let text = rest[digits..].strip_prefix(' ').unwrap_or(&rest[digits..]);
        hunk.lines.push(DiffLine { kind, text: text.to_owned() });
    }
    let mut out = FileDiff { hunks: vec![hunk], ..FileDiff::default() };
    counts(&mut out);
    out
}

/// Label of an OpenClaw session, from the list beside the transcripts.
fn label(path: &Path, id: &str) -> Option<String> {
    let list = path.parent()?.join("sessions.json");
    let rows: Value = serde_json::from_slice(&plain_file::bytes(&list, 64 << 20)?).ok()?;
    let row = rows.as_object()?.values().find(|row| word(row, "sessionId") == id)?;
    ["label", "displayName", "subject"].iter().find_map(|key| title(word(row, key)))
}

/// True if these transcripts lie in a state directory of OpenClaw or Fased.
pub(super) fn is_openclaw(path: &Path) -> bool {
    path.with_file_name("sessions.json").is_file()
        || path.components().any(|part| matches!(part.as_os_str().to_str(), Some(".openclaw" | ".fased" | ".clawdbot")))
}
