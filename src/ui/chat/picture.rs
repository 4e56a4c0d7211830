//! Pictures below their described lines: the rows that are kept for one, and what its cells hold.
//!
//! A cell of a picture holds kitty's placeholder, a character that stands for one cell of a picture, with the picture's
//! number as its colour. So a picture is clipped, scrolled and covered as any text is. Where the terminal draws pictures in
//! another way, the runtime finds the cells that are still seen by these placeholders and puts blanks in their place.

use super::row::Row;
use crate::app::state::gallery::{Gallery, Ready};
use crate::domain::attachment::{Attachment, AttachmentKind};
use crate::domain::picture::{KnownPicture, Want, fit, room};
use crate::domain::{Body, Message};
use crate::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::Arc;

/// Stands for a cell of a picture.
pub const PLACEHOLDER: char = '\u{10eeee}';

/// The marks that say which row or column of a picture a placeholder stands for: the first ones of kitty's
/// `rowcolumn-diacritics.txt`, more than a picture has columns here.
const MARKS: [char; 64] = [
    '\u{305}', '\u{30d}', '\u{30e}', '\u{310}', '\u{312}', '\u{33d}', '\u{33e}', '\u{33f}', '\u{346}', '\u{34a}',
    '\u{34b}', '\u{34c}', '\u{350}', '\u{351}', '\u{352}', '\u{357}', '\u{35b}', '\u{363}', '\u{364}', '\u{365}',
    '\u{366}', '\u{367}', '\u{368}', '\u{369}', '\u{36a}', '\u{36b}', '\u{36c}', '\u{36d}', '\u{36e}', '\u{36f}',
    '\u{483}', '\u{484}', '\u{485}', '\u{486}', '\u{487}', '\u{592}', '\u{593}', '\u{594}', '\u{595}', '\u{597}',
    '\u{598}', '\u{599}', '\u{59c}', '\u{59d}', '\u{59e}', '\u{59f}', '\u{5a0}', '\u{5a1}', '\u{5a8}', '\u{5a9}',
    '\u{5ab}', '\u{5ac}', '\u{5af}', '\u{5c4}', '\u{610}', '\u{611}', '\u{612}', '\u{613}', '\u{614}', '\u{615}',
    '\u{616}', '\u{617}', '\u{657}', '\u{658}',
];

/// The cell of a picture in this row and column of it; `None` beyond what marks can say.
#[must_use]
pub fn placeholder(row: u16, col: u16) -> Option<String> {
    let mark = |n: u16| MARKS.get(usize::from(n));
    Some([PLACEHOLDER, *mark(row)?, *mark(col)?].iter().collect())
}

/// The row and column of a picture that a cell stands for.
#[must_use]
pub fn place(symbol: &str) -> Option<(u16, u16)> {
    let mut marks = symbol.strip_prefix(PLACEHOLDER)?.chars();
    let mut next = || {
        let mark = marks.next()?;
        u16::try_from(MARKS.iter().position(|known| *known == mark)?).ok()
    };
    Some((next()?, next()?))
}

/// The colour that stands for a picture's number.
#[must_use]
pub fn colour(number: u32) -> Color {
    let [_, r, g, b] = number.to_be_bytes();
    Color::Rgb(r, g, b)
}

/// The number that a colour stands for.
#[must_use]
pub fn number(colour: Color) -> Option<u32> {
    match colour {
        Color::Rgb(r, g, b) => Some(u32::from_be_bytes([0, r, g, b])),
        _ => None,
    }
}

/// Inputs of the layout of pictures.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'a> {
    /// State of the pictures.
    pub gallery: &'a Gallery,
    /// Rows of the whole screen: what a picture takes does not depend on what stands beside the conversation.
    pub screen_rows: u16,
}

/// The rows that are kept for a picture.
#[derive(Clone, Debug)]
pub(super) struct PictureRows {
    /// The first of them, among the lines of its row of the conversation.
    pub(super) first: usize,
    /// Cells before it.
    pub(super) indent: u16,
    pub(super) want: Arc<Want>,
}

/// Cells before a picture: it begins where the words of its described line do.
const INDENT: u16 = 2;

/// The files of a row that pictures may be seen of.
fn images(message: &Message) -> impl Iterator<Item = &Attachment> {
    message.files().iter().filter(|file| file.kind == AttachmentKind::Image)
}

