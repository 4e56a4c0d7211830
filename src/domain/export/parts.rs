//! Parts of a row that both formats say in the same words.

use crate::domain::message::{Body, Message};
use crate::domain::sanitise::{clean_line, lines_of_returns};
use crate::domain::tool::{ToolCall, ToolStatus};
use std::borrow::Cow;

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

/// Ends the lines of a message where it has carriage returns, which would hide what stands before them. Output of commands
/// keeps them: there they mean what they mean to a terminal.
pub(super) fn end_lines(row: &mut Message) {
    let end = |text: &mut String| {
        if let Cow::Owned(ended) = lines_of_returns(text) {
            *text = ended;
        }
    };
    match &mut row.body {
        Body::User(said) => end(&mut said.text),
        Body::Assistant(said) => end(&mut said.text),
        Body::Thinking(thought) => end(&mut thought.text),
        Body::Error(failure) => [&mut failure.title, &mut failure.text, &mut failure.detail].into_iter().for_each(end),
        Body::Info(info) => end(&mut info.text),
        Body::Plan(plan) => end(&mut plan.markdown),
        Body::Odd(odd) => end(&mut odd.raw),
        Body::Tool(_) => {}
    }
}

/// The names of the files that went along.
pub(super) fn files(row: &Message) -> Vec<String> {
    match &row.body {
        Body::User(said) => said.attachments.iter().map(|file| clean_line(&file.name).into_owned()).collect(),
        _ => Vec::new(),
    }
}
