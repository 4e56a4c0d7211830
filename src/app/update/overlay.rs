//! Overlays: opening, choosing, closing. When the last one closes, the composer gets the focus.

use super::{
    act as do_action, chat, compose, connection, doctor, find, inbox, jobs, leave, lifecycle, list, model, panel,
    properties, queue, rewind, session, settings, slash, to, undo, workspace,
};
use crate::app::effect::{Effect, Keep};
use crate::app::state::edit::Line;
use crate::app::state::overlay::{Help, HelpPage, Overlay, Rename, Wanted};
use crate::app::state::picker::{Facts, Item, Kind, Picker, Value};
use crate::app::state::{Focus, Shown, State};
use crate::domain::contract::Act;
use crate::domain::ids::{At, SessionId};
use crate::domain::inbox::Change;
use crate::domain::manual::{TOPICS, Topic};
use crate::domain::message::Body;
use crate::domain::permission::Holding;
use crate::domain::{Level, Mode, Notice};
use crate::keymap::action::{
    Action, AppAction, ChatAction, ComposerAction, Context, HelpAction, ListAction, PickerAction, SessionAction,
};

pub(super) fn open(state: &mut State, overlay: Overlay) {
    panel::give_back(state);
    state.overlays.push(overlay);
}

pub(super) fn open_picker(state: &mut State, kind: Kind, items: Vec<Item>, selected: usize) {
    let picker = Picker { from: state.focus, ..Picker::new(kind, items, selected) };
    open(state, Overlay::Picker(Box::new(picker)));
}

pub(super) fn item(label: impl Into<String>, detail: impl Into<String>, value: Value) -> Item {
    Item::new(label, detail, value)
}

/// A text as one line of a list.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(300).collect()
}

fn closed(state: &mut State) {
    if state.overlays.is_empty() {
        state.focus = Focus::Composer;
        state.shown = Default::default();
    }
}

/// Closes what was asked of sessions from the list: the list keeps the keys, for the next ones. Whether that was it.
fn close_over_list(state: &mut State) -> bool {
    let of_list = match state.overlays.last() {
        Some(Overlay::Confirm(_)) => true,
        Some(Overlay::Prompt(prompt)) => matches!(prompt.wanted, Wanted::LabelValue { .. }),
        Some(Overlay::Picker(picker)) => matches!(picker.kind, Kind::Filter | Kind::Status | Kind::Labels),
        _ => false,
    };
    let closes = of_list && state.focus == Focus::List && state.overlays.len() == 1;
    if closes {
        state.overlays.pop();
    }
    closes
}

/// Closes the topmost overlay.
pub(super) fn close(state: &mut State) {
    if !close_over_list(state) {
        state.overlays.pop();
        closed(state);
    }
}

/// Esc over the panes.
pub(super) fn back(state: &mut State, fx: &mut Vec<Effect>) {
    if let Some(Overlay::Inbox(inbox)) = state.overlays.last_mut()
        && let Some((_, answering)) = &mut inbox.answering
    {
        if !panel::out_of_words(answering) {
            inbox.answering = None;
        }
        return;
    }
    if close_over_list(state) {
        return;
    }
    state.overlays.pop();
    theme_looked_at(state, fx);
    closed(state);
}

/// A theme is looked at while it is selected, however that came; when the picker closes the one in force comes back.
pub(super) fn theme_looked_at(state: &mut State, fx: &mut Vec<Effect>) {
    let chosen = state.overlays.iter().find_map(|overlay| match overlay {
        Overlay::Picker(picker) if picker.kind == Kind::Theme => Some(picker.chosen().map(|item| &item.value)),
        _ => None,
    });
    let (wanted, ends) = match (chosen, &state.looked_at) {
        (Some(Some(Value::Theme(name))), Some(_)) => (name.clone(), false),
        (None, Some(_)) => (state.theme.clone(), true),
        _ => return,
    };
    if state.looked_at.as_ref() != Some(&wanted) && !wanted.is_empty() {
        fx.push(Effect::Theme { name: wanted.clone(), keep: Keep::No });
    }
    state.looked_at = (!ends).then_some(wanted);
}

