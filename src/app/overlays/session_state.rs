//! `/status`: state of the shown session, a fact a row.

use crate::app::shell::{connections, models, overlay, text};
use crate::app::state::State;
use crate::app::state::picker::{Facts, Item, Kind, Value};
use crate::domain::attention::Attention;
use crate::domain::count::count;
use crate::domain::ids::shown_name;
use crate::keymap::action::{Action, ComposerAction, ModeAction, ModelAction, SessionAction};

/// A fact, and the action that changes it or shows more of it.
fn fact(name: &str, value: impl Into<String>, action: Option<Action>) -> Item {
    overlay::item(name, "", action.map_or(Value::Remark, Value::Act))
        .with(Facts { columns: vec![value.into()], ..Facts::default() })
}

/// Opens it.
pub(crate) fn open(state: &mut State) {
    let Some(meta) = state.current_meta() else { return text::nothing_yet(state) };
    let doing = match meta.attention() {
        Attention::NeedsYou(what) => format!("needs you: {}", text::one_line(&what)),
        Attention::Running => "running".to_owned(),
        Attention::Failed(why) => format!("failed: {}", text::one_line(&why)),
        Attention::Interrupted(_) => "interrupted".to_owned(),
        Attention::Unread | Attention::Idle => "idle".to_owned(),
    };
    let known = state.sessions.catalogue().status_entry(&meta.status);
    let status = known.map_or(meta.status.as_str(), |status| status.name.as_str());
    let mut items =
        vec![fact("state", doing, None), fact("workflow status", status, Some(SessionAction::Status.into()))];
    if let Some(name) = connections::in_force(state) {
        let info = connections::all(state).find(|info| info.name == *name);
        let at = info.map(|info| connections::answers(state, info)).filter(|at| !at.is_empty());
        let at = at.map_or_else(|| name.to_string(), |at| format!("{name} · {at}"));
        items.push(fact("connection", at, Some(ModelAction::Connection.into())));
    }
    if let Some((_, model)) = models::in_force(state) {
        let model = format!("{} · thinking {}", text::one_line(shown_name(&model)), meta.thinking.word());
        items.push(fact("model", model, Some(ModelAction::Pick.into())));
    }
    items.push(fact("permission mode", meta.mode.shown(), Some(ModeAction::Pick.into())));
    if let Some((percent, window)) = meta.usage.context_share() {
        let (used, window) = (models::tokens(meta.usage.context_tokens), models::tokens(window));
        let share = format!("{percent}% · {used} of {window} tokens");
        items.push(fact("context", share, Some(SessionAction::Context.into())));
    }
    let (waiting, held) = state.current_open().map_or((0, false), |open| (open.waits(), open.queue_held));
    let paused = if held && waiting > 0 { ", paused" } else { "" };
    let queue = format!("{}{paused}", count(waiting, "message", "messages"));
    items.push(fact("queue", queue, (waiting > 0).then(|| ComposerAction::Queue.into())));
    let tokens = models::tokens(meta.usage.total_tokens);
    // Without a price nothing is counted: that is not the same as free.
    let is_counted = meta.usage.cost_usd > 0.0 || meta.usage.total_tokens == 0;
    let cost = if is_counted { format!("${:.2}", meta.usage.cost_usd) } else { "price unknown".to_owned() };
    items.push(fact("cost", format!("{cost} · {tokens} tokens"), Some(SessionAction::Usage.into())));
    items.push(fact("directory", meta.cwd.display().to_string(), Some(SessionAction::Cwd.into())));
    overlay::open_picker(state, Kind::SessionState, items, 0);
}
