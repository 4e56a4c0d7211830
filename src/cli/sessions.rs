//! `lisle sessions`: what only looks at sessions. The list, a transcript, the trash, and the health of the files, as text
//! or JSON. What changes them is `change`'s.

use super::args::{Json, ListArgs, SessionsCommand, ShowArgs, Verify};
use super::change;
use super::definitions::{self, MistakesReported};
use super::exit::Exit;
use super::export_output;
use super::output::{complain, print_json, say};
use super::routes;
use crate::domain::attention::Attention;
use crate::domain::expression::Expression;
use crate::domain::message::{AssistantText, Body, Message};
use crate::domain::property::{Label, Properties};
use crate::domain::session_health::HealthReport;
use crate::domain::{At, SessionId, SessionMeta, sanitise};
use crate::local_time::minute;
use crate::runtime::setup::Bootstrap;
use serde::Serialize;
use std::fmt::Write;

pub(super) fn run(bootstrap: &Bootstrap, mut command: SessionsCommand) -> Exit {
    let unknown = match by_name(bootstrap, &mut command) {
        Names::Known => Exit::Done,
        Names::SomeUnknown => Exit::Usage,
        Names::Unknown => return Exit::Usage,
    };
    match known(bootstrap, command) {
        Exit::Done => unknown,
        exit => exit,
    }
}

/// A command whose sessions are known.
fn known(bootstrap: &Bootstrap, command: SessionsCommand) -> Exit {
    match command {
        SessionsCommand::List(args) if args.routes => routes::list(bootstrap, &args),
        SessionsCommand::List(args) => list(bootstrap, &args),
        SessionsCommand::Show(args) => show(bootstrap, &args),
        SessionsCommand::Export(args) if args.routes => super::route_transfer::export(bootstrap, &args),
        SessionsCommand::Export(args) => export_output::export(bootstrap, &args),
        SessionsCommand::Import(args) if args.routes => super::route_transfer::import(bootstrap, &args),
        SessionsCommand::Import(args) => super::import::run(bootstrap, &args),
        SessionsCommand::Search(args) => super::search::search(bootstrap, &args),
        SessionsCommand::Trash(args) => trash(bootstrap, &args),
        SessionsCommand::Set(args) => change::set(bootstrap, &args),
        SessionsCommand::Branch(args) => change::branch(bootstrap, &args),
        SessionsCommand::Archive(args) => change::archive(bootstrap, &args, true),
        SessionsCommand::Unarchive(args) => change::archive(bootstrap, &args, false),
        SessionsCommand::Delete(args) => change::delete(bootstrap, &args),
        SessionsCommand::Restore(args) => change::restore(bootstrap, &args),
        SessionsCommand::Cleanup(args) => routes::cleanup(bootstrap, &args),
        SessionsCommand::Verify(args) => verify(bootstrap, &args),
    }
}

/// Names and ids in a command.
enum Names {
    Known,
    /// Unknown ones were reported and taken out.
    SomeUnknown,
    /// Nothing is left to do.
    Unknown,
}

/// Replaces names of sessions by their ids. What is neither is reported; the others go on.
fn by_name(bootstrap: &Bootstrap, command: &mut SessionsCommand) -> Names {
    let ids: &mut Vec<SessionId> = match command {
        SessionsCommand::Show(args) => return one_by_name(bootstrap, Some(&mut args.id)),
        SessionsCommand::Export(args) => return one_by_name(bootstrap, args.id.as_mut()),
        SessionsCommand::Branch(args) => return one_by_name(bootstrap, Some(&mut args.id)),
        SessionsCommand::Verify(args) => return one_by_name(bootstrap, args.id.as_mut()),
        SessionsCommand::Set(args) => &mut args.ids,
        SessionsCommand::Archive(args) | SessionsCommand::Unarchive(args) => &mut args.ids,
        SessionsCommand::Delete(args) => &mut args.ids,
        SessionsCommand::List(_)
        | SessionsCommand::Import(_)
        | SessionsCommand::Search(_)
        | SessionsCommand::Trash(_)
        | SessionsCommand::Cleanup(_)
        | SessionsCommand::Restore(_) => return Names::Known,
    };
    let written = ids.len();
    *ids = ids.iter().filter_map(|id| session_named(bootstrap, id)).collect();
    match ids.len() {
        0 => Names::Unknown,
        known if known < written => Names::SomeUnknown,
        _ => Names::Known,
    }
}

