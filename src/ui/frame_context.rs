//! Context of a frame: the state that is drawn, the cells it goes into, and what the frame finds out on the way.

use super::cells::{self, Piece};
use super::glyphs::{GlyphSet, Glyphs};
use super::layout_cache::LayoutCache;
use super::link::Link;
use crate::app::msg::{Area, Frame, Target};
use crate::app::state::State;
use crate::app::state::edit;
use crate::domain::sanitise::clean_line;
use crate::domain::secret::masked;
use crate::keymap::action::{Action, AnswerAction, Context};
use crate::keymap::key::{chord_name, printed};
use crate::theme::{Role, Theme};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use std::path::Path;
use unicode_segmentation::UnicodeSegmentation;

/// Milliseconds that a frame of the spinner is shown.
const SPIN: i64 = 120;

/// Inputs of every frame that no message changes.
#[derive(Clone, Copy, Debug)]
pub struct Appearance<'a> {
    /// Styles by role, already reduced to what the terminal can show.
    pub theme: &'a Theme,
    /// Glyphs that the terminal draws well.
    pub glyphs: GlyphSet,
    /// The home directory, shown as `~`; empty when there is none.
    pub home: &'a str,
}

/// The state that is drawn, the cells it goes into, and what the frame finds out on the way.
pub(super) struct FrameContext<'a> {
    /// State to draw.
    pub state: &'a State,
    /// With which styles and signs.
    pub look: &'a Appearance<'a>,
    /// The signs.
    pub signs: &'static Glyphs,
    /// Lines laid out in earlier frames.
    pub cache: &'a mut LayoutCache,
    /// The cells.
    pub buf: &'a mut Buffer,
    /// Facts that the frame found out.
    pub found: Frame,
    /// Links on the screen.
    pub links: Vec<Link>,
    /// Some cells stand for parts of pictures.
    pub pictures: bool,
    /// Position of the caret; the last one set counts.
    pub cursor: Option<Position>,
    /// Rows that are selected, under the bands of [`Role::Selected`].
    pub selected: Vec<Rect>,
    /// No keys are pressed (linear mode): hints name none.
    pub without_keys: bool,
}

/// Key as it is shown, with the action that it stands for.
#[derive(Clone, Debug)]
pub(super) struct ShownKey {
    /// Its name as the screen shows it.
    pub name: String,
    /// Action of the key, and of a click on it.
    pub action: Action,
}

impl std::fmt::Display for ShownKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

/// Key, where there is one, with the word for what it does.
pub(super) type Hint<'a> = (Option<ShownKey>, &'a str);

impl<'a> FrameContext<'a> {
    pub fn new(state: &'a State, look: &'a Appearance<'a>, cache: &'a mut LayoutCache, buf: &'a mut Buffer) -> Self {
        let signs = Glyphs::of(look.glyphs);
        let (found, links) = (Frame::default(), Vec::new());
        Self {
            state,
            look,
            signs,
            cache,
            buf,
            found,
            links,
            pictures: false,
            cursor: None,
            selected: Vec::new(),
            without_keys: false,
        }
    }

    pub fn style(&self, role: Role) -> Style {
        self.look.theme.style(role)
    }

    /// The style of a role without the ground of the screen: text keeps the ground that it stands on.
    fn ink(&self, role: Role) -> Style {
        let style = self.style(role);
        let screen = self.style(Role::Text).bg;
        Style { bg: style.bg.filter(|bg| Some(*bg) != screen), ..style }
    }

