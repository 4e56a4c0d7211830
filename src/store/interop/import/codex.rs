//! Rollouts of Codex: a JSON object a line, `{timestamp, type, payload}`; in older ones the payload alone.
//!
//! A rewind begins a new file that names the rows of the old one which come first; older versions told of it in the file.
//! `codex_files` finds the files of a conversation.

use super::codex_files::{rollout_head, title};
use super::inline_files;
use super::parsed::{
    Answered, ImportFacts, ImportedLine, answered_text, between, call, compacted, job_ended, list, made, text_of,
    thinking_level, time, typed, unified, word,
};
use super::transcript::{ForeignTranscript, LinePosition};
use crate::domain::At;
use crate::domain::diff::FileDiff;
use crate::domain::message::{AssistantText, Body, Carried, Thinking, UserText};
use crate::domain::session::TitleFrom;
use crate::domain::usage::Usage;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::Path;

const ITEMS: [&str; 10] = [
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "local_shell_call",
    "web_search_call",
    "ghost_snapshot",
    "compaction",
];
/// Begin of a message on a subagent that ended.
const NOTIFICATION: &str = "<subagent_notification>";
/// Prefixes that the program puts before the user's own words.
const OWN_WORDS: [&str; 7] = [
    NOTIFICATION,
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<permissions instructions>",
    "<turn_aborted>",
    "<INSTRUCTIONS>",
];

/// True if a line belongs to this format.
pub(super) fn is(value: &Value) -> bool {
    let kinds = ["session_meta", "response_item", "event_msg", "turn_context"];
    let enveloped = kinds.contains(&word(value, "type")) && value.get("payload").is_some_and(Value::is_object);
    // The first line of an older one.
    let older = value.get("id").is_some() && value.get("instructions").is_some() && value.get("timestamp").is_some();
    enveloped || (older && value.get("type").is_none())
}

/// A rollout while it is read.
#[derive(Clone, Default)]
pub(super) struct CodexRollout {
    facts: ImportFacts,
    /// Position of each message of the user.
    asked: Vec<u64>,
    /// The last answer, and where it stands.
    answered: Option<(u64, String)>,
    /// Rows that are no part of the conversation.
    dropped: HashSet<u64>,
    /// From here on to there everything was rewound.
    rewound: Vec<(u64, u64)>,
    /// The model that answers, from the row that was read last on.
    answers: Option<String>,
}

impl ForeignTranscript for CodexRollout {
    fn first(&mut self, value: &Value, line: LinePosition<'_>) {
        let number = line.number;
        let payload = value.get("payload").unwrap_or(&Value::Null);
        self.facts.see(time(value), word(payload, "cwd"));
        match word(value, "type") {
            "session_meta" => {
                self.facts.id = self.facts.id.take().or_else(|| Some(word(payload, "id").to_owned()));
            }
            "turn_context" => {
                let model = word(payload, "model");
                if !model.is_empty() {
                    self.facts.model = Some(model.to_owned());
                }
                self.facts.thinking = thinking_level(word(payload, "effort")).or(self.facts.thinking);
            }
            "event_msg" if word(payload, "type") == "thread_rolled_back" => {
                let turns = payload.get("num_turns").and_then(Value::as_u64).unwrap_or(0);
                let turns = usize::try_from(turns).unwrap_or(usize::MAX).min(self.asked.len());
                let rest = self.asked.len() - turns;
                if let Some(from) = self.asked.get(rest) {
                    self.rewound.push((*from, number));
                }
                self.asked.truncate(rest);
            }
            "event_msg" if word(payload, "type") == "token_count" => self.count(payload),
            "response_item" => self.noticed(payload, number),
            "compacted" => {
                // The summary stands before it once more, as an answer.
                if let Some((at, text)) = self.answered.take()
                    && word(payload, "message").contains(text.trim())
                {
                    self.dropped.insert(at);
                }
            }
            _ if value.get("payload").is_none() => self.noticed(value, number),
            _ => {}
        }
        if self.facts.id.as_deref() == Some("") || (self.facts.id.is_none() && value.get("instructions").is_some()) {
            self.facts.id = Some(word(value, "id").to_owned()).filter(|id| !id.is_empty());
        }
    }

    fn rewound(&self) -> usize {
        self.rewound.len()
    }

    /// The thread is that of the file: records of the one that it was forked from come first, and name that one.
    fn ready(&mut self, path: &Path) {
        if let Some(own) = rollout_head(path) {
            self.facts.id = Some(own.thread).filter(|id| !id.is_empty()).or(self.facts.id.take());
            self.facts.cwd = own.cwd.or(self.facts.cwd.take());
            self.facts.subagent = own.is_subagent;
        }
        if let Some(title) = self.facts.id.as_deref().and_then(|thread| title(path, thread)) {
            (self.facts.title, self.facts.title_from) = (Some(title), TitleFrom::User);
        }
    }

