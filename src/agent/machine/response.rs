//! The response that is streaming in: its open text and thinking rows, and the calls that it proposes.

use crate::agent::step::{Safety, Step};
use crate::domain::Event;
use crate::domain::ids::{At, MessageId};
use crate::domain::message::{AssistantText, Body, Message, Native, Thinking};
use crate::domain::usage::RequestUsage;
use crate::provider::Call;

/// A response in the making.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Response {
    /// The provider's id of it.
    pub turn: Option<String>,
    /// The calls, in order.
    pub calls: Vec<Call>,
    /// What it has used and cost so far, where the provider said.
    pub used: Option<(RequestUsage, f64)>,
    text: Option<Message>,
    thinking: Option<Message>,
    native: Vec<Native>,
}

impl Response {
    /// Something of it was shown.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_none() && self.calls.is_empty() && self.native.is_empty()
    }

    /// Rows that can still change, in order.
    pub fn live(&self) -> impl Iterator<Item = &Message> {
        self.thinking.iter().chain(self.text.iter())
    }

    /// Adds text; `id` names the row if this opens it.
    pub fn add_text(&mut self, add: String, id: MessageId, at: At, out: &mut Vec<Step>) {
        self.thinking_paused(at, out);
        let turn = self.turn.clone();
        let open = || Body::Assistant(AssistantText::default());
        let grow = |body: &mut Body, add: &str| {
            if let Body::Assistant(said) = body {
                said.text.push_str(add);
            }
        };
        grow_row(&mut self.text, add, Opening { id, at, turn, body: open }, grow, out);
    }

    /// Adds thinking; `id` names the row if this opens it.
    pub fn add_thinking(&mut self, add: String, id: MessageId, at: At, out: &mut Vec<Step>) {
        let turn = self.turn.clone();
        let open = || Body::Thinking(Thinking::default());
        let grow = |body: &mut Body, add: &str| {
            if let Body::Thinking(thought) = body {
                thought.text.push_str(add);
            }
        };
        grow_row(&mut self.thinking, add, Opening { id, at, turn, body: open }, grow, out);
    }

    /// Text begins, so the thinking took until now. Its row stays live: a retry may still take it back.
    fn thinking_paused(&mut self, at: At, out: &mut Vec<Step>) {
        let Some(row) = &mut self.thinking else { return };
        let Body::Thinking(thought) = &mut row.body else { return };
        if thought.millis.is_none() {
            thought.millis = Some(at.since(row.at));
            out.push(Step::Live(row.clone(), Safety::Written));
            out.push(Step::Emit(Event::Row(Box::new(row.clone()))));
        }
    }

    /// Keeps blocks to replay.
    pub fn add_native(&mut self, native: Native) {
        self.native.push(native);
    }

    /// Thinking is over: its final row, with its time.
    pub fn end_thinking(&mut self, now: At) -> Option<Message> {
        let mut row = self.thinking.take()?;
        if let Body::Thinking(thought) = &mut row.body {
            thought.millis.get_or_insert(now.since(row.at));
        }
        Some(row)
    }

    /// The text is over: its final row. `id` names it if there are only blocks to replay and no text.
    pub fn end_text(&mut self, partial: bool, id: MessageId, now: At) -> Option<Message> {
        let native = (!partial).then(|| join(std::mem::take(&mut self.native))).flatten();
        if self.text.is_none() && native.is_none() {
            return None;
        }
        let mut row =
            self.text.take().unwrap_or_else(|| Message::new(id, now, Body::Assistant(AssistantText::default())));
        row.turn.clone_from(&self.turn);
        if let Body::Assistant(said) = &mut row.body {
            said.intermediate = !self.calls.is_empty();
            said.partial = partial;
            said.native = native;
        }
        Some(row)
    }

    /// Takes back what was shown of it, for a retry that begins anew.
    pub fn discard(self, out: &mut Vec<Step>) {
        for row in self.thinking.into_iter().chain(self.text) {
            out.push(Step::Drop(row.id.clone()));
            out.push(Step::Emit(Event::Dropped { id: row.id }));
        }
    }
}

struct Opening<F: Fn() -> Body> {
    id: MessageId,
    at: At,
    turn: Option<String>,
    body: F,
}

fn grow_row<F: Fn() -> Body>(
    slot: &mut Option<Message>,
    add: String,
    opening: Opening<F>,
    grow: impl Fn(&mut Body, &str),
    out: &mut Vec<Step>,
) {
    if let Some(row) = slot {
        grow(&mut row.body, &add);
        out.push(Step::Grow(row.id.clone(), add.clone()));
        out.push(Step::Emit(Event::Delta { id: row.id.clone(), add }));
    } else {
        let mut row = Message::new(opening.id, opening.at, (opening.body)());
        row.turn = opening.turn;
        grow(&mut row.body, &add);
        out.push(Step::Live(row.clone(), Safety::Written));
        out.push(Step::Emit(Event::Row(Box::new(row.clone()))));
        *slot = Some(row);
    }
}

/// Several groups of blocks of one wire are one array.
fn join(mut all: Vec<Native>) -> Option<Native> {
    if all.len() <= 1 {
        return all.pop();
    }
    let wire = all.first()?.wire.clone();
    let parts: Vec<&str> = all.iter().map(|native| native.json.as_str()).collect();
    Some(Native { wire, json: format!("[{}]", parts.join(",")) })
}
