//! Sessions of opencode: what `opencode export` prints, and the rows of its database, which hold the same objects.

use super::inline_files::{self, InlineFile};
use super::parsed::{
    Answered, ImportFacts, ImportedLine, add_usage, call, compacted, list, made, millis, number, said, thought, title,
    unified, word,
};
use super::transcript::{ForeignTranscript, LinePosition};
use crate::domain::At;
use crate::domain::diff::FileDiff;
use crate::domain::message::{Carried, Message, UserText};
use crate::domain::session::TitleFrom;
use serde_json::{Value, json};
use std::path::Path;

/// True if a document is an export.
pub(super) fn is(document: &Value) -> bool {
    let info = document.get("info").unwrap_or(&Value::Null);
    word(info, "id").starts_with("ses_") && document.get("messages").is_some_and(Value::is_array)
}

/// Cuts an export into records: the session, and its messages with their parts.
pub(super) fn records(mut document: Value) -> Option<Vec<Value>> {
    let session = document.get_mut("info")?.take();
    let Value::Array(messages) = document.get_mut("messages")?.take() else { return None };
    Some(std::iter::once(json!({"session": session})).chain(messages).collect())
}

/// A session while it is read.
#[derive(Clone, Default)]
pub(super) struct OpencodeSession {
    facts: ImportFacts,
    /// The first message that was undone.
    undone: Option<String>,
    /// Everything from there on is.
    gone: bool,
    rewound: usize,
}

impl ForeignTranscript for OpencodeSession {
    fn first(&mut self, value: &Value, _: LinePosition<'_>) {
        if let Some(session) = value.get("session") {
            self.facts.id = Some(word(session, "id").to_owned());
            self.facts
                .see(session.get("time").map_or(At(0), |time| millis(time, "created")), word(session, "directory"));
            self.facts.title = title(word(session, "title")).filter(|title| !is_placeholder(title));
            self.facts.title_from = TitleFrom::Generated;
            self.facts.subagent = session.get("parentID").is_some_and(Value::is_string);
            self.undone = session.get("revert").map(|revert| word(revert, "messageID").to_owned());
            return;
        }
        let info = value.get("info").unwrap_or(&Value::Null);
        self.facts.see(created(info), "");
        if self.is_undone(info) {
            self.gone = true;
        }
        if self.gone && word(info, "role") == "user" && !has_part(value, "compaction") {
            self.rewound += 1;
        }
        if word(info, "role") != "assistant" {
            return;
        }
        if !word(info, "modelID").is_empty() {
            self.facts.model = Some(word(info, "modelID").to_owned());
        }
        if let Some(tokens) = info.get("tokens") {
            let cache = tokens.get("cache").unwrap_or(&Value::Null);
            let output = number(tokens, "output").saturating_add(number(tokens, "reasoning"));
            let figures = [number(tokens, "input"), output, number(cache, "read"), number(cache, "write")];
            add_usage(&mut self.facts.usage, figures, info.get("cost").and_then(Value::as_f64).unwrap_or(0.0));
        }
    }

    fn ready(&mut self, _: &Path) {
        self.gone = false;
    }

