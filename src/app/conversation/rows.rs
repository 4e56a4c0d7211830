//! Rows of a conversation: a page before, a row at the end, text that grows. Every change gives an entry a new revision.

use crate::app::state::chat::{Entry, View};
use crate::app::state::open::Open;
use crate::domain::Message;
use crate::domain::attachment::AttachmentKind;
use crate::domain::ids::MessageId;
use crate::domain::message::Body;
use std::collections::HashSet;
use std::path::PathBuf;

/// Maximum bytes of a growing text in a session that is not shown: the end, as much as a screen shows.
const HIDDEN: usize = 16_384;

/// Limits of loaded rows: above the first, whole pages that are not being read are dropped down to
/// the second, and requested again when they are needed.
const MOST: usize = 2_400;

const KEPT: usize = 1_200;

fn revise(open: &mut Open) -> u64 {
    open.next_revision += 1;
    open.next_revision
}

/// True if a row of this kind can change after it came, while its turn runs.
fn grows(body: &Body) -> bool {
    matches!(body, Body::Assistant(_) | Body::Thinking(_) | Body::Tool(_))
}

/// Notes the pictures that belong to rows: their size is to be asked for.
fn note_pictures<'m>(rows: impl IntoIterator<Item = &'m Message>) -> Vec<PathBuf> {
    let files = rows.into_iter().flat_map(|message| message.files());
    files.filter(|file| file.kind == AttachmentKind::Image).map(|file| file.path.clone()).collect()
}

fn begins_turn(message: &Message) -> bool {
    matches!(&message.body, Body::User(user) if !user.steer)
}

/// Puts a snapshot's rows in place of all; `ends` are the cursors for what is before and after them. The place that is
/// read stays, by the row's id.
pub(crate) fn replace(open: &mut Open, rows: Vec<Message>, ends: (Option<u64>, Option<u64>), running: bool) {
    let id_of = |open: &Open, key: i64| {
        open.chat.entries.iter().find(|entry| entry.key == key).map(|entry| entry.message.id.clone())
    };
    let read = match open.chat.view {
        View::At { key, line } => id_of(open, key).map(|id| (id, line)),
        View::Mark { key } => id_of(open, key).map(|id| (id, 0)),
        View::End => None,
    };
    let cursor = open.chat.cursor.and_then(|key| id_of(open, key));
    let toggled: HashSet<MessageId> = open.chat.toggled.iter().filter_map(|key| id_of(open, *key)).collect();
    let begun = rows.iter().rposition(begins_turn).map_or(0, |at| at + 1);
    let revision = revise(open);
    open.chat.unmeasured = note_pictures(&rows);
    let first = open.next_key;
    open.chat.entries = rows
        .into_iter()
        .enumerate()
        .map(|(at, message)| Entry {
            key: first.saturating_add(i64::try_from(at).unwrap_or(i64::MAX)),
            revision,
            live: running && at >= begun && grows(&message.body),
            message,
        })
        .collect();
    open.next_key = open.chat.entries.back().map_or(first, |entry| entry.key + 1);
    open.chat.colours.clear();
    // Entries have other keys now.
    (open.chat.mark, open.chat.block, open.chat.held) = (None, None, false);
    open.chat.pages.clear();
    (open.chat.earlier, open.chat.later) = ends;
    open.chat.loading = false;
    open.chat.unseen.clear();
    open.behind.clear();
    let key_of = |id: &MessageId| open.chat.entries.iter().rev().find(|e| e.message.id == *id).map(|e| e.key);
    let view = read.and_then(|(id, line)| Some(View::At { key: key_of(&id)?, line })).unwrap_or(View::End);
    let cursor = cursor.and_then(|id| key_of(&id));
    let toggled = toggled.iter().filter_map(key_of).collect();
    (open.chat.view, open.chat.cursor, open.chat.toggled) = (view, cursor, toggled);
    if std::mem::take(&mut open.chat.to_top)
        && let Some(first) = open.chat.entries.front()
    {
        open.chat.view = View::At { key: first.key, line: 0 };
    }
}

