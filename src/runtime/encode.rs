//! From one screen to the next in few bytes: what changed, as cursor moves, styles and text.
//!
//! Pure: `frames` decides when, and hands in what the terminal really shows.

pub mod links;

use crate::ui::chat::picture::PLACEHOLDER;
pub use links::CellLink;
use ratatui::buffer::{Buffer, Cell, CellWidth};
use ratatui::layout::{Position, Rect};
use ratatui::style::{Color, Modifier};
use std::io::Write as _;
use std::sync::Arc;
use unicode_width::UnicodeWidthChar;

/// Number of blanks in a row from which they are erased instead of written.
const ERASE_FROM: usize = 8;
/// Number of unchanged cells, of equal look, that are rewritten rather than jumped over.
const REWRITE: u16 = 3;

/// Rows are looked for no further away than this when text may have moved up or down.
const FURTHEST: usize = 12;

/// Scrolling of rows on the screen instead of rewriting them. Text beside the moving rows moves
/// along for a moment, so it needs a terminal that shows a frame as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moving {
    /// Allowed, if it saves this number of cells.
    Worth(usize),
    /// Every changed cell is written.
    Never,
}

/// A screen as it should look.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The cells.
    pub buffer: Buffer,
    /// Position of the real cursor; hidden when `None`.
    pub cursor: Option<Position>,
    /// Links; empty where the terminal knows no links.
    pub links: Vec<CellLink>,
    /// Pictures drawn over blank cells, after all of them.
    pub pictures: Vec<Picture>,
}

/// Picture that a sequence of its own draws over cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The cells, which are blank.
    pub area: Rect,
    /// Bytes that draw it, with the cursor in its first cell.
    pub bytes: Arc<[u8]>,
}

impl Picture {
    fn is_same(&self, other: &Self) -> bool {
        self.area == other.area && (Arc::ptr_eq(&self.bytes, &other.bytes) || self.bytes == other.bytes)
    }
}

/// Screen content of the terminal, with its cursor and style.
#[derive(Debug)]
pub struct TerminalContent {
    buffer: Buffer,
    width: u16,
    cursor: Option<Position>,
    /// Cell of the next character; `None` if unknown.
    at: Option<Position>,
    style: CellStyle,
    /// Links on the screen.
    links: Vec<CellLink>,
    /// Pictures drawn over cells.
    pictures: Vec<Picture>,
    /// Link of the next character.
    leads: Option<Arc<str>>,
    /// Nothing is known of the screen: it is cleared first.
    unknown: bool,
    /// The terminal draws joined signs one by one.
    split_signs: bool,
}

/// Style of the next character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CellStyle {
    fg: Color,
    bg: Color,
    underline: Color,
    modifier: Modifier,
}

const PLAIN: CellStyle =
    CellStyle { fg: Color::Reset, bg: Color::Reset, underline: Color::Reset, modifier: Modifier::empty() };

/// Output of one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameOutput {
    /// Cells that changed.
    pub cells: usize,
    /// Rows in which something changed.
    pub rows: u16,
}

impl Default for TerminalContent {
    fn default() -> Self {
        Self {
            buffer: Buffer::default(),
            width: 0,
            cursor: None,
            at: None,
            style: PLAIN,
            links: Vec::new(),
            pictures: Vec::new(),
            leads: None,
            unknown: true,
            split_signs: false,
        }
    }
}

impl TerminalContent {
    /// The screen is not what it was thought to be: the next frame clears and writes everything.
    pub fn forget(&mut self) {
        self.unknown = true;
    }

    /// Of joined signs only the first is written from now on, or all are.
    pub fn split_signs(&mut self, on: bool) {
        self.split_signs = on;
    }

