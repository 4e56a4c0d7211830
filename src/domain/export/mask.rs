//! Keys out of a row before it is rendered: what escapes a text would hide them from whoever looks for them later.

use crate::domain::message::{Body, Message};
use crate::domain::sanitise::clean;
use crate::domain::secret;

/// Masks the keys in a text, as it reads without what acts on a terminal. Gives how many there were.
pub(super) fn text(text: &mut String) -> usize {
    let Some((safe, count)) = secret::masked(&clean(text)) else { return 0 };
    *text = safe;
    count
}

/// Masks the keys in everything that a row shows. Gives how many there were.
pub(super) fn row(row: &mut Message) -> usize {
    match &mut row.body {
        Body::User(said) => {
            text(&mut said.text) + said.attachments.iter_mut().map(|file| text(&mut file.name)).sum::<usize>()
        }
        Body::Assistant(said) => text(&mut said.text),
        Body::Thinking(thought) => text(&mut thought.text),
        Body::Tool(call) => {
            let input = secret::masked_value(&mut call.input);
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
