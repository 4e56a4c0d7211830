//! `lisle sessions`: the list and the transcript, as text or JSON.

use super::Exit;
use super::args::{List, Show};
use super::output::{complain, say};
use crate::domain::message::{Body, Message};
use crate::domain::{At, SessionMeta, sanitise};
use crate::runtime::setup::Ground;
use std::fmt::Write;

pub(super) fn list(ground: &Ground, list: &List) -> Exit {
    let listing = ground.store.list();
    for notice in &listing.notices {
        complain(&format!("lisle: {}", notice.text));
    }
    let mut sessions: Vec<SessionMeta> =
        listing.sessions.into_iter().filter(|meta| list.all || !(meta.archived || meta.hidden)).collect();
    sessions.sort_by(|a, b| b.last_message.cmp(&a.last_message).then_with(|| a.id.cmp(&b.id)));
    if list.json {
        return print_json(&sessions);
    }
    let width = sessions.iter().map(|meta| meta.id.as_str().len()).max().unwrap_or(0);
    let mut out = String::new();
    for meta in &sessions {
        let marks =
            [(meta.flagged, "flagged"), (meta.archived, "archived"), (meta.hidden, "hidden"), (meta.unread, "unread")];
        let marks: Vec<&str> = marks.iter().filter(|(on, _)| *on).map(|(_, word)| *word).collect();
        let marks = if marks.is_empty() { String::new() } else { format!("  [{}]", marks.join(", ")) };
        let title = sanitise::clean_line(meta.shown_title());
        let _ = writeln!(
            out,
            "{:width$}  {}  {:>5}  {title}{marks}",
            meta.id.as_str(),
            day(meta.last_message),
            meta.messages
        );
    }
    say(&out);
    Exit::Done
}

pub(super) fn show(ground: &Ground, show: &Show) -> Exit {
    let seen = match ground.store.read(&show.id, usize::MAX) {
        Ok(seen) => seen,
        Err(error) => {
            complain(&format!("lisle: {error}"));
            return Exit::Failed;
        }
    };
    for odd in &seen.meta.odd {
        complain(&format!("lisle: {odd}"));
    }
    if show.json {
        return print_json(&serde_json::json!({"meta": seen.meta, "messages": seen.rows}));
    }
    let mut out = format!("# {}\n", sanitise::clean_line(seen.meta.shown_title()));
    for row in &seen.rows {
        out.push('\n');
        out.push_str(&as_text(row));
    }
    say(&out);
    Exit::Done
}

fn print_json(value: &impl serde::Serialize) -> Exit {
    match serde_json::to_string_pretty(value) {
        Ok(text) => {
            say(&(text + "\n"));
            Exit::Done
        }
        Err(error) => {
            complain(&format!("lisle: the result could not be written as JSON: {error}"));
            Exit::Failed
        }
    }
}

/// A row as labelled text.
fn as_text(row: &Message) -> String {
    let labelled = |label: &str, text: &str| format!("[{label}]\n{}\n", text.trim_end());
    match &row.body {
        Body::User(user) => labelled("you", &user.text),
        Body::Assistant(said) => labelled(if said.partial { "assistant, broke off" } else { "assistant" }, &said.text),
        Body::Thinking(thought) => labelled("thinking", &thought.text),
        Body::Tool(call) => {
            let result = call.result.as_deref().unwrap_or("(no result)");
            labelled(&format!("{} {}", call.name, sanitise::clean_line(&call.subject)), result)
        }
        Body::Error(failure) => labelled("error", &format!("{}: {}", failure.title, failure.text)),
        Body::Info(info) => labelled("note", &info.text),
        Body::Plan(plan) => labelled("plan", &plan.markdown),
        Body::Odd(odd) => labelled(&format!("line {}: {}", odd.line, odd.what), &odd.raw),
    }
}

pub(super) fn day(at: At) -> String {
    jiff::Timestamp::from_millisecond(at.0)
        .map(|at| at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string())
        .unwrap_or_else(|_| "                ".to_owned())
}
