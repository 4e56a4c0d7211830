//! The strip of what can follow an unfinished chord, above the status line: by topic, in short words, in columns. It takes
//! half of the screen at the most; what has no place there is on its next pages. A low or narrow screen has one line.

use super::super::cells;
use super::super::frame_context::FrameContext;
use super::super::layout::{self, Layout};
use crate::keymap::action::{
    Action, AnswerAction, AppAction, ChatAction, ComposerAction, JobAction, ListAction, ModeAction, ModelAction,
    PaneAction, SessionAction, TurnAction, UndoAction,
};
use crate::keymap::key::{Code, Key};
use crate::theme::Role;
use ratatui::layout::Rect;

/// Rows and columns below which there is one line.
const LOW: u16 = 5;
const NARROW: u16 = 60;
/// Cells between columns.
const GAP: usize = 2;

/// The topics, the most used first.
const TOPICS: [&str; 6] = ["session", "agent", "message", "chat", "list", "screen"];

/// Possible continuation of the chord.
struct Continuation {
    topic: usize,
    key: String,
    word: String,
}

/// A cell of the strip.
enum Cell<'e> {
    Head(&'static str),
    Entry(&'e Continuation),
}

pub(super) fn draw(paint: &mut FrameContext<'_>, layout: &Layout) {
    let state = paint.state;
    if !state.input.chord.strip || state.input.chord.keys.is_empty() {
        return;
    }
    let entries = entries(paint);
    if entries.is_empty() {
        return;
    }
    // The next key is no text.
    paint.cursor = None;
    let status = layout.status;
    let most = status.y / 2;
    if most < LOW || status.width < NARROW {
        return one_line(paint, &entries, status);
    }
    let key_width = entries.iter().map(|entry| cells::width(&entry.key)).max().unwrap_or(0);
    let words = entries.iter().map(|entry| cells::width(&entry.word)).max().unwrap_or(0);
    let column = key_width + 1 + words + GAP;
    let room = usize::from(status.width.saturating_sub(2));
    let columns = (room / column).max(1);
    // As low as it can be, where one page holds all; else as high as it may be, with a line that tells of the pages.
    let one = (2..=usize::from(most)).find(|rows| columns_of(&entries, *rows).len() <= columns);
    let rows = one.unwrap_or(usize::from(most) - 1);
    let all = columns_of(&entries, rows);
    let pages: Vec<&[Vec<Cell<'_>>]> = all.chunks(columns).collect();
    let at = usize::from(state.input.chord.page) % pages.len().max(1);
    let height = u16::try_from(rows + usize::from(pages.len() > 1)).unwrap_or(u16::MAX).min(status.y);
    let area = Rect { y: status.y - height, height, ..status };
    paint.fill(area, Role::Panel);
    let short = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
    // The columns share the width.
    let column = (room / columns).min(column + 6);
    for (x, cells_of) in pages.get(at).copied().unwrap_or_default().iter().enumerate() {
        for (y, cell) in cells_of.iter().enumerate() {
            let place = cells::after(cells::row(area, short(y)), short(1 + x * column));
            let place = Rect { width: place.width.min(short(column - GAP)), ..place };
            let pieces = match cell {
                Cell::Head(topic) => vec![paint.piece(*topic, Role::PanelTitle)],
                Cell::Entry(entry) => {
                    let blanks = key_width.saturating_sub(cells::width(&entry.key));
                    vec![
                        paint.piece(format!("{:blanks$}{}", "", entry.key), Role::Key),
                        paint.piece(format!(" {}", entry.word), Role::Text),
                    ]
                }
            };
            paint.pieces(place, &pieces);
        }
    }
    if pages.len() > 1 {
        let row = cells::after(cells::row(area, height - 1), 1);
        let text = format!(" more: {} of {}", at + 1, pages.len());
        let pieces = [paint.piece("tab", Role::Key), paint.piece(text, Role::Dim)];
        paint.pieces(row, &pieces);
    }
}

/// The most used ones in one line, and where all are.
fn one_line(paint: &mut FrameContext<'_>, entries: &[Continuation], status: Rect) {
    let Some(y) = status.y.checked_sub(1) else { return };
    let area = Rect { y, height: 1, ..status };
    paint.fill(area, Role::Panel);
    let help = Action::App(AppAction::Help);
    let following = paint.state.keys.following(&paint.state.contexts(), &paint.state.input.chord.keys);
    let all = following.iter().find(|(_, binding)| binding.action == help).map(|(key, _)| key.to_string());
    let end = all.map_or_else(String::new, |key| format!("{} for all", paint.key_name(&key)));
    let room = usize::from(area.width).saturating_sub(cells::width(&end) + 3);
    let mut pieces = Vec::new();
    let mut wide = 0;
    for entry in entries.iter().filter(|entry| !entry.word.starts_with("all keys")) {
        let more = cells::width(&entry.key) + cells::width(&entry.word) + 3;
        if wide + more > room {
            break;
        }
        wide += more;
        pieces.push(paint.piece(entry.key.clone(), Role::Key));
        pieces.push(paint.piece(format!(" {}  ", entry.word), Role::Text));
    }
    paint.pieces(cells::after(area, 1), &pieces);
    let at = u16::try_from(usize::from(area.width).saturating_sub(cells::width(&end) + 1)).unwrap_or(0);
    paint.text(cells::after(area, at), &end, Role::Dim);
}

/// Entries in columns of this height: a topic's name is never alone at the foot of one.
fn columns_of(entries: &[Continuation], rows: usize) -> Vec<Vec<Cell<'_>>> {
    let mut columns: Vec<Vec<Cell<'_>>> = vec![Vec::new()];
    let mut topic = None;
    for entry in entries {
        let begins = topic != Some(entry.topic);
        let taken = columns.last().map_or(0, Vec::len);
        if taken + 1 + usize::from(begins) > rows && taken > 0 {
            columns.push(Vec::new());
        }
        let Some(column) = columns.last_mut() else { continue };
        if begins {
            column.push(Cell::Head(TOPICS.get(entry.topic).copied().unwrap_or_default()));
            topic = Some(entry.topic);
        }
        column.push(Cell::Entry(entry));
    }
    columns
}

/// A verb once, with the key that is easiest to press; nine digits say no more than their ends. By topic.
fn entries(paint: &FrameContext<'_>) -> Vec<Continuation> {
    let state = paint.state;
    let mut found: Vec<(Action, Vec<Key>, String)> = Vec::new();
    let details = Action::Pane(PaneAction::Details);
    for (key, binding) in state.keys.following(&state.contexts(), &state.input.chord.keys) {
        // They have no room there.
        if binding.action == details && state.screen.size.width < layout::WIDEST {
            continue;
        }
        match found.iter_mut().find(|(action, ..)| *action == binding.action) {
            Some((_, keys, _)) => keys.push(key),
            None => found.push((binding.action, vec![key], binding.desc.clone())),
        }
    }
    let name = |key: &Key| paint.key_name(&key.to_string());
    let mut entries: Vec<Continuation> = found
        .into_iter()
        .map(|(action, keys, desc)| {
            let plain = keys.iter().find(|key| matches!(key.code, Code::Char(_)) && key.printable().is_some());
            let key = match keys.as_slice() {
                [first, .., last] if keys.len() > 2 => {
                    format!("{}{}{}", name(first), paint.signs.ellipsis(), name(last))
                }
                keys => plain.or(keys.first()).map(name).unwrap_or_default(),
            };
            // What the user's own keymap says of a key counts before the short word.
            let word = match word(action).filter(|_| desc == action.description()) {
                Some(word) => word.to_owned(),
                None => {
                    cells::cut(desc.split([',', ';', ':']).next().unwrap_or_default(), 20, paint.signs.cut).into_owned()
                }
            };
            Continuation { topic: topic(action), key, word }
        })
        .collect();
    entries.sort_by_key(|entry| entry.topic);
    entries
}

/// The place in [`TOPICS`].
fn topic(action: Action) -> usize {
    match action {
        Action::Session(_) => 0,
        Action::Answer(_) | Action::Mode(_) | Action::Model(_) | Action::Turn(_) | Action::Job(_) => 1,
        Action::Composer(_) | Action::Vim(_) | Action::Slash(_) => 2,
        Action::Chat(_) | Action::Undo(_) => 3,
        Action::List(_) => 4,
        _ => 5,
    }
}

/// A verb in a word or two.
fn word(action: Action) -> Option<&'static str> {
    Some(match action {
        Action::Session(verb) => match verb {
            SessionAction::New => "new",
            SessionAction::Switch => "find by title",
            SessionAction::Search => "search all",
            SessionAction::Next => "next",
            SessionAction::Previous => "previous",
            SessionAction::Position => "by number",
            SessionAction::Rename => "rename",
            SessionAction::Branch => "branch here",
            SessionAction::Parent => "parent",
            SessionAction::Child => "child",
            SessionAction::Context => "context",
            _ => return None,
        },
        Action::Answer(AnswerAction::Focus) => "answer",
        Action::Answer(AnswerAction::YesOnce) => "yes, this once",
        Action::Answer(AnswerAction::Plan) => "plan",
        Action::Answer(AnswerAction::Inbox) => "inbox",
        Action::Mode(ModeAction::Next) => "next mode",
        Action::Model(ModelAction::Pick) => "model",
        Action::Model(ModelAction::Thinking) => "thinking",
        Action::Turn(TurnAction::Stop) => "stop",
        Action::Turn(TurnAction::Retry) => "retry",
        Action::Turn(TurnAction::Compact) => "compact",
        Action::Job(JobAction::List) => "jobs",
        Action::Composer(verb) => match verb {
            ComposerAction::Steer => "steer",
            ComposerAction::Queue => "queue",
            ComposerAction::Attach => "attach files",
            ComposerAction::Image => "image",
            ComposerAction::OpenFile => "open a file",
            ComposerAction::Editor => "in $EDITOR",
            ComposerAction::Enhance => "enhance",
            ComposerAction::OpenPaste => "expand paste",
            ComposerAction::Redo => "redo",
            ComposerAction::First => "to start",
            ComposerAction::Last => "to end",
            ComposerAction::Mark => "mark",
            ComposerAction::MarkAll => "mark all",
            ComposerAction::MarkSwap => "other end",
            ComposerAction::MarkCut => "cut",
            ComposerAction::MarkCopy => "copy",
            ComposerAction::YankPop => "older cut",
            _ => return None,
        },
        Action::Chat(verb) => match verb {
            ChatAction::Top => "to the top",
            ChatAction::End => "to the end",
            ChatAction::Print => "print",
            ChatAction::Beside => "side by side",
            ChatAction::Density => "density",
            ChatAction::Thinking => "thinking",
            _ => return None,
        },
        Action::Undo(UndoAction::Changes) => "changed files",
        Action::List(verb) => match verb {
            ListAction::Archived => "archived",
            ListAction::Group => "group by",
            ListAction::Filters => "filters",
            ListAction::Undo => "undo a change",
            _ => return None,
        },
        Action::Pane(verb) => match verb {
            PaneAction::Next => "next pane",
            PaneAction::Swap => "list or chat",
            PaneAction::Wider => "wider list",
            PaneAction::Narrower => "narrower list",
            PaneAction::List => "hide the list",
            PaneAction::Details => "details",
            PaneAction::OnlyChat => "chat only",
        },
        Action::App(AppAction::Help) => "all keys",
        Action::App(AppAction::Palette) => "commands",
        Action::App(AppAction::Mouse) => "mouse",
        Action::App(AppAction::Quit) => "quit",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_hold_every_entry_and_no_lonely_topic() {
        let entry = |topic| Continuation { topic, key: "k".to_owned(), word: "w".to_owned() };
        let entries: Vec<Continuation> = [0, 0, 0, 1, 2, 2, 5].into_iter().map(entry).collect();
        for rows in 2..10 {
            let columns = columns_of(&entries, rows);
            assert!(columns.iter().all(|column| column.len() <= rows), "{rows}");
            assert!(columns.iter().all(|column| !matches!(column.last(), None | Some(Cell::Head(_)))), "{rows}");
            let held = columns.iter().flatten().filter(|cell| matches!(cell, Cell::Entry(_))).count();
            assert_eq!(held, entries.len());
        }
    }

    #[test]
    fn what_follows_the_prefix_of_the_default_keys_has_a_short_word() {
        let table = crate::keymap::load(None).table;
        let prefix = [Key::parse("ctrl+x").unwrap()];
        use crate::keymap::action::Context;
        let contexts = [Context::Composer, Context::Global];
        let long: Vec<&str> = table
            .following(&contexts, &prefix)
            .into_iter()
            .filter(|(_, binding)| word(binding.action).is_none() && binding.desc.len() > 20)
            .map(|(_, binding)| binding.action.name())
            .collect();
        assert_eq!(long, Vec::<&str>::new());
    }
}