    fn read(&mut self, value: &Value, line: LinePosition<'_>) -> Vec<ImportedLine> {
        let number = line.number;
        let gone = self.rewound.iter().any(|(from, to)| (*from..*to).contains(&number));
        if gone || self.dropped.contains(&number) {
            return vec![ImportedLine::Nothing];
        }
        let at = time(value);
        let payload = value.get("payload").unwrap_or(&Value::Null);
        match word(value, "type") {
            "response_item" => self.signed(self.item(at, payload, number)),
            "event_msg" => vec![event(at, payload)],
            "turn_context" => {
                self.answers = Some(word(payload, "model").to_owned()).filter(|model| !model.is_empty());
                vec![ImportedLine::Nothing]
            }
            "session_meta" | "world_state" | "token_usage_record" => vec![ImportedLine::Nothing],
            "compacted" => {
                vec![ImportedLine::Rows(vec![compacted(at, carried(payload))])]
            }
            older if ITEMS.contains(&older) => self.signed(self.item(at, value, number)),
            "" if is(value) || value.get("record_type").is_some() => vec![ImportedLine::Nothing],
            _ => vec![ImportedLine::Left("records of unknown kinds")],
        }
    }

    fn facts(&self) -> &ImportFacts {
        &self.facts
    }

    fn row(&self, _: &Value, line: LinePosition<'_>) -> String {
        if line.segment.is_empty() { line.number.to_string() } else { format!("{}-{}", line.segment, line.number) }
    }

    fn again(&self) -> Box<dyn ForeignTranscript> {
        Box::new(self.clone())
    }
}

impl CodexRollout {
    fn noticed(&mut self, item: &Value, number: u64) {
        if word(item, "type") != "message" {
            return;
        }
        let text = item.get("content").map(text_of).unwrap_or_default();
        match word(item, "role") {
            "user" if !OWN_WORDS.iter().any(|own| text.trim_start().starts_with(own)) => self.asked.push(number),
            "assistant" if !text.trim().is_empty() => self.answered = Some((number, text)),
            _ => {}
        }
    }

    fn count(&mut self, payload: &Value) {
        let Some(info) = payload.get("info") else { return };
        let figure = |of: &str, key: &str| info.get(of).and_then(|of| of.get(key)).and_then(Value::as_u64);
        let Some(input) = figure("total_token_usage", "input_tokens") else { return };
        let output = figure("total_token_usage", "output_tokens").unwrap_or(0);
        self.facts.usage = Usage {
            input_tokens: input,
            output_tokens: output,
            total_tokens: input + output,
            context_tokens: figure("last_token_usage", "input_tokens").unwrap_or(0),
            cache_read_tokens: figure("last_token_usage", "cached_input_tokens").filter(|n| *n > 0),
            cache_creation_tokens: figure("last_token_usage", "cache_write_input_tokens").filter(|n| *n > 0),
            context_window: info.get("model_context_window").and_then(Value::as_u64),
            ..Usage::default()
        };
    }

    /// Rows of the model with its name.
    fn signed(&self, mut all: Vec<ImportedLine>) -> Vec<ImportedLine> {
        for read in &mut all {
            let ImportedLine::Rows(rows) = read else { continue };
            for row in rows.iter_mut().filter(|row| !matches!(row.body, Body::User(_) | Body::Info(_))) {
                row.model.clone_from(&self.answers);
            }
        }
        all
    }

    fn item(&self, at: At, item: &Value, number: u64) -> Vec<ImportedLine> {
        let one = |body| vec![ImportedLine::Rows(vec![made(at, body)])];
        let id = word(item, "call_id");
        match word(item, "type") {
            "message" => message(at, item, number),
            "reasoning" => {
                let text = item.get("summary").map(text_of).unwrap_or_default();
                if text.trim().is_empty() {
                    return vec![ImportedLine::Nothing];
                }
                one(Body::Thinking(Thinking { text, ..Thinking::default() }))
            }
            "function_call" => {
                let written = word(item, "arguments");
                let input = serde_json::from_str(written).unwrap_or_else(|_| json!({"arguments": written}));
                let mut out = one(call(id, word(item, "name"), self.here(input)));
                out.extend((word(item, "name") == "spawn_agent").then_some(ImportedLine::Left("subagent sessions")));
                out
            }
            "custom_tool_call" => one(call(id, word(item, "name"), json!({"input": word(item, "input")}))),
            "local_shell_call" => one(call(id, "shell", self.here(item.get("action").cloned().unwrap_or_default()))),
            "function_call_output" | "custom_tool_call_output" => {
                let output = item.get("output").unwrap_or(&Value::Null);
                inline_files::answered(answered(id, output), blocks(output))
            }
            "ghost_snapshot" => vec![ImportedLine::Nothing],
            "web_search_call" => vec![ImportedLine::Left("web searches")],
            _ => vec![ImportedLine::Left("records of unknown kinds")],
        }
    }

