//! Sheets over the panes: one raised sheet at a time, without a frame where its background shows.

mod ask;
mod audit;
mod cards;
mod changes;
mod context;
mod extensions;
mod find;
mod help;
mod inbox;
mod jobs;
mod picker;
mod queue;
mod rows;
mod rules;
mod sheet;
mod sources;
pub(in crate::ui) mod undo;
mod usage;
mod welcome;
mod which_key;

use super::cells;
use super::frame_context::FrameContext;
use super::layout::Layout;
use crate::app::state::overlay::Overlay;
use crate::app::state::picker::Kind;
use crate::keymap::action::{Action, Context, PickerAction};
use crate::theme::Role;
use ratatui::layout::Rect;
use sheet::{folded, hanging, sheet};
pub(super) use welcome::welcome;

/// Draws the topmost overlay.
pub(super) fn draw(paint: &mut FrameContext<'_>, area: Rect) {
    let state = paint.state;
    let Some(top) = state.overlay() else { return };
    // The caret of what lies below is not the one that types.
    paint.cursor = None;
    // Of themes one wants to see what they do to the screen.
    if !matches!(top, Overlay::Picker(picker) if picker.kind == Kind::Theme) {
        paint.dim_all();
    }
    let body = Rect { height: area.height.saturating_sub(1), ..area };
    match top {
        Overlay::Help(help) => help::draw(paint, help, body),
        Overlay::Picker(picker) => picker::draw(paint, picker, body),
        Overlay::Inbox(inbox) => inbox::draw(paint, inbox, body),
        Overlay::Find => find::draw(paint, body),
        Overlay::Confirm(asked) => ask::confirm(paint, asked, body),
        Overlay::Prompt(prompt) => ask::prompt(paint, prompt, body),
        Overlay::Trash(bin) => cards::trash(paint, bin, body),
        Overlay::Audit(audit) => audit::draw(paint, audit, body),
        Overlay::Context(card) => context::draw(paint, card, body),
        Overlay::Usage(usage) => usage::draw(paint, usage, body),
        Overlay::Rules(known) => rules::draw(paint, known, body),
        Overlay::Sources(card) => sources::draw(paint, card, body),
        Overlay::Extensions(card) => extensions::draw(paint, card, body),
        Overlay::Jobs(card) => jobs::draw(paint, card, body),
        Overlay::Queue(card) => queue::draw(paint, card, body),
        Overlay::Health(card) => cards::health(paint, card, body),
        Overlay::Undo(card) => undo::draw(paint, card, body),
        Overlay::Changes(card) => changes::draw(paint, card, body),
        Overlay::Rename(rename) => {
            let title = [paint.piece("Rename session", Role::PanelTitle)];
            let accept = paint.key(Action::Picker(PickerAction::Accept), Context::Search);
            let inner = sheet(paint, body, 60, 2, &title, &[(accept, "rename")]);
            let row = cells::row(inner, 0);
            let sign = paint.signs.prompt;
            paint.text(row, sign, Role::Accent);
            paint.one_line(cells::after(row, 2), &rename.title, true);
        }
        Overlay::ConfirmQuit => {
            let title = [paint.piece("Quit?", Role::NeedsYou)];
            let accept = paint.key(Action::Picker(PickerAction::Accept), Context::Confirm);
            let width =
                usize::from(if body.width < 60 { body.width } else { 60.min(body.width - 8) }.saturating_sub(4));
            // What becomes of a session may be long: it goes on below its title.
            let said = state.leaving();
            let (after, sessions) = said.split_last().map_or(("", &said[..0]), |(after, rest)| (after.as_str(), rest));
            let sessions = sessions.iter().flat_map(|line| hanging(line, width, 2));
            let lines: Vec<String> = sessions.chain(folded(after, width)).collect();
            let rows = u16::try_from(lines.len()).unwrap_or(u16::MAX);
            let inner = sheet(paint, body, 60, rows, &title, &[(accept, "quit")]);
            for (n, line) in lines.iter().enumerate() {
                paint.over(cells::row(inner, u16::try_from(n).unwrap_or(u16::MAX)), line, Role::Text);
            }
        }
    }
}

/// The strip of what can follow an unfinished chord.
pub(super) fn which_key(paint: &mut FrameContext<'_>, layout: &Layout) {
    which_key::draw(paint, layout);
}
