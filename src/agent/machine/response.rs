//! The response that is streaming in: its open text and thinking rows, and the calls that it proposes.
//!
//! The text of an interrupted response stays: the next attempt continues in the same rows. While it
//! repeats the same text nothing changes on the screen; as soon as it says more, or something else,
//! its text replaces the old one.

use crate::agent::machine_io::{Safety, Step};
use crate::domain::ids::{At, MessageId};
use crate::domain::message::{AssistantText, Body, CutBy, Message, Native, Thinking};
use crate::domain::usage::RequestUsage;
use crate::protocol::SessionEvent;
use crate::provider::ProposedCall;

/// A response in the making.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Response {
    /// The id of it, which no other response of the session has.
    pub turn: Option<String>,
    /// The model that was asked.
    pub model: Option<String>,
    /// The calls, in order.
    pub calls: Vec<ProposedCall>,
    /// Usage and cost so far, if the provider reported them.
    pub used: Option<(RequestUsage, f64)>,
    text: Option<Growing>,
    thinking: Option<Growing>,
    native: Vec<Native>,
}

/// A row that grows.
#[derive(Clone, Debug, PartialEq)]
struct Growing {
    row: Message,
    /// Text of this attempt so far, while the row shows that of an earlier one.
    again: Option<String>,
    /// Text of an earlier attempt, while the row shows another.
    before: String,
}

impl Response {
    /// Nothing came of it, blocks to replay included.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.says_nothing() && self.native.is_empty()
    }

    /// It has neither words nor calls; thinking may have come.
    #[must_use]
    pub fn says_nothing(&self) -> bool {
        self.calls.is_empty() && self.text.as_ref().is_none_or(|text| text.said().trim().is_empty())
    }

    /// Rows that can still change, in order.
    pub fn live(&self) -> impl Iterator<Item = &Message> {
        self.thinking.iter().chain(self.text.iter()).map(|growing| &growing.row)
    }

    /// Adds text; `id` names the row if this opens it.
    pub fn add_text(&mut self, add: String, id: MessageId, at: At, out: &mut Vec<Step>) {
        self.thinking_paused(at, out);
        let opening = self.opening(id, at, Body::Assistant(AssistantText::default()));
        add_to(&mut self.text, add, opening, out);
    }

    /// Adds thinking; `id` names the row if this opens it.
    pub fn add_thinking(&mut self, add: String, id: MessageId, at: At, out: &mut Vec<Step>) {
        let opening = self.opening(id, at, Body::Thinking(Thinking::default()));
        add_to(&mut self.thinking, add, opening, out);
    }

    /// A row of the response that begins.
    fn opening(&self, id: MessageId, at: At, body: Body) -> Message {
        let (turn, model) = (self.turn.clone(), self.model.clone());
        Message { turn, model, ..Message::new(id, at, body) }
    }

    /// Text begins, so the thinking took until now. Its row stays live: another attempt may say it anew.
    fn thinking_paused(&mut self, at: At, out: &mut Vec<Step>) {
        let Some(Growing { row, .. }) = &mut self.thinking else { return };
        let Body::Thinking(thought) = &mut row.body else { return };
        if thought.millis.is_none() {
            thought.millis = Some(at.since(row.at));
            show(row, out);
        }
    }

    /// Keeps blocks to replay.
    pub fn add_native(&mut self, native: Native) {
        self.native.push(native);
    }

    /// The response is whole: its final rows. `id` names one for blocks to replay that come without text.
    pub fn end(mut self, id: MessageId, now: At) -> Vec<Message> {
        let native = join(std::mem::take(&mut self.native));
        let intermediate = !self.calls.is_empty();
        let mut rows: Vec<Message> = self.end_thinking(now).into_iter().collect();
        let (turn, model) = (self.turn.take(), self.model.take());
        match self.text.take() {
            // Only an earlier attempt had words: they stay as what they are.
            Some(earlier) if earlier.again.as_deref().is_some_and(|said| said.trim().is_empty()) => {
                rows.push(earlier.cut(CutBy::Error));
                if native.is_some() {
                    rows.push(Message::new(id, now, said(String::new(), intermediate, native)));
                }
            }
            Some(mut text) => {
                let words = text.take_said();
                rows.push(Message { body: said(words, intermediate, native), ..text.row });
            }
            None if native.is_some() => {
                rows.push(Message::new(id, now, said(String::new(), intermediate, native)));
            }
            None => {}
        }
        for row in &mut rows {
            row.turn.clone_from(&turn);
            row.model.clone_from(&model);
        }
        rows
    }

    /// The response will never be whole: its final rows, as far as they came.
    pub fn end_cut(mut self, by: CutBy, now: At) -> Vec<Message> {
        let thinking = self.end_thinking(now);
        thinking.into_iter().chain(self.text.take().map(|text| text.cut(by))).collect()
    }

    /// Thinking is over: its final row, with its time.
    fn end_thinking(&mut self, now: At) -> Option<Message> {
        let growing = self.thinking.take()?;
        let words = match growing.again.as_deref() {
            Some(again) if !again.is_empty() => again.to_owned(),
            _ => growing.longest(),
        };
        let mut row = growing.row;
        if let Body::Thinking(thought) = &mut row.body {
            thought.text = words;
            thought.millis.get_or_insert(now.since(row.at));
        }
        Some(row)
    }

    /// It broke off, and is asked for again: what it showed stays, for the next attempt to go on with.
    pub fn begin_again(self, out: &mut Vec<Step>) -> Self {
        let (text, thinking) = (self.text.map(|text| text.rest(out)), self.thinking.map(|row| row.rest(out)));
        Self { text, thinking, ..Self::default() }
    }
}

