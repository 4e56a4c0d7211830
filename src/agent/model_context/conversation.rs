//! The transcript as the model gets it: rows in, conversation items out. Pure.
//!
//! Every tool call has exactly one result, whatever the file holds, because providers refuse a conversation otherwise.
//! After a compaction the conversation begins with what that carried over; of the rows above it, those that it keeps
//! follow, with long results cut.

use super::prompt;
use crate::domain::attachment::{Attachment, AttachmentKind};
use crate::domain::ids::CallId;
use crate::domain::message::{Body, Carried, Info, InfoKind, Message};
use crate::domain::permission::{Authority, Mode};
use crate::domain::tool::ToolCall;
use crate::provider::{CallResult, ConversationItem, Media, ProposedCall, Reply};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// Result of a call without one.
pub const INTERRUPTED: &str = "interrupted: the call did not finish";

/// Note for the model after the user stopped it.
const STOPPED_HINT: &str = "[The user interrupted your previous answer.]";

/// Note for the model after lisle quit or died.
const RESTARTED_HINT: &str = "[lisle was restarted while you were at work, so your previous answer was interrupted there. The user did not \
    interrupt you.]";

/// The first item where the conversation begins with the model: servers want the user's word first.
const NO_BEGINNING: &str = "[The beginning of the conversation was left out.]";

/// Bytes of a result that stay of it in a row that a compaction keeps.
pub const KEPT_RESULT: usize = 4_000;

/// Rows that the model gets.
#[derive(Clone, Debug, PartialEq)]
pub struct Effective<'a> {
    /// Content carried over by the last compaction.
    pub carried: Option<&'a Carried>,
    /// The rows that it keeps.
    pub kept: &'a [Message],
    /// The rows since.
    pub since: &'a [Message],
}

impl<'a> Effective<'a> {
    /// Finds the last compaction among the rows.
    #[must_use]
    pub fn of(rows: &'a [Message]) -> Self {
        let found = rows.iter().enumerate().rev().find_map(|(at, row)| match &row.body {
            Body::Info(Info { kind: InfoKind::Compacted, carried: Some(carried), .. }) => Some((at, &**carried)),
            _ => None,
        });
        let Some((at, carried)) = found else { return Self { carried: None, kept: &[], since: rows } };
        let above = &rows[..at];
        let keeps = carried.keeps.as_ref().and_then(|id| above.iter().rposition(|row| row.id == *id));
        Self { carried: Some(carried), kept: &above[keeps.unwrap_or(at)..], since: &rows[at + 1..] }
    }
}

/// Builds the conversation from the rows since the last compaction, and those that it keeps.
///
/// Items of a conversation. An item depends on its row and those before it, never on later ones, so
/// a request begins like the one before it in the turn. Interrupted text is included once the user
/// answered it; text of an attempt that was replaced is not. Rows of subagents are not part of this
/// conversation.
#[must_use]
pub fn items(rows: &[Message]) -> Vec<ConversationItem> {
    let Effective { carried, kept, since } = Effective::of(rows);
    let mut out = Builder::default();
    if let Some(carried) = carried {
        // Earlier messages keep their own words.
        out.user(&carried.text);
    }
    let rows = kept.iter().map(|row| (row, true)).chain(since.iter().map(|row| (row, false)));
    let rows: Vec<(&Message, bool)> = rows.filter(|(row, _)| row.parent.is_none()).collect();
    for (at, (row, elided)) in rows.iter().enumerate() {
        if !was_replaced(row, &rows[at + 1..]) {
            out.row(row, *elided);
        }
    }
    out.close();
    if matches!(out.items.first(), Some(ConversationItem::Assistant(_) | ConversationItem::Results(_))) {
        out.items.insert(0, ConversationItem::User(NO_BEGINNING.into()));
    }
    out.items
}

/// Text that broke off, and was not what the user answered: it is asked for again, or was.
fn was_replaced(row: &Message, behind: &[(&Message, bool)]) -> bool {
    if !matches!(&row.body, Body::Assistant(said) if said.partial) {
        return false;
    }
    let answer = behind.iter().find_map(|(row, _)| match &row.body {
        Body::User(_) => Some(true),
        Body::Tool(call) => Some(by_user(call)),
        Body::Assistant(_) => Some(false),
        _ => None,
    });
    answer != Some(true)
}

