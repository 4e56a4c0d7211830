//! Transcripts of Claude Code: a JSON object a line, with `type`, `timestamp`, `cwd`, and the message as the API has it.
//! Results of calls come as messages of the user.
//!
//! The conversation is a chain of `parentUuid` that ends in the last row, and not the file: what is not on it was rewound.
//! The rows of one answer stand side by side on it, and so do the results of calls that ran at once.

use super::inline_files;
use super::parsed::{
    Answered, ImportFacts, ImportedLine, answered_text, between, call, compacted, counts, is_true, job_ended, made,
    said, text_of, thought, time, typed, word,
};
use super::transcript::{ForeignTranscript, LinePosition};
use crate::domain::At;
use crate::domain::diff::{DiffKind, DiffLine, FileDiff, Hunk};
use crate::domain::message::{Body, Carried, Message, UserText};
use crate::domain::session::TitleFrom;
use crate::domain::usage::{RequestUsage, Usage};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Records that say nothing of the conversation.
const PASSED: [&str; 16] = [
    "api-request",
    "api-request-shape",
    "api-request-blob",
    "atis-latch",
    "tools-used",
    "summary",
    "custom-title",
    "ai-title",
    "agent-name",
    "file-history-snapshot",
    "queue-operation",
    "progress",
    "last-prompt",
    "mode",
    "permission-mode",
    "attachment",
];

/// The model of an answer that the program itself wrote.
const SYNTHETIC: &str = "<synthetic>";

/// True if a line belongs to this format.
pub(super) fn is(value: &Value) -> bool {
    let spoken = matches!(word(value, "type"), "user" | "assistant");
    (spoken && value.get("message").is_some() && value.get("uuid").is_some())
        || (word(value, "type") == "summary" && value.get("leafUuid").is_some())
}

/// Position of a row among the others.
#[derive(Clone)]
struct ClaudeNode {
    uuid: String,
    /// The row before; `None` at the beginning.
    parent: ClaudeParent,
    /// The answer that it is part of.
    answer: Option<String>,
    calls: Vec<String>,
    results: Vec<String>,
    /// The user typed it.
    asked: bool,
}

#[derive(Clone)]
enum ClaudeParent {
    /// The row itself.
    Row(String),
    /// Whichever stands before it in the file.
    Before,
    /// None.
    None,
}

/// A transcript while it is read.
#[derive(Clone, Default)]
pub(super) struct ClaudeTranscript {
    facts: ImportFacts,
    nodes: Vec<ClaudeNode>,
    /// Rows of the conversation.
    kept: HashSet<String>,
    /// Prompts that were rewound.
    rewound: usize,
    /// The titles that were found, the one that counts most first.
    titles: [Option<String>; 3],
    /// The answer that was counted last, and what it used.
    counted: Option<(String, RequestUsage)>,
    /// The typed command whose output comes next.
    typing: Option<String>,
    /// The first row that a compaction left in the conversation.
    keeps: Option<String>,
    /// The model that answers, from the row that was read last on.
    answers: Option<String>,
}

impl ForeignTranscript for ClaudeTranscript {
    fn first(&mut self, value: &Value, _: LinePosition<'_>) {
        self.facts.see(time(value), word(value, "cwd"));
        if self.facts.id.is_none() {
            self.facts.id = Some(word(value, "sessionId").to_owned()).filter(|id| !id.is_empty());
        }
        let title = match word(value, "type") {
            "custom-title" => Some((0, word(value, "customTitle"))),
            "ai-title" => Some((1, word(value, "aiTitle"))),
            "summary" => Some((2, word(value, "summary"))),
            _ => None,
        };
        if let Some((rank, title)) = title {
            let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
            if !title.is_empty() {
                self.titles[rank] = Some(title);
            }
        }
        let uuid = word(value, "uuid");
        if uuid.is_empty() || is_true(value, "isSidechain") {
            return;
        }
        let parent = match value.get("parentUuid") {
            Some(Value::String(parent)) => ClaudeParent::Row(parent.clone()),
            Some(_) => match word(value, "logicalParentUuid") {
                "" if word(value, "subtype") == "compact_boundary" || is_true(value, "isCompactSummary") => {
                    ClaudeParent::Before
                }
                "" => ClaudeParent::None,
                logical => ClaudeParent::Row(logical.to_owned()),
            },
            None => ClaudeParent::Before,
        };
        let message = value.get("message").unwrap_or(&Value::Null);
        let content = message.get("content").unwrap_or(&Value::Null);
        let blocks = content.as_array().map(Vec::as_slice).unwrap_or_default();
        let all = |kind: &str, id: &str| -> Vec<String> {
            let these = blocks.iter().filter(|block| word(block, "type") == kind);
            these.map(|block| word(block, id).to_owned()).collect()
        };
        let answer = Some(word(message, "id").to_owned()).filter(|id| !id.is_empty());
        let (calls, results) = (all("tool_use", "id"), all("tool_result", "tool_use_id"));
        let asked = word(value, "type") == "user"
            && results.is_empty()
            && !is_true(value, "isMeta")
            && !is_true(value, "isCompactSummary")
            && is_typed(value)
            && !text_of(content).trim_start().starts_with(['<', '[']);
        self.nodes.push(ClaudeNode { uuid: uuid.to_owned(), parent, answer, calls, results, asked });
    }

