//! Parts of a row that both formats say in the same words.

use crate::domain::message::{Body, Message};
use crate::domain::sanitise::clean_line;
use crate::domain::tool::{ToolCall, ToolStatus};

/// Outcome of a call on one line: exit status and time.
pub(super) fn outcome(call: &ToolCall) -> String {
    let mut parts = Vec::new();
    if let Some(exit) = call.figures.exit {
        parts.push(format!("exit {exit}"));
    }
    if let Some(millis) = call.millis {
        parts.push(spent(millis));
    }
    if call.status == ToolStatus::Error && call.figures.exit.is_none() {
        parts.push("failed".to_owned());
    }
    parts.join(" · ")
}

pub(super) fn spent(millis: u64) -> String {
    if millis < 1000 { format!("{millis} ms") } else { format!("{}.{} s", millis / 1000, millis % 1000 / 100) }
}

/// The input of a call as people read it.
pub(super) fn input(call: &ToolCall) -> String {
    match call.input.get("command").and_then(|command| command.as_str()) {
        Some(command) if call.name == "bash" => command.to_owned(),
        _ => serde_json::to_string_pretty(&call.input).unwrap_or_default(),
    }
}

/// The names of the files that went along.
pub(super) fn files(row: &Message) -> Vec<String> {
    match &row.body {
        Body::User(said) => said.attachments.iter().map(|file| clean_line(&file.name).into_owned()).collect(),
        _ => Vec::new(),
    }
}
