//! Labels of sessions, added or taken away.

use crate::app::effect::Effect;
use crate::app::shell::{overlay, session_changes};
use crate::app::state::State;
use crate::app::state::edit::Line;
use crate::app::state::overlay::{Overlay, Prompt, Wanted};
use crate::domain::ids::SessionId;
use crate::domain::property::{Label, ValueType, split_label};
use crate::domain::property_change::PropertyChange;

/// Adds a label to sessions, or takes it away from them where all have it. One that wants a value asks for it.
pub(crate) fn toggle(state: &mut State, id: &str, sessions: Vec<SessionId>, fx: &mut Vec<Effect>) {
    if all_have(state, &sessions, id) {
        return session_changes::change_all(state, sessions, PropertyChange::RemoveLabel(id.to_owned()), fx);
    }
    let label =
        flat(&state.engine.properties.labels, 0).into_iter().map(|(_, label)| label).find(|label| label.id == id);
    match label.and_then(|label| Some((label.name.clone(), label.value_type?))) {
        Some((name, value)) => {
            let title = format!("{name}: which {}?", word(value));
            let wanted = Wanted::LabelValue { label: id.to_owned(), value, sessions };
            let prompt = Prompt { title, line: Line::default(), problem: None, wanted };
            overlay::open(state, Overlay::Prompt(Box::new(prompt)));
        }
        None => session_changes::change_all(state, sessions, PropertyChange::AddLabel(id.to_owned()), fx),
    }
}

/// True if every one of the sessions has a label.
fn all_have(state: &State, sessions: &[SessionId], label: &str) -> bool {
    let has = |id: &SessionId| {
        let labels = state.sessions.meta(id).map(|meta| meta.labels.as_slice()).unwrap_or_default();
        labels.iter().any(|entry| split_label(entry).0 == label)
    };
    !sessions.is_empty() && sessions.iter().all(has)
}

/// All labels of the tree with how deep they stand in it.
pub(crate) fn flat(labels: &[Label], depth: usize) -> Vec<(usize, &Label)> {
    labels.iter().flat_map(|label| [vec![(depth, label)], flat(&label.children, depth + 1)].concat()).collect()
}

/// Name of a value type in the picker.
pub(crate) fn word(value: ValueType) -> &'static str {
    match value {
        ValueType::String => "text",
        ValueType::Number => "number",
        ValueType::Date => "date",
    }
}
