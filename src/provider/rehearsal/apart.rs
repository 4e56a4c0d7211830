//! Answers of the demo agent to side requests: a title is the first words of the message, a draft
//! comes back with the files that were found for it. Anything else is answered like a conversation.

use crate::provider::{ConversationItem, ModelRequest, UserContent};

/// Words of a title.
const WORDS: usize = 5;

/// The answer to a question apart, if this is one that is known.
pub(super) fn answer(request: &ModelRequest) -> Option<String> {
    let [ConversationItem::User(UserContent { text, .. })] = request.items.as_slice() else { return None };
    if !request.tools.is_empty() {
        return None;
    }
    if request.system.starts_with("You name conversations.") {
        return Some(title(text));
    }
    request.system.starts_with("You rewrite a draft").then(|| rewritten(text))
}

fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(open)?;
    rest.split_once(close).map(|(inside, _)| inside.trim())
}

fn title(text: &str) -> String {
    let message = between(text, "<message>", "</message>").unwrap_or_default();
    let words: Vec<&str> = message.split_whitespace().take(WORDS).collect();
    let title = words.join(" ");
    let mut letters = title.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn rewritten(text: &str) -> String {
    // The draft stands last, and may hold anything.
    let draft = text.rsplit_once("<draft>").and_then(|(_, rest)| rest.rsplit_once("</draft>"));
    let draft = draft.map_or("", |(draft, _)| draft).trim();
    let files: Vec<&str> = text.split("<file path=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    if files.is_empty() { draft.to_owned() } else { format!("{draft}\n\nIt is about: {}", files.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::session::ThinkingLevel;

    fn asked(system: &str, text: &str) -> Option<String> {
        answer(&ModelRequest {
            model: String::new(),
            system: system.into(),
            items: vec![ConversationItem::User(text.into())],
            tools: vec![],
            thinking: ThinkingLevel::Off,
        })
    }

    #[test]
    fn questions_apart_are_answered_by_rules() {
        let title = asked(
            "You name conversations. Now.",
            "<message>\nread the\nwhole file then write it\n</message>\nThe title:",
        );
        assert_eq!(title.as_deref(), Some("Read the whole file then"));
        let text = "<file path=\"src/a.rs\">\n1: x\n</file>\n<draft>\nfix <draft> x\n</draft>\nThe new text:";
        let draft = asked("You rewrite a draft of a message.", text);
        assert!(draft.as_deref().is_some_and(|draft| draft.ends_with("It is about: src/a.rs")), "{draft:?}");
        assert_eq!(asked("You are lisle.", "<message>x</message>"), None);
    }
}
