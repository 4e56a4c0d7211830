//! The brush of a frame: the state that is drawn, the cells it goes into, and what the frame finds out on the way.

use super::cells::{self, Piece};
use super::glyphs::{self, Glyphs};
use super::{Cache, Look};
use crate::app::Action;
use crate::app::msg::{Area, Frame, Target};
use crate::app::state::State;
use crate::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::Line;

/// The brush of a frame.
pub(super) struct Paint<'a> {
    /// What is drawn.
    pub state: &'a State,
    /// With which styles and signs.
    pub look: &'a Look<'a>,
    /// The signs.
    pub signs: &'static Glyphs,
    /// Lines laid out in earlier frames.
    pub cache: &'a mut Cache,
    /// The cells.
    pub buf: &'a mut Buffer,
    /// What the frame found out.
    pub found: Frame,
    /// Where the caret stands; the last one set counts.
    pub cursor: Option<Position>,
}

impl<'a> Paint<'a> {
    pub fn new(state: &'a State, look: &'a Look<'a>, cache: &'a mut Cache, buf: &'a mut Buffer) -> Self {
        let signs = glyphs::set(look.glyphs);
        Self { state, look, signs, cache, buf, found: Frame::default(), cursor: None }
    }

    pub fn style(&self, role: Role) -> Style {
        self.look.theme.style(role)
    }

    /// A piece in the style of a role.
    pub fn piece<'t>(&self, text: impl Into<std::borrow::Cow<'t, str>>, role: Role) -> Piece<'t> {
        (text.into(), self.style(role))
    }

    /// Blanks in the style of `role`.
    pub fn fill(&mut self, area: Rect, role: Role) {
        let ground = self.style(Role::Text).patch(self.style(role));
        cells::fill(self.buf, area, ground);
    }

    /// Lays the style of `role` over what stands in `area`.
    pub fn tint(&mut self, area: Rect, role: Role) {
        let style = self.style(role);
        self.buf.set_style(area, style);
    }

    /// Text from the left edge; what does not fit is cut and marked. Returns the cells used.
    pub fn text(&mut self, area: Rect, text: &str, role: Role) -> u16 {
        let style = self.style(role);
        let shown = cells::cut(text, usize::from(area.width), self.signs.cut);
        cells::put(self.buf, area, &shown, style)
    }

    pub fn pieces(&mut self, area: Rect, pieces: &[Piece<'_>]) -> u16 {
        cells::put_pieces(self.buf, area, pieces, self.signs.cut)
    }

    /// Left and right on one row; see [`cells::put_sides`].
    pub fn sides(&mut self, area: Rect, left: &[Piece<'_>], right: &[Piece<'_>], least: usize) {
        cells::put_sides(self.buf, area, left, right, self.signs.cut, least);
    }

    /// A line that is laid out already.
    pub fn line(&mut self, area: Rect, line: &Line<'_>) {
        let mut rest = area;
        for span in &line.spans {
            let used = cells::put(self.buf, rest, &span.content, line.style.patch(span.style));
            rest = cells::after(rest, used);
        }
    }

    /// Remembers what lies at `area`.
    pub fn target(&mut self, area: Rect, target: Target) {
        let area = area.intersection(self.buf.area);
        if !area.is_empty() {
            self.found.areas.push((Area { x: area.x, y: area.y, w: area.width, h: area.height }, target));
        }
    }

    /// Puts the caret, if it lies in `area`.
    pub fn caret(&mut self, area: Rect, column: usize, row: usize) {
        let x = usize::from(area.x) + column.min(usize::from(area.width.saturating_sub(1)));
        let y = usize::from(area.y) + row;
        if let (Ok(x), Ok(y)) = (u16::try_from(x), u16::try_from(y)) {
            if area.contains(Position { x, y }) {
                self.cursor = Some(Position { x, y });
            }
        }
    }
}
