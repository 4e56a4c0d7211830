//! The palette: the table of all commands, with the key of each.

use crate::app::shell::command_table::{self, Command, CommandRow};
use crate::app::shell::overlay;
use crate::app::slash::Slash;
use crate::app::state::State;
use crate::app::state::picker::{Facts, Item, Kind, Value};

pub(crate) fn palette(state: &mut State) {
    let rows = command_table::all(state);
    let mut items: Vec<Item> = rows.iter().filter_map(|row| item(state, row)).collect();
    // A stable sort: what was not used stays in its order.
    items.sort_by_key(|item| item.facts.recent.unwrap_or(usize::MAX));
    overlay::open_picker(state, Kind::Palette, items, 0);
}

fn item(state: &State, row: &CommandRow) -> Option<Item> {
    let value = match &row.command {
        // The palette is open already.
        Command::Slash(Slash::Help) => return None,
        // What goes on in the composer, because words have to follow.
        Command::Slash(slash @ (Slash::Steer | Slash::Attach | Slash::Enhance)) => {
            Value::Text(format!("/{} ", slash.word()))
        }
        Command::Slash(slash) => Value::Act(slash.action()),
        Command::Own(_) => Value::Own(row.name.clone()),
        Command::Verb(action) => Value::Act(*action),
        Command::Topic(topic) => Value::Topic(topic),
    };
    let name = if row.name.is_empty() { String::new() } else { format!("/{}", row.name) };
    let facts = Facts { id: row.id, recent: command_table::recent(state, row), ..Facts::default() };
    Some(overlay::item(name, row.about.clone(), value).with(facts))
}
