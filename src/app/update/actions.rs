//! Actions, whatever led to them (a key, a slash command, a click): each goes to the feature that does it.

use crate::app::composer::{completion, editing};
use crate::app::conversation::search;
use crate::app::conversation::{mark, reading};
use crate::app::effect::Effect;
use crate::app::overlays::{
    audit, context, doctor, find, health, help, jobs, keys, model_picker, palette, prompt, properties, queue, rename,
    rewind, rules, session_picker, settings, themes, trash, undo, usage, workspaces,
};
use crate::app::overlays::{extensions, filters, history, inbox, modes, sources};
use crate::app::panels::panel;
use crate::app::sessions::{export, list, panes, questions, toggles, turn, walk};
use crate::app::shell::session_list;
use crate::app::shell::{quit, session, session_changes};
use crate::app::state::Focus;
use crate::app::state::State;
use crate::app::state::overlay::Overlay;
use crate::app::state::rules::Purpose;
use crate::app::update::{escape, text_input};
use crate::keymap::action::{Action, AppAction, SessionAction};
use crate::keymap::action::{AnswerAction, ComposerAction, ListAction, ModeAction, PickerAction, TurnAction};
use crate::keymap::key::Key;
use crate::protocol::SessionCommand;

/// Does a verb, whatever led to it. `key` is the last key pressed for it.
pub(super) fn act(state: &mut State, action: Action, key: Option<Key>, fx: &mut Vec<Effect>) {
    match action {
        Action::Session(verb) => session(state, verb, key, fx),
        Action::Turn(TurnAction::Compact) => context::compact(state, String::new(), fx),
        Action::Turn(verb) => turn::turn(state, verb, fx),
        Action::Mode(ModeAction::Pick) => modes::modes(state),
        Action::Mode(verb) => turn::mode(state, verb, fx),
        Action::Model(verb) => model_picker::act(state, verb, fx),
        Action::Composer(ComposerAction::History) => history::history(state),
        Action::Composer(ComposerAction::Queue) => queue::open(state, None),
        Action::Composer(verb) => {
            if !editing::act(state, verb, fx) {
                text_input::edit(state, verb, fx);
            }
        }
        Action::Vim(verb) => editing::modal(state, verb, key),
        Action::Slash(verb) => completion::act(state, verb, fx),
        Action::Chat(verb) => reading::act(state, verb, fx),
        Action::List(ListAction::Rename) => rename::rename(state, state.sessions.selected().cloned()),
        Action::List(ListAction::Filters) => filters::filters(state),
        Action::List(verb) => list::act(state, verb, fx),
        Action::Pane(verb) => panes::pane(state, verb, key, fx),
        Action::Answer(AnswerAction::Inbox) => inbox::open_inbox(state, fx),
        Action::Answer(verb) => panel::act(state, verb, key, fx),
        Action::Picker(verb) => picker(state, verb, fx),
        Action::Find(verb) => find::act(state, verb),
        Action::Undo(verb) => undo::act(state, verb, fx),
        Action::Rules(verb) => rules::act(state, verb),
        Action::Job(verb) => jobs::act(state, verb, fx),
        Action::Queue(verb) => queue::act(state, verb, fx),
        Action::Health(verb) => health::health_act(state, verb, fx),
        Action::Help(verb) => keys::help(state, verb),
        Action::App(AppAction::Back) => escape::back(state, fx),
        Action::App(AppAction::Interrupt) => quit::interrupt(state, key, fx),
        Action::App(AppAction::EndOfInput) => quit::end_of_input(state, key, fx),
        Action::App(AppAction::Quit) => quit::ask(state, fx),
        Action::App(AppAction::Palette) => palette::palette(state),
        Action::App(AppAction::Help) => help::open_help(state),
        Action::App(AppAction::HelpIfEmpty) if state.composer().is_empty() => help::open_help(state),
        Action::App(AppAction::HelpIfEmpty) => text_input::type_into(state, key),
        Action::App(AppAction::Theme) => themes::themes(state),
        Action::App(AppAction::Mouse) => mark::give_mouse(state, fx),
        Action::App(AppAction::Settings) => settings::open(state, fx),
        Action::App(AppAction::Doctor) => doctor::open(state, fx),
        Action::App(AppAction::Notices) => doctor::notices(state),
        Action::App(AppAction::Repaint) => fx.push(Effect::Repaint),
        Action::App(AppAction::Suspend) => fx.push(Effect::Suspend),
    }
}