/// True if the palette lists a verb: one with a meaning of its own wherever it is called from.
fn in_palette(action: Action) -> bool {
    match action {
        Action::App(verb) => !matches!(
            verb,
            AppAction::Back
                | AppAction::EndOfInput
                | AppAction::Interrupt
                | AppAction::HelpIfEmpty
                | AppAction::Palette
        ),
        Action::Session(SessionAction::Position) => false,
        Action::Chat(ChatAction::Copy | ChatAction::Search) | Action::List(ListAction::Filter) => true,
        Action::Composer(verb) => matches!(
            verb,
            ComposerAction::Steer
                | ComposerAction::Editor
                | ComposerAction::OpenPaste
                | ComposerAction::History
                | ComposerAction::OpenFile
                | ComposerAction::Queue
        ),
        _ => action.contexts().contains(&Context::Global),
    }
}

pub(super) fn palette(state: &mut State) {
    let verbs = Action::ALL
        .iter()
        .filter(|action| in_palette(**action))
        .map(|action| item(action.description(), action.name(), Value::Act(*action)));
    let own = state.commands.iter().map(|own| {
        let about = if own.description.is_empty() { &own.name } else { &own.description };
        item(one_line(about), format!("/{} {}", own.name, own.hint).trim_end(), Value::Own(own.name.clone()))
    });
    let topics = TOPICS
        .iter()
        .map(|topic| item(format!("help: {}", topic.title()), format!("/help {}", topic.name), Value::Topic(topic)));
    let mut items: Vec<Item> = verbs.chain(own).chain(topics).collect();
    // What a session that can only be read is most likely opened for.
    let take_over = Value::Act(Action::Session(SessionAction::TakeOver));
    if state.current_meta().is_some_and(|meta| meta.held_by.is_some())
        && let Some(at) = items.iter().position(|item| item.value == take_over)
        && let Some(first) = items.get_mut(..=at)
    {
        first.rotate_right(1);
    }
    open_picker(state, Kind::Palette, items, 0);
}

pub(super) fn open_help(state: &mut State) {
    let contexts = state.contexts();
    open(state, Overlay::Help(Help { page: HelpPage::Keys(contexts), scroll: 0 }));
}

/// Opens a page of the manual.
pub(super) fn open_topic(state: &mut State, topic: &'static Topic) {
    open(state, Overlay::Help(Help { page: HelpPage::Topic(topic), scroll: 0 }));
}

pub(super) fn help(state: &mut State, verb: HelpAction) {
    let page = isize::try_from(state.frame.overlay_rows.max(2) - 1).unwrap_or(1);
    match verb {
        HelpAction::Up => wheel(state, -1),
        HelpAction::Down => wheel(state, 1),
        HelpAction::PageUp => wheel(state, -page),
        HelpAction::PageDown => wheel(state, page),
        HelpAction::Top => wheel(state, isize::MIN),
        HelpAction::End => wheel(state, isize::MAX),
    }
}

