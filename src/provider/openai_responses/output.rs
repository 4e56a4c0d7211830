//! The items of one response, while they come: messages, thinking, calls.

use crate::domain::ids::CallId;
use crate::provider::Call;
use crate::provider::arguments::{input, made_up_id};
use serde_json::Value;

/// An item of the output.
#[derive(Debug, Default)]
pub(super) struct Slot {
    index: Option<u64>,
    /// The item as the server last sent it.
    pub(super) item: Value,
    arguments: String,
    /// The server has sent it whole.
    pub(super) done: bool,
    /// Some of its text or thinking was given out.
    pub(super) heard: bool,
    /// Under which name its thinking comes; some servers send it twice.
    pub(super) thinks_as: Option<&'static str>,
    /// The part that was given out last.
    pub(super) part: u64,
}

impl Slot {
    pub(super) fn kind(&self) -> &str {
        text(&self.item, "type")
    }
}

/// The items, in their order.
#[derive(Debug, Default)]
pub(super) struct Output {
    pub(super) slots: Vec<Slot>,
}

impl Output {
    /// Where an event belongs: by index, by id, or to the last item.
    pub(super) fn place(&mut self, event: &Value) -> &mut Slot {
        let index = event.get("output_index").and_then(Value::as_u64);
        let id = text(event, "item_id");
        let found = match index {
            Some(_) => self.slots.iter().position(|slot| slot.index == index),
            None => self.of_id(id).or_else(|| self.slots.len().checked_sub(1)),
        };
        self.at(found, index)
    }

    /// Takes an item that begins or is complete, and returns its place.
    pub(super) fn take(&mut self, event: &Value, item: &Value, done: bool) -> &mut Slot {
        let index = event.get("output_index").and_then(Value::as_u64);
        let ids = [text(item, "id"), text(item, "call_id"), text(event, "item_id")];
        let found = match index {
            Some(_) => self.slots.iter().position(|slot| slot.index == index),
            None => ids.into_iter().find_map(|id| self.of_id(id)).or_else(|| {
                let kind = text(item, "type");
                self.slots.iter().position(|slot| done && !slot.done && slot.kind() == kind)
            }),
        };
        let slot = self.at(found, index);
        slot.item = item.clone();
        slot.done |= done;
        slot
    }

    /// Takes the items of a whole response; those that are known already stay as they are.
    pub(super) fn fill(&mut self, items: &[Value]) {
        for (at, item) in items.iter().enumerate() {
            let ids = [text(item, "id"), text(item, "call_id")];
            let same_kind = |slot: &&mut Slot| slot.kind() == text(item, "type");
            let found = ids.into_iter().find_map(|id| self.of_id(id));
            let place = match found {
                Some(at) => self.slots.get_mut(at),
                None => self.slots.get_mut(at).filter(same_kind),
            };
            match place {
                Some(slot) if slot.done => {}
                Some(slot) => {
                    slot.item = item.clone();
                    slot.done = true;
                }
                None => self.slots.push(Slot { item: item.clone(), done: true, ..Slot::default() }),
            }
        }
    }

    fn of_id(&self, id: &str) -> Option<usize> {
        let is = |slot: &Slot| text(&slot.item, "id") == id || text(&slot.item, "call_id") == id;
        if id.is_empty() { None } else { self.slots.iter().rposition(is) }
    }

    fn at(&mut self, found: Option<usize>, index: Option<u64>) -> &mut Slot {
        let at = found.unwrap_or(self.slots.len());
        if at == self.slots.len() {
            self.slots.push(Slot { index, ..Slot::default() });
        }
        // It was made just now if it was not there.
        #[allow(clippy::indexing_slicing, reason = "`at` is a place that is there")]
        &mut self.slots[at]
    }

    /// The calls, now that all pieces are here. `whole` is false where the response broke off: then only calls that came whole count.
    pub(super) fn calls(&self, whole: bool) -> Vec<Call> {
        let mut out: Vec<Call> = Vec::new();
        let is_call = |slot: &&Slot| slot.kind() == "function_call" && !text(&slot.item, "name").is_empty();
        let counts = |slot: &&Slot| whole || (slot.done && text(&slot.item, "status") != "incomplete");
        for slot in self.slots.iter().filter(is_call).filter(counts) {
            let id = ["call_id", "id"].into_iter().map(|key| text(&slot.item, key)).find(|id| !id.is_empty());
            let taken = |id: &str| out.iter().any(|call| call.id.as_str() == id);
            let id = id.filter(|id| !taken(id)).map_or_else(made_up_id, str::to_owned);
            let arguments = match slot.item.get("arguments") {
                Some(Value::String(text)) if !text.is_empty() => text.clone(),
                Some(Value::Object(fields)) => Value::Object(fields.clone()).to_string(),
                _ => slot.arguments.clone(),
            };
            out.push(Call { id: CallId::new(id), name: text(&slot.item, "name").to_owned(), input: input(&arguments) });
        }
        out
    }
}

impl Slot {
    /// Takes a piece of a call's arguments.
    pub(super) fn add_arguments(&mut self, piece: &str) {
        self.arguments.push_str(piece);
    }

    /// Takes all of a call's arguments.
    pub(super) fn set_arguments(&mut self, all: &str) {
        all.clone_into(&mut self.arguments);
    }
}

/// The text of a message; refusals are text too. Empty for any other item.
pub(super) fn text_of(item: &Value) -> String {
    if text(item, "type") != "message" {
        return String::new();
    }
    match item.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let said = |part: &Value| {
                ["text", "refusal"].iter().find_map(|key| part.get(key).and_then(Value::as_str).map(str::to_owned))
            };
            parts.iter().filter_map(said).collect()
        }
        _ => String::new(),
    }
}

/// What an item of thinking shows.
pub(super) fn thinking_of(item: &Value) -> String {
    if text(item, "type") != "reasoning" {
        return String::new();
    }
    let parts = |key: &str| -> Vec<&str> {
        let list = item.get(key).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        list.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect()
    };
    let summary = parts("summary");
    if summary.is_empty() { parts("content").join("\n\n") } else { summary.join("\n\n") }
}

pub(super) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or("")
}
