//! Rules for any screen, whatever is on it.

use lisle::app::msg::Target;
use lisle::app::state::State;
use lisle::domain::Mode;
use lisle::runtime::encode::{self, Moving, TerminalContent};
use lisle::theme::{Role, Theme, colour};
use lisle::ui::glyphs::GlyphSet;
use lisle::ui::{Drawn, layout};
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use std::fmt::Write as _;
use std::num::NonZeroU16;
use unicode_width::UnicodeWidthStr as _;

fn rows(buf: &Buffer) -> impl Iterator<Item = (usize, &[Cell])> {
    buf.content.chunks(usize::from(buf.area.width)).enumerate()
}

/// Nothing in a cell acts on the terminal or on the order of text, and no wide character is cut: not at the edge, and not
/// by what stands beside it.
pub fn cells(place: &str, buf: &Buffer) {
    for (y, row) in rows(buf) {
        let mut free = 0;
        for (x, cell) in row.iter().enumerate() {
            let symbol = cell.symbol();
            let acts = |c: char| {
                c.is_control()
                    || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{feff}')
            };
            assert!(!symbol.contains(acts), "{place}: {symbol:?} at {x},{y}");
            assert!(x >= free || symbol.trim().is_empty(), "{place}: {symbol:?} at {x},{y} lies over a wide character");
            let width = symbol.width();
            assert!(width <= 2, "{place}: {symbol:?} at {x},{y} is {width} cells wide");
            assert!(x + width <= row.len(), "{place}: {symbol:?} at {x},{y} is cut by the edge");
            if x >= free {
                free = x + width.max(1);
            }
        }
    }
}

/// A terminal shows each row as it was meant: nothing wraps, nothing shifts. The emulator here knows nothing of signs that
/// are put together from several (families, flags), as many terminals: such a one may look as it likes, what stands behind
/// it is in its place.
pub fn emulated(place: &str, buf: &Buffer, sent: &[u8]) {
    let size = |n: u16| NonZeroU16::new(n).unwrap();
    let mut parser = vt100::Parser::new(size(buf.area.height), size(buf.area.width), 0);
    parser.process(sent);
    for (y, row) in rows(buf) {
        let mut free = 0;
        for (x, cell) in row.iter().enumerate() {
            let meant = cell.symbol();
            if x < free {
                continue;
            }
            free = x + meant.width().max(1);
            let each: usize = meant.chars().map(|c| c.to_string().width()).sum();
            let is_flag = meant.starts_with(|c: char| ('\u{1f1e6}'..='\u{1f1ff}').contains(&c));
            if each != meant.width() || is_flag {
                continue;
            }
            let at = (u16::try_from(y).unwrap(), u16::try_from(x).unwrap());
            let shown = parser.screen().cell(at.0, at.1).map(|cell| cell.contents().to_owned()).unwrap_or_default();
            assert!(
                shown == meant || (shown.trim().is_empty() && meant.trim().is_empty()),
                "{place}: {shown:?} for {meant:?} at {x},{y}"
            );
        }
    }
}

/// The line between list and chat stands in one column, from the top to above the status.
pub fn borders(place: &str, state: &State, buf: &Buffer, drawn: &Drawn, glyphs: GlyphSet) {
    if !drawn.frame.both_panes || !state.overlays.is_empty() || state.input.chord.strip {
        return;
    }
    let signs = lisle::ui::glyphs::Glyphs::of(glyphs);
    let column = drawn.frame.list_cells;
    let list = drawn.frame.areas.iter().find(|(_, target)| *target == lisle::app::msg::Target::List);
    for y in 0..list.map_or(0, |(area, _)| area.h) {
        let symbol = buf[(column, y)].symbol();
        assert!(
            [signs.lines.rule, signs.lines.branch].contains(&symbol),
            "{place}: {symbol:?} stands in the rule at {column},{y}"
        );
    }
}