fn one_by_name(bootstrap: &Bootstrap, id: Option<&mut SessionId>) -> Names {
    let Some(id) = id else { return Names::Known };
    match session_named(bootstrap, id) {
        Some(named) => {
            *id = named;
            Names::Known
        }
        None => Names::Unknown,
    }
}

/// Session of this id or name; `None` once it was said that there is none.
pub(super) fn session_named(bootstrap: &Bootstrap, written: &SessionId) -> Option<SessionId> {
    let found = bootstrap.store.named(written.as_str());
    if found.is_none() {
        complain(&format!("lisle: {}", bootstrap.store.unknown_session(written.as_str())));
    }
    found
}

/// Filter of the list, resolved.
struct Filter<'a> {
    args: &'a ListArgs,
    properties: &'a Properties,
    statuses: Vec<&'a str>,
    labels: Vec<&'a str>,
    view: Option<Expression>,
    now: At,
}

impl<'a> Filter<'a> {
    /// # Errors
    /// The unknown name, as a sentence.
    fn new(args: &'a ListArgs, properties: &'a Properties) -> Result<Self, String> {
        let status = |words: &String| definitions::status(properties, words).map(|status| status.id.as_str());
        let label = |words: &String| definitions::label(properties, words).map(|label: &Label| label.id.as_str());
        let view = args.view.as_ref().map(|words| {
            let view = definitions::view(properties, words)?;
            Expression::parse(&view.expression).map_err(|error| format!("View {}: {error}", view.name))
        });
        Ok(Self {
            args,
            properties,
            statuses: args.status.iter().map(status).collect::<Result<_, _>>()?,
            labels: args.label.iter().map(label).collect::<Result<_, _>>()?,
            view: view.transpose()?,
            now: definitions::now(),
        })
    }

    /// # Errors
    /// If the view's condition cannot be computed.
    fn has(&self, meta: &SessionMeta) -> Result<bool, String> {
        let args = self.args;
        let there = args.all || (args.archived == meta.archived && !meta.hidden);
        let marked = (!args.flagged || meta.flagged) && (!args.unread || meta.unread);
        let status = self.properties.status(&meta.status);
        let of_status = self.statuses.is_empty() || self.statuses.contains(&status.id.as_str());
        let labelled = self.labels.iter().all(|id| self.properties.has_label(&meta.labels, id));
        if !(there && marked && of_status && labelled) {
            return Ok(false);
        }
        self.view.as_ref().map_or(Ok(true), |view| view.matches(meta, self.now))
    }
}

/// A session with its state in one word, as every client shows it.
#[derive(Serialize)]
struct ListedSession<'a> {
    #[serde(flatten)]
    meta: &'a SessionMeta,
    attention: Attention,
}

fn list(bootstrap: &Bootstrap, args: &ListArgs) -> Exit {
    let asks = !(args.status.is_empty() && args.label.is_empty() && args.view.is_none());
    // Mistakes in the definitions matter to who asks by them.
    let properties = definitions::read(bootstrap, if asks { MistakesReported::Yes } else { MistakesReported::No });
    let filter = match Filter::new(args, &properties) {
        Ok(filter) => filter,
        Err(why) => {
            complain(&format!("lisle: {why}"));
            return Exit::Usage;
        }
    };
    let listing = bootstrap.store.list();
    for notice in &listing.notices {
        complain(&format!("lisle: {}", notice.text));
    }
    let mut sessions: Vec<SessionMeta> = Vec::new();
    let mut unclear = 0;
    for meta in listing.sessions {
        match filter.has(&meta) {
            Ok(true) => sessions.push(meta),
            Ok(false) => {}
            Err(why) => {
                if unclear == 0 {
                    complain(&format!("lisle: can't evaluate the view for {}: {why}.", meta.id));
                }
                unclear += 1;
            }
        }
    }
    if unclear > 1 {
        complain(&format!("lisle: and {} more.", unclear - 1));
    }
    sessions.sort_by(|a, b| b.last_message.cmp(&a.last_message).then_with(|| a.id.cmp(&b.id)));
    if args.json {
        let rows: Vec<ListedSession<'_>> =
            sessions.iter().map(|meta| ListedSession { attention: meta.attention(), meta }).collect();
        return print_json(&rows);
    }
    let width = sessions.iter().map(|meta| meta.id.as_str().len()).max().unwrap_or(0);
    let mut out = String::new();
    for meta in &sessions {
        let title = sanitise::clean_line(meta.shown_title());
        let marks = marks(meta, &properties);
        let _ = writeln!(
            out,
            "{:width$}  {}  {:>5}  {title}{marks}",
            meta.id.as_str(),
            minute(meta.last_message),
            meta.messages
        );
    }
    say(&out);
    Exit::Done
}