    /// Appends to `out` what turns the shown screen into `frame`, and remembers it as shown. Nothing is appended when
    /// nothing changed. The buffer that was shown before is left in `frame`, to be used again.
    pub fn advance(&mut self, frame: &mut Frame, moving: Moving, out: &mut Vec<u8>) -> FrameOutput {
        let start = out.len();
        if self.unknown || self.buffer.area != frame.buffer.area {
            out.extend_from_slice(b"\x1b[?25l\x1b[m\x1b[2J");
            self.buffer = Buffer::empty(frame.buffer.area);
            self.width = frame.buffer.area.width;
            (self.at, self.style, self.cursor) = (None, PLAIN, None);
            self.unknown = false;
            self.links.clear();
            self.pictures.clear();
        }
        let links = std::mem::take(&mut frame.links);
        // What is drawn over cells does not move with them in every terminal.
        let moves = self.pictures.is_empty() && frame.pictures.is_empty();
        let pictures = self.uncover(std::mem::take(&mut frame.pictures));
        let mut rows = differing(&self.buffer, &frame.buffer);
        if let Moving::Worth(cells) = moving
            && moves
            && let Some(shift) = shift(&self.buffer, &frame.buffer, &rows, cells)
        {
            self.shift(shift, out);
            rows = differing(&self.buffer, &frame.buffer);
        }
        if self.relink(links) {
            rows = differing(&self.buffer, &frame.buffer);
        }
        let torn = self.torn(&frame.buffer);
        let change = self.cells(&frame.buffer, &rows, start, out);
        self.cover(pictures, torn, out);
        self.caret(frame.cursor, start, out);
        std::mem::swap(&mut self.buffer, &mut frame.buffer);
        change
    }

    /// Takes away what the next frame does not draw over its cells: they are written anew although they look the same. What
    /// it draws comes back.
    fn uncover(&mut self, next: Vec<Picture>) -> Vec<Picture> {
        let (stay, gone): (Vec<Picture>, Vec<Picture>) =
            std::mem::take(&mut self.pictures).into_iter().partition(|old| next.iter().any(|new| new.is_same(old)));
        for picture in gone {
            for at in picture.area.intersection(self.buffer.area).positions() {
                if let Some(cell) = self.buffer.cell_mut(at) {
                    // Nothing looks like this.
                    cell.set_symbol("\u{e000}");
                }
            }
        }
        self.pictures = stay;
        next
    }

    /// Remaining pictures of which a cell is about to be written.
    fn torn(&self, next: &Buffer) -> Vec<Rect> {
        let differs = |at: Position| match (self.buffer.cell(at), next.cell(at)) {
            (Some(old), Some(new)) => !same(old, new),
            _ => true,
        };
        let areas = self.pictures.iter().map(|picture| picture.area);
        areas.filter(|area| area.positions().any(differs)).collect()
    }

    /// Draws over the cells what is not there yet, or was torn.
    fn cover(&mut self, pictures: Vec<Picture>, torn: Vec<Rect>, out: &mut Vec<u8>) {
        for picture in &pictures {
            let there = self.pictures.iter().any(|old| old.is_same(picture)) && !torn.contains(&picture.area);
            if there {
                continue;
            }
            if self.cursor.take().is_some() {
                out.extend_from_slice(b"\x1b[?25l");
            }
            self.look(PLAIN, out);
            let Rect { x, y, .. } = picture.area;
            let _ = write!(out, "\x1b[{};{}H", u32::from(y) + 1, u32::from(x) + 1);
            out.extend_from_slice(&picture.bytes);
            // Where the cursor is now, terminals do not agree on.
            self.at = None;
        }
        self.pictures = pictures;
    }

    /// True if a picture is drawn over a cell.
    fn is_covered(&self, x: u16, y: u16) -> bool {
        self.pictures.iter().any(|picture| picture.area.contains(Position { x, y }))
    }

    /// Takes the links of the next frame. Cells that lead elsewhere now are written anew although they look the same:
    /// whether there are any.
    fn relink(&mut self, next: Vec<CellLink>) -> bool {
        let before = std::mem::replace(&mut self.links, next);
        let gone = before.iter().filter(|link| !self.links.contains(link));
        let came = self.links.iter().filter(|link| !before.contains(link));
        let mut any = false;
        for link in gone.chain(came) {
            for x in link.x..link.x.saturating_add(link.width) {
                if let Some(cell) = self.buffer.cell_mut((x, link.y)) {
                    // Nothing looks like this.
                    cell.set_symbol("\u{e000}");
                    any = true;
                }
            }
        }
        any
    }

    /// Link of a cell.
    fn leads_to(&self, x: u16, y: u16) -> Option<&Arc<str>> {
        self.links.iter().find(|link| link.holds(x, y)).map(|link| &link.url)
    }

    /// From here on cells lead to `url`, or nowhere.
    fn lead(&mut self, url: Option<Arc<str>>, out: &mut Vec<u8>) {
        if self.leads != url {
            links::turn(url.as_deref(), out);
            self.leads = url;
        }
    }

