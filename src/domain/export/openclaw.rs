//! Transcript of the reference: a conversation as lines of its session format, version 3.
//!
//! Each entry names the one before it as its parent, so that the chain has no gap. Reading files is the caller's.

#[cfg(test)]
mod tests;

use crate::domain::attachment::Attachment;
use crate::domain::ids::At;
use crate::domain::message::{Body, Carried, Message, UserText};
use crate::domain::session::SessionMeta;
use crate::domain::tool::{ToolCall, ToolStatus};
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// Transcript with what it lacks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReferenceTranscript {
    /// Lines, the header first.
    pub lines: Vec<Value>,
    /// Rows and files that the format has no place for.
    pub left: usize,
    /// Messages.
    pub messages: usize,
}

/// Writes a conversation. `picture` gives the bytes of a picture in base64, `None` if it can't be read.
#[must_use]
pub fn transcript(
    meta: &SessionMeta,
    rows: &[Message],
    picture: &dyn Fn(&Attachment) -> Option<String>,
) -> ReferenceTranscript {
    let header = json!({
        "type": "session", "version": 3, "id": meta.id.as_str(), "timestamp": iso(meta.created), "cwd": meta.cwd,
    });
    let mut writer = TranscriptWriter {
        out: ReferenceTranscript { lines: vec![header], ..ReferenceTranscript::default() },
        model: meta.model.clone(),
        picture,
        last: None,
        entries: HashMap::new(),
        response: None,
    };
    for row in rows {
        writer.row(row);
    }
    writer.end_response();
    if !meta.title.trim().is_empty() {
        let at = rows.last().map_or(meta.created, |row| row.at);
        writer.entry("session_info", at, [("name", meta.title.as_str().into())]);
    }
    writer.out
}

fn iso(at: At) -> String {
    format!("{:.3}", Timestamp::from_millisecond(at.0).unwrap_or_default())
}

fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// Response of the model, until its last call.
struct Response {
    at: At,
    turn: Option<String>,
    model: Option<String>,
    blocks: Vec<Value>,
    /// Results of its calls, with their times.
    results: Vec<(At, Value)>,
    /// Ids of its rows.
    rows: Vec<String>,
    aborted: bool,
}

struct TranscriptWriter<'a> {
    out: ReferenceTranscript,
    /// Model of rows that name none.
    model: Option<String>,
    picture: &'a dyn Fn(&Attachment) -> Option<String>,
    last: Option<String>,
    /// Entries by the ids of their rows.
    entries: HashMap<String, String>,
    response: Option<Response>,
}

