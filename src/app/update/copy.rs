//! Text that leaves the conversation: copied, opened in a pager, printed. It is the logical text: no gutter, no padding, no
//! soft breaks.

use super::attach;
use crate::app::effect::{Effect, Place};
use crate::app::state::State;
use crate::app::state::chat::{Chat, Entry};
use crate::domain::message::Body;
use crate::domain::sanitise::clean;
use crate::domain::{Level, Notice};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

fn chat(state: &mut State) -> Option<&mut Chat> {
    state.current_open_mut().map(|open| &mut open.chat)
}

/// The chosen entry; without one the last answer.
fn chosen(chat: &Chat) -> Option<&Entry> {
    let answer = |entry: &&Entry| matches!(&entry.message.body, Body::Assistant(text) if !text.text.is_empty());
    let chosen = chat.cursor.and_then(|key| chat.entries.iter().find(|entry| entry.key == key));
    chosen.or_else(|| chat.entries.iter().rev().find(answer))
}

fn nothing(state: &mut State, words: &str) {
    state.notify(Notice::new(Level::Info, words));
}

/// Copies the chosen entry.
pub(super) fn entry(state: &mut State, fx: &mut Vec<Effect>) {
    match chat(state).and_then(|chat| chosen(chat).map(|entry| logical(&entry.message.body))) {
        Some(text) => fx.push(Effect::Copy(text)),
        None => nothing(state, "There is nothing to copy yet."),
    }
}

/// Copies a block of code of the chosen entry: the first, and pressed again the one after it.
pub(super) fn code(state: &mut State, fx: &mut Vec<Effect>) {
    let Some(chat) = chat(state) else { return };
    let Some(entry) = chosen(chat) else { return nothing(state, "There is nothing to copy yet.") };
    let key = entry.key;
    let mut blocks = match &entry.message.body {
        Body::Assistant(text) => blocks(&text.text),
        Body::Plan(plan) => blocks(&plan.markdown),
        Body::User(user) => blocks(&user.text),
        _ => Vec::new(),
    };
    let count = blocks.len();
    if count == 0 {
        return nothing(state, "There is no block of code in this entry.");
    }
    let at = match chat.copied {
        Some((of, at)) if of == key => (at + 1) % count,
        _ => 0,
    };
    chat.copied = Some((key, at));
    fx.push(Effect::Copy(blocks.swap_remove(at)));
    if count > 1 {
        nothing(state, &format!("Block {} of {count}; again for the next one.", at + 1));
    }
}

/// The chosen entry in the pager.
pub(super) fn open(state: &mut State, fx: &mut Vec<Effect>) {
    // A message of files alone has no text to show.
    if let Some(Body::User(said)) = chat(state).and_then(|chat| chosen(chat)).map(|entry| &entry.message.body)
        && said.text.trim().is_empty()
        && !said.attachments.is_empty()
    {
        let files = said.attachments.clone();
        return attach::view(state, files, fx);
    }
    match chat(state).and_then(|chat| chosen(chat).map(|entry| logical(&entry.message.body))) {
        Some(text) => fx.push(Effect::Show { text: clean(&text).into_owned(), place: Place::Pager }),
        None => nothing(state, "There is nothing to open yet."),
    }
}

/// All loaded rows on the terminal's own screen.
pub(super) fn print(state: &mut State, fx: &mut Vec<Effect>) {
    let Some(chat) = chat(state) else { return };
    let mut text = String::new();
    if chat.earlier.is_some() {
        text.push_str("(earlier rows are not loaded)\n\n");
    }
    for entry in &chat.entries {
        let body = clean(&logical(&entry.message.body)).into_owned();
        if body.trim().is_empty() {
            continue;
        }
        let who = match &entry.message.body {
            Body::User(_) => "you:\n",
            Body::Assistant(_) => "assistant:\n",
            Body::Thinking(_) => "thinking:\n",
            Body::Plan(_) => "plan:\n",
            Body::Tool(_) | Body::Error(_) | Body::Info(_) | Body::Odd(_) => "",
        };
        text.push_str(who);
        text.push_str(body.trim_end());
        text.push_str("\n\n");
    }
    if text.is_empty() {
        return nothing(state, "There is nothing to print yet.");
    }
    fx.push(Effect::Show { text, place: Place::Scrollback });
}

