//! `lisle audit`: the audit log of a session, for people and for programs.

use super::args::Audit;
use super::exit::Exit;
use super::output::{complain, say};
use super::sessions::session_named;
use crate::domain::audit_log::{AuditEntry, AuditLog, AuditMessage, Fate};
use crate::domain::permission::Sandbox;
use crate::domain::sanitise;
use crate::local_time::second;
use crate::runtime::setup::Bootstrap;
use serde::Serialize;
use std::fmt::Write;

/// Fate of a message, beside those of calls.
const SENT: &str = "sent";

pub(super) fn run(bootstrap: &Bootstrap, args: &Audit) -> Exit {
    let Some(id) = session_named(bootstrap, &args.id) else { return Exit::Usage };
    let seen = match bootstrap.store.read(&id, usize::MAX) {
        Ok(seen) => seen,
        Err(error) => {
            complain(&format!("lisle: {error}."));
            return Exit::Failed;
        }
    };
    let log = AuditLog::of(id, &seen.rows, usize::MAX);
    let shown = log.entries.iter().filter(|entry| !args.refused || entry.fate() == Fate::Refused);
    let mut messages = log.messages.iter().filter(|_| !args.refused).peekable();
    let mut out = String::new();
    for entry in shown {
        while let Some(message) = messages.next_if(|message| message.at <= entry.at) {
            put_message(&mut out, message, args.json);
        }
        if args.json {
            out.push_str(&json(entry, entry.fate().word()));
        } else {
            line(&mut out, entry);
        }
    }
    messages.for_each(|message| put_message(&mut out, message, args.json));
    say(&out);
    Exit::Done
}

/// The entry with what became of it, as one line.
fn json(entry: &impl Serialize, fate: &str) -> String {
    let mut value = serde_json::to_value(entry).unwrap_or_default();
    if let Some(object) = value.as_object_mut() {
        object.insert("fate".to_owned(), fate.into());
    }
    sanitise::reveal_json(&value.to_string()).into_owned() + "\n"
}

/// Message of a client, on the line of a call that it may have caused.
fn put_message(out: &mut String, message: &AuditMessage, as_json: bool) {
    if as_json {
        return out.push_str(&json(message, SENT));
    }
    let subject = sanitise::reveal_line(message.subject.trim());
    let who = sanitise::clean_line(&message.client);
    let at = second(message.at);
    let _ = writeln!(out, "{at}  {SENT:<9}  {:<7}  {:<9}  message {subject}  (by {who})", "-", "-");
}

fn line(out: &mut String, entry: &AuditEntry) {
    let subject = sanitise::reveal_line(entry.subject.trim());
    let tool = sanitise::clean_line(&entry.tool);
    let fate = entry.fate().word();
    let _ = write!(out, "{}  {fate:<9}", second(entry.at));
    match &entry.decision {
        Some(decision) => {
            let held = match decision.sandbox {
                Sandbox::None => "-",
                Sandbox::ReadOnly => "read-only",
                Sandbox::Workspace => "workspace",
            };
            let who = sanitise::clean_line(&decision.by()).into_owned();
            let _ = writeln!(out, "  {:<7}  {held:<9}  {tool} {subject}  (by {who})", decision.mode.word());
            if !decision.allowed && !decision.reason.is_empty() {
                let _ = writeln!(out, "{:19}  {}", "", sanitise::reveal(&decision.reason.replace('\n', " ")));
            }
        }
        None => {
            let _ = writeln!(out, "  {:<7}  {:<9}  {tool} {subject}", "-", "-");
        }
    }
}
