//! Rows of the transcript to and from Craft Agents' message lines.
//!
//! Keys, types and tool names on disk are Craft's where one corresponds; what only lisle knows of a row stands in one
//! object `lisle`. Reading loses nothing, because lines are never written back: what cannot be shown is [`Body::Odd`].

mod attached;
mod bounded;
mod fields;
mod shown;

pub use bounded::{FOLDER, MOST, bounded};

use super::json::{JsonFields, value_of};
use super::portable_paths;
use crate::domain::message::{
    AssistantText, Body, CutBy, Failure, FailureAction, Info, InfoKind, Message, Native, Odd, Plan, Thinking, UserText,
};
use crate::domain::notice::Level;
use crate::domain::tool::{CUT_SHORT, NOT_RUN, ToolCall, ToolStatus};
use crate::domain::{At, CallId, MessageId};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::path::Path;

/// lisle's tool names and Craft's.
const TOOLS: [(&str, &str); 16] = [
    ("read", "Read"),
    ("write", "Write"),
    ("edit", "Edit"),
    ("bash", "Bash"),
    ("grep", "Grep"),
    ("glob", "Glob"),
    ("list", "LS"),
    ("todo", "TodoWrite"),
    ("submit_plan", "mcp__session__SubmitPlan"),
    ("ask_user", "AskUserQuestion"),
    ("call_llm", "mcp__session__call_llm"),
    ("spawn", "mcp__session__spawn_session"),
    ("session_info", "mcp__session__get_session_info"),
    ("list_sessions", "mcp__session__list_sessions"),
    ("set_status", "mcp__session__set_session_status"),
    ("set_labels", "mcp__session__set_session_labels"),
];

/// The name on disk of one of lisle's tools.
pub fn craft_tool(name: &str) -> &str {
    TOOLS.iter().find(|(own, _)| *own == name).map_or(name, |(_, craft)| craft)
}

/// lisle's name of a tool on disk.
pub fn own_tool(name: &str) -> &str {
    TOOLS.iter().find(|(_, craft)| *craft == name).map_or(name, |(own, _)| own)
}

/// lisle's name of one of its tools, whichever of its two names was written, in whatever case.
pub fn tool_called(name: &str) -> Option<&'static str> {
    let is = |one: &str| one.eq_ignore_ascii_case(name);
    TOOLS.iter().find(|(own, craft)| is(own) || is(craft)).map(|(own, _)| *own)
}

/// The line of a row, without its newline. `None` for [`Body::Odd`], which is in the file already.
pub fn write(row: &Message, dir: &Path) -> Option<String> {
    fields::value(row).map(|value| portable_paths::render(&value, dir))
}

/// The id of a line that lisle wrote.
pub fn id_of(line: &str) -> Option<MessageId> {
    JsonFields::parse(line).ok()?.text("id").map(MessageId::new)
}

/// Irregularity of a line, for the sentence that counts such lines.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Oddity {
    /// No JSON.
    Unreadable,
    /// Bytes that are not UTF-8, shown as U+FFFD.
    NotUtf8,
    /// Several rows stand on it, or a row behind a torn one.
    Glued,
    /// Valid JSON, but no message.
    NoMessage,
    /// A type that this version does not know.
    UnknownType(String),
}

/// Content of a line.
#[derive(Clone, Debug, PartialEq)]
pub struct RowLine {
    /// Rows: one, except on lines that were glued together.
    pub rows: Vec<Message>,
    /// Irregularity, if any.
    pub odd: Option<Oddity>,
}

/// Reads a line that stands at byte `at` as line `number` (0 where not known). Rows without a time have `At(0)`.
pub fn read(line: &[u8], at: u64, number: u64, dir: &Path) -> RowLine {
    let text = String::from_utf8_lossy(line);
    let broken = matches!(text, std::borrow::Cow::Owned(_));
    let text = text.trim();
    let place = RowPlace { at, number };
    if let Ok(fields) = JsonFields::parse(&portable_paths::expand(text, dir)) {
        let (row, odd) = message(&fields, text, place);
        return RowLine { rows: vec![row], odd: odd.or(broken.then_some(Oddity::NotUtf8)) };
    }
    if let Some(rows) = glued(text, place, dir) {
        return RowLine { rows, odd: Some(Oddity::Glued) };
    }
    let (what, odd) = if serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() {
        ("valid JSON, but not a message", Oddity::NoMessage)
    } else {
        ("an unreadable line", Oddity::Unreadable)
    };
    RowLine { rows: vec![place.odd(what.to_owned(), text)], odd: Some(odd) }
}

#[derive(Clone, Copy)]
struct RowPlace {
    at: u64,
    number: u64,
}