    fn read(&mut self, value: &Value, _: LinePosition<'_>) -> Vec<ImportedLine> {
        let info = value.get("info").unwrap_or(&Value::Null);
        self.gone |= self.is_undone(info);
        if value.get("session").is_some() || self.gone {
            return vec![ImportedLine::Nothing];
        }
        let at = created(info);
        match word(info, "role") {
            "user" if has_part(value, "compaction") => vec![ImportedLine::Nothing],
            "user" => asked(at, value),
            "assistant" if info.get("summary") == Some(&Value::Bool(true)) => {
                let carried = Carried::from(words(value));
                vec![ImportedLine::Rows(vec![compacted(at, carried)])]
            }
            "assistant" => answer(at, info, value),
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
        line.named(value.get("info").map(|info| word(info, "id")).unwrap_or_default())
    }

    fn again(&self) -> Box<dyn ForeignTranscript> {
        Box::new(self.clone())
    }
}

impl OpencodeSession {
    fn is_undone(&self, info: &Value) -> bool {
        self.undone.as_deref().is_some_and(|from| !from.is_empty() && from == word(info, "id"))
    }
}

/// Title of a session that has none yet.
fn is_placeholder(title: &str) -> bool {
    ["New session - ", "Child session - "].iter().any(|begin| title.starts_with(begin))
}

fn created(info: &Value) -> At {
    info.get("time").map_or(At(0), |time| millis(time, "created"))
}

fn has_part(value: &Value, kind: &str) -> bool {
    list(value, "parts").iter().any(|part| word(part, "type") == kind)
}

/// Texts of a message, without those that the program put there.
fn words(value: &Value) -> String {
    let marked = |part: &Value| ["synthetic", "ignored"].iter().any(|key| part.get(*key) == Some(&Value::Bool(true)));
    let texts = list(value, "parts").iter().filter(|part| word(part, "type") == "text" && !marked(part));
    texts.map(|part| word(part, "text")).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

fn asked(at: At, value: &Value) -> Vec<ImportedLine> {
    let parts = list(value, "parts");
    let mut files = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let read = index.checked_sub(1).and_then(|before| parts.get(before)).map_or("", read_text);
        // A file elsewhere: the model saw what the program read of it.
        if word(part, "type") == "file" && !word(part, "url").starts_with("data:") && !read.is_empty() {
            files.push(ImportedLine::File(InlineFile::of_text(word(part, "filename"), read)));
        } else {
            files.extend(inline_files::files([part]));
        }
    }
    inline_files::asked(at, files, UserText::from(words(value)))
}

/// Text of a file that the program read for the user.
fn read_text(part: &Value) -> &str {
    let is_text = word(part, "type") == "text" && part.get("synthetic") == Some(&Value::Bool(true));
    let text = if is_text { word(part, "text") } else { "" };
    if text.starts_with("Called the ") { "" } else { text }
}

fn answer(at: At, info: &Value, value: &Value) -> Vec<ImportedLine> {
    let (mut bodies, mut results, mut out) = (Vec::new(), Vec::new(), Vec::new());
    for part in list(value, "parts") {
        match word(part, "type") {
            "text" if !word(part, "text").trim().is_empty() => bodies.push(said(word(part, "text"))),
            "reasoning" if !word(part, "text").trim().is_empty() => bodies.push(thought(word(part, "text"))),
            "tool" => {
                let state = part.get("state").unwrap_or(&Value::Null);
                let input = state.get("input").cloned().unwrap_or_default();
                bodies.push(call(word(part, "callID"), word(part, "tool"), input));
                results
                    .extend(answered(part, state).map(|one| inline_files::answered(one, list(state, "attachments"))));
                if state.get("metadata").is_some_and(|meta| meta.get("sessionId").is_some()) {
                    out.push(ImportedLine::Left("subagent sessions"));
                }
            }
            "file" => out.push(ImportedLine::Left("attached files")),
            _ => {}
        }
    }
    let (turn, model) = (word(info, "id"), word(info, "modelID"));
    let row = |body| Message {
        turn: Some(turn.to_owned()),
        model: Some(model.to_owned()).filter(|model| !model.is_empty()),
        ..made(at, body)
    };
    out.push(ImportedLine::Rows(bodies.into_iter().map(row).collect()));
    out.extend(results.into_iter().flatten());
    match info.get("error").map(|error| word(error, "name")) {
        Some("MessageAbortedError") => out.push(ImportedLine::Interrupted(at)),
        Some(_) => out.push(ImportedLine::Left("error messages")),
        None => {}
    }
    out
}

/// Result of a call; `None` while it has none.
fn answered(part: &Value, state: &Value) -> Option<Answered> {
    let (id, meta) = (word(part, "callID"), state.get("metadata").unwrap_or(&Value::Null));
    let time = |key: &str| state.get("time").and_then(|time| time.get(key)?.as_u64());
    let millis = time("end").zip(time("start")).map(|(end, start)| end.saturating_sub(start));
    let one = match word(state, "status") {
        "completed" => {
            let text = word(state, "output");
            let stopped = text.contains("User aborted the command") && meta.get("exit").is_none_or(Value::is_null);
            let exit = meta.get("exit").and_then(Value::as_i64).and_then(|exit| i32::try_from(exit).ok());
            let text = if stopped { "interrupted" } else { text };
            let failed = stopped || exit.is_some_and(|exit| exit != 0);
            Answered {
                exit,
                diffs: diff(part, state, meta).into_iter().collect(),
                ..Answered::new(id, text.to_owned(), failed)
            }
        }
        "error" => Answered::new(id, word(state, "error").to_owned(), true),
        _ => return None,
    };
    Some(Answered { millis, ..one })
}

fn diff(part: &Value, state: &Value, meta: &Value) -> Option<FileDiff> {
    let input = state.get("input")?;
    let path = word(input, "filePath");
    if word(part, "tool") == "write" && meta.get("exists") == Some(&Value::Bool(false)) {
        return Some(FileDiff::between(path, None, word(input, "content")));
    }
    let text = match word(meta, "diff") {
        "" => word(meta.get("filediff")?, "patch"),
        text => text,
    };
    (!text.is_empty() && !path.is_empty()).then(|| unified(path, text))
}
