//! The list of settings: what is in force in this session and on this screen, where it was said, and changing it.

use crate::app::effect::Effect;
use crate::app::intent::Intent;
use crate::app::shell::{connections, models, overlay, session, text};
use crate::app::state::State;
use crate::app::state::chat::Density;
use crate::app::state::overlay::Overlay;
use crate::app::state::picker::{Facts, Group, Item, Kind, Picker, Value};
use crate::domain::session::SessionSwitch;
use crate::domain::setting::{Setting, SettingGroup, SettingSource, TakesEffect};
use crate::domain::{Level, Notice};
use crate::keymap::action::{Action, AppAction, ChatAction, ModeAction, ModelAction, SessionAction};
use crate::protocol::SessionCommand;

/// The end of a model's name that asks for its context of a million tokens.
const MILLION: &str = "[1m]";

/// Opens the list; what config.toml says comes a moment later.
pub(crate) fn open(state: &mut State, fx: &mut Vec<Effect>) {
    let mut picker = Picker { from: state.focus, ..Picker::new(Kind::Setting, Vec::new(), 0) };
    (picker.items, picker.groups) = list(state);
    picker.filter();
    overlay::open(state, Overlay::Picker(Box::new(picker)));
    fx.push(Effect::Settings);
}

/// The settings came, or changed.
pub(crate) fn came(state: &mut State, settings: Vec<Setting>) {
    state.engine.settings = settings;
    refill(state);
}

/// An open list shows what is in force now.
pub(crate) fn refill(state: &mut State) {
    let open = |overlay: &Overlay| matches!(overlay, Overlay::Picker(picker) if picker.kind == Kind::Setting);
    if !state.overlays.iter().any(open) {
        return;
    }
    let (items, groups) = list(state);
    for overlay in &mut state.overlays {
        if let Overlay::Picker(picker) = overlay
            && picker.kind == Kind::Setting
        {
            // The selection is on a place of the list, whatever its value is.
            let selected = picker.selected;
            picker.groups = groups;
            picker.refill(items, selected);
            picker.selected = selected.min(picker.hits.len().saturating_sub(1));
            return;
        }
    }
}

fn list(state: &State) -> (Vec<Item>, Vec<Group>) {
    let mut items = of_session(state);
    let mut groups = vec![Group { name: "this session".to_owned(), ..Group::default() }];
    for group in SettingGroup::ALL {
        let place = groups.len();
        let of_group: Vec<Item> = state
            .engine
            .settings
            .iter()
            .filter(|one| one.group == group)
            .map(|one| of_file(state, one, place))
            .collect();
        if !of_group.is_empty() {
            groups.push(Group { name: group.words().to_owned(), ..Group::default() });
            items.extend(of_group);
        }
    }
    (items, groups)
}

/// Rule of a session's connection.
const LOCKED: &str = "Can't change after the first message: enter continues in a new session.";

/// Settings of the shown session, each with the verb that changes it.
fn of_session(state: &State) -> Vec<Item> {
    let meta = state.current_meta();
    let row = |name: &str, value: String, about: &str, does: Value| {
        let facts = Facts {
            columns: vec![value, "this session".to_owned()],
            about: vec![about.to_owned()],
            ..Facts::default()
        };
        overlay::item(name, "", does).with(facts)
    };
    let verb = |action: Action| Value::Act(action);
    let mut out = Vec::new();
    if let Some(meta) = meta {
        let info = connections::in_force(state);
        let model = models::in_force(state).map(|(_, model)| model).unwrap_or_default();
        out.extend([
            row(
                "connection",
                info.map(|name| text::one_line(name.as_str())).unwrap_or_default(),
                LOCKED,
                verb(ModelAction::Connection.into()),
            ),
            row("model", text::one_line(&model), "Model used in this session.", verb(ModelAction::Pick.into())),
            row("thinking", meta.thinking.word().to_owned(), "Reasoning effort.", verb(ModelAction::Thinking.into())),
            row(
                "permission mode",
                meta.mode.shown().to_owned(),
                "What the agent may do without asking.",
                verb(ModeAction::Pick.into()),
            ),
            row(
                "directory",
                text::one_line(&meta.cwd.to_string_lossy()),
                "Working directory of tools.",
                verb(SessionAction::Cwd.into()),
            ),
        ]);
        let switch = |on: bool| if on { "on" } else { "off" }.to_owned();
        out.extend([
            row(
                "extended cache",
                switch(meta.switches.long_cache),
                "Cache prompts at the provider for an hour or longer, if it can. Cache writes cost more.",
                Value::Switch(SessionSwitch::LongCache),
            ),
            row(
                "rich tool docs",
                switch(meta.switches.full_tools),
                "Send full tool descriptions. Off: one sentence each, for small context windows.",
                Value::Switch(SessionSwitch::FullTools),
            ),
            row(
                "tools",
                switch(!meta.switches.no_tools),
                "Offer the model tools. Off: it only answers, and its prompt is much shorter.",
                Value::Switch(SessionSwitch::NoTools),
            ),
        ]);
        if can_million(state) {
            let on = model.ends_with(MILLION);
            out.push(row(
                "1M context",
                if on { "on" } else { "off" }.to_owned(),
                "Request the million-token context window. Costs more beyond the standard window.",
                Value::Million,
            ));
        }
    }
    let density = match state.conversations.density {
        Density::Lines => "lines",
        Density::Tails => "tails",
        Density::Full => "full",
    };
    let about = "Tool output shown, in all sessions until lisle quits.";
    let does = Value::Setting("density".to_owned());
    let facts = Facts {
        columns: vec![density.to_owned(), "this run".to_owned()],
        about: vec![about.to_owned()],
        ..Facts::default()
    };
    out.push(overlay::item("density", "", does).with(facts));
    out
}