impl RowPlace {
    fn odd(self, what: String, raw: &str) -> Message {
        let raw = raw.chars().take(2000).collect();
        Message::new(self.id(), At(0), Body::Odd(Odd { what, line: self.number, raw }))
    }

    fn id(self) -> MessageId {
        MessageId::new(format!("line-{}", self.at))
    }
}

/// Rows that stand on one line because a newline was lost: whole ones, or a torn one with a whole one behind it.
fn glued(text: &str, place: RowPlace, dir: &Path) -> Option<Vec<Message>> {
    let mut rows = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&serde_json::value::RawValue>();
        let Some(Ok(one)) = values.next() else { break };
        let length = values.byte_offset();
        let fields = JsonFields::parse(&portable_paths::expand(one.get(), dir)).ok().filter(is_message)?;
        rows.push(message(&fields, one.get(), place).0);
        rest = rest.get(length..)?.trim_start();
    }
    // What follows is torn; a whole row may stand behind it. Rows begin with one of their common keys.
    for at in memchr::memmem::find_iter(rest.as_bytes(), b"{\"").filter(|at| *at > 0).take(64) {
        let tail = &rest[at..];
        if let Some(fields) = JsonFields::parse(&portable_paths::expand(tail, dir)).ok().filter(is_message) {
            rows.push(place.odd("the torn start of a line".to_owned(), &rest[..at]));
            rows.push(message(&fields, tail, place).0);
            return Some(rows);
        }
    }
    if rows.is_empty() {
        return None;
    }
    if !rest.is_empty() {
        rows.push(place.odd("the torn end of a line".to_owned(), rest));
    }
    Some(rows)
}

/// The object can be nothing but a message: a header has no `type`, an inner object no `timestamp` or `content`.
pub fn is_message(fields: &JsonFields) -> bool {
    fields.raw("id").is_some()
        && fields.text("type").is_some()
        && (fields.raw("content").is_some() || fields.raw("toolName").is_some())
        && !fields.has("createdAt")
}

fn message(fields: &JsonFields, raw: &str, place: RowPlace) -> (Message, Option<Oddity>) {
    let odd = |what: String, oddity: Oddity| {
        let mut row = place.odd(what, raw);
        row.at = At(fields.number("timestamp").unwrap_or(0));
        (row, Some(oddity))
    };
    let Some(kind) = fields.text("type") else {
        return odd("a line without a type".to_owned(), Oddity::NoMessage);
    };
    let own = fields.raw("lisle").and_then(|raw| JsonFields::parse(raw).ok()).unwrap_or_default();
    let text = |key: &str| fields.text(key).unwrap_or_default();
    let body = match kind.as_str() {
        "user" => Body::User(UserText {
            text: content(fields),
            attachments: attached::read(fields),
            steer: own.flag("steer").unwrap_or(false),
            piped: own.number("piped").and_then(|n| usize::try_from(n).ok()),
            client: own.text("client"),
        }),
        "assistant" if own.flag("thinking") == Some(true) => Body::Thinking(Thinking {
            text: content(fields),
            millis: own.number("millis").and_then(|n| u64::try_from(n).ok()),
            native: decoded::<Native>(&own, "native"),
        }),
        "assistant" => Body::Assistant(AssistantText {
            text: content(fields),
            intermediate: fields.flag("isIntermediate").unwrap_or(false),
            partial: own.flag("partial").unwrap_or(false),
            cut_by: decoded(&own, "cutBy"),
            native: decoded(&own, "native"),
        }),
        "tool" => Body::Tool(Box::new(tool(fields, &own))),
        "error" => Body::Error(failure(fields, &own)),
        "info" | "warning" | "status" => Body::Info(Info {
            text: content(fields),
            level: match fields.text("infoLevel").as_deref() {
                Some("error") => Level::Error,
                Some("warning") => Level::Warning,
                None if kind == "warning" => Level::Warning,
                _ => Level::Info,
            },
            kind: decoded(&own, "kind").map(|kind| told_now(kind, &text("content"))).unwrap_or_else(|| {
                if fields.text("statusType").as_deref() == Some("compaction_complete") {
                    InfoKind::Compacted
                } else if text("content") == "Response interrupted" {
                    InfoKind::Interrupted
                } else {
                    InfoKind::Remark
                }
            }),
            // Earlier versions kept the text alone.
            carried: decoded(&own, "carried").or_else(|| own.text("carried").map(|text| Box::new(text.into()))),
        }),
        "plan" => Body::Plan(Plan { path: text("planPath"), markdown: content(fields) }),
        _ => return odd(format!("a row of type {kind:?}"), Oddity::UnknownType(kind)),
    };
    let row = Message {
        id: fields.text("id").map_or_else(|| place.id(), MessageId::new),
        at: At(fields.number("timestamp").unwrap_or(0)),
        turn: fields.text("turnId"),
        parent: fields.text("parentToolUseId").filter(|id| !id.is_empty()).map(CallId::new),
        model: own.text("model"),
        body,
    };
    (row, None)
}

