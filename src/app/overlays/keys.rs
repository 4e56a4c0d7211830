//! Keys and mouse in overlays: moving, choosing, closing.

use crate::app::effect::{Effect, Keep};
use crate::app::intent::Intent;
use crate::app::overlays::{
    confirm, connection_picker, doctor, filters, find, help, inbox, jobs, model_picker, prompt, properties, queue,
    rewind, settings, themes, trash, undo, workspaces,
};
use crate::app::overlays::{extensions, sources};
use crate::app::shell::{connecting, connections, draft, focus, labels, overlay, quit, session, session_changes};
use crate::app::state::edit::Line;
use crate::app::state::hidden::holds_a_key;
use crate::app::state::overlay::Overlay;
use crate::app::state::picker::{Kind, Picker, Value};
use crate::app::state::{Blind, State};
use crate::domain::notice::{Level, Notice};
use crate::domain::property_change::PropertyChange;
use crate::keymap::action::{HelpAction, PickerAction};
use crate::protocol::SessionCommand;

/// Esc over the panes.
pub(crate) fn back(state: &mut State, fx: &mut Vec<Effect>) {
    if let Some(Overlay::Inbox(inbox)) = state.overlays.last_mut()
        && let Some((_, answering)) = &mut inbox.answering
    {
        if !focus::out_of_words(answering) {
            inbox.answering = None;
        }
        return;
    }
    if overlay::close_in_place(state) {
        return;
    }
    state.overlays.pop();
    themes::theme_looked_at(state, fx);
    overlay::closed(state);
}

pub(crate) fn help(state: &mut State, verb: HelpAction) {
    let page = isize::try_from(state.screen.frame.overlay_rows.max(2) - 1).unwrap_or(1);
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
pub(crate) fn wheel(state: &mut State, by: isize) {
    let hidden = state.screen.frame.overlay_lines.saturating_sub(state.screen.frame.overlay_rows);
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
                panel.scroll_by(by, state.screen.frame.panel_scroll, state.screen.frame.panel_hidden);
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
        Some(Overlay::Sources(card)) => card.step(by),
        Some(Overlay::Extensions(card)) => card.step(by),
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
        Some(Overlay::Confirm(asked)) => {
            let scroll = usize::from(asked.scroll).saturating_add_signed(by).min(usize::from(hidden));
            asked.scroll = u16::try_from(scroll).unwrap_or(u16::MAX);
        }
        Some(Overlay::Rename(_) | Overlay::Prompt(_) | Overlay::ConfirmQuit) => {}
        None => {}
    }
}

/// The verbs of lists and inputs.
pub(crate) fn act(state: &mut State, verb: PickerAction, fx: &mut Vec<Effect>) {
    let page = isize::try_from(state.screen.frame.overlay_rows.max(2) - 1).unwrap_or(1);
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
        Kind::Model => model_picker::ask_again(state, fx),
        Kind::Connection => connection_picker::give_key(state, fx),
        Kind::Doctor => doctor::again(state, fx),
        _ => {}
    }
}

fn step(state: &mut State, by: isize, fx: &mut Vec<Effect>) {
    wheel(state, by);
    themes::theme_looked_at(state, fx);
}

/// A click on a row: selects it, and in a picker chooses it.
pub(crate) fn press(state: &mut State, at: usize, fx: &mut Vec<Effect>) {
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
        // A second click on it is what Enter is.
        Some(Overlay::Extensions(card)) => {
            if card.selected != at {
                card.select(at);
                return;
            }
        }
        // A second click on it is what Enter is.
        Some(Overlay::Sources(card)) => {
            if card.selected != at {
                card.select(at);
                return;
            }
        }
        Some(Overlay::Jobs(_)) => return jobs::select(state, at),
        // A second click on it is what Enter is.
        Some(Overlay::Queue(_)) => {
            if !queue::press(state, at) {
                return;
            }
        }
        Some(Overlay::Usage(usage)) => return usage.select(at),
        Some(Overlay::Find) => {
            if !state.searches.sessions.select_row(at) {
                return;
            }
        }
        _ => return,
    }
    accept(state, fx);
}

/// True for an Enter behind words that the dialog swallowed: whoever wrote them was not answering it. The next one counts.
fn was_typed(state: &mut State, verb: &str) -> bool {
    let was = state.input.blind == Blind::Swallowed;
    if was {
        state.input.blind = Blind::No;
        state.notify(Notice::new(Level::Info, "This dialog takes no text").hint(format!("enter again: {verb}")));
    }
    was
}

/// Turns a page of a question that is longer than its sheet: nobody agrees to what he has not seen. False at its end.
fn reads_on(state: &mut State) -> bool {
    let (rows, lines) = (state.screen.frame.overlay_rows, state.screen.frame.overlay_lines);
    let Some(Overlay::Confirm(asked)) = state.overlays.last() else { return false };
    let is_more = lines > rows.saturating_add(asked.scroll);
    if is_more {
        wheel(state, isize::try_from(rows.max(2) - 1).unwrap_or(1));
    }
    is_more
}

/// Enter in what has the keys: a picker, an input, the inbox, a question.
fn accept(state: &mut State, fx: &mut Vec<Effect>) {
    let asked = match state.overlays.last() {
        Some(Overlay::ConfirmQuit) => Some("quit".to_owned()),
        Some(Overlay::Confirm(asked)) => Some(asked.verb.clone()),
        _ => None,
    };
    if asked.is_none_or(|verb| !was_typed(state, &verb) && !reads_on(state)) {
        accepted(state, fx);
    }
}

