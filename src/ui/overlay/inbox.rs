//! All that waits, in every session, and the panel of the one that is being answered here.

use super::super::cells;
use super::super::figures::{age, count};
use super::super::frame_context::FrameContext;
use super::super::panel::{self, View};
use crate::app::msg::Target;
use crate::app::state::overlay::Inbox;
use crate::app::state::panel::Extent;
use crate::domain::request::Ask;
use crate::domain::sanitise::clean_line;
use crate::keymap::action::{Action, Context, PickerAction};
use crate::theme::Role;
use ratatui::layout::Rect;

/// Cells of a request's signs, gaps and age beside its title and its text.
const BESIDE: usize = 14;

pub(super) fn draw(paint: &mut FrameContext<'_>, inbox: &Inbox, body: Rect) {
    let title = [
        paint.piece("Needs you", Role::PanelTitle),
        paint.piece(format!("  {}", count(inbox.rows.len(), "request", "requests")), Role::Dim),
    ];
    let accept = paint.key(Action::Picker(PickerAction::Accept), Context::Inbox);
    let state = paint.state;
    let answering = inbox
        .answering
        .as_ref()
        .and_then(|(session, panel)| Some((panel, state.request(session, &panel.request)?)))
        .map(|(panel, request)| View {
            panel,
            request,
            focused: true,
            waiting: 1,
            equal: (inbox.equal.len(), inbox.reach),
        });
    let listed = u16::try_from(inbox.rows.len()).unwrap_or(u16::MAX).clamp(1, 12);
    let asked = match answering {
        Some(view) => panel::rows(paint, view, body.width.saturating_sub(12).min(96)).saturating_add(1),
        None => 0,
    };
    let full = answering.is_some_and(|view| view.panel.extent == Extent::Full);
    let (width, rows) = if full { (u16::MAX, u16::MAX) } else { (100, listed.saturating_add(asked)) };
    // While something is answered, its own title says with which key.
    let hints = [(accept.filter(|_| answering.is_none() && !inbox.rows.is_empty()), "answer")];
    let inner = super::sheet(paint, body, width, rows, &title, &hints);
    // The list keeps a few rows: it says which one is being answered.
    let list_rows = match answering {
        None => inner.height,
        Some(_) if full => 1,
        Some(_) => listed.min((inner.height / 4).max(1)),
    };
    let list = Rect { height: list_rows.min(inner.height), ..inner };
    paint.found.overlay_rows = list.height;
    requests(paint, inbox, list, answering.is_some());
    if let Some(view) = answering {
        let gap = u16::from(inner.height > list.height + 4);
        let y = list.bottom() + gap;
        let place = Rect { y, height: inner.bottom().saturating_sub(y), x: inner.x.saturating_sub(1), ..inner };
        panel::draw(paint, view, place);
    }
}

/// The requests, one a row.
fn requests(paint: &mut FrameContext<'_>, inbox: &Inbox, list: Rect, answering: bool) {
    if inbox.rows.is_empty() {
        let text = "Nothing needs you. Requests from all sessions appear here.";
        for (n, line) in super::sheet::folded(text, usize::from(list.width)).iter().enumerate() {
            paint.over(cells::row(list, u16::try_from(n).unwrap_or(u16::MAX)), line, Role::Dim);
        }
    }
    let height = usize::from(list.height);
    let first = inbox.selected.saturating_sub(height.saturating_sub(1));
    let titles = inbox.rows.iter().map(|row| cells::width(&row.title)).max().unwrap_or(0);
    let asked = inbox.rows.iter().map(|row| cells::width(&row.what)).max().unwrap_or(0);
    let room = usize::from(list.width);
    let titles = titles.min((room * 2 / 5).max(room.saturating_sub(asked + BESIDE)));
    for (n, waiting) in inbox.rows.iter().enumerate().skip(first).take(height) {
        let row = cells::row(list, u16::try_from(n - first).unwrap_or(u16::MAX));
        let band = Rect { x: row.x.saturating_sub(1), width: row.width + 2, ..row };
        let chosen = n == inbox.selected;
        if chosen {
            let role = if answering { Role::SelectedDim } else { Role::Selected };
            paint.tint(band, role);
        }
        let title = clean_line(&waiting.title);
        let title = cells::cut(&title, titles, paint.signs.cut).into_owned();
        let blanks = titles.saturating_sub(cells::width(&title)) + 2;
        let now = paint.state.clock.now;
        let age = if waiting.since.0 > 0 { age(waiting.since, now) } else { String::new() };
        let ages = [paint.piece(age, Role::Dim)];
        // What nothing brings back is the loudest.
        let asked = waiting.request.as_ref().and_then(|request| paint.state.request(&waiting.session, request));
        let grave = asked.is_some_and(|asked| matches!(&asked.ask, Ask::Approval(approval) if approval.irreversible));
        let (sign, role) =
            if grave { (format!("{} ", paint.signs.marks.warning), Role::Error) } else { (String::new(), Role::Dim) };
        let mut pieces = [
            paint.piece(format!("{} ", paint.signs.session.needs_you), Role::NeedsYou),
            paint.piece(format!("{title}{:blanks$}", ""), if chosen { Role::Strong } else { Role::Text }),
            paint.piece(format!("{sign}{}", clean_line(&waiting.what)), role),
        ];
        // The mark keeps its ground: in 16 colours it is what can be seen of it.
        for piece in pieces.iter_mut().skip(1) {
            piece.1.bg = None;
        }
        let [mut age] = ages;
        age.1.bg = None;
        paint.sides(row, &pieces, &[age], titles + 12);
        paint.target(band, Target::OverlayRow(n));
    }
}
