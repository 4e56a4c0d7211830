//! The items of one response, while they come: messages, thinking, calls.

use crate::domain::ids::CallId;
use crate::provider::ProposedCall;
use crate::provider::arguments::{input, made_up_id};
use serde_json::Value;
use std::collections::BTreeSet;

/// An item of the output.
#[derive(Debug, Default)]
pub(super) struct OutputSlot {
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

impl OutputSlot {
    pub(super) fn kind(&self) -> &str {
        text(&self.item, "type")
    }

    fn has(&self, id: &str) -> bool {
        !id.is_empty() && (text(&self.item, "id") == id || text(&self.item, "call_id") == id)
    }
}

/// The items, in their order.
#[derive(Debug, Default)]
pub(super) struct OutputItems {
    pub(super) slots: Vec<OutputSlot>,
}

impl OutputItems {
    /// Item of an event: by index and id, by either, or the last one.
    pub(super) fn place(&mut self, event: &Value) -> &mut OutputSlot {
        let index = event.get("output_index").and_then(Value::as_u64);
        let id = text(event, "item_id");
        let here = |slot: &OutputSlot| index.is_some() && slot.index == index;
        let named = |slot: &OutputSlot| !id.is_empty() && slot.has(id);
        let find = |fits: &dyn Fn(&OutputSlot) -> bool| self.slots.iter().rposition(fits);
        let found = find(&|slot| here(slot) && named(slot)).or_else(|| find(&here));
        let found = match index {
            Some(_) => found,
            None => found.or_else(|| find(&named)).or_else(|| self.slots.len().checked_sub(1)),
        };
        self.at(found, index)
    }

    /// Takes an item that begins or is complete, and returns its place. A server may give the same index, or the same id, to several.
    pub(super) fn take(&mut self, event: &Value, item: &Value, done: bool) -> &mut OutputSlot {
        let index = event.get("output_index").and_then(Value::as_u64);
        let ids = [text(item, "id"), text(event, "item_id"), text(item, "call_id")];
        let id = ids.into_iter().find(|id| !id.is_empty()).unwrap_or_default();
        let here = |slot: &OutputSlot| index.is_none() || slot.index == index;
        let open = |slot: &OutputSlot| !slot.done && ["", text(item, "type")].contains(&slot.kind());
        let find = |fits: &dyn Fn(&OutputSlot) -> bool| self.slots.iter().position(fits);
        let found = find(&|slot| here(slot) && open(slot) && (slot.has(id) || slot.kind().is_empty()));
        let found = match done {
            true => found
                .or_else(|| find(&|slot| here(slot) && open(slot)))
                .or_else(|| find(&|slot| here(slot) && slot.done && slot.item == *item)),
            false => found,
        };
        let slot = self.at(found, index);
        slot.item = item.clone();
        slot.done |= done;
        slot
    }

    /// Takes the items of a whole response; those that are known already stay as they are.
    pub(super) fn fill(&mut self, items: &[Value]) {
        let known = self.slots.len();
        let mut used: BTreeSet<usize> = BTreeSet::new();
        for (at, item) in items.iter().enumerate() {
            let (id, call) = (text(item, "id"), text(item, "call_id"));
            let find = |fits: &dyn Fn(&OutputSlot) -> bool| {
                let free = self.slots.iter().enumerate().take(known).filter(|(place, _)| !used.contains(place));
                free.into_iter().find_map(|(place, slot)| fits(slot).then_some(place))
            };
            let same_kind = |slot: &OutputSlot| slot.kind() == text(item, "type");
            let in_its_place = || {
                let free = at < known && !used.contains(&at);
                Some(at).filter(|_| free && self.slots.get(at).is_some_and(same_kind))
            };
            let found = find(&|slot| !id.is_empty() && text(&slot.item, "id") == id)
                .or_else(in_its_place)
                .or_else(|| find(&|slot| !call.is_empty() && text(&slot.item, "call_id") == call));
            used.extend(found);
            match found.and_then(|place| self.slots.get_mut(place)) {
                Some(slot) if slot.done => {}
                Some(slot) => {
                    slot.item = item.clone();
                    slot.done = true;
                }
                None => self.slots.push(OutputSlot { item: item.clone(), done: true, ..OutputSlot::default() }),
            }
        }
    }

    fn at(&mut self, found: Option<usize>, index: Option<u64>) -> &mut OutputSlot {
        let at = found.unwrap_or(self.slots.len());
        if at == self.slots.len() {
            self.slots.push(OutputSlot { index, ..OutputSlot::default() });
        }
        // It was made just now if it was not there.
        #[allow(clippy::indexing_slicing, reason = "`at` is a place that is there")]
        &mut self.slots[at]
    }

    /// The calls, now that all pieces are here. `whole` is false where the response broke off: then only calls that came whole count.
    pub(super) fn calls(&self, whole: bool) -> Vec<ProposedCall> {
        let mut out: Vec<ProposedCall> = Vec::new();
        let is_call = |slot: &&OutputSlot| slot.kind() == "function_call" && !text(&slot.item, "name").is_empty();
        let counts = |slot: &&OutputSlot| whole || (slot.done && text(&slot.item, "status") != "incomplete");
        for slot in self.slots.iter().filter(is_call).filter(counts) {
            let id = ["call_id", "id"].into_iter().map(|key| text(&slot.item, key)).find(|id| !id.is_empty());
            let taken = |id: &str| out.iter().any(|call| call.id.as_str() == id);
            let id = id.filter(|id| !taken(id)).map_or_else(made_up_id, str::to_owned);
            let arguments = match slot.item.get("arguments") {
                Some(Value::String(text)) if !text.is_empty() => text.clone(),
                Some(Value::Object(fields)) => Value::Object(fields.clone()).to_string(),
                _ => slot.arguments.clone(),
            };
            out.push(ProposedCall {
                id: CallId::new(id),
                name: text(&slot.item, "name").to_owned(),
                input: input(&arguments),
            });
        }
        out
    }
}

impl OutputSlot {
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

/// Visible text of an item of thinking.
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
