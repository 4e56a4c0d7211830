//! Going back to an earlier message, and branching there: which message, what would be left out, and how that can be had again.

use crate::app::effect::Effect;
use crate::app::shell::{overlay, session, session_changes, text};
use crate::app::state::chat::{Chat, Entry};
use crate::app::state::overlay::{Confirm, Deed, Overlay, RewindTo};
use crate::app::state::picker::{Facts, Item, Kind, Picker, Value};
use crate::app::state::{Current, Focus, State};
use crate::domain::ids::{MessageId, SessionId};
use crate::domain::message::{Body, UserText};
use crate::domain::plan::{approval_mode, is_approval};
use crate::domain::{Level, Notice};
use crate::protocol::{Command, EngineCommand, SessionCommand};
use std::path::PathBuf;

/// Number of file names that are shown.
const NAMED: usize = 3;

/// Content after a position of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Behind {
    /// Messages of either side.
    messages: usize,
    /// Files that calls changed, the last one first.
    files: Vec<String>,
    /// True if there is more that is not loaded.
    more: bool,
}

impl Behind {
    fn add(&mut self, entry: &Entry) {
        match &entry.message.body {
            Body::User(_) | Body::Assistant(_) | Body::Plan(_) => self.messages += 1,
            Body::Tool(call) => {
                let figures = &call.figures;
                for diff in figures.diff.iter().chain(&figures.diffs) {
                    // A move changes two files, as undo counts them.
                    for path in [Some(&diff.path), diff.moved_from.as_ref()].into_iter().flatten() {
                        if !self.files.contains(path) {
                            self.files.push(path.clone());
                        }
                    }
                }
            }
            Body::Thinking(_) | Body::Error(_) | Body::Info(_) | Body::Odd(_) => {}
        }
    }

    /// `12 messages and changes of 3 files`.
    fn words(&self) -> String {
        let messages = match (self.messages, self.more) {
            (_, true) => "all later messages".to_owned(),
            (1, _) => "1 message".to_owned(),
            (n, _) => format!("{n} messages"),
        };
        match self.files.len() {
            0 => messages,
            1 => format!("{messages} and changes of 1 file"),
            n => format!("{messages} and changes of {n} files"),
        }
    }

    /// Names of the first files.
    fn named(&self) -> String {
        let names: Vec<String> = self.files.iter().take(NAMED).map(|path| text::one_line(path)).collect();
        let more = self.files.len().saturating_sub(NAMED);
        if more > 0 { format!("{} and {more} more", names.join(", ")) } else { names.join(", ") }
    }
}

/// Content after the entry at `place`, without the entry itself.
fn behind(chat: &Chat, place: Option<usize>) -> Behind {
    let mut out = Behind { more: chat.later.is_some(), ..Behind::default() };
    for entry in chat.entries.iter().skip(place.map_or(0, |place| place + 1)).rev() {
        out.add(entry);
    }
    out
}

/// The messages of the user, the latest first, each with its place and what stands behind that, itself included.
fn asked(chat: &Chat) -> Vec<(usize, MessageId, String, Behind)> {
    let mut so_far = Behind { more: chat.later.is_some(), ..Behind::default() };
    let mut out = Vec::new();
    for (place, entry) in chat.entries.iter().enumerate().rev() {
        so_far.add(entry);
        if let Body::User(user) = &entry.message.body {
            out.push((place, entry.message.id.clone(), shown(user), so_far.clone()));
        }
    }
    out
}

/// The text of a message, or the names of its files. The one of an approval was typed by nobody.
fn shown(user: &UserText) -> String {
    if let Some(mode) = approval_mode(&user.text) {
        return format!("Plan approved · {}", mode.shown());
    }
    let text = text::one_line(&user.text);
    if !text.is_empty() {
        return text;
    }
    user.attachments.iter().map(|file| text::one_line(&file.name)).collect::<Vec<_>>().join(", ")
}

/// The entry of the conversation that is chosen while the conversation has the focus.
fn chosen_entry(state: &State) -> Option<i64> {
    let chat = &state.current_open()?.chat;
    chat.cursor.filter(|_| state.focus == Focus::Chat)
}

fn count(n: usize, one: &str, many: &str) -> String {
    match n {
        0 => String::new(),
        1 => format!("1 {one}"),
        n => format!("{n} {many}"),
    }
}

fn open(state: &mut State, kind: Kind, items: Vec<Item>) {
    let picker = Picker { from: state.focus, ..Picker::new(kind, items, 0) };
    overlay::open(state, Overlay::Picker(Box::new(picker)));
}

