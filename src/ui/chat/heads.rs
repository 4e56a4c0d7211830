//! Lines above the rows of the conversation: who speaks, when, and with which model. `footer` is the line below a turn.

use super::opts::ChatOpts;
use super::style::ChatStyle;
use crate::app::state::chat::{Chat, Entry};
use crate::domain::ids::shown_name;
use crate::domain::permission::Authority;
use crate::domain::sanitise::clean_line;
use crate::domain::tool::ToolCall;
use crate::domain::{At, Body, plan};
use crate::theme::Role;
use crate::ui::text;
use jiff::Timestamp;
use jiff::tz::Offset;
use ratatui::text::{Line, Span};

/// Rows that are looked at to find the speaker before.
pub(super) const NEAR: usize = 200;
/// Rows of one answer that are looked at.
pub(super) const ANSWER: usize = 2_000;

/// Speaker of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    User,
    Assistant,
    /// The program: remarks, failures, lines that cannot be read.
    Nobody,
}

pub(super) fn speaker(entry: &Entry) -> Speaker {
    match &entry.message.body {
        // Nobody typed it.
        Body::User(said) if plan::is_approval(&said.text) => Speaker::Nobody,
        Body::User(_) => Speaker::User,
        Body::Tool(call) if is_typed(call) => Speaker::User,
        Body::Assistant(_) | Body::Thinking(_) | Body::Tool(_) | Body::Plan(_) => Speaker::Assistant,
        Body::Error(_) | Body::Info(_) | Body::Odd(_) => Speaker::Nobody,
    }
}

/// True for a command that the user typed.
pub(super) fn is_typed(call: &ToolCall) -> bool {
    call.decision.as_ref().is_some_and(|by| by.authority == Authority::Typed)
}

/// Lines above a row.
#[derive(Clone, Copy, Default)]
pub(super) struct Above {
    pub(super) blank: bool,
    pub(super) head: bool,
}

impl Above {
    /// Number of lines.
    pub(super) fn height(self) -> usize {
        usize::from(self.blank) + usize::from(self.head)
    }
}

/// Lines above the rows of a conversation.
#[derive(Clone, Copy)]
pub(super) struct Heads<'a> {
    pub(super) chat: &'a Chat,
    pub(super) opts: &'a ChatOpts<'a>,
    pub(super) look: ChatStyle<'a>,
    /// Width of the pane.
    pub(super) width: usize,
}

impl Heads<'_> {
    pub(super) fn entry(&self, index: usize) -> Option<&Entry> {
        self.chat.entries.get(index)
    }

    /// Lines above those of the row itself.
    pub(super) fn above(&self, index: usize) -> Above {
        let Some(entry) = self.entry(index) else { return Above::default() };
        let Some(before) = index.checked_sub(1).and_then(|i| self.entry(i)) else {
            return Above { blank: false, head: speaker(entry) != Speaker::Nobody };
        };
        let talk = |e: &Entry| matches!(e.message.body, Body::Assistant(_) | Body::Plan(_));
        match speaker(entry) {
            Speaker::Nobody => {
                let failed = |e: &Entry| matches!(e.message.body, Body::Error(_));
                let blank = speaker(before) != Speaker::Nobody || failed(before) || failed(entry);
                Above { blank, head: false }
            }
            Speaker::User => {
                // After a failure too: without its head it would read as a part of that.
                let head = speaker(before) != Speaker::User;
                Above { blank: true, head }
            }
            Speaker::Assistant => {
                let head = self.last_speaker(index) != Some(Speaker::Assistant);
                let apart = talk(entry) && talk(before) || speaker(before) == Speaker::Nobody;
                let is_plan = matches!(entry.message.body, Body::Plan(_));
                Above { blank: head || apart || is_plan, head }
            }
        }
    }

    /// Speaker before a row; `None` if there is none or it is too far away.
    fn last_speaker(&self, index: usize) -> Option<Speaker> {
        let near = (index.saturating_sub(NEAR)..index).rev();
        near.filter_map(|i| self.entry(i)).map(speaker).find(|s| *s != Speaker::Nobody)
    }

    /// `you · 21:04`, `assistant · sonnet · 4s`.
    pub(super) fn head(&self, index: usize, entry: &Entry) -> Line<'static> {
        let look = self.look;
        let dot = look.glyph(" · ", " - ");
        let (who, role, mut rest) = match &entry.message.body {
            Body::User(user) => {
                let mut rest = vec![clock(entry.message.at, self.opts)];
                if user.steer {
                    rest.push("steered".to_owned());
                }
                ("you", Role::UserHead, rest)
            }
            Body::Tool(call) if is_typed(call) => ("you", Role::UserHead, vec![clock(entry.message.at, self.opts)]),
            _ => ("assistant", Role::AssistantHead, vec![self.model(index)]),
        };
        rest.retain(|part| !part.is_empty());
        let rest: String = rest.iter().map(|part| format!("{dot}{part}")).collect();
        let room = self.width.saturating_sub(who.len());
        let rest = text::cut_with(&rest, room, look.ellipsis()).into_owned();
        Line::from(vec![Span::styled(who, look.style(role)), Span::styled(rest, look.style(Role::Dim))])
    }

    /// The model that wrote the answer that begins with a row, without its vendor's path; where that is not recorded, the
    /// session's.
    fn model(&self, index: usize) -> String {
        let answer = (index..self.chat.entries.len()).take(ANSWER).filter_map(|i| self.entry(i));
        let mut written = answer.take_while(|e| speaker(e) != Speaker::User).filter_map(|e| e.message.model.as_deref());
        let model =
            written.next().map_or(self.opts.model, |model| shown_name(model.rsplit('/').next().unwrap_or(model)));
        clean_line(model).into_owned()
    }
}

/// The time of a message on the user's clock, with the day where it is not today.
fn clock(at: At, opts: &ChatOpts<'_>) -> String {
    let offset = Offset::from_seconds(opts.utc_offset_s).unwrap_or(Offset::UTC);
    let civil = |at: At| Timestamp::from_millisecond(at.0).ok().map(|t| offset.to_datetime(t));
    let (Some(then), Some(now)) = (civil(at), civil(opts.now)) else { return String::new() };
    let time = format!("{:02}:{:02}", then.hour(), then.minute());
    if then.date() == now.date() {
        time
    } else if then.year() == now.year() {
        format!("{} {time}", then.strftime("%-d %b"))
    } else {
        format!("{} {time}", then.date())
    }
}