/// Puts a page of earlier rows before all others; what is read stays, because entries keep their keys.
pub(crate) fn prepend(open: &mut Open, rows: Vec<Message>, earlier: Option<u64>) {
    let revision = revise(open);
    open.chat.unmeasured.extend(note_pictures(&rows));
    let mut key = open.chat.entries.front().map_or(open.next_key, |entry| entry.key);
    if let Some(cursor) = open.chat.earlier {
        open.chat.pages.push_front((key, cursor));
    }
    for message in rows.into_iter().rev() {
        key -= 1;
        open.chat.entries.push_front(Entry { key, revision, message, live: false });
    }
    open.chat.earlier = earlier;
    open.chat.loading = false;
    let_go_below(open);
}

/// Entries to keep: selected, in focus, or on the screen.
fn needed(open: &Open) -> impl Iterator<Item = i64> {
    let chat = &open.chat;
    let read = match chat.view {
        View::At { key, .. } | View::Mark { key } => Some(key),
        View::End => None,
    };
    let marked = chat.mark.map(|mark| mark.range());
    read.into_iter().chain(marked.into_iter().flat_map(|(from, to)| [from.key, to.key]))
}

/// Lets pages far below go, where many rows are loaded.
fn let_go_below(open: &mut Open) {
    if open.chat.entries.len() <= MOST || open.chat.view == View::End {
        return;
    }
    let lowest = needed(open).filter_map(|key| open.chat.place(key)).max().unwrap_or(0);
    let found = open.chat.pages.iter().find_map(|(key, cursor)| {
        let place = open.chat.place(*key)?;
        (place >= KEPT && place > lowest + KEPT / 4).then_some((place, *key, *cursor))
    });
    let Some((place, key, cursor)) = found else { return };
    open.chat.entries.truncate(place);
    open.chat.pages.retain(|(other, _)| *other < key);
    open.chat.later = Some(cursor);
    forget(open, |other| other < key);
}

/// Lets pages far above go, where many rows are loaded.
fn let_go_above(open: &mut Open) {
    let count = open.chat.entries.len();
    if count <= MOST {
        return;
    }
    let highest = needed(open).filter_map(|key| open.chat.place(key)).min().unwrap_or(count);
    let found = open.chat.pages.iter().rev().find_map(|(key, cursor)| {
        let place = open.chat.place(*key)?;
        (count - place >= KEPT && place + KEPT / 4 < highest).then_some((place, *key, *cursor))
    });
    let Some((place, key, cursor)) = found else { return };
    open.chat.entries.drain(..place);
    // Its page is asked for with the cursor of those before it.
    open.chat.pages.retain(|(other, _)| *other > key);
    open.chat.earlier = Some(cursor);
    forget(open, |other| other >= key);
}

/// After rows were let go: what was known of them goes too. A snapshot is asked for where one reads.
fn forget(open: &mut Open, stays: impl Fn(i64) -> bool) {
    let chat = &mut open.chat;
    chat.around = chat.pages.front().map(|page| page.1).or(chat.earlier).or(chat.later);
    chat.toggled.retain(|key| stays(*key));
    chat.colours.retain(|(key, _), _| stays(*key));
    if chat.cursor.is_some_and(|key| !stays(key)) {
        (chat.cursor, chat.block) = (None, None);
    }
}

/// Puts a page of later rows after all others.
pub(crate) fn append(open: &mut Open, rows: Vec<Message>, later: Option<u64>, running: bool) {
    let revision = revise(open);
    open.chat.unmeasured.extend(note_pictures(&rows));
    let begun = rows.iter().rposition(begins_turn).map_or(0, |at| at + 1);
    if let Some(cursor) = open.chat.later {
        open.chat.pages.push_back((open.next_key, cursor));
    }
    for (at, message) in rows.into_iter().enumerate() {
        let live = running && later.is_none() && at >= begun && grows(&message.body);
        open.chat.entries.push_back(Entry { key: open.next_key, revision, message, live });
        open.next_key += 1;
    }
    open.chat.later = later;
    open.chat.loading = false;
    if later.is_none() {
        open.chat.unseen.clear();
    }
    let_go_above(open);
}

