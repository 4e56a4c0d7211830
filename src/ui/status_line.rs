//! The status line below the conversation: its parts by name, those of the left end and those of the right. Where there is
//! too little room the parts that matter least are left out.

use super::cells::{self, Piece};
use super::figures::{count, dollars, tokens};
use super::frame_context::FrameContext;
use super::header::{model, workspace};
use super::mode::{mode, mode_role};
use crate::app::msg::Target;
use crate::app::state::{Focus, State};
use crate::domain::Mode;
use crate::domain::sanitise::clean_line;
use crate::domain::session::SessionMeta;
use crate::domain::status_line::StatusPart;
use crate::keymap::action::{
    Action, AnswerAction, AppAction, ChatAction, ComposerAction, Context, JobAction, ListAction, ModelAction,
    PaneAction, SessionAction,
};
use crate::theme::Role;
use ratatui::layout::Rect;

/// Weight of the first hint: parts of the highest weight are left out first.
const HINT: u8 = 10;
/// Cells of a model's name; what is left out of a longer one is its begin, where routers put themselves.
const MODEL: usize = 28;
/// Cells between two parts.
const GAP: usize = 3;
/// Cells between two hints.
const HINT_GAP: usize = 2;

/// Part as it is drawn.
struct StatusItem<'t> {
    /// How soon it is left out: the highest number goes first.
    weight: u8,
    pieces: Vec<Piece<'t>>,
    target: Option<Target>,
}

impl<'t> StatusItem<'t> {
    fn new(weight: u8, one: Piece<'t>) -> Self {
        Self { weight, pieces: vec![one], target: None }
    }

    fn at(self, action: impl Into<Action>) -> Self {
        Self { target: Some(Target::Act(action.into())), ..self }
    }

    /// Cells between it and the part before it.
    fn gap(&self) -> usize {
        if self.weight > HINT { HINT_GAP } else { GAP }
    }
}

/// Draws the line. `bar`: notices stand below; else one takes the row for its time.
pub(super) fn draw(paint: &mut FrameContext<'_>, area: Rect, bar: bool) {
    if area.is_empty() {
        return;
    }
    paint.fill(area, Role::Status);
    let inner = cells::after(area, 1);
    let inner = Rect { width: inner.width.saturating_sub(1), ..inner };
    let said = if bar { Vec::new() } else { super::bar::said(paint, usize::MAX / 4) };
    if let Some(said) = said.first() {
        paint.pieces(inner, said);
        return;
    }
    let parts =
        |names: &[StatusPart]| -> Vec<StatusItem<'_>> { names.iter().flat_map(|name| part(paint, *name)).collect() };
    let (mut left, mut right) = (parts(&paint.state.screen.status.left), parts(&paint.state.screen.status.right));
    let room = usize::from(inner.width);
    fit(&mut left, &mut right, room);
    let wide = width(right.iter());
    let kept = if right.is_empty() { 0 } else { wide + GAP };
    let before = Rect { width: u16::try_from(room.saturating_sub(kept)).unwrap_or(inner.width), ..inner };
    parts_at(paint, before, &left);
    parts_at(paint, cells::after(inner, u16::try_from(room.saturating_sub(wide)).unwrap_or(0)), &right);
}

/// Leaves out parts until both ends fit: first the facts that find no room even without hints, then hints.
fn fit<'t>(left: &mut Vec<StatusItem<'t>>, right: &mut Vec<StatusItem<'t>>, room: usize) {
    for below in [HINT, u8::MAX] {
        while taken(left, right, below) > room && counted(left, below).chain(counted(right, below)).count() > 2 {
            let heaviest = |end: &[StatusItem<'_>]| counted(end, below).map(|one| one.weight).max();
            let end = if heaviest(right) >= heaviest(left) { &mut *right } else { &mut *left };
            let Some(weight) = heaviest(end) else { break };
            let Some(at) = end.iter().rposition(|one| one.weight == weight) else { break };
            end.remove(at);
        }
    }
}

