//! Keys and home paths out of a row before it is rendered: what escapes a text would hide them from whoever looks for them later.

use super::HomePaths;
use crate::domain::message::{Body, Message};
use crate::domain::sanitise::clean;
use crate::domain::secret;
use serde_json::Value;

/// Masks the keys and home paths in a text, as it reads without what acts on a terminal. Gives how many keys there were.
pub(super) fn text(text: &mut String, homes: &HomePaths) -> usize {
    let mut count = 0;
    if let Some((safe, keys)) = secret::masked(&clean(text)) {
        (*text, count) = (safe, keys);
    }
    if let Some(safe) = homes.masked(&clean(text)) {
        *text = safe;
    }
    count
}

/// Masks home paths in every text and name of a value.
fn value(value: &mut Value, homes: &HomePaths) {
    match value {
        Value::String(text) => {
            if let Some(safe) = homes.masked(text) {
                *text = safe;
            }
        }
        Value::Array(all) => all.iter_mut().for_each(|one| self::value(one, homes)),
        Value::Object(all) => {
            for (name, mut one) in std::mem::take(all) {
                self::value(&mut one, homes);
                all.insert(homes.masked(&name).unwrap_or(name), one);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Masks the keys and home paths in everything that a row shows. Gives how many keys there were.
pub(super) fn row(row: &mut Message, homes: &HomePaths) -> usize {
    let text = |text: &mut String| self::text(text, homes);
    match &mut row.body {
        Body::User(said) => {
            text(&mut said.text) + said.attachments.iter_mut().map(|file| text(&mut file.name)).sum::<usize>()
        }
        Body::Assistant(said) => text(&mut said.text),
        Body::Thinking(thought) => text(&mut thought.text),
        Body::Tool(call) => {
            let input = secret::masked_value(&mut call.input);
            value(&mut call.input, homes);
            input + text(&mut call.subject) + call.result.as_mut().map_or(0, text)
        }
        Body::Error(failure) => {
            [&mut failure.title, &mut failure.text, &mut failure.detail].into_iter().map(text).sum()
        }
        Body::Info(info) => text(&mut info.text),
        Body::Plan(plan) => text(&mut plan.markdown) + text(&mut plan.path),
        Body::Odd(odd) => text(&mut odd.raw) + text(&mut odd.what),
    }
}

/// Masks a rendered text again: markdown may have joined the pieces of a key.
pub(super) fn again(rendered: String, before: usize) -> (String, usize) {
    match secret::masked(&rendered) {
        Some((safe, count)) => (safe, before + count),
        None => (rendered, before),
    }
}