    /// Finds the conversation among the rows.
    fn ready(&mut self, _: &Path) {
        let places: HashMap<&str, usize> =
            self.nodes.iter().enumerate().map(|(at, node)| (node.uuid.as_str(), at)).collect();
        let mut kept: HashSet<&str> = HashSet::new();
        let mut at = self.nodes.len().checked_sub(1);
        while let Some(node) = at.and_then(|at| self.nodes.get(at)) {
            if !kept.insert(&node.uuid) {
                break;
            }
            let here = at.unwrap_or_default();
            at = match &node.parent {
                ClaudeParent::Row(parent) => places.get(parent.as_str()).copied().or_else(|| here.checked_sub(1)),
                ClaudeParent::Before => here.checked_sub(1),
                ClaudeParent::None => None,
            };
        }
        // The other parts of an answer that is on the chain, and the results of its calls.
        let mut calls: HashSet<&str> = HashSet::new();
        for node in &self.nodes {
            let beside = match &node.parent {
                ClaudeParent::Row(parent) if !kept.contains(node.uuid.as_str()) && kept.contains(parent.as_str()) => {
                    let parent = places.get(parent.as_str()).and_then(|at| self.nodes.get(*at));
                    let same = parent.is_some_and(|parent| node.answer.is_some() && parent.answer == node.answer);
                    same || (!node.results.is_empty() && node.results.iter().all(|id| calls.contains(id.as_str())))
                }
                _ => false,
            };
            if beside {
                kept.insert(&node.uuid);
            }
            if kept.contains(node.uuid.as_str()) {
                calls.extend(node.calls.iter().map(String::as_str));
            }
        }
        self.rewound = self.nodes.iter().filter(|node| node.asked && !kept.contains(node.uuid.as_str())).count();
        self.kept = kept.into_iter().map(str::to_owned).collect();
        self.nodes = Vec::new();
        let from = [TitleFrom::User, TitleFrom::Generated, TitleFrom::Generated];
        for (title, from) in std::mem::take(&mut self.titles).into_iter().zip(from) {
            if let (Some(title), None) = (title, &self.facts.title) {
                (self.facts.title, self.facts.title_from) = (Some(title), from);
            }
        }
    }

    fn read(&mut self, value: &Value, _: LinePosition<'_>) -> Vec<ImportedLine> {
        if is_true(value, "isSidechain") {
            return vec![ImportedLine::Left("subagent records")];
        }
        let kind = word(value, "type");
        let uuid = word(value, "uuid");
        if !uuid.is_empty() && !self.kept.contains(uuid) {
            return vec![ImportedLine::Nothing];
        }
        let at = time(value);
        let message = value.get("message").unwrap_or(&Value::Null);
        let content = message.get("content").unwrap_or(&Value::Null);
        match kind {
            "user" if is_true(value, "isCompactSummary") => {
                let keeps = self.keeps.take().map(|uuid| super::parsed::row_id("cc", &uuid, 0));
                let carried = Carried { text: text_of(content), keeps, ..Carried::default() };
                vec![ImportedLine::Rows(vec![compacted(at, carried)])]
            }
            "user" if is_true(value, "isMeta") => vec![ImportedLine::Nothing],
            "user" if !is_typed(value) => vec![job_ended(at, notification(&text_of(content)))],
            "user" => self.user(at, uuid, content, value.get("toolUseResult")),
            "assistant" => {
                self.count(message);
                let model = word(message, "model");
                // What was stopped says no model: it is of the one that answered before.
                if !model.is_empty() && model != SYNTHETIC {
                    self.answers = Some(model.to_owned());
                }
                assistant(at, message, content, self.answers.as_deref())
            }
            "attachment" => vec![queued(at, value.get("attachment").unwrap_or(&Value::Null))],
            "system" => {
                let preserved = value.get("compactMetadata").and_then(|meta| meta.get("preservedMessages"));
                let first = preserved.and_then(|kept| kept.get("uuids")?.get(0)?.as_str());
                self.keeps = first.filter(|uuid| self.kept.contains(*uuid)).map(str::to_owned).or(self.keeps.take());
                match word(value, "subtype") {
                    "compact_boundary" | "turn_duration" | "local_command" | "stop_hook_summary" => {
                        vec![ImportedLine::Nothing]
                    }
                    _ => vec![ImportedLine::Left("program notes")],
                }
            }
            "cost-state" => {
                let cost = value.get("totalCostUSD").and_then(Value::as_f64);
                self.facts.usage.cost_usd = cost.filter(|cost| cost.is_finite()).unwrap_or(self.facts.usage.cost_usd);
                vec![ImportedLine::Nothing]
            }
            kind if PASSED.contains(&kind) => vec![ImportedLine::Nothing],
            _ => vec![ImportedLine::Left("records of unknown kinds")],
        }
    }

