//! Text that leaves the conversation: copied, opened in a pager, printed. It is the logical text: no gutter, no padding, no
//! soft breaks.

use crate::app::effect::{Effect, TextTarget};
use crate::app::shell::attachments;
use crate::app::state::State;
use crate::app::state::chat::{Chat, Entry};
use crate::app::state::search::text_of;
use crate::domain::link::{files_in, inside};
use crate::domain::message::Body;
use crate::domain::sanitise::clean;
use crate::domain::{Level, Notice};
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use std::path::PathBuf;

fn chat(state: &mut State) -> Option<&mut Chat> {
    state.current_open_mut().map(|open| &mut open.chat)
}

/// The chosen entry; without one the last answer.
fn chosen(chat: &Chat) -> Option<&Entry> {
    chat.cursor.and_then(|key| chat.entry(key)).or_else(|| last_answer(chat))
}

/// The last answer that says something.
fn last_answer(chat: &Chat) -> Option<&Entry> {
    let answers = |entry: &&Entry| matches!(&entry.message.body, Body::Assistant(text) if !text.text.trim().is_empty());
    chat.entries.iter().rev().find(answers)
}

fn nothing(state: &mut State, words: &str) {
    state.notify(Notice::new(Level::Info, words));
}

/// Copies the last answer, whatever is chosen.
pub(crate) fn answer(state: &mut State, fx: &mut Vec<Effect>) {
    match chat(state).and_then(|chat| last_answer(chat).map(|entry| logical(&entry.message.body))) {
        Some(text) => fx.push(Effect::Copy(text)),
        None => nothing(state, "No response to copy yet"),
    }
}

/// Copies the message of this id. Whether there is one.
pub(crate) fn message(state: &mut State, id: &str, fx: &mut Vec<Effect>) -> bool {
    let found = chat(state).and_then(|chat| chat.entries.iter().find(|entry| entry.message.id.as_str() == id));
    let Some(text) = found.map(|entry| logical(&entry.message.body)) else { return false };
    fx.push(Effect::Copy(text));
    true
}

/// Copies a block of code by its number, from 1: of the chosen entry, else of the last answer.
pub(crate) fn numbered_code(state: &mut State, number: usize, fx: &mut Vec<Effect>) {
    let Some(entry) = chat(state).and_then(|chat| chosen(chat)) else {
        return nothing(state, "Nothing to copy yet");
    };
    let mut blocks = code_of(&entry.message.body);
    match (number.checked_sub(1).filter(|at| *at < blocks.len()), blocks.len()) {
        (Some(at), _) => fx.push(Effect::Copy(blocks.swap_remove(at).text)),
        (None, 0) => nothing(state, "No code block in this entry"),
        (None, 1) => nothing(state, "Only one code block in this entry"),
        (None, count) => nothing(state, &format!("No such code block: this entry has 1 to {count}")),
    }
}

/// Copies the whole conversation as markdown, as far as it is loaded.
pub(crate) fn conversation(state: &mut State, fx: &mut Vec<Effect>) {
    let Some(chat) = chat(state).filter(|chat| !chat.entries.is_empty()) else {
        return nothing(state, "Nothing to copy yet");
    };
    let (text, whole) = (markdown(chat), chat.earlier.is_none() && chat.later.is_none());
    fx.push(Effect::Copy(text));
    if !whole {
        nothing(state, "Copied the loaded rows only; /export includes all");
    }
}

/// The loaded rows as markdown: a heading for each speaker, answers as they were written, a line for each call.
pub(crate) fn markdown(chat: &Chat) -> String {
    let mut out = String::new();
    let mut before = "";
    for entry in &chat.entries {
        let body = &entry.message.body;
        let (who, text) = match body {
            Body::User(user) => ("you", user.text.trim().to_owned()),
            Body::Assistant(_) | Body::Plan(_) => ("assistant", logical(body).trim().to_owned()),
            Body::Tool(call) => {
                let subject = call.subject.lines().next().unwrap_or_default().replace('`', "'");
                ("assistant", format!("- {} `{subject}`", call.name))
            }
            Body::Error(failure) => ("", format!("> {}", failure.title)),
            // What was only thought, and what the program remarked, is no part of what was said.
            Body::Thinking(_) | Body::Info(_) | Body::Odd(_) => continue,
        };
        if text.is_empty() {
            continue;
        }
        if !who.is_empty() && who != before {
            out.push_str(&format!("## {who}\n\n"));
            before = who;
        }
        out.push_str(&text);
        out.push_str("\n\n");
    }
    let end = out.trim_end().len();
    out.truncate(end);
    out.push('\n');
    out
}

