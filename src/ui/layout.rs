//! Assignment of cells to panes. Pure arithmetic: the size and the wishes go in, rectangles come out.
//!
//! ```text
//!  list          │ header
//!                │ details (wide) or a blank row
//!                │ conversation
//!                ├─ panel, when something waits
//!                ├──────────────────────
//!                │ queue
//!                │ files of the draft
//!                │ composer
//!  status
//!  bar: keys of the place, or a notice
//! ```

use crate::app::state::panes;
use ratatui::layout::Rect;

/// From this width on both panes and a line of details are shown.
pub const WIDE: u16 = 110;
/// From this width on both panes are shown, the list narrow.
pub const NARROW: u16 = 80;
/// From this width on there is room for a pane of details.
pub const WIDEST: u16 = 160;
/// Cells of the pane of details.
const DETAILS: u16 = 42;
/// Below this height a focused panel has the whole screen, and rows that are only air go.
pub const LOW: u16 = 16;
/// Below this height a panel is only announced until it has the focus, and then it has the whole pane if it needs that.
pub const PANEL_LOW: u16 = 30;
/// Rows of header, conversation and composer that stay beside a focused panel, or it has the whole pane.
const BESIDE: u16 = 8;
/// Below this size there is only the title of the list and the status.
pub const LEAST: (u16, u16) = (20, 5);

/// Pane shown where only one fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Front {
    /// The list.
    List,
    /// The conversation with its composer.
    Chat,
}

/// A panel's claim on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PanelWant {
    /// Nothing waits here.
    None,
    /// It waits, docked: the number of rows it wants, and those that announce it where the screen is low.
    Docked(u16, u16),
    /// It has the focus: the number of rows it wants; all of them where the screen is low.
    Focused(u16),
    /// The user wants it as large as the screen.
    Full,
}

impl PanelWant {
    /// True if the panel has a pane of this height for itself. A short request leaves the conversation in view: it says why
    /// this is asked.
    fn needs_pane(self, height: u16, announced: bool, low: bool) -> bool {
        match self {
            PanelWant::Full => true,
            PanelWant::Focused(rows) => announced && (low || rows.saturating_add(BESIDE) > height),
            PanelWant::None | PanelWant::Docked(..) => false,
        }
    }
}

/// Width that the user wants for the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListWant {
    /// As wide as fits the screen.
    #[default]
    Fitting,
    /// Number of cells, where there is room.
    Cells(u16),
    /// Not beside the chat.
    Hidden,
}

/// Wishes of the panes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wants {
    /// The pane in front where only one fits.
    pub front: Front,
    /// The list.
    pub list: ListWant,
    /// The pane of details, where there is room for it.
    pub details: bool,
    /// Only the conversation, its panel and the composer.
    pub only_chat: bool,
    /// Rows of the composer's text.
    pub composer: u16,
    /// Queued messages.
    pub queue: u16,
    /// A row for the files of the draft: 1 where there are some, else 0.
    pub files: u16,
    /// The panel.
    pub panel: PanelWant,
    /// Rows below the status line.
    pub bar: u16,
}

/// Panes that are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// Under [`LEAST`]: the title of the list and the status.
    Tiny,
    /// The list or the chat.
    #[default]
    One,
    /// List and chat.
    Both,
}

/// Rectangles of the screen. An empty one is not drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// The list of sessions.
    pub list: Rect,
    /// The line between list and chat.
    pub rule: Rect,
    /// The conversation's title.
    pub header: Rect,
    /// Below the header: a row of details, a blank row, or both.
    pub details: Rect,
    /// The conversation.
    pub chat: Rect,
    /// Pending request.
    pub panel: Rect,
    /// The line above queue and composer.
    pub edge: Rect,
    /// Queued messages.
    pub queue: Rect,
    /// The files of the draft.
    pub files: Rect,
    /// The composer, with its prompt.
    pub composer: Rect,
    /// The status line below the panes, and the rows of the bar below it.
    pub status: Rect,
    /// The line between chat and details.
    pub side_rule: Rect,
    /// The pane of details beside the chat.
    pub side: Rect,
    /// The right side as a whole: what pickers above the composer may cover.
    pub right: Rect,
    /// Panes that are shown.
    pub shape: Shape,
}

impl Layout {
    /// The last rows: the keys of the place, or a notice.
    #[must_use]
    pub fn bar(&self) -> Rect {
        let height = self.status.height.saturating_sub(1);
        Rect { y: self.status.bottom() - height, height, ..self.status }
    }
}