    fn facts(&self) -> &ImportFacts {
        &self.facts
    }

    fn rewound(&self) -> usize {
        self.rewound
    }

    fn row(&self, value: &Value, line: LinePosition<'_>) -> String {
        line.named(word(value, "uuid"))
    }

    fn again(&self) -> Box<dyn ForeignTranscript> {
        Box::new(self.clone())
    }
}

impl ClaudeTranscript {
    /// Adds what an answer used, once however many rows it has.
    fn count(&mut self, message: &Value) {
        let model = word(message, "model");
        let (id, Some(usage)) = (word(message, "id"), message.get("usage").filter(|usage| usage.is_object())) else {
            return;
        };
        if model == SYNTHETIC || id.is_empty() {
            return;
        }
        let figure = |key: &str| usage.get(key).and_then(Value::as_u64).unwrap_or(0);
        let (read, made) = (figure("cache_read_input_tokens"), figure("cache_creation_input_tokens"));
        let used = RequestUsage {
            input: figure("input_tokens") + read + made,
            output: figure("output_tokens"),
            cache_read: read,
            cache_creation: made,
            cache_hour: 0,
        };
        if used.input == 0 && used.output == 0 {
            return;
        }
        if !model.is_empty() {
            self.facts.model = Some(model.to_owned());
        }
        let total: &mut Usage = &mut self.facts.usage;
        match self.counted.take().filter(|(counted, _)| counted == id) {
            // Its later rows know better how much was written.
            Some((_, before)) if before.output >= used.output => return self.counted = Some((id.to_owned(), before)),
            Some((_, before)) => total.take_back(before, 0.0),
            None => {}
        }
        total.add(used, 0.0, None);
        self.counted = Some((id.to_owned(), used));
    }

    fn user(&mut self, at: At, uuid: &str, content: &Value, beside: Option<&Value>) -> Vec<ImportedLine> {
        let mut out = Vec::new();
        if let Value::Array(blocks) = content {
            let results = || blocks.iter().filter(|block| word(block, "type") == "tool_result");
            let beside = beside.filter(|_| results().count() == 1);
            out.extend(results().flat_map(|block| result(block, beside)));
            out.extend(inline_files::files(blocks));
        }
        let text = text_of(content);
        let begun = text.trim_start();
        if let Some(command) = between(begun, "<bash-input>", "</bash-input>") {
            self.typing = Some(uuid.to_owned());
            out.push(ImportedLine::Rows(vec![made(at, typed(uuid, command))]));
        } else if begun.starts_with("<bash-stdout>") {
            let stdout = between(begun, "<bash-stdout>", "</bash-stdout>").unwrap_or_default();
            let stderr = between(begun, "<bash-stderr>", "</bash-stderr>").unwrap_or_default();
            if let Some(call) = self.typing.take() {
                let text = answered_text(&[stdout, stderr]);
                out.push(ImportedLine::Results(vec![Answered::new(&super::parsed::typed_id(&call), text, false)]));
            }
        } else if begun.starts_with("[Request interrupted by user") {
            out.push(ImportedLine::Interrupted(at));
        } else if begun.starts_with("<command-name>") {
            out.push(ImportedLine::Left("program commands"));
        } else if begun.starts_with("<local-command-") || begun.starts_with("<command-message>") {
            out.push(ImportedLine::Nothing);
        } else {
            return inline_files::asked(at, out, UserText::from(text));
        }
        out
    }
}