    /// Moves rows on the screen, and in what is known of it.
    fn shift(&mut self, shift: Shift, out: &mut Vec<u8>) {
        let Shift { top, bottom, by, up } = shift;
        self.look(PLAIN, out);
        // Lines are deleted or inserted at the top of a region: the Linux console and every emulator can do that.
        let (line, verb) = (top + 1, if up { 'M' } else { 'L' });
        let _ = write!(out, "\x1b[{line};{bottom}r\x1b[{line}H\x1b[{by}{verb}\x1b[r");
        self.at = None;
        self.links.retain_mut(|link| {
            let y = usize::from(link.y);
            if !(top..bottom).contains(&y) {
                return true;
            }
            let moved = if up { y.checked_sub(by) } else { Some(y + by) };
            let stays = moved.filter(|y| (top..bottom).contains(y)).and_then(|y| u16::try_from(y).ok());
            link.y = stays.unwrap_or(link.y);
            stays.is_some()
        });
        let width = usize::from(self.width);
        let Some(rows) = self.buffer.content.get_mut(top * width..bottom * width) else { return };
        if up {
            rows.rotate_left(by * width);
            let kept = rows.len() - by * width;
            rows[kept..].fill(Cell::EMPTY);
        } else {
            rows.rotate_right(by * width);
            rows[..by * width].fill(Cell::EMPTY);
        }
    }

    fn cells(&mut self, next: &Buffer, rows: &[u16], start: usize, out: &mut Vec<u8>) -> FrameOutput {
        let mut change = FrameOutput::default();
        let before = std::mem::take(&mut self.buffer);
        let changed = changed(&before, next, rows);
        // A visible cursor would be seen jumping about; for a few cells hiding it costs more than it helps.
        if changed.len() > 64 && self.cursor.is_some() && out.len() == start {
            out.extend_from_slice(b"\x1b[?25l");
            self.cursor = None;
        }
        let mut row = None;
        let mut i = 0;
        while let Some(&(x, y, cell)) = changed.get(i) {
            if row != Some(y) {
                row = Some(y);
                change.rows += 1;
            }
            let blanks = changed[i..]
                .iter()
                .enumerate()
                .take_while(|(n, (bx, by, blank))| {
                    let next = *by == y && usize::from(*bx) == usize::from(x) + n;
                    next && is_blank(blank) && self.leads_to(*bx, y).is_none()
                })
                .count();
            if blanks >= ERASE_FROM {
                self.go(next, x, y, out);
                self.lead(None, out);
                self.look(PLAIN, out);
                let end = usize::from(x) + blanks;
                if end == usize::from(next.area.right()) {
                    out.extend_from_slice(b"\x1b[K");
                } else {
                    let _ = write!(out, "\x1b[{blanks}X");
                }
                change.cells += blanks;
                i += blanks;
                continue;
            }
            self.go(next, x, y, out);
            if !self.links.is_empty() || self.leads.is_some() {
                let url = self.leads_to(x, y).cloned();
                self.lead(url, out);
            }
            self.cell(cell, out);
            change.cells += 1;
            i += 1;
        }
        drop(changed);
        self.lead(None, out);
        self.buffer = before;
        change
    }

    /// Moves to a cell by the shortest way.
    fn go(&mut self, next: &Buffer, x: u16, y: u16, out: &mut Vec<u8>) {
        let to = Position { x, y };
        if self.at == Some(to) {
            return;
        }
        match self.at {
            Some(at) if at.y == y && at.x < x => {
                let gap = x - at.x;
                let same =
                    |n: u16| next.cell((n, y)).filter(|cell| cell.symbol().len() == 1 && look_of(cell) == self.style);
                let plain = |n: u16| self.leads_to(n, y) == self.leads.as_ref() && !self.is_covered(n, y);
                if gap <= REWRITE && (at.x..x).all(|n| same(n).is_some() && plain(n)) {
                    for n in at.x..x {
                        out.extend_from_slice(text_of(next.cell((n, y)).map_or(" ", Cell::symbol)).as_bytes());
                    }
                } else if gap == 1 {
                    out.extend_from_slice(b"\x1b[C");
                } else {
                    let _ = write!(out, "\x1b[{gap}C");
                }
            }
            Some(at) if x == 0 && y == at.y.saturating_add(1) => out.extend_from_slice(b"\r\n"),
            _ if to == Position::ORIGIN => out.extend_from_slice(b"\x1b[H"),
            _ if x == 0 => {
                let _ = write!(out, "\x1b[{}H", u32::from(y) + 1);
            }
            _ => {
                let _ = write!(out, "\x1b[{};{}H", u32::from(y) + 1, u32::from(x) + 1);
            }
        }
        self.at = Some(to);
    }