/// True if a row continues the response of the row before it, both of the model. The response's id
/// decides; for rows without one, of older versions and other programs, place and time: a call
/// proposed after another one had ended is not part of the same response.
#[must_use]
pub fn same_response(before: &Message, row: &Message) -> bool {
    match (&before.body, &row.body) {
        // Text after a result was said knowing it.
        (Body::Tool(_), Body::Assistant(_) | Body::Thinking(_)) => false,
        (Body::Tool(call), _) => match (&before.turn, &row.turn) {
            (Some(one), Some(other)) => one == other,
            (None, None) => {
                let ended = i64::try_from(call.millis.unwrap_or(0)).unwrap_or(i64::MAX);
                row.at.0 <= before.at.0.saturating_add(1) || row.at.0 < before.at.0.saturating_add(ended)
            }
            _ => false,
        },
        _ => match (&before.turn, &row.turn) {
            (Some(one), Some(other)) => one == other,
            _ => true,
        },
    }
}

/// An attached file; it is read right before the request.
fn media(file: &Attachment) -> Media {
    Media { name: file.name.clone(), path: file.path.clone(), mime: file.mime.clone(), data: None }
}

/// The beginning and the end of a result that a compaction keeps; the call can be made again.
#[must_use]
pub fn elide(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let head = text.floor_char_boundary(most / 3 * 2);
    let tail = text.ceil_char_boundary(text.len() - most / 3);
    let left = tail - head;
    Cow::Owned(format!(
        "{}\n[… {left} bytes of this result were left out when the conversation was compacted; call the tool again for them …]\n{}",
        &text[..head],
        &text[tail..]
    ))
}

/// The user typed this command; the model never called it.
fn by_user(call: &ToolCall) -> bool {
    call.decision.as_ref().is_some_and(|decision| decision.authority == Authority::Typed)
}

fn typed(call: &ToolCall, printed: &str) -> String {
    format!("[I ran this command myself: {}]\n\n{printed}", call.subject)
}

#[derive(Default)]
struct Builder<'a> {
    items: Vec<ConversationItem>,
    reply: Option<Reply>,
    /// The last row of that reply.
    last: Option<&'a Message>,
    results: Vec<CallResult>,
    /// Occurrences of each id.
    times: HashMap<CallId, u32>,
    /// Ids that calls have.
    taken: HashSet<CallId>,
    interrupted: Option<Cow<'static, str>>,
    /// Note about the mode for the next result.
    mode: String,
    restored: Vec<String>,
    jobs: Vec<String>,
}

impl<'a> Builder<'a> {
    fn row(&mut self, row: &'a Message, elided: bool) {
        match &row.body {
            Body::User(user) => {
                self.user(&user.text);
                self.files(&user.attachments);
            }
            Body::Assistant(said) => {
                let reply = self.reply_for(row);
                if !reply.text.is_empty() && !said.text.is_empty() {
                    reply.text.push_str("\n\n");
                }
                reply.text.push_str(&said.text);
                reply.native.extend(said.native.clone());
            }
            Body::Thinking(thought) => {
                if let Some(native) = &thought.native {
                    self.reply_for(row).native.push(native.clone());
                }
            }
            Body::Tool(call) => {
                let result = call.result.as_deref().filter(|_| by_user(call) || call.status.ended());
                let failed = result.is_none() || call.status == crate::domain::tool::ToolStatus::Error;
                let result = result.unwrap_or(INTERRUPTED);
                let result = if elided { elide(result, KEPT_RESULT) } else { Cow::Borrowed(result) };
                if by_user(call) {
                    return self.user(&typed(call, &result));
                }
                let its = ProposedCall { id: call.id.clone(), name: call.name.clone(), input: call.input.clone() };
                let media = call.figures.media.iter().map(media).collect();
                self.reply_for(row);
                self.call(its, result.into_owned(), failed, media);
            }
            Body::Info(info) if info.kind == InfoKind::Interrupted => self.interrupted = Some(STOPPED_HINT.into()),
            Body::Info(info) if info.kind == InfoKind::Restarted => self.interrupted = Some(RESTARTED_HINT.into()),
            Body::Info(info) if info.kind == InfoKind::Ended => {
                let told = format!(
                    "[{} Your previous answer was interrupted there. The user did not interrupt you.]",
                    info.text
                );
                self.interrupted = Some(told.into());
            }
            Body::Info(info) if info.kind == InfoKind::ModeChanged => self.mode_changed(row, &info.text),
            Body::Info(info) if info.kind == InfoKind::Restored => self.restored.push(info.text.clone()),
            Body::Info(info) if info.kind == InfoKind::JobEnded => self.job_ended(&info.text),
            Body::Info(_) | Body::Error(_) | Body::Plan(_) | Body::Odd(_) => {}
        }
    }

