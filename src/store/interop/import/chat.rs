//! Sessions that are a list of messages of a chat API, without times: those of fabric (JSON) and of aichat (YAML).

use super::inline_files;
use super::parsed::{
    Answered, ImportFacts, ImportedLine, call, compacted, list, made, said, text_of, thought, title, word,
};
use super::transcript::{ForeignTranscript, LinePosition};
use crate::domain::At;
use crate::domain::hex::sha256_hex;
use crate::domain::message::{Body, Carried, Info, InfoKind, Message, UserText};
use crate::domain::notice::Level;
use crate::domain::session::TitleFrom;
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

const ROLES: [&str; 6] = ["system", "user", "assistant", "tool", "meta", "function"];

fn is_message(value: &Value) -> bool {
    ROLES.contains(&word(value, "role"))
}

/// True if a document is a session of fabric.
pub(super) fn is_fabric(document: &Value) -> bool {
    document.as_array().is_some_and(|all| !all.is_empty() && all.iter().all(is_message))
}

/// True if a document is a session of aichat.
pub(super) fn is_aichat(document: &Value) -> bool {
    let messages = [list(document, "compressed_messages"), list(document, "messages")];
    let mut all = messages.iter().flat_map(|part| part.iter()).peekable();
    document.get("model").is_some_and(Value::is_string) && all.peek().is_some() && all.all(is_message)
}

/// Cuts a session into records: the model if there is one, and the messages.
pub(super) fn records(mut document: Value) -> Option<Vec<Value>> {
    if let Value::Array(messages) = document {
        return Some(messages);
    }
    let mut take = |key: &str| match document.get_mut(key).map(Value::take) {
        Some(Value::Array(messages)) => messages,
        _ => Vec::new(),
    };
    let (older, mut messages) = (take("compressed_messages"), take("messages"));
    // The summary of the older ones is the first of the others.
    if let Some(first) = messages.first_mut().filter(|first| !older.is_empty() && word(first, "role") == "system") {
        first["role"] = json!("summary");
    }
    let head = json!({"model": document.get("model"), "data_urls": document.get("data_urls")});
    Some(std::iter::once(head).chain(older).chain(messages).collect())
}

/// A session while it is read.
#[derive(Clone, Default)]
pub(super) struct ChatSession {
    facts: ImportFacts,
    model: Option<String>,
    begun: At,
    /// Hashes of the system messages so far: each turn has those of its pattern and context again.
    instructed: HashSet<u64>,
    /// Paths of files by the SHA-256 of their address with the data.
    data_urls: Map<String, Value>,
}

impl ForeignTranscript for ChatSession {
    fn first(&mut self, value: &Value, _: LinePosition<'_>) {
        if let Some(model) = value.get("model").and_then(Value::as_str) {
            // `client:model` there.
            let name = model.split_once(':').map_or(model, |(_, name)| name);
            self.model = Some(name.to_owned()).filter(|name| !name.is_empty());
            self.facts.model.clone_from(&self.model);
        }
        if let Some(Value::Object(known)) = value.get("data_urls") {
            self.data_urls.clone_from(known);
        }
    }

    /// The file's name is the session's; of times there is only that of its last change.
    fn ready(&mut self, path: &Path) {
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        self.facts.title = title(&stem);
        self.facts.title_from = TitleFrom::User;
        self.facts.id = Some(stem).filter(|stem| !stem.is_empty());
        let changed = path.metadata().and_then(|meta| meta.modified()).ok();
        let changed = changed.and_then(|time| jiff::Timestamp::try_from(time).ok());
        self.begun = At(changed.map_or(0, jiff::Timestamp::as_millisecond));
        self.facts.see(self.begun, "");
    }