/// Scrolls the topmost overlay, or moves its selection.
pub(super) fn wheel(state: &mut State, by: isize) {
    let hidden = state.frame.overlay_lines.saturating_sub(state.frame.overlay_rows);
    match state.overlays.last_mut() {
        Some(Overlay::Help(help)) => {
            help.scroll = usize::from(help.scroll)
                .saturating_add_signed(by)
                .min(usize::from(hidden))
                .try_into()
                .unwrap_or(u16::MAX);
        }
        Some(Overlay::Picker(picker)) => picker.step(by),
        Some(Overlay::Inbox(inbox)) => match &mut inbox.answering {
            Some((_, panel)) => {
                let most = usize::from(state.frame.panel_hidden);
                let scroll = usize::from(panel.scroll).saturating_add_signed(by).min(most);
                panel.scroll = u16::try_from(scroll).unwrap_or(u16::MAX);
            }
            None => {
                inbox.selected = inbox.selected.saturating_add_signed(by).min(inbox.rows.len().saturating_sub(1));
            }
        },
        Some(Overlay::Find) => find::step(state, by),
        Some(Overlay::Trash(bin)) => {
            let last = bin.rows.as_ref().map_or(0, Vec::len).saturating_sub(1);
            bin.selected = bin.selected.saturating_add_signed(by).min(last);
        }
        Some(Overlay::Audit(audit)) => audit.step(by),
        Some(Overlay::Context(card)) => {
            let scroll = usize::from(card.scroll).saturating_add_signed(by).min(usize::from(hidden));
            card.scroll = u16::try_from(scroll).unwrap_or(u16::MAX);
        }
        Some(Overlay::Usage(usage)) => usage.step(by),
        Some(Overlay::Rules(rules)) => rules.step(by),
        Some(Overlay::Jobs(_)) => jobs::step(state, by),
        Some(Overlay::Queue(_)) => queue::step(state, by),
        Some(Overlay::Health(card)) => {
            let scroll = usize::from(card.scroll).saturating_add_signed(by).min(usize::from(hidden));
            card.scroll = u16::try_from(scroll).unwrap_or(u16::MAX);
        }
        Some(Overlay::Undo(card)) => {
            let last = card.plan.as_ref().map_or(0, |plan| plan.files.len()).saturating_sub(1);
            card.selected = card.selected.saturating_add_signed(by).min(last);
        }
        Some(Overlay::Changes(card)) => {
            let scroll = usize::from(card.scroll).saturating_add_signed(by).min(usize::from(hidden));
            card.scroll = u16::try_from(scroll).unwrap_or(u16::MAX);
        }
        Some(Overlay::Rename(_) | Overlay::Prompt(_) | Overlay::ConfirmQuit | Overlay::Confirm(_)) => {}
        // The filter of the list and the search of the conversation move what they found.
        None if state.focus == Focus::List => {
            state.sessions.step(by);
            list::keep_in_sight(state);
        }
        None if state.focus == Focus::Chat && state.search.is_some() => chat::step_hits(state, by),
        None => {}
    }
}

pub(super) fn rename(state: &mut State, session: Option<SessionId>) {
    let Some((session, title)) = session.and_then(|id| Some((id.clone(), state.sessions.meta(&id)?.shown_title())))
    else {
        return state.notify(Notice::new(Level::Info, "There is no session to rename yet."));
    };
    let title = Line::new(title);
    open(state, Overlay::Rename(Rename { session, title }));
}

pub(super) fn modes(state: &mut State) {
    let now = state.current_meta().map(|meta| meta.mode);
    let holding = state.config.sandbox;
    let items = Mode::ALL
        .into_iter()
        .map(|mode| {
            let what = match mode {
                Mode::Explore if holding == Holding::Nothing => "read only, without a sandbox; never asks",
                Mode::Explore => "read only, held by the sandbox; never asks",
                Mode::Ask => "reading is free, changes ask",
                Mode::Execute => "runs without asking",
            };
            item(mode.shown(), what, Value::Mode(mode))
        })
        .collect();
    let selected = now.and_then(|now| Mode::ALL.iter().position(|mode| *mode == now)).unwrap_or(0);
    open_picker(state, Kind::Mode, items, selected);
}

pub(super) fn themes(state: &mut State) {
    let one = |name: &String| {
        let facts = Facts { current: *name == state.theme, ..Facts::default() };
        let what = if name == "auto" { "follows the terminal's background" } else { "" };
        item(name, what, Value::Theme(name.clone())).with(facts)
    };
    let items = state.themes.iter().map(one).collect();
    let selected = state.themes.iter().position(|name| *name == state.theme).unwrap_or(0);
    state.looked_at = Some(state.theme.clone());
    open_picker(state, Kind::Theme, items, selected);
}