/// Parts whose weight is below a limit.
fn counted<'s, 't>(parts: &'s [StatusItem<'t>], below: u8) -> impl Iterator<Item = &'s StatusItem<'t>> {
    parts.iter().filter(move |one| one.weight < below)
}

/// Cells of parts beside each other.
fn width<'s, 't: 's>(parts: impl Iterator<Item = &'s StatusItem<'t>>) -> usize {
    let wide =
        |(n, one): (usize, &StatusItem<'_>)| cells::pieces_width(&one.pieces) + if n > 0 { one.gap() } else { 0 };
    parts.enumerate().map(wide).sum()
}

/// Cells of both ends, as far as the weight of their parts is below a limit.
fn taken(left: &[StatusItem<'_>], right: &[StatusItem<'_>], below: u8) -> usize {
    let (left, right) = (width(counted(left, below)), width(counted(right, below)));
    left + right + if left == 0 || right == 0 { 0 } else { GAP }
}

/// Draws parts from the left of an area, each to be clicked.
fn parts_at(paint: &mut FrameContext<'_>, area: Rect, parts: &[StatusItem<'_>]) {
    let mut rest = area;
    for (n, one) in parts.iter().enumerate() {
        if n > 0 {
            rest = cells::after(rest, u16::try_from(one.gap()).unwrap_or(0));
        }
        let used = paint.pieces(rest, &one.pieces);
        if let Some(target) = one.target.clone().filter(|_| used > 0) {
            paint.target(Rect { width: used, ..rest }, target);
        }
        rest = cells::after(rest, used);
    }
}

/// Text of a part; nothing where there is nothing to say.
fn part<'t>(paint: &FrameContext<'_>, name: StatusPart) -> Vec<StatusItem<'t>> {
    let state = paint.state;
    let meta = state.current_meta();
    match name {
        StatusPart::Mode => {
            let mode = mode(state);
            let word = paint.piece(format!("{} {}", paint.signs.mode(mode), mode.shown()), mode_role(mode));
            vec![StatusItem { target: Some(Target::Mode), ..StatusItem::new(0, word) }]
        }
        StatusPart::NeedsYou => needs_you(paint).into_iter().collect(),
        StatusPart::Sandbox => sandbox(paint).into_iter().collect(),
        StatusPart::Jobs => jobs(paint).into_iter().collect(),
        StatusPart::Model => model_part(paint).into_iter().collect(),
        StatusPart::Connection => {
            let name = meta.and_then(|meta| meta.asked());
            let shown = |name: &crate::domain::ids::ConnectionName| {
                StatusItem::new(4, paint.piece(clean_line(name.as_str()).into_owned(), Role::Status))
            };
            name.map(shown).map(|one| one.at(ModelAction::Connection)).into_iter().collect()
        }
        StatusPart::Directory => meta.map(|meta| directory(paint, meta)).into_iter().collect(),
        StatusPart::Context => meta.and_then(|meta| context(paint, meta)).into_iter().collect(),
        StatusPart::NextCost => {
            let cost = next_cost(state).map(|text| StatusItem::new(1, paint.piece(text, Role::Warning)));
            cost.map(|one| one.at(SessionAction::Context)).into_iter().collect()
        }
        StatusPart::Cost => meta.map(|meta| costs(paint, meta)).unwrap_or_default(),
        StatusPart::Status => {
            let status = |meta: &SessionMeta| paint.piece(clean_line(&meta.status).into_owned(), Role::Status);
            meta.map(|meta| StatusItem::new(5, status(meta)).at(SessionAction::Status)).into_iter().collect()
        }
        StatusPart::Workspace => vec![StatusItem::new(5, workspace(paint)).at(SessionAction::Workspace)],
        StatusPart::Keys => keys(paint),
    }
}

fn needs_you<'t>(paint: &FrameContext<'_>) -> Option<StatusItem<'t>> {
    let needing = paint.state.sessions.needing();
    let text = format!("{} {} you", paint.signs.session.needs_you, count(needing, "needs", "need"));
    (needing > 0).then(|| StatusItem::new(0, paint.piece(text, Role::NeedsYou)).at(AnswerAction::Inbox))
}