    /// An input without the directory, where that is the conversation's own.
    fn here(&self, mut input: Value) -> Value {
        let cwd = self.facts.cwd.as_deref().and_then(Path::to_str);
        if let Some(fields) = input.as_object_mut()
            && ["workdir", "working_directory"]
                .iter()
                .any(|key| cwd.is_some() && fields.get(*key).and_then(Value::as_str) == cwd)
        {
            fields.shift_remove("workdir");
            fields.shift_remove("working_directory");
        }
        input
    }
}

/// Content that a compaction carries over: the summary, and the user's messages that stay word for word.
fn carried(payload: &Value) -> Carried {
    let kept = payload.get("replacement_history").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let said = kept.iter().filter(|item| word(item, "role") == "user").filter_map(|item| {
        let text = item.get("content").map(text_of)?;
        let own = OWN_WORDS.iter().any(|own| text.trim_start().starts_with(own));
        (!own && !text.trim().is_empty() && !word(payload, "message").contains(text.trim())).then_some(text)
    });
    let said: Vec<String> = said.collect();
    let mut text = word(payload, "message").to_owned();
    if !said.is_empty() {
        text = format!("Earlier user messages, verbatim:\n\n{}\n\n{text}", said.join("\n\n"));
    }
    Carried { text, said, ..Carried::default() }
}

/// Event for that program's screen: mostly what the items say, and sometimes more.
fn event(at: At, payload: &Value) -> ImportedLine {
    match word(payload, "type") {
        "turn_aborted" => ImportedLine::Interrupted(at),
        "item_completed" => completed(payload.get("item").unwrap_or(&Value::Null)),
        _ => ImportedLine::Nothing,
    }
}

fn completed(item: &Value) -> ImportedLine {
    let known = Answered::new(word(item, "id"), String::new(), false);
    match word(item, "type") {
        "CommandExecution" => {
            let part = |key: &str| item.get("duration").and_then(|time| time.get(key)).and_then(Value::as_u64);
            let millis = part("secs").map(|secs| secs * 1000 + part("nanos").unwrap_or(0) / 1_000_000);
            let exit = item.get("exit_code").and_then(Value::as_i64).and_then(|exit| i32::try_from(exit).ok());
            ImportedLine::Known(Answered { exit, millis, ..known })
        }
        "FileChange" => {
            let Some(changes) = item.get("changes").and_then(Value::as_object) else { return ImportedLine::Nothing };
            let diffs = changes.iter().map(|(path, change)| diff(path, change)).collect();
            ImportedLine::Known(Answered { diffs, ..known })
        }
        _ => ImportedLine::Nothing,
    }
}

fn diff(path: &str, change: &Value) -> FileDiff {
    match word(change, "type") {
        "add" => return FileDiff::between(path, None, word(change, "content")),
        "delete" => {
            let mut gone = FileDiff::between(path, Some(word(change, "content")), "");
            gone.is_gone = true;
            return gone;
        }
        _ => {}
    }
    let mut out = unified(path, word(change, "unified_diff"));
    if let Some(to) = change.get("move_path").and_then(Value::as_str) {
        out.moved_from = Some(std::mem::replace(&mut out.path, to.to_owned()));
    }
    out
}

fn message(at: At, item: &Value, number: u64) -> Vec<ImportedLine> {
    let content = item.get("content").unwrap_or(&Value::Null);
    let text = text_of(content);
    let begun = text.trim_start();
    match word(item, "role") {
        "user" if begun.starts_with("<turn_aborted>") => vec![ImportedLine::Interrupted(at)],
        "user" if begun.starts_with("<user_shell_command>") => shell_command(at, begun, number),
        "user" if begun.starts_with(NOTIFICATION) => vec![job_ended(at, subagent_ended(begun))],
        "user" if OWN_WORDS.iter().any(|own| begun.starts_with(own)) => vec![ImportedLine::Nothing],
        "user" => {
            let content = without_wrappers(content);
            inline_files::asked(at, inline_files::files(blocks(&content)), UserText::from(text_of(&content)))
        }
        "assistant" => {
            let said = AssistantText { text, ..AssistantText::default() };
            vec![ImportedLine::Rows(vec![made(at, Body::Assistant(said))])]
        }
        _ => vec![ImportedLine::Nothing],
    }
}

/// Blocks of a message, or of a result.
fn blocks(content: &Value) -> &[Value] {
    content.as_array().map_or_else(|| list(content, "content"), Vec::as_slice)
}

