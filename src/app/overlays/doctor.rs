//! Findings of the doctor and recent notices, as lists to read.

use crate::app::effect::Effect;
use crate::app::shell::{overlay, text};
use crate::app::state::State;
use crate::app::state::overlay::Overlay;
use crate::app::state::picker::{Facts, Group, Item, Kind, Picker, Value};
use crate::domain::finding::{Finding, Health};
use crate::domain::{Level, Notice};

/// Opens the list and looks.
pub(crate) fn open(state: &mut State, fx: &mut Vec<Effect>) {
    overlay::open_picker(state, Kind::Doctor, Vec::new(), 0);
    again(state, fx);
}

/// Looks again.
pub(crate) fn again(state: &mut State, fx: &mut Vec<Effect>) {
    let now = state.clock.now;
    if let Some(picker) = list(state) {
        picker.items.clear();
        picker.groups = vec![Group { name: String::new(), note: "looking".to_owned(), since: Some(now) }];
        picker.filter();
        fx.push(Effect::Doctor);
    }
}

fn list(state: &mut State) -> Option<&mut Picker> {
    state.overlays.iter_mut().find_map(|overlay| match overlay {
        Overlay::Picker(picker) if picker.kind == Kind::Doctor => Some(&mut **picker),
        _ => None,
    })
}

/// Takes in the findings; those that need attention come first.
pub(crate) fn came(state: &mut State, findings: &[Finding]) {
    let Some(picker) = list(state) else { return };
    let one = |found: &Finding| {
        let says = text::one_line(&found.says);
        let mut about = vec![format!("{}.", says.trim_end_matches('.'))];
        if !found.advice.is_empty() {
            let advice = text::one_line(&found.advice);
            let mut letters = advice.trim_end_matches('.').chars();
            let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
            about.push(format!("{first}{}.", letters.as_str()));
        }
        let facts = Facts { about, health: Some(found.state), ..Facts::default() };
        overlay::item(found.about.clone(), says, Value::Remark).with(facts)
    };
    let mut items: Vec<Item> = findings.iter().map(one).collect();
    items.sort_by_key(|item| match item.facts.health {
        Some(Health::Broken) => 0,
        Some(Health::Warn) => 1,
        Some(Health::Ok) | None => 2,
    });
    picker.groups.clear();
    picker.refill(items, 0);
}

/// Opens the recent notices, newest first.
pub(crate) fn notices(state: &mut State) {
    let now = state.clock.now;
    let one = |at: crate::domain::At, notice: &Notice| {
        let health = match notice.level {
            Level::Info => None,
            Level::Warning => Some(Health::Warn),
            Level::Error => Some(Health::Broken),
        };
        let about = [&notice.text, &notice.hint].into_iter().filter(|text| !text.is_empty()).cloned().collect();
        let facts = Facts { columns: vec![text::ago(now, at)], about, health, ..Facts::default() };
        overlay::item(text::one_line(&notice.text), text::one_line(&notice.hint), Value::Remark).with(facts)
    };
    let items: Vec<Item> = state.notices.past().rev().map(|(at, notice)| one(*at, notice)).collect();
    if items.is_empty() {
        return state.notify(Notice::new(Level::Info, "No messages yet"));
    }
    overlay::open_picker(state, Kind::Notice, items, 0);
}