impl Growing {
    /// Text of this attempt.
    fn said(&self) -> &str {
        self.again.as_deref().unwrap_or_else(|| words(&self.row.body))
    }

    /// Takes the text of this attempt, without the room that it had to grow.
    fn take_said(&mut self) -> String {
        let mut words =
            self.again.take().or_else(|| words_mut(&mut self.row.body).map(std::mem::take)).unwrap_or_default();
        words.shrink_to_fit();
        words
    }

    /// The most that one attempt said.
    fn longest(&self) -> String {
        let shown = words(&self.row.body);
        if self.before.len() > shown.len() { self.before.clone() } else { shown.to_owned() }
    }

    /// Final row, cut off at the longest text.
    fn cut(self, by: CutBy) -> Message {
        let longest = self.longest();
        let mut row = self.row;
        if let Body::Assistant(said) = &mut row.body {
            (said.text, said.partial, said.cut_by) = (longest, true, Some(by));
        }
        row
    }

    /// It shows the most that was said, marked, until the next attempt says something.
    fn rest(self, out: &mut Vec<Step>) -> Self {
        let before = self.longest();
        let mut row = self.row.clone();
        match &mut row.body {
            Body::Assistant(said) => {
                (said.text, said.partial, said.cut_by) = (before.clone(), true, Some(CutBy::Error));
            }
            Body::Thinking(thought) => thought.text.clone_from(&before),
            _ => {}
        }
        if row != self.row {
            show(&row, out);
        }
        Self { row, again: Some(String::new()), before }
    }

    fn add(&mut self, add: String, turn: Option<String>, out: &mut Vec<Step>) {
        let Some(again) = &mut self.again else {
            if let Some(text) = words_mut(&mut self.row.body) {
                text.push_str(&add);
            }
            out.push(Step::AppendText(self.row.id.clone(), add.clone()));
            out.push(Step::Emit(SessionEvent::Delta { id: self.row.id.clone(), add }));
            return;
        };
        again.push_str(&add);
        if words(&self.row.body).starts_with(again.as_str()) {
            return;
        }
        let said = std::mem::take(again);
        self.again = None;
        self.row.turn = turn;
        match &mut self.row.body {
            Body::Assistant(text) => (text.text, text.partial, text.cut_by) = (said, false, None),
            Body::Thinking(thought) => (thought.text, thought.millis) = (said, None),
            _ => {}
        }
        show(&self.row, out);
    }
}

fn words(body: &Body) -> &str {
    match body {
        Body::Assistant(said) => &said.text,
        Body::Thinking(thought) => &thought.text,
        _ => "",
    }
}

fn words_mut(body: &mut Body) -> Option<&mut String> {
    match body {
        Body::Assistant(said) => Some(&mut said.text),
        Body::Thinking(thought) => Some(&mut thought.text),
        _ => None,
    }
}

fn said(text: String, intermediate: bool, native: Option<Native>) -> Body {
    Body::Assistant(AssistantText { text, intermediate, native, ..AssistantText::default() })
}

/// The row as it is now, for the file and the clients.
fn show(row: &Message, out: &mut Vec<Step>) {
    out.push(Step::KeepLive(row.clone(), Safety::Written));
    out.push(Step::Emit(SessionEvent::Row(Box::new(row.clone()))));
}

fn add_to(slot: &mut Option<Growing>, add: String, mut opening: Message, out: &mut Vec<Step>) {
    if let Some(growing) = slot {
        return growing.add(add, opening.turn, out);
    }
    if let Some(text) = words_mut(&mut opening.body) {
        *text = add;
    }
    show(&opening, out);
    *slot = Some(Growing { row: opening, again: None, before: String::new() });
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_answer_holds_its_text_and_no_room_to_grow() {
        let mut response = Response::default();
        let mut out = Vec::new();
        (0..100).for_each(|n| response.add_text(format!("piece {n} "), MessageId::new("m"), At(1), &mut out));
        let rows = response.end(MessageId::new("n"), At(2));
        let Some(Body::Assistant(said)) = rows.first().map(|row| &row.body) else { panic!("{rows:?}") };
        assert_eq!(said.text.capacity(), said.text.len());
        assert!(said.text.starts_with("piece 0 piece 1 ") && said.text.ends_with("piece 99 "), "{}", said.text);
    }
}
