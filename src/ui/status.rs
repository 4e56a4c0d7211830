//! The header above the conversation and the status line below the conversation: where one is and in which mode.

use super::cells::{self, Piece, piece};
use super::figures::{age, count, dollars, tokens};
use super::frame_context::FrameContext;
use super::mode::{mode, mode_role};
use crate::app::msg::Target;
use crate::app::state::{Focus, State};
use crate::domain::Mode;
use crate::domain::ids::shown_name;
use crate::domain::sanitise::clean_line;
use crate::domain::tool::TodoStatus;
use crate::domain::workspace::{USUAL, colour};
use crate::keymap::action::{Action, AppAction, ComposerAction, Context, ListAction, PaneAction, SessionAction};
use crate::theme::Role;
use ratatui::layout::Rect;

/// From this width on the details of the header are shown.
const DETAILS: u16 = super::layout::WIDE;

/// The name of the model that answers here, and its thinking level where there is a session.
pub(super) fn model(state: &State) -> (String, Option<&'static str>) {
    let connections = &state.engine.config.connections;
    let meta = state.current_meta();
    let connection = meta.and_then(|meta| meta.asked());
    let default = match connection {
        Some(name) => connections.iter().find(|known| known.name == *name),
        None => connections.first().filter(|known| !known.offered),
    };
    let named = meta.and_then(|meta| meta.model.as_deref());
    let model = named.or(default.map(|known| known.default_model.as_str())).unwrap_or("");
    (clean_line(shown_name(model)).into_owned(), meta.map(|meta| meta.thinking.word()))
}

/// The model without its vendor's path (`vendor/model` is how routers name them).
pub(super) fn short_model(state: &State) -> String {
    without_vendor(&model(state).0)
}

/// A model as its vendor names it, where a router put the vendor before it.
pub(super) fn without_vendor(model: &str) -> String {
    model.rsplit('/').next().unwrap_or(model).to_owned()
}

/// Title, labels, status, and what is odd; `details` may be empty.
pub(super) fn header(paint: &mut FrameContext<'_>, area: Rect, details: Rect) {
    if area.is_empty() {
        return;
    }
    let inner = |area: Rect| {
        let inner = cells::after(area, 1);
        Rect { width: inner.width.saturating_sub(1), ..inner }
    };
    let state = paint.state;
    let Some(meta) = state.current_meta() else {
        let left = [paint.piece("New session", Role::PanelTitle)];
        let right = [workspace(paint)];
        paint.sides(inner(area), &left, &right, 11);
        return;
    };
    let focused = state.focus == Focus::Chat && state.overlays.is_empty();
    let role = if focused { Role::Key } else { Role::PanelTitle };
    let left = [paint.piece(clean_line(meta.shown_title()), role)];
    let mut right = Vec::new();
    // Who writes it stands above the conversation.
    if meta.held_by.is_some() {
        right.push(paint.piece("read only", Role::Warning));
    }
    if !meta.odd.is_empty() {
        right.push(paint.piece(count(meta.odd.len(), "odd line", "odd lines"), Role::Warning));
    }
    if meta.archived {
        right.push(paint.piece("archived", Role::Dim));
    }
    if state.engine.config.workspace != USUAL && !state.engine.config.workspace.is_empty() {
        right.push(workspace(paint));
    }
    right.push(paint.piece(clean_line(&meta.status).into_owned(), Role::Dim));
    for label in &meta.labels {
        right.push(paint.piece(format!("#{}", clean_line(label).replacen("::", ":", 1)), Role::Accent));
    }
    // The labels go before the title gets cut, the last ones first; what is odd stays.
    let room = usize::from(inner(area).width);
    let title = cells::pieces_width(&left).min(24);
    while right.len() > 1 && spaced_width(&right) + title + 2 > room {
        right.pop();
    }
    let right = spaced(right);
    paint.sides(inner(area), &left, &right, title.min(room / 2));
    let details = cells::row(details, 0);
    if !details.is_empty() && paint.buf.area.width >= DETAILS {
        let sign = format!(" {} ", paint.signs.dot);
        let mut facts = vec![meta.id.as_str().to_owned()];
        if meta.messages > 0 {
            facts.push(count(usize::try_from(meta.messages).unwrap_or(usize::MAX), "message", "messages"));
        }
        facts.push(match age(meta.created, state.clock.now).as_str() {
            "now" => "began just now".to_owned(),
            age => format!("began {age} ago"),
        });
        facts.extend(meta.asked().map(|name| clean_line(name.as_str()).into_owned()));
        let left = [paint.piece(facts.join(&sign), Role::Faint)];
        let right = todo(paint);
        paint.sides(inner(details), &left, &right, cells::pieces_width(&left));
    }
}

