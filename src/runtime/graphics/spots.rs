//! Visible parts of pictures on a drawn screen: found by their placeholders after everything was
//! drawn, so overlays, clipping and scrolling need no care elsewhere.

use crate::ui::chat::picture::{PLACEHOLDER, number, place};
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::Color;

/// A rectangle of a picture that is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Spot {
    /// The picture's number.
    pub number: u32,
    /// Area on the screen.
    pub area: Rect,
    /// Its first column and row in the picture.
    pub from: (u16, u16),
}

/// The parts of pictures on the screen, from above.
#[must_use]
pub fn find(buffer: &Buffer) -> Vec<Spot> {
    let mut spots: Vec<Spot> = Vec::new();
    for y in buffer.area.top()..buffer.area.bottom() {
        let mut run: Option<Spot> = None;
        for x in buffer.area.left()..buffer.area.right() {
            let part = buffer.cell((x, y)).and_then(part);
            match (&mut run, part) {
                (Some(spot), Some((number, row, col)))
                    if spot.number == number && spot.from == (col.wrapping_sub(spot.area.width), row) =>
                {
                    spot.area.width += 1;
                }
                (_, part) => {
                    grow(&mut spots, run.take());
                    run = part.map(|(number, row, col)| Spot {
                        number,
                        area: Rect { x, y, width: 1, height: 1 },
                        from: (col, row),
                    });
                }
            }
        }
        grow(&mut spots, run);
    }
    spots
}

/// Adds a run of cells of one row, to the rectangle above it where it goes on there.
fn grow(spots: &mut Vec<Spot>, run: Option<Spot>) {
    let Some(run) = run else { return };
    let above = spots.iter_mut().find(|spot| {
        let (area, below) = (spot.area, run.area);
        spot.number == run.number
            && (area.x, area.width, area.bottom()) == (below.x, below.width, below.y)
            && (spot.from.0, spot.from.1 + area.height) == run.from
    });
    match above {
        Some(spot) => spot.area.height += 1,
        None => spots.push(run),
    }
}

/// The number of a picture, and the row and column of it that a cell stands for.
fn part(cell: &Cell) -> Option<(u32, u16, u16)> {
    let symbol = cell.symbol();
    if symbol.len() < 4 || !symbol.starts_with(PLACEHOLDER) {
        return None;
    }
    let (row, col) = place(symbol)?;
    Some((number(cell.fg)?, row, col))
}

/// Puts blanks in place of parts of pictures.
pub fn blank(buffer: &mut Buffer, area: Rect) {
    for y in area.top()..area.bottom() {
        for x in area.left()..area.right() {
            if let Some(cell) = buffer.cell_mut((x, y)) {
                cell.set_symbol(" ").set_fg(Color::Reset);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::chat::picture::{colour, placeholder};

    fn put(buffer: &mut Buffer, number: u32, area: Rect, from: (u16, u16)) {
        for y in 0..area.height {
            for x in 0..area.width {
                let symbol = placeholder(from.1 + y, from.0 + x).unwrap();
                buffer[(area.x + x, area.y + y)].set_symbol(&symbol).set_fg(colour(number));
            }
        }
    }

    #[test]
    fn what_is_seen_of_a_picture_is_found() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 30, 10));
        assert_eq!(find(&buffer), []);
        // Its first two rows are scrolled away.
        let area = Rect::new(2, 0, 8, 3);
        put(&mut buffer, 7, area, (0, 2));
        assert_eq!(find(&buffer), [Spot { number: 7, area, from: (0, 2) }]);
        // Another one right beside it, and something that covers a part of the first.
        let other = Rect::new(10, 0, 4, 2);
        put(&mut buffer, 8, other, (0, 0));
        buffer.set_string(4, 1, "menu", ratatui::style::Style::new());
        let spot = |number, x, y, width, height, from| Spot { number, area: Rect::new(x, y, width, height), from };
        assert_eq!(
            find(&buffer),
            [
                spot(7, 2, 0, 8, 1, (0, 2)),
                spot(8, 10, 0, 4, 2, (0, 0)),
                spot(7, 2, 1, 2, 1, (0, 3)),
                spot(7, 8, 1, 2, 1, (6, 3)),
                spot(7, 2, 2, 8, 1, (0, 4)),
            ]
        );
        blank(&mut buffer, area);
        assert_eq!(find(&buffer), [spot(8, 10, 0, 4, 2, (0, 0))]);
        assert_eq!(buffer[(2, 0)].symbol(), " ");
    }
}