fn accepted(state: &mut State, fx: &mut Vec<Effect>) {
    match state.overlays.last_mut() {
        None => {}
        Some(Overlay::Help(_) | Overlay::Health(_) | Overlay::Changes(_) | Overlay::Rules(_) | Overlay::Jobs(_)) => {
            back(state, fx)
        }
        Some(Overlay::Undo(_)) => undo::accept(state, fx),
        Some(Overlay::Queue(_)) => queue::edit(state, fx),
        Some(Overlay::ConfirmQuit) => quit::quit(state, fx),
        Some(Overlay::Find) => find::accept(state, fx),
        Some(Overlay::Trash(_)) => trash::restore(state, fx),
        Some(Overlay::Audit(audit)) => audit.turn(),
        Some(Overlay::Sources(_)) => sources::toggle(state, fx),
        Some(Overlay::Extensions(_)) => extensions::accept(state, fx),
        Some(Overlay::Context(card)) => card.turn(),
        Some(Overlay::Usage(usage)) => usage.turn(),
        Some(Overlay::Confirm(asked)) => {
            let deed = asked.deed.clone();
            overlay::close(state);
            confirm::confirmed(state, deed, fx);
        }
        Some(Overlay::Prompt(_)) => prompt::answer_prompt(state, fx),
        Some(Overlay::Rename(rename)) => {
            let (session, title) = (rename.session.clone(), rename.title.text().trim().to_owned());
            overlay::close(state);
            // Nothing written: the model is to make one.
            fx.push(session::to(
                &session,
                if title.is_empty() { SessionCommand::Retitle } else { SessionCommand::Rename { title } },
            ));
        }
        // The words of an answer have the keys: the router gives them.
        Some(Overlay::Inbox(inbox)) if inbox.answering.is_some() => {}
        Some(Overlay::Inbox(_)) => inbox::answer_selected(state, fx),
        Some(Overlay::Picker(picker)) if picker.kind == Kind::Connection && holds_a_key(picker.query.text()) => {
            connection_picker::use_key(state, fx)
        }
        Some(Overlay::Picker(picker)) => {
            let Some(value) = picker.chosen().map(|item| item.value.clone()) else { return };
            let sessions = picker.sessions.clone();
            match value {
                Value::Remark => return,
                Value::OtherServer => {
                    let typed = picker.query.text().trim().to_owned();
                    overlay::close(state);
                    return connecting::ask_for_address(state, &typed);
                }
                // Several are changed one after another.
                Value::Setting(key) => return settings::change(state, &key, fx),
                Value::Million => return settings::million(state, fx),
                Value::Switch(what) => return settings::switch(state, what, fx),
                // Several are chosen one after another.
                Value::Label(id) => return labels::toggle(state, &id, sessions, fx),
                Value::LabelEntry(entry) => {
                    wipe(picker);
                    properties::offer_new_label(state);
                    return session_changes::change_all(state, sessions, PropertyChange::AddLabel(entry), fx);
                }
                Value::NewLabel(name) => {
                    wipe(picker);
                    properties::offer_new_label(state);
                    return properties::define(state, &name, sessions, fx);
                }
                _ => {}
            }
            let from = picker.from;
            overlay::close(state);
            match value {
                Value::Act(action) => state.follow_up(Intent::ActFrom { action, from }),
                Value::Status(id) => session_changes::change_all(state, sessions, PropertyChange::Status(id), fx),
                value => choose(state, value, fx),
            }
        }
    }
}

/// Clears a query that has been used.
fn wipe(picker: &mut Picker) {
    picker.query = Line::default();
}

fn choose(state: &mut State, value: Value, fx: &mut Vec<Effect>) {
    match value {
        Value::Act(action) => state.follow_up(Intent::Act(action)),
        Value::Model { connection, model } => model_picker::choose(state, connection, &model, fx),
        Value::Own(name) => state.follow_up(Intent::BeginOwn(name)),
        Value::Topic(topic) => help::open_topic(state, topic),
        Value::Mode(mode) => session::set_mode(state, mode, false, fx),
        Value::Key(connection) => connections::ask_for_key(state, &connection, fx),
        Value::UseKey(connection) => state.follow_up(Intent::UseKey(connection)),
        Value::SendKey => state.follow_up(Intent::SendKey),
        Value::DropKey => drop(state.composer_mut().take()),
        Value::Connection(connection) => connection_picker::choose(state, &connection, fx),
        Value::OtherServer => connecting::ask_for_address(state, ""),
        Value::Thinking(level) => session::thinking(state, level, fx),
        Value::Theme(name) => {
            state.theme.current.clone_from(&name);
            state.theme.previewed = None;
            fx.push(Effect::Theme { name, keep: Keep::Yes });
        }
        Value::Session(id) => session::open(state, &id, fx),
        Value::Text(text) => draft::write(state, &text, fx),
        Value::File(file) => fx.push(Effect::View(file)),
        Value::Rewind(id) => rewind::ask_rewind(state, &id, fx),
        Value::Import(program) => prompt::import(state, program, fx),
        Value::ImportPath => prompt::ask_import(state),
        Value::Branch(at) => rewind::branch_at(state, at, fx),
        Value::Facet(facet) => filters::choose_facet(state, facet, fx),
        Value::Status(_) | Value::Label(_) | Value::LabelEntry(_) | Value::NewLabel(_) | Value::Remark => {}
        Value::Workspace(written) => workspaces::go(state, &written, false, fx),
        Value::NewWorkspace(written) => workspaces::go(state, &written, true, fx),
        Value::Setting(_) | Value::Million | Value::Switch(_) => {}
    }
}