/// Content of a message without the marks that the program puts around a picture: they name the picture's file.
fn without_wrappers(content: &Value) -> Value {
    let Value::Array(blocks) = content else { return content.clone() };
    let is_picture =
        |at: Option<usize>| at.and_then(|at| blocks.get(at)).is_some_and(|block| word(block, "type") == "input_image");
    let mark = |at: usize, begin: &str| {
        let text = blocks.get(at).map_or("", |block| word(block, "text")).trim();
        (text.starts_with(begin) && text.ends_with('>')).then_some(text)
    };
    let mut out = Vec::new();
    for (at, block) in blocks.iter().enumerate() {
        let opens = is_picture(Some(at + 1)) && mark(at, "<image").is_some();
        let closes = is_picture(at.checked_sub(1)) && mark(at, "</image").is_some();
        if opens || closes {
            continue;
        }
        let mut block = block.clone();
        let before = at.checked_sub(1).filter(|_| is_picture(Some(at))).and_then(|at| mark(at, "<image"));
        if let (Some(path), Some(fields)) =
            (before.and_then(|text| between(text, "path=\"", "\"")), block.as_object_mut())
        {
            fields.insert("filename".to_owned(), json!(path));
        }
        out.push(block);
    }
    Value::Array(out)
}

/// Text of a notification on a subagent.
fn subagent_ended(text: &str) -> String {
    let inner = between(text, NOTIFICATION, "</subagent_notification>").unwrap_or(text).trim();
    let told: Value = serde_json::from_str(inner).unwrap_or_default();
    let status = told.get("status").unwrap_or(&Value::Null);
    match (status.as_str(), status.as_object().and_then(|fields| fields.iter().next())) {
        (Some(word), _) => format!("A subagent ended ({word})."),
        (None, Some((word, Value::String(text)))) => format!("A subagent ended ({word}): {}", text.trim()),
        (None, Some((word, _))) => format!("A subagent ended ({word})."),
        (None, None) => inner.to_owned(),
    }
}

/// A command that the user typed, with what it printed.
fn shell_command(at: At, text: &str, number: u64) -> Vec<ImportedLine> {
    let between = |open: &str, close: &str| text.split_once(open)?.1.rsplit_once(close).map(|(inner, _)| inner);
    let command = between("<command>", "</command>").unwrap_or_default().trim();
    let result = between("<result>", "</result>").unwrap_or_default();
    let (head, output) = result.split_once("Output:\n").unwrap_or(("", result));
    let exit = head.split_once("Exit code: ").and_then(|(_, rest)| rest.split_whitespace().next()?.parse().ok());
    let id = format!("cx{number}");
    let failed = exit.is_some_and(|exit| exit != 0);
    let answer = Answered::new(&super::parsed::typed_id(&id), answered_text(&[output]), failed);
    vec![
        ImportedLine::Rows(vec![made(at, typed(&id, command))]),
        ImportedLine::Results(vec![Answered { exit, ..answer }]),
    ]
}

/// Result of a call: text, or an object with the text and the exit status, which may be written as text again.
fn answered(id: &str, output: &Value) -> Answered {
    let parsed;
    let object = match output {
        Value::String(text) => {
            parsed = serde_json::from_str::<Value>(text).ok().filter(|value| value.get("output").is_some());
            parsed.as_ref()
        }
        Value::Array(_) => None,
        other => Some(other),
    };
    let exit = object.and_then(|object| object.get("metadata")?.get("exit_code")?.as_i64());
    let mut exit = exit.and_then(|exit| i32::try_from(exit).ok());
    let refused = object.and_then(|object| object.get("success")?.as_bool()) == Some(false);
    let mut text = match (object, output) {
        (Some(object), _) if object.get("output").is_some() => object.get("output").map(text_of).unwrap_or_default(),
        (Some(object), _) if object.get("content").is_some() => object.get("content").map(text_of).unwrap_or_default(),
        (_, output) => text_of(output),
    };
    // Newer ones say it in words, one inside of the other for a patch.
    let mut aborted = false;
    while ["Chunk ID", "Wall time: ", "Exit code: "].iter().any(|begin| text.starts_with(begin)) {
        let (head, body) = text.split_once("Output:\n").map_or((text.as_str(), ""), |(head, body)| (head, body));
        for line in head.lines() {
            let said = ["Process exited with code ", "Exit code: "].iter().find_map(|begin| line.strip_prefix(begin));
            exit = said.and_then(|code| code.trim().parse().ok()).or(exit);
            aborted |= line.trim() == "aborted by user";
        }
        text = body.to_owned();
    }
    let failed = refused || aborted || exit.is_some_and(|exit| exit != 0);
    if aborted && text.is_empty() {
        "interrupted".clone_into(&mut text);
    }
    Answered { exit, ..Answered::new(id, text, failed) }
}
