//! An empty session: where one is, who answers, what was found, and the keys that lead on, in a few quiet lines.

use super::super::cells::{self, Piece};
use super::super::frame_context::FrameContext;
use super::super::header;
use super::picker::scrolled;
use crate::app::state::connecting::FirstRow;
use crate::app::state::lobby::FoundHistory;
use crate::domain::ids::DEMO;
use crate::domain::sanitise::clean_line;
use crate::keymap::action::{Action, AppAction, ComposerAction, Context, ModeAction, ModelAction, SessionAction};
use crate::protocol::ConnectionInfo;
use crate::theme::Role;
use ratatui::layout::Rect;

/// Rows below which the text is short.
const LOW: u16 = 10;

/// An empty session: where one is, who answers, and the keys that lead on, in a few quiet lines.
pub(in super::super) fn welcome(paint: &mut FrameContext<'_>, area: Rect) {
    let width = usize::from(area.width.saturating_sub(4)).max(1);
    let mut name = vec![paint.piece("lisle", Role::PanelTitle)];
    name.extend(Some(paint.piece("  a home for agent conversations", Role::Dim)).filter(|_| width > 36));
    let mut lines: Vec<Vec<Piece<'static>>> = vec![name, Vec::new()];
    if let Some(rows) = paint.state.first_choice() {
        lines.extend(choice(paint, &rows, width, usize::from(area.height)));
        lines.extend(histories(paint, width));
        return place(paint, area, lines);
    }
    let told = who_answers(paint, area.height < LOW);
    let unsettled = told.is_some();
    for (text, role) in told.into_iter().chain(found(paint).filter(|_| unsettled)) {
        lines.extend(cells::wrap(&text, width).into_iter().map(|line| vec![paint.piece(line, role)]));
        lines.push(Vec::new());
    }
    let all = [
        (Action::App(AppAction::Palette), "all commands"),
        (Action::Mode(ModeAction::Next), "permission mode"),
        (Action::Model(ModelAction::Pick), "choose the model"),
        (Action::Session(SessionAction::Search), "search all sessions"),
        (Action::App(AppAction::Help), "all keys"),
    ];
    // Who is here for the first time needs two of them.
    let [commands, _, model, ..] = all;
    let first = [model, commands];
    let new_here = unsettled && paint.state.sessions.metas().nth(1).is_none();
    let rows: &[(Action, &str)] = if new_here { &first } else { &all };
    let keyed: Vec<(String, &str)> =
        rows.iter().filter_map(|(action, word)| Some((paint.key_of(*action, Context::Composer)?, *word))).collect();
    let widest = keyed.iter().map(|(key, _)| cells::width(key)).max().unwrap_or(0);
    for (key, word) in &keyed {
        let blanks = widest - cells::width(key) + 3;
        lines.push(vec![
            paint.piece(format!("{key}{:blanks$}", ""), Role::Key),
            paint.piece((*word).to_owned(), Role::Dim),
        ]);
    }
    lines.extend(histories(paint, width));
    place(paint, area, lines);
}