/// The block of code in focus.
fn focused_code(chat: &Chat) -> Option<Code> {
    let (key, block) = (chat.cursor?, chat.block?);
    code_of(&chat.entry(key)?.message.body).into_iter().find(|code| code.number == block)
}

/// Copies the block of code in focus, else the chosen entry.
pub(crate) fn entry(state: &mut State, fx: &mut Vec<Effect>) {
    if let Some(code) = chat(state).and_then(|chat| focused_code(chat)) {
        return fx.push(Effect::Copy(code.text));
    }
    match chat(state).and_then(|chat| chosen(chat).map(|entry| logical(&entry.message.body))) {
        Some(text) => fx.push(Effect::Copy(text)),
        None => nothing(state, "Nothing to copy yet"),
    }
}

/// Copies a block of code of the chosen entry: the first, and pressed again the one after it.
pub(crate) fn code(state: &mut State, fx: &mut Vec<Effect>) {
    let Some(chat) = chat(state) else { return };
    let Some(entry) = chosen(chat) else { return nothing(state, "Nothing to copy yet") };
    let key = entry.key;
    let mut blocks = code_of(&entry.message.body);
    let count = blocks.len();
    if count == 0 {
        return nothing(state, "No code block in this entry");
    }
    let at = match chat.copied {
        Some((of, at)) if of == key => (at + 1) % count,
        _ => 0,
    };
    chat.copied = Some((key, at));
    fx.push(Effect::Copy(blocks.swap_remove(at).text));
    if count > 1 {
        nothing(state, &format!("Block {} of {count}; press again for the next", at + 1));
    }
}

/// The files of the working directory that an entry names, in order: that of its call first.
fn files_of(body: &Body, cwd: &str) -> Vec<(PathBuf, Option<u32>)> {
    let mut out: Vec<(PathBuf, Option<u32>)> = Vec::new();
    let mut add = |path: &str, line| {
        if let Some(path) = inside(cwd, path).map(PathBuf::from)
            && !out.contains(&(path.clone(), line))
        {
            out.push((path, line));
        }
    };
    if let Body::Tool(call) = body
        && matches!(call.name.as_str(), "read" | "write" | "edit")
    {
        add(call.subject.trim(), None);
    }
    if let Body::Tool(call) = body {
        call.figures.changes().for_each(|diff| add(&diff.path, None));
    }
    for text in text_of(body) {
        for line in text.lines() {
            files_in(line).iter().for_each(|named| add(&named.path, named.line));
        }
    }
    out
}

/// The file that the chosen entry names, in $EDITOR; pressed again the one after it.
pub(crate) fn edit_file(state: &mut State, fx: &mut Vec<Effect>) {
    let cwd = state.current_meta().map(|meta| meta.cwd.to_string_lossy().into_owned()).unwrap_or_default();
    let Some(chat) = chat(state) else { return };
    let Some(entry) = chosen(chat) else { return nothing(state, "Nothing to open yet") };
    let (key, mut files) = (entry.key, files_of(&entry.message.body, &cwd));
    let count = files.len();
    if count == 0 {
        return nothing(state, "No file of the working directory in this entry");
    }
    let at = match chat.edited {
        Some((of, at)) if of == key => (at + 1) % count,
        _ => 0,
    };
    chat.edited = Some((key, at));
    let (path, line) = files.swap_remove(at);
    if count > 1 {
        nothing(state, &format!("File {} of {count}; press again for the next", at + 1));
    }
    fx.push(Effect::EditFile { path, line });
}

/// The ending of files in a language, by the word that names it in a block of code.
fn ending(lang: &str) -> String {
    let lang = lang.to_ascii_lowercase();
    let known = match lang.as_str() {
        "rust" => "rs",
        "python" => "py",
        "javascript" => "js",
        "typescript" => "ts",
        "bash" | "shell" | "zsh" | "console" => "sh",
        "ruby" => "rb",
        "markdown" => "md",
        "c++" => "cpp",
        "csharp" | "c#" => "cs",
        "kotlin" => "kt",
        "haskell" => "hs",
        "perl" => "pl",
        "yml" => "yaml",
        "makefile" => "mk",
        other if (1..=10).contains(&other.len()) && other.bytes().all(|b| b.is_ascii_alphanumeric()) => other,
        _ => "txt",
    };
    known.to_owned()
}

