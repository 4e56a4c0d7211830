//! The palette: all verbs, the user's own commands, and the pages of the manual.

use crate::app::shell::{overlay, text};
use crate::app::state::State;
use crate::app::state::picker::{Item, Kind, Value};
use crate::domain::manual::TOPICS;
use crate::keymap::action::{Action, AppAction, ChatAction, ComposerAction, Context, ListAction, SessionAction};

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

pub(crate) fn palette(state: &mut State) {
    let verbs = Action::ALL
        .iter()
        .filter(|action| in_palette(**action))
        .map(|action| overlay::item(action.description(), action.name(), Value::Act(*action)));
    let own = state.drafts.commands.iter().map(|own| {
        let about = if own.description.is_empty() { &own.name } else { &own.description };
        overlay::item(
            text::one_line(about),
            format!("/{} {}", own.name, own.hint).trim_end(),
            Value::Own(own.name.clone()),
        )
    });
    let topics = TOPICS.iter().map(|topic| {
        let title = format!("help: {}", topic.title());
        overlay::item(title, format!("/help {}", topic.name), Value::Topic(topic))
    });
    let mut items: Vec<Item> = verbs.chain(own).chain(topics).collect();
    // What a session that can only be read is most likely opened for.
    let take_over = Value::Act(Action::Session(SessionAction::TakeOver));
    if state.current_meta().is_some_and(|meta| meta.held_by.is_some())
        && let Some(at) = items.iter().position(|item| item.value == take_over)
        && let Some(first) = items.get_mut(..=at)
    {
        first.rotate_right(1);
    }
    overlay::open_picker(state, Kind::Palette, items, 0);
}
