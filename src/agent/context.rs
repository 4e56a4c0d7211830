//! The transcript as the model gets it: rows in, conversation items out. Pure.
//!
//! Every tool call has exactly one result, whatever the file holds, because providers refuse a conversation otherwise.

use crate::domain::attachment::{Attachment, AttachmentKind};
use crate::domain::ids::CallId;
use crate::domain::message::{Body, Info, InfoKind, Message};
use crate::domain::permission::Authority;
use crate::domain::tool::ToolCall;
use crate::provider::{Call, CallResult, Item, Media, Reply};
use std::collections::HashMap;

/// What a call without a result gets.
pub const INTERRUPTED: &str = "interrupted: the call did not finish";

/// What the model is told when the user stopped it before.
const STOPPED_HINT: &str = "[The user interrupted your previous answer.]";

/// Builds the conversation from the rows since the last compaction.
///
/// Text that broke off at the very end is left out, so that a retry begins anew; broken-off text that the user answered stays.
#[must_use]
pub fn items(rows: &[Message]) -> Vec<Item> {
    let mut out = Builder::default();
    for row in &rows[..end_without_broken_text(rows)] {
        match &row.body {
            Body::User(user) => {
                out.user(&user.text);
                out.files(&user.attachments);
            }
            Body::Assistant(said) => {
                let reply = out.reply_for_text();
                if !reply.text.is_empty() && !said.text.is_empty() {
                    reply.text.push_str("\n\n");
                }
                reply.text.push_str(&said.text);
                reply.native.extend(said.native.clone());
            }
            Body::Thinking(thought) => {
                if let Some(native) = &thought.native {
                    out.reply_for_text().native.push(native.clone());
                }
            }
            Body::Tool(call) if by_user(call) => out.user(&typed(call)),
            Body::Tool(call) => {
                let result = call.result.clone().filter(|_| call.status.ended());
                let failed = result.is_none() || call.status == crate::domain::tool::ToolStatus::Error;
                out.call(
                    Call { id: call.id.clone(), name: call.name.clone(), input: call.input.clone() },
                    result.unwrap_or_else(|| INTERRUPTED.to_owned()),
                    failed,
                    call.figures.media.iter().map(media).collect(),
                );
            }
            Body::Info(info) if info.kind == InfoKind::Interrupted => out.interrupted = true,
            Body::Info(info) if info.kind == InfoKind::Restored => out.restored.push(info.text.clone()),
            Body::Info(info) if info.kind == InfoKind::JobEnded => out.job_ended(&info.text),
            // What was said before it is told in its own words.
            Body::Info(Info { kind: InfoKind::Compacted, carried: Some(carried), .. }) => {
                out = Builder::default();
                out.user(carried);
            }
            Body::Info(_) | Body::Error(_) | Body::Plan(_) | Body::Odd(_) => {}
        }
    }
    out.close();
    out.items
}

/// A file that goes along; it is read right before the request.
fn media(file: &Attachment) -> Media {
    Media { name: file.name.clone(), path: file.path.clone(), mime: file.mime.clone(), data: None }
}

/// The user typed this command; the model never called it.
fn by_user(call: &ToolCall) -> bool {
    call.decision.as_ref().is_some_and(|decision| decision.authority == Authority::Typed)
}

fn typed(call: &ToolCall) -> String {
    let printed = call.result.as_deref().unwrap_or(INTERRUPTED);
    format!("[I ran this command myself: {}]\n\n{printed}", call.subject)
}

fn end_without_broken_text(rows: &[Message]) -> usize {
    let mut end = rows.len();
    for (at, row) in rows.iter().enumerate().rev() {
        match &row.body {
            Body::Assistant(said) if said.partial => end = at,
            Body::Thinking(_) | Body::Error(_) | Body::Info(_) | Body::Odd(_) => {}
            _ => break,
        }
    }
    end
}

#[derive(Default)]
struct Builder {
    items: Vec<Item>,
    reply: Option<Reply>,
    results: Vec<CallResult>,
    seen: HashMap<CallId, u32>,
    interrupted: bool,
    restored: Vec<String>,
    jobs: Vec<String>,
}

impl Builder {
    fn user(&mut self, text: &str) {
        self.close();
        let mut text = text.to_owned();
        for told in self.restored.drain(..).rev() {
            text = format!("[The user restored files. {told} Read a file again before you rely on it.]\n\n{text}");
        }
        for told in self.jobs.drain(..).rev() {
            text = format!("[{told}]\n\n{text}");
        }
        if std::mem::take(&mut self.interrupted) {
            text = format!("{STOPPED_HINT}\n\n{text}");
        }
        self.items.push(Item::User(text.into()));
    }