fn sandbox<'t>(paint: &FrameContext<'_>) -> Option<StatusItem<'t>> {
    let text = paint.state.engine.config.sandbox.in_words(mode(paint.state));
    let weight = if mode(paint.state) == Mode::Explore { 1 } else { 6 };
    (!text.is_empty())
        .then(|| StatusItem::new(weight, paint.piece(text.to_owned(), Role::Warning)).at(AppAction::Doctor))
}

fn jobs<'t>(paint: &FrameContext<'_>) -> Option<StatusItem<'t>> {
    let jobs = paint.state.current_open().map_or(0, |open| open.running_jobs());
    (jobs > 0).then(|| StatusItem::new(1, paint.piece(count(jobs, "job", "jobs"), Role::Running)).at(JobAction::List))
}

fn model_part<'t>(paint: &FrameContext<'_>) -> Option<StatusItem<'t>> {
    let (model, thinking) = model(paint.state);
    let model = cells::cut_start(&model, MODEL, paint.signs.cut).into_owned();
    let text = match thinking {
        Some(level) => format!("{model} {} {level}", paint.signs.dot),
        None => model.clone(),
    };
    (!model.is_empty()).then(|| StatusItem::new(3, paint.piece(text, Role::Status)).at(ModelAction::Pick))
}

fn directory<'t>(paint: &FrameContext<'_>, meta: &SessionMeta) -> StatusItem<'t> {
    let path = paint.home_path(&meta.cwd);
    let path = cells::cut_start(&clean_line(&path), 32, paint.signs.cut).into_owned();
    StatusItem::new(4, paint.piece(path, Role::Status)).at(SessionAction::Cwd)
}

fn context<'t>(paint: &FrameContext<'_>, meta: &SessionMeta) -> Option<StatusItem<'t>> {
    let one = match meta.usage.context_share() {
        Some((percent, window)) => {
            let role = if percent >= 80 { Role::Warning } else { Role::Status };
            paint.piece(format!("{percent}% of {}", tokens(window)), role)
        }
        None if meta.usage.context_tokens > 0 => {
            paint.piece(format!("{} tokens", tokens(meta.usage.context_tokens)), Role::Status)
        }
        None => return None,
    };
    Some(StatusItem::new(2, one).at(SessionAction::Context))
}

/// Cost of the session, and of those that it spawned.
fn costs<'t>(paint: &FrameContext<'_>, meta: &SessionMeta) -> Vec<StatusItem<'t>> {
    let mut texts = Vec::new();
    if meta.usage.cost_usd > 0.0 {
        texts.push(dollars(meta.usage.cost_usd));
    }
    let below: f64 = paint.state.sessions.spawned_by(&meta.id).iter().map(|meta| meta.usage.cost_usd).sum();
    if below > 0.0 {
        texts.push(format!("+ {} spawned", dollars(below)));
    }
    texts.into_iter().map(|text| StatusItem::new(5, paint.piece(text, Role::Status)).at(SessionAction::Usage)).collect()
}

/// Cost of the next request, where it is worth announcing.
fn next_cost(state: &State) -> Option<String> {
    let cost = state.current_meta()?.next_cost.filter(|cost| *cost > state.engine.config.warn_cost && *cost > 0.0)?;
    Some(format!("next request up to {}", dollars(cost)))
}

/// Hints, each a part of its own: the last ones are left out first.
fn keys<'t>(paint: &FrameContext<'_>) -> Vec<StatusItem<'t>> {
    let here = paint.state.contexts().first().copied().unwrap_or(Context::Global);
    let mut out = Vec::new();
    for (action, word) in hints(paint) {
        let key = match action {
            Some(action) => paint.key_of(action, here),
            None => Some("/".to_owned()),
        };
        let Some(key) = key else { continue };
        let pieces = vec![paint.piece(key, Role::Key), paint.piece(format!(" {word}"), Role::Dim)];
        let weight = HINT.saturating_add(u8::try_from(out.len()).unwrap_or(u8::MAX));
        out.push(StatusItem { weight, pieces, target: action.map(Target::Act) });
    }
    out
}