    fn user(&mut self, text: &str) {
        self.close();
        self.mode.clear();
        let mut text = text.to_owned();
        for told in self.restored.drain(..).rev() {
            text = format!("[The user restored files. {told} Read a file again before you rely on it.]\n\n{text}");
        }
        for told in self.jobs.drain(..).rev() {
            text = format!("[{told}]\n\n{text}");
        }
        if let Some(hint) = self.interrupted.take() {
            text = format!("{hint}\n\n{text}");
        }
        self.items.push(ConversationItem::User(text.into()));
    }

    /// In the middle of a turn, with the results that go out next: the prompt of the turn says what held at its beginning. A row that
    /// names a response was written before the first result of that one.
    fn mode_changed(&mut self, row: &Message, told: &str) {
        let Some(mode) = Mode::ALL.into_iter().find(|mode| told.ends_with(mode.shown())) else { return };
        let told = format!("\n\n[The permission mode was changed. From here on: {}]", prompt::mode(mode));
        let of_these = row.turn.is_none() || self.last.is_some_and(|last| last.turn == row.turn);
        match self.results.last_mut().filter(|_| of_these) {
            Some(result) => result.text.push_str(&told),
            None if row.turn.is_some() => self.mode = told,
            None => {}
        }
    }

    /// With the results that go out next, else with the next message.
    fn job_ended(&mut self, told: &str) {
        match self.results.last_mut() {
            Some(result) => result.text.push_str(&format!("\n\n[{told}]")),
            None => self.jobs.push(told.to_owned()),
        }
    }

    /// The files of the message just said. A file that is no text, picture or PDF is mentioned by its name.
    fn files(&mut self, files: &[Attachment]) {
        let Some(ConversationItem::User(said)) = self.items.last_mut() else { return };
        for file in files {
            match file.kind {
                AttachmentKind::Image | AttachmentKind::Pdf | AttachmentKind::Text => said.media.push(media(file)),
                _ => match &file.text {
                    Some(text) => {
                        let (path, mime) = (text.clone(), "text/markdown".to_owned());
                        said.media.push(Media { path, mime, ..media(file) });
                    }
                    None => said.text.push_str(&format!(
                        "\n\n[The user gave the file {} along ({}), which cannot be shown to you. It lies at {}.]",
                        file.name,
                        file.mime,
                        file.path.display()
                    )),
                },
            }
        }
    }

    /// The reply that a row belongs to.
    fn reply_for(&mut self, row: &'a Message) -> &mut Reply {
        if self.last.is_some_and(|last| !same_response(last, row)) {
            self.close();
        }
        self.last = Some(row);
        self.reply.get_or_insert_default()
    }

    fn call(&mut self, mut call: ProposedCall, text: String, failed: bool, media: Vec<Media>) {
        // Some servers begin anew with their ids in each response.
        let times = self.times.entry(call.id.clone()).or_insert(0);
        let theirs = call.id.clone();
        *times += 1;
        while *times > 1 || self.taken.contains(&call.id) {
            call.id = CallId::new(format!("{theirs}-{times}"));
            if !self.taken.contains(&call.id) {
                break;
            }
            *times += 1;
        }
        self.taken.insert(call.id.clone());
        let text = text + &std::mem::take(&mut self.mode);
        self.results.push(CallResult { id: call.id.clone(), text, failed, media });
        self.reply.get_or_insert_default().calls.push(call);
    }