/// Earlier versions kept the end of the program as an interruption by the user.
fn told_now(kind: InfoKind, text: &str) -> InfoKind {
    let ended = text.starts_with("The program ended");
    if kind == InfoKind::Interrupted && ended { InfoKind::Restarted } else { kind }
}

fn decoded<T: DeserializeOwned>(fields: &JsonFields, key: &str) -> Option<T> {
    serde_json::from_value(fields.value(key)?).ok()
}

/// The text of a row; content that is no text is shown as its JSON.
fn content(fields: &JsonFields) -> String {
    match fields.value("content") {
        None => String::new(),
        Some(Value::String(text)) => text,
        Some(other) => other.to_string(),
    }
}

fn tool(fields: &JsonFields, own: &JsonFields) -> ToolCall {
    let name = fields.text("toolName").unwrap_or_default();
    // A raw `{}` and a missing input are the same to a provider.
    // Documented under the names behind, and written under those before.
    let input = fields.raw("toolInput").or_else(|| fields.raw("input")).map_or_else(|| json!({}), value_of);
    let input = shown::to_ours(input, decoded(own, "added").unwrap_or_default());
    let result = match fields.value("toolResult").or_else(|| fields.value("result")) {
        None => None,
        Some(Value::String(text)) => Some(text),
        Some(other) => Some(other.to_string()),
    };
    let failed = fields.flag("isError").unwrap_or(false);
    let status = match fields.text("toolStatus").as_deref() {
        Some("pending") => ToolStatus::Pending,
        Some("executing") => ToolStatus::Executing,
        Some("error") => ToolStatus::Error,
        Some("backgrounded") => ToolStatus::Backgrounded,
        Some("completed") if !failed => ToolStatus::Completed,
        _ if failed => ToolStatus::Error,
        _ if result.is_some() => ToolStatus::Completed,
        _ => ToolStatus::Executing,
    };
    ToolCall {
        id: CallId::new(fields.text("toolUseId").or_else(|| fields.text("id")).unwrap_or_default()),
        name: own_tool(&name).to_owned(),
        subject: own.text("subject").unwrap_or_else(|| subject(&input)),
        input,
        status,
        result,
        millis: fields.number("toolDuration").and_then(|n| u64::try_from(n).ok()),
        figures: decoded(own, "figures").unwrap_or_default(),
        decision: decoded(own, "decision"),
    }
}

/// Subject of another program's call: the first telling text of its input.
pub(in crate::store) fn subject(input: &Value) -> String {
    const KEYS: [&str; 12] = [
        "command",
        "cmd",
        "file_path",
        "filePath",
        "path",
        "notebook_path",
        "pattern",
        "planPath",
        "query",
        "url",
        "description",
        "title",
    ];
    KEYS.iter().find_map(|key| input.get(key)?.as_str()).unwrap_or_default().to_owned()
}