/// One of the last rows says in which mode one is on every screen that is not tiny.
pub fn status(place: &str, state: &State, buf: &Buffer) {
    let all: Vec<String> = rows(buf).map(|(_, row)| row.iter().map(Cell::symbol).collect()).collect();
    let text = all.get(all.len().saturating_sub(4)..).unwrap_or_default().concat();
    assert!(!text.trim().is_empty(), "{place}: there is no status");
    // Where it is narrow a notice or a chord takes the row for a while.
    if buf.area.width >= layout::LEAST.0 && state.notices.last().is_none() && state.input.chord.keys.is_empty() {
        let mode = Mode::Ask.shown();
        assert!(text.contains(mode) || text.contains("Ask"), "{place}: {text:?} does not say {mode}");
    }
}

/// In ASCII what lisle draws itself is ASCII: the line, the frames, the marks at the edges.
pub fn signs(place: &str, _state: &State, buf: &Buffer, glyphs: GlyphSet) {
    if glyphs == GlyphSet::Unicode {
        return;
    }
    for (y, row) in rows(buf) {
        for (x, cell) in row.iter().enumerate() {
            let drawn = |c: char| matches!(c, '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{2500}'..='\u{25ff}' | '\u{2800}'..='\u{28ff}' | '…' | '·');
            assert!(!cell.symbol().contains(drawn), "{place}: {:?} at {x},{y}", cell.symbol());
        }
    }
}

/// The real cursor stands on the screen, and not in the middle of a wide character.
pub fn caret(place: &str, buf: &Buffer, drawn: &Drawn) {
    let Some(at) = drawn.cursor else { return };
    assert!(buf.area.contains(at), "{place}: the caret is at {at:?}");
    if at.x > 0 {
        let before = buf[(at.x - 1, at.y)].symbol();
        assert!(before.width() < 2, "{place}: the caret stands in {before:?}");
    }
}

/// Output of the program for the screen.
pub fn sent(buffer: Buffer, drawn: &Drawn) -> Vec<u8> {
    let mut frame = encode::Frame { buffer, cursor: drawn.cursor, links: Vec::new(), pictures: Vec::new() };
    let (mut shown, mut out) = (TerminalContent::default(), Vec::new());
    shown.advance(&mut frame, Moving::Never, &mut out);
    out
}

/// Only sequences that move the cursor, colour, and clear; and text.
pub fn bytes(place: &str, sent: &[u8]) {
    let text = std::str::from_utf8(sent).unwrap();
    for (before, sequence) in sequences(text) {
        // A line end is how the cursor goes to the next row.
        let acts = |c: char| c.is_control() && !matches!(c, '\r' | '\n');
        assert!(!before.contains(acts), "{place}: a control character in {before:?}");
        let last = sequence.chars().last();
        assert!(
            matches!(last, None | Some('H' | 'm' | 'J' | 'K' | 'h' | 'l' | 'G' | 'C' | 'A' | 'B' | 'd' | 'X')),
            "{place}: {sequence:?}"
        );
    }
}

/// The text before each control sequence, and what stands between its introducer and its end, both included.
fn sequences(text: &str) -> Vec<(&str, &str)> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("\x1b[") {
        let (before, from) = rest.split_at(at);
        let end = from[2..].find(|c: char| ('\x40'..='\x7e').contains(&c)).unwrap() + 3;
        out.push((before, &from[2..end]));
        rest = &from[end..];
    }
    out.push((rest, ""));
    out
}

/// The numbers of every colour and style.
fn styles(sent: &[u8]) -> Vec<Vec<u16>> {
    let text = std::str::from_utf8(sent).unwrap();
    let is_style = |(_, sequence): &(&str, &str)| sequence.ends_with('m');
    let numbers =
        |sequence: &str| sequence.trim_end_matches('m').split([';', ':']).map(|n| n.parse().unwrap_or(0)).collect();
    sequences(text).iter().filter(|one| is_style(one)).map(|(_, sequence)| numbers(sequence)).collect()
}

/// With NO_COLOR only weight, slant, lines and reverse.
pub fn no_colours(place: &str, sent: &[u8]) {
    for numbers in styles(sent) {
        assert!(numbers.iter().all(|n| *n < 30), "{place}: {numbers:?}");
    }
}