    fn cell(&mut self, cell: &Cell, out: &mut Vec<u8>) {
        let mut text = text_of(cell.symbol());
        if self.split_signs
            && let Some((first, _)) = text.split_once('\u{200d}')
            && !first.is_empty()
        {
            text = first;
        }
        // Not put together it would go on in the next row: at the edge its first character stands for it.
        if self.at.is_some_and(|at| at.x.saturating_add(widest(text)) > self.width) {
            text = text.chars().next().and_then(|first| text.get(..first.len_utf8())).unwrap_or(text);
        }
        if !(text == " " && looks_blank(self.style, look_of(cell))) {
            self.look(look_of(cell), out);
        }
        out.extend_from_slice(text.as_bytes());
        // Where the cursor is after a cluster of several characters, terminals do not agree on (but those that draw
        // pictures by placeholders know them); and at the last column
        // some have already wrapped and some have not.
        let sure = text.chars().nth(1).is_none() || text.starts_with(PLACEHOLDER);
        self.at = self.at.filter(|_| sure).map(|at| Position { x: at.x + cell.cell_width().max(1), y: at.y });
        if self.at.is_some_and(|at| at.x >= self.width) {
            self.at = None;
        }
    }

    /// Sets the style for the next character.
    fn look(&mut self, to: CellStyle, out: &mut Vec<u8>) {
        if to == self.style {
            return;
        }
        if to == PLAIN {
            out.extend_from_slice(b"\x1b[m");
        } else {
            out.extend_from_slice(b"\x1b[");
            sgr(self.style, to, out);
            // The last `;` becomes the end.
            out.pop();
            out.push(b'm');
        }
        self.style = to;
    }

    fn caret(&mut self, cursor: Option<Position>, start: usize, out: &mut Vec<u8>) {
        match cursor {
            None if self.cursor.is_some() => out.extend_from_slice(b"\x1b[?25l"),
            Some(at) => {
                if (out.len() > start || self.cursor != cursor) && self.at != Some(at) {
                    let _ = write!(out, "\x1b[{};{}H", u32::from(at.y) + 1, u32::from(at.x) + 1);
                    self.at = Some(at);
                }
                if self.cursor.is_none() {
                    out.extend_from_slice(b"\x1b[?25h");
                }
            }
            None => {}
        }
        self.cursor = cursor;
    }
}

/// Rows `top..bottom` move up or down by so many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shift {
    top: usize,
    bottom: usize,
    by: usize,
    up: bool,
}

/// Two cells look the same. As `==` of cells is, but quick: every frame asks it of every cell.
#[inline]
fn same(a: &Cell, b: &Cell) -> bool {
    if a.fg != b.fg || a.bg != b.bg || a.modifier != b.modifier || a.underline_color != b.underline_color {
        return false;
    }
    let (one, other) = (a.symbol().as_bytes(), b.symbol().as_bytes());
    match (one, other) {
        ([one], [other]) => one == other,
        _ => one == other,
    }
}

/// The rows that are not the same in both, from the top.
fn differing(before: &Buffer, next: &Buffer) -> Vec<u16> {
    let width = usize::from(next.area.width).max(1);
    let rows = before.content.chunks_exact(width).zip(next.content.chunks_exact(width));
    let differ = rows.zip(0..).filter(|((old, new), _)| !old.iter().zip(*new).all(|(old, new)| same(old, new)));
    differ.map(|(_, y)| y).collect()
}