fn failure(fields: &JsonFields, own: &JsonFields) -> Failure {
    let mut detail: Vec<String> = match fields.value("errorDetails") {
        Some(Value::Array(items)) => items.iter().filter_map(|i| i.as_str().map(str::to_owned)).collect(),
        _ => Vec::new(),
    };
    detail.extend(fields.text("errorOriginal"));
    let craft_actions = || match fields.value("errorActions") {
        Some(Value::Array(items)) => items
            .iter()
            .filter_map(|item| match item.get("action")?.as_str()? {
                "retry" => Some(FailureAction::Retry),
                "settings" | "reauth" => Some(FailureAction::Settings),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    };
    Failure {
        code: fields.text("errorCode").unwrap_or_default(),
        title: fields.text("errorTitle").unwrap_or_else(|| "Error".to_owned()),
        text: content(fields),
        detail: detail.join("\n"),
        actions: decoded(own, "actions").unwrap_or_else(craft_actions),
    }
}

/// A row as it stands once nobody works on it any more: a call without a result is interrupted.
pub fn settle(row: &mut Message) {
    settle_with(row, "interrupted");
}

/// A row of ours as a death of lisle leaves it: a call without a result is interrupted by that, a text is cut off. A call is
/// written as executing before it runs, so one that is pending never ran.
pub fn settle_after_death(row: &mut Message) {
    let is_pending = row.tool().is_some_and(|call| call.status == ToolStatus::Pending);
    if is_pending {
        let why = "lisle was restarted before the call began; the user did not refuse it";
        return settle_with(row, &format!("{NOT_RUN}{why}"));
    }
    let why =
        "lisle was restarted before the call had ended, so whether it was done is not known; the user did not stop it";
    settle_with(row, &format!("{CUT_SHORT}{why}"));
    cut(row, CutBy::Restart);
}

/// A row of ours as a takeover from a lisle that was at work leaves it.
pub fn settle_after_takeover(row: &mut Message) {
    let why = "another lisle took the session over before the call had ended, so what came of it is not known; \
               the user did not stop it";
    settle_with(row, &format!("{CUT_SHORT}{why}"));
    cut(row, CutBy::TakenOver);
}

fn cut(row: &mut Message, by: CutBy) {
    if let Body::Assistant(text) = &mut row.body {
        text.partial = true;
        text.cut_by.get_or_insert(by);
    }
}

fn settle_with(row: &mut Message, why: &str) {
    if let Body::Tool(call) = &mut row.body {
        let open = match call.status {
            ToolStatus::Pending | ToolStatus::Executing => true,
            ToolStatus::Completed | ToolStatus::Error | ToolStatus::Backgrounded => call.result.is_none(),
        };
        if open {
            if !call.status.ended() {
                call.status = ToolStatus::Error;
            }
            call.result = Some(match call.result.take() {
                Some(output) if !output.trim().is_empty() => format!("{output}\n{why}"),
                _ => why.to_owned(),
            });
        }
    }
}

/// One row of every sort that is written, as the tests of this room need them.
#[cfg(test)]
pub(in crate::store) fn samples(dir: &Path) -> Vec<Message> {
    use crate::domain::permission::{Authority, Decision, Sandbox};
    use crate::domain::tool::ToolFigures;
    let file = dir.join("plans/p.md").to_string_lossy().into_owned();
    let native = Some(Native { wire: "anthropic-messages".into(), json: r#"[{"type":"text","n":1.0}]"#.into() });
    let call = ToolCall {
        id: CallId::new("toolu_1"),
        name: "bash".into(),
        input: json!({"command": format!("cat {file}")}),
        subject: format!("cat {file}"),
        status: ToolStatus::Completed,
        result: Some(String::new()),
        millis: Some(12),
        figures: ToolFigures { exit: Some(0), ..ToolFigures::default() },
        decision: Some(Decision {
            allowed: true,
            mode: crate::domain::Mode::Ask,
            authority: Authority::Person,
            reason: "asked".into(),
            sandbox: Sandbox::None,
            client: None,
        }),
    };
    let refused = ToolCall {
        id: CallId::new("toolu_2"),
        name: "mcp__x__y".into(),
        status: ToolStatus::Error,
        result: Some("refused".into()),
        decision: None,
        figures: ToolFigures::default(),
        millis: None,
        ..call.clone()
    };
    let info = |text: &str, level, kind| Body::Info(Info { text: text.into(), level, kind, carried: None });
    let bodies = vec![
        Body::User(UserText {
            text: format!("see {file} and {{{{SESSION_PATH}}}}"),
            attachments: attached::examples(dir),
            steer: true,
            piped: None,
            client: Some("phone (token anna at 10.0.0.1)".into()),
        }),
        Body::Assistant(AssistantText {
            text: "so \u{1f600}".into(),
            intermediate: true,
            partial: true,
            cut_by: Some(CutBy::Error),
            native: native.clone(),
        }),
        Body::Thinking(Thinking { text: "hm".into(), millis: Some(3), native }),
        Body::Tool(Box::new(call)),
        Body::Tool(Box::new(refused)),
        Body::Error(Failure {
            code: "rate_limited".into(),
            title: "Slow down".into(),
            text: "Wait a minute.".into(),
            detail: "429".into(),
            actions: vec![FailureAction::Retry, FailureAction::Model],
        }),
        info("Execute mode", Level::Warning, InfoKind::ModeChanged),
        info("Summed up", Level::Info, InfoKind::Compacted),
        Body::Plan(Plan { path: file, markdown: "# Plan".into() }),
    ];
    let row = |(n, body)| Message {
        id: MessageId::new(format!("msg-{n}")),
        at: At(1_795_300_000_000),
        turn: Some("turn".into()),
        parent: Some(CallId::new("toolu_0")),
        model: Some("vendor/model-1".into()),
        body,
    };
    bodies.into_iter().enumerate().map(row).collect()
}

#[cfg(test)]
mod tests;
