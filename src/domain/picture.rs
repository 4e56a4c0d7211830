//! Pictures in the conversation: how many cells one takes, and what is known of it. Pixels themselves are never here.

use std::path::PathBuf;

/// A picture is shown in no more columns than these,
pub const MOST_COLS: u16 = 60;
/// and in no more rows than these,
pub const MOST_ROWS: u16 = 16;
/// nor in more than this part of the screen's rows.
const PART: u16 = 3;
/// Smallest room in which a picture is shown.
const LEAST: Cells = Cells { cols: 8, rows: 3 };

/// Width and height in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pixels {
    /// Width.
    pub width: u32,
    /// Height.
    pub height: u32,
}

/// Columns and rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cells {
    /// Columns.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
}

/// Fit of a picture into cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fit {
    /// Cells it takes.
    pub cells: Cells,
    /// Its size when it was made small enough: never more than the cells hold, and never more than it has.
    pub pixels: Pixels,
}

/// State of a file with a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KnownPicture {
    /// Its size.
    Sized(Pixels),
    /// Half a sentence: why it cannot be shown.
    Broken(String),
}

/// A picture in the size in which it is seen.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Want {
    /// The file.
    pub path: PathBuf,
    /// Cells it takes.
    pub cells: Cells,
}

/// Room for a picture in a pane of this width on a screen of this height; `None` if there is too little.
#[must_use]
pub fn room(cols: usize, screen_rows: u16) -> Option<Cells> {
    let cols = u16::try_from(cols).unwrap_or(u16::MAX).min(MOST_COLS);
    let rows = (screen_rows / PART).min(MOST_ROWS);
    (cols >= LEAST.cols && rows >= LEAST.rows).then_some(Cells { cols, rows })
}

/// Fit of a picture into `room` where a cell has `cell` pixels. Its proportions stay, and it is never enlarged.
#[must_use]
pub fn fit(picture: Pixels, cell: Pixels, room: Cells) -> Option<Fit> {
    if picture.width == 0 || picture.height == 0 || cell.width == 0 || cell.height == 0 {
        return None;
    }
    let (width, height) = (f64::from(picture.width), f64::from(picture.height));
    let most_width = f64::from(cell.width) * f64::from(room.cols);
    let most_height = f64::from(cell.height) * f64::from(room.rows);
    let scale = (most_width / width).min(most_height / height).min(1.0);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most what the room has")]
    let scaled = |side: f64, most: f64| (side * scale).round().clamp(1.0, most) as u32;
    let pixels = Pixels { width: scaled(width, most_width), height: scaled(height, most_height) };
    let cells = |pixels: u32, cell: u32| u16::try_from(pixels.div_ceil(cell)).unwrap_or(u16::MAX);
    let cells = Cells { cols: cells(pixels.width, cell.width), rows: cells(pixels.height, cell.height) };
    Some(Fit { cells, pixels })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn px(width: u32, height: u32) -> Pixels {
        Pixels { width, height }
    }

    #[test]
    fn proportions_stay_and_nothing_grows() {
        let room = Cells { cols: 60, rows: 16 };
        for (picture, cell, cells, pixels) in [
            // Rows bound it: 16 rows of 20 pixels.
            (px(1280, 720), px(10, 20), (57, 16), px(569, 320)),
            // Columns bound it.
            (px(2000, 500), px(10, 20), (60, 8), px(600, 150)),
            // Small enough as it is.
            (px(100, 50), px(10, 20), (10, 3), px(100, 50)),
            (px(1, 1), px(10, 20), (1, 1), px(1, 1)),
            // Hair-thin ones keep a pixel.
            (px(10_000, 1), px(10, 20), (60, 1), px(600, 1)),
            (px(1, 10_000), px(10, 20), (1, 16), px(1, 320)),
            // Cells of a dense screen.
            (px(1280, 720), px(18, 40), (60, 16), px(1080, 608)),
        ] {
            let fit = fit(picture, cell, room).unwrap();
            assert_eq!((fit.cells.cols, fit.cells.rows, fit.pixels), (cells.0, cells.1, pixels), "{picture:?}");
        }
        assert_eq!(fit(px(0, 5), px(10, 20), room), None);
        assert_eq!(fit(px(5, 5), px(0, 20), room), None);
    }

    #[test]
    fn there_is_room_where_something_can_be_seen() {
        assert_eq!(room(76, 24), Some(Cells { cols: 60, rows: 8 }));
        assert_eq!(room(200, 100), Some(Cells { cols: 60, rows: 16 }));
        assert_eq!(room(38, 10), Some(Cells { cols: 38, rows: 3 }));
        assert_eq!(room(7, 40), None);
        assert_eq!(room(80, 8), None);
    }
}
