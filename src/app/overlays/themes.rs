//! The picker of themes. The selected one is looked at.

use crate::app::effect::{Effect, Keep};
use crate::app::shell::overlay;
use crate::app::state::State;
use crate::app::state::overlay::Overlay;
use crate::app::state::picker::{Facts, Kind, Value};

/// A theme is looked at while it is selected, however that came; when the picker closes the one in force comes back.
pub(crate) fn theme_looked_at(state: &mut State, fx: &mut Vec<Effect>) {
    let chosen = state.overlays.iter().find_map(|overlay| match overlay {
        Overlay::Picker(picker) if picker.kind == Kind::Theme => Some(picker.chosen().map(|item| &item.value)),
        _ => None,
    });
    let (wanted, ends) = match (chosen, &state.theme.previewed) {
        (Some(Some(Value::Theme(name))), Some(_)) => (name.clone(), false),
        (None, Some(_)) => (state.theme.current.clone(), true),
        _ => return,
    };
    if state.theme.previewed.as_ref() != Some(&wanted) && !wanted.is_empty() {
        fx.push(Effect::Theme { name: wanted.clone(), keep: Keep::No });
    }
    state.theme.previewed = (!ends).then_some(wanted);
}

pub(crate) fn themes(state: &mut State) {
    let one = |name: &String| {
        let facts = Facts { current: *name == state.theme.current, ..Facts::default() };
        let what = if name.starts_with("auto") { "follows the terminal's background" } else { "" };
        overlay::item(name, what, Value::Theme(name.clone())).with(facts)
    };
    let items = state.theme.names.iter().map(one).collect();
    let selected = state.theme.names.iter().position(|name| *name == state.theme.current).unwrap_or(0);
    state.theme.previewed = Some(state.theme.current.clone());
    overlay::open_picker(state, Kind::Theme, items, selected);
}