    /// A piece in the style of a role.
    pub fn piece<'t>(&self, text: impl Into<std::borrow::Cow<'t, str>>, role: Role) -> Piece<'t> {
        (text.into(), self.ink(role))
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
        if role == Role::Selected {
            self.selected.push(area);
        }
    }

    /// Gives all text of selected rows the one colour that can be read on their band.
    pub fn settle_selected(&mut self) {
        let style = self.style(Role::Selected);
        let (ink, band) = match (style.fg, style.bg) {
            (Some(ink), Some(band)) => (ink, band),
            // In reverse video the colour of a text would be a block of its own in the band.
            _ if style.add_modifier.contains(Modifier::REVERSED) => (Color::Reset, Color::Reset),
            _ => return,
        };
        for area in std::mem::take(&mut self.selected) {
            for position in area.intersection(self.buf.area).positions() {
                if let Some(cell) = self.buf.cell_mut(position)
                    && cell.bg == band
                {
                    cell.fg = ink;
                }
            }
        }
    }

    /// Takes the weight from all that stands on the screen: something is about to be drawn over it.
    pub fn dim_all(&mut self) {
        let (faint, ground) = (self.style(Role::Faint), self.style(Role::Text));
        for cell in &mut self.buf.content {
            cell.modifier = faint.add_modifier;
            match faint.fg {
                Some(fg) => (cell.fg, cell.bg) = (fg, ground.bg.unwrap_or_default()),
                None => {
                    (cell.fg, cell.bg, cell.modifier) =
                        (ground.fg.unwrap_or_default(), ground.bg.unwrap_or_default(), Modifier::DIM)
                }
            }
        }
    }

    /// Text from the left edge; what does not fit is cut and marked. Returns the cells used.
    pub fn text(&mut self, area: Rect, text: &str, role: Role) -> u16 {
        let style = self.ink(role);
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

    /// A line that is laid out already. Where it has the ground of the screen, the ground that is there stays.
    pub fn line(&mut self, area: Rect, line: &Line<'_>) {
        let screen = self.style(Role::Text).bg;
        let mut rest = area;
        for span in &line.spans {
            let mut style = line.style.patch(span.style);
            style.bg = style.bg.filter(|bg| Some(*bg) != screen);
            let used = cells::put(self.buf, rest, &span.content, style);
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
        if let (Ok(x), Ok(y)) = (u16::try_from(x), u16::try_from(y))
            && area.contains(Position { x, y })
        {
            self.cursor = Some(Position { x, y });
        }
    }

    /// A style for text over a ground that is there already. What stands out by a ground of its own (as in 16 colours)
    /// stands out by its colour there: without either it could not be seen.
    #[must_use]
    pub fn flat(&self, style: Style) -> Style {
        match style.bg {
            Some(own) if Some(own) != self.style(Role::Text).bg => Style { bg: None, fg: Some(own), ..style },
            _ => Style { bg: None, ..style },
        }
    }

    /// Text in the colour of `role` on whatever ground is there.
    pub fn over(&mut self, area: Rect, text: &str, role: Role) -> u16 {
        let style = self.flat(self.style(role));
        let shown = cells::cut(text, usize::from(area.width), self.signs.cut);
        cells::put(self.buf, area, &shown, style)
    }

    /// The spinner's sign of this instant.
    pub fn spin(&self) -> &'static str {
        let frame = self.state.clock.now.0.div_euclid(SPIN).rem_euclid(1 << 20);
        self.signs.spin(usize::try_from(frame).unwrap_or(0))
    }

    /// The spinner's sign of this second, for what stands beside the conversation.
    pub fn spin_slowly(&self) -> &'static str {
        let frame = (self.state.clock.now.0.div_euclid(1_000) * 1_000).div_euclid(SPIN).rem_euclid(1 << 20);
        self.signs.spin(usize::try_from(frame).unwrap_or(0))
    }

    /// A path with the home directory as `~`. Not sanitised.
    pub fn home_path(&self, path: &Path) -> String {
        match path.strip_prefix(self.look.home) {
            Ok(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
            Ok(rest) if !self.look.home.is_empty() => format!("~/{}", rest.display()),
            _ => path.display().to_string(),
        }
    }

    /// The first key for an action in a place, else anywhere, as hints show it.
    pub fn key(&self, action: Action, context: Context) -> Option<ShownKey> {
        if self.without_keys {
            return None;
        }
        let keys = &self.state.keys;
        let here = keys.of(context).find(|binding| binding.action == action);
        let found = here.or_else(|| keys.of(Context::Global).find(|binding| binding.action == action))?;
        Some(ShownKey { name: self.key_name(&chord_name(&found.keys)), action })
    }

    /// Name of the first key for an action, as text.
    pub fn key_of(&self, action: Action, context: Context) -> Option<String> {
        self.key(action, context).map(|key| key.name)
    }

    /// A chord's name with arrows as signs: `ctrl+x ↑`. In ASCII they keep their names, since `v` is a key as well.
    pub fn key_name(&self, name: &str) -> String {
        let signs = !self.signs.arrows.down.is_ascii();
        let part = |part: &str| match part {
            "up" | "down" | "left" | "right" if !signs => part.to_owned(),
            "up" => self.signs.arrows.up.to_owned(),
            "down" => self.signs.arrows.down.to_owned(),
            "left" => self.signs.arrows.left.to_owned(),
            "right" => self.signs.arrows.right.to_owned(),
            other => printed(other),
        };
        name.split(' ')
            .map(|key| match key.rsplit_once('+') {
                Some((mods, last)) if !last.is_empty() => format!("{mods}+{}", part(last)),
                _ => part(key),
            })
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// `key word  key word`: three pieces each (gap, key, word), those without a key left out.
    pub fn hints(&self, hints: &[Hint<'_>]) -> Vec<Piece<'static>> {
        let mut out = Vec::new();
        for (key, word) in hints {
            let Some(key) = key else { continue };
            let gap = if out.is_empty() { "" } else { "  " };
            out.push((gap.into(), self.style(Role::Dim)));
            out.push((key.name.clone().into(), self.style(Role::Key)));
            out.push((format!(" {word}").into(), self.style(Role::Dim)));
        }
        out
    }

    /// Makes the hints that were drawn from the left of `area` clickable.
    pub fn click_hints(&mut self, area: Rect, hints: &[Hint<'_>]) {
        let mut rest = area;
        for (key, word) in hints {
            let Some(key) = key else { continue };
            let wide = cells::width(&key.name) + 1 + cells::width(word);
            let wide = u16::try_from(wide).unwrap_or(u16::MAX);
            // No request of the agent is answered by a click.
            if wide <= rest.width
                && !matches!(key.action, Action::Answer(AnswerAction::Confirm | AnswerAction::YesOnce))
            {
                self.target(Rect { width: wide, height: rest.height.min(1), ..rest }, Target::Act(key.action));
            }
            rest = cells::after(rest, wide.saturating_add(2));
        }
    }

    /// Writes `left` and, at the right edge, hints that are clickable; the hints only where `left` keeps `least` cells.
    pub fn sides_hints(&mut self, area: Rect, left: &[Piece<'_>], hints: &[Hint<'_>], least: usize) {
        let right = self.hints(hints);
        self.sides(area, left, &right, least);
        let wide = cells::pieces_width(&right);
        let room = usize::from(area.width);
        if cells::are_beside(left, wide, least, room) {
            self.click_hints(cells::after(area, u16::try_from(room - wide).unwrap_or(area.width)), hints);
        }
    }

    /// A text with the characters at `marks` as matched.
    pub fn marked(&self, text: &str, marks: &[usize], role: Role) -> Vec<Piece<'static>> {
        let mut out: Vec<(String, bool)> = Vec::new();
        let mut place = 0;
        for grapheme in text.graphemes(true) {
            let chars = grapheme.chars().count();
            let hit = (place..place + chars).any(|at| marks.binary_search(&at).is_ok());
            place += chars;
            match out.last_mut() {
                Some((run, was)) if *was == hit => run.push_str(grapheme),
                _ => out.push((grapheme.to_owned(), hit)),
            }
        }
        let style = |hit: bool| self.style(if hit { Role::Match } else { role });
        out.into_iter().map(|(run, hit)| (clean_line(&run).into_owned().into(), style(hit))).collect()
    }

    /// Draws a field with a secret: one sign for each character, whatever it is.
    pub fn hidden_line(&mut self, area: Rect, characters: usize, focused: bool) {
        let shown = characters.min(usize::from(area.width.saturating_sub(1)));
        self.text(area, &"*".repeat(shown), Role::Text);
        if focused && area.height > 0 {
            self.caret(area, shown, 0);
        }
    }

    /// A text of one line that is being written, scrolled so that the caret is seen.
    pub fn one_line(&mut self, area: Rect, line: &edit::Line, focused: bool) {
        let style = if line.is_selected() {
            self.style(Role::Selected)
        } else {
            Style { bg: None, ..self.style(Role::Strong) }
        };
        let room = usize::from(area.width).saturating_sub(1);
        // Somebody may look over the shoulder, or at a recording. A hash that is looked for has no such shape.
        if masked(line.text()).is_some() {
            return self.hidden_line(area, line.text().chars().count(), focused);
        }
        let (before, after) = line.text().split_at(line.caret().min(line.text().len()));
        let shown = cells::cut_start(before, room, self.signs.cut);
        let column = cells::width(&shown);
        let used = cells::put(self.buf, area, &shown, style);
        let rest = cells::after(area, used);
        let tail = cells::cut(after, usize::from(rest.width), self.signs.cut);
        cells::put(self.buf, rest, &tail, style);
        if focused && area.height > 0 {
            self.caret(area, column, 0);
        }
    }
}