/// Facts of a message for the list; drawing turns its time into a clock time or a day.
fn facts(behind: &Behind, about: Vec<String>) -> Facts {
    let columns = vec![count(behind.messages, "message", "messages"), count(behind.files.len(), "file", "files")];
    Facts { columns, about, ..Facts::default() }
}

/// Branches at the chosen entry, or off the session that is chosen in the list; else the place is chosen from a list.
pub(crate) fn branch(state: &mut State, fx: &mut Vec<Effect>) {
    if state.focus == Focus::List {
        return session_changes::branch(state, None, fx);
    }
    let Some(id) = state.current_id().cloned() else { return text::nothing_yet(state) };
    let chosen = chosen_entry(state);
    let Some(chat) = state.current_open().map(|open| &open.chat) else { return };
    let at = chat.entries.iter().find(|entry| Some(entry.key) == chosen).map(|entry| entry.message.id.clone());
    let asked = asked(chat);
    if at.is_some() || asked.len() < 2 {
        return fx.push(Effect::Send(Command::Engine(EngineCommand::Branch { session: id, at, title: None })));
    }
    let all = behind(chat, None);
    let whole = format!("The new session has {}. This one is unchanged.", all.words());
    let mut items =
        vec![overlay::item("the conversation so far", "", Value::Branch(None)).with(facts(&all, vec![whole]))];
    for (place, _, text, left) in asked {
        // Everything before that message is included: the branch is made at the last entry before it.
        let Some(last) = place.checked_sub(1).and_then(|place| chat.entries.get(place)) else { continue };
        let kept = Behind {
            messages: all.messages.saturating_sub(left.messages),
            files: all.files.iter().filter(|file| !left.files.contains(file)).cloned().collect(),
            more: false,
        };
        let about = format!(
            "The new session ends before this message: {}. {} stay only in this one. Files are unchanged.",
            kept.words(),
            capital(&left.words())
        );
        let value = Value::Branch(Some(last.message.id.clone()));
        items.push(overlay::item(format!("before: {text}"), "", value).with(facts(&kept, vec![about])));
    }
    open(state, Kind::Branch, items);
}

/// Branches where that was chosen from the list.
pub(crate) fn branch_at(state: &mut State, at: Option<MessageId>, fx: &mut Vec<Effect>) {
    if let Some(session) = state.current_id().cloned() {
        fx.push(Effect::Send(Command::Engine(EngineCommand::Branch { session, at, title: None })));
    }
}