pub(super) fn sessions(state: &mut State) {
    let mut metas: Vec<_> = state.sessions.metas().filter(|meta| !meta.hidden).collect();
    metas.sort_by(|a, b| b.last_message.cmp(&a.last_message).then_with(|| b.id.cmp(&a.id)));
    let items = metas
        .into_iter()
        .map(|meta| {
            let folder = meta.cwd.file_name().unwrap_or(meta.cwd.as_os_str()).to_string_lossy().into_owned();
            let status = if meta.archived { "archived".to_owned() } else { one_line(&meta.status) };
            let mut about = vec![last_line(state, meta)];
            about.retain(|line| !line.is_empty());
            about.push(format!("{}  {}", meta.id, meta.cwd.display()));
            let facts = Facts {
                columns: vec![ago(state.now, meta.last_message), status, one_line(&folder)],
                about,
                current: state.current_id() == Some(&meta.id),
                ..Facts::default()
            };
            let detail = format!("{} {}", meta.cwd.display(), meta.id);
            item(one_line(meta.shown_title()), detail, Value::Session(meta.id.clone())).with(facts)
        })
        .collect();
    open_picker(state, Kind::Session, items, 0);
}

/// The last that was said in a session, as far as it is loaded; else how it began.
fn last_line(state: &State, meta: &crate::domain::SessionMeta) -> String {
    let entries = state.open.get(&meta.id).map(|open| &open.chat.entries);
    let said = entries.into_iter().flatten().rev().find_map(|entry| match &entry.message.body {
        Body::Assistant(said) => Some(("answer: ", &said.text)),
        Body::User(said) => Some(("you: ", &said.text)),
        _ => None,
    });
    match said {
        Some((who, text)) => format!("{who}{}", one_line(text)),
        None => one_line(&meta.preview),
    }
}

/// Age: `now`, `5m`, `3h`, `12d`, `2y`.
pub(super) fn ago(now: At, then: At) -> String {
    let minutes = now.since(then) / 60_000;
    match minutes {
        0 => "now".to_owned(),
        1..60 => format!("{minutes}m"),
        60..1_440 => format!("{}h", minutes / 60),
        1_440..525_600 => format!("{}d", minutes / 1_440),
        _ => format!("{}y", minutes / 525_600),
    }
}

pub(super) fn history(state: &mut State) {
    let texts = state.history.items.iter().rev();
    let items: Vec<Item> = texts.map(|text| item(one_line(text), "", Value::Text(text.clone()))).collect();
    if items.is_empty() {
        return state.notify(Notice::new(Level::Info, "Nothing was sent yet."));
    }
    open_picker(state, Kind::History, items, 0);
}

/// The verbs of lists and inputs.
pub(super) fn act(state: &mut State, verb: PickerAction, fx: &mut Vec<Effect>) {
    let page = isize::try_from(state.frame.overlay_rows.max(2) - 1).unwrap_or(1);
    match verb {
        PickerAction::Up => step(state, -1, fx),
        PickerAction::Down => step(state, 1, fx),
        PickerAction::PageUp => step(state, -page, fx),
        PickerAction::PageDown => step(state, page, fx),
        PickerAction::Accept => accept(state, fx),
        PickerAction::Other => other(state, fx),
    }
}

/// The other thing that can be done with what is selected.
fn other(state: &mut State, fx: &mut Vec<Effect>) {
    let Some(Overlay::Picker(picker)) = state.overlays.last() else { return };
    match picker.kind {
        Kind::Model => model::ask_again(state, fx),
        Kind::Connection => connection::give_key(state, fx),
        Kind::Doctor => doctor::again(state, fx),
        _ => {}
    }
}

fn step(state: &mut State, by: isize, fx: &mut Vec<Effect>) {
    wheel(state, by);
    theme_looked_at(state, fx);
}

