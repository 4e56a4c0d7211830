//! Puts tool calls together from their pieces.

use crate::domain::ids::CallId;
use crate::provider::ProposedCall;
use crate::provider::arguments::{input, made_up_id};
use serde_json::{Map, Value};

/// The calls of one response, while they come.
#[derive(Debug, Default)]
pub(super) struct Calls {
    parts: Vec<CallPart>,
}

#[derive(Debug, Default)]
struct CallPart {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

/// A piece of a call as it came.
struct CallPiece<'a> {
    index: Option<u64>,
    id: String,
    name: &'a str,
    arguments: Arguments<'a>,
}

/// Arguments in a piece of a call.
enum Arguments<'a> {
    Nothing,
    /// More of their text.
    More(&'a str),
    /// All of them, as an object.
    Whole(String),
}

impl<'a> CallPiece<'a> {
    fn of(value: &'a Value) -> Self {
        let function = value.get("function").unwrap_or(value);
        let id = match value.get("id") {
            Some(Value::Number(number)) => number.to_string(),
            id => id.and_then(Value::as_str).unwrap_or("").to_owned(),
        };
        let arguments = match function.get("arguments") {
            Some(Value::String(text)) if !text.is_empty() => Arguments::More(text),
            Some(Value::String(_) | Value::Null) | None => Arguments::Nothing,
            Some(whole) => Arguments::Whole(whole.to_string()),
        };
        let name = function.get("name").and_then(Value::as_str).unwrap_or("");
        Self { index: value.get("index").and_then(Value::as_u64), id, name, arguments }
    }

    /// True if these are its arguments once more.
    fn repeats(&self, arguments: &str) -> bool {
        match &self.arguments {
            Arguments::Nothing => true,
            Arguments::More(text) => *text == arguments,
            Arguments::Whole(text) => text == arguments,
        }
    }
}

impl CallPart {
    /// True if this call is complete when that piece arrives, which was taken for a part of it. A
    /// server may repeat the index, the id or both for every call: then a name after complete
    /// arguments begins another call.
    fn is_over_at(&self, piece: &CallPiece<'_>) -> bool {
        let same_id = !piece.id.is_empty() && self.id == piece.id;
        let other_id = !piece.id.is_empty() && !self.id.is_empty() && !same_id;
        if self.name.is_empty() || piece.name.is_empty() {
            return other_id && piece.index.is_none();
        }
        let other_name = piece.name != self.name;
        let whole = is_whole(&self.arguments);
        match piece.index {
            None if other_id => true,
            None if !same_id => other_name || whole,
            Some(_) if other_id => whole || (other_name && self.arguments.is_empty()),
            // An empty object may be sent ahead of the real one, and the whole call once more at its end.
            _ if same_id => whole && !piece.repeats(&self.arguments) && (other_name || self.arguments.trim() != "{}"),
            _ => whole && (other_name || !matches!(piece.arguments, Arguments::Nothing)),
        }
    }
}

impl Calls {
    /// Takes one piece. Returns the name of a call that begins with it.
    pub(super) fn delta(&mut self, piece: &Value) -> Option<String> {
        let piece = CallPiece::of(piece);
        let at = match self.belongs_to(&piece) {
            Some(at) => at,
            None => {
                self.parts.push(CallPart { index: piece.index, ..CallPart::default() });
                self.parts.len() - 1
            }
        };
        let part = self.parts.get_mut(at)?;
        let sent_again = !piece.name.is_empty() && part.id == piece.id && is_whole(&part.arguments);
        if sent_again && piece.repeats(&part.arguments) {
            return None;
        }
        if part.id.is_empty() {
            part.id = piece.id;
        }
        let name = piece.name.to_owned();
        let began = part.name.is_empty() && !name.is_empty();
        if part.name.is_empty() {
            part.name.clone_from(&name);
        } else if !name.is_empty() && part.name != name && part.arguments.is_empty() {
            // A name in pieces; a name that is only repeated is no piece.
            part.name.push_str(&name);
        }
        match piece.arguments {
            Arguments::More(text) => part.arguments.push_str(text),
            Arguments::Nothing => {}
            Arguments::Whole(all) => part.arguments = all,
        }
        began.then_some(name)
    }

    /// Index of the call that a piece continues; `None` if it begins a new one.
    fn belongs_to(&self, piece: &CallPiece<'_>) -> Option<usize> {
        let at = self.likely(piece)?;
        (!self.parts.get(at)?.is_over_at(piece)).then_some(at)
    }

    /// The call that has the index and the id of a piece, as far as it has any.
    fn likely(&self, piece: &CallPiece<'_>) -> Option<usize> {
        let last_where = |fits: &dyn Fn(&CallPart) -> bool| self.parts.iter().rposition(fits);
        if !piece.id.is_empty() {
            let here = |part: &CallPart| part.index.is_none() || piece.index.is_none() || part.index == piece.index;
            if let Some(at) = last_where(&|part| part.id == piece.id && here(part)) {
                return Some(at);
            }
            // The id of another index names a call only where no new one begins.
            if piece.name.is_empty()
                && let Some(at) = last_where(&|part| part.id == piece.id)
            {
                return Some(at);
            }
        }
        let last = || self.parts.len().checked_sub(1);
        match piece.index {
            Some(_) => {
                last_where(&|part| part.index == piece.index).or_else(|| last().filter(|_| piece.name.is_empty()))
            }
            None => last(),
        }
    }

    /// The calls, now that all pieces are here. Nameless ones are dropped.
    pub(super) fn take(&mut self) -> Vec<ProposedCall> {
        let parts = std::mem::take(&mut self.parts).into_iter().filter(|part| !part.name.is_empty());
        let mut out: Vec<ProposedCall> = Vec::new();
        for part in parts {
            let taken = |id: &str| out.iter().any(|call: &ProposedCall| call.id.as_str() == id);
            let id = if part.id.is_empty() || taken(&part.id) { made_up_id() } else { part.id };
            out.push(ProposedCall { id: CallId::new(id), name: part.name, input: input(&part.arguments) });
        }
        out
    }
}

fn is_whole(arguments: &str) -> bool {
    serde_json::from_str::<Map<String, Value>>(arguments).is_ok()
}
