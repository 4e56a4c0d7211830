//! `/status`: state of the shown session, a fact a row.

use crate::app::shell::{connections, models, overlay, text};
use crate::app::state::State;
use crate::app::state::picker::{Facts, Item, Kind, Value};
use crate::domain::attention::Attention;
use crate::domain::count::count;
use crate::domain::ids::shown_name;

fn fact(name: &str, value: impl Into<String>) -> Item {
    overlay::item(name, "", Value::Remark).with(Facts { columns: vec![value.into()], ..Facts::default() })
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
    let mut items = vec![fact("state", doing), fact("workflow status", meta.status.clone())];
    if let Some(name) = connections::in_force(state) {
        let info = connections::all(state).find(|info| info.name == *name);
        let at = info.map(|info| connections::answers(state, info)).filter(|at| !at.is_empty());
        items.push(fact("connection", at.map_or_else(|| name.to_string(), |at| format!("{name} · {at}"))));
    }
    if let Some((_, model)) = models::in_force(state) {
        items
            .push(fact("model", format!("{} · thinking {}", text::one_line(shown_name(&model)), meta.thinking.word())));
    }
    items.push(fact("permission mode", meta.mode.shown()));
    if let Some((percent, window)) = meta.usage.context_share() {
        let used = meta.usage.context_tokens;
        items.push(fact("context", format!("{percent}% · {used} of {window} tokens")));
    }
    let (waiting, held) = state.current_open().map_or((0, false), |open| (open.waits(), open.queue_held));
    let paused = if held && waiting > 0 { ", paused" } else { "" };
    items.push(fact("queue", format!("{}{paused}", count(waiting, "message", "messages"))));
    let tokens = models::tokens(meta.usage.total_tokens);
    // Without a price nothing is counted: that is not the same as free.
    let is_counted = meta.usage.cost_usd > 0.0 || meta.usage.total_tokens == 0;
    let cost = if is_counted { format!("${:.2}", meta.usage.cost_usd) } else { "price unknown".to_owned() };
    items.push(fact("cost", format!("{cost} · {tokens} tokens")));
    items.push(fact("directory", meta.cwd.display().to_string()));
    overlay::open_picker(state, Kind::SessionState, items, 0);
}