impl TranscriptWriter<'_> {
    fn row(&mut self, row: &Message) {
        if row.parent.is_some() {
            // A subagent's conversation is no part of this one.
            self.out.left += 1;
            return;
        }
        match &row.body {
            Body::User(user) => self.user(row, user),
            Body::Assistant(said) => {
                let response = self.response(row, false);
                response.blocks.push(text_block(&said.text));
                response.aborted |= said.partial;
            }
            Body::Plan(plan) => self.response(row, false).blocks.push(text_block(&plan.markdown)),
            Body::Thinking(thought) => {
                let block = json!({"type": "thinking", "thinking": thought.text});
                self.response(row, false).blocks.push(block);
            }
            Body::Tool(call) => self.call(row, call),
            Body::Info(info) => {
                // Other remarks are for people: the model never saw them.
                if let Some(carried) = info.carried.as_deref().filter(|carried| !carried.text.is_empty()) {
                    self.compaction(row, carried);
                }
            }
            Body::Error(_) | Body::Odd(_) => self.out.left += 1,
        }
    }

    fn user(&mut self, row: &Message, user: &UserText) {
        self.end_response();
        let mut content = vec![text_block(&user.text)];
        content.extend(self.pictures(&user.attachments));
        let id = self.message(row.at, json!({"role": "user", "content": content, "timestamp": row.at}));
        self.entries.insert(row.id.as_str().to_owned(), id);
    }

    /// Blocks of the pictures among some files; the others are left out.
    fn pictures(&mut self, files: &[Attachment]) -> Vec<Value> {
        let block = |file: &Attachment| {
            let data = file.mime.starts_with("image/").then(|| (self.picture)(file)).flatten()?;
            Some(json!({"type": "image", "data": data, "mimeType": file.mime}))
        };
        let blocks: Vec<Value> = files.iter().filter_map(block).collect();
        self.out.left += files.len() - blocks.len();
        blocks
    }

    fn call(&mut self, row: &Message, call: &ToolCall) {
        let text = call.result.as_deref().unwrap_or("No result was recorded.");
        let mut content = vec![text_block(text)];
        content.extend(self.pictures(&call.figures.media));
        let failed = call.result.is_none() || call.status == ToolStatus::Error;
        // Objects only: their own code reads fields of it.
        let arguments = if call.input.is_object() { call.input.clone() } else { Value::Object(Map::new()) };
        let ended = At(row.at.0.saturating_add_unsigned(call.millis.unwrap_or(0)));
        let result = json!({
            "role": "toolResult", "toolCallId": call.id.as_str(), "toolName": call.name, "content": content,
            "isError": failed, "timestamp": ended,
        });
        let response = self.response(row, true);
        response.blocks.push(json!({
            "type": "toolCall", "id": call.id.as_str(), "name": call.name, "arguments": arguments,
        }));
        response.results.push((ended, result));
    }

    /// Response that a row belongs to: text after a call is the next one's.
    fn response(&mut self, row: &Message, is_call: bool) -> &mut Response {
        let belongs = |open: &Response| open.turn == row.turn && (is_call || open.results.is_empty());
        if !self.response.as_ref().is_some_and(belongs) {
            self.end_response();
        }
        let model = row.model.clone().or_else(|| self.model.clone());
        let response = self.response.get_or_insert_with(|| Response {
            at: row.at,
            turn: row.turn.clone(),
            model,
            blocks: Vec::new(),
            results: Vec::new(),
            rows: Vec::new(),
            aborted: false,
        });
        response.rows.push(row.id.as_str().to_owned());
        response
    }

    fn end_response(&mut self) {
        let Some(response) = self.response.take() else { return };
        let stop = match (response.aborted, response.results.is_empty()) {
            (true, _) => "aborted",
            (false, true) => "stop",
            (false, false) => "toolUse",
        };
        let id = self.message(
            response.at,
            json!({
                "role": "assistant", "content": response.blocks, "api": "openai-completions", "provider": "lisle",
                "model": response.model.as_deref().unwrap_or("unknown"),
                // The conversation's usage is not kept by response.
                "usage": {
                    "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0,
                    "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0},
                },
                "stopReason": stop, "timestamp": response.at,
            }),
        );
        self.entries.extend(response.rows.into_iter().map(|row| (row, id.clone())));
        for (at, result) in response.results {
            self.message(at, result);
        }
    }

    fn compaction(&mut self, row: &Message, carried: &Carried) {
        self.end_response();
        let kept = carried.keeps.as_ref().and_then(|row| self.entries.get(row.as_str()).cloned());
        // Its own id: nothing before it is kept.
        let first = kept.unwrap_or_else(|| self.next_id());
        self.entry(
            "compaction",
            row.at,
            [("summary", carried.text.as_str().into()), ("firstKeptEntryId", first.into()), ("tokensBefore", 0.into())],
        );
    }

    fn message(&mut self, at: At, message: Value) -> String {
        self.out.messages += 1;
        self.entry("message", at, [("message", message)])
    }

    /// Adds an entry below the last one and returns its id.
    fn entry<const N: usize>(&mut self, kind: &str, at: At, fields: [(&str, Value); N]) -> String {
        let id = self.next_id();
        let mut entry = Map::new();
        entry.insert("type".to_owned(), kind.into());
        entry.insert("id".to_owned(), id.as_str().into());
        entry.insert("parentId".to_owned(), self.last.replace(id.clone()).into());
        entry.insert("timestamp".to_owned(), iso(at).into());
        entry.extend(fields.map(|(key, value)| (key.to_owned(), value)));
        self.out.lines.push(Value::Object(entry));
        id
    }

    /// Id of the next entry: its place, in eight hex digits.
    fn next_id(&self) -> String {
        format!("{:08x}", self.out.lines.len())
    }
}