    /// The files of the message just said. What has no text and is no picture or PDF is told by its name.
    fn files(&mut self, files: &[Attachment]) {
        let Some(Item::User(said)) = self.items.last_mut() else { return };
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

    /// With the results that go out next, else with the next message.
    fn job_ended(&mut self, told: &str) {
        match self.results.last_mut() {
            Some(result) => result.text.push_str(&format!("\n\n[{told}]")),
            None => self.jobs.push(told.to_owned()),
        }
    }

    /// Text after calls belongs to the next response.
    fn reply_for_text(&mut self) -> &mut Reply {
        if !self.results.is_empty() {
            self.close();
        }
        self.reply.get_or_insert_default()
    }

    fn call(&mut self, mut call: Call, text: String, failed: bool, media: Vec<Media>) {
        let times = self.seen.entry(call.id.clone()).or_insert(0);
        *times += 1;
        if *times > 1 {
            call.id = CallId::new(format!("{}-{times}", call.id));
        }
        self.results.push(CallResult { id: call.id.clone(), text, failed, media });
        self.reply.get_or_insert_default().calls.push(call);
    }

    fn close(&mut self) {
        if let Some(reply) = self.reply.take()
            && (!reply.text.is_empty() || !reply.calls.is_empty() || !reply.native.is_empty())
        {
            self.items.push(Item::Assistant(reply));
        }
        if !self.results.is_empty() {
            self.items.push(Item::Results(std::mem::take(&mut self.results)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::{At, MessageId};
    use crate::domain::message::{AssistantText, UserText};
    use crate::domain::notice::Level;
    use crate::domain::permission::{Decision, Mode, Sandbox};
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
            call.decision = Some(Decision { allowed: true, mode: Mode::Explore, authority, reason, sandbox });
        }
        let items = items(&[user("hi"), said("yes", false), typed, user("and?")]);
        assert_eq!(items.len(), 4);
        assert_eq!(items[2], Item::User("[I ran this command myself: ls]\n\nout\nexit 0".into()));
    }

    #[test]
    fn calls_are_paired_and_responses_kept_apart() {
        let rows =
            [user("hi"), said("look", false), tool("a", Some("1")), tool("a", None), said("so", false), user("more")];
        let items = items(&rows);
        let Item::Assistant(first) = &items[1] else { panic!("{items:?}") };
        assert_eq!((first.text.as_str(), first.calls.len()), ("look", 2));
        assert_eq!(first.calls[1].id.as_str(), "a-2", "an id that comes twice is told apart");
        let Item::Results(results) = &items[2] else { panic!("{items:?}") };
        assert_eq!((results[0].failed, results[1].failed, results[1].text.as_str()), (false, true, INTERRUPTED));
        assert!(matches!(&items[3], Item::Assistant(reply) if reply.text == "so"));
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
        let Item::User(said) = &items[0] else { panic!("{items:?}") };
        assert!(said.text.starts_with("look\n\n[The user gave the file c.bin along"), "{}", said.text);
        let named: Vec<_> = said.media.iter().map(|media| (media.name.as_str(), media.mime.as_str())).collect();
        assert_eq!(named, [("a.png", "a/b"), ("b.docx", "text/markdown")]);
        assert!(said.media.iter().all(|media| media.data.is_none()));
        let Item::Results(results) = &items[2] else { panic!("{items:?}") };
        assert_eq!(results[0].media[0].name, "d.png");
    }

    #[test]
    fn a_stop_is_told_with_the_next_message() {
        let rows = [user("hi"), said("I wo", true), stopped(), user("go on")];
        let items = items(&rows);
        assert!(matches!(&items[1], Item::Assistant(reply) if reply.text == "I wo"));
        assert!(matches!(&items[2], Item::User(said) if said.text.starts_with(STOPPED_HINT)));
    }

    #[test]
    fn restored_files_are_told_with_the_next_message() {
        let undid =
            Info { text: "Undid 1 file: a.rs.".into(), level: Level::Info, kind: InfoKind::Restored, carried: None };
        let rows = [user("hi"), said("done", false), row(Body::Info(undid)), user("go on"), user("and")];
        let items = items(&rows);
        let Item::User(crate::provider::Said { text, .. }) = &items[2] else { panic!("{items:?}") };
        assert!(text.contains("Undid 1 file: a.rs.") && text.ends_with("go on"), "{text}");
        assert_eq!(items[3], Item::User("and".into()), "once is enough");
    }

    #[test]
    fn a_compaction_begins_anew_with_what_it_carries() {
        let compacted = |carried: Option<&str>| {
            let (text, carried) = ("Compacted".to_owned(), carried.map(str::to_owned));
            row(Body::Info(Info { text, level: Level::Info, kind: InfoKind::Compacted, carried }))
        };
        let rows = [user("hi"), tool("a", Some("1")), compacted(Some("what was")), user("more")];
        assert_eq!(items(&rows), [Item::User("what was".into()), Item::User("more".into())]);
        let theirs = [user("hi"), compacted(None), user("more")];
        assert_eq!(items(&theirs).len(), 2, "one without words cuts nothing off");
    }

    #[test]
    fn broken_text_at_the_end_is_left_out_for_the_retry() {
        let rows = [user("hi"), said("I wo", true)];
        assert_eq!(items(&rows), [Item::User("hi".into())]);
    }

    proptest! {
        #[test]
        fn every_call_has_one_result_right_behind_it(kinds in prop::collection::vec(0u8..6, 0..30)) {
            let rows: Vec<Message> = kinds.iter().enumerate().map(|(at, kind)| match kind {
                0 => user("u"),
                1 => said("s", at % 3 == 0),
                2 => tool(&format!("c{}", at % 4), Some("r")),
                3 => tool(&format!("c{}", at % 4), None),
                4 => stopped(),
                _ => said("", false),
            }).collect();
            let items = items(&rows);
            let mut ids = std::collections::HashSet::new();
            for (at, item) in items.iter().enumerate() {
                match item {
                    Item::Assistant(reply) if !reply.calls.is_empty() => {
                        let Some(Item::Results(results)) = items.get(at + 1) else { return Err(TestCaseError::fail("no results")) };
                        prop_assert!(reply.calls.iter().map(|c| &c.id).eq(results.iter().map(|r| &r.id)));
                        for call in &reply.calls { prop_assert!(ids.insert(call.id.clone())); }
                    }
                    Item::Results(_) => prop_assert!(matches!(&items[at - 1], Item::Assistant(r) if !r.calls.is_empty())),
                    _ => {}
                }
            }
        }
    }
}