/// Sessions of other programs that can be imported, at the first start.
fn histories(paint: &FrameContext<'_>, width: usize) -> Vec<Vec<Piece<'static>>> {
    let found = &paint.state.lobby.histories;
    let Some(first) = found.first() else { return Vec::new() };
    let many = |one: &FoundHistory| {
        let sessions = if one.sessions == 1 { "session" } else { "sessions" };
        format!("{} {sessions} of {}", one.sessions, one.program)
    };
    let all = found.iter().map(many).collect::<Vec<_>>().join(", ");
    let text = format!("Found here: {all}. /import {} brings them in", first.word);
    let lines = cells::wrap(&text, width).into_iter().map(|line| vec![paint.piece(line, Role::Dim)]);
    std::iter::once(Vec::new()).chain(lines).collect()
}

/// Rows of those who can answer, with the selected one marked and in sight; on a low screen a part of them.
fn choice(paint: &FrameContext<'_>, rows: &[FirstRow], width: usize, height: usize) -> Vec<Vec<Piece<'static>>> {
    // The name, this heading and the keys.
    let most = height.saturating_sub(3).max(1);
    let last = rows.len().saturating_sub(most);
    let first = paint.state.first_selected().saturating_sub(most / 2).min(last);
    let hidden = scrolled(paint, first, last - first);
    let hidden = if hidden.is_empty() { hidden } else { format!("   {hidden}") };
    let mut lines = vec![vec![paint.piece("Choose a model", Role::Strong), paint.piece(hidden, Role::Dim)]];
    let name = |row: &FirstRow| clean_line(&row.name).into_owned();
    let widest = rows.iter().map(|row| cells::width(&name(row))).max().unwrap_or(0);
    for (n, row) in rows.iter().enumerate().skip(first).take(most) {
        let selected = n == paint.state.first_selected();
        let (sign, role) = if selected { (paint.signs.prompt, Role::Accent) } else { (" ", Role::Text) };
        let name = name(row);
        let blanks = widest - cells::width(&name) + 3;
        let about = cells::cut(&clean_line(&row.about), width.saturating_sub(widest + 5), paint.signs.cut).into_owned();
        let weight = if selected { Role::Strong } else { Role::Text };
        lines.push(vec![
            paint.piece(format!("{sign} "), role),
            paint.piece(format!("{name}{:blanks$}", ""), weight),
            paint.piece(about, Role::Dim),
        ]);
    }
    lines.push(Vec::new());
    let key = |action| paint.key(action, Context::Composer);
    let hints = [
        (key(Action::Composer(ComposerAction::Down)), "next"),
        (key(Action::Composer(ComposerAction::Send)), "choose"),
        (key(Action::App(AppAction::Help)), "keys"),
    ];
    lines.push(paint.hints(&hints));
    lines
}

/// Writes the lines into the upper part of the area. What matters most stands first: on a low screen the gaps go, then the
/// rest.
fn place(paint: &mut FrameContext<'_>, area: Rect, mut lines: Vec<Vec<Piece<'static>>>) {
    let room = usize::from(area.height);
    if lines.len() > room {
        lines.retain(|line| !line.is_empty());
    }
    lines.truncate(room);
    let free = room - lines.len();
    for (n, line) in lines.iter().enumerate() {
        let y = area.y + u16::try_from(free / 3 + n).unwrap_or(u16::MAX);
        let row = Rect { y, height: 1, ..cells::after(area, 3) };
        paint.pieces(Rect { width: row.width.saturating_sub(1), ..row }, line);
    }
}

/// Notice about the connection that will answer: that it is the demo agent, or that there is none.
///
/// `low`: there is room for few words, and the keys stand below.
fn who_answers(paint: &FrameContext<'_>, low: bool) -> Option<(String, Role)> {
    let state = paint.state;
    let connections = &state.engine.config.connections;
    let warn = |text: String| Some((format!("{} {text}", paint.signs.marks.warning), Role::Warning));
    let named = state.current_meta().and_then(|meta| meta.asked());
    let usable = connections.iter().find(|known| !known.offered && known.missing.is_none());
    let answers = match named {
        Some(name) => connections.iter().find(|known| known.name == *name),
        None => usable,
    };
    match (answers, connections.first()) {
        (Some(known), _) if known.provider == DEMO && low => {
            Some(("Demo mode: no language model".to_owned(), Role::Warning))
        }
        (Some(known), _) if known.provider == DEMO => {
            let text = "Demo mode: rule-based, no language model. Try: list, read FILE, plan TEXT";
            Some((text.to_owned(), Role::Warning))
        }
        (Some(known), _) => match &known.missing {
            Some(missing) => warn(format!("{}: {}", clean_line(known.name.as_str()), clean_line(missing))),
            None => None,
        },
        (None, Some(first)) => match &first.missing {
            Some(missing) => warn(format!("{}: {}", clean_line(first.name.as_str()), clean_line(missing))),
            None => (header::model(state).0.is_empty()).then(|| ("No model chosen yet".to_owned(), Role::Warning)),
        },
        (None, None) => None,
    }
}

/// Connections found on this machine, or how to add a key where there are none.
fn found(paint: &FrameContext<'_>) -> Option<(String, Role)> {
    let config = &paint.state.engine.config;
    let shown = |info: &ConnectionInfo| {
        let name = clean_line(info.name.as_str()).into_owned();
        match &info.key_from {
            Some(from) => format!("{name} (key {})", clean_line(from)),
            None => format!("{name} ({})", clean_line(info.host.split("://").last().unwrap_or_default())),
        }
    };
    let offered: Vec<String> =
        config.connections.iter().filter(|info| info.offered && info.missing.is_none()).map(shown).collect();
    if !offered.is_empty() {
        let text = format!("Found locally: {}. /connect to use one", offered.join(", "));
        return Some((text, Role::Text));
    }
    let others = config.connections.iter().any(|info| info.provider != DEMO);
    (!config.vendors.is_empty() && !others)
        .then(|| ("Add a model: /connect (Anthropic, OpenAI, Gemini, OpenRouter, local)".to_owned(), Role::Text))
}