/// The place of a row of the turn that runs.
fn find(open: &Open, id: &MessageId) -> Option<usize> {
    for (at, entry) in open.chat.entries.iter().enumerate().rev() {
        if entry.message.id == *id {
            return Some(at);
        }
        if begins_turn(&entry.message) {
            return None;
        }
    }
    None
}

/// A new row at the end, or a row of the turn as it is now.
pub(crate) fn put(open: &mut Open, message: Message) {
    let revision = revise(open);
    open.chat.unmeasured.extend(note_pictures([&message]));
    open.behind.remove(&message.id);
    match find(open, &message.id) {
        Some(at) => {
            if let Some(entry) = open.chat.entries.get_mut(at) {
                entry.message = message;
                entry.revision = revision;
            }
        }
        None => {
            let live = grows(&message.body);
            open.chat.entries.push_back(Entry { key: open.next_key, revision, message, live });
            open.next_key += 1;
        }
    }
}

/// Adds text to a row. Whether there is such a row.
pub(crate) fn grow(open: &mut Open, id: &MessageId, add: &str) -> bool {
    let Some(at) = find(open, id) else { return false };
    let revision = revise(open);
    let Some(entry) = open.chat.entries.get_mut(at) else { return false };
    match &mut entry.message.body {
        Body::Assistant(assistant) => assistant.text.push_str(add),
        Body::Thinking(thinking) => thinking.text.push_str(add),
        Body::Tool(call) => call.result.get_or_insert_default().push_str(add),
        _ => return false,
    }
    entry.revision = revision;
    true
}

/// Adds text to a row of a session that is not shown. Of a long one only the end is kept, and where somebody reads further
/// up, what they read: the row is behind then, and whole again with a new snapshot or its last change. Whether there is
/// such a row.
pub(crate) fn grow_hidden(open: &mut Open, id: &MessageId, add: &str) -> bool {
    let Some(at) = find(open, id) else { return false };
    let Some(entry) = open.chat.entries.get_mut(at) else { return false };
    let text = match &mut entry.message.body {
        Body::Assistant(assistant) => &mut assistant.text,
        Body::Thinking(thinking) => &mut thinking.text,
        _ => return grow(open, id, add),
    };
    if text.len() + add.len() <= HIDDEN {
        return grow(open, id, add);
    }
    if open.chat.view == View::End {
        text.push_str(add);
        let from = text.ceil_char_boundary(text.len() - HIDDEN / 2);
        let rest = text.get(from..).unwrap_or_default();
        let line = rest.find('\n').map_or(0, |at| at + 1);
        *text = rest.get(line..).unwrap_or(rest).to_owned();
        let key = entry.key;
        // Blocks of code have other numbers now.
        open.chat.colours.retain(|(of, _), _| *of != key);
        let revision = revise(open);
        if let Some(entry) = open.chat.entries.get_mut(at) {
            entry.revision = revision;
        }
    }
    open.behind.insert(id.clone());
    true
}

/// Takes away a row that does not stay.
pub(crate) fn drop_row(open: &mut Open, id: &MessageId) {
    open.behind.remove(id);
    let Some(at) = find(open, id) else { return };
    let Some(gone) = open.chat.entries.remove(at) else { return };
    let chat = &mut open.chat;
    chat.toggled.remove(&gone.key);
    if chat.cursor == Some(gone.key) {
        chat.cursor = None;
    }
    if matches!(chat.view, View::At { key, .. } if key == gone.key) {
        chat.view = match chat.entries.get(at).or_else(|| chat.entries.back()) {
            Some(entry) => View::At { key: entry.key, line: 0 },
            None => View::End,
        };
    }
}

/// The turn is over: its rows do not change any more.
pub(crate) fn settle(open: &mut Open) {
    let revision = revise(open);
    for entry in open.chat.entries.iter_mut().rev().filter(|entry| entry.live) {
        entry.live = false;
        entry.revision = revision;
    }
}