/// A result. `beside`: what stands outside of the message about it.
fn result(block: &Value, beside: Option<&Value>) -> Vec<ImportedLine> {
    let content = block.get("content").unwrap_or(&Value::Null);
    let failed = is_true(block, "is_error");
    let text = text_of(content);
    let (head, rest) = text.split_once('\n').unwrap_or((&text, ""));
    let exit = head.strip_prefix("Exit code ").filter(|_| failed).and_then(|code| code.trim().parse().ok());
    let text = if exit.is_some() { rest.to_owned() } else { text };
    let mut one = Answered { exit, ..Answered::new(word(block, "tool_use_id"), text, failed) };
    if let Some(beside) = beside {
        one.diffs = diff(beside).into_iter().collect();
        // Of a command that went well.
        let ran = beside.get("stdout").is_some() && !failed && !is_true(beside, "interrupted");
        one.exit = one.exit.or_else(|| ran.then_some(0));
    }
    let blocks = content.as_array().map(Vec::as_slice).unwrap_or_default();
    inline_files::answered(one, blocks)
}

/// True for a message that a person wrote, and no part of the program.
fn is_typed(record: &Value) -> bool {
    record.get("origin").is_none_or(|origin| matches!(word(origin, "kind"), "" | "human"))
}

/// Text of a message on a task that ended: its summary and its result.
fn notification(text: &str) -> String {
    let part = |name: &str| text.split_once(&format!("<{name}>"))?.1.rsplit_once(&format!("</{name}>"));
    let parts = ["summary", "result"].map(|name| part(name).map_or("", |(inner, _)| inner.trim()));
    match parts {
        ["", ""] => text.trim().to_owned(),
        [summary, ""] => format!("{summary}."),
        ["", result] => result.to_owned(),
        [summary, result] => format!("{summary}: {result}"),
    }
}

/// Message that the user typed while an answer was being written.
fn queued(at: At, attachment: &Value) -> ImportedLine {
    let typed = word(attachment, "type") == "queued_command"
        && matches!(word(attachment, "commandMode"), "" | "prompt")
        && is_typed(attachment);
    let text = attachment.get("prompt").map(text_of).unwrap_or_default();
    if !typed || text.trim().is_empty() {
        return ImportedLine::Nothing;
    }
    let said = UserText { text, steer: true, ..UserText::default() };
    ImportedLine::Rows(vec![made(at, Body::User(said))])
}

/// The change of a file, as it stands beside the result.
fn diff(beside: &Value) -> Option<FileDiff> {
    let path = word(beside, "filePath");
    if path.is_empty() {
        return None;
    }
    if word(beside, "type") == "create" {
        return Some(FileDiff::between(path, None, word(beside, "content")));
    }
    let mut out = FileDiff { path: path.to_owned(), ..FileDiff::default() };
    for hunk in beside.get("structuredPatch")?.as_array()? {
        let line = |line: &Value| {
            let line = line.as_str()?;
            let (kind, text) = match line.split_at_checked(1)? {
                ("+", text) => (DiffKind::Added, text),
                ("-", text) => (DiffKind::Removed, text),
                (" ", text) => (DiffKind::Same, text),
                _ => return None,
            };
            Some(DiffLine { kind, text: text.to_owned() })
        };
        let lines: Vec<DiffLine> = hunk.get("lines")?.as_array()?.iter().filter_map(line).collect();
        let start = |key: &str| hunk.get(key).and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok()).unwrap_or(1);
        out.hunks.push(Hunk { old_start: start("oldStart"), new_start: start("newStart"), lines });
    }
    counts(&mut out);
    (!out.hunks.is_empty()).then_some(out)
}

fn assistant(at: At, message: &Value, content: &Value, model: Option<&str>) -> Vec<ImportedLine> {
    let mut rows: Vec<Message> = Vec::new();
    let mut out = Vec::new();
    let blocks = match content {
        Value::Array(blocks) => blocks.as_slice(),
        Value::String(_) => std::slice::from_ref(content),
        _ => &[],
    };
    for block in blocks {
        let body = match (block, word(block, "type")) {
            (Value::String(text), _) => said(text),
            (_, "text") => said(word(block, "text")),
            (_, "thinking") => thought(word(block, "thinking")),
            (_, "tool_use") => {
                call(word(block, "id"), word(block, "name"), block.get("input").cloned().unwrap_or_default())
            }
            (_, "redacted_thinking") => continue,
            _ => {
                out.push(ImportedLine::Left("response parts of unknown kinds"));
                continue;
            }
        };
        let mut row = made(at, body);
        row.turn = message.get("id").and_then(Value::as_str).map(str::to_owned);
        row.model = model.map(str::to_owned);
        rows.push(row);
    }
    out.insert(0, ImportedLine::Rows(rows));
    out
}