/// Summary of a session in brackets: its status if it is not the usual one, its marks, the program that it came from and its labels.
fn marks(meta: &SessionMeta, properties: &Properties) -> String {
    let mut marks: Vec<String> = Vec::new();
    let status = properties.status(&meta.status);
    if status.id != properties.default_status {
        marks.push(status.label.clone());
    }
    let words =
        [(meta.flagged, "flagged"), (meta.archived, "archived"), (meta.hidden, "hidden"), (meta.unread, "unread")];
    match meta.attention() {
        Attention::NeedsYou(_) => marks.push("needs you".to_owned()),
        Attention::Running => marks.push("running".to_owned()),
        Attention::Failed(_) => marks.push("failed".to_owned()),
        Attention::Interrupted(_) => marks.push("interrupted".to_owned()),
        Attention::Unread | Attention::Idle => {}
    }
    marks.extend(words.iter().filter(|(on, _)| *on).map(|(_, word)| (*word).to_owned()));
    marks.extend(meta.names.alias.iter().map(|name| format!("named {name}")));
    marks.extend(meta.names.program.iter().map(|program| format!("from {program}")));
    marks.extend(meta.labels.iter().map(|entry| format!("#{}", properties.shown_label(entry))));
    if marks.is_empty() { String::new() } else { format!("  [{}]", sanitise::clean_line(&marks.join(", "))) }
}

fn trash(bootstrap: &Bootstrap, args: &Json) -> Exit {
    let trash = bootstrap.store.trash();
    if args.json {
        return print_json(&trash);
    }
    let width = trash.iter().map(|one| one.trash.0.len()).max().unwrap_or(0);
    let mut out = String::new();
    for one in &trash {
        let title = if one.title.is_empty() { "New session" } else { &one.title };
        let cleared = if one.cleared { "  [cleared messages]" } else { "" };
        let _ = writeln!(
            out,
            "{:width$}  {}  {:>8}  {}{cleared}",
            one.trash.0,
            minute(one.deleted),
            size(one.bytes),
            sanitise::clean_line(title)
        );
    }
    say(&out);
    Exit::Done
}

fn verify(bootstrap: &Bootstrap, args: &Verify) -> Exit {
    let ids = match &args.id {
        Some(id) => vec![id.clone()],
        None => {
            let listing = bootstrap.store.list();
            for notice in &listing.notices {
                complain(&format!("lisle: {}", notice.text));
            }
            let mut ids: Vec<_> = listing.sessions.into_iter().map(|meta| meta.id).collect();
            ids.sort();
            ids
        }
    };
    let mut exit = Exit::Done;
    let mut reports = Vec::new();
    for id in &ids {
        let looked = if args.repair { bootstrap.store.repair(id) } else { bootstrap.store.verify(id) };
        match looked {
            Ok(report) => reports.push(report),
            Err(error) => {
                complain(&format!("lisle: {id} was not {}: {error}.", if args.repair { "repaired" } else { "read" }));
                exit = Exit::Failed;
            }
        }
    }
    let odd = reports.iter().filter(|report| !report.is_sound()).count();
    if odd > 0 {
        exit = Exit::Failed;
    }
    if args.json {
        return match print_json(&reports) {
            Exit::Done => exit,
            failed => failed,
        };
    }
    let told = |report: &&HealthReport| args.id.is_some() || !report.is_sound() || report.repaired;
    let mut out: String = reports.iter().filter(told).map(health).collect();
    if args.id.is_none() {
        let _ =
            writeln!(out, "{}, {odd} with problems", crate::domain::count::count(reports.len(), "session", "sessions"));
    }
    say(&out);
    exit
}