/// Divides `area`.
#[must_use]
pub fn divide(area: Rect, wants: Wants) -> Layout {
    let mut out = Layout::default();
    if area.is_empty() {
        return out;
    }
    let bar = wants.bar.min(area.height.saturating_sub(LEAST.1));
    out.status = Rect { y: area.bottom() - bar - 1, height: 1 + bar, ..area };
    let body = Rect { height: area.height - bar - 1, ..area };
    if area.width < LEAST.0 || area.height < LEAST.1 {
        out.shape = Shape::Tiny;
        out.list = body;
        return out;
    }
    let mut right = body;
    if area.width >= NARROW && wants.list != ListWant::Hidden {
        out.shape = Shape::Both;
        let list = match wants.list {
            ListWant::Cells(cells) => cells.clamp(panes::LEAST, area.width - panes::CHAT),
            // On the grid of two cells. In wide terminals the titles get the room.
            _ => (area.width * 28 / 100 / 2 * 2).clamp(24, 56),
        };
        out.list = Rect { width: list, ..body };
        out.rule = Rect { x: body.x + list, width: 1, ..body };
        right = Rect { x: body.x + list + 1, width: body.width - list - 1, ..body };
    } else if wants.front == Front::List {
        out.list = body;
        return out;
    }
    if wants.details && area.width >= WIDEST && right.width >= 2 * DETAILS {
        right.width -= DETAILS + 1;
        out.side_rule = Rect { x: right.right(), width: 1, ..body };
        out.side = Rect { x: right.right() + 1, width: DETAILS, ..body };
    }
    out.right = right;
    let low = area.height < LOW;
    let announced = area.height < PANEL_LOW;
    if wants.panel.needs_pane(right.height, announced, low) {
        // The whole pane, or the whole screen but the status line.
        let all = low || (announced && wants.panel == PanelWant::Full);
        out.panel = if all || (out.shape != Shape::Both && out.side.is_empty()) { body } else { right };
        if all {
            (out.list, out.rule, out.shape) = (Rect::default(), Rect::default(), Shape::One);
            (out.side, out.side_rule) = (Rect::default(), Rect::default());
        }
        return out;
    }
    let mut rest = right;
    if !wants.only_chat {
        out.header = take_top(&mut rest, 1);
    }
    if area.height >= LOW && !wants.only_chat {
        // Facts and a blank row where there is room for both, else only the blank row.
        let roomy = area.width >= WIDE && area.height >= 24;
        out.details = take_top(&mut rest, if roomy { 2 } else { 1 });
    }
    // The composer grows to a third of the screen and leaves the conversation three rows where it can.
    let third = (area.height / 3).max(1);
    let composer = wants.composer.clamp(1, third).min(rest.height);
    out.composer = take_bottom(&mut rest, composer);
    out.files = take_bottom(&mut rest, wants.files.min(1));
    let queue = wants.queue.min(rest.height.saturating_sub(4) / 2).min(if low { 1 } else { 3 });
    out.queue = take_bottom(&mut rest, queue);
    if rest.height > 1 {
        out.edge = take_bottom(&mut rest, 1);
    }
    let panel = match wants.panel {
        PanelWant::None | PanelWant::Full => 0,
        PanelWant::Docked(_, rows) if announced => rows.min(rest.height.saturating_sub(1)).max(1),
        // Some of the conversation stays in view: it says why this is asked.
        PanelWant::Docked(rows, _) => rows.min(rest.height * 3 / 5),
        PanelWant::Focused(rows) => rows.min(rest.height.saturating_sub(4).max(rest.height * 3 / 5)),
    };
    out.panel = take_bottom(&mut rest, panel);
    out.chat = rest;
    out
}

fn take_top(rest: &mut Rect, rows: u16) -> Rect {
    let rows = rows.min(rest.height);
    let taken = Rect { height: rows, ..*rest };
    rest.y += rows;
    rest.height -= rows;
    taken
}