/// A number that is another one when other lines belong to the pictures of a row; 0 where it has none.
pub(super) fn stamp(message: &Message, row: &Row<'_>) -> u64 {
    if !matches!(message.body, Body::User(_) | Body::Tool(_)) {
        return 0;
    }
    let mut hasher = DefaultHasher::new();
    let mut any = false;
    for file in images(message) {
        any = true;
        file.path.hash(&mut hasher);
        match row.pictures.gallery.known(&file.path) {
            None => 0_u8.hash(&mut hasher),
            Some(KnownPicture::Sized(pixels)) => pixels.hash(&mut hasher),
            Some(KnownPicture::Broken(why)) => why.hash(&mut hasher),
        }
    }
    if !any {
        return 0;
    }
    (row.pictures.gallery.cell, row.pictures.screen_rows).hash(&mut hasher);
    hasher.finish() | 1
}

/// Picture part of a file's description: its size, or why it cannot be shown.
pub(super) fn told(path: &Path, row: &Row<'_>) -> Option<Result<String, String>> {
    Some(match row.pictures.gallery.known(path)? {
        KnownPicture::Sized(pixels) => {
            let times = row.look.glyph("×", "x");
            Ok(format!("{}{times}{}", pixels.width, pixels.height))
        }
        KnownPicture::Broken(why) => Err(crate::domain::sanitise::clean_line(why).into_owned()),
    })
}

/// The rows that are kept for the picture of a file, the first of which is line `first`; and how many there are.
pub(super) fn kept(file: &Attachment, first: usize, row: &Row<'_>) -> Option<(PictureRows, usize)> {
    if file.kind != AttachmentKind::Image {
        return None;
    }
    let gallery = row.pictures.gallery;
    let KnownPicture::Sized(pixels) = gallery.known(&file.path)? else { return None };
    let room = room(row.width.saturating_sub(usize::from(INDENT)), row.pictures.screen_rows)?;
    let cells = fit(*pixels, gallery.cell?, room)?.cells;
    let want = Arc::new(Want { path: file.path.clone(), cells });
    Some((PictureRows { first, indent: INDENT, want }, usize::from(cells.rows)))
}

/// Draws a row of a picture into `area`, whose first cell is the first of its line. False where it is not ready.
pub(super) fn draw(kept: &PictureRows, row: usize, row_of: &Row<'_>, area: Rect, buf: &mut Buffer) -> bool {
    let at = Rect { x: area.x.saturating_add(kept.indent), ..area }.intersection(area);
    let Some(Ready::There(number)) = row_of.pictures.gallery.ready(&kept.want) else {
        // One faint sign says that something comes here.
        if row == 0 {
            buf.set_stringn(at.x, at.y, row_of.look.ellipsis(), usize::from(at.width), row_of.look.style(Role::Faint));
        }
        return false;
    };
    let row = u16::try_from(row).unwrap_or(u16::MAX);
    for col in 0..kept.want.cells.cols {
        let Some(symbol) = placeholder(row, col) else { break };
        let x = at.x.saturating_add(col);
        if let Some(cell) = buf.cell_mut((x, at.y)).filter(|_| x < at.right()) {
            cell.set_symbol(&symbol).set_style(Style::new().fg(colour(number)));
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::picture::{MOST_COLS, MOST_ROWS};
    use crate::ui::text;

    #[test]
    fn every_cell_of_a_picture_has_a_placeholder_one_cell_wide() {
        for row in 0..MOST_ROWS {
            for col in 0..MOST_COLS {
                let symbol = placeholder(row, col).unwrap();
                assert_eq!(text::width(&symbol), 1, "{row} {col}");
                assert_eq!(place(&symbol), Some((row, col)));
            }
        }
        assert_eq!(placeholder(0, 64), None);
        assert_eq!(place("a"), None);
        assert_eq!(place("\u{10eeee}"), None);
        // As kitty's documentation has it: the second row, the third column.
        assert_eq!(placeholder(1, 2).unwrap(), "\u{10eeee}\u{30d}\u{30e}");
    }

    #[test]
    fn a_number_is_a_colour_and_back() {
        for n in [1, 0x01_02_03, 0xff_ff_ff] {
            assert_eq!(number(colour(n)), Some(n));
        }
        assert_eq!(number(Color::Red), None);
    }

    #[test]
    fn no_text_from_outside_stands_for_a_picture() {
        assert_eq!(crate::domain::sanitise::clean("a\u{10eeee}\u{305}\u{305}b"), "a\u{305}\u{305}b");
    }
}