    fn close(&mut self) {
        self.last = None;
        if let Some(reply) = self.reply.take()
            && (!reply.text.is_empty() || !reply.calls.is_empty() || !reply.native.is_empty())
        {
            self.items.push(ConversationItem::Assistant(reply));
        }
        if !self.results.is_empty() {
            self.items.push(ConversationItem::Results(std::mem::take(&mut self.results)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::{At, MessageId};
    use crate::domain::message::{AssistantText, UserText};
    use crate::domain::notice::Level;
    use crate::domain::permission::{Decision, Sandbox};
    use crate::domain::tool::{ToolFigures, ToolStatus};
    use proptest::prelude::*;

    fn row(body: Body) -> Message {
        Message::new(MessageId::new("m"), At(0), body)
    }
    fn user(text: &str) -> Message {
        row(Body::User(UserText { text: text.into(), ..UserText::default() }))
    }
    fn said(text: &str, partial: bool) -> Message {
        row(Body::Assistant(AssistantText { text: text.into(), partial, ..AssistantText::default() }))
    }
    fn tool(id: &str, result: Option<&str>) -> Message {
        row(Body::Tool(Box::new(ToolCall {
            id: CallId::new(id),
            name: "read".into(),
            input: serde_json::json!({}),
            subject: String::new(),
            status: if result.is_some() { ToolStatus::Completed } else { ToolStatus::Executing },
            result: result.map(Into::into),
            millis: None,
            figures: ToolFigures::default(),
            decision: None,
        })))
    }
    fn stopped() -> Message {
        row(Body::Info(Info { text: "Stopped".into(), level: Level::Info, kind: InfoKind::Interrupted, carried: None }))
    }

    #[test]
    fn what_the_user_typed_is_no_call_of_the_model() {
        let mut typed = tool("a", Some("out\nexit 0"));
        if let Body::Tool(call) = &mut typed.body {
            call.subject = "ls".into();
            let (authority, sandbox) = (Authority::Typed, Sandbox::None);
            let reason = String::new();
            call.decision =
                Some(Decision { allowed: true, mode: Mode::Explore, authority, reason, sandbox, client: None });
        }
        let items = items(&[user("hi"), said("yes", false), typed, user("and?")]);
        assert_eq!(items.len(), 4);
        assert_eq!(items[2], ConversationItem::User("[I ran this command myself: ls]\n\nout\nexit 0".into()));
    }

    #[test]
    fn calls_are_paired_and_responses_kept_apart() {
        let rows =
            [user("hi"), said("look", false), tool("a", Some("1")), tool("a", None), said("so", false), user("more")];
        let items = items(&rows);
        let ConversationItem::Assistant(first) = &items[1] else { panic!("{items:?}") };
        assert_eq!((first.text.as_str(), first.calls.len()), ("look", 2));
        assert_eq!(first.calls[1].id.as_str(), "a-2", "an id that comes twice is told apart");
        let ConversationItem::Results(results) = &items[2] else { panic!("{items:?}") };
        assert_eq!((results[0].failed, results[1].failed, results[1].text.as_str()), (false, true, INTERRUPTED));
        assert!(matches!(&items[3], ConversationItem::Assistant(reply) if reply.text == "so"));
        assert_eq!(items.len(), 5);
    }

    #[test]
    fn files_go_along_with_what_was_said() {
        let file = |name: &str, kind, text: Option<&str>| Attachment {
            name: name.into(),
            path: format!("/s/attachments/1_{name}").into(),
            kind,
            mime: "a/b".into(),
            bytes: 1,
            text: text.map(Into::into),
        };
        let files = vec![
            file("a.png", AttachmentKind::Image, None),
            file("b.docx", AttachmentKind::Office, Some("/s/attachments/1_b.docx.md")),
            file("c.bin", AttachmentKind::Unknown, None),
        ];
        let mut read = tool("r", Some("see"));
        if let Body::Tool(call) = &mut read.body {
            call.figures.media = vec![file("d.png", AttachmentKind::Image, None)];
        }
        let items = items(&[row(Body::User(UserText::with("look", files))), read]);
        let ConversationItem::User(said) = &items[0] else { panic!("{items:?}") };
        assert!(said.text.starts_with("look\n\n[The user gave the file c.bin along"), "{}", said.text);
        let named: Vec<_> = said.media.iter().map(|media| (media.name.as_str(), media.mime.as_str())).collect();
        assert_eq!(named, [("a.png", "a/b"), ("b.docx", "text/markdown")]);
        assert!(said.media.iter().all(|media| media.data.is_none()));
        let ConversationItem::Results(results) = &items[2] else { panic!("{items:?}") };
        assert_eq!(results[0].media[0].name, "d.png");
    }

    #[test]
    fn a_stop_is_told_with_the_next_message() {
        let rows = [user("hi"), said("I wo", true), stopped(), user("go on")];
        let items = items(&rows);
        assert!(matches!(&items[1], ConversationItem::Assistant(reply) if reply.text == "I wo"));
        assert!(matches!(&items[2], ConversationItem::User(said) if said.text.starts_with(STOPPED_HINT)));
    }

    #[test]
    fn restored_files_are_told_with_the_next_message() {
        let undid =
            Info { text: "Undid 1 file: a.rs.".into(), level: Level::Info, kind: InfoKind::Restored, carried: None };
        let rows = [user("hi"), said("done", false), row(Body::Info(undid)), user("go on"), user("and")];
        let items = items(&rows);
        let ConversationItem::User(crate::provider::UserContent { text, .. }) = &items[2] else { panic!("{items:?}") };
        assert!(text.contains("Undid 1 file: a.rs.") && text.ends_with("go on"), "{text}");
        assert_eq!(items[3], ConversationItem::User("and".into()), "once is enough");
    }

    #[test]
    fn a_compaction_begins_anew_with_what_it_carries() {
        let compacted = |carried: Option<&str>| {
            let (text, carried) = ("Compacted".to_owned(), carried.map(|text| Box::new(text.to_owned().into())));
            row(Body::Info(Info { text, level: Level::Info, kind: InfoKind::Compacted, carried }))
        };
        let rows = [user("hi"), tool("a", Some("1")), compacted(Some("what was")), user("more")];
        assert_eq!(items(&rows), [ConversationItem::User("what was".into()), ConversationItem::User("more".into())]);
        let theirs = [user("hi"), compacted(None), user("more")];
        assert_eq!(items(&theirs).len(), 2, "one without words cuts nothing off");
    }

    #[test]
    fn rows_that_a_compaction_keeps_follow_what_it_carries() {
        let named = |id: &str, mut row: Message| {
            row.id = MessageId::new(id);
            row
        };
        let compaction = |keeps: &str| {
            let carried = Carried { keeps: Some(MessageId::new(keeps)), ..Carried::from("before".to_owned()) };
            let (text, carried) = (String::new(), Some(Box::new(carried)));
            row(Body::Info(Info { text, level: Level::Info, kind: InfoKind::Compacted, carried }))
        };
        let long = "x".repeat(KEPT_RESULT * 3);
        let rows = [
            named("a", user("first")),
            named("b", user("second")),
            tool("c", Some(&long)),
            compaction("b"),
            said("so", false),
            tool("d", Some(&long)),
        ];
        let told = items(&rows);
        assert_eq!(told[..2], [ConversationItem::User("before".into()), ConversationItem::User("second".into())]);
        let results = |item: &ConversationItem| {
            if let ConversationItem::Results(all) = item { all[0].text.clone() } else { panic!("{item:?}") }
        };
        assert!(results(&told[3]).len() < KEPT_RESULT + 200 && results(&told[3]).contains("left out"));
        assert_eq!(results(&told[5]), long, "what came since is whole");
        // What is not there any more is not missed.
        assert_eq!(items(&[rows[1].clone(), compaction("gone")]), [ConversationItem::User("before".into())]);
        // Text that broke off before a compaction is left out all the same.
        let broken = [named("a", user("first")), said("I wo", true), compaction("a")];
        assert_eq!(items(&broken), [ConversationItem::User("before".into()), ConversationItem::User("first".into())]);
    }

    #[test]
    fn broken_text_at_the_end_is_left_out_for_the_retry() {
        let rows = [user("hi"), said("I wo", true)];
        assert_eq!(items(&rows), [ConversationItem::User("hi".into())]);
    }

    proptest! {
        #[test]
        fn every_call_has_one_result_right_behind_it(kinds in prop::collection::vec(0u8..7, 0..30)) {
            let mut rows: Vec<Message> = kinds.iter().enumerate().map(|(at, kind)| match kind {
                0 => user("u"),
                6 => {
                    let carried = Carried { keeps: Some(MessageId::new(format!("m{}", at / 2))), ..Carried::default() };
                    let (text, carried) = (String::new(), Some(Box::new(carried)));
                    row(Body::Info(Info { text, level: Level::Info, kind: InfoKind::Compacted, carried }))
                }
                1 => said("s", at % 3 == 0),
                2 => tool(&format!("c{}", at % 4), Some("r")),
                3 => tool(&format!("c{}", at % 4), None),
                4 => stopped(),
                _ => said("", false),
            }).collect();
            rows.iter_mut().enumerate().for_each(|(at, row)| row.id = MessageId::new(format!("m{at}")));
            let items = items(&rows);
            let mut ids = std::collections::HashSet::new();
            for (at, item) in items.iter().enumerate() {
                match item {
                    ConversationItem::Assistant(reply) if !reply.calls.is_empty() => {
                        let Some(ConversationItem::Results(results)) = items.get(at + 1) else { return Err(TestCaseError::fail("no results")) };
                        prop_assert!(reply.calls.iter().map(|c| &c.id).eq(results.iter().map(|r| &r.id)));
                        for call in &reply.calls { prop_assert!(ids.insert(call.id.clone())); }
                    }
                    ConversationItem::Results(_) => prop_assert!(matches!(&items[at - 1], ConversationItem::Assistant(r) if !r.calls.is_empty())),
                    _ => {}
                }
            }
        }
    }
}