/// The block of code in focus, else the chosen entry, in the pager.
pub(crate) fn open(state: &mut State, fx: &mut Vec<Effect>) {
    if let Some(code) = chat(state).and_then(|chat| focused_code(chat)) {
        let text = clean(&code.text).into_owned();
        return fx.push(Effect::ShowCode { text, ending: ending(&code.lang) });
    }
    // A message of files alone has no text to show.
    if let Some(Body::User(said)) = chat(state).and_then(|chat| chosen(chat)).map(|entry| &entry.message.body)
        && said.text.trim().is_empty()
        && !said.attachments.is_empty()
    {
        let files = said.attachments.clone();
        return attachments::view(state, files, fx);
    }
    match chat(state).and_then(|chat| chosen(chat).map(|entry| logical(&entry.message.body))) {
        Some(text) => fx.push(Effect::Show { text: clean(&text).into_owned(), place: TextTarget::Pager }),
        None => nothing(state, "Nothing to open yet"),
    }
}

/// All loaded rows on the terminal's own screen.
pub(crate) fn print(state: &mut State, fx: &mut Vec<Effect>) {
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
        return nothing(state, "Nothing to print yet");
    }
    fx.push(Effect::Show { text, place: TextTarget::Scrollback });
}

/// A block of code of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Code {
    /// Its number among all blocks of the entry, empty ones too, from 0.
    pub number: u32,
    /// The word for its language; empty when it has none.
    pub lang: String,
    /// The code.
    pub text: String,
}

/// The blocks of code of an entry that have something in them, in order.
pub(crate) fn code_of(body: &Body) -> Vec<Code> {
    match body {
        Body::Assistant(text) => blocks(&text.text),
        Body::Plan(plan) => blocks(&plan.markdown),
        Body::User(user) => blocks(&user.text),
        _ => Vec::new(),
    }
}

/// The blocks of code in a text, in order.
fn blocks(markdown: &str) -> Vec<Code> {
    let mut out = Vec::new();
    let mut number = 0;
    let mut block: Option<Code> = None;
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::CodeBlock(kind)) => {
                let lang = match &kind {
                    CodeBlockKind::Fenced(info) => info.split([' ', ',', '{']).next().unwrap_or_default().to_owned(),
                    CodeBlockKind::Indented => String::new(),
                };
                block = Some(Code { number, lang, text: String::new() });
                number = number.saturating_add(1);
            }
            Event::Text(text) => {
                if let Some(block) = &mut block {
                    block.text.push_str(&text);
                }
            }
            Event::End(TagEnd::CodeBlock) => out.extend(block.take()),
            _ => {}
        }
    }
    out.retain(|block| !block.text.trim().is_empty());
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
        state.conversations.open.insert(session.clone(), open);
        state.conversations.current = Current::Session(session);
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
    fn a_block_of_code_has_a_number() {
        for (number, want) in [(1, Some("fn one() {}\n\n")), (2, Some("two\n")), (3, None), (0, None)] {
            let (mut state, mut fx) = (state(), Vec::new());
            numbered_code(&mut state, number, &mut fx);
            assert_eq!(fx, want.map(|text| Effect::Copy(text.to_owned())).into_iter().collect::<Vec<_>>(), "{number}");
        }
        let langs: Vec<(u32, String)> =
            blocks("```\n```\n```rs ignore\nx\n```\n").into_iter().map(|code| (code.number, code.lang)).collect();
        assert_eq!(langs, [(1, "rs".to_owned())], "an empty one counts and is none to copy");
    }

    #[test]
    fn the_conversation_is_markdown() {
        let (mut state, mut fx) = (state(), Vec::new());
        conversation(&mut state, &mut fx);
        let want = format!("## you\n\nshow \u{1b}[31mme\n\n## assistant\n\n{}\n", ANSWER.trim_end());
        assert_eq!(fx, [Effect::Copy(want)], "the clipboard takes what would act out of it");
        answer(&mut state, &mut fx);
        assert_eq!(fx.pop(), Some(Effect::Copy(ANSWER.to_owned())));
        assert!(state.notices.last().is_none(), "it was whole");
        chat(&mut state).unwrap().earlier = Some(9);
        conversation(&mut state, &mut fx);
        assert!(state.notices.last().is_some_and(|notice| notice.text.contains("/export")));
    }

    #[test]
    fn what_leaves_the_screen_is_clean_and_whole() {
        let mut state = state();
        let mut fx = Vec::new();
        print(&mut state, &mut fx);
        let Some(Effect::Show { text, place: TextTarget::Scrollback }) = fx.pop() else { panic!("nothing is printed") };
        assert_eq!(text, format!("you:\nshow me\n\nassistant:\n{}\n\n", ANSWER.trim_end()));
        open(&mut state, &mut fx);
        assert_eq!(fx, [Effect::Show { text: ANSWER.to_owned(), place: TextTarget::Pager }]);
    }
}
