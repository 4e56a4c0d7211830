//! The search in the conversation: which entries hold the words. Marking the words in the lines is the drawing's.

use super::chat::Chat;
use super::edit::Line;
use crate::domain::message::Body;

/// A search in the conversation of the session that is shown.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// The words.
    pub query: Line,
    /// True while the words are typed; afterwards n and N walk the hits.
    pub typing: bool,
    /// Keys of the loaded entries that hold the words, from top to bottom.
    pub hits: Vec<i64>,
    /// The hit that is shown, by its place in `hits`.
    pub at: Option<usize>,
}

impl Search {
    /// Finds the hits anew; the one shown stays where it is still one.
    pub fn find(&mut self, chat: &Chat) {
        let shown = self.at.and_then(|at| self.hits.get(at)).copied();
        let words = self.query.text().to_lowercase();
        self.hits = if words.is_empty() {
            Vec::new()
        } else {
            let held = |body: &Body| text_of(body).iter().any(|text| text.to_lowercase().contains(&words));
            chat.entries.iter().filter(|entry| held(&entry.message.body)).map(|entry| entry.key).collect()
        };
        self.at = shown.and_then(|key| self.hits.iter().position(|hit| *hit == key));
    }
}

/// The texts of a row, as far as they are searched and copied.
#[must_use]
pub fn text_of(body: &Body) -> Vec<&str> {
    match body {
        Body::User(user) => vec![&user.text],
        Body::Assistant(assistant) => vec![&assistant.text],
        Body::Thinking(thinking) => vec![&thinking.text],
        Body::Tool(call) => {
            [call.name.as_str(), call.subject.as_str()].into_iter().chain(call.result.as_deref()).collect()
        }
        Body::Error(failure) => vec![&failure.title, &failure.text, &failure.detail],
        Body::Info(info) => vec![&info.text],
        Body::Plan(plan) => vec![&plan.markdown],
        Body::Odd(odd) => vec![&odd.what, &odd.raw],
    }
}