fn take_bottom(rest: &mut Rect, rows: u16) -> Rect {
    let rows = rows.min(rest.height);
    rest.height -= rows;
    Rect { y: rest.y + rest.height, height: rows, ..*rest }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PLAIN: Wants = Wants {
        front: Front::Chat,
        list: ListWant::Fitting,
        details: false,
        only_chat: false,
        composer: 1,
        queue: 0,
        files: 0,
        panel: PanelWant::None,
        bar: 0,
    };

    #[test]
    fn the_panes_follow_the_width() {
        let at = |width, height, wants| divide(Rect::new(0, 0, width, height), wants);
        let wide = at(140, 40, PLAIN);
        assert_eq!((wide.shape == Shape::Both, wide.list.width, wide.rule.x, wide.chat.x), (true, 38, 38, 39));
        let narrow = at(80, 24, PLAIN);
        assert_eq!((narrow.shape == Shape::Both, narrow.list.width, narrow.right.width), (true, 24, 55));
        let one = at(79, 24, PLAIN);
        assert_eq!((one.shape == Shape::Both, one.list.is_empty(), one.chat.width), (false, true, 79));
        let list = at(79, 24, Wants { front: Front::List, ..PLAIN });
        assert_eq!((list.list.width, list.chat.is_empty(), list.composer.is_empty()), (79, true, true));
        let tiny = at(19, 24, PLAIN);
        assert!(tiny.shape == Shape::Tiny && tiny.composer.is_empty() && tiny.status.height == 1);
        let small = at(40, 10, PLAIN);
        assert_eq!((small.header.height, small.chat.height, small.composer.height), (1, 6, 1));
    }

    #[test]
    fn the_user_divides_the_screen() {
        let at = |width, wants| divide(Rect::new(0, 0, width, 40), wants);
        for (cells, width, got) in [(20, 100, 20), (2, 100, 16), (90, 100, 60), (60, 80, 40)] {
            assert_eq!(
                at(width, Wants { list: ListWant::Cells(cells), ..PLAIN }).list.width,
                got,
                "{cells} of {width}"
            );
        }
        let hidden = at(120, Wants { list: ListWant::Hidden, ..PLAIN });
        assert_eq!((hidden.shape == Shape::Both, hidden.list.is_empty(), hidden.right.width), (false, true, 120));
        let swapped = at(120, Wants { list: ListWant::Hidden, front: Front::List, ..PLAIN });
        assert_eq!((swapped.list.width, swapped.chat.is_empty()), (120, true));
        let wide = at(180, Wants { details: true, ..PLAIN });
        assert_eq!((wide.side.width, wide.side.right(), wide.right.right() + 1), (42, 180, wide.side.x));
        assert!(at(159, Wants { details: true, ..PLAIN }).side.is_empty());
        let only = at(180, Wants { list: ListWant::Hidden, only_chat: true, ..PLAIN });
        assert_eq!((only.header.height, only.chat.y, only.status.height), (0, 0, 1));
    }

    #[test]
    fn a_low_screen_gives_a_panel_one_row_or_everything() {
        let low = |panel| divide(Rect::new(0, 0, 100, 15), Wants { panel, ..PLAIN });
        assert_eq!(low(PanelWant::Docked(12, 1)).panel.height, 1);
        assert_eq!(low(PanelWant::Docked(12, 2)).panel.height, 2);
        let middle = |panel| divide(Rect::new(0, 0, 80, 24), Wants { panel, ..PLAIN });
        assert_eq!(middle(PanelWant::Docked(12, 2)).panel.height, 2);
        assert_eq!(middle(PanelWant::Focused(16)).panel, Rect::new(25, 0, 55, 23));
        let short = middle(PanelWant::Focused(12));
        assert_eq!((short.panel.height, short.composer.height, short.chat.height), (12, 1, 7));
        assert_eq!(middle(PanelWant::Full).panel, Rect::new(0, 0, 80, 23));
        assert_eq!(low(PanelWant::Focused(12)).panel, Rect::new(0, 0, 100, 14));
        let high = divide(Rect::new(0, 0, 100, 30), Wants { panel: PanelWant::Focused(12), ..PLAIN });
        assert_eq!((high.panel.height, high.composer.height), (12, 1));
    }

    #[test]
    fn the_composer_stops_at_a_third() {
        let grown = divide(Rect::new(0, 0, 100, 30), Wants { composer: 99, ..PLAIN });
        assert_eq!(grown.composer.height, 10);
    }

    proptest! {
        #[test]
        fn nothing_leaves_the_screen_or_overlaps(
            (width, height) in (0u16..220, 0u16..70),
            (composer, queue, files, rows) in (0u16..80, 0u16..20, 0u16..2, 0u16..90),
            (panel, list, bar) in (0u8..4, any::<bool>(), 0u16..4),
            (cells, hidden, details, only_chat) in (0u16..260, any::<bool>(), any::<bool>(), any::<bool>()),
        ) {
            let panel = match panel {
                0 => PanelWant::None,
                1 => PanelWant::Docked(rows, 1 + rows % 2),
                2 => PanelWant::Focused(rows),
                _ => PanelWant::Full,
            };
            let front = if list { Front::List } else { Front::Chat };
            let area = Rect::new(0, 0, width, height);
            let list = match (hidden, cells) {
                (true, _) => ListWant::Hidden,
                (false, 0..60) => ListWant::Fitting,
                (false, cells) => ListWant::Cells(cells - 60),
            };
            let l = divide(area, Wants { front, list, details, only_chat, composer, queue, files, panel, bar });
            let parts = [
                l.list, l.rule, l.header, l.details, l.chat, l.panel, l.edge, l.queue, l.files, l.composer, l.status,
                l.side_rule, l.side,
            ];
            for (n, a) in parts.iter().enumerate() {
                prop_assert_eq!(a.intersection(area).area(), a.area(), "{:?}", l);
                for b in parts.iter().skip(n + 1) {
                    prop_assert!(a.is_empty() || b.is_empty() || !a.intersects(*b), "{:?}", l);
                }
            }
            prop_assert_eq!(parts.iter().map(|p| p.area()).sum::<u32>(), area.area());
        }
    }
}