/// The move that spares most cells, if one is worth it. `rows` differ.
fn shift(before: &Buffer, next: &Buffer, rows: &[u16], worth: usize) -> Option<Shift> {
    let width = usize::from(next.area.width);
    if before.area != next.area || rows.len() * width < worth {
        return None;
    }
    let old: Vec<&[Cell]> = before.content.chunks_exact(width).collect();
    let new: Vec<&[Cell]> = next.content.chunks_exact(width).collect();
    let (top, bottom) = (usize::from(*rows.first()?), usize::from(*rows.last()?) + 1);
    let (old, new) = (old.get(top..bottom)?, new.get(top..bottom)?);
    // Blanks are cheap to write, so only what is seen counts.
    let alike = |old: &[&[Cell]], new: &[&[Cell]]| -> usize {
        let pairs = old.iter().zip(new).flat_map(|(old, new)| old.iter().zip(*new));
        pairs.filter(|(old, new)| new.symbol() != " " && same(old, new)).count()
    };
    let stay = alike(old, new);
    let changed = new.iter().flat_map(|row| row.iter()).filter(|cell| cell.symbol() != " ").count() - stay;
    if changed < worth {
        return None;
    }
    let mut best: Option<(usize, Shift)> = None;
    for by in 1..=FURTHEST.min(old.len().saturating_sub(1)) {
        for up in [true, false] {
            let kept = if up { alike(&old[by..], new) } else { alike(old, &new[by..]) };
            let spared = kept.saturating_sub(stay);
            if spared >= worth.max(1) && best.as_ref().is_none_or(|(most, _)| spared > *most) {
                best = Some((spared, Shift { top, bottom, by, up }));
                // Text that streams moves by a line: nothing better is found by looking further.
                if spared > changed / 2 {
                    return best.map(|(_, shift)| shift);
                }
            }
        }
    }
    best.map(|(_, shift)| shift)
}

/// The cells to write, row by row from left to right; only `rows` differ.
fn changed<'a>(before: &Buffer, next: &'a Buffer, rows: &[u16]) -> Vec<(u16, u16, &'a Cell)> {
    let mut cells: Vec<(u16, u16, &Cell)> = Vec::new();
    if rows.len() > usize::from(next.area.height) / 2 {
        add_changed(before, next, next, &mut cells);
        return cells;
    }
    // Mostly a few rows change: the others are not gone over cell by cell.
    for y in rows {
        let area = Rect { y: *y, height: 1, ..next.area };
        let row = |buffer: &Buffer| {
            let width = usize::from(area.width);
            let from = usize::from(*y) * width;
            let content = buffer.content.get(from..from + width).unwrap_or_default().to_vec();
            Buffer { area, content }
        };
        add_changed(&row(before), &row(next), next, &mut cells);
    }
    cells
}

/// Adds what differs between two buffers; the cells are those of `whole`, of which `next` is a part.
fn add_changed<'a>(before: &Buffer, next: &Buffer, whole: &'a Buffer, cells: &mut Vec<(u16, u16, &'a Cell)>) {
    // Writing over the left half of a wide character erases its right half, in whatever style is on then.
    let mut torn: Option<(u16, u16)> = None;
    // A terminal that does not put signs together writes over what stands behind them: from where to where, in which row.
    let mut spilt: Option<(u16, u16, u16)> = None;
    for (x, y, cell) in before.diff_iter(next) {
        if let Some(at) = torn.take().filter(|at| *at != (x, y)) {
            cells.extend(whole.cell(at).map(|cell| (at.0, at.1, cell)));
        }
        if let Some((from, to, row)) = spilt.take() {
            let behind = if row == y { to.min(x) } else { to };
            again(whole, from, behind, row, cells);
            spilt = (row == y && to > x).then_some((x, to, row));
        }
        cells.extend(whole.cell((x, y)).map(|cell| (x, y, cell)));
        let end = x + cell.cell_width().max(1);
        let reaches = |c: u16| before.cell((c, y)).is_some_and(|old| c + old.cell_width() > end);
        torn = (end < next.area.right() && (x..end).any(reaches)).then_some((end, y));
        let furthest = spilt.map_or(0, |(_, to, _)| to).max(x + widest(cell.symbol())).min(next.area.right());
        spilt = (furthest > end).then_some((end, furthest, y));
        if spilt.is_some() {
            torn = None;
        }
    }
    cells.extend(torn.and_then(|at| Some((at.0, at.1, whole.cell(at)?))));
    if let Some((from, to, row)) = spilt {
        again(whole, from, to, row, cells);
    }
}

/// Adds cells of a row although they are thought to be shown: all whole ones that begin in `from..to`.
fn again<'a>(whole: &'a Buffer, from: u16, to: u16, row: u16, cells: &mut Vec<(u16, u16, &'a Cell)>) {
    let mut x = from;
    while x < to {
        let Some(cell) = whole.cell((x, row)) else { return };
        cells.push((x, row, cell));
        x += cell.cell_width().max(1);
    }
}

/// The cells that a sign takes where its characters are not put together, as in families and flags: of one character those
/// that it has.
fn widest(symbol: &str) -> u16 {
    if symbol.len() <= 4 {
        return 0;
    }
    let cells: usize = symbol.chars().filter_map(UnicodeWidthChar::width).sum();
    u16::try_from(cells).unwrap_or(u16::MAX)
}