/// The keys of this place with a word each; without an action it is the character that begins a command.
fn hints(paint: &FrameContext<'_>) -> Vec<(Option<Action>, &'static str)> {
    let state = paint.state;
    if !state.overlays.is_empty() {
        return Vec::new();
    }
    let here = state.contexts().first().copied().unwrap_or(Context::Global);
    let either = |first: Action, other: Action| if paint.key(first, here).is_some() { first } else { other };
    let help = (Some(either(AppAction::HelpIfEmpty.into(), AppAction::Help.into())), "help");
    let one_pane = paint.buf.area.width < super::layout::NARROW;
    // The bar below has the same keys and more.
    let below = super::bar::shows_keys(paint);
    match state.focus {
        Focus::List | Focus::Chat if below => vec![help],
        Focus::Composer if below && !state.composer().is_empty() => Vec::new(),
        Focus::List if !state.sessions.marks.is_empty() => vec![
            (Some(SessionAction::Archive.into()), "archive"),
            (Some(SessionAction::Status.into()), "status"),
            (Some(SessionAction::Delete.into()), "delete"),
            (Some(AppAction::Back.into()), "unmark"),
        ],
        Focus::List => vec![
            (Some(ListAction::Open.into()), "open"),
            (Some(ListAction::Filter.into()), "filter"),
            (Some(either(ListAction::New.into(), SessionAction::New.into())), "new"),
            help,
        ],
        Focus::Composer if state.composer().is_empty() && one_pane => {
            vec![(Some(PaneAction::Swap.into()), "sessions"), help, (None, "commands")]
        }
        Focus::Composer if state.composer().is_empty() => vec![help, (None, "commands")],
        Focus::Composer => vec![
            (Some(ComposerAction::Send.into()), super::bar::enter(state)),
            (Some(ComposerAction::Newline.into()), "new line"),
        ],
        Focus::Chat => {
            let unfold = super::bar::unfold(state).map(|(action, word)| (Some(action), word));
            unfold.into_iter().chain([(Some(ChatAction::Search.into()), "search"), help]).collect()
        }
        Focus::Panel => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::cells::piece;

    fn shown(weight: u8, text: &'static str) -> StatusItem<'static> {
        StatusItem::new(weight, piece(text, ratatui::style::Style::default()))
    }

    #[test]
    fn parts_stand_three_cells_apart_and_hints_two() {
        assert_eq!(width([shown(0, "ab"), shown(3, "cd")].iter()), 7);
        assert_eq!(width([shown(HINT, "ab"), shown(HINT + 1, "cd")].iter()), 6);
        assert_eq!(taken(&[shown(0, "ab")], &[shown(HINT, "cd")], u8::MAX), 7);
        assert_eq!(taken(&[shown(0, "ab")], &[shown(HINT, "cd")], HINT), 2);
    }

    #[test]
    fn a_fact_without_room_makes_room_for_a_hint() {
        let line = |room: usize| {
            let (mut left, mut right) = (
                vec![shown(0, "mode"), shown(3, "model"), shown(4, "a/long/directory")],
                vec![shown(HINT, "F1 help"), shown(HINT + 1, "/ commands")],
            );
            fit(&mut left, &mut right, room);
            left.iter().chain(&right).map(|one| one.pieces[0].0.to_string()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(line(60), "mode model a/long/directory F1 help / commands");
        assert_eq!(line(45), "mode model a/long/directory F1 help");
        assert_eq!(line(33), "mode model a/long/directory");
        assert_eq!(line(30), "mode model F1 help");
        assert_eq!(line(12), "mode model");
        assert_eq!(line(3), "mode model", "what is too long is cut");
    }
}
