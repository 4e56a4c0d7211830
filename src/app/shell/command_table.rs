//! Table of all commands: slash commands, the user's own, and verbs that only have keys. Slash menu and palette list it, so
//! that both show the same names, words and order.

use crate::app::shell::text;
use crate::app::slash::Slash;
use crate::app::state::State;
use crate::app::state::ranked::{self, Named};
use crate::domain::extension::ExtensionKind;
use crate::domain::manual::{TOPICS, Topic};
use crate::keymap::action::{Action, AppAction, ChatAction, ComposerAction, Context, ListAction, SessionAction};

/// Commands that were used last and are remembered.
const REMEMBERED: usize = 20;

/// A command of the table.
#[derive(Clone, Debug)]
pub(crate) struct CommandRow {
    /// Name without the slash; empty for a verb that only has keys.
    pub name: String,
    /// Arguments.
    pub usage: String,
    /// Description in a line.
    pub about: String,
    /// Id in keymaps: searched, not shown.
    pub id: &'static str,
    /// The command.
    pub command: Command,
}

/// Subject of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// A slash command.
    Slash(Slash),
    /// A command of the user's own, by its place.
    Own(usize),
    /// A verb without a slash command.
    Verb(Action),
    /// A page of the manual.
    Topic(&'static Topic),
}

/// Slash commands and the user's own: what a draft can begin with.
pub(crate) fn typed(state: &State) -> Vec<CommandRow> {
    let slash = Slash::ALL.iter().map(|slash| CommandRow {
        name: slash.word().to_owned(),
        usage: slash.usage().to_owned(),
        about: slash.description().to_owned(),
        id: slash.action().name(),
        command: Command::Slash(*slash),
    });
    let own = state.drafts.slashed().map(|(place, own)| CommandRow {
        name: own.name.clone(),
        usage: own.hint.clone(),
        about: match own.kind {
            ExtensionKind::Skill => format!("skill, {}: {}", own.origin.word(), text::one_line(&own.description)),
            _ => format!("{}: {}", own.origin.word(), text::one_line(&own.description)),
        },
        id: "",
        command: Command::Own(place),
    });
    slash.chain(own).collect()
}

/// All commands, for the palette.
pub(crate) fn all(state: &State) -> Vec<CommandRow> {
    let mut rows = typed(state);
    let known: Vec<Action> = Slash::ALL.iter().map(|slash| slash.action()).collect();
    let verbs = Action::ALL.iter().filter(|action| !known.contains(action) && is_general(**action));
    rows.extend(verbs.map(|action| CommandRow {
        name: String::new(),
        usage: String::new(),
        about: action.description().to_owned(),
        id: action.name(),
        command: Command::Verb(*action),
    }));
    rows.extend(TOPICS.iter().map(|topic| CommandRow {
        name: format!("help {}", topic.name),
        usage: String::new(),
        about: topic.title().to_owned(),
        id: "",
        command: Command::Topic(topic),
    }));
    rows
}

/// True for a verb with a meaning of its own wherever it is called from.
pub(crate) fn is_general(action: Action) -> bool {
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

/// Places of the rows that fit a query, best first, with the characters of the name that matched.
pub(crate) fn rank(state: &State, query: &str, rows: &[CommandRow]) -> Vec<(usize, Vec<usize>)> {
    let named: Vec<Named<'_>> = rows
        .iter()
        .map(|row| Named { name: &row.name, about: &row.about, id: row.id, recent: recent(state, row) })
        .collect();
    ranked::rank(query, &named)
}

/// Number of commands used since this one.
pub(crate) fn recent(state: &State, row: &CommandRow) -> Option<usize> {
    // A session that can only be read is most likely opened for this.
    let held = state.current_meta().is_some_and(|meta| meta.held_by.is_some());
    if held && row.command == Command::Slash(Slash::TakeOver) {
        return Some(0);
    }
    let used = state.drafts.used_commands.iter().position(|used| *used == key(row));
    used.map(|place| place + 1)
}

fn key(row: &CommandRow) -> String {
    if row.name.is_empty() { row.id.to_owned() } else { row.name.clone() }
}

/// Notes that a command was used: by its name, or by its id where it has none.
pub(crate) fn used(state: &mut State, name: &str) {
    let used = &mut state.drafts.used_commands;
    used.retain(|one| one != name);
    used.push_front(name.to_owned());
    used.truncate(REMEMBERED);
}