/// Health of a session's files, over several lines.
fn health(report: &HealthReport) -> String {
    let word = match (report.is_sound(), report.repaired) {
        (true, false) => "ok",
        (true, true) => "repaired",
        (false, false) => "problems",
        (false, true) => "partly repaired",
    };
    let count = |number: u64, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
    let (messages, files) = (count(report.messages, "message"), count(report.files, "file"));
    let mut out = format!("{}  {word}: {messages}, {files}, {}\n", report.session, size(report.bytes));
    let mut line = |text: &str| {
        let _ = writeln!(out, "  {}", sanitise::clean_line(text));
    };
    report.odd.iter().for_each(|(sentence, _)| line(sentence));
    if report.unfinished > 0 {
        line(&format!("{} rows or queued messages are unfinished (crash or full disk).", report.unfinished));
    }
    report.missing.iter().for_each(|path| line(&format!("Missing file, used by a row: {path}")));
    report.orphans.iter().for_each(|path| line(&format!("Unused file: {path}")));
    if let Some(holder) = &report.held_by {
        line(&format!("Open in {holder}."));
    }
    let can = if report.repaired { "Done" } else { "With --repair" };
    report.repairs.iter().for_each(|repair| line(&format!("{can}: {repair}")));
    out
}

/// Bytes as people read them.
pub(super) fn size(bytes: u64) -> String {
    #[allow(clippy::cast_precision_loss, reason = "one digit behind the point is shown")]
    let scaled = |unit: u64| bytes as f64 / unit as f64;
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", scaled(1_000)),
        1_000_000..1_000_000_000 => format!("{:.1} MB", scaled(1_000_000)),
        _ => format!("{:.1} GB", scaled(1_000_000_000)),
    }
}

fn show(bootstrap: &Bootstrap, show: &ShowArgs) -> Exit {
    show_one(bootstrap, &show.id, show.json)
}

/// Prints a session.
pub(super) fn show_one(bootstrap: &Bootstrap, id: &SessionId, json: bool) -> Exit {
    let seen = match bootstrap.store.read(id, usize::MAX) {
        Ok(seen) => seen,
        Err(error) => {
            complain(&format!("lisle: {error}"));
            return Exit::Failed;
        }
    };
    for odd in &seen.meta.odd {
        complain(&format!("lisle: {odd}"));
    }
    if json {
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

/// `one key was`, `3 keys were`.
pub(super) fn masked_words(masked: usize) -> String {
    if masked == 1 { "one key was".to_owned() } else { format!("{masked} keys were") }
}

fn speaker(said: &AssistantText) -> String {
    said.cut_off().map_or_else(|| "assistant".to_owned(), |words| format!("assistant, {words}"))
}

/// A row as labelled text.
fn as_text(row: &Message) -> String {
    let labelled = |label: &str, text: &str| format!("[{label}]\n{}\n", text.trim_end());
    match &row.body {
        Body::User(user) => labelled("you", &user.text),
        Body::Assistant(said) => labelled(&speaker(said), &said.text),
        Body::Thinking(thought) => labelled("thinking", &thought.text),
        Body::Tool(call) => {
            let result = call.result.as_deref().unwrap_or("(no result)");
            labelled(format!("{} {}", call.name, sanitise::reveal_line(&call.subject)).trim_end(), result)
        }
        Body::Error(failure) => labelled("error", &format!("{}: {}", failure.title, failure.text)),
        Body::Info(info) => labelled("note", &info.text),
        Body::Plan(plan) => labelled("plan", &plan.markdown),
        Body::Odd(odd) => labelled(&format!("line {}: {}", odd.line, odd.what), &odd.raw),
    }
}