/// True if the model has a context of a million tokens that must be requested.
fn can_million(state: &State) -> bool {
    let Some((name, model)) = models::in_force(state) else { return false };
    if model.ends_with(MILLION) {
        return true;
    }
    let claude = connections::all(state).any(|info| info.name == name && info.provider == "anthropic");
    let window = state.engine.catalogue.figures(&name, &model).and_then(|known| known.window);
    claude && model.contains("sonnet-4") && window.is_none_or(|window| window < 1_000_000)
}

/// One of config.toml.
fn of_file(state: &State, setting: &Setting, group: usize) -> Item {
    let theme = setting.key == "ui.theme" && !state.theme.current.is_empty();
    let value = if theme { state.theme.current.clone() } else { setting.value.clone() };
    let said = match setting.said {
        SettingSource::Line(line) => format!("config.toml:{line}"),
        SettingSource::Default if theme && value != setting.value => "set here".to_owned(),
        SettingSource::Default => "default".to_owned(),
        SettingSource::Kept => "set here".to_owned(),
    };
    let when = match (&setting.until_then, setting.takes_effect) {
        (Some(_), _) => "after restart",
        _ => "",
    };
    let mut about = setting.about.clone();
    match (setting.takes_effect, &setting.until_then, setting.choices.is_empty() && !theme) {
        (_, Some(before), _) => about += &format!(" Takes effect after restart; now {before}."),
        (TakesEffect::NextStart, None, false) => about += " Takes effect after restart.",
        (TakesEffect::NextStart, None, true) => about += " Edit config.toml; takes effect after restart.",
        (TakesEffect::Now, None, _) => {}
    }
    let does = if setting.key == "ui.theme" {
        Value::Act(AppAction::Theme.into())
    } else {
        Value::Setting(setting.key.clone())
    };
    let facts = Facts { group, columns: vec![value, said, when.to_owned()], about: vec![about], ..Facts::default() };
    overlay::item(setting.key.clone(), setting.about.clone(), does).with(facts)
}

/// Enter on a setting: the choice after the one in force.
pub(crate) fn change(state: &mut State, key: &str, fx: &mut Vec<Effect>) {
    if key == "density" {
        return state.follow_up(Intent::Act(ChatAction::Density.into()));
    }
    let Some(setting) = state.engine.settings.iter_mut().find(|setting| setting.key == key) else { return };
    let Some(next) = setting.next().map(str::to_owned) else {
        let name = key.rsplit('.').next().unwrap_or(key);
        let text = match (setting.said, key.rsplit_once('.')) {
            (SettingSource::Line(line), _) => format!("Edit {key} in config.toml, line {line}"),
            (_, Some((table, _))) => format!("Edit {key} in config.toml: `{name} = …` under [{table}]"),
            (_, None) => format!("Edit {key} in config.toml: `{name} = …` at the top"),
        };
        return state.notify(Notice::new(Level::Info, text));
    };
    // It is shown at once; what was really written comes back.
    setting.value.clone_from(&next);
    if key == "ui.mouse" {
        state.input.mouse_given = next == "off";
        fx.push(Effect::Mouse { ours: next == "on" });
    }
    fx.push(Effect::Set { key: key.to_owned(), value: next });
    refill(state);
}

/// Flips a switch of the session; the screen follows when the engine has done it.
pub(crate) fn switch(state: &State, what: SessionSwitch, fx: &mut Vec<Effect>) {
    let Some(meta) = state.current_meta() else { return };
    let on = match what {
        SessionSwitch::LongCache => !meta.switches.long_cache,
        SessionSwitch::FullTools => !meta.switches.full_tools,
        SessionSwitch::NoTools => !meta.switches.no_tools,
    };
    fx.push(session::to(&meta.id, SessionCommand::Switch { what, on }));
}

/// The context of a million tokens is asked for, or no longer.
pub(crate) fn million(state: &mut State, fx: &mut Vec<Effect>) {
    let (Some((_, model)), Some(id)) = (models::in_force(state), state.current_id().cloned()) else { return };
    let other = model.strip_suffix(MILLION).map_or_else(|| format!("{model}{MILLION}"), str::to_owned);
    fx.push(session::to(&id, SessionCommand::Model { connection: None, model: other }));
}
