//! What lies over the panes: opening, choosing, closing. When the last one closes, the composer has the focus.

use super::{act as do_action, chat, compose, leave, list, panel, session, to};
use crate::app::action::{
    Action, AppAction, ChatAction, ComposerAction, Context, HelpAction, ListAction, ModelAction, PickerAction,
    SessionAction,
};
use crate::app::effect::{Effect, Keep};
use crate::app::state::edit::Line;
use crate::app::state::overlay::{Help, Inbox, Overlay, Rename, Waiting};
use crate::app::state::panel::{Panel, Stage};
use crate::app::state::picker::{Item, Kind, Picker, Value};
use crate::app::state::sessions::needs_you;
use crate::app::state::{Focus, State, fuzzy};
use crate::domain::contract::{Act, Command};
use crate::domain::ids::{ConnectionName, RequestId, SessionId};
use crate::domain::request::{Ask, Request};
use crate::domain::session::{Activity, ThinkingLevel};
use crate::domain::{Level, Mode, Notice};

fn open(state: &mut State, overlay: Overlay) {
    panel::give_back(state);
    state.overlays.push(overlay);
}

fn open_picker(state: &mut State, kind: Kind, items: Vec<Item>, selected: usize) {
    open(state, Overlay::Picker(Box::new(Picker::new(kind, items, selected))));
}

fn item(label: impl Into<String>, detail: impl Into<String>, value: Value) -> Item {
    Item { label: label.into(), detail: detail.into(), value }
}

/// A text as one line of a list.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(300).collect()
}

fn closed(state: &mut State) {
    if state.overlays.is_empty() {
        state.focus = Focus::Composer;
        state.shown = Default::default();
    }
}

/// Esc over the panes.
pub(super) fn back(state: &mut State, fx: &mut Vec<Effect>) {
    if let Some(Overlay::Inbox(inbox)) = state.overlays.last_mut()
        && let Some((_, answering)) = &mut inbox.answering
    {
        if matches!(answering.stage, Stage::Writing { .. }) {
            panel::leave_words(answering);
            answering.selected = None;
        } else {
            inbox.answering = None;
        }
        return;
    }
    if let Some(Overlay::Picker(picker)) = state.overlays.pop()
        && picker.kind == Kind::Theme
        && !state.theme.is_empty()
    {
        fx.push(Effect::Theme { name: state.theme.clone(), keep: Keep::No });
    }
    closed(state);
}

/// Whether the palette offers a verb: one that has a meaning of its own wherever it is called from.
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
                | ComposerAction::Queue
        ),
        _ => action.contexts().contains(&Context::Global),
    }
}

pub(super) fn palette(state: &mut State) {
    let items = Action::ALL
        .iter()
        .filter(|action| in_palette(**action))
        .map(|action| item(action.description(), action.name(), Value::Act(*action)))
        .collect();
    open_picker(state, Kind::Palette, items, 0);
}

pub(super) fn open_help(state: &mut State) {
    let contexts = state.contexts();
    open(state, Overlay::Help(Help { contexts, scroll: 0 }));
}

