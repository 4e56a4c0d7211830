//! Puts tool calls together from their pieces.

use crate::domain::ids::CallId;
use crate::provider::Call;
use crate::provider::arguments::{input, made_up_id};
use serde_json::{Map, Value};

/// The calls of one response, while they come.
#[derive(Debug, Default)]
pub(super) struct Calls {
    parts: Vec<Part>,
}

#[derive(Debug, Default)]
struct Part {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

impl Calls {
    /// Takes one piece. Returns the name of a call that begins with it.
    pub(super) fn delta(&mut self, piece: &Value) -> Option<String> {
        let function = piece.get("function").unwrap_or(piece);
        let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
        let id = match piece.get("id") {
            Some(Value::Number(number)) => number.to_string(),
            _ => text(piece, "id"),
        };
        let name = text(function, "name");
        let index = piece.get("index").and_then(Value::as_u64);
        let at = match self.belongs_to(index, &id, &name) {
            Some(at) => at,
            None => {
                self.parts.push(Part { index, ..Part::default() });
                self.parts.len() - 1
            }
        };
        let part = self.parts.get_mut(at)?;
        if part.id.is_empty() {
            part.id = id;
        }
        let began = part.name.is_empty() && !name.is_empty();
        if part.name.is_empty() {
            part.name.clone_from(&name);
        } else if !name.is_empty() && part.name != name && part.arguments.is_empty() {
            // A name in pieces; a name that is only repeated is no piece.
            part.name.push_str(&name);
        }
        match function.get("arguments") {
            Some(Value::String(text)) => part.arguments.push_str(text),
            Some(Value::Null) | None => {}
            Some(whole) => part.arguments = whole.to_string(),
        }
        began.then_some(name)
    }

    /// Which call a piece goes on with; `None` when it begins a new one.
    fn belongs_to(&self, index: Option<u64>, id: &str, name: &str) -> Option<usize> {
        if !id.is_empty()
            && let Some(at) = self.parts.iter().rposition(|part| part.id == id)
        {
            return Some(at);
        }
        let last = match index {
            Some(_) => self.parts.iter().rposition(|part| part.index == index)?,
            None => self.parts.len().checked_sub(1)?,
        };
        let part = self.parts.get(last)?;
        let other_id = !id.is_empty() && !part.id.is_empty();
        let begins = match index {
            // Some servers give every call the index 0: a whole call followed by another id and a name is another call.
            Some(_) => other_id && !name.is_empty() && is_whole(&part.arguments),
            None => {
                other_id
                    || (!name.is_empty() && (part.name != name || is_whole(&part.arguments)) && !part.name.is_empty())
            }
        };
        (!begins).then_some(last)
    }

    /// The calls, now that all pieces are here. Nameless ones are dropped.
    pub(super) fn take(&mut self) -> Vec<Call> {
        let parts = std::mem::take(&mut self.parts).into_iter().filter(|part| !part.name.is_empty());
        let mut out: Vec<Call> = Vec::new();
        for part in parts {
            let taken = |id: &str| out.iter().any(|call| call.id.as_str() == id);
            let id = if part.id.is_empty() || taken(&part.id) { made_up_id() } else { part.id };
            out.push(Call { id: CallId::new(id), name: part.name, input: input(&part.arguments) });
        }
        out
    }
}

fn is_whole(arguments: &str) -> bool {
    serde_json::from_str::<Map<String, Value>>(arguments).is_ok()
}