/// A click on a row: selects it, and in a picker chooses it.
pub(super) fn press(state: &mut State, at: usize, fx: &mut Vec<Effect>) {
    match state.overlays.last_mut() {
        Some(Overlay::Picker(picker)) if at < picker.hits.len() => picker.selected = at,
        Some(Overlay::Inbox(inbox)) if inbox.answering.is_none() && at < inbox.rows.len() => inbox.selected = at,
        Some(Overlay::Trash(bin)) if bin.rows.as_ref().is_some_and(|rows| at < rows.len()) => {
            // To restore is more than to look: the first click only selects.
            if bin.selected != at {
                bin.selected = at;
                return;
            }
        }
        Some(Overlay::Undo(card)) => {
            // What it does is asked for with Enter.
            card.selected = at;
            return;
        }
        Some(Overlay::Changes(card)) => {
            (card.selected, card.scroll) = (at, 0);
            return;
        }
        Some(Overlay::Audit(audit)) => {
            audit.selected = at.min(audit.entries().len().saturating_sub(1));
            return;
        }
        Some(Overlay::Rules(rules)) => return rules.select(at),
        Some(Overlay::Jobs(_)) => return jobs::select(state, at),
        // A second click on it is what Enter is.
        Some(Overlay::Queue(_)) => {
            if !queue::press(state, at) {
                return;
            }
        }
        Some(Overlay::Usage(usage)) => return usage.select(at),
        Some(Overlay::Find) => {
            if !state.find.select_row(at) {
                return;
            }
        }
        _ => return,
    }
    accept(state, fx);
}

/// Enter in what has the keys: a picker, an input, the inbox, a question.
fn accept(state: &mut State, fx: &mut Vec<Effect>) {
    match state.overlays.last_mut() {
        None => match state.focus {
            Focus::Panel => panel::accept_words(state, fx),
            Focus::List => list::accept_filter(state, fx),
            Focus::Chat => chat::accept_search(state),
            Focus::Composer => {}
        },
        Some(Overlay::Help(_) | Overlay::Health(_) | Overlay::Changes(_) | Overlay::Rules(_) | Overlay::Jobs(_)) => {
            back(state, fx)
        }
        Some(Overlay::Undo(_)) => undo::accept(state, fx),
        Some(Overlay::Queue(_)) => queue::edit(state, fx),
        Some(Overlay::ConfirmQuit) => leave::quit(state, fx),
        Some(Overlay::Find) => find::accept(state, fx),
        Some(Overlay::Trash(_)) => lifecycle::restore(state, fx),
        Some(Overlay::Audit(audit)) => audit.turn(),
        Some(Overlay::Context(card)) => card.turn(),
        Some(Overlay::Usage(usage)) => usage.turn(),
        Some(Overlay::Confirm(asked)) => {
            let deed = asked.deed.clone();
            close(state);
            lifecycle::confirmed(state, deed, fx);
        }
        Some(Overlay::Prompt(_)) => answer_prompt(state, fx),
        Some(Overlay::Rename(rename)) => {
            let (session, title) = (rename.session.clone(), rename.title.text().trim().to_owned());
            state.overlays.pop();
            closed(state);
            // Nothing written: the model is to make one.
            fx.push(to(&session, if title.is_empty() { Act::Retitle } else { Act::Rename { title } }));
        }
        Some(Overlay::Inbox(inbox)) if inbox.answering.is_some() => panel::accept_words(state, fx),
        Some(Overlay::Inbox(_)) => inbox::answer_selected(state, fx),
        Some(Overlay::Picker(picker)) => {
            let Some(value) = picker.chosen().map(|item| item.value.clone()) else { return };
            let sessions = picker.sessions.clone();
            match value {
                Value::Remark => return,
                // Several are changed one after another.
                Value::Setting(key) => return settings::change(state, &key, fx),
                Value::Million => return settings::million(state, fx),
                Value::Switch(what) => return settings::switch(state, what, fx),
                // Several are chosen one after another.
                Value::Label(id) => return properties::toggle(state, &id, sessions, fx),
                Value::LabelEntry(entry) => {
                    wipe(picker);
                    properties::offer_new_label(state);
                    return lifecycle::change(state, sessions, Change::AddLabel(entry), fx);
                }
                Value::NewLabel(name) => {
                    wipe(picker);
                    properties::offer_new_label(state);
                    return properties::define(state, &name, sessions, fx);
                }
                _ => {}
            }
            let from = picker.from;
            close(state);
            match value {
                Value::Act(action) => from_palette(state, action, from, fx),
                Value::Status(id) => lifecycle::change(state, sessions, Change::Status(id), fx),
                value => choose(state, value, fx),
            }
        }
    }
}