    fn read(&mut self, value: &Value, line: LinePosition<'_>) -> Vec<ImportedLine> {
        let content = value.get("content").unwrap_or(&Value::Null);
        match word(value, "role") {
            "user" => self.asked(content),
            "assistant" => self.answer(value, content, line),
            "tool" if content.get("tool_results").is_some() => self.answer(value, content, line),
            "tool" | "function" => {
                let result = Answered::new(word(value, "tool_call_id"), text_of(content), false);
                inline_files::answered(result, content.as_array().map(Vec::as_slice).unwrap_or_default())
            }
            "summary" => {
                let carried = Carried::from(text_of(content));
                vec![ImportedLine::Rows(vec![compacted(self.begun, carried)])]
            }
            "system" => self.instructed(&text_of(content)),
            // The command line of a run.
            "meta" => vec![ImportedLine::Left("command lines")],
            _ => vec![ImportedLine::Nothing],
        }
    }

    fn facts(&self) -> &ImportFacts {
        &self.facts
    }

    /// Place and content: another session of the same name is another one.
    fn row(&self, value: &Value, line: LinePosition<'_>) -> String {
        format!("{}-{:08x}", line.number, hashed(&value.to_string()) & 0xffff_ffff)
    }

    fn again(&self) -> Box<dyn ForeignTranscript> {
        Box::new(self.clone())
    }
}

fn hashed(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

impl ChatSession {
    /// A system message as a note, once.
    fn instructed(&mut self, text: &str) -> Vec<ImportedLine> {
        if text.trim().is_empty() || !self.instructed.insert(hashed(text)) {
            return vec![ImportedLine::Nothing];
        }
        let text = format!("System message: {}", text.trim());
        let info = Info { text, level: Level::Info, kind: InfoKind::Remark, carried: None };
        vec![ImportedLine::Rows(vec![made(self.begun, Body::Info(info))])]
    }

    fn asked(&self, content: &Value) -> Vec<ImportedLine> {
        let parts = content.as_array().map(Vec::as_slice).unwrap_or_default();
        let named: Vec<Value> = parts.iter().map(|part| self.named(part)).collect();
        inline_files::asked(self.begun, inline_files::files(&named), UserText::from(text_of(content)))
    }

    /// A part of a message with the name of its file, where the session has one.
    fn named(&self, part: &Value) -> Value {
        let mut part = part.clone();
        let hash = part.pointer("/image_url/url").and_then(Value::as_str).map(|url| sha256_hex(url.as_bytes()));
        let path = hash.and_then(|hash| self.data_urls.get(&hash)).cloned();
        if let (Some(path), Some(fields)) = (path, part.as_object_mut()) {
            fields.insert("filename".to_owned(), path);
        }
        part
    }

    fn answer(&self, value: &Value, content: &Value, line: LinePosition<'_>) -> Vec<ImportedLine> {
        let (mut bodies, mut results) = (Vec::new(), Vec::new());
        if !word(value, "reasoning_content").trim().is_empty() {
            bodies.push(thought(word(value, "reasoning_content")));
        }
        let text = if content.is_object() { word(content, "text").to_owned() } else { text_of(content) };
        if !text.trim().is_empty() {
            bodies.push(said(&text));
        }
        for (index, one) in list(content, "tool_results").iter().enumerate() {
            let asked = one.get("call").unwrap_or(&Value::Null);
            let id = match word(asked, "id") {
                "" => format!("call-{}-{index}", line.number),
                id => id.to_owned(),
            };
            let output = one.get("output").unwrap_or(&Value::Null);
            // A tool that prints text has it in an object of its own.
            let inner = output.as_object().filter(|fields| fields.len() == 1).and_then(|fields| fields.get("output"));
            let inner = inner.filter(|inner| inner.is_string()).unwrap_or(output);
            let text = inner.as_str().map_or_else(|| inner.to_string(), str::to_owned);
            bodies.push(call(&id, word(asked, "name"), asked.get("arguments").cloned().unwrap_or_default()));
            results.push(Answered::new(&id, text, false));
        }
        for one in list(value, "tool_calls") {
            let function = one.get("function").unwrap_or(&Value::Null);
            let input = serde_json::from_str(word(function, "arguments")).unwrap_or_default();
            bodies.push(call(word(one, "id"), word(function, "name"), input));
        }
        let turn = self.row(value, line);
        let row = |body| Message { turn: Some(turn.clone()), model: self.model.clone(), ..made(self.begun, body) };
        vec![ImportedLine::Rows(bodies.into_iter().map(row).collect()), ImportedLine::Results(results)]
    }
}