/// The workspace's name, in its own colour.
fn workspace<'p>(paint: &FrameContext<'_>) -> Piece<'p> {
    let name = &paint.state.engine.config.workspace;
    let style = colour(name).map_or_else(|| paint.style(Role::Dim), |colour| paint.look.theme.tag(colour));
    piece(clean_line(name).into_owned(), style)
}

/// `2 of 5  Write the parser`.
fn todo(paint: &FrameContext<'_>) -> Vec<Piece<'static>> {
    let Some(open) = paint.state.current_open().filter(|open| !open.todo.is_empty()) else { return Vec::new() };
    let done = open.todo.iter().filter(|item| item.status == TodoStatus::Completed).count();
    let now = open.todo.iter().find(|item| item.status == TodoStatus::InProgress);
    let mut out = vec![paint.piece(format!("todo {done} of {}", open.todo.len()), Role::Dim)];
    if let Some(now) = now {
        let text = clean_line(&now.content);
        let text = cells::cut(&text, 40, paint.signs.cut).into_owned();
        out.push(paint.piece(format!("  {text}"), Role::Text));
    }
    out
}

fn spaced(pieces: Vec<Piece<'_>>) -> Vec<Piece<'_>> {
    let mut out = Vec::with_capacity(pieces.len() * 2);
    for one in pieces {
        if !out.is_empty() {
            out.push(piece("  ", one.1));
        }
        out.push(one);
    }
    out
}

fn spaced_width(pieces: &[Piece<'_>]) -> usize {
    cells::pieces_width(pieces) + 2 * pieces.len().saturating_sub(1)
}

/// Mode, who waits, model, directory, context, cost; at the right the keys of this place. `bar`: notices stand below; else
/// one takes the row for its time.
pub(super) fn line(paint: &mut FrameContext<'_>, area: Rect, bar: bool) {
    if area.is_empty() {
        return;
    }
    paint.fill(area, Role::Status);
    let inner = cells::after(area, 1);
    let inner = Rect { width: inner.width.saturating_sub(1), ..inner };
    let mut rest = inner;
    let said = if bar { Vec::new() } else { super::bar::said(paint, usize::MAX / 4) };
    if let Some(said) = said.first() {
        paint.pieces(rest, said);
        return;
    }
    let mode = mode(paint.state);
    let word = [paint.piece(format!("{} {}", paint.signs.mode(mode), mode.shown()), mode_role(mode))];
    let used = paint.pieces(rest, &word);
    paint.target(Rect { width: used, ..rest }, Target::Mode);
    rest = cells::after(rest, used + 3);
    let facts = facts(paint);
    let hints = hints(paint);
    // What matters least goes first: hints, then facts by their weight.
    let mut kept: Vec<(u8, Piece<'_>)> = facts;
    let room = usize::from(rest.width);
    let wide = |kept: &[(u8, Piece<'_>)]| {
        kept.iter().map(|(_, piece)| cells::width(&piece.0) + 3).sum::<usize>().saturating_sub(3)
    };
    while wide(&kept) > room {
        let Some(least) = kept.iter().enumerate().max_by_key(|(_, (weight, _))| *weight).map(|(n, _)| n) else { break };
        if kept.len() == 1 {
            break;
        }
        kept.remove(least);
    }
    let used = wide(&kept);
    let mut pieces = Vec::new();
    for (_, one) in kept {
        if !pieces.is_empty() {
            pieces.push(piece("   ", one.1));
        }
        pieces.push(one);
    }
    let mut hints = hints;
    while !hints.is_empty() && cells::pieces_width(&hints) + used + 3 > room {
        // A hint is a key, its word, and the gap before the next.
        let keep = hints.len().saturating_sub(3);
        hints.truncate(keep);
    }
    paint.sides(rest, &pieces, &hints, used);
}

/// The facts in their order, each with how soon it is left out: the highest number goes first.
fn facts<'t>(paint: &FrameContext<'_>) -> Vec<(u8, Piece<'t>)> {
    let state = paint.state;
    let mut facts = Vec::new();
    let needing = state.sessions.needing();
    if needing > 0 {
        let text = format!("{} {} you", paint.signs.session.needs_you, count(needing, "needs", "need"));
        facts.push((0, piece(text, paint.style(Role::NeedsYou))));
    }
    let sandbox = state.engine.config.sandbox.in_words(mode(state));
    if !sandbox.is_empty() {
        let weight = if mode(state) == Mode::Explore { 1 } else { 6 };
        facts.push((weight, piece(sandbox.to_owned(), paint.style(Role::Warning))));
    }
    let jobs = state.current_open().map_or(0, |open| open.running_jobs());
    if jobs > 0 {
        facts.push((1, piece(count(jobs, "job", "jobs"), paint.style(Role::Running))));
    }
    let (model, thinking) = model(state);
    if !model.is_empty() {
        let text = match thinking {
            Some(level) => format!("{model} {} {level}", paint.signs.dot),
            None => model,
        };
        facts.push((3, piece(text, paint.style(Role::Status))));
    }
    if let Some(meta) = state.current_meta() {
        let path = paint.home_path(&meta.cwd);
        let path = clean_line(&path);
        facts.push((4, piece(cells::cut_start(&path, 32, paint.signs.cut).into_owned(), paint.style(Role::Status))));
        if let Some((percent, window)) = meta.usage.context_share() {
            let role = if percent >= 80 { Role::Warning } else { Role::Status };
            facts.push((2, piece(format!("{percent}% of {}", tokens(window)), paint.style(role))));
        } else if meta.usage.context_tokens > 0 {
            facts.push((2, piece(format!("{} tokens", tokens(meta.usage.context_tokens)), paint.style(Role::Status))));
        }
        if let Some(text) = next_cost(state) {
            facts.push((1, piece(text, paint.style(Role::Warning))));
        }
        if meta.usage.cost_usd == 0.0 && meta.usage.output_tokens > 0 && meta.next_cost.is_none() {
            facts.push((5, piece("price unknown".to_owned(), paint.style(Role::Status))));
        } else if meta.usage.cost_usd > 0.0 {
            facts.push((5, piece(dollars(meta.usage.cost_usd), paint.style(Role::Status))));
        }
        let below: f64 = state.sessions.spawned_by(&meta.id).iter().map(|meta| meta.usage.cost_usd).sum();
        if below > 0.0 {
            facts.push((5, piece(format!("+ {} spawned", dollars(below)), paint.style(Role::Status))));
        }
    }
    facts
}

/// Cost of the next request, where it is worth announcing.
fn next_cost(state: &State) -> Option<String> {
    let cost = state.current_meta()?.next_cost.filter(|cost| *cost > state.engine.config.warn_cost && *cost > 0.0)?;
    Some(format!("next request up to {}", dollars(cost)))
}

/// The keys of this place.
fn hints(paint: &FrameContext<'_>) -> Vec<Piece<'static>> {
    let state = paint.state;
    if !state.overlays.is_empty() {
        return Vec::new();
    }
    let contexts = state.contexts();
    let here = contexts.first().copied().unwrap_or(Context::Global);
    let key = |action: Action| paint.key(action, here);
    let help = (key(Action::App(AppAction::HelpIfEmpty)).or_else(|| key(Action::App(AppAction::Help))), "help");
    let one_pane = paint.buf.area.width < super::layout::NARROW;
    let panes = (key(Action::Pane(PaneAction::Swap)), "sessions");
    match state.focus {
        Focus::List if !state.sessions.marks.is_empty() => paint.hints(&[
            (key(Action::Session(SessionAction::Archive)), "archive"),
            (key(Action::Session(SessionAction::Status)), "status"),
            (key(Action::Session(SessionAction::Delete)), "delete"),
            (key(Action::App(AppAction::Back)), "unmark"),
        ]),
        Focus::List => paint.hints(&[
            (key(Action::List(ListAction::Open)), "open"),
            (key(Action::List(ListAction::Filter)), "filter"),
            (key(Action::List(ListAction::New)).or_else(|| key(Action::Session(SessionAction::New))), "new"),
            help,
        ]),
        Focus::Composer if state.composer().is_empty() => {
            let commands = (Some("/".to_owned()), "commands");
            if one_pane { paint.hints(&[panes, help, commands]) } else { paint.hints(&[help, commands]) }
        }
        Focus::Composer => paint.hints(&[
            (key(Action::Composer(ComposerAction::Send)), if state.running() { "queue" } else { "send" }),
            (key(Action::Composer(ComposerAction::Newline)), "new line"),
        ]),
        Focus::Chat => paint.hints(&[
            (key(Action::Chat(crate::keymap::action::ChatAction::Fold)), "unfold"),
            (key(Action::Chat(crate::keymap::action::ChatAction::Search)), "search"),
            help,
        ]),
        Focus::Panel => Vec::new(),
    }
}
