//! The picker of texts sent earlier.

use crate::app::shell::{overlay, text};
use crate::app::state::State;
use crate::app::state::picker::{Item, Kind, Value};
use crate::domain::{Level, Notice};

pub(crate) fn history(state: &mut State) {
    let texts = state.drafts.history.items.iter().rev();
    let items: Vec<Item> =
        texts.map(|text| overlay::item(text::one_line(text), "", Value::Text(text.clone()))).collect();
    if items.is_empty() {
        return state.notify(Notice::new(Level::Info, "Nothing sent yet"));
    }
    overlay::open_picker(state, Kind::History, items, 0);
}
