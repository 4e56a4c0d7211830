//! Sessions of gemini-cli: a log of events, a JSON object a line. Older ones are one JSON document.
//!
//! A message is written again under its id when it grows; `$set` with `messages` replaces the list, `$rewindTo` cuts it.
//! A turn that was stopped goes from the list with the next `$set`, and stays here: it was said. A session that is resumed
//! within a minute goes on in its file, behind a second header.

use super::inline_files::{self, InlineFile};
use super::parsed::{
    Answered, ImportFacts, ImportedLine, LogPosition, add_usage, between, call, compacted, list, made, number, said,
    text_of, thought, time, unified, word,
};
use super::transcript::{ForeignTranscript, LinePosition};
use crate::domain::At;
use crate::domain::message::{Carried, Message, UserText};
use crate::plain_file;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::Path;

const CANCELLED: &str = "Request cancelled.";
/// Begin of a message that the program puts before the first one.
const CONTEXT: &str = "<session_context>";
/// Mark of a message that stands for older ones.
const SNAPSHOT: &str = "<state_snapshot>";

/// True if a record belongs to this format.
pub(super) fn is(value: &Value) -> bool {
    value.get("projectHash").is_some() && value.get("sessionId").is_some()
}

/// Cuts an older document into records: its header, and its messages.
pub(super) fn records(mut document: Value) -> Option<Vec<Value>> {
    let messages = document.get_mut("messages")?.take();
    let Value::Array(messages) = messages else { return None };
    Some(std::iter::once(document).chain(messages).collect())
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct GeminiMessage {
    id: String,
    kind: GeminiKind,
    position: LogPosition,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GeminiKind {
    /// The user's words.
    Asked,
    /// A response.
    Answer,
    /// A response of which every call was stopped.
    Stopped,
    /// The remark that a turn was stopped.
    Cancelled,
    /// Summary in place of older messages.
    Snapshot,
    /// Results of calls whose message has none of them.
    Results,
    /// A remark, or the program's own words.
    Other,
}

impl GeminiKind {
    fn of(message: &Value) -> Self {
        let content = message.get("content").unwrap_or(&Value::Null);
        let calls = list(message, "toolCalls");
        match word(message, "type") {
            "user" if only_results(content) => Self::Results,
            "user" => match text_of(content).trim_start() {
                text if text.starts_with(CONTEXT) => Self::Other,
                text if text.contains(SNAPSHOT) => Self::Snapshot,
                _ => Self::Asked,
            },
            "gemini" if !calls.is_empty() && calls.iter().all(|call| word(call, "status") == "cancelled") => {
                Self::Stopped
            }
            "gemini" => Self::Answer,
            "info" if text_of(content).trim() == CANCELLED => Self::Cancelled,
            _ => Self::Other,
        }
    }
}

/// True for results of calls, with the pictures that belong to them.
fn only_results(content: &Value) -> bool {
    let parts = parts(content);
    let is_beside =
        |part: &Value| ["functionResponse", "inlineData", "fileData"].iter().any(|key| part.get(key).is_some());
    parts.iter().all(is_beside) && parts.iter().any(|part| part.get("functionResponse").is_some())
}

fn parts(content: &Value) -> &[Value] {
    content.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Ids of the calls in a list of parts, or of the results in it.
fn ids<'v>(parts: &'v [Value], key: &'v str) -> impl Iterator<Item = &'v str> {
    parts.iter().filter_map(move |part| part.get(key)).map(|part| word(part, "id"))
}

/// A session while it is read.
#[derive(Clone, Default)]
pub(super) struct GeminiSession {
    facts: ImportFacts,
    messages: Vec<GeminiMessage>,
    /// Responses whose tokens were counted.
    counted: HashSet<String>,
    rewound: usize,
    is_log: bool,
    /// A header was read, and no message since.
    begins: bool,
    /// Calls whose results stand in messages of their own alone.
    open: HashSet<String>,
}

impl ForeignTranscript for GeminiSession {
    fn first(&mut self, value: &Value, line: LinePosition<'_>) {
        if is(value) {
            let id = word(value, "sessionId").to_owned();
            self.facts.id = self.facts.id.take().or(Some(id).filter(|id| !id.is_empty()));
            self.facts.subagent |= word(value, "kind") == "subagent";
            self.begins = true;
            let started: Option<jiff::Timestamp> = word(value, "startTime").parse().ok();
            self.facts.see(At(started.map_or(0, jiff::Timestamp::as_millisecond)), "");
            return;
        }
        if let Some(id) = value.get("$rewindTo").and_then(Value::as_str) {
            self.is_log = true;
            if let Some(from) = self.messages.iter().rposition(|message| message.id == id) {
                let gone = self.messages.drain(from..);
                self.rewound += gone.filter(|message| message.kind == GeminiKind::Asked).count();
            }
        } else if let Some(set) = value.get("$set") {
            self.is_log = true;
            if let Some(messages) = set.get("messages").and_then(Value::as_array) {
                self.replace(messages, line.bytes);
            }
        } else {
            self.put(value, LogPosition { line: line.bytes, index: None });
        }
    }

    /// Finds the directory, and puts the remark of a stopped turn behind what was stopped.
    fn ready(&mut self, path: &Path) {
        self.facts.cwd = project_root(path).map(Into::into);
        for at in 1..self.messages.len() {
            if self.messages[at - 1].kind == GeminiKind::Cancelled && self.messages[at].kind == GeminiKind::Stopped {
                self.messages.swap(at - 1, at);
            }
        }
    }

    fn order(&mut self) -> Option<Vec<LogPosition>> {
        self.is_log.then(|| std::mem::take(&mut self.messages).into_iter().map(|message| message.position).collect())
    }

    fn read(&mut self, value: &Value, _: LinePosition<'_>) -> Vec<ImportedLine> {
        let at = time(value);
        let content = value.get("content").unwrap_or(&Value::Null);
        let kind = GeminiKind::of(value);
        match (word(value, "type"), kind) {
            ("user", GeminiKind::Snapshot) => {
                let carried = Carried::from(text_of(content));
                vec![ImportedLine::Rows(vec![compacted(at, carried)])]
            }
            ("user", GeminiKind::Asked) => asked(at, content),
            ("user", GeminiKind::Results) => self.results(content),
            ("gemini", _) => {
                list(value, "toolCalls").iter().for_each(|call| _ = self.open.remove(word(call, "id")));
                answer(at, value, content)
            }
            ("info", GeminiKind::Cancelled) => vec![ImportedLine::Interrupted(at)],
            ("error" | "warning", _) => vec![ImportedLine::Left("program notes")],
            _ => vec![ImportedLine::Nothing],
        }
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

impl GeminiSession {
    /// Notices what a response used and when it was, and gives the message's id and kind.
    fn notice(&mut self, message: &Value) -> Option<(String, GeminiKind)> {
        let id = word(message, "id");
        self.facts.see(time(message), "");
        let tokens = message.get("tokens").filter(|tokens| tokens.is_object());
        if let Some(tokens) = tokens
            && !self.counted.contains(id)
        {
            self.counted.insert(id.to_owned());
            let (input, cached) = (number(tokens, "input"), number(tokens, "cached"));
            let output = number(tokens, "output") + number(tokens, "thoughts");
            add_usage(&mut self.facts.usage, [input.saturating_sub(cached), output, cached, 0], 0.0);
            let model = word(message, "model");
            if !model.is_empty() {
                self.facts.model = Some(model.to_owned());
            }
        }
        let (kind, content) = (GeminiKind::of(message), parts(message.get("content").unwrap_or(&Value::Null)));
        if kind == GeminiKind::Answer && list(message, "toolCalls").is_empty() {
            self.open.extend(ids(content, "functionCall").map(str::to_owned));
        }
        // Results stand beside their calls too, but where the message is one of a list that has only what the model saw.
        let is_told = kind == GeminiKind::Results && !ids(content, "functionResponse").any(|id| self.open.contains(id));
        (!id.is_empty() && !is_told).then(|| (id.to_owned(), kind))
    }

    /// Results of calls that have none yet.
    fn results(&mut self, content: &Value) -> Vec<ImportedLine> {
        let parts = parts(content);
        let ids: Vec<&str> = ids(parts, "functionResponse").filter(|id| self.open.remove(*id)).collect();
        let response =
            |id: &str| parts.iter().filter_map(|part| part.get("functionResponse")).find(|one| word(one, "id") == id);
        let result = |id: &str| {
            let failed =
                response(id).is_some_and(|one| one.get("response").is_some_and(|told| told.get("error").is_some()));
            let status = if failed { "error" } else { "success" };
            let name = response(id).map_or("", |one| word(one, "name"));
            answered(&json!({"id": id, "name": name, "status": status, "result": parts}))
        };
        ids.into_iter().flat_map(result).collect()
    }

    fn put(&mut self, message: &Value, position: LogPosition) {
        self.begins = false;
        let Some((id, kind)) = self.notice(message) else { return };
        let message = GeminiMessage { id, kind, position };
        match self.messages.iter_mut().rev().find(|known| known.id == message.id) {
            Some(known) => *known = message,
            None => self.messages.push(message),
        }
    }

    /// Replaces the list. What stands in it already stays where it was written first; what was stopped stays too.
    fn replace(&mut self, messages: &[Value], line: (u64, u64)) {
        let (mut now, mut named) = (Vec::new(), HashSet::new());
        for (index, message) in messages.iter().enumerate() {
            let Some((id, kind)) = self.notice(message) else { continue };
            if named.insert(id.clone()) {
                now.push(GeminiMessage { id, kind, position: LogPosition { line, index: Some(index) } });
            }
        }
        // A session that is resumed has its context first, and all of its messages with the next list.
        let resumes = std::mem::take(&mut self.begins) && now.iter().all(|message| message.kind == GeminiKind::Other);
        if resumes && !self.messages.is_empty() {
            return;
        }
        let old = std::mem::take(&mut self.messages);
        let known: HashSet<String> = old.iter().map(|message| message.id.clone()).collect();
        let is_summary = |message: &GeminiMessage| message.kind == GeminiKind::Snapshot && !known.contains(&message.id);
        if let Some(at) = now.iter().position(is_summary) {
            // Its acknowledgement says nothing.
            if now.get(at + 1).is_some_and(|next| next.kind == GeminiKind::Answer && !known.contains(&next.id)) {
                now.remove(at + 1);
            }
            now.retain(|message| !known.contains(&message.id));
            self.messages = old;
            self.messages.append(&mut now);
            return;
        }
        let stays = stays(&old, &named);
        let mut now = now.into_iter().peekable();
        for (message, stays) in old.into_iter().zip(stays) {
            if !named.contains(&message.id) {
                if stays {
                    self.messages.push(message);
                }
                continue;
            }
            // What is new in the list stands before the one that follows it there.
            while let Some(next) = now.next_if(|next| next.id != message.id && !known.contains(&next.id)) {
                self.messages.push(next);
            }
            now.next_if(|next| next.id == message.id);
            self.messages.push(message);
        }
        self.messages.extend(now.filter(|next| !known.contains(&next.id)));
    }
}

/// Of the messages that a list names no more, those that stay: turns that were stopped.
fn stays(old: &[GeminiMessage], named: &HashSet<String>) -> Vec<bool> {
    let mut stays = vec![false; old.len()];
    for (at, message) in old.iter().enumerate().filter(|(_, message)| message.kind == GeminiKind::Cancelled) {
        if named.contains(&message.id) {
            continue;
        }
        for before in (0..=at).rev() {
            if named.contains(&old[before].id) {
                break;
            }
            stays[before] = true;
            if old[before].kind == GeminiKind::Asked {
                break;
            }
        }
    }
    stays
}

/// Directory of a session: `tmp/PROJECT/.project_root`, or what `projects.json` calls PROJECT.
fn project_root(path: &Path) -> Option<String> {
    let project = path.parent()?.parent()?;
    let small = |path: &Path| plain_file::text(path, 1 << 20);
    let written = small(&project.join(".project_root")).map(|text| text.trim().to_owned());
    let written = written.filter(|text| Path::new(text).is_absolute());
    written.or_else(|| {
        let projects: Value = serde_json::from_str(&small(&project.parent()?.parent()?.join("projects.json"))?).ok()?;
        let name = project.file_name()?.to_str()?;
        let mut all = projects.get("projects")?.as_object()?.iter();
        all.find(|(_, known)| known.as_str() == Some(name)).map(|(cwd, _)| cwd.clone())
    })
}

/// A message of the user. Files that it names stand behind it, between two marks.
fn asked(at: At, content: &Value) -> Vec<ImportedLine> {
    let (mut words, mut files, mut is_file, mut name) = (Vec::new(), Vec::new(), false, None);
    for part in parts(content) {
        let Some(text) = part.get("text").and_then(Value::as_str) else {
            files.extend(inline_files::named(inline_files::files([part]), name.take().into_iter()));
            continue;
        };
        match text.trim() {
            "--- Content from referenced files ---" => is_file = true,
            "--- End of content ---" => is_file = false,
            _ if !is_file => words.push(text),
            mark if mark.starts_with("Content from @") && mark.ends_with(':') && !mark.contains('\n') => {
                name = between(mark, "@", ":");
            }
            _ => files.push(ImportedLine::File(InlineFile::of_text(name.take().unwrap_or_default(), text))),
        }
    }
    let text = content.as_str().map_or_else(|| words.join("\n"), str::to_owned);
    let files = inline_files::named(files, mentioned(&text));
    inline_files::asked(at, files, UserText::from(text))
}

/// Endings of files that the program gives along as they are.
const ALONG: [&str; 12] = ["png", "jpg", "jpeg", "webp", "heic", "heif", "gif", "bmp", "pdf", "mp3", "wav", "mp4"];

/// Files that the user named with `@` and that go along as they are, in order.
fn mentioned(text: &str) -> impl Iterator<Item = &str> {
    let names = text.split_whitespace().filter_map(|word| word.strip_prefix('@'));
    names.map(|name| name.trim_matches(['"', '\'', ',', '.', ')'])).filter(|name| {
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
        ALONG.contains(&ending.as_str())
    })
}

fn answer(at: At, value: &Value, content: &Value) -> Vec<ImportedLine> {
    let mut bodies = Vec::new();
    for thoughts in list(value, "thoughts") {
        let (subject, text) = (word(thoughts, "subject").trim(), word(thoughts, "description").trim());
        let both =
            if subject.is_empty() || text.is_empty() { String::new() } else { format!("**{subject}**\n\n{text}") };
        bodies.push(thought(if both.is_empty() { if text.is_empty() { subject } else { text } } else { &both }));
    }
    let is_thought = |part: &&Value| part.get("thought") == Some(&Value::Bool(true));
    let texts = parts(content).iter().filter(|part| !is_thought(part)).filter_map(|part| part.get("text")?.as_str());
    let text = content.as_str().map_or_else(|| texts.collect::<Vec<_>>().join("\n"), str::to_owned);
    if !text.trim().is_empty() {
        bodies.push(said(&text));
    }
    let calls = list(value, "toolCalls");
    let mut results = Vec::new();
    for one in calls {
        bodies.push(call(word(one, "id"), word(one, "name"), one.get("args").cloned().unwrap_or_default()));
        results.extend(answered(one));
    }
    if calls.is_empty() {
        for one in parts(content).iter().filter_map(|part| part.get("functionCall")) {
            bodies.push(call(word(one, "id"), word(one, "name"), one.get("args").cloned().unwrap_or_default()));
        }
    }
    let (turn, model) = (word(value, "id"), word(value, "model"));
    let row = |body| Message {
        turn: Some(turn.to_owned()),
        model: Some(model.to_owned()).filter(|model| !model.is_empty()),
        ..made(at, body)
    };
    results.insert(0, ImportedLine::Rows(bodies.into_iter().map(row).collect()));
    results
}

/// Parts of a result that belong to a call: where several ran at once, each has the results of all.
fn result_parts<'v>(parts: &'v [Value], id: &str) -> Vec<&'v Value> {
    let of = |part: &Value| part.get("functionResponse").map(|response| word(response, "id") == id);
    if !parts.iter().any(|part| of(part) == Some(true)) {
        return parts.iter().collect();
    }
    let mut is_its = false;
    let mut its = |part: &&Value| {
        is_its = of(part).unwrap_or(is_its);
        is_its
    };
    parts.iter().filter(|part| its(part)).collect()
}

fn answered(one: &Value) -> Vec<ImportedLine> {
    let parts = result_parts(list(one, "result"), word(one, "id"));
    let responses = parts.iter().filter_map(|part| part.get("functionResponse"));
    let texts: Vec<&str> = responses
        .clone()
        .filter_map(|response| response.get("response"))
        .filter_map(|response| response.get("error").or_else(|| response.get("output")).and_then(Value::as_str))
        .collect();
    let (text, exit) = output(&texts.join("\n"));
    let is_shell = word(one, "name") == "run_shell_command";
    let stopped = word(one, "status") == "cancelled";
    let failed = word(one, "status") != "success" || exit.is_some_and(|exit| exit != 0);
    let exit = exit.or((is_shell && !failed).then_some(0));
    let diff = one.get("resultDisplay").and_then(|shown| {
        let (path, text) = (word(shown, "filePath"), word(shown, "fileDiff"));
        (!path.is_empty() && !text.is_empty()).then(|| unified(path, text))
    });
    let text = if stopped { "interrupted".to_owned() } else { text };
    let result = Answered { exit, diffs: diff.into_iter().collect(), ..Answered::new(word(one, "id"), text, failed) };
    // Newer models have them inside of the response.
    let inside = responses.flat_map(|response| list(response, "parts"));
    inline_files::answered(result, parts.iter().copied().chain(inside))
}

/// Output of a command without what the program puts around it, and its exit status.
fn output(text: &str) -> (String, Option<i32>) {
    let inner = text.strip_prefix("<untrusted_context>\n").and_then(|rest| rest.strip_suffix("\n</untrusted_context>"));
    let Some(inner) = inner else { return (text.to_owned(), None) };
    let body = inner.strip_prefix("Output: ").unwrap_or(inner);
    let mut lines: Vec<&str> = body.lines().collect();
    let mut exit = None;
    while let Some(last) = lines.last() {
        if let Some(code) = last.strip_prefix("Exit Code: ") {
            exit = code.trim().parse().ok();
        } else if !["Process Group PGID: ", "Background PIDs: ", "Signal: "].iter().any(|own| last.starts_with(own)) {
            break;
        }
        lines.pop();
    }
    (lines.join("\n"), exit)
}