/// The blocks of code in a text, in order.
fn blocks(markdown: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut block: Option<String> = None;
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => block = Some(String::new()),
            Event::Text(text) => {
                if let Some(block) = &mut block {
                    block.push_str(&text);
                }
            }
            Event::End(TagEnd::CodeBlock) => out.extend(block.take()),
            _ => {}
        }
    }
    out.retain(|block| !block.trim().is_empty());
    out
}

fn logical(body: &Body) -> String {
    match body {
        Body::User(user) => user.text.clone(),
        Body::Assistant(assistant) => assistant.text.clone(),
        Body::Thinking(thinking) => thinking.text.clone(),
        Body::Tool(call) => match &call.result {
            Some(result) if !result.is_empty() => format!("{} {}\n{result}", call.name, call.subject),
            _ => format!("{} {}", call.name, call.subject),
        },
        Body::Error(failure) => [&failure.title, &failure.text, &failure.detail]
            .into_iter()
            .filter(|text| !text.is_empty())
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join("\n"),
        Body::Info(info) => info.text.clone(),
        Body::Plan(plan) => plan.markdown.clone(),
        Body::Odd(odd) => odd.raw.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::state::open::Open;
    use crate::app::state::{Current, Size};
    use crate::domain::message::{AssistantText, UserText};
    use crate::domain::{At, Message, MessageId, SessionId};
    use std::sync::Arc;

    const ANSWER: &str = "One:\n\n```rust\nfn one() {}\n\n```\n- two:\n  ```\n  two\n  ```\n";

    fn state() -> State {
        let keys = Arc::new(crate::keymap::load(None).table);
        let mut state = State::new(keys, Size { width: 80, height: 24 }, At(0), 0);
        let session = SessionId::parse("260902-swift-river").unwrap();
        let row = |key: i64, body| Entry {
            key,
            revision: 0,
            message: Message::new(MessageId::new(format!("m{key}")), At(key), body),
            live: false,
        };
        let mut open = Open::default();
        let answer = AssistantText { text: ANSWER.to_owned(), ..AssistantText::default() };
        let asked = UserText { text: "show \u{1b}[31mme".to_owned(), ..UserText::default() };
        open.chat.entries = [row(0, Body::User(asked)), row(1, Body::Assistant(answer))].into();
        state.open.insert(session.clone(), open);
        state.current = Current::Session(session);
        state
    }

    #[test]
    fn blocks_of_code_are_copied_one_after_the_other() {
        let mut state = state();
        let mut copied = Vec::new();
        for _ in 0..3 {
            let mut fx = Vec::new();
            code(&mut state, &mut fx);
            copied.extend(fx);
        }
        let copies = ["fn one() {}\n\n", "two\n", "fn one() {}\n\n"];
        assert_eq!(copied, copies.map(|text| Effect::Copy(text.to_owned())));
        chat(&mut state).unwrap().cursor = Some(0);
        let mut fx = Vec::new();
        code(&mut state, &mut fx);
        assert_eq!(fx, [], "the question has none");
    }

    #[test]
    fn what_leaves_the_screen_is_clean_and_whole() {
        let mut state = state();
        let mut fx = Vec::new();
        print(&mut state, &mut fx);
        let Some(Effect::Show { text, place: Place::Scrollback }) = fx.pop() else { panic!("nothing is printed") };
        assert_eq!(text, format!("you:\nshow me\n\nassistant:\n{}\n\n", ANSWER.trim_end()));
        open(&mut state, &mut fx);
        assert_eq!(fx, [Effect::Show { text: ANSWER.to_owned(), place: Place::Pager }]);
    }
}