/// `/branch NAME`: all of it, or up to the chosen entry, under this title.
pub(crate) fn branch_named(state: &mut State, title: &str, fx: &mut Vec<Effect>) {
    let title = Some(text::one_line(title));
    if state.focus == Focus::List {
        return session_changes::branch(state, title, fx);
    }
    let Some(session) = state.current_id().cloned() else { return text::nothing_yet(state) };
    let chosen = chosen_entry(state);
    let entries = state.current_open().map(|open| &open.chat.entries).into_iter().flatten();
    let at = entries.into_iter().find(|entry| Some(entry.key) == chosen).map(|entry| entry.message.id.clone());
    fx.push(Effect::Send(Command::Engine(EngineCommand::Branch { session, at, title })));
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// Goes back to the chosen entry; without one the message is chosen from a list.
pub(crate) fn rewind(state: &mut State, fx: &mut Vec<Effect>) {
    if let Some(key) = chosen_entry(state) {
        let id = state.current_open().and_then(|open| open.chat.entries.iter().find(|entry| entry.key == key));
        if let Some(id) = id.map(|entry| entry.message.id.clone()) {
            return ask_rewind(state, &id, fx);
        }
    }
    let chat = state.current_open().map(|open| &open.chat);
    let is_whole = chat.is_some_and(|chat| chat.earlier.is_none());
    let items: Vec<Item> = chat
        .map(asked)
        .into_iter()
        .flatten()
        // What stands before the first one that is loaded is not known while there is more.
        .filter(|(place, ..)| *place > 0 || is_whole)
        .map(|(_, id, text, left)| {
            let files = if left.files.is_empty() { String::new() } else { format!(": {}", left.named()) };
            let about = format!(
                "Opens a new session from before this message, without {}{files}. This one keeps all of it.",
                left.words()
            );
            overlay::item(text, "", Value::Rewind(id)).with(facts(&left, vec![about]))
        })
        .collect();
    if items.is_empty() {
        return state.notify(Notice::new(Level::Info, "No message to rewind to yet"));
    }
    open(state, Kind::Rewind, items);
}

/// True if Esc twice leads to a list of messages.
pub(crate) fn has_messages(state: &State) -> bool {
    let entries = state.current_open().map(|open| &open.chat.entries).into_iter().flatten();
    entries.into_iter().any(|entry| matches!(entry.message.body, Body::User(_)))
}

/// Asks before going back. A message of the user is left out and written again; any other entry is the last that stays.
pub(crate) fn ask_rewind(state: &mut State, id: &MessageId, fx: &mut Vec<Effect>) {
    let Current::Session(session) = state.conversations.current.clone() else { return };
    let Some(chat) = state.current_open().map(|open| &open.chat) else { return };
    let Some(place) = chat.entries.iter().rposition(|entry| entry.message.id == *id) else { return };
    let Some(entry) = chat.entries.get(place) else { return };
    let (keep, text) = match &entry.message.body {
        Body::User(user) => (place.checked_sub(1), Some(user.text.clone())),
        _ => (Some(place), None),
    };
    let kept = match keep.and_then(|keep| chat.entries.get(keep)) {
        Some(last) => RewindTo::After(last.message.id.clone()),
        None if chat.earlier.is_none() => RewindTo::Start(id.clone()),
        None => {
            let notice = Notice::new(Level::Info, "Earlier messages are still loading");
            return state.notify(notice.hint("try again in a moment"));
        }
    };
    let left = behind(chat, keep);
    let is_start = matches!(kept, RewindTo::Start(_));
    let what = match &text {
        Some(text) if is_start => {
            format!(
                "Opens a new session with the same settings. The text of {} goes to the composer.",
                text::quoted(text)
            )
        }
        Some(text) if is_approval(text) => {
            "Opens a new session with everything before the approval, in Ask to Edit or stricter.".to_owned()
        }
        Some(text) => {
            format!("Opens a new session with everything before {}. Its text goes to the composer.", text::quoted(text))
        }
        None => "Opens a new session with everything up to the chosen entry.".to_owned(),
    };
    let title = state.current_meta().map(text::named).unwrap_or_default();
    let files = if left.files.is_empty() { String::new() } else { format!(" ({})", left.named()) };
    let way = state.keys.key_for(crate::keymap::action::SessionAction::Parent);
    let stays = match (left.messages, left.more) {
        (0, false) => format!("{title} is unchanged."),
        _ if is_start => format!("Left out: {}{files}. {title} keeps them.", left.words()),
        _ => format!("Left out: {}{files}. {title} keeps them; {way} returns to it.", left.words()),
    };
    let says = vec![what, stays, "Files are unchanged".to_owned()];
    // What could be restored comes while the question is read.
    fx.push(Effect::Send(Command::Session {
        id: session.clone(),
        command: SessionCommand::PlanUndo { aim: kept.aim() },
    }));
    let deed = Deed::Rewind { session, kept, text, files: None };
    overlay::confirm(state, Confirm::new("Rewind?", says, "rewind", deed));
}

/// Goes back to a message; with the files, where that was chosen.
pub(crate) fn rewound(
    state: &mut State,
    session: SessionId,
    kept: RewindTo,
    text: Option<String>,
    files: Option<Vec<PathBuf>>,
    fx: &mut Vec<Effect>,
) {
    let at = match kept {
        RewindTo::After(at) => at,
        RewindTo::Start(_) => return start_over(state, session, &kept, text, files, fx),
    };
    state.conversations.rewound = text.map(|text| (session.clone(), text));
    fx.push(Effect::Send(Command::Engine(EngineCommand::Rewind { session, at, files })));
}

/// Goes back to before the first message: nothing is left to branch from, so a new session begins with the settings of
/// this one.
fn start_over(
    state: &mut State,
    session: SessionId,
    kept: &RewindTo,
    text: Option<String>,
    files: Option<Vec<PathBuf>>,
    fx: &mut Vec<Effect>,
) {
    if let Some(also) = files {
        let aim = kept.aim();
        for command in [SessionCommand::Stop, SessionCommand::Undo { aim, also }] {
            fx.push(Effect::Send(Command::Session { id: session.clone(), command }));
        }
    }
    let settings = state.sessions.meta(&session).map(session::settings_of).unwrap_or_default();
    session::begin(state, settings, fx);
    state.composer_mut().set(&text.unwrap_or_default());
}