/// Only the colours that the user's terminal theme decides.
pub fn only_sixteen(place: &str, sent: &[u8]) {
    for numbers in styles(sent) {
        let usual = |n: &u16| matches!(n, 0..=29 | 30..=37 | 39..=47 | 49 | 90..=97 | 100..=107);
        let indexed = matches!(numbers.as_slice(), [38 | 48, 5, 0..=15]);
        assert!(indexed || numbers.iter().all(usual), "{place}: {numbers:?}");
    }
}

/// Text can be read: at least 4.5 to 1, as WCAG asks of it.
pub fn contrast(place: &str, theme: &Theme, buf: &Buffer) {
    let lines = [Role::Rule, Role::RuleFocus].map(|role| theme.style(role).fg);
    for (y, row) in rows(buf) {
        for (x, cell) in row.iter().enumerate() {
            let is_line = |c: char| matches!(c, '\u{2500}'..='\u{259f}' | '\u{2800}'..='\u{28ff}' | ' ');
            if cell.symbol().chars().all(is_line) || lines.contains(&Some(cell.fg)) {
                continue;
            }
            let (mut ink, mut ground) = (cell.fg, cell.bg);
            if cell.modifier.contains(Modifier::REVERSED) {
                std::mem::swap(&mut ink, &mut ground);
            }
            let ratio = colour::contrast(ink, ground);
            assert!(
                ratio.is_some_and(|ratio| ratio >= 4.5),
                "{place}: {:?} at {x},{y}: {ink:?} on {ground:?} has {ratio:?}",
                cell.symbol()
            );
        }
    }
}

fn word(color: Color) -> String {
    match color {
        Color::Reset => "-".to_owned(),
        Color::Rgb(r, g, b) => format!("#{r:02x}{g:02x}{b:02x}"),
        Color::Indexed(n) => n.to_string(),
        other => format!("{other:?}").to_lowercase(),
    }
}

/// Row by row the runs of one style: its cells, its colours, its weight.
pub fn runs(buf: &Buffer) -> String {
    let mut out = String::new();
    for (y, row) in rows(buf) {
        let mut x = 0;
        let mut line = String::new();
        while x < row.len() {
            let style = |cell: &Cell| (cell.fg, cell.bg, cell.modifier);
            let is = style(&row[x]);
            let count = row[x..].iter().take_while(|cell| style(cell) == is).count();
            let text: String = row[x..x + count].iter().map(Cell::symbol).collect();
            let (ink, ground, held) = is;
            if !text.trim().is_empty() || ground != row[0].bg {
                let held = if held.is_empty() { String::new() } else { format!(" {held:?}").to_lowercase() };
                write!(line, " [{x}+{count} {}/{}{held}]", word(ink), word(ground)).unwrap();
            }
            x += count;
        }
        if !line.is_empty() {
            writeln!(out, "{y:>2}{line}").unwrap();
        }
    }
    out
}

/// Rule that everything clickable by its looks is: fold marks, the marks that stop a turn and take a file out, links.
pub fn clickable(place: &str, buf: &Buffer, drawn: &Drawn, glyphs: GlyphSet) {
    let at = |x: u16, y: u16| drawn.frame.at(x, y);
    let grounds = |target: Option<&Target>| {
        matches!(
            target,
            None | Some(
                Target::Chat
                    | Target::Entry(_)
                    | Target::List
                    | Target::Overlay
                    | Target::Panel
                    | Target::Composer
                    | Target::Rule
            )
        )
    };
    for link in drawn.links.iter().filter(|link| link.url.starts_with("http")) {
        for x in link.x..link.x + link.width {
            let target = at(x, link.y);
            assert!(matches!(target, Some(Target::Link(_))) || !grounds(target), "{place}: {x},{} {target:?}", link.y);
        }
    }
    if glyphs != GlyphSet::Unicode {
        return;
    }
    for y in 0..buf.area.height {
        for x in 0..buf.area.width {
            let after: String = (x..buf.area.width).map(|x| buf[(x, y)].symbol()).take(6).collect();
            if after.starts_with(['▸', '▾']) || after.starts_with("■ stop") || after.starts_with("■ esc") {
                let row: String = (0..buf.area.width).map(|x| buf[(x, y)].symbol()).collect();
                assert!(!grounds(at(x, y)), "{place}: {x},{y} {:?}\n{row}", at(x, y));
            }
        }
    }
}
