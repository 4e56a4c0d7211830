//! The bytes of a frame: few, and a terminal that reads them shows the frame.

use super::*;
use proptest::prelude::*;
use ratatui::layout::Rect;
use ratatui::style::Style;
use std::num::NonZeroU16;

fn terminal(width: u16, height: u16) -> vt100::Parser {
    vt100::Parser::new(NonZeroU16::new(height).unwrap(), NonZeroU16::new(width).unwrap(), 0)
}

pub(super) fn frame(rows: &[&str]) -> Frame {
    Frame { buffer: Buffer::with_lines(rows.iter().copied()), cursor: None, links: Vec::new(), pictures: Vec::new() }
}

pub(super) fn bytes(shown: &mut TerminalContent, mut frame: Frame) -> String {
    let mut out = Vec::new();
    shown.advance(&mut frame, Moving::Never, &mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn the_same_frame_again_is_no_bytes() {
    let mut shown = TerminalContent::default();
    assert!(!bytes(&mut shown, frame(&["ab", "cd"])).is_empty());
    assert_eq!(bytes(&mut shown, frame(&["ab", "cd"])), "");
    let at = Some(Position { x: 1, y: 1 });
    assert_eq!(bytes(&mut shown, Frame { cursor: at, ..frame(&["ab", "cd"]) }), "\x1b[2;2H\x1b[?25h");
    assert_eq!(bytes(&mut shown, Frame { cursor: at, ..frame(&["ab", "cd"]) }), "");
}

#[test]
fn a_typed_letter_is_a_letter() {
    let mut shown = TerminalContent::default();
    let at = |x| Some(Position { x, y: 0 });
    bytes(&mut shown, Frame { cursor: at(3), ..frame(&["> a        "]) });
    assert_eq!(bytes(&mut shown, Frame { cursor: at(4), ..frame(&["> ab       "]) }), "b");
    assert_eq!(bytes(&mut shown, Frame { cursor: at(5), ..frame(&["> abc      "]) }), "c");
}

#[test]
fn jumps_blanks_and_styles_are_short() {
    let mut shown = TerminalContent::default();
    bytes(&mut shown, frame(&["a bcdefghij", "x          "]));
    assert_eq!(bytes(&mut shown, frame(&["A bCdefghiJ", "X          "])), "\x1b[HA bC\x1b[6CJ\x1b[2HX");
    assert_eq!(bytes(&mut shown, frame(&["A          ", "X          "])), "\x1b[1;3H\x1b[K");
    let mut bold = frame(&["A     b    ", "X          "]);
    bold.buffer.set_style(Rect::new(6, 0, 2, 1), Style::new().bold().fg(Color::Rgb(1, 2, 3)));
    assert_eq!(bytes(&mut shown, bold), "\x1b[4C\x1b[1;38;2;1;2;3mb ");
}

#[test]
fn forgetting_and_another_size_repaint_everything() {
    let mut shown = TerminalContent::default();
    bytes(&mut shown, frame(&["ab", "cd"]));
    shown.forget();
    let again = bytes(&mut shown, frame(&["ab", "cd"]));
    assert!(again.contains("\x1b[2J") && again.contains("ab") && again.contains("cd"), "{again:?}");
    assert!(bytes(&mut shown, frame(&["abc"])).contains("\x1b[2J"));
}

#[test]
fn a_terminal_that_does_not_put_signs_together_shows_what_stands_behind_them() {
    // The emulator is such a one: a family of four takes eight cells.
    let mut terminal = terminal(16, 2);
    let mut shown = TerminalContent::default();
    for row in [
        "a👩\u{200d}👩\u{200d}👧\u{200d}👦 b       x",
        "c👨\u{200d}👩\u{200d}👧\u{200d}👦 b       x",
        "c👨\u{200d}👩\u{200d}👧\u{200d}👦 b漢  y",
        "d",
    ] {
        terminal.process(bytes(&mut shown, frame(&[row, "second"])).as_bytes());
        let mut rows = terminal.screen().rows(0, 16);
        let first = rows.next().unwrap();
        let behind = row.split_once('👦').map_or(row, |(_, behind)| behind);
        assert!(first.trim_end().ends_with(behind.trim_end()), "{first:?} for {row:?}");
        assert_eq!(rows.next().unwrap().trim_end(), "second");
    }
}

#[test]
fn a_control_character_in_a_cell_is_never_sent() {
    let mut bad = frame(&["   "]);
    bad.buffer[(1, 0)].set_symbol("\u{9b}31m");
    bad.buffer[(2, 0)].set_symbol("a\u{1b}]0;x");
    let sent = bytes(&mut TerminalContent::default(), bad);
    assert!(!sent.contains('\u{9b}') && !sent.contains("]0"), "{sent:?}");
}

fn style() -> impl Strategy<Value = Style> {
    let colours = prop::sample::select(vec![
        Color::Reset,
        Color::Red,
        Color::LightBlue,
        Color::White,
        Color::Indexed(99),
        Color::Rgb(9, 8, 7),
    ]);
    let modifiers = prop::sample::select(vec![
        Modifier::empty(),
        Modifier::BOLD,
        Modifier::DIM,
        Modifier::ITALIC | Modifier::UNDERLINED,
        Modifier::REVERSED,
        Modifier::BOLD | Modifier::REVERSED,
    ]);
    (colours.clone(), colours, modifiers).prop_map(|(fg, bg, m)| Style::new().fg(fg).bg(bg).add_modifier(m))
}

fn screen() -> impl Strategy<Value = Frame> {
    let text = prop::sample::select(vec!["a", "word", "  ", "            ", "漢字", "é", "e\u{301}", "─│", "…"]);
    let part = (0_u16..24, 0_u16..5, text, style());
    (prop::collection::vec(part, 0..12), prop::option::of((0_u16..24, 0_u16..5))).prop_map(|(parts, cursor)| {
        // Put down in order and side by side, as drawing does: never half a wide character.
        let mut buffer = Buffer::empty(Rect::new(0, 0, 24, 5));
        let mut free = [0_u16; 5];
        for (x, y, text, style) in parts {
            let from = x.max(free[usize::from(y)]);
            if from > 23 {
                continue;
            }
            let (end, _) = buffer.set_stringn(from, y, text, usize::from(24 - from), style);
            free[usize::from(y)] = end;
        }
        Frame { buffer, cursor: cursor.map(|(x, y)| Position { x, y }), links: Vec::new(), pictures: Vec::new() }
    })
}

proptest! {
    #[test]
    fn whatever_was_shown_before_the_screen_becomes_the_frame(frames in prop::collection::vec(screen(), 1..6)) {
        let (mut shown, mut stepped) = (TerminalContent::default(), terminal(24, 5));
        for frame in frames {
            let mut out = Vec::new();
            shown.advance(&mut frame.clone(), Moving::Worth(1), &mut out);
            stepped.process(&out);
            let (mut fresh, mut whole) = (Vec::new(), terminal(24, 5));
            TerminalContent::default().advance(&mut frame.clone(), Moving::Never, &mut fresh);
            whole.process(&fresh);
            for y in 0..5 {
                for x in 0..24 {
                    let (a, b) = (stepped.screen().cell(y, x).unwrap(), whole.screen().cell(y, x).unwrap());
                    if a.is_wide_continuation() {
                        continue;
                    }
                    prop_assert_eq!(a.contents().trim(), b.contents().trim());
                    prop_assert_eq!(a.bgcolor(), b.bgcolor(), "{},{}", x, y);
                    prop_assert_eq!((a.inverse(), a.underline()), (b.inverse(), b.underline()));
                    if !a.contents().trim().is_empty() {
                        let look = |c: &vt100::Cell| (c.fgcolor(), c.bold(), c.dim(), c.italic());
                        prop_assert_eq!(look(a), look(b));
                    }
                }
            }
            prop_assert_eq!(stepped.screen().hide_cursor(), frame.cursor.is_none());
            if let Some(at) = frame.cursor {
                prop_assert_eq!(stepped.screen().cursor_position(), (at.y, at.x));
            }
        }
    }

    #[test]
    fn text_and_colours_arrive_as_they_are_in_the_cells(frame in screen()) {
        let (mut out, mut terminal) = (Vec::new(), terminal(24, 5));
        TerminalContent::default().advance(&mut frame.clone(), Moving::Never, &mut out);
        terminal.process(&out);
        for y in 0..5 {
            let mut x = 0;
            while x < 24 {
                let (cell, seen) = (&frame.buffer[(x, y)], terminal.screen().cell(y, x).unwrap());
                let seen_text = if seen.contents().is_empty() { " " } else { seen.contents() };
                prop_assert_eq!(seen_text, cell.symbol());
                if cell.symbol() != " " {
                    let expected = match cell.fg {
                        Color::Reset => vt100::Color::Default,
                        Color::Rgb(r, g, b) => vt100::Color::Rgb(r, g, b),
                        Color::Indexed(n) => vt100::Color::Idx(n),
                        named => vt100::Color::Idx(ansi(named).unwrap()),
                    };
                    prop_assert_eq!(seen.fgcolor(), expected);
                    prop_assert_eq!(seen.bold(), cell.modifier.contains(Modifier::BOLD));
                }
                x += cell.symbol().cell_width().max(1);
            }
        }
    }
}

/// A list on the left, and text that begins with line `first` on the right.
fn transcript(first: usize) -> Frame {
    let mut buffer = Buffer::empty(Rect::new(0, 0, 100, 30));
    for y in 0..30_u16 {
        buffer.set_string(0, y, if y % 7 == 1 { "a session" } else { "" }, Style::new());
        buffer.set_string(20, y, "│", Style::new().fg(Color::DarkGray));
        if (2..27).contains(&y) {
            let line = first + usize::from(y);
            let text = format!("line {line} {}", "of some text, long enough ".repeat(1 + line % 3));
            buffer.set_stringn(22, y, text, 78, Style::new().fg(Color::Indexed(u8::try_from(line % 200).unwrap())));
        }
    }
    Frame { buffer, cursor: Some(Position { x: 30, y: 28 }), links: Vec::new(), pictures: Vec::new() }
}

#[test]
fn text_that_scrolls_is_moved_and_the_screen_is_the_same() {
    let (mut moved, mut written) = (TerminalContent::default(), TerminalContent::default());
    let mut screen = terminal(100, 30);
    let mut first = 50_usize;
    for step in [0_isize, 1, 1, 3, -1, -5, 0, 12, 20, -12, 1] {
        first = first.checked_add_signed(step).unwrap();
        let (mut few, mut many) = (Vec::new(), Vec::new());
        moved.advance(&mut transcript(first), Moving::Worth(400), &mut few);
        written.advance(&mut transcript(first), Moving::Never, &mut many);
        screen.process(&few);
        let mut whole = terminal(100, 30);
        let mut all = Vec::new();
        TerminalContent::default().advance(&mut transcript(first), Moving::Never, &mut all);
        whole.process(&all);
        for y in 0..30 {
            for x in 0..100 {
                let (a, b) = (screen.screen().cell(y, x).unwrap(), whole.screen().cell(y, x).unwrap());
                assert_eq!(a.contents().trim(), b.contents().trim(), "{x},{y} after {step}");
                assert!(a.contents().trim().is_empty() || a.fgcolor() == b.fgcolor(), "{x},{y} after {step}");
            }
        }
        assert_eq!(screen.screen().cursor_position(), (28, 30));
        if (1..=3).contains(&step.abs()) && first != 50 {
            assert!(few.len() * 2 < many.len(), "{} of {} bytes after {step}", few.len(), many.len());
        }
    }
}

fn over(area: Rect, bytes: &str) -> Picture {
    Picture { area, bytes: bytes.as_bytes().into() }
}

#[test]
fn what_is_drawn_over_cells_comes_last_and_once() {
    let mut shown = TerminalContent::default();
    let rows = ["text      ", "          ", "          "];
    let at = Some(Position { x: 1, y: 0 });
    let with = |pictures: &[Picture]| Frame { cursor: at, pictures: pictures.to_vec(), ..frame(&rows) };
    bytes(&mut shown, with(&[]));
    let picture = over(Rect::new(2, 1, 4, 2), "<A>");
    assert_eq!(bytes(&mut shown, with(std::slice::from_ref(&picture))), "\x1b[?25l\x1b[2;3H<A>\x1b[1;2H\x1b[?25h");
    assert_eq!(bytes(&mut shown, with(std::slice::from_ref(&picture))), "", "it stays");
    // A change beside it does not touch it.
    let beside = Frame { pictures: vec![picture.clone()], ..frame(&["text      ", "       new", "          "]) };
    assert!(!bytes(&mut shown, beside).contains("<A>"));
    // Something stands in its cells: what is left of it is another picture, and none of it stays by itself.
    let half = over(Rect::new(2, 2, 4, 1), "<B>");
    let menu = Frame { pictures: vec![half.clone()], ..frame(&["text      ", "  menu    ", "          "]) };
    let sent = bytes(&mut shown, menu);
    assert!(sent.contains("menu") && sent.ends_with("\x1b[3;3H<B>"), "{sent:?}");
    assert!(sent.contains("    "), "the cells below are written anew: {sent:?}");
    // It goes: its cells are written although they are blank before and after.
    let sent = bytes(&mut shown, Frame { pictures: Vec::new(), ..frame(&["text      ", "  menu    ", "          "]) });
    assert_eq!(sent, "\x1b[3;3H    ");
    // After the screen was cleared it is drawn again.
    bytes(&mut shown, with(std::slice::from_ref(&picture)));
    shown.forget();
    assert!(bytes(&mut shown, with(std::slice::from_ref(&picture))).contains("<A>"));
}

#[test]
fn a_torn_picture_is_drawn_again() {
    let mut shown = TerminalContent::default();
    let (one, two) = (over(Rect::new(0, 0, 4, 2), "<A>"), over(Rect::new(2, 1, 4, 2), "<B>"));
    let rows = ["          ", "          ", "          "];
    bytes(&mut shown, Frame { pictures: vec![one.clone(), two], ..frame(&rows) });
    // The one above it goes, and takes some of its cells along.
    let sent = bytes(&mut shown, Frame { pictures: vec![one], ..frame(&rows) });
    assert!(sent.contains("<A>") && !sent.contains("<B>"), "{sent:?}");
}

#[test]
fn cells_of_pictures_are_written_one_after_the_other() {
    use crate::ui::chat::picture::{colour, placeholder};
    let mut next = frame(&["      "]);
    let mut text = String::new();
    for col in 0..4 {
        let symbol = placeholder(0, col).unwrap();
        next.buffer[(col + 1, 0)].set_symbol(&symbol).set_fg(colour(0x01_02_03));
        text.push_str(&symbol);
    }
    let mut shown = TerminalContent::default();
    bytes(&mut shown, frame(&["      "]));
    assert_eq!(bytes(&mut shown, next), format!("\x1b[1;2H\x1b[38;2;1;2;3m{text}"));
}