/// A verb of the shown session, or of the chosen ones.
fn session(state: &mut State, verb: SessionAction, key: Option<Key>, fx: &mut Vec<Effect>) {
    match verb {
        SessionAction::New => session::new(state, fx),
        SessionAction::Worktree => walk::apart(state, fx),
        SessionAction::Rename => rename::rename(state, state.current_id().cloned()),
        SessionAction::Switch => session_picker::sessions(state),
        SessionAction::Flag => toggles::flag(state, fx),
        SessionAction::Archive => toggles::archive(state, fx),
        SessionAction::Unarchive => toggles::unarchive(state, fx),
        SessionAction::Reset => walk::reset(state, fx),
        SessionAction::Unread => toggles::unread(state, fx),
        SessionAction::Hide => toggles::hide(state, fx),
        SessionAction::Next => walk::beside(state, 1, fx),
        SessionAction::Previous => walk::beside(state, -1, fx),
        SessionAction::Position => {
            let place = key.and_then(Key::digit).and_then(|digit| state.sessions.order().nth(digit - 1)).cloned();
            if let Some(id) = place {
                session::open(state, &id, fx);
            }
        }
        SessionAction::Search => find::open(state, None, fx),
        verb => of_session(state, verb, fx),
    }
}

fn of_session(state: &mut State, verb: SessionAction, fx: &mut Vec<Effect>) {
    match verb {
        SessionAction::Status => properties::statuses(state, session_changes::targets(state)),
        SessionAction::Labels => properties::labels(state, session_changes::targets(state)),
        SessionAction::Branch => rewind::branch(state, fx),
        SessionAction::Parent => walk::parent(state, fx),
        SessionAction::Child => walk::child(state, fx),
        SessionAction::Retitle => {
            for id in session_changes::targets(state) {
                fx.push(session::to(&id, SessionCommand::Retitle));
            }
        }
        SessionAction::Rewind => rewind::rewind(state, fx),
        SessionAction::Export => export::export(state, None, None, fx),
        SessionAction::Share => export::share(state, fx),
        SessionAction::Unshare => export::unshare(state, fx),
        SessionAction::Import => fx.push(Effect::Histories),
        SessionAction::Clear => questions::ask_clear(state),
        SessionAction::Delete => questions::ask_delete(state, &session_changes::targets(state), false),
        SessionAction::Trash => trash::open_trash(state, fx),
        SessionAction::Health => health::open_health(state, fx),
        SessionAction::Audit => audit::open_audit(state, fx),
        SessionAction::Context => context::open(state, Default::default(), fx),
        SessionAction::Usage => usage::open_usage(state, fx),
        SessionAction::Sources => sources::open(state, fx),
        SessionAction::Extensions => extensions::open(state, fx),
        SessionAction::Rules => rules::open(state, Purpose::List, fx),
        SessionAction::Trust => rules::open(state, Purpose::Trust, fx),
        SessionAction::Cwd => prompt::ask_cwd(state),
        SessionAction::TakeOver => questions::ask_take_over(state),
        SessionAction::Workspace => workspaces::open(state, fx),
        SessionAction::New
        | SessionAction::Worktree
        | SessionAction::Flag
        | SessionAction::Archive
        | SessionAction::Unarchive
        | SessionAction::Reset
        | SessionAction::Unread
        | SessionAction::Hide
        | SessionAction::Rename
        | SessionAction::Switch
        | SessionAction::Next
        | SessionAction::Previous
        | SessionAction::Position
        | SessionAction::Search => {}
    }
}

/// A verb of lists and inputs: in the topmost overlay, or in the input of a pane.
fn picker(state: &mut State, verb: PickerAction, fx: &mut Vec<Effect>) {
    match state.overlays.last() {
        Some(Overlay::Inbox(inbox)) if verb == PickerAction::Accept && inbox.answering.is_some() => {
            panel::accept_words(state, fx);
        }
        Some(_) => keys::act(state, verb, fx),
        None => in_pane(state, verb, fx),
    }
}

/// A verb of inputs in the words of a panel, the filter of the list, the search of the conversation.
fn in_pane(state: &mut State, verb: PickerAction, fx: &mut Vec<Effect>) {
    let page = isize::try_from(state.screen.frame.overlay_rows.max(2) - 1).unwrap_or(1);
    let by = match verb {
        PickerAction::Up => -1,
        PickerAction::Down => 1,
        PickerAction::PageUp => -page,
        PickerAction::PageDown => page,
        PickerAction::Other => return,
        PickerAction::Accept => {
            return match state.focus {
                Focus::Panel => panel::accept_words(state, fx),
                Focus::List => list::accept_filter(state, fx),
                Focus::Chat => search::accept_search(state),
                Focus::Composer => {}
            };
        }
    };
    match state.focus {
        Focus::List => {
            state.sessions.step(by);
            session_list::keep_in_sight(state);
        }
        Focus::Chat if state.searches.conversation.is_some() => search::step_hits(state, by),
        _ => {}
    }
}
