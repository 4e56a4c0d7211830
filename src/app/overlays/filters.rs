//! The picker of what the list can be filtered by.

use crate::app::effect::Effect;
use crate::app::shell::{overlay, session_list};
use crate::app::state::State;
use crate::app::state::picker::{Kind, Value};
use crate::app::state::sessions::{Facet, Wish};
use crate::keymap::action::ListAction;

/// Offers what the list can be filtered by. Chosen once, only those are listed; once more, all but those; then all.
pub(crate) fn filters(state: &mut State) {
    let sessions = &state.sessions;
    let facets = sessions.facets();
    let mut items = Vec::new();
    if sessions.is_filtered() {
        items.push(overlay::item("all sessions", "no filter", Value::Act(ListAction::All.into())));
    }
    let catalogue = sessions.catalogue();
    let plain = Facet::PLAIN.into_iter().map(|facet| (0, facet));
    let statuses = catalogue.statuses().into_iter().map(|entry| (0, Facet::Status(entry.id.to_string())));
    let labels = catalogue.labels().into_iter().map(|entry| (entry.depth, Facet::Label(entry.id.to_string())));
    let views = catalogue.views().iter().map(|view| (0, Facet::View(view.id.clone())));
    for (depth, facet) in plain.chain(views).chain(statuses).chain(labels) {
        let detail = match facets.wish(&facet) {
            Wish::None => facet.kind_word(),
            Wish::Only => "include; again: exclude",
            Wish::Without => "excluded; again: clear",
        };
        let label = format!("{}{}", "  ".repeat(depth), facet.shown(catalogue));
        items.push(overlay::item(label, detail, Value::Facet(facet)));
    }
    overlay::open_picker(state, Kind::Filter, items, 0);
}

/// A facet was chosen from those that are offered: the list has the keys again.
pub(crate) fn choose_facet(state: &mut State, facet: Facet, fx: &mut Vec<Effect>) {
    let wish = match state.sessions.facets().wish(&facet) {
        Wish::None => Wish::Only,
        Wish::Only => Wish::Without,
        Wish::Without => Wish::None,
    };
    session_list::set_facet(state, facet, wish, fx);
    session_list::focus_list(state);
}