/// Clears a query that has been used.
fn wipe(picker: &mut Picker) {
    picker.query = Line::default();
}

/// Does a verb where the palette was opened: in the conversation it is for the chosen entry, in the list for what is
/// chosen there.
fn from_palette(state: &mut State, action: Action, from: Focus, fx: &mut Vec<Effect>) {
    let now = state.focus;
    let of_entry = matches!(action, Action::Session(SessionAction::Branch | SessionAction::Rewind));
    if from == Focus::List && matches!(action, Action::Session(_) | Action::List(_)) {
        state.focus = from;
        state.shown = Shown::List;
        do_action(state, action, None, fx);
    } else if from == Focus::Chat && of_entry {
        state.focus = from;
        do_action(state, action, None, fx);
        if state.focus == from && state.overlays.is_empty() {
            state.focus = now;
        }
    } else {
        do_action(state, action, None, fx);
    }
}

/// Enter in a line that was asked for.
fn answer_prompt(state: &mut State, fx: &mut Vec<Effect>) {
    let Some(Overlay::Prompt(prompt)) = state.overlays.last_mut() else { return };
    let text = prompt.line.text().trim().to_owned();
    if let Wanted::LabelValue { value, .. } = &prompt.wanted
        && let Some(why) = properties::problem(Some(*value), &text)
    {
        prompt.problem = Some(why.to_owned());
        return;
    }
    let wanted = prompt.wanted.clone();
    close(state);
    match wanted {
        Wanted::LabelValue { label, sessions, .. } => {
            lifecycle::change(state, sessions, Change::AddLabel(format!("{label}::{text}")), fx);
        }
        Wanted::Cwd(session) if !text.is_empty() => lifecycle::set_cwd(state, &session, &text, fx),
        Wanted::Import if !text.is_empty() => lifecycle::import(state, &text, fx),
        Wanted::Cwd(_) | Wanted::Import => {}
    }
}

fn choose(state: &mut State, value: Value, fx: &mut Vec<Effect>) {
    match value {
        Value::Act(action) => do_action(state, action, None, fx),
        Value::Model { connection, model } => model::choose(state, connection, &model, fx),
        Value::Own(name) => slash::begin_own(state, &name, fx),
        Value::Topic(topic) => open_topic(state, topic),
        Value::Mode(mode) => session::set_mode(state, mode, false, fx),
        Value::Key(connection) => connection::ask_for_key(state, &connection, fx),
        Value::Connection(connection) => connection::choose(state, &connection, fx),
        Value::Thinking(level) => session::thinking(state, level, fx),
        Value::Theme(name) => {
            state.theme.clone_from(&name);
            state.looked_at = None;
            fx.push(Effect::Theme { name, keep: Keep::Yes });
        }
        Value::Session(id) => session::open(state, &id, fx),
        Value::Text(text) => compose::write(state, &text, fx),
        Value::File(file) => fx.push(Effect::View(file)),
        Value::Rewind(id) => rewind::ask_rewind(state, &id, fx),
        Value::Branch(at) => rewind::branch_at(state, at, fx),
        Value::Facet(facet) => list::choose_facet(state, facet, fx),
        Value::Status(_) | Value::Label(_) | Value::LabelEntry(_) | Value::NewLabel(_) | Value::Remark => {}
        Value::Workspace(written) => workspace::go(state, &written, false, fx),
        Value::NewWorkspace(written) => workspace::go(state, &written, true, fx),
        Value::Setting(_) | Value::Million | Value::Switch(_) => {}
    }
}