fn look_of(cell: &Cell) -> CellStyle {
    CellStyle { fg: cell.fg, bg: cell.bg, underline: cell.underline_color, modifier: cell.modifier }
}

/// A blank that erasing gives as well.
fn is_blank(cell: &Cell) -> bool {
    cell.symbol() == " " && looks_blank(PLAIN, look_of(cell))
}

/// A blank in style `have` looks the same as one in style `want`.
fn looks_blank(have: CellStyle, want: CellStyle) -> bool {
    const SEEN: Modifier = Modifier::REVERSED
        .union(Modifier::UNDERLINED)
        .union(Modifier::SLOW_BLINK)
        .union(Modifier::RAPID_BLINK)
        .union(Modifier::CROSSED_OUT);
    have.bg == want.bg && !have.modifier.intersects(SEEN) && !want.modifier.intersects(SEEN)
}

/// Text to send for a cell: never a control character, and never empty.
fn text_of(symbol: &str) -> &str {
    if symbol.is_empty() || symbol.chars().any(char::is_control) { " " } else { symbol }
}

/// The parameters that lead from one style to another, each with a `;` after it.
fn sgr(from: CellStyle, to: CellStyle, out: &mut Vec<u8>) {
    const CODES: [(Modifier, u8, u8); 9] = [
        (Modifier::BOLD, 1, 22),
        (Modifier::DIM, 2, 22),
        (Modifier::ITALIC, 3, 23),
        (Modifier::UNDERLINED, 4, 24),
        (Modifier::SLOW_BLINK, 5, 25),
        (Modifier::RAPID_BLINK, 6, 25),
        (Modifier::REVERSED, 7, 27),
        (Modifier::HIDDEN, 8, 28),
        (Modifier::CROSSED_OUT, 9, 29),
    ];
    let mut gone = from.modifier.difference(to.modifier);
    let mut new = to.modifier.difference(from.modifier);
    // One code ends both weights, and one both ways to blink.
    for (one, other) in [(Modifier::BOLD, Modifier::DIM), (Modifier::SLOW_BLINK, Modifier::RAPID_BLINK)] {
        if gone.intersects(one | other) {
            gone = gone.difference(other) | one;
            new |= to.modifier.intersection(one | other);
        }
    }
    for (modifier, _, off) in CODES {
        if gone.contains(modifier) {
            let _ = write!(out, "{off};");
        }
    }
    for (modifier, on, _) in CODES {
        if new.contains(modifier) {
            let _ = write!(out, "{on};");
        }
    }
    if from.fg != to.fg {
        colour(to.fg, 30, out);
    }
    if from.bg != to.bg {
        colour(to.bg, 40, out);
    }
    if from.underline != to.underline {
        // With colons: a terminal that does not know it would take the parts after semicolons for styles.
        let _ = match to.underline {
            Color::Rgb(r, g, b) => write!(out, "58:2::{r}:{g}:{b};"),
            Color::Indexed(n) => write!(out, "58:5:{n};"),
            other => match ansi(other) {
                Some(n) => write!(out, "58:5:{n};"),
                None => write!(out, "59;"),
            },
        };
    }
}

fn colour(colour: Color, base: u8, out: &mut Vec<u8>) {
    let _ = match colour {
        Color::Rgb(r, g, b) => write!(out, "{};2;{r};{g};{b};", base + 8),
        Color::Indexed(n) => write!(out, "{};5;{n};", base + 8),
        other => match ansi(other) {
            Some(n @ 0..=7) => write!(out, "{};", base + n),
            Some(n) => write!(out, "{};", base + 52 + n),
            None => write!(out, "{};", base + 9),
        },
    };
}

/// The number of a named colour; `None` for the terminal's own.
fn ansi(colour: Color) -> Option<u8> {
    Some(match colour {
        Color::Black => 0,
        Color::Red => 1,
        Color::Green => 2,
        Color::Yellow => 3,
        Color::Blue => 4,
        Color::Magenta => 5,
        Color::Cyan => 6,
        Color::Gray => 7,
        Color::DarkGray => 8,
        Color::LightRed => 9,
        Color::LightGreen => 10,
        Color::LightYellow => 11,
        Color::LightBlue => 12,
        Color::LightMagenta => 13,
        Color::LightCyan => 14,
        Color::White => 15,
        Color::Reset | Color::Rgb(..) | Color::Indexed(_) => return None,
    })
}

#[cfg(test)]
mod tests;