pub(super) fn help(state: &mut State, verb: HelpAction) {
    let page = isize::try_from(state.frame.overlay_rows.max(2) - 1).unwrap_or(1);
    match verb {
        HelpAction::Up => wheel(state, -1),
        HelpAction::Down => wheel(state, 1),
        HelpAction::PageUp => wheel(state, -page),
        HelpAction::PageDown => wheel(state, page),
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
        Some(Overlay::Rename(_) | Overlay::ConfirmQuit) | None => {}
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
    let items = Mode::ALL
        .into_iter()
        .map(|mode| {
            let what = match mode {
                Mode::Explore => "read only; never asks",
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
    let items = state.themes.iter().map(|name| item(name, "", Value::Theme(name.clone()))).collect();
    let selected = state.themes.iter().position(|name| *name == state.theme).unwrap_or(0);
    open_picker(state, Kind::Theme, items, selected);
}

pub(super) fn model(state: &mut State, verb: ModelAction, fx: &mut Vec<Effect>) {
    match verb {
        ModelAction::Pick => {
            let (items, selected) = model_items(state);
            open_picker(state, Kind::Model, items, selected);
            ask_for_models(state, fx);
        }
        ModelAction::Thinking => {
            let now = state.current_meta().map(|meta| meta.thinking);
            let items =
                ThinkingLevel::ALL.into_iter().map(|level| item(level.word(), "", Value::Thinking(level))).collect();
            let selected = now.and_then(|now| ThinkingLevel::ALL.iter().position(|level| *level == now)).unwrap_or(0);
            open_picker(state, Kind::Thinking, items, selected);
        }
    }
}

/// The connection that the shown session cannot leave any more.
fn locked(state: &State) -> Option<ConnectionName> {
    state.current_meta().filter(|meta| meta.connection_locked).and_then(|meta| meta.connection.clone())
}

/// Asks the servers of the connections in question, once each; what was found and not chosen is not asked.
fn ask_for_models(state: &State, fx: &mut Vec<Effect>) {
    let locked = locked(state);
    for connection in &state.config.connections {
        let other = locked.as_ref().is_some_and(|name| *name != connection.name);
        let known = matches!(state.models.get(&connection.name), Some(Ok(_)));
        if !other && !known && !connection.offered && connection.missing.is_none() {
            fx.push(Effect::Send(Command::Models { connection: connection.name.clone() }));
        }
    }
}

fn model_items(state: &State) -> (Vec<Item>, usize) {
    let locked = locked(state);
    let meta = state.current_meta();
    let mut items = Vec::new();
    let mut selected = 0;
    for connection in &state.config.connections {
        if locked.as_ref().is_some_and(|name| *name != connection.name) {
            continue;
        }
        let mut models: Vec<&String> = Vec::new();
        let told = state.models.get(&connection.name).and_then(|models| models.as_ref().ok());
        let default = Some(&connection.default_model).filter(|model| !model.is_empty());
        for model in default.into_iter().chain(&connection.models).chain(told.into_iter().flatten()) {
            if !models.contains(&model) {
                models.push(model);
            }
        }
        if let Some(why) = &connection.missing {
            items.push(item(connection.name.as_str(), why, Value::Remark));
        } else if let Some(Err(why)) = state.models.get(&connection.name) {
            items.push(item(connection.name.as_str(), one_line(why), Value::Remark));
        }
        for model in models {
            let here = meta.is_some_and(|meta| {
                meta.connection.as_ref().is_none_or(|name| *name == connection.name)
                    && meta.model.as_ref().unwrap_or(&connection.default_model) == model
            });
            if here && selected == 0 {
                selected = items.len();
            }
            let value = Value::Model { connection: connection.name.clone(), model: model.clone() };
            items.push(item(model, connection.name.as_str(), value));
        }
    }
    (items, selected)
}

/// Models came in: an open picker of models shows them.
pub(super) fn refill_models(state: &mut State) {
    let (items, _) = model_items(state);
    for overlay in &mut state.overlays {
        if let Overlay::Picker(picker) = overlay
            && picker.kind == Kind::Model
        {
            return picker.refill(items);
        }
    }
}

/// `/model NAME`: the model of exactly that name, else the only one that begins so; a name that is not listed goes to the
/// connection as it is, because a server may know more than it tells.
pub(super) fn choose_model_named(state: &mut State, name: &str, fx: &mut Vec<Effect>) -> Result<(), String> {
    let (items, _) = model_items(state);
    let models = || items.iter().filter(|item| matches!(item.value, Value::Model { .. }));
    let exact = models().find(|item| item.label == name);
    let mut begins = models().filter(|item| item.label.starts_with(name));
    let found = exact.or_else(|| begins.next().filter(|_| begins.next().is_none()));
    let value = match found {
        Some(item) => item.value.clone(),
        None if name.contains(char::is_whitespace) => {
            let near = fuzzy::nearest(name, models().map(|item| item.label.as_str()));
            return Err(near.map_or_else(
                || "A model's name has no blanks.".to_owned(),
                |near| format!("There is no such model. The nearest is {near}."),
            ));
        }
        None => return Ok(set_model(state, None, name, fx)),
    };
    if let Value::Model { connection, model } = value {
        set_model(state, Some(connection), &model, fx);
    }
    Ok(())
}

fn set_model(state: &mut State, connection: Option<ConnectionName>, model: &str, fx: &mut Vec<Effect>) {
    let connection = connection.filter(|_| locked(state).is_none());
    match state.current_id() {
        Some(id) => fx.push(to(id, Act::Model { connection, model: model.to_owned() })),
        None => state.notify(Notice::new(Level::Info, "The session is being made; choose the model in a moment.")),
    }
}

pub(super) fn sessions(state: &mut State) {
    let mut metas: Vec<_> = state.sessions.metas().filter(|meta| !meta.hidden).collect();
    metas.sort_by(|a, b| b.last_message.cmp(&a.last_message).then_with(|| b.id.cmp(&a.id)));
    let items = metas
        .into_iter()
        .map(|meta| {
            let archived = if meta.archived { "archived  " } else { "" };
            let detail = format!("{archived}{}", meta.cwd.display());
            item(one_line(meta.shown_title()), detail, Value::Session(meta.id.clone()))
        })
        .collect();
    open_picker(state, Kind::Session, items, 0);
}

pub(super) fn history(state: &mut State) {
    let texts = state.history.items.iter().rev();
    let items: Vec<Item> = texts.map(|text| item(one_line(text), "", Value::Text(text.clone()))).collect();
    if items.is_empty() {
        return state.notify(Notice::new(Level::Info, "Nothing was sent yet."));
    }
    open_picker(state, Kind::History, items, 0);
}

pub(super) fn queue(state: &mut State) {
    let queue = state.current_open().map_or(&[][..], |open| &open.queue);
    let items: Vec<Item> = queue.iter().map(|q| item(one_line(&q.text), "", Value::Queued(q.id.clone()))).collect();
    if items.is_empty() {
        return state.notify(Notice::new(Level::Info, "Nothing is queued in this session."));
    }
    let last = items.len() - 1;
    open_picker(state, Kind::Queue, items, last);
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
    }
}

fn step(state: &mut State, by: isize, fx: &mut Vec<Effect>) {
    wheel(state, by);
    // A theme is looked at while it is selected.
    if let Some(Overlay::Picker(picker)) = state.overlays.last()
        && let Some(Value::Theme(name)) = picker.chosen().map(|item| &item.value)
    {
        fx.push(Effect::Theme { name: name.clone(), keep: Keep::No });
    }
}

/// A click on a row: selects it, and in a picker chooses it.
pub(super) fn press(state: &mut State, at: usize, fx: &mut Vec<Effect>) {
    match state.overlays.last_mut() {
        Some(Overlay::Picker(picker)) if at < picker.hits.len() => picker.selected = at,
        Some(Overlay::Inbox(inbox)) if inbox.answering.is_none() && at < inbox.rows.len() => inbox.selected = at,
        _ => return,
    }
    accept(state, fx);
}

/// Enter in what has the keys: a picker, an input, the inbox, a question.
fn accept(state: &mut State, fx: &mut Vec<Effect>) {
    match state.overlays.last_mut() {
        None => match state.focus {
            Focus::Panel => panel::accept_words(state, fx),
            Focus::List => list::accept_filter(state),
            Focus::Chat => chat::accept_search(state),
            Focus::Composer => {}
        },
        Some(Overlay::Help(_)) => back(state, fx),
        Some(Overlay::ConfirmQuit) => leave::quit(state, fx),
        Some(Overlay::Rename(rename)) => {
            let (session, title) = (rename.session.clone(), rename.title.text().trim().to_owned());
            state.overlays.pop();
            closed(state);
            if !title.is_empty() {
                fx.push(to(&session, Act::Rename { title }));
            }
        }
        Some(Overlay::Inbox(inbox)) if inbox.answering.is_some() => panel::accept_words(state, fx),
        Some(Overlay::Inbox(_)) => answer_selected(state, fx),
        Some(Overlay::Picker(picker)) => {
            let Some(value) = picker.chosen().map(|item| item.value.clone()) else { return };
            if value == Value::Remark {
                return;
            }
            state.overlays.pop();
            closed(state);
            choose(state, value, fx);
        }
    }
}

fn choose(state: &mut State, value: Value, fx: &mut Vec<Effect>) {
    match value {
        Value::Act(action) => do_action(state, action, None, fx),
        Value::Model { connection, model } => set_model(state, Some(connection), &model, fx),
        Value::Mode(mode) => session::set_mode(state, mode, false, fx),
        Value::Thinking(level) => session::thinking(state, level, fx),
        Value::Theme(name) => {
            state.theme.clone_from(&name);
            fx.push(Effect::Theme { name, keep: Keep::Yes });
        }
        Value::Session(id) => session::open(state, &id, fx),
        Value::Text(text) => compose::write(state, &text, fx),
        Value::Queued(id) => {
            let queued = state.current_open().and_then(|open| open.queue.iter().find(|q| q.id == id)).cloned();
            match queued {
                Some(queued) => compose::take_queued(state, &queued, fx),
                None => state.notify(Notice::new(Level::Info, "That message was sent meanwhile.")),
            }
        }
        Value::Remark => {}
    }
}

/// What a request asks, in a few words.
fn in_words(request: &Request) -> String {
    match &request.ask {
        Ask::Approval(approval) => format!("{}: {}", approval.tool, one_line(&approval.subject)),
        Ask::Plan(plan) => format!("plan: {}", one_line(&plan.title)),
        Ask::Question(question) => one_line(&question.text),
    }
}

/// All that waits: the requests of loaded sessions, and of the others that something waits there.
fn waiting(state: &State) -> Vec<Waiting> {
    let mut metas: Vec<_> = state.sessions.metas().collect();
    metas.sort_by(|a, b| b.last_message.cmp(&a.last_message).then_with(|| b.id.cmp(&a.id)));
    let mut rows = Vec::new();
    for meta in metas {
        let row = |request: Option<RequestId>, what: String| Waiting {
            session: meta.id.clone(),
            request,
            title: meta.shown_title().to_owned(),
            what,
        };
        match state.open.get(&meta.id).filter(|open| open.loaded) {
            Some(open) => rows.extend(open.requests.iter().map(|r| row(Some(r.id.clone()), in_words(r)))),
            None if needs_you(meta) => {
                let what = match &meta.activity {
                    Activity::NeedsYou(what) => what.clone(),
                    _ => "plan".to_owned(),
                };
                rows.push(row(None, what));
            }
            None => {}
        }
    }
    rows
}

/// Opens the inbox, and asks for what waits in sessions that are not loaded.
pub(super) fn open_inbox(state: &mut State, fx: &mut Vec<Effect>) {
    if matches!(state.overlays.last(), Some(Overlay::Inbox(_))) {
        return;
    }
    let rows = waiting(state);
    let missing: Vec<SessionId> =
        rows.iter().filter(|row| row.request.is_none()).map(|row| row.session.clone()).collect();
    for id in &missing {
        session::load(state, id, fx);
    }
    open(state, Overlay::Inbox(Box::new(Inbox { rows, ..Inbox::default() })));
}

/// Keeps the rows of an open inbox true. A request that is answered elsewhere leaves; keys meant for it are dropped.
pub(super) fn refresh_inbox(state: &mut State) {
    let Some(Overlay::Inbox(inbox)) = state.overlays.last() else { return };
    let selected = inbox.rows.get(inbox.selected).cloned();
    let place = inbox.selected;
    let gone =
        inbox.answering.as_ref().is_some_and(|(session, panel)| state.request(session, &panel.request).is_none());
    let rows = waiting(state);
    if gone {
        panel::hush(state);
    }
    let Some(Overlay::Inbox(inbox)) = state.overlays.last_mut() else { return };
    if gone {
        inbox.answering = None;
    }
    let same = |row: &Waiting| selected.as_ref().is_some_and(|s| s.session == row.session && s.request == row.request);
    let found = rows.iter().position(same);
    let moved = found.is_none() && selected.is_some() && inbox.answering.is_none();
    inbox.selected = found.unwrap_or(place).min(rows.len().saturating_sub(1));
    inbox.rows = rows;
    if moved {
        // Another row stands where the selected one was.
        panel::hush(state);
    }
}

/// What is asked has changed: an answer begun in the inbox covered other bytes.
pub(super) fn forget_answer(state: &mut State, session: &SessionId, request: &RequestId) {
    let Some(new) = state.request(session, request).map(Panel::new) else { return };
    let mut changed = false;
    for overlay in &mut state.overlays {
        if let Overlay::Inbox(inbox) = overlay
            && let Some((of, panel)) = &mut inbox.answering
            && of == session
            && panel.request == *request
        {
            *panel = new.clone();
            changed = true;
        }
    }
    if changed {
        panel::hush(state);
    }
}

fn answer_selected(state: &mut State, fx: &mut Vec<Effect>) {
    let Some(Overlay::Inbox(inbox)) = state.overlays.last() else { return };
    let Some(row) = inbox.rows.get(inbox.selected).cloned() else { return };
    let panel = row.request.as_ref().and_then(|id| state.request(&row.session, id)).map(Panel::new);
    match panel {
        Some(panel) => {
            if let Some(Overlay::Inbox(inbox)) = state.overlays.last_mut() {
                inbox.answering = Some((row.session, panel));
            }
            panel::hush(state);
        }
        None => session::load(state, &row.session, fx),
    }
}
